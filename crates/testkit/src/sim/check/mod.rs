//! The witness of a simulation: an observer that checks what the engine does. The witness checks every append and every
//! side effect at the moment when it happens. The witness trusts no other part of the simulation.
//!
//! The witness rebuilds the state of every stream from the bytes that were written, and checks each step against this
//! state. `ledger.rs` checks which calls are allowed to run. `rounds.rs` checks when rounds, and phases that a call
//! begins, may begin and end. `starts.rs` checks which node is allowed to begin an action or to take it over.
//! `deliveries.rs` checks the deliveries of channels. `whole.rs` checks the whole journal. If there are several
//! problems, the witness reports only the first.

mod commits;
pub(super) mod deliveries;
mod ledger;
mod notices;
mod questions;
mod rounds;
mod starts;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::definition::Definition;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::event;
use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::interrupt::{Cause, Decision, Kind, Vote};
use holdshort_core::json;
use holdshort_core::run::{ActionId, Fact, Run};
use holdshort_core::session::{self, Session};
use holdshort_core::system::System;
use holdshort_engine::{Job, Work};
use holdshort_store::{Append, Rows};

use ledger::Ledger;
use questions::RecordedAnswer;
use rounds::Rounds;
use starts::StartedAction;

use super::history::short;
use super::leases::Leases;
use super::node::NodeId;
use super::people::of_client;

pub(super) use commits::Write;
pub(super) use deliveries::{DeliveryWitness, ReceiverAnswer};
pub(super) use ledger::Effect;
pub(super) use notices::NoticeKey;

#[derive(Default)]
pub(super) struct Witness {
    definitions: BTreeMap<Digest, Arc<Definition>>,
    runs: BTreeMap<RunId, WitnessedRun>,
    sessions: BTreeMap<SessionId, (Session, Chain)>,
    system: System,
    system_chain: Option<Chain>,
    /// For each idempotency key, the run that the first start request with this key started.
    keys: BTreeMap<String, RunId>,
    /// For each run, the sequence numbers of those messages that the simulated sessions have recorded.
    said: BTreeMap<RunId, Vec<u64>>,
    /// For each driver number (epoch), the simulated node that used the number first.
    epochs: BTreeMap<u64, NodeId>,
    /// For each path of the simulated workspace, the run and the call that last committed the path. If something other
    /// than a commit writes the path, its entry is removed.
    committed: BTreeMap<String, (RunId, String)>,
    pub(super) telling: DeliveryWitness,
    events: u64,
    /// Runs whose newest written state the witness has not compared with the state in a driver's memory.
    not_compared: BTreeSet<RunId>,
    problem: Option<String>,
}

/// State of a run, which the witness rebuilds from the bytes that were written.
struct WitnessedRun {
    run: Run,
    chain: Chain,
    calls: BTreeMap<String, Ledger>,
    begun: BTreeMap<ActionId, StartedAction>,
    /// All votes that were written in the run: interrupt, voter and option. The list includes votes that were replaced
    /// later.
    cast: BTreeSet<(InterruptId, String, String)>,
    /// Sequence numbers of all messages in the run, if it is the front run of its session.
    spoken: Vec<u64>,
    rounds: Rounds,
}

/// Returns true if the session must record this fact of a run. This rule is implemented without the core.
fn must_be_noted(fact: &Fact) -> bool {
    match fact {
        Fact::RunStarted { front, .. } => *front,
        Fact::MessageAdded => true,
        Fact::InterruptOpened(opened) => opened.kind == Kind::Question,
        _ => false,
    }
}

/// Returns the sequence number and the fact of a run's event. Returns `None` if the event belongs to another kind of
/// stream.
fn fact(sealed: &Sealed) -> Option<(u64, Fact)> {
    match event::decode(sealed).ok()?.fact {
        event::Fact::Run(fact) => Some((sealed.seq, fact)),
        event::Fact::Session(_) | event::Fact::System(_) => None,
    }
}

impl Witness {
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Returns the runs whose newest written state the witness has not compared with the state in a driver's memory.
    pub(super) fn not_compared(&self) -> Vec<RunId> {
        self.not_compared.iter().cloned().collect()
    }

    pub(super) fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.values().map(|each| &each.run)
    }

    pub(super) fn run(&self, id: &RunId) -> Option<&Run> {
        self.runs.get(id).map(|each| &each.run)
    }

    pub(super) fn system(&self) -> &System {
        &self.system
    }

    /// Returns the simulated sessions that have at least one event.
    pub(super) fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        self.sessions.keys()
    }

    pub(super) fn state(&self, session: &SessionId) -> session::State {
        self.sessions.get(session).map(|(session, _)| session.state).unwrap_or_default()
    }

    pub(super) fn grants(&self) -> Vec<(SessionId, GrantId)> {
        let sessions = self.sessions.values();
        sessions
            .flat_map(|(session, _)| {
                session
                    .grants
                    .values()
                    .filter(|grant| grant.revoked_at.is_none())
                    .map(|grant| (session.id.clone(), grant.id.clone()))
            })
            .collect()
    }

    /// Returns true if the tool call had a side effect in the simulated world. This value is the answer of a simulated
    /// person who is asked about an unknown outcome.
    pub(super) fn took_effect(&self, run: &RunId, call: &str) -> bool {
        let ledger = self.runs.get(run).and_then(|each| each.calls.get(call));
        ledger.is_some_and(Ledger::took_effect)
    }

    pub(super) fn note(&mut self, checked: Result<(), String>) {
        if let Err(problem) = checked {
            self.problem.get_or_insert(problem);
        }
    }

    /// Records an append that a simulated node has written, and checks its events.
    pub(super) fn appended(&mut self, node: NodeId, leases: &Leases, append: &Append) {
        let checked = self.check_append(node, leases, append);
        self.note(checked);
    }

    fn check_append(&mut self, node: NodeId, leases: &Leases, append: &Append) -> Result<(), String> {
        for blob in &append.blobs {
            if let Ok(definition) = json::from_slice::<Definition>(&blob.bytes) {
                self.definitions.insert(blob.digest, Arc::new(definition));
            }
        }
        let mut rows = Rows::default();
        for part in &append.streams {
            let before = match &part.stream {
                StreamId::Run(id) if self.telling.plays => Some(notices::collect_stages(self.run(id))),
                StreamId::Run(_) | StreamId::Session(_) | StreamId::System => None,
            };
            for sealed in &part.events {
                self.events += 1;
                match &part.stream {
                    StreamId::Run(id) => {
                        self.not_compared.insert(id.clone());
                        rows.interrupts.extend(
                            self.run_event(node, leases, id, sealed)?.into_iter().flat_map(|interrupt| {
                                self.runs
                                    .get(id)
                                    .map(|each| each.run.interrupt_rows([&interrupt]))
                                    .unwrap_or_default()
                            }),
                        );
                    }
                    StreamId::Session(id) => self.session_event(id, sealed, &mut rows)?,
                    StreamId::System => self.system_event(sealed)?,
                }
            }
            if let StreamId::Run(id) = &part.stream {
                if let Some(witnessed) = self.runs.get_mut(id) {
                    witnessed
                        .check_append_end()
                        .map_err(|problem| format!("{}: {problem}", short(id.as_str())))?;
                }
                if let Some((before, run)) = before.zip(self.runs.get(id).map(|each| &each.run)) {
                    let facts: Vec<(u64, Fact)> = part.events.iter().filter_map(fact).collect();
                    self.telling.happened.extend(notices::implied(&before, run, &facts));
                }
                let run = self.run(id);
                rows.run = run.and_then(Run::row);
                let starts = part.events.first().is_some_and(|event| event.seq == 1);
                let expires = run
                    .and_then(|run| self.sessions.get(run.session()?))
                    .is_some_and(|(session, _)| session.expires());
                let counts = |run: &&Run| starts || (expires && run.ended.is_some());
                if let Some(start) = run.filter(counts).and_then(|run| run.session_row(expires)) {
                    rows.session = Some(match rows.session {
                        Some(own) => own.with(start),
                        None => start,
                    });
                }
            }
        }
        self.check_said(append)?;
        self.check_rows(append, &rows)
    }

    /// Checks that a session records exactly the messages of its front run, and records each in the append that writes
    /// the message.
    fn check_said(&self, append: &Append) -> Result<(), String> {
        for part in &append.streams {
            let StreamId::Run(id) = &part.stream else { continue };
            let Some(witnessed) = self.runs.get(id) else { continue };
            let noted = self.said.get(id).map(Vec::as_slice).unwrap_or_default();
            let is_twice = noted.windows(2).any(|two| two[0] >= two[1]);
            let is_beyond = noted.last().is_some_and(|last| *last > witnessed.run.seq);
            if is_twice || is_beyond || witnessed.spoken.iter().any(|seq| !noted.contains(seq)) {
                let run = short(id.as_str());
                return Err(format!(
                    "the messages of {run} are at {:?}, but its session recorded {noted:?}",
                    witnessed.spoken
                ));
            }
            if !witnessed.run.is_front() && !noted.is_empty() {
                return Err(format!(
                    "a session recorded messages of {}, which is not its front run",
                    short(id.as_str())
                ));
            }
        }
        Ok(())
    }

    /// Checks that an append contains exactly the database rows that follow from its events.
    fn check_rows(&self, append: &Append, implied: &Rows) -> Result<(), String> {
        if append.rows.run != implied.run {
            return Err(format!(
                "a run's row is {:?}, but its events imply {:?}",
                append.rows.run, implied.run
            ));
        }
        for changed in &implied.interrupts {
            let run = self.run(&changed.run);
            let now = run.map(|run| run.interrupt_rows([&changed.interrupt])).unwrap_or_default();
            if now.iter().any(|row| !append.rows.interrupts.contains(row)) {
                return Err(format!(
                    "{} changed, but its row was not written",
                    short(changed.interrupt.as_str())
                ));
            }
        }
        if append.rows.session != implied.session {
            return Err(format!(
                "a session changed to {:?}, but its row to {:?}",
                implied.session, append.rows.session
            ));
        }
        if append.rows.grants != implied.grants {
            return Err(format!(
                "grants changed to {:?}, but the rows to {:?}",
                implied.grants, append.rows.grants
            ));
        }
        Ok(())
    }

    /// Checks an event of a run, and applies the event to the witness's state of the run. If the event changes the
    /// database row of an interrupt, returns this interrupt.
    fn run_event(
        &mut self,
        node: NodeId,
        leases: &Leases,
        id: &RunId,
        sealed: &Sealed,
    ) -> Result<Option<InterruptId>, String> {
        if !self.runs.contains_key(id) {
            let first = event::decode(sealed).map_err(|error| error.to_string())?;
            let event::Fact::Run(Fact::RunStarted { definition, .. }) = &first.fact else {
                return Err(format!("the first event of {} is not its start", short(id.as_str())));
            };
            let definition = self.definitions.get(definition).cloned();
            let definition = definition.ok_or("a run names a workflow that was not stored")?;
            let run = Run::new(id.clone(), definition);
            let witnessed = WitnessedRun {
                run,
                chain: Chain::START,
                calls: BTreeMap::new(),
                begun: BTreeMap::new(),
                cast: BTreeSet::new(),
                spoken: Vec::new(),
                rounds: Rounds::default(),
            };
            self.runs.insert(id.clone(), witnessed);
        }
        let decoded = event::decode(sealed).map_err(|error| error.to_string())?;
        let kept = match &decoded.fact {
            event::Fact::Run(Fact::InterruptResolved { cause: Cause::Reused(source), .. }) => {
                self.runs.values().find_map(|each| RecordedAnswer::from_interrupt(&each.run, source))
            }
            _ => None,
        };
        let Some(witnessed) = self.runs.get_mut(id) else { return Ok(None) };
        let event = event::open(sealed, &mut witnessed.chain).map_err(|error| error.to_string())?;
        let event::Fact::Run(fact) = &event.fact else {
            return Err(format!("an event of another kind is in {}", short(id.as_str())));
        };
        if event.at < witnessed.run.last_at {
            return Err(format!("an event of {} is earlier than the event before it", short(id.as_str())));
        }
        // These facts influence no decision. Therefore they may follow the end of a run.
        let is_late_word = matches!(
            fact,
            Fact::CommentAdded { .. }
                | Fact::InterruptReleased { .. }
                | Fact::AnswerCorrected { .. }
                | Fact::AnswerErased { .. }
                | Fact::ContentErased { .. }
                | Fact::LegalHoldPlaced
                | Fact::LegalHoldLifted
                | Fact::ApprovalUsed { .. }
                | Fact::ExecReported { .. }
        );
        if witnessed.run.ended.is_some() && !is_late_word {
            return Err(format!("{} continues after its end", short(id.as_str())));
        }
        let unknown = Session::new(
            SessionId::try_from("ses_00000000000000000000000000".to_owned())
                .map_err(|error| error.to_string())?,
        );
        let session =
            witnessed.run.session().and_then(|id| self.sessions.get(id)).map_or(&unknown, |known| &known.0);
        // A result of a call at a client may be recorded at any time.
        let runs_here = |call: &str| witnessed.run.calls.get(call).is_some_and(|call| !of_client(&call.tool));
        let goes_on_in = match fact {
            Fact::RunStarted { session, .. } => Some(session),
            Fact::RunResumed | Fact::ModelStarted { .. } | Fact::TrialStarted { .. } => {
                witnessed.run.session()
            }
            Fact::ToolStarted { call, .. } if runs_here(call) => witnessed.run.session(),
            _ => None,
        };
        let state = goes_on_in.and_then(|id| self.sessions.get(id)).map(|known| known.0.state);
        if state.is_some_and(|state| state != session::State::Open) {
            let what = event.fact.encode().0;
            return Err(format!("{}: {what} in a session that is not open", short(id.as_str())));
        }
        witnessed
            .check(fact, event.at, session, &self.system)
            .and_then(|()| witnessed.check_round_fact(fact))
            .and_then(|()| witnessed.asks(fact, &event.content, event.at, kept.as_ref()))
            .and_then(|()| starts::check_epoch(&mut self.epochs, node, fact))
            .and_then(|()| witnessed.adopts(node, leases, fact))
            .map_err(|problem| format!("{}: {problem}", short(id.as_str())))?;
        witnessed.run.apply(&event);
        if witnessed.run.is_front() && must_be_noted(fact) {
            witnessed.spoken.push(witnessed.run.seq);
        }
        if let Fact::DecisionMade { interrupt, option, .. } = fact {
            witnessed.cast.insert((interrupt.clone(), event.actor.id.clone(), option.clone()));
        }
        witnessed.starts(node, leases, fact);
        Ok(match fact {
            Fact::InterruptOpened(opened) => Some(opened.interrupt.clone()),
            Fact::InterruptResolved { interrupt, .. }
            | Fact::InterruptClaimed { interrupt, .. }
            | Fact::InterruptReleased { interrupt } => Some(interrupt.clone()),
            _ => None,
        })
    }

    /// Checks an event of a session, and applies the event to the witness's state of the session. Adds to `rows` the
    /// database row that the event changes.
    fn session_event(&mut self, id: &SessionId, sealed: &Sealed, rows: &mut Rows) -> Result<(), String> {
        let known = self.sessions.entry(id.clone());
        let (session, chain) = known.or_insert_with(|| (Session::new(id.clone()), Chain::START));
        let event = event::open(sealed, chain).map_err(|error| error.to_string())?;
        let event::Fact::Session(fact) = &event.fact else { return Ok(()) };
        if let session::Fact::FrontTaken { .. } = fact {
            let before = session.front_run().and_then(|run| self.runs.get(run));
            if before.is_some_and(|before| before.run.ended.is_none()) {
                return Err(format!("{} has two front runs", short(id.as_str())));
            }
        }
        if let session::Fact::Said { run, seq, .. } = fact {
            self.said.entry(run.clone()).or_default().push(*seq);
        }
        session.apply(&event);
        match fact {
            session::Fact::GrantAdded { grant, .. } | session::Fact::GrantRevoked { grant } => {
                rows.grants.extend(session.grants.get(grant).map(|grant| whole::grant_row(id, grant)));
            }
            session::Fact::Said { .. }
            | session::Fact::ChangesUndone { .. }
            | session::Fact::UndoStarted { .. }
            | session::Fact::UndoEnded { .. }
            | session::Fact::RefusalAdded { .. }
            | session::Fact::RefusalRevoked { .. } => {}
            session::Fact::SessionOpened { .. }
            | session::Fact::FrontTaken { .. }
            | session::Fact::SessionSuspended
            | session::Fact::SessionResumed
            | session::Fact::SessionClosed { .. } => rows.session = session.row(),
        }
        Ok(())
    }

    fn system_event(&mut self, sealed: &Sealed) -> Result<(), String> {
        let chain = self.system_chain.get_or_insert(Chain::START);
        let event = event::open(sealed, chain).map_err(|error| error.to_string())?;
        self.system.apply(&event);
        Ok(())
    }

    /// Checks a job that a driver gives to its executor. The driver's node must have written the start of the job, and
    /// must believe that it drives the run.
    pub(super) fn performed(&mut self, node: NodeId, believes: bool, job: &Job) {
        // An inspection has no start event.
        if matches!(job.work, Work::Inspect { .. }) {
            return;
        }
        let checked = match self.runs.get_mut(&job.run) {
            None => Err(format!("{} is performed in a run that has no events", job.action)),
            Some(witnessed) => witnessed.performed(node, believes, &job.action),
        };
        self.note(checked.map_err(|problem| format!("{}: {problem}", short(job.run.as_str()))));
    }

    pub(super) fn happened(&mut self, run: &RunId, action: &ActionId, leases: &Leases, effect: Effect) {
        let checked = match self.runs.get_mut(run) {
            Some(witnessed) => {
                let late = witnessed.begun.get(action).is_none_or(|begun| !begun.has_unbroken_lease(leases));
                witnessed.happened(late, effect)
            }
            None => Err("a call of a run that has no events took effect".to_owned()),
        };
        self.note(checked.map_err(|problem| format!("{}: {problem}", short(run.as_str()))));
    }

    /// Compares the state of a run in a driver's memory with the state that the witness rebuilt from the written
    /// events.
    pub(super) fn live(&mut self, live: &Run) {
        let checked = match self.run(&live.id) {
            None => Err("a driver has a run that has no events".to_owned()),
            Some(written) if live.seq > written.seq => {
                Err(format!("{}: a driver is ahead of the journal", short(live.id.as_str())))
            }
            // The driver has not applied the newest events yet. Therefore the comparison is skipped.
            Some(written) if live.seq < written.seq => Ok(()),
            // The replay has no `earlier`: a driver reads that field from other runs.
            Some(written) if *written == (Run { earlier: None, ..live.clone() }) => {
                self.not_compared.remove(&live.id);
                Ok(())
            }
            Some(_) => Err(format!(
                "{}: the state in the driver's memory differs from the replayed state",
                short(live.id.as_str())
            )),
        };
        self.note(checked);
    }

    /// Checks that an accepted decision has resolved its interrupt. If several people must agree, checks only that the
    /// vote was written, because a later vote may have replaced it.
    pub(super) fn decided(&mut self, run: &RunId, id: &InterruptId, actor: &Actor, decision: &Decision) {
        let standing = self.run(run).and_then(|run| run.interrupts.get(id));
        let stands = standing.is_some_and(|interrupt| {
            let made = interrupt.settled_by();
            // An edit without changes is an approval.
            let shown = interrupt.content.pointer("/payload/arguments");
            let unchanged = shown == Some(&decision.edit) && decision.option == "edit";
            let option = if unchanged { "approve" } else { decision.option.as_str() };
            let is_theirs = |made: &Vote| made.by == actor.id && made.option == option;
            if !interrupt.assignment.takes_one() {
                let vote = (id.clone(), actor.id.clone(), option.to_owned());
                return self.runs.get(run).is_some_and(|witnessed| witnessed.cast.contains(&vote));
            }
            !interrupt.is_open() && made.is_some_and(is_theirs)
        });
        if !stands {
            let problem = format!("{}: an accepted decision is missing", short(run.as_str()));
            self.note(Err(problem));
        }
    }

    /// Checks that a message was not written to the run, although its sender got the error that nothing was written.
    pub(super) fn not_said(&mut self, run: &RunId, text: &str) {
        let is_there = self.run(run).is_some_and(|run| run.messages.iter().any(|each| **each == *text));
        if is_there {
            let problem = format!("{}: a message exists without a written event", short(run.as_str()));
            self.note(Err(problem));
        }
    }

    /// Checks that all requests to start a run with the same idempotency key return the same run.
    pub(super) fn started(&mut self, key: &str, run: &RunId) {
        let first = self.keys.entry(key.to_owned()).or_insert_with(|| run.clone());
        if first != run {
            let problem = format!("the key {key} started two runs");
            self.note(Err(problem));
        }
    }
}
