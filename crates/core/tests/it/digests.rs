//! The digest of an action, by which an approval is valid only for this action.

use holdshort_core::definition::Definition;
use holdshort_core::digest::Digest;
use holdshort_core::interrupt::Kind;
use holdshort_core::run::Input;
use holdshort_core::tool::{Inspection, InspectionOutcome, Precondition, SandboxLevel};
use serde_json::{Value, json};

use crate::world::{World, calls, choose, command, definition, edit, write};

fn inspection() -> Inspection {
    Inspection {
        workspace: "/ws".to_owned(),
        cwd: "/ws".to_owned(),
        preconditions: vec![
            Precondition { path: "a".to_owned(), sha256: None },
            Precondition { path: "b".to_owned(), sha256: Some(Digest::ZERO) },
        ],
        sandbox: Some(SandboxLevel::Full),
        ask_because: Vec::new(),
        places: Vec::new(),
        card: json!({ "diff": "shown" }),
        proposed: None,
    }
}

/// Returns the digest of the action that the person would approve.
fn digest(definition: Definition, call: (&str, Value), inspection: Inspection) -> Digest {
    let mut world = World::started(definition, vec![calls(&[call])]);
    world.work_once();
    let inspected = InspectionOutcome::Ready(inspection);
    world.send(Input::Inspected { call: "call_1".to_owned(), revision: 0, inspected });
    let id = world.open(Kind::ToolApproval);
    world.run.interrupts[&id].opened.action_digest.expect("a call has one")
}

#[test]
fn it_changes_with_everything_that_runs_and_with_nothing_else() {
    let plain = || digest(definition(), command("make"), inspection());
    let inspected = |change: fn(&mut Inspection)| {
        let mut inspection = inspection();
        change(&mut inspection);
        digest(definition(), command("make"), inspection)
    };
    let defined = |change: fn(&mut Definition)| {
        let mut definition = definition();
        change(&mut definition);
        digest(definition, command("make"), inspection())
    };
    let parameters = |definition: &mut Definition| {
        if let Some(spec) = definition.tools.get_mut("run_command") {
            spec.parameters["title"] = json!("Command");
        }
    };
    let described = |definition: &mut Definition| {
        if let Some(spec) = definition.tools.get_mut("run_command") {
            "Runs it.".clone_into(&mut spec.description);
        }
    };
    let renamed = |definition: &mut Definition| {
        let spec = definition.tools["run_command"].clone();
        definition.tools.insert("shell".to_owned(), spec);
        if let Some(agent) = definition.agents.get_mut("pair") {
            agent.tools.push("shell".to_owned());
        }
    };
    let other_tool = {
        let mut definition = definition();
        renamed(&mut definition);
        digest(definition, ("shell", command("make").1), inspection())
    };
    let table = [
        ("the tool", other_tool, true),
        ("the tool's schema", defined(parameters), true),
        ("the arguments", digest(definition(), command("make x"), inspection()), true),
        ("the workspace", inspected(|look| "/other".clone_into(&mut look.workspace)), true),
        ("the working directory", inspected(|look| "/ws/sub".clone_into(&mut look.cwd)), true),
        ("the sandbox", inspected(|look| look.sandbox = Some(SandboxLevel::Partial)), true),
        ("the network", defined(|definition| definition.network = true), true),
        (
            "a file's content",
            inspected(|look| look.preconditions[1].sha256 = Some(Digest::of_bytes(b"x"))),
            true,
        ),
        ("a file's absence", inspected(|look| look.preconditions[0].sha256 = Some(Digest::ZERO)), true),
        ("one file less", inspected(|look| look.preconditions.truncate(1)), true),
        ("the order of the files", inspected(|look| look.preconditions.reverse()), false),
        ("what the card shows", inspected(|look| look.card = json!({ "diff": "other" })), false),
        ("what the tool says about itself", defined(described), false),
        (
            "the agent's instructions",
            defined(|definition| {
                if let Some(agent) = definition.agents.get_mut("pair") {
                    "Other.".clone_into(&mut agent.instructions);
                }
            }),
            false,
        ),
        ("nothing", plain(), false),
    ];
    let before = plain();
    let wrong: Vec<&str> = table
        .into_iter()
        .filter(|(_, digest, changes)| (*digest != before) != *changes)
        .map(|(name, ..)| name)
        .collect();
    assert_eq!(wrong, Vec::<&str>::new());
}

#[test]
fn it_does_not_change_with_the_order_of_keys() {
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("it is JSON");
    let one = parse(r#"{"path": "a", "content": "x"}"#);
    let two = parse(r#"{"content": "\u0078", "path": "a"}"#);
    assert_eq!(
        digest(definition(), ("write_file", one), inspection()),
        digest(definition(), ("write_file", two), inspection()),
    );
}

/// An approval with edited arguments applies to the edited call, which then runs.
#[test]
fn an_edit_is_looked_at_again_and_then_runs() {
    let mut world = World::started(definition(), vec![calls(&[write("a.txt")])]);
    world.work();
    let shown = world.run.calls["call_1"].look.as_ref().map(|look| look.digest);
    world.decide(Kind::ToolApproval, edit(write("b.txt").1));
    world.work();
    assert_eq!(world.effects, ["write_file b.txt"]);
    assert_ne!(world.run.calls["call_1"].digest, shown);
}

/// The gates vote again on edited arguments, and may forbid the call or find a new reason to ask.
#[test]
fn an_edit_is_voted_on_again() {
    use holdshort_core::policy::RuleAction::{Ask, Forbid};
    let edited = |action, line: &str| {
        let mut definition = definition();
        definition.gates.rules.push(crate::world::rule(action, &["run_command"], &["git push *"]));
        let mut world = World::started(definition, vec![calls(&[command("make")])]);
        world.work();
        let first = world.open(Kind::ToolApproval);
        world.decide(Kind::ToolApproval, edit(command(line).1));
        let told = world.work();
        let names_first =
            world.run.open_interrupts().all(|(_, each)| each.opened.supersedes.as_ref() == Some(&first));
        assert!(names_first);
        (told, world.effects)
    };
    let started = [
        "tool_inspected call_1",
        "tool_authorised call_1 interrupt",
        "tool_started call_1",
        "tool_finished call_1 done",
    ];
    let none = Vec::<String>::new();
    assert_eq!(
        edited(Forbid, "make x"),
        (started.map(str::to_owned).to_vec(), vec!["run_command make x".to_owned()])
    );
    assert_eq!(
        edited(Forbid, "git push"),
        (
            vec!["tool_inspected call_1".to_owned(), "tool_finished call_1 refused forbidden".to_owned()],
            none.clone()
        ),
    );
    let asked = vec!["tool_inspected call_1".to_owned(), "interrupt_opened tool_approval".to_owned()];
    assert_eq!(edited(Ask, "git push"), (asked.clone(), none.clone()));
    assert_eq!(edited(Ask, "make $X"), (asked, none));
}

/// A call does not run if its file changes between approval and start. The next interrupt names the interrupt that it
/// supersedes.
#[test]
fn a_changed_file_asks_again() {
    for changed_at in ["before the start", "by the tool itself"] {
        let mut world = World::started(definition(), vec![calls(&[write("a.txt")])]);
        world.work();
        let first = world.open(Kind::ToolApproval);
        world.decide(Kind::ToolApproval, choose("approve"));
        if changed_at == "before the start" {
            world.files.insert("a.txt".to_owned(), "somebody else's".to_owned());
        } else {
            world.begin_tool("call_1");
            world.files.insert("a.txt".to_owned(), "somebody else's".to_owned());
            let outcome = world.execute("call_1");
            world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
        }
        let told = world.work();
        let second = world.open(Kind::ToolApproval);
        assert_eq!(world.effects, Vec::<String>::new(), "{changed_at}");
        assert_eq!(world.run.interrupts[&second].opened.supersedes, Some(first), "{changed_at}");
        assert!(
            told.ends_with(&[
                "tool_inspected call_1".to_owned(),
                "interrupt_opened tool_approval".to_owned()
            ])
        );
        world.decide(Kind::ToolApproval, choose("approve"));
        world.work();
        assert_eq!(world.effects, ["write_file a.txt"], "{changed_at}");
    }
}

/// A write to the file of an open interrupt makes the interrupt outdated. A new interrupt with the current file
/// supersedes the outdated interrupt.
#[test]
fn an_open_question_follows_the_file() {
    let mut world = World::started(
        definition(),
        vec![calls(&[
            write("a.txt"),
            ("write_file", json!({ "path": "a.txt", "content": "second" })),
            write("b.txt"),
        ])],
    );
    world.work();
    let opened =
        |world: &World, call: &str| world.run.calls[call].interrupt.clone().expect("it was asked about");
    let (first, second, third) =
        (opened(&world, "call_1"), opened(&world, "call_2"), opened(&world, "call_3"));
    world.person(Input::Decide { interrupt: first, decision: choose("approve"), holder: None });
    assert_eq!(
        world.work(),
        [
            "tool_started call_1",
            "tool_finished call_1 done",
            "tool_inspected call_2",
            "interrupt_resolved superseded",
            "interrupt_opened tool_approval",
            "tool_inspected call_3",
        ],
    );
    let newer = opened(&world, "call_2");
    assert_eq!(world.run.interrupts[&newer].opened.supersedes, Some(second.clone()));
    assert_eq!(opened(&world, "call_3"), third, "what has not changed keeps its question");
    let late = Input::Decide { interrupt: second, decision: choose("approve"), holder: None };
    let refused = world.handle(&holdshort_core::actor::Actor::operator("rest"), late);
    assert_eq!(format!("{refused:?}"), "Err(Refused(AlreadyResolved))");
    world.person(Input::Decide { interrupt: newer, decision: choose("approve"), holder: None });
    world.work();
    assert_eq!(world.effects, ["write_file a.txt", "write_file a.txt"]);
}

/// A new finding opens a new interrupt even for the same digest, because the previous interrupt did not show the
/// finding.
#[test]
fn a_new_finding_is_a_new_question() {
    let mut world = World::started(definition(), vec![calls(&[write("a.txt"), write("b.txt")])]);
    world.work();
    let (first, second) = {
        let of = |call: &str| world.run.calls[call].interrupt.clone().expect("it was asked about");
        (of("call_1"), of("call_2"))
    };
    world.person(Input::Decide { interrupt: first, decision: choose("approve"), holder: None });
    world.findings = vec!["hard_link".to_owned()];
    world.work();
    let reasons: Vec<&str> = world
        .run
        .open_interrupts()
        .filter(|(_, each)| each.opened.supersedes.as_ref() == Some(&second))
        .flat_map(|(_, each)| each.opened.risk.reasons.iter().map(|reason| reason.code.as_str()))
        .collect();
    assert_eq!(reasons, ["hard_link"]);
}

/// Two equal calls have the same digest, but each call needs its own approval.
#[test]
fn an_approval_is_for_one_call() {
    let mut world = World::started(definition(), vec![calls(&[command("make"), command("make")])]);
    world.work();
    let digests: Vec<_> = world.run.open_interrupts().map(|(_, each)| each.opened.action_digest).collect();
    assert_eq!(digests[0], digests[1]);
    let first = world.run.calls["call_1"].interrupt.clone().expect("it was asked about");
    world.person(Input::Decide { interrupt: first, decision: choose("approve"), holder: None });
    world.work();
    assert_eq!(world.effects, ["run_command make"]);
}
