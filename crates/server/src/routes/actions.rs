//! Actions on an interrupt that do not resolve it: claim, release, reassign, delegate, snooze, comment, view.

use std::sync::Arc;

use axum::Json;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::Delegation;
use holdshort_core::run::{Input, Run};
use holdshort_protocol::{Comment, Delegate, Interrupt, List, Message, Reassign, Snooze};
use holdshort_web::auth::{Caller, DecisionCaller};
use holdshort_web::body::Body;
use holdshort_web::interrupt_ref::InterruptRef;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use holdshort_web::view;

use super::people::moment;
use super::steer::nothing;
use crate::convert;
use crate::openapi::{Acts, Assigns, ReadsOne};

/// Claim an interrupt.
///
/// A claim shows other people that you are working on the interrupt. A claim does not prevent other people from
/// deciding. If you have already claimed the interrupt, the request has no effect.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/claim", tag = "interrupts", operation_id = "claim_interrupt",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    responses((status = 200, description = "The current interrupt", body = Interrupt), Acts)
)]
pub(crate) async fn claim(
    decider: DecisionCaller,
    Id(id): Id<InterruptId>,
    body: Body,
) -> Answer<Json<Interrupt>> {
    plain(decider, &id, body, Input::Claim { interrupt: id.clone(), holder: None, over: None }).await
}

/// Release a claimed interrupt.
///
/// The person who claimed the interrupt, or an admin, may release the interrupt. If nobody has claimed the interrupt,
/// the request has no effect.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/release", tag = "interrupts", operation_id = "release_interrupt",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    responses((status = 200, description = "The current interrupt", body = Interrupt), Acts)
)]
pub(crate) async fn release(
    decider: DecisionCaller,
    Id(id): Id<InterruptId>,
    body: Body,
) -> Answer<Json<Interrupt>> {
    plain(decider, &id, body, Input::Release { interrupt: id.clone(), holder: None }).await
}

/// Reassign an interrupt to other approvers.
///
/// If the request names only people and groups, they become the approvers of the current stage. The quorum of the stage
/// does not change. Approvers of the current stage, admins and operators may send such a request. Only admins and
/// operators are allowed to set stages and a quorum too. The stages and the quorum must be at least as strict as those
/// of the gate. A reassignment withdraws all existing votes, so each approver must vote again.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/reassign", tag = "interrupts", operation_id = "reassign_interrupt",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    request_body = Reassign,
    responses((status = 200, description = "The current interrupt", body = Interrupt), Assigns)
)]
pub(crate) async fn reassign(
    decider: DecisionCaller,
    Id(id): Id<InterruptId>,
    body: Body,
) -> Answer<Json<Interrupt>> {
    let (caller, asked) = decider.interrupt(&id).await?;
    let Reassign { assignment, text } = body.json().await?;
    let mut problems = Vec::new();
    let to = convert::assignment::handed_to(assignment, "/assignment", &mut problems);
    if !problems.is_empty() {
        return Err(Refused::invalid(problems));
    }
    done(caller, &asked, Input::Reassign { interrupt: id, to, text }).await
}

/// Delegate an interrupt to another person.
///
/// Approvers can name a delegate for themselves. Admins and operators can name a delegate for any approver. The
/// approver may still decide.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/delegate", tag = "interrupts", operation_id = "delegate_interrupt",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    request_body = Delegate,
    responses((status = 200, description = "The current interrupt", body = Interrupt), Assigns)
)]
pub(crate) async fn delegate(
    decider: DecisionCaller,
    Id(id): Id<InterruptId>,
    body: Body,
) -> Answer<Json<Interrupt>> {
    let (caller, asked) = decider.interrupt(&id).await?;
    let Delegate { from, to, until } = body.json().await?;
    let until = until.map(|until| moment("/until", &until)).transpose()?;
    let delegation = Delegation { from: from.unwrap_or_else(|| caller.actor.id.clone()), to, until };
    done(caller, &asked, Input::Delegate { interrupt: id, delegation }).await
}

/// Snooze an interrupt.
///
/// A snooze affects only the caller. Until the given time, the interrupt is missing in your list `snoozed=false`, and
/// you get no reminders. At the given time, you get a reminder. Other people see the interrupt as before, and its
/// deadline does not change. `null` ends the snooze.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/snooze", tag = "interrupts", operation_id = "snooze_interrupt",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    request_body = Snooze,
    responses((status = 200, description = "The current interrupt", body = Interrupt), Assigns)
)]
pub(crate) async fn snooze(
    decider: DecisionCaller,
    Id(id): Id<InterruptId>,
    body: Body,
) -> Answer<Json<Interrupt>> {
    let (caller, asked) = decider.interrupt(&id).await?;
    let Snooze { until } = body.json().await?;
    let until = until.map(|until| moment("/until", &until)).transpose()?;
    done(caller, &asked, Input::Snooze { interrupt: id, until }).await
}

/// Comment on an interrupt.
///
/// Comments are not sent to agents. You can comment before and after the resolution.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/comments", tag = "interrupts", operation_id = "comment_on_interrupt",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    request_body = Message,
    responses((status = 200, description = "All comments on the interrupt, oldest first", body = List<Comment>), Acts)
)]
pub(crate) async fn comment(
    decider: DecisionCaller,
    Id(id): Id<InterruptId>,
    body: Body,
) -> Answer<Json<List<Comment>>> {
    let (caller, asked) = decider.interrupt(&id).await?;
    let Message { text } = body.json().await?;
    let reader = caller.reader().await?;
    let run = send(caller, &asked, Input::Comment { interrupt: id, text }).await?;
    Ok(Json(List { items: view::interrupt::comments(&run, &asked.interrupt, &reader), next_cursor: None }))
}

/// Record that you have viewed an interrupt.
///
/// An app sends this request when it shows the card of the interrupt to a person. Reading the interrupt over the API is
/// not recorded as a view. For each person, only the first view of the open interrupt is recorded. The view contains
/// the digest of the card that the person saw. The record and the receipt of the interrupt contain this digest.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/views", tag = "interrupts", operation_id = "view_interrupt",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    responses((status = 200, description = "The current interrupt", body = Interrupt), Acts)
)]
pub(crate) async fn look(
    decider: DecisionCaller,
    Id(id): Id<InterruptId>,
    body: Body,
) -> Answer<Json<Interrupt>> {
    plain(decider, &id, body, Input::View { interrupt: id.clone() }).await
}

/// Read the comments on an interrupt, oldest first.
#[utoipa::path(
    get, path = "/v1/interrupts/{id}/comments", tag = "interrupts", operation_id = "list_comments",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    responses((status = 200, description = "All comments on the interrupt", body = List<Comment>), ReadsOne)
)]
pub(crate) async fn comments(caller: Caller, Id(id): Id<InterruptId>) -> Answer<Json<List<Comment>>> {
    let asked = caller.interrupt(&id).await?;
    let (run, reader) = (caller.app.run_now(&asked.run).await?, caller.reader().await?);
    Ok(Json(List { items: view::interrupt::comments(&run, &id, &reader), next_cursor: None }))
}

/// Carries out an action whose request has no body. Returns the interrupt as the caller sees it after the action.
pub(super) async fn plain(
    decider: DecisionCaller,
    id: &InterruptId,
    body: Body,
    input: Input,
) -> Answer<Json<Interrupt>> {
    let (caller, asked) = decider.interrupt(id).await?;
    nothing(body).await?;
    done(caller, &asked, input).await
}

/// Sends an action on an interrupt to the engine. Returns the interrupt as the caller sees it after the action.
pub(super) async fn done(caller: Caller, asked: &InterruptRef, input: Input) -> Answer<Json<Interrupt>> {
    let run = caller.app.send(&asked.run, input, caller.actor.clone()).await?;
    let reader = caller.reader().await?;
    let shown = view::interrupt::from_run(&run, &asked.interrupt, &reader);
    shown.map(Json).ok_or_else(|| Refused::not_found("interrupt"))
}

async fn send(caller: Caller, asked: &InterruptRef, input: Input) -> Answer<Arc<Run>> {
    Ok(caller.app.send(&asked.run, input, caller.actor).await?)
}
