//! What a freeze holds of a run.

use super::{Begin, Run};
use crate::system::System;
use crate::system::freeze::Freeze;

impl Run {
    /// The freeze that holds the run as a whole. Of an agent that runs elsewhere that is also the one of the agent.
    pub fn freeze<'s>(&self, system: &'s System) -> Option<&'s Freeze> {
        let elsewhere = self.definition.is_external().then(|| self.starter()).flatten();
        let of_agent = || elsewhere.and_then(|agent| system.freezes.of_agent(agent));
        system.freezes.of_run(&self.id, &self.definition.name).or_else(of_agent)
    }

    /// Whether it is an agent that is frozen who would begin this.
    pub fn is_of_frozen_agent(&self, begin: &Begin, system: &System) -> bool {
        let agent = match begin {
            Begin::Model { step, .. } => self.steps.get(step).map(|step| &step.agent),
            Begin::Trial { call } | Begin::Tool { call, .. } => return self.is_of_frozen(call, system),
        };
        agent.is_some_and(|agent| system.freezes.of_agent(agent).is_some())
    }

    /// The same of a call.
    pub fn is_of_frozen(&self, call: &str, system: &System) -> bool {
        self.calls.get(call).is_some_and(|call| system.freezes.of_agent(&call.agent).is_some())
    }
}
