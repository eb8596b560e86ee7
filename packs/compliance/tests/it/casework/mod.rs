//! A compliance case as a specification: the tables, the refused input, the findings, and the texts about a case.
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
mod texts;
