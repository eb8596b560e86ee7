//! The paths that a task mentions, in texts of people and of the plan, and never in texts of the agent.

use holdshort_core::actor::Actor;
use holdshort_core::envelope::Content;
use holdshort_core::event::Event;
use holdshort_core::interrupt::Kind;
use holdshort_core::session;
use serde_json::{Value, json};

use super::trying;
use crate::world::{World, calls, command, draw, write};

/// Returns the mark on the open card that lists changes outside the task.
fn outside(world: &World) -> Value {
    let payload = &world.run.interrupts[&world.open(Kind::ToolApproval)].content["payload"];
    payload.get("outside").or_else(|| payload["trial"].get("outside")).cloned().unwrap_or_default()
}

/// Returns a run with this task, whose agent makes this call.
fn at(task: &str, call: (&'static str, Value)) -> World {
    let mut world = World::on(task, trying(), vec![calls(&[call])]);
    world.proposes = true;
    world
}

#[test]
fn what_a_task_does_not_name_is_counted() {
    for (task, call, expected) in [
        ("Tidy up", command("./do src/a=1 b=2"), Value::Null),
        ("Tidy up src/", command("./do src/a=1 src/c=2"), Value::Null),
        ("Tidy up src/", command("./do src/a=1 b=2 c=3"), json!(2)),
        ("Tidy up src/", command("./do .git/HEAD=1 src/a=1"), Value::Null),
        ("Tidy up src/", write("src/a"), Value::Null),
        ("Tidy up src/", write("b"), json!(true)),
        ("Tidy up", write("b"), Value::Null),
    ] {
        let mut world = at(task, call.clone());
        world.work();
        assert_eq!(outside(&world), expected, "{task}: {call:?}");
    }
}

#[test]
fn what_a_person_says_on_the_way_names_more() {
    let mut world = at("Tidy up src/", command("./do src/a=1 lib/b=2"));
    world.message("and lib/ as well");
    world.work();
    assert_eq!(outside(&world), Value::Null);
}

/// Paths in the notice about an undo are not part of the task. Making the undone changes again is still outside the
/// task.
#[test]
fn what_was_taken_back_is_no_word_of_the_task() {
    let mut world = at("Tidy up src/", command("./do src/a=1 lib/b=2"));
    let fact = session::Fact::ChangesUndone { run: world.run.id.clone(), by: draw(7).id() };
    let undone = world.session.event(world.now, &Actor::operator("rest"), fact);
    let undone = Event {
        content: Content::text(
            "These paths are in their earlier state again: \
        `lib/b`.",
        ),
        ..undone
    };
    world.append(vec![undone]);
    world.work();
    assert_eq!(world.count("changes_undone"), 2, "the run has heard of it");
    assert_eq!(outside(&world), json!(1));
}

/// The mark for changes outside the task only informs the person, and changes neither votes nor approvals.
#[test]
fn it_changes_no_vote_and_no_approval() {
    let (mut named, mut other) =
        (at("Tidy up a.txt", command("./do b=2")), at("Tidy up b", command("./do b=2")));
    for world in [&mut named, &mut other] {
        world.work();
    }
    assert_eq!((outside(&named), outside(&other)), (json!(1), Value::Null));
    let card = |world: &World| {
        let opened = world.run.interrupts[&world.open(Kind::ToolApproval)].opened.clone();
        (opened.action_digest, opened.risk, opened.options)
    };
    assert_eq!(card(&named), card(&other));
}
