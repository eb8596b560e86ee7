//! Interrupts of a run: their state after each event, and their events as a role may see them.
//!
//! Only this folder reads facts into an interrupt. Rules about who may decide what are in [`crate::interrupt`].

mod apply;
mod cover;
