//! Mandatory checkpoints: decides from the tool and the parsed arguments which checkpoints stop a call. The result
//! depends on the call alone, so equal calls always have equal results. Rules and grants never disable a mandatory
//! checkpoint (contracts A3, A5).
//!
//! | checkpoint | covers |
//! |---|---|
//! | `after_planning` | plans of a planning phase, and of the tool `create_plan` |
//! | `before_file_edit` | tools that write files or run code; commands not known to only read |
//! | `before_execution` | every command; tools that run code |
//! | `before_deploy` | tools and commands that may deploy |
//!
//! If the changes of a call are known from a trial or from its tool, `before_file_edit` stops the call only if there is
//! a change.
//!
//! `before_deploy` stops:
//!
//! - a tool whose name contains a deploy word (the workflow lists the deploy words);
//! - a command that contains a deploy word or matches a command pattern. A file pattern (such as `*.sh`) is treated as
//!   every name to which it may expand. In programs that only read or move files, file patterns are ignored;
//! - a command that the parser does not fully understand;
//! - a command that may write files which a person's own tools execute;
//! - code that is part of the command line or that is read from standard input. Exception: sed scripts that only edit
//!   text.
//!
//! If a command executes a script file, the content of the file is not examined.

use std::collections::BTreeSet;

use super::{Changes, Reason, Source, Subject, smart};
use crate::policy::Checkpoint;
use crate::tool::Category;
use holdshort_command::{Command, Part, Pattern};

/// Words by which a deployment is recognised if the workflow lists no words and patterns.
pub const DEPLOY: [&str; 9] =
    ["push", "publish", "deploy", "apply", "release", "upload", "rollout", "promote", "send-pack"];

/// Settings of a workflow for its mandatory checkpoints.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoints<'a> {
    pub at: &'a BTreeSet<Checkpoint>,
    /// Words and command patterns by which a deployment is recognised. If the list is empty, [`DEPLOY`] applies.
    pub deploy: &'a [String],
}

impl Checkpoints<'_> {
    /// Returns one reason for each checkpoint that stops the call.
    pub(super) fn reasons(self, subject: &Subject<'_>, command: Option<&Command>) -> Vec<Reason> {
        let covered = |checkpoint: &&Checkpoint| self.covers(**checkpoint, subject, command);
        self.at.iter().filter(covered).map(|checkpoint| reason(*checkpoint)).collect()
    }

    fn covers(self, checkpoint: Checkpoint, subject: &Subject<'_>, command: Option<&Command>) -> bool {
        match checkpoint {
            Checkpoint::AfterPlanning => false,
            Checkpoint::BeforeFileEdit => match command {
                Some(_) => match subject.changes {
                    Changes::Tried { changes, .. } => !changes.is_empty(),
                    Changes::Untried | Changes::Nothing | Changes::Proposed(_) | Changes::Erased => {
                        subject.category != Category::ReadOnly
                    }
                },
                // Code that the parser does not analyse may also write files.
                None => match subject.changes {
                    Changes::Proposed(changes) => !changes.is_empty(),
                    Changes::Untried | Changes::Nothing | Changes::Tried { .. } | Changes::Erased => {
                        matches!(subject.category, Category::FileWrite | Category::CodeExec)
                    }
                },
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
        let in_part = |part: &Part| is_code(part) || named.iter().any(|word| says(part, word));
        let by_name = || {
            named.iter().any(|word| {
                holdshort_command::word_matches(&word.to_lowercase(), &subject.tool.to_lowercase())
                    || contains_word(subject.tool, word)
            })
        };
        let by_command = |command: &Command| {
            (command.opaque.is_some() && !command.is_read_only())
                || command.unclear.is_some()
                || command.own_tools(subject.cwd).is_some()
                || command.parts.iter().chain(&command.guesses).any(in_part)
        };
        by_name() || command.is_some_and(by_command)
    }
}

/// Returns true if the command contains the word or pattern. A word also matches in other forms (`deployment`,
/// `deploys`), as a part of a longer name (`kubectl-apply`, `make:release`, `publishPlugins`), as an abbreviated
/// subcommand, or in an argument of a script. A pattern matches as in rules, and also if other words stand between the
/// words of the pattern.
fn says(part: &Part, word: &str) -> bool {
    if word.contains([' ', '*']) {
        return part.may_match(word) || scattered(part, word);
    }
    let abbreviated = pieces(word).len() == 1
        && part.subcommand().is_some_and(|sub| sub.len() >= 3 && word.starts_with(&sub));
    let said = std::iter::once(&part.program).chain(&part.arguments).chain(&part.files);
    abbreviated || said.into_iter().any(|said| contains_word(said, word)) || may_say(part, word)
}

/// Returns true if a file pattern may expand to a name that contains the word, and the program may execute the file of
/// this name.
fn may_say(part: &Part, word: &str) -> bool {
    let holding = Pattern::holding(word);
    let files = part.files.iter().filter(|file| Pattern::is_in(file)).map(|file| Pattern::of_shell(file));
    let mut patterns = part.arguments_and_patterns().filter_map(|(_, becomes)| becomes).chain(files);
    !part.only_handles_files() && patterns.any(|it| it.in_small_letters().meets(&holding))
}

/// Returns true if this part of a command executes code from the command line or from standard input, because such code
/// can have any effect. Returns false for a sed script that only edits.
fn is_code(part: &Part) -> bool {
    part.is_inline_code() && !part.only_edits()
}

/// Returns true if all pieces of the word occur in the text, next to each other. A piece may have another ending.
fn contains_word(said: &str, word: &str) -> bool {
    let (said, word) = (pieces(said), pieces(word));
    let is_it =
        |window: &[String]| window.iter().zip(&word).all(|(said, word)| smart::is_form_of(said, word));
    !word.is_empty() && said.windows(word.len()).any(is_it)
}

/// Splits a text into pieces: `npm:publishPlugins` becomes `npm`, `publish`, `plugins`.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut after_small = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && after_small) {
            pieces.push(String::new());
        }
        after_small = c.is_lowercase() || c.is_ascii_digit();
        if let Some(last) = pieces.last_mut().filter(|_| c.is_alphanumeric()) {
            last.extend(c.to_lowercase());
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Returns true if the words of the pattern occur in the command in the order of the pattern, possibly with other words
/// between them.
fn scattered(part: &Part, pattern: &str) -> bool {
    let runs = !part.only_handles_files();
    let mut said = std::iter::once((part.program.as_str(), None)).chain(part.arguments_and_patterns());
    pattern.split_whitespace().filter(|word| *word != "*").all(|word| {
        said.any(|(said, becomes)| {
            let may_be = |becomes: Pattern| becomes.meets(&Pattern::of_word(word));
            holdshort_command::word_matches(word, said) || (runs && becomes.is_some_and(may_be))
        })
    })
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
