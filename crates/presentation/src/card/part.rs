//! The parts of a card, such as a command, a change or an agent's text.

use std::borrow::Cow;

use holdshort_protocol::{Diff, OUTSIDE};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Section of a card. Commands, paths, names, JSON and notes in it are already escaped with `plain`. Prose, changed
/// lines, scripts and output are not escaped yet.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CardPart)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part<'a> {
    Command {
        text: Cow<'a, str>,
    },
    /// Changes that a command made in its trial, before the decision.
    Trial {
        head: &'static str,
        words: String,
        /// Changes to the Git repository, with one line of text for each.
        git: Vec<Cow<'a, str>>,
        changes: Vec<TriedChange<'a>>,
        /// Sentence that counts the changes which the card does not list.
        unseen: Option<String>,
        /// Paths that an undo leaves unchanged, with the reasons.
        left: Vec<String>,
        output: &'a str,
    },
    /// Script file that the command runs.
    Script {
        path: Cow<'a, str>,
        text: &'a str,
        truncated: bool,
    },
    Diff {
        path: Cow<'a, str>,
        is_new: bool,
        /// True if the task mentions paths, but not this one.
        is_outside: bool,
        /// True if an external agent sent the change. Holdshort has then not compared the change with the file.
        is_quoted: bool,
        #[schema(value_type = Object)]
        diff: Diff,
        /// Sentence that counts the changed lines which the card does not show.
        unseen: Option<String>,
    },
    Plan {
        subtasks: Vec<Subtask<'a>>,
    },
    /// Proposals, of which a person chooses one.
    Proposals {
        proposals: Vec<Proposal<'a>>,
    },
    /// Text of an agent, with a label.
    Quote {
        label: &'static str,
        text: Cow<'a, str>,
        /// True if exactly this text is passed on after the decision. Every user interface must then show it
        /// completely.
        is_exact: bool,
    },
    /// Other data of the payload, usually as JSON.
    Data {
        label: &'static str,
        text: String,
        /// True if an external agent wrote the data beside its call, or without a call.
        is_quoted: bool,
        /// The data itself. Null if `text` is a list.
        #[schema(value_type = Value)]
        value: Value,
    },
    /// Note by Holdshort about what happens after a decision.
    Note {
        text: Cow<'a, str>,
    },
}

/// Change of one path that a command made in its trial.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CardTriedChange)]
pub struct TriedChange<'a> {
    pub path: Cow<'a, str>,
    pub words: String,
    pub is_deletion: bool,
    /// True if the task mentions paths, but not this one.
    pub is_outside: bool,
    #[schema(value_type = Option<Object>)]
    pub diff: Option<Diff>,
    /// Sentence that counts the lines of the diff which are not shown.
    pub unseen: Option<String>,
}

/// Subtask of a plan that a person decides on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CardSubtask)]
pub struct Subtask<'a> {
    pub id: Cow<'a, str>,
    pub description: &'a str,
    pub agent: Cow<'a, str>,
    pub after: Vec<Cow<'a, str>>,
    /// Estimated duration of the subtask, or an empty text.
    pub time: Cow<'a, str>,
}

/// Proposal of an agent, with arguments for and against it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CardProposal)]
pub struct Proposal<'a> {
    /// Title in one line, in which invisible characters are already escaped with `plain`.
    pub title: Cow<'a, str>,
    pub description: &'a str,
    pub pros: Vec<&'a str>,
    pub cons: Vec<&'a str>,
}

impl<'a> Part<'a> {
    pub(super) fn quote(label: &'static str, text: impl Into<Cow<'a, str>>) -> Self {
        Self::Quote { label, text: text.into(), is_exact: false }
    }

    /// Returns the section as plain text, with a label.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Command { text } => format!("Command:\n{text}"),
            Self::Trial { head, words, git, changes, unseen, left, output } => {
                let git = git.iter().map(ToString::to_string);
                let listed = changes.iter().map(|change| format!("{}  {}", change.path, change.words));
                let left = left.iter().map(|line| format!("Not undone: {line}"));
                let lines = git.chain(listed).chain(unseen.clone()).chain(left);
                let diffs = changes.iter().filter_map(|change| {
                    let diff = change.diff.as_ref()?;
                    Some(diff_text("Change", &change.path, change.is_outside, diff, change.unseen.as_deref()))
                });
                let output = Some(output).filter(|output| !output.trim().is_empty());
                let output = output.map(|output| format!("Output of the command:\n{output}"));
                let all = std::iter::once(format!("{head}: {words}")).chain(lines).chain(diffs).chain(output);
                all.collect::<Vec<_>>().join("\n")
            }
            Self::Script { path, text, .. } => format!("Runs {path}:\n{text}"),
            Self::Diff { path, is_new, is_outside, is_quoted: _, diff, unseen } => {
                let kind = if *is_new { "New file" } else { "Change" };
                diff_text(kind, path, *is_outside, diff, unseen.as_deref())
            }
            Self::Plan { subtasks } => {
                let line = |subtask: &Subtask<'_>| {
                    let Subtask { id, description, agent, after, time } = subtask;
                    let time = if time.is_empty() { String::new() } else { format!(" [takes {time}]") };
                    format!("{id} ({agent}) {description} [after {}]{time}", after.join(", "))
                };
                format!("Plan:\n{}", subtasks.iter().map(line).collect::<Vec<_>>().join("\n"))
            }
            Self::Proposals { proposals } => {
                let line = |(number, proposal): (usize, &Proposal<'_>)| {
                    let Proposal { title, description, pros, cons } = proposal;
                    let pros = pros.iter().map(|text| format!("+ {text}"));
                    let cons = cons.iter().map(|text| format!("- {text}"));
                    let head = [format!("{number}. {title}"), (*description).to_owned()];
                    let lines = head.into_iter().chain(pros).chain(cons);
                    lines.collect::<Vec<_>>().join("\n")
                };
                format!("Proposals:\n{}", (1..).zip(proposals).map(line).collect::<Vec<_>>().join("\n\n"))
            }
            Self::Quote { label, text, .. } => format!("{label}:\n{text}"),
            Self::Data { label, text, .. } => format!("{label}:\n{text}"),
            Self::Note { text } => format!("Note: {text}"),
        }
    }

    /// Returns true if a script, a diff or a changed file of a trial is not shown completely.
    pub(super) fn is_cut(&self) -> bool {
        match self {
            Self::Script { truncated, .. } => *truncated,
            Self::Diff { unseen, .. } => unseen.is_some(),
            Self::Trial { changes, .. } => changes.iter().any(|change| change.unseen.is_some()),
            Self::Command { .. }
            | Self::Plan { .. }
            | Self::Proposals { .. }
            | Self::Quote { .. }
            | Self::Data { .. }
            | Self::Note { .. } => false,
        }
    }
}

fn diff_text(kind: &str, path: &str, is_outside: bool, diff: &Diff, unseen: Option<&str>) -> String {
    let outside = if is_outside { format!(", {OUTSIDE}") } else { String::new() };
    let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    let lines = lines.map(|line| format!("{} {}", line.op, line.text));
    let head = std::iter::once(format!("{kind} {path}{outside}:"));
    head.chain(lines).chain(unseen.map(str::to_owned)).collect::<Vec<_>>().join("\n")
}
