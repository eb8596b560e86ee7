//! Checks the rounds of copilots, and the phases that tool calls begin. Only one round runs at a time, and a round runs
//! only if a person wants it. Each phase ends once.
//!
//! Rounds are counted here, and the rules are implemented here, without using the core. Only calls, steps and
//! interrupts are taken from the run's state.

use std::collections::BTreeMap;

use holdshort_core::definition::{Copilot, Phase};
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{About, Cause, Kind, Opened};
use holdshort_core::routing::{Mode, Route};
use holdshort_core::run::{CallEnd, Fact, RoutedBy, RoutedTask, Run, StepEnd, StepRole};
use holdshort_core::tool::{PhaseTool, Runs};

use super::WitnessedRun;

/// Maximum number of phases that the calls of one run may begin. [`DEEP`] is the maximum depth of nested phases
/// (docs/reference/limits.md).
const MANY: usize = 50;
const DEEP: usize = 3;

/// The phases of a simulated run, as far as the written events show them.
#[derive(Default)]
pub(super) struct Rounds {
    phases: BTreeMap<String, Option<StepEnd>>,
    /// Phases that tool calls have begun in the run, each with the call.
    called: BTreeMap<String, (String, Phase)>,
    talks: BTreeMap<String, CopilotPhase>,
    /// True if, in the append being checked, a person ended the work that was interrupted.
    ends_work: bool,
}

#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
struct CopilotPhase {
    form: Copilot,
    begun: u32,
    at_work: Option<String>,
    router: Option<String>,
    /// True if a round of the copilot is to begin: the first one, or one that a person wants.
    is_due: bool,
    /// True as long as the router has not decided about the copilot's task.
    is_unrouted: bool,
    must_ask: Option<Kind>,
    was_asked: bool,
    asked: Option<InterruptId>,
    /// The last answer of a person to the copilot, as long as its consequence has not been written.
    word: Option<(Kind, String)>,
    /// Kind of the interrupt that was open before a round of the copilot and then became obsolete. The field is set if
    /// a person interrupted the run with other instructions.
    withdrawn: Option<Kind>,
    is_over: bool,
}

impl CopilotPhase {
    fn new(form: Copilot) -> Self {
        Self {
            is_unrouted: form.routing.is_some(),
            form,
            begun: 0,
            at_work: None,
            router: None,
            is_due: true,
            must_ask: None,
            was_asked: false,
            asked: None,
            word: None,
            withdrawn: None,
            is_over: false,
        }
    }

    /// Returns the reason why the next round of the copilot is not allowed to begin. Returns `None` if the round is
    /// allowed to begin.
    fn blocking_reason(&self) -> Option<&'static str> {
        let reasons = [
            (self.is_over, "its work is finished"),
            (self.at_work.is_some(), "another round is in progress"),
            (!self.is_due, "no further round was requested"),
            (self.asked.is_some(), "a person is being asked"),
        ];
        reasons.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why)
    }

    fn begin_round(&mut self, phase: &str, step: &str) -> Result<(), String> {
        let untold = [
            (self.is_unrouted, "its task has no route yet"),
            (self.must_ask.is_some(), "a person must be asked first"),
        ];
        let why = self
            .blocking_reason()
            .or_else(|| untold.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why));
        if let Some(why) = why {
            return Err(format!("the round {step} begins, although {why}"));
        }
        self.begun += 1;
        if step != format!("{phase}/round_{}", self.begun) {
            return Err(format!("round {} of {phase} has the wrong step id {step}", self.begun));
        }
        self.at_work = Some(step.to_owned());
        self.is_due = false;
        Ok(())
    }

    fn routed(&mut self, fact: &Fact) -> Result<(), String> {
        let Fact::TaskRouted(RoutedTask { by, step, route, agent, .. }) = fact else { return Ok(()) };
        if let Some(why) = self.blocking_reason() {
            return Err(format!("a task is routed, although {why}"));
        }
        if !self.is_unrouted {
            return Err("a task is routed twice".to_owned());
        }
        if step != &self.router || (*by == RoutedBy::Router && step.is_none()) {
            return Err(format!("{step:?} routes a task, but {:?} was asked to route it", self.router));
        }
        if agent.as_ref().is_some_and(|agent| !self.form.team.contains(agent)) {
            return Err(format!("a route names {agent:?}, who does not belong to the team"));
        }
        self.must_ask = match route {
            Route::Direct | Route::Plan => None,
            Route::Clarify => Some(Kind::Question),
            Route::Propose => Some(Kind::Choice),
        };
        if self.must_ask.is_some() && (self.was_asked || self.form.routing == Some(Mode::Minimal)) {
            return Err(format!("the route is {route:?}, although asking is not allowed"));
        }
        self.is_unrouted = false;
        Ok(())
    }

    fn asks(&mut self, opened: &Opened, is_unattended: bool) -> Result<(), String> {
        if self.is_over || self.at_work.is_some() || self.asked.is_some() {
            return Err(format!("a {:?} about a round opens at the wrong time", opened.kind));
        }
        let is_wanted = match opened.kind {
            Kind::Turn => {
                let asks = self.form.conversational || (self.form.satisfaction && !is_unattended);
                asks && self.begun > 0 && !self.is_due
            }
            kind => self.is_due && self.must_ask == Some(kind),
        };
        if !is_wanted {
            return Err(format!("a {:?} about a round opens, but is not due", opened.kind));
        }
        self.asked = Some(opened.interrupt.clone());
        Ok(())
    }

    fn answered(&mut self, kinds: &[Kind]) -> Result<(Kind, String), String> {
        self.word.take().filter(|(kind, _)| kinds.contains(kind)).ok_or("nobody said so".to_owned())
    }
}

fn wants_more(option: &str) -> bool {
    ["submit", "new_task", "continue"].contains(&option)
}

impl WitnessedRun {
    /// Checks that a fact about rounds, or about phases that tool calls begin, is allowed after the facts of the run
    /// that were written before it.
    pub(super) fn check_round_fact(&mut self, fact: &Fact) -> Result<(), String> {
        let rounds = &mut self.rounds;
        match fact {
            Fact::PhaseCalled { call, nth, phase } => rounds.calls(&self.run, call, *nth, phase),
            Fact::PhaseStarted { phase } => rounds.starts(&self.run, phase),
            Fact::PhaseEnded { phase, end } => rounds.end_phase(phase, *end),
            Fact::StepStarted { step, phase, agent, role, .. } => {
                if !matches!(rounds.phases.get(phase), Some(None)) {
                    return Err(format!("{step} starts, but {phase} is not in progress"));
                }
                let Some(talk) = rounds.talks.get_mut(phase) else { return Ok(()) };
                match role {
                    StepRole::Worker => talk.begin_round(phase, step),
                    StepRole::Router => {
                        let is_asked = talk.is_unrouted && talk.router.is_none();
                        if !is_asked
                            || talk.blocking_reason().is_some()
                            || talk.form.router.as_ref() != Some(agent)
                        {
                            return Err(format!("{step} routes, but it has no task to route"));
                        }
                        talk.router = Some(step.clone());
                        Ok(())
                    }
                    _ => Ok(()),
                }
            }
            Fact::StepEnded { step, .. } => {
                for talk in rounds.talks.values_mut() {
                    talk.at_work.take_if(|at_work| at_work == step);
                    talk.router.take_if(|router| router == step);
                }
                Ok(())
            }
            Fact::ModelStarted { step, .. } => {
                let of_step = |call: &str| self.run.calls.get(call).is_some_and(|call| call.step == *step);
                match rounds.alive().find(|(_, call)| of_step(call)) {
                    Some((phase, _)) => Err(format!("{step} calls a model while its {phase} is in progress")),
                    None => Ok(()),
                }
            }
            Fact::ToolFinished { call, end, .. } => rounds.call_ends(&self.run, call, *end),
            Fact::InterruptOpened(opened) => match &opened.about {
                About::Round(phase) => {
                    let is_unattended = self.run.config().is_some_and(|config| config.unattended);
                    rounds.talk(phase)?.asks(opened, is_unattended)
                }
                _ => Ok(()),
            },
            Fact::InterruptResolved { interrupt, option, cause, .. } => {
                let Some(standing) = self.run.interrupts.get(interrupt) else { return Ok(()) };
                rounds.resolved(&standing.opened, option.as_deref(), cause)
            }
            Fact::TaskRouted(RoutedTask { phase, .. }) => rounds.talk(phase)?.routed(fact),
            Fact::TaskExtended { phase, .. } => {
                let talk = rounds.talk(phase)?;
                let asked = [Kind::Question, Kind::Choice];
                let kind = match talk.withdrawn.take().filter(|kind| asked.contains(kind)) {
                    Some(kind) => kind,
                    None => talk.answered(&asked)?.0,
                };
                talk.was_asked = true;
                talk.must_ask = None;
                talk.is_unrouted = kind == Kind::Question;
                Ok(())
            }
            Fact::RoundWanted { phase, round, new_task, .. } => {
                let talk = rounds.talk(phase)?;
                let (_, option) = talk.answered(&[Kind::Turn])?;
                let names_task = option == "new_task" || (*new_task && option == "submit");
                if !wants_more(&option) || *new_task != names_task {
                    return Err(format!("a person chose `{option}`, but another round follows"));
                }
                if talk.is_over || *round != talk.begun + 1 {
                    return Err(format!("round {round} of {phase} is requested after {} rounds", talk.begun));
                }
                talk.is_due = true;
                if *new_task {
                    talk.is_unrouted = talk.form.routing.is_some();
                    talk.was_asked = false;
                }
                Ok(())
            }
            Fact::RoundsOver { phase } => {
                let ends_work = rounds.ends_work;
                let talk = rounds.talk(phase)?;
                if talk.is_over {
                    return Err(format!("{phase} ended twice"));
                }
                if !ends_work && wants_more(&talk.answered(&[Kind::Turn])?.1) {
                    return Err(format!("a person wants another round of {phase}, but the phase has ended"));
                }
                talk.is_over = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks that an append to a run is complete. If it contains an answer, it must contain the consequence of the
    /// answer. If a call, a step or a run has ended, none of its phases and interrupts may still be open.
    pub(super) fn check_append_end(&mut self) -> Result<(), String> {
        self.rounds.ends_work = false;
        let run = &self.run;
        if run.ended.is_some() {
            return match run.open_interrupts().next() {
                Some((_, open)) => Err(format!("the run has ended, but a {:?} is open", open.opened.kind)),
                None => Ok(()),
            };
        }
        if let Some((phase, _)) = self.rounds.talks.iter().find(|(_, talk)| talk.word.is_some()) {
            return Err(format!("a person answered in {phase}, but the append contains no consequence"));
        }
        // Consequences are written only when the run continues.
        if run.is_paused() || run.interrupted.is_some() {
            return Ok(());
        }
        let is_over = |call: &str| run.calls.get(call).is_none_or(|call| call.is_ended());
        if let Some((phase, call)) = self.rounds.alive().find(|(_, call)| is_over(call)) {
            return Err(format!("{call} has ended, but its {phase} has not"));
        }
        let of_ended = |about: &About| match about {
            About::Phase(phase) | About::Round(phase) => {
                matches!(self.rounds.phases.get(phase), Some(Some(_)))
            }
            _ => false,
        };
        match run.open_interrupts().find(|(_, open)| of_ended(&open.opened.about)) {
            Some((_, open)) => {
                Err(format!("{:?} has ended, but a person is still asked about it", open.opened.about))
            }
            None => Ok(()),
        }
    }
}

impl Rounds {
    /// Returns those phases begun by tool calls that have not ended, each with its call.
    fn alive(&self) -> impl Iterator<Item = (&str, &str)> {
        let alive = self.called.iter().filter(|(id, _)| !matches!(self.phases.get(*id), Some(Some(_))));
        alive.map(|(id, (call, _))| (id.as_str(), call.as_str()))
    }

    fn of_call<'a>(&'a self, call: &'a str) -> impl Iterator<Item = &'a str> {
        self.called.iter().filter(move |(_, (by, _))| by == call).map(|(id, _)| id.as_str())
    }

    fn talk(&mut self, phase: &str) -> Result<&mut CopilotPhase, String> {
        self.talks.get_mut(phase).ok_or_else(|| format!("{phase} has no rounds"))
    }

    fn calls(&mut self, run: &Run, id: &str, nth: usize, phase: &Phase) -> Result<(), String> {
        let call = run.calls.get(id).filter(|call| !call.is_ended());
        let call =
            call.ok_or_else(|| format!("{id} begins a phase, but the call has ended or never existed"))?;
        let tool = match run.definition.tools.get(&call.tool).map(|spec| &spec.runs) {
            Some(Runs::Begins(tool)) => *tool,
            _ => return Err(format!("`{}` begins a phase", call.tool)),
        };
        let before: Vec<&str> = self.of_call(id).collect();
        let well = |phase: &&str| self.phases.get(*phase) == Some(&Some(StepEnd::Completed));
        if nth != before.len() || (nth > 0 && tool != PhaseTool::Chain) || !before.iter().all(well) {
            return Err(format!("{id} begins phase {nth}, but its earlier phases are {before:?}"));
        }
        let of_step = |step: &str| run.steps.get(step).filter(|step| step.end.is_none());
        let around =
            of_step(&call.step).ok_or_else(|| format!("{id} begins a phase, but its step has ended"))?;
        let (mut depth, mut at) = (1, around.phase.as_str());
        while let Some((by, _)) = self.called.get(at) {
            depth += 1;
            let step = run.calls.get(by).and_then(|call| run.steps.get(&call.step));
            at = step.map_or("", |step| step.phase.as_str());
        }
        if depth > DEEP || self.called.len() >= MANY {
            return Err(format!(
                "the phase {} is number {} at nesting depth {depth}, which exceeds a limit",
                phase.id,
                self.called.len() + 1
            ));
        }
        if self.called.insert(phase.id.clone(), (id.to_owned(), phase.clone())).is_some() {
            return Err(format!("{} is begun twice", phase.id));
        }
        Ok(())
    }

    fn starts(&mut self, run: &Run, phase: &str) -> Result<(), String> {
        if self.phases.insert(phase.to_owned(), None).is_some() {
            return Err(format!("{phase} starts twice"));
        }
        let own = run.definition.phases.iter().find(|each| each.id == phase);
        let form = own.or_else(|| self.called.get(phase).map(|(_, form)| form));
        let form = form.ok_or_else(|| format!("{phase} starts, but nothing began it"))?;
        if let Some(copilot) = form.kind.copilot() {
            self.talks.insert(phase.to_owned(), CopilotPhase::new(copilot.clone()));
        }
        Ok(())
    }

    fn end_phase(&mut self, phase: &str, end: StepEnd) -> Result<(), String> {
        if self.phases.insert(phase.to_owned(), Some(end)) != Some(None) {
            return Err(format!("{phase} ends, but it is not in progress"));
        }
        if let Some(talk) = self.talks.get_mut(phase) {
            if end == StepEnd::Completed && (talk.at_work.is_some() || talk.asked.is_some()) {
                return Err(format!("{phase} ends successfully during a round"));
            }
            talk.is_over = true;
        }
        Ok(())
    }

    /// Checks the end of a tool call that has begun phases. The result of the call must be that of its last phase, and
    /// the call must end after this phase.
    fn call_ends(&self, run: &Run, id: &str, end: CallEnd) -> Result<(), String> {
        let begins = |tool: &str| {
            matches!(run.definition.tools.get(tool).map(|spec| &spec.runs), Some(Runs::Begins(_)))
        };
        let Some(call) = run.calls.get(id).filter(|call| begins(&call.tool)) else { return Ok(()) };
        let ends: Vec<Option<StepEnd>> =
            self.of_call(id).map(|phase| self.phases.get(phase).copied().flatten()).collect();
        match end {
            CallEnd::Done => {
                let chained = call.arguments.get("phases").and_then(|phases| phases.as_array());
                let wanted = chained.map_or(1, Vec::len);
                if ends.len() != wanted || ends.iter().any(|end| *end != Some(StepEnd::Completed)) {
                    return Err(format!("{id} is done, but its {wanted} phases ended as {ends:?}"));
                }
                Ok(())
            }
            CallEnd::Failed if ends.contains(&None) => {
                Err(format!("{id} has its result, but its phase is still in progress"))
            }
            // The call ended together with its step or run.
            _ => Ok(()),
        }
    }

    fn resolved(&mut self, opened: &Opened, option: Option<&str>, cause: &Cause) -> Result<(), String> {
        let option = option.unwrap_or_default();
        match &opened.about {
            About::Round(phase) => {
                let talk = self.talk(phase)?;
                if talk.asked.take().as_ref() != Some(&opened.interrupt) {
                    return Err(format!("{phase} is answered without a question"));
                }
                if matches!(cause, Cause::Decision | Cause::Expiry) {
                    talk.word = Some((opened.kind, option.to_owned()));
                }
                talk.withdrawn = (*cause == Cause::Superseded).then_some(opened.kind);
            }
            About::Interruption => self.ends_work = option == "done" && *cause == Cause::Decision,
            _ => {}
        }
        Ok(())
    }
}
