//! `hook install`: makes a coding agent ask before each tool call.
//!
//! The order of the writes matters: the key, the record and the configuration exist before the settings name them. The
//! settings are written last, in one step.

use std::path::{Path, PathBuf};

use anyhow::Context;
use holdshort_core::digest::Digest;
use holdshort_protocol::plain;
use reqwest::Url;
use serde_json::json;

use super::agent_key;
use super::checks::{self, Check, State, Subject};
use super::coding_cli::CodingCli;
use super::config::{self, HookConfig, RootIdentity};
use super::files::{self, HookFolder, SettingsFile};
use super::protected_places;
use super::record::{self, InstallRecord, InstalledKey, SettingsChange};
use super::settings::{self, Added, HookEntry};
use super::start_line;
use super::versions;
use crate::args::HookInstall;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::exit::{Exit, usage};
use crate::output::{print_json, print_message_lines, print_text, prompt};
use crate::program_name::holdshort;
use crate::shell::quoted;
use crate::terminal::diff;
use crate::terminal::input::{Input, Line};
use crate::terminal::paint::Paint;
use crate::verbs::Scene;

pub(super) async fn install(scene: &Scene, args: &HookInstall) -> anyhow::Result<Exit> {
    let cli = args.cli;
    let folders = files::settings_folders()?;
    let data = DataDir::resolve(scene.reach.data.as_deref())?;
    let hooks = HookFolder::in_data(&data);
    let root = root(args, &folders.home)?;
    let program = own_program()?;
    let path = settings::user_file(cli, &folders);
    let subject = Subject {
        cli,
        folders: &folders,
        hooks: &hooks,
        root: &root,
        is_for_user: args.root.user,
        settings: &path,
        program: &program,
        accepted: &[],
    };
    refuse(cli, checks::unsafe_places(&subject))?;
    let _lock = if args.apply.dry_run {
        None
    } else {
        hooks.create()?;
        Some(hooks.lock()?)
    };
    let earlier = earlier(cli, &hooks, &root)?;

    let found = versions::find(cli).await.map_err(usage)?;
    if let Some(why) = versions::problem(cli, found.version) {
        return Err(usage(why));
    }
    let accepted = if args.keep_other_hooks { checks::other_hooks(&subject) } else { Vec::new() };
    let accepted = match &earlier {
        Some(earlier) if accepted.is_empty() => earlier.record.accepted_hooks.clone(),
        _ => accepted,
    };
    let subject = Subject { accepted: &accepted, ..subject };
    let command = format!(
        "{}{}",
        quoted(&program.display().to_string()),
        start_line::arguments(cli, &hooks.config(cli))
    );
    let entry = HookEntry { cli, command, version: found.version };
    let (bad, warnings): (Vec<Check>, Vec<Check>) =
        checks::around(&subject, Some(&entry)).into_iter().partition(|check| check.state == State::Bad);
    refuse(cli, bad)?;

    let file = SettingsFile::read(&path)?;
    let is_ours = |command: &str| subject.is_ours(command);
    let added = settings::ensure(file.text(), &entry, &is_ours)
        .map_err(|why| usage(format!("{} {why}", path.display())))?;
    let client = scene.client()?;
    let config = HookConfig {
        cli,
        server: Url::parse(&client.address())?,
        key_file: hooks.key(cli),
        root: root.clone(),
        root_identity: RootIdentity::of_folder(&root)?,
        timeout_ms: cli.timeout_ms(),
        protected: protected_places::list(cli, &folders, &root, &data, &hooks, &program),
        program: program.clone(),
        tries: false,
    };
    let key = agent_key::existing(&client, &config.server, &config.key_file).await;
    let config = HookConfig { tries: names_root(key.as_ref(), &config.root), ..config };
    let record = InstallRecord {
        cli,
        is_for_user: args.root.user,
        settings: path.clone(),
        command: entry.command.clone(),
        version: found.version,
        program_digest: digest(&program)?,
        key: key.clone(),
        change: change(earlier.as_ref().map(|earlier| &earlier.record), &file, &added),
        accepted_hooks: accepted.clone(),
    };
    let plan = Plan { scene, args, file: &file, added: &added, config, record, warnings };
    let is_done = key.is_some()
        && earlier.as_ref().is_some_and(|earlier| {
            earlier.record == plan.record && earlier.config.as_ref() == Some(&plan.config)
        });
    if is_done && added.text == file.text() {
        return plan.report(false);
    }
    plan.show();
    if args.apply.dry_run {
        if !scene.json {
            print_text("Nothing was changed.");
        }
        return plan.report(false);
    }
    if !args.apply.yes && !agrees().await? {
        return Err(usage("the hook was not installed, because you did not agree; nothing was changed"));
    }
    plan.perform(&client, &hooks, earlier.is_none()).await
}

/// Returns the folder in which the agent works, with all links followed.
fn root(args: &HookInstall, home: &Path) -> anyhow::Result<PathBuf> {
    let named = match &args.root.project {
        Some(project) => project.clone(),
        None if args.root.user => home.to_owned(),
        None => std::env::current_dir().context("the current folder cannot be found")?,
    };
    let root = named
        .canonicalize()
        .map_err(|error| usage(format!("the project {} cannot be opened: {error}", named.display())))?;
    if !root.is_dir() {
        return Err(usage(format!("{} is not a folder", root.display())));
    }
    Ok(root)
}

/// Returns true if the server may try commands in the root for the holder of the key.
fn names_root(key: Option<&InstalledKey>, root: &Path) -> bool {
    key.and_then(|key| key.folder.as_deref()).is_some_and(|folder| Path::new(folder) == root)
}

/// Returns the path of this program, with all links followed.
fn own_program() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("the path of this program cannot be found")?;
    program.canonicalize().with_context(|| format!("{} cannot be found", program.display()))
}

fn digest(program: &Path) -> anyhow::Result<Digest> {
    let bytes = std::fs::read(program).with_context(|| format!("{} cannot be read", program.display()))?;
    Ok(Digest::of_bytes(&bytes))
}

/// Refuses the installation if a check failed. All reasons are named at once.
fn refuse(cli: CodingCli, bad: Vec<Check>) -> anyhow::Result<()> {
    if bad.is_empty() {
        return Ok(());
    }
    let reasons: Vec<String> = bad.into_iter().map(|check| format!("\n  {}", check.text)).collect();
    Err(usage(plain::text(&format!(
        "the hook of {cli} was not installed, because it would not hold:{}",
        reasons.concat()
    ))))
}

/// Earlier installation. Without a configuration, the installation was interrupted, or its file was damaged.
struct Earlier {
    record: InstallRecord,
    config: Option<HookConfig>,
}

/// Returns the earlier installation. Refuses to change its root without a word.
fn earlier(cli: CodingCli, hooks: &HookFolder, root: &Path) -> anyhow::Result<Option<Earlier>> {
    let Some(record) = record::read(&hooks.record(cli))? else { return Ok(None) };
    // A missing or damaged configuration is replaced.
    let Ok(config) = config::read(&hooks.config(cli)) else {
        return Ok(Some(Earlier { record, config: None }));
    };
    if config.root != root {
        return Err(usage(format!(
            "the hook of {cli} is installed for {}: a hook has one project, or all folders of yours with --user. Run `{} hook uninstall {}` first",
            config.root.display(),
            holdshort(),
            cli.word()
        )));
    }
    Ok(Some(Earlier { record, config: Some(config) }))
}

/// Returns how the change of the settings is undone later.
fn change(earlier: Option<&InstallRecord>, file: &SettingsFile, added: &Added) -> SettingsChange {
    let before = earlier.map(|record| record.change.clone()).unwrap_or_default();
    if added.text == file.text() {
        return before;
    }
    // An earlier form of the hook left the lists and objects that were created for it.
    let mut created = if added.is_replacement { before.created } else { Vec::new() };
    for each in &added.created {
        if !created.contains(each) {
            created.push(each.clone());
        }
    }
    SettingsChange {
        after: Some(Digest::of_bytes(added.text.as_bytes())),
        steps: added.steps.clone(),
        created,
        created_paths: before.created_paths,
    }
}

/// Asks the person at the terminal.
pub(super) async fn agrees() -> anyhow::Result<bool> {
    let Some(mut input) = Input::open() else {
        return Err(usage(
            "no terminal can ask you: add --yes to apply the change, or --dry-run to only see it",
        ));
    };
    // Text that was typed before the question was shown must not answer the question.
    input.forget();
    prompt("y applies the change, anything else does not> ");
    let line = input.line().await.context("the terminal cannot be read")?;
    Ok(matches!(line, Line::Text(text) if matches!(&*text.trim().to_lowercase(), "y" | "yes")))
}

/// Prints the change of a settings file.
pub(super) fn show_change(path: &Path, old: &str, new: &str) {
    let paint = Paint::stdout();
    print_text(&paint.bold(&plain::line(&path.display().to_string())));
    for line in diff::between(old, new, paint) {
        print_text(&line);
    }
}

/// Installation that passed all checks.
struct Plan<'a> {
    scene: &'a Scene,
    args: &'a HookInstall,
    file: &'a SettingsFile,
    added: &'a Added,
    config: HookConfig,
    record: InstallRecord,
    warnings: Vec<Check>,
}

impl Plan<'_> {
    fn show(&self) {
        if self.scene.json {
            return;
        }
        show_change(&self.file.path, self.file.text(), &self.added.text);
        let paint = Paint::stdout();
        let key = match &self.record.key {
            Some(key) => format!("{}, which exists", key.name),
            None => format!("{}, which will be created", self.key_name()),
        };
        for (label, text) in [
            ("project", self.config.root.display().to_string()),
            ("server", self.config.server.to_string()),
            ("agent key", key),
        ] {
            paint.labelled(label, &plain::text(&text)).iter().for_each(|line| print_text(line));
        }
    }

    fn key_name(&self) -> &str {
        self.args.name.as_deref().unwrap_or_else(|| self.config.cli.key_name())
    }

    async fn perform(mut self, client: &Client, hooks: &HookFolder, is_first: bool) -> anyhow::Result<Exit> {
        let cli = self.config.cli;
        // The data folder is in the home folder, so a home folder cannot be the folder of a key.
        let folder = Some(self.config.root.as_path()).filter(|_| !self.args.root.user);
        let made = match self.record.key {
            Some(_) => None,
            None => Some(agent_key::create(client, self.key_name(), folder, &self.config.key_file).await?),
        };
        if let Some(key) = &made {
            self.config.tries = names_root(Some(key), &self.config.root);
            self.record.key = Some(key.clone());
        }
        if let Err(error) = self.write(hooks) {
            // A failed first installation leaves no files, and no key that nobody uses.
            if let Some(key) = made.filter(|_| is_first) {
                let _ = agent_key::revoke(client, &key).await;
                for path in [hooks.config(cli), hooks.record(cli), hooks.key(cli)] {
                    let _ = files::remove(&path);
                }
            }
            return Err(error);
        }
        self.report(true)
    }

    fn write(&mut self, hooks: &HookFolder) -> anyhow::Result<()> {
        let cli = self.config.cli;
        record::write(&hooks.record(cli), &self.record)?;
        config::write(&hooks.config(cli), &self.config)?;
        if self.added.text != self.file.text() {
            let created = self.file.replace(&self.added.text)?;
            self.record.change.created_paths.extend(created);
            record::write(&hooks.record(cli), &self.record)?;
        }
        Ok(())
    }

    fn report(&self, is_changed: bool) -> anyhow::Result<Exit> {
        let cli = self.config.cli;
        if self.scene.json {
            print_json(&json!({
                "cli": cli, "settings": self.file.path, "root": self.config.root, "server": self.config.server,
                "key": self.record.key, "changed": is_changed, "dry_run": self.args.apply.dry_run,
                "diff": similar::TextDiff::from_lines(self.file.text(), &self.added.text).unified_diff().to_string(),
                "warnings": self.warnings,
            }))?;
            return Ok(Exit::Ok);
        }
        let paint = Paint::stderr();
        for warning in &self.warnings {
            print_message_lines(&paint.message(&plain::text(&format!("– {}", warning.text)), 2));
        }
        if self.args.apply.dry_run {
            return Ok(Exit::Ok);
        }
        if !is_changed {
            print_text(&format!("The hook of {cli} is installed already. Nothing was changed."));
            return Ok(Exit::Ok);
        }
        let next = match cli {
            CodingCli::Claude | CodingCli::Cursor => "Restart its running sessions.".to_owned(),
            CodingCli::Codex => {
                "Start `codex`, enter `/hooks`, and trust the hook: until then Codex skips it.".to_owned()
            }
            CodingCli::Gemini => {
                "Restart its running sessions. It runs hooks only in folders that you trust.".to_owned()
            }
        };
        print_text(&format!("The hook of {cli} is installed. {next}"));
        print_text(&format!("`{} hook status {}` checks it.", holdshort(), cli.word()));
        Ok(Exit::Ok)
    }
}
