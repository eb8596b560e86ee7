//! From the journal's types to those of the wire. Reads single events that rows point at; never loads a run to
//! show one line of a list. `now` shows a run that is loaded anyway.

pub(crate) mod event;
pub(crate) mod interrupt;
pub(crate) mod now;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod session;
mod subject;
mod word;
pub(crate) mod workflow;

pub(crate) use word::word;
