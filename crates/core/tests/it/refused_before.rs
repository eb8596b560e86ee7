//! Calls that a person refused: the same call is asked about again until the refusal is revoked, even if a rule or
//! grant would allow it.

use holdshort_core::actor::Actor;
use holdshort_core::event;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::Kind;
use holdshort_core::policy::{GrantCovers, RuleAction};
use holdshort_core::run::Input;
use holdshort_core::session;
use holdshort_core::system;
use serde_json::{Value, json};

use crate::world::{World, calls, choose, command, definition, rule, says, write};

type Call = (&'static str, Value);

/// Returns the reason codes on the card that was opened last.
fn codes(world: &World) -> Vec<String> {
    let interrupt = world.run.interrupts.values().last().expect("it was asked about");
    interrupt.opened.risk.reasons.iter().map(|reason| reason.code.clone()).collect()
}

/// Returns true if `later` is asked about because of the refusal of `refused`, although `granted` was allowed for the
/// session in between.
fn asks_again(refused: Call, granted: Call, later: Call) -> bool {
    let script = vec![calls(&[refused]), calls(&[granted]), calls(&[later]), says("Done.")];
    let mut world = World::started(definition(), script);
    world.work();
    world.decide(Kind::ToolApproval, choose("reject"));
    world.work();
    world.decide(Kind::ToolApproval, choose("approve_session"));
    world.work();
    !world.open_kinds().is_empty() && codes(&world).contains(&"refused_before".to_owned())
}

#[test]
fn a_refused_call_asks_again_in_any_spelling() {
    for (refused, granted, later, asks) in [
        ("touch A", "touch B", "touch A", true),
        ("touch A", "touch B", "touch ./A", true),
        ("touch A", "touch B", "touch /ws/A", true),
        ("touch A", "touch B", "touch sub/../A", true),
        ("touch A", "touch B", "touch B; touch A", true),
        ("touch A", "touch B", "touch B A", true),
        ("touch A", "touch B", "touch A*", true),
        ("touch A", "touch B", "touch -c A", true),
        ("touch A", "touch B", "sh -c 'touch A'", true),
        ("touch sub/A", "touch B", "cd sub && touch A", true),
        ("touch B; touch A", "touch C", "touch A", true),
        ("touch A", "touch B", "touch C", false),
        ("touch A", "touch B", "ls A", false),
        ("touch A", "touch B", "touch AB sub/A", false),
        ("make x", "make y", "make y", false),
        ("git push origin main", "make x", "make x", false),
    ] {
        let asked = asks_again(command(refused), command(granted), command(later));
        assert_eq!(asked, asks, "{refused:?} refused, {granted:?} granted, then {later:?}");
    }
    for (later, asks) in [("a", true), ("./a", true), ("sub/../a", true), ("b", false), ("sub/a", false)] {
        assert_eq!(asks_again(write("a"), write("b"), write(later)), asks, "write_file {later}");
    }
}

/// The card says who refused which call, and when. A card with a grant lists the refusals that the grant would not
/// revoke.
#[test]
fn the_card_says_what_was_refused() {
    let script = vec![
        calls(&[command("touch A")]),
        calls(&[command("touch B")]),
        calls(&[command("touch A")]),
        calls(&[command("touch B; touch A")]),
    ];
    let mut world = World::started(definition(), script);
    world.work();
    let refused_at = world.now;
    world.decide(Kind::ToolApproval, choose("reject"));
    world.work();
    let grant = |world: &World| {
        let interrupt = &world.run.interrupts[&world.open(Kind::ToolApproval)];
        let payload = interrupt.content["payload"]["grant"].clone();
        (payload["past"].clone(), payload["refused"].clone())
    };
    assert_eq!(grant(&world), (json!([]), json!(["`touch /ws/A`"])));
    world.decide(Kind::ToolApproval, choose("approve_session"));
    world.work();
    let reason = |world: &World| {
        let interrupt = &world.run.interrupts[&world.open(Kind::ToolApproval)];
        let text = interrupt.opened.risk.reasons[0].text.clone();
        (text, interrupt.offers("approve_session").is_some())
    };
    let text = format!("`operator` refused this call earlier, at {refused_at}");
    assert_eq!(reason(&world), (text, true));
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    let text = format!("`operator` refused `touch /ws/A` earlier, at {refused_at}");
    assert_eq!(reason(&world), (text, false), "allowing this line for the session would not cover it");
    assert_eq!(world.effects, ["run_command touch B", "run_command touch A"], "approved once, it ran once");
}

/// A refusal is revoked only by an operator, or by a person who allows the same call for the session.
#[test]
fn a_refusal_stands_until_it_is_revoked() {
    for revoked_by_hand in [false, true] {
        let script = ["touch A", "touch B", "touch A", "touch ./A"].map(|line| calls(&[command(line)]));
        let mut world = World::started(definition(), script.to_vec());
        world.work();
        world.decide(Kind::ToolApproval, choose("reject"));
        let refused: InterruptId =
            world.session.standing_refusals().next().expect("it stands").interrupt.clone();
        world.work();
        world.decide(Kind::ToolApproval, choose("approve_session"));
        world.work();
        if revoked_by_hand {
            let input = session::Input::RevokeRefusal { interrupt: refused };
            let agent = world.session.handle(world.now, &Actor::agent("a", "rest"), input.clone());
            assert_eq!(agent, Err(session::Rejection::Role));
            let operator = Actor::operator("rest");
            let events = world.session.handle(world.now, &operator, input).expect("an operator may");
            world.append(events);
            world.decide(Kind::ToolApproval, choose("approve"));
        } else {
            let told = world.decide(Kind::ToolApproval, choose("approve_session"));
            assert!(told.contains(&"refusal_revoked".to_owned()), "{told:?}");
        }
        world.work();
        assert_eq!(world.session.standing_refusals().count(), 0);
        let ran = ["run_command touch B", "run_command touch A", "run_command touch ./A"];
        assert_eq!(world.effects, ran, "revoked by hand: {revoked_by_hand}");
    }
}

/// A refusal overrides rules that allow the call, grants for a category, and approvals for one further call.
#[test]
fn a_refusal_is_above_what_allows_and_below_what_forbids() {
    for covers in [GrantCovers::Call, GrantCovers::Category] {
        let mut definition = definition();
        definition.gates.grants.covers = covers;
        let script = ["touch A", "touch B", "touch A", "touch A"].map(|line| calls(&[command(line)]));
        let mut world = World::started(definition, script.to_vec());
        world.work();
        world.decide(Kind::ToolApproval, choose("reject"));
        world.work();
        world.decide(Kind::ToolApproval, choose("approve_session"));
        let set = |world: &mut World, action| {
            let rules = vec![rule(action, &["run_command"], &["touch *"])];
            let events = world.system.handle(
                world.now,
                &Actor::admin("ada", "rest"),
                system::Input::SetPolicy { rules },
            );
            world.append(events.expect("an admin may"));
        };
        set(&mut world, RuleAction::Allow);
        world.work();
        assert_eq!(codes(&world), ["refused_before"], "{covers:?}");
        set(&mut world, RuleAction::Forbid);
        world.decide(Kind::ToolApproval, choose("reject"));
        world.work();
        assert_eq!(world.open_kinds(), Vec::<&str>::new(), "{covers:?}");
        assert_eq!(world.effects, ["run_command touch B"], "{covers:?}");
    }
}

/// Only a person's decision creates a refusal, but no expiry and no rule.
#[test]
fn only_a_person_refuses() {
    let mut definition = definition();
    definition.gates.rules = vec![rule(RuleAction::Forbid, &["run_command"], &["touch A"])];
    let mut world =
        World::started(definition, vec![calls(&[command("touch A")]), calls(&[command("make x")])]);
    world.work();
    assert_eq!(world.session.standing_refusals().count(), 0);
    world.decide(Kind::ToolApproval, choose("reject"));
    assert_eq!(world.session.standing_refusals().count(), 1);
}

/// Facts cannot be erased, so the facts of a refusal contain only digests of paths. The text of the call is content
/// and can be erased.
#[test]
fn the_facts_of_a_refusal_name_no_path() {
    let long = format!("touch {}", (0..500).map(|n| format!("secret-{n}")).collect::<Vec<_>>().join(" "));
    let many = (0..500).map(|n| format!("tool{n} secret")).collect::<Vec<_>>().join("; ");
    for line in
        ["touch secret-token/a", "touch B > secret", "./secret/run.sh x", "make a TOKEN=secret", &long, &many]
    {
        let mut world =
            World::started(definition(), vec![calls(&[("run_command", json!({"command": line}))])]);
        world.work();
        world.decide(Kind::ToolApproval, choose("reject"));
        let added = world.log.iter().find_map(|event| match &event.fact {
            event::Fact::Session(fact @ session::Fact::RefusalAdded { .. }) => Some((fact, &event.content)),
            _ => None,
        });
        let (fact, content) = added.expect("the refusal is remembered");
        let facts = serde_json::to_string(fact).unwrap();
        assert!(!facts.contains("secret"), "{facts}");
        assert!(facts.len() < 10_000, "{} bytes", facts.len());
        assert!(content.as_text().contains("secret"), "{content:?}");
    }
}

/// A refusal with more paths than it can store covers more calls, not fewer.
#[test]
fn a_refusal_of_a_long_line_covers_more() {
    let paths = format!("touch {}", (0..500).map(|n| format!("f{n}")).collect::<Vec<_>>().join(" "));
    let programs = (0..500).map(|n| format!("tool{n} f")).collect::<Vec<_>>().join("; ");
    for (refused, later, asks) in [
        (&paths, "touch f7", true),
        (&paths, "touch other", true),
        (&paths, "make x", false),
        (&programs, "tool7 f", true),
        (&programs, "make x", true),
    ] {
        let script = vec![calls(&[("run_command", json!({"command": refused}))]), calls(&[command(later)])];
        let mut world = World::started(definition(), script);
        world.work();
        world.decide(Kind::ToolApproval, choose("reject"));
        world.work();
        assert_eq!(codes(&world).contains(&"refused_before".to_owned()), asks, "{later}");
    }
}

/// The later of two equal refusals stays valid, even if the card that revokes the earlier one was opened before the
/// later.
#[test]
fn a_later_equal_refusal_stands() {
    let script = vec![calls(&[command("touch A")]), calls(&[command("touch A"), command("touch A")])];
    let mut world = World::started(definition(), script);
    world.work();
    world.decide(Kind::ToolApproval, choose("reject"));
    world.work();
    let open: Vec<InterruptId> = world.run.open_interrupts().map(|(id, _)| id.clone()).collect();
    let [first, second] = open.as_slice() else { panic!("two are asked: {open:?}") };
    let decide = |world: &mut World, interrupt: &InterruptId, option: &str| {
        let decision = choose(option);
        world.person(Input::Decide { interrupt: interrupt.clone(), decision, holder: None });
    };
    world.now = world.now.plus_ms(1);
    decide(&mut world, second, "reject");
    decide(&mut world, first, "approve_session");
    let standing: Vec<&InterruptId> =
        world.session.standing_refusals().map(|refusal| &refusal.interrupt).collect();
    assert_eq!(standing, [second]);
}
