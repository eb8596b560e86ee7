//! What stands now: shown without a read where its run is loaded anyway, and from its row otherwise.

use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::Cause;
use holdshort_core::run::Run;
use holdshort_protocol as wire;

use crate::app::App;
use crate::problem::Answer;

pub async fn interrupt(app: &App, run: &RunId, id: &InterruptId) -> Answer<wire::Interrupt> {
    let loaded = app.driver.current(run).await.filter(|run| tells(run, id));
    match loaded.and_then(|run| super::interrupt::of_run(&run, id)) {
        Some(shown) => Ok(shown),
        None => super::interrupt::of_row(app, &app.interrupt_row(id).await?).await,
    }
}

pub async fn run(app: &App, id: &RunId) -> Answer<wire::Run> {
    match app.driver.current(id).await {
        Some(run) => super::run::of_run(&run),
        None => super::run::of_row(app, &app.run_row(id).await?).await,
    }
}

/// A run does not know who gave the grant that resolved an interrupt; the event does.
fn tells(run: &Run, id: &InterruptId) -> bool {
    let resolution = run.interrupts.get(id).and_then(|interrupt| interrupt.resolution.as_ref());
    !resolution.is_some_and(|resolution| matches!(resolution.cause, Cause::Grant(_)))
}
