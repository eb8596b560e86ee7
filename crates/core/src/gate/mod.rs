//! Vote of the gates on a call: allow, ask or forbid.
//!
//! The gates are implemented in this code, never in a prompt. All sources vote, and the most severe vote wins: forbid >
//! mandatory ask > refused before (ask) > escalation ask > grant allow > rule > default (ask). The gates fail closed:
//! if they cannot interpret a call, a person is asked. This file defines the call. Read `verdict.rs` and `vote.rs`
//! next.

mod changes;
pub(crate) mod checkpoint;
pub mod foreign;
pub mod foreign_trial;
mod grant;
pub mod refusal;
mod rule;
pub mod smart;
pub(crate) mod stakes;
mod verdict;
mod vote;
mod withheld;

pub(crate) use changes::within as changes_within;
pub use checkpoint::{Checkpoints, DEPLOY};
pub use grant::{Grant, Matcher, Program};
pub use refusal::{Refusal, RefusalRecord, RefusedBefore, RefusedCall};
pub use verdict::{Reason, Release, Source, Verdict};
pub(crate) use vote::reaches_guarded;
pub use vote::{VoteInputs, vote};
pub use withheld::WithheldPaths;

use crate::changeset::{self, Changeset};
use crate::tool::{Category, Precondition, ResolvedPath};

/// Call in the form that the gates evaluate: the full name of the tool, and parsed arguments.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub agent: &'a str,
    pub tool: &'a str,
    pub category: Category,
    /// Argument `path` of a file tool.
    pub path: Option<&'a str>,
    /// Argument `url` of a web tool.
    pub url: Option<&'a str>,
    /// Argument `command` of `run_command`.
    pub command: Option<&'a str>,
    pub workspace: &'a str,
    /// Working directory of a command. Empty if the call was not inspected.
    pub cwd: &'a str,
    /// Codes of findings of the inspection. Each finding makes the gates ask a person, even if a rule or a grant allows
    /// the call.
    pub ask_because: &'a [String],
    /// Paths of the call that lead through a link. The link's target is at a different place than the name of the path.
    pub places: &'a [ResolvedPath],
    /// Inspected state of the files that the call would execute or change.
    pub preconditions: &'a [Precondition],
    /// Changes that the call makes to the workspace.
    pub changes: Changes<'a>,
    /// Reason why a command had no trial although its workflow requires a trial. A person then decides on the call,
    /// even if a rule or a grant allows it.
    pub untried: Option<&'a str>,
    /// True if an external agent makes the call. Calls of external agents are not inspected, and grants for calls of
    /// Holdshort's own agents do not cover them.
    pub elsewhere: bool,
}

/// Changes that a call makes to the workspace, as far as Holdshort knows them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Changes<'a> {
    /// The changes are unknown, because the call had no trial and its tool proposes no changeset. Rules can then use
    /// only the arguments of the call.
    ///
    /// In journals of versions in which file tools did not propose changesets, this variant also applies to file tools.
    #[default]
    Untried,
    /// The call certainly only reads.
    Nothing,
    /// Changeset that a file tool proposes. The paths of the changeset contain no links, because all links are
    /// resolved.
    Proposed(&'a Changeset),
    /// Changes that a trial made, in the workspace and in the run's layer. `ask_because` contains the codes of findings
    /// about these changes. Each finding makes the gates ask a person.
    Tried { changes: &'a Changeset, layer: &'a Changeset, ask_because: &'a [String] },
    /// The changes were erased from the journal.
    Erased,
}

impl<'a> Changes<'a> {
    /// Returns true if a trial made no changes to the workspace.
    fn leave_nothing(self) -> bool {
        matches!(self, Self::Tried { changes, .. } if changes.is_empty())
    }

    /// Returns the changes that a trial made to the run's layer.
    fn in_layer(self) -> &'a Changeset {
        match self {
            Self::Tried { layer, .. } => layer,
            Self::Untried | Self::Nothing | Self::Proposed(_) | Self::Erased => &changeset::EMPTY,
        }
    }

    /// Returns the changes that the call makes to the workspace. `None` if they are unknown.
    fn changeset(self) -> Option<&'a Changeset> {
        match self {
            Self::Nothing => Some(&changeset::EMPTY),
            Self::Proposed(changes) | Self::Tried { changes, .. } => Some(changes),
            Self::Untried | Self::Erased => None,
        }
    }
}
