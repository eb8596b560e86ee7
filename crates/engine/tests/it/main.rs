//! Tests the driver over real journals, with a scripted executor. No test waits for a clock or a network.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod checkpoints;
mod clock;
mod crash;
mod decisions;
mod evidence;
mod faults;
mod gather;
mod gone;
mod grants;
mod keys;
mod long;
mod loop_turns;
mod retention;
mod rivals;
mod sessions;
mod stage;
mod steering;
mod time;
mod transfer;
mod upkeep;
mod waits;
mod world;
