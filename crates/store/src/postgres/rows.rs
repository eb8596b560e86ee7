//! The rows that can be rebuilt: to the database as JSON of its columns, back as columns; read by id; replaced.

use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId};
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow};
use holdshort_core::time::Timestamp;
use serde_json::{Map, Value, json};
use tokio_postgres::Row;

use super::column::{big, get, id, kind, maybe_number, maybe_time, number, state, status, time};
use super::node::Node;
use super::pool::Pool;
use crate::journal::Error;
use crate::tables::Rows;

pub(super) const RUN: &str = "run, session, workflow, status, end_reason, runnable, deadline, seq, ended_seq, \
                              created_at, updated_at";
pub(super) const SESSION: &str = "session, workflow, state, seq, created_at, changed_at, idle_ms";
pub(super) const INTERRUPT: &str =
    "interrupt, run, session, kind, open, risk, created_at, expires_at, opened_seq, resolved_seq";
pub(super) const GRANT: &str = "grant_id, session, added_seq, revoked";

/// What `holdshort_put` takes; absent where there is nothing to put.
pub(super) fn json(rows: &Rows) -> Value {
    let mut all = Map::new();
    if let Some(row) = &rows.run {
        all.insert("run".to_owned(), run_json(row));
    }
    if let Some(row) = &rows.session {
        all.insert("session".to_owned(), session_json(row));
    }
    if !rows.interrupts.is_empty() {
        all.insert("interrupts".to_owned(), rows.interrupts.iter().map(interrupt_json).collect());
    }
    if !rows.grants.is_empty() {
        all.insert("grants".to_owned(), rows.grants.iter().map(grant_json).collect());
    }
    Value::Object(all)
}

fn run_json(row: &RunRow) -> Value {
    json!({
        "run": row.run.as_str(),
        "session": row.session.as_str(),
        "workflow": row.workflow,
        "status": row.status.as_str(),
        "end_reason": row.end_reason,
        "runnable": row.runnable,
        "deadline": row.deadline.map(Timestamp::as_millis),
        "seq": big(row.seq),
        "ended_seq": row.ended_seq.map(big),
        "created_at": row.created_at.as_millis(),
        "updated_at": row.updated_at.as_millis(),
    })
}

fn session_json(row: &SessionRow) -> Value {
    json!({
        "session": row.session.as_str(),
        "workflow": row.workflow,
        "state": row.state.as_str(),
        "seq": big(row.seq),
        "created_at": row.created_at.as_millis(),
        "changed_at": row.changed_at.as_millis(),
        "idle_ms": row.idle_ms.map(big),
    })
}

fn interrupt_json(row: &InterruptRow) -> Value {
    json!({
        "interrupt": row.interrupt.as_str(),
        "run": row.run.as_str(),
        "session": row.session.as_str(),
        "kind": row.kind.as_str(),
        "open": row.open,
        "risk": row.risk,
        "created_at": row.created_at.as_millis(),
        "expires_at": row.expires_at.map(Timestamp::as_millis),
        "opened_seq": big(row.opened_seq),
        "resolved_seq": row.resolved_seq.map(big),
    })
}

fn grant_json(row: &GrantRow) -> Value {
    json!({
        "grant_id": row.grant.as_str(),
        "session": row.session.as_str(),
        "added_seq": big(row.added_seq),
        "revoked": row.revoked,
    })
}

/// A row of the columns [`RUN`].
pub(super) fn read_run(row: &Row) -> Result<RunRow, Error> {
    Ok(RunRow {
        run: id(row, 0)?,
        session: id(row, 1)?,
        workflow: get(row, 2)?,
        status: status(row, 3)?,
        end_reason: get(row, 4)?,
        runnable: get(row, 5)?,
        deadline: maybe_time(row, 6)?,
        seq: number(row, 7)?,
        ended_seq: maybe_number(row, 8)?,
        created_at: time(row, 9)?,
        updated_at: time(row, 10)?,
    })
}

/// A row of the columns [`SESSION`].
pub(super) fn read_session(row: &Row) -> Result<SessionRow, Error> {
    Ok(SessionRow {
        session: id(row, 0)?,
        workflow: get(row, 1)?,
        state: state(row, 2)?,
        seq: number(row, 3)?,
        created_at: time(row, 4)?,
        changed_at: time(row, 5)?,
        idle_ms: maybe_number(row, 6)?,
    })
}

/// A row of the columns [`INTERRUPT`].
pub(super) fn read_interrupt(row: &Row) -> Result<InterruptRow, Error> {
    let risk: i16 = get(row, 5)?;
    Ok(InterruptRow {
        interrupt: id(row, 0)?,
        run: id(row, 1)?,
        session: id(row, 2)?,
        kind: kind(row, 3)?,
        open: get(row, 4)?,
        risk: u8::try_from(risk).map_err(|_| Error::Corrupt(format!("{risk} is no risk")))?,
        created_at: time(row, 6)?,
        expires_at: maybe_time(row, 7)?,
        opened_seq: number(row, 8)?,
        resolved_seq: maybe_number(row, 9)?,
    })
}

/// A row of the columns [`GRANT`].
pub(super) fn read_grant(row: &Row) -> Result<GrantRow, Error> {
    Ok(GrantRow {
        grant: id(row, 0)?,
        session: id(row, 1)?,
        added_seq: number(row, 2)?,
        revoked: get(row, 3)?,
    })
}

pub(super) async fn run(pool: &Pool, run: &RunId) -> Result<Option<RunRow>, Error> {
    let sql = format!("SELECT {RUN} FROM runs WHERE run = $1");
    pool.read(&sql, &[&run.as_str()]).await?.first().map(read_run).transpose()
}

pub(super) async fn session(pool: &Pool, session: &SessionId) -> Result<Option<SessionRow>, Error> {
    let sql = format!("SELECT {SESSION} FROM sessions WHERE session = $1");
    pool.read(&sql, &[&session.as_str()]).await?.first().map(read_session).transpose()
}

pub(super) async fn interrupt(pool: &Pool, interrupt: &InterruptId) -> Result<Option<InterruptRow>, Error> {
    let sql = format!("SELECT {INTERRUPT} FROM interrupts WHERE interrupt = $1");
    pool.read(&sql, &[&interrupt.as_str()]).await?.first().map(read_interrupt).transpose()
}

pub(super) async fn grant(pool: &Pool, grant: &GrantId) -> Result<Option<GrantRow>, Error> {
    let sql = format!("SELECT {GRANT} FROM grants WHERE grant_id = $1");
    pool.read(&sql, &[&grant.as_str()]).await?.first().map(read_grant).transpose()
}

/// How many of the parts of a replacement go to the database at once.
const CHUNK: usize = 500;

/// Drops all rows and writes these, and makes the leases those of the runnable runs: who drives one already goes
/// on. Appends wait meanwhile.
pub(super) async fn replace(pool: &Pool, node: &Node, all: &[Rows]) -> Result<(), Error> {
    let mut client = pool.client().await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
    node.shut_out(&transaction).await?;
    transaction
        .batch_execute(
            "LOCK TABLE runs, sessions, interrupts, grants, leases IN SHARE ROW EXCLUSIVE MODE;
             DELETE FROM runs; DELETE FROM sessions; DELETE FROM interrupts; DELETE FROM grants",
        )
        .await?;
    let put = "SELECT holdshort_put(part) FROM jsonb_array_elements($1) part";
    for chunk in all.chunks(CHUNK) {
        let parts: Value = chunk.iter().map(json).collect();
        transaction.execute(put, &[&parts]).await?;
    }
    transaction
        .batch_execute(
            "DELETE FROM leases l USING (
                 SELECT l.run FROM leases l LEFT JOIN runs r ON r.run = l.run AND r.runnable WHERE r.run IS NULL
             ) gone WHERE l.run = gone.run;
             INSERT INTO leases (run, node, woken, since)
             SELECT run, NULL, false, clock_timestamp() FROM runs WHERE runnable
             ON CONFLICT DO NOTHING",
        )
        .await?;
    Ok(transaction.commit().await?)
}
