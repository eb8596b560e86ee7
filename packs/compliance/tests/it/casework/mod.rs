//! A compliance case as a specification: tables, rejected input, findings, and texts about a case.
//!
//! `python/` has an independent implementation of the findings, and the generator of the sample.

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
