//! Performs actions. The only place that spawns.

use std::future::Future;
use std::sync::Arc;

use futures::future::BoxFuture;
use holdshort_core::changeset::Changeset;
use holdshort_core::definition::Definition;
use holdshort_core::id::RunId;
use holdshort_core::message::Request;
use holdshort_core::run::{ActionId, Config, Input, MissingPath, Run};
use holdshort_core::schema::Problem;
use holdshort_core::tool::{CommandEffect, LayerChanges, Precondition};
use holdshort_tools::{Follow, Withhold};
use serde_json::Value;

use crate::Error;

/// One action with everything it needs. The event that explains it is committed.
#[derive(Clone, Debug)]
pub struct Job {
    pub run: RunId,
    pub action: ActionId,
    pub step: String,
    pub work: Work,
    pub definition: Arc<Definition>,
    pub config: Config,
    /// Input that the run was started with.
    pub input: Value,
    /// Decides which redirects are followed.
    pub follow: Follow,
    /// Decides which paths a search or a listing leaves out.
    pub withhold: Withhold,
}

#[derive(Clone, Debug)]
pub enum Work {
    Inspect {
        call: String,
        revision: u32,
        tool: String,
        arguments: Value,
    },
    /// Runs a command in an overlay where it can harm nothing.
    Try {
        call: String,
        attempt: u32,
        tool: String,
        arguments: Value,
        preconditions: Vec<Precondition>,
    },
    /// Applies the changeset of a trial to the workspace.
    Commit {
        call: String,
        attempt: u32,
        /// `None` if the changeset in the journal is not the approved one.
        changeset: Option<Arc<Changeset>>,
        /// Changes of the run's layer, made after those of the workspace.
        layer: Option<Arc<LayerChanges>>,
        /// Run whose layer is merged by these changes.
        merges: Option<RunId>,
        /// True if the commit began before a crash.
        is_resumed: bool,
    },
    CallTool {
        call: String,
        attempt: u32,
        tool: String,
        arguments: Value,
        preconditions: Vec<Precondition>,
        /// Effect that the command is allowed; the sandbox enforces it.
        effect: Option<CommandEffect>,
    },
    CallModel {
        turn: u32,
        request: Box<Request>,
    },
}

/// Delivers the answer. After an error of the store it may be called again: the answer is not lost.
pub type Deliver = Arc<dyn Fn(Input) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;

/// Fault of a call, with a pointer into its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The call is invalid for any content of the workspace.
    Always(Problem),
    /// The call is invalid for the present content of the workspace. An earlier call may create what it lacks.
    Now { problem: Problem, lack: MissingPath },
}

/// Performs actions, each once for every call of `perform`.
pub trait Executor: Send + Sync + 'static {
    /// Checks and completes the configuration of a run: canonical paths, tools that need a workspace.
    fn prepare(
        &self,
        definition: &Definition,
        config: Config,
    ) -> impl Future<Output = Result<Config, Vec<Problem>>> + Send;

    /// Returns the present state of the files that a call relies on.
    fn observe(&self, run: &Run, paths: &[String]) -> impl Future<Output = Vec<Precondition>> + Send;

    /// Returns an error if no tool could carry out such a call. Changes nothing. If the workspace cannot be inspected,
    /// the call is accepted.
    fn check_call(
        &self,
        run: &Run,
        tool: &str,
        arguments: &Value,
    ) -> impl Future<Output = Result<(), Unfit>> + Send;

    /// Returns true if this process has a model for the run. Otherwise its model calls wait for a process that has one.
    fn has_model(&self, run: &Run) -> bool;

    /// Starts the job and returns at once; the answer comes through `deliver`.
    fn perform(&self, job: Job, deliver: Deliver);

    /// Stops the action and everything it started: its answer is no longer needed.
    fn abort(&self, run: &RunId, action: &ActionId);

    /// Removes the data of a run that this node keeps outside the journal: its content was erased.
    fn forget(&self, _run: &RunId) {}

    /// Ends the action and everything it started, because a person stopped it. Its answer contains what a command had
    /// printed, or what a model had said. May be called repeatedly, and after the action has ended.
    fn stop(&self, run: &RunId, action: &ActionId);
}

/// Performs nothing, for a driver that only reads: no run progresses through it.
pub struct Idle;

impl Executor for Idle {
    async fn prepare(&self, _: &Definition, config: Config) -> Result<Config, Vec<Problem>> {
        Ok(config)
    }

    async fn observe(&self, _: &Run, _: &[String]) -> Vec<Precondition> {
        Vec::new()
    }

    async fn check_call(&self, _: &Run, _: &str, _: &Value) -> Result<(), Unfit> {
        Ok(())
    }

    fn has_model(&self, _: &Run) -> bool {
        false
    }

    fn perform(&self, _: Job, _: Deliver) {}

    fn abort(&self, _: &RunId, _: &ActionId) {}

    fn stop(&self, _: &RunId, _: &ActionId) {}
}
