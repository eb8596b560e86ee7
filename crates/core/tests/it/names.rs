//! Names are compared in a normal form: NFKC with full case folding. People with equal names are the same person,
//! even if an earlier version stored both.

use holdshort_core::actor::{Actor, Role};
use holdshort_core::interrupt::{Assignment, Represented, Stage};
use holdshort_core::name::{form, is_same};
use holdshort_core::people::PeopleSource;
use holdshort_core::system::{Fact, Input, Rejection, System};
use holdshort_core::time::Timestamp;

use crate::assignments::{decide, held, of_groups, of_people, stages};
use crate::world::{World, choose, of_system, person};

/// Pairs of names of the same person.
const SAME: [(&str, &str); 12] = [
    ("anna", "ANNA"),
    ("straße", "STRASSE"),
    ("straße", "STRA\u{1e9e}E"),
    ("Jos\u{e9}", "Jose\u{301}"),
    ("anna", "\u{ff41}nna"),
    ("\u{fb01}ona", "fiona"),
    ("\u{3c3}\u{3c2}", "\u{3a3}\u{3a3}"),
    ("\u{212b}sa", "\u{e5}sa"),
    ("\u{2160}vo", "ivo"),
    ("\u{3391}", "khz"),
    ("an\u{200b}na", "anna"),
    ("\u{1fb3}", "\u{3b1}\u{399}"),
];

/// Pairs of names of two different people.
const OTHER: [(&str, &str); 5] =
    [("anna", "anne"), ("jose", "jos\u{e9}"), ("anna", "\u{430}nna"), ("i", "\u{131}"), ("anna.", "anna")];

#[test]
fn one_form_for_each_way_to_write_a_name() {
    for (one, other) in SAME {
        assert!(
            is_same(one, other) && is_same(other, one),
            "{one:?} {other:?}: {:?} {:?}",
            form(one),
            form(other)
        );
        for name in [one, other] {
            assert_eq!(form(&form(name)), form(name), "{name:?}");
        }
    }
    for (one, other) in OTHER {
        assert!(!is_same(one, other), "{one:?} {other:?}");
    }
}

#[test]
fn a_name_that_somebody_has_is_taken_in_every_form() {
    for (one, other) in SAME.into_iter().filter(|(one, _)| !one.contains('\u{200b}')) {
        let mut system = System::default();
        let set = |system: &System, source: PeopleSource, id: &str| {
            let people = vec![(id.to_owned(), person(&[Role::Reviewer], &[]))];
            let (actor, input) = match source {
                PeopleSource::Api => {
                    let (id, person) = people[0].clone();
                    (Actor::admin("root", "rest"), Input::SetPerson { id, person })
                }
                PeopleSource::File => (Actor::engine(), Input::SetPeople { source, people }),
                PeopleSource::Provider => {
                    let (id, person) = people[0].clone();
                    (Actor::engine(), Input::TakeUp { id, person })
                }
            };
            system.handle(Timestamp::from_millis(1), &actor, input)
        };
        for event in set(&system, PeopleSource::Api, one).expect("it is free") {
            system.apply(&event);
        }
        for source in [PeopleSource::Api, PeopleSource::File, PeopleSource::Provider] {
            let refused = set(&system, source, other);
            assert!(matches!(refused, Err(Rejection::NameTaken { .. })), "{one:?} {other:?}: {refused:?}");
        }
    }
}

/// Returns a command that waits for approval, in a system with two equal names, as an earlier version may have stored
/// them.
fn with_doubles(assignment: Assignment) -> (World, holdshort_core::id::InterruptId) {
    let (mut world, id) = held(assignment);
    for name in ["straße", "STRASSE", "gert"] {
        let is = person(&[Role::Reviewer], &["road"]);
        world.system.apply(&of_system(Fact::PersonSet { person: name.to_owned(), is }));
    }
    (world, id)
}

#[test]
fn two_people_of_one_name_count_once_in_a_quorum() {
    let each = Stage { roles: Represented::All, ..of_people(&["straße", "gert"], 2) };
    let table = [
        ("a group", stages(vec![of_groups(&["road"], 2)])),
        ("names", stages(vec![of_people(&["straße", "STRASSE", "gert"], 2)])),
        ("one stage after the other", stages(vec![of_groups(&["road"], 1), of_groups(&["road"], 1)])),
        ("each of those who are named", stages(vec![Stage { groups: vec!["road".to_owned()], ..each }])),
    ];
    for (about, assignment) in table {
        let (mut world, id) = with_doubles(assignment);
        decide(&mut world, &id, "straße", choose("approve")).expect("it is taken");
        let _ = decide(&mut world, &id, "STRASSE", choose("approve"));
        assert!(world.run.interrupts[&id].is_open(), "{about}: one person has agreed twice");
        decide(&mut world, &id, "gert", choose("approve")).expect("it is taken");
        assert!(!world.run.interrupts[&id].is_open(), "{about}");
    }
}

#[test]
fn nobody_releases_their_own_work_under_another_form_of_their_name() {
    let (mut world, id) =
        with_doubles(Assignment { self_approval: false, ..stages(vec![of_groups(&["road"], 1)]) });
    world.started_by().id = "straße".to_owned();
    assert!(decide(&mut world, &id, "STRASSE", choose("approve")).is_err());
    decide(&mut world, &id, "gert", choose("approve")).expect("it is taken");
}

/// Two people with equal names cannot reach a quorum of two.
#[test]
fn a_quorum_counts_them_once_when_it_looks_for_who_is_left() {
    let (world, _) = with_doubles(Assignment::default());
    let two = stages(vec![of_people(&["straße", "STRASSE"], 2)]);
    assert!(two.find_shortage(&world.system.people, None).is_some());
    let doubles: Vec<Vec<&str>> = world.system.people.doubles().collect();
    assert_eq!(doubles, [["STRASSE", "straße"]]);
}
