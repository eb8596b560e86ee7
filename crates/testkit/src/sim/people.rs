//! Requests of people and of external agents: they start, decide, edit, steer and ask. Some of these requests are late,
//! some are repeated, and some arrive at the same time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use holdshort_core::actor::{Actor, Role};
use holdshort_core::asking::Form;
use holdshort_core::definition::Definition;
use holdshort_core::digest::Digest;
use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId};
use holdshort_core::interrupt::{Assignment, ClaimHolder, Decision, Effect, Interrupt, Kind, Timing};
use holdshort_core::policy::Rule;
use holdshort_core::run::{Ask, ClientOutcome, Config, Input, Origin, Run};
use holdshort_core::{session, system};
use holdshort_engine::{Clock, Error, FollowUp, IdempotencyKey, NextRun, OpenSession, Say, StartRun};
use holdshort_store::Error as StoreError;
use serde_json::{Value, json};

use super::choices::Choices;
use super::history::short;
use super::models::{self, COMMANDS};
use super::node::Node;
use super::ranges::{
    COPILOTS_FROM, ENDINGS_FROM, FREEZES_FROM, INTERRUPTIONS_FROM, PLANS_FROM, QUESTIONS_FROM, SESSIONS_FROM,
    TALKS_FROM, TRIALS_FROM,
};
use super::site::{Shared, Site, lock};
use super::world::WORKSPACE;
use super::{copilots, freezes, questions, workflows};

/// Maximum number of runs that one simulation starts.
const RUNS: usize = 8;
const COPILOTS: usize = 3;

/// A request of a simulated person or agent, which can be repeated.
#[derive(Clone, Debug)]
pub(super) enum SimRequest {
    Start {
        definition: Arc<Definition>,
        task: String,
        /// Subject of the run to start. Answers are stored for this subject, so that they can be used again.
        subject: Option<&'static str>,
        unattended: bool,
        origin: Origin,
        session: Option<SessionId>,
        key: Option<String>,
        ask: Option<Box<Ask>>,
    },
    Send {
        run: RunId,
        input: Box<Input>,
        actor: Actor,
    },
    Ask {
        run: RunId,
        ask: Box<Ask>,
        key: String,
    },
    Change {
        input: system::Input,
    },
    Revoke {
        session: SessionId,
        grant: GrantId,
    },
    OpenSession {
        idle_ms: Option<u64>,
    },
    SuspendSession {
        session: SessionId,
    },
    ResumeSession {
        session: SessionId,
    },
    CloseSession {
        session: SessionId,
    },
    Say {
        session: SessionId,
        definition: Arc<Definition>,
        text: String,
        to: Option<InterruptId>,
        agent: Option<String>,
        key: Option<String>,
    },
    /// A simulated person corrects or erases a stored answer.
    Amend {
        run: RunId,
        input: Box<Input>,
        actor: Actor,
    },
    Undo {
        run: RunId,
        to: u64,
    },
    /// A simulated node once more looks for runs that it can continue.
    Sweep,
}

pub(super) fn of_client(tool: &str) -> bool {
    tool.starts_with("client_")
}

/// Returns a result that a client sends for a call of the run. Possibly the client was never asked to run this call.
fn client_result(run: &Run, choices: &mut Choices) -> Option<Input> {
    let calls: Vec<&String> =
        run.calls.iter().filter(|(_, call)| of_client(&call.tool)).map(|(id, _)| id).collect();
    let call = (!calls.is_empty()).then(|| (*choices.pick(&calls)).clone())?;
    let text = "as the client says".to_owned();
    let outcome =
        if choices.one_in(3) { ClientOutcome::Failed { text } } else { ClientOutcome::Done { text } };
    Some(Input::ClientResult { call, outcome })
}

/// Returns the current plan of the run with a change: one subtask more, one subtask less, or the reverse order.
fn replan(run: &Run, choices: &mut Choices) -> Input {
    let phases: Vec<&String> = run.plans.keys().collect();
    let phase = (*choices.pick(&phases)).clone();
    let plan = run.plans[&phase].versions.last().cloned().unwrap_or_default();
    let mut subtasks = json!(plan.subtasks);
    if let Some(subtasks) = subtasks.as_array_mut() {
        match choices.below(3) {
            0 => subtasks.push(json!({ "id": format!("x{}", subtasks.len()), "description": "more" })),
            1 => drop(subtasks.pop()),
            _ => subtasks.reverse(),
        }
    }
    Input::Replan { phase, version: None, plan: json!({ "subtasks": subtasks }) }
}

/// Requests of people and agents that can be made in a simulation.
pub(super) struct Menu {
    pub(super) workflows: Vec<Arc<Definition>>,
    pub(super) keys: usize,
    /// Seed of the simulation. The range to which the seed belongs determines which requests are included.
    seed: u64,
}

impl Menu {
    pub(super) fn new(seed: u64, choices: &mut Choices) -> Self {
        let make = match seed {
            ..PLANS_FROM => workflows::random,
            QUESTIONS_FROM.. if !seed.is_multiple_of(4) => questions::workflow,
            COPILOTS_FROM.. => copilots::workflow,
            _ if seed % 2 == 1 => workflows::planned,
            _ => workflows::team,
        };
        let mut workflows: Vec<_> = (0..2).map(|_| make(choices)).collect();
        if seed >= ENDINGS_FROM {
            workflows = workflows.into_iter().map(|made| workflows::with_finish(&made, choices)).collect();
        }
        if seed >= TALKS_FROM {
            workflows = workflows.into_iter().map(|made| workflows::with_quorums(&made, choices)).collect();
        }
        if seed >= TRIALS_FROM {
            workflows = workflows.into_iter().map(|made| workflows::with_trials(&made, choices)).collect();
        }
        if seed >= INTERRUPTIONS_FROM {
            workflows = workflows.into_iter().map(|made| workflows::with_grants(&made, choices)).collect();
        }
        workflows.push(workflows::external());
        Self { workflows, keys: 0, seed }
    }

    pub(super) fn next_request(&mut self, site: &mut Site, choices: &mut Choices) -> SimRequest {
        let runs = site.witness.runs().count();
        let most = if self.plays_copilots() { COPILOTS } else { RUNS };
        if runs == 0 || (runs < most && choices.one_in(6)) {
            return self.start(site, choices);
        }
        // Copilot rounds take many turns. If people did too much else, rounds would not complete.
        if self.plays_copilots()
            && !choices.one_in(6)
            && let Some(deed) = copilots::next_request(site, choices)
        {
            return deed;
        }
        if self.seed >= SESSIONS_FROM && choices.one_in(8) {
            return of_session(site, choices);
        }
        if self.seed >= TALKS_FROM && choices.one_in(4) {
            return self.talk(site, choices);
        }
        let all: Vec<&Run> = site.witness.runs().collect();
        if self.seed >= FREEZES_FROM && choices.one_in(10) {
            let run = *choices.pick(&all);
            return freezes::change_freeze(run, site.witness.system(), choices);
        }
        if self.seed >= QUESTIONS_FROM && choices.one_in(12) {
            let run = *choices.pick(&all);
            if let Some(deed) = questions::amended(run, choices) {
                return deed;
            }
        }
        if self.seed >= TRIALS_FROM && all.len() < 2 * RUNS && choices.one_in(10) {
            let run = *choices.pick(&all);
            let to = if choices.one_in(2) {
                0
            } else {
                choices.below(usize::try_from(run.seq).unwrap_or(1)) as u64
            };
            return SimRequest::Undo { run: run.id.clone(), to };
        }
        if self.seed >= TRIALS_FROM && choices.one_in(10) {
            let may = all
                .iter()
                .flat_map(|run| run.stoppable_calls().map(|call| (run.id.clone(), call.to_owned())));
            let may: Vec<(RunId, String)> = may.collect();
            if !may.is_empty() {
                let (run, call) = choices.pick(&may).clone();
                let text = choices.one_in(2).then(|| "enough".to_owned());
                return SimRequest::Send {
                    run,
                    input: Box::new(Input::StopCall { call, text }),
                    actor: someone("alice"),
                };
            }
        }
        let at_work: Vec<&Run> = all.iter().copied().filter(|run| run.ended.is_none()).collect();
        if self.seed >= INTERRUPTIONS_FROM && !at_work.is_empty() && choices.one_in(8) {
            let run = choices.pick(&at_work).id.clone();
            let text = choices.one_in(3).then(|| "another way".to_owned());
            return SimRequest::Send {
                run,
                input: Box::new(Input::Interrupt { text }),
                actor: someone("alice"),
            };
        }
        let any = at_work.is_empty() || choices.one_in(12);
        let run = (*choices.pick(if any { &all } else { &at_work })).clone();
        let send =
            |input| SimRequest::Send { run: run.id.clone(), input: Box::new(input), actor: someone("alice") };
        match choices.below(24) {
            0..12 => match decision(&run, site, choices) {
                Some((input, actor)) => {
                    SimRequest::Send { run: run.id.clone(), input: Box::new(input), actor }
                }
                None => send(Input::Message { text: "hurry".to_owned() }),
            },
            12 => send(Input::Message { text: "look again".to_owned() }),
            13 => send(Input::Pause),
            14 | 15 => send(Input::Resume),
            16 if choices.one_in(4) => send(Input::Cancel { text: None }),
            17 => freezes::of_all(choices),
            18 => SimRequest::Change { input: system::Input::SetPolicy { rules: policy(choices) } },
            19 => match site.witness.grants().first() {
                Some((session, grant)) => {
                    SimRequest::Revoke { session: session.clone(), grant: grant.clone() }
                }
                None => SimRequest::Sweep,
            },
            20 => {
                SimRequest::Send { run: run.id.clone(), input: Box::new(Input::Tick), actor: Actor::engine() }
            }
            21 => SimRequest::Send {
                run: run.id.clone(),
                input: Box::new(Input::Revote),
                actor: Actor::engine(),
            },
            22 => SimRequest::Sweep,
            _ if run.definition.is_external() => self.external(&run, choices),
            _ if !run.plans.is_empty() => send(replan(&run, choices)),
            _ if run.definition.agents.contains_key("other") => {
                send(client_result(&run, choices).unwrap_or(Input::Resume))
            }
            _ => send(Input::Resume),
        }
    }

    fn start(&mut self, site: &Site, choices: &mut Choices) -> SimRequest {
        let definition = choices.pick(&self.workflows).clone();
        let sessions: Vec<SessionId> = if self.seed >= SESSIONS_FROM {
            sessions(site)
        } else {
            site.witness.runs().filter_map(|run| run.session().cloned()).collect()
        };
        let session = (!sessions.is_empty() && choices.one_in(2)).then(|| choices.pick(&sessions).clone());
        // The idempotency key is new, or is that of an equal or of a different earlier request.
        self.keys += usize::from(!choices.one_in(4));
        let key = (!choices.one_in(3)).then(|| format!("key {}", self.keys));
        let ask = definition.is_external().then(|| Box::new(ask(choices)));
        let origin = match &ask {
            None => Origin::Native,
            Some(_) if choices.one_in(2) => Origin::ExternalOnce,
            Some(_) => Origin::External,
        };
        let (task, unattended) = match self.seed {
            ..COPILOTS_FROM => ("do it".to_owned(), false),
            _ => (copilots::random_message(choices), choices.one_in(6)),
        };
        let subject = if self.seed >= QUESTIONS_FROM { questions::subject(choices) } else { None };
        SimRequest::Start { definition, task, subject, unattended, origin, session, key, ask }
    }

    fn plays_copilots(&self) -> bool {
        self.seed >= COPILOTS_FROM && (self.seed < QUESTIONS_FROM || self.seed.is_multiple_of(4))
    }

    /// Returns a request of a simulated person that arrives at the same time as `deed`.
    pub(super) fn concurrent_request(&self, deed: &SimRequest, choices: &mut Choices) -> Option<SimRequest> {
        if self.plays_copilots() && choices.one_in(6) {
            copilots::concurrent_request(deed, choices)
        } else {
            None
        }
    }

    /// Returns a request that sends a message to a session, or that acts on an interrupt without resolving it.
    fn talk(&mut self, site: &Site, choices: &mut Choices) -> SimRequest {
        let sessions = sessions(site);
        let all: Vec<(&Run, &Interrupt)> = site
            .witness
            .runs()
            .flat_map(|run| run.interrupts.values().map(move |interrupt| (run, interrupt)))
            .collect();
        if !all.is_empty() && choices.one_in(2) {
            let (run, interrupt) = *choices.pick(&all);
            let interrupt = interrupt.opened.interrupt.clone();
            let holder =
                choices.one_in(2).then(|| ClaimHolder { node: 1, number: u64::from(choices.one_in(2)) });
            let input = match choices.below(4) {
                0 | 1 => Input::Claim { interrupt, holder, over: None },
                2 => Input::Release { interrupt, holder },
                _ => Input::Comment { interrupt, text: "I wonder".to_owned() },
            };
            let actor = someone(if choices.one_in(2) { "alice" } else { "bob" });
            return SimRequest::Send { run: run.id.clone(), input: Box::new(input), actor };
        }
        if sessions.is_empty() {
            return SimRequest::OpenSession { idle_ms: None };
        }
        let session = choices.pick(&sessions).clone();
        let to = choices.one_in(3).then(|| all.iter().map(|(_, each)| &each.opened.interrupt));
        let to: Vec<InterruptId> = to.into_iter().flatten().cloned().collect();
        let to = (!to.is_empty()).then(|| choices.pick(&to).clone());
        let native: Vec<_> = self.workflows.iter().filter(|each| !each.is_external()).collect();
        let definition = (*choices.pick(&native)).clone();
        self.keys += usize::from(!choices.one_in(4));
        let key = (!choices.one_in(2)).then(|| format!("key {}", self.keys));
        let agent = choices.one_in(6).then(|| "agent".to_owned()).filter(|_| to.is_none());
        SimRequest::Say { session, definition, text: format!("word {}", self.keys), to, agent, key }
    }

    fn external(&mut self, run: &Run, choices: &mut Choices) -> SimRequest {
        if choices.one_in(3) {
            let input = Box::new(Input::Finish { result: json!("finished") });
            return SimRequest::Send { run: run.id.clone(), input, actor: Actor::agent("agent", "sim") };
        }
        self.keys += 1;
        SimRequest::Ask {
            run: run.id.clone(),
            ask: Box::new(ask(choices)),
            key: format!("key {}", self.keys),
        }
    }
}

/// Returns all simulated sessions: those that have runs, and those that people opened.
fn sessions(site: &Site) -> Vec<SessionId> {
    let of_runs = site.witness.runs().filter_map(|run| run.session().cloned());
    let all: BTreeSet<SessionId> = of_runs.chain(site.witness.sessions().cloned()).collect();
    all.into_iter().collect()
}

fn of_session(site: &Site, choices: &mut Choices) -> SimRequest {
    let sessions = sessions(site);
    if sessions.is_empty() || choices.one_in(4) {
        return SimRequest::OpenSession { idle_ms: choices.one_in(2).then_some(30_000) };
    }
    let session = choices.pick(&sessions).clone();
    match choices.below(16) {
        0..8 => SimRequest::SuspendSession { session },
        8..15 => SimRequest::ResumeSession { session },
        _ => SimRequest::CloseSession { session },
    }
}

pub(super) fn someone(name: &str) -> Actor {
    Actor { id: name.to_owned(), role: Role::Operator, via: Some("sim".to_owned()), let_in_by: None }
}

fn policy(choices: &mut Choices) -> Vec<Rule> {
    if choices.one_in(2) { Vec::new() } else { workflows::rules(choices) }
}

fn ask(choices: &mut Choices) -> Ask {
    Ask {
        kind: *choices.pick(&[Kind::Question, Kind::ToolApproval, Kind::Choice, Kind::Review, Kind::Turn]),
        title: "May I?".to_owned(),
        message: String::new(),
        payload: json!({ "n": 1 }),
        options: Vec::new(),
        response_schema: None,
        expires_in_ms: choices.one_in(2).then_some(20_000),
        on_expiry: None,
        assignment: Assignment::default(),
        call: None,
        trial: None,
        usable_ms: None,
        callback: None,
        withhold: Vec::new(),
        timing: Timing::default(),
    }
}

/// Returns a decision on an interrupt of the run. In most cases, this interrupt is open. Possibly the actor is not
/// allowed to decide.
pub(super) fn decision(run: &Run, site: &mut Site, choices: &mut Choices) -> Option<(Input, Actor)> {
    let resolved = choices.one_in(8);
    let candidates: Vec<&Interrupt> =
        run.interrupts.values().filter(|each| each.is_open() != resolved).collect();
    if candidates.is_empty() {
        return None;
    }
    let interrupt = *choices.pick(&candidates);
    let mut choice = choices.pick(&interrupt.opened.options);
    // A cancelled run asks no more questions. Therefore this option is chosen rarely.
    if run.definition.asking.form == Form::Reply && choice.id == "cancel" && !choices.one_in(6) {
        choice = &interrupt.opened.options[0];
    }
    let text = (choice.needs_text || choices.one_in(4)).then(|| "so be it".to_owned());
    let edit = if choice.effect == Effect::ProceedWithSome {
        some_of(interrupt, choices)
    } else if choice.needs_edit {
        edit(interrupt, site, choices)
    } else {
        Value::Null
    };
    let version = choices.one_in(4).then_some(1);
    let decision = if copilots::is_of_a_round(interrupt) {
        copilots::answer(interrupt, choices)
    } else {
        Decision { option: choice.id.clone(), text, edit, version, ..Decision::default() }
    };
    let actor = match choices.below(8) {
        0..=5 => someone("alice"),
        6 => someone("bob"),
        _ => Actor::agent("agent", "sim"),
    };
    Some((Input::Decide { interrupt: interrupt.opened.interrupt.clone(), decision, holder: None }, actor))
}

/// Returns a random selection of the parts of an interrupt, if a person can select parts.
fn some_of(interrupt: &Interrupt, choices: &mut Choices) -> Value {
    let parts = interrupt.content.pointer("/payload/trial/keep/parts").and_then(Value::as_array);
    parts.into_iter().flatten().filter(|_| choices.one_in(2)).cloned().collect()
}

fn edit(interrupt: &Interrupt, site: &mut Site, choices: &mut Choices) -> Value {
    let tool = interrupt.content.pointer("/payload/tool").and_then(Value::as_str).unwrap_or_default();
    match (interrupt.opened.kind, tool) {
        (Kind::ToolApproval, "write_file") => models::write(&mut site.world, choices),
        (Kind::ToolApproval, "run_command") => json!({ "command": choices.pick(&COMMANDS) }),
        (Kind::ToolApproval, _) => json!({ "path": "a" }),
        (Kind::PlanApproval, _) => json!({ "subtasks": [{ "id": "2", "description": "other" }] }),
        _ => json!("edited"),
    }
}

impl SimRequest {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Start { definition, key, .. } => format!("starts {} with {key:?}", definition.name),
            Self::Send { run, input, actor } => match &**input {
                Input::Decide { interrupt, decision, .. } => format!(
                    "{} decides {} of {}: {}",
                    actor.id,
                    short(interrupt.as_str()),
                    short(run.as_str()),
                    decision.option
                ),
                other => format!("{} sends {} {other:?}", actor.id, short(run.as_str())),
            },
            Self::Ask { run, key, .. } => format!("an agent asks in {} with {key}", short(run.as_str())),
            Self::Change { input } => format!("alice changes the installation: {input:?}"),
            Self::Revoke { session, grant } => {
                format!("alice revokes {} of {}", short(grant.as_str()), short(session.as_str()))
            }
            Self::OpenSession { idle_ms } => format!("alice opens a session that expires after {idle_ms:?}"),
            Self::SuspendSession { session } => format!("alice suspends {}", short(session.as_str())),
            Self::ResumeSession { session } => format!("alice resumes {}", short(session.as_str())),
            Self::CloseSession { session } => format!("alice closes {}", short(session.as_str())),
            Self::Say { session, text, to, agent, key, .. } => {
                let session = short(session.as_str());
                format!("alice says {text:?} in {session} to {to:?}, for {agent:?}, with {key:?}")
            }
            Self::Amend { run, input, .. } => questions::describe_amendment(run, input),
            Self::Undo { run, to } => format!("alice undoes {} back to {to}", short(run.as_str())),
            Self::Sweep => "sweeps".to_owned(),
        }
    }

    /// Sends the request to a simulated node. If `patient` is true, the request is repeated when the store has failed.
    pub(super) async fn carry_out(self, node: Node, site: Shared, patient: bool) {
        loop {
            let deed = self.with_unique_text(&site);
            let answered = deed.try_on(&node, &site).await;
            let Err(error) = answered else { return };
            if let (Error::Store(StoreError::Full), Some((run, text))) = (&error, deed.says()) {
                lock(&site).witness.not_said(run, text);
            }
            lock(&site).record_history(|| format!("n{} answers: {error}", node.id));
            match error {
                Error::Store(_) | Error::Busy if patient => {
                    node.driver.clock().sleep(Duration::from_secs(1)).await;
                }
                error if error.is_unreadable() || matches!(error, Error::Internal(_)) => {
                    lock(&site).witness.note(Err(format!("a driver answers: {error}")));
                    return;
                }
                _ => return,
            }
        }
    }

    /// Returns the request with a message text that no other request has. Therefore the message can be told apart from
    /// all others.
    fn with_unique_text(&self, site: &Shared) -> Self {
        let Some((run, text)) = self.says() else { return self.clone() };
        let mut site = lock(site);
        site.said += 1;
        let input = Box::new(Input::Message { text: format!("{text} {}", site.said) });
        Self::Send { run: run.clone(), input, actor: someone("alice") }
    }

    fn says(&self) -> Option<(&RunId, &str)> {
        let Self::Send { run, input, .. } = self else { return None };
        let Input::Message { text } = &**input else { return None };
        Some((run, text))
    }

    async fn try_on(&self, node: &Node, site: &Shared) -> Result<(), Error> {
        let driver = &node.driver;
        match self.clone() {
            Self::Start { definition, task, subject, unattended, origin, session, key, ask } => {
                let is_external = definition.is_external();
                let start = StartRun {
                    origin,
                    config: Config { workspace: Some(WORKSPACE.to_owned()), unattended, ..Config::default() },
                    input: match subject {
                        Some(subject) => json!({ "task": task, "subject": subject }),
                        None => json!({ "task": task }),
                    },
                    ask: ask.map(|ask| *ask),
                    key: key.as_deref().map(|key| idempotency(key, &definition.name)),
                    definition,
                    session,
                    front: None,
                    trace: None,
                };
                let actor = if is_external { Actor::agent("agent", "sim") } else { someone("alice") };
                let started = driver.start(start, actor).await?;
                if let Some(key) = key {
                    lock(site).witness.started(&key, &started.run);
                }
            }
            Self::Send { run, input, actor } => {
                let live = driver.send(&run, (*input).clone(), actor.clone()).await?;
                let mut site = lock(site);
                site.witness.live(&live);
                if let Input::Decide { interrupt, decision, .. } = *input {
                    site.witness.decided(&run, &interrupt, &actor, &decision);
                }
            }
            Self::Ask { run, ask, key } => {
                let key = idempotency(&key, "ask");
                driver.ask(&run, *ask, Some(key), Actor::agent("agent", "sim")).await?;
            }
            Self::Change { input } => {
                let actor = freezes::who_changes(&input);
                drop(driver.change_system(input, actor).await?);
            }
            Self::Revoke { session, grant } => drop(driver.revoke(&session, &grant, someone("alice")).await?),
            Self::OpenSession { idle_ms } => {
                let open = session::Open { idle_ms, ..session::Open::default() };
                driver.open_session(OpenSession { open, key: None }, someone("alice")).await?;
            }
            Self::SuspendSession { session } => {
                drop(driver.suspend_session(&session, someone("alice")).await?);
            }
            Self::ResumeSession { session } => {
                drop(driver.resume_session(&session, someone("alice")).await?);
            }
            Self::CloseSession { session } => {
                let end = session::End::Completed;
                drop(driver.close_session(&session, end, someone("alice")).await?);
            }
            Self::Say { session, definition, text, to, agent, key } => {
                let config = Config { workspace: Some(WORKSPACE.to_owned()), ..Config::default() };
                let say = Say {
                    session,
                    text: text.clone(),
                    to,
                    agent,
                    reason: None,
                    key: key.map(|key| idempotency(&key, &text)),
                    next: Some(NextRun { definition, config, input: serde_json::Map::new(), trace: None }),
                };
                driver.say(&say, &someone("alice")).await?;
            }
            Self::Amend { run, input, actor } => {
                if let Some(id) = questions::amended_interrupt(&input).cloned() {
                    driver.amend_answer(&run, &id, *input, actor).await?;
                }
            }
            Self::Undo { run, to } => {
                driver.follow_up(&run, FollowUp::Undo { to }, None, None, someone("alice")).await?;
            }
            Self::Sweep => drop(driver.sweep().await?),
        }
        Ok(())
    }
}

fn idempotency(key: &str, of: &str) -> IdempotencyKey {
    IdempotencyKey { scope: "sim".to_owned(), key: key.to_owned(), digest: Digest::of_bytes(of.as_bytes()) }
}
