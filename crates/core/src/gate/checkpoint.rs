//! Mandatory checkpoints: which calls each covers, over tools and parsed arguments. Deterministic, on the call
//! itself; no rule and no grant lifts them (contracts A3, A5).
//!
//! | checkpoint | covers |
//! |---|---|
//! | `after_planning` | plans: of a phase, and of the tool `create_plan` |
//! | `before_file_edit` | tools that write files; every command that is not known to be read-only |
//! | `before_execution` | every command |
//! | `before_deploy` | a tool with one of the workflow's words in its name; a command with one of them as a word, or that one of its patterns covers; every command that can not be understood for certain |

use std::collections::BTreeSet;

use super::command::{Command, Part};
use super::{Reason, Source, Subject};
use crate::definition::Checkpoint;
use crate::tool::Category;

/// What deploying is called where a workflow says nothing else.
pub const DEPLOY: [&str; 8] =
    ["push", "publish", "deploy", "apply", "release", "upload", "rollout", "promote"];

/// The checkpoints that a workflow names.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoints<'a> {
    pub at: &'a BTreeSet<Checkpoint>,
    /// Words and command patterns; empty: [`DEPLOY`].
    pub deploy: &'a [String],
}

impl Checkpoints<'_> {
    /// Why a person must speak before this call.
    pub(super) fn reasons(self, subject: &Subject<'_>, command: Option<&Command>) -> Vec<Reason> {
        let covered = |checkpoint: &&Checkpoint| self.covers(**checkpoint, subject, command);
        self.at.iter().filter(covered).map(|checkpoint| reason(*checkpoint)).collect()
    }

    fn covers(self, checkpoint: Checkpoint, subject: &Subject<'_>, command: Option<&Command>) -> bool {
        match checkpoint {
            Checkpoint::AfterPlanning => false,
            Checkpoint::BeforeFileEdit => match command {
                Some(_) => subject.category != Category::ReadOnly,
                None => subject.category == Category::FileWrite,
            },
            Checkpoint::BeforeExecution => {
                command.is_some() || matches!(subject.category, Category::Bash | Category::CodeExec)
            }
            Checkpoint::BeforeDeploy => self.deploys(subject, command),
        }
    }

    fn deploys(self, subject: &Subject<'_>, command: Option<&Command>) -> bool {
        let usual = DEPLOY.map(str::to_owned);
        let named = if self.deploy.is_empty() { &usual[..] } else { self.deploy };
        let in_tool = |word: &String| subject.tool.split(['_', '-', '.']).any(|part| part == word);
        let in_part = |part: &Part| named.iter().any(|word| says(part, word));
        match command {
            Some(command) if command.opaque.is_some() => true,
            Some(command) => command.parts.iter().chain(&command.guesses).any(in_part),
            None => named.iter().any(in_tool),
        }
    }
}

/// A word stands for itself anywhere in the command, also as `kubectl-apply`, `make:release` or in a script that is
/// an argument; a pattern is matched as rules are.
fn says(part: &Part, word: &str) -> bool {
    if word.contains([' ', '*']) {
        return part.matches(word);
    }
    let is_it =
        |said: &str| said.split(|c: char| !c.is_alphanumeric()).any(|piece| piece.eq_ignore_ascii_case(word));
    is_it(&part.program) || part.arguments.iter().any(|argument| is_it(argument))
}

pub(crate) fn reason(checkpoint: Checkpoint) -> Reason {
    let text = match checkpoint {
        Checkpoint::AfterPlanning => "a person decides on every plan",
        Checkpoint::BeforeFileEdit => "a person decides before files are changed",
        Checkpoint::BeforeExecution => "a person decides before anything is executed",
        Checkpoint::BeforeDeploy => "a person decides before anything is deployed",
    };
    let (code, text) = (checkpoint.as_str().to_owned(), text.to_owned());
    Reason { source: Source::Checkpoint, code, rule: None, text }
}
