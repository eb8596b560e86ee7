//! The record of an interrupt as a page to keep, for people: what a receipt proves.

use axum::response::Response;
use holdshort_core::id::InterruptId;
use holdshort_web::auth::Caller;
use holdshort_web::problem::Answer;
use holdshort_web::query::Id;
use holdshort_web::view;
use holdshort_web::view::assignment::Reader;

use super::evidence::checkpoint;
use crate::openapi::ReadsOne;
use crate::pages::decision;

/// Read the record of an interrupt as a page to keep.
///
/// One HTML file that needs nothing else and can be printed: the card, what happened with who and when, and the checkpoint
/// that covers it. The receipt proves it.
#[utoipa::path(
    get, path = "/v1/receipts/{interrupt}/page", tag = "interrupts", operation_id = "read_record",
    params(("interrupt" = String, Path, example = "int_01k6f0000000000000000000aa")),
    responses((status = 200, description = "The page", body = String, content_type = "text/html"), ReadsOne)
)]
pub(crate) async fn read(caller: Caller, Id(id): Id<InterruptId>) -> Answer<Response> {
    let app = &caller.app;
    let asked = caller.interrupt(&id).await?;
    let (signed, receipt) = app.evidence.receipt(&app.driver, &asked.run, &id).await?;
    let events: Vec<_> = receipt
        .events
        .iter()
        .map(|proved| {
            let event = view::event::of(&proved.event)
                .map_err(|source| holdshort_engine::Error::Damaged { run: asked.run.to_string(), source })?;
            Ok((event, proved.event.hash.to_string()))
        })
        .collect::<Answer<_>>()?;
    let reader = Reader::of(app, &caller.actor).await?;
    let shown = view::now::interrupt(app, &asked, &reader).await?;
    let model = decision::model(app, &asked.run).await?;
    Ok(decision::record(&shown, model.as_deref(), &events, &checkpoint(signed)))
}
