//! Opens the journal directly, for verbs that run while no server uses the journal.

use anyhow::Context;
use holdshort_store::{self as store, Store, postgres};

use super::Scene;
use crate::args::StoreArgs;
use crate::data_dir::DataDir;
use crate::embed;
use crate::exit::usage;

pub(super) async fn open(scene: &Scene, at: &StoreArgs) -> anyhow::Result<Store> {
    let data_dir = DataDir::resolve(scene.reach.data.as_deref())?;
    if at.store.is_none() && !data_dir.holds_journal() {
        return Err(usage(format!(
            "{} holds no journal: name the data folder of the server with --data DIR",
            data_dir.path.display()
        )));
    }
    open_or_make(scene, at).await
}

/// Opens the journal in the data folder or in the database, and creates the journal if it is missing.
pub(super) async fn open_or_make(scene: &Scene, at: &StoreArgs) -> anyhow::Result<Store> {
    let data_dir = DataDir::resolve(scene.reach.data.as_deref())?;
    let journal = describe_location(scene, at)?;
    let at = match location(at) {
        store::Location::Database(config) => {
            store::Location::Database(postgres::Config { alone: true, ..config })
        }
        folder @ store::Location::Folder(_) => folder,
    };
    match Store::open(&data_dir.path, at).await {
        Err(store::Error::InUse) => {
            Err(usage(format!("a server uses {}: stop that server first", data_dir.path.display())))
        }
        Err(store::Error::Nodes(names)) => Err(usage(format!(
            "the journal is in use: stop {names} first; the lease of a killed server must end first"
        ))),
        opened => opened.with_context(|| format!("{journal} cannot be opened")),
    }
}

pub(super) fn location(at: &StoreArgs) -> store::Location {
    match embed::database(at) {
        Some(config) => store::Location::Database(config),
        None => store::Location::Folder(store::sqlite::Config::default()),
    }
}

/// Describes the location of the journal for people: the path of the data folder, or the database.
pub(super) fn describe_location(scene: &Scene, at: &StoreArgs) -> anyhow::Result<String> {
    Ok(match &at.store {
        Some(url) => embed::database_words(url),
        None => DataDir::resolve(scene.reach.data.as_deref())?.path.display().to_string(),
    })
}
