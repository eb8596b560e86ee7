//! The vote of the gates: may this call run, must a person be asked, is it forbidden?
//!
//! Gates sit here, in the runtime, never in a prompt. All sources vote and the most severe wins:
//! forbid > mandatory ask > refused before (ask) > escalation ask > grant allow > rule > default (ask). The gates fail
//! closed: a call that they cannot read asks. This file holds the call; read `verdict.rs` and `vote.rs` next.

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

/// A call as the gates see it: the tool's full name and the parsed arguments.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub agent: &'a str,
    pub tool: &'a str,
    pub category: Category,
    /// The `path` argument of a file tool.
    pub path: Option<&'a str>,
    /// The `url` argument of a tool that gets something from the web.
    pub url: Option<&'a str>,
    /// The `command` argument of `run_command`.
    pub command: Option<&'a str>,
    pub workspace: &'a str,
    /// The working directory of a command; empty where nobody looked.
    pub cwd: &'a str,
    /// Findings of the inspection that make it ask whatever else allows it.
    pub ask_because: &'a [String],
    /// Where the paths lead that the call names, for those that lead elsewhere than they say.
    pub places: &'a [ResolvedPath],
    /// The files that it would run, or change, as they were looked at.
    pub preconditions: &'a [Precondition],
    /// What it changes.
    pub changes: Changes<'a>,
    /// Why a command was not tried although its workflow wants it: a person decides, whatever allows it.
    pub untried: Option<&'a str>,
    /// An agent that runs elsewhere makes it: nothing of it is looked at here, and grants for calls of ours are not for it.
    pub elsewhere: bool,
}

/// Changes that a call makes to the workspace, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Changes<'a> {
    /// Unknown: the call was not tried, and its tool proposes no changeset. The arguments are all that rules can read.
    ///
    /// A file tool has none in a journal that was written before file tools proposed changesets.
    #[default]
    Untried,
    /// Known to read only.
    Nothing,
    /// Changeset that a file tool proposes. Its paths are resolved: no component is a link.
    Proposed(&'a Changeset),
    /// Changes that a trial made: of the workspace and of the run's layer. `ask_because` holds the codes of findings in
    /// them that make the call ask.
    Tried { changes: &'a Changeset, layer: &'a Changeset, ask_because: &'a [String] },
    /// Erased from the journal.
    Erased,
}

impl<'a> Changes<'a> {
    /// Returns true if a trial has changed nothing in the workspace.
    fn leave_nothing(self) -> bool {
        matches!(self, Self::Tried { changes, .. } if changes.is_empty())
    }

    /// Changes that a trial made in the run's layer.
    fn in_layer(self) -> &'a Changeset {
        match self {
            Self::Tried { layer, .. } => layer,
            Self::Untried | Self::Nothing | Self::Proposed(_) | Self::Erased => &changeset::EMPTY,
        }
    }

    /// The changes, where they are known.
    fn known(self) -> Option<&'a Changeset> {
        match self {
            Self::Nothing => Some(&changeset::EMPTY),
            Self::Proposed(changes) | Self::Tried { changes, .. } => Some(changes),
            Self::Untried | Self::Erased => None,
        }
    }
}
