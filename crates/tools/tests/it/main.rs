//! A specification of the tools: what each tool refuses, shows, changes and leaves unchanged.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

mod bench;
mod capture;
mod catalogue;
mod changes;
mod changeset_guard;
mod channels;
mod commands;
mod commit;
mod confinement;
mod effects;
mod escapes;
mod guard;
mod impact;
mod levels;
mod paths;
mod places;
mod programs;
mod reader;
mod reading;
mod real;
mod traced;
mod tree;
mod trial;
mod undo;
mod web;
mod workspace;
