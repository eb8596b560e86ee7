//! The journal itself, for the verbs that need it alone: no server uses it meanwhile.

use anyhow::Context;
use holdshort_store::{self as store, Journal, Store};

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
    let here = store::Place::Folder(scene.hooks.store);
    let journal =
        match Store::open(&place.path, embed::database(at).map_or(here, store::Place::Database)).await {
            Ok(journal) => journal,
            Err(store::Error::InUse) => {
                return Err(usage(format!("a server uses {}: stop it first", place.path.display())));
            }
            Err(error) => return Err(error).context("the journal can not be opened"),
        };
    let others = journal.nodes().await?.into_iter().filter(|node| node.alive && !node.here);
    let names: Vec<String> = others.map(|node| node.name).collect();
    if !names.is_empty() {
        journal.close().await?;
        return Err(usage(format!("servers use this journal: stop {} first", names.join(", "))));
    }
    Ok(journal)
}
