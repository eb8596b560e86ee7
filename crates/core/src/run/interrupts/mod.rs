//! Interrupts of a run: their state after each event, and their events in the form that a role may see.
//!
//! Only this folder turns facts into the state of an interrupt. The module [`crate::interrupt`] contains the rules for
//! who may decide on an interrupt.

mod apply;
mod cover;
