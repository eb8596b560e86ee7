//! Proofs that people outside the installation can check: signed checkpoints, receipts, and the proof that one
//! checkpoint continues another.

use axum::Json;
use axum::http::StatusCode;
use holdshort_core::digest::Digest;
use holdshort_core::id::InterruptId;
use holdshort_core::tree;
use holdshort_engine::evidence::{EventProof, Signed};
use holdshort_protocol::{Code, Consistency, ProvedEvent, Receipt, SignedCheckpoint};
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::deliveries::recorded;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{ConsistencyQuery, Id, Params};

use super::steer::nothing;
use crate::openapi::{Reads, ReadsOne};

/// Sign a checkpoint.
///
/// A checkpoint contains the number of events in the journal and the root of their hash tree. Store the checkpoint in a
/// place where nobody who can change the journal can write. Pass the checkpoint as `against` to a later verification.
/// The verification then detects every change of the events that existed when the checkpoint was signed.
#[utoipa::path(
    post, path = "/v1/audit/checkpoints", tag = "system", operation_id = "sign_checkpoint",
    responses((status = 201, description = "The checkpoint", body = SignedCheckpoint), Reads)
)]
pub(crate) async fn sign(caller: Caller, body: Body) -> Answer<(StatusCode, Json<SignedCheckpoint>)> {
    nothing(body).await?;
    let signed = caller.app.evidence.checkpoint(&caller.app.driver).await?;
    Ok((StatusCode::CREATED, Json(checkpoint(signed))))
}

/// Prove that a later checkpoint contains all events of an earlier checkpoint.
#[utoipa::path(
    get, path = "/v1/audit/consistency", tag = "system", operation_id = "prove_consistency",
    params(ConsistencyQuery),
    responses((status = 200, description = "The proof", body = Consistency), Reads)
)]
pub(crate) async fn consistency(
    caller: Caller,
    Params(ConsistencyQuery { earlier, size }): Params<ConsistencyQuery>,
) -> Answer<Json<Consistency>> {
    let evidence = &caller.app.evidence;
    let there = evidence.size().await?;
    let ranges = tree::consistency(earlier, size).filter(|_| size <= there).ok_or_else(|| {
        let rule = format!(
            "earlier, size: `earlier` must be from 1 to `size`, and `size` must be at most {there}, the \
                number of events in the journal"
        );
        Refused::new(Code::InvalidQuery, rule)
    })?;
    let proof = evidence.proof(&ranges).await?;
    Ok(Json(Consistency { earlier, size, proof: proof.iter().map(Digest::to_string).collect() }))
}

/// Read the receipt of an interrupt.
///
/// The receipt contains the question, the decisions with the people who made them, and the result, as they are stored.
/// The receipt also contains a signed checkpoint and, for each event, a proof that the checkpoint includes the event.
/// `docs/verify_receipt.py` checks a receipt without Holdshort. The receipt also lists the notifications that channels
/// sent, with the digest of each message. The checkpoint does not prove these notifications.
#[utoipa::path(
    get, path = "/v1/receipts/{interrupt}", tag = "interrupts", operation_id = "read_receipt",
    params(("interrupt" = String, Path, example = "int_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The receipt", body = Receipt), ReadsOne)
)]
pub(crate) async fn receipt(caller: Caller, Id(id): Id<InterruptId>) -> Answer<Json<Receipt>> {
    let app = &caller.app;
    let asked = caller.interrupt(&id).await?;
    let (signed, receipt) = app.evidence.receipt(&app.driver, &asked.run, &id).await?;
    Ok(Json(Receipt {
        interrupt: id.to_string(),
        run: asked.run.to_string(),
        checkpoint: checkpoint(signed),
        events: receipt.events.into_iter().map(proved).collect(),
        not_covered: recorded(app, &id).await?,
    }))
}

pub(super) fn checkpoint(signed: Signed) -> SignedCheckpoint {
    let Signed { checkpoint, note, key, at } = signed;
    let root = checkpoint.root.to_string();
    SignedCheckpoint { note, size: checkpoint.size, root, key, at: at.to_string() }
}

fn proved(proved: EventProof) -> ProvedEvent {
    let EventProof { event, previous, index, path } = proved;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ProvedEvent {
        stream: event.stream.to_string(),
        seq: event.seq,
        head: text(&event.head),
        content: event.content.as_ref().map(|content| text(&content.bytes)),
        salt: event.content.as_ref().map(|content| data_encoding::HEXLOWER.encode(&content.salt)),
        previous: previous.to_string(),
        hash: event.hash.to_string(),
        index,
        path: path.iter().map(Digest::to_string).collect(),
    }
}
