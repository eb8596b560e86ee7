//! Gates for calls of external agents. Three sources vote, as they do on calls of Holdshort's own agents: the rules of
//! the system, the command parser, and the grants of the session.
//!
//! If the server ran the call in a trial (`foreign_trial.rs`), the gates vote on the changes that the trial made. If
//! there was no trial, only the call itself is examined. Holdshort has no access to the external agent's workspace, so
//! it sees neither the targets of links nor the scripts that a command executes. A person is asked if the arguments
//! alone do not show what the call does. For the same reason, grants do not allow commands that execute files of the
//! workspace.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::foreign_trial::{Evidence, TrialDigests};
use super::rule::{full, plain, ways};
use super::{
    Changes, Checkpoints, Grant, Matcher, Reason, Refusal, RefusalRecord, RefusedBefore, Subject, Verdict,
    VoteInputs, rule, stakes, vote,
};
use crate::changeset;
use crate::level::Level;
use crate::limits;
use crate::name::is_name;
use crate::policy::{GrantCovers, Rule, RuleAction};
use crate::schema::Problem;
use crate::tool::Category;
use crate::web::Target;
use holdshort_command::Part;
use std::collections::BTreeSet;

/// Call as an external agent reports it. An approval is valid only for exactly this call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignCall {
    pub tool: String,
    /// Arguments of the call as a JSON object. The gates interpret only the members `command`, `path` and `url`.
    pub arguments: Value,
    /// Absolute path of the external agent's workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Absolute working directory of the command. If `None`, the command runs in the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Content, before the call, of the file that the call changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Digests of the trial in which the server ran the call. Only the server sets this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialDigests>,
}

/// Data that the gates need to vote on a call of an external agent.
#[derive(Clone, Debug)]
pub(crate) struct ForeignInputs<'a> {
    /// Rules of the system policy, which apply to all runs.
    pub(crate) rules: &'a [Rule],
    /// Grants that apply to the call. `None` if several people must decide on the call. If several people must decide,
    /// a grant of one person does not suffice.
    pub(crate) grants: Option<Vec<&'a Grant>>,
    /// Refusals of the session that are not revoked.
    pub(crate) refusals: Vec<&'a Refusal>,
    pub(crate) evidence: Evidence<'a>,
}

/// Result of the gates' vote on a call of an external agent, together with the risk of the call.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated {
    pub verdict: Verdict,
    pub category: Category,
    pub level: Level,
    /// Risks of the call that were found independently of the verdict.
    pub stakes: Vec<Reason>,
    /// Grant that a person would give by approving the call for the session. `None` if no grant is offered.
    pub grant: Option<Matcher>,
}

impl Gated {
    /// Returns the reasons for the verdict and for the risk, which the card of the call shows.
    pub fn reasons(&self) -> Vec<Reason> {
        let of_gate = match &self.verdict {
            Verdict::Forbid(reason) => vec![reason.clone()],
            Verdict::Ask { reasons, .. } => reasons.clone(),
            Verdict::Allow(_) => Vec::new(),
        };
        [of_gate, self.stakes.clone()].concat()
    }
}

/// Names of the arguments that the gates interpret.
const READ: [&str; 3] = ["command", "path", "url"];

/// Names of arguments that do not change the effect of a command. Every other argument may change the effect of the
/// command in the same call.
const BESIDE_COMMAND: [&str; 6] =
    ["description", "explanation", "timeout", "timeout_ms", "timeout_s", "timeout_seconds"];

/// Words in names of arguments, such as `filePath` or `target_file`. An argument with such a name is probably a
/// command, a path or a URL. The gates do not interpret the argument, because its name is not exactly `command`, `path`
/// or `url`.
const UNREAD: [&str; 31] = [
    "arg",
    "argv",
    "bash",
    "cmd",
    "cmdline",
    "code",
    "command",
    "dest",
    "destination",
    "dir",
    "directory",
    "endpoint",
    "exec",
    "executable",
    "execute",
    "file",
    "folder",
    "href",
    "link",
    "path",
    "pathname",
    "program",
    "script",
    "shell",
    "source",
    "src",
    "target",
    "uri",
    "url",
    "website",
    "workdir",
];

/// Prefixes and suffixes of argument names without word boundaries, such as `filename` or `absolutepath`. An argument
/// with such a name is probably a command, a path or a URL.
const GLUED: [&str; 7] = ["cmd", "command", "file", "path", "script", "shell", "url"];

/// Argument names that begin or end with an entry of [`GLUED`] only by chance.
const NO_NAMES: [&str; 2] = ["profile", "transcript"];

/// Names of arguments whose values are prose. Rules are not applied to prose, because prose is not a path, a command or
/// an address.
const PROSE: [&str; 15] = [
    "body",
    "comment",
    "content",
    "contents",
    "description",
    "explanation",
    "message",
    "new_str",
    "new_string",
    "note",
    "old_str",
    "old_string",
    "reason",
    "subject",
    "title",
];

/// Maximum number of texts in one call to which rules are applied.
const MAX_TEXTS: usize = 64;

impl ForeignCall {
    /// Returns the problems of a call that is malformed, for example if its workspace is not an absolute path. JSON
    /// pointers begin with `at`.
    pub fn problems(&self, at: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !is_name(&self.tool, limits::NAME_BYTES) {
            let message = format!(
                "is empty, longer than {} bytes, or contains invisible characters",
                limits::NAME_BYTES
            );
            problems.push(Problem::new(format!("{at}/tool"), message));
        }
        if !self.arguments.is_object() {
            problems.push(Problem::new(format!("{at}/arguments"), "is not an object"));
        }
        for (field, folder) in [("workspace", &self.workspace), ("cwd", &self.cwd)] {
            let Some(folder) = folder else { continue };
            // If the root folder were the workspace, rules and grants for the workspace would cover the whole machine.
            let is_root = field == "workspace" && folder == "/";
            if is_root || !folder.starts_with('/') || holdshort_command::normal(folder) != *folder {
                let message = "must be an absolute path that has no `.` or `..` and does not end with `/`";
                problems.push(Problem::new(format!("{at}/{field}"), message));
            }
        }
        if self.before.is_some() && self.after.is_none() {
            let message = "is missing: give the future content of the file, or an empty text if it is \
                           deleted";
            problems.push(Problem::new(format!("{at}/after"), message));
        }
        problems
    }

    /// Returns a copy of the call with other arguments. Drops `before`, `after` and the trial, because they show the
    /// effect of the old arguments.
    #[must_use]
    pub fn edited(&self, arguments: Value) -> Self {
        Self { arguments, before: None, after: None, trial: None, ..self.clone() }
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

    /// Returns a one-line description of the call.
    pub fn title(&self) -> String {
        let what = READ.iter().find_map(|name| self.argument(name));
        what.map_or_else(|| self.tool.clone(), |what| format!("{}: {what}", self.tool))
    }

    /// Returns the reason why a call with these arguments cannot run in a trial. The reason is the end of a sentence
    /// such as "not tried: …".
    pub fn why_untriable(&self) -> Option<&'static str> {
        let Some(line) = self.command() else { return Some("it is not a command") };
        if self.is_unread() {
            return Some("it has arguments that a trial does not know");
        }
        holdshort_command::parse(line).why_untriable()
    }

    /// Returns the absolute paths that the command line may name. Takes every word as a path, because for most programs
    /// the parser does not know which arguments are files. `None` if the call has no command, if there are too many
    /// paths, or if the folder to which the paths are relative is unknown.
    pub fn named_paths(&self) -> Option<Vec<String>> {
        let cwd = self.cwd.as_deref().or(self.workspace.as_deref())?;
        let paths = holdshort_command::parse(self.command()?).paths()?;
        Some(paths.into_iter().map(|path| full(&path, cwd)).collect())
    }

    /// Returns true if the gates do not interpret one of the arguments, but a rule may be about this argument. Also
    /// returns true if the call has more than one of `command`, `path` and `url`, or has a command and the content of a
    /// file, because a rule examines only one of them.
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

    /// Returns the texts of the arguments that the gates do not interpret, at any depth. Leaves out prose.
    fn unread_texts(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        for (name, value) in self.arguments.as_object().into_iter().flatten() {
            if !READ.contains(&name.as_str()) {
                collect_texts(name, value, &mut texts);
            }
        }
        texts
    }

    /// Returns true if a rule that asks or forbids would match a text that the gates do not interpret. Also returns
    /// true if there are too many such texts to compare. Compares each text as a path, as a command and as an address.
    fn may_be_held_back(&self, agent: &str, rules: &[Rule]) -> bool {
        let speaks = |rule: &&Rule| {
            let names_some = !rule.paths.is_empty() || !rule.commands.is_empty() || !rule.urls.is_empty();
            rule.action != RuleAction::Allow && names_some
        };
        let rules: Vec<&Rule> = rules.iter().filter(speaks).collect();
        if rules.is_empty() {
            return false;
        }
        let none =
            Subject { path: None, url: None, command: None, ..self.subject(agent, &[], Evidence::default()) };
        let is_held = |subject: &Subject<'_>| {
            let command = subject.command.map(holdshort_command::parse);
            rules.iter().any(|rule| rule::matches(rule, subject, command.as_ref()))
        };
        let texts = self.unread_texts();
        texts.len() > MAX_TEXTS
            || texts.into_iter().any(|text| {
                let is_address = text.contains("://");
                let address = if is_address { text.to_owned() } else { format!("https://{text}") };
                // A host name without a scheme is also an address.
                let may_be_an_address = is_address || Target::parse(&address).is_ok();
                is_held(&Subject { path: Some(text), ..none })
                    || is_held(&Subject { command: Some(text), ..none })
                    || (may_be_an_address && is_held(&Subject { url: Some(&address), ..none }))
            })
    }

    /// Returns true if the arguments of the call name nothing outside the workspace. No sandbox confines the external
    /// agent, so grants allow nothing outside the workspace.
    fn stays_in_workspace(&self) -> bool {
        let Some(workspace) = self.workspace.as_deref() else { return false };
        let cwd = self.cwd.as_deref().unwrap_or(workspace);
        let is_inside = |folder: &str, path: &str| {
            path == "/dev/null" || (!path.starts_with('~') && plain(&full(path, folder), workspace).is_some())
        };
        let Some(line) = self.command() else {
            let mut texts = self.unread_texts();
            texts.extend(self.argument("path"));
            return texts.iter().all(|text| is_inside(workspace, text) && is_inside(cwd, text));
        };
        let command = holdshort_command::parse(line);
        let names_inside = |part: &Part, text: &str, expands: bool| {
            ways(text, expands).is_some_and(|ways| {
                ways.iter().flat_map(|text| part.located(text)).all(|path| is_inside(cwd, &path))
            })
        };
        !command.names_home
            && command.parts.iter().chain(&command.guesses).all(|part| {
                !part.folders.is_empty()
                    && part.folders.iter().all(|folder| is_inside(cwd, folder))
                    && part.texts().all(|(text, expands)| names_inside(part, text, expands))
            })
    }

    /// Returns true if the call's paths cannot be compared with the `paths` of a rule, because the folder to which the
    /// paths are relative is unknown.
    fn is_nowhere(&self, rules: &[Rule]) -> bool {
        let names_places = self.command().is_some() || self.argument("path").is_some();
        self.workspace.is_none() && names_places && rules.iter().any(|rule| !rule.paths.is_empty())
    }

    fn subject<'a>(
        &'a self,
        agent: &'a str,
        ask_because: &'a [String],
        evidence: Evidence<'a>,
    ) -> Subject<'a> {
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
            changes: match evidence.trial {
                Some(trial) => {
                    Changes::Tried { changes: &trial.changeset, layer: &changeset::EMPTY, ask_because }
                }
                None if category == Category::ReadOnly => Changes::Nothing,
                None => Changes::Untried,
            },
            untried: evidence.untried,
            elsewhere: true,
        }
    }

    /// Returns the call in the form that is compared with refused calls.
    pub fn to_refuse(&self, agent: &str) -> RefusalRecord {
        RefusalRecord::for_call(&self.subject(agent, &[], Evidence::default()), &self.arguments)
    }

    /// Returns the verdict of the rules, the command parser, the earlier refusals and the grants on the call, with the
    /// risk of the call.
    pub(crate) fn vote(&self, agent: &str, votes: &ForeignInputs<'_>) -> Gated {
        let is_unread =
            self.is_unread() || self.is_nowhere(votes.rules) || self.may_be_held_back(agent, votes.rules);
        let evidence = votes.evidence;
        let unread = is_unread.then(|| "unread_arguments".to_owned());
        let found = evidence.trial.map(|trial| trial.ask_because.clone()).unwrap_or_default();
        let ask_because: Vec<String> = unread.into_iter().chain(found).collect();
        let subject = self.subject(agent, &ask_because, evidence);
        let stakes = match evidence.trial {
            Some(trial) => stakes::of_deletions(&trial.changeset),
            None => self.command().map(stakes::find_risks).unwrap_or_default(),
        };
        let runs_files =
            self.command().is_some_and(|line| !holdshort_command::parse(line).scripts().is_empty());
        let grants =
            votes.grants.as_deref().filter(|_| stakes.is_empty() && !runs_files && self.stays_in_workspace());
        let none = BTreeSet::new();
        let refusals = votes.refusals.iter().copied();
        let rules = VoteInputs {
            system: votes.rules,
            run: &[],
            workflow: &[],
            checkpoints: Checkpoints { at: &none, deploy: &[] },
            smart: &[],
            grants,
            covers: GrantCovers::Call,
            refused: &RefusedBefore::compare(
                refusals,
                &self.subject(agent, &[], Evidence::default()),
                &self.arguments,
            ),
        };
        let verdict = vote(&subject, rules);
        let grant = match &verdict {
            Verdict::Ask { grantable: true, .. } if grants.is_some() => {
                Matcher::for_coverage(&subject, GrantCovers::Call)
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
            _ if evidence.trial.is_some_and(|trial| trial.changeset.is_empty()) => Level::Low,
            Category::FileWrite | Category::Bash | Category::CodeExec => Level::Medium,
            Category::Install | Category::Web => Level::High,
        };
        Gated { verdict, category: subject.category, level, stakes, grant }
    }
}

fn names_unread(name: &str) -> bool {
    split_words(name).iter().any(|word| {
        let one = word.strip_suffix('s').unwrap_or(word);
        let is_glued = || GLUED.iter().any(|part| one.starts_with(part) || one.ends_with(part));
        UNREAD.contains(&one) || (!NO_NAMES.contains(&one) && is_glued())
    })
}

/// Splits a name into lower-case words. `TargetFile`, `target-file` and `URLPath` each have two words.
fn split_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let follows = |is: fn(&char) -> bool| letters.get(at + 1).is_some_and(is);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| before.is_lowercase() || follows(|next| next.is_lowercase()));
        if begins || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphabetic()) {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// Returns true if the value contains an object field, at any depth, whose name suggests a command, a path or a URL.
fn holds_unread(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| names_unread(name) || holds_unread(value)),
        Value::Array(items) => items.iter().any(holds_unread),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn collect_texts<'a>(name: &str, value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if !PROSE.contains(&name) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(name, item, texts)),
        Value::Object(fields) => fields.iter().for_each(|(name, item)| collect_texts(name, item, texts)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
