//! Reads training data, and computes what is known of a season from it.
//!
//! Bytes in, numbers out: no files, network, clock, randomness or zone of the machine. [`read`] makes one
//! [`Season`] of files in five formats and says what it left out and why; [`metrics`] computes from that season,
//! and every result names its formula, its unit and the activities and days that it was computed from. Agents reach
//! them through [`catalogue`], [`compute`] and [`summary`].
//! Nothing depends on the order of files or of their records. Read next: `model.rs`, then `read/mod.rs`,
//! then `metrics/mod.rs`. The reference is `docs/training.md`.

pub mod limits;
mod measure;
mod merge;
pub mod metrics;
mod model;
mod problem;
mod read;
mod series;
pub mod tools;
mod unread;

pub use measure::{Level, Measure};
pub use model::{
    Activity, Athlete, AthleteNumber, Day, Known, OffsetFrom, Place, Sample, Season, Sex, Source, Sport,
};
pub use problem::{Code, Problem, Severity};
pub use read::{File, Format, Options, PARTS, Reading, csv_headers, parts, read};
pub use tools::{Analyst, Computed, Refusal, RefusalCode, Settings, Summary, catalogue, compute, summary};
pub use unread::{NotRead, Told};
