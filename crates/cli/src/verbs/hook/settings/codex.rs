//! Hooks in the settings of Codex (`config.toml`).
//!
//! The hook is appended as text, so that nothing else changes; the result is parsed and compared. Codex runs a hook only
//! after the person trusted it: it stores a digest of each trusted hook, which is computed here in the same way.

use std::path::Path;

use holdshort_core::digest::Digest;
use serde_json::{Value as Json, json};
use toml::{Table, Value};

use super::types::{Added, Folders, Format, FoundHook, HookEntry, Inspection, Source, source};

pub(super) const EVENTS: &[&str] = &["PreToolUse", "PermissionRequest"];

pub(super) fn sources(folders: &Folders, root: &Path) -> Vec<Source> {
    let list = |path| Source { path, format: Format::HookList };
    let system = folders.system.join("etc/codex");
    let mut sources = Vec::new();
    for folder in [&folders.codex, &root.join(".codex"), &system] {
        sources.extend([source(folder.join("config.toml")), list(folder.join("hooks.json"))]);
    }
    sources.push(Source { path: system.join("requirements.toml"), format: Format::Requirements });
    sources
}

/// Returns the lines that register the hook in one event.
fn block(event: &str, entry: &HookEntry) -> [String; 6] {
    [
        format!("[[hooks.{event}]]"),
        String::new(),
        format!("[[hooks.{event}.hooks]]"),
        "type = \"command\"".to_owned(),
        // A command line has no character that TOML and JSON escape differently.
        format!("command = {}", Json::from(entry.command.as_str())),
        format!("timeout = {}", entry.cli.timeout_in_settings()),
    ]
}

fn parse(text: &str) -> Result<Table, String> {
    toml::from_str(text).map_err(|error| format!("is not valid TOML: {}", error.message()))
}

pub(super) fn add(text: &str, entry: &HookEntry) -> Result<Added, String> {
    let before = parse(text)?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut inserted = String::new();
    if !text.is_empty() && !text.ends_with('\n') {
        inserted.push_str(newline);
    }
    for event in EVENTS {
        if !(text.is_empty() && inserted.is_empty()) {
            inserted.push_str(newline);
        }
        for line in block(event, entry) {
            inserted.push_str(&line);
            inserted.push_str(newline);
        }
    }
    let step = vec![(text.len(), inserted.len())];
    let text = format!("{text}{inserted}");
    let after = parse(&text).map_err(|_| {
        "contains `hooks` in a form to which nothing can be added: write each event as [[hooks.EVENT]]"
            .to_owned()
    })?;
    let mut rest = after;
    for event in EVENTS {
        let list =
            rest.get_mut("hooks").and_then(|hooks| hooks.get_mut(*event)).and_then(Value::as_array_mut);
        let added = list.and_then(Vec::pop);
        if added.is_none_or(|group| group != group_value(entry)) {
            return Err(format!("contains `hooks.{event}` in an unknown form"));
        }
        forget_empty(&mut rest, event);
    }
    let mut before = before;
    for event in EVENTS {
        forget_empty(&mut before, event);
    }
    if rest != before {
        return Err("cannot be edited without a change of other settings".to_owned());
    }
    Ok(Added { text, steps: vec![step], ..Added::default() })
}

fn group_value(entry: &HookEntry) -> Value {
    let timeout = i64::try_from(entry.cli.timeout_in_settings()).unwrap_or(i64::MAX);
    let hook = Table::from_iter([
        ("type".to_owned(), Value::from("command")),
        ("command".to_owned(), entry.command.as_str().into()),
        ("timeout".to_owned(), timeout.into()),
    ]);
    Table::from_iter([("hooks".to_owned(), Value::Array(vec![hook.into()]))]).into()
}

/// Removes an empty list of an event, and an empty table of hooks, so that settings can be compared.
fn forget_empty(settings: &mut Table, event: &str) {
    let Some(Value::Table(hooks)) = settings.get_mut("hooks") else { return };
    if hooks.get(event).and_then(Value::as_array).is_some_and(Vec::is_empty) {
        hooks.remove(event);
    }
    if hooks.is_empty() {
        settings.remove("hooks");
    }
}

pub(super) fn remove(text: &str, is_ours: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let settings = parse(text)?;
    let ours: Vec<(String, Value)> = groups(&settings)
        .into_iter()
        .filter(|(_, group)| commands(group).into_iter().any(|command| is_ours(&command)))
        .collect();
    let mut text = text.to_owned();
    for (event, group) in &ours {
        let commands = commands(group);
        let range = commands.first().and_then(|command| find_block(&text, event, command));
        let Some((start, end)) = range.filter(|_| commands.len() == 1) else {
            return Err(format!(
                "contains the hook in `hooks.{event}`, but not as `hook install` wrote it: remove the lines of the hook"
            ));
        };
        text.replace_range(start..end, "");
    }
    let after = parse(&text)?;
    let is_gone = groups(&after).iter().all(|(_, group)| !commands(group).iter().any(|each| is_ours(each)));
    let others = |settings: &Table| {
        let mut settings = settings.clone();
        if let Some(Value::Table(hooks)) = settings.get_mut("hooks") {
            for list in hooks.iter_mut().filter_map(|(_, list)| list.as_array_mut()) {
                list.retain(|group| !commands(group).iter().any(|each| is_ours(each)));
            }
        }
        for (event, _) in &ours {
            forget_empty(&mut settings, event);
        }
        settings
    };
    if is_gone && others(&settings) == others(&after) {
        Ok(text)
    } else {
        Err("cannot be edited without a change of other settings: remove the lines of the hook".to_owned())
    }
}

/// Finds the lines of one event that `add` wrote, with the blank line before them. Ignores how the lines end.
fn find_block(text: &str, event: &str, command: &str) -> Option<(usize, usize)> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        lines.push((start, line.trim_end_matches(['\n', '\r'])));
        start += line.len();
    }
    let end_of = |index: usize| lines.get(index).map_or(text.len(), |(start, _)| *start);
    let wanted_command = format!("command = {}", Json::from(command));
    for first in 0..lines.len() {
        let block = lines.get(first..first + 6)?;
        let [header, blank, hooks, kind, line, timeout] = block else { return None };
        let is_found = header.1 == format!("[[hooks.{event}]]")
            && blank.1.is_empty()
            && hooks.1 == format!("[[hooks.{event}.hooks]]")
            && kind.1 == "type = \"command\""
            && line.1 == wanted_command
            && timeout.1.strip_prefix("timeout = ").is_some_and(|number| number.parse::<u64>().is_ok());
        if is_found {
            let has_blank = first > 0 && lines[first - 1].1.is_empty();
            return Some((end_of(if has_blank { first - 1 } else { first }), end_of(first + 6)));
        }
    }
    None
}

/// Returns the groups of all events, in the order of the file.
fn groups(settings: &Table) -> Vec<(String, Value)> {
    let Some(Value::Table(hooks)) = settings.get("hooks") else { return Vec::new() };
    let lists = hooks.iter().filter_map(|(event, list)| Some((event, list.as_array()?)));
    lists.flat_map(|(event, list)| list.iter().map(|group| (event.clone(), group.clone()))).collect()
}

fn commands(group: &Value) -> Vec<String> {
    let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
    hooks.filter_map(|hook| Some(hook.get("command")?.as_str()?.to_owned())).collect()
}

pub(super) fn inspect(format: Format, text: &str, entry: Option<&HookEntry>) -> Result<Inspection, String> {
    let settings = match format {
        Format::Settings | Format::Requirements => parse(text)?,
        Format::HookList => {
            let list: Json =
                serde_json::from_str(text).map_err(|error| format!("is not valid JSON: {error}"))?;
            serde_json::from_value(without_nulls(list))
                .map_err(|_| "does not contain an object".to_owned())?
        }
    };
    let mut inspection = Inspection { hooks: hooks(&settings, entry)?, ..Inspection::default() };
    let features = settings.get("features");
    for name in ["hooks", "codex_hooks"] {
        if features.and_then(|features| features.get(name)).and_then(Value::as_bool) == Some(false) {
            inspection.off.push(format!(
                "sets `features.{name}` to false, so Codex does not run the hook: remove this setting"
            ));
        }
    }
    if settings.get("allow_managed_hooks_only").and_then(Value::as_bool) == Some(true) {
        inspection.off.push(
            "sets `allow_managed_hooks_only`, so Codex does not run the hook: an administrator must allow it"
                .to_owned(),
        );
    }
    let profile = settings.get("profile").and_then(Value::as_str);
    let profile = profile.and_then(|name| settings.get("profiles")?.get(name)?.as_table());
    for (key, weak) in [("approval_policy", "never"), ("sandbox_mode", "danger-full-access")] {
        let value = profile.and_then(|profile| profile.get(key)).or_else(|| settings.get(key));
        if value.and_then(Value::as_str) == Some(weak) {
            inspection.no_second_line.push(format!(
                "sets `{key}` to `{weak}`: where the hook does not run, Codex itself does not hold the command"
            ));
        }
    }
    Ok(inspection)
}

/// Removes members that are null. Codex reads them as absent, and TOML has no null.
fn without_nulls(value: Json) -> Json {
    match value {
        Json::Object(members) => {
            let members = members.into_iter().filter(|(_, member)| !member.is_null());
            Json::Object(members.map(|(name, member)| (name, without_nulls(member))).collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(without_nulls).collect()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value,
    }
}

fn hooks(settings: &Table, entry: Option<&HookEntry>) -> Result<Vec<FoundHook>, String> {
    let mut found = Vec::new();
    let events = match settings.get("hooks") {
        None => return Ok(found),
        Some(Value::Table(events)) => events,
        Some(_) => return Err("contains `hooks` that is not a table".to_owned()),
    };
    let exact = entry.map(group_value);
    for (event, list) in events.iter().filter(|(event, _)| *event != "state") {
        let Value::Array(list) = list else { continue };
        for (index, group) in list.iter().enumerate() {
            let Some(Value::Array(hooks)) = group.get("hooks") else {
                return Err(format!("contains `hooks.{event}[{index}]` without a list `hooks`"));
            };
            for (number, hook) in hooks.iter().enumerate() {
                let text = |key: &str| hook.get(key).and_then(Value::as_str);
                let shown = ["command", "tool", "type"].into_iter().find_map(text);
                found.push(FoundHook {
                    event: event.clone(),
                    shown: shown.unwrap_or("a hook without a command").to_owned(),
                    is_exact: exact.as_ref() == Some(group),
                    position: (index, number),
                });
            }
        }
    }
    Ok(found)
}

/// Answer of Codex to the question whether it runs a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    Trusted,
    /// The person has not trusted the hook yet.
    Untrusted,
    /// The hook changed after the person trusted it.
    Modified,
    /// The person turned the hook off in `/hooks`.
    Disabled,
}

/// Returns the digest with which Codex recognises a trusted hook.
pub(crate) fn trusted_digest(event: &str, entry: &HookEntry) -> String {
    let identity = json!({
        "event_name": key_label(event),
        "hooks": [{
            "async": false, "command": entry.command, "timeout": entry.cli.timeout_in_settings(),
            "type": "command",
        }],
    });
    // Codex sorts the keys, and this program's canonical JSON does the same for such texts and numbers.
    format!("sha256:{}", Digest::of_json(&identity))
}

fn key_label(event: &str) -> &'static str {
    match event {
        "PermissionRequest" => "permission_request",
        _ => "pre_tool_use",
    }
}

/// Reads from the settings whether Codex runs the hook of an event. `is_settings` compares paths of settings files.
pub(crate) fn trust(
    text: &str,
    event: &str,
    position: (usize, usize),
    entry: &HookEntry,
    is_settings: &dyn Fn(&Path) -> bool,
) -> Result<Trust, String> {
    let settings = parse(text)?;
    let suffix = format!(":{}:{}:{}", key_label(event), position.0, position.1);
    let states = settings.get("hooks").and_then(|hooks| hooks.get("state")).and_then(Value::as_table);
    let state = states.into_iter().flatten().find_map(|(key, state)| {
        let path = key.trim().strip_suffix(&suffix)?;
        is_settings(Path::new(path)).then_some(state)
    });
    let Some(state) = state else { return Ok(Trust::Untrusted) };
    if state.get("enabled").and_then(Value::as_bool) == Some(false) {
        return Ok(Trust::Disabled);
    }
    Ok(match state.get("trusted_hash").and_then(Value::as_str) {
        None => Trust::Untrusted,
        Some(digest) if digest == trusted_digest(event, entry) => Trust::Trusted,
        Some(_) => Trust::Modified,
    })
}

/// Returns the reason why these settings hold back the replacement of a command: they set a sandbox.
pub(super) fn holds_back(format: Format, text: &str) -> Result<Option<String>, String> {
    match format {
        Format::HookList => return Ok(None),
        Format::Requirements => return Ok(Some("has rules of an administrator".to_owned())),
        Format::Settings => {}
    }
    let settings = parse(text)?;
    let has = |name: &str| settings.contains_key(name);
    let is_sandboxed = has("sandbox_mode") && !turns_sandbox_off(&settings);
    let set = ["profile", "default_permissions"].into_iter().find(|name| has(name));
    Ok(match set {
        _ if is_sandboxed => Some("turns on the sandbox of Codex, which refuses the server".to_owned()),
        Some(name) => Some(format!("sets `{name}`, whose sandbox may refuse the server")),
        None => None,
    })
}

/// Returns true if the settings turn the sandbox of Codex off.
pub(super) fn has_no_sandbox(text: &str) -> bool {
    turns_sandbox_off(&parse(text).unwrap_or_default())
}

fn turns_sandbox_off(settings: &Table) -> bool {
    settings.get("sandbox_mode").and_then(Value::as_str) == Some("danger-full-access")
}
