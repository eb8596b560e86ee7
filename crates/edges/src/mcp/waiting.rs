//! Waits of a tool call for the decision, and the use of an approval.

use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_protocol::{Code, Interrupt, InterruptStatus, Outcome, UsedApproval};
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::time::Instant;

use super::api::{self, AgentApi, Failure};
use super::request::Action;
use super::requests::random_key;
use crate::limits::MCP_POLL;

/// Result of the attempt to use an approval.
#[derive(Debug)]
pub(super) enum Use {
    Done(Box<UsedApproval>),
    /// Used by another call, or no longer usable.
    Gone,
}

/// Waits until an interrupt is resolved, or until `end`. An absent server does not end the wait.
pub(super) async fn until(
    api: &dyn AgentApi,
    interrupt: Interrupt,
    end: Instant,
    context: &RequestContext<RoleServer>,
) -> Result<Interrupt, Failure> {
    let mut latest = interrupt;
    let started = Instant::now();
    while latest.status == InterruptStatus::Open {
        let wait = MCP_POLL.min(end.saturating_duration_since(Instant::now()));
        if wait < Duration::from_secs(1) {
            break;
        }
        let read = tokio::select! {
            () = context.ct.cancelled() => break,
            read = api::read(api, &latest.id, wait) => read,
        };
        match read {
            Ok(read) => latest = read,
            Err(Failure::Passing { after, .. }) => {
                let pause = after.unwrap_or(api::PAUSE.1).min(end.saturating_duration_since(Instant::now()));
                tokio::time::sleep(pause).await;
            }
            Err(failure) => return Err(failure),
        }
        if latest.status == InterruptStatus::Open {
            report_progress(context, started.elapsed()).await;
        }
    }
    Ok(latest)
}

/// Tells the client that the call still waits, if the client wants to know.
async fn report_progress(context: &RequestContext<RoleServer>, waited: Duration) {
    if let Some(token) = context.meta.get_progress_token() {
        let progress = ProgressNotificationParam::new(token, waited.as_secs_f64());
        // A client that has gone away is noticed when the result is sent.
        let _ = context.peer.notify_progress(progress.with_message("waiting for a person")).await;
    }
}

/// Uses the approval of an action that this call has described. No other call can use it afterwards.
pub(super) async fn use_approval(
    api: &dyn AgentApi,
    interrupt: &Interrupt,
    action: &Action,
) -> Result<Use, Failure> {
    let edit = interrupt.resolution.as_ref().map_or(&Value::Null, |resolution| &resolution.edit);
    let Some(digest) = action.digest(edit) else { return Ok(Use::Gone) };
    finish(api::consume(api, &interrupt.id, digest, &random_key()?).await)
}

/// Uses the approval of an action that an earlier call has described. A repeat with the same `key` gets the same result.
pub(super) async fn use_known(api: &dyn AgentApi, interrupt: &Interrupt, key: &str) -> Result<Use, Failure> {
    let is_approved =
        interrupt.resolution.as_ref().is_some_and(|resolution| resolution.outcome == Outcome::Approved);
    let Some(approval) = interrupt.approval.as_ref().filter(|_| is_approved) else { return Ok(Use::Gone) };
    let digest =
        Digest::try_from(approval.digest.clone()).map_err(|error| Failure::Foreign(error.to_string()))?;
    finish(api::consume(api, &interrupt.id, digest, key).await)
}

fn finish(used: Result<UsedApproval, Failure>) -> Result<Use, Failure> {
    match used {
        Ok(used) => Ok(Use::Done(Box::new(used))),
        Err(Failure::Refused(problem))
            if matches!(problem.code, Code::ApprovalUsed | Code::ApprovalExpired) =>
        {
            Ok(Use::Gone)
        }
        Err(failure) => Err(failure),
    }
}
