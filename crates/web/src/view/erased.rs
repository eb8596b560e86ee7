//! Erasures of runs, in the form that clients receive: actor, time and reason.

use holdshort_core::event;
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::projection::RunRow;
use holdshort_core::run::{Erasure, Fact};
use holdshort_protocol as wire;

use super::variant_name;
use crate::app::App;
use crate::problem::Answer;

/// Returns the person who erased the content of a run, with the time and the reason, or `None` if the content was not
/// erased.
pub(super) async fn for_run(app: &App, id: &RunId) -> Answer<Option<wire::ErasedContent>> {
    for_row(app, &app.run_row(id).await?).await
}

/// Returns the erasure of a run that is not in memory, or `None` if the content of the run was not erased. Reads the
/// last event of the run first, because the erasure is usually the last event.
pub(super) async fn for_row(app: &App, row: &RunRow) -> Answer<Option<wire::ErasedContent>> {
    let last = app.event(&StreamId::Run(row.run.clone()), row.seq).await?;
    if let event::Fact::Run(Fact::ContentErased { from: 1, because, .. }) = &last.fact {
        return Ok(Some(from_erasure(&Erasure {
            by: last.actor.id.clone(),
            at: last.at,
            because: *because,
        })));
    }
    Ok(app.driver.load(&row.run).await?.erased.as_ref().map(from_erasure))
}

pub fn from_erasure(Erasure { by, at, because }: &Erasure) -> wire::ErasedContent {
    wire::ErasedContent { by: by.clone(), at: at.to_string(), because: variant_name(because) }
}
