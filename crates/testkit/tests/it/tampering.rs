//! Changes to the store of a stopped server. Some are detected by `audit verify` alone, and others only with a
//! checkpoint that was stored elsewhere. `docs/security.md` contains the same table.
//!
//! `docs/journal.md` contains a longer table, about single heads and both stores, which the tests of the engine cover.
//! Here the real binary wrote the store, and the tests run the same commands as people do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use holdshort_core::digest::Digest;
use holdshort_core::head::Head;
use holdshort_testkit::by_hand;
use holdshort_testkit::server::TestServer;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::play::{count, done, one, solo};

const DATABASE: &str = "holdshort.db";
const PIN: &str = "holdshort.head";
const KEY: &str = "checkpoint_key.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detection {
    Alone,
    AgainstCheckpoint,
    No,
}
use Detection::{AgainstCheckpoint, Alone, No};

impl Detection {
    /// Returns the cells of a row in the documentation: how the audit detects the change without and with a checkpoint.
    fn cells(self) -> &'static str {
        match self {
            Alone => "found | found",
            AgainstCheckpoint => "not found | found",
            No => "not found | not found",
        }
    }
}

/// A change of the stopped server's store by an expert, and how the expert hides the change.
struct Tampering {
    what: &'static str,
    change: fn(&Files<'_>),
    hides: Concealment,
    found: Detection,
    /// Message of the audit that detects the change of the store.
    said: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Concealment {
    Nothing,
    /// The expert recomputes positions, hashes, the chain over all events and the stored head (the pin), and rebuilds
    /// the lists.
    Everything,
    /// The expert does the same as with `Everything`, and signs the journal with a different key.
    EverythingAndSigns,
}
use Concealment::{Everything, EverythingAndSigns, Nothing};

const TABLE: [Tampering; 17] = [
    Tampering {
        what: "event changed",
        change: |files| files.change_author(),
        hides: Nothing,
        found: Alone,
        said: "the hash chain breaks",
    },
    Tampering {
        what: "content of an event changed",
        change: |files| files.put_content(&files.story.decided, &[7; 16], br#"{"text":"Something else."}"#),
        hides: Nothing,
        found: Alone,
        said: "was changed after it was written",
    },
    Tampering {
        what: "event removed",
        change: |files| files.of_decided("DELETE FROM events WHERE stream = ?1 AND seq = 2"),
        hides: Nothing,
        found: Alone,
        said: "is stored at the position of event 2",
    },
    Tampering {
        what: "last events of a stream removed",
        change: |files| files.of_decided(LAST_TWO),
        hides: Nothing,
        found: Alone,
        said: "events and has",
    },
    Tampering {
        what: "last events of a stream removed, everything recomputed",
        change: |files| files.of_decided(LAST_TWO),
        hides: Everything,
        found: AgainstCheckpoint,
        said: "noted head",
    },
    Tampering {
        what: "stream removed",
        change: |files| files.of_decided("DELETE FROM events WHERE stream = ?1"),
        hides: Nothing,
        found: Alone,
        said: "events and has 0",
    },
    Tampering {
        what: "stream removed, everything recomputed",
        change: |files| files.of_decided("DELETE FROM events WHERE stream = ?1"),
        hides: Everything,
        found: AgainstCheckpoint,
        said: "noted head",
    },
    Tampering {
        what: "stream rewritten with its hashes",
        change: |files| {
            files.change_author();
            files.hash_stream();
        },
        hides: Nothing,
        found: Alone,
        said: "the chain over all events breaks",
    },
    Tampering {
        what: "stream rewritten, everything recomputed",
        change: |files| files.change_author(),
        hides: Everything,
        found: AgainstCheckpoint,
        said: "noted head",
    },
    Tampering {
        what: "two events exchanged",
        change: |files| {
            for (from, to) in [(2, -2), (3, 2), (-2, 3)] {
                files.of_decided(&format!("UPDATE events SET seq = {to} WHERE stream = ?1 AND seq = {from}"));
            }
        },
        hides: Nothing,
        found: Alone,
        said: "the hash chain breaks",
    },
    Tampering {
        what: "rows of lists changed",
        change: |files| files.sql("UPDATE interrupts SET open = 0 WHERE open = 1"),
        hides: Nothing,
        found: Alone,
        said: "does not match the events",
    },
    Tampering {
        what: "database replaced by an older copy",
        change: |files| files.go_back(&[DATABASE]),
        hides: Nothing,
        found: Alone,
        said: "it is an older copy",
    },
    Tampering {
        what: "data folder replaced by an older copy",
        change: |files| files.go_back(&[DATABASE, PIN]),
        hides: Nothing,
        found: AgainstCheckpoint,
        said: "events are missing",
    },
    Tampering {
        what: "erased content restored",
        change: |files| {
            let (salt, content) = files.story.content_before_erasing();
            files.put_content(&files.story.erased, &salt, &content);
        },
        hides: Nothing,
        found: Alone,
        said: "was erased, but exists again",
    },
    Tampering {
        what: "erased content replaced",
        change: |files| files.put_content(&files.story.erased, &[7; 16], br#"{"text":"Something else."}"#),
        hides: Nothing,
        found: Alone,
        said: "was changed after it was written",
    },
    Tampering {
        what: "everything recomputed, and signed with another key",
        change: |files| files.change_author(),
        hides: EverythingAndSigns,
        found: AgainstCheckpoint,
        said: "not signed with this key",
    },
    Tampering {
        what: "events after the last checkpoint removed, everything recomputed",
        change: |files| {
            let size = files.story.size;
            files.sql(&format!("DELETE FROM events WHERE position > {size}"));
        },
        hides: Everything,
        found: No,
        said: "No change was detected",
    },
];

const LAST_TWO: &str =
    "DELETE FROM events WHERE stream = ?1 AND seq > (SELECT max(seq) - 2 FROM events WHERE stream = ?1)";

/// History of the store before the changes: three data directories with the same history up to different points, and
/// the items that were stored elsewhere.
struct Story {
    folders: TempDir,
    /// Server that runs the commands that write and read data directories. The server does not use its own directory.
    server: TestServer,
    erased: String,
    decided: String,
    key: String,
    /// Number of events that the checkpoint covers.
    size: u64,
}

impl Story {
    async fn prepare() -> Self {
        let folders = TempDir::new().unwrap();
        let (_model, mut server) = solo([one(count("one")), done()]).await;
        let erased = completed(&server, "erased").await;
        leave(&mut server, &folders.path().join("before_erasing")).await;
        server.start().await;
        server.post("/v1/erasures", &json!({ "run": erased })).await.ok();
        leave(&mut server, &folders.path().join("older")).await;
        server.start().await;
        let decided = completed(&server, "decided").await;
        let waits = server.start_run("solo", "waits").await;
        server.wait_one(&waits).await;
        let kept = folders.path().join("kept.txt");
        let sign =
            server.client_command().args(["audit", "checkpoint", "--json", "--out"]).arg(kept).output();
        let signed: Value = serde_json::from_slice(&sign.unwrap().stdout).unwrap();
        completed(&server, "later").await;
        leave(&mut server, &folders.path().join("whole")).await;
        let (key, size) = (signed["key"].as_str().unwrap().to_owned(), signed["size"].as_u64().unwrap());
        Self { folders, server, erased, decided, key, size }
    }

    fn content_before_erasing(&self) -> (Vec<u8>, Vec<u8>) {
        let before = Files::copy(self, "before_erasing");
        let file = before.database();
        let stream = stream(&file, &self.erased);
        by_hand::with_events(&file, |file| {
            let sql = "SELECT salt, content FROM events WHERE stream = ?1 AND seq = 1";
            file.query_row(sql, [stream], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
        })
    }
}

async fn completed(server: &TestServer, task: &str) -> String {
    let run = server.start_run("solo", task).await;
    let open = server.wait_one(&run).await;
    server.choose(&open, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    run
}

/// Stops the server, and copies its data folder to `copy`.
async fn leave(server: &mut TestServer, copy: &Path) {
    assert!(server.stop().await.success());
    copy_files(&server.data(), copy);
}

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Returns the packed stream id of a run in the database. The events contain the full name instead.
fn stream(file: &Connection, run: &str) -> Vec<u8> {
    let named = format!("\"stream\":\"{run}\"").into_bytes();
    let sql = "SELECT DISTINCT stream FROM appends WHERE instr(heads, ?1) > 0";
    file.query_row(sql, [named], |row| row.get(0)).unwrap()
}

/// A data directory that no server uses.
struct Files<'s> {
    story: &'s Story,
    folder: TempDir,
}

impl<'s> Files<'s> {
    fn copy(story: &'s Story, name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        copy_files(&story.folders.path().join(name), folder.path());
        Self { story, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn database(&self) -> Connection {
        Connection::open(self.path(DATABASE)).unwrap()
    }

    fn sql(&self, sql: &str) {
        let changed = if sql.contains("events") {
            by_hand::change_events(&self.database(), sql, &[])
        } else {
            self.database().execute(sql, []).unwrap()
        };
        assert!(changed > 0, "{sql}");
    }

    /// Runs an SQL statement on the events of the run that a person decided.
    fn of_decided(&self, sql: &str) {
        let file = self.database();
        let stream = stream(&file, &self.story.decided);
        assert!(by_hand::change_events(&file, sql, &[&stream]) > 0, "{sql}");
    }

    /// Replaces the operator as the actor of an event in the data directory.
    fn change_author(&self) {
        self.of_decided(
            "UPDATE events SET head = CAST(replace(CAST(head AS TEXT), '\"id\":\"operator\"', '\"id\":\"somebody\"') AS BLOB)
             WHERE stream = ?1 AND instr(CAST(head AS TEXT), '\"id\":\"operator\"') > 0",
        );
    }

    fn put_content(&self, run: &str, salt: &[u8], content: &[u8]) {
        let file = self.database();
        let stream = stream(&file, run);
        let sql = "UPDATE events SET salt = ?2, content = ?3, large = NULL WHERE stream = ?1 AND seq = 1";
        assert_eq!(by_hand::change_events(&file, sql, &[&stream, &salt, &content]), 1);
    }

    /// Recomputes the hashes of the events of one stream only, in the data directory.
    fn hash_stream(&self) {
        let file = self.database();
        let stream = stream(&file, &self.story.decided);
        by_hand::with_events(&file, |file| {
            let sql = "SELECT seq, head FROM events WHERE stream = ?1 ORDER BY seq";
            let mut statement = file.prepare(sql).unwrap();
            let rows = statement.query_map([&stream], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            let rows: Vec<(i64, Vec<u8>)> = rows.map(Result::unwrap).collect();
            let mut hash = Digest::ZERO;
            for (seq, head) in rows {
                hash = Digest::of_parts(&[hash.as_bytes(), &head]);
                let sql = "UPDATE events SET hash = ?3 WHERE stream = ?1 AND seq = ?2";
                assert_eq!(file.execute(sql, params![stream, seq, hash.as_bytes()]).unwrap(), 1);
            }
        });
    }

    /// Recomputes positions without a gap, hashes, the chain over all events and the pin (the stored head) of the data
    /// directory. Rebuilds the lists.
    fn compute_anew(&self) {
        let head = by_hand::with_events(&self.database(), |file| {
            let mut statement =
                file.prepare("SELECT position, stream, head FROM events ORDER BY position").unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
            let rows: Vec<(i64, Vec<u8>, Vec<u8>)> = rows.map(Result::unwrap).collect();
            let (mut ends, mut all) = (BTreeMap::new(), Head::START);
            for (place, (position, stream, head)) in (1_i64..).zip(rows) {
                let end = ends.entry(stream).or_insert(Digest::ZERO);
                *end = Digest::of_parts(&[end.as_bytes(), &head]);
                all = all.then(end);
                let sql = "UPDATE events SET position = ?1, hash = ?2, chained = ?3 WHERE position = ?4";
                let values = params![place, end.as_bytes(), all.hash.as_bytes(), position];
                assert_eq!(file.execute(sql, values).unwrap(), 1);
            }
            all
        });
        fs::write(self.path(PIN), format!("{:>20} {}\n", head.events, head.hash)).unwrap();
        let rebuilt = self.ran(&["rebuild"]);
        assert!(rebuilt.status.success(), "{rebuilt:?}");
    }

    fn go_back(&self, names: &[&str]) {
        for name in names {
            fs::copy(self.story.folders.path().join("older").join(name), self.path(name)).unwrap();
        }
    }

    /// Signs the changed journal of the data directory with a different key, and writes the note into the file of
    /// stored checkpoints.
    async fn sign_with_another_key(&self, kept: &Path) {
        fs::remove_file(self.path(KEY)).unwrap();
        let mut server = TestServer::setup().data(self.folder.path()).start().await;
        let signed =
            server.client_command().args(["audit", "checkpoint", "--out"]).arg(kept).output().unwrap();
        assert!(signed.status.success(), "{signed:?}");
        assert!(server.stop().await.success());
    }

    fn ran(&self, arguments: &[&str]) -> Output {
        let mut command = self.story.server.client_command();
        command.args(arguments).env("HOLDSHORT_DATA", self.folder.path()).output().unwrap()
    }

    /// Returns whether the audit of the data directory succeeds, and its complete output.
    fn verify(&self, against: &[&str]) -> (bool, String) {
        let ran = self.ran(&[&["audit", "verify"], against].concat());
        assert!(matches!(ran.status.code(), Some(0..=2)), "{ran:?}");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (ran.status.success(), text(&ran.stdout) + &text(&ran.stderr))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_manipulation_is_found_by_whom_the_table_says() {
    let story = Story::prepare().await;
    let kept = story.folders.path().join("kept.txt");
    let untouched = Files::copy(&story, "whole");
    let against = ["--against", kept.to_str().unwrap(), "--key", &story.key];
    for arguments in [&[][..], &against] {
        let (is_good, said) = untouched.verify(arguments);
        assert!(is_good, "{said}");
    }
    let mut wrong = Vec::new();
    for each in &TABLE {
        let files = Files::copy(&story, "whole");
        (each.change)(&files);
        if each.hides != Nothing {
            files.compute_anew();
        }
        let kept_too = files.path("kept.txt");
        fs::copy(&kept, &kept_too).unwrap();
        if each.hides == EverythingAndSigns {
            files.sign_with_another_key(&kept_too).await;
        }
        let against = ["--against", kept_too.to_str().unwrap(), "--key", &story.key];
        let (alone, compared) = (files.verify(&[]), files.verify(&against));
        let found = match (alone.0, compared.0) {
            (false, _) => Alone,
            (true, false) => AgainstCheckpoint,
            (true, true) => No,
        };
        let said = if found == Alone { alone.1 } else { compared.1 };
        if found != each.found || !said.contains(each.said) {
            wrong.push(format!("{}: {found:?}, not {:?}: {said}", each.what, each.found));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_in_the_docs_is_this_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security.md");
    let docs = fs::read_to_string(path).unwrap();
    let rows: Vec<String> =
        TABLE.iter().map(|each| format!("| {} | {} |", each.what, each.found.cells())).collect();
    let table = format!("|---|---|---|\n{}\n\n", rows.join("\n"));
    assert!(docs.contains(&table), "docs/security.md needs these rows:\n{table}");
}
