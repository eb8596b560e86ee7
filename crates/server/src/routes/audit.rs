//! Proof that the journal is as it was written.

use axum::Json;
use holdshort_engine::audit;
use holdshort_protocol::{Damage, Verification};

use crate::auth::Operator;
use crate::openapi::Reads;
use crate::problem::Answer;

/// Verify the journal.
///
/// Walks every stream in pages: hash chain, order, contents. Takes as long as the journal is large; a client that
/// goes away stops it.
#[utoipa::path(
    get, path = "/v1/audit/verify", tag = "system", operation_id = "verify_journal",
    responses((status = 200, description = "What was found", body = Verification), Reads),
    security(("operator" = []))
)]
pub(crate) async fn verify(operator: Operator) -> Answer<Json<Verification>> {
    let report = audit::verify(operator.app.journal()).await?;
    let damages: Vec<Damage> = report
        .problems
        .into_iter()
        .map(|problem| Damage { stream: problem.stream, message: problem.message })
        .collect();
    Ok(Json(Verification {
        intact: damages.is_empty(),
        streams: report.streams,
        events: report.events,
        damages,
    }))
}
