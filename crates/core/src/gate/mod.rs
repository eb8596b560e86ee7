//! Vote of the gates on a call: allow, ask or forbid.
//!
//! The gates are code. The gates never rely on a prompt. All sources vote, and the first vote in this order decides:
//! forbid > mandatory ask > refused before (ask) > grant allow > rule that asks > rule that allows > default (ask). The
//! gates fail closed: a person is asked about every call that the gates cannot interpret. This file defines the call.
//! Read `verdict.rs` and `vote.rs` next.

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

/// Call as the gates see it: the full name of the tool, and parsed arguments.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub agent: &'a str,
    pub tool: &'a str,
    pub category: Category,
    /// Argument `path` of a file tool.
    pub path: Option<&'a str>,
    /// Argument `url` of a web tool.
    pub url: Option<&'a str>,
    /// Argument `command` of the call: a command line.
    pub command: Option<&'a str>,
    pub workspace: &'a str,
    /// Working directory of a command. Empty if the call was not inspected.
    pub cwd: &'a str,
    /// Codes of the risks that the inspection found. For each of these risks, the gates ask a person, even if a rule or
    /// a grant allows the call.
    pub ask_because: &'a [String],
    /// Paths of the call that contain a link, with the paths to which the links lead.
    pub places: &'a [ResolvedPath],
    /// State of the files that the call would execute or change, as the inspection found it.
    pub preconditions: &'a [Precondition],
    /// Changes that the call makes to the workspace.
    pub changes: Changes<'a>,
    /// Reason why a command had no trial although its workflow or its external agent requires a trial. A person then
    /// decides on the call, even if a rule or a grant allows the call.
    pub untried: Option<&'a str>,
    /// True if an external agent makes the call. Calls of external agents are not inspected, and grants for Holdshort's
    /// own agents do not apply to them.
    pub elsewhere: bool,
}

/// Changes that a call makes to the workspace, if Holdshort knows them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Changes<'a> {
    /// The changes are unknown, because the call had no trial and its tool proposes no changeset. Rules then examine
    /// only the arguments of the call.
    ///
    /// In old journals, this variant also occurs for file tools, because they did not propose changesets then.
    #[default]
    Untried,
    /// The call certainly only reads.
    Nothing,
    /// The changes are known, because a file tool proposed them as a changeset. All links in its paths are resolved.
    Proposed(&'a Changeset),
    /// The changes are known, because a trial made them. `changes` lists changes to the workspace. `layer` lists
    /// changes to ignored files, which only this run sees. For each risk code in `ask_because`, the gates ask a person.
    Tried { changes: &'a Changeset, layer: &'a Changeset, ask_because: &'a [String] },
    /// The changes were erased from the journal.
    Erased,
}

impl<'a> Changes<'a> {
    /// Returns true if a trial ran and changed nothing in the workspace.
    fn leave_nothing(self) -> bool {
        matches!(self, Self::Tried { changes, .. } if changes.is_empty())
    }

    /// Returns the changes that a trial made to the run's private layer: files that git ignores and that only this run
    /// sees.
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
