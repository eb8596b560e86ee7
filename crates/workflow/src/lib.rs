//! Reads workflow YAML and rehearsal scripts. The files are parsed, validated (problems have line and column), and
//! identified by a digest.
//!
//! PURE: takes texts, and returns data or problems. Never reads a file, never runs anything. [`workflow`] describes the
//! grammar of workflows, [`rehearsal`] describes scripts, and [`Library`] contains all workflows of a server.

pub mod bounds;
pub mod channels_file;
pub mod duration;
mod extend;
mod item;
mod library;
mod name;
pub mod people_file;
mod problem;
pub mod range;
pub mod rehearsal;
pub mod rules_file;
mod shipped;
mod suggest;
pub mod workflow;
mod yaml;

pub use library::{Library, Override};
pub use problem::Problem;
pub use shipped::{EDGES, PRESETS, Plain, Shipped, external, shipped};
pub use suggest::nearest;
pub use workflow::{parse, parse_for};
