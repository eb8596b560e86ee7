//! Traces for OpenTelemetry, told from the journal: a run that has ended is a trace.
//!
//! `spans` turns the events of a run into spans: pure, without content, the same whenever it is asked. `otlp` puts them
//! into the messages of OTLP. `waiting` keeps which runs are still to be told, also over a restart. [`Traces`] sends them,
//! and tries again. Nothing waits for a collector: one that is down changes no run.

mod headers;
mod limits;
mod otlp;
mod send;
mod spans;
mod traces;
mod waiting;

pub use headers::{Malformed, headers};
pub use traces::{Error, Settings, Traces};
