//! Tools for tests: clocks, faults, scripted models, the real program, and a simulator that runs the whole engine with
//! choices from a seed. This crate is never used outside tests. If a real server or socket can be started at once,
//! tests use it. The code of this project is never replaced by mocks.

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
