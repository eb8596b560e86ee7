//! Reads training data, and computes the metrics of a season from it.
//!
//! Takes bytes and returns numbers, without files, network, clock, randomness or local time zone. [`read`] makes one
//! [`Season`] from files in five formats, and reports everything that it leaves out. [`metrics`] computes metrics from
//! the season. Every result names its formula, its unit, and the activities and days from which it was computed. Agents
//! call [`catalogue`], [`compute`] and [`summary`]. The results do not depend on the order of files or records. Read
//! next: `model.rs`, then `read/mod.rs`, then `metrics/mod.rs`. The reference is `docs/training.md`.

pub mod limits;
mod measure;
mod merge;
pub mod metrics;
mod model;
mod problem;
mod read;
mod series;
mod sport;
pub mod tools;
mod unread;

pub use measure::{Level, Measure};
pub use model::{
    Activity, Athlete, AthleteNumber, Day, FileLocation, OffsetFrom, Sample, Season, Sex, Source,
    SourcedValue,
};
pub use problem::{Code, Problem, Severity};
pub use read::{
    ColumnMap, File, Format, Options, PARTS, Reading, Units, csv_exports, csv_headers, parts, read,
};
pub use sport::Sport;
pub use tools::{Analyst, Computed, Refusal, RefusalCode, Settings, Summary, catalogue, compute, summary};
pub use unread::{UnreadData, UnreadProblem};
