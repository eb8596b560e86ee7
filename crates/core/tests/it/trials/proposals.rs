//! Changes that file tools propose. Proposed changes are committed like the changes of a trial, so a crash leaves no
//! doubt about the outcome of the call.

use holdshort_core::interrupt::Kind;
use holdshort_core::run::{CallEnd, Fact};

use super::end_of;
use crate::world::{World, calls, choose, definition, write};

fn writes() -> World {
    let mut world = World::started(definition(), vec![calls(&[write("a")])]);
    world.proposes = true;
    world
}

/// Returns the digest of the changeset that the start of the first call records.
fn started(world: &World) -> Option<String> {
    world.log.iter().find_map(|event| match &event.fact {
        holdshort_core::event::Fact::Run(Fact::ToolStarted { changeset, .. }) => {
            changeset.map(|it| it.to_string())
        }
        _ => None,
    })
}

#[test]
fn a_file_edit_is_committed_and_its_start_names_the_changeset() {
    let mut world = writes();
    world.work();
    assert_eq!(world.count("changes_proposed"), 1);
    let proposal = world.run.calls["call_1"].proposal.clone().expect("it proposes");
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(started(&world), Some(proposal.digest.to_string()));
    assert_eq!(world.effects, ["commit a"]);
    let call = &world.run.calls["call_1"];
    assert_eq!(
        (end_of(&world, "call_1"), call.result.as_deref()),
        (Some(CallEnd::Done), Some("proposed, and done"))
    );
    assert_eq!(call.outcome["bytes"], 3);
}

#[test]
fn a_file_edit_that_a_crash_cut_off_is_rolled_forward() {
    for was_written in [false, true] {
        let mut world = writes();
        world.work();
        world.decide(Kind::ToolApproval, choose("approve"));
        world.begin_tool("call_1");
        if was_written {
            let changes = world.run.calls["call_1"].proposal.clone().unwrap().changeset.clone().unwrap();
            world.commit_one(&changes.changes()[0]);
        }
        world.crash();
        world.work();
        assert!(world.open_kinds().is_empty(), "nobody is asked: {:?}", world.story());
        assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Done));
        assert!(world.files.contains_key("a"));
    }
}

#[test]
fn a_file_that_changed_since_it_was_shown_asks_again() {
    let mut world = writes();
    world.work();
    world.files.insert("a".to_owned(), "somebody's".to_owned());
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(world.open_kinds(), ["tool_approval"]);
    assert_eq!((world.count("changes_proposed"), world.effects.len()), (2, 0));
}

#[test]
fn a_file_that_has_the_content_already_is_not_written() {
    let mut world = writes();
    world.files.insert("a".to_owned(), "text of a".to_owned());
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!((world.count("tool_started"), world.effects.len()), (0, 0));
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Done));
}
