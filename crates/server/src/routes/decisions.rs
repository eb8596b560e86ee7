//! Decisions. Refused in one order: known (404), role (403), the same decision again (200), expired (410),
//! resolved (409), version (409), option and schema (422).

use axum::Json;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt;
use holdshort_core::run::Input;
use holdshort_protocol::{Code, Decision, Interrupt};

use crate::auth::Caller;
use crate::body::Body;
use crate::openapi::Decides;
use crate::problem::{Answer, Refused};
use crate::query::Id;
use crate::view;

/// Decide on an interrupt.
///
/// The decision, the resolution and what follows from it are one transaction: when the answer is there, they
/// are durable. The same decision by the same person again is answered with the standing result. A decision that
/// does not fit leaves the interrupt open.
#[utoipa::path(
    post, path = "/v1/interrupts/{id}/decisions", tag = "interrupts", operation_id = "decide",
    params(
        ("id" = String, Path, example = "int_01k6f0000000000000000000cc"),
        ("X-Holdshort-Via" = Option<String>, Header, description = "The channel it is recorded with: `cli` or `rest`", example = "rest")
    ),
    request_body = Decision,
    responses((status = 200, description = "The interrupt with its resolution", body = Interrupt), Decides),
    security(("operator" = []))
)]
pub(crate) async fn decide(caller: Caller, Id(id): Id<InterruptId>, body: Body) -> Answer<Json<Interrupt>> {
    let row = caller.app.interrupt_row(&id).await?;
    caller.require_operator()?;
    let Decision { option, text, edit, version } = body.json().await?;
    let decision = interrupt::Decision { option, text, edit, version };
    let Caller { app, actor } = caller;
    let input = Input::Decide { interrupt: id.clone(), decision };
    match app.send(&row.run, input, actor).await.map_err(Refused::from) {
        Ok(run) => {
            view::interrupt::of_run(&run, &id).map(Json).ok_or_else(|| Refused::not_found("interrupt"))
        }
        Err(mut refused) => {
            if matches!(refused.code(), Code::AlreadyResolved | Code::Expired) {
                let row = app.interrupt_row(&id).await?;
                refused.0.resolution = view::interrupt::standing(&app, &row).await?;
            }
            Err(refused)
        }
    }
}
