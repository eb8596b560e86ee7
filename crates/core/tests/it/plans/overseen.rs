//! Smart approval of plans and of the results of subtasks (contract A4).

use holdshort_core::definition::{Definition, Judge, PlanGate, Smart};
use holdshort_core::interrupt::{Interrupt, Kind};
use holdshort_core::projection::Status;
use serde_json::json;

use super::{at_work, ended, planned, planning, proposed, say, subtask};
use crate::world::{World, choose};

/// Returns a workflow in which only smart approval asks.
fn overseen() -> Definition {
    let mut definition = planned(planning());
    definition.gates.plan = PlanGate::Show;
    definition.gates.smart = Some(Smart { judge: Judge::Off, ..Smart::default() });
    definition
}

fn does(what: &str) -> serde_json::Value {
    let mut part = subtask("a", &[]);
    part["description"] = json!(what);
    part
}

/// Returns the kind of the open interrupt and the texts of its reasons.
fn interrupt_reasons(world: &World) -> Option<(Kind, String)> {
    let why = |interrupt: &Interrupt| {
        let texts = interrupt.opened.risk.reasons.iter().map(|reason| reason.text.as_str());
        (interrupt.opened.kind, texts.collect::<Vec<_>>().join("; "))
    };
    world.run.open_interrupts().next().map(|(_, interrupt)| why(interrupt))
}

#[test]
fn a_plan_that_speaks_of_risk_is_a_persons() {
    let table = [
        ("read the data", None),
        ("delete the old rows", Some("the keyword `delete` occurs in the plan")),
        ("ship it to prod", Some("`prod` in the plan refers to a production environment")),
    ];
    for (what, why) in table {
        let world = proposed(overseen(), &[does(what)]);
        let why = why.map(|why| (Kind::PlanApproval, why.to_owned()));
        assert_eq!(interrupt_reasons(&world), why, "{what}");
        assert_eq!(at_work(&world).starts_with("work/"), why.is_none(), "{what}");
    }
}

#[test]
fn a_result_that_its_agent_is_not_sure_of_is_looked_at_before_others_build_on_it() {
    let at_work = || proposed(overseen(), &[does("read the data")]);
    let mut world = at_work();
    say(&mut world, "work/a", "I deleted the old rows in production.");
    assert_eq!(ended(&world), Some((Status::Completed, "done")));

    let mut world = at_work();
    say(&mut world, "work/a", "Done, but I am not sure of the totals.");
    let why = "the agent is uncertain: `not sure` in its message";
    assert_eq!(interrupt_reasons(&world), Some((Kind::Checkpoint, why.to_owned())));
    world.decide(Kind::Checkpoint, choose("continue"));
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
}
