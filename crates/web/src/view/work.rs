//! Current work of the agents of a run, in the form that clients receive.

use holdshort_core::run::{Doing, Run};
use holdshort_protocol as wire;

pub fn from_run(run: &Run) -> Vec<wire::Work> {
    use wire::WorkState::{
        Acting, Beginning, Held, Resting, Thinking, WaitingForAgents, WaitingForPeople, WaitingForPhases,
    };
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let work = run.work().into_iter().map(|work| {
        let mut told = wire::Work {
            phase: work.phase.to_owned(),
            step: work.step.map(str::to_owned),
            agent: work.agent.map(str::to_owned),
            state: Resting,
            tools: Vec::new(),
            interrupts: Vec::new(),
            waits_for: Vec::new(),
            since: work.since.map(|since| since.to_string()),
        };
        told.state = match work.doing {
            Doing::Begins => Beginning,
            Doing::Thinks => Thinking,
            Doing::Rests => Resting,
            Doing::Acts(tools) => {
                told.tools = owned(tools);
                Acting
            }
            Doing::Asks(open) => {
                told.interrupts = open.into_iter().map(ToString::to_string).collect();
                WaitingForPeople
            }
            Doing::Gathers(agents) => {
                told.waits_for = owned(agents);
                WaitingForAgents
            }
            Doing::Held(agents) => {
                told.waits_for = owned(agents);
                Held
            }
            Doing::Needs(phases) => {
                told.waits_for = owned(phases);
                WaitingForPhases
            }
        };
        told
    });
    work.collect()
}
