//! Specification of the parser of command lines: tables of lines, without I/O.
//!
//! The tests of the crate `core` cover the decisions of the gates on lines. `cargo xtask reader` compares the parser
//! with real shells.

mod closing;
mod corpus;
mod everyday;
mod lines;
mod own_tools;
mod tables;
mod untriable;
