//! A scripted executor: a workspace in memory, a model that responds by position in the script, and a record of all
//! actions. A simulated crash loses only the jobs in flight.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdshort_core::changeset::{Change, Changeset, Entry};
use holdshort_core::definition::Definition;
use holdshort_core::digest::Digest;
use holdshort_core::id::RunId;
use holdshort_core::message::{Arguments, Failure, FailureKind, Message, Reply, RequestedCall};
use holdshort_core::run::{ActionId, Config, Input, Run};
use holdshort_core::schema::Problem;
use holdshort_core::tool::{
    Inspection, InspectionOutcome, Outcome, Precondition, ProposedChanges, SandboxLevel, TrialOutcome,
};
use holdshort_engine::{Deliver, Executor, Job, Unfit, Work};
use serde_json::{Value, json};

/// A response of the model, chosen by the number of responses that the request already contains.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    Text(&'static str),
    Calls(Vec<(&'static str, Value)>),
    /// Every model call fails with this error.
    Fail(FailureKind),
    /// The first model call fails with this error. Later calls give the second response.
    FailOnce(FailureKind, Box<Say>),
}

/// The scripted executor, shared by all drivers of a test.
#[derive(Clone, Default)]
pub(crate) struct World(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    jobs: VecDeque<(Job, Deliver)>,
    files: BTreeMap<String, String>,
    script: BTreeMap<String, Vec<Say>>,
    failed: Vec<(String, usize)>,
    /// Side effects: `run:command` or `write:path=content`, in order.
    effects: Vec<String>,
    /// All actions that drivers handed to the executor, each with its run.
    performed: Vec<(RunId, String)>,
    aborted: Vec<String>,
    stopped: BTreeSet<String>,
    /// Contents of proposed files, by digest.
    texts: BTreeMap<Digest, String>,
    requests: Vec<Vec<Message>>,
}

impl World {
    pub(crate) fn script(&self, agent: &str, script: Vec<Say>) {
        self.inner().script.insert(agent.to_owned(), script);
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        self.inner().files.insert(path.to_owned(), content.to_owned());
    }

    pub(crate) fn file(&self, path: &str) -> Option<String> {
        self.inner().files.get(path).cloned()
    }

    pub(crate) fn effects(&self) -> Vec<String> {
        self.inner().effects.clone()
    }

    pub(crate) fn performed(&self) -> Vec<String> {
        self.inner().performed.iter().map(|(_, action)| action.clone()).collect()
    }

    pub(crate) fn aborted(&self) -> Vec<String> {
        self.inner().aborted.clone()
    }

    pub(crate) fn requests(&self) -> Vec<Vec<Message>> {
        self.inner().requests.clone()
    }

    /// Removes and returns the oldest job in flight.
    pub(crate) fn take(&self) -> Option<(Job, Deliver)> {
        self.inner().jobs.pop_front()
    }

    pub(crate) fn waiting(&self) -> Vec<String> {
        self.inner().jobs.iter().map(|(job, _)| job.action.to_string()).collect()
    }

    /// Does every job and delivers its result, until no job is in flight.
    pub(crate) async fn settle(&self) {
        while let Some((job, deliver)) = self.take() {
            let answer = self.work(&job);
            deliver(answer).await.unwrap();
        }
    }

    /// Drops all jobs in flight, as a dying process does. If `done` is true, the jobs are done but their results are
    /// lost.
    pub(crate) fn lose_jobs(&self, done: bool) {
        while let Some((job, _)) = self.take() {
            if done {
                let _untold = self.work(&job);
            }
        }
    }

    pub(crate) fn work(&self, job: &Job) -> Input {
        let mut inner = self.inner();
        match &job.work {
            Work::Inspect { call, revision, tool, arguments } => Input::Inspected {
                call: call.clone(),
                revision: *revision,
                inspected: inner.inspect(tool, arguments),
            },
            Work::Try { call, attempt, .. } => {
                let tried = TrialOutcome::Impossible { why: "there is no room for a trial".to_owned() };
                Input::Tried { call: call.clone(), attempt: *attempt, tried }
            }
            Work::Commit { call, attempt, changeset, .. } => {
                let outcome = inner.commit(changeset.as_deref().expect("what was released"));
                Input::Ran { call: call.clone(), attempt: *attempt, outcome }
            }
            Work::CallTool { call, attempt, tool, arguments, preconditions, .. } => Input::Ran {
                call: call.clone(),
                attempt: *attempt,
                outcome: inner.run(tool, arguments, preconditions),
            },
            Work::CallModel { turn, request } => {
                inner.requests.push(request.messages.clone());
                inner.reply(&job.step, *turn, &request.agent, &request.messages)
            }
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn state(&self, path: &str) -> Precondition {
        let sha256 = self.files.get(path).map(|content| Digest::of_bytes(content.as_bytes()));
        Precondition { path: path.to_owned(), sha256 }
    }

    fn inspect(&mut self, tool: &str, arguments: &Value) -> InspectionOutcome {
        let path = arguments["path"].as_str().unwrap_or_default();
        if path.contains("..") {
            return InspectionOutcome::Impossible {
                code: "outside",
                message: "outside the workspace".to_owned(),
            };
        }
        let writes = tool == "write_file";
        let content = arguments["content"].as_str().unwrap_or_default();
        let proposed = writes.then(|| Box::new(self.propose(path, content)));
        InspectionOutcome::Ready(Inspection {
            workspace: "/workspace".to_owned(),
            cwd: "/workspace".to_owned(),
            preconditions: if writes { vec![self.state(path)] } else { Vec::new() },
            sandbox: (tool == "run_command").then_some(SandboxLevel::Full),
            ask_because: Vec::new(),
            places: Vec::new(),
            proposed,
            card: json!({}),
        })
    }

    fn run(&mut self, tool: &str, arguments: &Value, preconditions: &[Precondition]) -> Outcome {
        let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let changed: Vec<String> = preconditions
            .iter()
            .filter(|shown| self.state(&shown.path) != **shown)
            .map(|shown| shown.path.clone())
            .collect();
        if !changed.is_empty() {
            return Outcome::Changed { paths: changed };
        }
        let text = match tool {
            "run_command" => {
                self.effects.push(format!("run:{}", argument("command")));
                "exit code 0".to_owned()
            }
            "read_file" => match self.files.get(&argument("path")) {
                Some(content) => content.clone(),
                None => return Outcome::Failed { text: "no such file".to_owned() },
            },
            other => panic!("the world has no tool `{other}`"),
        };
        Outcome::Done { text, data: Value::Null }
    }

    /// Returns the changeset of the file that a call would write.
    fn propose(&mut self, path: &str, content: &str) -> ProposedChanges {
        let mut entry = |text: &str| {
            let digest = Digest::of_bytes(text.as_bytes());
            self.texts.insert(digest, text.to_owned());
            Entry::File { digest, bytes: text.len() as u64, mode: 0o644 }
        };
        let before = self.files.get(path).map(|text| entry(text));
        let change = Change { path: path.to_owned(), before, after: Some(entry(content)), ignored: false };
        let changes = if change.before == change.after { Vec::new() } else { vec![change] };
        let changeset = Changeset::new(changes).expect("one path");
        ProposedChanges { changeset, text: "written".to_owned(), data: Value::Null }
    }

    /// Continues a commit: writes the files that do not have their new content yet.
    fn commit(&mut self, changeset: &Changeset) -> Outcome {
        for Change { path, before, after, .. } in changeset.changes() {
            let digest = |entry: &Option<Entry>| match entry {
                Some(Entry::File { digest, .. }) => Some(*digest),
                Some(Entry::Symlink { .. } | Entry::Folder { .. }) | None => None,
            };
            let now = self.state(path).sha256;
            if now == digest(after) {
                continue;
            }
            if now != digest(before) {
                return Outcome::Changed { paths: vec![path.clone()] };
            }
            let text = self.texts[&digest(after).expect("a file")].clone();
            self.effects.push(format!("write:{path}={text}"));
            self.files.insert(path.clone(), text);
        }
        Outcome::Done { text: "written".to_owned(), data: Value::Null }
    }

    fn reply(&mut self, step: &str, turn: u32, agent: &str, messages: &[Message]) -> Input {
        let at = messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        let script = self.script.get(agent).unwrap_or_else(|| panic!("no script for `{agent}`"));
        let mut say = script.get(at).unwrap_or_else(|| panic!("`{agent}` has no reply {at}")).clone();
        if let Say::FailOnce(kind, then) = say {
            let place = (agent.to_owned(), at);
            if !self.failed.contains(&place) {
                self.failed.push(place);
                let failure = Failure { kind, retry_after_ms: None, message: "scripted".to_owned() };
                return Input::Failed { step: step.to_owned(), turn, failure };
            }
            say = *then;
        }
        if let Say::Fail(kind) = say {
            let failure = Failure { kind, retry_after_ms: None, message: "scripted".to_owned() };
            return Input::Failed { step: step.to_owned(), turn, failure };
        }
        let mut reply = Reply { model: "scripted".to_owned(), ..Reply::default() };
        match say {
            Say::Text(text) => text.clone_into(&mut reply.text),
            Say::Calls(calls) => reply.calls.extend(calls.into_iter().map(|(tool, arguments)| {
                RequestedCall { tool: tool.to_owned(), arguments: Arguments::Json(arguments) }
            })),
            Say::Fail(_) | Say::FailOnce(..) => panic!("one failure at a time"),
        }
        Input::Replied { step: step.to_owned(), turn, reply }
    }
}

impl Executor for World {
    async fn prepare(&self, _: &Definition, config: Config) -> Result<Config, Vec<Problem>> {
        Ok(config)
    }

    async fn observe(&self, _: &Run, paths: &[String]) -> Vec<Precondition> {
        let inner = self.inner();
        paths.iter().map(|path| inner.state(path)).collect()
    }

    async fn check_call(&self, _: &Run, tool: &str, arguments: &Value) -> Result<(), Unfit> {
        match self.inner().inspect(tool, arguments) {
            InspectionOutcome::Ready(_) => Ok(()),
            InspectionOutcome::Impossible { message, .. } => {
                Err(Unfit::Always(Problem::new("/path", message)))
            }
        }
    }

    fn has_model(&self, _: &Run) -> bool {
        true
    }

    fn perform(&self, job: Job, deliver: Deliver) {
        let mut inner = self.inner();
        inner.performed.push((job.run.clone(), job.action.to_string()));
        inner.jobs.push_back((job, deliver));
    }

    fn abort(&self, run: &RunId, action: &ActionId) {
        let mut inner = self.inner();
        inner.aborted.push(action.to_string());
        inner.jobs.retain(|(job, _)| job.run != *run || job.action != *action);
    }

    fn stop(&self, _: &RunId, action: &ActionId) {
        self.inner().stopped.insert(action.to_string());
    }
}
