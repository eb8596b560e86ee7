//! Plays a run of a workflow from start to end, without I/O. Agents follow a script, tools do nothing, and the test
//! decides open interrupts.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::changeset::Changeset;
use holdshort_core::definition::Definition;
use holdshort_core::event;
use holdshort_core::id::{Draw, InterruptId, Seed, SessionId};
use holdshort_core::interrupt::Decision;
use holdshort_core::message::{Arguments, Message, Reply, RequestedCall};
use holdshort_core::run::{Action, Begin, Config, Context, Fact, Input, Origin, Run, Start};
use holdshort_core::session::Session;
use holdshort_core::system::System;
use holdshort_core::time::Timestamp;
use holdshort_core::tool::{Inspection, InspectionOutcome, Outcome, SandboxLevel, TrialOutcome, TrialResult};
use serde_json::{Value, json};

/// Time at which the simulated run takes place: 2026-01-31T09:30:00Z.
const NOW: Timestamp = Timestamp::from_millis(1_769_851_800_000);

pub(crate) struct Stage {
    pub(crate) run: Run,
    session: Session,
    system: System,
    script: BTreeMap<String, VecDeque<Reply>>,
    /// Agents that were called and interrupts that were opened in the simulated run, in order: `planner`,
    /// `(plan_approval)`.
    chain: Vec<String>,
    seeds: u64,
}

pub(crate) fn says(text: &str) -> Reply {
    Reply { text: text.to_owned(), model: "m".to_owned(), ..Reply::default() }
}

pub(crate) fn calls(tool: &str, arguments: Value) -> Reply {
    let calls = vec![RequestedCall { tool: tool.to_owned(), arguments: Arguments::Json(arguments) }];
    Reply { calls, ..says("I will.") }
}

pub(crate) fn hands(to: &str, message: &str) -> Reply {
    calls(&format!("handoff_to_{to}"), json!({ "message": message }))
}

/// Returns the last scripted reply of an agent that has `ends: finish`.
pub(crate) fn finishes(summary: &str) -> Reply {
    calls("finish", json!({ "summary": summary }))
}

/// Returns a scripted reply with a plan of these subtasks. Each subtask needs the previous one. A subtask may name its
/// agent: `build@engineer`.
pub(crate) fn plans(subtasks: &[&'static str]) -> Reply {
    let mut before: Option<&'static str> = None;
    let mut subtask = |written: &&'static str| {
        let (id, agent) = written.split_once('@').map_or((*written, None), |(id, agent)| (id, Some(agent)));
        let needs: Vec<&str> = before.replace(id).into_iter().collect();
        let mut subtask = json!({ "id": id, "description": format!("Do {id}."), "depends_on": needs });
        if let Some(agent) = agent {
            subtask["agent"] = agent.into();
        }
        subtask
    };
    let subtasks: Vec<Value> = subtasks.iter().map(&mut subtask).collect();
    says(&json!({ "subtasks": subtasks }).to_string())
}

impl Stage {
    /// Starts a simulated run of a workflow. `script` holds the replies of each agent.
    pub(crate) fn new(definition: Arc<Definition>, script: &[(&str, &[Reply])]) -> Self {
        let mut draw = Draw::new(Seed([1; 16]), NOW);
        let script = script.iter().map(|(agent, replies)| ((*agent).to_owned(), replies.to_vec().into()));
        let mut stage = Self {
            run: Run::new(draw.id(), definition),
            session: Session::new(draw.id::<SessionId>()),
            system: System::default(),
            script: script.collect(),
            chain: Vec::new(),
            seeds: 0,
        };
        let start = Input::Start(Start {
            session: stage.session.id.clone(),
            definition: stage.run.definition.digest(),
            config: Config::default(),
            input: json!({ "task": "Find the wettest month" }),
            origin: Origin::Native,
            front: None,
            trace: None,
        });
        stage.send(&Actor::engine(), start);
        stage.play();
        stage
    }

    fn send(&mut self, actor: &Actor, input: Input) {
        self.seeds += 1;
        let mut seed = [7; 16];
        seed[..8].copy_from_slice(&self.seeds.to_be_bytes());
        let cx = Context {
            now: NOW,
            seed: Seed(seed),
            actor: actor.clone(),
            session: &self.session,
            system: &self.system,
            epoch: 1,
        };
        let decided = self.run.handle(&cx, input).expect("it fits");
        for event in &decided.events {
            if let event::Fact::Run(Fact::InterruptOpened(opened)) = &event.fact {
                self.chain.push(format!("({})", opened.kind.as_str()));
            }
        }
        self.run = decided.run;
    }

    /// Performs pending actions of the simulated run until it waits for a person or the script has no further replies.
    fn play(&mut self) {
        while self.play_once() {}
    }

    fn play_once(&mut self) -> bool {
        for action in self.run.actions() {
            match action {
                Action::Inspect { call, revision } => {
                    let inspected = self.inspected(&call);
                    self.send(&Actor::engine(), Input::Inspected { call, revision, inspected });
                }
                Action::CallTool { call, attempt } => {
                    let begins = vec![Begin::Tool { call: call.clone(), observed: Vec::new() }];
                    self.send(&Actor::engine(), Input::Begin { begins });
                    let outcome = self.outcome(&call);
                    self.send(&Actor::engine(), Input::Ran { call, attempt, outcome });
                }
                Action::CallModel { step, turn, .. } => {
                    let agent = self.run.steps[&step].agent.clone();
                    let Some(reply) = self.script.get_mut(&agent).and_then(VecDeque::pop_front) else {
                        continue;
                    };
                    self.chain.push(agent);
                    self.send(
                        &Actor::engine(),
                        Input::Begin { begins: vec![Begin::Model { step: step.clone(), turn }] },
                    );
                    self.send(&Actor::engine(), Input::Replied { step, turn, reply });
                }
                Action::Try { call, attempt } => {
                    self.send(
                        &Actor::engine(),
                        Input::Begin { begins: vec![Begin::Trial { call: call.clone() }] },
                    );
                    let yielded = TrialResult {
                        changeset: Changeset::default(),
                        layer: None,
                        ask_because: Vec::new(),
                        text: "exit code 0".to_owned(),
                        data: Value::Null,
                        card: Value::Null,
                    };
                    let tried = TrialOutcome::Yielded(yielded);
                    self.send(&Actor::engine(), Input::Tried { call, attempt, tried });
                }
            }
            return true;
        }
        false
    }

    fn inspected(&self, call: &str) -> InspectionOutcome {
        InspectionOutcome::Ready(Inspection {
            workspace: "/ws".to_owned(),
            cwd: "/ws".to_owned(),
            preconditions: Vec::new(),
            sandbox: self.run.calls[call].argument("command").map(|_| SandboxLevel::Full),
            ask_because: Vec::new(),
            places: Vec::new(),
            proposed: None,
            card: Value::Null,
        })
    }

    /// Returns the result of a simulated tool call. The command `false` fails. All other calls succeed.
    fn outcome(&self, call: &str) -> Outcome {
        let code = i32::from(self.run.calls[call].argument("command") == Some("false"));
        Outcome::Done { text: format!("exit code {code}"), data: json!({ "exit_code": code }) }
    }

    /// Returns the agents that were called and the interrupts that were opened since the previous call of this
    /// function, in order.
    pub(crate) fn chain(&mut self) -> String {
        std::mem::take(&mut self.chain).join(" ")
    }

    /// Decides the only open interrupt and continues the run. Returns the agents and interrupts since the decision.
    #[track_caller]
    pub(crate) fn decide(&mut self, option: &str, text: &str) -> String {
        let open: Vec<InterruptId> = self.run.open_interrupts().map(|(id, _)| id.clone()).collect();
        let [interrupt] = open.as_slice() else { panic!("{} interrupts are open", open.len()) };
        let text = (!text.is_empty()).then(|| text.to_owned());
        let decision = Decision { option: option.to_owned(), text, ..Decision::default() };
        self.chain.clear();
        self.send(
            &Actor::operator("ann"),
            Input::Decide { interrupt: interrupt.clone(), decision, holder: None },
        );
        self.play();
        self.chain()
    }

    /// Returns the option that agrees to the open interrupt, or `None` if no interrupt is open.
    pub(crate) fn agrees(&self) -> Option<&'static str> {
        let (_, open) = self.run.open_interrupts().next()?;
        ["approve", "continue", "retry"].into_iter().find(|option| open.offers(option).is_some())
    }

    /// Returns the text of the next model request of a step in the simulated run. Checks that every call in the request
    /// is followed by its result.
    #[track_caller]
    pub(crate) fn request(&self, step: &str) -> String {
        let messages = self.run.request(step).expect("the step has started").messages;
        let mut open: VecDeque<String> = VecDeque::new();
        let said = messages.into_iter().map(|message| match message {
            Message::System { text } | Message::User { text } => {
                assert!(open.is_empty(), "a call without its result");
                text
            }
            Message::Assistant { text, calls, .. } => {
                assert!(open.is_empty(), "a call without its result");
                open.extend(calls.into_iter().map(|call| call.id));
                text
            }
            Message::Tool { call, text, .. } => {
                assert_eq!(open.pop_front(), Some(call));
                text
            }
        });
        said.collect::<Vec<_>>().join("\n")
    }

    /// Returns how the simulated run ended: `completed done`, or the status and the reason with its text.
    pub(crate) fn ended(&self) -> String {
        match &self.run.ended {
            Some(ended) => {
                let text = ended.text.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
                format!("{} {}{text}", ended.status.as_str(), ended.reason)
            }
            None => self.run.status().as_str().to_owned(),
        }
    }
}
