//! The core as a specification: tables and stories, without I/O.
//!
//! `world.rs` plays everything around a run: the store, the clock, models, tools, people.
//! `UPDATE_SNAPSHOTS=1 cargo test -p holdshort-core` rewrites the tables under `snapshots/`.

mod asking;
mod assignments;
mod called;
mod canonical;
mod changesets;
mod claims;
mod client;
mod commands;
mod conversation;
mod copilot;
mod digests;
mod effects;
mod endings;
mod events;
mod external;
mod freezes;
mod gates;
mod grants;
mod handoffs;
mod head;
mod history;
mod hours;
mod interruptions;
mod journals;
mod keys;
mod kinds;
mod layers;
mod long;
mod named;
mod options;
mod order;
mod pairs;
mod people;
mod phases;
mod plans;
mod pricing;
mod random;
mod reading;
mod refusals;
mod returned;
mod rights;
mod routing;
mod schemas;
mod seats;
mod sessions;
mod smart;
mod snapshot;
mod timing;
mod trials;
mod turns;
mod votes;
mod work;
mod world;
