//! Interrupts of a run: their state after each event, and their events as a role may see them.
//!
//! Only this folder turns facts into the state of an interrupt. [`crate::interrupt`] contains the rules for who may
//! decide on an interrupt.

mod apply;
mod cover;
