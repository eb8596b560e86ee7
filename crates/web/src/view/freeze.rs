//! Freezes, in the form that clients receive: the frozen target, the actor and the reason.

use holdshort_core::system::freeze::{Freeze, Part};
use holdshort_protocol::{FreezeOf, Frozen};

/// Converts a freeze for clients. `part` is `None` if the whole installation is frozen.
pub fn from_freeze(part: Option<&Part>, freeze: &Freeze) -> Frozen {
    let nothing = FreezeOf::default();
    let FreezeOf { run, workflow, agent } = match part {
        None => nothing,
        Some(Part::Run(run)) => FreezeOf { run: Some(run.to_string()), ..nothing },
        Some(Part::Workflow(name)) => FreezeOf { workflow: Some(name.clone()), ..nothing },
        Some(Part::Agent(name)) => FreezeOf { agent: Some(name.clone()), ..nothing },
    };
    let Freeze { by, at, reason } = freeze;
    Frozen { run, workflow, agent, reason: reason.clone(), by: by.clone(), at: at.to_string() }
}
