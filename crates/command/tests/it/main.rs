//! Specification of the reader of command lines: tables of lines, without I/O.
//!
//! The core tests the decisions of gates about lines. The tools compare the reader with real shells
//! (`cargo xtask reader`).

mod closing;
mod corpus;
mod everyday;
mod lines;
mod own_tools;
mod tables;
