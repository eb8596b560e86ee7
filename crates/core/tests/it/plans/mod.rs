//! Planning and control: a plan is drafted, judged, decided on, carried out as a graph of subtasks, and edited at the
//! same time.

mod carrying_out;
mod deciding;
mod drafting;
mod failing;
mod feedback;
mod manual_result;
mod overseen;
mod progress;
mod reader;
mod replanning;
mod within;

use holdshort_core::definition::{
    Agent, Control, Definition, EndCondition, Phase, PhaseKind, Planning, StepGates,
};
use holdshort_core::interrupt::Kind;
use holdshort_core::message::Message;
use holdshort_core::projection::Status;
use holdshort_core::run::Input;
use serde_json::{Value, json};

use crate::world::{Answer, World, choose, definition, one_shot, says};

fn subtask(id: &str, needs: &[&str]) -> Value {
    json!({ "id": id, "description": format!("do {id}"), "depends_on": needs })
}

fn plan_of(subtasks: &[Value]) -> Value {
    json!({ "subtasks": subtasks })
}

fn proposes(subtasks: &[Value]) -> Answer {
    says(&format!("Here it is:\n```json\n{}\n```", plan_of(subtasks)))
}

fn planning() -> Planning {
    Planning {
        planner: "planner".to_owned(),
        improver: None,
        reviewer: None,
        reviews: 0,
        iterations: 3,
        agents: vec!["pair".to_owned(), "writer".to_owned()],
        settles: false,
        always_asks: false,
        optional: false,
    }
}

/// Returns a workflow with a phase `plan`, and a phase `work` that carries out the plan.
fn planned(planning: Planning) -> Definition {
    let mut definition = definition();
    let agent = Agent {
        instructions: "Work.".to_owned(),
        asking_instructions: None,
        model: None,
        tools: vec!["run_command".to_owned()],
        ends: EndCondition::Reply,
    };
    for name in ["planner", "reviewer", "improver", "writer"] {
        definition.agents.insert(name.to_owned(), agent.clone());
    }
    let control = Control { plan: "plan".to_owned(), agent: "pair".to_owned(), only: None };
    definition.phases = vec![
        Phase { kind: PhaseKind::Planning(planning), ..one_shot("plan", &[]) },
        Phase { kind: PhaseKind::Control(control), ..one_shot("work", &["plan"]) },
    ];
    definition
}

fn gated(gates: StepGates) -> Definition {
    let mut definition = planned(planning());
    definition.phases[1].gates = gates;
    definition
}

/// Returns a started run whose plan consists of these subtasks and waits for a person's decision.
fn proposed(definition: Definition, subtasks: &[Value]) -> World {
    let mut world = World::started(definition, Vec::new()).with("plan/plan", vec![proposes(subtasks)]);
    world.work();
    world
}

/// Returns a run whose plan is replaced while one of its subtasks waits for a person.
pub(crate) fn story() -> World {
    let gates = StepGates { before_step: true, ..StepGates::default() };
    let mut world = approved(gated(gates), &[subtask("a", &[]), subtask("b", &["a"])]);
    let mut other = subtask("a", &[]);
    other["description"] = json!("do a otherwise");
    let anew = Input::Replan { phase: "plan".to_owned(), version: Some(1), plan: plan_of(&[other]) };
    world.person(anew);
    world.decide(Kind::PlanApproval, choose("approve"));
    world.decide(Kind::Checkpoint, choose("approve"));
    say(&mut world, "work/a", "a is done.");
    world
}

fn approved(definition: Definition, subtasks: &[Value]) -> World {
    let mut world = proposed(definition, subtasks);
    world.decide(Kind::PlanApproval, choose("approve"));
    world
}

fn at_work(world: &World) -> String {
    let open = world.run.steps.iter().filter(|(_, step)| step.end.is_none());
    open.map(|(id, _)| id.as_str()).collect::<Vec<_>>().join(" ")
}

fn say(world: &mut World, step: &str, text: &str) {
    world.script.entry(step.to_owned()).or_default().push_back(says(text));
    world.work();
}

fn ended(world: &World) -> Option<(Status, &str)> {
    world.run.ended.as_ref().map(|ended| (ended.status, ended.reason.as_str()))
}

fn request(world: &World, step: &str) -> String {
    let messages = world.run.request(step).expect("the step has started").messages;
    let said = messages.iter().map(|message| match message {
        Message::System { text }
        | Message::User { text }
        | Message::Assistant { text, .. }
        | Message::Tool { text, .. } => text.as_str(),
    });
    said.collect::<Vec<_>>().join("\n")
}
