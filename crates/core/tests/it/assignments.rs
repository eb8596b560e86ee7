//! Rules of assignments (approvers, stages and quorums), tested on the interrupt of a held command.

use holdshort_core::actor::{Actor, Role};
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{
    Assignment, Decision, Delegation, HandedTo, Kind, Refusal, Represented, Stage,
};
use holdshort_core::people::Away;
use holdshort_core::run::{Config, Input, Rejection};
use holdshort_core::system::{Fact, System};
use serde_json::{Value, json};

use crate::world::{World, calls, choose, choose_with, command, definition, edit, of_system, person};

/// Adds six people: `anna` and `ben` in the group legal, `cleo` in finance, `dirk` in both groups, the operator
/// `olga` and the auditor `audrey`.
pub(crate) fn people(system: &mut System) {
    let all: [(&str, &[Role], &[&str]); 6] = [
        ("anna", &[Role::Reviewer], &["legal"]),
        ("ben", &[Role::Reviewer], &["legal"]),
        ("cleo", &[Role::Reviewer], &["finance"]),
        ("dirk", &[Role::Reviewer], &["legal", "finance"]),
        ("olga", &[Role::Operator], &[]),
        ("audrey", &[Role::Auditor], &["legal"]),
    ];
    for (id, roles, groups) in all {
        let fact = Fact::PersonSet { person: id.to_owned(), is: person(roles, groups) };
        system.apply(&of_system(fact));
    }
}

pub(crate) fn actor(system: &System, id: &str) -> Actor {
    let role = system.people.roles(id).into_iter().next_back().unwrap_or(Role::Operator);
    Actor { id: id.to_owned(), role, via: Some("rest".to_owned()), let_in_by: None }
}

pub(crate) fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|each| (*each).to_owned()).collect()
}

pub(crate) fn of_people(of: &[&str], required: u32) -> Stage {
    Stage { approvers: names(of), required, ..Stage::default() }
}

pub(crate) fn of_groups(of: &[&str], required: u32) -> Stage {
    Stage { groups: names(of), required, ..Stage::default() }
}

pub(crate) fn stages(stages: Vec<Stage>) -> Assignment {
    Assignment { stages, ..Assignment::default() }
}

/// Starts a run as the operator. Returns the interrupt of a command that waits for approval, with the given assignment.
pub(crate) fn held(assignment: Assignment) -> (World, InterruptId) {
    let mut world = World::new(definition());
    people(&mut world.system);
    let mut world = world.with("work", vec![calls(&[command("make x")])]);
    world.person(world.start_input(Config::default()));
    world.work();
    let id = world.open(Kind::ToolApproval);
    world.run.interrupts.change(&id, |interrupt| interrupt.assignment = assignment);
    (world, id)
}

pub(crate) fn decide(
    world: &mut World,
    id: &InterruptId,
    who: &str,
    decision: Decision,
) -> Result<Vec<String>, Rejection> {
    let actor = actor(&world.system, who);
    world.try_send(&actor, Input::Decide { interrupt: id.clone(), decision, holder: None })
}

/// Applies the votes in order. Returns `ok` or the rejection for each, followed by the state of the interrupt.
fn played(assignment: &Assignment, votes: &[(&str, &str)]) -> String {
    let (mut world, id) = held(assignment.clone());
    let mut told = Vec::new();
    for (who, option) in votes {
        let decision = match *option {
            "edit" => edit(json!({ "command": "make y" })),
            "respond" => choose_with("respond", "It is made."),
            option => choose(option),
        };
        told.push(match decide(&mut world, &id, who, decision) {
            Ok(_) => "ok".to_owned(),
            Err(Rejection::Refused(Refusal::NotAnApprover)) => "others".to_owned(),
            Err(Rejection::Refused(Refusal::OwnWork)) => "own".to_owned(),
            Err(Rejection::Refused(Refusal::NotYourStage { stage })) => format!("stage {stage}"),
            Err(Rejection::Refused(Refusal::Role)) => "role".to_owned(),
            Err(Rejection::Refused(Refusal::AlreadyResolved)) => "resolved".to_owned(),
            Err(other) => format!("{other:?}"),
        });
    }
    let standing = &world.run.interrupts[&id];
    let settled = standing.resolution.as_ref().and_then(|resolution| resolution.option.clone());
    let by: Vec<&str> = standing.agreed().into_iter().map(|vote| vote.by.as_str()).collect();
    format!("{} → {} [{}]", told.join(", "), settled.unwrap_or_else(|| "open".to_owned()), by.join(" "))
}

/// A test case: title, assignment, votes in order, and expected outcome.
type Row<'a> = (&'a str, &'a Assignment, Vec<(&'a str, &'a str)>, &'a str);

#[test]
fn what_an_assignment_asks_for() {
    let (a, r) = ("approve", "reject");
    let one = stages(vec![of_people(&["anna"], 1)]);
    let two_of_legal = stages(vec![of_groups(&["legal"], 2)]);
    let both = stages(vec![Stage { roles: Represented::All, ..of_groups(&["legal", "finance"], 2) }]);
    let in_turn = stages(vec![of_groups(&["legal"], 1), of_groups(&["finance"], 1)]);
    let overlapping = Assignment { distinct: false, ..in_turn.clone() };
    let then_operators = stages(vec![of_people(&["anna"], 1), Stage::default()]);
    let four_eyes = Assignment { self_approval: false, ..Assignment::default() };
    let four_of_legal = Assignment { self_approval: false, ..two_of_legal.clone() };
    let table: Vec<Row<'_>> = vec![
        ("the one who is named", &one, vec![("anna", a)], "ok → approve [anna]"),
        ("nobody else", &one, vec![("ben", a), ("olga", a), ("audrey", a)], "others, others, role → open []"),
        ("a group", &two_of_legal, vec![("anna", a), ("ben", a)], "ok, ok → approve [anna ben]"),
        ("not another group", &two_of_legal, vec![("cleo", a)], "others → open []"),
        ("once each", &two_of_legal, vec![("anna", a), ("anna", a)], "ok, ok → open []"),
        ("one says no", &two_of_legal, vec![("anna", a), ("ben", r)], "ok, ok → reject [ben]"),
        ("who changes their mind", &two_of_legal, vec![("anna", a), ("anna", r)], "ok, ok → reject [anna]"),
        (
            "both groups",
            &both,
            vec![("anna", a), ("ben", a), ("cleo", a)],
            "ok, ok, ok → approve [anna ben cleo]",
        ),
        ("one person of both groups is one", &both, vec![("dirk", a)], "ok → open []"),
        ("of both, and another", &both, vec![("dirk", a), ("ben", a)], "ok, ok → approve [dirk ben]"),
        ("in turn", &in_turn, vec![("anna", a), ("cleo", a)], "ok, ok → approve [anna cleo]"),
        ("not before their turn", &in_turn, vec![("cleo", a), ("anna", a)], "stage 1, ok → open []"),
        ("no more after it", &in_turn, vec![("anna", a), ("ben", a)], "ok, stage 2 → open []"),
        ("may still say no", &in_turn, vec![("anna", a), ("anna", r)], "ok, ok → reject [anna]"),
        ("in both stages, once", &in_turn, vec![("dirk", a), ("dirk", a)], "ok, ok → open []"),
        (
            "in both stages, allowed",
            &overlapping,
            vec![("dirk", a), ("dirk", a)],
            "ok, ok → approve [dirk dirk]",
        ),
        (
            "an edit begins anew",
            &in_turn,
            vec![("anna", a), ("cleo", "edit"), ("anna", "edit")],
            "ok, ok, ok → edit [cleo anna]",
        ),
        (
            "an edit resets",
            &two_of_legal,
            vec![("anna", a), ("ben", "edit"), ("dirk", a)],
            "ok, ok, ok → open []",
        ),
        (
            "the same edit agrees",
            &two_of_legal,
            vec![("ben", "edit"), ("dirk", "edit")],
            "ok, ok → edit [ben dirk]",
        ),
        ("then operators", &then_operators, vec![("anna", a), ("olga", a)], "ok, ok → approve [anna olga]"),
        ("whoever started it", &four_eyes, vec![("operator", a), ("olga", a)], "own, ok → approve [olga]"),
        ("may stop it", &four_eyes, vec![("operator", r)], "ok → reject [operator]"),
        (
            "whoever wrote the edit",
            &four_of_legal,
            vec![("anna", "edit"), ("ben", "edit")],
            "ok, ok → open []",
        ),
        (
            "others released it",
            &four_of_legal,
            vec![("anna", "edit"), ("ben", "edit"), ("dirk", "edit")],
            "ok, ok, ok → edit [anna ben dirk]",
        ),
        ("an answer instead of it", &two_of_legal, vec![("anna", "respond")], "ok → respond [anna]"),
        (
            "after the end",
            &one,
            vec![("anna", a), ("anna", a), ("anna", r)],
            "ok, ok, resolved → approve [anna]",
        ),
    ];
    for (about, assignment, votes, expected) in table {
        assert_eq!(played(assignment, &votes), expected, "{about}");
    }
}

#[test]
fn a_vote_is_taken_back_until_the_resolution() {
    let (mut world, id) = held(stages(vec![of_groups(&["legal"], 2)]));
    let back = |world: &mut World, who: &str| {
        let actor = actor(&world.system, who);
        world.try_send(&actor, Input::TakeBack { interrupt: id.clone() })
    };
    assert_eq!(back(&mut world, "anna"), Err(Rejection::Refused(Refusal::NoVote)));
    decide(&mut world, &id, "anna", choose("approve")).expect("it is taken");
    assert_eq!(back(&mut world, "cleo"), Err(Rejection::Refused(Refusal::NotAnApprover)));
    back(&mut world, "anna").expect("it is taken back");
    decide(&mut world, &id, "ben", choose("approve")).expect("it is taken");
    assert!(world.run.interrupts[&id].is_open(), "one vote of two stands");
    decide(&mut world, &id, "dirk", choose("approve")).expect("it is taken");
    assert_eq!(back(&mut world, "ben"), Err(Rejection::Refused(Refusal::AlreadyResolved)));
}

/// When an approver leaves, their vote is withdrawn. If the remaining approvers cannot decide, the interrupt is
/// reassigned to admins and operators.
#[test]
fn who_leaves_takes_their_vote_along() {
    let (mut world, id) = held(stages(vec![of_people(&["anna", "ben"], 2)]));
    decide(&mut world, &id, "anna", choose("approve")).expect("it is taken");
    leave(&mut world.system, "anna");
    assert_eq!(
        decide(&mut world, &id, "ben", choose("approve")).map(|told| told.len()),
        Ok(2),
        "a vote withdrawn, a vote cast"
    );
    assert!(world.run.interrupts[&id].is_open());
    world.send(Input::PeopleChanged);
    let standing = &world.run.interrupts[&id];
    assert_eq!(standing.assignment, stages(vec![of_people(&[], 2)]), "it escalates");
    assert_eq!((standing.version, standing.votes.len()), (2, 0));
    for who in ["olga", "operator"] {
        assert!(world.run.interrupts[&id].is_open());
        decide(&mut world, &id, who, choose("approve")).expect("operators decide");
    }
    assert!(!world.run.interrupts[&id].is_open());
}

pub(crate) fn leave(system: &mut System, id: &str) {
    let fact = Fact::PersonLeft { person: id.to_owned() };
    system.apply(&of_system(fact));
}

#[test]
fn nothing_escalates_that_can_be_settled() {
    let (mut world, id) = held(stages(vec![of_groups(&["legal"], 2)]));
    leave(&mut world.system, "anna");
    world.send(Input::PeopleChanged);
    assert_eq!(world.run.interrupts[&id].version, 1);
}

#[test]
fn a_delegate_decides_in_the_place_of_somebody() {
    let (mut world, id) = held(stages(vec![of_people(&["anna"], 1)]));
    let until = Some(world.now.plus_ms(60_000));
    let delegate = |from: &str, to: &str| Input::Delegate {
        interrupt: id.clone(),
        delegation: Delegation { from: from.to_owned(), to: to.to_owned(), until },
    };
    let refused = |world: &mut World, who: &str, input: Input| {
        let actor = actor(&world.system, who);
        world.try_send(&actor, input).expect_err("it is refused")
    };
    assert_eq!(
        refused(&mut world, "ben", delegate("anna", "ben")),
        Rejection::Refused(Refusal::NotAnApprover)
    );
    assert_eq!(refused(&mut world, "audrey", delegate("anna", "ben")), Rejection::Refused(Refusal::Role));
    assert_eq!(refused(&mut world, "anna", delegate("ben", "cleo")), Rejection::Refused(Refusal::OfAnother));
    for (from, to) in [("anna", "anna"), ("anna", "audrey"), ("anna", "nobody-here"), ("ben", "cleo")] {
        let invalid = refused(&mut world, "olga", delegate(from, to));
        assert!(matches!(invalid, Rejection::Refused(Refusal::Invalid(_))), "{from} {to}: {invalid:?}");
    }
    let anna = actor(&world.system, "anna");
    world.try_send(&anna, delegate("anna", "cleo")).expect("it is theirs to give");
    decide(&mut world, &id, "cleo", choose("approve")).expect("cleo decides for anna");
    let standing = &world.run.interrupts[&id];
    assert_eq!(standing.votes[0].seat.in_place_of.as_deref(), Some("anna"));
    assert!(!standing.is_open());
}

#[test]
fn a_delegation_ends_when_it_says() {
    let (mut world, id) = held(stages(vec![of_people(&["anna"], 1)]));
    let until = Some(world.now.plus_ms(1_000));
    let delegation = Delegation { from: "anna".to_owned(), to: "cleo".to_owned(), until };
    let anna = actor(&world.system, "anna");
    world.try_send(&anna, Input::Delegate { interrupt: id.clone(), delegation }).expect("it is taken");
    world.now = world.now.plus_ms(1_000);
    let late = decide(&mut world, &id, "cleo", choose("approve"));
    assert_eq!(late, Err(Rejection::Refused(Refusal::NotAnApprover)));
}

#[test]
fn who_is_away_is_stood_in_for_and_may_decide_all_the_same() {
    let assignment = Assignment { self_approval: false, ..stages(vec![of_people(&["anna"], 1)]) };
    for who in ["cleo", "anna"] {
        let (mut world, id) = held(assignment.clone());
        let away = Away { until: None, delegate: Some("cleo".to_owned()) };
        let fact = Fact::AwaySet { person: "anna".to_owned(), away: Some(away) };
        world.system.apply(&of_system(fact));
        decide(&mut world, &id, who, choose("approve")).expect("they may");
        assert!(!world.run.interrupts[&id].is_open(), "{who}");
    }
}

#[test]
fn others_are_asked_instead() {
    let (mut world, id) = held(stages(vec![of_groups(&["legal"], 2)]));
    decide(&mut world, &id, "dirk", choose("approve")).expect("it is taken");
    decide(&mut world, &id, "dirk", choose("approve")).expect("it is the same");
    let reassign = |to: Assignment| Input::Reassign {
        interrupt: id.clone(),
        to: HandedTo::Whole(to),
        text: Some("legal has no time".to_owned()),
    };
    let olga = actor(&world.system, "olga");
    for wrong in [
        stages(vec![of_people(&["audrey"], 1)]),
        stages(vec![of_people(&["nobody-here"], 1)]),
        stages(vec![of_groups(&["marketing"], 1)]),
        stages(vec![of_groups(&["finance"], 3)]),
        stages(vec![of_people(&["cleo"], 1), of_people(&["cleo"], 1)]),
    ] {
        let refused = world.try_send(&olga, reassign(wrong.clone()));
        assert!(matches!(refused, Err(Rejection::Refused(Refusal::Invalid(_)))), "{wrong:?}: {refused:?}");
    }
    let finance = stages(vec![of_groups(&["finance"], 2)]);
    world.try_send(&olga, reassign(finance)).expect("it is taken");
    let standing = &world.run.interrupts[&id];
    assert_eq!((standing.version, standing.votes.len()), (2, 0), "dirk voted as one of legal");
    assert_eq!(
        decide(&mut world, &id, "anna", choose("approve")),
        Err(Rejection::Refused(Refusal::NotAnApprover))
    );
    for who in ["cleo", "dirk"] {
        assert!(world.run.interrupts[&id].is_open());
        decide(&mut world, &id, who, choose("approve")).expect("it is taken");
    }
    assert!(!world.run.interrupts[&id].is_open());
}

/// `find_shortage` returns a reason for exactly those assignments that the current people cannot complete.
#[test]
fn what_an_assignment_lacks() {
    let mut system = System::default();
    people(&mut system);
    let all_of = |stage: Stage| Stage { roles: Represented::All, ..stage };
    let table: Vec<(&str, Assignment, bool)> = vec![
        ("anybody", Assignment::default(), true),
        ("two operators", stages(vec![of_people(&[], 2)]), true),
        ("three operators", stages(vec![of_people(&[], 3)]), false),
        ("legal, three", stages(vec![of_groups(&["legal"], 3)]), true),
        ("legal, four", stages(vec![of_groups(&["legal"], 4)]), false),
        ("an auditor", stages(vec![of_people(&["audrey"], 1)]), false),
        ("anna twice", stages(vec![of_people(&["anna"], 1), of_people(&["anna"], 1)]), false),
        (
            "anna twice, allowed",
            Assignment { distinct: false, ..stages(vec![of_people(&["anna"], 1), of_people(&["anna"], 1)]) },
            true,
        ),
        (
            "cleo or dirk, dirk, finance: two people, three stages",
            stages(vec![
                of_people(&["cleo", "dirk"], 1),
                of_people(&["dirk"], 1),
                of_groups(&["finance"], 1),
            ]),
            false,
        ),
        (
            "dirk or cleo, then dirk",
            stages(vec![of_people(&["dirk", "cleo"], 1), of_people(&["dirk"], 1)]),
            true,
        ),
        ("both groups", stages(vec![all_of(of_groups(&["legal", "finance"], 1))]), true),
        ("a group of nobody", stages(vec![all_of(of_groups(&["legal", "marketing"], 1))]), false),
        ("each of these", stages(vec![all_of(of_people(&["anna", "audrey"], 1))]), false),
        ("somebody else", Assignment { self_approval: false, ..Assignment::default() }, true),
        (
            "somebody else than the one who is named",
            Assignment { self_approval: false, ..stages(vec![of_people(&["operator"], 1)]) },
            false,
        ),
    ];
    for (about, assignment, can) in table {
        let lack = assignment.find_shortage(&system.people, Some("operator"));
        assert_eq!(lack.is_none(), can, "{about}: {lack:?}");
    }
}

/// A plain assignment is serialised as in older versions, so that older programs and journals can still read it.
#[test]
fn what_was_simple_is_written_as_before() {
    let (world, id) = held(Assignment::default());
    let opened = world.run.interrupts[&id].opened.clone();
    let stored = serde_json::to_value(&opened).expect("it serialises");
    assert_eq!(
        (&stored["quorum"], stored.get("approvers"), stored.get("assignment")),
        (&json!(1), None, None)
    );
    let staged = holdshort_core::interrupt::Opened {
        assignment: stages(vec![of_groups(&["legal"], 2), of_people(&["cleo"], 1)]),
        ..opened
    };
    let stored = serde_json::to_value(&staged).expect("it serialises");
    assert_eq!((stored.get("quorum"), stored.get("approvers")), (None, None));
    assert_eq!(
        serde_json::from_value::<holdshort_core::interrupt::Opened>(stored).expect("it is read"),
        staged
    );
}

/// A question to several people is resolved once the quorum has answered. The text of each answer is kept.
#[test]
fn several_people_answer_a_question() {
    let (mut world, id) = open_question(2);
    decide(&mut world, &id, "anna", choose_with("answer", "Yes.")).expect("it is taken");
    assert!(world.run.interrupts[&id].is_open());
    decide(&mut world, &id, "ben", choose_with("answer", "No.")).expect("it is taken");
    let standing = &world.run.interrupts[&id];
    assert!(!standing.is_open());
    assert_eq!(standing.answer_from_votes().text.as_deref(), Some("anna: Yes.\nben: No."));
}

/// The result names each person with their answer. A text that was sent with an answer of data is kept too.
#[test]
fn each_of_several_answers_stands_in_the_result() {
    let schema = json!({ "type": "object" });
    let (mut world, id) = asked_for(2, json!({ "question": "How many?", "response_schema": schema }));
    let answer = |n: u8, text: &str| Decision {
        text: Some(text.to_owned()),
        edit: json!({ "n": n }),
        ..choose("answer")
    };
    decide(&mut world, &id, "anna", answer(1, "about")).expect("it is taken");
    decide(&mut world, &id, "ben", answer(2, "")).expect("it is taken");
    let given = world.run.interrupts[&id].answer_from_votes();
    assert_eq!(given.text.as_deref(), Some("anna: {\"n\":1}\nanna: about\nben: {\"n\":2}"));
    let told = &world.run.asked_and_assumed()["questions"][0];
    assert_eq!(
        told["answers"],
        json!([{ "by": "anna", "answer": { "n": 1 }, "text": "about" }, { "by": "ben", "answer": { "n": 2 } }])
    );
}

/// Equal answers of several people are stored once, in the form that the question asks for. Different answers are
/// stored as one text that names each person.
#[test]
fn answers_that_are_alike_are_kept_as_one() {
    let typed = || json!({ "question": "How many?", "response_schema": { "type": "object" } });
    let data = |n: u8, text: &str| Decision {
        text: Some(text.to_owned()),
        edit: json!({ "n": n }),
        ..choose("answer")
    };
    let said = |text: &str| choose_with("answer", text);
    for (arguments, anna, ben, kept, is_data) in [
        (typed(), data(1, "about"), data(1, ""), "{\"n\":1}", true),
        (typed(), data(1, ""), data(2, ""), "anna: {\"n\":1}\nben: {\"n\":2}", false),
        (json!({ "question": "Is it so?" }), said("Yes."), said("Yes."), "Yes.", false),
        (json!({ "question": "Is it so?" }), said("Yes."), said("No."), "anna: Yes.\nben: No.", false),
    ] {
        let (mut world, id) = asked_for(2, arguments);
        decide(&mut world, &id, "anna", anna).expect("it is taken");
        decide(&mut world, &id, "ben", ben).expect("it is taken");
        let rows = world.run.answer_rows([&id]);
        let found: Vec<_> = rows.iter().map(|row| (row.answer.as_str(), row.is_data)).collect();
        assert_eq!(found, [(kept, is_data)]);
    }
}

#[test]
fn one_of_several_answers_where_one_is_enough() {
    let (mut world, id) = open_question(1);
    decide(&mut world, &id, "ben", choose_with("answer", "No.")).expect("it is taken");
    assert_eq!(world.run.interrupts[&id].answer_from_votes().text.as_deref(), Some("No."));
}

fn open_question(required: u32) -> (World, InterruptId) {
    asked_for(required, json!({ "question": "Is it so?" }))
}

fn asked_for(required: u32, arguments: Value) -> (World, InterruptId) {
    let mut definition = definition();
    let ask = definition.tools.get_mut("ask_human").expect("it is there");
    ask.parameters["properties"]["response_schema"] = json!({ "type": "object" });
    let gate = holdshort_core::definition::KindGate {
        assignment: Some(stages(vec![of_groups(&["legal"], required)])),
        ..Default::default()
    };
    definition.gates.kinds.insert(Kind::Question, gate);
    let mut world = World::new(definition);
    people(&mut world.system);
    let mut world = world.with("work", vec![calls(&[("ask_human", arguments)])]);
    let mut input = world.start_input(Config::default());
    if let Input::Start(start) = &mut input {
        start.input = json!({ "task": "Do it", "subject": "athlete-7" });
    }
    world.send(input);
    world.work();
    let id = world.open(Kind::Question);
    (world, id)
}
