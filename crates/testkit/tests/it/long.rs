//! Audits a journal of many pages, and checks that the audit covers the journal from the first event to the last.
//!
//! One run is played with the real driver. All other runs are copies of that run with different ids. The store itself
//! chains and appends the copies. `cargo xtask bench audit` measures the audit of a much longer journal.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use futures::future::try_join_all;
use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::Sealed;
use holdshort_core::id::StreamId;
use holdshort_core::interrupt::{Decision, Kind};
use holdshort_core::json;
use holdshort_core::run::{Ask, Config, Input, Origin};
use holdshort_engine::{Driver, Idle, StartRun, SystemClock};
use holdshort_store::{Append, Blob, InterruptFilter, Log, Memory, Rows, Sqlite, StreamAppend, Tables};
use holdshort_testkit::by_hand;
use holdshort_testkit::server::real;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Number of questions in each run of the long journal.
const ASKS: usize = 10;
/// Number of appends to the long journal that are committed together.
const TOGETHER: u64 = 256;
/// Number of digits at the end of each id that distinguish the copies of a run. Decimal digits are valid characters of
/// an id.
const DIGITS: usize = 6;
/// Number of runs in the long journal. An audit reads the journal in pages, and this number exceeds one page of
/// streams, events and interrupts.
const RUNS: u64 = 640;

/// Events of the run whose copies fill the long journal.
struct Template {
    definition: Blob,
    events: Vec<Sealed>,
    /// For each event of the copied run, the positions in its head at which ids end.
    ends: Vec<Vec<usize>>,
    rows: Rows,
}

impl Template {
    async fn play() -> Self {
        let journal = Arc::new(Memory::new());
        let driver = Driver::new(journal.clone(), SystemClock, Idle);
        let definition = Arc::new(holdshort_workflow::external());
        let start = StartRun {
            definition: definition.clone(),
            session: None,
            config: Config::default(),
            input: json!({"task": "answer"}),
            origin: Origin::External,
            ask: None,
            key: None,
            front: None,
            trace: None,
        };
        let (agent, operator) = (Actor::agent("agent", "rest"), Actor::operator("rest"));
        let run = driver.start(start, agent.clone()).await.unwrap().run;
        for n in 0..ASKS {
            let ask = Ask {
                kind: Kind::Question,
                title: format!("question {n}"),
                message: "A line of text, as an agent writes it.".repeat(5),
                payload: Value::Null,
                options: Vec::new(),
                response_schema: None,
                expires_in_ms: None,
                on_expiry: None,
                assignment: holdshort_core::interrupt::Assignment::default(),
                call: None,
                trial: None,
                usable_ms: None,
                callback: None,
                withhold: Vec::new(),
                timing: holdshort_core::interrupt::Timing::default(),
            };
            let interrupt = driver.ask(&run, ask, None, agent.clone()).await.unwrap().interrupt.unwrap();
            let decision =
                Decision { option: "answer".to_owned(), text: Some("yes".to_owned()), ..Decision::default() };
            driver
                .send(&run, Input::Decide { interrupt, decision, holder: None }, operator.clone())
                .await
                .unwrap();
        }
        driver.send(&run, Input::Finish { result: json!("done") }, agent).await.unwrap();

        let stream = StreamId::Run(run.clone());
        let events = journal.read(&stream, 0, 1000).await.unwrap();
        let filter = InterruptFilter { run: Some(run.clone()), ..InterruptFilter::default() };
        let row = journal.run(&run).await.unwrap().unwrap();
        let rows = Rows {
            session: journal.session(&row.session).await.unwrap(),
            run: Some(row),
            interrupts: journal.interrupts(&filter, None, 1000).await.unwrap().items,
            grants: Vec::new(),
            answers: Vec::new(),
        };
        let ends = events.iter().map(|event| ends_of_ids(&event.head)).collect();
        Self { definition: Blob::new(json::canonical(&*definition)), events, ends, rows }
    }

    fn copy(&self, n: u64) -> Append {
        let digits = format!("{n:0DIGITS$}");
        let id = |id: &str| format!("{}{digits}", &id[..id.len() - DIGITS]);
        let mut rows = self.rows.clone();
        if let (Some(run), Some(session)) = (&mut rows.run, &mut rows.session) {
            run.run = id(run.run.as_str()).parse().unwrap();
            run.session = id(run.session.as_str()).parse().unwrap();
            session.session = run.session.clone();
            for row in &mut rows.interrupts {
                row.interrupt = id(row.interrupt.as_str()).parse().unwrap();
                (row.run, row.session) = (run.run.clone(), run.session.clone());
            }
        }
        let stream: StreamId = id(self.events[0].stream.as_str()).parse().unwrap();
        let mut hash = Digest::ZERO;
        let events = self.events.iter().zip(&self.ends).map(|(event, ends)| {
            let mut head = event.head.clone();
            for end in ends {
                head[end - DIGITS..*end].copy_from_slice(digits.as_bytes());
            }
            hash = Digest::of_parts(&[hash.as_bytes(), &head]);
            Sealed { stream: stream.clone(), head, hash, ..event.clone() }
        });
        let events = events.collect();
        let stream = StreamAppend { stream, expected: 0, events };
        Append { streams: vec![stream], blobs: vec![self.definition.clone()], rows, ..Append::default() }
    }
}

/// Returns the positions in an event's head at which ids end. No other text in a head begins like an id.
fn ends_of_ids(head: &[u8]) -> Vec<usize> {
    const LENGTH: usize = "run_".len() + 26;
    let starts = ["\"run_", "\"ses_", "\"int_"];
    let is_start = |at: &usize| starts.iter().any(|start| head[*at..].starts_with(start.as_bytes()));
    let ends = (0..head.len())
        .filter(is_start)
        .map(|at| at + 1 + LENGTH)
        .filter(|end| head.get(*end) == Some(&b'"'));
    ends.collect()
}

/// Writes copies of the template's run into a data folder. Returns the number of events and the journal's head hash.
async fn fill(folder: &Path, template: &Template) -> (u64, String) {
    let store = Sqlite::open(folder).unwrap();
    for first in (0..RUNS).step_by(usize::try_from(TOGETHER).unwrap()) {
        let group = (first..RUNS.min(first + TOGETHER)).map(|n| store.append(template.copy(n)));
        try_join_all(group).await.unwrap();
    }
    let head = store.head().await.unwrap();
    store.close().await.unwrap();
    (head.events, head.to_string())
}

/// Runs `audit verify` on a data folder that no server uses. Returns the exit code and the output.
fn verify(folder: &Path) -> (i32, Value) {
    let output = Command::new(real())
        .args(["--json", "--data"])
        .arg(folder)
        .args(["audit", "verify"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    (output.status.code().unwrap(), printed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_audit_of_many_pages_is_right() {
    let template = Template::play().await;
    let folder = TempDir::new().unwrap();
    let (events, head) = fill(folder.path(), &template).await;
    assert_eq!(events, RUNS * template.events.len() as u64);
    let (code, report) = verify(folder.path());
    let summary = json!([report["intact"], report["events"], report["streams"], report["head"]]);
    assert_eq!((code, summary), (0, json!([true, events, RUNS, head])));

    // Change a text in the last run, many pages after the first page.
    let last = last_of(
        folder.path(),
        "UPDATE events SET content = CAST('{\"text\":\"no\"}' AS BLOB)
         WHERE content IS NOT NULL AND position > (SELECT max(position) FROM events) - 3",
    );
    let (code, report) = verify(folder.path());
    let damages = report["damages"].as_array().unwrap();
    assert_eq!((code, &report["intact"], damages.len()), (1, &json!(false), 1), "{report}");
    assert_eq!(damages[0]["stream"], json!(last));
}

/// Changes the database of a stopped server with this SQL. Returns the stream of the journal's last event.
fn last_of(folder: &Path, sql: &str) -> String {
    let database = rusqlite::Connection::open(folder.join("holdshort.db")).unwrap();
    let head: Vec<u8> = by_hand::with_events(&database, |database| {
        assert!(database.execute(sql, []).unwrap() > 0);
        let last = "SELECT head FROM events ORDER BY position DESC LIMIT 1";
        database.query_row(last, [], |row| row.get(0)).unwrap()
    });
    let head: Value = serde_json::from_slice(&head).unwrap();
    head["stream"].as_str().unwrap().to_owned()
}
