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
    let at = match embed::database(at) {
        Some(config) => store::Place::Database(postgres::Config { alone: true, ..config }),
        None => store::Place::Folder(scene.hooks.store),
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

/// The one in the database, beside the servers that may use it.
pub(super) async fn beside(scene: &Scene, at: &StoreArgs) -> anyhow::Result<Store> {
    let place = Place::of(scene.reach.data.as_deref())?;
    let journal = words(scene, at)?;
    let config = embed::database(at).ok_or_else(|| usage("name the database with --store URL"))?;
    let opened = Store::open(&place.path, store::Place::Database(config)).await;
    opened.with_context(|| format!("{journal} can not be opened"))
}

/// Which journal the verb works on, in words.
pub(super) fn words(scene: &Scene, at: &StoreArgs) -> anyhow::Result<String> {
    Ok(match &at.store {
        Some(url) => embed::database_words(url),
        None => Place::of(scene.reach.data.as_deref())?.path.display().to_string(),
    })
}
