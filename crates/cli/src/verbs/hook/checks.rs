//! Checks of a hook: before its installation, in `hook status` and in `doctor`. Each of them says what to do.
//!
//! A check that cannot be made has failed: a hook of which nothing is known does not hold.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdshort_core::digest::Digest;
use serde::Serialize;

use super::agent_key::KeyProblem;
use super::coding_cli::CodingCli;
use super::config::{self, HookConfig, RootIdentity};
use super::files::{self, HookFolder};
use super::record::{self, InstallRecord};
use super::resolved_path::resolve_or_keep;
use super::settings::codex::{self, Trust};
use super::settings::{self, Folders, Format, FoundHook, HookEntry, Inspection, Source};
use super::versions::{self, FoundCli};
use super::{agent_key, extensions, own_rules, start_line, unsafe_places};
use crate::program_name::holdshort;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Good,
    /// The hook holds, but something weakens what is behind the hook.
    Warning,
    /// The hook does not hold.
    Bad,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    pub name: &'static str,
    pub state: State,
    pub text: String,
}

impl Check {
    fn good(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, state: State::Good, text: text.into() }
    }

    fn warning(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, state: State::Warning, text: text.into() }
    }

    fn bad(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, state: State::Bad, text: text.into() }
    }
}

/// Hook of one coding agent, installed or about to be installed.
pub(crate) struct Subject<'a> {
    pub cli: CodingCli,
    pub folders: &'a Folders,
    pub hooks: &'a HookFolder,
    pub root: &'a Path,
    /// True for `--user`: the settings are below the root, and only the hook itself keeps the agent from them.
    pub is_for_user: bool,
    pub settings: &'a Path,
    pub program: &'a Path,
    /// Command lines of other hooks that the person accepted.
    pub accepted: &'a [String],
}

impl Subject<'_> {
    /// Returns true for the command line of this hook, also with an earlier path of the program.
    pub(crate) fn is_ours(&self, command: &str) -> bool {
        start_line::is_ours(command, self.cli, &self.hooks.config(self.cli))
    }
}

/// Returns the checks of the places that the hook depends on. Empty if all of them are safe.
pub(crate) fn unsafe_places(subject: &Subject<'_>) -> Vec<Check> {
    let config = subject.hooks.config(subject.cli);
    let mut checks = Vec::new();
    let places = [("program", subject.program), ("settings", subject.settings), ("hook files", &config)];
    for (name, path) in places {
        let in_project =
            (!subject.is_for_user).then(|| unsafe_places::in_project(path, subject.root)).flatten();
        checks.extend(
            in_project.or_else(|| unsafe_places::open_to_others(path)).map(|why| Check::bad(name, why)),
        );
    }
    for (name, path) in [("program", subject.program), ("hook files", &*config)] {
        checks.extend(unsafe_places::unreadable_in_settings(path).map(|why| Check::bad(name, why)));
    }
    checks
}

/// Settings of a coding agent that were read.
struct ReadSettings {
    path: PathBuf,
    inspection: Inspection,
}

/// Reads all settings of the agent. Files that the agent cannot read itself become warnings.
fn read_all(subject: &Subject<'_>, entry: Option<&HookEntry>) -> (Vec<ReadSettings>, Vec<Check>) {
    let (mut read, mut checks, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut sources = settings::sources(subject.cli, subject.folders, subject.root);
    sources.extend(extensions::sources(subject.cli, subject.folders));
    for Source { path, format } in sources {
        if !seen.insert(resolve_or_keep(&path)) {
            continue;
        }
        let text = match files::text(&path) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(error) => {
                checks.push(Check::bad("settings", crate::output::error(&error)));
                continue;
            }
        };
        match settings::inspect(subject.cli, format, &text, entry) {
            Ok(inspection) => read.push(ReadSettings { path, inspection }),
            Err(why) if path == subject.settings => {
                checks.push(Check::bad("settings", format!("{} {why}", path.display())));
            }
            Err(why) => {
                let (shown, cli) = (path.display(), subject.cli);
                checks.push(Check::warning("settings", format!("{shown} {why}; {cli} may ignore this file")));
            }
        }
    }
    (read, checks)
}

/// Returns the checks of all settings that turn the hook off, compete with the hook or weaken what is behind it.
pub(crate) fn around(subject: &Subject<'_>, entry: Option<&HookEntry>) -> Vec<Check> {
    let (read, mut checks) = read_all(subject, entry);
    let deciding = settings::deciding_events(subject.cli);
    for ReadSettings { path, inspection } in read {
        let shown = path.display();
        checks.extend(inspection.off.iter().map(|why| Check::bad("switches", format!("{shown} {why}"))));
        let mut others: Vec<&FoundHook> = Vec::new();
        for hook in &inspection.hooks {
            let is_other = deciding.contains(&hook.event.as_str()) && !subject.is_ours(&hook.shown);
            if is_other && !others.iter().any(|each| each.shown == hook.shown) {
                others.push(hook);
            }
        }
        for hook in others {
            let what = format!("{shown} has another hook for {}: `{}`", hook.event, hook.shown);
            checks.push(if subject.accepted.contains(&hook.shown) {
                Check::warning("other hook", format!("{what}; you accepted that it changes no call"))
            } else {
                Check::bad(
                    "other hook",
                    format!(
                        "{what}. Of two hooks that change a call, the last one wins: remove it, or confirm with --keep-other-hooks that it changes no call"
                    ),
                )
            });
        }
        let weak = inspection.no_second_line.iter();
        checks.extend(weak.map(|why| Check::warning("second line", format!("{shown} {why}"))));
    }
    checks.extend(untrusted_folder(subject));
    checks
}

/// Returns the other hooks that are installed before the same tools.
pub(crate) fn other_hooks(subject: &Subject<'_>) -> Vec<String> {
    let deciding = settings::deciding_events(subject.cli);
    let (read, _) = read_all(subject, None);
    let hooks = read.into_iter().flat_map(|read| read.inspection.hooks);
    let others =
        hooks.filter(|hook| deciding.contains(&hook.event.as_str()) && !subject.is_ours(&hook.shown));
    others.map(|hook| hook.shown).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Gemini CLI runs no hook in a folder that the person does not trust.
fn untrusted_folder(subject: &Subject<'_>) -> Option<Check> {
    if subject.cli != CodingCli::Gemini {
        return None;
    }
    let path = subject.folders.gemini.join("trustedFolders.json");
    let text = files::text(&path).ok().flatten()?;
    let rules: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).ok()?;
    let is_refused = |(folder, rule): (&String, &serde_json::Value)| {
        *rule == "DO_NOT_TRUST" && subject.root.starts_with(resolve_or_keep(Path::new(folder)))
    };
    rules.iter().any(is_refused).then(|| {
        Check::bad(
            "trust",
            format!(
                "Gemini CLI runs no hook in {}, because {} says DO_NOT_TRUST: start `gemini` there, and enter `/permissions`",
                subject.root.display(),
                path.display()
            ),
        )
    })
}

/// Result of the version check.
pub(crate) async fn version(cli: CodingCli) -> (Option<FoundCli>, Check) {
    match versions::find(cli).await {
        Err(why) => (None, Check::bad("version", why)),
        Ok(found) => {
            let check = match versions::problem(cli, found.version) {
                Some(why) => Check::bad("version", why),
                None => {
                    Check::good("version", format!("{cli} {} ({})", found.version, found.program.display()))
                }
            };
            (Some(found), check)
        }
    }
}

/// Report about one installed hook.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub cli: CodingCli,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// True if the hook holds a call for a decision.
    pub holds: bool,
    pub checks: Vec<Check>,
}

impl Report {
    fn new(cli: CodingCli, root: Option<PathBuf>, checks: Vec<Check>) -> Self {
        let holds = checks.iter().all(|check| check.state != State::Bad);
        Self { cli, root, holds, checks }
    }
}

/// Repeats every check of an installed hook. `None` if the hook is not installed.
pub(crate) async fn report(
    cli: CodingCli,
    folders: &Folders,
    hooks: &HookFolder,
) -> anyhow::Result<Option<Report>> {
    let record = match record::read(&hooks.record(cli)) {
        Ok(Some(record)) => record,
        Ok(None) => return Ok(None),
        Err(error) => {
            let check = Check::bad("hook files", crate::output::error(&error));
            return Ok(Some(Report::new(cli, None, vec![check])));
        }
    };
    let config = match config::read(&hooks.config(cli)) {
        Ok(config) => config,
        Err(error) => {
            let check = Check::bad("hook files", install_again(cli, &crate::output::error(&error)));
            return Ok(Some(Report::new(cli, None, vec![check])));
        }
    };
    let checks = all(cli, folders, hooks, &record, &config).await;
    Ok(Some(Report::new(cli, Some(config.root), checks)))
}

fn install_again(cli: CodingCli, why: &str) -> String {
    format!("{why}: run `{} hook install {}` again", holdshort(), cli.word())
}

async fn all(
    cli: CodingCli,
    folders: &Folders,
    hooks: &HookFolder,
    record: &InstallRecord,
    config: &HookConfig,
) -> Vec<Check> {
    let subject = Subject {
        cli,
        folders,
        hooks,
        root: &config.root,
        is_for_user: record.is_for_user,
        settings: &record.settings,
        program: &config.program,
        accepted: &record.accepted_hooks,
    };
    let (found, version_check) = version(cli).await;
    let mut checks = vec![version_check];
    let now = found.as_ref().map_or(record.version, |found| found.version);
    if now != record.version {
        checks.push(Check::warning(
            "version",
            format!("{cli} was {} when the hook was installed", record.version),
        ));
    }
    let entry = HookEntry { cli, command: record.command.clone(), version: now };
    checks.extend(unsafe_places(&subject));
    checks.push(program(cli, record, config));
    checks.push(root(cli, config));
    checks.extend(registered(&subject, record, &entry));
    checks.extend(around(&subject, Some(&entry)));
    let server = match agent_key::problem(&config.server, &config.key_file).await {
        Some(KeyProblem::Wrong(why)) => {
            Check::bad("server", format!("the hook cannot ask at {}: {why}", config.server))
        }
        Some(KeyProblem::NoServer(why)) => Check::warning(
            "server",
            format!("the hook cannot ask at {}, so it denies every call: {why}", config.server),
        ),
        None => Check::good("server", format!("{} answers, and the agent key is valid", config.server)),
    };
    checks.push(server);
    checks.push(trials(record, config));
    checks
}

/// Reports whether commands are tried before a person is asked.
fn trials(record: &InstallRecord, config: &HookConfig) -> Check {
    let (cli, root) = (config.cli, &config.root);
    let why = if record.is_for_user {
        "the hook is not installed for one project".to_owned()
    } else if config.tries {
        match own_rules::why_untriable(cli, root, root, "true") {
            None => return Check::good("trials", "commands are tried before you are asked"),
            Some(why) => why,
        }
    } else {
        let again =
            format!("run `{0} hook uninstall {1}` and `{0} hook install {1}`", holdshort(), cli.word());
        format!("the agent key has no folder: {again}")
    };
    Check::warning("trials", format!("commands are not tried, because {why}"))
}

fn program(cli: CodingCli, record: &InstallRecord, config: &HookConfig) -> Check {
    let shown = config.program.display();
    match std::fs::read(&config.program) {
        Err(error) => Check::bad("program", install_again(cli, &format!("{shown} cannot be read: {error}"))),
        Ok(bytes) if Digest::of_bytes(&bytes) != record.program_digest => Check::bad(
            "program",
            install_again(cli, &format!("{shown} changed after the hook was installed")),
        ),
        Ok(_) => Check::good("program", shown.to_string()),
    }
}

fn root(cli: CodingCli, config: &HookConfig) -> Check {
    let shown = config.root.display();
    match RootIdentity::of_folder(&config.root) {
        Ok(identity) if identity == config.root_identity => Check::good("project", shown.to_string()),
        Ok(_) => {
            Check::bad("project", install_again(cli, &format!("{shown} was replaced by another folder")))
        }
        Err(error) => Check::bad("project", format!("{shown} cannot be read: {error}")),
    }
}

/// Checks that the settings still contain the hook, and that Codex trusts it.
fn registered(subject: &Subject<'_>, record: &InstallRecord, entry: &HookEntry) -> Vec<Check> {
    let shown = record.settings.display();
    let cli = subject.cli;
    let bad = |why: String| vec![Check::bad("settings", install_again(cli, &why))];
    // A missing file and a link or a file of another user are different problems, with different remedies.
    let file = match files::SettingsFile::read(&record.settings) {
        Ok(file) => file,
        Err(error) => return vec![Check::bad("settings", crate::output::error(&error))],
    };
    if file.found.is_none() {
        return bad(format!("{shown} does not exist"));
    }
    let Ok(inspection) = settings::inspect(cli, Format::Settings, file.text(), Some(entry)) else {
        // The settings are also read with those of the project, and the error is reported there.
        return Vec::new();
    };
    let ours = |event: &str| {
        let mut hooks = inspection.hooks.iter();
        hooks.find(|hook| hook.event == event && subject.is_ours(&hook.shown)).cloned()
    };
    let mut found = Vec::new();
    for event in settings::events(cli) {
        match ours(event) {
            None => return bad(format!("{shown} no longer contains the hook for {event}")),
            Some(hook) if !hook.is_exact => {
                return bad(format!("{shown} contains the hook for {event} in another form than it should"));
            }
            Some(hook) => found.push((*event, hook)),
        }
    }
    let mut checks = vec![Check::good("settings", shown.to_string())];
    if cli == CodingCli::Codex {
        checks.extend(found.iter().map(|(event, hook)| trust(subject, file.text(), event, hook, entry)));
    }
    checks
}

fn trust(subject: &Subject<'_>, text: &str, event: &str, hook: &FoundHook, entry: &HookEntry) -> Check {
    let settings = resolve_or_keep(subject.settings);
    let is_settings = |path: &Path| resolve_or_keep(path) == settings;
    let why = match codex::trust(text, event, hook.position, entry, &is_settings) {
        Ok(Trust::Trusted) => return Check::good("trust", format!("Codex trusts the hook for {event}")),
        Ok(Trust::Untrusted) => "you have not trusted it yet",
        Ok(Trust::Modified) => "it changed after you trusted it",
        Ok(Trust::Disabled) => "you turned it off",
        Err(why) => return Check::bad("trust", why),
    };
    Check::bad(
        "trust",
        format!(
            "Codex skips the hook for {event}, because {why}: start `codex`, enter `/hooks`, and trust it"
        ),
    )
}
