//! Calls that people refused, and the comparison of later calls with them.
//!
//! Two calls are equal if they have the same effect. A command line is compared by its programs, and by the paths and
//! hosts that they name. A call of a file tool is compared by its path, and a web page by its address. Any other call
//! is compared only by its tool, as a grant does. In case of doubt a person is asked. An unnecessary question is better
//! than executing a call that a person refused.

mod paths;
mod program;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::paths::{PathDigest, name_or_digest};
use self::program::{NamedProgram, RefusedProgram};
use super::{Matcher, Reason, Source, Subject};
use crate::digest::Digest;
use crate::id::{InterruptId, RunId};
use crate::json::is_default;
use crate::limits;
use crate::time::Timestamp;
use crate::tool::Category;
use crate::web::Target;

/// Reason code on the card of a call that a person has refused before.
pub const CODE: &str = "refused_before";

/// Maximum number of earlier refusals that one card lists.
pub(crate) const NAMED: usize = 3;

/// Call in the form that is compared with refusals. A refused call is stored in the head of an event. Because heads can
/// never be erased, this type contains digests instead of paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedCall {
    pub tool: String,
    /// True if the refused call only reads.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reads: bool,
    pub identity: Identity,
    /// SHA-256 of the refused call's arguments, exactly as the agent wrote them.
    pub arguments: Digest,
}

/// Property by which two calls are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Identity {
    /// The calls are compared by the programs of their command lines. Programs that only read are left out if the
    /// command line has other programs.
    Programs(BTreeSet<RefusedProgram>),
    /// The refusal matches every command line of any tool. The variant is used for a refused command line with too many
    /// programs.
    AnyCommand,
    /// The calls are compared by the file that a file tool reads or changes.
    Path(PathDigest),
    /// The calls are compared by the address of a page, without its query.
    Page(PathDigest),
    /// Only the tool is compared, so the refusal matches every call of the same tool.
    Tool,
}

/// Refusal of a call by a person, as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub interrupt: InterruptId,
    pub run: RunId,
    pub call: RefusedCall,
    /// One-line description of the refused call. `None` if the journal does not contain the description.
    pub words: Option<String>,
    /// Person who refused the call.
    pub by: String,
    pub at: Timestamp,
    /// Sequence number of the event that records the refusal, in the stream of the session.
    pub seq: u64,
    pub revoked_at: Option<Timestamp>,
}

/// Refused call, with a one-line description.
pub struct RefusalRecord {
    pub call: RefusedCall,
    pub words: String,
}

/// Relation of a later call to a refused call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The later call is the refused call, possibly spelled differently.
    Same,
    /// The later call includes the refused call, or is a part of it.
    Related,
}

/// Result of comparing a call with all refusals of its session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusedBefore {
    /// One reason for each earlier refusal that matches the call, the latest first. Only the latest `NAMED` refusals
    /// are included.
    pub reasons: Vec<Reason>,
    /// True if all matching refusals are about exactly this call. If a person then allows the call for the session,
    /// these refusals are revoked.
    pub is_same: bool,
}

impl RefusedCall {
    /// Returns the call in the form that is compared with refusals.
    pub fn for_call(subject: &Subject<'_>, arguments: &Value) -> Self {
        let identity = match (subject.command, subject.path, subject.url) {
            (Some(line), _, _) => {
                let programs = program::all(&holdshort_command::parse(line), subject);
                Identity::Programs(programs.iter().map(NamedProgram::digested).collect())
            }
            (None, Some(path), _) => {
                Identity::Path(PathDigest::from_path(&program::full_path(path, subject)))
            }
            (None, None, Some(url)) => Identity::Page(PathDigest::from_path(&address(url))),
            (None, None, None) => Identity::Tool,
        };
        Self::with_identity(subject, arguments, identity)
    }

    fn with_identity(subject: &Subject<'_>, arguments: &Value, identity: Identity) -> Self {
        Self {
            tool: subject.tool.to_owned(),
            reads: subject.category == Category::ReadOnly,
            identity,
            arguments: Digest::of_json(arguments),
        }
    }

    /// Compares a later call with this refused call. `None` if the two calls have nothing in common.
    pub fn repeated_by(&self, later: &Self) -> Option<Repeat> {
        // If a person refused a change of a file, reading the file is still permitted.
        let changes_less = later.reads && !self.reads;
        match (&self.identity, &later.identity) {
            (Identity::Programs(refused), Identity::Programs(called)) => {
                if self.arguments == later.arguments || refused == called {
                    return Some(Repeat::Same);
                }
                let meets = refused.iter().any(|one| called.iter().any(|other| one.meets(other)));
                meets.then_some(Repeat::Related)
            }
            (Identity::AnyCommand, Identity::Programs(_) | Identity::AnyCommand) => {
                let is_same = self.tool == later.tool && self.arguments == later.arguments;
                Some(if is_same { Repeat::Same } else { Repeat::Related })
            }
            (Identity::Path(refused), Identity::Path(called)) => {
                let is_it = refused == called || *called == PathDigest::root();
                let is_other_read = later.reads && self.tool != later.tool;
                let repeat = if self.tool == later.tool { Repeat::Same } else { Repeat::Related };
                (is_it && !changes_less && !is_other_read).then_some(repeat)
            }
            (Identity::Page(refused), Identity::Page(called)) => {
                (refused == called && self.tool == later.tool).then_some(Repeat::Same)
            }
            (Identity::Tool, _) | (_, Identity::Tool) if self.tool == later.tool => {
                let is_same = self.arguments == later.arguments;
                Some(if is_same { Repeat::Same } else { Repeat::Related })
            }
            (
                Identity::Programs(_),
                Identity::AnyCommand | Identity::Path(_) | Identity::Page(_) | Identity::Tool,
            )
            | (Identity::AnyCommand, Identity::Path(_) | Identity::Page(_) | Identity::Tool)
            | (
                Identity::Path(_),
                Identity::Programs(_) | Identity::AnyCommand | Identity::Page(_) | Identity::Tool,
            )
            | (
                Identity::Page(_),
                Identity::Programs(_) | Identity::AnyCommand | Identity::Path(_) | Identity::Tool,
            )
            | (
                Identity::Tool,
                Identity::Programs(_)
                | Identity::AnyCommand
                | Identity::Path(_)
                | Identity::Page(_)
                | Identity::Tool,
            ) => None,
        }
    }

    /// Returns true if a grant probably allows the call. The result can be wrong. The result is used only for a hint on
    /// a card, never for a decision.
    pub(crate) fn may_be_covered(&self, grant: &Matcher) -> bool {
        if grant.category.is_some() {
            return !self.reads;
        }
        match &self.identity {
            Identity::Programs(programs) => programs.iter().any(|refused| {
                let is_it = |granted: &super::Program| {
                    let subcommand = granted.subcommand.as_deref().map(name_or_digest);
                    name_or_digest(&granted.program) == refused.program && subcommand == refused.subcommand
                };
                grant.commands.iter().any(is_it)
            }),
            Identity::AnyCommand => !grant.commands.is_empty(),
            Identity::Path(_) | Identity::Page(_) | Identity::Tool => grant.tool == self.tool,
        }
    }
}

impl RefusalRecord {
    /// Builds the record of a refused call. Leaves out programs of a command line that only read. If all programs only
    /// read, includes all.
    pub fn for_call(subject: &Subject<'_>, arguments: &Value) -> Self {
        if let Some(line) = subject.command {
            return Self::of_command(line, subject, arguments);
        }
        let words = match (subject.path, subject.url) {
            (Some(path), _) => format!("`{}` on `{}`", subject.tool, program::full_path(path, subject)),
            (None, Some(url)) => format!("`{}` of `{}`", subject.tool, address(url)),
            (None, None) => format!("a call of `{}`", subject.tool),
        };
        Self { call: RefusedCall::for_call(subject, arguments), words }
    }

    fn of_command(line: &str, subject: &Subject<'_>, arguments: &Value) -> Self {
        let programs = program::to_refuse(&holdshort_command::parse(line), subject);
        let is_short = programs.len() <= limits::REFUSED_PROGRAMS;
        let words = if is_short && programs.iter().all(|program| !program.is_cut) {
            programs.iter().map(NamedProgram::describe).collect::<Vec<_>>().join("; ")
        } else {
            line.to_owned()
        };
        let identity = if is_short {
            Identity::Programs(programs.iter().map(NamedProgram::to_refuse).collect())
        } else {
            Identity::AnyCommand
        };
        let call = RefusedCall::with_identity(subject, arguments, identity);
        Self { call, words: format!("`{words}`") }
    }
}

impl RefusedBefore {
    /// Compares a call with the refusals in `standing`, which must not be revoked.
    pub(crate) fn compare<'r>(
        standing: impl Iterator<Item = &'r Refusal>,
        subject: &Subject<'_>,
        arguments: &Value,
    ) -> Self {
        let mut standing = standing.peekable();
        if standing.peek().is_none() {
            return Self::default();
        }
        let call = RefusedCall::for_call(subject, arguments);
        let mut met: Vec<(&Refusal, Repeat)> =
            standing.filter_map(|refusal| Some((refusal, refusal.call.repeated_by(&call)?))).collect();
        met.sort_by_key(|(refusal, _)| std::cmp::Reverse(refusal.seq));
        Self {
            is_same: !met.is_empty() && met.iter().all(|(_, repeat)| *repeat == Repeat::Same),
            reasons: met.iter().take(NAMED).map(|(refusal, repeat)| refusal.reason(*repeat)).collect(),
        }
    }
}

impl Refusal {
    /// Describes the refused call in one line. If the journal does not contain the description, names only the tool.
    pub fn describe(&self) -> String {
        self.words.clone().unwrap_or_else(|| format!("a call of `{}`", self.call.tool))
    }

    /// Returns the reason that the card of a later call shows for this refusal.
    fn reason(&self, repeat: Repeat) -> Reason {
        let what = match repeat {
            Repeat::Same => "this call".to_owned(),
            Repeat::Related => self.describe(),
        };
        let text = format!("`{}` refused {what} earlier, at {}", self.by, self.at);
        Reason { source: Source::Refusal, code: CODE.to_owned(), rule: None, text }
    }
}

fn address(url: &str) -> String {
    let read = Target::parse(url);
    let address = read.as_ref().map_or(url, Target::as_str);
    address.split(['?', '#']).next().unwrap_or_default().to_owned()
}
