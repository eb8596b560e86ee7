//! A compliance case as a specification: what tables are read, what is refused, what is found, what is told.
//!
//! `python/` has the independent implementation of the findings, and the generator of the sample.

mod arbitrary;
mod generated;
mod guide;
mod names;
mod python;
mod rules;
mod sample;
mod support;
mod tables;
mod told;
