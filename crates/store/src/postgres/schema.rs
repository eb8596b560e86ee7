//! The schema: whether this database can be worked with, and the numbered migrations, applied in order and never
//! changed once released. `version` in `meta` is the number of the last one.
//!
//! Nodes open at the same time: one lock, held for one transaction, lets them do it one after the other. Nodes of
//! several versions may share a database for as long as no migration breaks the older ones: `least` in `meta` says which
//! versions can work with it, and a node never makes a database that another one, which lives, can not work with.

use std::borrow::Cow;

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use super::column::{get, maybe_number, number};
use super::error::Unsupported;
use super::home::Home;
use super::pool::Pool;
use super::rows;
use crate::journal::Error;

/// What a migration does to binaries of the version before it, which may still run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// They go on: new tables, functions beside theirs, columns that they neither need nor write over.
    Expands,
    /// They can not: anything else. A column of the rows is one of these, for they would empty it.
    Breaks,
}
use Reach::{Breaks, Expands};

/// A step from one version of the schema to the next: its reach, and its statements.
pub type Migration = (Reach, &'static str);

/// A release whose events older ones can not read has a migration too, were it an empty one: by the version that is here a
/// node tells a run that a newer one wrote from a damaged one.
const MIGRATIONS: &[Migration] = &[
    (Breaks, include_str!("../../migrations/postgres/0001_journal.sql")),
    (Breaks, include_str!("../../migrations/postgres/0002_sessions.sql")),
    (Breaks, include_str!("../../migrations/postgres/0003_chain.sql")),
    (Breaks, include_str!("../../migrations/postgres/0004_rows.sql")),
    (Breaks, include_str!("../../migrations/postgres/0005_appends.sql")),
    (Breaks, include_str!("../../migrations/postgres/0006_bodies.sql")),
    (Breaks, include_str!("../../migrations/postgres/0007_usage.sql")),
    (Breaks, include_str!("../../migrations/postgres/0008_answers.sql")),
    (Breaks, include_str!("../../migrations/postgres/0009_assigned.sql")),
    (Expands, include_str!("../../migrations/postgres/0010_versions.sql")),
    (Expands, include_str!("../../migrations/postgres/0011_outbox.sql")),
    (Expands, include_str!("../../migrations/postgres/0012_failing.sql")),
    // Before it nobody reads a notice that names `operators`, which would be dropped for good, or a webhook of kind `email`.
    (Breaks, include_str!("../../migrations/postgres/0013_forgotten.sql")),
];
/// From this version on nodes say what they know.
const TELLS: u32 = 10;

/// The migrations that a binary knows, in order.
#[derive(Clone, Debug)]
pub struct Schema(Cow<'static, [Migration]>);

/// The schema of this binary.
impl Default for Schema {
    fn default() -> Self {
        Self(Cow::Borrowed(MIGRATIONS))
    }
}

impl Schema {
    /// The schema of a binary of another version.
    pub fn new(migrations: Vec<Migration>) -> Self {
        Self(Cow::Owned(migrations))
    }

    pub fn migrations(&self) -> &[Migration] {
        &self.0
    }

    /// Number of the last migration.
    pub(super) fn version(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// The migrations after `version`, with their numbers.
    fn after(&self, version: u32) -> impl Iterator<Item = (u32, Migration)> {
        (1..).zip(self.0.iter().copied()).skip(version as usize)
    }
}

/// The versions that a database tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) version: u32,
    /// The oldest version whose binaries can work with it.
    pub(super) least: u32,
}

/// Of a database with a journal: its version, and the oldest one whose binaries can work with it.
const VERSIONS: &str = "SELECT v.value, l.value FROM meta v LEFT JOIN meta l ON l.name = 'least'
                        WHERE v.name = 'version'";

impl Found {
    /// What stands in a row of [`VERSIONS`]. A database that does not say its version is damaged. One that says nothing of
    /// older binaries has none that could work with it.
    fn read(row: Option<&Row>) -> Result<Self, Error> {
        let no_version = || Error::Corrupt("it does not say which version its schema has".to_owned());
        let row = row.ok_or_else(no_version)?;
        let version = |value| u32::try_from(value).unwrap_or(u32::MAX);
        let found = version(number(row, 0)?);
        Ok(Self { version: found, least: maybe_number(row, 1)?.map_or(found, version) })
    }

    /// Whether nodes say there what they know.
    pub(super) fn tells(self) -> bool {
        self.version >= TELLS
    }

    /// Whether a binary that knows this can work with it.
    pub(super) fn admits(self, known: u32) -> Result<(), Error> {
        if known < self.least { Err(Error::FromTheFuture { found: self.version, known }) } else { Ok(()) }
    }
}

/// Any number that no other program in the same database locks by.
pub(super) const LOCK: i64 = 0x686f_6c64_7368_6f72;

/// The first that has everything used here and still gets fixes.
const OLDEST: u32 = 14;

/// Brings the schema up to date. Whether it came from elsewhere: the journal was restored from a dump.
pub(super) async fn migrate(pool: &Pool, known: &Schema, home: Home) -> Result<bool, Error> {
    let mut client = pool.client().await?;
    let transaction = client.transaction().await?;
    supported(&transaction).await?;
    // Opening may wait for a node that migrates, however long that takes.
    transaction.batch_execute("SET LOCAL statement_timeout = 0").await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let found = found(&transaction).await?;
    found.admits(known.version())?;
    let breaks = |(number, (reach, _)): (u32, Migration)| (reach == Breaks).then_some(number);
    let least = known.after(found.version).filter_map(breaks).last();
    if let Some(least) = least
        && let Some(others) = older(&transaction, found.version, least).await?
    {
        return Err(Error::OlderNodes { others, least });
    }
    for (number, (_, sql)) in known.after(found.version) {
        transaction.batch_execute(sql).await?;
        set(&transaction, "version", number).await?;
        tracing::info!(version = number, "the database has a new schema version");
    }
    if let Some(least) = least.filter(|_| known.version() >= TELLS) {
        set(&transaction, "least", least).await?;
    }
    if found.version < known.version() {
        // A new column of a row comes with a migration, so what writes it is made after one.
        transaction.batch_execute(&rows::function()).await?;
    }
    raise_base(&transaction).await?;
    let is_restored = home.is_another(&transaction).await?;
    transaction.commit().await?;
    Ok(is_restored)
}

async fn set(transaction: &Transaction<'_>, name: &str, value: u32) -> Result<(), Error> {
    let sql = "UPDATE meta SET value = $2 WHERE name = $1";
    transaction.execute(sql, &[&name, &i64::from(value)]).await?;
    Ok(())
}

/// The nodes that live and know less than this, by name. One that does not say what it knows is older.
async fn older(transaction: &Transaction<'_>, version: u32, least: u32) -> Result<Option<String>, Error> {
    if version == 0 {
        return Ok(None);
    }
    let knows = if version >= TELLS { "coalesce(n.knows, 0)" } else { "0::bigint" };
    let sql = format!(
        "SELECT string_agg(n.name, ', ' ORDER BY n.node) FROM nodes n
         WHERE n.alive_until > clock_timestamp() AND {knows} < $1"
    );
    get(&transaction.query_one(&sql, &[&i64::from(least)]).await?, 0)
}

/// What the database tells now, as a node that is open looks at it.
pub(super) async fn look(pool: &Pool) -> Result<Found, Error> {
    Found::read(pool.query(VERSIONS, &[]).await?.first())
}

/// Whether the journal can be read as it is. Changes nothing.
pub(super) async fn check(pool: &Pool) -> Result<(), Error> {
    let mut client = pool.client().await?;
    let transaction = client.transaction().await?;
    supported(&transaction).await?;
    let (found, known) = (found(&transaction).await?, Schema::default().version());
    found.admits(known)?;
    if found.version == 0 {
        return Err(Unsupported::NoJournal.into());
    }
    if found.version < known {
        return Err(Error::Outdated { found: found.version, known });
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

/// The same in a transaction, and of a database that may be empty: its version is 0.
async fn found(transaction: &Transaction<'_>) -> Result<Found, Error> {
    let row = transaction.query_one("SELECT to_regclass('meta') IS NOT NULL", &[]).await?;
    if !get::<bool>(&row, 0)? {
        return Ok(Found { version: 0, least: 0 });
    }
    Found::read(transaction.query_opt(VERSIONS, &[]).await?.as_ref())
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
