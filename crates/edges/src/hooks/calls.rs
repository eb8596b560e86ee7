//! Tools of the CLIs under the names of Holdshort's own tools, so that one rule applies to every agent.
//!
//! A tool that no table names keeps its own name. If this is the name of one of Holdshort's own tools, it gets the
//! prefix `cli.`. No rule that is shipped allows such a tool, so a person is asked.

use serde_json::{Map, Value};

use super::change::{FileChange, Replacement};
use super::patch;

/// Effect of a tool, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    Command,
    /// Reads the file or folder of the argument `path`.
    Reading,
    /// Reads everything below the folder of the argument `path`.
    Searching,
    /// Changes the files of [`HookCall::files`].
    Writing,
    Web,
    /// Tool of an MCP server, or a tool that this module does not know.
    Other,
}

/// Call of a tool, in the words of the CLI and in ours.
#[derive(Clone, Debug, PartialEq)]
pub struct HookCall {
    /// Name of the tool for rules: `run_command`, `server.tool`.
    pub tool: String,
    /// Name of the tool in the CLI.
    pub name: String,
    pub kind: CallKind,
    /// Arguments for rules and cards. `path`, `command` and `url` have the names that rules read.
    pub arguments: Value,
    /// Arguments in the form of the CLI.
    pub original: Value,
    /// Explanation that the model gives with a command. It is no part of the call, because it changes nothing.
    pub about: Option<String>,
    /// Folder of the command, if the arguments name one.
    pub folder: Option<String>,
    /// Paths of the files that the call changes, as written.
    pub files: Vec<String>,
    pub change: FileChange,
    /// Connection of the MCP server, as far as the payload tells.
    pub server: Option<String>,
    /// True if the CLI uses arguments that a person has edited.
    pub can_edit: bool,
    /// True if the CLI merges edited arguments into the original ones, and therefore removes none.
    merges: bool,
    row: Option<&'static Row>,
}

/// One tool of a CLI.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    names: &'static [&'static str],
    tool: &'static str,
    kind: CallKind,
    /// Members of the CLI's arguments, and our names for these members.
    renames: &'static [(&'static str, &'static str)],
    /// Member that names the folder in which a command runs.
    folder: Option<&'static str>,
}

const fn row(
    names: &'static [&'static str],
    tool: &'static str,
    kind: CallKind,
    renames: &'static [(&'static str, &'static str)],
) -> Row {
    Row { names, tool, kind, renames, folder: None }
}

const COMMAND: &str = "run_command";
const READ: &str = "read_file";
const LIST: &str = "list_directory";
const SEARCH: &str = "search_codebase";
const EDIT: &str = "edit_file";
const WRITE: &str = "write_file";
const FETCH: &str = "web_fetch";

/// Names that have a meaning for rules. A tool of a CLI that is in no table gets none of these names.
const OURS: [&str; 7] = [COMMAND, READ, LIST, SEARCH, EDIT, WRITE, FETCH];

/// Names of a path in the arguments of file tools.
const PATHS: &[(&str, &str)] = &[
    ("file_path", "path"),
    ("absolute_path", "path"),
    ("notebook_path", "path"),
    ("target_file", "path"),
    ("filePath", "path"),
    ("dir_path", "path"),
    ("target_directory", "path"),
    ("relative_workspace_path", "path"),
];

const CURSOR_WRITE: &[(&str, &str)] =
    &[("file_path", "path"), ("target_file", "path"), ("contents", "content")];

const LINE: &[(&str, &str)] = &[("cmd", "command")];

pub(super) const CLAUDE: &[Row] = &[
    row(&["Bash"], COMMAND, CallKind::Command, &[]),
    row(&["Read", "NotebookRead"], READ, CallKind::Reading, PATHS),
    row(&["LS"], LIST, CallKind::Reading, PATHS),
    row(&["Glob"], LIST, CallKind::Searching, PATHS),
    row(&["Grep"], SEARCH, CallKind::Searching, PATHS),
    row(&["Edit", "MultiEdit", "NotebookEdit"], EDIT, CallKind::Writing, PATHS),
    row(&["Write"], WRITE, CallKind::Writing, PATHS),
    row(&["WebFetch"], FETCH, CallKind::Web, &[]),
];

/// Name of the tool with which Codex changes files.
const APPLY_PATCH: &str = "apply_patch";

pub(super) const CODEX: &[Row] = &[
    Row {
        folder: Some("workdir"),
        ..row(&["Bash", "shell", "local_shell", "exec_command"], COMMAND, CallKind::Command, LINE)
    },
    row(&[APPLY_PATCH], EDIT, CallKind::Writing, &[("command", "patch"), ("input", "patch")]),
    row(&["view_image"], READ, CallKind::Reading, PATHS),
];

pub(super) const GEMINI: &[Row] = &[
    Row { folder: Some("dir_path"), ..row(&["run_shell_command"], COMMAND, CallKind::Command, &[]) },
    row(&["read_file"], READ, CallKind::Reading, PATHS),
    row(&["list_directory"], LIST, CallKind::Reading, PATHS),
    row(&["glob"], LIST, CallKind::Searching, PATHS),
    row(&["search_file_content", "grep_search"], SEARCH, CallKind::Searching, PATHS),
    row(&["replace"], EDIT, CallKind::Writing, PATHS),
    row(&["write_file"], WRITE, CallKind::Writing, PATHS),
    row(&["web_fetch"], FETCH, CallKind::Web, &[]),
];

pub(super) const CURSOR: &[Row] = &[
    Row {
        folder: Some("working_directory"),
        ..row(&["Shell", "run_terminal_cmd"], COMMAND, CallKind::Command, &[])
    },
    row(&["Read", "read_file"], READ, CallKind::Reading, PATHS),
    row(&["LS", "list_dir"], LIST, CallKind::Reading, PATHS),
    row(&["Glob"], LIST, CallKind::Searching, PATHS),
    row(&["Grep", "grep_search"], SEARCH, CallKind::Searching, PATHS),
    row(&["Edit", "StrReplace"], EDIT, CallKind::Writing, PATHS),
    row(&["Write"], WRITE, CallKind::Writing, CURSOR_WRITE),
];

/// Members that change nothing if they are false, and would otherwise need approval as an argument that no rule reads.
const FLAGS: [&str; 5] =
    ["run_in_background", "dangerouslyDisableSandbox", "is_background", "replace_all", "allow_multiple"];

/// Members of a command's arguments that only explain the command.
const ABOUT: [&str; 2] = ["description", "explanation"];

/// Translates a call of a CLI's own tool.
pub(super) fn own(
    rows: &'static [Row],
    name: &str,
    input: Map<String, Value>,
    cwd: Option<&str>,
) -> HookCall {
    let Some(row) = rows.iter().find(|row| row.names.contains(&name)) else {
        let tool = if OURS.contains(&name) { format!("cli.{name}") } else { name.to_owned() };
        return HookCall::other(tool, name, input, None);
    };
    let mut arguments = Map::new();
    let (mut folder, mut about) = (None, None);
    for (member, value) in &input {
        if let Some(text) = value.as_str().filter(|_| is_about(row, member)) {
            about = Some(text.to_owned());
            continue;
        }
        if row.folder == Some(member) || (row.kind == CallKind::Command && member == "directory") {
            folder = value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            if folder.is_some() || is_unset(value) {
                continue;
            }
        }
        if FLAGS.contains(&member.as_str()) && is_unset(value) {
            continue;
        }
        let renamed = row.renames.iter().find(|(theirs, _)| *theirs == member);
        let ours = renamed.map_or(member.as_str(), |(_, ours)| ours);
        // Two members must not become one.
        let is_free = !arguments.contains_key(ours) && (ours == member || !input.contains_key(ours));
        arguments.insert(if is_free { ours.to_owned() } else { member.clone() }, value.clone());
    }
    if matches!(row.kind, CallKind::Reading | CallKind::Searching) {
        // The pattern of a tool that searches in files is no path.
        let lists = row.kind == CallKind::Searching && row.tool == LIST;
        place(&mut arguments, cwd, lists);
    }
    let (files, change) = if row.kind == CallKind::Writing {
        changed_files(name, &arguments)
    } else {
        (Vec::new(), FileChange::Unknown)
    };
    if let [file] = &files[..]
        && name == APPLY_PATCH
    {
        arguments.insert("path".to_owned(), file.clone().into());
    }
    HookCall {
        tool: row.tool.to_owned(),
        name: name.to_owned(),
        kind: row.kind,
        arguments: Value::Object(arguments),
        original: Value::Object(input),
        about,
        folder,
        files,
        change,
        server: None,
        can_edit: false,
        merges: false,
        row: Some(row),
    }
}

/// Translates a call of a tool of an MCP server. If the name can be divided in several ways, the call keeps the whole
/// name, because a rule about one server must not allow a tool of another one.
pub(super) fn mcp(name: &str, input: Map<String, Value>) -> Option<HookCall> {
    let rest = name.strip_prefix("mcp__")?;
    let (server, tool) = rest.split_once("__")?;
    if rest.rsplit_once("__") != Some((server, tool)) {
        return Some(HookCall::other(name.to_owned(), name, input, None));
    }
    (!server.is_empty() && !tool.is_empty())
        .then(|| HookCall::other(format!("{server}.{tool}"), name, input, Some(server.to_owned())))
}

fn is_about(row: &Row, member: &str) -> bool {
    row.kind == CallKind::Command && ABOUT.contains(&member)
}

fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Member for the folder of a file pattern that leads out of `path`. No rule reads a member of this name, so that the
/// call needs approval.
const PATTERN_FOLDER: &str = "pattern_folder";

/// Sets the path at which a tool reads. `lists`: the tool lists the files that match a pattern. A file pattern that
/// leads out of the folder names its own folder.
fn place(arguments: &mut Map<String, Value>, cwd: Option<&str>, lists: bool) {
    let pattern = arguments.get("pattern").or_else(|| arguments.get("glob_pattern")).and_then(Value::as_str);
    let leads_out =
        pattern.filter(|pattern| lists && (pattern.starts_with(['/', '~']) || pattern.contains("..")));
    if let Some(pattern) = leads_out {
        let fixed = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let folder =
            if fixed.len() == pattern.len() { fixed } else { fixed.rsplit_once('/').map_or("", |it| it.0) };
        let folder = if folder.is_empty() { "/" } else { folder };
        let name = if arguments.get("path").is_none_or(is_unset) { "path" } else { PATTERN_FOLDER };
        arguments.insert(name.to_owned(), folder.into());
        return;
    }
    if arguments.get("path").is_none_or(is_unset) {
        arguments.insert("path".to_owned(), cwd.unwrap_or(".").into());
    }
}

/// Returns the files that a tool changes, and the change if there is one file.
fn changed_files(name: &str, arguments: &Map<String, Value>) -> (Vec<String>, FileChange) {
    let text = |member: &str| arguments.get(member).and_then(Value::as_str);
    if name == APPLY_PATCH {
        return match text("patch").and_then(patch::parse) {
            Some(files) => {
                let change = match &files[..] {
                    [only] => FileChange::Patch(only.clone()),
                    _ => FileChange::Unknown,
                };
                (files.into_iter().flat_map(patch::FilePatch::into_paths).collect(), change)
            }
            None => (Vec::new(), FileChange::Unknown),
        };
    }
    let files = text("path").map(str::to_owned).into_iter().collect();
    let change = match name {
        "NotebookEdit" => FileChange::Unknown,
        "Write" | "write_file" => {
            text("content").map_or(FileChange::Unknown, |text| FileChange::Write(text.to_owned()))
        }
        "MultiEdit" => {
            let edits = arguments.get("edits").and_then(Value::as_array);
            let each = |edit: &Value| Replacement::from_arguments(edit.as_object()?);
            edits
                .and_then(|edits| edits.iter().map(each).collect())
                .map_or(FileChange::Unknown, FileChange::Edit)
        }
        _ => Replacement::from_arguments(arguments)
            .map_or(FileChange::Unknown, |one| FileChange::Edit(vec![one])),
    };
    (files, change)
}

impl HookCall {
    /// Returns a call of a tool about which only its name and its arguments are known.
    pub(super) fn other(tool: String, name: &str, input: Map<String, Value>, server: Option<String>) -> Self {
        Self {
            tool,
            name: name.to_owned(),
            kind: CallKind::Other,
            arguments: Value::Object(input.clone()),
            original: Value::Object(input),
            about: None,
            folder: None,
            files: Vec::new(),
            change: FileChange::Unknown,
            server,
            can_edit: false,
            merges: false,
            row: None,
        }
    }

    /// Marks the call as one whose arguments the CLI can replace.
    pub(crate) fn editable(self, merges: bool) -> Self {
        let can_edit = !matches!(self.kind, CallKind::Reading | CallKind::Searching);
        Self { can_edit, merges, ..self }
    }

    pub fn command(&self) -> Option<&str> {
        self.arguments.get("command").and_then(Value::as_str).filter(|_| self.kind == CallKind::Command)
    }

    pub fn path(&self) -> Option<&str> {
        self.arguments.get("path").and_then(Value::as_str)
    }

    /// Returns the call with the arguments of a person. `None`: the CLI cannot carry these arguments.
    #[must_use]
    pub fn edited(&self, arguments: &Value) -> Option<Self> {
        let input = self.input_for(arguments)?;
        let fields = input.as_object()?.clone();
        let edited = if let Some(row) = self.row {
            own(std::slice::from_ref(row), &self.name, fields, None)
        } else {
            Self::other(self.tool.clone(), &self.name, fields, self.server.clone())
        };
        // Arguments that become other arguments on the way back are not the ones that the person approved.
        (edited.arguments == *arguments).then(|| edited.editable(self.merges))
    }

    /// Returns the arguments in the form of the CLI.
    fn input_for(&self, arguments: &Value) -> Option<Value> {
        let original = self.original.as_object()?;
        let mut input = Map::new();
        for (name, value) in arguments.as_object()? {
            let is_own = original.contains_key(name);
            let renamed = self.row.and_then(|row| {
                let mut renames = row.renames.iter().filter(|(_, ours)| ours == name);
                renames.find(|(theirs, _)| original.contains_key(*theirs))
            });
            let theirs =
                if is_own { name.as_str() } else { renamed.map_or(name.as_str(), |(theirs, _)| theirs) };
            input.insert(theirs.to_owned(), value.clone());
        }
        for (name, value) in original {
            let is_folder = |row: &Row| row.folder == Some(name.as_str()) || name == "directory";
            let is_aside = |row: &Row| is_about(row, name) || (is_folder(row) && self.folder.is_some());
            if self.row.is_some_and(is_aside) {
                input.entry(name.clone()).or_insert_with(|| value.clone());
            }
            // The merge would restore a member that the person has removed.
            if self.merges && !input.contains_key(name) && !is_unset(value) {
                return None;
            }
        }
        Some(Value::Object(input))
    }
}
