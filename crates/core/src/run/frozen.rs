//! Freezes that stop a run, or that stop the calls of one agent of the run.

use super::{Begin, Run};
use crate::system::System;
use crate::system::freeze::Freeze;

impl Run {
    /// Returns the freeze that stops the whole run. If an external agent started the run, a freeze of this agent stops
    /// the whole run, too.
    pub fn freeze<'s>(&self, system: &'s System) -> Option<&'s Freeze> {
        let elsewhere = self.definition.is_external().then(|| self.starter()).flatten();
        let of_agent = || elsewhere.and_then(|agent| system.freezes.of_agent(agent));
        system.freezes.for_run(&self.id, &self.definition.name).or_else(of_agent)
    }

    /// Returns true if the action that is about to start belongs to an agent that is frozen.
    pub fn is_of_frozen_agent(&self, begin: &Begin, system: &System) -> bool {
        match begin {
            Begin::Model { step, .. } => {
                self.steps.get(step).is_some_and(|step| system.freezes.of_agent(&step.agent).is_some())
            }
            Begin::Trial { call } | Begin::Tool { call, .. } => self.is_call_of_frozen_agent(call, system),
        }
    }

    pub fn is_call_of_frozen_agent(&self, call: &str, system: &System) -> bool {
        self.calls.get(call).is_some_and(|call| system.freezes.of_agent(&call.agent).is_some())
    }
}
