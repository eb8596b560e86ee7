//! A driver on a journal with a scripted executor and a clock, and helpers for tests.

use std::sync::{Arc, LazyLock};

use holdshort_core::actor::Actor;
use holdshort_core::definition::Definition;
use holdshort_core::envelope;
use holdshort_core::event::{self, Event};
use holdshort_core::id::{InterruptId, RunId, SessionId, StreamId};
use holdshort_core::interrupt::{Decision, Interrupt, Kind};
use holdshort_core::projection::Status;
use holdshort_core::run::{Config, Input, Origin, Run};
use holdshort_engine::{Driver, Error, IdempotencyKey, StartRun, StartedRun};
use holdshort_store::{Journal, Memory};
use holdshort_testkit::clock::SimClock;
use serde_json::{Value, json};

use crate::world::{Say, World};

pub(crate) struct Stage<J> {
    pub(crate) driver: Arc<Driver<J, SimClock, World>>,
    pub(crate) world: World,
    pub(crate) clock: SimClock,
}

/// A workflow with one agent that has every tool of the scripted executor. Reading needs no approval.
pub(crate) const SOLO: &str = r"
name: solo
agents:
  solo:
    instructions: Work.
    tools: [read_file, write_file, run_command, ask_human, create_plan, request_review]
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  rules:
    - {tools: [read_file], do: allow}
";

pub(crate) fn definition(text: &str) -> Arc<Definition> {
    static KNOWN: LazyLock<Arc<Definition>> = LazyLock::new(|| parse(SOLO));
    if text == SOLO { KNOWN.clone() } else { parse(text) }
}

fn parse(text: &str) -> Arc<Definition> {
    Arc::new(holdshort_workflow::parse("test.yaml", text, &holdshort_tools::catalogue(&[])).unwrap())
}

pub(crate) fn operator() -> Actor {
    Actor::operator("test")
}

pub(crate) fn option(option: &str) -> Decision {
    Decision { option: option.to_owned(), ..Decision::default() }
}

pub(crate) fn text(option: &str, text: &str) -> Decision {
    Decision { option: option.to_owned(), text: Some(text.to_owned()), ..Decision::default() }
}

pub(crate) fn edit(edit: Value) -> Decision {
    Decision { option: "edit".to_owned(), edit, ..Decision::default() }
}

pub(crate) fn command(command: &str) -> (&'static str, Value) {
    ("run_command", json!({ "command": command }))
}

pub(crate) fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": content }))
}

pub(crate) fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

impl Stage<Memory> {
    /// Returns a stage with a scripted agent `solo`, on a journal in memory.
    pub(crate) fn solo(script: Vec<Say>) -> Self {
        let world = World::default();
        world.script("solo", script);
        Self::on(Arc::new(Memory::new()), world, SimClock::new(1))
    }
}

impl<J: Journal> Stage<J> {
    pub(crate) fn on(journal: Arc<J>, world: World, clock: SimClock) -> Self {
        Self { driver: Driver::new(journal, clock.clone(), world.clone()), world, clock }
    }

    /// Starts a run. Leaves its jobs in flight.
    pub(crate) async fn start(&self) -> RunId {
        self.start_with(SOLO, None).await
    }

    pub(crate) async fn start_in(&self, session: &SessionId) -> RunId {
        self.start_with(SOLO, Some(session.clone())).await
    }

    pub(crate) async fn start_with(&self, workflow: &str, session: Option<SessionId>) -> RunId {
        self.try_start(workflow, session, None, "do it").await.unwrap().run
    }

    pub(crate) async fn try_start(
        &self,
        workflow: &str,
        session: Option<SessionId>,
        key: Option<IdempotencyKey>,
        task: &str,
    ) -> Result<StartedRun, Error> {
        let start = StartRun {
            definition: definition(workflow),
            session,
            config: Config { workspace: Some("/workspace".to_owned()), ..Config::default() },
            input: json!({ "task": task, "subject": "the plant" }),
            origin: Origin::Native,
            ask: None,
            key,
            front: None,
            trace: None,
        };
        self.driver.start(start, operator()).await
    }

    /// Starts a run and continues it until it waits for a person or ends.
    pub(crate) async fn play(&self) -> RunId {
        let run = self.start().await;
        self.world.settle().await;
        run
    }

    pub(crate) async fn run(&self, run: &RunId) -> Arc<Run> {
        self.driver.load(run).await.unwrap()
    }

    pub(crate) async fn status(&self, run: &RunId) -> Status {
        self.run(run).await.status()
    }

    /// Returns the open interrupts in the order in which they were opened.
    pub(crate) async fn open(&self, run: &RunId) -> Vec<Interrupt> {
        let run = self.run(run).await;
        let mut open: Vec<_> = run.open_interrupts().map(|(_, interrupt)| interrupt.clone()).collect();
        open.sort_by_key(|interrupt| interrupt.opened_seq);
        open
    }

    pub(crate) async fn only_open(&self, run: &RunId) -> Interrupt {
        let mut open = self.open(run).await;
        assert_eq!(open.len(), 1, "{open:#?}");
        open.remove(0)
    }

    pub(crate) async fn decide(
        &self,
        run: &RunId,
        id: &InterruptId,
        decision: Decision,
    ) -> Result<Arc<Run>, Error> {
        let input = Input::Decide { interrupt: id.clone(), decision, holder: None };
        self.driver.send(run, input, operator()).await
    }

    /// Decides on the only open interrupt and continues the run.
    pub(crate) async fn decide_only(&self, run: &RunId, decision: Decision) {
        let open = self.only_open(run).await;
        self.decide(run, &open.opened.interrupt, decision).await.unwrap();
        self.world.settle().await;
    }

    pub(crate) async fn send(&self, run: &RunId, input: Input) -> Result<Arc<Run>, Error> {
        let actor = if input.permission().is_some() { operator() } else { Actor::engine() };
        self.driver.send(run, input, actor).await
    }

    /// Approves every interrupt until the run ends. Decides on unknown outcomes by the actual side effects.
    pub(crate) async fn approve_all(&self, run: &RunId) {
        for _ in 0..50 {
            self.world.settle().await;
            let Some(interrupt) = self.open(run).await.into_iter().next() else { return };
            let decision = self.yes(&interrupt);
            self.decide(run, &interrupt.opened.interrupt, decision).await.unwrap();
        }
        panic!("the run does not end");
    }

    /// Returns the decision with which the run continues after the interrupt.
    pub(crate) fn yes(&self, interrupt: &Interrupt) -> Decision {
        match interrupt.opened.kind {
            Kind::ToolApproval | Kind::PlanApproval | Kind::Review | Kind::Checkpoint => option("approve"),
            Kind::Question => text("answer", "yes"),
            Kind::Error => option("retry"),
            Kind::Continuation => option("continue"),
            Kind::UnknownOutcome => {
                let command = interrupt.content.pointer("/payload/arguments/command");
                let effect = format!("run:{}", command.and_then(Value::as_str).unwrap_or_default());
                if self.world.effects().contains(&effect) {
                    text("happened", "exit code 0")
                } else {
                    option("rerun")
                }
            }
            Kind::Choice | Kind::Turn | Kind::Escalation | Kind::ClientCall => panic!("{interrupt:?}"),
        }
    }

    /// Reads, verifies and returns the events of the run.
    pub(crate) async fn events(&self, run: &RunId) -> Vec<Event> {
        let sealed = self.driver.journal().read(&StreamId::Run(run.clone()), 0, usize::MAX >> 1).await;
        let mut chain = envelope::Chain::START;
        sealed.unwrap().iter().map(|sealed| event::open(sealed, &mut chain).unwrap()).collect()
    }

    /// Returns the `type` of each event, followed by the id of its call, if it has one.
    pub(crate) async fn story(&self, run: &RunId) -> Vec<String> {
        let tell = |event: &Event| {
            let (kind, facts) = event.fact.encode();
            match facts.get("call").and_then(Value::as_str) {
                Some(call) => format!("{kind} {call}"),
                None => kind,
            }
        };
        self.events(run).await.iter().map(tell).collect()
    }

    pub(crate) fn last_request(&self) -> String {
        serde_json::to_string(self.world.requests().last().unwrap()).unwrap()
    }
}
