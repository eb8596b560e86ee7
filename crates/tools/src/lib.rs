//! The built-in tools: their arguments, the effect of a call, its execution, and checks whether a call took effect.
//!
//! Must decide nothing: the core decides whether a call may run, and which calls need an approval. Must never touch a
//! file outside the workspace, run a command except through [`sandbox`], or use the network except through `web`. Read
//! `tools` first, then `files` for work in the workspace and `command` for work in a process.

mod catalogue;
mod changeset;
mod command;
mod files;
pub mod limits;
mod name_table;
mod places;
mod refusal;
mod request;
mod run_layer;
pub mod sandbox;
mod tools;
mod toolset;
mod trial;
mod turns;
pub mod undo;
mod web;
mod withhold;
mod workspace;

pub use catalogue::{catalogue, reading_tool};
pub use changeset::{Committed, git_words};
pub use command::Streams;
pub use files::diff;
pub use refusal::{Refusal, argument};
pub use run_layer::RunLayer;
pub use tools::{Call, InspectionResult, Settings, Tools};
pub use toolset::{Toolset, Work, read_arguments};
pub use trial::{Capture, CommandTrialOutcome, Layers, Trial};
pub use turns::Turn;
pub use web::Follow;
pub use withhold::Withhold;
pub use workspace::{Error, Workspace};
