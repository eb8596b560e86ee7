//! The rows that can be rebuilt: written by id, read by id. A row that is put again unchanged writes nothing,
//! and a run that only moved on leaves its indexes alone: most commits of a run do just that.

use holdshort_core::id::{GrantId, InterruptId, RunId};
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::column::{Key, Name, Number, Time, id, number, time};
use crate::journal::{Error, Rows};

/// See the schema: the riskiest row is the least calm one.
const CALMEST: u8 = u8::MAX;

pub(super) const RUN: &str = "run, session, workflow, status, end_reason, runnable, deadline, seq, ended_seq, \
                              created_at, updated_at";
pub(super) const INTERRUPT: &str =
    "interrupt, run, session, kind, open, calm, created_at, expires_at, opened_seq, resolved_seq";
pub(super) const GRANT: &str = "grant_id, session, added_seq, revoked";

pub(super) fn put(connection: &Connection, rows: &Rows) -> Result<(), Error> {
    if let Some(row) = &rows.run {
        put_run(connection, row)?;
    }
    for row in &rows.interrupts {
        if interrupt(connection, &row.interrupt)?.as_ref() != Some(row) {
            put_interrupt(connection, row)?;
        }
    }
    for row in &rows.grants {
        put_grant(connection, row)?;
    }
    Ok(())
}

pub(super) fn replace(connection: &Connection, all: &[Rows]) -> Result<(), Error> {
    connection.execute_batch("DELETE FROM runs; DELETE FROM interrupts; DELETE FROM grants;")?;
    all.iter().try_for_each(|rows| put(connection, rows))
}

pub(super) fn run(connection: &Connection, run: &RunId) -> Result<Option<RunRow>, Error> {
    let sql = format!("SELECT {RUN} FROM runs WHERE run = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([Key(run.as_str())], read_run).optional()?)
}

pub(super) fn interrupt(
    connection: &Connection,
    interrupt: &InterruptId,
) -> Result<Option<InterruptRow>, Error> {
    let sql = format!("SELECT {INTERRUPT} FROM interrupts WHERE interrupt = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([Key(interrupt.as_str())], read_interrupt).optional()?)
}

pub(super) fn grant(connection: &Connection, grant: &GrantId) -> Result<Option<GrantRow>, Error> {
    let sql = format!("SELECT {GRANT} FROM grants WHERE grant_id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([Key(grant.as_str())], read_grant).optional()?)
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
        deadline: row.get::<_, Option<i64>>(6)?.map(holdshort_core::time::Timestamp::from_millis),
        seq: number(row, 7)?,
        ended_seq: row.get::<_, Option<Number>>(8)?.map(|Number(seq)| seq),
        created_at: time(row, 9)?,
        updated_at: time(row, 10)?,
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
        expires_at: row.get::<_, Option<i64>>(7)?.map(holdshort_core::time::Timestamp::from_millis),
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

fn put_run(connection: &Connection, row: &RunRow) -> Result<(), Error> {
    let stored = run(connection, &row.run)?;
    let moved_on = stored.map(|stored| RunRow {
        end_reason: row.end_reason.clone(),
        seq: row.seq,
        ended_seq: row.ended_seq,
        updated_at: row.updated_at,
        ..stored
    });
    if moved_on.as_ref() == Some(row) {
        let sql = "UPDATE runs SET end_reason = ?2, seq = ?3, ended_seq = ?4, updated_at = ?5 WHERE run = ?1";
        connection.prepare_cached(sql)?.execute(params![
            Key(row.run.as_str()),
            row.end_reason,
            Number(row.seq),
            row.ended_seq.map(Number),
            Time(row.updated_at),
        ])?;
        return Ok(());
    }
    let sql =
        format!("INSERT OR REPLACE INTO runs ({RUN}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
    connection.prepare_cached(&sql)?.execute(params![
        Key(row.run.as_str()),
        Key(row.session.as_str()),
        row.workflow,
        row.status.as_str(),
        row.end_reason,
        row.runnable,
        row.deadline.map(Time),
        Number(row.seq),
        row.ended_seq.map(Number),
        Time(row.created_at),
        Time(row.updated_at),
    ])?;
    Ok(())
}

fn put_interrupt(connection: &Connection, row: &InterruptRow) -> Result<(), Error> {
    let sql = format!(
        "INSERT OR REPLACE INTO interrupts ({INTERRUPT}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
    );
    connection.prepare_cached(&sql)?.execute(params![
        Key(row.interrupt.as_str()),
        Key(row.run.as_str()),
        Key(row.session.as_str()),
        row.kind.as_str(),
        row.open,
        calm(row.risk),
        Time(row.created_at),
        row.expires_at.map(Time),
        Number(row.opened_seq),
        row.resolved_seq.map(Number),
    ])?;
    Ok(())
}

fn put_grant(connection: &Connection, row: &GrantRow) -> Result<(), Error> {
    let sql = format!("INSERT OR REPLACE INTO grants ({GRANT}) VALUES (?1, ?2, ?3, ?4)");
    connection.prepare_cached(&sql)?.execute(params![
        Key(row.grant.as_str()),
        Key(row.session.as_str()),
        Number(row.added_seq),
        row.revoked,
    ])?;
    Ok(())
}
