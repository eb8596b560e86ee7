//! The schema: whether this database can be worked with, and the numbered migrations, applied in order and never
//! changed once released. `version` in `meta` is the number of the last one.
//!
//! Nodes open at the same time: one lock, held for one transaction, lets them do it one after the other.

use deadpool_postgres::Transaction;

use super::column::{get, number};
use super::error::Unsupported;
use super::pool::Pool;
use super::rows;
use crate::journal::Error;

const MIGRATIONS: [&str; 10] = [
    include_str!("../../migrations/postgres/0001_journal.sql"),
    include_str!("../../migrations/postgres/0002_sessions.sql"),
    include_str!("../../migrations/postgres/0003_chain.sql"),
    include_str!("../../migrations/postgres/0004_rows.sql"),
    include_str!("../../migrations/postgres/0005_appends.sql"),
    include_str!("../../migrations/postgres/0006_bodies.sql"),
    include_str!("../../migrations/postgres/0007_usage.sql"),
    include_str!("../../migrations/postgres/0008_answers.sql"),
    include_str!("../../migrations/postgres/0009_assigned.sql"),
    include_str!("../../migrations/postgres/0010_outbox.sql"),
];

/// Any number that no other program in the same database locks by.
pub(super) const LOCK: i64 = 0x686f_6c64_7368_6f72;

/// The first that has everything used here and still gets fixes.
const OLDEST: u32 = 14;

/// Brings the schema up to date.
pub(super) async fn migrate(pool: &Pool) -> Result<(), Error> {
    let mut client = pool.client().await?;
    let transaction = client.transaction().await?;
    supported(&transaction).await?;
    // Opening may wait for a node that migrates, however long that takes.
    transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let version = version(&transaction).await?;
    for (number, sql) in (1_u32..).zip(MIGRATIONS).filter(|(number, _)| *number > version) {
        transaction.batch_execute(sql).await?;
        transaction
            .execute("UPDATE meta SET value = $1 WHERE name = 'version'", &[&i64::from(number)])
            .await?;
        tracing::info!(version = number, "the database has a new schema version");
    }
    if version < u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX) {
        // A new column of a row comes with a migration, so what writes it is made after one.
        transaction.batch_execute(&rows::function()).await?;
    }
    raise_base(&transaction).await?;
    Ok(transaction.commit().await?)
}

/// Whether the journal can be read as it is. Changes nothing.
pub(super) async fn check(pool: &Pool) -> Result<(), Error> {
    let mut client = pool.client().await?;
    let transaction = client.transaction().await?;
    supported(&transaction).await?;
    let (found, known) = (version(&transaction).await?, u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX));
    if found == 0 {
        return Err(Unsupported::NoJournal.into());
    }
    if found < known {
        return Err(Error::Outdated { found, known });
    }
    // Reads by position would not see them.
    let row = transaction.query_one(&format!("SELECT coalesce(({BEYOND}) > 0, false)"), &[]).await?;
    if get(&row, 0)? { Err(Unsupported::Restored.into()) } else { Ok(()) }
}

async fn supported(transaction: &Transaction<'_>) -> Result<(), Error> {
    let sql = "SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding')";
    let row = transaction.query_one(sql, &[]).await?;
    let found = u32::try_from(number(&row, 0)? / 10_000).unwrap_or(u32::MAX);
    if found < OLDEST {
        return Err(Unsupported::Version { found, needed: OLDEST }.into());
    }
    match get(&row, 1)? {
        "UTF8" => Ok(()),
        other => Err(Unsupported::Encoding(other.to_owned()).into()),
    }
}

/// The version of the schema in the database, if this binary knows it; 0 in an empty one.
async fn version(transaction: &Transaction<'_>) -> Result<u32, Error> {
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    let row = transaction.query_one("SELECT to_regclass('meta') IS NOT NULL", &[]).await?;
    if !get::<bool>(&row, 0)? {
        return Ok(0);
    }
    let row = transaction.query_one("SELECT value FROM meta WHERE name = 'version'", &[]).await?;
    let found = u32::try_from(number(&row, 0)?).unwrap_or(u32::MAX);
    if found > known { Err(Error::FromTheFuture { found, known }) } else { Ok(found) }
}

/// By how much the positions that there are exceed those that the transactions of this cluster give.
const BEYOND: &str =
    "SELECT (max(position) >> 14) + 1 - pg_snapshot_xmax(pg_current_snapshot())::text::bigint
                             - (SELECT value FROM meta WHERE name = 'base') AS beyond FROM appends";

/// A journal that was restored into another cluster has positions beyond what the transactions there would give:
/// theirs have to be larger than all that there are. What a transaction of this cluster wrote and shows is below
/// its own next number, however many older ones are still under way.
async fn raise_base(transaction: &Transaction<'_>) -> Result<(), Error> {
    let sql = format!(
        "UPDATE meta SET value = value + beyond FROM ({BEYOND}) restored
         WHERE name = 'base' AND beyond > 0 RETURNING value"
    );
    if let Some(row) = transaction.query_opt(&sql, &[]).await? {
        tracing::info!(
            base = number(&row, 0)?,
            "the journal comes from another cluster: positions go on beyond"
        );
    }
    Ok(())
}
