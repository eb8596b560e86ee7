//! Request to a person for one call: the call that the approval is bound to, and the texts of the card.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use holdshort_core::digest::Digest;
use holdshort_core::gate::foreign::ForeignCall;
use holdshort_edges::hooks::{Cli, HookCall, HookEvent};
use holdshort_http::secret_file;
use holdshort_protocol::{self as wire, Ask, AskChoice, Kind};
use serde_json::{Map, Value, json};

use super::resolved_path::resolve;
use crate::limits::{HOOK_CALL_BYTES, HOOK_FILE_READ_BYTES, HOOK_TEXT_BYTES};

/// Time for which a request stays open after the coding agent stopped waiting.
const OPEN_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Time for which an approval can be used after the decision.
const USABLE_MS: u64 = 24 * 60 * 60 * 1_000;
/// Maximum characters of a title.
const TITLE_CHARS: usize = 120;

/// Maximum characters of the model's explanation on a card.
const ABOUT_CHARS: usize = 2_000;

/// Call in the form to which an approval is bound.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub call: ForeignCall,
    /// Digest by which a repetition of the call is recognized. It does not contain the content of files.
    pub same: Digest,
    /// Content of the one file after the call.
    pub after: Option<(PathBuf, String)>,
    /// True if arguments are shown in part only. The approval is bound to the digests of these arguments.
    pub is_shortened: bool,
}

/// Returns the absolute working directory of the call.
pub(super) fn working_directory(root: &Path, event: &HookEvent, folder: Option<&str>) -> PathBuf {
    let cwd = root.join(event.cwd.as_deref().unwrap_or_default());
    folder.map_or_else(|| cwd.clone(), |folder| cwd.join(folder))
}

impl Prepared {
    /// Reads the file that the call changes, and computes its content after the call.
    pub(super) fn new(cli: Cli, event: &HookEvent, call: &HookCall, root: &Path) -> Self {
        let cwd = working_directory(root, event, call.folder.as_deref());
        let mut arguments = call.arguments.clone();
        let named = call.path().map(|path| cwd.join(path));
        if let Some(target) = named.as_deref().and_then(|path| linked(path, &cwd)) {
            // No rule allows a call with this argument, because the rules name paths without links.
            arguments["link_target"] = target.display().to_string().into();
        }
        let (mut before, mut after) = (None, None);
        if let [file] = &call.files[..] {
            (before, after) = contents(&cwd.join(file), call);
        }
        let written = after.clone().map(|text| (cwd.join(&call.files[0]), text));
        let text = |path: &Path| Some(holdshort_command::normal(path.to_str()?));
        let workspace = text(root);
        let cwd = resolve(&cwd).as_deref().and_then(text).filter(|cwd| Some(cwd) != workspace.as_ref());
        let same = match (cli, call.command()) {
            // Both events of Cursor have the line or the arguments, and nothing else in common.
            (Cli::Cursor, Some(line)) => Digest::of_json(&json!([call.tool, line])),
            (Cli::Cursor, None) => Digest::of_json(&json!([call.tool, call.original])),
            (_, Some(_)) => Digest::of_json(&json!([call.tool, call.arguments, cwd])),
            (_, None) => Digest::of_json(&json!([call.tool, call.original, cwd])),
        };
        let size = |arguments: &Value, before: &Option<String>, after: &Option<String>| {
            json!([arguments, before, after]).to_string().len()
        };
        if size(&arguments, &before, &after) > HOOK_CALL_BYTES {
            (before, after) = (None, None);
        }
        let is_shortened = size(&arguments, &before, &after) > HOOK_CALL_BYTES;
        if is_shortened {
            shorten(&mut arguments);
            if size(&arguments, &before, &after) > HOOK_CALL_BYTES {
                arguments = json!({"arguments": digest_of(&call.arguments.to_string())});
            }
        }
        let tool = call.tool.clone();
        let call = ForeignCall { tool, arguments, workspace, cwd, before, after, trial: None };
        Self { call, same, after: written, is_shortened }
    }

    pub(super) fn bound(&self) -> Digest {
        Digest::of_json(&self.call)
    }
}

/// Returns the place to which a link on the path leads. `None`: the path has no link.
pub(crate) fn linked(path: &Path, cwd: &Path) -> Option<PathBuf> {
    let base = resolve(cwd)?;
    let relative = path.strip_prefix(cwd).map_or_else(|_| path.to_owned(), Path::to_owned);
    let lexical = holdshort_command::normal(base.join(relative).to_str()?);
    // A path with too many links leads nowhere.
    let target = resolve(path).unwrap_or_else(|| PathBuf::from("/"));
    (target != Path::new(&lexical)).then_some(target)
}

/// Returns the content of a file before and after the call. Without a certain result, both are `None`.
fn contents(path: &Path, call: &HookCall) -> (Option<String>, Option<String>) {
    let before = match File::open(path) {
        Ok(file) if file.metadata().is_ok_and(|found| found.is_file()) => {
            let bytes = secret_file::bounded(file, HOOK_FILE_READ_BYTES).ok();
            match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                Some(text) => Some(text),
                None => return (None, None),
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Ok(_) | Err(_) => return (None, None),
    };
    match call.change.apply(before.as_deref()) {
        Some(after) => (before, Some(after)),
        None => (None, None),
    }
}

/// Replaces long texts by their digest and their beginning.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > HOOK_TEXT_BYTES => *value = digest_of(text),
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn digest_of(text: &str) -> Value {
    let begins: String = text.chars().take(HOOK_TEXT_BYTES / 4).collect();
    json!({"bytes": text.len(), "sha256": Digest::of_bytes(text.as_bytes()), "begins": begins})
}

/// Returns the facts about the session that each card shows.
pub(super) fn origin(cli: Cli, event: &HookEvent, root: &Path) -> Map<String, Value> {
    let mut facts = Map::new();
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            facts.insert(name.to_owned(), value.into());
        }
    };
    set("client", Some(cli.title().to_owned()));
    set("event", Some(event.name.clone()));
    set("folder", event.cwd.clone().or_else(|| Some(root.display().to_string())));
    set("transcript", event.transcript.clone());
    set("client_session", Some(event.session.clone()));
    facts
}

/// Returns one line of text with a bounded length.
fn line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

fn title(call: &HookCall) -> String {
    let text = |name: &str| call.arguments.get(name).and_then(Value::as_str);
    match ["command", "path", "url"].into_iter().find_map(text) {
        Some(what) => line(&format!("{}: {what}", call.name)),
        None => line(&call.name),
    }
}

fn ask(kind: Kind, title: String, run: &str) -> Ask {
    Ask {
        kind,
        title,
        message: String::new(),
        payload: Value::Null,
        options: Vec::new(),
        run: Some(run.to_owned()),
        session: None,
        subject: None,
        response_schema: None,
        expires_in_ms: Some(OPEN_MS),
        call: None,
        trial: None,
        usable_ms: None,
        on_expiry: None,
        assignment: None,
        reminders: None,
        escalation: Vec::new(),
        working_time: false,
        withhold: Vec::new(),
        callback: None,
    }
}

fn choices(ids: &[&str]) -> Vec<AskChoice> {
    ids.iter().map(|id| AskChoice { id: (*id).to_owned(), label: None }).collect()
}

/// Returns the request for a call. `facts`: the result of [`origin`].
pub(super) fn for_call(call: &HookCall, prepared: &Prepared, facts: Map<String, Value>, run: &str) -> Ask {
    let ForeignCall { tool, arguments, workspace, cwd, before, after, trial: _ } = prepared.call.clone();
    let mut facts = facts;
    if call.name != call.tool {
        facts.insert("client_tool".to_owned(), call.name.clone().into());
    }
    if let Some(server) = &call.server {
        facts.insert("mcp_server".to_owned(), server.clone().into());
    }
    let about = call.about.as_deref().or_else(|| call.arguments.get("description").and_then(Value::as_str));
    let can_edit = call.can_edit && !prepared.is_shortened;
    Ask {
        message: about.unwrap_or_default().chars().take(ABOUT_CHARS).collect(),
        payload: Value::Object(facts),
        call: Some(wire::ForeignCall { tool, arguments, workspace, cwd, before, after }),
        options: choices(if can_edit { &[] } else { &["approve", "approve_session", "respond", "reject"] }),
        usable_ms: Some(USABLE_MS),
        ..ask(Kind::ToolApproval, title(call), run)
    }
}

/// Returns the request about a call that a rule has allowed, and for which the coding agent asks the person itself. No
/// rule answers this request.
pub(super) fn for_person(call: &HookCall, prepared: &Prepared, facts: Map<String, Value>, run: &str) -> Ask {
    let mut payload = facts;
    payload.insert("tool".to_owned(), prepared.call.tool.clone().into());
    payload.insert("arguments".to_owned(), prepared.call.arguments.clone());
    Ask {
        message: "The rules of the coding agent itself require a person.".to_owned(),
        payload: Value::Object(payload),
        options: choices(&["approve", "respond", "reject"]),
        usable_ms: Some(USABLE_MS),
        ..ask(Kind::ToolApproval, title(call), run)
    }
}

/// Returns the question of an agent or of an MCP server.
pub(super) fn for_question(
    title: &str,
    message: &str,
    schema: &Value,
    facts: Map<String, Value>,
    run: &str,
) -> Ask {
    Ask {
        message: message.to_owned(),
        payload: Value::Object(facts),
        response_schema: Some(schema.clone()),
        ..ask(Kind::Question, line(title), run)
    }
}

/// Returns the incident about a file whose content is not the approved one.
pub(super) fn for_incident(path: &Path, facts: Map<String, Value>, found: &Value, run: &str) -> Ask {
    let shown = path.display();
    let mut payload = facts;
    payload.insert("path".to_owned(), shown.to_string().into());
    payload.extend(found.as_object().cloned().unwrap_or_default());
    let label = |id: &str, label: &str| AskChoice { id: id.to_owned(), label: Some(label.to_owned()) };
    Ask {
        message: "After the approved change, the file has a different content. The tool itself, or another program, \
                  wrote it."
            .to_owned(),
        payload: Value::Object(payload),
        options: vec![label("continue", "Accept the file"), label("abort", "End this session")],
        ..ask(Kind::Escalation, line(&format!("{shown} is not what was approved")), run)
    }
}
