//! The coach as a specification: its data and metrics, its report, its tools, its screens.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod catalogue;
mod documents;
mod fuzz;
mod report;
mod screens;
mod tools;
mod training;
mod workflow;
