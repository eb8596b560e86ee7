//! Promises to clients: escaped texts, warnings, lines about people, and a documentation page per error code.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod codes;
mod covered;
mod hostile;
mod involved_people;
mod look_alikes;
mod members;
mod pages;
mod trials;
