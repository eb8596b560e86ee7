//! Vote of the gates on a call: allow, ask or forbid.
//!
//! Gates are implemented here, in the runtime, never in a prompt. All sources vote and the most severe wins: forbid >
//! mandatory ask > refused before (ask) > escalation ask > grant allow > rule > default (ask). The gates fail closed: a
//! call that they cannot interpret asks. This file defines the call; read `verdict.rs` and `vote.rs` next.

mod changes;
pub(crate) mod checkpoint;
pub mod foreign;
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

/// A call in the form that gates evaluate: the tool's full name and the parsed arguments.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub agent: &'a str,
    pub tool: &'a str,
    pub category: Category,
    /// `path` argument of a file tool.
    pub path: Option<&'a str>,
    /// `url` argument of a web tool.
    pub url: Option<&'a str>,
    /// `command` argument of `run_command`.
    pub command: Option<&'a str>,
    pub workspace: &'a str,
    /// Working directory of a command. Empty if it was not inspected.
    pub cwd: &'a str,
    /// Findings of the inspection that make the call ask, whatever else allows it.
    pub ask_because: &'a [String],
    /// Resolved paths of the call that lead to another place than their names suggest.
    pub places: &'a [ResolvedPath],
    /// Inspected state of the files that the call would run or change.
    pub preconditions: &'a [Precondition],
    /// Changes that the call makes.
    pub changes: Changes<'a>,
    /// Reason why a command was not tried although its workflow requires it. Then a person decides, whatever allows the
    /// call.
    pub untried: Option<&'a str>,
    /// True for a call of an external agent: it is not inspected, and grants for our own calls do not cover it.
    pub elsewhere: bool,
}

/// Changes that a call makes to the workspace, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Changes<'a> {
    /// Unknown: the call was not tried, and its tool proposes no changeset. Rules can read only the arguments.
    ///
    /// In a journal from before file tools proposed changesets, this applies to a file tool too.
    #[default]
    Untried,
    /// Known to read only.
    Nothing,
    /// Changeset that a file tool proposes. Its paths are resolved: no component is a link.
    Proposed(&'a Changeset),
    /// Changes that a trial made, in the workspace and in the run's layer. `ask_because` holds the codes of findings in
    /// them that make the call ask.
    Tried { changes: &'a Changeset, layer: &'a Changeset, ask_because: &'a [String] },
    /// Erased from the journal.
    Erased,
}

impl<'a> Changes<'a> {
    /// Returns true if a trial changed nothing in the workspace.
    fn leave_nothing(self) -> bool {
        matches!(self, Self::Tried { changes, .. } if changes.is_empty())
    }

    /// Returns the changes that a trial made in the run's layer.
    fn in_layer(self) -> &'a Changeset {
        match self {
            Self::Tried { layer, .. } => layer,
            Self::Untried | Self::Nothing | Self::Proposed(_) | Self::Erased => &changeset::EMPTY,
        }
    }

    /// Returns the changes, if they are known.
    fn changeset(self) -> Option<&'a Changeset> {
        match self {
            Self::Nothing => Some(&changeset::EMPTY),
            Self::Proposed(changes) | Self::Tried { changes, .. } => Some(changes),
            Self::Untried | Self::Erased => None,
        }
    }
}
