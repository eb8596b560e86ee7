//! Performs actions. Only this module is allowed to spawn tasks for actions.

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

/// One action of a run, with all data that the action needs. The event that caused the action has been committed.
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
    /// Decides which redirects `web_fetch` is allowed to follow.
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
    /// Runs a command as a trial, in which the workspace does not change. Everything that the command writes goes into
    /// a private layer over the workspace.
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
        /// The changeset to apply. `None` if the journal no longer contains the approved changeset.
        changeset: Option<Arc<Changeset>>,
        /// Changes to the Git-ignored files of the run (its layer), which are applied after the changes to the
        /// workspace.
        layer: Option<Arc<LayerChanges>>,
        /// Run whose Git-ignored files are merged into the workspace by these changes. `None` if the changes are not a
        /// merge.
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
        /// Effect that the command is allowed to have. The sandbox prevents all other effects.
        effect: Option<CommandEffect>,
    },
    CallModel {
        turn: u32,
        request: Box<Request>,
    },
}

/// Delivers the result of an action. If the store returned an error, the executor delivers the same result again, so
/// that it is not lost.
pub type Deliver = Arc<dyn Fn(Input) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;

/// The reason why a call cannot be executed, with a pointer to the invalid argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The call would be invalid in any workspace.
    Always(Problem),
    /// The call is invalid in the current state of the workspace. Another call may create the missing path first.
    Now { problem: Problem, lack: MissingPath },
}

/// Performs the actions of runs. Each call of `perform` starts one action.
pub trait Executor: Send + Sync + 'static {
    /// Checks and completes the configuration of a run. For example, makes paths canonical, and requires a workspace if
    /// a tool needs one.
    fn prepare(
        &self,
        definition: &Definition,
        config: Config,
    ) -> impl Future<Output = Result<Config, Vec<Problem>>> + Send;

    /// Returns the current state of the files on which a call depends.
    fn observe(&self, run: &Run, paths: &[String]) -> impl Future<Output = Vec<Precondition>> + Send;

    /// Returns an error if no tool could execute this call. Changes nothing. If the workspace cannot be inspected, the
    /// call is accepted.
    fn check_call(
        &self,
        run: &Run,
        tool: &str,
        arguments: &Value,
    ) -> impl Future<Output = Result<(), Unfit>> + Send;

    /// Returns true if this process has a model for the run. Otherwise the run's model calls wait until a process with
    /// a model drives the run.
    fn has_model(&self, run: &Run) -> bool;

    /// Starts the job and returns immediately. The result is passed to `deliver`.
    fn perform(&self, job: Job, deliver: Deliver);

    /// Stops an action and all processes that it started, because its result is no longer needed.
    fn abort(&self, run: &RunId, action: &ActionId);

    /// Removes all data of a run that this node stores outside the journal. Called when the content of the run was
    /// erased.
    fn forget(&self, _run: &RunId) {}

    /// Ends an action and all processes that it started, because a person requested this. The result of the action then
    /// contains the output that the command has printed so far, or the text that the model has sent so far. May be
    /// called several times, and also after the action has ended.
    fn stop(&self, run: &RunId, action: &ActionId);
}

/// Executor that performs no action. A driver that only reads the journal uses this executor, so that runs do not
/// continue.
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
