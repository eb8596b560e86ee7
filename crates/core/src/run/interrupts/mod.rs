//! Interrupts of a run: their state after each event, and their events as people with a certain role are allowed to see
//! them.
//!
//! Only this folder changes the state of an interrupt. The module [`crate::interrupt`] has the rules about who can
//! decide on an interrupt.

mod apply;
mod cover;
