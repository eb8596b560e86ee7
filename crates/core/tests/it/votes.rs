//! Votes and resolutions: the number of people who must agree, and the exact subject of their agreement.

use holdshort_core::actor::{Actor, Role};
use holdshort_core::interrupt::{Decision, Kind, Offer, Seat, Vote};
use holdshort_core::run::Input;
use serde_json::{Value, json};

use crate::world::{World, calls, choose, choose_with, command, definition, edit};

fn person(id: &str) -> Actor {
    Actor { id: id.to_owned(), ..Actor::operator("rest") }
}

/// Returns a run whose command waits for approval with this quorum.
fn held(quorum: u32) -> World {
    let mut world = World::started(definition(), vec![calls(&[command("make x")])]);
    world.work();
    let id = world.open(Kind::ToolApproval);
    world.run.interrupts.change(&id, |interrupt| interrupt.assignment.stages[0].required = quorum);
    world
}

fn other() -> Decision {
    edit(json!({ "command": "make y" }))
}

/// A test case: quorum, votes in order, option that takes effect, and people who voted for this option.
type Cast = (u32, Vec<(&'static str, Decision)>, &'static str, &'static str);

/// Applies the votes. Returns the option that took effect, and the people who voted for it.
fn settled(quorum: u32, votes: Vec<(&str, Decision)>) -> (String, String) {
    let mut world = held(quorum);
    let id = world.open(Kind::ToolApproval);
    for (name, decision) in votes {
        let input = Input::Decide { interrupt: id.clone(), decision, holder: None };
        world.try_send(&person(name), input).expect("the vote is taken");
    }
    let interrupt = &world.run.interrupts[&id];
    let by: Vec<&str> = interrupt.agreed().into_iter().map(|vote| vote.by.as_str()).collect();
    let option = interrupt.resolution.as_ref().and_then(|resolution| resolution.option.clone());
    (option.unwrap_or_else(|| "open".to_owned()), by.join(" "))
}

#[test]
fn what_releases_needs_as_many_people_as_the_quorum_says() {
    let (approve, session) = (|| choose("approve"), || choose("approve_session"));
    let table: Vec<Cast> = vec![
        (0, vec![("ann", approve())], "approve", "ann"),
        (1, vec![("ann", approve())], "approve", "ann"),
        (2, vec![("ann", approve())], "open", ""),
        // Two votes of the same person count once.
        (2, vec![("ann", approve()), ("ann", approve())], "open", ""),
        (2, vec![("ann", approve()), ("ann", session())], "open", ""),
        (2, vec![("ann", approve()), ("bob", approve())], "approve", "ann bob"),
        (3, vec![("ann", approve()), ("bob", approve()), ("cem", approve())], "approve", "ann bob cem"),
        // An approval of one call is not an approval for the session.
        (2, vec![("ann", approve()), ("bob", session())], "approve", "ann bob"),
        (2, vec![("ann", session()), ("bob", approve())], "approve", "ann bob"),
        (2, vec![("ann", session()), ("bob", session())], "approve_session", "ann bob"),
        // One person is enough to stop the call.
        (2, vec![("ann", choose_with("reject", "no"))], "reject", "ann"),
        (3, vec![("ann", approve()), ("bob", choose_with("reject", "no"))], "reject", "bob"),
        (2, vec![("ann", approve()), ("ann", choose_with("reject", "no"))], "reject", "ann"),
        (2, vec![("ann", approve()), ("bob", choose_with("respond", "it is x"))], "respond", "bob"),
        // The votes must be for the same option with the same edit.
        (2, vec![("ann", approve()), ("bob", other())], "open", ""),
        (2, vec![("ann", other()), ("bob", other())], "edit", "ann bob"),
        (2, vec![("ann", other()), ("bob", approve())], "open", ""),
        // A vote with an edit withdraws the earlier votes.
        (2, vec![("ann", approve()), ("bob", other()), ("cem", approve())], "open", ""),
        (2, vec![("ann", approve()), ("bob", other()), ("ann", other())], "edit", "bob ann"),
        (
            2,
            vec![("ann", approve()), ("bob", other()), ("cem", approve()), ("ann", approve())],
            "approve",
            "cem ann",
        ),
    ];
    for (quorum, votes, option, by) in table {
        let told = format!("{quorum}: {votes:?}");
        assert_eq!(settled(quorum, votes), (option.to_owned(), by.to_owned()), "{told}");
    }
}

/// Options that continue the work need the quorum. Options that replace or stop the work need only one vote.
#[test]
fn what_lets_work_go_on_is_agreed_on() {
    let kind = Kind::UnknownOutcome;
    let world = held(2);
    let mut asked = (*world.run.interrupts[&world.open(Kind::ToolApproval)]).clone();
    asked.opened.kind = kind;
    asked.opened.options = kind.row().options.iter().map(Offer::from_row).collect();
    let mut seq = 10;
    let mut settled = |votes: &[(&str, &str)]| {
        let mut asked = asked.clone();
        for (name, option) in votes {
            seq += 1;
            asked.cast(Vote {
                by: (*name).to_owned(),
                role: Role::Operator,
                option: (*option).to_owned(),
                text: None,
                edit: Value::Null,
                edit_of: None,
                from: None,
                seat: Seat::default(),
                viewed_ms: None,
                on_behalf_of: None,
                also: Vec::new(),
                let_in_by: None,
                at: world.now,
                seq,
            });
        }
        asked.settles().map(|settled| settled.vote.option.clone())
    };
    let table = [
        (vec![("ann", "rerun")], None),
        (vec![("ann", "rerun"), ("bob", "rerun")], Some("rerun")),
        (vec![("ann", "rerun"), ("bob", "skip")], Some("skip")),
        (vec![("ann", "happened")], Some("happened")),
        (vec![("ann", "abort")], Some("abort")),
    ];
    for (votes, option) in table {
        assert_eq!(settled(&votes).as_deref(), option, "{votes:?}");
    }
}

/// A call runs only after the vote that reaches the quorum. The resolution names that vote's decision.
#[test]
fn a_vote_that_settles_nothing_lets_nothing_go_on() {
    let mut world = held(2);
    let id = world.open(Kind::ToolApproval);
    let vote = |world: &mut World, name: &str| {
        let input = Input::Decide { interrupt: id.clone(), decision: choose("approve"), holder: None };
        world.try_send(&person(name), input).expect("it is taken")
    };
    assert_eq!(vote(&mut world, "ann"), ["decision_made approve"]);
    assert_eq!(vote(&mut world, "ann"), Vec::<String>::new());
    world.work();
    assert_eq!(world.effects, Vec::<String>::new());
    vote(&mut world, "bob");
    world.work();
    assert_eq!(world.effects, ["run_command make x"]);
    let interrupt = &world.run.interrupts[&id];
    let settled = interrupt.settled_by().expect("a decision settled it");
    assert_eq!((settled.by.as_str(), &settled.edit), ("bob", &Value::Null));
    assert_eq!(interrupt.resolution.as_ref().and_then(|it| it.decision), Some(settled.seq));
}
