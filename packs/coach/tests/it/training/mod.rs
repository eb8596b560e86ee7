//! Training data as a specification: what each format is read as, what is refused, and what the metrics are.
//!
//! `python/` has two independent implementations of the metrics, one of them by the windows of pandas, and what other
//! packages read of FIT files.

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
mod python;
mod reference;
mod sample;
mod support;
mod told;
mod tools;
mod xml;
