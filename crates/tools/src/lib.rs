//! The built-in tools: what they take, what a call would do, doing it, and looking whether it happened.
//!
//! Decides nothing: gates, digests and approvals are the core's. Never touches a file outside the
//! workspace, never runs a command except through [`sandbox`], and reaches the network through `web` alone. Read
//! `tools` first, then `files` for what happens beneath the workspace and `command` for what happens in a process.

mod catalogue;
mod changeset;
mod command;
mod files;
pub mod limits;
mod named;
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
pub use files::diff;
pub use refusal::{Refusal, argument};
pub use run_layer::RunLayer;
pub use tools::{Call, Looked, Settings, Tools};
pub use toolset::{Toolset, Work, read_arguments};
pub use trial::{Layers, Trial, Tried};
pub use turns::Turn;
pub use web::Follow;
pub use withhold::Withhold;
pub use workspace::{Error, Workspace};
