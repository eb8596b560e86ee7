//! The arguments of a call as types. The JSON Schemas beside them are in `catalogue`; never looser here.

use holdshort_core::web::FETCH;
use holdshort_training::Analyst;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::casework::{Nothing, OnCase};
use crate::refusal::Refusal;
use crate::training::{OnTraining, ReadData};

/// A call of a tool that runs here.
#[derive(Debug)]
pub(crate) enum Request {
    Files(OnFiles),
    Command(RunCommand),
    Fetch(WebFetch),
    Training(OnTraining),
    Case(OnCase),
}

/// A call that works on files in this process.
#[derive(Debug)]
pub(crate) enum OnFiles {
    Read(ReadFile),
    List(ListDirectory),
    Search(SearchCodebase),
    Change(Change),
}

/// A call that replaces one file.
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
    /// Reads a call; a tool that does not run here is refused.
    pub(crate) fn parse(tool: &str, arguments: &Value) -> Result<Self, Refusal> {
        Ok(match tool {
            "read_file" => Self::Files(OnFiles::Read(typed(arguments)?)),
            "list_directory" => Self::Files(OnFiles::List(typed(arguments)?)),
            "search_codebase" => Self::Files(OnFiles::Search(typed(arguments)?)),
            "write_file" => Self::Files(OnFiles::Change(Change::Write(typed(arguments)?))),
            "edit_file" => Self::Files(OnFiles::Change(Change::Edit(typed(arguments)?))),
            "run_command" => Self::Command(typed(arguments)?),
            FETCH => Self::Fetch(typed(arguments)?),
            "compute_metric" => Self::Training(OnTraining::Metric(typed(arguments)?)),
            "plot_series" => Self::Training(OnTraining::Plot(typed(arguments)?)),
            "plan_weeks" => Self::Training(OnTraining::Plan(typed(arguments)?)),
            "read_load_data" => data(arguments, Analyst::Metrics)?,
            "read_activity_data" => data(arguments, Analyst::Activities)?,
            "read_physiology_data" => data(arguments, Analyst::Physiology)?,
            "case_overview" => typed(arguments).map(|Nothing {}| Self::Case(OnCase::Overview))?,
            "case_findings" => Self::Case(OnCase::Findings(typed(arguments)?)),
            "case_query" => Self::Case(OnCase::Query(typed(arguments)?)),
            "case_review" => typed(arguments).map(|Nothing {}| Self::Case(OnCase::Review))?,
            other => {
                return Err(Refusal::new(
                    "unknown_tool",
                    format!("no tool named `{}` runs here", other.escape_debug()),
                ));
            }
        })
    }
}

fn data(arguments: &Value, analyst: Analyst) -> Result<Request, Refusal> {
    typed::<ReadData>(arguments).map(|ReadData {}| Request::Training(OnTraining::Data(analyst)))
}

fn typed<T: DeserializeOwned>(arguments: &Value) -> Result<T, Refusal> {
    T::deserialize(arguments)
        .map_err(|e| Refusal::new("bad_arguments", format!("the arguments do not fit the schema: {e}")))
}
