//! The table of manipulations in `docs/journal.md`: changes to a journal, and whether an audit finds each of them.

use std::fmt;

use super::folder::{DATABASE, Files, LOG, PIN};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detection {
    /// The audit finds the manipulation from the journal alone.
    Alone,
    /// The audit finds the manipulation only by comparing the journal with a stored head.
    Head,
    No,
}
use Detection::{Alone, Head, No};

impl fmt::Display for Detection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Alone => "alone",
            Head => "against a head",
            No => "not found",
        })
    }
}

/// Change that a manipulation makes to a data folder that no server uses.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Sql(&'static str),
    Code(fn(&Files)),
}
use Change::{Code, Sql};

/// A manipulation of a journal. In its SQL statements, `events` stands for a table with one row per event.
pub(super) struct Manipulation {
    /// Description of the manipulation in the table of `docs/journal.md`.
    pub(super) what: &'static str,
    pub(super) folder: (Change, Detection),
    /// Statements for PostgreSQL. `None` if the manipulation is not possible there.
    pub(super) database: Option<(&'static str, Detection)>,
}

impl Manipulation {
    /// Returns a manipulation with equal statements for both stores.
    const fn alike(what: &'static str, sql: &'static str) -> Self {
        Self { what, folder: (Sql(sql), Alone), database: Some((sql, Alone)) }
    }

    /// Returns a manipulation with different statements for each store.
    const fn each(what: &'static str, folder: Change, database: &'static str) -> Self {
        Self { what, folder: (folder, Alone), database: Some((database, Alone)) }
    }

    /// Returns a manipulation of files, which is possible only for SQLite.
    const fn to_files(what: &'static str, code: fn(&Files)) -> Self {
        Self { what, folder: (Code(code), Alone), database: None }
    }

    const fn found(mut self, folder: Detection, database: Detection) -> Self {
        self.folder.1 = folder;
        if let Some(there) = &mut self.database {
            there.1 = database;
        }
        self
    }
}

/// SQL statements that delete all rows of a run that is alone in its session.
macro_rules! take_run_away {
    ($($then:literal)?) => {
        concat!(
            "CREATE TEMP TABLE gone AS SELECT run, session FROM runs
                 WHERE session IN (SELECT session FROM sessions WHERE seq = 0)
                     AND session NOT IN (SELECT session FROM grants) ORDER BY run LIMIT 1;
             DELETE FROM events WHERE stream = (SELECT run FROM gone);
             DELETE FROM interrupts WHERE run = (SELECT run FROM gone);
             DELETE FROM sessions WHERE session = (SELECT session FROM gone);
             DELETE FROM runs WHERE run = (SELECT run FROM gone);",
            $($then)?
        )
    };
}

pub(super) const MANIPULATIONS: &[Manipulation] = &[
    Manipulation::each(
        "event rewritten",
        Sql("UPDATE events SET head = CAST(replace(CAST(head AS TEXT), 'operator', 'somebody') AS BLOB) WHERE seq = 1"),
        "UPDATE events SET head = convert_to(replace(convert_from(head, 'UTF8'), 'operator', 'somebody'), 'UTF8')
         WHERE seq = 1",
    ),
    Manipulation::each(
        "text rewritten",
        Sql("UPDATE events SET content = CAST('{\"text\":\"yes\"}' AS BLOB)
             WHERE position = (SELECT min(position) FROM events WHERE content IS NOT NULL)"),
        "UPDATE events SET content = '{\"text\":\"yes\"}'
         WHERE position = (SELECT min(position) FROM events WHERE content IS NOT NULL)",
    ),
    Manipulation::alike(
        "text removed",
        "UPDATE events SET content = NULL, salt = NULL
         WHERE position = (SELECT min(position) FROM events WHERE content IS NOT NULL)",
    ),
    Manipulation::alike(
        "event removed",
        "DELETE FROM events WHERE seq = 2 AND stream = (SELECT stream FROM events WHERE seq = 3 LIMIT 1)",
    ),
    Manipulation::alike(
        "append cut off",
        "UPDATE appends SET heads = substr(heads, 2) WHERE position = (SELECT min(position) FROM appends)",
    ),
    Manipulation::alike(
        "two events exchanged in the order of commits",
        "CREATE TEMP TABLE two AS SELECT position FROM events ORDER BY position LIMIT 2 OFFSET 1;
         UPDATE events SET position = -1 WHERE position = (SELECT min(position) FROM two);
         UPDATE events SET position = (SELECT min(position) FROM two)
             WHERE position = (SELECT max(position) FROM two);
         UPDATE events SET position = (SELECT max(position) FROM two) WHERE position = -1",
    ),
    Manipulation::alike(
        "last event of the journal removed",
        "DELETE FROM events WHERE position = (SELECT max(position) FROM events)",
    ),
    Manipulation::each(
        "run removed with its rows, later events moved up",
        Code(Files::take_run_away),
        take_run_away!(),
    ),
    Manipulation::each(
        "freezes and policies removed, later events moved up",
        Code(|files| {
            files.sql("DELETE FROM events WHERE stream = x'03'");
            files.move_up();
        }),
        "DELETE FROM events WHERE stream = 'sys'",
    ),
    Manipulation::each(
        "event that fits its stream added at the end",
        Code(Files::forge_at_the_end),
        "INSERT INTO events (stream, seq, position, hash, head)
         SELECT stream, seq + 1, position + 1, sha256(hash || forged), forged FROM (
             SELECT *, convert_to(replace(convert_from(head, 'UTF8'),
                    '\"seq\":' || seq, '\"seq\":' || seq + 1), 'UTF8') AS forged
             FROM events WHERE stream = 'sys' ORDER BY seq DESC LIMIT 1
         ) last",
    )
    .found(Alone, No),
    Manipulation::alike(
        "list row changed: state of a run",
        "UPDATE runs SET status = 'completed' WHERE status = 'waiting'",
    ),
    Manipulation::alike(
        "list row changed: open interrupt closed",
        "UPDATE interrupts SET open = false WHERE open",
    ),
    Manipulation::alike(
        "list row changed: state of a session",
        "UPDATE sessions SET state = 'open' WHERE state = 'suspended'",
    ),
    Manipulation::alike(
        "list row changed: revoked grant valid again",
        "UPDATE grants SET revoked = false WHERE revoked",
    ),
    Manipulation::alike(
        "list row changed: answer to a question",
        "UPDATE answers SET answer = 'that'",
    ),
    Manipulation::alike(
        "list row changed: subject of an answer",
        "UPDATE answers SET subject = 'another plant'",
    ),
    Manipulation::alike("list row removed: answer", "DELETE FROM answers"),
    Manipulation::alike("list row removed: interrupt", "DELETE FROM interrupts WHERE open"),
    Manipulation::alike("list row removed: grant", "DELETE FROM grants WHERE NOT revoked"),
    Manipulation::alike(
        "list row removed: session",
        "DELETE FROM sessions WHERE session = (SELECT min(session) FROM sessions)",
    ),
    Manipulation::each(
        "list row added: run",
        Sql("INSERT INTO runs SELECT zeroblob(17), session, workflow, status, end_reason, runnable, deadline,
                 seq, ended_seq, created_at, updated_at, requests, input_tokens, output_tokens, cost, currency,
                 unpriced FROM runs LIMIT 1"),
        "INSERT INTO runs SELECT 'run_00000000000000000000000000', session, workflow, status, end_reason,
             runnable, deadline, seq, ended_seq, created_at, updated_at, requests, input_tokens, output_tokens, cost,
             currency, unpriced FROM runs LIMIT 1",
    ),
    Manipulation::each(
        "list row added: interrupt",
        Sql("INSERT INTO interrupts SELECT zeroblob(17), run, session, kind, open, risk, created_at, expires_at,
                 opened_seq, resolved_seq, claimed_by, assigned FROM interrupts LIMIT 1"),
        "INSERT INTO interrupts SELECT 'int_00000000000000000000000000', run, session, kind, open, risk,
             created_at, expires_at, opened_seq, resolved_seq, claimed_by, assigned FROM interrupts LIMIT 1",
    ),
    Manipulation::each(
        "list row added: interrupt without a run",
        Sql("INSERT INTO interrupts SELECT zeroblob(17), zeroblob(17), session, kind, open, risk, created_at,
                 expires_at, opened_seq, resolved_seq, claimed_by, assigned FROM interrupts LIMIT 1"),
        "INSERT INTO interrupts SELECT 'int_00000000000000000000000000', 'run_00000000000000000000000000',
             session, kind, open, risk, created_at, expires_at, opened_seq, resolved_seq, claimed_by, assigned
         FROM interrupts LIMIT 1",
    ),
    Manipulation::each(
        "list row added: grant",
        Sql("INSERT INTO grants SELECT zeroblob(17), session, added_seq, revoked FROM grants LIMIT 1"),
        "INSERT INTO grants SELECT 'grt_00000000000000000000000000', session, added_seq, revoked FROM grants LIMIT 1",
    ),
    Manipulation::each(
        "list row added: answer",
        Sql("INSERT INTO answers SELECT place + 1, zeroblob(17), run, subject, agent, question, answer, is_data, by, at,
                 corrected_at, reused, source, erased, asked, words FROM answers LIMIT 1"),
        "INSERT INTO answers SELECT 'int_00000000000000000000000000', run, subject, agent, question, answer, is_data,
             by, at, corrected_at, reused, source, erased, asked, words FROM answers LIMIT 1",
    ),
    Manipulation::each(
        "list row added: session",
        Sql("INSERT INTO sessions SELECT zeroblob(17), workflow, state, 0, created_at, changed_at, idle_ms,
                 front_run, idle_since FROM sessions LIMIT 1"),
        "INSERT INTO sessions SELECT 'ses_00000000000000000000000000', workflow, state, 0, created_at, changed_at,
             idle_ms, front_run, idle_since FROM sessions LIMIT 1",
    ),
    Manipulation::alike(
        "lists emptied",
        "DELETE FROM runs; DELETE FROM sessions; DELETE FROM interrupts; DELETE FROM grants",
    ),
    Manipulation::alike("workflow of a run removed", "DELETE FROM blobs"),
    Manipulation::to_files("page of the database damaged", Files::damage_a_page),
    Manipulation::to_files("index rebuilt without some of its rows", |files| {
        files.make_anew("open_interrupts_by_kind", "WHERE open = 1", "WHERE open = 1 AND risk = 7");
    }),
    Manipulation::each(
        "trigger that changes lists later added",
        Code(|files| {
            files.schema("CREATE TRIGGER later AFTER INSERT ON appends BEGIN DELETE FROM grants; END");
        }),
        "CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN DELETE FROM grants; RETURN NULL; END $$;
         CREATE TRIGGER later AFTER INSERT ON appends EXECUTE FUNCTION later()",
    )
    .found(Alone, No),
    Manipulation::to_files("database replaced by an older copy", |files| files.go_back(DATABASE)),
    Manipulation::to_files("pin removed, database replaced by an older copy", |files| {
        files.remove(PIN);
        files.go_back(DATABASE);
    })
    .found(Head, No),
    Manipulation::to_files("write-ahead log of a killed server removed", |files| {
        files.be_killed();
        files.remove(LOG);
    }),
    Manipulation::to_files("write-ahead log replaced by an older copy", |files| {
        files.be_killed();
        files.shorten_the_log(2);
    }),
    Manipulation::to_files("database of a running server copied without its write-ahead log", |files| {
        files.be_killed();
        files.remove(LOG);
        files.remove(PIN);
    }),
    Manipulation::to_files("data folder replaced by an older copy", |files| {
        files.go_back(DATABASE);
        files.go_back(PIN);
    })
    .found(Head, Head),
    Manipulation::each(
        "last event removed, everything recomputed",
        Code(|files| {
            files.sql("DELETE FROM events WHERE position = (SELECT max(position) FROM events)");
            files.compute_anew();
        }),
        "DELETE FROM events WHERE position = (SELECT max(position) FROM events); DELETE FROM seals",
    )
    .found(Head, Head),
    Manipulation::each(
        "run removed with its rows, everything recomputed",
        Code(|files| {
            files.take_run_away();
            files.compute_anew();
        }),
        take_run_away!("DELETE FROM seals"),
    )
    .found(Head, Head),
    Manipulation::each(
        "last event rewritten, everything recomputed",
        Code(|files| {
            files.rewrite_the_last();
            files.compute_anew();
        }),
        "UPDATE events SET head = new.head, hash = sha256(new.before || new.head) FROM (
             SELECT position, convert_to(replace(convert_from(head, 'UTF8'), '\"test\"', '\"else\"'), 'UTF8') AS head,
                    (SELECT hash FROM events b WHERE b.stream = e.stream AND b.seq = e.seq - 1) AS before
             FROM events e ORDER BY position DESC LIMIT 1
         ) new WHERE events.position = new.position;
         DELETE FROM seals",
    )
    .found(Head, Head),
    Manipulation::to_files(
        "event added at the end, everything recomputed",
        |files| {
            files.forge_at_the_end();
            files.compute_anew();
        },
    )
    .found(No, No),
    Manipulation::each(
        "idempotency key changed or removed",
        Sql("UPDATE keys SET reference = 'run_00000000000000000000000000'"),
        "DELETE FROM keys",
    )
    .found(No, No),
];
