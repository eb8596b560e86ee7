//! What happens to files beneath the workspace. Every file is reached from the workspace's handle, folder by
//! folder, without following a link; never by an absolute name.

mod change;
mod diff;
mod listing;
mod place;
mod read;
mod replace;
mod search;

pub(crate) use change::{BARE, Planned};
pub(crate) use listing::{folder, list};
pub(crate) use place::{Kind, Last, Place, shown};
pub(crate) use read::{identity, observe, read_text};
pub(crate) use search::{check as check_search, search};
