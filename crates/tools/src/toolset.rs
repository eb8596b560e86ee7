//! Tools that a pack adds to the built-in ones: their specs for models, and the work behind a call.
//!
//! Such a tool reads the workspace and answers. It must never change a file, start a process or use the network.

use std::fmt::Debug;

use holdshort_core::tool::{Outcome, Spec};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// Tools of a pack.
pub trait Toolset: Debug + Send + Sync {
    /// Returns the specs for models; [`reads`](crate::reads) makes one. Names differ from those of built-in tools.
    fn specs(&self) -> Vec<Spec>;

    /// Parses the arguments of a call, never looser than its schema. Returns `None` for a tool of another toolset.
    fn read(&self, tool: &str, arguments: &Value) -> Option<Result<Box<dyn Work>, Refusal>>;
}

/// Call of a tool of a [`Toolset`], with valid arguments.
pub trait Work: Debug + Send {
    /// Carries out the call. Blocks. `input` is the input of the run.
    fn run(self: Box<Self>, workspace: &Workspace, input: &Value) -> Result<Outcome, Refusal>;
}

/// Parses the arguments of a call as a type.
pub fn read_arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, Refusal> {
    T::deserialize(arguments)
        .map_err(|e| Refusal::new("bad_arguments", format!("the arguments do not match the schema: {e}")))
}
