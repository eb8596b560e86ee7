//! Promises to clients: escaped texts, warnings, the people who are asked, and a page for each code.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod codes;
mod covered;
mod hostile;
mod involved_people;
mod look_alikes;
mod members;
mod pages;
mod trials;
