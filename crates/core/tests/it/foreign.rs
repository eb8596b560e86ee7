//! Calls of external agents at the gates: rules, parsed commands, and grants.

use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::gate::foreign::ForeignCall;
use holdshort_core::interrupt::{Cause, Decision, Kind, Outcome, Unusable, Voter};
use holdshort_core::policy::{Rule, RuleAction};
use holdshort_core::projection::Status;
use holdshort_core::run::{Ask, Config, Input, Origin, Rejection};
use holdshort_core::system;
use serde_json::{Value, json};

use crate::pairs::ask;
use crate::world::{self, World, choose, edit, of_system, rule};

fn agent() -> Actor {
    Actor::agent("their-agent", "rest")
}

fn external(rules: Vec<Rule>, origin: Origin) -> World {
    let mut world = World::new(world::external());
    world.system.apply(&of_system(system::Fact::PolicySet { rules }));
    let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
    start.origin = origin;
    world.try_send(&agent(), Input::Start(start)).expect("it may start");
    world
}

fn call(tool: &str, arguments: Value) -> ForeignCall {
    ForeignCall {
        tool: tool.to_owned(),
        arguments,
        workspace: Some("/ws".to_owned()),
        ..ForeignCall::default()
    }
}

fn asks(world: &mut World, call: ForeignCall) -> Result<Vec<String>, Rejection> {
    let ask = Ask { kind: Kind::ToolApproval, payload: Value::Null, call: Some((call, None)), ..ask() };
    world.try_send(&agent(), Input::Ask(Box::new(ask)))
}

/// Returns the verdict on a call: `allow`, `forbid`, or the codes of its reasons to ask.
fn verdict(rules: &[Rule], call: ForeignCall) -> String {
    let mut world = external(rules.to_vec(), Origin::External);
    asks(&mut world, call).expect("it may ask");
    let interrupt = world.run.interrupts.values().last().expect("it is there");
    match interrupt.resolution.as_ref().map(|resolution| (resolution.outcome, &resolution.cause)) {
        Some((Outcome::Approved, Cause::Rule { .. })) => "allow".to_owned(),
        Some((Outcome::Rejected, Cause::Rule { .. })) => "forbid".to_owned(),
        Some(other) => format!("{other:?}"),
        None => {
            let codes = interrupt.opened.risk.reasons.iter().map(|reason| reason.code.as_str());
            codes.collect::<Vec<_>>().join(" ")
        }
    }
}

#[test]
fn rules_allow_ask_and_forbid() {
    let rules = [
        rule(RuleAction::Forbid, &["shell"], &["git push *"]),
        rule(RuleAction::Allow, &["shell"], &["cargo test *", "ls *"]),
        Rule { paths: vec!["secrets/**".to_owned()], ..rule(RuleAction::Forbid, &["write"], &[]) },
        rule(RuleAction::Allow, &["lookup", "write"], &[]),
        Rule { agents: vec!["another".to_owned()], ..rule(RuleAction::Allow, &["refund"], &[]) },
    ];
    let line = |line: &str| call("shell", json!({ "command": line }));
    for (call, expected) in [
        (line("cargo test --all"), "allow"),
        (line("git push origin"), "forbid"),
        (line("cargo test --all && git push origin"), "forbid"),
        (line("sh -c 'git push origin'"), "forbid"),
        (line("cargo test && make"), "default"),
        // A command that cannot be parsed is asked about, even if a rule allows it.
        (line("cargo test $(cat x)"), "opaque_command"),
        (line(""), "opaque_command"),
        (call("shell", json!({ "cmd": "git push origin" })), "unread_arguments"),
        (call("shell", json!({ "command": ["git", "push"] })), "unread_arguments"),
        (call("lookup", json!({ "order": 1 })), "allow"),
        (call("lookup", json!({ "then": [{ "command": "rm -r x" }] })), "unread_arguments"),
        (call("lookup", json!({ "file_path": "a" })), "unread_arguments"),
        (call("write", json!({ "path": "docs/a" })), "allow"),
        (call("write", json!({ "path": "secrets/a" })), "forbid"),
        (call("write", json!({ "path": "docs/../secrets/a" })), "forbid"),
        (call("write", json!({ "path": "/ws/secrets/a" })), "forbid"),
        (call("write", json!({ "path": ".git/hooks/pre-commit" })), "guarded_path"),
        (call("refund", json!({})), "default"),
        (call("lookup_more", json!({})), "default"),
    ] {
        let told = verdict(&rules, call.clone());
        assert!(told.split(' ').next() == Some(expected), "{call:?}: {told}");
    }
}

/// An argument makes the gates ask if its name suggests a path, command or URL, or if its text may match a rule that
/// asks or forbids.
#[test]
fn what_nobody_reads_asks_by_its_name_and_by_what_it_says() {
    let all = [rule(RuleAction::Allow, &[], &[])];
    let held = [
        Rule { paths: vec!["secrets/**".to_owned()], ..rule(RuleAction::Forbid, &[], &[]) },
        rule(RuleAction::Forbid, &[], &["rm *"]),
        Rule {
            urls: vec!["*.example".to_owned(), "evil.example".to_owned()],
            ..rule(RuleAction::Ask, &[], &[])
        },
        rule(RuleAction::Allow, &[], &[]),
    ];
    for arguments in [
        json!({ "Path": "a" }),
        json!({ "PATH": "a" }),
        json!({ "TargetFile": "a" }),
        json!({ "absolute_path": "a" }),
        json!({ "absolutepath": "a" }),
        json!({ "notebook-path": "a" }),
        json!({ "source": "a" }),
        json!({ "dirPath": "a" }),
        json!({ "files": ["a"] }),
        json!({ "path": "a", "new_path": "b" }),
        json!({ "Command": "ls" }),
        json!({ "cmds": ["ls"] }),
        json!({ "args": ["ls"] }),
        json!({ "code": "1" }),
        json!({ "shellCommand": "ls" }),
        json!({ "command_string": "ls" }),
        json!({ "URL": "https://a.example" }),
        json!({ "pageUrl": "https://a.example" }),
        json!({ "options": { "outputFile": "a" } }),
    ] {
        let told = verdict(&all, call("any", arguments.clone()));
        assert!(told.starts_with("unread_arguments"), "{arguments}: {told}");
    }
    for (arguments, expected) in [
        (json!({ "path": "src/a", "to": "secrets/k" }), "unread_arguments"),
        (json!({ "to": "/etc/passwd" }), "unread_arguments"),
        (json!({ "input": "rm -rf x" }), "unread_arguments"),
        (json!({ "run": ["true; rm x"] }), "unread_arguments"),
        (json!({ "where": { "is": "https://evil.example/x" } }), "unread_arguments"),
        (json!({ "host": "evil.example" }), "unread_arguments"),
        (json!({ "order": "A-17", "profile": "dark", "to": "ann" }), "allow"),
        (json!({ "path": "src/a", "content": "rm x" }), "allow"),
        (json!({ "message": "secrets/k is gone" }), "allow"),
    ] {
        let told = verdict(&held, call("any", arguments.clone()));
        assert_eq!(told.split(' ').next(), Some(expected), "{arguments}: {told}");
    }
}

/// A grant for a workspace covers no path outside of it, because a call of an external agent is not sandboxed.
#[test]
fn a_grant_covers_nothing_outside_of_the_workspace() {
    let line = |line: &str| call("shell", json!({ "command": line }));
    let path = |path: &str| call("write", json!({ "path": path }));
    for (given, inside, outside) in [
        (path("a"), path("sub/../b"), ["/etc/passwd", "../x", "~/x", "/ws2/x"].map(path).to_vec()),
        (
            line("rm a"),
            line("rm /ws/b ./c"),
            ["rm /etc/passwd", "rm ../../x", "rm ~/x", "rm ../ws2/x", "rm a .?"].map(line).to_vec(),
        ),
        (line("touch a"), line("touch b 2>/dev/null"), ["touch /etc/x", "cat /etc/x"].map(line).to_vec()),
        (
            call("move", json!({ "from": "a", "to": "b" })),
            call("move", json!({ "from": "c", "to": "d" })),
            vec![call("move", json!({ "from": "a", "to": "/etc/x" }))],
        ),
    ] {
        let mut world = external(Vec::new(), Origin::External);
        asks(&mut world, given.clone()).expect("it may ask");
        let interrupt = world.run.open_interrupts().next().map(|(id, _)| id.clone()).expect("one is open");
        world.person(Input::Decide { interrupt, decision: choose("approve_session"), holder: None });
        asks(&mut world, inside.clone()).expect("it may ask");
        assert_eq!(world.run.open_interrupts().count(), 0, "{inside:?}");
        for (open, call) in outside.into_iter().enumerate() {
            asks(&mut world, call.clone()).expect("it may ask");
            let interrupt = world.run.interrupts.values().last().expect("it is there");
            assert!(interrupt.offers("approve_session").is_none(), "{call:?}");
            assert_eq!(world.run.open_interrupts().count(), open + 1, "{call:?}");
        }
    }
}

/// When a rule decides on an external agent's call, the journal still records the interrupt and its resolution. A run
/// that was made for the call then ends.
#[test]
fn what_a_rule_says_ends_the_interrupt_at_once() {
    let reason = Some("Refunds go through the shop.".to_owned());
    let rules = vec![
        rule(RuleAction::Allow, &["lookup"], &[]),
        Rule { reason: reason.clone(), ..rule(RuleAction::Forbid, &["refund"], &[]) },
    ];
    let mut world = external(rules.clone(), Origin::ExternalOnce);
    let lookup = call("lookup", json!({ "order": 1 }));
    assert_eq!(
        asks(&mut world, lookup.clone()).expect("it may ask"),
        ["interrupt_opened tool_approval", "interrupt_resolved approved approve", "run_completed resolved"],
    );
    let (id, interrupt) =
        world.run.interrupts.iter().next().map(|(id, it)| (id.clone(), it.clone())).unwrap();
    assert_eq!(interrupt.resolution.as_ref().map(|it| it.by.as_str()), Some("engine"));
    let digest = Digest::of_json(&lookup);
    assert_eq!(interrupt.opened.action_digest, Some(digest));
    world
        .try_send(&agent(), Input::UseApproval { interrupt: id, digest })
        .expect("it is used as another one");

    let mut world = external(rules, Origin::ExternalOnce);
    asks(&mut world, call("refund", json!({}))).expect("it may ask");
    assert_eq!(world.run.status(), Status::Completed);
    let interrupt = world.run.interrupts.values().next().expect("it is there");
    assert_eq!(interrupt.opened.risk.reasons.first().map(|it| it.text.clone()), reason);
}

#[test]
fn a_grant_covers_calls_like_it_and_no_call_of_ours() {
    let mut world = external(Vec::new(), Origin::External);
    let fetch = |order: u32| call("lookup", json!({ "order": order }));
    asks(&mut world, fetch(1)).expect("it may ask");
    asks(&mut world, fetch(2)).expect("it may ask");
    let interrupt = world.run.open_interrupts().next().map(|(id, _)| id.clone()).expect("one is open");
    let told = world.person(Input::Decide { interrupt, decision: choose("approve_session"), holder: None });
    assert_eq!(world.run.open_interrupts().count(), 1, "the other one stays open: {told:?}");
    asks(&mut world, fetch(3)).expect("it may ask");
    let last = world.run.interrupts.values().last().expect("it is there");
    assert!(matches!(last.resolution.as_ref().map(|it| &it.cause), Some(Cause::Grant(_))));
    // The grant covers neither a different workspace nor a different tool.
    let elsewhere = ForeignCall { workspace: Some("/other".to_owned()), ..fetch(4) };
    asks(&mut world, elsewhere).expect("it may ask");
    asks(&mut world, call("look", json!({}))).expect("it may ask");
    assert_eq!(world.run.open_interrupts().count(), 3);
    let grant = world.session.grants.values().next().expect("it was given");
    assert!(grant.matcher.elsewhere);
}

#[test]
fn no_grant_is_on_offer_for_what_is_risky_or_runs_files_of_the_workspace() {
    for (line, offered) in [
        ("cargo fmt", false),
        ("touch a", true),
        ("./build.sh", false),
        ("rm -rf build", false),
        ("sudo touch a", false),
        ("echo $(touch x)", false),
    ] {
        let mut world = external(Vec::new(), Origin::External);
        asks(&mut world, call("shell", json!({ "command": line }))).expect("it may ask");
        let interrupt = world.run.interrupts.values().next().expect("it is there");
        let is_offered = interrupt.offers("approve_session").is_some();
        assert_eq!(is_offered, offered, "{line}: {:?}", interrupt.opened.options);
    }
}

/// An agent that cannot apply edits lists its options. An approval for the session is dropped from the list if no grant
/// is possible.
#[test]
fn an_agent_that_lists_its_options_may_offer_an_approval_for_the_session() {
    let listed = |ids: &[&str], line: &str| {
        let mut world = external(Vec::new(), Origin::External);
        let options = ids.iter().map(|id| ((*id).to_owned(), None)).collect();
        let call = Some((call("shell", json!({ "command": line })), None));
        let ask = Ask { kind: Kind::ToolApproval, payload: Value::Null, call, options, ..ask() };
        world.try_send(&agent(), Input::Ask(Box::new(ask))).expect("it may ask");
        let interrupt = world.run.interrupts.values().next().expect("it is there");
        let ids = interrupt.opened.options.iter().map(|offer| offer.id.clone());
        ids.collect::<Vec<_>>().join(" ")
    };
    let three = ["approve", "approve_session", "reject"];
    assert_eq!(listed(&three, "touch a"), "approve approve_session reject");
    assert_eq!(listed(&three, "rm -rf build"), "approve reject");
    assert_eq!(listed(&["approve", "reject"], "touch a"), "approve reject");
}

/// The rules at the time of use also apply to an approval by a person, and to a call that a person edited.
#[test]
fn what_a_rule_forbids_by_now_is_not_used() {
    let mut world = external(Vec::new(), Origin::External);
    let asked = call("shell", json!({ "command": "touch a" }));
    asks(&mut world, asked.clone()).expect("it may ask");
    let id = world.open(Kind::ToolApproval);
    world.decide(Kind::ToolApproval, edit(json!({ "command": "git push origin" })));
    let edited = asked.edited(json!({ "command": "git push origin" }));
    let digest = Digest::of_json(&edited);
    assert_eq!(world.run.interrupts[&id].approved(), Some(json!(edited)));
    let rules = vec![rule(RuleAction::Forbid, &["shell"], &["git push *"])];
    world.system.apply(&of_system(system::Fact::PolicySet { rules }));
    let used = world.try_send(&agent(), Input::UseApproval { interrupt: id.clone(), digest });
    assert_eq!(used, Err(Unusable::NotApproved("a rule of the installation forbids it").into()));
    world.system.apply(&of_system(system::Fact::PolicySet { rules: Vec::new() }));
    world.try_send(&agent(), Input::UseApproval { interrupt: id, digest }).expect("nothing forbids it");
}

fn change_call(ask: &mut Ask, change: impl FnOnce(&mut ForeignCall)) {
    change(&mut ask.call.as_mut().expect("there is one").0);
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let of = |change: fn(&mut Ask)| {
        let mut world = external(Vec::new(), Origin::External);
        let call = call("shell", json!({}));
        let mut ask =
            Ask { kind: Kind::ToolApproval, payload: Value::Null, call: Some((call, None)), ..ask() };
        change(&mut ask);
        match world.try_send(&agent(), Input::Ask(Box::new(ask))) {
            Err(Rejection::Invalid(problems)) => {
                problems.into_iter().map(|problem| problem.pointer).collect::<Vec<_>>()
            }
            Ok(_) => Vec::new(),
            Err(other) => vec![format!("{other:?}")],
        }
    };
    assert_eq!(of(|_| ()), [""; 0]);
    assert_eq!(of(|ask| change_call(ask, |call| call.tool = " ".to_owned())), ["/call/tool"]);
    assert_eq!(of(|ask| change_call(ask, |call| call.arguments = json!([1]))), ["/call/arguments"]);
    assert_eq!(
        of(|ask| change_call(ask, |call| call.workspace = Some("ws".to_owned()))),
        ["/call/workspace"]
    );
    // Every absolute path is below `/`, so `/` is not accepted as a workspace.
    assert_eq!(of(|ask| change_call(ask, |call| call.workspace = Some("/".to_owned()))), ["/call/workspace"]);
    assert_eq!(
        of(|ask| change_call(ask, |call| call.workspace = Some("/ws/../x".to_owned()))),
        ["/call/workspace"]
    );
    assert_eq!(of(|ask| change_call(ask, |call| call.cwd = Some("./x".to_owned()))), ["/call/cwd"]);
    assert_eq!(of(|ask| change_call(ask, |call| call.before = Some("x".to_owned()))), ["/call/after"]);
    assert_eq!(of(|ask| ask.kind = Kind::Checkpoint), ["/call"]);
    assert_eq!(of(|ask| ask.payload = json!({ "tool": "x", "note": "y" })), ["/payload/tool"]);
    assert_eq!(of(|ask| ask.payload = json!("x")), ["/payload"]);
}

/// The gates ask about a call with two targets if a rule would see only one, and about arguments that may change a
/// command.
#[test]
fn what_nobody_reads_as_a_whole_asks() {
    let rules = [
        Rule { paths: vec!["docs/**".to_owned()], ..rule(RuleAction::Allow, &[], &[]) },
        rule(RuleAction::Allow, &["shell"], &[]),
    ];
    let nowhere =
        ForeignCall { workspace: None, ..call("shell", json!({ "command": "cat /ws/secrets/key" })) };
    let change = ForeignCall { after: Some("x".to_owned()), ..call("shell", json!({ "command": "ls" })) };
    for (call, expected) in [
        (call("shell", json!({ "command": "ls", "timeout": 5, "description": "look" })), "allow"),
        (call("shell", json!({ "command": "rm -r x", "path": "docs/a" })), "unread_arguments"),
        (call("shell", json!({ "url": "https://a.example", "path": "docs/a" })), "unread_arguments"),
        (call("shell", json!({ "command": "git", "args": ["push", "origin"] })), "unread_arguments"),
        (call("shell", json!({ "command": "touch a", "cwd": "/elsewhere" })), "unread_arguments"),
        (call("shell", json!({ "command": "touch a", "env": { "PATH": "x" } })), "unread_arguments"),
        (change, "unread_arguments"),
        (nowhere, "unread_arguments"),
    ] {
        let told = verdict(&rules, call.clone());
        assert!(told.split(' ').next() == Some(expected), "{call:?}: {told}");
    }
    // These names look like `shell`, but a rule for `shell` would not match them.
    for tool in ["shell ", "shell\u{200b}", ""] {
        assert!(!call(tool, json!({})).problems("/call").is_empty(), "{tool:?}");
    }
}

#[test]
fn nothing_is_released_while_it_is_frozen() {
    let rules = vec![rule(RuleAction::Allow, &["lookup"], &[])];
    let mut world = external(rules, Origin::External);
    world.system.apply(&of_system(system::Fact::Frozen));
    assert_eq!(
        asks(&mut world, call("lookup", json!({}))).expect("it may ask"),
        ["interrupt_opened tool_approval"]
    );
}

/// An approval by a rule is no longer usable after the rule is removed or the run is cancelled.
#[test]
fn an_approval_by_a_rule_goes_with_the_rule() {
    let rules = vec![rule(RuleAction::Allow, &["lookup"], &[])];
    let lookup = call("lookup", json!({ "order": 1 }));
    let digest = Digest::of_json(&lookup);
    let approved = || {
        let mut world = external(rules.clone(), Origin::External);
        asks(&mut world, lookup.clone()).expect("it may ask");
        let id = world.run.interrupts.keys().next().expect("it is there").clone();
        (world, id)
    };
    let uses = |world: &mut World, id| world.try_send(&agent(), Input::UseApproval { interrupt: id, digest });
    let (mut world, id) = approved();
    world.system.apply(&of_system(system::Fact::PolicySet { rules: Vec::new() }));
    assert!(uses(&mut world, id).is_err(), "the rule is gone");
    let (mut world, id) = approved();
    world.person(Input::Cancel { text: None });
    assert!(uses(&mut world, id).is_err(), "its run was cancelled");
    let (mut world, id) = approved();
    assert!(uses(&mut world, id).is_ok());
}

/// A grant releases its own call, and the open edits that the person did not deselect. The record lists the shown
/// edits. Later calls that the grant covers need no approval.
#[test]
fn a_grant_releases_of_twenty_open_edits_those_that_the_person_kept() {
    let mut world = external(Vec::new(), Origin::External);
    let edit =
        |at: usize| call("edit", json!({ "path": format!("src/{}.rs", at % 5), "text": at.to_string() }));
    for at in 0..20 {
        asks(&mut world, edit(at)).expect("it may ask");
    }
    let open: Vec<_> = world.run.open_interrupts().map(|(id, _)| id.clone()).collect();
    let (first, others) = (open[0].clone(), &open[1..]);
    let operator = Actor::operator("rest");
    let covered = {
        let voter = Voter {
            actor: &operator,
            people: &world.system.people,
            starter: world.run.begun_by(),
            now: world.now,
        };
        world.run.also_covered(&world.run.interrupts[&first], &voter, &world.session, &world.system)
    };
    assert_eq!(covered, others);
    let kept = others[..3].to_vec();
    let decision = Decision { also: kept.clone(), also_shown: others.to_vec(), ..choose("approve_session") };
    world.person(Input::Decide { interrupt: first.clone(), decision, holder: None });
    assert_eq!(world.run.open_interrupts().count(), 16);
    for id in &kept {
        let resolution = world.run.interrupts[id].resolution.clone().expect("it is released");
        assert_eq!((resolution.outcome, resolution.by.as_str()), (Outcome::Approved, "operator"));
        let digest = world.run.interrupts[id].opened.action_digest.expect("it is bound");
        let input = Input::UseApproval { interrupt: id.clone(), digest };
        assert!(world.try_send(&agent(), input).is_ok(), "the agent may do it");
    }
    assert_eq!(world.send(Input::Revote), Vec::<String>::new());
    asks(&mut world, edit(20)).expect("it may ask");
    assert_eq!(world.run.open_interrupts().count(), 16, "what comes after it is covered");
}

/// The refusal of one call applies to every call of a tool whose calls have no command, path or URL to compare. No
/// grant is offered then.
#[test]
fn a_refused_call_of_an_agent_elsewhere_asks_again() {
    let refund = |order: u64| call("refund", json!({ "order": order }));
    let line = |line: &str| call("shell", json!({ "command": line }));
    let path = |path: &str| call("edit", json!({ "path": path }));
    let mut world = external(Vec::new(), Origin::External);
    let decide = |world: &mut World, asked: ForeignCall, option: Option<&str>| {
        asks(world, asked).expect("it may ask");
        let interrupt = world.run.interrupts.values().last().expect("it is there").clone();
        let codes = interrupt.opened.risk.reasons.iter().map(|reason| reason.code.as_str());
        let told = (codes.collect::<Vec<_>>().join(" "), interrupt.offers("approve_session").is_some());
        if let Some(option) = option {
            let id = interrupt.opened.interrupt.clone();
            world.person(Input::Decide { interrupt: id, decision: choose(option), holder: None });
        }
        if interrupt.is_open() { told } else { (String::new(), false) }
    };
    let same = ("refused_before".to_owned(), true);
    let related = ("refused_before".to_owned(), false);
    for refused in [refund(1), line("touch A"), path("a")] {
        decide(&mut world, refused, Some("reject"));
    }
    for granted in [line("touch B"), path("b")] {
        decide(&mut world, granted, Some("approve_session"));
    }
    assert_eq!(decide(&mut world, refund(2), Some("approve")), related);
    assert_eq!(decide(&mut world, line("touch ./A"), Some("approve")), same);
    assert_eq!(decide(&mut world, line("touch B; touch A"), Some("approve")), related);
    assert_eq!(decide(&mut world, path("src/../a"), Some("approve")), same);
    assert_eq!(decide(&mut world, line("touch C"), None).0, "");
    assert_eq!(decide(&mut world, path("c"), None).0, "");
    assert_eq!(decide(&mut world, refund(1), Some("approve_session")), same, "it takes the refusal back");
    assert_eq!(decide(&mut world, refund(3), None).0, "");
}
