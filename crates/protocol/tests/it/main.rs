//! What clients count on: texts made plain, warnings, and a page for each code.

#![expect(clippy::unwrap_used, reason = "a test that can not go on has failed")]

mod hostile;
mod pages;
