//! `hook uninstall`: removes exactly what `hook install` added, and revokes the agent key.

use std::fs;

use holdshort_core::digest::Digest;
use serde_json::json;

use super::coding_cli::CodingCli;
use super::files::{self, HookFolder, SettingsFile};
use super::install::{agrees, show_change};
use super::record::{self, InstallRecord};
use super::{agent_key, settings, start_line};
use crate::args::HookUninstall;
use crate::client::{self, Client};
use crate::data_dir::DataDir;
use crate::exit::{Exit, usage};
use crate::output::{self, print_json, print_message, print_text};
use crate::program_name::holdshort;
use crate::verbs::Scene;

pub(super) async fn uninstall(scene: &Scene, args: &HookUninstall) -> anyhow::Result<Exit> {
    let cli = args.cli;
    let hooks = HookFolder::in_data(&DataDir::resolve(scene.reach.data.as_deref())?);
    let not_installed = || usage(format!("the hook of {cli} is not installed with this data folder"));
    if !hooks.path.exists() {
        return Err(not_installed());
    }
    let _lock = hooks.lock()?;
    let record = record::read(&hooks.record(cli))?.ok_or_else(not_installed)?;
    let file = SettingsFile::read(&record.settings)?;
    let without = without_hook(cli, &hooks, &record, &file)
        .map_err(|why| usage(format!("{} {why}", record.settings.display())))?;
    if !scene.json {
        show_change(&record.settings, file.text(), &without);
    }
    if args.apply.dry_run {
        if !scene.json {
            print_text("Nothing was changed.");
        }
        return report(scene, cli, None, true);
    }
    if !args.apply.yes && !agrees().await? {
        return Err(usage("the hook was not removed, because you did not agree; nothing was changed"));
    }
    // The settings first: a hook without its files stops every call of the agent.
    remove_from_settings(&record, &file, &without)?;
    let revoked = revoke(scene, &record).await;
    for path in [hooks.config(cli), hooks.key(cli), hooks.record(cli)] {
        files::remove(&path)?;
    }
    report(scene, cli, revoked.err().as_deref(), false)
}

/// Returns the settings without the hook. While nothing else changed, these are the settings before the installation.
fn without_hook(
    cli: CodingCli,
    hooks: &HookFolder,
    record: &InstallRecord,
    file: &SettingsFile,
) -> Result<String, String> {
    let change = &record.change;
    let is_unchanged = change.after == Some(Digest::of_bytes(file.text().as_bytes()));
    let undone = if is_unchanged { settings::undo(file.text(), &change.steps) } else { None };
    let config = hooks.config(cli);
    let is_ours = |command: &str| start_line::is_ours(command, cli, &config);
    let text = undone.unwrap_or_else(|| file.text().to_owned());
    settings::remove(cli, &text, &is_ours, &change.created)
}

fn remove_from_settings(record: &InstallRecord, file: &SettingsFile, without: &str) -> anyhow::Result<()> {
    let created = &record.change.created_paths;
    let is_empty = matches!(without.trim(), "" | "{}");
    if file.found.is_some() && is_empty && created.contains(&record.settings) {
        file.delete()?;
        for folder in created.iter().rev().filter(|path| **path != record.settings) {
            // A folder that the agent uses in the meantime stays.
            let _ = fs::remove_dir(folder);
        }
    } else if file.found.is_some() && without != file.text() {
        file.replace(without)?;
    }
    Ok(())
}

/// Revokes the key. A key that is already revoked is not an error.
async fn revoke(scene: &Scene, record: &InstallRecord) -> Result<(), String> {
    let Some(key) = &record.key else { return Ok(()) };
    let revoked = async {
        let client: Client = scene.client()?;
        agent_key::revoke(&client, key).await
    };
    match revoked.await {
        Err(error) if client::code(&error) != Some(holdshort_protocol::Code::KeyEnded) => Err(format!(
            "the agent key {} (`{}`) was not revoked: {}. Revoke it with `{} keys revoke {}`",
            key.id,
            key.name,
            output::error(&error),
            holdshort(),
            key.id
        )),
        _ => Ok(()),
    }
}

fn report(scene: &Scene, cli: CodingCli, not_revoked: Option<&str>, is_dry: bool) -> anyhow::Result<Exit> {
    if scene.json {
        print_json(&json!({"cli": cli, "changed": !is_dry, "dry_run": is_dry, "problem": not_revoked}))?;
    } else if !is_dry {
        print_text(&format!("The hook of {cli} is removed. Restart its running sessions."));
        if let Some(why) = not_revoked {
            print_message(why);
        }
    }
    Ok(if not_revoked.is_some() { Exit::Failed } else { Exit::Ok })
}
