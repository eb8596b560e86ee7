//! The arguments of each tool as Rust types. Their JSON Schemas are in `catalogue`. The types never accept more than
//! the schemas.

use holdshort_core::web::FETCH;
use serde::Deserialize;
use serde_json::Value;

use crate::refusal::Refusal;
use crate::toolset::{Toolset, Work, read_arguments};

/// Parsed call of a tool whose code is in the crate `holdshort-tools`.
#[derive(Debug)]
pub(crate) enum Request {
    Files(OnFiles),
    Command(RunCommand),
    Fetch(WebFetch),
    /// A call of a tool that a pack adds to the server.
    Added(Box<dyn Work>),
}

/// A call that works on files and runs in the server process.
#[derive(Debug)]
pub(crate) enum OnFiles {
    Read(ReadFile),
    List(ListDirectory),
    Search(SearchCodebase),
    Change(Change),
}

#[derive(Debug)]
pub(crate) enum Change {
    Write(WriteFile),
    Edit(EditFile),
}

impl Change {
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Write(write) => &write.path,
            Self::Edit(edit) => &edit.path,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    pub path: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDirectory {
    pub path: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchCodebase {
    pub pattern: String,
    pub path: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFile {
    pub path: String,
    pub content: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFile {
    pub path: String,
    pub old: String,
    pub new: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunCommand {
    pub command: String,
    pub cwd: Option<String>,
    pub timeout_s: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebFetch {
    pub url: String,
}

impl Request {
    /// Parses a call of a built-in tool or of a tool of `toolsets`. Rejects a call of a tool whose code is in another
    /// crate.
    pub(crate) fn parse(
        toolsets: &[&'static dyn Toolset],
        tool: &str,
        arguments: &Value,
    ) -> Result<Self, Refusal> {
        Ok(match tool {
            "read_file" => Self::Files(OnFiles::Read(read_arguments(arguments)?)),
            "list_directory" => Self::Files(OnFiles::List(read_arguments(arguments)?)),
            "search_codebase" => Self::Files(OnFiles::Search(read_arguments(arguments)?)),
            "write_file" => Self::Files(OnFiles::Change(Change::Write(read_arguments(arguments)?))),
            "edit_file" => Self::Files(OnFiles::Change(Change::Edit(read_arguments(arguments)?))),
            "run_command" => Self::Command(read_arguments(arguments)?),
            FETCH => Self::Fetch(read_arguments(arguments)?),
            other => {
                let work = toolsets.iter().find_map(|toolset| toolset.read(other, arguments));
                let unknown = || {
                    let message = format!("this server runs no tool named `{}`", other.escape_debug());
                    Err(Refusal::new("unknown_tool", message))
                };
                Self::Added(work.unwrap_or_else(unknown)?)
            }
        })
    }
}
