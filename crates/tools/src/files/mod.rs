//! Reading and changing files in the workspace. Every file is opened from the workspace's handle, folder by folder,
//! without following a link. A file is never opened by its absolute path.

mod change;
mod diff;
mod listing;
mod proposal;
mod read;
mod search;
mod workspace_path;

pub(crate) use change::Planned;
pub(crate) use diff::Diff;
pub use diff::diff;
pub(crate) use listing::{Listed, folder, list};
pub(crate) use read::{identity, observe, read_text};
pub(crate) use search::{check as check_search, search};
pub(crate) use workspace_path::{Kind, Last, WorkspacePath, escape_path};
