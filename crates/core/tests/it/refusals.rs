//! The order of the checks on a decision: role, repeat, expired, resolved, version, option, fields, schema. Only the
//! first failed check is reported.

use std::collections::BTreeMap;

use holdshort_core::actor::Actor;
use holdshort_core::definition::KindGate;
use holdshort_core::interrupt::{Decision, Kind};
use holdshort_core::run::{Input, Rejection};
use serde_json::{Value, json};

use crate::world::{World, assigned, calls, choose, choose_with, definition, edit, write};

fn person(id: &str) -> Actor {
    Actor { id: id.to_owned(), ..Actor::operator("rest") }
}

/// Returns a call that waits for approval, on which `ann` and `bob` may decide, and that expires after one second.
fn gated() -> World {
    let mut definition = definition();
    let gate =
        KindGate { assignment: assigned(&["ann", "bob"]), expires_in_ms: Some(1_000), ..KindGate::default() };
    definition.gates.kinds = BTreeMap::from([(Kind::ToolApproval, gate)]);
    let mut world = World::started(definition, vec![calls(&[write("a.txt")])]);
    world.work();
    world
}

fn decided(world: &mut World, actor: &Actor, decision: Decision) -> String {
    let interrupt = world.run.interrupts.keys().next().expect("it was opened").clone();
    match world.try_send(actor, Input::Decide { interrupt, decision, holder: None }) {
        Ok(events) if events.is_empty() => "standing".to_owned(),
        Ok(_) => "taken".to_owned(),
        Err(Rejection::Refused(refusal)) => {
            let holdshort_core::interrupt::Refusal::Invalid(problems) = refusal else {
                return format!("{refusal:?}");
            };
            let pointers: Vec<String> = problems.into_iter().map(|problem| problem.pointer).collect();
            format!("Invalid {}", pointers.join(" "))
        }
        Err(other) => format!("{other:?}"),
    }
}

#[test]
fn what_comes_first_is_told_first() {
    let nonsense = || Decision {
        option: "nonsense".to_owned(),
        text: None,
        edit: json!({ "path": 1 }),
        version: Some(99),
        ..Decision::default()
    };
    let ann = person("ann");
    let open = gated();
    let mut resolved = open.clone();
    assert_eq!(decided(&mut resolved, &ann, choose_with("approve", "go")), "taken");
    let mut due = open.clone();
    due.pass_ms(1_000);
    let mut expired = due.clone();
    expired.send(Input::Tick);
    let mut late = resolved.clone();
    late.pass_ms(1_000);
    let mut cancelled = open.clone();
    cancelled.person(Input::Cancel { text: None });

    let versioned = |decision, version| Decision { version: Some(version), ..decision };
    let table: Vec<(&str, &World, Actor, Decision, &str)> = vec![
        ("an agent", &open, Actor::agent("ann", "rest"), nonsense(), "Role"),
        ("the engine", &open, Actor::engine(), choose("approve"), "Role"),
        ("an agent, too late", &expired, Actor::agent("ann", "rest"), nonsense(), "Role"),
        ("somebody else", &open, person("eve"), nonsense(), "NotAnApprover"),
        ("somebody else, too late", &expired, person("eve"), choose("reject"), "NotAnApprover"),
        ("the same again", &resolved, person("ann"), choose_with("approve", "go"), "standing"),
        (
            "the same again, after the deadline",
            &late,
            person("ann"),
            choose_with("approve", "go"),
            "standing",
        ),
        (
            "the same again, an old version",
            &resolved,
            person("ann"),
            versioned(choose_with("approve", "go"), 99),
            "standing",
        ),
        ("the same with another text", &resolved, person("ann"), choose("approve"), "AlreadyResolved"),
        (
            "the same by another person",
            &resolved,
            person("bob"),
            choose_with("approve", "go"),
            "AlreadyResolved",
        ),
        ("another option", &resolved, person("ann"), choose("reject"), "AlreadyResolved"),
        ("nonsense on a resolved one", &resolved, person("ann"), nonsense(), "AlreadyResolved"),
        ("due but not swept", &due, person("ann"), nonsense(), "Expired"),
        ("expired", &expired, person("ann"), nonsense(), "Expired"),
        ("closed by the end of the run", &cancelled, person("ann"), nonsense(), "AlreadyResolved"),
        ("an old version", &open, person("ann"), nonsense(), "Stale { current: 1 }"),
        ("the right version", &open, person("ann"), versioned(choose("approve"), 1), "taken"),
        ("no such option", &open, person("ann"), choose("continue"), "Invalid /option"),
        ("in another case", &open, person("ann"), choose("Approve"), "Invalid /option"),
        ("no option", &open, person("ann"), choose(""), "Invalid /option"),
        ("no text", &open, person("ann"), choose("respond"), "Invalid /text"),
        ("an empty text", &open, person("ann"), choose_with("respond", " \n"), "Invalid /text"),
        (
            "a text too long",
            &open,
            person("ann"),
            choose_with("approve", &"x".repeat(65_537)),
            "Invalid /text",
        ),
        ("no edit", &open, person("ann"), choose("edit"), "Invalid /edit"),
        (
            "an edit where there is none",
            &open,
            person("ann"),
            Decision { edit: json!({}), ..choose("approve") },
            "Invalid /edit",
        ),
        ("an edit of another type", &open, person("ann"), edit(json!("x")), "Invalid /edit"),
        ("an edit with holes", &open, person("ann"), edit(json!({ "path": "a" })), "Invalid /edit"),
        (
            "an edit that does not fit",
            &open,
            person("ann"),
            edit(json!({ "path": 1, "content": "x", "mode": 7 })),
            "Invalid /edit/path /edit",
        ),
        (
            "an edit that nobody can keep",
            &open,
            person("ann"),
            edit(json!({ "path": "a", "content": "x", "n": 9_007_199_254_740_992_u64 })),
            "Invalid /edit",
        ),
        ("an edit that fits", &open, person("ann"), edit(write("b.txt").1), "taken"),
    ];
    let wrong: Vec<(&str, String, &str)> = table
        .into_iter()
        .filter_map(|(name, world, actor, decision, expected)| {
            let mut after = world.clone();
            let found = decided(&mut after, &actor, decision);
            let untouched = found == "taken" || after.log == world.log;
            (found != expected || !untouched).then_some((name, found, expected))
        })
        .collect();
    assert_eq!(wrong, []);
}

#[test]
fn an_unknown_interrupt_is_told_before_the_role() {
    let world = gated();
    let interrupt = crate::world::draw(9).id();
    let input = Input::Decide { interrupt, decision: choose("approve"), holder: None };
    assert_eq!(world.handle(&Actor::agent("a", "rest"), input), Err(Rejection::UnknownInterrupt));
}

/// An edited plan is checked as a plan. The pointers of its problems point into the edit.
#[test]
fn an_edited_plan_must_hold_together() {
    let plan = json!({ "subtasks": [{ "id": "1", "description": "do" }] });
    let mut world = World::started(definition(), vec![calls(&[("create_plan", plan)])]);
    world.work();
    let task = |id: &str, needs: &[&str]| json!({ "id": id, "description": "do", "depends_on": needs });
    let many: Vec<Value> = (0..21).map(|i| task(&i.to_string(), &[])).collect();
    let table = [
        (json!({ "subtasks": [] }), "Invalid /edit/subtasks"),
        (json!({ "subtasks": many }), "Invalid /edit/subtasks"),
        (json!([task("1", &[])]), "Invalid /edit"),
        (json!({ "subtasks": [task("1", &[]), task("1", &[])] }), "Invalid /edit/subtasks/1/id"),
        (json!({ "subtasks": [task("1", &["2"])] }), "Invalid /edit/subtasks/0/depends_on/0"),
        (json!({ "subtasks": [task("1", &["2"]), task("2", &["1"])] }), "Invalid /edit/subtasks"),
        (json!({ "subtasks": [task("1", &["1"])] }), "Invalid /edit/subtasks"),
        (
            json!({ "subtasks": [{ "id": " ", "description": "", "agent": "nobody" }] }),
            "Invalid /edit/subtasks/0/id /edit/subtasks/0/description /edit/subtasks/0/agent",
        ),
        (
            json!({ "subtasks": [{ "id": "1", "description": "do", "colour": "red" }] }),
            "Invalid /edit/subtasks/0",
        ),
        (json!({ "subtasks": [task("1", &[]), task("2", &["1"])] }), "taken"),
    ];
    let operator = Actor::operator("rest");
    let wrong: Vec<_> = table
        .into_iter()
        .filter_map(|(plan, expected)| {
            let found = decided(&mut world.clone(), &operator, edit(plan.clone()));
            (found != expected).then_some((plan, found, expected))
        })
        .collect();
    assert_eq!(wrong, []);
}
