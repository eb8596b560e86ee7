//! Decisions on interrupts: decide, withdraw a vote.

use axum::Json;
use holdshort_core::id::InterruptId;
use holdshort_core::run::Input;
use holdshort_protocol::{Decision, Interrupt};
use holdshort_web::auth::DecisionCaller;
use holdshort_web::body::Body;
use holdshort_web::decide;
use holdshort_web::problem::Answer;
use holdshort_web::query::Id;

use super::actions;
use crate::openapi::{Assigns, Decides};

/// Decide on an interrupt.
///
/// The decision, the resolution and their effects are written in one transaction. The response is sent when the
/// transaction is durable. If a person sends the same decision again, the response is the existing result. An invalid
/// decision leaves the interrupt open.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/decisions", tag = "interrupts", operation_id = "decide",
    params(
        ("id" = String, Path, example = "int_01k6f0000000000000000000cc"),
        ("X-Holdshort-Via" = Option<String>, Header, description = "Channel that is recorded with the decision: `cli` or `rest`", example = "rest")
    ),
    request_body = Decision,
    responses((status = 200, description = "The interrupt with its resolution", body = Interrupt), Decides)
)]
pub(crate) async fn decide(
    decider: DecisionCaller,
    Id(id): Id<InterruptId>,
    body: Body,
) -> Answer<Json<Interrupt>> {
    let (caller, asked) = decider.interrupt(&id).await?;
    let decision = body.json().await?;
    decide::decide(&caller.app, &asked, caller.actor, decision).await.map(Json)
}

/// Take back your decision.
///
/// You can take back your decision while the interrupt is still open because votes of other approvers are missing.
#[utoipa::path(
    delete, path = "/v1/interrupts/{id}/decisions", tag = "interrupts", operation_id = "take_decision_back",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc")),
    responses((status = 200, description = "The current interrupt", body = Interrupt), Assigns)
)]
pub(crate) async fn take_back(
    decider: DecisionCaller,
    Id(id): Id<InterruptId>,
    body: Body,
) -> Answer<Json<Interrupt>> {
    actions::plain(decider, &id, body, Input::TakeBack { interrupt: id.clone() }).await
}
