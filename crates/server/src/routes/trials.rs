//! Trials of external agents' calls: the server runs the command before a person is asked. This module also returns the
//! changes that an approval released, and records the agent's report about them.

use std::time::Duration;

use axum::Json;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use holdshort_core::changeset::Entry;
use holdshort_core::definition::EXTERNAL;
use holdshort_core::digest::Digest;
use holdshort_core::gate::Verdict;
use holdshort_core::gate::foreign::ForeignCall;
use holdshort_core::gate::foreign_trial::{AskedTrial, Evidence, Streams};
use holdshort_core::id::{Draw, InterruptId, SessionId, StreamId};
use holdshort_core::interrupt::{self, Assignment, Interrupt};
use holdshort_core::run::{GateContext, Input};
use holdshort_core::session::Session;
use holdshort_engine::Clock;
use holdshort_protocol::{AskTrial, Code, ExecOutcome, Interrupt as Shown, ReleasedTrial, ReportExec};
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::connections;
use holdshort_web::identity::AuthMethod;
use holdshort_web::interrupt_ref::InterruptRef;
use holdshort_web::limits::{RELEASED_MS, TRIAL_MS};
use holdshort_web::peer_process;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Ids};
use tokio::time::timeout;

use super::actions;
use crate::openapi::{ReadsReleased, ReportsExec};

/// Runs the call of a request as a trial, before its interrupt is opened. If no trial was possible, the result contains
/// the reason, which the card of the interrupt shows. An invalid request is refused.
pub(super) async fn try_call(
    caller: &Caller,
    headers: &HeaderMap,
    asked: AskTrial,
    call: &ForeignCall,
) -> Answer<AskedTrial> {
    let AskTrial { exec_digest, timeout_ms } = asked;
    let secret = Digest::try_from(exec_digest)
        .map_err(|why| Refused::invalid_at("/trial/exec_digest", why.to_string()))?;
    if !(1..=TRIAL_MS).contains(&timeout_ms) {
        let rule = format!("must be between 1 and {TRIAL_MS}");
        return Err(Refused::invalid_at("/trial/timeout_ms", rule));
    }
    let folder = folder_of(caller, call).await?;
    if call.command().is_none() {
        return Err(Refused::invalid_at("/trial", "needs a call with the argument `command`"));
    }
    let problems = call.problems("/call");
    if !problems.is_empty() {
        return Err(Refused::invalid(problems));
    }
    if let Some(why) = why_not_at_all(caller, call).await? {
        return Ok(AskedTrial::Untried(why.to_owned()));
    }
    if let Err(why) = prove_peer(headers).await? {
        return Ok(AskedTrial::Untried(why.to_string()));
    }
    let time = Duration::from_millis(timeout_ms);
    let trials = &caller.app.trials;
    let work = async {
        let Ok(Ok(_permit)) = timeout(time, trials.acquire()).await else {
            return AskedTrial::Untried("too many other commands are being tried".to_owned());
        };
        caller.app.driver.executor().try_foreign(&folder, call, secret, time).await
    };
    tokio::select! {
        tried = work => Ok(tried),
        () = caller.app.stopped() => Err(Refused::from_code(Code::Stopping)),
    }
}

/// Returns the folder in the caller's key. A trial runs only in this folder, because an agent must never choose where
/// the server runs commands.
async fn folder_of(caller: &Caller, call: &ForeignCall) -> Answer<String> {
    let system = caller.app.driver.system().await?;
    let key = match &caller.principal.how {
        AuthMethod::Key(id) => system.keys.get(id),
        AuthMethod::Token | AuthMethod::Login { .. } | AuthMethod::Jwt { .. } => None,
    };
    let Some(folder) = key.and_then(|key| key.folder.clone()) else {
        let rule =
            "needs a key with a folder: an admin creates one with `holdshort keys create NAME --folder DIR`";
        return Err(Refused::invalid_at("/trial", rule));
    };
    if call.workspace.as_deref() != Some(folder.as_str()) {
        return Err(Refused::invalid_at(
            "/call/workspace",
            format!("must be the folder of the key, `{folder}`"),
        ));
    }
    Ok(folder)
}

/// Returns the reason why the call must not run as a trial, if there is one: a rule forbids the call, or the agent is
/// frozen.
async fn why_not_at_all(caller: &Caller, call: &ForeignCall) -> Answer<Option<&'static str>> {
    let driver = &caller.app.driver;
    let system = driver.system().await?;
    let id: SessionId = Draw::new(driver.clock().seed(), caller.app.now()).id();
    let gated = call.gated(GateContext {
        agent: &caller.actor.id,
        assignment: &Assignment::default(),
        session: &Session::new(id),
        system: &system,
        now: caller.app.now(),
        asked_at: None,
        evidence: Evidence::default(),
    });
    let freezes = &system.freezes;
    let is_frozen = freezes.of_workflow(EXTERNAL).is_some() || freezes.of_agent(&caller.actor.id).is_some();
    Ok(match gated.verdict {
        Verdict::Forbid(_) => Some("a rule forbids it"),
        Verdict::Ask { .. } | Verdict::Allow(_) => is_frozen.then_some("the agent is frozen"),
    })
}

/// Checks that the process at the other end of the connection runs as the server's user and sees the same files. The
/// inner error is the reason why no trial runs for it.
async fn prove_peer(headers: &HeaderMap) -> Answer<Result<(), peer_process::Unproved>> {
    if let Err(why) = peer_process::check_headers(headers) {
        return Ok(Err(why));
    }
    let Some(ends) = connections::current().map(|connection| connection.ends) else {
        return Ok(Err(peer_process::Unproved::Unknown));
    };
    let proved = tokio::task::spawn_blocking(move || peer_process::prove(ends)).await;
    proved.map_err(|_| Refused::from_code(Code::Internal))
}

/// Checks the secret of a trial, and that the changes of the trial can still be written. Accepts a call without a
/// trial. If `is_repeat` is true, checks only the secret, because an earlier request already used the approval.
pub(super) async fn check_exec(
    caller: &Caller,
    interrupt: &Interrupt,
    exec: Option<&str>,
    is_repeat: bool,
) -> Answer<()> {
    // If the content of the approval was erased, its use is refused later.
    if interrupt.content.is_null() {
        return Ok(());
    }
    let Some(trial) = interrupt.foreign_trial() else {
        return match exec {
            Some(_) => Err(Refused::invalid_at(
                "/exec",
                "is allowed only if the call was tried before the decision: leave it out",
            )),
            None => Ok(()),
        };
    };
    if !exec.is_some_and(|secret| trial.is_secret(secret)) {
        let why = "the secret is missing, or belongs to another call";
        return Err(Refused::new(Code::ExecDenied, why));
    }
    let is_usable = interrupt.used.is_none() && !is_repeat;
    let Some(released) = interrupt.released_changes().filter(|_| is_usable) else { return Ok(()) };
    let folder = interrupt.foreign_call().and_then(|call| call.workspace).unwrap_or_default();
    match caller.app.driver.executor().why_void(&folder, &released.trial).await? {
        Some(why) => Err(Refused::new(Code::TrialVoid, why)),
        None => Ok(()),
    }
}

/// Returns the changes and the output of a trial after its approval was used. Returns `None` if the call had no trial.
pub(super) async fn released(
    caller: &Caller,
    asked: &InterruptRef,
    interrupt: &Interrupt,
) -> Answer<Option<ReleasedTrial>> {
    let Some(changes) = interrupt.released_changes() else { return Ok(None) };
    let stream = StreamId::Run(asked.run.clone());
    let event = caller.app.event(&stream, interrupt.opened_seq).await?;
    let streams = event.content.data.get("streams").cloned().unwrap_or_default();
    let Ok(Streams { stdout, stderr }) = serde_json::from_value(streams) else {
        return Err(Refused::new(Code::NotApproved, "the output of the command was erased"));
    };
    Ok(Some(ReleasedTrial {
        changeset: serde_json::to_value(&changes.trial.changeset).unwrap_or_default(),
        dropped: changes.dropped,
        stdout,
        stderr,
        exit_code: changes.trial.exit_code,
        folder: interrupt.foreign_call().and_then(|call| call.workspace).unwrap_or_default(),
        root: changes.trial.root,
    }))
}

/// Read the new content of a file in released changes.
///
/// Returns the new content of one file, from the changes of a tried call. Only the caller who used the approval of the
/// call can read it, and only for 15 minutes after the use.
#[utoipa::path(
    get, path = "/v1/interrupts/{id}/bodies/{digest}", tag = "interrupts", operation_id = "read_released_body",
    params(
        ("id" = String, Path, example = "int_01k6f0000000000000000000cc"),
        ("digest" = String, Path, description = "SHA-256 of the content, from the changeset")
    ),
    responses(
        (status = 200, description = "The content", content_type = "application/octet-stream", body = Vec<u8>),
        ReadsReleased
    )
)]
pub(crate) async fn body(caller: Caller, Ids(id, digest): Ids<InterruptId, String>) -> Answer<Response> {
    let digest = Digest::try_from(digest).map_err(|_| Refused::not_found("digest"))?;
    let asked = caller.interrupt(&id).await?;
    let run = caller.app.run_now(&asked.run).await?;
    let interrupt = run.interrupts.get(&id).ok_or_else(|| Refused::not_found("interrupt"))?;
    let now = caller.app.now();
    let used = interrupt.used.as_ref().filter(|used| used.by == caller.actor.id);
    if used.is_none_or(|used| now >= used.at.plus_ms(RELEASED_MS)) {
        let why = "the approval was not used by you within the last 15 minutes";
        return Err(Refused::new(Code::NotApproved, why));
    }
    let changes = interrupt.released_changes();
    let is_released = changes.is_some_and(|changes| {
        let new = changes.trial.changeset.changes().iter();
        new.filter_map(|change| change.after.as_ref())
            .any(|entry| matches!(entry, Entry::File { digest: it, .. } if *it == digest))
    });
    let stored = caller.app.driver.executor().stored_body(digest).await?.filter(|_| is_released);
    let body = stored.ok_or_else(|| Refused::not_found("released content with this digest"))?;
    Ok(([(CONTENT_TYPE, "application/octet-stream")], body).into_response())
}

/// Report the outcome of changes that an approval released.
///
/// The program that carries out the changes of a tried call sends this request when it has finished. Until then, the
/// card says that the outcome is unknown. Only the first report is recorded.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/exec", tag = "interrupts", operation_id = "report_exec",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    request_body = ReportExec,
    responses((status = 200, description = "The current interrupt", body = Shown), ReportsExec)
)]
pub(crate) async fn report(caller: Caller, Id(id): Id<InterruptId>, body: Body) -> Answer<Json<Shown>> {
    let asked = caller.interrupt(&id).await?;
    let ReportExec { outcome, text } = body.json().await?;
    let outcome = match outcome {
        ExecOutcome::Done => interrupt::ExecOutcome::Done,
        ExecOutcome::Nothing => interrupt::ExecOutcome::Nothing,
        ExecOutcome::Halfway => interrupt::ExecOutcome::Halfway,
        ExecOutcome::Unknown => {
            return Err(Refused::invalid_at("/outcome", "must be `done`, `nothing` or `halfway`"));
        }
    };
    actions::done(caller, &asked, Input::ReportExec { interrupt: id, outcome, text }).await
}
