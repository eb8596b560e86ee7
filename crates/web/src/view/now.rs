//! Current state of a run or an interrupt, in the form that clients receive. The state comes from the run in memory, or
//! from a database row if the run is not in memory.

use holdshort_core::id::RunId;
use holdshort_engine::StartedRun;
use holdshort_protocol as wire;

use super::assignment::Reader;
use super::interrupt::CallEnds;
use crate::app::App;
use crate::interrupt_ref::InterruptRef;
use crate::problem::Answer;

/// Returns the current state of an interrupt. Parts that the reader may not see are removed.
pub async fn interrupt(
    app: &App,
    InterruptRef { run, interrupt: id }: &InterruptRef,
    reader: &Reader,
) -> Answer<wire::Interrupt> {
    let loaded = app.driver.current(run).await;
    let shown = loaded.and_then(|run| super::interrupt::from_run(&run, id, reader));
    let mut shown = if let Some(shown) = shown {
        shown
    } else {
        let row = app.interrupt_row(id).await?;
        super::interrupt::of_page(app, &row, &CallEnds::default(), reader).await?
    };
    super::interrupt::add_covered(app, run, id, reader, &mut shown).await?;
    Ok(shown)
}

/// Returns the run in the state in which the request that started it left it. For a repeated request, returns the
/// current state instead.
pub async fn left(app: &App, started: &StartedRun) -> Answer<wire::Run> {
    match &started.left {
        Some(left) => super::run::from_run(left),
        None => run(app, &started.run).await,
    }
}

pub async fn run(app: &App, id: &RunId) -> Answer<wire::Run> {
    match app.driver.current(id).await {
        Some(run) => super::run::from_run(&run),
        None => super::run::from_row(app, &app.run_row(id).await?).await,
    }
}
