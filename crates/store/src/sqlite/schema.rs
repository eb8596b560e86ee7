//! The schema: the settings of connections, and the numbered migrations. They are applied in order and never changed
//! after their release. `user_version` is the number of the last one.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::column::Number;
use super::upgrade;
use crate::journal::Error;

const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite/0001_journal.sql"),
    include_str!("../../migrations/sqlite/0002_grants_by_state.sql"),
    include_str!("../../migrations/sqlite/0003_fewer_pages.sql"),
    include_str!("../../migrations/sqlite/0004_sessions.sql"),
    include_str!("../../migrations/sqlite/0005_chain.sql"),
    include_str!("../../migrations/sqlite/0006_rows.sql"),
    include_str!("../../migrations/sqlite/0007_appends.sql"),
    include_str!("../../migrations/sqlite/0008_bodies.sql"),
    include_str!("../../migrations/sqlite/0009_usage.sql"),
    include_str!("../../migrations/sqlite/0010_answers.sql"),
    include_str!("../../migrations/sqlite/0011_assigned.sql"),
    include_str!("../../migrations/sqlite/0012_outbox.sql"),
    include_str!("../../migrations/sqlite/0013_failing.sql"),
];
/// The migrations that need more than SQL.
const CHAIN: u32 = 5;
const APPENDS: u32 = 7;

/// Maximum wait for another process (a backup, a database shell) that locks the database.
const FOREIGN_LOCK_WAIT: Duration = Duration::from_secs(10);
/// Maximum number of damaged pages and indexes reported at once.
const FINDINGS: u32 = 10;
/// More than the number of statements that any connection uses, including all filters of lists.
const STATEMENTS: usize = 96;
/// Page size of a new database; an existing one keeps its own. A commit writes each page that it touches, mostly one in
/// each index. Several rows of lists fit on a page. A longer event continues on pages of its own, which are written
/// once.
const PAGE_BYTES: u32 = 1024;
/// Number of pages in the write-ahead log before the writer copies them into the database, 16 MB.
const CHECKPOINT_PAGES: u32 = 16_000;
/// Size of the log file after a checkpoint, so that one huge append does not keep its space.
const LOG_BYTES: u32 = 64 * 1024 * 1024;

/// Opens the writer's connection, and brings the schema up to date.
pub(super) fn writer(database: &Path, max_pages: Option<u32>) -> Result<Connection, Error> {
    let connection = connect(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let version = version(&connection)?;
    // Set before the first write.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    if let Some(pages) = max_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Deleted data is overwritten in its page: answers are corrected and erased.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    migrate(&connection, version)?;
    Ok(connection)
}

pub(super) fn reader(database: &Path) -> Result<Connection, Error> {
    connect(database, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens a reader of a database that no server uses. `has_log` is true if the database has a log that is part of it.
///
/// Without a log the file is read as it is, and SQLite creates no other file. Evidence may be on a read-only medium.
pub(super) fn lone_reader(database: &Path, has_log: bool) -> Result<Connection, Error> {
    let (connection, found) = glance(database, has_log)?;
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    if found < known { Err(Error::Outdated { found, known }) } else { Ok(connection) }
}

/// Opens a database of any version that this binary knows, and returns that version.
fn glance(database: &Path, has_log: bool) -> Result<(Connection, u32), Error> {
    let connection = if has_log {
        reader(database)?
    } else {
        let uri = format!("file:{}?immutable=1", escaped(database));
        let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        connect(Path::new(&uri), access)?
    };
    let version = version(&connection)?;
    Ok((connection, version))
}

/// A database as it is, with a read-only connection.
pub(super) struct InspectedDatabase {
    pub(super) connection: Connection,
    pub(super) layout: Layout,
}

/// Layout of the events in a version. Opening a database converts an older layout into the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// There is no table yet.
    Nothing,
    /// One row for each event.
    Events,
    /// One row for each event, with the head after it.
    ChainedEvents,
    Appends,
}

impl Layout {
    fn from_version(version: u32) -> Self {
        match version {
            0 => Self::Nothing,
            1..CHAIN => Self::Events,
            CHAIN..APPENDS => Self::ChainedEvents,
            _ => Self::Appends,
        }
    }
}

pub(super) fn look(database: &Path, has_log: bool) -> Result<InspectedDatabase, Error> {
    let (connection, version) = glance(database, has_log)?;
    Ok(InspectedDatabase { connection, layout: Layout::from_version(version) })
}

/// Escapes a path for a URI.
fn escaped(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes
        .map(|byte| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02x}") })
        .collect()
}

/// Copies the log into the database, as far as no reader needs it.
pub(super) fn checkpoint(connection: &Connection) -> Result<(), Error> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
}

/// Describes the faults of the database file: a schema that no migration makes, damaged pages, or an index that
/// disagrees with its table. Lists are read from indexes.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut problems = foreign(connection)?;
    problems.extend(integrity(connection)?);
    Ok(problems)
}

/// Returns how the schema differs from that of the migrations. A foreign trigger would run in the next server.
fn foreign(connection: &Connection) -> Result<Vec<String>, Error> {
    let made = Connection::open_in_memory()?;
    for (number, sql) in numbered() {
        apply(&made, number, sql)?;
    }
    let (expected, found) = (objects(&made)?, objects(connection)?);
    let unknown = found
        .iter()
        .filter(|(name, sql)| expected.get(*name) != Some(sql))
        .map(|((kind, name), _)| format!("the {kind} {name} is not part of any schema version"));
    let missing = expected
        .keys()
        .filter(|name| !found.contains_key(*name))
        .map(|(kind, name)| format!("the {kind} {name} is missing"));
    Ok(unknown.chain(missing).collect())
}

/// Returns the kind and name of each object in the schema, and the statement that created it.
fn objects(connection: &Connection) -> Result<BTreeMap<(String, String), Option<String>>, Error> {
    let mut statement = connection.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the faults that SQLite finds in pages and indexes, in its own words.
fn integrity(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({FINDINGS})"))?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>();
    match found.map_err(Error::from) {
        Ok(found) => Ok(found.into_iter().filter(|line| line != "ok").collect()),
        Err(Error::Corrupt(why)) => Ok(vec![why]),
        Err(error) => Err(error),
    }
}

/// Counts this opening. It is durable before any run is driven under it.
pub(super) fn next_epoch(connection: &Connection) -> Result<u64, Error> {
    let sql = "UPDATE meta SET value = value + 1 WHERE name = 'epoch' RETURNING value";
    let Number(epoch) = connection.query_row(sql, [], |row| row.get(0))?;
    Ok(epoch)
}

/// Writes a page. SQLite writes none if the value stays the same, so the number grows.
pub(super) fn probe(connection: &Connection) -> Result<(), Error> {
    let sql = "INSERT INTO meta (name, value) VALUES ('probes', 1)
               ON CONFLICT (name) DO UPDATE SET value = value + 1";
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

fn connect(database: &Path, access: OpenFlags) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(database, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(FOREIGN_LOCK_WAIT)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise SQLite replans every statement with a `LIMIT ?` each time its values are bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Reads the version of the schema, and rejects one that this binary does not know. Checked before the first write.
fn version(connection: &Connection) -> Result<u32, Error> {
    let Number(found) = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let found = u32::try_from(found).unwrap_or(u32::MAX);
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    if found > known { Err(Error::FromTheFuture { found, known }) } else { Ok(found) }
}

fn migrate(connection: &Connection, version: u32) -> Result<(), Error> {
    for (number, sql) in numbered().filter(|(number, _)| *number > version) {
        apply(connection, number, sql)?;
        tracing::info!(version = number, "the database has a new schema version");
    }
    Ok(())
}

fn numbered() -> impl Iterator<Item = (u32, &'static str)> {
    (1..).zip(MIGRATIONS.iter().copied())
}

fn apply(connection: &Connection, number: u32, sql: &str) -> Result<(), Error> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch(sql)?;
    match number {
        CHAIN => upgrade::chain_events(&transaction)?,
        APPENDS => upgrade::pack_events(&transaction)?,
        _ => {}
    }
    transaction.pragma_update(None, "user_version", number)?;
    transaction.commit()?;
    Ok(())
}
