//! Tests of `backup`: copying while a server runs, and a server that uses the copy.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use holdshort_testkit::home::{Home, Serving};
use serde_json::json;

const AGENTS: usize = 16;

/// Agents that put load on a server: each asks one question after another until the agents are stopped.
struct Load {
    is_over: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
    agents: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    fn on(serving: &Serving) -> Self {
        let text = |name: &str| serving.started[name].as_str().unwrap().to_owned();
        let (url, token) = (format!("{}/v1/interrupts", text("listening")), text("agent_token"));
        let (is_over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let agent = |_| {
            let (url, token) = (url.clone(), token.clone());
            let (is_over, answered) = (is_over.clone(), answered.clone());
            let http = holdshort_http::plain().build().unwrap();
            tokio::spawn(async move {
                while !is_over.load(Ordering::Acquire) {
                    let body = json!({"kind": "tool_approval", "title": "Delete it"});
                    let response = http.post(&url).bearer_auth(&token).json(&body).send().await.unwrap();
                    assert_eq!(response.status(), 201);
                    answered.fetch_add(1, Ordering::AcqRel);
                }
            })
        };
        let agents = (0..AGENTS).map(agent).collect();
        Self { is_over, answered, agents }
    }

    async fn reaches(&self, count: u64) {
        while self.answered.load(Ordering::Acquire) < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn end(self) -> u64 {
        self.is_over.store(true, Ordering::Release);
        for agent in self.agents {
            agent.await.expect("it was answered");
        }
        self.answered.load(Ordering::Acquire)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_made_under_load_is_whole_and_starts_frozen() {
    let home = Home::new();
    let serving = home.serve(&["--agent-requests", "100000"]);
    let load = Load::on(&serving);
    load.reaches(200).await;
    let before = load.answered.load(Ordering::Acquire);
    let copy = home.path().join("copy");
    let copied = copy.to_str().unwrap();
    let made = tokio::task::block_in_place(|| home.json(&["backup", copied]));
    let after = load.answered.load(Ordering::Acquire);
    load.reaches(after + 50).await;
    let all = load.end().await;

    // The server's journal continues from the copy, and the copy is complete.
    let head = made["head"].as_str().unwrap();
    let report = home.json(&["audit", "verify", "--against", head]);
    assert_eq!((&report["intact"], &report["against"][0]["holds"]), (&json!(true), &json!(true)), "{report}");
    assert_eq!(serving.stop().0, 0);
    let report = home.json(&["audit", "verify", "--against", head, "--data", copied]);
    assert_eq!((&report["intact"], &report["head"]), (&json!(true), &json!(head)), "{report}");
    let permissions = |path: &str| fs::metadata(copy.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (permissions("."), permissions("holdshort.db"), permissions("holdshort.head")),
        (0o700, 0o600, 0o600)
    );
    assert!(!copy.join("tokens.json").exists(), "no secret is copied");

    // The copy contains all interrupts that were answered before the backup, and none that was opened after it.
    let restored = home.serve(&["--data", copied]);
    let there = {
        let database = rusqlite::Connection::open(copy.join("holdshort.db")).unwrap();
        database
            .query_row("SELECT count(*) FROM interrupts", [], |row| row.get::<_, i64>(0))
            .unwrap()
            .cast_unsigned()
    };
    assert!((before..=after + AGENTS as u64).contains(&there), "{before} {there} {after}");
    assert!(there < all);

    // In the copy everything is frozen until a person lifts the freeze.
    let inbox = home.run(&["inbox", "--data", copied]);
    assert!(inbox.err.contains("Everything is frozen"), "{inbox:?}");
    let lifted = home.json(&["unfreeze", "--data", copied]);
    assert_eq!(lifted["frozen"], json!(false));
    assert_eq!(restored.stop().0, 0);
    let again = home.serve(&["--data", copied]);
    assert!(!home.run(&["inbox", "--data", copied]).err.contains("frozen"), "it is no copy any more");
    assert_eq!(again.stop().0, 0);
}

#[test]
fn the_reason_of_the_freeze_names_the_backup() {
    let home = Home::new();
    let serving = home.serve(&[]);
    home.json(&["freeze", "--workflow", "pair", "--reason", "a look"]);
    serving.kill();
    // The folder of a killed server can be copied too, although SQLite has not yet moved its write-ahead log into the
    // database.
    let copy = home.path().join("copy");
    let copied = copy.to_str().unwrap();
    assert_eq!(home.json(&["backup", copied])["events"], json!(1));
    let serving = home.serve(&["--data", copied]);
    let freezes =
        home.json(&["freeze", "--data", copied, "--workflow", "research", "--reason", "another look"]);
    let reason = freezes["freezes"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("restored from a backup of 20"), "{reason}");
    assert_eq!(freezes["freezes"][0]["by"], json!("engine"), "{freezes}");
    assert_eq!(serving.stop().0, 0);
}

#[test]
fn what_is_there_is_never_written_over() {
    let home = Home::new();
    let copy = home.path().join("copy");
    let copied = copy.to_str().unwrap();
    let ran = home.run(&["backup", copied]);
    assert_eq!((ran.code, ran.err.contains("holds no journal"), copy.exists()), (2, true, false), "{ran:?}");
    let serving = home.serve(&[]);
    fs::create_dir(&copy).unwrap();
    fs::write(copy.join("mine"), "text").unwrap();
    let ran = home.run(&["backup", copied]);
    assert_eq!((ran.code, ran.err.contains("is not empty")), (2, true), "{ran:?}");
    assert_eq!(fs::read_dir(&copy).unwrap().count(), 1);
    let itself = home.data();
    let ran = home.run(&["backup", itself.to_str().unwrap()]);
    assert_eq!((ran.code, ran.err.contains("is not empty")), (2, true), "{ran:?}");
    let ran = home.run(&["backup", copied, "--store", "postgres://localhost/none"]);
    assert_eq!((ran.code, ran.err.contains("pg_dump")), (2, true), "{ran:?}");
    assert_eq!(serving.stop().0, 0);
}

/// The copy of a frozen journal is still frozen, for the same reason.
#[test]
fn a_copy_of_what_was_frozen_starts_too() {
    let home = Home::new();
    let serving = home.serve(&[]);
    home.json(&["freeze", "--reason", "an incident"]);
    let copy = home.path().join("copy");
    let copied = copy.to_str().unwrap();
    home.json(&["backup", copied]);
    assert_eq!(serving.stop().0, 0);
    let serving = home.serve(&["--data", copied]);
    let ran = home.run(&["inbox", "--data", copied]);
    assert!(ran.err.contains("an incident"), "{ran:?}");
    assert_eq!(home.json(&["unfreeze", "--data", copied])["frozen"], json!(false));
    assert_eq!(serving.stop().0, 0);
}
