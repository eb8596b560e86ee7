//! `copilot`: a phase in which one agent works on a person's messages, round by round (contracts A17 to A23, A26, E25,
//! E26).
//!
//! A round is one step: it leads from a task to the agent's final text. Before a round, a router agent can select a
//! route for the task. If the router's reply is unreadable, rules select the route. After a round, the person can be
//! asked for the next message. Every round receives the conversation of the earlier rounds.

use serde_json::{Value, json};

use super::super::draft::{Draft, Opening};
use super::super::fact::{RoutedBy, RoutedTask};
use super::super::state::Rounds;
use super::super::{Entry, Fact, ModelCall, Run, Step, StepEnd, StepRole};
use crate::definition::{Copilot, Phase};
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{About, Effect, Interrupt, Kind, Offer};
use crate::limits;
use crate::routing::{self, Proposal, Route, Routed, SIMPLE};
use crate::schema::Problem;
use crate::text::clip;

/// Returns the id of the step for the round with the number `n` of a copilot phase, counted from 1.
pub(in super::super) fn round(phase: &str, n: u32) -> String {
    format!("{phase}/round_{n}")
}

/// Returns the id of the step in which a copilot's router agent selects a route for the `n`th time, counted from 1.
fn router(phase: &str, n: u32) -> String {
    format!("{phase}/route_{n}")
}

const UNCHOSEN: &str = "Nobody chose one of the proposed approaches in time. Continue as you think best.";

const SKIPPED: &str =
    "The person skipped the questions. Continue with your best guess, and state what you assumed.";

/// Options, with their labels, that a person has after a round of a copilot whose step completed.
const SATISFACTION: [(&str, &str); 3] =
    [("done", "Satisfied"), ("submit", "Needs changes"), ("new_task", "Start over")];

impl Draft<'_> {
    pub(super) fn advance_copilot(&mut self, phase: &Phase, copilot: &Copilot) -> bool {
        let rounds = self.run.rounds_of(&phase.id).clone();
        if rounds.asked.is_some() {
            return false;
        }
        if rounds.is_over {
            // A call of the previous round may still be running, or the outcome of such a call may be unknown.
            if self.run.is_at_work_in(&phase.id) {
                return false;
            }
            self.end_phase(&phase.id, StepEnd::Completed);
            return true;
        }
        if !rounds.is_wanted() {
            let last = self.run.steps.get(&round(&phase.id, rounds.begun));
            let Some(end) = last.and_then(|step| step.end) else { return false };
            self.after_round(phase, copilot, end);
            return true;
        }
        match (copilot.routing, &rounds.routed) {
            (Some(_), None) if rounds.routes_next() => self.route(phase, copilot, &rounds),
            (_, Some(routed)) if rounds.must_ask(routed) => {
                self.ask_first(&phase.id, &routed.clone());
                true
            }
            (_, routed) => {
                let agent = routed.as_ref().and_then(|routed| routed.agent.clone());
                let agent = agent.unwrap_or_else(|| copilot.agent.clone());
                let id = round(&phase.id, rounds.begun + 1);
                self.start_step(&phase.id, &id, &agent, StepRole::Worker);
                true
            }
        }
    }

    /// Lets the router agent select a route for the next task of a copilot. If the phase has no router agent, rules
    /// select the route.
    fn route(&mut self, phase: &Phase, copilot: &Copilot, rounds: &Rounds) -> bool {
        let Some(agent) = &copilot.router else {
            self.route_by_rules(phase, copilot, None, "no router is configured");
            return true;
        };
        let step = router(&phase.id, rounds.routings + 1);
        if self.run.steps.contains_key(&step) {
            return false;
        }
        self.start_step(&phase.id, &step, agent, StepRole::Router);
        true
    }

    fn route_by_rules(&mut self, phase: &Phase, copilot: &Copilot, step: Option<&str>, why: &str) {
        let Some(mode) = copilot.routing else { return };
        let mut routed = routing::heuristics(&self.run.wanted_task(&phase.id), mode).complete();
        routed.reasoning = format!("{}: {}", why, routed.reasoning);
        self.routed(phase, copilot, RoutedBy::Rules, step, routed);
    }

    fn routed(&mut self, phase: &Phase, copilot: &Copilot, by: RoutedBy, step: Option<&str>, routed: Routed) {
        let agent = routed.agent.filter(|name| *name != copilot.agent && self.run.may_begin(copilot, name));
        let rounds = self.run.rounds_of(&phase.id);
        // Work begins without a question if a person was already asked about this task, or if agents may not ask people
        // (contracts A22, C2).
        let asks = matches!(routed.route, Route::Clarify | Route::Propose);
        let is_done = rounds.was_asked || !self.run.definition.asking.enabled;
        let route = if asks && is_done { Route::Direct } else { routed.route };
        let simple = match routed.complexity {
            Some(complexity) => complexity <= SIMPLE,
            None => self.run.has_few_words(&phase.id, copilot),
        };
        let fact = Fact::TaskRouted(RoutedTask {
            phase: phase.id.clone(),
            by,
            step: step.map(str::to_owned),
            route,
            complexity: routed.complexity,
            agent,
            simple: simple && copilot.simple_words.is_some(),
        });
        let data = json!({
            "questions": routed.questions,
            "proposals": routed.proposals,
            "refined_task": routed.refined,
        });
        self.emit(fact, Content { text: Some(routed.reasoning), data });
    }

    /// Handles the reply of a copilot's router agent, which selects a route, or the failure of this agent.
    pub(in super::super) fn advance_router(&mut self, id: &str, step: &Step) -> bool {
        let Some((phase, copilot)) = self.run.copilot(&step.phase) else { return false };
        if step.crashes >= limits::CRASHES {
            self.router_unheard(id, "the process stopped repeatedly while the router was asked");
            return true;
        }
        let Some(Entry::Turn { text, .. }) = step.entries.last().filter(|_| step.model == ModelCall::Idle)
        else {
            return false;
        };
        let mode = copilot.routing.unwrap_or(routing::Mode::Balanced);
        match routing::read(text, mode) {
            Some(routed) => {
                self.routed(&phase, &copilot, RoutedBy::Router, Some(id), routed);
                self.close_step(id, StepEnd::Completed, "");
            }
            None => self.router_unheard(id, "its answer cannot be read"),
        }
        true
    }

    /// Selects the route for a copilot's task by rules, because the reply of the router agent was not usable. The
    /// journal records the reason.
    pub(in super::super) fn router_unheard(&mut self, id: &str, why: &str) {
        let Some(step) = self.run.steps.get(id).cloned() else { return };
        let Some((phase, copilot)) = self.run.copilot(&step.phase) else { return };
        let why = format!("the router gave no usable answer ({why})");
        self.route_by_rules(&phase, &copilot, Some(id), &why);
        self.close_step(id, StepEnd::Failed, &why);
    }

    /// Asks a person about the next task of a copilot before work on the task begins.
    fn ask_first(&mut self, phase: &str, routed: &Routed) {
        let about = About::Round(phase.to_owned());
        let mut opening = if routed.route == Route::Clarify {
            let questions = routed.questions.join("\n");
            let mut opening = Opening::new(Kind::Question, about, questions.clone());
            opening.payload = json!({ "question": questions, "questions": routed.questions });
            opening
        } else {
            let mut opening =
                Opening::new(Kind::Choice, about, "Several approaches are possible: which one?");
            opening.own = routed.proposals.iter().enumerate().map(offer).collect();
            opening.payload = json!({ "proposals": routed.proposals });
            opening
        };
        opening.message.clone_from(&routed.reasoning);
        opening.payload["phase"] = json!(phase);
        self.open(opening);
    }

    /// Asks the person for the next message after a round of a copilot, or ends the phase.
    fn after_round(&mut self, phase: &Phase, copilot: &Copilot, end: StepEnd) {
        let is_attended = self.run.config().is_none_or(|config| !config.unattended);
        // If a person has reviewed the output of the round, the person is not asked about the same output again.
        let was_looked_at = self.run.gates(&round(&phase.id, self.run.rounds_of(&phase.id).begun)).after_step;
        let asks_satisfaction =
            copilot.satisfaction && is_attended && end == StepEnd::Completed && !was_looked_at;
        if !copilot.conversational && !asks_satisfaction {
            // If an earlier round has an output, that output is the output of the phase, even if the last round was
            // skipped.
            let end = if self.run.last_round(&phase.id).is_some() { StepEnd::Completed } else { end };
            self.end_phase(&phase.id, end);
            return;
        }
        let rounds = self.run.rounds_of(&phase.id);
        let (n, id) = (rounds.begun, round(&phase.id, rounds.begun));
        let output = self.run.steps.get(&id).and_then(|step| step.output.clone()).unwrap_or_default();
        let (title, is_satisfaction) = if copilot.conversational {
            (format!("Your turn, after round {n}"), false)
        } else {
            ("Does this meet your needs?".to_owned(), true)
        };
        let mut opening = Opening::new(Kind::Turn, About::Round(phase.id.clone()), title);
        opening.payload = json!({
            "phase": phase.id,
            "round": n,
            "output": output,
            "satisfaction": is_satisfaction,
        });
        if is_satisfaction {
            opening.only = &["done", "submit", "new_task"];
            opening.labels = &SATISFACTION;
        }
        self.open(opening);
    }

    /// Applies the decision on a copilot's question before a round, or on the question that follows a round.
    pub(in super::super) fn round_effect(
        &mut self,
        phase: &str,
        kind: Kind,
        offer: &Offer,
        text: &str,
        is_expired: bool,
    ) {
        let text = text.trim();
        match (kind, offer.effect) {
            (Kind::Question, Effect::Respond) if !is_expired => self.extend_task(phase, text),
            (Kind::Question, _) => self.extend_task(phase, SKIPPED),
            // The choice expired, and it has no option that takes effect by itself.
            (Kind::Choice, _) if is_expired && !offer.applies_alone() => self.extend_task(phase, UNCHOSEN),
            (Kind::Choice, _) => {
                let told = self.run.chosen(phase, &offer.id, text);
                self.extend_task(phase, &told);
            }
            (Kind::Turn, Effect::Respond) => match routing::new_task(text) {
                Some(task) => self.want_round(phase, task, true),
                None => self.want_round(phase, text, false),
            },
            (Kind::Turn, Effect::NewTask) => self.want_round(phase, text, true),
            (Kind::Turn, Effect::Proceed) => self.want_round(phase, text, false),
            // `done`, `exit`, and every other effect that stops the rounds.
            _ => {
                let fact = Fact::RoundsOver { phase: phase.to_owned() };
                self.emit(fact, Content::maybe_text((!text.is_empty()).then(|| text.to_owned())));
            }
        }
    }

    fn extend_task(&mut self, phase: &str, text: &str) {
        self.emit(Fact::TaskExtended { phase: phase.to_owned(), told: false }, Content::text(text));
    }

    fn want_round(&mut self, phase: &str, text: &str, new_task: bool) {
        let round = self.run.rounds_of(phase).begun + 1;
        let fresh = new_task && text.is_empty();
        let fact = Fact::RoundWanted { phase: phase.to_owned(), round, new_task, fresh };
        self.emit(fact, Content::text(text));
    }
}

fn offer((i, proposal): (usize, &Proposal)) -> Offer {
    Offer {
        id: format!("option_{}", i + 1),
        label: clip(&proposal.title, 200),
        effect: Effect::Respond,
        needs_text: false,
        needs_edit: false,
        ends_run: None,
    }
}

impl Run {
    fn is_at_work_in(&self, phase: &str) -> bool {
        self.steps.open().any(|(_, step)| step.phase == phase)
    }

    pub(super) fn copilot(&self, phase: &str) -> Option<(Phase, Copilot)> {
        let phase = self.phase(phase)?;
        phase.kind.copilot().map(|copilot| (phase.clone(), copilot.clone()))
    }

    /// Returns true if the gates before and after a round of a copilot ask nobody, because the task of the round is
    /// simple (contract E26).
    pub(in super::super) fn is_simple(&self, step: &Step) -> bool {
        let copilot = self.phase(&step.phase).and_then(|phase| phase.kind.copilot());
        let Some(copilot) = copilot.filter(|_| step.round.is_some()) else { return false };
        match self.rounds_of(&step.phase).simple {
            Some(simple) => simple,
            None => self.has_few_words(&step.phase, copilot),
        }
    }

    /// Returns the open interrupt in which a person is to write the next message, in a copilot phase or after an
    /// interruption.
    pub(in super::super) fn open_turn(&self) -> Option<InterruptId> {
        let is_turn = |interrupt: &Interrupt| {
            interrupt.opened.kind == Kind::Turn && interrupt.offers("submit").is_some()
        };
        let turns = self.open_interrupts().filter(|(_, interrupt)| is_turn(interrupt));
        // After an interruption, the person's message is about the whole run. The turn after an interruption is
        // therefore chosen first.
        let first = turns.min_by_key(|(id, _)| self.interrupted.as_ref() != Some(id));
        first.map(|(id, _)| id.clone())
    }

    /// Checks that the text of a new task for a copilot is not empty. Exception: if the person is asked about the
    /// result, an empty text means that the same task is repeated.
    pub(in super::super) fn check_turn(interrupt: &Interrupt, offer: &Offer, text: &str) -> Vec<Problem> {
        let asks_satisfaction =
            interrupt.content.pointer("/payload/satisfaction").and_then(Value::as_bool) == Some(true);
        let lacks_words = offer.effect == Effect::NewTask && !asks_satisfaction && text.trim().is_empty();
        if lacks_words {
            vec![Problem::new("/text", "is missing: say what the new task is")]
        } else {
            Vec::new()
        }
    }

    fn has_few_words(&self, phase: &str, copilot: &Copilot) -> bool {
        let Some(most) = copilot.simple_words else { return false };
        let is_alone = self.definition.reached_by([copilot.agent.as_str()]).len() <= 1;
        is_alone && self.wanted_task(phase).split_whitespace().count() <= most as usize
    }

    /// Returns true if a copilot's router agent can give a task to the agent `name`, because this agent is in the team
    /// of the phase.
    fn may_begin(&self, copilot: &Copilot, name: &str) -> bool {
        self.definition.agents.contains_key(name) && copilot.team.iter().any(|agent| agent == name)
    }
}

impl Rounds {
    /// Returns true if a round of the copilot phase must begin: the first round, or a further round for which a person
    /// asked.
    fn is_wanted(&self) -> bool {
        self.begun == 0 || self.wanted
    }

    /// Returns true if the next round of the copilot has a new task, for which a route must be selected. A person's
    /// text about the current task goes directly to the agent.
    fn routes_next(&self) -> bool {
        self.begun == 0 || self.is_new_task
    }

    fn must_ask(&self, routed: &Routed) -> bool {
        !self.was_asked && matches!(routed.route, Route::Clarify | Route::Propose)
    }
}
