//! A journal that was edited while the server was down. The server detects the damage, stops the damaged run with a
//! code, and continues every other run.

use std::collections::BTreeSet;

use holdshort_core::digest::Digest;
use holdshort_testkit::by_hand;
use holdshort_testkit::server::TestServer;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use crate::play::{count, done, one, solo};

/// An edit of one run's stored events, and the audit's message about that edit.
struct Damage {
    what: &'static str,
    edit: fn(&Run),
    said: &'static str,
}

const DAMAGES: [Damage; 11] = [
    Damage {
        what: "an event was rewritten",
        edit: |run| {
            run.sql("UPDATE events SET head = CAST(replace(CAST(head AS TEXT), 'operator', 'somebody') AS BLOB) WHERE stream = ?1 AND seq = 1");
        },
        said: "the hash chain breaks",
    },
    Damage {
        what: "a text was rewritten",
        edit: |run| {
            run.sql("UPDATE events SET content = CAST('{\"text\":\"yes\"}' AS BLOB) WHERE stream = ?1 AND seq = 1");
        },
        said: "was changed after it was written",
    },
    Damage {
        what: "the first event is missing",
        edit: |run| run.sql("DELETE FROM events WHERE stream = ?1 AND seq = 1"),
        said: "is stored at the position of event 1",
    },
    Damage {
        what: "an event in the middle is missing",
        edit: |run| run.sql("DELETE FROM events WHERE stream = ?1 AND seq = 3"),
        said: "is stored at the position of event 3",
    },
    Damage {
        what: "the last event is missing",
        edit: |run| {
            run.sql("DELETE FROM events WHERE stream = ?1 AND seq = (SELECT max(seq) FROM events WHERE stream = ?1)");
        },
        said: "events and has",
    },
    Damage {
        what: "two events changed places",
        edit: |run| {
            for (from, to) in [(2, -2), (3, 2), (-2, 3)] {
                let sql = "UPDATE events SET seq = ?3 WHERE stream = ?1 AND seq = ?2";
                assert_eq!(by_hand::change_events(&run.file, sql, params![run.stream, from, to]), 1);
            }
        },
        said: "the hash chain breaks",
    },
    Damage {
        what: "an event of another run was put in",
        edit: |run| {
            run.sql("UPDATE events SET head = (SELECT head FROM events WHERE stream <> ?1 AND seq = 2) WHERE stream = ?1 AND seq = 2");
        },
        said: "the hash chain breaks",
    },
    Damage {
        what: "an event has a hash of another length",
        edit: |run| run.sql("UPDATE events SET hash = x'00' WHERE stream = ?1 AND seq = 2"),
        said: "the database is damaged",
    },
    Damage {
        what: "an event is no JSON, and its hash fits",
        edit: |run| run.rewrite_last(|head| head[..head.len() - 1].to_vec()),
        said: "is not readable",
    },
    Damage {
        what: "an event is of a later version, and its hash fits",
        edit: |run| {
            run.rewrite_last(|head| {
                String::from_utf8_lossy(head).replace("\"v\":2}", "\"v\":3}").into_bytes()
            });
        },
        said: "has format version 3; this binary reads up to 2: update it",
    },
    // This damage is the last entry, because a truncated append cannot be unpacked by `by_hand`.
    Damage {
        what: "an append was cut off",
        edit: |run| {
            let sql =
                "UPDATE appends SET heads = substr(heads, 1, length(heads) - 1) WHERE stream = ?1 AND seq =
                           (SELECT max(seq) FROM appends WHERE stream = ?1)";
            assert_eq!(run.file.execute(sql, [&run.stream]).unwrap(), 1);
        },
        said: "cannot be read: its heads end too early",
    },
];

struct Run {
    file: Connection,
    stream: Vec<u8>,
}

impl Run {
    fn open(server: &TestServer, run: &str) -> Self {
        let file = Connection::open(server.data().join("holdshort.db")).unwrap();
        // The table stores packed stream ids, but the events contain the full names.
        let sql = "SELECT DISTINCT stream FROM appends WHERE instr(heads, ?1) > 0";
        let named = format!("\"stream\":\"{run}\"").into_bytes();
        let stream = file.query_row(sql, [named], |row| row.get(0)).unwrap();
        Self { file, stream }
    }

    fn sql(&self, sql: &str) {
        assert_eq!(by_hand::change_events(&self.file, sql, &[&self.stream]), 1, "{sql}");
    }

    /// Replaces the head and the hash of the run's last event, as a later version would write them.
    fn rewrite_last(&self, rewrite: fn(&[u8]) -> Vec<u8>) {
        by_hand::with_events(&self.file, |file| {
            let sql = "SELECT seq, head, (SELECT hash FROM events WHERE stream = ?1 AND seq = last.seq - 1)
                       FROM events AS last WHERE stream = ?1 ORDER BY seq DESC LIMIT 1";
            let (seq, head, before): (i64, Vec<u8>, Vec<u8>) = file
                .query_row(sql, [&self.stream], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .unwrap();
            let new = rewrite(&head);
            assert_ne!(new, head);
            let hash = Digest::of_parts(&[&before, &new]);
            let sql = "UPDATE events SET head = ?3, hash = ?4 WHERE stream = ?1 AND seq = ?2";
            file.execute(sql, params![self.stream, seq, new, hash.as_bytes()]).unwrap();
        });
    }
}

#[tokio::test]
async fn damaged_runs_stop_and_are_named_and_the_others_go_on() {
    let (_model, mut server) = solo([one(count("one")), done()]).await;
    let mut started = Vec::new();
    for damage in &DAMAGES {
        started.push((damage, server.start_run("solo", damage.what).await));
    }
    let mut damaged = Vec::new();
    for (damage, run) in started {
        damaged.push((damage, server.wait_one(&run).await));
    }
    let whole = server.start_run("solo", "whole").await;
    let shown = server.wait_one(&whole).await;
    server.stop().await;
    for (damage, shown) in &damaged {
        (damage.edit)(&Run::open(&server, shown["run"].as_str().unwrap()));
    }
    server.start().await;

    // A damaged run that is still readable is listed and shown as before, but accepts no input.
    for (damage, shown) in &damaged {
        let (what, run) = (damage.what, shown["run"].as_str().unwrap());
        let approve = json!({"option": "approve"});
        for said in [
            server.decide(shown, &approve).await,
            server.post(&format!("/v1/runs/{run}/messages"), &json!({"text": "go on"})).await,
            server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await,
        ] {
            assert_eq!(said.refusal(), (500, "journal_damaged"), "{what}: {said:#?}");
        }
    }
    let open = server.get("/v1/interrupts?status=open&limit=200").await.ok();
    assert!(open["items"].as_array().unwrap().contains(&shown), "{open:#}");
    server.choose(&shown, "approve").await;
    server.wait_status(&whole, &["completed"]).await;
    let fresh = server.start_run("solo", "fresh").await;
    let shown = server.wait_one(&fresh).await;
    server.choose(&shown, "approve").await;
    server.wait_status(&fresh, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 2);
    let listed = server.get("/v1/runs?limit=200").await.ok();
    let listed: Vec<&Value> = listed["items"].as_array().unwrap().iter().map(|run| &run["id"]).collect();
    assert!(listed.contains(&&json!(whole)) && listed.contains(&&json!(fresh)), "{listed:?}");

    // `audit verify` names exactly the damaged runs.
    let output = server.client_command().args(["audit", "verify", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = report["damages"].as_array().unwrap();
    for (damage, shown) in &damaged {
        let told = found.iter().find(|told| told["stream"] == shown["run"]);
        let message = told.and_then(|told| told["message"].as_str()).unwrap_or_default();
        assert!(told.is_some() && message.contains(damage.said), "{}: {told:?}", damage.what);
    }
    // The edits also damage the order of all events.
    let named: BTreeSet<_> = found.iter().map(|told| told["stream"].as_str().unwrap()).collect();
    let runs = damaged.iter().map(|(_, shown)| shown["run"].as_str().unwrap());
    assert_eq!(named, runs.chain(["journal"]).collect(), "{report:#}");
    let said = server.client_command().args(["audit", "verify"]).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("Restore the data folder from a backup"), "{said}");
}

/// A power cut may leave the last commit half written. This commit was never acknowledged, so no acknowledged work is
/// lost.
#[tokio::test]
async fn a_torn_end_of_the_log_loses_nothing_that_was_answered() {
    let (_model, mut server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    let before = (server.run(&run).await, server.events(&run).await);
    let log = server.data().join("holdshort.db-wal");
    for torn in [1, 23, 24, 700, 4_119] {
        server.kill();
        let mut bytes = std::fs::read(&log).unwrap();
        // Append a part of the log's first page, as if SQLite had been rewriting the log at the power cut.
        bytes.extend_from_within(32..32 + torn);
        std::fs::write(&log, bytes).unwrap();
        server.start().await;
        assert_eq!((server.run(&run).await, server.events(&run).await), before, "{torn} bytes");
        assert_eq!(server.wait_one(&run).await, shown);
    }
    server.choose(&shown, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

/// A damaged database or log file stops the start. Without this check, SQLite would silently drop all commits after the
/// damage.
#[tokio::test]
async fn a_file_that_is_damaged_stops_the_start_and_the_message_says_what_to_do() {
    let (_model, mut server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    server.kill();
    for (file, at) in
        [("holdshort.db-wal", 132), ("holdshort.db-wal", 20), ("holdshort.db", 3), ("holdshort.db", 100)]
    {
        if file == "holdshort.db" && at == 3 {
            // After an orderly stop the database file contains all data.
            server.start().await;
            server.stop().await;
        }
        let path = server.data().join(file);
        let whole = std::fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        std::fs::write(&path, &damaged).unwrap();
        let told_before = server.stderr().len();
        let status = server.try_start().await.unwrap_err();
        let said = server.stderr()[told_before..].to_owned();
        assert_eq!(status.code(), Some(2), "{file} {at}: {said}");
        let said: Value = serde_json::from_str(&said).expect(&said);
        let (code, detail) = (&said["error"]["code"], said["error"]["detail"].as_str().unwrap());
        assert_eq!(code, "journal_damaged", "{file} {at}: {said}");
        let complete = detail.contains("the database is damaged") && detail.contains("from a backup");
        assert!(complete, "{file} {at}: {said}");
        assert!(std::fs::read(&path).unwrap() == damaged, "{file}: it was written to");
        std::fs::write(&path, whole).unwrap();
    }
    // The restored files contain all data.
    server.start().await;
    assert_eq!(server.wait_one(&run).await, shown);
    server.choose(&shown, "approve").await;
    server.wait_status(&run, &["completed"]).await;
}
