//! Vote of the gates on a call: allow, ask or forbid.
//!
//! Gates are implemented here, in the runtime, and never in a prompt. All sources vote, and the most severe vote
//! wins: forbid > mandatory ask > refused before (ask) > escalation ask > grant allow > rule > default (ask). The
//! gates fail closed: if they cannot interpret a call, a person is asked. This file defines the call; read
//! `verdict.rs` and `vote.rs` next.

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
    /// Codes of findings of the inspection. For each finding, a person is asked about the call even if a rule or a
    /// grant allows it.
    pub ask_because: &'a [String],
    /// Paths of the call that lead through a link to a place other than their names suggest.
    pub places: &'a [ResolvedPath],
    /// State of the files that the call would execute or change, as inspected.
    pub preconditions: &'a [Precondition],
    /// Changes that the call makes to the workspace.
    pub changes: Changes<'a>,
    /// Reason why a command had no trial although its workflow requires a trial. A person then decides, even if a
    /// rule or a grant allows the call.
    pub untried: Option<&'a str>,
    /// True for a call of an external agent. A call of an external agent is not inspected, and grants for our own
    /// agents' calls do not cover it.
    pub elsewhere: bool,
}

/// Changes that a call makes to the workspace, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Changes<'a> {
    /// The changes are unknown, because the call had no trial and its tool proposes no changeset. Rules can use
    /// only the arguments.
    ///
    /// In journals that were written before file tools proposed changesets, this variant also applies to file
    /// tools.
    #[default]
    Untried,
    /// The call is known to only read.
    Nothing,
    /// Changeset that a file tool proposes. All links in the paths of the changeset are resolved.
    Proposed(&'a Changeset),
    /// Changes that a trial made, in the workspace and in the layer of the run. `ask_because` contains the codes of
    /// findings about these changes. For each finding, a person is asked about the call.
    Tried { changes: &'a Changeset, layer: &'a Changeset, ask_because: &'a [String] },
    /// The changes were erased from the journal.
    Erased,
}

impl<'a> Changes<'a> {
    /// Returns true if a trial made no changes to the workspace.
    fn leave_nothing(self) -> bool {
        matches!(self, Self::Tried { changes, .. } if changes.is_empty())
    }

    /// Returns the changes that a trial made in the layer of the run.
    fn in_layer(self) -> &'a Changeset {
        match self {
            Self::Tried { layer, .. } => layer,
            Self::Untried | Self::Nothing | Self::Proposed(_) | Self::Erased => &changeset::EMPTY,
        }
    }

    /// Returns the changes of the workspace. Returns `None` if they are unknown.
    fn changeset(self) -> Option<&'a Changeset> {
        match self {
            Self::Nothing => Some(&changeset::EMPTY),
            Self::Proposed(changes) | Self::Tried { changes, .. } => Some(changes),
            Self::Untried | Self::Erased => None,
        }
    }
}
