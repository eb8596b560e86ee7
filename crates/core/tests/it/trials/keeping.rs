//! A person keeps some of a command's changes. The others are dropped, and the agent gets a list of the dropped paths.

use holdshort_core::actor::Actor;
use holdshort_core::interrupt::{Decision, Kind, Refusal};
use holdshort_core::run::{Begin, CallEnd, CallState, Input, Rejection};
use holdshort_core::tool::TrialOutcome;
use serde_json::{Value, json};

use super::{end_of, runs};
use crate::world::{World, choose};

fn keep(paths: &[&str]) -> Decision {
    Decision { edit: json!(paths), ..choose("keep_some") }
}

fn offered(world: &World) -> Vec<String> {
    let opened = &world.run.interrupts[&world.open(Kind::ToolApproval)].opened;
    opened.options.iter().map(|offer| offer.id.clone()).collect()
}

fn notes(world: &World) -> String {
    let step = world.run.calls["call_1"].step.clone();
    let request = world.run.request(&step).expect("a request");
    serde_json::to_string(&request.messages).expect("text")
}

#[test]
fn what_is_kept_is_committed_and_the_agent_is_told_of_the_rest() {
    let mut world = runs(&["./do a=1 b=2 c=3 -d"]);
    world.files.insert("d".to_owned(), "old".to_owned());
    world.work();
    assert!(offered(&world).contains(&"keep_some".to_owned()));
    world.decide(Kind::ToolApproval, Decision { text: Some("no c".to_owned()), ..keep(&["a", "b"]) });
    world.work();
    assert_eq!(world.effects, ["commit a", "commit b"]);
    assert!(world.files.contains_key("d") && !world.files.contains_key("c"));
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Done));
    assert_eq!(world.count("interrupt_opened"), 1);
    let told = notes(&world);
    assert!(told.contains("kept only some of the changes of this call. Dropped: c, d"), "{told}");
    assert!(told.contains("no c"), "{told}");
}

#[test]
fn what_is_no_part_of_it_is_refused_and_the_card_stays() {
    let mut world = runs(&["./do a=1 b=2"]);
    world.work();
    for (edit, says) in [
        (json!([]), "names nothing to keep"),
        (json!(["a", "x"]), "`x` is not one of the parts"),
        (json!({ "paths": ["a"] }), "must be the list of the paths"),
        (json!("a"), "must be the list of the paths"),
        (Value::Null, "needs an edit"),
    ] {
        let interrupt = world.open(Kind::ToolApproval);
        let decision = Decision { edit: edit.clone(), ..choose("keep_some") };
        let refused =
            world.try_send(&Actor::operator("rest"), Input::Decide { interrupt, decision, holder: None });
        let Err(Rejection::Refused(Refusal::Invalid(problems))) = refused else {
            panic!("{edit}: {refused:?}")
        };
        assert_eq!(problems[0].pointer, "/edit", "{edit}");
        assert!(problems[0].message.contains(says), "{edit}: {problems:?}");
    }
    assert!(world.effects.is_empty());
}

#[test]
fn it_is_offered_where_a_command_was_tried_and_changes_more_than_one_path() {
    let mut untried = runs(&["make"]);
    untried.work_once();
    untried.work_once();
    untried.send(Input::Begin { begins: vec![Begin::Trial { call: "call_1".to_owned() }] });
    let tried = TrialOutcome::Impossible { why: "no room".to_owned() };
    untried.send(Input::Tried { call: "call_1".to_owned(), attempt: 1, tried });
    for (mut world, is_offered) in
        [(untried, false), (runs(&["./do a=1"]), false), (runs(&["./do a=1 b=2"]), true)]
    {
        world.work();
        assert_eq!(offered(&world).contains(&"keep_some".to_owned()), is_offered, "{:?}", world.story());
    }
}

/// If another call writes after the decision, the command is tried again with all its changes, and a new interrupt
/// opens.
#[test]
fn a_part_that_is_stale_is_asked_about_anew() {
    let mut world = runs(&["./do a=1", "./do b=1 c=2"]);
    world.work();
    for (call, decision) in [("call_1", choose("approve")), ("call_2", keep(&["b"]))] {
        let CallState::Gated(interrupt) = world.run.calls[call].state.clone() else { panic!("{call} waits") };
        world.person(Input::Decide { interrupt, decision, holder: None });
    }
    world.work();
    assert_eq!(world.effects, ["commit a"]);
    world.decide(Kind::ToolApproval, keep(&["b"]));
    world.work();
    assert_eq!(world.effects, ["commit a", "commit b"]);
    assert!(!world.files.contains_key("c"));
}

#[test]
fn a_part_that_a_crash_cut_off_is_rolled_forward() {
    let mut world = runs(&["./do a=1 b=2"]);
    world.work();
    world.decide(Kind::ToolApproval, keep(&["b"]));
    world.begin_tool("call_1");
    world.crash();
    world.work();
    assert_eq!(world.effects, ["commit b"]);
}

/// If the run ends before an interrupted commit continues, the call's outcome is unknown, because some files may be
/// written.
#[test]
fn a_commit_that_a_crash_cut_off_is_in_doubt_where_the_run_ends() {
    let mut world = runs(&["./do a=1 b=2"]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.begin_tool("call_1");
    world.crash();
    assert_eq!(world.run.calls["call_1"].state, CallState::Authorised);
    world.person(Input::Cancel { text: None });
    assert_eq!(world.run.calls["call_1"].state, CallState::Ended(CallEnd::Unknown));
}

/// Votes that list the same kept paths in another order are equal.
#[test]
fn the_order_of_a_list_says_nothing() {
    let mut world = runs(&["./do a=1 b=2 c=3"]);
    world.work();
    let interrupt = world.open(Kind::ToolApproval);
    world.decide(Kind::ToolApproval, keep(&["b", "a", "b"]));
    let made = world.run.interrupts[&interrupt].settled_by().map(|made| made.edit.clone());
    assert_eq!(made, Some(json!(["a", "b"])));
    world.work();
    assert_eq!(world.effects, ["commit a", "commit b"]);
}

#[test]
fn a_card_lists_the_parts_and_counts_what_it_has_no_room_for() {
    let names: Vec<String> = (0..600).map(|n| format!("f{n:03}=1")).collect();
    for (command, listed, not_shown) in [
        ("./do b=1 a=2 .git/HEAD=x .git/index=y".to_owned(), 3, 0),
        (format!("./do {}", names.join(" ")), 500, 100),
    ] {
        let mut world = runs(&[&command]);
        world.work();
        let keep = &world.run.interrupts[&world.open(Kind::ToolApproval)].content["payload"]["trial"]["keep"];
        let parts = keep["parts"].as_array().expect("parts");
        assert_eq!((parts.len(), &keep["not_shown"]), (listed, &json!(not_shown)), "{command}");
        if listed == 3 {
            assert_eq!(keep["parts"], json!(["a", "b", ".git"]), "what git keeps for itself stands last");
        }
    }
}
