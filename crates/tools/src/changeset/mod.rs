//! Changesets in a workspace: reads the entry at a path, and commits an approved change. This module never decides
//! whether a change may be committed, and never follows a link.

mod commit;
pub(crate) mod entry;
pub(crate) mod folder;
mod git;
pub(crate) mod guard;
mod temporary;

pub use commit::Committed;
pub(crate) use commit::{commit, conflicts, is_as_wanted};
pub(crate) use entry::{ObservedPath, observe_path};
pub(crate) use folder::Root;
pub use git::git_words;
