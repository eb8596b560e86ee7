//! Holdshort's core makes the decisions: it turns inputs into events, events into state, and state into actions.
//!
//! The crate is pure: it has no I/O, no clock, no randomness, no async, no logging and no hash-ordered map. Equal
//! inputs give exactly equal events. Read the module [`run`] first. Part 1 of the design defines the terms.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod actor;
pub mod asking;
mod canonical;
pub mod changeset;
pub mod channel;
pub mod conversation;
pub mod definition;
pub mod delivery;
pub mod digest;
pub mod envelope;
pub mod event;
pub mod gate;
pub mod handoff;
pub mod head;
pub mod history;
pub mod hours;
pub mod id;
pub mod interrupt;
pub mod json;
mod kept_changes;
mod kind_gate;
pub mod level;
pub mod limits;
pub mod mentioned_paths;
pub mod message;
pub mod name;
pub mod notice;
pub mod people;
pub mod plan;
pub mod policy;
pub mod pricing;
pub mod projection;
pub mod quiet_hours;
pub mod reply;
pub mod rights;
pub mod risk;
pub mod routing;
pub mod run;
pub mod schema;
pub mod session;
pub mod shared;
pub mod strict;
pub mod system;
mod text;
pub mod time;
pub mod tool;
pub mod trace_parent;
pub mod tree;
pub mod variant_name;
pub mod web;
