//! Changesets beneath the workspace: what stands at a path, and committing what was released. Never decides whether
//! something may be committed, and never follows a link.

mod commit;
pub(crate) mod entry;
pub(crate) mod folder;
mod git;
pub(crate) mod guard;
mod temporary;

pub use commit::Committed;
pub(crate) use commit::{commit, conflicts, is_as_wanted};
pub(crate) use entry::{Seen, seen};
pub(crate) use folder::Root;
pub use git::git_words;
