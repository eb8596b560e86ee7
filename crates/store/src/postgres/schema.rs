//! The schema of the database: its version check, and the numbered migrations. Migrations are applied in order. After
//! the release of a migration, its statements are never changed. `version` in `meta` is the number of the last applied
//! migration.
//!
//! If several nodes open the journal at the same time, a lock makes them migrate one after the other. Nodes with
//! different program versions can share a database, until a migration is incompatible with the older ones. `least` in
//! `meta` is the oldest version that is still compatible. A migration is not applied while a living node is
//! incompatible with it.

use std::borrow::Cow;

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use super::column::{get, maybe_number, number};
use super::error::Unsupported;
use super::home::Home;
use super::pool::Pool;
use super::rows;
use crate::journal::Error;

/// Effect of a migration on binaries that do not know it. Such binaries may be running at the time of the migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Older binaries continue to work after the migration. Examples are new tables, new functions, and new columns
    /// that older binaries do not need and do not overwrite.
    Expands,
    /// Older binaries stop working after the migration. An example is a new column in a table of rows: when older
    /// binaries replace a row, they would set the column to null.
    Breaks,
}
use Reach::{Breaks, Expands};

/// Step from one schema version to the next: its effect on older binaries, and its SQL.
pub type Migration = (Reach, &'static str);

/// All migrations, in order. A release that writes events that older binaries cannot read needs a migration too, even
/// one without statements. From the schema version, an older binary then learns that a run that it cannot read was
/// written by a newer binary and is not damaged.
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
    // Older binaries cannot read a webhook of kind `email`, or a notice that names `operators`, and would drop such a
    // notice permanently.
    (Breaks, include_str!("../../migrations/postgres/0013_forgotten.sql")),
];
/// First schema version in which each node records the latest version that it knows.
const TELLS: u32 = 10;

/// The migrations that a binary knows, in order.
#[derive(Clone, Debug)]
pub struct Schema(Cow<'static, [Migration]>);

/// Returns the schema of this binary.
impl Default for Schema {
    fn default() -> Self {
        Self(Cow::Borrowed(MIGRATIONS))
    }
}

impl Schema {
    /// Returns a schema with these migrations, to simulate a binary of a different version.
    pub fn new(migrations: Vec<Migration>) -> Self {
        Self(Cow::Owned(migrations))
    }

    pub fn migrations(&self) -> &[Migration] {
        &self.0
    }

    /// Returns the number of the last migration.
    pub(super) fn version(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Returns the migrations after `version`, with their numbers.
    fn after(&self, version: u32) -> impl Iterator<Item = (u32, Migration)> {
        (1..).zip(self.0.iter().copied()).skip(version as usize)
    }
}

/// Schema versions that are recorded in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SchemaVersions {
    pub(super) version: u32,
    /// Schema version that a binary must at least know to use the database.
    pub(super) least: u32,
}

/// Query for the schema version of a database, and for the oldest compatible version.
const VERSIONS: &str = "SELECT v.value, l.value FROM meta v LEFT JOIN meta l ON l.name = 'least'
                        WHERE v.name = 'version'";

impl SchemaVersions {
    /// Reads a database row that the query [`VERSIONS`] returned. A missing version means that the database is damaged.
    /// A missing `least` means that every older binary is incompatible.
    fn read(row: Option<&Row>) -> Result<Self, Error> {
        let no_version = || Error::Corrupt("its schema version is missing".to_owned());
        let row = row.ok_or_else(no_version)?;
        let version = |value| u32::try_from(value).unwrap_or(u32::MAX);
        let found = version(number(row, 0)?);
        Ok(Self { version: found, least: maybe_number(row, 1)?.map_or(found, version) })
    }

    /// Returns true if nodes record the schema version that they know.
    pub(super) fn records_node_versions(self) -> bool {
        self.version >= TELLS
    }

    /// Returns an error if a binary whose last migration is `known` cannot use the database.
    pub(super) fn admits(self, known: u32) -> Result<(), Error> {
        if known < self.least { Err(Error::FromTheFuture { found: self.version, known }) } else { Ok(()) }
    }
}

/// Number of the advisory lock for migrations. Another program in the same database is unlikely to use this number.
pub(super) const LOCK: i64 = 0x686f_6c64_7368_6f72;

/// Oldest supported major version of PostgreSQL. This version has all features that the store uses, and it still
/// receives fixes.
const OLDEST: u32 = 14;

/// Applies the missing migrations. Returns true if the journal was restored from the dump of another database.
pub(super) async fn migrate(pool: &Pool, known: &Schema, home: Home) -> Result<bool, Error> {
    let mut client = pool.client().await?;
    let transaction = client.transaction().await?;
    supported(&transaction).await?;
    // This node may have to wait until another node has finished a migration, so there is no time-out.
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
        // A migration may add a column to a table of rows. Therefore the function that writes rows is replaced after
        // each migration.
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

/// Returns the names of the living nodes that know only schema versions before `least`. `version` is the present
/// version of the database. A node that records no version is older than all nodes that record one.
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

/// Reads the schema versions that the database records. Used while a node has the database open.
pub(super) async fn look(pool: &Pool) -> Result<SchemaVersions, Error> {
    SchemaVersions::read(pool.query(VERSIONS, &[]).await?.first())
}

/// Returns an error if the journal must be migrated before it can be read. Changes nothing.
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
    // If events are after the horizon, reads by position would not return them. In this case, an error is returned.
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

/// Reads the schema versions in a transaction. The version of an empty database is 0.
async fn found(transaction: &Transaction<'_>) -> Result<SchemaVersions, Error> {
    let row = transaction.query_one("SELECT to_regclass('meta') IS NOT NULL", &[]).await?;
    if !get::<bool>(&row, 0)? {
        return Ok(SchemaVersions { version: 0, least: 0 });
    }
    SchemaVersions::read(transaction.query_opt(VERSIONS, &[]).await?.as_ref())
}

/// Query for the largest existing position minus the position that this cluster would assign next. A positive result
/// means that new events would get smaller positions than existing events.
const BEYOND: &str =
    "SELECT (max(position) >> 14) + 1 - pg_snapshot_xmax(pg_current_snapshot())::text::bigint
                             - (SELECT value FROM meta WHERE name = 'base') AS beyond FROM appends";

/// Raises the number from which positions are computed, so that new positions are larger than all existing ones. This
/// is necessary after a restore into another cluster. In the original cluster, the number stays the same.
async fn raise_base(transaction: &Transaction<'_>) -> Result<(), Error> {
    let sql = format!(
        "UPDATE meta SET value = value + beyond FROM ({BEYOND}) restored
         WHERE name = 'base' AND beyond > 0 RETURNING value"
    );
    if let Some(row) = transaction.query_opt(&sql, &[]).await? {
        tracing::info!(
            base = number(&row, 0)?,
            "the journal was restored from another cluster: the positions of new events continue after the \
                restored positions"
        );
    }
    Ok(())
}
