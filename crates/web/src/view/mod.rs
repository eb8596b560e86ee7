//! Converts the types of the journal to the types that clients receive. For a line of a list, a view usually reads only
//! the events to which a database row refers. It loads the run only if content was erased, or if the card lists earlier
//! calls. `now` builds views of runs that are already in memory.

pub mod answer;
pub mod assignment;
pub mod conversation;
pub mod delivery;
pub mod erased;
pub mod event;
pub mod freeze;
pub mod group;
pub mod interrupt;
pub mod now;
pub mod page;
pub mod person;
pub mod plan;
pub mod policy;
pub mod removed_person;
pub mod run;
pub mod session;
mod subject;
pub mod usage;
pub mod work;
pub mod workflow;

pub use holdshort_core::variant_name::variant_name;
