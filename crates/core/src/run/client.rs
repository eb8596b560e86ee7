//! Tool calls that a client executes, instead of the server. The gates vote on such calls as on all other calls. An
//! approved call is offered to clients as an interrupt. The result that a client reports ends the call.

use serde_json::{Value, json};

use super::draft::{Draft, Opening};
use super::fact::Authority;
use super::input::{ClientOutcome, Rejection};
use super::{Call, CallState, Fact};
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{About, Decision, Kind, Refusal};
use crate::level::Level;
use crate::schema::Problem;
use crate::tool::Inspection;

impl Draft<'_> {
    /// Lets the approval gates vote on new tool calls that a client will execute. The server cannot inspect the
    /// client's files, so the gates see only the arguments of the calls.
    pub(super) fn gate_client_calls(&mut self) -> bool {
        let mut proposed = self.run.calls.open().filter(|(_, call)| {
            let is_due = call.state == CallState::Proposed && call.look.is_none() && !self.run.is_held(call);
            is_due && self.run.is_client_call(call)
        });
        let next = proposed.next().map(|(id, call)| (id.clone(), call.clone()));
        drop(proposed);
        let Some((id, call)) = next else { return false };
        let unseen = Inspection {
            workspace: String::new(),
            cwd: String::new(),
            preconditions: Vec::new(),
            sandbox: None,
            ask_because: Vec::new(),
            places: Vec::new(),
            card: Value::Null,
            proposed: None,
        };
        let (look, _) = self.run.look_of(&call, unseen);
        self.emit(Fact::ToolInspected { call: id.clone(), look }, Content::none());
        self.gate(&id);
        true
    }

    /// Offers a tool call to clients as an interrupt. After the event that opens the interrupt, a client is allowed to
    /// execute the call.
    pub(super) fn open_client_call(&mut self, id: &str, call: &Call) {
        let title = format!("In the client: {}", super::gating::title(call));
        let mut opening = Opening::new(Kind::ClientCall, About::Call(id.to_owned()), title);
        opening.step = Some(call.step.clone());
        opening.risk = Level::Low;
        opening.action_digest = call.digest;
        opening.payload = json!({ "call_id": id, "tool": call.tool, "arguments": call.arguments });
        let handed_out = self.open(opening);
        if let Some(Authority::Interrupt(approved)) = &call.authority {
            self.inherit_claim(&handed_out, approved);
        }
    }

    /// Records the result of a tool call that a client executed. If the call still waits for an approval, reporting the
    /// result also approves the call (contract E33).
    pub(super) fn client_result(&mut self, id: &str, outcome: &ClientOutcome) -> Result<(), Rejection> {
        let call = self.run.calls.get(id).map(|call| (**call).clone()).ok_or(Rejection::UnknownCall)?;
        if !self.run.is_client_call(&call) {
            let problem = Problem::new("/call_id", "names a call that this client does not run");
            return Err(Rejection::Invalid(vec![problem]));
        }
        if let CallState::Gated(asked) = &call.state {
            let approve = Decision { option: "approve".to_owned(), ..Decision::default() };
            self.decide_for(asked, &approve, true)?;
        }
        // The call has already run, so a pause, a freeze or a changed rule has no effect on the result. If the client
        // approved the call itself, it may have run the call before this process handed out the call.
        self.started_by_client(id);
        let state = self.run.calls.get(id).map(|call| call.state.clone());
        match state {
            Some(CallState::WithClient(handed_out)) => self.answer(&handed_out, outcome),
            // A duplicate of the recorded result changes nothing.
            Some(CallState::Ended(end))
                if end == outcome.end() && call.result.as_deref() == Some(outcome.text()) =>
            {
                Ok(())
            }
            Some(CallState::Ended(_)) => Err(Rejection::Refused(Refusal::AlreadyResolved)),
            Some(
                CallState::Proposed
                | CallState::Gated(_)
                | CallState::Authorised
                | CallState::Started { .. }
                | CallState::Doubted(_),
            )
            | None => Err(Rejection::Outdated),
        }
    }

    fn started_by_client(&mut self, id: &str) {
        let released = self.run.calls.get(id).filter(|call| {
            call.state == CallState::Authorised && matches!(call.authority, Some(Authority::Interrupt(_)))
        });
        let Some(call) = released.map(|call| (**call).clone()) else { return };
        let Some(digest) = call.look.as_ref().map(|look| look.digest) else { return };
        let (attempt, epoch) = (call.attempt + 1, self.cx.epoch);
        let started = Fact::ToolStarted {
            call: id.to_owned(),
            attempt,
            digest,
            epoch,
            sandbox: None,
            changeset: None,
            effect: None,
        };
        self.emit(started, Content::none());
        self.open_client_call(id, &call);
    }

    fn answer(&mut self, handed_out: &InterruptId, outcome: &ClientOutcome) -> Result<(), Rejection> {
        let answer = Decision {
            option: outcome.option().to_owned(),
            text: Some(outcome.text().to_owned()),
            ..Decision::default()
        };
        self.decide_for(handed_out, &answer, false)
    }
}
