//! The schema of the database: the settings of connections, and the numbered migrations. Migrations are applied in
//! order. After the release of a migration, its statements are never changed. `user_version` is the number of the last
//! applied migration.

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
/// Number of the migration that also runs Rust code, to create the hash chain over all events.
const CHAIN: u32 = 5;
/// Number of the migration that also runs Rust code, to pack the events into rows of the table `appends`.
const APPENDS: u32 = 7;

/// Maximum time to wait for another process that has locked the database, such as a backup or a database shell.
const FOREIGN_LOCK_WAIT: Duration = Duration::from_secs(10);
/// Maximum number of damaged pages and indexes that are reported at once.
const FINDINGS: u32 = 10;
/// Number of prepared statements that a connection caches. The number is larger than that of the different statements,
/// including all combinations of list filters.
const STATEMENTS: usize = 96;
/// Page size of a new database. An existing database keeps its page size. With small pages, commits are faster: a
/// commit writes whole pages, usually one for each index. A page still has room for several rows. A long event is
/// continued on overflow pages, which are written only once.
const PAGE_BYTES: u32 = 1024;
/// Number of pages in the write-ahead log (about 16 MB) after which the writer copies the log into the database.
const CHECKPOINT_PAGES: u32 = 16_000;
/// Size in bytes to which the file of the write-ahead log is shortened after a checkpoint. A very large append can make
/// the file larger.
const LOG_BYTES: u32 = 64 * 1024 * 1024;

/// Opens the connection of the writer thread, and applies the missing migrations.
pub(super) fn writer(database: &Path, max_pages: Option<u32>) -> Result<Connection, Error> {
    let connection = connect(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let version = version(&connection)?;
    // The page size must be set before the first write.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    if let Some(pages) = max_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Deleted data is overwritten with zeros, because corrected and erased answers must not stay in the file.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    migrate(&connection, version)?;
    Ok(connection)
}

pub(super) fn reader(database: &Path) -> Result<Connection, Error> {
    connect(database, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens a read-only connection to a database that no server uses. `has_log` is true if the database has a write-ahead
/// log.
///
/// If there is no write-ahead log, SQLite opens the database as immutable and creates no further files. This is
/// necessary if the database is evidence on a read-only medium, for example.
pub(super) fn lone_reader(database: &Path, has_log: bool) -> Result<Connection, Error> {
    let (connection, found) = glance(database, has_log)?;
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    if found < known { Err(Error::Outdated { found, known }) } else { Ok(connection) }
}

/// Opens a database of any known schema version for reading. Returns the connection and the version.
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

/// Read-only connection to a database whose schema may be older.
pub(super) struct InspectedDatabase {
    pub(super) connection: Connection,
    pub(super) layout: Layout,
}

/// Layout in which a schema version stores events. When a database is opened for writing, an older layout is converted
/// to the newest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// The database has no table for events yet.
    Nothing,
    /// Each event has one row. There is no hash chain over all events.
    Events,
    /// Each event has one row, which also contains the head of the journal after this event.
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

fn escaped(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes
        .map(|byte| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02x}") })
        .collect()
}

/// Copies the write-ahead log into the database, except for the part that running reads still need.
pub(super) fn checkpoint(connection: &Connection) -> Result<(), Error> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
}

/// Describes the faults of the database file. Faults are a schema that differs from the migrations, a damaged page, and
/// an index that does not match its table. Indexes are checked because lists are read with them.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut problems = foreign(connection)?;
    problems.extend(integrity(connection)?);
    Ok(problems)
}

/// Returns the differences between the schema of the database and the schema that the migrations create. A difference
/// can be dangerous. For example, a server would execute a trigger that an attacker has added. The texts of the SQL
/// statements are compared, including comments inside a statement.
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

fn objects(connection: &Connection) -> Result<BTreeMap<(String, String), Option<String>>, Error> {
    let mut statement = connection.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns SQLite's messages about damaged pages and indexes.
fn integrity(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({FINDINGS})"))?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>();
    match found.map_err(Error::from) {
        Ok(found) => Ok(found.into_iter().filter(|line| line != "ok").collect()),
        Err(Error::Corrupt(why)) => Ok(vec![why]),
        Err(error) => Err(error),
    }
}

/// Acquires the next epoch for the node that is opening the store. The epoch is on disk before the node drives any run.
pub(super) fn next_epoch(connection: &Connection) -> Result<u64, Error> {
    let sql = "UPDATE meta SET value = value + 1 WHERE name = 'epoch' RETURNING value";
    let Number(epoch) = connection.query_row(sql, [], |row| row.get(0))?;
    Ok(epoch)
}

/// Writes a page to find out if the database can be written. Increments a number in the page, because `SQLite` does not
/// write an unchanged page.
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
    // Without this setting, SQLite would plan a statement with a `LIMIT ?` again each time that values are bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Reads the schema version. Returns an error, before anything is written, if this binary does not know the version.
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
