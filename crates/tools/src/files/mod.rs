//! What happens to files beneath the workspace. Every file is reached from the workspace's handle, folder by
//! folder, without following a link; never by an absolute name.

mod change;
mod diff;
mod listing;
mod place;
mod read;
mod replace;
mod search;

pub(crate) use change::Planned;
pub(crate) use listing::{folder, list};
pub(crate) use place::{Last, Place};
pub(crate) use read::{observe, read_text};
pub(crate) use search::{check as check_search, search};
