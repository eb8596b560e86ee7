//! Steps of one event: deny what is protected, ask or attach to an earlier request, wait, use the approval, answer.
//!
//! An approval is used at the server before the tool may run, so each approval releases one call. If the coding agent
//! stops waiting, the request stays open, and the next identical call of the session attaches to it.

use holdshort_core::digest::Digest;
use holdshort_core::gate::foreign::ForeignCall;
use holdshort_edges::hooks::{EventKind, HookCall, HookQuestion, Verdict};
use holdshort_protocol::{Outcome, Resolution};

use super::open_request::{Asked, Use};
use super::request::{self, Prepared};
use super::session::Session;
use super::state::Settled;

/// Maximum number of requests for one call, if an approval is used or expires in between.
const ATTEMPTS: usize = 4;

impl Session<'_> {
    pub(super) async fn decide(&self) -> anyhow::Result<Verdict> {
        match &self.event.kind {
            EventKind::Call(call) => self.call(call, false).await,
            EventKind::Permission(call) => self.call(call, true).await,
            EventKind::Question(question) => self.question(question).await,
            EventKind::Done(_) => self.compare().await,
            EventKind::Elsewhere => Ok(Verdict::NoOpinion),
        }
    }

    fn guarded(&self, call: &HookCall) -> Option<Verdict> {
        let cwd = request::working_directory(&self.root, self.event, call.folder.as_deref());
        self.guard.refusal(call, &cwd).map(|reason| Verdict::Deny { reason })
    }

    async fn call(&self, call: &HookCall, is_permission: bool) -> anyhow::Result<Verdict> {
        let prepared = Prepared::new(self.cli, self.event, call, &self.root);
        if is_permission && let Some(verdict) = self.take_released(&prepared.same)? {
            return Ok(self.ended_by_incident().await?.unwrap_or(verdict));
        }
        if let Some(denied) = self.guarded(call) {
            return Ok(denied);
        }
        if let Some(denied) = self.ended_by_incident().await? {
            return Ok(denied);
        }
        let earlier = self.state.update(|state| self.take_settled(state, &prepared.same, is_permission))?;
        let needs_person = match earlier {
            Some(Settled { denied: Some(reason), .. }) => return Ok(Verdict::Deny { reason }),
            Some(Settled { by_person: false, .. }) if is_permission => true,
            Some(_) => return Ok(Verdict::Allow { input: None }),
            None => false,
        };
        let mut facts = request::origin(self.cli, self.event, &self.root);
        let time = match self.plan_trial(call, &prepared, is_permission) {
            None => None,
            Some(Ok(time)) => Some(time),
            Some(Err(why)) => {
                facts.insert("not_tried".to_owned(), why.into());
                None
            }
        };
        for attempt in 0..ATTEMPTS {
            let asked = self
                .ask(&prepared.same, attempt, time, |run| {
                    if needs_person {
                        let ask = request::for_person(call, &prepared, facts.clone(), run);
                        let bound = Digest::of_json(&ask.payload);
                        (ask, bound)
                    } else {
                        (request::for_call(call, &prepared, facts.clone(), run), prepared.bound())
                    }
                })
                .await?;
            self.answer_late(&asked.interrupt);
            let resolved = self.wait(&asked).await?;
            if resolved.outcome != Outcome::Approved {
                let reason = refusal(&resolved);
                self.settle(&prepared.same, &asked, &resolved, Some(&reason), None)?;
                return Ok(Verdict::Deny { reason });
            }
            if let Some(secret) = &asked.secret {
                return self.release(call, &asked, &resolved, secret);
            }
            // The tool reads the file only now.
            let again = Prepared::new(self.cli, self.event, call, &self.root);
            if !needs_person && again.bound() != prepared.bound() {
                self.forget(&asked.interrupt)?;
                let reason =
                    "The file changed after the request, so the approval is void. Read the file again.";
                return Ok(Verdict::Deny { reason: reason.to_owned() });
            }
            let (runs, bound) = match self.approved(call, &prepared, &asked, &resolved) {
                Ok(approved) => approved,
                Err(reason) => {
                    self.forget(&asked.interrupt)?;
                    return Ok(Verdict::Deny { reason });
                }
            };
            match self.consume(&asked.interrupt, bound).await? {
                Use::Done => {
                    let is_edited = !resolved.edit.is_null();
                    let prepared = if is_edited {
                        Prepared::new(self.cli, self.event, &runs, &self.root)
                    } else {
                        prepared
                    };
                    let written = self.written(&prepared, &asked);
                    self.settle(&prepared.same, &asked, &resolved, None, written)?;
                    return Ok(Verdict::Allow { input: is_edited.then_some(runs.original) });
                }
                Use::Refused(reason) => {
                    self.forget(&asked.interrupt)?;
                    return Ok(Verdict::Deny { reason });
                }
                Use::Gone => {
                    if let Some(settled) = self.settled_by_other_event(&prepared.same, &asked).await? {
                        return Ok(settled);
                    }
                    self.forget(&asked.interrupt)?;
                }
            }
        }
        anyhow::bail!("approvals of this call were used or ended several times: repeat the call later")
    }

    /// Returns the call that was approved, and the digest to use the approval. The error is a reason to deny.
    fn approved(
        &self,
        call: &HookCall,
        prepared: &Prepared,
        asked: &Asked,
        resolved: &Resolution,
    ) -> Result<(HookCall, Digest), String> {
        if resolved.edit.is_null() {
            return Ok((call.clone(), asked.bound));
        }
        let edited = call.edited(&resolved.edit).filter(|_| call.can_edit && !prepared.is_shortened);
        let Some(edited) = edited else {
            return Err(format!(
                "A person changed the arguments, and {} cannot use the changed arguments.",
                self.cli.title()
            ));
        };
        if let Some(Verdict::Deny { reason }) = self.guarded(&edited) {
            return Err(reason);
        }
        let bound = ForeignCall::edited(&prepared.call, resolved.edit.clone());
        Ok((edited, Digest::of_json(&bound)))
    }

    async fn question(&self, question: &HookQuestion) -> anyhow::Result<Verdict> {
        let same = Digest::of_json(&question.original);
        let facts = request::origin(self.cli, self.event, &self.root);
        let asked = self
            .ask(&same, 0, None, |run| {
                let HookQuestion { title, message, schema, .. } = question;
                (request::for_question(title, message, schema, facts.clone(), run), same)
            })
            .await?;
        self.answer_late(&asked.interrupt);
        let resolved = self.wait(&asked).await?;
        self.forget(&asked.interrupt)?;
        if resolved.outcome == Outcome::Answered
            && let Some(answered) = question.answered(resolved.text.as_deref(), &resolved.edit)
        {
            return Ok(answered);
        }
        Ok(Verdict::Deny { reason: refusal(&resolved) })
    }
}

/// Explains to the agent why its call does not run.
fn refusal(resolved: &Resolution) -> String {
    let text = resolved.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let because = |what: &str| match text {
        Some(text) => format!("{what}: {text}"),
        None => format!("{what}."),
    };
    match resolved.outcome {
        Outcome::Answered => because("A person answers instead of running the tool"),
        Outcome::Rejected if resolved.cause == "rule" => {
            because("A rule of the installation forbids this call")
        }
        Outcome::Rejected => because("A person rejected this call"),
        Outcome::Expired => "Nobody decided before the request expired.".to_owned(),
        Outcome::Cancelled | Outcome::Superseded | Outcome::Approved => {
            "The request was withdrawn before a decision.".to_owned()
        }
    }
}
