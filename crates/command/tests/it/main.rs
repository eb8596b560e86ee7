//! The reader of command lines as a specification: tables of lines, without I/O.
//!
//! What gates make of a line that was read is tested in the core; whether the reader is right about real shells, in the
//! tools (`cargo xtask reader`).

mod closing;
mod corpus;
mod everyday;
mod lines;
mod own_tools;
mod tables;
