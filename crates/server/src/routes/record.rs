//! The record of an interrupt as a page that people can save. The record and the receipt of an interrupt contain the
//! same events.

use axum::response::Response;
use holdshort_core::envelope::{self, Sealed};
use holdshort_core::id::InterruptId;
use holdshort_engine::Error;
use holdshort_web::auth::Caller;
use holdshort_web::deliveries;
use holdshort_web::problem::Answer;
use holdshort_web::query::Id;
use holdshort_web::view;
use holdshort_web::view::assignment::Reader;

use super::evidence::checkpoint;
use crate::card;
use crate::openapi::ReadsOne;
use crate::pages::decision::{self, Recorded};

/// Read the record of an interrupt as a page that you can save.
///
/// The response is one HTML file that needs no other file and can be printed. The page contains the card, the events
/// with their actors and times, and a signed checkpoint that proves the events. The page also lists the notifications
/// that channels sent. The checkpoint does not prove these notifications. To prove the events, use the receipt of the
/// interrupt.
#[utoipa::path(
    get, path = "/v1/receipts/{interrupt}/page", tag = "interrupts", operation_id = "read_record",
    params(("interrupt" = String, Path, example = "int_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The page", body = String, content_type = "text/html"), ReadsOne)
)]
pub(crate) async fn read(caller: Caller, Id(id): Id<InterruptId>) -> Answer<Response> {
    let app = &caller.app;
    let asked = caller.interrupt(&id).await?;
    let (signed, receipt) = app.evidence.receipt(&app.driver, &asked.run, &id).await?;
    let read = |sealed: &Sealed| -> Result<Recorded, envelope::Error> {
        let (event, is_erased) = (view::event::from_sealed(sealed)?, envelope::has_lost_content(sealed)?);
        Ok(Recorded { event, hash: sealed.hash.to_string(), is_erased })
    };
    let events: Result<Vec<_>, _> = receipt.events.iter().map(|proved| read(&proved.event)).collect();
    let events = events.map_err(|source| Error::Damaged { run: asked.run.to_string(), source })?;
    let reader = Reader::for_actor(app, &caller.actor).await?;
    let shown = view::now::interrupt(app, &asked, &reader).await?;
    let model = card::model(app, &asked.run).await?;
    let told = deliveries::recorded(app, &id).await?;
    Ok(decision::record(&shown, model.as_deref(), &events, &told, &checkpoint(signed)))
}
