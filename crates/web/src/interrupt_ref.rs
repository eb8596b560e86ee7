//! Ids of an interrupt and its run, and the check whether a principal may take part in the interrupt. These ids never
//! change, so code that has an [`InterruptRef`] need not read the row of the interrupt.

use holdshort_core::actor::Actor;
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::Voter;
use holdshort_core::projection::InterruptRow;
use holdshort_core::run::Run;
use holdshort_core::system::System;

use crate::app::App;
use crate::problem::Answer;

#[derive(Clone, Debug)]
pub struct InterruptRef {
    pub run: RunId,
    pub interrupt: InterruptId,
}

impl From<InterruptRow> for InterruptRef {
    fn from(row: InterruptRow) -> Self {
        Self { run: row.run, interrupt: row.interrupt }
    }
}

impl InterruptRef {
    /// Returns true if the actor may take part in the interrupt, according to the journal. A cached run may be out of
    /// date: it possibly lacks an assignment of which the actor was already notified.
    pub(crate) async fn can_take_part(&self, app: &App, actor: &Actor) -> Answer<bool> {
        let run = match app.driver.current(&self.run).await {
            Some(run) => run,
            None => app.driver.load(&self.run).await?,
        };
        Ok(takes_part(app, actor, &run, &self.interrupt, &*app.driver.glance_system().await?))
    }
}

/// Returns true if the actor may take part in an interrupt of the run `run`.
pub fn takes_part(app: &App, actor: &Actor, run: &Run, id: &InterruptId, system: &System) -> bool {
    let voter = Voter { actor, people: &system.people, starter: run.begun_by(), now: app.now() };
    run.interrupts.get(id).is_some_and(|interrupt| interrupt.may_take_part(&voter).is_ok())
}
