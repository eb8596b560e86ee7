//! Interrupts, in the form that clients receive. A view is this form of an interrupt. It is built either from a run in
//! memory, or from a database row and the events to which the row refers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::event;
use holdshort_core::gate::Source;
use holdshort_core::id::{InterruptId, RunId, SessionId, StreamId};
use holdshort_core::interrupt::withhold::RedactedInterrupt;
use holdshort_core::interrupt::{
    self, About, Cause, Effect, ExecOutcome, HeldWork, Interrupt, Kind, Offer, Opened, Outcome,
};
use holdshort_core::level::Level;
use holdshort_core::projection::InterruptRow;
use holdshort_core::run::{CallEnd, CallState, Fact, Run};
use holdshort_protocol as wire;
use holdshort_protocol::Code;
use serde_json::Value;

use super::assignment::{self, Reader};
use super::subject::{self, Subject};
use super::{erased, variant_name};
use crate::app::App;
use crate::interrupt_ref::InterruptRef;
use crate::problem::{Answer, Refused};

pub async fn from_row(app: &App, row: &InterruptRow, reader: &Reader) -> Answer<wire::Interrupt> {
    of_page(app, row, &CallEnds::default(), reader).await
}

/// Builds the view of an interrupt for one item of a list. The interrupt is read from its database row. `ends` caches
/// the outcomes of calls across the items of the page.
pub async fn of_page(
    app: &App,
    row: &InterruptRow,
    ends: &CallEnds,
    reader: &Reader,
) -> Answer<wire::Interrupt> {
    let (interrupt, starter) = read(app, row).await?;
    let subject = subject::for_run(app, &row.run).await?;
    let mut shown = show_to(reader, (&row.run, &row.session), subject, &interrupt, starter.as_ref());
    shown.claimed_by.clone_from(&row.claimed_by);
    if interrupt.content.is_null() {
        // Boxed, because erased content is rare.
        shown.erased = Box::pin(erased::for_run(app, &row.run)).await?.map(Box::new);
    }
    if interrupt.is_open() && !after(&mut shown.payload).is_empty() {
        add_call_ends(&*ends.for_run(app, &row.run).await?, &mut shown.payload);
    }
    Ok(shown)
}

/// Builds the view of an interrupt whose run is in memory. Returns `None` if the run has no such interrupt.
pub fn from_run(run: &Run, id: &InterruptId, reader: &Reader) -> Option<wire::Interrupt> {
    let interrupt = run.interrupts.get(id)?;
    let place = (&run.id, run.session()?);
    let mut shown = show_to(reader, place, Subject::from_run(run)?, interrupt, run.begun_by());
    shown.erased = run.erased.as_ref().map(erased::from_erasure).map(Box::new);
    if interrupt.is_open() {
        add_call_ends(&call_ends(run), &mut shown.payload);
    }
    Some(shown)
}

/// Adds to `shown` the other open interrupts that the grant of this interrupt would also approve. Interrupts that the
/// reader may not see are left out.
pub(super) async fn add_covered(
    app: &App,
    run: &RunId,
    id: &InterruptId,
    reader: &Reader,
    shown: &mut wire::Interrupt,
) -> Answer<()> {
    let offers_grant = shown.options.iter().any(wire::Offer::gives_grant);
    let may_decide = shown.you.as_ref().is_some_and(|you| you.may_decide);
    if shown.status != wire::InterruptStatus::Open || !offers_grant || !may_decide {
        return Ok(());
    }
    let run = app.run_now(run).await?;
    let (Some(interrupt), Some(session)) = (run.interrupts.get(id), run.session()) else { return Ok(()) };
    let session = app.driver.session(session).await?;
    let covered = reader.also_covered(&run, interrupt, &session);
    shown.also_covers = covered
        .iter()
        .filter_map(|id| from_run(&run, id, reader))
        .map(|other| wire::AlsoCovered { interrupt: other.id, title: other.title })
        .collect();
    Ok(())
}

/// Returns the comments on an interrupt, oldest first. Parts that the reader may not see are removed.
pub fn comments(run: &Run, id: &InterruptId, reader: &Reader) -> Vec<wire::Comment> {
    let interrupt = run.interrupts.get(id).map(|interrupt| &**interrupt);
    let covered = interrupt.and_then(|interrupt| reader.covered(interrupt));
    let seen = covered.as_ref().map(|covered| &covered.interrupt).or(interrupt);
    let said = seen.map(|interrupt| interrupt.comments.as_slice()).unwrap_or_default();
    let shown = |comment: &interrupt::Comment| wire::Comment {
        seq: comment.seq,
        at: comment.at.to_string(),
        by: comment.by.clone(),
        text: comment.text.clone(),
    };
    said.iter().map(shown).collect()
}

/// Returns the resolution of an interrupt, read through its database row. Parts that the reader may not see are
/// removed.
pub async fn resolution_for_reader(
    app: &App,
    row: &InterruptRow,
    reader: &Reader,
) -> Answer<Option<wire::Resolution>> {
    let (interrupt, _) = read(app, row).await?;
    let covered = reader.covered(&interrupt);
    Ok(resolution(covered.as_ref().map_or(&interrupt, |covered| &covered.interrupt)))
}

/// Returns the resolution of an interrupt, and the approval if there is one, for the external agent that opened the
/// interrupt. Parts that the agent may not see are removed.
pub async fn result_for_asker(
    app: &App,
    row: &InterruptRow,
) -> Answer<(Option<wire::Resolution>, Option<wire::Approval>)> {
    let (interrupt, _) = read(app, row).await?;
    let asker = Actor::agent(interrupt.opened.agent.as_deref().unwrap_or_default(), "rest");
    let covered = Reader::for_actor(app, &asker).await?.covered(&interrupt);
    // An approval of a covered interrupt is left out: its digest would reveal withheld values.
    Ok(match &covered {
        Some(covered) => (resolution(&covered.interrupt), None),
        None => (resolution(&interrupt), approval(&interrupt)),
    })
}

/// Removes the text that the reader may not see from an error about an interrupt, because an error about an edit may
/// quote the content.
pub async fn covered_refusal(
    app: &App,
    row: &InterruptRow,
    reader: &Reader,
    mut refused: Refused,
) -> Answer<Refused> {
    let (interrupt, _) = read(app, row).await?;
    if let Some(RedactedInterrupt { cover, .. }) = reader.covered(&interrupt) {
        refused.0.detail = cover.text(&refused.0.detail);
        for error in &mut refused.0.errors {
            error.message = cover.text(&error.message);
        }
    }
    Ok(refused)
}

/// Returns the digest that binds a decision link to the content of an interrupt. The digest is computed from the action
/// that will run or, if there is no action, from the content of the card. The digest is the same for every person.
pub async fn subject_digest(app: &App, asked: &InterruptRef) -> Answer<Digest> {
    let (interrupt, _) = read(app, &app.interrupt_row(&asked.interrupt).await?).await?;
    Ok(digest(&interrupt))
}

/// Like [`subject_digest`], for a decision link in a mail. Returns `None` if the interrupt is resolved or
/// [risky](is_risky), because no link may then be mailed.
pub async fn mailable(app: &App, asked: &InterruptRef) -> Answer<Option<Digest>> {
    let (interrupt, _) = read(app, &app.interrupt_row(&asked.interrupt).await?).await?;
    let may = interrupt.is_open() && !is_risky(interrupt.opened.risk.level);
    Ok(may.then(|| digest(&interrupt)))
}

/// Returns the options that people can choose on an interrupt.
pub async fn offers(app: &App, asked: &InterruptRef) -> Answer<Vec<wire::Offer>> {
    let (interrupt, _) = read(app, &app.interrupt_row(&asked.interrupt).await?).await?;
    Ok(interrupt.opened.options.iter().map(offer(&interrupt)).collect())
}

/// Returns true if an approver must sign in to decide on an interrupt of this risk level. A link in a message does not
/// prove the identity of the person who opens it.
pub fn is_risky(level: Level) -> bool {
    level >= Level::High
}

fn digest(interrupt: &Interrupt) -> Digest {
    let shown = || {
        let payload = interrupt.content.get("payload").cloned().unwrap_or_default();
        Digest::of_json(&serde_json::json!([interrupt.content_text("title"), payload]))
    };
    interrupt.opened.action_digest.unwrap_or_else(shown)
}

fn show_to(
    reader: &Reader,
    (run, session): (&RunId, &SessionId),
    subject: Subject,
    interrupt: &Interrupt,
    starter: Option<&Actor>,
) -> wire::Interrupt {
    let you = reader.you(interrupt, starter);
    let frozen = reader.frozen(run, &subject.workflow, interrupt);
    let stands_in = you.as_ref().is_some_and(|you| you.in_place_of.is_some());
    let Some(RedactedInterrupt { interrupt: seen, cover }) = reader.covered(interrupt) else {
        let mut shown = show(run, session, subject, interrupt);
        // A delegate cannot choose an option with a grant, because a grant by a delegate would cover no call.
        let is_offered = |offer: &&Offer| !stands_in || offer.effect != Effect::Grant;
        shown.options = interrupt.opened.options.iter().filter(is_offered).map(offer(interrupt)).collect();
        return wire::Interrupt { you, frozen, ..shown };
    };
    // The task and the digest of the approval are omitted: the task may contain withheld values, and the digest could
    // confirm a guess about them.
    let workspace = subject.workspace.map(|folder| cover.text(&folder));
    let subject = Subject { task: None, workspace, ..subject };
    let mut shown = show(run, session, subject, &seen);
    let offered = seen.opened.options.iter().filter(|offer| !offer.effect.is_of_what_is_made());
    shown.options = offered.map(offer(&seen)).collect();
    wire::Interrupt { you, frozen, approval: None, withheld: cover.places.into_iter().collect(), ..shown }
}

/// Builds an interrupt from its database row and the events to which the row refers. The result equals the interrupt of
/// a full replay. If the right to decide depends on the actor who started the run, also returns this actor.
pub(super) async fn read(app: &App, row: &InterruptRow) -> Answer<(Interrupt, Option<Actor>)> {
    let stream = StreamId::Run(row.run.clone());
    let event = app.event(&stream, row.opened_seq).await?;
    let event::Fact::Run(Fact::InterruptOpened(opened)) = event.fact else { return Err(damaged(row)) };
    // Only the replayed run has all votes and all changes of approvers. Several votes and changed approvers are rare,
    // so most interrupts need no replay.
    if row.is_involved() || !opened.assignment.takes_one() || !opened.assignment.self_approval {
        let run = app.driver.load(&row.run).await?;
        let found = run.interrupts.get(&row.interrupt).ok_or_else(|| damaged(row))?;
        return Ok(((**found).clone(), run.begun_by().cloned()));
    }
    let mut interrupt = Interrupt::new(*opened, event.content.data, &event.actor, event.at, row.opened_seq);
    let Some(seq) = row.resolved_seq else { return Ok((interrupt, None)) };
    interrupt.apply(&app.event(&stream, seq).await?, seq);
    let resolution = interrupt.resolution.as_ref().ok_or_else(|| damaged(row))?;
    // If the cause is different, `decision` refers to the decision on a different interrupt.
    let is_decided = resolution.cause == Cause::Decision;
    if let Some(seq) = resolution.decision.filter(|_| is_decided) {
        interrupt.apply(&app.event(&stream, seq).await?, seq);
        interrupt.settled_by().ok_or_else(|| damaged(row))?;
    }
    Ok((interrupt, None))
}

fn damaged(row: &InterruptRow) -> Refused {
    let InterruptRow { run, interrupt, .. } = row;
    Refused::new(
        Code::JournalDamaged,
        format!(
            "the stored entry of interrupt {interrupt} refers to wrong events of {run}: run `holdshort audit \
            verify`"
        ),
    )
}

/// Returns the earlier calls that the card of an interrupt lists, because they run before the call on the card.
fn after(payload: &mut Value) -> &mut [Value] {
    payload.get_mut("after").and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

/// Adds the outcome of each earlier call to the card of an interrupt. When a card is created, an earlier call may still
/// be waiting or running, so its outcome is known only later.
fn add_call_ends(ends: &BTreeMap<String, CallEnd>, payload: &mut Value) {
    for before in after(payload) {
        let end = before.get("call_id").and_then(Value::as_str).and_then(|id| ends.get(id));
        if let Some(end) = end {
            before["became"] = serde_json::json!(end);
        }
    }
}

/// Cache of the outcomes of calls for one page of interrupts. Each run is replayed at most once for the whole page.
#[derive(Default)]
pub struct CallEnds(Mutex<BTreeMap<RunId, Arc<BTreeMap<String, CallEnd>>>>);

impl CallEnds {
    async fn for_run(&self, app: &App, id: &RunId) -> Answer<Arc<BTreeMap<String, CallEnd>>> {
        if let Some(known) = self.runs().get(id) {
            return Ok(known.clone());
        }
        let run = app.run_now(id).await?;
        let ends = Arc::new(call_ends(&run));
        self.runs().insert(id.clone(), ends.clone());
        Ok(ends)
    }

    /// Locks the cache. A poisoned lock is used as well, because the map is still valid after a panic.
    fn runs(&self) -> MutexGuard<'_, BTreeMap<RunId, Arc<BTreeMap<String, CallEnd>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn call_ends(run: &Run) -> BTreeMap<String, CallEnd> {
    let ended = run.calls.iter().filter_map(|(id, call)| match call.state {
        CallState::Ended(end) => Some((id.clone(), end)),
        _ => None,
    });
    ended.collect()
}

/// Returns the approval of an interrupt, in the form in which the external agent receives it. Returns `None` if the
/// interrupt was not approved.
fn approval(interrupt: &Interrupt) -> Option<wire::Approval> {
    interrupt.opened.kind.row().edits?;
    let approved = interrupt.approved()?;
    Some(wire::Approval {
        digest: Digest::of_json(&approved).to_string(),
        approved: if interrupt.answer_from_votes().edit.is_null() { Value::Null } else { approved },
        usable_until: interrupt.usable_until().map(|at| at.to_string()),
        used: interrupt
            .used
            .as_ref()
            .map(|used| wire::ApprovalUse { at: used.at.to_string(), by: used.by.clone() }),
        exec: exec(interrupt),
    })
}

/// Returns the outcome of an approved command that ran as a trial: what happened when the agent wrote the trial's
/// changes. Returns `None` if the approval was not used, or if there was no trial.
fn exec(interrupt: &Interrupt) -> Option<wire::ExecReport> {
    interrupt.used.as_ref()?;
    interrupt.foreign_trial()?;
    let Some(report) = &interrupt.exec else {
        return Some(wire::ExecReport { outcome: wire::ExecOutcome::Unknown, text: None });
    };
    let outcome = match report.outcome {
        ExecOutcome::Done => wire::ExecOutcome::Done,
        ExecOutcome::Nothing => wire::ExecOutcome::Nothing,
        ExecOutcome::Halfway => wire::ExecOutcome::Halfway,
    };
    Some(wire::ExecReport { outcome, text: report.text.clone() })
}

/// Returns the used approval of an interrupt, or `None` if the approval was not used.
pub fn used_approval(run: &Run, id: &InterruptId) -> Option<wire::UsedApproval> {
    let interrupt = run.interrupts.get(id)?;
    let used = interrupt.used.as_ref()?;
    Some(wire::UsedApproval {
        interrupt: id.to_string(),
        digest: used.digest.to_string(),
        approved: interrupt.approved()?,
        used_at: used.at.to_string(),
        by: used.by.clone(),
        trial: None,
    })
}

fn resolution(interrupt: &Interrupt) -> Option<wire::Resolution> {
    let resolution = interrupt.resolution.as_ref()?;
    let option = resolution.option.as_deref();
    let vote = interrupt.settled_by();
    let given = interrupt.answer_from_votes();
    Some(wire::Resolution {
        outcome: outcome(resolution.outcome),
        option: resolution.option.clone(),
        effect: option.and_then(|option| interrupt.offers(option)).map(|offer| variant_name(&offer.effect)),
        text: given.text,
        edit: given.edit,
        by: interrupt.decided_by(),
        on_behalf_of: interrupt.on_behalf_of(),
        let_in_by: interrupt.let_in_by(),
        also: vote.map(|vote| vote.also.iter().map(ToString::to_string).collect()).unwrap_or_default(),
        cause: variant_name(&resolution.cause),
        from: vote.and_then(|vote| vote.from.as_ref()).map(ToString::to_string),
        at: resolution.at.to_string(),
    })
}

fn outcome(outcome: Outcome) -> wire::Outcome {
    match outcome {
        Outcome::Approved => wire::Outcome::Approved,
        Outcome::Rejected => wire::Outcome::Rejected,
        Outcome::Answered => wire::Outcome::Answered,
        Outcome::Expired => wire::Outcome::Expired,
        Outcome::Cancelled => wire::Outcome::Cancelled,
        Outcome::Superseded => wire::Outcome::Superseded,
    }
}

fn show(run: &RunId, session: &SessionId, subject: Subject, interrupt: &Interrupt) -> wire::Interrupt {
    let Interrupt { opened, content, opened_at, version, .. } = interrupt;
    let resolution = resolution(interrupt);
    let text = |field: &str| content.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let payload = content.get("payload").cloned().unwrap_or_default();
    let mut shown = wire::Interrupt {
        id: opened.interrupt.to_string(),
        run: run.to_string(),
        session: session.to_string(),
        task: subject.task,
        workspace: subject.workspace,
        step: opened.step.clone(),
        agent: opened.agent.clone(),
        kind: kind(opened.kind),
        position: position(opened).map(str::to_owned),
        origin: if opened.about == About::External { wire::Origin::External } else { wire::Origin::Native },
        status: match resolution {
            Some(_) => wire::InterruptStatus::Resolved,
            None => wire::InterruptStatus::Open,
        },
        title: text("title"),
        message: text("message"),
        impact: payload.get("impact").filter(|_| opened.about != About::External).cloned(),
        command_effect: None,
        unseen: wire::Diff::unseen_of(&payload),
        payload,
        options: opened.options.iter().map(offer(interrupt)).collect(),
        response_schema: content.get("response_schema").cloned(),
        risk: risk(&opened.risk),
        assignment: assignment::from_interrupt(interrupt),
        votes: assignment::votes(interrupt),
        you: None,
        frozen: None,
        action_digest: opened.action_digest.map(|digest| digest.to_string()),
        policy: policy(interrupt),
        expires_at: opened.expires_at.map(|at| at.to_string()),
        on_expiry: opened.on_expiry().to_owned(),
        remind_at: interrupt.due.remind_at.filter(|_| interrupt.is_open()).map(|at| at.to_string()),
        escalates: assignment::escalates(interrupt),
        suggestions_from_history: Vec::new(),
        also_covers: Vec::new(),
        warnings: Vec::new(),
        withheld: Vec::new(),
        erased: None,
        claimed_by: interrupt.claim.as_ref().map(|claim| claim.by.clone()),
        version: *version,
        supersedes: opened.supersedes.as_ref().map(ToString::to_string),
        resolution,
        approval: approval(interrupt),
        created_at: opened_at.to_string(),
    };
    if opened.about != About::External {
        shown.risk.reasons.extend(judgement(&shown.payload));
        shown.command_effect = wire::CommandEffect::from_payload(&shown.payload);
    }
    shown.warnings = wire::warnings(&shown);
    shown
}

fn position(opened: &Opened) -> Option<&str> {
    let mandatory = || opened.risk.reasons.iter().find(|reason| reason.source == Source::Checkpoint);
    match opened.about {
        About::BeforeStep(_) => Some("before_step"),
        About::AfterStep(_) => Some("after_step"),
        About::Phase(_) => Some("phase"),
        About::Plan(_) => Some("plan"),
        About::Round(_) => Some("round"),
        About::Failure(_) => Some("on_error"),
        About::Interruption => Some("interruption"),
        About::Hold => Some("hold"),
        About::Call(_) => mandatory().map(|reason| reason.code.as_str()),
        About::Limit(_) | About::Printed(_) | About::Ending(_) | About::External => None,
    }
}

/// Returns the policy rule and the policy version that applied to the interrupt. An interrupt of an external agent has
/// neither, unless it is about a call.
fn policy(interrupt: &Interrupt) -> Option<wire::Policy> {
    let opened = &interrupt.opened;
    let is_gated = opened.about != About::External || interrupt.content.get("call").is_some();
    let by_rule = match interrupt.resolution.as_ref().map(|resolution| &resolution.cause) {
        Some(Cause::Rule { source, rule }) => Some(rule_words(*source, *rule)),
        Some(_) | None => None,
    };
    is_gated.then(|| wire::Policy {
        rule: by_rule.or_else(|| rule_of(&opened.risk)),
        version: opened.policy_version,
    })
}

/// Returns the name of the first policy rule among the reasons of an interrupt's risk, or `None` if there is no rule.
pub fn rule_of(risk: &interrupt::Risk) -> Option<String> {
    risk.reasons.iter().find_map(|reason| reason.rule.map(|place| rule_words(reason.source, place)))
}

/// Returns the name of a policy rule, such as `system/2`: the source of the rule, and its position in this source.
pub fn rule_words(source: Source, place: usize) -> String {
    format!("{}/{place}", variant_name(&source))
}

pub fn risk(risk: &interrupt::Risk) -> wire::Risk {
    wire::Risk {
        level: match risk.level {
            Level::Low => wire::Level::Low,
            Level::Medium => wire::Level::Medium,
            Level::High => wire::Level::High,
            Level::Critical => wire::Level::Critical,
        },
        reasons: risk
            .reasons
            .iter()
            .map(|reason| wire::Reason {
                source: variant_name(&reason.source),
                code: reason.code.clone(),
                rule: reason.rule,
                text: reason.text.clone(),
            })
            .collect(),
    }
}

/// Returns the reasons that a model gave when it assessed the risk of a call. These reasons are content, which can be
/// erased. All other reasons for the risk are facts, which stay in the journal after an erasure.
fn judgement(payload: &Value) -> Vec<wire::Reason> {
    let said = payload.pointer("/judgement/reasons").and_then(Value::as_array).into_iter().flatten();
    said.filter_map(Value::as_str)
        .map(|said| wire::Reason {
            source: "smart".to_owned(),
            code: "judge_says".to_owned(),
            rule: None,
            text: format!("according to the judging model: {said}"),
        })
        .collect()
}

pub(super) fn offer(interrupt: &Interrupt) -> impl Fn(&Offer) -> wire::Offer {
    let opened = &interrupt.opened;
    // An external agent writes its payload itself, so the payload could claim a trial. The member `trial` of the
    // content exists only if the server ran the trial.
    let is_real = opened.about != About::External || interrupt.content.get("trial").is_some();
    let shows_trial = |payload| wire::TrialCard::from_payload(payload).is_some();
    let is_tried = is_real && interrupt.content.get("payload").is_some_and(shows_trial);
    move |offer| wire::Offer {
        id: offer.id.clone(),
        label: offer.label.clone(),
        effect: variant_name(&offer.effect),
        does: offer.does(opened.kind, opened.about != About::External, is_tried).to_owned(),
        outcome: outcome(offer.effect.outcome()),
        work: match offer.work() {
            HeldWork::Continues => wire::HeldWork::Continues,
            HeldWork::Repeats => wire::HeldWork::Repeats,
            HeldWork::Held => wire::HeldWork::Held,
            HeldWork::Ended => wire::HeldWork::Ended,
        },
        asks_again: offer.asks_again(opened.kind),
        needs_text: offer.needs_text,
        needs_edit: offer.needs_edit,
    }
}

pub(super) fn kind(kind: Kind) -> wire::Kind {
    match kind {
        Kind::ToolApproval => wire::Kind::ToolApproval,
        Kind::PlanApproval => wire::Kind::PlanApproval,
        Kind::Checkpoint => wire::Kind::Checkpoint,
        Kind::Error => wire::Kind::Error,
        Kind::Question => wire::Kind::Question,
        Kind::Choice => wire::Kind::Choice,
        Kind::Turn => wire::Kind::Turn,
        Kind::Escalation => wire::Kind::Escalation,
        Kind::Review => wire::Kind::Review,
        Kind::Continuation => wire::Kind::Continuation,
        Kind::ClientCall => wire::Kind::ClientCall,
        Kind::UnknownOutcome => wire::Kind::UnknownOutcome,
    }
}
