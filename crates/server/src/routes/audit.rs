//! Verifies the journal, and reads its head: the number of events, and a hash over all events.

use axum::Json;
use holdshort_core::head::{Head, HeadNote};
use holdshort_engine::audit;
use holdshort_protocol::{Code, ComparedHead, Damage, JournalHead, MAX_HEADS, Verification};
use holdshort_store::Log;
use holdshort_web::auth::Caller;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{AuditQuery, Params};

use crate::openapi::Reads;

/// Verify the journal.
///
/// Reads all events and every stream in pages. Checks hash chains, the order of events, their contents, and the rows
/// from which lists are read. The duration grows with the journal. The verification stops if the client disconnects.
#[utoipa::path(
    get, path = "/v1/audit/verify", tag = "system", operation_id = "verify_journal",
    params(AuditQuery),
    responses((status = 200, description = "The result of the verification", body = Verification), Reads)
)]
pub(crate) async fn verify(caller: Caller, Params(query): Params<AuditQuery>) -> Answer<Json<Verification>> {
    let noted = query.against.as_deref().map(heads).transpose()?.unwrap_or_default();
    let report = audit::verify_against(caller.app.journal(), &noted).await?;
    Ok(Json(verification(report)))
}

/// Read the head of the journal.
///
/// The head contains the number of events, and a hash over all events. Store the head outside this server. Pass the
/// stored head as `against` to a later verification. The verification then detects if events that existed at the time
/// of the stored head were changed.
#[utoipa::path(
    get, path = "/v1/audit/head", tag = "system", operation_id = "read_head",
    responses((status = 200, description = "The head", body = JournalHead), Reads)
)]
pub(crate) async fn head(caller: Caller) -> Answer<Json<JournalHead>> {
    Ok(Json(journal_head(caller.app.journal().head().await?)))
}

fn heads(text: &str) -> Answer<Vec<HeadNote>> {
    let heads = text.split(',').map(str::parse).collect::<Result<Vec<HeadNote>, _>>();
    match heads {
        Ok(heads) if heads.len() <= MAX_HEADS => Ok(heads),
        Ok(heads) => {
            let many = heads.len();
            Err(Refused::new(
                Code::InvalidQuery,
                format!("against: {many} heads were passed, but at most {MAX_HEADS} are allowed"),
            ))
        }
        Err(error) => Err(Refused::new(Code::InvalidQuery, format!("against: {error}"))),
    }
}

/// Converts the report of a verification to its wire type.
pub fn verification(report: audit::Report) -> Verification {
    let damage = |problem: audit::Problem| Damage { stream: problem.stream, message: problem.message };
    let compared = |each: audit::Compared| ComparedHead { head: each.noted.to_string(), holds: each.holds };
    Verification {
        intact: report.problems.is_empty(),
        streams: report.streams,
        events: report.events,
        head: report.head.to_string(),
        unsealed: report.unsealed,
        against: report.against.into_iter().map(compared).collect(),
        damages: report.problems.into_iter().map(damage).collect(),
    }
}

/// Converts the head of the journal to its wire type.
pub fn journal_head(head: Head) -> JournalHead {
    JournalHead { head: head.to_string(), events: head.events, hash: head.hash.to_string() }
}
