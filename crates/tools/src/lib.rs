//! The built-in tools: their arguments, the effect of a call, its execution, and checks of whether a call took effect.
//!
//! This crate makes no decisions: the core decides whether a call may run, and which calls need an approval. This crate
//! never touches a file outside the workspace, runs a command only through [`sandbox`], and uses the network only
//! through `web`. Start reading at `tools`, then read `files` for work on files and `command` for work with processes.

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
