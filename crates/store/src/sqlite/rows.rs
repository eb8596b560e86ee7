//! The rows that can be rebuilt: written by id, read by id.

use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId};
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow};
use holdshort_core::time::Timestamp;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use super::column::{Key, Name, Number, id, number, time};
use super::packed::pack;
use crate::journal::Error;
use crate::tables::Rows;

/// See the schema: the riskiest row is the least calm one.
const CALMEST: u8 = u8::MAX;

pub(super) const RUN: &str = RUNS.list;
pub(super) const SESSION: &str = SESSIONS.list;
pub(super) const INTERRUPT: &str = INTERRUPTS.list;
pub(super) const GRANT: &str = GRANTS.list;

/// What its rows are written and read by, each by its key, which is the first column.
struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    /// The columns as they stand in a statement.
    list: &'static str,
    select: &'static str,
    insert: &'static str,
}

macro_rules! table {
    ($name:literal: $key:literal $(, $column:literal)*) => {
        Table {
            name: $name,
            columns: &[$key $(, $column)*],
            list: concat!($key $(, ", ", $column)*),
            select: concat!("SELECT ", $key $(, ", ", $column)*, " FROM ", $name, " WHERE ", $key, " = ?1"),
            insert: concat!(
                "INSERT INTO ", $name, " (", $key $(, ", ", $column)*, ") VALUES (?" $(, another!($column))*, ")"
            ),
        }
    };
}
/// The place of one more column.
macro_rules! another {
    ($column:literal) => {
        ", ?"
    };
}

const RUNS: Table = table!("runs": "run", "session", "workflow", "status", "end_reason", "runnable", "deadline", "seq",
    "ended_seq", "created_at", "updated_at");
const SESSIONS: Table =
    table!("sessions": "session", "workflow", "state", "seq", "created_at", "changed_at", "idle_ms");
const INTERRUPTS: Table = table!("interrupts": "interrupt", "run", "session", "kind", "open", "calm", "created_at",
    "expires_at", "opened_seq", "resolved_seq");
const GRANTS: Table = table!("grants": "grant_id", "session", "added_seq", "revoked");

pub(super) fn put(connection: &Connection, rows: &Rows) -> Result<(), Error> {
    if let Some(row) = &rows.run {
        put_row(connection, &RUNS, &run_values(row))?;
    }
    if let Some(row) = &rows.session {
        let merged = match session(connection, &row.session)? {
            Some(there) => there.with(row.clone()),
            None => row.clone(),
        };
        put_row(connection, &SESSIONS, &session_values(&merged))?;
    }
    for row in &rows.interrupts {
        put_row(connection, &INTERRUPTS, &interrupt_values(row))?;
    }
    for row in &rows.grants {
        put_row(connection, &GRANTS, &grant_values(row))?;
    }
    Ok(())
}

pub(super) fn replace(connection: &Connection, all: &[Rows]) -> Result<(), Error> {
    connection.execute_batch(
        "DELETE FROM runs; DELETE FROM sessions; DELETE FROM interrupts; DELETE FROM grants;",
    )?;
    all.iter().try_for_each(|rows| put(connection, rows))
}

pub(super) fn run(connection: &Connection, run: &RunId) -> Result<Option<RunRow>, Error> {
    Ok(connection.prepare_cached(RUNS.select)?.query_row([Key(run.as_str())], read_run).optional()?)
}

pub(super) fn session(connection: &Connection, session: &SessionId) -> Result<Option<SessionRow>, Error> {
    let mut statement = connection.prepare_cached(SESSIONS.select)?;
    Ok(statement.query_row([Key(session.as_str())], read_session).optional()?)
}

pub(super) fn interrupt(
    connection: &Connection,
    interrupt: &InterruptId,
) -> Result<Option<InterruptRow>, Error> {
    let mut statement = connection.prepare_cached(INTERRUPTS.select)?;
    Ok(statement.query_row([Key(interrupt.as_str())], read_interrupt).optional()?)
}

pub(super) fn grant(connection: &Connection, grant: &GrantId) -> Result<Option<GrantRow>, Error> {
    Ok(connection.prepare_cached(GRANTS.select)?.query_row([Key(grant.as_str())], read_grant).optional()?)
}

/// A row of the columns [`RUN`].
pub(super) fn read_run(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let Name(status) = row.get(3)?;
    Ok(RunRow {
        run: id(row, 0)?,
        session: id(row, 1)?,
        workflow: row.get(2)?,
        status,
        end_reason: row.get(4)?,
        runnable: row.get(5)?,
        deadline: row.get::<_, Option<i64>>(6)?.map(Timestamp::from_millis),
        seq: number(row, 7)?,
        ended_seq: row.get::<_, Option<Number>>(8)?.map(|Number(seq)| seq),
        created_at: time(row, 9)?,
        updated_at: time(row, 10)?,
    })
}

/// A row of the columns [`SESSION`].
pub(super) fn read_session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let Name(state) = row.get(2)?;
    Ok(SessionRow {
        session: id(row, 0)?,
        workflow: row.get(1)?,
        state,
        seq: number(row, 3)?,
        created_at: time(row, 4)?,
        changed_at: time(row, 5)?,
        idle_ms: row.get::<_, Option<Number>>(6)?.map(|Number(ms)| ms),
    })
}

/// A row of the columns [`INTERRUPT`].
pub(super) fn read_interrupt(row: &Row<'_>) -> rusqlite::Result<InterruptRow> {
    let Name(kind) = row.get(3)?;
    Ok(InterruptRow {
        interrupt: id(row, 0)?,
        run: id(row, 1)?,
        session: id(row, 2)?,
        kind,
        open: row.get(4)?,
        risk: CALMEST - row.get::<_, u8>(5)?,
        created_at: time(row, 6)?,
        expires_at: row.get::<_, Option<i64>>(7)?.map(Timestamp::from_millis),
        opened_seq: number(row, 8)?,
        resolved_seq: row.get::<_, Option<Number>>(9)?.map(|Number(seq)| seq),
    })
}

/// A row of the columns [`GRANT`].
pub(super) fn read_grant(row: &Row<'_>) -> rusqlite::Result<GrantRow> {
    Ok(GrantRow {
        grant: id(row, 0)?,
        session: id(row, 1)?,
        added_seq: number(row, 2)?,
        revoked: row.get(3)?,
    })
}

/// The `calm` of a risk.
pub(super) fn calm(risk: u8) -> u8 {
    CALMEST - risk
}

/// Writes a row by its key, the first column. Of one that is there only what changed is written, so that the
/// indexes of the other columns are left alone.
fn put_row(connection: &Connection, table: &Table, row: &[Value]) -> Result<(), Error> {
    let differs = |stored: &Row<'_>| {
        let mut changed = Vec::new();
        for (index, value) in row.iter().enumerate() {
            if stored.get_ref(index)? != ValueRef::from(value) {
                changed.push(index);
            }
        }
        Ok(changed)
    };
    let changed = connection.prepare_cached(table.select)?.query_row([&row[0]], differs).optional()?;
    let Some(changed) = changed else {
        connection.prepare_cached(table.insert)?.execute(params_from_iter(row))?;
        return Ok(());
    };
    if changed.is_empty() {
        return Ok(());
    }
    let set = changed.iter().map(|index| format!("{} = ?", table.columns[*index]));
    let set = set.collect::<Vec<_>>().join(", ");
    let sql = format!("UPDATE {} SET {set} WHERE {} = ?", table.name, table.columns[0]);
    let values = changed.iter().map(|index| &row[*index]).chain([&row[0]]);
    connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    Ok(())
}

fn run_values(row: &RunRow) -> [Value; 11] {
    [
        key(row.run.as_str()),
        key(row.session.as_str()),
        row.workflow.clone().into(),
        row.status.as_str().to_owned().into(),
        row.end_reason.clone().into(),
        row.runnable.into(),
        row.deadline.map(Timestamp::as_millis).into(),
        whole(row.seq),
        row.ended_seq.map_or(Value::Null, whole),
        row.created_at.as_millis().into(),
        row.updated_at.as_millis().into(),
    ]
}

fn session_values(row: &SessionRow) -> [Value; 7] {
    [
        key(row.session.as_str()),
        row.workflow.clone().into(),
        row.state.as_str().to_owned().into(),
        whole(row.seq),
        row.created_at.as_millis().into(),
        row.changed_at.as_millis().into(),
        row.idle_ms.map_or(Value::Null, whole),
    ]
}

fn interrupt_values(row: &InterruptRow) -> [Value; 10] {
    [
        key(row.interrupt.as_str()),
        key(row.run.as_str()),
        key(row.session.as_str()),
        row.kind.as_str().to_owned().into(),
        row.open.into(),
        calm(row.risk).into(),
        row.created_at.as_millis().into(),
        row.expires_at.map(Timestamp::as_millis).into(),
        whole(row.opened_seq),
        row.resolved_seq.map_or(Value::Null, whole),
    ]
}

fn grant_values(row: &GrantRow) -> [Value; 4] {
    [key(row.grant.as_str()), key(row.session.as_str()), whole(row.added_seq), row.revoked.into()]
}

fn key(id: &str) -> Value {
    pack(id).to_vec().into()
}

/// As [`Number`] writes it.
fn whole(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}
