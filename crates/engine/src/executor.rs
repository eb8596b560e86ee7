//! Who performs actions. The only place that spawns.

use std::future::Future;
use std::sync::Arc;

use futures::future::BoxFuture;
use holdshort_core::changeset::Changeset;
use holdshort_core::definition::Definition;
use holdshort_core::id::RunId;
use holdshort_core::message::Request;
use holdshort_core::run::{ActionId, Config, Input, Lack, Run};
use holdshort_core::schema::Problem;
use holdshort_core::tool::{CommandEffect, LayerChanges, Precondition};
use holdshort_tools::{Follow, Withhold};
use serde_json::Value;

use crate::Error;

/// One action with everything it needs. Whatever it is, the event that explains it is committed.
#[derive(Clone, Debug)]
pub struct Job {
    pub run: RunId,
    pub action: ActionId,
    pub step: String,
    pub work: Work,
    pub definition: Arc<Definition>,
    pub config: Config,
    /// What the run was started with.
    pub input: Value,
    /// Says which redirects are followed.
    pub follow: Follow,
    /// Says which paths a search or a listing leaves out.
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
    /// A command where it can harm nothing.
    Try {
        call: String,
        attempt: u32,
        tool: String,
        arguments: Value,
        preconditions: Vec<Precondition>,
    },
    /// What a trial did, in the workspace.
    Commit {
        call: String,
        attempt: u32,
        /// `None`: what the journal has is not what was released.
        changeset: Option<Arc<Changeset>>,
        /// Changes of the run's layer, made after those of the workspace.
        layer: Option<Arc<LayerChanges>>,
        /// Run whose layer is merged by these changes.
        merges: Option<RunId>,
        /// It was begun before a crash.
        is_resumed: bool,
    },
    CallTool {
        call: String,
        attempt: u32,
        tool: String,
        arguments: Value,
        preconditions: Vec<Precondition>,
        /// What a command may do; the sandbox holds it to that.
        effect: Option<CommandEffect>,
    },
    CallModel {
        turn: u32,
        request: Box<Request>,
    },
}

/// Brings the answer back. On a store's error it may be called again: the answer is not lost.
pub type Deliver = Arc<dyn Fn(Input) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;

/// What is wrong with a call, with a pointer into its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Whatever the workspace holds.
    Always(Problem),
    /// As the workspace is now: a call that runs before it may mend what it lacks.
    Now { problem: Problem, lack: Lack },
}

/// Performs actions, each once per call of `perform`.
pub trait Executor: Send + Sync + 'static {
    /// Checks and completes what a run is started with: canonical paths, tools that need a workspace.
    fn prepare(
        &self,
        definition: &Definition,
        config: Config,
    ) -> impl Future<Output = Result<Config, Vec<Problem>>> + Send;

    /// The present state of the files that a call relies on.
    fn observe(&self, run: &Run, paths: &[String]) -> impl Future<Output = Vec<Precondition>> + Send;

    /// Why no tool could carry such a call out. Changes nothing. Where nobody can look, nothing is wrong with the call.
    fn check_call(
        &self,
        run: &Run,
        tool: &str,
        arguments: &Value,
    ) -> impl Future<Output = Result<(), Unfit>> + Send;

    /// Whether a model answers for this run here. Where none does, its calls wait for a process that has one.
    fn has_model(&self, run: &Run) -> bool;

    /// Starts the job and returns at once; the answer comes through `deliver`.
    fn perform(&self, job: Job, deliver: Deliver);

    /// Nobody waits for this any more: stop it, and whatever it started.
    fn abort(&self, run: &RunId, action: &ActionId);

    /// Removes what this node keeps of the run beside the journal: its content was erased.
    fn forget(&self, _run: &RunId) {}

    /// A person stops what this runs: end it and whatever it started, and answer with what a command printed, or with what a
    /// model had said, by then. May be called again, and for what is done already.
    fn stop(&self, run: &RunId, action: &ActionId);
}

/// Performs nothing, for a driver that only reads: no run goes on by it.
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
