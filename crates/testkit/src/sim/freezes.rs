//! Freezes of runs, workflows and agents in a simulation. Contains the requests that set and lift freezes. Also
//! decides, without using the core, what a freeze stops.

use holdshort_core::actor::Actor;
use holdshort_core::run::{Action, Run};
use holdshort_core::system::freeze::Part;
use holdshort_core::system::{Input, System};

use super::choices::Choices;
use super::people::{SimRequest, someone};

/// Returns the actor whom the simulation uses for an input that changes the installation.
pub(super) fn who_changes(input: &Input) -> Actor {
    match input {
        Input::SetPolicy { .. }
        | Input::SetPerson { .. }
        | Input::RemovePerson { .. }
        | Input::SetPeople { .. }
        | Input::SetAway { .. }
        | Input::SetHours { .. }
        | Input::UnsetHours { .. }
        | Input::SetAllHours { .. }
        | Input::MakeLoginLink { .. }
        | Input::SignOut { .. }
        | Input::SignOutByProvider { .. }
        | Input::MakeKey(_)
        | Input::RotateKey { .. }
        | Input::RevokeKey { .. }
        | Input::RegisterWebhook { .. }
        | Input::RemoveWebhook { .. } => Actor::admin("ada", "sim"),
        Input::SubscribePush { is, .. } => someone(&is.person),
        Input::TakeUp { .. }
        | Input::SetCheckpointKey { .. }
        | Input::TellCheckpoint(_)
        | Input::UnsubscribePush { .. } => Actor::engine(),
        Input::Freeze { .. } | Input::Unfreeze { .. } => someone("alice"),
    }
}

/// Returns a request that freezes the whole installation, or that lifts the freeze of the installation.
pub(super) fn of_all(choices: &mut Choices) -> SimRequest {
    let freezes = choices.one_in(3);
    SimRequest::Change { input: if freezes { Input::freeze("a look is needed") } else { Input::unfreeze() } }
}

/// Returns a request that freezes the run, its workflow or one of its agents, or that lifts one of these freezes.
pub(super) fn change_freeze(run: &Run, system: &System, choices: &mut Choices) -> SimRequest {
    let standing: Vec<&Part> = system.freezes.parts.keys().collect();
    if !standing.is_empty() && !choices.one_in(3) {
        return SimRequest::Change {
            input: Input::Unfreeze { part: Some((*choices.pick(&standing)).clone()) },
        };
    }
    let agents: Vec<&String> = run.steps.values().map(|step| &step.agent).collect();
    let part = match choices.below(3) {
        0 => Part::Run(run.id.clone()),
        1 if !agents.is_empty() => Part::Agent((*choices.pick(&agents)).clone()),
        _ => Part::Workflow(run.definition.name.clone()),
    };
    SimRequest::Change { input: Input::Freeze { part: Some(part), reason: "a look is needed".to_owned() } }
}

/// Returns a request that lifts one freeze. Returns `None` if nothing is frozen.
pub(super) fn lift(system: &System) -> Option<SimRequest> {
    let part = match (&system.freezes.all, system.freezes.parts.keys().next()) {
        (Some(_), _) => None,
        (None, Some(part)) => Some(part.clone()),
        (None, None) => return None,
    };
    Some(SimRequest::Change { input: Input::Unfreeze { part } })
}

/// Returns true if a freeze stops the whole run, or the work of this agent in the run.
pub(super) fn hold(system: &System, run: &Run, agent: Option<&str>) -> bool {
    let holds = |part: &Part| match part {
        Part::Run(id) => *id == run.id,
        Part::Workflow(name) => *name == run.definition.name,
        Part::Agent(name) => Some(name.as_str()) == agent,
    };
    system.freezes.all.is_some() || system.freezes.parts.keys().any(holds)
}

/// Returns the agent in whose name an action of the run is performed. Returns `None` for an inspection, because no
/// agent performs it.
pub(super) fn agent<'r>(run: &'r Run, action: &Action) -> Option<&'r str> {
    match action {
        Action::Try { call, .. } | Action::CallTool { call, .. } => of_call(run, call),
        Action::CallModel { step, .. } => of_step(run, step),
        Action::Inspect { .. } => None,
    }
}

pub(super) fn of_call<'r>(run: &'r Run, call: &str) -> Option<&'r str> {
    run.calls.get(call).map(|call| call.agent.as_str())
}

pub(super) fn of_step<'r>(run: &'r Run, step: &str) -> Option<&'r str> {
    run.steps.get(step).map(|step| step.agent.as_str())
}
