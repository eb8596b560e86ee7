//! Who erased what a run said, and when.

use holdshort_core::event;
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::projection::RunRow;
use holdshort_core::run::{Erasure, Fact};
use holdshort_protocol as wire;

use super::word;
use crate::app::App;
use crate::problem::Answer;

/// Of the run of an interrupt that says nothing any more.
pub(super) async fn of_id(app: &App, id: &RunId) -> Answer<Option<wire::ErasedContent>> {
    of_row(app, &app.run_row(id).await?).await
}

/// Of a run that is not loaded, of which something is not kept: mostly its last event says it.
pub(super) async fn of_row(app: &App, row: &RunRow) -> Answer<Option<wire::ErasedContent>> {
    let last = app.event(&StreamId::Run(row.run.clone()), row.seq).await?;
    if let event::Fact::Run(Fact::ContentErased { from: 1, because, .. }) = &last.fact {
        return Ok(Some(of(&Erasure { by: last.actor.id.clone(), at: last.at, because: *because })));
    }
    Ok(app.driver.load(&row.run).await?.erased.as_ref().map(of))
}

pub fn of(Erasure { by, at, because }: &Erasure) -> wire::ErasedContent {
    wire::ErasedContent { by: by.clone(), at: at.to_string(), because: word(because) }
}
