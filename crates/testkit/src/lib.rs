//! Tools for tests: clocks, faults, scripted models, the real binary, and a simulator that drives the whole engine from
//! a seed. Production code never uses this crate.
//! Tests use a real server or socket if it starts at once. The project's own code is never mocked.

pub mod bench;
pub mod by_hand;
pub mod clock;
pub mod coding_agent;
pub mod collector;
pub mod documents;
pub mod faulty;
pub mod fuzz;
pub mod home;
pub mod issuer;
pub mod mailbox;
pub mod model;
pub mod provider;
pub mod rehearsal;
pub mod reviewer;
pub mod server;
pub mod shipped;
pub mod sim;
pub mod sink;
pub mod slack;
pub mod terminal;
pub mod trace;
