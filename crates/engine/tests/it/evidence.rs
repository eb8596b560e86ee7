//! What an audit finds: each manipulation of the table in `docs/journal.md`, done to a real SQLite file and to a
//! real PostgreSQL. The table there is compared with the one here.

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use holdshort_core::digest::Digest;
use holdshort_core::head::{Head, Noted};
use holdshort_core::system;
use holdshort_engine::audit::{self, Report};
use holdshort_store::{Journal, Memory, Postgres, Sqlite, postgres};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::stage::{Stage, operator};
use crate::upkeep::play;

const DATABASE: &str = "holdshort.db";
const LOG: &str = "holdshort.db-wal";
const PIN: &str = "holdshort.head";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// By the journal alone.
    Alone,
    /// Only against a head that was noted before.
    Head,
    No,
    /// There is no such thing.
    Absent,
}
use Found::{Absent, Alone, No};

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Alone => "alone",
            Found::Head => "against a head",
            No => "not found",
            Absent => "–",
        })
    }
}

/// How a data folder is changed that no server uses.
#[derive(Clone, Copy)]
enum Folder {
    Sql(&'static str),
    Code(fn(&Files)),
    None,
}
use Folder::{Code, Sql};

struct Manipulation {
    /// As in the table.
    what: &'static str,
    folder: Folder,
    in_folder: Found,
    /// Statements in PostgreSQL; empty: there is no such thing.
    database: &'static str,
    in_database: Found,
}

/// A run alone in its session, which its start made.
const LONELY: &str = "SELECT run FROM runs WHERE session IN (SELECT session FROM sessions WHERE seq = 0)
    AND session NOT IN (SELECT session FROM grants) ORDER BY run LIMIT 1";

const MANIPULATIONS: &[Manipulation] = &[
    Manipulation {
        what: "an event is rewritten",
        folder: Sql(
            "UPDATE events SET head = CAST(replace(CAST(head AS TEXT), 'operator', 'somebody') AS BLOB) WHERE seq = 1",
        ),
        in_folder: Alone,
        database: "UPDATE events SET head = convert_to(replace(convert_from(head, 'UTF8'), 'operator', 'somebody'), 'UTF8')
                   WHERE seq = 1",
        in_database: Alone,
    },
    Manipulation {
        what: "a text is rewritten",
        folder: Sql("UPDATE events SET content = CAST('{\"text\":\"yes\"}' AS BLOB)
                     WHERE position = (SELECT min(position) FROM events WHERE content IS NOT NULL)"),
        in_folder: Alone,
        database: "UPDATE events SET content = '{\"text\":\"yes\"}'
                   WHERE position = (SELECT min(position) FROM events WHERE content IS NOT NULL)",
        in_database: Alone,
    },
    Manipulation {
        what: "a text is taken away",
        folder: Sql("UPDATE events SET content = NULL, salt = NULL
                     WHERE position = (SELECT min(position) FROM events WHERE content IS NOT NULL)"),
        in_folder: Alone,
        database: "UPDATE events SET content = NULL, salt = NULL
                   WHERE position = (SELECT min(position) FROM events WHERE content IS NOT NULL)",
        in_database: Alone,
    },
    Manipulation {
        what: "an event is taken away",
        folder: Sql("DELETE FROM events WHERE seq = 2 AND stream = (SELECT stream FROM events WHERE seq = 3 LIMIT 1)"),
        in_folder: Alone,
        database: "DELETE FROM events WHERE seq = 2 AND stream = (SELECT stream FROM events WHERE seq = 3 LIMIT 1)",
        in_database: Alone,
    },
    Manipulation {
        what: "two events change places in the order of commits",
        folder: Code(|files| {
            let file = files.database();
            for sql in [
                "UPDATE events SET position = -1 WHERE position = 2",
                "UPDATE events SET position = 2 WHERE position = 3",
                "UPDATE events SET position = 3 WHERE position = -1",
            ] {
                assert_eq!(file.execute(sql, []).unwrap(), 1);
            }
        }),
        in_folder: Alone,
        database: "CREATE TEMP TABLE two AS SELECT position FROM events ORDER BY position LIMIT 2 OFFSET 1;
                   UPDATE events SET position = -1 WHERE position = (SELECT min(position) FROM two);
                   UPDATE events SET position = (SELECT min(position) FROM two)
                       WHERE position = (SELECT max(position) FROM two);
                   UPDATE events SET position = (SELECT max(position) FROM two) WHERE position = -1",
        in_database: Alone,
    },
    Manipulation {
        what: "the last event of the journal is taken away",
        folder: Sql("DELETE FROM events WHERE position = (SELECT max(position) FROM events)"),
        in_folder: Alone,
        database: "DELETE FROM events WHERE position = (SELECT max(position) FROM events)",
        in_database: Alone,
    },
    Manipulation {
        what: "a run is taken away with its rows, and later events move up",
        folder: Code(Files::take_run_away),
        in_folder: Alone,
        database: "CREATE TEMP TABLE gone AS SELECT run, session FROM runs
                       WHERE session IN (SELECT session FROM sessions WHERE seq = 0)
                           AND session NOT IN (SELECT session FROM grants) ORDER BY run LIMIT 1;
                   DELETE FROM events WHERE stream = (SELECT run FROM gone);
                   DELETE FROM interrupts WHERE run = (SELECT run FROM gone);
                   DELETE FROM sessions WHERE session = (SELECT session FROM gone);
                   DELETE FROM runs WHERE run = (SELECT run FROM gone)",
        in_database: Alone,
    },
    Manipulation {
        what: "freezes and policies are taken away, and later events move up",
        folder: Code(|files| {
            files.database().execute("DELETE FROM events WHERE stream = x'03'", []).unwrap();
            files.move_up();
        }),
        in_folder: Alone,
        database: "DELETE FROM events WHERE stream = 'sys'",
        in_database: Alone,
    },
    Manipulation {
        what: "an event is put in at the end that fits its stream",
        folder: Code(Files::forge_at_the_end),
        in_folder: Alone,
        database: "INSERT INTO events (stream, seq, position, hash, head)
                   SELECT stream, seq + 1, position + 1, sha256(hash || forged), forged FROM (
                       SELECT *, convert_to(replace(convert_from(head, 'UTF8'),
                              '\"seq\":' || seq, '\"seq\":' || seq + 1), 'UTF8') AS forged
                       FROM events WHERE stream = 'sys' ORDER BY seq DESC LIMIT 1
                   ) last",
        in_database: No,
    },
    Manipulation {
        what: "a row of a list is changed: the state of a run",
        folder: Sql("UPDATE runs SET status = 'completed' WHERE status = 'waiting'"),
        in_folder: Alone,
        database: "UPDATE runs SET status = 'completed' WHERE status = 'waiting'",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is changed: an open interrupt is closed",
        folder: Sql("UPDATE interrupts SET open = 0 WHERE open = 1"),
        in_folder: Alone,
        database: "UPDATE interrupts SET open = false WHERE open",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is changed: the state of a session",
        folder: Sql("UPDATE sessions SET state = 'open' WHERE state = 'suspended'"),
        in_folder: Alone,
        database: "UPDATE sessions SET state = 'open' WHERE state = 'suspended'",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is changed: a revoked grant holds again",
        folder: Sql("UPDATE grants SET revoked = 0 WHERE revoked = 1"),
        in_folder: Alone,
        database: "UPDATE grants SET revoked = false WHERE revoked",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is taken away: an interrupt",
        folder: Sql("DELETE FROM interrupts WHERE open = 1"),
        in_folder: Alone,
        database: "DELETE FROM interrupts WHERE open",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is taken away: a grant",
        folder: Sql("DELETE FROM grants WHERE revoked = 0"),
        in_folder: Alone,
        database: "DELETE FROM grants WHERE NOT revoked",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is taken away: a session",
        folder: Sql("DELETE FROM sessions WHERE session = (SELECT min(session) FROM sessions)"),
        in_folder: Alone,
        database: "DELETE FROM sessions WHERE session = (SELECT min(session) FROM sessions)",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is made up: a run",
        folder: Sql("INSERT INTO runs SELECT zeroblob(17), session, workflow, status, end_reason, runnable, deadline,
                         seq, ended_seq, created_at, updated_at FROM runs LIMIT 1"),
        in_folder: Alone,
        database: "INSERT INTO runs SELECT 'run_00000000000000000000000000', session, workflow, status, end_reason,
                       runnable, deadline, seq, ended_seq, created_at, updated_at FROM runs LIMIT 1",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is made up: an interrupt",
        folder: Sql("INSERT INTO interrupts SELECT zeroblob(17), run, session, kind, open, calm, created_at, expires_at,
                         opened_seq, resolved_seq FROM interrupts LIMIT 1"),
        in_folder: Alone,
        database: "INSERT INTO interrupts SELECT 'int_00000000000000000000000000', run, session, kind, open, risk,
                       created_at, expires_at, opened_seq, resolved_seq FROM interrupts LIMIT 1",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is made up: an interrupt of no run",
        folder: Sql("INSERT INTO interrupts SELECT zeroblob(17), zeroblob(17), session, kind, open, calm, created_at,
                         expires_at, opened_seq, resolved_seq FROM interrupts LIMIT 1"),
        in_folder: Alone,
        database: "INSERT INTO interrupts SELECT 'int_00000000000000000000000000', 'run_00000000000000000000000000',
                       session, kind, open, risk, created_at, expires_at, opened_seq, resolved_seq
                   FROM interrupts LIMIT 1",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is made up: a grant",
        folder: Sql("INSERT INTO grants SELECT zeroblob(17), session, added_seq, revoked FROM grants LIMIT 1"),
        in_folder: Alone,
        database: "INSERT INTO grants SELECT 'grt_00000000000000000000000000', session, added_seq, revoked
                   FROM grants LIMIT 1",
        in_database: Alone,
    },
    Manipulation {
        what: "a row of a list is made up: a session",
        folder: Sql("INSERT INTO sessions SELECT zeroblob(17), workflow, state, 0, created_at, changed_at, idle_ms
                     FROM sessions LIMIT 1"),
        in_folder: Alone,
        database: "INSERT INTO sessions SELECT 'ses_00000000000000000000000000', workflow, state, 0, created_at,
                       changed_at, idle_ms FROM sessions LIMIT 1",
        in_database: Alone,
    },
    Manipulation {
        what: "the lists are emptied",
        folder: Code(|files| {
            let sql = "DELETE FROM runs; DELETE FROM sessions; DELETE FROM interrupts; DELETE FROM grants";
            files.database().execute_batch(sql).unwrap();
        }),
        in_folder: Alone,
        database: "DELETE FROM runs; DELETE FROM sessions; DELETE FROM interrupts; DELETE FROM grants",
        in_database: Alone,
    },
    Manipulation {
        what: "a workflow that runs pin is taken away",
        folder: Sql("DELETE FROM blobs"),
        in_folder: Alone,
        database: "DELETE FROM blobs",
        in_database: Alone,
    },
    Manipulation {
        what: "a page of the database is damaged",
        folder: Code(|files| {
            let page_of = "SELECT rootpage FROM sqlite_schema WHERE name = 'runs_by_session'";
            let page: u32 = files.database().query_row(page_of, [], |row| row.get(0)).unwrap();
            let page = usize::try_from(page).unwrap();
            let mut bytes = fs::read(files.path(DATABASE)).unwrap();
            bytes[(page - 1) * 2048..page * 2048].fill(0x5a);
            fs::write(files.path(DATABASE), bytes).unwrap();
        }),
        in_folder: Alone,
        database: "",
        in_database: Absent,
    },
    Manipulation {
        what: "the database is replaced by an older one",
        folder: Code(|files| files.go_back(DATABASE)),
        in_folder: Alone,
        database: "",
        in_database: Absent,
    },
    Manipulation {
        what: "the log is taken away that a killed server left",
        folder: Code(|files| {
            files.be_killed();
            fs::remove_file(files.path(LOG)).unwrap();
        }),
        in_folder: Alone,
        database: "",
        in_database: Absent,
    },
    Manipulation {
        what: "the log is replaced by an older one",
        folder: Code(|files| {
            files.be_killed();
            // The first two commits of it.
            let log = fs::read(files.path(LOG)).unwrap();
            fs::write(files.path(LOG), &log[..commits(&log)[1]]).unwrap();
        }),
        in_folder: Alone,
        database: "",
        in_database: Absent,
    },
    Manipulation {
        what: "the database of a running server is copied without its log",
        folder: Code(|files| {
            files.be_killed();
            fs::remove_file(files.path(LOG)).unwrap();
            fs::remove_file(files.path(PIN)).unwrap();
        }),
        in_folder: Alone,
        database: "",
        in_database: Absent,
    },
    Manipulation {
        what: "the whole data folder is replaced by an older one",
        folder: Code(|files| {
            for name in [DATABASE, PIN] {
                files.go_back(name);
            }
        }),
        in_folder: Found::Head,
        database: "",
        in_database: Absent,
    },
    Manipulation {
        what: "the last event is taken away, and everything that is chained or pinned is computed anew",
        folder: Code(|files| {
            let sql = "DELETE FROM events WHERE position = (SELECT max(position) FROM events)";
            files.database().execute(sql, []).unwrap();
            files.compute_anew();
        }),
        in_folder: Found::Head,
        database: "DELETE FROM events WHERE position = (SELECT max(position) FROM events); DELETE FROM seals",
        in_database: Found::Head,
    },
    Manipulation {
        what: "a run is taken away with its rows, and everything that is chained or pinned is computed anew",
        folder: Code(|files| {
            files.take_run_away();
            files.compute_anew();
        }),
        in_folder: Found::Head,
        database: "CREATE TEMP TABLE gone AS SELECT run, session FROM runs
                       WHERE session IN (SELECT session FROM sessions WHERE seq = 0)
                           AND session NOT IN (SELECT session FROM grants) ORDER BY run LIMIT 1;
                   DELETE FROM events WHERE stream = (SELECT run FROM gone);
                   DELETE FROM interrupts WHERE run = (SELECT run FROM gone);
                   DELETE FROM sessions WHERE session = (SELECT session FROM gone);
                   DELETE FROM runs WHERE run = (SELECT run FROM gone);
                   DELETE FROM seals",
        in_database: Found::Head,
    },
    Manipulation {
        what: "the last event is rewritten, and everything that is chained or pinned is computed anew",
        folder: Code(|files| {
            let file = files.database();
            let sql = "SELECT head, (SELECT hash FROM events WHERE stream = last.stream AND seq = last.seq - 1)
                       FROM events AS last ORDER BY position DESC LIMIT 1";
            let (head, before): (Vec<u8>, Vec<u8>) =
                file.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            let head = String::from_utf8(head).unwrap().replace("\"test\"", "\"else\"").into_bytes();
            let hash = Digest::of_parts(&[&before, &head]);
            let sql = "UPDATE events SET head = ?1, hash = ?2 WHERE position = (SELECT max(position) FROM events)";
            file.execute(sql, rusqlite::params![head, hash.as_bytes()]).unwrap();
            files.compute_anew();
        }),
        in_folder: Found::Head,
        database: "UPDATE events SET head = new.head, hash = sha256(new.before || new.head) FROM (
                       SELECT position, convert_to(replace(convert_from(head, 'UTF8'), '\"test\"', '\"else\"'), 'UTF8') AS head,
                              (SELECT hash FROM events b WHERE b.stream = e.stream AND b.seq = e.seq - 1) AS before
                       FROM events e ORDER BY position DESC LIMIT 1
                   ) new WHERE events.position = new.position;
                   DELETE FROM seals",
        in_database: Found::Head,
    },
    Manipulation {
        what: "an event is put in at the end, and everything that is chained or pinned is computed anew",
        folder: Code(|files| {
            files.forge_at_the_end();
            files.compute_anew();
        }),
        in_folder: No,
        database: "",
        in_database: Absent,
    },
    Manipulation {
        what: "an idempotency key is changed or taken away",
        folder: Sql("UPDATE keys SET reference = 'run_00000000000000000000000000'"),
        in_folder: No,
        database: "DELETE FROM keys",
        in_database: No,
    },
];

/// The files of a data folder that no server uses.
struct Files {
    folder: TempDir,
}

impl Files {
    /// A copy of the story's.
    fn copy(from: &Path) -> Self {
        let folder = TempDir::new().unwrap();
        for name in [DATABASE, PIN] {
            fs::copy(from.join(name), folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn database(&self) -> Connection {
        Connection::open(self.path(DATABASE)).unwrap()
    }

    /// Puts one of the story's earlier files in place.
    fn go_back(&self, name: &str) {
        fs::copy(story().older.path().join(name), self.path(name)).unwrap();
    }

    /// The folder of a server that was killed after the last events.
    fn be_killed(&self) {
        for name in [DATABASE, LOG, PIN] {
            fs::copy(story().killed.path().join(name), self.path(name)).unwrap();
        }
    }

    fn take_run_away(&self) {
        let file = self.database();
        let gone: Vec<u8> = file.query_row(LONELY, [], |row| row.get(0)).unwrap();
        let stream = [&[1], &gone[..]].concat();
        assert!(file.execute("DELETE FROM events WHERE stream = ?1", [stream]).unwrap() > 0);
        for sql in [
            "DELETE FROM sessions WHERE session = (SELECT session FROM runs WHERE run = ?1)",
            "DELETE FROM interrupts WHERE run = ?1",
            "DELETE FROM runs WHERE run = ?1",
        ] {
            assert!(file.execute(sql, [&gone]).unwrap() > 0, "{sql}");
        }
        self.move_up();
    }

    /// Positions run from 1 without a gap again.
    fn move_up(&self) {
        let file = self.database();
        let positions = |sql: &str| -> Vec<i64> {
            let mut statement = file.prepare(sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        for (new, old) in (1..).zip(positions("SELECT position FROM events ORDER BY position")) {
            file.execute("UPDATE events SET position = ?1 WHERE position = ?2", [new, old]).unwrap();
        }
    }

    /// Another event of the installation: everything is frozen once more.
    fn forge_at_the_end(&self) {
        let file = self.database();
        let sql = "SELECT seq, head, hash FROM events WHERE stream = x'03' ORDER BY seq DESC LIMIT 1";
        let (seq, head, hash): (i64, Vec<u8>, Vec<u8>) =
            file.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        let (from, to) = (format!("\"seq\":{seq}"), format!("\"seq\":{}", seq + 1));
        let head = String::from_utf8(head).unwrap().replace(&from, &to).into_bytes();
        let hash = Digest::of_parts(&[&hash, &head]);
        let (events, chained): (u32, [u8; 32]) = file
            .query_row("SELECT position, chained FROM events ORDER BY position DESC LIMIT 1", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        let last = Head { events: events.into(), hash: Digest::from_bytes(chained) }.then(&hash);
        let sql = "INSERT INTO events (position, stream, seq, hash, chained, head) VALUES (?1, x'03', ?2, ?3, ?4, ?5)";
        let values = rusqlite::params![events + 1, seq + 1, hash.as_bytes(), last.hash.as_bytes(), head];
        file.execute(sql, values).unwrap();
    }

    /// As somebody would who knows how it is done.
    fn compute_anew(&self) {
        let file = self.database();
        let mut statement = file.prepare("SELECT hash FROM events ORDER BY position").unwrap();
        let hashes: Vec<[u8; 32]> =
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let mut head = Head::START;
        for (position, hash) in (1_i64..).zip(hashes) {
            head = head.then(&Digest::from_bytes(hash));
            let sql = "UPDATE events SET chained = ?1 WHERE position = ?2";
            assert_eq!(file.execute(sql, rusqlite::params![head.hash.as_bytes(), position]).unwrap(), 1);
        }
        fs::write(self.path(PIN), format!("{:>20} {}\n", head.events, head.hash)).unwrap();
    }

    async fn verify(&self, noted: &[Noted]) -> Result<Report, String> {
        let journal = Sqlite::open_to_read(self.folder.path()).map_err(|error| error.to_string())?;
        audit::verify_against(&journal, noted).await.map_err(|error| error.to_string())
    }
}

/// Where the commits of a log end: frames that say how large the database is then.
fn commits(log: &[u8]) -> Vec<usize> {
    let frame = 24 + 2048;
    let ends = (32..log.len()).step_by(frame).filter(|at| log[at + 4..at + 8] != [0; 4]);
    ends.map(|at| at + frame).collect()
}

/// Data folders with the same history, up to different points.
struct Story {
    /// Closed.
    whole: TempDir,
    /// The same folder, closed earlier.
    older: TempDir,
    /// The folder of a server that was killed with events in its log.
    killed: TempDir,
    /// Of `whole`, on the way and at its end.
    heads: Vec<Noted>,
}

fn story() -> &'static Story {
    static STORY: LazyLock<Story> = LazyLock::new(|| {
        // Tests of one runtime each ask for it.
        let thread = std::thread::spawn(|| {
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(tell())
        });
        thread.join().unwrap()
    });
    &STORY
}

async fn tell() -> Story {
    let (folder, older, killed) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let stage = play(Arc::new(Sqlite::open(folder.path()).unwrap())).await;
    let mut heads = vec![stage.driver.journal().head().await.unwrap()];
    stage.driver.change_system(system::Input::Freeze, operator()).await.unwrap();
    stage.driver.journal().close().await.unwrap();
    for name in [DATABASE, PIN] {
        fs::copy(folder.path().join(name), older.path().join(name)).unwrap();
    }
    let journal = Arc::new(Sqlite::open(folder.path()).unwrap());
    let stage = Stage::on(journal, stage.world.clone(), stage.clock.clone());
    for _ in 0..2 {
        stage.driver.change_system(system::Input::Unfreeze, operator()).await.unwrap();
        stage.driver.change_system(system::Input::Freeze, operator()).await.unwrap();
    }
    stage.driver.change_system(system::Input::Unfreeze, operator()).await.unwrap();
    heads.push(stage.driver.journal().head().await.unwrap());
    // A kill leaves the files as they are.
    for name in [DATABASE, LOG, PIN] {
        fs::copy(folder.path().join(name), killed.path().join(name)).unwrap();
    }
    stage.driver.journal().close().await.unwrap();
    let heads = heads.iter().map(|head| head.to_string().parse().unwrap()).collect();
    Story { whole: folder, older, killed, heads }
}

fn classify(alone: &Result<Report, String>, against: &Result<Report, String>) -> Found {
    let is_found = |report: &Result<Report, String>| match report {
        Ok(report) => !report.problems.is_empty(),
        Err(_) => true,
    };
    match (is_found(alone), is_found(against)) {
        (true, _) => Alone,
        (false, true) => Found::Head,
        (false, false) => No,
    }
}

#[tokio::test]
async fn an_audit_finds_in_a_data_folder_what_the_table_says() {
    let heads = &story().heads;
    let untouched = Files::copy(story().whole.path());
    let report = untouched.verify(heads).await.unwrap();
    assert_eq!(report.problems, []);
    assert!(report.against.iter().all(|compared| compared.holds));
    assert_eq!(report.head.to_string(), heads[1].to_string());
    untouched.be_killed();
    assert_eq!(untouched.verify(heads).await.unwrap(), report);
    // Read, and nothing else.
    assert_eq!(fs::read(untouched.path(LOG)).unwrap(), fs::read(story().killed.path().join(LOG)).unwrap());
    let mut wrong = Vec::new();
    for manipulation in MANIPULATIONS {
        let files = Files::copy(story().whole.path());
        match manipulation.folder {
            Sql(sql) => {
                let changed = files.database().execute(sql, []).unwrap();
                assert!(changed > 0 || manipulation.in_folder == No, "{}", manipulation.what);
            }
            Code(change) => change(&files),
            Folder::None => continue,
        }
        let (alone, against) = (files.verify(&[]).await, files.verify(heads).await);
        let found = classify(&alone, &against);
        if found != manipulation.in_folder {
            wrong.push(format!("{}: {found}, not {}: {alone:?}", manipulation.what, manipulation.in_folder));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_finds_in_a_database_what_the_table_says() {
    let server = holdshort_testpg::shared();
    let url = server.database();
    let stage = play(Arc::new(Postgres::open(postgres::Config::new(&url, "story")).await.unwrap())).await;
    let heads = noted_in(&stage).await;
    stage.driver.journal().close().await.unwrap();
    drop(stage);
    let name = url.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let mut wrong = Vec::new();
    let untouched = Manipulation {
        what: "nothing is changed",
        folder: Folder::None,
        in_folder: No,
        database: "SELECT 1",
        in_database: No,
    };
    for (n, manipulation) in [&untouched].into_iter().chain(MANIPULATIONS).enumerate() {
        if manipulation.database.is_empty() {
            assert_eq!(manipulation.in_database, Absent);
            continue;
        }
        let copy = format!("{name}_{n}");
        let make = format!("CREATE DATABASE {copy} TEMPLATE {name}");
        server.run("psql", &["--quiet", "--dbname", &server.url("postgres"), "--command", &make]).unwrap();
        let copy = server.url(&copy);
        server
            .run(
                "psql",
                &["--quiet", "-v", "ON_ERROR_STOP=1", "--dbname", &copy, "--command", manipulation.database],
            )
            .unwrap();
        let journal = Postgres::open_to_read(&postgres::Config::new(&copy, "audit")).await.unwrap();
        let alone = audit::verify(&journal).await.map_err(|error| error.to_string());
        let against = audit::verify_against(&journal, &heads).await.map_err(|error| error.to_string());
        journal.close().await.unwrap();
        let found = classify(&alone, &against);
        if found != manipulation.in_database {
            let expected = manipulation.in_database;
            wrong.push(format!("{}: {found}, not {expected}: {alone:?}", manipulation.what));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Some more events, and the heads before and after them.
async fn noted_in<J: Journal>(stage: &Stage<J>) -> Vec<Noted> {
    let mut heads = Vec::new();
    for _ in 0..2 {
        stage.driver.change_system(system::Input::Freeze, operator()).await.unwrap();
        stage.driver.change_system(system::Input::Unfreeze, operator()).await.unwrap();
        let written =
            stage.driver.journal().append(holdshort_store::Append::default()).await.unwrap().position;
        stage.driver.journal().watch().wait_for(|visible| *visible >= written).await.unwrap();
        heads.push(stage.driver.journal().head().await.unwrap().to_string().parse().unwrap());
    }
    heads
}

#[test]
fn the_table_in_the_docs_is_this_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/journal.md");
    let docs = fs::read_to_string(path).unwrap();
    let rows = MANIPULATIONS
        .iter()
        .map(|each| format!("| {} | {} | {} |", each.what, each.in_folder, each.in_database));
    let table = rows.collect::<Vec<_>>().join("\n");
    assert!(
        docs.contains(&format!("|---|---|---|\n{table}\n\n")),
        "docs/journal.md needs these rows:\n{table}"
    );
}

/// The same journal has the same head in every store.
#[tokio::test]
async fn a_head_is_a_function_of_the_events() {
    let folder = TempDir::new().unwrap();
    let on_disk = play(Arc::new(Sqlite::open(folder.path()).unwrap())).await;
    let in_memory = play(Arc::new(Memory::new())).await;
    let head = on_disk.driver.journal().head().await.unwrap();
    assert_eq!(head, in_memory.driver.journal().head().await.unwrap());
    assert_eq!(audit::verify(&**on_disk.driver.journal()).await.unwrap().head, head);
}

/// Rows are compared with streams that grow meanwhile, and nothing is called damaged that is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_audit_beside_a_server_that_works_finds_nothing() {
    let folder = TempDir::new().unwrap();
    let stage = Arc::new(play(Arc::new(Sqlite::open(folder.path()).unwrap())).await);
    let working = tokio::spawn({
        let stage = stage.clone();
        async move {
            for _ in 0..30 {
                let run = stage.play().await;
                stage.approve_all(&run).await;
            }
        }
    });
    let mut verified = 0;
    while !working.is_finished() || verified == 0 {
        let before = stage.driver.journal().head().await.unwrap().to_string().parse().unwrap();
        let report = audit::verify_against(&**stage.driver.journal(), &[before]).await.unwrap();
        assert_eq!(report.problems, []);
        verified += 1;
    }
    working.await.unwrap();
}
