//! `backup`: copies the journal, even while a server uses it.

use std::path::Path;

use anyhow::Context;
use holdshort_server::journal_head;
use holdshort_store::Error;
use holdshort_store::sqlite::{self, NotCopied};
use serde_json::json;

use super::Scene;
use crate::args::StoreArgs;
use crate::data_dir::DataDir;
use crate::exit::{Exit, damage, usage};
use crate::output::{print_json, print_text};
use crate::plural::count;
use crate::program_name::with_program_name;
use crate::shell::quoted;

pub(super) async fn backup(scene: &Scene, into: &Path, at: &StoreArgs) -> anyhow::Result<Exit> {
    if at.store.is_some() {
        return Err(usage(
            "`backup` copies data folders only: use `pg_dump` for a database, even while servers use it",
        ));
    }
    let from = DataDir::resolve(scene.reach.data.as_deref())?;
    if !from.holds_journal() {
        return Err(usage(format!(
            "{} holds no journal: name the data folder of the server with --data DIR",
            from.path.display()
        )));
    }
    let into = std::path::absolute(into)?;
    let (source, copy) = (from.path.clone(), into.clone());
    let copied = tokio::task::spawn_blocking(move || sqlite::back_up(&source, &copy)).await?;
    let head = match copied {
        Ok(head) => head,
        Err(NotCopied::NotEmpty) => {
            return Err(usage(format!("{} is not empty: name a new folder", into.display())));
        }
        Err(NotCopied::Store(Error::Corrupt(why))) => return Err(damage(why)),
        Err(error) => {
            return Err(error).with_context(|| {
                format!("{} could not be copied, so there is no backup", from.path.display())
            });
        }
    };
    let events = head.events;
    let noted = journal_head(head).head;
    if scene.json {
        print_json(&json!({ "folder": into, "events": events, "head": noted }))?;
        return Ok(Exit::Ok);
    }
    let shown = quoted(&into.to_string_lossy());
    print_text(&format!("Copied {} into {}. The head is {noted}", count(events, "event"), into.display()));
    print_text(&with_program_name(&format!("  Check it:   `holdshort audit verify --data {shown}`")));
    print_text(&with_program_name(&format!(
        "  Restore it: `holdshort serve --data {shown}` starts frozen, until `holdshort unfreeze --data {shown}`"
    )));
    Ok(Exit::Ok)
}
