//! Hand-offs: an agent hands its work over to another agent of the same step or to a person, or ends the work
//! (contracts A5, A7).
//!
//! A hand-off takes place after all other calls of its reply. The gates vote on the hand-off when the other calls have
//! ended. The next agent therefore finds a result for every call. The conversation of the step continues. Only the
//! instructions, tools and model of the next request change.

use serde_json::json;

use super::draft::{Draft, Opening};
use super::{Call, CallEnd, CallState, Entry, Fact, ModelCall, Run, Step};
use crate::asking::RECORD;
use crate::envelope::Content;
use crate::gate::{Reason, Source, Verdict};
use crate::interrupt::{About, Kind};
use crate::level::Level;
use crate::session::Session;
use crate::system::System;
use crate::text::clip;
use crate::time::Timestamp;
use crate::tool::Receiver;

impl Draft<'_> {
    /// Handles the hand-offs in agents' replies whose other tool calls have ended. Such a hand-off takes place, asks a
    /// person, or is forbidden by a rule. Returns true if events were emitted.
    pub(super) fn advance_handoffs(&mut self) -> bool {
        let due = self.run.calls.open().filter(|(id, call)| {
            call.state == CallState::Proposed
                && self.run.receiver(&call.tool).is_some()
                && self.run.comes_last(id, call)
        });
        let due: Vec<(String, Call)> = due.map(|(id, call)| (id.clone(), call.clone())).collect();
        due.iter().any(|(id, call)| self.advance_handoff(id, call))
    }

    /// Handles one tool call that hands work over. Returns true if events were emitted. Emits no event while a model
    /// judges the hand-off.
    fn advance_handoff(&mut self, id: &str, call: &Call) -> bool {
        let before = self.written();
        match self.run.vote_on_handoff(call, &self.session, self.cx.system, self.now()) {
            Err(reason) => self.forbid_handoff(id, &reason),
            Ok(reasons) if !reasons.is_empty() || self.run.receiver(&call.tool) == Some(&Receiver::Admin) => {
                self.escalate(id, call, reasons);
            }
            Ok(_) if self.begin_judgement(id, call) => {}
            Ok(_) => self.hand_over(id, call),
        }
        self.written() > before
    }

    fn escalate(&mut self, id: &str, call: &Call, reasons: Vec<Reason>) {
        let from = call.agent.as_str();
        let (to, title) = match self.run.receiver(&call.tool) {
            Some(Receiver::Agent(to)) => (to.as_str(), format!("Hand over from `{from}` to `{to}`")),
            Some(Receiver::Terminator) => {
                (crate::handoff::TERMINATOR, format!("`{from}` says that the work is finished"))
            }
            Some(Receiver::Admin) | None => {
                (crate::handoff::ADMIN, format!("`{from}` wants a person to look"))
            }
        };
        let said = super::ending::last_word(call).unwrap_or_else(|| self.said_with(call));
        let mut opening = Opening::new(Kind::Escalation, About::Call(id.to_owned()), title);
        opening.step = Some(call.step.clone());
        opening.message = clip(&said, 2_000);
        opening.risk = Level::Medium;
        opening.payload = json!({
            "call_id": id,
            "tool": call.tool,
            "arguments": call.arguments,
            "from": from,
            "to": to,
        });
        if !call.judgement.is_null() {
            opening.payload["judgement"] = call.judgement.clone();
        }
        opening.reasons = reasons;
        self.open(opening);
    }

    /// Carries out an agent's hand-off after a person approved the hand-off, unless a rule now forbids the hand-off.
    pub(super) fn release_handoff(&mut self, id: &str, call: &Call) {
        match self.run.vote_on_handoff(call, &self.session, self.cx.system, self.now()) {
            Err(reason) => self.forbid_handoff(id, &reason),
            Ok(_) => self.hand_over(id, call),
        }
    }

    fn forbid_handoff(&mut self, id: &str, reason: &Reason) {
        let text = format!("refused by policy: {}", reason.text);
        self.finish_call(id, CallEnd::Refused, Some("forbidden"), text);
    }

    fn hand_over(&mut self, id: &str, call: &Call) {
        match self.run.receiver(&call.tool).cloned() {
            Some(Receiver::Agent(to)) => {
                let mut text = format!("`{to}` continues from here.");
                for (key, says) in [("message", "says"), ("reason", "gives the reason")] {
                    if let Some(said) = call.argument(key).map(str::trim).filter(|said| !said.is_empty()) {
                        text.extend(["\n`", &call.agent, "` ", says, ": ", said]);
                    }
                }
                self.finish_call(id, CallEnd::Done, Some("handed_over"), text);
                let (step, from) = (call.step.clone(), call.agent.clone());
                self.emit(Fact::HandedOver { step, from, to, call: id.to_owned() }, Content::none());
            }
            // The step ends as it ends after a final reply of its agent, including the gates after the step. If another
            // call of the same reply failed, the step does not end. The agent then gets a message about the failed
            // call.
            Some(Receiver::Terminator) => match self.run.find_failed_sibling(call) {
                Some(tool) => {
                    let text = format!("Not finished yet: check the result of `{tool}`.");
                    self.finish_call(id, CallEnd::Failed, Some("not_finished"), text);
                }
                None => match self.run.unassumed_and_untold(&call.step) {
                    Some(question) => {
                        let text = format!(
                            "Not finished yet: nobody answered \"{question}\". Write down with `{RECORD}` what you \
                             assume instead."
                        );
                        self.finish_call(id, CallEnd::Failed, Some("not_finished"), text);
                    }
                    None => self.finish_call(id, CallEnd::Done, Some("finished"), "The work is finished."),
                },
            },
            // The person gave no instruction, so the agent that asked continues (contract A5).
            Some(Receiver::Admin) | None => self.finish_call(id, CallEnd::Answered, Some("continued"), ""),
        }
    }
}

impl Run {
    /// Returns the agent or person to which a call of the tool `tool` hands work over. `None` if the tool does not hand
    /// work over.
    pub(super) fn receiver(&self, tool: &str) -> Option<&Receiver> {
        self.spec(tool)?.receiver()
    }

    /// Returns the reasons to ask a person before a hand-off. If a rule forbids the hand-off, returns the reason of the
    /// rule as an error. A hand-off for which there is no rule is allowed, because the approval gates also apply to the
    /// calls of the receiving agent.
    fn vote_on_handoff(
        &self,
        call: &Call,
        session: &Session,
        system: &System,
        now: Timestamp,
    ) -> Result<Vec<Reason>, Reason> {
        match self.vote(call, session, system, now) {
            Verdict::Forbid(reason) => Err(reason),
            Verdict::Allow(_) => Ok(Vec::new()),
            Verdict::Ask { mut reasons, .. } => {
                reasons.retain(|reason| reason.source != Source::Default);
                Ok(reasons)
            }
        }
    }

    /// Returns the tool of another call in the same reply that has failed. A call has failed if the call was refused,
    /// or if the call should have changed something and ended with an error.
    fn find_failed_sibling(&self, call: &Call) -> Option<&str> {
        let (_, calls) = self.last_turn(self.steps.get(&call.step)?)?;
        let wrong = |other: &&Call| {
            self.receiver(&other.tool).is_none()
                && (other.state == CallState::Ended(CallEnd::Refused)
                    || self.writes(&other.tool) && super::step::went_wrong(other) == Some(true))
        };
        calls.into_iter().find(wrong).map(|other| other.tool.as_str())
    }

    fn comes_last(&self, id: &str, call: &Call) -> bool {
        !self.calls.open().any(|(other, each)| each.step == call.step && other != id)
    }

    /// Returns the final text of a step: a reply without tool calls, or the summary in the call that ends the work.
    /// `None` if anything was added to the step after that reply.
    pub(super) fn final_word(&self, step: &Step) -> Option<String> {
        let Some(Entry::Turn { text, calls, .. }) =
            step.entries.last().filter(|_| step.model == ModelCall::Idle)
        else {
            return None;
        };
        // A call of this reply failed, and a person may have told the agent to try again. The reply therefore does not
        // end the step.
        if !calls.is_empty() && step.excused == step.turn {
            return None;
        }
        let word = self.word_of(text, calls)?;
        Some(if calls.is_empty() { self.content_of(step, &word) } else { word })
    }

    /// Returns the text of an agent's reply that ends the agent's work. `None` for replies that do not end the work.
    pub(super) fn word_of(&self, text: &str, calls: &[String]) -> Option<String> {
        if calls.is_empty() {
            return Some(text.to_owned());
        }
        let mut made = calls.iter().filter_map(|id| self.calls.get(id));
        if !made.clone().all(|call| call.is_ended()) {
            return None;
        }
        let finished = made.find(|call| {
            call.state == CallState::Ended(CallEnd::Done)
                && self.receiver(&call.tool) == Some(&Receiver::Terminator)
        })?;
        Some(super::ending::last_word(finished).unwrap_or_else(|| text.to_owned()))
    }
}
