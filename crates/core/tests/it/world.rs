//! Simulation in memory of the world around a run: a store, a clock, a scripted model, tools on a map of files, and
//! people.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use holdshort_core::actor::{Actor, Role};
use holdshort_core::asking::Asking;
use holdshort_core::definition::{
    Agent, CheckpointPhase, Definition, EndCondition, Gates, Limits, Phase, PhaseKind, StepGates,
};
use holdshort_core::digest::Digest;
use holdshort_core::envelope::Content;
use holdshort_core::event::{self, Event};
use holdshort_core::handoff;
use holdshort_core::id::{Draw, InterruptId, RunId, Seed, SessionId, StreamId};
use holdshort_core::interrupt::{About, Assignment, Cause, Decision, HeldWork, Kind, Opened};
use holdshort_core::level::Level;
use holdshort_core::message::{Arguments, Failure, FailureKind, Reply, RequestedCall};
use holdshort_core::people::{PeopleSource, Person};
use holdshort_core::policy::{Rule, RuleAction};
use holdshort_core::projection::Status;
use holdshort_core::run::{
    Action, Begin, Call, CallState, Config, Context, Fact, HandledInput, Input, Origin, Rejection, Run, Start,
};
use holdshort_core::session::Session;
use holdshort_core::system::{self, System};
use holdshort_core::time::Timestamp;
use holdshort_core::tool::{
    Category, Effect, HeldOutput, Inspection, InspectionOutcome, OnCrash, Opens, Outcome, Precondition,
    ResolvedPath, Runs, SandboxLevel, Spec,
};
use serde_json::{Value, json};

pub(crate) const WORKSPACE: &str = "/ws";

/// Time at which the clock starts: 2026-01-31T09:30:00Z.
pub(crate) const START_MS: i64 = 1_769_851_800_000;

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) run: Run,
    pub(crate) session: Session,
    pub(crate) system: System,
    pub(crate) now: Timestamp,
    pub(crate) epoch: u64,
    /// All appended events, of all streams.
    pub(crate) log: Vec<Event>,
    /// Next replies of the model, by step id.
    pub(crate) script: BTreeMap<String, VecDeque<Answer>>,
    pub(crate) files: BTreeMap<String, String>,
    /// Symbolic links in the workspace: target by name. A command `ln -s ../TARGET FOLDER/NAME` adds a link.
    pub(crate) links: BTreeMap<String, String>,
    /// Codes of the findings that every inspection of a call reports.
    pub(crate) findings: Vec<String>,
    /// Outcome of every command in the simulated workspace. `None` if the outcome depends on the command line.
    pub(crate) commands_end: Option<Outcome>,
    /// True if `write_file` proposes its changes during the inspection, as the real tool does.
    pub(crate) proposes: bool,
    /// Changes that `cargo fmt` makes in a trial, in the syntax of `./do`.
    pub(crate) formats: String,
    pub(crate) prints: String,
    /// True if commands can reach the network.
    pub(crate) network: bool,
    /// Side effects of the simulated tools in order, such as `write_file a.txt` or `run_command ls`.
    pub(crate) effects: Vec<String>,
    /// Length of the event log after each append. A crash leaves the journal at one of these lengths.
    pub(crate) commits: Vec<usize>,
    pub(crate) seeds: u64,
}

/// Returns a workflow with one step, whose agent has every tool.
pub(crate) fn definition() -> Definition {
    let text = |name: &str| json!({ name: { "type": "string" } });
    let object = |properties: Value, required: &[&str]| {
        json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        })
    };
    let here = |effect, category, on_crash| Runs::Here { effect, category, on_crash };
    let file = json!({ "path": { "type": "string" }, "content": { "type": "string" } });
    let subtask = json!({ "type": "object" });
    let tools = [
        (
            "read_file",
            object(text("path"), &["path"]),
            here(Effect::Read, Category::ReadOnly, OnCrash::Rerun),
        ),
        (
            "write_file",
            object(file, &["path", "content"]),
            here(Effect::Write, Category::FileWrite, OnCrash::Ask),
        ),
        (
            "run_command",
            object(text("command"), &["command"]),
            here(Effect::Write, Category::Bash, OnCrash::Ask),
        ),
        (
            "ask_human",
            object(json!({ "question": { "type": "string" }, "context": {}, "choices": {} }), &["question"]),
            Runs::Opens(Opens::Question),
        ),
        (
            "create_plan",
            object(json!({ "subtasks": { "type": "array", "items": subtask } }), &["subtasks"]),
            Runs::Opens(Opens::Plan),
        ),
        (
            "request_review",
            object(
                json!({
                    "title": { "type": "string" }, "content": { "type": "string" },
                    "findings": {}, "risk_level": { "type": "string" },
                }),
                &["title", "content"],
            ),
            Runs::Opens(Opens::Review),
        ),
    ];
    let tools: BTreeMap<String, Spec> = tools
        .into_iter()
        .map(|(name, parameters, runs)| {
            let name = name.to_owned();
            (name.clone(), Spec { name, description: String::new(), parameters, runs })
        })
        .collect();
    let agent = Agent {
        instructions: "Work.".to_owned(),
        asking_instructions: None,
        model: None,
        tools: tools.keys().cloned().collect(),
        ends: EndCondition::Reply,
    };
    Definition {
        name: "pair".to_owned(),
        description: String::new(),
        input: json!({ "type": "object", "required": ["task"] }),
        agents: BTreeMap::from([("pair".to_owned(), agent)]),
        tools,
        phases: vec![one_shot("work", &[])],
        gates: Gates { rules: vec![allow(&["read_file"])], ..Gates::default() },
        limits: Limits::default(),
        asking: Asking::default(),
        models: BTreeMap::new(),
        network: false,
        web: holdshort_core::web::Web::default(),
        result: None,
    }
}

/// Returns the workflow with two additional tools that a client runs.
pub(crate) fn with_client() -> Definition {
    with_client_tools(definition())
}

pub(crate) fn with_client_tools(mut definition: Definition) -> Definition {
    let tools = [
        ("client_read", Effect::Read, Category::ReadOnly, vec!["path"]),
        ("client_write", Effect::Write, Category::FileWrite, vec!["path", "content"]),
    ];
    for (name, effect, category, needs) in tools {
        let properties: Value = needs
            .iter()
            .map(|need| ((*need).to_owned(), json!({ "type": "string" })))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let parameters = json!({
            "type": "object", "properties": properties, "required": needs, "additionalProperties": false,
        });
        let runs = Runs::Client { effect, category };
        let spec = Spec { name: name.to_owned(), description: String::new(), parameters, runs };
        definition.tools.insert(name.to_owned(), spec);
        if let Some(agent) = definition.agents.get_mut("pair") {
            agent.tools.push(name.to_owned());
        }
    }
    definition
}

/// Returns the workflow with a second agent, `writer`, who may not run commands. Each agent can hand over to the other,
/// to a person, and to the terminator.
pub(crate) fn handing_over() -> Definition {
    let mut definition = definition();
    let names = ["pair", "writer"];
    let tools = ["read_file", "write_file"].map(str::to_owned).to_vec();
    let writer = Agent {
        instructions: "Write.".to_owned(),
        asking_instructions: None,
        model: Some("large".to_owned()),
        tools,
        ends: EndCondition::Reply,
    };
    definition.agents.insert("writer".to_owned(), writer);
    for name in names {
        for to in names.into_iter().chain([handoff::TERMINATOR, handoff::ADMIN]).filter(|to| *to != name) {
            let tool = handoff::tool(to);
            definition.agents.entry(name.to_owned()).and_modify(|agent| agent.tools.push(tool.name.clone()));
            definition.tools.insert(tool.name.clone(), tool);
        }
    }
    definition
}

pub(crate) fn external() -> Definition {
    Definition {
        name: "external".to_owned(),
        input: json!({}),
        agents: BTreeMap::new(),
        tools: BTreeMap::new(),
        phases: Vec::new(),
        ..definition()
    }
}

pub(crate) fn one_shot(id: &str, needs: &[&str]) -> Phase {
    phase(id, needs, PhaseKind::OneShot { agent: "pair".to_owned() })
}

pub(crate) fn checkpoint(id: &str, needs: &[&str]) -> Phase {
    phase(
        id,
        needs,
        PhaseKind::Checkpoint(CheckpointPhase {
            message: format!("look at {id}"),
            ..CheckpointPhase::default()
        }),
    )
}

pub(crate) fn phase(id: &str, needs: &[&str], kind: PhaseKind) -> Phase {
    Phase {
        id: id.to_owned(),
        kind,
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        input: None,
        gates: StepGates::default(),
        kinds: BTreeMap::new(),
        limits: Limits::default(),
    }
}

pub(crate) fn rule(action: RuleAction, tools: &[&str], commands: &[&str]) -> Rule {
    let owned = |list: &[&str]| list.iter().map(|each| (*each).to_owned()).collect();
    Rule { tools: owned(tools), commands: owned(commands), action, ..Rule::default() }
}

pub(crate) fn allow(tools: &[&str]) -> Rule {
    rule(RuleAction::Allow, tools, &[])
}

pub(crate) type Answer = Result<Reply, Failure>;

#[expect(clippy::unnecessary_wraps, reason = "a script holds failures too")]
pub(crate) fn says(text: &str) -> Answer {
    Ok(Reply { text: text.to_owned(), model: "m".to_owned(), ..Reply::default() })
}

#[expect(clippy::unnecessary_wraps, reason = "a script holds failures too")]
pub(crate) fn calls(calls: &[(&str, Value)]) -> Answer {
    let calls = calls
        .iter()
        .map(|(tool, arguments)| RequestedCall {
            tool: (*tool).to_owned(),
            arguments: Arguments::Json(arguments.clone()),
        })
        .collect();
    Ok(Reply { text: "I will.".to_owned(), calls, model: "m".to_owned(), ..Reply::default() })
}

pub(crate) fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": format!("text of {path}") }))
}

pub(crate) fn command(line: &str) -> (&'static str, Value) {
    ("run_command", json!({ "command": line }))
}

pub(crate) fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

pub(crate) fn fails(kind: FailureKind) -> Answer {
    Err(Failure { kind, retry_after_ms: None, message: format!("{kind:?}") })
}

pub(crate) fn choose(option: &str) -> Decision {
    Decision { option: option.to_owned(), ..Decision::default() }
}

pub(crate) fn choose_with(option: &str, text: &str) -> Decision {
    Decision { text: Some(text.to_owned()), ..choose(option) }
}

pub(crate) fn edit(value: Value) -> Decision {
    Decision { edit: value, ..choose("edit") }
}

/// Returns ids that are the same in every test run.
pub(crate) fn draw(n: u8) -> Draw {
    Draw::new(Seed([n; 16]), Timestamp::from_millis(START_MS))
}

/// Returns a system with the people whose names the tests use.
pub(crate) fn peopled() -> System {
    let mut system = System::default();
    for name in
        ["alice", "ann", "ben", "bob", "cem", "ceo", "cfo", "cto", "cy", "lena", "other", "release-manager"]
    {
        let person = person(&[Role::Operator], &[]);
        let fact = system::Fact::PersonSet { person: name.to_owned(), is: person };
        system.apply(&of_system(fact));
    }
    system
}

pub(crate) fn of_system(fact: system::Fact) -> Event {
    let fact = event::Fact::System(fact);
    let (at, content) = (Timestamp::from_millis(0), Content::none());
    Event { stream: StreamId::System, at, actor: Actor::engine(), fact, content }
}

pub(crate) fn person(roles: &[Role], groups: &[&str]) -> Person {
    Person {
        roles: roles.iter().copied().collect(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        time_zone: None,
        language: None,
        source: PeopleSource::Api,
        issued_at: None,
        name: None,
        addresses: BTreeMap::new(),
        away: None,
    }
}

/// Returns an assignment to these approvers. `None` if the list is empty.
pub(crate) fn assigned(names: &[&str]) -> Option<Assignment> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    (!names.is_empty()).then(|| Assignment::from_approvers(names))
}

pub(crate) fn first_approvers(opened: &Opened) -> Vec<String> {
    opened.assignment.stages[0].approvers.clone()
}

/// Returns the input of a new process that takes over the run and has no running work of its own.
pub(crate) fn adopt() -> Input {
    Input::Adopt { at_work: BTreeSet::new() }
}

impl World {
    /// Returns a world before the first event of the run.
    pub(crate) fn new(definition: Definition) -> Self {
        let (run, session) = (draw(1).id::<RunId>(), draw(2).id::<SessionId>());
        Self {
            run: Run::new(run, Arc::new(definition)),
            session: Session::new(session),
            system: peopled(),
            now: Timestamp::from_millis(START_MS),
            epoch: 1,
            log: Vec::new(),
            script: BTreeMap::new(),
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            findings: Vec::new(),
            commands_end: None,
            proposes: false,
            formats: "src/a=1".to_owned(),
            prints: String::new(),
            network: false,
            effects: Vec::new(),
            commits: Vec::new(),
            seeds: 0,
        }
    }

    /// Returns a world with a started run. `script` contains the replies for the step `work`.
    pub(crate) fn started(definition: Definition, script: Vec<Answer>) -> Self {
        let mut world = Self::new(definition).with("work", script);
        world.start(Config::default());
        world
    }

    /// Returns a world with a started run, whose task is `task`.
    pub(crate) fn on(task: &str, definition: Definition, script: Vec<Answer>) -> Self {
        let mut world = Self::new(definition).with("work", script);
        let mut input = world.start_input(Config::default());
        if let Input::Start(start) = &mut input {
            start.input = json!({ "task": task });
        }
        world.send(input);
        world
    }

    /// Returns the first line of the text with which the run ended: its error or reason.
    pub(crate) fn why(&self) -> Option<&str> {
        self.run.ended.as_ref()?.text.as_deref()?.lines().next()
    }

    pub(crate) fn with(mut self, step: &str, script: Vec<Answer>) -> Self {
        self.script.entry(step.to_owned()).or_default().extend(script);
        self
    }

    pub(crate) fn start(&mut self, config: Config) -> Vec<String> {
        let input = self.start_input(config);
        self.send(input)
    }

    pub(crate) fn start_input(&self, config: Config) -> Input {
        let origin = if self.run.definition.is_external() { Origin::External } else { Origin::Native };
        Input::Start(Start {
            session: self.session.id.clone(),
            definition: self.run.definition.digest(),
            config,
            input: json!({ "task": "Do it" }),
            origin,
            front: None,
            trace: None,
        })
    }

    pub(crate) fn context(&self, actor: &Actor) -> Context<'_> {
        let mut seed = [7; 16];
        seed[..8].copy_from_slice(&self.seeds.to_be_bytes());
        Context {
            now: self.now,
            seed: Seed(seed),
            actor: actor.clone(),
            session: &self.session,
            system: &self.system,
            epoch: self.epoch,
        }
    }

    pub(crate) fn started_by(&mut self) -> &mut Actor {
        &mut Arc::make_mut(self.run.started.as_mut().expect("it is started")).by
    }

    /// Handles an input. Asserts that applying the returned events to the current states yields the returned states.
    pub(crate) fn decided(&self, actor: &Actor, input: Input) -> Result<HandledInput, Rejection> {
        let decided = self.run.handle(&self.context(actor), input)?;
        let (mut run, mut session) = (self.run.clone(), self.session.clone());
        for event in &decided.events {
            run.apply(event);
            session.apply(event);
        }
        assert_eq!((&decided.run, &decided.session), (&run, &session));
        self.check_foretold_end(&decided);
        Ok(decided)
    }

    /// Asserts that an option ended the run as failed or cancelled exactly if the interrupt said so. Other ends after a
    /// decision, such as a limit, are ignored.
    fn check_foretold_end(&self, decided: &HandledInput) {
        const OF_DECISIONS: [&str; 6] =
            ["rejected", "aborted", "cancelled", "plan_iterations", "no_plan", "client_failed"];
        let ended = decided.run.ended.as_ref().filter(|ended| ended.status != Status::Completed);
        let has_ended = ended.is_some_and(|ended| OF_DECISIONS.contains(&&*ended.reason));
        for event in &decided.events {
            let event::Fact::Run(Fact::InterruptResolved {
                interrupt,
                option: Some(option),
                cause: Cause::Decision,
                ..
            }) = &event.fact
            else {
                continue;
            };
            let opened = self.run.interrupts.get(interrupt).map(|interrupt| &interrupt.opened);
            let Some(opened) = opened.filter(|opened| opened.about != About::External) else { continue };
            let offer = opened.options.iter().find(|offer| offer.id == *option).expect("it is offered");
            let is_foretold = offer.work() == HeldWork::Ended;
            let words = offer.does(opened.kind, true, false);
            assert_eq!(is_foretold, has_ended, "{:?} of {:?}: `{words}`", offer.id, opened.about);
            assert_eq!(
                words.contains("ends the run") || words.contains("cancels the run"),
                is_foretold,
                "{words}"
            );
        }
    }

    pub(crate) fn handle(&self, actor: &Actor, input: Input) -> Result<Vec<Event>, Rejection> {
        Ok(self.decided(actor, input)?.events)
    }

    pub(crate) fn try_send(&mut self, actor: &Actor, input: Input) -> Result<Vec<String>, Rejection> {
        let events = self.handle(actor, input)?;
        self.seeds += 1;
        Ok(self.append(events))
    }

    /// Appends the events to the log and applies them. Returns a short description of each event.
    pub(crate) fn append(&mut self, events: Vec<Event>) -> Vec<String> {
        let told = events.iter().map(describe_event).collect();
        for event in events {
            match &event.fact {
                event::Fact::Run(_) => self.run.apply(&event),
                event::Fact::Session(_) => self.session.apply(&event),
                event::Fact::System(_) => self.system.apply(&event),
            }
            self.log.push(event);
        }
        self.commits.push(self.log.len());
        told
    }

    #[track_caller]
    pub(crate) fn send(&mut self, input: Input) -> Vec<String> {
        self.try_send(&Actor::engine(), input).expect("the driver's input is taken")
    }

    #[track_caller]
    pub(crate) fn person(&mut self, input: Input) -> Vec<String> {
        self.try_send(&Actor::operator("rest"), input).expect("the person's input is taken")
    }

    #[track_caller]
    pub(crate) fn message(&mut self, text: &str) -> Vec<String> {
        self.person(Input::Message { text: text.to_owned() })
    }

    /// Decides on the only open interrupt of this kind.
    #[track_caller]
    pub(crate) fn decide(&mut self, kind: Kind, decision: Decision) -> Vec<String> {
        let interrupt = self.open(kind);
        self.person(Input::Decide { interrupt, decision, holder: None })
    }

    #[track_caller]
    pub(crate) fn open(&self, kind: Kind) -> InterruptId {
        let open: Vec<_> = self
            .run
            .open_interrupts()
            .filter(|(_, each)| each.opened.kind == kind)
            .map(|(id, _)| id)
            .collect();
        assert_eq!(open.len(), 1, "open interrupts of kind {kind:?}; log: {:#?}", self.story());
        open[0].clone()
    }

    pub(crate) fn open_kinds(&self) -> Vec<&'static str> {
        self.run.open_interrupts().map(|(_, interrupt)| interrupt.opened.kind.as_str()).collect()
    }

    pub(crate) fn pass_ms(&mut self, ms: u64) {
        self.now = self.now.plus_ms(ms);
    }

    pub(crate) fn story(&self) -> Vec<String> {
        self.log.iter().map(describe_event).collect()
    }

    pub(crate) fn count(&self, kind: &str) -> usize {
        self.log.iter().filter(|event| event.fact.encode().0 == kind).count()
    }

    /// Performs the actions of the run until none is left or the script has no more replies. Returns a short
    /// description of each event.
    pub(crate) fn work(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        for _ in 0..1_000 {
            let Some(more) = self.work_once() else { return told };
            told.extend(more);
        }
        panic!("the run does not come to rest: {:#?}", self.story());
    }

    /// Performs a single action of the run. Returns `None` if there is none.
    pub(crate) fn work_once(&mut self) -> Option<Vec<String>> {
        for action in self.run.actions() {
            match action {
                Action::Inspect { call, revision } => {
                    let inspected = self.inspect(&call);
                    return Some(self.send(Input::Inspected { call, revision, inspected }));
                }
                Action::Try { call, attempt } => {
                    let mut told =
                        self.send(Input::Begin { begins: vec![Begin::Trial { call: call.clone() }] });
                    let tried = self.try_command(&call);
                    told.extend(self.send(Input::Tried { call, attempt, tried }));
                    return Some(told);
                }
                Action::CallTool { call, attempt } => {
                    let mut told = self.begin_tool(&call);
                    let begun = &self.run.calls[&call];
                    let here = matches!(begun.state, CallState::Started { .. });
                    if here && begun.attempt == attempt {
                        let outcome = self.execute(&call);
                        told.extend(self.send(Input::Ran { call, attempt, outcome }));
                    }
                    return Some(told);
                }
                Action::CallModel { step, turn, not_before, .. } => {
                    if not_before.is_some_and(|at| at > self.now) {
                        continue;
                    }
                    let Some(next) = self.script.get_mut(&step).and_then(VecDeque::pop_front) else {
                        continue;
                    };
                    let mut told = self.begin_model(&step);
                    told.extend(self.answer(&step, turn, next));
                    return Some(told);
                }
            }
        }
        None
    }

    pub(crate) fn begin_tool(&mut self, call: &str) -> Vec<String> {
        let begin = self.begin_of(call);
        self.send(Input::Begin { begins: vec![begin] })
    }

    pub(crate) fn begin_of(&self, call: &str) -> Begin {
        let shown = self.run.calls.get(call).and_then(|call| call.look.as_ref());
        let observed = shown
            .map(|look| look.preconditions.iter().map(|each| self.precondition(&each.path)).collect())
            .unwrap_or_default();
        Begin::Tool { call: call.to_owned(), observed }
    }

    pub(crate) fn begin_model(&mut self, step: &str) -> Vec<String> {
        let turn = self.run.steps[step].turn;
        self.send(Input::Begin { begins: vec![Begin::Model { step: step.to_owned(), turn }] })
    }

    pub(crate) fn answer(&mut self, step: &str, turn: u32, answer: Answer) -> Vec<String> {
        let step = step.to_owned();
        self.send(match answer {
            Ok(reply) => Input::Replied { step, turn, reply },
            Err(failure) => Input::Failed { step, turn, failure },
        })
    }

    fn precondition(&self, path: &str) -> Precondition {
        let sha256 = self.files.get(path).map(|text| Digest::of_bytes(text.as_bytes()));
        Precondition { path: path.to_owned(), sha256 }
    }

    pub(crate) fn inspect(&self, call: &str) -> InspectionOutcome {
        let call = &self.run.calls[call];
        let writes = call.tool == "write_file";
        let preconditions = call
            .argument("path")
            .filter(|_| writes)
            .map(|path| self.precondition(path))
            .into_iter()
            .collect();
        InspectionOutcome::Ready(Inspection {
            workspace: WORKSPACE.to_owned(),
            cwd: WORKSPACE.to_owned(),
            preconditions,
            sandbox: call.argument("command").map(|_| SandboxLevel::Full),
            ask_because: self.findings.clone(),
            places: self.places(call),
            card: if self.network {
                json!({ "network": true })
            } else {
                json!({ "diff": { "path": call.argument("path") } })
            },
            proposed: if self.proposes && writes { Some(Box::new(self.propose(call))) } else { None },
        })
    }

    /// Returns the names in a call that are symbolic links, with their targets.
    fn places(&self, call: &Call) -> Vec<ResolvedPath> {
        let words = call.argument("command").into_iter().flat_map(str::split_whitespace);
        let named = words.chain(call.argument("path")).filter_map(|name| self.links.get_key_value(name));
        let place = |(name, target): (&String, &String)| ResolvedPath {
            named: name.clone(),
            resolved: Some(format!("{WORKSPACE}/{target}")),
        };
        named.map(place).collect()
    }

    /// Runs a started call like a real tool: a file is replaced only if it is still as it was shown.
    pub(crate) fn execute(&mut self, id: &str) -> Outcome {
        let call = self.run.calls[id].clone();
        if let Some(found) = call.committing() {
            return self.commit(&found.changeset.clone().expect("nothing is erased"), call.trial.commits > 1);
        }
        let path = call.argument("path").unwrap_or_default().to_owned();
        match call.tool.as_str() {
            "read_file" => match self.files.get(&path) {
                Some(text) => Outcome::Done { text: text.clone(), data: Value::Null },
                None => Outcome::Failed { text: format!("there is no file `{path}`") },
            },
            "held_report" => Outcome::Held(Box::new(HeldOutput {
                title: "The report".to_owned(),
                content: self.files.get("report").cloned().unwrap_or_default(),
                findings: vec!["sanctions: F1".to_owned()],
                implications: Vec::new(),
                level: Level::Critical,
                details: json!({ "findings": ["F1"] }),
                data: json!({ "own": 1 }),
            })),
            "write_file" => {
                let shown = call.look.as_ref().map(|look| look.preconditions.clone()).unwrap_or_default();
                if shown.iter().any(|each| *each != self.precondition(&each.path)) {
                    return Outcome::Changed { paths: vec![path] };
                }
                self.effects.push(format!("write_file {path}"));
                self.files.insert(path, call.argument("content").unwrap_or_default().to_owned());
                Outcome::Done { text: "written".to_owned(), data: Value::Null }
            }
            _ => {
                let line = call.argument("command").unwrap_or_default();
                self.effects.push(format!("run_command {line}"));
                if let ["ln", "-s", target, name] = *line.split(' ').collect::<Vec<_>>() {
                    self.links.insert(name.to_owned(), target.trim_start_matches("../").to_owned());
                }
                if let Some(outcome) = &self.commands_end {
                    return outcome.clone();
                }
                let code = i32::from(call.argument("command") == Some("false"));
                Outcome::Done { text: format!("exit code {code}"), data: json!({ "exit_code": code }) }
            }
        }
    }

    /// Ends the process as in a crash, and opens the store in a new process.
    pub(crate) fn crash(&mut self) -> Vec<String> {
        self.epoch += 1;
        if self.run.needs_adoption(self.epoch) { self.send(adopt()) } else { Vec::new() }
    }
}

/// Describes an event by its type and the values that distinguish events of this type.
pub(crate) fn describe_event(event: &Event) -> String {
    let (kind, facts) = event.fact.encode();
    let telling = [
        "call", "from", "to", "kind", "about", "outcome", "option", "end", "why", "reason", "limit", "by",
        "code", "phase", "flaw",
    ];
    let skip = |key: &str| key == "call" && kind.starts_with("interrupt") || key == "about";
    let mut words = vec![kind.clone()];
    for key in telling.into_iter().filter(|key| !skip(key)) {
        match &facts[key] {
            Value::String(text) => words.push(text.clone()),
            Value::Object(map) => words.extend(map.keys().next().cloned()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
        }
    }
    words.join(" ")
}
