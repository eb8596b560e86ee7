//! The compliance crew as a specification: cases and findings, tools, screens, and runs on a server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod casework;
mod catalogue;
mod crew;
mod fuzz;
mod mailed;
mod screens;
mod served;
mod tools;
mod workflow;
