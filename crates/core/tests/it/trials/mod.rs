//! Trials: the changes of a command are known before its gates vote. A command without changes needs no approval, and
//! an approval releases exactly the changes that were shown.

mod keeping;
mod outside;
mod proposals;
mod rules;
mod stopping;
mod undo;
pub(crate) mod world;

use holdshort_core::definition::Definition;
use holdshort_core::interrupt::Kind;
use holdshort_core::policy::{ChangeScope, Checkpoint, Rule, RuleAction};
use holdshort_core::run::{Begin, CallEnd, CallState, Input};
use holdshort_core::tool::TrialOutcome;
use serde_json::{Value, json};

use crate::world::{World, calls, choose, command, definition, edit, one_shot, rule, write};

fn trying() -> Definition {
    let mut definition = definition();
    definition.gates.trial = true;
    let nothing = Rule { changes: Some(ChangeScope::None), ..rule(RuleAction::Allow, &["run_command"], &[]) };
    definition.gates.rules.push(nothing);
    definition
}

fn runs(lines: &[&str]) -> World {
    let all: Vec<_> = lines.iter().map(|line| command(line)).collect();
    World::started(trying(), vec![calls(&all)])
}

fn end_of(world: &World, call: &str) -> Option<CallEnd> {
    match world.run.calls[call].state {
        CallState::Ended(end) => Some(end),
        _ => None,
    }
}

fn title(world: &World) -> String {
    world.run.interrupts[&world.open(Kind::ToolApproval)].content_text("title").to_owned()
}

#[test]
fn what_changes_nothing_asks_nobody_and_its_output_is_its_result() {
    let mut world = runs(&["make test"]);
    let told = world.work();
    assert!(world.open_kinds().is_empty(), "{told:?}");
    assert_eq!(world.count("tool_started"), 0, "nothing was committed: {told:?}");
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Done));
    assert_eq!(world.run.calls["call_1"].result.as_deref(), Some("tried make test"));
    assert_eq!(world.effects, [""; 0]);
}

#[test]
fn what_changes_something_asks_with_the_change_and_is_committed_once() {
    let mut world = runs(&["./do a=1 -b"]);
    world.files.insert("b".to_owned(), "old".to_owned());
    world.work();
    assert_eq!(title(&world), "run_command: ./do a=1 -b (changes 1 file, deletes 1)");
    let interrupt = &world.run.interrupts[&world.open(Kind::ToolApproval)];
    let reasons: Vec<_> = interrupt.opened.risk.reasons.iter().map(|each| each.code.as_str()).collect();
    assert_eq!(reasons, ["default", "deletes"]);
    assert_eq!(
        interrupt.content.pointer("/payload/trial"),
        Some(&json!({ "files": 2, "keep": { "parts": ["a", "b"], "not_shown": 0 } }))
    );
    assert!(world.effects.is_empty() && world.files.contains_key("b"), "nothing has happened yet");

    let told = world.decide(Kind::ToolApproval, choose("approve"));
    assert!(told.iter().any(|each| each.starts_with("tool_authorised")), "{told:?}");
    world.work();
    assert_eq!(world.effects, ["commit a", "commit b"]);
    assert_eq!(world.files.get("a").map(String::as_str), Some("1"));
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Done));
}

#[test]
fn a_refused_change_leaves_nothing() {
    let mut world = runs(&["./do a=1"]);
    world.work();
    world.decide(Kind::ToolApproval, choose("reject"));
    world.work();
    assert!(world.files.is_empty() && world.effects.is_empty());
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Refused));
}

#[test]
fn a_file_that_has_changed_since_sends_the_call_back_to_be_tried_again() {
    let mut world = runs(&["./do a=1"]);
    world.work();
    world.files.insert("a".to_owned(), "somebody else's".to_owned());
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert!(world.effects.is_empty(), "nothing is overwritten");
    assert_eq!(world.count("tool_tried"), 2);
    assert_eq!(title(&world), "run_command: ./do a=1 (changes 1 file)", "asked about anew");
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(world.effects, ["commit a"]);
}

#[test]
fn trials_of_one_reply_run_side_by_side_and_their_commits_one_after_the_other() {
    let mut world = runs(&["./do a=1", "./do b=2", "make"]);
    world.work_once();
    for call in ["call_1", "call_2", "call_3"] {
        let revision = world.run.calls[call].revision;
        let inspected = world.inspect(call);
        world.send(Input::Inspected { call: call.to_owned(), revision, inspected });
        world.send(Input::Begin { begins: vec![Begin::Trial { call: call.to_owned() }] });
    }
    let running = world.run.calls.values().filter(|call| call.trial.running.is_some()).count();
    assert_eq!(running, 3);
    for call in ["call_3", "call_2", "call_1"] {
        let tried = world.try_command(call);
        world.send(Input::Tried { call: call.to_owned(), attempt: 1, tried });
    }
    world.work();
    assert_eq!(world.open_kinds(), ["tool_approval", "tool_approval"]);
    assert_eq!(end_of(&world, "call_3"), None, "it comes after what is not decided");
    let open: Vec<_> = world.run.open_interrupts().map(|(id, _)| id.clone()).collect();
    for interrupt in open {
        world.person(Input::Decide { interrupt, decision: choose("approve"), holder: None });
    }
    world.work();
    assert_eq!(world.effects, ["commit a", "commit b"]);
    // After the first commit, the second and third command were tried again with the same result, so no new interrupt
    // opened.
    assert_eq!(world.count("interrupt_opened"), 2);
    assert_eq!(end_of(&world, "call_3"), Some(CallEnd::Done));
    assert_eq!(world.run.calls["call_2"].trial.attempt, 2);
}

#[test]
fn an_approval_does_not_hold_for_what_another_commit_made_of_it() {
    // Both commands write `a`, so the changes of the second command depend on the first.
    let mut world = runs(&["./do a=1", "./do a=2"]);
    world.work();
    let open: Vec<_> = world.run.open_interrupts().map(|(id, _)| id.clone()).collect();
    for interrupt in open {
        world.person(Input::Decide { interrupt, decision: choose("approve"), holder: None });
    }
    world.work();
    assert_eq!(world.effects, ["commit a"]);
    assert_eq!(world.open_kinds(), ["tool_approval"], "the second is asked about anew");
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(world.files["a"], "2");
}

#[test]
fn a_trial_that_is_lost_is_begun_again_and_at_last_asks_as_it_is() {
    let mut world = runs(&["./do a=1"]);
    world.work_once();
    for lost in 1..=3 {
        while world.run.calls["call_1"].trial.running.is_none() {
            if world.run.calls["call_1"].look.is_none() {
                world.work_once();
            } else {
                world.send(Input::Begin { begins: vec![Begin::Trial { call: "call_1".to_owned() }] });
            }
        }
        world.crash();
        assert_eq!(world.count("trial_lost"), lost);
    }
    assert_eq!(world.open_kinds(), ["tool_approval"]);
    let interrupt = &world.run.interrupts[&world.open(Kind::ToolApproval)];
    let why = interrupt.content.pointer("/payload/untried").cloned().unwrap_or_default();
    assert_eq!(why, "the server stopped during the command's trial, 3 times");
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(world.effects, ["run_command ./do a=1"], "it runs as it did without trials");
}

#[test]
fn a_commit_that_a_crash_cut_off_is_rolled_forward() {
    let mut world = runs(&["./do a=1 b=2 c=3"]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.begin_tool("call_1");
    let found = world.run.calls["call_1"].trial.found.clone().expect("it was tried");
    let changes = &found.changeset.clone().expect("nothing is erased").clone();
    world.commit_one(&changes.changes()[0]);
    world.crash();
    assert!(world.open_kinds().is_empty(), "nobody is asked: {:?}", world.story());
    world.work();
    let files: Vec<_> = world.files.iter().map(|(name, text)| format!("{name}={text}")).collect();
    assert_eq!(files, ["a=1", "b=2", "c=3"]);
    assert_eq!(world.count("tool_tried"), 1);
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Done));
}

/// A commit that finds a changed file writes nothing. After the next approval, the commit starts from the beginning and
/// is not in doubt.
#[test]
fn a_commit_that_was_returned_begins_from_the_start_the_next_time() {
    let mut world = runs(&["./do a=1"]);
    world.work();
    for round in 1..=3 {
        world.files.insert("a".to_owned(), format!("somebody's {round}"));
        world.decide(Kind::ToolApproval, choose("approve"));
        world.work();
        assert_eq!(world.open_kinds(), ["tool_approval"], "round {round}: {:#?}", world.story());
        assert_eq!((world.count("tool_started"), world.count("tool_doubted")), (round, 0));
    }
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(world.effects, ["commit a"]);
}

#[test]
fn a_commit_that_was_begun_is_carried_on_whatever_another_step_writes() {
    let mut definition = trying();
    definition.phases.push(one_shot("other", &[]));
    let mut world = World::started(definition, vec![calls(&[command("./do a=1 b=2")])])
        .with("other", vec![calls(&[write("c")])]);
    world.work();
    let open: Vec<_> = world.run.open_interrupts().map(|(id, _)| id.clone()).collect();
    for interrupt in open {
        world.person(Input::Decide { interrupt, decision: choose("approve"), holder: None });
    }
    let of = |tool: &str| {
        world.run.calls.iter().find(|(_, call)| call.tool == tool).expect("it was made").0.clone()
    };
    let (tried, written) = (of("run_command"), of("write_file"));
    world.begin_tool(&tried);
    let found = world.run.calls[&tried].trial.found.clone().expect("it was tried");
    world.commit_one(&found.changeset.clone().expect("nothing is erased").changes()[0]);
    world.crash();
    world.begin_tool(&written);
    let outcome = world.execute(&written);
    world.send(Input::Ran { call: written, attempt: 1, outcome });
    world.work();
    assert_eq!((world.open_kinds().len(), world.count("tool_tried")), (0, 1), "{:#?}", world.story());
    assert_eq!(world.files.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
}

/// A trial is valid for one inspection. A new inspection with another result needs a new trial.
#[test]
fn a_card_whose_look_has_changed_waits_for_another_trial() {
    let mut world = runs(&["./do a=1", "./do b=1"]);
    world.work();
    let first = world.run.calls["call_1"].interrupt.clone().expect("it asks");
    world.person(Input::Decide { interrupt: first, decision: choose("approve"), holder: None });
    world.begin_tool("call_1");
    let outcome = world.execute("call_1");
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
    world.findings.push("hard_link".to_owned());
    let revision = world.run.calls["call_2"].revision;
    let inspected = world.inspect("call_2");
    world.send(Input::Inspected { call: "call_2".to_owned(), revision, inspected });
    assert!(world.open_kinds().is_empty() && world.run.calls["call_2"].trial.found.is_none());
    world.work();
    assert_eq!((world.open_kinds().len(), world.run.calls["call_2"].trial.attempt), (1, 2));
}

#[test]
fn an_edited_command_is_tried_again_and_asked_about_again() {
    let mut world = runs(&["./do a=1"]);
    world.work();
    world.decide(Kind::ToolApproval, edit(json!({ "command": "./do b=1" })));
    world.work();
    assert_eq!(title(&world), "run_command: ./do b=1 (changes 1 file)");
    assert!(world.effects.is_empty());
}

#[test]
fn what_can_not_be_tried_asks_as_it_is_and_says_why() {
    let mut world = runs(&["make"]);
    world.work_once();
    world.work_once();
    world.send(Input::Begin { begins: vec![Begin::Trial { call: "call_1".to_owned() }] });
    let tried = TrialOutcome::Impossible { why: "no room".to_owned() };
    world.send(Input::Tried { call: "call_1".to_owned(), attempt: 1, tried });
    world.work();
    assert_eq!(world.open_kinds(), ["tool_approval"]);
    let interrupt = &world.run.interrupts[&world.open(Kind::ToolApproval)];
    assert_eq!(interrupt.content.pointer("/payload/untried"), Some(&json!("no room")));
}

#[test]
fn some_commands_are_not_tried() {
    let with = |change: fn(&mut Definition)| {
        let mut definition = trying();
        change(&mut definition);
        let mut world = World::started(definition, vec![calls(&[command("make")])]);
        world.work();
        world.count("trial_started")
    };
    assert_eq!(with(|_| {}), 1);
    assert_eq!(with(|definition| definition.gates.trial = false), 0);
    // A command with network access is not tried, and the card contains this reason.
    let mut open_network = trying();
    open_network.network = true;
    let mut world = World::started(open_network, vec![calls(&[command("make")])]);
    world.work();
    let interrupt = &world.run.interrupts[&world.open(Kind::ToolApproval)];
    let why = interrupt.content.pointer("/payload/untried").and_then(Value::as_str);
    assert!(why.is_some_and(|why| why.contains("reach the network")), "{why:?}");
    assert_eq!(with(|definition| definition.network = true), 0);
    assert_eq!(with(|it| it.gates.mandatory = [Checkpoint::BeforeExecution].into()), 0);
    assert_eq!(with(|it| it.gates.mandatory = [Checkpoint::BeforeFileEdit].into()), 1);
    let tried_first = |it: &mut Definition| {
        it.gates.mandatory = [Checkpoint::BeforeExecution].into();
        it.gates.trial_before_execution = true;
    };
    assert_eq!(with(tried_first), 1);
    // A rule that forbids the command line applies before a trial starts.
    assert_eq!(with(|it| it.gates.rules.insert(0, rule(RuleAction::Forbid, &[], &["make *"]))), 0);
    assert_eq!(with(|it| it.gates.rules.insert(0, rule(RuleAction::Ask, &[], &["make *"]))), 1);
}

/// With `before_execution: {trial: true}`, a person decides on every command and sees its changes, even if there are
/// none or a rule allows the command.
#[test]
fn a_checkpoint_before_execution_may_ask_about_the_trial() {
    for line in ["./do a=1", "./do"] {
        let mut definition = trying();
        definition.gates.mandatory = [Checkpoint::BeforeExecution].into();
        definition.gates.trial_before_execution = true;
        definition.gates.rules.insert(0, rule(RuleAction::Allow, &["run_command"], &[]));
        let mut world = World::started(definition, vec![calls(&[command(line)])]);
        world.work();
        let interrupt = &world.run.interrupts[&world.open(Kind::ToolApproval)];
        let reasons: Vec<_> = interrupt.opened.risk.reasons.iter().map(|each| each.code.as_str()).collect();
        assert_eq!(reasons, ["before_execution"], "{line}");
        assert!(interrupt.content.pointer("/payload/trial").is_some(), "{line}");
        assert!(world.effects.is_empty(), "{line}");
        world.decide(Kind::ToolApproval, choose("approve"));
        world.work();
        assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Done), "{line}");
    }
}

#[test]
fn what_a_trial_shows_of_the_persons_own_tools_asks_always() {
    for (line, asks) in
        [("./do .git/config=x", true), ("./do src/.envrc=x", true), ("./do .git/index=x", false)]
    {
        let mut definition = trying();
        definition.gates.rules.insert(0, rule(RuleAction::Allow, &["run_command"], &[]));
        let mut world = World::started(definition, vec![calls(&[command(line)])]);
        world.work();
        assert_eq!(!world.open_kinds().is_empty(), asks, "{line}");
        if asks {
            let opened = &world.run.interrupts[&world.open(Kind::ToolApproval)].opened;
            let reasons: Vec<_> = opened.risk.reasons.iter().map(|each| each.code.as_str()).collect();
            assert_eq!(reasons, ["guarded_path"], "{line}");
            assert!(!opened.options.iter().any(|option| option.id == "approve_session"), "{line}");
        }
    }
}

/// A grant covers a command with the granted words if the changes of the command are in the same folders and delete
/// nothing. The changes of `cargo fmt` vary in this test.
#[test]
fn a_grant_covers_the_command_where_it_changes_the_same_folders_and_deletes_nothing() {
    for (does, covered) in [
        ("src/b=1", true),
        ("src/sub/b=1", true),
        ("", true),
        ("docs/b=1", false),
        ("srcs/b=1", false),
        ("-src/old", false),
        ("target/x=1", true),
        ("-target/old", false),
    ] {
        let reply = || calls(&[command("cargo fmt")]);
        let mut definition = trying();
        definition.gates.rules.pop();
        let mut world = World::started(definition, vec![reply(), reply()]);
        world.files.extend(["src/old", "target/old"].map(|name| (name.to_owned(), "old".to_owned())));
        world.work();
        world.decide(Kind::ToolApproval, choose("approve_session"));
        world.formats = does.to_owned();
        world.work();
        let matcher = world.session.active_grants(world.now).next().expect("it stands").matcher.clone();
        assert_eq!(matcher.within.as_deref(), Some(&["src".to_owned()][..]));
        let words = matcher.describe();
        assert!(words.contains("changes nothing outside `src` and deletes nothing"), "{words}");
        assert_eq!(world.open_kinds().is_empty(), covered, "{does}: {:#?}", world.story());
    }
}

/// A command that cannot be tried is asked about: no rule allows it, and no grant for a tried command covers it.
#[test]
fn what_can_not_be_tried_asks_whatever_rules_and_grants_allow() {
    let mut definition = trying();
    definition.gates.rules.insert(0, rule(RuleAction::Allow, &["run_command"], &[]));
    let mut world = World::started(definition, vec![calls(&[command("make")])]);
    world.work_once();
    world.work_once();
    world.send(Input::Begin { begins: vec![Begin::Trial { call: "call_1".to_owned() }] });
    let tried = TrialOutcome::Impossible { why: "no room".to_owned() };
    world.send(Input::Tried { call: "call_1".to_owned(), attempt: 1, tried });
    let opened = &world.run.interrupts[&world.open(Kind::ToolApproval)].opened;
    let reasons: Vec<_> = opened.risk.reasons.iter().map(|each| each.code.as_str()).collect();
    assert_eq!(reasons, ["untried"]);
    assert!(!opened.options.iter().any(|option| option.id == "approve_session"));

    // The first card said that nothing had happened yet. An edited command that cannot be tried is therefore asked
    // about again.
    let mut world = runs(&["./do a=1"]);
    world.work();
    world.decide(Kind::ToolApproval, edit(json!({ "command": "make" })));
    while world.run.calls["call_1"].look.is_none() {
        world.work_once();
    }
    world.send(Input::Begin { begins: vec![Begin::Trial { call: "call_1".to_owned() }] });
    let tried = TrialOutcome::Impossible { why: "no room".to_owned() };
    world.send(Input::Tried { call: "call_1".to_owned(), attempt: 2, tried });
    world.work();
    assert_eq!((world.open_kinds().len(), world.effects.len()), (1, 0));
}

/// A command is asked about without a trial if other writes make its trials stale too often.
#[test]
fn a_trial_that_others_spoil_each_time_is_given_up() {
    let mut world = runs(&["make"]);
    world.work_once();
    for attempt in 1..=20 {
        while world.run.calls["call_1"].look.is_none() {
            world.work_once();
        }
        world.send(Input::Begin { begins: vec![Begin::Trial { call: "call_1".to_owned() }] });
        let tried = TrialOutcome::Changed { paths: vec!["log".to_owned()] };
        world.send(Input::Tried { call: "call_1".to_owned(), attempt, tried });
    }
    world.work();
    assert_eq!((world.open_kinds().len(), world.count("trial_started")), (1, 20));
}

/// An approval covers the printed output too: if a later trial prints something else, a person is asked again.
#[test]
fn another_output_is_asked_about_again() {
    let mut world = runs(&["./do src/a=1", "./do b=1"]);
    world.work();
    let cards: Vec<_> = ["call_1", "call_2"].map(|call| world.run.calls[call].interrupt.clone()).into();
    world.prints = "something else".to_owned();
    for interrupt in cards.into_iter().flatten() {
        world.person(Input::Decide { interrupt, decision: choose("approve"), holder: None });
    }
    world.work();
    assert_eq!((world.effects.len(), world.open_kinds().len()), (1, 1), "{:#?}", world.story());
}

#[test]
fn a_file_tool_is_as_before() {
    let mut world = World::started(trying(), vec![calls(&[write("a")])]);
    world.work();
    assert_eq!(world.open_kinds(), ["tool_approval"]);
    assert_eq!(world.count("trial_started"), 0);
}

/// If a rule forbids commands, code on a command line is asked about. The code is allowed if a trial shows that the
/// code changed nothing.
#[test]
fn code_that_was_seen_to_change_nothing_is_not_taken_for_a_forbidden_command() {
    for (line, asks) in [
        ("sh -c 'echo x'", false),
        ("python3 -c 'print(1)'", false),
        ("./do target/x=1", false),
        ("sh -c 'git push'", true),
    ] {
        let mut definition = trying();
        definition.gates.rules.insert(0, rule(RuleAction::Forbid, &["run_command"], &["git push *"]));
        let ignored =
            Rule { changes: Some(ChangeScope::Ignored), ..rule(RuleAction::Allow, &["run_command"], &[]) };
        definition.gates.rules.push(ignored);
        let mut world = World::started(definition, vec![calls(&[command(line)])]);
        world.work();
        let is_free = end_of(&world, "call_1") == Some(CallEnd::Done);
        assert_eq!(!is_free, asks, "{line}: {:#?}", world.story());
    }
}
