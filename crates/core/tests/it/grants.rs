//! Session grants, revocations, policy changes and the freeze. Each takes effect when the next call starts.

use holdshort_core::actor::Actor;
use holdshort_core::definition::{KindGate, SameAction};
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{Cause, Decision, Kind, Refusal, Voter};
use holdshort_core::policy::{Checkpoint, GrantCovers, RuleAction};
use holdshort_core::run::{Begin, CallEnd, CallState, Input, Rejection};
use holdshort_core::session;
use holdshort_core::system;
use holdshort_core::system::freeze::Part;
use serde_json::json;

use crate::world::{
    World, allow, assigned, calls, choose, choose_with, command, definition, one_shot, rule, says, write,
};

fn first(world: &World, call: &str) -> holdshort_core::id::InterruptId {
    world.run.calls[call].interrupt.clone().expect("it was asked about")
}

fn set_policy(world: &mut World, rules: Vec<holdshort_core::policy::Rule>) {
    let input = system::Input::SetPolicy { rules };
    let events = world.system.handle(world.now, &Actor::admin("ada", "rest"), input).expect("an admin may");
    world.append(events);
}

fn revoke_all(world: &mut World) {
    let grants: Vec<_> = world.session.active_grants(world.now).map(|grant| grant.id.clone()).collect();
    for grant in grants {
        let input = session::Input::Revoke { grant };
        let events =
            world.session.handle(world.now, &Actor::operator("rest"), input).expect("an operator may");
        world.append(events);
    }
}

/// Returns the open interrupts that the person may release together with the grant of this interrupt.
fn covered(world: &World, interrupt: &InterruptId) -> Vec<InterruptId> {
    let actor = Actor::operator("rest");
    let voter =
        Voter { actor: &actor, people: &world.system.people, starter: world.run.begun_by(), now: world.now };
    world.run.also_covered(&world.run.interrupts[interrupt], &voter, &world.session, &world.system)
}

fn grant_with(interrupt: InterruptId, also: Vec<InterruptId>) -> Input {
    let decision = Decision { also_shown: also.clone(), also, ..choose("approve_session") };
    Input::Decide { interrupt, decision, holder: None }
}

/// The option `approve_session` releases the call on which the person decides, adds a grant, and releases the open
/// calls that the person did not deselect. A decision that lists a call outside the grant is refused.
#[test]
fn a_grant_releases_of_the_open_calls_those_that_the_person_kept() {
    let script = vec![
        calls(&[
            command("make x"),
            command("make x"),
            command("make y"),
            write("a"),
            command("make x > log"),
            command("make $X"),
        ]),
        calls(&[command("make x")]),
        says("Done."),
    ];
    let mut world = World::started(definition(), script);
    world.work();
    let interrupt = first(&world, "call_1");
    let second = first(&world, "call_2");
    assert_eq!(covered(&world, &interrupt), std::slice::from_ref(&second));
    let operator = Actor::operator("rest");
    let (third, gone) = (first(&world, "call_3"), crate::world::draw(9).id());
    for (also, pointer) in [
        (vec![second.clone(), third], "/also/1"),
        (vec![gone], "/also/0"),
        (vec![interrupt.clone()], "/also/0"),
        (vec![second.clone(), second.clone()], "/also/1"),
    ] {
        match world.handle(&operator, grant_with(interrupt.clone(), also)) {
            Err(Rejection::Refused(Refusal::Invalid(problems))) => assert_eq!(problems[0].pointer, pointer),
            other => panic!("{pointer}: {other:?}"),
        }
    }
    let plain = Decision { also: vec![second.clone()], ..choose("approve") };
    let plain = Input::Decide { interrupt: interrupt.clone(), decision: plain, holder: None };
    assert!(world.handle(&operator, plain).is_err(), "it gives no grant");
    assert_eq!(
        world.person(grant_with(interrupt.clone(), vec![second.clone()])),
        [
            "decision_made approve_session",
            "interrupt_resolved approved approve_session",
            "tool_authorised call_1 interrupt",
            "grant_added",
            "interrupt_resolved approved approve",
            "tool_authorised call_2 interrupt",
        ],
    );
    let grant = world.session.active_grants(world.now).next().expect("it stands").id.clone();
    let decided = world.run.interrupts[&interrupt].resolution.as_ref().and_then(|it| it.decision);
    let released = world.run.interrupts[&second].resolution.clone().expect("it is released");
    assert_eq!(
        (released.by.as_str(), released.cause, released.decision),
        ("operator", Cause::Grant(grant), decided)
    );
    world.work();
    for call in ["call_3", "call_4", "call_5", "call_6"] {
        let interrupt = first(&world, call);
        // A refusal of `make x > log` would also apply to `make x`.
        let decision = if call == "call_5" { choose_with("respond", "Not now.") } else { choose("reject") };
        world.person(Input::Decide { interrupt, decision, holder: None });
    }
    let told = world.work();
    assert_eq!(
        told[2..5],
        ["tool_inspected call_7", "tool_authorised call_7 gate", "tool_started call_7"].map(str::to_owned),
        "the next one passes silently",
    );
}

/// A decision that lists no open calls releases only the call on which the person decides. A later evaluation of the
/// policy does not release the open calls either.
#[test]
fn a_grant_releases_no_open_call_that_nobody_kept() {
    let mut world = World::started(definition(), vec![calls(&[command("make x"), command("make x")])]);
    world.work();
    let (one, two) = (first(&world, "call_1"), first(&world, "call_2"));
    world.person(grant_with(one, Vec::new()));
    assert_eq!(world.send(Input::Revote), Vec::<String>::new());
    world.work();
    assert_eq!(world.effects, ["run_command make x"]);
    assert_eq!(world.open(Kind::ToolApproval), two);
}

/// A grant does not apply to a call on which its giver may not decide, nor at a gate without grants.
#[test]
fn a_grant_counts_only_where_its_owner_may_decide() {
    let gate = |approvers: &[&str], options: &[&str]| KindGate {
        assignment: assigned(approvers),
        options: options.iter().map(|each| (*each).to_owned()).collect(),
        ..KindGate::default()
    };
    let table = [
        (gate(&[], &[]), true),
        (gate(&["operator"], &[]), true),
        (gate(&["release-manager"], &[]), false),
        (gate(&["operator"], &["approve", "reject"]), false),
    ];
    for (ship, passes) in table {
        let mut definition = definition();
        let mut last = one_shot("ship", &["work"]);
        last.kinds.insert(Kind::ToolApproval, ship.clone());
        definition.phases.push(last);
        let script = vec![calls(&[command("make x")]), says("Built.")];
        let mut world =
            World::started(definition, script).with("ship", vec![calls(&[command("make x")]), says("Done.")]);
        world.work();
        world.decide(Kind::ToolApproval, choose("approve_session"));
        world.work();
        assert_eq!(world.run.ended.is_some(), passes, "{ship:?}");
        assert_eq!(world.run.open_interrupts().count(), usize::from(!passes), "{ship:?}");
    }
}

/// If the workflow permits reuse, an approval is valid for one further identical action, and for no other (contract
/// E21).
#[test]
fn an_approval_holds_for_the_same_action_once_more_where_the_workflow_says_so() {
    for (same_action, passes) in [(SameAction::Ask, false), (SameAction::Once, true)] {
        let mut definition = definition();
        definition.gates.same_action = same_action;
        definition.gates.mandatory.insert(Checkpoint::BeforeExecution);
        let script = ["make x", "make x", "make x"].map(|line| calls(&[command(line)]));
        let mut world = World::started(definition, script.to_vec());
        world.work();
        world.decide(Kind::ToolApproval, choose("approve"));
        world.work();
        assert_eq!(world.effects.len(), if passes { 2 } else { 1 });
        assert_eq!(world.open_kinds(), ["tool_approval"], "the next one asks");
    }
    let mut definition = definition();
    definition.gates.same_action = SameAction::Once;
    let script = ["make x", "make y"].map(|line| calls(&[command(line)]));
    let mut world = World::started(definition, script.to_vec());
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!((world.effects.len(), world.open_kinds().len()), (1, 1), "another command is another action");
}

/// The session's stream records who gave a grant, and for which call.
#[test]
fn a_grant_says_who_gave_it() {
    let mut world = World::started(definition(), vec![calls(&[command("make x")])]);
    world.work();
    let interrupt = first(&world, "call_1");
    world.decide(Kind::ToolApproval, choose("approve_session"));
    let granted: Vec<_> = world
        .session
        .active_grants(world.now)
        .map(|grant| {
            (grant.owner.as_str(), &grant.run, &grant.interrupt, grant.added_seq, json!(grant.matcher))
        })
        .collect();
    let matcher = json!({
        "tool": "run_command", "workspace": "/ws",
        "commands": [{ "program": "make", "subcommand": "x", "writes": true, "options": [], "folder": "/ws" }],
    });
    assert_eq!(granted, [("operator", &world.run.id, &interrupt, 1, matcher)]);
}

#[test]
fn no_grant_is_offered_where_it_would_promise_too_much() {
    let offered = |call, findings: &[&str]| {
        let mut world = World::started(definition(), vec![calls(&[call])]);
        world.findings = findings.iter().map(|code| (*code).to_owned()).collect();
        world.work();
        let id = world.open(Kind::ToolApproval);
        world.run.interrupts[&id].offers("approve_session").is_some()
    };
    assert_eq!(
        [
            offered(command("make x"), &[]),
            offered(write("a"), &[]),
            offered(command("make x"), &["sandbox_none"]),
            offered(write("a"), &["hard_link"]),
            offered(command("make $X"), &[]),
            offered(command("sudo make"), &[]),
        ],
        [true, true, false, false, false, false],
    );
}

/// After a revocation, an authorised call returns to its gate before it starts. The new interrupt names the interrupt
/// that it supersedes.
#[test]
fn a_revoke_holds_from_the_next_start_on() {
    let mut world = World::started(definition(), granted_then_waiting());
    world.work();
    world.decide(Kind::ToolApproval, choose("approve_session"));
    world.work();
    revoke_all(&mut world);
    world.decide(Kind::ToolApproval, choose("approve"));
    assert_eq!(
        world.work(),
        [
            "tool_started call_2",
            "tool_finished call_2 done",
            "tool_returned call_3 withdrawn",
            "tool_inspected call_3",
            "interrupt_opened tool_approval",
        ],
        "what a person approved runs, what the grant released does not",
    );
}

/// Returns a script with three calls: a person allows the first for the session, the second asks, and the grant
/// releases the third.
fn granted_then_waiting() -> Vec<crate::world::Answer> {
    vec![calls(&[command("make x")]), calls(&[command("make y"), command("make x")])]
}

/// A call whose release is revoked before its start returns to its gate, even if another rule now allows it. If the
/// release is still valid, the gates vote only once.
#[test]
fn a_call_starts_by_a_release_that_stands() {
    let returned = ["tool_returned withdrawn", "tool_inspected", "tool_authorised gate"];
    // A call after a writing call is inspected again before its start.
    let as_it_was = ["tool_inspected"];
    let allow = || rule(RuleAction::Allow, &["run_command"], &["make *"]);
    let forbid = || rule(RuleAction::Forbid, &["run_command"], &["rm *"]);
    // The rules before and after the change, true if the grant is revoked, and the expected events.
    let table = [
        (vec![], vec![], false, &as_it_was[..]),
        (vec![], vec![allow()], true, &returned[..]),
        (vec![allow()], vec![allow()], false, &as_it_was[..]),
        (vec![allow()], vec![forbid(), allow()], true, &returned[..]),
    ];
    for (before, after, revokes, follows) in table {
        let case = format!("{before:?} → {after:?}, revoked: {revokes}");
        let by_grant = before.is_empty();
        let asks_first = vec![calls(&[command("make x"), command("make x")])];
        let script = if by_grant { granted_then_waiting() } else { asks_first };
        let call = if by_grant { "call_3" } else { "call_2" };
        let mut world = World::started(definition(), script);
        world.work();
        set_policy(&mut world, before);
        if by_grant {
            world.decide(Kind::ToolApproval, choose("approve_session"));
            world.work();
        } else {
            world.send(Input::Revote);
        }
        set_policy(&mut world, after);
        if revokes {
            revoke_all(&mut world);
        }
        if by_grant {
            world.decide(Kind::ToolApproval, choose("approve"));
        }
        let told = world.work();
        let before_it_starts = told.iter().take_while(|line| **line != format!("tool_started {call}"));
        let of_it = before_it_starts.filter(|line| line.contains(call));
        let of_it: Vec<String> = of_it.map(|line| line.replace(&format!(" {call}"), "")).collect();
        assert_eq!(of_it, follows, "{case}");
        assert_eq!(world.run.calls[call].state, CallState::Ended(CallEnd::Done), "{case}");
    }
}

#[test]
fn revoking_is_for_operators_and_once() {
    let mut world = World::started(definition(), vec![calls(&[command("make x")])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve_session"));
    let grant = world.session.active_grants(world.now).next().expect("it stands").id.clone();
    let revoke = |world: &World, actor: &Actor, grant| {
        world.session.handle(world.now, actor, session::Input::Revoke { grant }).map(|events| events.len())
    };
    let operator = Actor::operator("rest");
    assert_eq!(revoke(&world, &Actor::agent("a", "rest"), grant.clone()), Err(session::Rejection::Role));
    assert_eq!(revoke(&world, &operator, crate::world::draw(9).id()), Err(session::Rejection::UnknownGrant));
    assert_eq!(revoke(&world, &operator, grant.clone()), Ok(1));
    revoke_all(&mut world);
    assert_eq!(revoke(&world, &operator, grant), Ok(0));
}

/// A change of the policy resolves open interrupts: calls that are now allowed run, and calls that are now forbidden
/// are refused.
#[test]
fn open_asks_follow_the_policy() {
    let mut world =
        World::started(definition(), vec![calls(&[command("make x"), command("git push"), write("a")])]);
    world.work();
    set_policy(
        &mut world,
        vec![
            rule(RuleAction::Allow, &["run_command"], &["make *"]),
            rule(RuleAction::Forbid, &["run_command"], &["git push *"]),
        ],
    );
    assert_eq!(
        world.send(Input::Revote),
        [
            "interrupt_resolved superseded",
            "tool_authorised call_1 gate",
            "interrupt_resolved superseded",
            "tool_finished call_2 refused forbidden",
        ],
    );
    assert_eq!(world.send(Input::Revote), Vec::<String>::new());
}

/// If a rule forbids a call after its approval, the call does not start.
#[test]
fn a_forbid_holds_from_the_next_start_on() {
    let mut world = World::started(definition(), vec![calls(&[command("make x")])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    set_policy(&mut world, vec![rule(RuleAction::Forbid, &["*"], &[])]);
    assert_eq!(world.begin_tool("call_1"), ["tool_finished call_1 refused forbidden"]);
    assert_eq!(world.effects, Vec::<String>::new());
}

#[test]
fn a_freeze_stops_every_start() {
    let mut definition = definition();
    definition.gates.rules = vec![allow(&["*"])];
    let mut world = World::started(definition, vec![calls(&[command("make x")])]);
    let model = Input::Begin { begins: vec![Begin::Model { step: "work".to_owned(), turn: 0 }] };
    let freeze = |world: &mut World, input: system::Input| {
        let events =
            world.system.handle(world.now, &Actor::operator("rest"), input).expect("an operator may");
        world.append(events)
    };
    assert_eq!(freeze(&mut world, system::Input::freeze("a look is needed")), ["frozen"]);
    assert_eq!(freeze(&mut world, system::Input::freeze("a look is needed")), Vec::<String>::new());
    assert_eq!(world.handle(&Actor::engine(), model), Err(Rejection::Frozen));
    freeze(&mut world, system::Input::unfreeze());
    world.work_once();
    world.work_once();
    freeze(&mut world, system::Input::freeze("a look is needed"));
    let tool = Input::Begin { begins: vec![world.begin_of("call_1")] };
    assert_eq!(world.handle(&Actor::engine(), tool), Err(Rejection::Frozen));
    freeze(&mut world, system::Input::unfreeze());
    world.work();
    assert_eq!(world.effects, ["run_command make x"]);
}

#[test]
fn policy_is_for_admins_and_the_freeze_for_operators_too() {
    let world = World::new(definition());
    let set = || system::Input::SetPolicy { rules: Vec::new() };
    assert_eq!(world.system.handle(world.now, &Actor::operator("rest"), set()), Err(system::Rejection::Role));
    assert_eq!(world.system.handle(world.now, &Actor::admin("ada", "rest"), set()), Ok(Vec::new()));
    for actor in [Actor::agent("a", "rest"), Actor::engine()] {
        for input in [
            system::Input::Freeze { part: Some(Part::Agent("a".to_owned())), reason: "a look".to_owned() },
            system::Input::unfreeze(),
        ] {
            assert_eq!(world.system.handle(world.now, &actor, input), Err(system::Rejection::Role));
        }
    }
    let freeze =
        |actor: &Actor| world.system.handle(world.now, actor, system::Input::freeze("a look is needed"));
    assert_eq!(freeze(&Actor::agent("a", "rest")), Err(system::Rejection::Role));
    assert!(freeze(&Actor::engine()).is_ok(), "the engine freezes what was restored from a backup");
    let agent = Actor::agent("a", "rest");
    assert_eq!(world.system.handle(world.now, &agent, set()), Err(system::Rejection::Role));
    // The engine sends the input when the file of rules has changed.
    assert_eq!(world.system.handle(world.now, &Actor::engine(), set()), Ok(Vec::new()));
}

/// A grant covers only one tool in one workspace.
#[test]
fn a_grant_is_for_its_tool_and_its_workspace() {
    let mut world =
        World::started(definition(), vec![calls(&[write("a")]), calls(&[write("b"), command("make x")])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve_session"));
    world.work();
    assert_eq!(world.effects, ["write_file a", "write_file b"]);
    let title = world.run.interrupts[&world.open(Kind::ToolApproval)].content_text("title").to_owned();
    assert_eq!(title, "run_command: make x");

    let matcher = world.session.active_grants(world.now).next().expect("it stands").matcher.clone();
    let subject = |workspace| holdshort_core::gate::Subject {
        agent: "pair",
        tool: "write_file",
        category: holdshort_core::tool::Category::FileWrite,
        path: Some("a"),
        url: None,
        command: None,
        workspace,
        cwd: workspace,
        ask_because: &[],
        places: &[],
        preconditions: &[],
        changes: holdshort_core::gate::Changes::Untried,
        untried: None,
        elsewhere: false,
    };
    assert_eq!([matcher.covers(&subject("/ws")), matcher.covers(&subject("/other"))], [true, false]);
}

/// With grants for categories, a grant covers a whole category (contract A24), including other tools and programs. Such
/// a grant does not cover calls that a rule asks about, opaque commands, files that tools of the person run, deletions,
/// or other categories.
#[test]
fn a_grant_for_a_category() {
    let calls_of = [
        command("make x"),
        command("make y > log"),
        command("cargo build"),
        write("a"),
        command("pip install x"),
        command("make $X"),
        command("make deploy"),
        command("cp x .git/config"),
        command("rm -rf src"),
    ];
    let mut definition = definition();
    definition.gates.grants.covers = GrantCovers::Category;
    definition.gates.rules = vec![rule(RuleAction::Ask, &["run_command"], &["make deploy"])];
    let before = calls(&[command("cargo build"), command("pip install y"), write("b")]);
    let mut world = World::started(definition, vec![before, calls(&calls_of), says("Done.")]);
    world.work();
    for call in ["call_1", "call_2", "call_3"] {
        let interrupt = first(&world, call);
        world.person(Input::Decide { interrupt, decision: choose("approve"), holder: None });
    }
    world.work();
    let interrupt = first(&world, "call_4");
    let payload = world.run.interrupts[&interrupt].content["payload"].clone();
    assert_eq!(payload["grant"]["category"], "bash");
    assert_eq!(payload["grant"]["past"], json!(["cargo build"]));
    assert_eq!(
        payload["grant"]["words"],
        "every call in this workspace that runs commands (category `bash`), from any tool, except calls that a rule \
         asks about and calls that were seen to delete something"
    );
    let also = covered(&world, &interrupt);
    world.person(grant_with(interrupt, also));
    let later = |id: &str| !["call_1", "call_2", "call_3"].contains(&id);
    let released: Vec<&str> = world
        .run
        .calls
        .iter()
        .filter(|(id, call)| later(id) && call.authority.is_some())
        .map(|(_, call)| call.argument("command").or_else(|| call.argument("path")).unwrap_or_default())
        .collect();
    assert_eq!(released, ["make x", "make y > log", "cargo build"]);
}

/// A grant ends exactly at its expiry, and the card shows its duration before the decision.
#[test]
fn a_grant_expires() {
    for (later_ms, passes) in [(0, true), (3_600_000 - 1, true), (3_600_000, false)] {
        let mut definition = definition();
        definition.gates.grants.expires_after_ms = Some(3_600_000);
        // The write asks, so time can pass between the two commands.
        let script = vec![calls(&[command("make x")]), calls(&[write("a")]), calls(&[command("make x")])];
        let mut world = World::started(definition, script);
        world.work();
        let interrupt = first(&world, "call_1");
        let words = world.run.interrupts[&interrupt].content["payload"]["grant"]["words"].to_string();
        assert!(words.ends_with("; it ends after 1 hour\""), "{words}");
        world.decide(Kind::ToolApproval, choose("approve_session"));
        let given = world.now;
        world.work();
        let spent = u64::try_from(world.now.as_millis() - given.as_millis()).unwrap();
        world.pass_ms(later_ms - spent);
        world.decide(Kind::ToolApproval, choose("approve"));
        world.work();
        assert_eq!(world.run.calls["call_3"].interrupt.is_none(), passes, "{later_ms}");
    }
}
