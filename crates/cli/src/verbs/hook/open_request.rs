//! Request to the server about one call. Opens the request or attaches to an earlier one, waits for the decision, and
//! uses the approval.

use std::time::{Duration, Instant};

use anyhow::Context;
use holdshort_core::digest::Digest;
use holdshort_edges::hooks::{self, Cli, EventKind, HookQuestion, QuestionForm, Verdict};
use holdshort_protocol::{
    Ask, AskTrial, Code, Interrupt, InterruptStatus, Outcome, Resolution, Run, UseApproval, UsedApproval,
};
use rustix::process::getpid;
use serde_json::json;

use super::server::{Failure, persist};
use super::session::Session;
use super::state::{Pending, SessionState, now};

/// Time for which a server that is absent or busy is asked again before the call is denied.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest wait of one request for a decision.
const POLL: Duration = Duration::from_secs(25);

/// Request that waits for a decision.
pub(super) struct Asked {
    pub(super) interrupt: String,
    pub(super) bound: Digest,
    /// Secret with which the released changes are carried out, if the server has tried the call.
    pub(super) secret: Option<String>,
    /// Decision that was known at once, by a rule or a grant.
    pub(super) resolution: Option<Resolution>,
}

/// Result of the attempt to use an approval.
pub(super) enum Use {
    Done,
    /// Used before, or no longer usable.
    Gone,
    Refused(String),
}

impl Session<'_> {
    pub(super) fn end_of_patience(&self) -> Instant {
        self.deadline.min(Instant::now() + PATIENCE)
    }

    /// Opens a request, or returns the request of an earlier identical call that nobody waits for. `time`: maximum time
    /// of a trial, if the server shall try the call.
    pub(super) async fn ask(
        &self,
        same: &Digest,
        attempt: usize,
        time: Option<Duration>,
        make: impl Fn(&str) -> (Ask, Digest),
    ) -> anyhow::Result<Asked> {
        // A call with an id has one request, also if the hook is killed and started again.
        let once = match &self.event.call_id {
            Some(id) => json!([id, attempt]),
            None => json!([getpid().as_raw_nonzero().get(), now(), attempt]),
        };
        let mut is_retry = false;
        loop {
            let run = self.run().await?;
            let (mut ask, bound) = make(&run);
            let tried_as = once.to_string();
            ask.trial = time.map(|time| AskTrial {
                exec_digest: Digest::of_bytes(self.secret(&tried_as, same).as_bytes()).to_string(),
                timeout_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            });
            let mut earlier = self.state.update(|state| self.attach(state, same))?;
            if let Some(found) = &earlier {
                let is_same = match &found.tried_as {
                    Some(earlier) => time.is_some() && *earlier == tried_as,
                    None => found.bound == bound,
                };
                if is_same {
                    return Ok(self.attached(found, same));
                }
            }
            // The earlier request is about another content of the file, or about a trial that is no longer requested.
            if let Some(other) = earlier.take_if(|found| time.is_none() || found.tried_as.is_none()) {
                self.server.withdraw(&other.interrupt).await;
                self.forget(&other.interrupt)?;
            }
            let key = format!("hook-{}", Digest::of_json(&json!([self.name, self.event.name, once, ask])));
            let (end, wait) = (self.end_of_patience(), time.unwrap_or_default());
            let opened =
                persist(end, || self.server.post::<Interrupt>("/v1/interrupts", &key, &ask, wait)).await;
            match opened {
                Ok(interrupt) => {
                    let is_tried = time.is_some() && interrupt.payload["trial"].is_object();
                    let bound = asked_about(&interrupt, &ask, bound, is_tried)?;
                    // The card may leave out paths: `exec` checks all of them again.
                    if let Some(reason) = self.guard.refusal_of_changes(changed_paths(&interrupt)) {
                        self.server.withdraw(&interrupt.id).await;
                        anyhow::bail!("{reason}");
                    }
                    let opened = Pending {
                        call: *same,
                        bound,
                        interrupt: interrupt.id.clone(),
                        event: self.event.name.clone(),
                        waiting: getpid().as_raw_nonzero().get(),
                        tried_as: is_tried.then_some(tried_as),
                    };
                    // An approval of an earlier trial counts only if the command still does the same.
                    if let Some(earlier) = earlier {
                        // A repeated request was withdrawn when it attached to the earlier one.
                        let is_undecided = interrupt
                            .resolution
                            .as_ref()
                            .is_none_or(|resolution| resolution.outcome == Outcome::Cancelled);
                        let is_equal = is_tried && earlier.bound == bound && is_undecided;
                        let outdated = if is_equal { &opened } else { &earlier };
                        self.server.withdraw(&outdated.interrupt).await;
                        if is_equal {
                            return Ok(self.attached(&earlier, same));
                        }
                        self.forget(&earlier.interrupt)?;
                    }
                    let asked = Asked { resolution: resolution(interrupt), ..self.attached(&opened, same) };
                    self.state.update(|state| state.pending.push(opened))?;
                    return Ok(asked);
                }
                // The journal is a new one, and does not have the run.
                Err(Failure::Refused(problem)) if problem.code == Code::NotFound && !is_retry => {
                    is_retry = true;
                    self.state.update(|state| state.run = None)?;
                }
                Err(Failure::Refused(problem)) if problem.code == Code::RunEnded => {
                    anyhow::bail!("a person ended this session in Holdshort: start a new session")
                }
                Err(failure) => return Err(failure.into()),
            }
        }
    }

    /// Returns the secret with which the changes of a tried call are carried out.
    fn secret(&self, once: &str, same: &Digest) -> String {
        self.released.secret(&self.name, once, same)
    }

    fn attached(&self, pending: &Pending, same: &Digest) -> Asked {
        let secret = pending.tried_as.as_ref().map(|once| self.secret(once, same));
        Asked { interrupt: pending.interrupt.clone(), bound: pending.bound, secret, resolution: None }
    }

    /// Returns the run of the session, which one request starts.
    pub(super) async fn run(&self) -> anyhow::Result<String> {
        if let Some(run) = self.state.update(|state| state.run.clone())? {
            return Ok(run);
        }
        let task = format!("{} in {}", self.cli.title(), self.root.display());
        let body = json!({"workflow": "external", "input": {"task": task}});
        let key = format!("hook-{}-{}", self.cli.as_str(), self.name);
        let started = persist(self.end_of_patience(), || {
            self.server.post::<Run>("/v1/runs", &key, &body, Duration::ZERO)
        })
        .await?;
        self.state.update(|state| state.run = Some(started.id.clone()))?;
        Ok(started.id)
    }

    /// Returns the request of an identical call, and takes it over. The other event about the same call of Cursor waits
    /// for the same request.
    fn attach(&self, state: &mut SessionState, same: &Digest) -> Option<Pending> {
        let fits = |pending: &&mut Pending| {
            let is_twin = self.cli == Cli::Cursor && pending.event != self.event.name;
            pending.call == *same && (is_twin || !pending.is_waited_for())
        };
        let found = state.pending.iter_mut().rev().find(fits)?;
        if !found.is_waited_for() {
            found.waiting = getpid().as_raw_nonzero().get();
            found.event.clone_from(&self.event.name);
        }
        Some(found.clone())
    }

    /// Sets the answer for the case that nobody decides in time.
    pub(super) fn answer_late(&self, interrupt: &str) {
        let page = self.server.page(interrupt);
        let reason = format!(
            "Nobody has decided yet. A person can decide at {page}. After an approval, repeat exactly the same call, \
             and it runs once. Do not try another way."
        );
        let verdict = match &self.event.kind {
            _ if self.defers => Verdict::Defer,
            EventKind::Question(HookQuestion { form: QuestionForm::Fields, .. }) => Verdict::Cancel,
            _ => Verdict::Deny { reason },
        };
        self.reply.set_late(hooks::answer(self.cli, self.event, &verdict));
    }

    /// Waits for the resolution. At the deadline, the other thread ends the process.
    pub(super) async fn wait(&self, asked: &Asked) -> anyhow::Result<Resolution> {
        if let Some(resolved) = &asked.resolution {
            return Ok(resolved.clone());
        }
        let interrupt = &asked.interrupt;
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let wait = POLL.min(left);
            let path = format!("/v1/interrupts/{interrupt}?wait={}", wait.as_secs());
            let found = persist(self.deadline, || self.server.get::<Interrupt>(&path, wait)).await;
            match found {
                Ok(Interrupt { status: InterruptStatus::Open, .. }) if left.is_zero() => {
                    self.reply.give_late()
                }
                Ok(interrupt) => {
                    if let Some(resolved) = resolution(interrupt) {
                        return Ok(resolved);
                    }
                }
                // The server may be back later: the request stays open, and the answer names its page.
                Err(Failure::Passing { .. }) => self.reply.give_late(),
                Err(failure) => return Err(failure.into()),
            }
        }
    }

    /// Uses the approval. No other call can use it afterwards.
    pub(super) async fn consume(&self, interrupt: &str, digest: Digest) -> anyhow::Result<Use> {
        let path = format!("/v1/interrupts/{interrupt}/consume");
        let key = format!("hook-{}-{}", getpid().as_raw_nonzero(), now());
        let body = UseApproval { digest: digest.to_string(), exec: None };
        match persist(self.deadline, || self.server.post::<UsedApproval>(&path, &key, &body, Duration::ZERO))
            .await
        {
            Ok(used) if used.digest == body.digest => Ok(Use::Done),
            Ok(_) => Ok(Use::Refused("The server released a different call.".to_owned())),
            Err(Failure::Refused(problem)) => Ok(match problem.code {
                Code::ApprovalUsed | Code::ApprovalExpired => Use::Gone,
                _ => Use::Refused(format!("The approval cannot be used: {}", problem.detail)),
            }),
            Err(failure) => Err(failure.into()),
        }
    }

    pub(super) fn forget(&self, interrupt: &str) -> anyhow::Result<()> {
        self.state.update(|state| state.pending.retain(|pending| pending.interrupt != interrupt))
    }
}

/// Returns the decision, with the reason of the rule that forbids the call.
fn resolution(interrupt: Interrupt) -> Option<Resolution> {
    let mut resolved = interrupt.resolution?;
    if resolved.outcome == Outcome::Rejected && resolved.cause == "rule" && resolved.text.is_none() {
        resolved.text = interrupt.risk.reasons.into_iter().next().map(|reason| reason.text);
    }
    Some(resolved)
}

/// Returns the digest to which the approval of an opened request is bound. An error if the server asked about another
/// call.
fn asked_about(interrupt: &Interrupt, ask: &Ask, bound: Digest, is_tried: bool) -> anyhow::Result<Digest> {
    let digest = interrupt.action_digest.clone().map(Digest::try_from).transpose();
    let digest = digest.context("the server names no valid digest: update the hook")?;
    let is_bound = if is_tried {
        digest.is_some()
            && ask.call.as_ref().is_some_and(|call| interrupt.payload["arguments"] == call.arguments)
    } else {
        digest.is_none_or(|digest| digest == bound)
    };
    anyhow::ensure!(is_bound, "the server asked about a different call: update the hook");
    Ok(digest.unwrap_or(bound))
}

/// Returns the changed paths that the card of a tried call shows.
fn changed_paths(interrupt: &Interrupt) -> impl Iterator<Item = &str> {
    let changes = interrupt.payload["trial"]["changes"].as_array().into_iter().flatten();
    changes.filter_map(|change| change["path"].as_str())
}
