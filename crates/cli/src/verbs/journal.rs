//! The journal itself, for the verbs that need it alone: no server uses it meanwhile.

use anyhow::Context;
use holdshort_store::{self as store, Store, postgres};

use super::Scene;
use crate::args::StoreArgs;
use crate::embed;
use crate::exit::usage;
use crate::place::Place;

/// The one that is there, in the data folder or in the database.
pub(super) async fn open(scene: &Scene, at: &StoreArgs) -> anyhow::Result<Store> {
    let place = Place::of(scene.reach.data.as_deref())?;
    if at.store.is_none() && !place.holds_journal() {
        return Err(usage(format!("{} holds no journal", place.path.display())));
    }
    open_or_make(scene, at).await
}

/// The same, made where there is none.
pub(super) async fn open_or_make(scene: &Scene, at: &StoreArgs) -> anyhow::Result<Store> {
    let place = Place::of(scene.reach.data.as_deref())?;
    let journal = words(scene, at)?;
    let at = match place_of(scene, at) {
        store::Location::Database(config) => {
            store::Location::Database(postgres::Config { alone: true, ..config })
        }
        folder @ store::Location::Folder(_) => folder,
    };
    match Store::open(&place.path, at).await {
        Err(store::Error::InUse) => {
            Err(usage(format!("a server uses {}: stop it first", place.path.display())))
        }
        Err(store::Error::Nodes(names)) => Err(usage(format!(
            "servers use this journal: stop {names} first; one that was killed counts until its lease ends"
        ))),
        opened => opened.with_context(|| format!("{journal} can not be opened")),
    }
}

/// Where the journal is that the verb works on.
pub(super) fn place_of(scene: &Scene, at: &StoreArgs) -> store::Location {
    match embed::database(at) {
        Some(config) => store::Location::Database(config),
        None => store::Location::Folder(scene.hooks.store),
    }
}

/// The same in words.
pub(super) fn words(scene: &Scene, at: &StoreArgs) -> anyhow::Result<String> {
    Ok(match &at.store {
        Some(url) => embed::database_words(url),
        None => Place::of(scene.reach.data.as_deref())?.path.display().to_string(),
    })
}
