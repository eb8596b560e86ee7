//! Checks questions: when a question may open, which steps may work before the answer, which answer may be used again,
//! and what the result of the run contains.
//!
//! The rules about questions are implemented without using the core.

use holdshort_core::asking::{Deliver, Form, RECORD};
use holdshort_core::envelope::Content;
use holdshort_core::history;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{About, Cause, Interrupt, Kind, Opened, Outcome};
use holdshort_core::run::{Call, CallEnd, CallState, Fact, ModelCall, Run};
use holdshort_core::time::Timestamp;
use serde_json::Value;

use super::WitnessedRun;
use crate::sim::people::of_client;

/// State of a recorded answer, with which the witness compares each later use of the answer in another run.
pub(super) struct RecordedAnswer {
    subject: Option<String>,
    asked: String,
    /// True if a person gave the recorded answer and it has not been erased.
    counts: bool,
    since: Timestamp,
}

impl RecordedAnswer {
    pub(super) fn from_interrupt(run: &Run, id: &InterruptId) -> Option<Self> {
        let interrupt = run.interrupts.get(id)?;
        let resolution = interrupt.resolution.as_ref()?;
        let is_given = resolution.outcome == Outcome::Answered
            && resolution.option.as_deref() == Some("answer")
            && resolution.cause == Cause::Decision;
        let row = run.answer_rows([id]).pop()?;
        Some(Self {
            subject: run.kept_for().map(str::to_owned),
            asked: history::question_key(interrupt.question()),
            counts: is_given && !interrupt.kept.erased,
            since: row.since(),
        })
    }
}

impl WitnessedRun {
    /// Checks that a fact about questions is allowed after the facts of the run that were written before it. `kept` is
    /// the earlier answer with which the question is resolved.
    pub(super) fn asks(
        &self,
        fact: &Fact,
        content: &Content,
        at: Timestamp,
        kept: Option<&RecordedAnswer>,
    ) -> Result<(), String> {
        match fact {
            Fact::ModelStarted { step, .. } => self.check_step_may_begin(step),
            Fact::TrialStarted { call, .. } => self.check_step_may_begin(&self.step_of(call)),
            Fact::ToolStarted { call, .. } => {
                let goes_on = |call: &Call| call.trial.commits > 0 || self.may_have_run_elsewhere(call);
                let is_begun = self.run.calls.get(call).is_some_and(|call| goes_on(call));
                if is_begun { Ok(()) } else { self.check_step_may_begin(&self.step_of(call)) }
            }
            Fact::InterruptOpened(opened) if opened.kind == Kind::Question => self.may_ask(opened, at),
            Fact::InterruptResolved { interrupt, cause, .. } => {
                let asked = self.run.interrupts.get(interrupt).ok_or("a resolution of no interrupt")?;
                match cause {
                    Cause::Reused(_) => self.may_reuse(asked, kept, at),
                    Cause::Expiry if asked.opened.expires_at.is_none_or(|expires| expires > at) => {
                        Err("a question expires before its time".to_owned())
                    }
                    _ => Ok(()),
                }
            }
            Fact::RunCompleted { .. } => self.tells_all(&content.data),
            _ => Ok(()),
        }
    }

    fn step_of(&self, call: &str) -> String {
        self.run.calls.get(call).map(|call| call.step.clone()).unwrap_or_default()
    }

    /// If the workflow pauses the other steps of the run during a question, checks that no step begins work while
    /// another step has an open question.
    fn check_step_may_begin(&self, step: &str) -> Result<(), String> {
        if !self.run.definition.asking.pause_siblings {
            return Ok(());
        }
        let of_others = |each: &&Interrupt| {
            each.is_open() && each.opened.kind == Kind::Question && each.opened.step.as_deref() != Some(step)
        };
        match self.run.interrupts.values().find(of_others) {
            Some(open) => {
                Err(format!("{step} begins something while a question of {:?} is open", open.opened.step))
            }
            None => Ok(()),
        }
    }

    fn may_ask(&self, opened: &Opened, at: Timestamp) -> Result<(), String> {
        let (run, asking) = (&self.run, self.run.definition.asking);
        if !asking.enabled && !run.definition.is_external() {
            return Err("a question is asked, although the workflow does not allow questions".to_owned());
        }
        let gate = run.definition.gates.kinds.get(&Kind::Question);
        let timed = asking.timeout_ms.filter(|_| gate.is_none_or(|gate| gate.expires_in_ms.is_none()));
        if timed.is_some() && opened.expires_at != timed.map(|ms| at.plus_ms(ms)) {
            return Err(format!(
                "a question with a time limit of {timed:?} ms expires at {:?}",
                opened.expires_at
            ));
        }
        let About::Call(id) = &opened.about else { return Ok(()) };
        let call = run.calls.get(id).ok_or("a question without a call")?;
        if call.interrupt.is_some() {
            return Err(format!("the question {id} is asked twice"));
        }
        if asking.form == Form::Reply {
            let text = |call: &Call| call.argument("message").map(history::question_key);
            let before = run.calls.values().find(|other| {
                let is_asked = other.is_ended() && other.interrupt.is_some() && other.step == call.step;
                is_asked && other.tool == call.tool && text(other) == text(call)
            });
            if let Some(before) = before {
                return Err(format!(
                    "the question {id} repeats a question that was asked before as {:?}",
                    before.interrupt
                ));
            }
        }
        if asking.deliver == Deliver::PerStage { self.check_all_idle() } else { Ok(()) }
    }

    /// Checks that nothing is going on in the run. There must be no pending model call, no call that runs on the
    /// server, and no step that could call a model.
    fn check_all_idle(&self) -> Result<(), String> {
        let run = &self.run;
        let thinks = run.steps.iter().find(|(_, step)| step.end.is_none() && step.model != ModelCall::Idle);
        if let Some((step, _)) = thinks {
            return Err(format!("a gathered question opens while {step} waits for its model"));
        }
        let runs = run.calls.iter().find(|(_, call)| {
            let is_started = matches!(call.state, CallState::Started { .. }) || call.trial.running.is_some();
            is_started && !call.is_ended() && !of_client(&call.tool)
        });
        if let Some((call, _)) = runs {
            return Err(format!("a gathered question opens while {call} runs"));
        }
        let goes_on = run.steps.iter().find(|(id, step)| {
            let waits = run.calls.values().any(|call| call.step == **id && !call.is_ended());
            let is_asked = run.open_interrupts().any(|(_, each)| each.opened.step.as_ref() == Some(id));
            let is_free = step.end.is_none() && step.closing.is_none() && step.blocked.is_none();
            is_free && !waits && !is_asked && run.request(id).is_some() && run.actions().iter().any(|action| {
                matches!(action, holdshort_core::run::Action::CallModel { step, .. } if step == *id)
            })
        });
        match goes_on {
            Some((step, _)) => Err(format!("a gathered question opens while {step} can go on")),
            None => Ok(()),
        }
    }

    fn may_reuse(
        &self,
        asked: &Interrupt,
        kept: Option<&RecordedAnswer>,
        at: Timestamp,
    ) -> Result<(), String> {
        let kept = kept.ok_or("an answer that was never given is reused")?;
        if !kept.counts {
            return Err("an answer that no person gave, or that is erased, is reused".to_owned());
        }
        let subject = self.run.kept_for();
        if subject.is_none() || subject != kept.subject.as_deref() {
            return Err(format!("an answer about {:?} is reused for {subject:?}", kept.subject));
        }
        if history::question_key(asked.question()) != kept.asked {
            return Err("an answer to another question is reused".to_owned());
        }
        let most = self.run.definition.asking.reuse_ms;
        // The clocks of nodes differ, but the timestamp of an event is never earlier than that of the event before it.
        let age = at.ms_since(kept.since);
        if most.is_none_or(|most| age > most.saturating_add(SLACK_MS)) {
            return Err(format!(
                "an answer that is {age} ms old is reused, but at most {most:?} are allowed"
            ));
        }
        Ok(())
    }

    /// Checks that the result of the run contains all questions that were asked and all assumptions that were recorded
    /// in the run.
    fn tells_all(&self, result: &Value) -> Result<(), String> {
        if self.run.definition.is_external() {
            return Ok(());
        }
        let listed = |key: &str| result[key].as_array().cloned().unwrap_or_default();
        let asked = self.run.interrupts.values().filter(|each| each.opened.kind == Kind::Question).count();
        let unshown = listed("questions").iter().filter(|each| each["asked"] == false).count();
        let recorded = |call: &&Call| call.tool == RECORD && call.state == CallState::Ended(CallEnd::Done);
        let recorded = self.run.calls.values().filter(recorded).count();
        let told = listed("assumptions").iter().filter(|each| !each["assumption"].is_null()).count();
        if listed("questions").len() != asked + unshown || told != recorded {
            return Err(format!(
                "there are {asked} questions and {recorded} assumptions, but the result contains {result}"
            ));
        }
        Ok(())
    }
}

/// Milliseconds by which the clock of a node may be behind the timestamps of written events when the node uses an
/// answer again.
const SLACK_MS: u64 = 15 * 60_000;
