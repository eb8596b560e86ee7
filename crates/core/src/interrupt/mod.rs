//! Interrupts: their table, their state, and who may decide what.

mod table;

pub use table::{Carry, Effect, Kind, Outcome, Row, default_on_expiry, option, options};
