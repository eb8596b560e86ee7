//! Tools that a pack adds to the built-in tools: their descriptions for models, and the execution of their calls.
//!
//! A tool of a pack reads the workspace and returns a result. The tool must not change a file, start a process or use
//! the network.

use std::fmt::Debug;

use holdshort_core::tool::{Outcome, Spec};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// Set of the tools that a pack adds.
pub trait Toolset: Debug + Send + Sync {
    /// Returns the descriptions of the pack's tools for models. [`reading_tool`](crate::reading_tool) makes the
    /// description of one tool. The names must differ from those of built-in tools.
    fn specs(&self) -> Vec<Spec>;

    /// Parses the arguments of a tool call. The parser must not accept more than the schema of the tool. Returns `None`
    /// if the tool belongs to a different toolset.
    fn read(&self, tool: &str, arguments: &Value) -> Option<Result<Box<dyn Work>, Refusal>>;
}

/// A call of a tool of a [`Toolset`], with arguments that have been checked.
pub trait Work: Debug + Send {
    /// Executes the tool call. Blocks. `input` is the input of the run.
    fn run(self: Box<Self>, workspace: &Workspace, input: &Value) -> Result<Outcome, Refusal>;
}

/// Parses the arguments of a tool call into a type.
pub fn read_arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, Refusal> {
    T::deserialize(arguments)
        .map_err(|e| Refusal::new("bad_arguments", format!("the arguments do not match the schema: {e}")))
}
