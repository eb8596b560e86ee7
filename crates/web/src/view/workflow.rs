//! Workflows, in the form that clients receive.

use holdshort_core::definition::Definition;
use holdshort_protocol as wire;

pub fn from_definition(definition: &Definition, rehearsal: bool) -> wire::Workflow {
    wire::Workflow {
        name: definition.name.clone(),
        description: definition.description.clone(),
        input: definition.input.clone(),
        agents: definition.agents.keys().cloned().collect(),
        phases: definition.phases.iter().map(|phase| phase.id.clone()).collect(),
        tools: definition.tools.keys().cloned().collect(),
        digest: definition.digest().to_string(),
        rehearsal,
    }
}
