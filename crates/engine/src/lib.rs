//! The engine connects the core with input and output.
//!
//! The [`Driver`] loads a run, lets the core decide, appends the decision, and performs the actions that follow. The
//! driver is generic over the journal, the clock and the executor. Therefore the simulator in the tests runs the real
//! driver. Only the executor spawns tasks for actions. [`real`] builds the driver with the real journal, clock and
//! executor. Start reading at `driver/mod.rs`.

pub mod audit;
mod clock;
mod deadline_clock;
mod driver;
mod error;
pub mod evidence;
mod executor;
pub mod metrics;
pub mod outbox;
pub mod real;
pub mod rebuild;
pub mod traces;
pub mod transfer;
mod upkeep;

pub use clock::{Clock, SystemClock};
pub use deadline_clock::DeadlineClock;
pub use driver::{
    Driver, FollowUp, IdempotencyKey, ModelCall, ModelOutcome, NextRun, OpenSession, OpenedSession, Say,
    StartRun, StartedRun, TakesFront,
};
pub use error::Error;
pub use executor::{Deliver, Executor, Idle, Job, Unfit, Work};
pub use upkeep::{ErasedRuns, keep_erasing, keep_time, keep_up};
