//! Gates for calls of agents that run elsewhere: the installation's rules, the reader of commands and the grants of a
//! session vote on them as on calls of ours.
//!
//! Nothing of such a call is looked at: not its workspace, not where its paths lead, not what its command runs. So what
//! the reader can not tell from the words asks, and no grant is for a command that runs files of the workspace.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Changes, Checkpoints, Granters, Matcher, Reason, Rules, Subject, Verdict, vote};
use crate::definition::GrantCovers;
use crate::interrupt::{Assignment, Level};
use crate::limits;
use crate::name::is_name;
use crate::run::stakes;
use crate::schema::Problem;
use crate::session::Session;
use crate::system::System;
use crate::time::Timestamp;
use crate::tool::Category;
use std::collections::BTreeSet;

/// A call as an agent that runs elsewhere names it. In this form an approval binds to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignCall {
    pub tool: String,
    /// An object. `command`, `path` and `url` of it are read.
    pub arguments: Value,
    /// The folder that it works in, in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The folder that its command runs in, in full; without it: the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the file holds that it changes, and what it will hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What the gates say of such a call, and what is at stake.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated {
    pub verdict: Verdict,
    pub category: Category,
    pub level: Level,
    /// What makes it risky whatever the gates say.
    pub stakes: Vec<Reason>,
    /// What allowing it for the session would cover, where that may be offered.
    pub grant: Option<Matcher>,
}

impl Gated {
    /// Why it is asked about, or refused, as a card says it.
    pub fn reasons(&self) -> Vec<Reason> {
        let of_gate = match &self.verdict {
            Verdict::Forbid(reason) => vec![reason.clone()],
            Verdict::Ask { reasons, .. } => reasons.clone(),
            Verdict::Allow(_) => Vec::new(),
        };
        [of_gate, self.stakes.clone()].concat()
    }
}

/// Arguments that the reader understands.
const READ: [&str; 3] = ["command", "path", "url"];

/// What may stand beside a command: it changes nothing of what the command does. Whatever else is there may.
const BESIDE_COMMAND: [&str; 6] =
    ["description", "explanation", "timeout", "timeout_ms", "timeout_s", "timeout_seconds"];

/// What agents call those elsewhere. Under such a name nobody reads them.
const UNREAD: [&str; 34] = [
    "argv",
    "bash",
    "cmd",
    "cmdline",
    "command_line",
    "commandline",
    "commands",
    "dest",
    "destination",
    "dir",
    "directory",
    "endpoint",
    "exec",
    "file",
    "file_name",
    "file_path",
    "filename",
    "filepath",
    "files",
    "folder",
    "href",
    "link",
    "paths",
    "program",
    "script",
    "shell",
    "shell_command",
    "source_path",
    "src",
    "target_file",
    "target_path",
    "uri",
    "urls",
    "website",
];

impl ForeignCall {
    /// What is wrong with its form.
    pub fn problems(&self, at: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !is_name(&self.tool, limits::NAME_BYTES) {
            let message = format!(
                "is empty, longer than {} bytes, or holds characters that do not show",
                limits::NAME_BYTES
            );
            problems.push(Problem::new(format!("{at}/tool"), message));
        }
        if !self.arguments.is_object() {
            problems.push(Problem::new(format!("{at}/arguments"), "is no object"));
        }
        for (field, folder) in [("workspace", &self.workspace), ("cwd", &self.cwd)] {
            let Some(folder) = folder else { continue };
            if !folder.starts_with('/') || holdshort_command::normal(folder) != *folder {
                let message =
                    "is no path in full: it begins with `/`, and has neither `.`, `..` nor a `/` at its end";
                problems.push(Problem::new(format!("{at}/{field}"), message));
            }
        }
        if self.before.is_some() && self.after.is_none() {
            let message = "is missing: say what the file will hold; an empty text where it is deleted";
            problems.push(Problem::new(format!("{at}/after"), message));
        }
        problems
    }

    /// The same call with other arguments: what was shown of a change is no longer what it does.
    #[must_use]
    pub fn edited(&self, arguments: Value) -> Self {
        Self { arguments, before: None, after: None, ..self.clone() }
    }

    fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    pub fn command(&self) -> Option<&str> {
        self.argument("command")
    }

    pub fn category(&self) -> Category {
        match self.command() {
            Some(line) => holdshort_command::parse(line).class().into(),
            None if self.after.is_some() => Category::FileWrite,
            None => Category::CodeExec,
        }
    }

    /// One line that says what would happen.
    pub fn title(&self) -> String {
        let what = READ.iter().find_map(|name| self.argument(name));
        what.map_or_else(|| self.tool.clone(), |what| format!("{}: {what}", self.tool))
    }

    /// Whether it names something that rules speak of where nobody reads it; or more than one thing, of which each rule
    /// would look at one alone.
    fn is_unread(&self) -> bool {
        let named = READ.iter().filter(|name| self.arguments.get(**name).is_some()).count();
        let has_command = self.arguments.get("command").is_some();
        if named > 1 || (has_command && (self.before.is_some() || self.after.is_some())) {
            return true;
        }
        let fields = self.arguments.as_object().into_iter().flatten();
        fields.into_iter().any(|(name, value)| {
            let is_read = READ.contains(&name.as_str());
            let is_beside = !has_command || BESIDE_COMMAND.contains(&name.as_str());
            (is_read && !value.is_string())
                || (!is_read && (!is_beside || names_unread(name) || holds_unread(value)))
        })
    }

    /// Whether rules speak of places, and nobody can say where its path, or what its command names, is.
    fn is_nowhere(&self, system: &System) -> bool {
        let names_places = self.command().is_some() || self.argument("path").is_some();
        self.workspace.is_none() && names_places && system.rules.iter().any(|rule| !rule.paths.is_empty())
    }

    fn subject<'a>(&'a self, agent: &'a str, ask_because: &'a [String]) -> Subject<'a> {
        let workspace = self.workspace.as_deref().unwrap_or_default();
        let category = self.category();
        Subject {
            agent,
            tool: &self.tool,
            category,
            path: self.argument("path"),
            url: self.argument("url"),
            command: self.command(),
            workspace,
            cwd: self.cwd.as_deref().unwrap_or(workspace),
            ask_because,
            places: &[],
            preconditions: &[],
            changes: if category == Category::ReadOnly { Changes::Nothing } else { Changes::Untried },
            untried: None,
            elsewhere: true,
        }
    }

    /// What the gates say of it now. `assignment`: who would decide on it.
    pub fn gated(
        &self,
        agent: &str,
        assignment: &Assignment,
        session: &Session,
        system: &System,
        now: Timestamp,
    ) -> Gated {
        let ask_because: Vec<String> = (self.is_unread() || self.is_nowhere(system))
            .then(|| "unread_arguments".to_owned())
            .into_iter()
            .collect();
        let subject = self.subject(agent, &ask_because);
        let stakes = self.command().map(stakes::of).unwrap_or_default();
        let runs_files =
            self.command().is_some_and(|line| !holdshort_command::parse(line).scripts().is_empty());
        // Of a call that says no workspace a grant would be for everywhere.
        let lifts = assignment.takes_one() && stakes.is_empty() && !runs_files && self.workspace.is_some();
        let granters = lifts.then(|| Granters {
            assignment: assignment.clone(),
            people: &system.people,
            starter: Some(agent),
        });
        let none = BTreeSet::new();
        let rules = Rules {
            run: &[],
            workflow: &[],
            checkpoints: Checkpoints { at: &none, deploy: &[] },
            smart: &[],
            granters: granters.as_ref(),
            covers: GrantCovers::Call,
            now,
        };
        let verdict = vote(&subject, rules, session, system);
        let grant = match &verdict {
            Verdict::Ask { grantable: true, .. } if self.workspace.is_some() => {
                Matcher::given(&subject, GrantCovers::Call)
            }
            Verdict::Ask { .. } | Verdict::Allow(_) | Verdict::Forbid(_) => None,
        };
        let is_found = |reason: &Reason| reason.source == super::Source::Inspection;
        let found = match &verdict {
            Verdict::Ask { reasons, .. } => reasons.iter().any(is_found),
            Verdict::Allow(_) | Verdict::Forbid(_) => false,
        };
        let level = match subject.category {
            _ if found || !stakes.is_empty() => Level::High,
            Category::ReadOnly => Level::Low,
            Category::FileWrite | Category::Bash | Category::CodeExec => Level::Medium,
            Category::Install | Category::Web => Level::High,
        };
        Gated { verdict, category: subject.category, level, stakes, grant }
    }
}

fn names_unread(name: &str) -> bool {
    let plain: String = name.to_lowercase().replace('-', "_");
    UNREAD.contains(&plain.as_str())
}

/// Whether a value names such a thing somewhere within.
fn holds_unread(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| READ.contains(&name.as_str()) || names_unread(name) || holds_unread(value)),
        Value::Array(items) => items.iter().any(holds_unread),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The grant as a card shows it.
pub fn shown(grant: &Matcher) -> Value {
    let mut shown = json!(grant);
    shown["words"] = json!(grant.words());
    shown["past"] = json!([]);
    shown
}
