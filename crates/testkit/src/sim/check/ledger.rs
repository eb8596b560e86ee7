//! What may run: each call with what released it and what came of it, judged by the written events alone.
//!
//! The rules are told here once more in other words than in the core: what a person saw, what a rule names.

use holdshort_core::digest::Digest;
use holdshort_core::gate::{Release, Source};
use holdshort_core::id::GrantId;
use holdshort_core::interrupt::{
    About, Assignment, Cause, Claim, Effect as OptionEffect, Interrupt, Kind, Offer, Outcome,
};
use holdshort_core::policy::Rule;
use holdshort_core::policy::RuleAction;
use holdshort_core::run::{Authority, Call, CallEnd, CallState, Fact, Returned, Run, undo};
use holdshort_core::session::Session;
use holdshort_core::system::System;
use holdshort_core::time::Timestamp;
use holdshort_core::tool::{OnCrash, Precondition, Runs};
use serde_json::{Value, json};

use super::super::freezes;
use super::Witnessed;
use super::commits::{Commits, may_commit};

/// A side effect, with all that it was made on.
pub(in crate::sim) struct Effect {
    pub(in crate::sim) call: String,
    pub(in crate::sim) attempt: u32,
    pub(in crate::sim) tool: String,
    pub(in crate::sim) arguments: Value,
    pub(in crate::sim) preconditions: Vec<Precondition>,
    /// Whether the files were as the preconditions say.
    pub(in crate::sim) as_shown: bool,
}

#[derive(Default)]
pub(super) struct Ledger {
    released: Option<Released>,
    /// Attempts that took effect; whether late.
    effects: Vec<(u32, bool)>,
    /// How often a person said that it shall run once more.
    reruns: usize,
    /// Whether it was ever unknown what happened.
    doubted: bool,
    /// Whether it ended as one that a person stopped while it ran in the workspace: its agent is told that it may have
    /// done a part.
    ended_stopped: bool,
    pub(super) commits: Commits,
}

/// What was released, and by whom.
struct Released {
    digest: Digest,
    arguments: Value,
    /// `None` where a person edited what ran, or was asked about something else.
    preconditions: Option<Value>,
    grant: Option<GrantId>,
}

impl Ledger {
    pub(super) fn took_effect(&self) -> bool {
        !self.effects.is_empty() || self.commits.wrote()
    }

    pub(super) fn doubted(&self) -> bool {
        self.doubted
    }

    /// Effects in their time.
    fn in_time(&self) -> usize {
        self.effects.iter().filter(|(_, late)| !late).count()
    }
}

impl Witnessed {
    /// Whether this may follow what was written so far.
    pub(super) fn check(
        &mut self,
        fact: &Fact,
        at: Timestamp,
        session: &Session,
        system: &System,
    ) -> Result<(), String> {
        match fact {
            Fact::DecisionMade { interrupt, .. } => {
                let standing = self.run.interrupts.get(interrupt).ok_or("a decision on nothing")?;
                let is_second = standing.assignment.takes_one() && !standing.votes.is_empty();
                if is_second || !standing.is_open() {
                    return Err("a decision on what is settled was written".to_owned());
                }
            }
            Fact::InterruptResolved { interrupt, cause, decision, .. } => {
                let standing = self.run.interrupts.get(interrupt).ok_or("a resolution of nothing")?;
                if !standing.is_open() {
                    return Err("an interrupt was resolved twice".to_owned());
                }
                if *cause == Cause::Expiry
                    && freezes::hold(system, &self.run, standing.opened.agent.as_deref())
                {
                    return Err("a deadline ran out in what is frozen".to_owned());
                }
                let is_vote = |seq: &u64| standing.votes.iter().any(|vote| vote.seq == *seq);
                let is_given = matches!(cause, Cause::Decision | Cause::Reused(_));
                if is_given != decision.as_ref().is_some_and(is_vote) {
                    return Err("an interrupt was resolved by a decision that nobody made".to_owned());
                }
                let mut agreed: Vec<&str> = standing
                    .votes
                    .iter()
                    .filter(|vote| standing.offers(&vote.option).is_some_and(Offer::releases))
                    .map(|vote| vote.by.as_str())
                    .collect();
                agreed.sort_unstable();
                agreed.dedup();
                let released = matches!(fact, Fact::InterruptResolved { outcome: Outcome::Approved, .. });
                if *cause == Cause::Decision && released && agreed.len() < required(&standing.assignment) {
                    return Err(format!("{agreed:?} were enough to release what takes more"));
                }
                let settled = standing.settles();
                if *cause == Cause::Decision && settled.map(|settled| settled.vote.seq) != *decision {
                    return Err("an interrupt was settled by another decision than it says".to_owned());
                }
            }
            Fact::InterruptOpened(opened) => {
                let gate = self.run.definition.gates.kinds.get(&opened.kind);
                let wanted = gate.map_or(1, |gate| required(&gate.assigned()));
                let asked = required(&opened.assignment);
                if asked < wanted {
                    return Err(format!("{wanted} people are to agree, and {asked} are asked for"));
                }
            }
            // Nobody takes over a claim here.
            Fact::InterruptClaimed { interrupt, by, holder } => {
                let standing = self.run.interrupts.get(interrupt).ok_or("a claim on nothing")?;
                let is_others = |claim: &Claim| (&claim.by, &claim.holder) != (by, holder);
                if standing.claim.as_ref().is_some_and(is_others) {
                    return Err("an interrupt was claimed by two".to_owned());
                }
            }
            Fact::ToolAuthorised { call, digest, by, .. } => {
                let released = self.released(call, *digest, by, at, session, system);
                let released = released.map_err(|problem| format!("{call}: {problem}"))?;
                self.calls.entry(call.clone()).or_default().released = Some(released);
            }
            Fact::ToolStarted { call, digest, attempt, .. } => {
                self.may_start(call, *digest, *attempt, at, session, system)?;
                self.run.calls.get(call).map_or(Ok(()), |call| may_commit(call, fact))?;
            }
            Fact::TrialStarted { call, .. } if self.is_held(system, freezes::of_call(&self.run, call)) => {
                return Err(format!("a trial of {call} starts in a frozen installation or a paused run"));
            }
            Fact::ModelStarted { step, .. } if self.is_held(system, freezes::of_step(&self.run, step)) => {
                return Err(format!(
                    "a model call of {step} starts in a frozen installation or a paused run"
                ));
            }
            Fact::ToolReturned { call, why, .. } => {
                let ledger = self.calls.entry(call.clone()).or_default();
                if ledger.commits.wrote() && !ledger.doubted {
                    return Err(format!("{call} is given back, and some of it is written"));
                }
                ledger.commits = Commits::default();
                ledger.released = None;
                ledger.reruns += usize::from(*why == Returned::Rerun);
            }
            Fact::ToolDoubted { call } => self.calls.entry(call.clone()).or_default().doubted = true,
            Fact::ToolFinished { call, end, code } => {
                self.may_end(call, *end, code.as_deref())?;
                self.calls.entry(call.clone()).or_default().ended_stopped =
                    *end == CallEnd::Failed && code.as_deref() == Some("stopped");
            }
            _ => {}
        }
        Ok(())
    }

    fn released(
        &self,
        id: &str,
        digest: Digest,
        by: &Authority,
        at: Timestamp,
        session: &Session,
        system: &System,
    ) -> Result<Released, String> {
        let call = self.run.calls.get(id).ok_or("a call that is not there was released")?;
        let as_looked_at = || {
            let look = call.look.as_ref();
            Released {
                digest,
                arguments: call.arguments.clone(),
                preconditions: look.map(|look| json!(look.preconditions)),
                grant: None,
            }
        };
        match by {
            Authority::Interrupt(interrupt) => {
                let interrupt = self.run.interrupts.get(interrupt).ok_or("released by nothing")?;
                by_person(interrupt, id, digest)
            }
            Authority::Gate(Release::Grant { grant }) => {
                let standing = session.grants.get(grant).filter(|grant| grant.holds(at));
                let standing = standing.ok_or("released by a grant that does not stand")?;
                let program = first_word(call);
                let of_category = |category| call.look.as_ref().is_some_and(|look| look.category == category);
                let covers = standing.matcher.category.is_some_and(of_category)
                    || standing.matcher.category.is_none()
                    && standing.matcher.tool == call.tool
                    // What only reads is covered by every grant for commands.
                    && program.is_none_or(|program| program == "ls" || {
                        let mut known = standing.matcher.commands.iter();
                        known.any(|each| each.program == program)
                    });
                if !covers {
                    return Err("released by a grant for something else".to_owned());
                }
                Ok(Released { grant: Some(grant.clone()), ..as_looked_at() })
            }
            Authority::Gate(Release::Rule { source, rule }) => {
                let rules = rules(&self.run, system, *source);
                let rule =
                    rules.and_then(|rules| rules.get(*rule)).ok_or("released by a rule that is not there")?;
                if rule.action != RuleAction::Allow || !names(rule, call) {
                    return Err("released by a rule for something else".to_owned());
                }
                Ok(as_looked_at())
            }
            Authority::Gate(Release::OpensInterrupt) => {
                Err("a call that runs here was released as one that asks".to_owned())
            }
        }
    }

    /// Whether nothing of the run, or of this agent in it, may start.
    fn is_held(&self, system: &System, agent: Option<&str>) -> bool {
        self.run.is_paused() || freezes::hold(system, &self.run, agent)
    }

    /// What its client says that it ran, after a person approved it, counts whatever holds ours back.
    pub(super) fn may_have_run_elsewhere(&self, call: &Call) -> bool {
        self.run.definition.tools.get(&call.tool).is_some_and(|spec| {
            matches!(spec.runs, Runs::Client { .. })
                && matches!(call.authority, Some(Authority::Interrupt(_)))
        })
    }

    fn may_start(
        &self,
        id: &str,
        digest: Digest,
        attempt: u32,
        at: Timestamp,
        session: &Session,
        system: &System,
    ) -> Result<(), String> {
        let call = self.run.calls.get(id).ok_or("a call that is not there starts")?;
        if call.state != CallState::Authorised {
            return Err(format!("{id} starts, and it is {:?}", call.state));
        }
        if attempt != call.attempt + 1 {
            return Err(format!("attempt {attempt} of {id} follows attempt {}", call.attempt));
        }
        let released = self.calls.get(id).and_then(|ledger| ledger.released.as_ref());
        let released = released.ok_or_else(|| format!("{id} starts, and nothing released it"))?;
        if released.digest != digest {
            return Err(format!("{id} starts with another digest than was released"));
        }
        if self.may_have_run_elsewhere(call) {
            return Ok(());
        }
        if self.is_held(system, freezes::of_call(&self.run, id)) {
            return Err(format!("{id} starts in a frozen installation or a paused run"));
        }
        // A commit that was begun and cut off is written to its end: a workspace that is half changed is worse than what
        // a rule forbids by now.
        let is_rolled_forward = call.trial.commits > 0;
        if is_rolled_forward {
            return Ok(());
        }
        if is_forbidden(&self.run, system, call) {
            return Err(format!("{id} starts, and a rule forbids it"));
        }
        let grant = released.grant.as_ref().and_then(|grant| session.grants.get(grant));
        if grant.is_some_and(|grant| !grant.holds(at)) {
            return Err(format!("{id} starts by a grant that was revoked or has expired"));
        }
        Ok(())
    }

    fn may_end(&self, id: &str, end: CallEnd, code: Option<&str>) -> Result<(), String> {
        let call = self.run.calls.get(id).ok_or("a call that is not there ends")?;
        if call.is_ended() {
            return Err(format!("{id} ends twice"));
        }
        let Some(on_crash) = writes(&self.run, call) else { return Ok(()) };
        if call.committing().is_some() {
            return self.may_end_commit(id, call, end, code == Some("happened"));
        }
        let ledger = self.calls.get(id);
        let happened = ledger.is_some_and(Ledger::took_effect);
        let stands = ledger.is_some_and(|ledger| ledger.in_time() > 0);
        let doubted = ledger.is_some_and(|ledger| ledger.doubted);
        match end {
            CallEnd::Refused | CallEnd::Answered | CallEnd::Cancelled if stands && !doubted => {
                Err(format!("{id} ends as {end:?}, and it has run"))
            }
            // Its trial has shown that there is nothing left to take back, so nothing is to run.
            CallEnd::Done if call.tool == undo::TOOL && code == Some("nothing_to_undo") => Ok(()),
            // A person said so.
            CallEnd::Done if !happened && code != Some("happened") => {
                Err(format!("{id} ends as done, and it has not run ({on_crash:?})"))
            }
            _ => Ok(()),
        }
    }

    /// A tool took effect.
    ///
    /// `late`: the lease in which it was started was over by then. Then others may have taken it over, which never
    /// lets a tool run twice by itself: a person is asked.
    pub(super) fn happened(&mut self, late: bool, effect: Effect) -> Result<(), String> {
        let Effect { call: id, attempt, tool, arguments, preconditions, as_shown } = effect;
        let call = self.run.calls.get(&id).ok_or("a call that is not there took effect")?;
        let under_way = matches!(call.state, CallState::Started { .. } | CallState::Ended(CallEnd::Unknown));
        let on_crash = writes(&self.run, call).ok_or("a call that only reads took effect")?;
        let current = call.attempt == attempt && call.tool == tool;
        let ledger = self.calls.entry(id.clone()).or_default();
        if ledger.effects.iter().any(|(before, _)| *before == attempt) {
            return Err(format!("attempt {attempt} of {id} took effect twice"));
        }
        ledger.effects.push((attempt, late));
        // It is never run again but by a person.
        if ledger.effects.len() > ledger.reruns + 1 {
            return Err(format!("{id} took effect once more, and nobody said so"));
        }
        if !as_shown {
            return Err(format!("{id} took effect on files that are not as they were shown"));
        }
        if late && !(under_way && current) {
            // Of one that a person stopped nobody is asked: its end has said that it may have done a part.
            return match on_crash {
                OnCrash::Ask if !ledger.doubted && !ledger.ended_stopped => Err(format!(
                    "attempt {attempt} of {id} took effect after it was given up, and nobody was asked"
                )),
                OnCrash::Ask | OnCrash::Rerun => Ok(()),
            };
        }
        if !under_way || !current {
            return Err(format!("attempt {attempt} of {id} took effect out of its time"));
        }
        let released = ledger.released.as_ref().ok_or_else(|| format!("{id} ran unreleased"))?;
        if released.arguments != arguments {
            return Err(format!("{id} ran with {arguments} where {} was released", released.arguments));
        }
        if released.preconditions.as_ref().is_some_and(|shown| *shown != json!(preconditions)) {
            return Err(format!("{id} ran on other files than were shown"));
        }
        Ok(())
    }
}

/// What a person released by resolving this interrupt, as it stood before them.
fn by_person(interrupt: &Interrupt, call: &str, digest: Digest) -> Result<Released, String> {
    let resolution = interrupt.resolution.as_ref().ok_or("released by an interrupt that is open")?;
    if interrupt.opened.about != About::Call(call.to_owned()) {
        return Err("released by an interrupt about something else".to_owned());
    }
    let option = resolution.option.as_deref().unwrap_or_default();
    let effect = interrupt.offers(option).map(|choice| choice.effect);
    let shown = |name: &str| interrupt.content.pointer(&format!("/payload/{name}")).cloned();
    let (arguments, preconditions) = match (interrupt.opened.kind, effect, &resolution.cause) {
        (Kind::ToolApproval, Some(OptionEffect::ProceedWithEdit), Cause::Decision) => {
            (interrupt.settled_by().map(|made| made.edit.clone()), None)
        }
        (Kind::ToolApproval, Some(OptionEffect::Proceed), Cause::Grant(_))
            if resolution.decision.is_some() =>
        {
            if interrupt.opened.action_digest != Some(digest) {
                return Err("released with a grant under another digest than was shown".to_owned());
            }
            (shown("arguments"), shown("preconditions"))
        }
        (Kind::ToolApproval, Some(OptionEffect::Grant), Cause::Decision)
        | (Kind::ToolApproval, Some(OptionEffect::Proceed), Cause::Decision | Cause::Expiry) => {
            if interrupt.opened.action_digest != Some(digest) {
                return Err("released under another digest than was shown".to_owned());
            }
            (shown("arguments"), shown("preconditions"))
        }
        // The digest is that of the part, which `changes_kept` names.
        (Kind::ToolApproval, Some(OptionEffect::ProceedWithSome), Cause::Decision) => {
            (shown("arguments"), shown("preconditions"))
        }
        (Kind::UnknownOutcome, Some(OptionEffect::Retry), Cause::Decision | Cause::Expiry) => {
            (shown("arguments"), None)
        }
        other => return Err(format!("released by {other:?}")),
    };
    let arguments = arguments.ok_or("released by an interrupt that shows no arguments")?;
    Ok(Released { digest, arguments, preconditions, grant: None })
}

/// What a crash in the middle of the call means; `None` where it changes nothing.
fn writes(run: &Run, call: &Call) -> Option<OnCrash> {
    match run.definition.tools.get(&call.tool)?.runs {
        Runs::Here { effect: holdshort_core::tool::Effect::Write, on_crash, .. } => Some(on_crash),
        Runs::Here { .. }
        | Runs::Client { .. }
        | Runs::Opens(_)
        | Runs::HandsOver(_)
        | Runs::Begins(_)
        | Runs::Records => None,
    }
}

fn rules<'a>(run: &'a Run, system: &'a System, source: Source) -> Option<&'a [Rule]> {
    match source {
        Source::System => Some(&system.rules),
        Source::Run => run.config().map(|config| config.gates.rules.as_slice()),
        Source::Workflow => Some(&run.definition.gates.rules),
        Source::Checkpoint
        | Source::Smart
        | Source::Inspection
        | Source::Refusal
        | Source::Words
        | Source::Default => None,
    }
}

fn is_forbidden(run: &Run, system: &System, call: &Call) -> bool {
    [Source::System, Source::Run, Source::Workflow].into_iter().any(|source| {
        let rules = rules(run, system, source).unwrap_or_default();
        rules.iter().find(|rule| names(rule, call)).is_some_and(|rule| rule.action == RuleAction::Forbid)
    })
}

/// Whether a rule of the simulator's speaks of this call: a tool, and the first words of a command.
fn names(rule: &Rule, call: &Call) -> bool {
    let changes_nothing =
        first_word(call) == Some("ls") || call.committing().is_some_and(|found| found.changed == 0);
    if rule.changes.is_some() && !changes_nothing {
        return false;
    }
    let command = call.argument("command").unwrap_or_default();
    // What a variable stands for is known to nobody: such a command is never released by a rule on words.
    let opaque = command.contains('$') && rule.action == RuleAction::Allow && rule.changes.is_none();
    rule.tools.contains(&call.tool)
        && !opaque
        && (rule.commands.is_empty()
            || rule.commands.iter().any(|pattern| command.starts_with(pattern.trim_end_matches('*'))))
}

fn first_word(call: &Call) -> Option<&str> {
    call.argument("command").and_then(|command| command.split(' ').next())
}

/// How many votes an assignment takes, over all its stages.
fn required(assignment: &Assignment) -> usize {
    assignment.stages.iter().map(|stage| stage.required.max(1) as usize).sum()
}
