//! Reports as a specification: which numbers are traced, what of a text becomes an element, how charts are drawn.

#![expect(clippy::unwrap_used, reason = "a test that can not go on has failed")]

mod charts;
mod document;
mod markup;
mod page;
mod prose;
mod sample;
mod traced;
