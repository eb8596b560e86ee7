//! Storage for the questions of the hand-written loop, in SQLite or PostgreSQL.

use std::path::PathBuf;

use anyhow::Result;

use super::postgres::Postgres;
use super::sqlite::Sqlite;

/// Number of commits per cycle of the hand-written loop in PostgreSQL: the question, the decision, and the completion
/// of the run.
const POSTGRES_COMMITS: u32 = 3;

#[derive(Clone, Debug)]
pub(crate) enum Database {
    /// An SQLite database in a folder. `commits` is the number of durable commits per cycle.
    Folder { folder: PathBuf, commits: u32 },
    /// A PostgreSQL database. `connections` is the size of the connection pool.
    Url { url: String, connections: usize },
}

pub(super) enum Store {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Database {
    /// Returns the number of durable commits per cycle of the hand-written loop: one for the question, one for the
    /// decision, and others that follow without a request.
    pub(super) fn commits(&self) -> u32 {
        match self {
            Self::Folder { commits, .. } => *commits,
            Self::Url { .. } => POSTGRES_COMMITS,
        }
    }
}

impl Store {
    pub(super) async fn open(database: &Database) -> Result<Self> {
        match database {
            Database::Folder { folder, .. } => Ok(Self::Sqlite(Sqlite::open(folder)?)),
            Database::Url { url, connections } => {
                Ok(Self::Postgres(Postgres::open(url, *connections).await?))
            }
        }
    }

    /// Returns the highest id of a question, and the ids of the open questions.
    pub(super) async fn load_questions(&self) -> Result<(i64, Vec<i64>)> {
        match self {
            Self::Sqlite(store) => store.load_questions(),
            Self::Postgres(store) => store.load_questions().await,
        }
    }

    pub(super) async fn ask(&self, id: i64, payload: String) -> Result<()> {
        match self {
            Self::Sqlite(store) => store.ask(id, payload).await,
            Self::Postgres(store) => store.ask(id, &payload).await,
        }
    }

    pub(super) async fn decide(&self, id: i64, option: &str) -> Result<()> {
        match self {
            Self::Sqlite(store) => store.decide(id, option.to_owned()).await,
            Self::Postgres(store) => store.decide(id, option).await,
        }
    }

    /// Makes a further durable commit of the hand-written loop's cycle.
    pub(super) async fn follow(&self, id: i64, step: u32) -> Result<()> {
        match self {
            Self::Sqlite(store) => store.follow(id, step).await,
            Self::Postgres(store) => store.finish(id).await,
        }
    }

    pub(super) async fn decision(&self, id: i64) -> Result<Option<String>> {
        match self {
            Self::Sqlite(store) => store.decision(id),
            Self::Postgres(store) => store.decision(id).await,
        }
    }
}
