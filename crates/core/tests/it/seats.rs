//! Votes that become invalid: hand-overs that keep the requirements of the gate, delegates, and changed roles and
//! groups. The seat of a vote is the stage in which it counts, with the person and the groups for which it counts.

use holdshort_core::actor::{Actor, ResponsiblePeople, Role};
use holdshort_core::definition::KindGate;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{
    Assignment, ClaimHolder, Delegation, HandedTo, Kind, Refusal, Represented, Stage,
};
use holdshort_core::people::Away;
use holdshort_core::run::{Config, Input, Rejection};
use holdshort_core::system::Fact;
use holdshort_core::time::Timestamp;
use serde_json::json;

use crate::assignments::{actor, decide, held, leave, names, of_groups, of_people, people, stages};
use crate::world::{World, calls, choose, command, definition, edit, of_system, person};

/// Returns a command that waits for approval with this assignment, and the id of its interrupt.
fn gated(assignment: Assignment) -> (World, InterruptId) {
    let (mut world, id) = held(assignment.clone());
    world.run.interrupts.change(&id, |interrupt| interrupt.opened.assignment = assignment);
    (world, id)
}

fn set(world: &mut World, id: &str, roles: &[Role], groups: &[&str]) {
    world.system.apply(&of_system(Fact::PersonSet { person: id.to_owned(), is: person(roles, groups) }));
}

fn delegate(world: &mut World, id: &InterruptId, from: &str, to: &str) -> Result<Vec<String>, Rejection> {
    let delegation = Delegation { from: from.to_owned(), to: to.to_owned(), until: None };
    let by = actor(&world.system, from);
    world.try_send(&by, Input::Delegate { interrupt: id.clone(), delegation })
}

fn hand_on(world: &mut World, id: &InterruptId, who: &str, to: HandedTo) -> Result<Vec<String>, Rejection> {
    let by = actor(&world.system, who);
    world.try_send(&by, Input::Reassign { interrupt: id.clone(), to, text: None })
}

fn to_names(approvers: &[&str], groups: &[&str]) -> HandedTo {
    HandedTo::Names { approvers: names(approvers), groups: names(groups) }
}

fn is_invalid(told: &Result<Vec<String>, Rejection>) -> bool {
    matches!(told, Err(Rejection::Refused(Refusal::Invalid(_))))
}

#[test]
fn nobody_asks_for_less_than_the_gate() {
    let legal = of_groups(&["legal"], 2);
    let two = Assignment { self_approval: false, ..stages(vec![legal.clone()]) };
    let in_turn = stages(vec![of_groups(&["legal"], 1), of_groups(&["finance"], 1)]);
    let all = stages(vec![Stage { roles: Represented::All, ..of_groups(&["legal", "finance"], 2) }]);
    let each_of = |of: &[&str]| Stage { roles: Represented::All, ..of_people(of, 1) };
    let each = stages(vec![each_of(&["anna", "ben", "dirk"])]);
    let one_twice =
        Assignment { distinct: false, ..stages(vec![of_people(&["olga"], 1), of_people(&["olga"], 1)]) };
    let table = [
        ("fewer people", &two, stages(vec![of_people(&["cleo"], 1)])),
        ("fewer stages", &in_turn, stages(vec![of_groups(&["legal"], 2)])),
        ("any of those who all had to", &all, stages(vec![of_groups(&["legal", "finance"], 2)])),
        ("one person, twice", &two, one_twice),
        ("fewer than all who are named", &each, stages(vec![each_of(&["cleo"])])),
    ];
    for (about, gate, whole) in table {
        let (mut world, id) = gated(gate.clone());
        let told = hand_on(&mut world, &id, "olga", HandedTo::Whole(whole));
        assert!(is_invalid(&told), "{about}: {told:?}");
        assert_eq!(world.run.interrupts[&id].assignment, *gate, "{about}");
    }

    // The new assignment needs as many people as the gate's assignment, even if the gate's quorum included all named
    // people.
    let (mut world, id) = gated(each.clone());
    let told = hand_on(&mut world, &id, "anna", to_names(&["cleo"], &[]));
    assert!(is_invalid(&told), "three have to agree: {told:?}");
    let (mut world, id) = gated(each);
    leave(&mut world.system, "anna");
    world.send(Input::PeopleChanged);
    assert_eq!(world.run.interrupts[&id].assignment.stages, [of_people(&[], 3)]);

    // If the new assignment allows more than the gate does, the setting of the gate stays.
    let (mut world, id) = gated(two.clone());
    let looser = Assignment { self_approval: true, ..stages(vec![of_groups(&["finance"], 2)]) };
    hand_on(&mut world, &id, "olga", HandedTo::Whole(looser)).expect("it asks for as many");
    assert!(!world.run.interrupts[&id].assignment.self_approval);
    let (mut world, id) = gated(two);
    hand_on(&mut world, &id, "anna", to_names(&["cleo", "dirk"], &[])).expect("it is theirs to hand on");
    let now = &world.run.interrupts[&id].assignment;
    assert_eq!((now.stages[0].required, now.self_approval), (2, false));
    let (mut world, id) = gated(in_turn.clone());
    let shared = Assignment { distinct: false, ..in_turn };
    hand_on(&mut world, &id, "olga", HandedTo::Whole(shared)).expect("it is taken");
    assert!(world.run.interrupts[&id].assignment.distinct);
}

#[test]
fn whoever_is_asked_hands_on_their_own_stage_only() {
    let in_turn = stages(vec![of_groups(&["legal"], 1), of_groups(&["finance"], 1)]);
    let (mut world, id) = gated(in_turn.clone());
    let told = hand_on(&mut world, &id, "cleo", to_names(&["dirk"], &[]));
    assert_eq!(told, Err(Rejection::Refused(Refusal::NotYourStage { stage: 1 })));
    let told = hand_on(&mut world, &id, "anna", HandedTo::Whole(stages(vec![of_people(&["ben"], 2)])));
    assert!(is_invalid(&told), "{told:?}");
    hand_on(&mut world, &id, "anna", to_names(&["ben"], &[])).expect("it is taken");
    let now = &world.run.interrupts[&id].assignment;
    assert_eq!(now.stages, [of_people(&["ben"], 1), of_groups(&["finance"], 1)]);
}

/// A hand-over to new approvers withdraws the votes so far, so every approver must vote again.
#[test]
fn a_hand_over_settles_nothing_by_itself() {
    let (mut world, id) = gated(stages(vec![of_groups(&["legal"], 2)]));
    decide(&mut world, &id, "dirk", choose("approve")).expect("it is taken");
    hand_on(&mut world, &id, "anna", to_names(&["dirk", "cleo"], &[])).expect("it is taken");
    let standing = &world.run.interrupts[&id];
    assert!(standing.is_open() && standing.votes.is_empty());
    decide(&mut world, &id, "cleo", choose("approve")).expect("it is taken");
    assert!(world.run.interrupts[&id].is_open());
    decide(&mut world, &id, "dirk", choose("approve")).expect("it is taken");
    assert!(!world.run.interrupts[&id].is_open());
}

/// A person's current role decides, because the role at sign-in may be outdated.
#[test]
fn who_has_left_or_lost_the_role_decides_nothing() {
    let (mut world, id) = gated(Assignment::default());
    let [olga, anna] = ["olga", "anna"].map(|id| actor(&world.system, id));
    set(&mut world, "olga", &[Role::Auditor], &[]);
    let approve = |who: &Actor, world: &mut World| {
        let decision = choose("approve");
        world.try_send(who, Input::Decide { interrupt: id.clone(), decision, holder: None })
    };
    assert_eq!(approve(&olga, &mut world), Err(Rejection::Refused(Refusal::Role)));
    leave(&mut world.system, "olga");
    assert_eq!(approve(&olga, &mut world), Err(Rejection::Refused(Refusal::Role)));

    let (mut world, id) = gated(stages(vec![of_people(&["anna", "ben"], 1)]));
    leave(&mut world.system, "anna");
    let decision = choose("approve");
    let told = world.try_send(&anna, Input::Decide { interrupt: id, decision, holder: None });
    assert_eq!(told, Err(Rejection::Refused(Refusal::Role)));
}

#[test]
fn whoever_stands_in_and_whom_they_stand_in_for_are_one() {
    let (mut world, id) = gated(stages(vec![of_groups(&["legal"], 2)]));
    delegate(&mut world, &id, "anna", "cleo").expect("it is taken");
    decide(&mut world, &id, "cleo", choose("approve")).expect("in the place of anna");
    decide(&mut world, &id, "anna", choose("approve")).expect("in her own name");
    assert!(world.run.interrupts[&id].is_open(), "anna spoke twice");
    decide(&mut world, &id, "ben", choose("approve")).expect("it is taken");
    assert!(!world.run.interrupts[&id].is_open());

    // A delegate and the person whom they replace also cannot fill two stages that need different people.
    let (mut world, id) = gated(stages(vec![of_groups(&["legal"], 1), of_groups(&["finance"], 1)]));
    delegate(&mut world, &id, "anna", "cleo").expect("it is taken");
    decide(&mut world, &id, "cleo", choose("approve")).expect("in the place of anna");
    let again = decide(&mut world, &id, "cleo", choose("reject"));
    assert!(again.is_ok(), "who may not agree here may still say no: {again:?}");
}

#[test]
fn one_person_in_two_places_is_not_enough_of_two_stages() {
    let (mut world, id) = gated(stages(vec![of_groups(&["legal"], 1), of_groups(&["finance"], 1)]));
    delegate(&mut world, &id, "anna", "cleo").expect("it is taken");
    decide(&mut world, &id, "cleo", choose("approve")).expect("in the place of anna");
    let told = decide(&mut world, &id, "cleo", choose("approve"));
    assert!(world.run.interrupts[&id].is_open(), "{told:?}");
    decide(&mut world, &id, "dirk", choose("approve")).expect("it is taken");
    assert!(!world.run.interrupts[&id].is_open());
}

#[test]
fn nobody_releases_their_own_work_through_somebody_else() {
    let four = Assignment { self_approval: false, ..stages(vec![of_groups(&["legal"], 2)]) };
    let (mut world, id) = gated(four);
    delegate(&mut world, &id, "anna", "cleo").expect("it is taken");
    let change = || edit(json!({ "command": "make y" }));
    decide(&mut world, &id, "anna", change()).expect("anna wrote it");
    let told = decide(&mut world, &id, "cleo", change());
    decide(&mut world, &id, "ben", change()).expect("it is taken");
    assert!(world.run.interrupts[&id].is_open(), "ben alone agreed with what anna wrote: {told:?}");
    decide(&mut world, &id, "dirk", change()).expect("it is taken");
    assert!(!world.run.interrupts[&id].is_open());
}

/// People who may not release the work cannot choose a delegate for its release.
#[test]
fn nobody_chooses_who_releases_their_own_work() {
    let own = Err(Rejection::Refused(Refusal::OwnWork));
    for is_away in [false, true] {
        let (mut world, id) =
            gated(Assignment { self_approval: false, ..stages(vec![of_people(&["anna"], 1)]) });
        world.started_by().id = "ben".to_owned();
        for (from, to) in [("anna", "ben"), ("ben", "cleo")] {
            if is_away {
                let away = Away { until: None, delegate: Some(to.to_owned()) };
                world.system.apply(&of_system(Fact::AwaySet { person: from.to_owned(), away: Some(away) }));
            } else if from == "ben" {
                let told = delegate(&mut world, &id, from, to);
                assert_eq!(told, Err(Rejection::Refused(Refusal::OwnHandOver)));
            } else {
                delegate(&mut world, &id, from, to).expect("it is taken");
            }
        }
        let own = if is_away { &own } else { &Err(Rejection::Refused(Refusal::NotAnApprover)) };
        let told = &decide(&mut world, &id, "cleo", choose("approve"));
        assert_eq!(told, own, "ben started it, away: {is_away}");
        delegate(&mut world, &id, "anna", "cleo").expect("it is taken");
        decide(&mut world, &id, "cleo", choose("approve")).expect("anna chose her");
        assert!(!world.run.interrupts[&id].is_open());
    }

    let four = Assignment { self_approval: false, ..stages(vec![of_people(&["anna", "dirk"], 1)]) };
    let (mut world, id) = gated(four);
    let change = || edit(json!({ "command": "make y" }));
    decide(&mut world, &id, "anna", change()).expect("anna wrote it");
    delegate(&mut world, &id, "dirk", "anna").expect("it is taken");
    let told = delegate(&mut world, &id, "anna", "cleo");
    assert_eq!(told, Err(Rejection::Refused(Refusal::OwnHandOver)), "anna wrote the edit that stands");
    decide(&mut world, &id, "anna", choose("reject")).expect("no is no release");
    assert!(!world.run.interrupts[&id].is_open());
}

/// The starter of the work and the author of an edit cannot choose who releases the work. A login link that they
/// created, or another spelling of a name, does not help. An admin or another approver can choose.
#[test]
fn nobody_hands_on_the_release_of_their_own_work() {
    // Starter with the creator of their login link, author of an edit, caller with the creator of their login link,
    // and true if the caller may hand over.
    type Row = (
        &'static str,
        (String, Option<String>),
        Option<&'static str>,
        (&'static str, Option<&'static str>),
        bool,
    );
    let started = |id: &str, let_in_by: Option<&str>| (id.to_owned(), let_in_by.map(str::to_owned));
    let table: [Row; 9] = [
        ("the starter", started("olga", None), None, ("olga", None), false),
        ("the starter, as an approver", started("anna", None), None, ("anna", None), false),
        ("the starter's other login", started("ben", Some("olga")), None, ("olga", None), false),
        ("somebody whom the starter let in", started("olga", None), None, ("anna", Some("olga")), false),
        ("the starter in another form", started("ＯＬＧＡ", None), None, ("olga", None), false),
        ("the author of the edit", started("ben", None), Some("anna"), ("anna", None), false),
        ("the other login of the author", started("ben", None), Some("anna"), ("olga", Some("anna")), false),
        ("an operator who is neither", started("ben", None), Some("anna"), ("olga", None), true),
        ("an approver who is neither", started("olga", None), None, ("anna", None), true),
    ];
    for (about, (starter, let_in_by), author, (who, by), may) in table {
        for self_approval in [false, true] {
            let gate = Assignment { self_approval, ..stages(vec![of_people(&["anna", "dirk"], 2)]) };
            let (mut world, id) = gated(gate);
            let started = world.started_by();
            (started.id, started.let_in_by) = (starter.clone(), let_in_by.clone());
            if let Some(author) = author {
                decide(&mut world, &id, author, edit(json!({ "command": "make y" }))).expect("it is taken");
            }
            let mut actor = actor(&world.system, who);
            actor.let_in_by = by.map(str::to_owned);
            let from = if who == "anna" { "anna" } else { "dirk" };
            let delegation = Delegation { from: from.to_owned(), to: "cleo".to_owned(), until: None };
            let inputs = [
                Input::Delegate { interrupt: id.clone(), delegation },
                Input::Reassign {
                    interrupt: id.clone(),
                    to: to_names(&["cleo", "ben", "olga"], &[]),
                    text: None,
                },
            ];
            for input in inputs {
                let told = world.try_send(&actor, input);
                let refused = told == Err(Rejection::Refused(Refusal::OwnHandOver));
                assert_eq!(refused, !may && !self_approval, "{about}: {told:?}");
                assert!(refused || told.is_ok(), "{about}: {told:?}");
            }
        }
    }
}

/// A person and the creator of this person's login link are one voter. The local operator is an exception, because the
/// operator creates all login links without an identity provider.
#[test]
fn whoever_lets_themselves_in_as_others_is_one_of_them() {
    // Voters in order, each with the creator of the voter's login link.
    type Votes = &'static [(&'static str, Option<&'static str>)];
    let four = Assignment { self_approval: false, ..stages(vec![of_groups(&["legal"], 2)]) };
    let in_turn = stages(vec![of_people(&["anna"], 1), of_people(&["ben"], 1)]);
    let quorum = stages(vec![of_groups(&["legal"], 2)]);
    let edited = || edit(json!({ "command": "make y" }));
    let table: [(&str, &Assignment, Votes, bool); 7] = [
        ("an own edit", &four, &[("anna", Some("ben")), ("ben", None), ("dirk", None)], true),
        (
            "an edit of whoever let them in",
            &four,
            &[("ben", None), ("anna", Some("ben")), ("dirk", None)],
            true,
        ),
        ("two logins of one", &quorum, &[("anna", Some("olga")), ("ben", Some("olga"))], true),
        ("one's own, and one that one made", &quorum, &[("ben", None), ("anna", Some("ben"))], true),
        (
            "two logins of one, and somebody else",
            &quorum,
            &[("anna", Some("olga")), ("ben", Some("olga")), ("dirk", None)],
            false,
        ),
        (
            "logins that the operator made",
            &quorum,
            &[("anna", Some("operator")), ("ben", Some("operator"))],
            false,
        ),
        ("two stages", &in_turn, &[("anna", Some("olga")), ("ben", Some("olga"))], true),
    ];
    for (about, assignment, votes, is_open) in table {
        let (mut world, id) = gated(assignment.clone());
        let mut told = Vec::new();
        for (who, let_in_by) in votes {
            let by = Actor { let_in_by: let_in_by.map(str::to_owned), ..actor(&world.system, who) };
            let decision = if assignment.self_approval { choose("approve") } else { edited() };
            told.push(world.try_send(&by, Input::Decide { interrupt: id.clone(), decision, holder: None }));
        }
        assert_eq!(world.run.interrupts[&id].is_open(), is_open, "{about}: {told:?}");
    }
}

#[test]
fn whom_a_delegate_names_decides_too_and_a_circle_gains_nobody() {
    let (mut world, id) = gated(stages(vec![of_people(&["anna"], 1)]));
    delegate(&mut world, &id, "anna", "cleo").expect("it is taken");
    delegate(&mut world, &id, "cleo", "ben").expect("it is theirs meanwhile");
    let back = delegate(&mut world, &id, "ben", "anna");
    assert!(back.is_ok(), "anna is asked anyhow: {back:?}");
    decide(&mut world, &id, "ben", choose("approve")).expect("ben decides for anna");
    let standing = &world.run.interrupts[&id];
    assert_eq!(standing.votes[0].seat.in_place_of.as_deref(), Some("anna"));
}

/// When a person in a chain of delegations leaves, their delegation and those after it in the chain end.
#[test]
fn a_delegation_ends_with_whoever_it_went_through() {
    let (mut world, id) = gated(stages(vec![of_people(&["anna"], 1)]));
    delegate(&mut world, &id, "anna", "ben").expect("it is taken");
    delegate(&mut world, &id, "ben", "cleo").expect("it is theirs meanwhile");
    leave(&mut world.system, "ben");
    let told = decide(&mut world, &id, "cleo", choose("approve"));
    assert_eq!(told, Err(Rejection::Refused(Refusal::NotAnApprover)));
}

#[test]
fn a_vote_may_be_taken_back_after_the_delegation_has_ended() {
    let (mut world, id) = gated(stages(vec![of_groups(&["legal"], 2)]));
    let until = Some(world.now.plus_ms(1_000));
    let delegation = Delegation { from: "anna".to_owned(), to: "cleo".to_owned(), until };
    let [anna, cleo] = ["anna", "cleo"].map(|id| actor(&world.system, id));
    world.try_send(&anna, Input::Delegate { interrupt: id.clone(), delegation }).expect("it is taken");
    decide(&mut world, &id, "cleo", choose("approve")).expect("in the place of anna");
    world.pass_ms(2_000);
    world.try_send(&cleo, Input::TakeBack { interrupt: id.clone() }).expect("it is theirs");
    assert!(world.run.interrupts[&id].votes.is_empty());
}

/// Change to the role or groups of a person.
type Change = fn(&mut World);

/// A vote is withdrawn if its voter may no longer vote in the role or group of the vote.
#[test]
fn a_vote_goes_with_the_seat_that_it_was_cast_in() {
    let legal = stages(vec![of_groups(&["legal"], 2)]);
    let open = stages(vec![of_people(&[], 2)]);
    let table: [(&str, &Assignment, &str, Change, usize); 5] = [
        ("another group", &legal, "anna", |world| set(world, "anna", &[Role::Reviewer], &["finance"]), 0),
        ("an auditor now", &legal, "anna", |world| set(world, "anna", &[Role::Auditor], &["legal"]), 0),
        ("the same", &legal, "anna", |world| set(world, "anna", &[Role::Reviewer], &["legal"]), 1),
        ("no operator any more", &open, "olga", |world| set(world, "olga", &[Role::Reviewer], &[]), 0),
        ("somebody else left", &legal, "anna", |world| leave(&mut world.system, "cleo"), 1),
    ];
    for (about, assignment, who, change, votes) in table {
        let (mut world, id) = gated(assignment.clone());
        decide(&mut world, &id, who, choose("approve")).expect("it is taken");
        change(&mut world);
        world.send(Input::PeopleChanged);
        assert_eq!(world.run.interrupts[&id].votes.len(), votes, "{about}");
    }
}

#[test]
fn what_is_settled_stays_as_it_was() {
    let (mut world, id) = gated(stages(vec![of_groups(&["legal"], 2)]));
    for who in ["anna", "ben"] {
        decide(&mut world, &id, who, choose("approve")).expect("it is taken");
    }
    leave(&mut world.system, "anna");
    let told = decide(&mut world, &id, "ben", choose("approve")).expect("the same again");
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(world.run.interrupts[&id].agreed().len(), 2);
}

/// If the only named approver leaves before the interrupt opens, admins and operators become the approvers of the
/// stage.
#[test]
fn an_ask_of_those_who_left_goes_to_admins_and_operators() {
    let mut definition = definition();
    let assignment = stages(vec![of_people(&["anna"], 1), of_groups(&["finance"], 1)]);
    definition
        .gates
        .kinds
        .insert(Kind::ToolApproval, KindGate { assignment: Some(assignment), ..KindGate::default() });
    let mut world = World::new(definition);
    people(&mut world.system);
    let mut world = world.with("work", vec![calls(&[command("make x")])]);
    world.person(world.start_input(Config::default()));
    leave(&mut world.system, "anna");
    world.work();
    let id = world.open(Kind::ToolApproval);
    let asked = &world.run.interrupts[&id].assignment;
    assert_eq!(asked.stages, [Stage::default(), of_groups(&["finance"], 1)], "the other stage stays");
}

/// The quorum of an assignment that falls to admins and operators is at most the number of these people.
#[test]
fn what_is_emptied_asks_for_as_many_as_there_are() {
    let (mut world, id) = gated(stages(vec![of_groups(&["legal"], 3)]));
    let everybody: Vec<String> = world.system.people.deciding().map(str::to_owned).collect();
    for who in everybody.iter().filter(|who| !["olga", "operator"].contains(&who.as_str())) {
        leave(&mut world.system, who);
    }
    world.send(Input::PeopleChanged);
    let now = &world.run.interrupts[&id].assignment;
    assert_eq!(now.stages, [of_people(&[], 2)], "olga, and whoever has the operator's token");
}

/// Several stages that fall to admins and operators need different people as long as there are enough. Otherwise one
/// person may vote in several stages, which the assignment records.
#[test]
fn what_is_emptied_is_for_different_people_as_long_as_there_are_enough() {
    for (left, distinct, is_settled) in
        [(&["olga", "operator"][..], true, false), (&["operator"], false, true)]
    {
        let (mut world, id) = gated(stages(vec![of_people(&["anna"], 1), of_groups(&["finance"], 1)]));
        let everybody: Vec<String> = world.system.people.deciding().map(str::to_owned).collect();
        for who in everybody.iter().filter(|who| !left.contains(&who.as_str())) {
            leave(&mut world.system, who);
        }
        world.send(Input::PeopleChanged);
        let now = &world.run.interrupts[&id].assignment;
        assert_eq!(now.stages, [Stage::default(), Stage::default()], "{left:?}");
        assert_eq!(now.distinct, distinct, "{left:?}");
        decide(&mut world, &id, "operator", choose("approve")).expect("it is taken");
        assert!(world.run.interrupts[&id].is_open(), "{left:?}");
        // The second vote either takes the second stage, or changes nothing.
        let _ = decide(&mut world, &id, "operator", choose("approve"));
        assert_eq!(!world.run.interrupts[&id].is_open(), is_settled, "{left:?}");
    }
}

/// A person's grants and earlier approvals apply only where this person could decide alone.
#[test]
fn whose_word_holds_for_the_next_time() {
    let mut system = World::new(definition()).system;
    people(&mut system);
    leave(&mut system, "ben");
    let of_anna = stages(vec![of_people(&["anna", "ben"], 1)]);
    let own = Assignment { self_approval: false, ..Assignment::default() };
    let table = [
        (&of_anna, "anna", true),
        (&of_anna, "ben", false),
        (&of_anna, "olga", false),
        (&Assignment::default(), "olga", true),
        (&Assignment::default(), "anna", false),
        (&stages(vec![of_groups(&["legal"], 2)]), "anna", false),
        (&stages(vec![of_people(&["anna"], 1), of_people(&["cleo"], 1)]), "anna", false),
        (&own, "olga", true),
        (&own, "operator", false),
    ];
    for (assignment, who, expected) in table {
        assert_eq!(
            assignment.trusts(who, &system.people, Some("operator")),
            expected,
            "{who}: {assignment:?}"
        );
    }
}

/// Decisions that a person made before leaving are no longer valid, even if a new person has the same name.
#[test]
fn what_somebody_decided_before_they_left_holds_no_more() {
    let mut system = World::new(definition()).system;
    people(&mut system);
    let of_anna = stages(vec![of_people(&["anna"], 1)]);
    let left = of_system(Fact::PersonLeft { person: "anna".to_owned() });
    system.apply(&left);
    let back = Fact::PersonSet { person: "anna".to_owned(), is: person(&[Role::Reviewer], &[]) };
    system.apply(&of_system(back));
    for (at, expected) in [(left.at, false), (left.at.plus_ms(1), true)] {
        assert_eq!(
            of_anna.still_trusts(ResponsiblePeople::for_person("anna"), at, &system.people, None),
            expected
        );
    }
}

/// A grant never releases work of its giver, or of the creator of the giver's login link. A grant also never releases
/// work whose starter has a login link from one of these two people.
#[test]
fn a_grant_is_of_whoever_gave_it_and_own_work_of_both() {
    let mut system = World::new(definition()).system;
    people(&mut system);
    let at = Timestamp::from_millis(1);
    let by = |id, hand| ResponsiblePeople { id, hand };
    let of_legal = Assignment { self_approval: false, ..stages(vec![of_groups(&["legal"], 1)]) };
    for (who, starter, expected) in [
        (by("anna", "olga"), by("cleo", "cleo"), true),
        (by("anna", "anna"), by("anna", "olga"), false),
        (by("anna", "olga"), by("olga", "olga"), false),
        (by("anna", "olga"), by("cleo", "olga"), false),
        (by("olga", "anna"), by("cleo", "cleo"), false),
    ] {
        let told = of_legal.still_trusts(who, at, &system.people, Some(starter));
        assert_eq!(told, expected, "{who:?} {starter:?}");
    }
}

/// When the holder of a claim leaves, the claim ends, and others see the interrupt as unclaimed.
#[test]
fn a_claim_ends_with_whoever_claimed_it() {
    let (mut world, id) = gated(stages(vec![of_groups(&["legal"], 1)]));
    let anna = actor(&world.system, "anna");
    let claim = Input::Claim { interrupt: id.clone(), holder: None, over: None };
    world.try_send(&anna, claim).expect("it is hers");
    leave(&mut world.system, "ben");
    assert!(world.send(Input::PeopleChanged).is_empty(), "somebody else left");
    leave(&mut world.system, "anna");
    world.send(Input::PeopleChanged);
    assert_eq!(world.run.interrupts[&id].claim, None);
    assert!(world.send(Input::PeopleChanged).is_empty(), "once");

    // A client with a claim may be running the call, so its claim stays.
    let (mut world, id) = gated(stages(vec![of_groups(&["legal"], 1)]));
    let holder = Some(ClaimHolder { node: 1, number: 7 });
    world.try_send(&anna, Input::Claim { interrupt: id.clone(), holder, over: None }).expect("it is its");
    leave(&mut world.system, "anna");
    world.send(Input::PeopleChanged);
    assert!(world.run.interrupts[&id].claim.is_some());
}

#[test]
fn whoever_stands_in_gives_no_grant() {
    let (mut world, id) = gated(stages(vec![of_people(&["anna"], 1)]));
    assert!(world.run.interrupts[&id].offers("approve_session").is_some(), "the test means something");
    delegate(&mut world, &id, "anna", "cleo").expect("it is taken");
    let told = decide(&mut world, &id, "cleo", choose("approve_session"));
    assert!(is_invalid(&told), "{told:?}");
    decide(&mut world, &id, "cleo", choose("approve")).expect("she may allow this one");
    assert!(!world.run.interrupts[&id].is_open());
}

#[test]
fn who_is_away_can_not_be_gone_around_by_their_own_delegate() {
    let four = Assignment { self_approval: false, ..stages(vec![of_people(&["olga"], 1)]) };
    let (mut world, id) = gated(four);
    let away = Away { until: None, delegate: Some("dirk".to_owned()) };
    world.system.apply(&of_system(Fact::AwaySet { person: "olga".to_owned(), away: Some(away) }));
    world.started_by().id = "olga".to_owned();
    let told = decide(&mut world, &id, "dirk", choose("approve"));
    assert_eq!(told, Err(Rejection::Refused(Refusal::OwnWork)));
}

/// Ben cannot vote in the first stage, because he is the only approver of the second stage.
#[test]
fn who_is_needed_at_a_later_stage_does_not_agree_before() {
    let in_turn = || stages(vec![of_people(&["anna", "ben"], 1), of_people(&["ben"], 1)]);
    let (mut world, id) = gated(in_turn());
    let told = decide(&mut world, &id, "ben", choose("approve"));
    assert_eq!(told, Err(Rejection::Refused(Refusal::NeededElsewhere)));
    decide(&mut world, &id, "anna", choose("approve")).expect("ben is left");
    decide(&mut world, &id, "ben", choose("approve")).expect("it is his stage");
    assert!(!world.run.interrupts[&id].is_open());

    // A rejection ends the interrupt, so no later approver is needed.
    let (mut world, id) = gated(in_turn());
    decide(&mut world, &id, "ben", choose("reject")).expect("it ends there");
    assert!(!world.run.interrupts[&id].is_open());

    // If one person may approve in several stages, Ben can vote in both.
    let (mut world, id) = gated(Assignment { distinct: false, ..in_turn() });
    decide(&mut world, &id, "ben", choose("approve")).expect("it is taken");
    decide(&mut world, &id, "ben", choose("approve")).expect("he agrees again");
    assert!(!world.run.interrupts[&id].is_open());

    // The first stage needs two of three people. Ben is needed for the second stage, so he cannot vote in the first.
    let (mut world, id) = gated(stages(vec![of_people(&["anna", "ben", "cleo"], 2), of_people(&["ben"], 1)]));
    decide(&mut world, &id, "anna", choose("approve")).expect("ben and cleo are left");
    let told = decide(&mut world, &id, "ben", choose("approve"));
    assert_eq!(told, Err(Rejection::Refused(Refusal::NeededElsewhere)));
    decide(&mut world, &id, "cleo", choose("approve")).expect("ben is left");

    // All groups must approve in the first stage, and nobody may vote in both stages.
    let each = Stage { roles: Represented::All, ..of_groups(&["legal", "finance"], 2) };
    let (mut world, id) = gated(stages(vec![each, of_people(&["dirk"], 1)]));
    let told = decide(&mut world, &id, "dirk", choose("approve"));
    assert_eq!(told, Err(Rejection::Refused(Refusal::NeededElsewhere)));
    decide(&mut world, &id, "anna", choose("approve")).expect("it is taken");
    decide(&mut world, &id, "cleo", choose("approve")).expect("it is taken");
    decide(&mut world, &id, "dirk", choose("approve")).expect("it is his stage");
    assert!(!world.run.interrupts[&id].is_open());
}

/// Ben approved in the first stage while Cleo was available for the second. After Cleo leaves, Ben's vote is
/// withdrawn, so that Anna can approve in the first stage and Ben in the second.
#[test]
fn a_vote_that_leaves_nobody_for_another_stage_counts_no_more() {
    let (mut world, id) = gated(stages(vec![of_people(&["anna", "ben"], 1), of_people(&["ben", "cleo"], 1)]));
    decide(&mut world, &id, "ben", choose("approve")).expect("cleo is left");
    leave(&mut world.system, "cleo");
    let told = world.send(Input::PeopleChanged);
    assert_eq!(told, ["vote_withdrawn ben"]);
    decide(&mut world, &id, "anna", choose("approve")).expect("it is taken");
    decide(&mut world, &id, "ben", choose("approve")).expect("it is his stage");
    assert!(!world.run.interrupts[&id].is_open());
}
