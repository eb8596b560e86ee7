//! Effects that an approved command may have (reading, writing, network), depending on the rule, person or grant that
//! approved it.

use holdshort_core::definition::Definition;
use holdshort_core::interrupt::Kind;
use holdshort_core::policy::{Rule, RuleAction};
use holdshort_core::run::Input;
use holdshort_core::tool::{CommandEffect, Outcome};
use serde_json::json;

use crate::world::{World, calls, choose, command, definition, rule, says};

fn allowing(rules: Vec<Rule>) -> Definition {
    let mut definition = definition();
    definition.gates.rules = rules;
    definition
}

fn paths(commands: &[&str], paths: &[&str]) -> Rule {
    let mut rule = rule(RuleAction::Allow, &["run_command"], commands);
    rule.paths = paths.iter().map(|path| (*path).to_owned()).collect();
    rule
}

fn writes(places: &[&str]) -> CommandEffect {
    CommandEffect::Writes { places: places.iter().map(|place| (*place).to_owned()).collect() }
}

fn effect(world: &World, call: &str) -> Option<CommandEffect> {
    world.run.calls[call].effect.clone()
}

/// A rule lets a command start with the effect in the table. Each table row has the rule, the command line, and the
/// effect, or `None` if a person is asked.
#[test]
fn a_rule_lets_through_what_it_says() {
    let any = || rule(RuleAction::Allow, &["run_command"], &[]);
    let table: [(Rule, &str, Option<CommandEffect>); 8] = [
        (any(), "ls -la", Some(CommandEffect::Reads)),
        (any(), "make x", Some(CommandEffect::Workspace)),
        (any(), "git config user.name x", None),
        (any(), "git status", Some(CommandEffect::Reads)),
        (paths(&[], &["docs/**"]), "touch docs/a", Some(writes(&["docs"]))),
        (paths(&[], &["docs/**", "a.txt"]), "touch docs/a a.txt", Some(writes(&["docs", "a.txt"]))),
        (paths(&[], &["docs/*.md"]), "touch docs/a.md", None),
        (paths(&[], &["docs/**"]), "touch src/a", None),
    ];
    for (rule, line, expected) in table {
        let mut world = World::started(allowing(vec![rule]), vec![calls(&[command(line)]), says("Done.")]);
        world.work();
        assert_eq!(effect(&world, "call_1"), expected, "{line}");
        assert_eq!(world.open_kinds().is_empty(), expected.is_some(), "{line}");
    }
}

/// An approval allows the effect that the card shows. A grant allows writes in its directory.
#[test]
fn a_person_lets_through_what_the_card_says() {
    let table = [
        ("ls", "approve", CommandEffect::Reads),
        ("make x", "approve", CommandEffect::Workspace),
        ("git config user.name x", "approve", CommandEffect::Guarded),
        ("echo x > .envrc", "approve", CommandEffect::Guarded),
        ("make x", "approve_session", CommandEffect::Workspace),
    ];
    for (line, option, expected) in table {
        let script = vec![calls(&[command(line)]), calls(&[command(line)]), says("Done.")];
        let mut world = World::started(definition(), script);
        world.work();
        let interrupt = world.open(Kind::ToolApproval);
        let shown = world.run.interrupts[&interrupt].content["payload"]["effect"].clone();
        assert_eq!(shown, serde_json::to_value(&expected).expect("it is data"), "{line}");
        world.person(Input::Decide { interrupt, decision: choose(option), holder: None });
        assert_eq!(effect(&world, "call_1"), Some(expected), "{line}");
        world.work();
        if option == "approve_session" {
            assert_eq!(effect(&world, "call_2"), Some(writes(&["."])), "{line}");
        }
    }
}

/// If a command tried to write guarded paths, the next interrupt asks to allow this, however the command was approved
/// before.
#[test]
fn what_was_set_aside_asks_for_what_is_guarded() {
    let line = "touch docs/a";
    let rules = vec![paths(&[], &["docs/**"])];
    let (text, data) = ("it ran".to_owned(), json!({}));
    for (outcome, wider) in [
        (Outcome::SetAside { text: text.clone(), data: data.clone() }, CommandEffect::Guarded),
        (Outcome::Confined { text, data }, CommandEffect::Workspace),
    ] {
        let script = vec![calls(&[command(line)]), calls(&[command(line)]), says("Done.")];
        let mut world = World::started(allowing(rules.clone()), script);
        world.commands_end = Some(outcome.clone());
        world.work();
        let interrupt = world.open(Kind::ToolApproval);
        let payload = &world.run.interrupts[&interrupt].content["payload"];
        assert_eq!(payload["effect"], serde_json::to_value(&wider).expect("it is data"), "{outcome:?}");
    }
}

/// No grant and no rule covers a command that writes in a guarded working directory.
#[test]
fn a_guarded_folder_asks_for_whatever_writes_from_it() {
    for (line, asks) in [
        ("cd .husky && make", true),
        ("cd .vscode; pytest", true),
        ("cd .husky && ls", false),
        ("cd src && make", false),
    ] {
        let rules = vec![rule(RuleAction::Allow, &["run_command"], &[])];
        let mut world = World::started(allowing(rules), vec![calls(&[command(line)]), says("Done.")]);
        world.work();
        assert_eq!(!world.open_kinds().is_empty(), asks, "{line}");
    }
}

/// A command that only reads has no network access, even if the workflow allows it.
#[test]
fn a_card_says_of_the_network_what_its_effect_does() {
    for (line, network) in [("ls", false), ("make x", true)] {
        let mut world = World::started(definition(), vec![calls(&[command(line)]), says("Done.")]);
        world.network = true;
        world.work();
        let interrupt = world.open(Kind::ToolApproval);
        assert_eq!(world.run.interrupts[&interrupt].content["payload"]["network"], network, "{line}");
    }
}
