//! Calls of external agents that were tried in isolation: the gates vote on the changes, and an approval is bound to
//! the changes, the output and the environment.

use holdshort_core::actor::Actor;
use holdshort_core::changeset::{Change, Changeset, Entry};
use holdshort_core::digest::Digest;
use holdshort_core::gate::foreign::ForeignCall;
use holdshort_core::gate::foreign_trial::{AskedTrial, ForeignTrial, Streams, TriedCall};
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{Cause, Decision, ExecOutcome, Kind, Outcome, Refusal, Unusable};
use holdshort_core::limits;
use holdshort_core::policy::{ChangeScope, Rule, RuleAction};
use holdshort_core::run::{Ask, Config, Input, Origin, Rejection};
use holdshort_core::system;
use serde_json::{Value, json};

use crate::pairs::ask;
use crate::world::{self, World, choose, of_system, rule};

const SECRET: &str = "the secret of the call";

fn agent() -> Actor {
    Actor::agent("their-agent", "rest")
}

fn external(rules: Vec<Rule>) -> World {
    let mut world = World::new(world::external());
    world.system.apply(&of_system(system::Fact::PolicySet { rules }));
    let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
    start.origin = Origin::External;
    world.try_send(&agent(), Input::Start(start)).expect("it may start");
    world
}

fn digest(text: &str) -> Digest {
    Digest::of_bytes(text.as_bytes())
}

fn file(text: &str) -> Entry {
    Entry::File { digest: digest(text), bytes: text.len() as u64, mode: 0o644 }
}

fn written(path: &str) -> Change {
    Change { path: path.to_owned(), before: None, after: Some(file(path)), ignored: false }
}

fn deleted(path: &str) -> Change {
    Change { path: path.to_owned(), before: Some(file(path)), after: None, ignored: false }
}

fn trial(changes: Vec<Change>) -> ForeignTrial {
    ForeignTrial {
        secret: digest(SECRET),
        changeset: Changeset::new(changes).expect("it is valid"),
        ask_because: Vec::new(),
        exit_code: 0,
        environment: digest("PATH=/bin"),
        root: "1:2".to_owned(),
        stdout: digest("out"),
        stderr: digest(""),
    }
}

fn call(line: &str) -> ForeignCall {
    ForeignCall {
        tool: "run_command".to_owned(),
        arguments: json!({ "command": line }),
        workspace: Some("/ws".to_owned()),
        ..ForeignCall::default()
    }
}

fn tried(trial: ForeignTrial) -> AskedTrial {
    let streams = Streams { stdout: "b3V0".to_owned(), stderr: String::new() };
    AskedTrial::Tried(Box::new(TriedCall { trial, streams, card: json!({ "output": "out", "changes": [] }) }))
}

fn request(line: &str, trial: AskedTrial) -> Ask {
    let call = Some((call(line), None));
    Ask { kind: Kind::ToolApproval, payload: Value::Null, call, trial: Some(trial), ..ask() }
}

fn asks(world: &mut World, ask: Ask) -> InterruptId {
    world.try_send(&agent(), Input::Ask(Box::new(ask))).expect("it may ask");
    world.run.interrupts.values().last().expect("it is there").opened.interrupt.clone()
}

/// Returns the verdict on a call: `allow`, `forbid`, or the codes of its reasons to ask.
fn verdict(rules: &[Rule], line: &str, trial: AskedTrial) -> String {
    let mut world = external(rules.to_vec());
    let id = asks(&mut world, request(line, trial));
    let interrupt = &world.run.interrupts[&id];
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
fn the_gates_vote_on_the_changes_of_a_trial() {
    let scoped = |action, scope| Rule { changes: Some(scope), ..rule(action, &["run_command"], &[]) };
    let rules = [
        rule(RuleAction::Forbid, &["run_command"], &["terraform *"]),
        scoped(RuleAction::Forbid, ChangeScope::Paths(vec!["vendor/**".to_owned()])),
        scoped(RuleAction::Allow, ChangeScope::None),
        scoped(RuleAction::Allow, ChangeScope::Paths(vec!["src/**".to_owned()])),
        rule(RuleAction::Allow, &["run_command"], &["make *"]),
    ];
    let untried = || AskedTrial::Untried("it may use the network".to_owned());
    let found = |changes: Vec<Change>, code: &str| {
        tried(ForeignTrial { ask_because: vec![code.to_owned()], ..trial(changes) })
    };
    let table = [
        ("ls", tried(trial(Vec::new())), "allow"),
        ("./unknown $(x)", tried(trial(Vec::new())), "allow"),
        ("./unknown", tried(trial(vec![written("src/a.rs")])), "allow"),
        ("./unknown", tried(trial(vec![written("src/a.rs"), written("b")])), "default"),
        ("./unknown", tried(trial(vec![written("vendor/a")])), "forbid"),
        ("rm src/a", tried(trial(vec![deleted("src/a")])), "default deletes"),
        ("make all", tried(trial(vec![written("b")])), "allow"),
        ("terraform apply", tried(trial(Vec::new())), "forbid"),
        // Some changes always ask, whatever a rule allows.
        ("make all", tried(trial(vec![written(".git/hooks/pre-commit")])), "guarded_path"),
        ("make all", tried(trial(vec![written("src/.gitignore")])), "ignores_changed"),
        ("make all", found(vec![written("src/a")], "link_out"), "link_out"),
        // A call that could not be tried asks, whatever a rule allows.
        ("make all", untried(), "untried"),
        ("ls", untried(), "untried"),
        ("terraform apply", untried(), "forbid"),
    ];
    for (line, trial, expected) in table {
        let told = verdict(&rules, line, trial.clone());
        let is_told = |code: &str| told.split(' ').any(|one| one == code);
        assert!(expected.split(' ').all(is_told), "{line} {trial:?}: {told}");
    }
}

#[test]
fn the_card_shows_the_changes_or_the_reason_and_a_run_keeps_no_output() {
    let mut world = external(Vec::new());
    let id = asks(&mut world, request("make", tried(trial(vec![written("a"), written("b")]))));
    let interrupt = &world.run.interrupts[&id];
    let payload = &interrupt.content["payload"];
    assert_eq!(payload["trial"]["output"], "out");
    assert_eq!(payload["trial"]["keep"], json!({ "parts": ["a", "b"], "not_shown": 0 }));
    assert_eq!(payload["changeset"], json!(trial(vec![written("a"), written("b")]).changeset.digest()));
    let offered = |interrupt: &holdshort_core::interrupt::Interrupt| {
        interrupt.opened.options.iter().map(|offer| offer.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(offered(interrupt), ["approve", "keep_some", "respond", "reject"]);
    assert_eq!(interrupt.content.get("streams"), None);
    assert_eq!(interrupt.opened.usable_ms, Some(limits::TRIAL_USABLE_MS));

    let id = asks(&mut world, request("make", tried(trial(vec![written("a")]))));
    assert!(!offered(&world.run.interrupts[&id]).contains(&"keep_some".to_owned()), "there is no choice");

    let id = asks(&mut world, request("curl x", AskedTrial::Untried("it may use the network".to_owned())));
    let interrupt = &world.run.interrupts[&id];
    assert_eq!(interrupt.content["payload"]["untried"], "it may use the network");
    assert!(offered(interrupt).contains(&"edit".to_owned()));

    for member in ["trial", "changeset", "untried"] {
        let forged = Ask { payload: json!({ member: "x" }), ..request("make", tried(trial(Vec::new()))) };
        let refused = world.try_send(&agent(), Input::Ask(Box::new(forged)));
        let Err(Rejection::Invalid(problems)) = refused else { panic!("{member}: {refused:?}") };
        assert_eq!(problems[0].pointer, format!("/payload/{member}"));
    }
    let without_call = Ask { call: None, ..request("make", tried(trial(Vec::new()))) };
    let refused = world.try_send(&agent(), Input::Ask(Box::new(without_call)));
    let Err(Rejection::Invalid(problems)) = refused else { panic!("{refused:?}") };
    assert_eq!(problems[0].pointer, "/trial");
}

/// The digest changes with everything that would be carried out, and with nothing else.
#[test]
fn an_approval_is_bound_to_the_changes_the_output_and_the_environment() {
    let base = || trial(vec![written("a")]);
    let of = |line: &str, trial: ForeignTrial| {
        let mut world = external(Vec::new());
        let id = asks(&mut world, request(line, tried(trial)));
        world.run.interrupts[&id].opened.action_digest.expect("an approval is bound")
    };
    let first = of("make", base());
    let same = [
        base(),
        ForeignTrial { secret: digest("another"), ..base() },
        ForeignTrial { root: "9:9".to_owned(), ..base() },
    ];
    for trial in same {
        assert_eq!(of("make", trial.clone()), first, "{trial:?}");
    }
    let others = [
        trial(vec![written("b")]),
        trial(vec![written("a"), written("b")]),
        ForeignTrial { stdout: digest("other"), ..base() },
        ForeignTrial { stderr: digest("other"), ..base() },
        ForeignTrial { stdout: base().stderr, stderr: base().stdout, ..base() },
        ForeignTrial { exit_code: 1, ..base() },
        ForeignTrial { environment: digest("PATH=/other"), ..base() },
    ];
    for trial in others {
        assert_ne!(of("make", trial.clone()), first, "{trial:?}");
    }
    assert_ne!(of("make all", base()), first);
}

#[test]
fn some_of_the_changes_are_released_and_the_rest_is_named() {
    let mut world = external(Vec::new());
    let whole = trial(vec![written("a"), written("b"), deleted("c")]);
    let id = asks(&mut world, request("make", tried(whole.clone())));
    let decide = |world: &mut World, edit: Value| {
        let decision = Decision { edit, ..choose("keep_some") };
        world.try_send(
            &Actor::operator("rest"),
            Input::Decide { interrupt: id.clone(), decision, holder: None },
        )
    };
    for edit in [json!([]), json!(["d"]), json!("a"), json!({ "command": "x" }), Value::Null] {
        let refused = decide(&mut world, edit.clone());
        assert!(matches!(refused, Err(Rejection::Refused(Refusal::Invalid(_)))), "{edit}: {refused:?}");
    }
    let approved = world.run.interrupts[&id].opened.action_digest.unwrap();
    decide(&mut world, json!(["c", "a"])).expect("the paths are in the trial");

    let released = world.run.interrupts[&id].released_changes().expect("it is approved");
    let paths: Vec<_> = released.trial.changeset.changes().iter().map(|change| change.path.clone()).collect();
    assert_eq!((paths, released.dropped), (vec!["a".to_owned(), "c".to_owned()], vec!["b".to_owned()]));
    let action = world.run.interrupts[&id].approved().expect("it is approved");
    assert_eq!(action["trial"]["changeset"], json!(released.trial.changeset.digest()));
    assert_eq!(action["arguments"], json!({ "command": "make" }));

    let uses = |world: &mut World, digest| {
        world.try_send(&agent(), Input::UseApproval { interrupt: id.clone(), digest })
    };
    let refused = uses(&mut world, approved);
    assert!(matches!(refused, Err(Rejection::Unusable(Unusable::Differs { .. }))), "{refused:?}");
    uses(&mut world, Digest::of_json(&action)).expect("the digest is that of the kept changes");
}

#[test]
fn what_became_of_the_changes_is_recorded_once() {
    let mut world = external(Vec::new());
    let id = asks(&mut world, request("make", tried(trial(vec![written("a")]))));
    let report = |world: &mut World, outcome, text: Option<&str>| {
        let text = text.map(str::to_owned);
        world.try_send(&agent(), Input::ReportExec { interrupt: id.clone(), outcome, text })
    };
    let early = report(&mut world, ExecOutcome::Done, None);
    assert!(matches!(early, Err(Rejection::Unusable(Unusable::NotApproved(_)))), "{early:?}");
    world.person(Input::Decide { interrupt: id.clone(), decision: choose("approve"), holder: None });
    let early = report(&mut world, ExecOutcome::Done, None);
    assert!(matches!(early, Err(Rejection::Unusable(Unusable::NotApproved(_)))), "{early:?}");
    let digest = world.run.interrupts[&id].opened.action_digest.unwrap();
    world.try_send(&agent(), Input::UseApproval { interrupt: id.clone(), digest }).expect("it is approved");
    assert_eq!(world.run.interrupts[&id].exec, None);

    let said = report(&mut world, ExecOutcome::Nothing, Some("`a` has changed")).expect("it was used");
    assert_eq!(said, ["exec_reported nothing"]);
    assert_eq!(report(&mut world, ExecOutcome::Done, None).expect("a repetition"), Vec::<String>::new());
    let exec = world.run.interrupts[&id].exec.clone().expect("it is recorded");
    assert_eq!((exec.outcome, exec.text.as_deref()), (ExecOutcome::Nothing, Some("`a` has changed")));
}

#[test]
fn the_secret_is_compared_completely() {
    let trial = trial(Vec::new());
    assert!(trial.is_secret(SECRET));
    for other in ["", "the secret of the cal", "the secret of the call ", "The secret of the call"] {
        assert!(!trial.is_secret(other), "{other:?}");
    }
}
