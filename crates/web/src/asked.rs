//! An interrupt, and the run that asks it. Neither ever changes, so whoever knows both needs no row.

use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::projection::InterruptRow;

#[derive(Clone, Debug)]
pub struct Asked {
    pub run: RunId,
    pub interrupt: InterruptId,
}

impl From<InterruptRow> for Asked {
    fn from(row: InterruptRow) -> Self {
        Self { run: row.run, interrupt: row.interrupt }
    }
}
