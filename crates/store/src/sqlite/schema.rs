//! The schema: connections as we want them, and the numbered migrations, applied in order and never changed
//! once released. `user_version` is the number of the last one.

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

/// How long to wait for a foreign process (a backup, a curious person) that holds the database.
const FOREIGN_LOCK_WAIT: Duration = Duration::from_secs(10);
/// Of damaged pages and indexes, told at once.
const FINDINGS: u32 = 10;
/// More than the statements that any of our connections uses, filters of lists included.
const STATEMENTS: usize = 96;
/// Of a new database; one that is there keeps its own. A commit writes each page that it touches, mostly one in each
/// index. Rows of lists fit on it several times; a longer event continues on pages of its own, which are written once.
const PAGE_BYTES: u32 = 1024;
/// Pages of write-ahead log before the writer copies them into the database, 16 MB.
const CHECKPOINT_PAGES: u32 = 16_000;
/// What the log file is cut back to after a checkpoint, so that one huge append does not keep its space.
const LOG_BYTES: u32 = 64 * 1024 * 1024;

/// The writer's connection, with the schema brought up to date.
pub(super) fn writer(database: &Path, max_pages: Option<u32>) -> Result<Connection, Error> {
    let connection = connect(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let version = version(&connection)?;
    // Before anything is written.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    if let Some(pages) = max_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // A page keeps nothing of what was in it: answers are corrected and erased.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    migrate(&connection, version)?;
    Ok(connection)
}

pub(super) fn reader(database: &Path) -> Result<Connection, Error> {
    connect(database, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// The same for a database that no server uses. `has_log`: a log stands beside it that is part of it.
///
/// Without one the file is read as it lies there, and SQLite makes no other beside it: what is evidence may be on a
/// medium that can not be written.
pub(super) fn lone_reader(database: &Path, has_log: bool) -> Result<Connection, Error> {
    let (connection, found) = glance(database, has_log)?;
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    if found < known { Err(Error::Outdated { found, known }) } else { Ok(connection) }
}

/// The same for a database of any version that this binary knows, with that version.
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

/// A database as it lies there, over a connection that can change nothing.
pub(super) struct Found {
    pub(super) connection: Connection,
    pub(super) layout: Layout,
}

/// How a version keeps its events. Those of an older one are brought into the last of these when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Not at all: there is no table yet.
    Nothing,
    /// A row for each.
    Events,
    /// The same, each with the head after it.
    ChainedEvents,
    Appends,
}

impl Layout {
    fn of(version: u32) -> Self {
        match version {
            0 => Self::Nothing,
            1..CHAIN => Self::Events,
            CHAIN..APPENDS => Self::ChainedEvents,
            _ => Self::Appends,
        }
    }
}

pub(super) fn look(database: &Path, has_log: bool) -> Result<Found, Error> {
    let (connection, version) = glance(database, has_log)?;
    Ok(Found { connection, layout: Layout::of(version) })
}

/// A path as a URI holds it.
fn escaped(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes
        .map(|byte| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02x}") })
        .collect()
}

/// Copies what is in the log into the database, as far as no reader needs it.
pub(super) fn checkpoint(connection: &Connection) -> Result<(), Error> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
}

/// What is wrong with the database as a file, in words: its schema is not the one that the migrations make, or SQLite
/// finds pages damaged or an index that does not hold what its table does. Lists are read from indexes.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut problems = foreign(connection)?;
    problems.extend(integrity(connection)?);
    Ok(problems)
}

/// What the schema has beside what the migrations make, and what it lacks. A trigger would act in the next server.
fn foreign(connection: &Connection) -> Result<Vec<String>, Error> {
    let made = Connection::open_in_memory()?;
    for (number, sql) in numbered() {
        apply(&made, number, sql)?;
    }
    let (expected, found) = (objects(&made)?, objects(connection)?);
    let unknown = found
        .iter()
        .filter(|(name, sql)| expected.get(*name) != Some(sql))
        .map(|((kind, name), _)| format!("the {kind} {name} is not one that any version makes"));
    let missing = expected
        .keys()
        .filter(|name| !found.contains_key(*name))
        .map(|(kind, name)| format!("the {kind} {name} is missing"));
    Ok(unknown.chain(missing).collect())
}

/// The kind and name of everything in the schema, and the statement that made it.
fn objects(connection: &Connection) -> Result<BTreeMap<(String, String), Option<String>>, Error> {
    let mut statement = connection.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What SQLite finds wrong with pages and indexes, in its own words.
fn integrity(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({FINDINGS})"))?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>();
    match found.map_err(Error::from) {
        Ok(found) => Ok(found.into_iter().filter(|line| line != "ok").collect()),
        Err(Error::Corrupt(why)) => Ok(vec![why]),
        Err(error) => Err(error),
    }
}

/// Counts this opening. Durable before anything is driven under it.
pub(super) fn next_epoch(connection: &Connection) -> Result<u64, Error> {
    let sql = "UPDATE meta SET value = value + 1 WHERE name = 'epoch' RETURNING value";
    let Number(epoch) = connection.query_row(sql, [], |row| row.get(0))?;
    Ok(epoch)
}

/// Writes a page. SQLite writes none where a value stays the same, so the number grows.
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
    // Or every statement with a `LIMIT ?` is planned anew each time that its values are bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// The version of the schema in the database, if this binary knows it. Checked before anything is written.
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
