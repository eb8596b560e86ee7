//! Training data as a specification: the values read from each format, the refused files, and the metrics.
//!
//! `python/` has two independent implementations of the metrics; one uses the windows of pandas. `python/` also reads
//! FIT files with other packages.

mod arbitrary;
mod computed;
mod csv;
mod data_file;
mod fit;
pub(crate) mod fit_writer;
mod generated;
mod guards;
mod limits;
mod merging;
mod metrics;
mod order;
mod problems;
mod python;
mod reference;
mod sample;
mod support;
mod tools;
mod xml;
