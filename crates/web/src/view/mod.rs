//! From the journal's types to those of the wire. Reads single events that rows point at; never loads a run to
//! show one line of a list. `now` shows a run that is loaded anyway.

pub mod answer;
pub mod assignment;
pub mod conversation;
pub mod delivery;
pub mod erased;
pub mod event;
pub mod freeze;
pub mod group;
pub mod interrupt;
pub mod left;
pub mod now;
pub mod page;
pub mod person;
pub mod plan;
pub mod run;
pub mod session;
mod subject;
pub mod usage;
mod word;
pub mod work;
pub mod workflow;

pub use word::word;
