//! Ledger of calls. The ledger decides from the written events alone which calls are allowed to run. For each call, it
//! records the side effects, and the decision, rule or grant that allowed the call to run.
//!
//! Two rules are implemented here without using the core: which content a person saw, and which calls a rule matches.

use holdshort_core::digest::Digest;
use holdshort_core::gate::{Release, Source};
use holdshort_core::id::GrantId;
use holdshort_core::interrupt::{
    About, Assignment, Cause, Claim, Effect as OptionEffect, Interrupt, Kind, Offer, Outcome,
};
use holdshort_core::policy::Rule;
use holdshort_core::policy::RuleAction;
use holdshort_core::run::{Authority, Call, CallEnd, CallState, Fact, ReturnReason, Run, undo};
use holdshort_core::session::Session;
use holdshort_core::system::System;
use holdshort_core::time::Timestamp;
use holdshort_core::tool::{OnCrash, Precondition, Runs};
use serde_json::{Value, json};

use super::super::freezes;
use super::WitnessedRun;
use super::commits::{Commits, may_commit};

/// Side effect of a simulated tool call, with the arguments and preconditions that the call had.
pub(in crate::sim) struct Effect {
    pub(in crate::sim) call: String,
    pub(in crate::sim) attempt: u32,
    pub(in crate::sim) tool: String,
    pub(in crate::sim) arguments: Value,
    pub(in crate::sim) preconditions: Vec<Precondition>,
    /// True if, when the side effect occurred, the files met the preconditions of the call.
    pub(in crate::sim) as_shown: bool,
}

#[derive(Default)]
pub(super) struct Ledger {
    released: Option<CallRelease>,
    /// Attempts of the call in which a side effect occurred. The flag is true if the side effect occurred late: after
    /// the end of the lease under which the attempt was started.
    effects: Vec<(u32, bool)>,
    reruns: usize,
    /// True if the outcome of the tool call was unknown at any time.
    doubted: bool,
    /// True if a person stopped the call while it was running in the workspace. The result then tells the agent that
    /// the call may be partly done.
    ended_stopped: bool,
    pub(super) commits: Commits,
}

/// The decision, rule or grant that allowed a call to run.
struct CallRelease {
    digest: Digest,
    arguments: Value,
    /// Preconditions of the call that a person approved. `None` if the person edited the arguments, or if the interrupt
    /// was not the approval of the call.
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

    /// Returns how many side effects of the call occurred in time: before the end of the lease under which the call was
    /// started.
    fn in_time(&self) -> usize {
        self.effects.iter().filter(|(_, late)| !late).count()
    }
}

impl WitnessedRun {
    /// Checks that the fact of a run is allowed after the facts that were written before it.
    pub(super) fn check(
        &mut self,
        fact: &Fact,
        at: Timestamp,
        session: &Session,
        system: &System,
    ) -> Result<(), String> {
        match fact {
            Fact::DecisionMade { interrupt, .. } => {
                let standing = self.run.interrupts.get(interrupt).ok_or("a decision without an interrupt")?;
                let is_second = standing.assignment.takes_one() && !standing.votes.is_empty();
                if is_second || !standing.is_open() {
                    return Err("a decision on a settled interrupt was written".to_owned());
                }
            }
            Fact::InterruptResolved { interrupt, cause, decision, .. } => {
                let standing = self.run.interrupts.get(interrupt).ok_or("a resolution of no interrupt")?;
                if !standing.is_open() {
                    return Err("an interrupt was resolved twice".to_owned());
                }
                if *cause == Cause::Expiry
                    && freezes::hold(system, &self.run, standing.opened.agent.as_deref())
                {
                    return Err("a deadline expired while frozen".to_owned());
                }
                let is_vote = |seq: &u64| standing.votes.iter().any(|vote| vote.seq == *seq);
                let is_given = matches!(cause, Cause::Decision | Cause::Reused(_));
                if is_given != decision.as_ref().is_some_and(is_vote) {
                    return Err("an interrupt was resolved by a decision that was never made".to_owned());
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
                    return Err(format!(
                        "the votes of {agreed:?} resolved an interrupt, although more votes are required"
                    ));
                }
                let settled = standing.settles();
                if *cause == Cause::Decision && settled.map(|settled| settled.vote.seq) != *decision {
                    return Err(
                        "an interrupt was resolved by another decision than its resolution names".to_owned()
                    );
                }
            }
            Fact::InterruptOpened(opened) => {
                let gate = self.run.definition.gates.kinds.get(&opened.kind);
                let wanted = gate.map_or(1, |gate| required(&gate.assigned()));
                let asked = required(&opened.assignment);
                if asked < wanted {
                    return Err(format!(
                        "the workflow requires {wanted} people to agree, but the interrupt requires {asked}"
                    ));
                }
            }
            // In a simulation, a claim is never taken over by another person.
            Fact::InterruptClaimed { interrupt, by, holder } => {
                let standing = self.run.interrupts.get(interrupt).ok_or("a claim on an unknown interrupt")?;
                let is_others = |claim: &Claim| (&claim.by, &claim.holder) != (by, holder);
                if standing.claim.as_ref().is_some_and(is_others) {
                    return Err("an interrupt was claimed by two holders".to_owned());
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
                    return Err(format!(
                        "{call} is returned for a new decision, but some of its changes were written"
                    ));
                }
                ledger.commits = Commits::default();
                ledger.released = None;
                ledger.reruns += usize::from(*why == ReturnReason::Rerun);
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
    ) -> Result<CallRelease, String> {
        let call = self.run.calls.get(id).ok_or("an unknown call was released")?;
        let as_looked_at = || {
            let look = call.look.as_ref();
            CallRelease {
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
                let standing = session.grants.get(grant).filter(|grant| grant.is_active(at));
                let standing = standing.ok_or("the call was released by a grant that is not valid")?;
                let program = first_word(call);
                let of_category = |category| call.look.as_ref().is_some_and(|look| look.category == category);
                let covers = standing.matcher.category.is_some_and(of_category)
                    || standing.matcher.category.is_none()
                    && standing.matcher.tool == call.tool
                    // A grant for all commands includes commands that only read.
                    && program.is_none_or(|program| program == "ls" || {
                        let mut known = standing.matcher.commands.iter();
                        known.any(|each| each.program == program)
                    });
                if !covers {
                    return Err("the call was released by a grant that does not cover the call".to_owned());
                }
                Ok(CallRelease { grant: Some(grant.clone()), ..as_looked_at() })
            }
            Authority::Gate(Release::Rule { source, rule }) => {
                let rules = rules(&self.run, system, *source);
                let rule = rules.and_then(|rules| rules.get(*rule)).ok_or("released by an unknown rule")?;
                if rule.action != RuleAction::Allow || !names(rule, call) {
                    return Err("the call was released by a rule that does not match the call".to_owned());
                }
                Ok(as_looked_at())
            }
            Authority::Gate(Release::OpensInterrupt) => {
                Err("a call that runs on the server was released as a call that opens an interrupt"
                    .to_owned())
            }
        }
    }

    /// Returns true if the simulated run is paused, or if a freeze stops the run or this agent.
    fn is_held(&self, system: &System, agent: Option<&str>) -> bool {
        self.run.is_paused() || freezes::hold(system, &self.run, agent)
    }

    /// Returns true if a client runs the call and a person has approved the call. The result of such a call is accepted
    /// even while the run is frozen or paused.
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
        let call = self.run.calls.get(id).ok_or("an unknown call starts")?;
        if call.state != CallState::Authorised {
            return Err(format!("{id} starts although its state is {:?}", call.state));
        }
        if attempt != call.attempt + 1 {
            return Err(format!("attempt {attempt} of {id} follows attempt {}", call.attempt));
        }
        let released = self.calls.get(id).and_then(|ledger| ledger.released.as_ref());
        let released = released.ok_or_else(|| format!("{id} starts without a release"))?;
        if released.digest != digest {
            return Err(format!("{id} starts with another digest than was released"));
        }
        if self.may_have_run_elsewhere(call) {
            return Ok(());
        }
        if self.is_held(system, freezes::of_call(&self.run, id)) {
            return Err(format!("{id} starts in a frozen installation or a paused run"));
        }
        // An interrupted commit is completed even if a rule now forbids the call: a half-changed workspace would be
        // worse.
        let is_rolled_forward = call.trial.commits > 0;
        if is_rolled_forward {
            return Ok(());
        }
        if is_forbidden(&self.run, system, call) {
            return Err(format!("{id} starts, although a rule forbids it"));
        }
        let grant = released.grant.as_ref().and_then(|grant| session.grants.get(grant));
        if grant.is_some_and(|grant| !grant.is_active(at)) {
            return Err(format!("{id} starts by a grant that was revoked or has expired"));
        }
        Ok(())
    }

    fn may_end(&self, id: &str, end: CallEnd, code: Option<&str>) -> Result<(), String> {
        let call = self.run.calls.get(id).ok_or("an unknown call ends")?;
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
                Err(format!("{id} ended as {end:?}, but it has run"))
            }
            // The trial of the undo found nothing to revert. Therefore the undo does not run.
            CallEnd::Done if call.tool == undo::TOOL && code == Some("nothing_to_undo") => Ok(()),
            // A person said that the call has happened.
            CallEnd::Done if !happened && code != Some("happened") => {
                Err(format!("{id} ended as done, but it has not run ({on_crash:?})"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a side effect of a simulated tool was allowed.
    ///
    /// `late` is true if the lease under which the call was started had ended before the side effect. Another node may
    /// have taken over the call by then. Even in this case, a tool may run a second time only after a person was asked.
    pub(super) fn happened(&mut self, late: bool, effect: Effect) -> Result<(), String> {
        let Effect { call: id, attempt, tool, arguments, preconditions, as_shown } = effect;
        let call = self.run.calls.get(&id).ok_or("an unknown call took effect")?;
        let under_way = matches!(call.state, CallState::Started { .. } | CallState::Ended(CallEnd::Unknown));
        let on_crash = writes(&self.run, call).ok_or("a call that only reads took effect")?;
        let current = call.attempt == attempt && call.tool == tool;
        let ledger = self.calls.entry(id.clone()).or_default();
        if ledger.effects.iter().any(|(before, _)| *before == attempt) {
            return Err(format!("attempt {attempt} of {id} took effect twice"));
        }
        ledger.effects.push((attempt, late));
        // A second attempt needs a decision of a person.
        if ledger.effects.len() > ledger.reruns + 1 {
            return Err(format!("{id} took effect again without a decision"));
        }
        if !as_shown {
            return Err(format!("{id} took effect on files that had changed since they were shown"));
        }
        if late && !(under_way && current) {
            // A stopped call needs no question: its result says that it may be partly done.
            return match on_crash {
                OnCrash::Ask if !ledger.doubted && !ledger.ended_stopped => Err(format!(
                    "attempt {attempt} of {id} took effect after a node had given it up, and no person was \
                     asked"
                )),
                OnCrash::Ask | OnCrash::Rerun => Ok(()),
            };
        }
        if !under_way || !current {
            return Err(format!(
                "attempt {attempt} of {id} took effect, but is not the current running attempt"
            ));
        }
        let released = ledger.released.as_ref().ok_or_else(|| format!("{id} ran unreleased"))?;
        if released.arguments != arguments {
            return Err(format!("{id} ran with {arguments} where {} was released", released.arguments));
        }
        if released.preconditions.as_ref().is_some_and(|shown| *shown != json!(preconditions)) {
            return Err(format!("{id} ran on files that had changed since they were shown"));
        }
        Ok(())
    }
}

/// Returns the content of the tool call that this interrupt showed and that a person approved by resolving it.
fn by_person(interrupt: &Interrupt, call: &str, digest: Digest) -> Result<CallRelease, String> {
    let resolution =
        interrupt.resolution.as_ref().ok_or("the call was released by an interrupt that is still open")?;
    if interrupt.opened.about != About::Call(call.to_owned()) {
        return Err("the call was released by an interrupt about something else".to_owned());
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
                return Err(
                    "the call was released with a grant under a digest that differs from the shown digest"
                        .to_owned(),
                );
            }
            (shown("arguments"), shown("preconditions"))
        }
        (Kind::ToolApproval, Some(OptionEffect::Grant), Cause::Decision)
        | (Kind::ToolApproval, Some(OptionEffect::Proceed), Cause::Decision | Cause::Expiry) => {
            if interrupt.opened.action_digest != Some(digest) {
                return Err(
                    "the call was released under a digest that differs from the shown digest".to_owned()
                );
            }
            (shown("arguments"), shown("preconditions"))
        }
        // The digest covers only the part of the changes that `changes_kept` names.
        (Kind::ToolApproval, Some(OptionEffect::ProceedWithSome), Cause::Decision) => {
            (shown("arguments"), shown("preconditions"))
        }
        (Kind::UnknownOutcome, Some(OptionEffect::Retry), Cause::Decision | Cause::Expiry) => {
            (shown("arguments"), None)
        }
        other => return Err(format!("released by {other:?}")),
    };
    let arguments = arguments.ok_or("the call was released by an interrupt that shows no arguments")?;
    Ok(CallRelease { digest, arguments, preconditions, grant: None })
}

/// Returns what the core assumes about a tool call if a crash occurs while the call runs. Returns `None` if the call
/// makes no changes.
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

/// Returns true if a rule matches the tool of a call and the first words of its command. A rule about changes matches
/// only a call that changes nothing.
fn names(rule: &Rule, call: &Call) -> bool {
    let changes_nothing =
        first_word(call) == Some("ls") || call.committing().is_some_and(|found| found.changed == 0);
    if rule.changes.is_some() && !changes_nothing {
        return false;
    }
    let command = call.argument("command").unwrap_or_default();
    // The value of a variable is unknown. Therefore a rule that allows commands by their words must not match a command
    // with a variable.
    let opaque = command.contains('$') && rule.action == RuleAction::Allow && rule.changes.is_none();
    rule.tools.contains(&call.tool)
        && !opaque
        && (rule.commands.is_empty()
            || rule.commands.iter().any(|pattern| command.starts_with(pattern.trim_end_matches('*'))))
}

fn first_word(call: &Call) -> Option<&str> {
    call.argument("command").and_then(|command| command.split(' ').next())
}

/// Returns how many votes an assignment requires, in all stages together.
fn required(assignment: &Assignment) -> usize {
    assignment.stages.iter().map(|stage| stage.required.max(1) as usize).sum()
}
