//! Steps of one event: deny what is protected, ask or attach to an earlier request, wait, use the approval, answer.
//!
//! An approval is used at the server before the tool may run, so each approval releases one call. If the coding agent
//! stops waiting, the request stays open, and the next identical call of the session attaches to it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use holdshort_core::digest::Digest;
use holdshort_core::gate::foreign::ForeignCall;
use holdshort_edges::hooks::{
    self, Cli, EventKind, HookCall, HookEvent, HookQuestion, QuestionForm, Verdict,
};
use holdshort_http::secret_file;
use holdshort_protocol::{
    Ask, AskTrial, Code, Interrupt, InterruptStatus, Outcome, Resolution, Run, UseApproval, UsedApproval,
};
use rustix::process::getpid;
use serde_json::json;

use super::guard::Guard;
use super::own_rules;
use super::released_command::ReleasedCommand;
use super::reply::Reply;
use super::request::{self, Prepared};
use super::server::{Failure, Server, persist};
use super::state::{Pending, SessionState, Settled, StateFile, Written, now};
use crate::limits::HOOK_FILE_READ_BYTES;

/// Time for which a server that is absent or busy is asked again before the call is denied.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest wait of one request for a decision.
const POLL: Duration = Duration::from_secs(25);
/// Maximum number of requests for one call, if an approval is used or expires in between.
const ATTEMPTS: usize = 4;
/// Time for which the second event of a call waits until the first one has recorded its use of the approval.
const RECORD_TIME: Duration = Duration::from_secs(3);
/// Arguments with which a command runs in the background. They are absent if they are false.
const FLAGS_OF_BACKGROUND: [&str; 2] = ["run_in_background", "is_background"];

/// One event of a coding agent, and what is needed to answer it.
pub(super) struct Session<'a> {
    pub cli: Cli,
    pub guard: Guard,
    pub server: Server,
    pub state: StateFile,
    /// Folder of the installed hook.
    pub root: PathBuf,
    pub event: &'a HookEvent,
    pub reply: &'a Reply,
    pub released: ReleasedCommand,
    /// Maximum time of a trial. `None`: the hook was installed without trials.
    pub trial_time: Option<Duration>,
    /// Time at which `reply` answers by itself.
    pub deadline: Instant,
    /// Digest that identifies the session of the coding agent.
    pub name: Digest,
    /// True if the answer at the deadline is a deferral.
    pub defers: bool,
}

/// Request that waits for a decision.
struct Asked {
    interrupt: String,
    bound: Digest,
    /// Secret with which the released changes are carried out, if the server has tried the call.
    secret: Option<String>,
    /// Decision that was known at once, by a rule or a grant.
    resolution: Option<Resolution>,
}

/// Result of the attempt to use an approval.
enum Use {
    Done,
    /// Used before, or no longer usable.
    Gone,
    Refused(String),
}

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

    fn end_of_patience(&self) -> Instant {
        self.deadline.min(Instant::now() + PATIENCE)
    }

    fn guarded(&self, call: &HookCall) -> Option<Verdict> {
        let cwd = request::working_directory(&self.root, self.event, call.folder.as_deref());
        self.guard.refusal(call, &cwd).map(|reason| Verdict::Deny { reason })
    }

    async fn call(&self, call: &HookCall, is_permission: bool) -> anyhow::Result<Verdict> {
        let prepared = Prepared::new(self.cli, self.event, call, &self.root);
        let released = if is_permission { self.take_released(&prepared.same)? } else { None };
        if let Some(denied) = self.guarded(call).filter(|_| released.is_none()) {
            return Ok(denied);
        }
        if let Some(denied) = self.ended_by_incident().await? {
            return Ok(denied);
        }
        if let Some(verdict) = released {
            return Ok(verdict);
        }
        let earlier = self.state.update(|state| self.take_settled(state, &prepared.same, is_permission))?;
        let needs_person = match earlier {
            Some(Settled { denied: Some(reason), .. }) => return Ok(Verdict::Deny { reason }),
            Some(Settled { by_person: false, .. }) if is_permission => true,
            Some(_) => return Ok(Verdict::Allow { input: None }),
            None => false,
        };
        let trial = self.plan_trial(call, &prepared, is_permission);
        for attempt in 0..ATTEMPTS {
            let mut facts = request::origin(self.cli, self.event, &self.root);
            if let Err(Some(why)) = &trial {
                facts.insert("not_tried".to_owned(), why.as_str().into());
            }
            let time = trial.as_ref().ok().filter(|_| !needs_person).copied();
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

    /// Returns the maximum time of the trial of a call. The error is the reason why the call is not tried, which the
    /// card shows. The inner `None`: the call is no command.
    fn plan_trial(
        &self,
        call: &HookCall,
        prepared: &Prepared,
        is_permission: bool,
    ) -> Result<Duration, Option<String>> {
        let Some(line) = call.command() else { return Err(None) };
        let title = self.cli.title();
        let is_background = FLAGS_OF_BACKGROUND.iter().any(|flag| call.arguments.get(*flag).is_some());
        let why = if is_permission {
            Some(format!("{title} itself asks about it"))
        } else if !call.can_edit && self.cli != Cli::Cursor {
            Some(format!("{title} cannot replace the command"))
        } else if is_background {
            Some("it runs in the background".to_owned())
        } else if prepared.is_shortened {
            Some("it is too long".to_owned())
        } else {
            let cwd = request::working_directory(&self.root, self.event, None);
            own_rules::why_untriable(self.cli.into(), &self.root, &cwd, line)
        };
        match (why, self.trial_time) {
            (Some(why), _) => Err(Some(why)),
            (None, Some(time)) => Ok(time),
            (None, None) => Err(Some("the hook was installed without trials".to_owned())),
        }
    }

    /// Answers with the command line that carries out the released changes.
    fn release(
        &self,
        call: &HookCall,
        asked: &Asked,
        resolved: &Resolution,
        secret: &str,
    ) -> anyhow::Result<Verdict> {
        let mut arguments = call.arguments.clone();
        arguments["command"] = self.released.line(&asked.interrupt, secret).into();
        let released = call.edited(&arguments).context("the command cannot be replaced")?;
        let same = Prepared::new(self.cli, self.event, &released, &self.root).same;
        self.settle(&same, asked, resolved, None, None)?;
        Ok(Verdict::Allow { input: Some(released.original) })
    }

    /// Returns the answer to the prompt of the coding agent about a command line that this hook has just printed. Such a
    /// line passes once.
    fn take_released(&self, same: &Digest) -> anyhow::Result<Option<Verdict>> {
        let settled = self.state.update(|state| {
            let is_it = |settled: &Settled| {
                settled.is_released && settled.call == *same && settled.turn == self.event.turn
            };
            let at = state.settled.iter().position(is_it)?;
            Some(state.settled.remove(at))
        })?;
        Ok(settled.map(|settled| {
            if settled.by_person {
                return Verdict::Allow { input: None };
            }
            let title = self.cli.title();
            Verdict::Deny { reason: format!("{title} itself asks about a command that a rule has released.") }
        }))
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

    /// Opens a request, or returns the request of an earlier identical call that nobody waits for. `time`: maximum time
    /// of a trial, if the server shall try the call.
    async fn ask(
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
        let secret = |once: &str| self.released.secret(&self.name, once, same);
        let mut is_retry = false;
        loop {
            let run = self.run().await?;
            let (mut ask, bound) = make(&run);
            let tried_as = once.to_string();
            ask.trial = time.map(|time| AskTrial {
                exec_digest: Digest::of_bytes(secret(&tried_as).as_bytes()).to_string(),
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
            // The file is a different one now, or the command is no longer tried: the earlier request asks about another
            // change.
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
                        let is_equal = is_tried && earlier.bound == bound && interrupt.resolution.is_none();
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

    fn attached(&self, pending: &Pending, same: &Digest) -> Asked {
        let secret = pending.tried_as.as_ref().map(|once| self.released.secret(&self.name, once, same));
        Asked { interrupt: pending.interrupt.clone(), bound: pending.bound, secret, resolution: None }
    }

    /// Returns the run of the session, which one request starts.
    async fn run(&self) -> anyhow::Result<String> {
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
    fn answer_late(&self, interrupt: &str) {
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
    async fn wait(&self, asked: &Asked) -> anyhow::Result<Resolution> {
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
    async fn consume(&self, interrupt: &str, digest: Digest) -> anyhow::Result<Use> {
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

    /// Records the decision for the second event about the same call, and forgets the request.
    fn settle(
        &self,
        same: &Digest,
        asked: &Asked,
        resolved: &Resolution,
        denied: Option<&str>,
        written: Option<Written>,
    ) -> anyhow::Result<()> {
        let settled = Settled {
            call: *same,
            interrupt: asked.interrupt.clone(),
            event: self.event.name.clone(),
            turn: self.event.turn.clone(),
            denied: denied.map(str::to_owned),
            by_person: resolved.cause == "decision",
            is_released: asked.secret.is_some() && denied.is_none(),
            at: now(),
        };
        // Gemini CLI has one event. The prompt of Claude Code and of Codex follows only an approval.
        let has_second = match self.cli {
            Cli::Claude | Cli::Codex => denied.is_none() && matches!(self.event.kind, EventKind::Call(_)),
            Cli::Gemini => false,
            Cli::Cursor => true,
        };
        self.state.update(|state| {
            state.pending.retain(|pending| pending.interrupt != asked.interrupt);
            let before = state.settled.len();
            state
                .settled
                .retain(|other| other.interrupt != asked.interrupt || other.event == self.event.name);
            let is_second = state.settled.len() < before;
            if self.cli != Cli::Cursor {
                state.settled.retain(|other| other.call != *same);
            }
            if has_second && !is_second {
                state.settled.push(settled);
            }
            state.written.extend(written);
        })
    }

    fn forget(&self, interrupt: &str) -> anyhow::Result<()> {
        self.state.update(|state| state.pending.retain(|pending| pending.interrupt != interrupt))
    }

    /// Returns the decision that the other event about the same call has led to, once. A new call of the same tool makes
    /// the decisions about earlier equal calls invalid.
    fn take_settled(&self, state: &mut SessionState, same: &Digest, is_permission: bool) -> Option<Settled> {
        let is_second = is_permission || self.cli == Cli::Cursor;
        if !is_second {
            state.settled.retain(|settled| settled.call != *same);
            return None;
        }
        let fits = |settled: &Settled| {
            settled.event != self.event.name
                && !settled.is_released
                && settled.call == *same
                && settled.turn == self.event.turn
        };
        let at = state.settled.iter().position(fits)?;
        Some(state.settled.remove(at))
    }

    /// Waits shortly for the record of the other event, which has used the approval of this request.
    async fn settled_by_other_event(&self, same: &Digest, asked: &Asked) -> anyhow::Result<Option<Verdict>> {
        let end = Instant::now() + RECORD_TIME;
        while self.cli == Cli::Cursor && Instant::now() < end {
            let settled = self.state.update(|state| {
                let is_ours = |settled: &Settled| {
                    settled.interrupt == asked.interrupt && settled.event != self.event.name
                };
                state.settled.iter().any(is_ours).then(|| self.take_settled(state, same, false)).flatten()
            })?;
            if let Some(settled) = settled {
                return Ok(Some(match settled.denied {
                    Some(reason) => Verdict::Deny { reason },
                    None => Verdict::Allow { input: None },
                }));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(None)
    }

    fn written(&self, prepared: &Prepared, asked: &Asked) -> Option<Written> {
        let (path, text) = prepared.after.as_ref()?;
        Some(Written {
            call_id: self.event.call_id.clone()?,
            interrupt: asked.interrupt.clone(),
            path: path.clone(),
            content: Digest::of_bytes(text.as_bytes()),
        })
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

    /// Compares a file that a tool has written with the approved content. A difference becomes an incident.
    async fn compare(&self) -> anyhow::Result<Verdict> {
        let Some(id) = &self.event.call_id else { return Ok(Verdict::NoOpinion) };
        let written = self.state.update(|state| {
            let at = state.written.iter().position(|written| written.call_id == *id)?;
            Some(state.written.remove(at))
        })?;
        let Some(written) = written else { return Ok(Verdict::NoOpinion) };
        let found = content(&written.path);
        if found == Some(written.content) {
            return Ok(Verdict::NoOpinion);
        }
        let shown = written.path.display();
        let facts = request::origin(self.cli, self.event, &self.root);
        let details = json!({
            "approved_in": written.interrupt,
            "approved_sha256": written.content,
            "found_sha256": found.map_or_else(|| "no readable file".to_owned(), String::from),
        });
        let run = self.run().await?;
        let ask = request::for_incident(&written.path, facts, &details, &run);
        let key = format!("hook-{}", Digest::of_json(&json!([self.name, "incident", id])));
        let end = self.end_of_patience();
        let opened = || self.server.post::<Interrupt>("/v1/interrupts", &key, &ask, Duration::ZERO);
        let incident = persist(end, opened).await?;
        self.state.update(|state| state.incidents.push(incident.id.clone()))?;
        let page = self.server.page(&incident.id);
        Ok(Verdict::Tell { text: format!("{shown} is not what was approved. A person decides at {page}.") })
    }

    /// Denies further calls after a person has ended the session because of an incident.
    async fn ended_by_incident(&self) -> anyhow::Result<Option<Verdict>> {
        for incident in self.state.update(|state| state.incidents.clone())? {
            let path = format!("/v1/interrupts/{incident}");
            let found =
                persist(self.end_of_patience(), || self.server.get::<Interrupt>(&path, Duration::ZERO)).await;
            let resolved = match found {
                Ok(Interrupt { status: InterruptStatus::Open, .. }) => continue,
                Ok(interrupt) => interrupt.resolution,
                Err(Failure::Refused(problem)) if problem.code == Code::NotFound => None,
                Err(failure) => return Err(failure.into()),
            };
            if resolved.is_some_and(|resolved| resolved.option.as_deref() == Some("abort")) {
                let reason =
                    "A person ended this session after a file differed from what was approved. Stop.";
                return Ok(Some(Verdict::Deny { reason: reason.to_owned() }));
            }
            self.state.update(|state| state.incidents.retain(|other| *other != incident))?;
        }
        Ok(None)
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
        ask.call.as_ref().is_some_and(|call| interrupt.payload["arguments"] == call.arguments)
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

/// Returns the digest of a file. `None`: there is no such file, or it is too large.
fn content(path: &Path) -> Option<Digest> {
    let bytes = secret_file::bounded(File::open(path).ok()?, HOOK_FILE_READ_BYTES).ok()?;
    Some(Digest::of_bytes(&bytes))
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
