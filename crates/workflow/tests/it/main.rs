//! Tests of the public interface: what workflow files mean, the problems of invalid files, and the shipped workflows.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod catalogue;
mod chains;
mod channels_file;
mod library;
mod mutations;
mod people_file;
mod player;
mod presets;
mod problem_cases;
mod problems;
mod rehearsals;
mod rules_file;
mod sample;
mod stage;
mod workflows;
