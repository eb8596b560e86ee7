//! People: valid entries, delegates, and what happens when a person leaves.

use std::collections::BTreeSet;

use holdshort_core::actor::{Actor, Role};
use holdshort_core::digest::Digest;
use holdshort_core::envelope::Content;
use holdshort_core::event::{self, Event};
use holdshort_core::id::KeyId;
use holdshort_core::people::{Away, PeopleSource, Person, Since};
use holdshort_core::system::keys::NewKey;
use holdshort_core::system::{Fact, Input, Rejection, System};
use holdshort_core::time::Timestamp;

use crate::world::person;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn admin() -> Actor {
    Actor::admin("operator", "rest")
}

fn take(system: &mut System, events: &[Event]) -> usize {
    for event in events {
        system.apply(event);
    }
    events.len()
}

fn send(system: &mut System, actor: &Actor, input: Input) -> Result<usize, Rejection> {
    let events = system.handle(at(1_000), actor, input)?;
    Ok(take(system, &events))
}

fn set(system: &mut System, id: &str, roles: &[Role], groups: &[&str]) -> Result<usize, Rejection> {
    send(system, &admin(), Input::SetPerson { id: id.to_owned(), person: person(roles, groups) })
}

fn away(system: &mut System, id: &str, delegate: &str) {
    let away = Away { until: Some(at(5_000)), delegate: Some(delegate.to_owned()) };
    send(system, &admin(), Input::SetAway { id: id.to_owned(), away: Some(away) }).expect("it is taken");
}

#[test]
fn a_person_is_set_once_changed_and_removed() {
    let mut system = System::default();
    assert_eq!(set(&mut system, "anna", &[Role::Reviewer], &["legal"]), Ok(1));
    assert_eq!(set(&mut system, "anna", &[Role::Reviewer], &["legal"]), Ok(0), "nothing changes");
    assert_eq!(set(&mut system, "anna", &[Role::Operator], &["legal"]), Ok(1));
    assert!(system.people.can_decide("anna") && system.people.is_in("anna", "legal"));
    let remove = |id: &str| Input::RemovePerson { id: id.to_owned() };
    assert_eq!(send(&mut system, &admin(), remove("anna")), Ok(1));
    assert_eq!(send(&mut system, &admin(), remove("anna")), Err(Rejection::UnknownPerson));
    assert!(!system.people.can_decide("anna"));
    assert!(system.people.is_barred("anna"), "who has left is told from who never was here");
    assert!(!system.people.is_barred("ben"));
}

#[test]
fn names_that_are_taken_or_do_not_show_are_refused() {
    let mut system = System::default();
    for id in
        ["operator", "engine", "agent", "starter", "", " anna", "an\u{202e}na", "an\nna", "an\u{200b}na"]
    {
        let refused = set(&mut system, id, &[Role::Reviewer], &[]);
        assert!(matches!(refused, Err(Rejection::Invalid(_))), "{id:?}: {refused:?}");
    }
    for id in ["anna", "Łukasz", "李雷", "anna@example.org", "auth0|12"] {
        assert_eq!(set(&mut system, id, &[Role::Reviewer], &[]), Ok(1), "{id}");
    }
    for roles in [&[][..], &[Role::Agent], &[Role::Engine, Role::Reviewer]] {
        let refused = set(&mut system, "x", roles, &[]);
        assert!(matches!(refused, Err(Rejection::Invalid(_))), "{roles:?}: {refused:?}");
    }
}

/// Names that differ only in upper and lower case are the same person, because identity providers spell addresses
/// differently.
#[test]
fn names_that_differ_in_case_alone_are_one() {
    let r = &[Role::Reviewer][..];
    let taken = |refused: Result<usize, Rejection>| match refused {
        Err(refusal @ Rejection::NameTaken { .. }) => Some(refusal.to_string()),
        _ => None,
    };
    let mut system = System::default();
    for id in ["Operator", "STARTER", "ｅｎｇｉｎｅ"] {
        let refused = set(&mut system, id, r, &[]);
        assert!(matches!(refused, Err(Rejection::Invalid(_))), "{id}: {refused:?}");
    }
    let vouched = |id: &str, issued| by_token(id, r, Some(issued));
    assert_eq!(send(&mut system, &Actor::engine(), vouched("Eve@X.org", 1)), Ok(1));
    let of_person = "`eve@x.org` is the name of a person";
    assert_eq!(
        taken(send(&mut system, &Actor::engine(), vouched("eve@x.org", 2))).as_deref(),
        Some(of_person)
    );
    assert_eq!(taken(set(&mut system, "eve@x.org", r, &[])).as_deref(), Some(of_person));
    // A removed person stays removed in every spelling, until an admin restores the person in one spelling.
    send(&mut system, &admin(), Input::RemovePerson { id: "Eve@X.org".to_owned() }).expect("it is taken");
    assert_eq!(
        send(&mut system, &Actor::engine(), vouched("eve@x.org", 3)),
        Err(Rejection::Removed("eve@x.org".to_owned()))
    );
    assert!(system.people.is_removed("EVE@X.ORG"));
    assert_eq!(set(&mut system, "eve@x.org", r, &[]), Ok(1));
    assert!(!system.people.is_removed("EVE@X.ORG"));
    let (input, _) = key("mal");
    send(&mut system, &admin(), input).expect("it is made");
    assert!(taken(set(&mut system, "Mal", r, &[])).is_some());

    // A file may not list a name twice. A new version of the file may change the case of a name.
    let mut system = System::default();
    let mut file = |names: &[&str]| {
        let people = names.iter().map(|id| ((*id).to_owned(), person(r, &[]))).collect();
        send(&mut system, &Actor::engine(), Input::SetPeople { source: PeopleSource::File, people })
    };
    assert!(taken(file(&["Ärne", "ärne"])).is_some());
    assert_eq!(file(&["Ärne"]), Ok(1));
    assert!(taken(file(&["Ärne", "ärne"])).is_some());
    assert_eq!(file(&["ärne"]), Ok(2));
}

/// A people file removes only people whom an earlier version of the file listed. Other sources cannot change these
/// people.
#[test]
fn each_source_keeps_to_its_own() {
    let mut system = System::default();
    set(&mut system, "cleo", &[Role::Reviewer], &[]).expect("it is taken");
    let file = |names: &[&str]| Input::SetPeople {
        source: PeopleSource::File,
        people: names.iter().map(|id| ((*id).to_owned(), person(&[Role::Reviewer], &[]))).collect(),
    };
    assert_eq!(send(&mut system, &Actor::engine(), file(&["anna", "ben"])), Ok(2));
    assert_eq!(send(&mut system, &Actor::engine(), file(&["anna"])), Ok(1), "ben has left");
    assert!(system.people.can_decide("cleo"));
    let refused = set(&mut system, "anna", &[Role::Operator], &[]);
    assert!(matches!(refused, Err(Rejection::OtherSource(_))), "{refused:?}");
    let refused = send(&mut system, &Actor::engine(), file(&["anna", "cleo"]));
    assert!(matches!(refused, Err(Rejection::OtherSource(_))), "{refused:?}");
}

#[test]
fn who_may_change_people() {
    for (role, may) in [
        (Role::Admin, true),
        (Role::Operator, false),
        (Role::Reviewer, false),
        (Role::Agent, false),
        (Role::Auditor, false),
    ] {
        let mut system = System::default();
        let input = Input::SetPerson { id: "anna".to_owned(), person: person(&[Role::Reviewer], &[]) };
        let sent = send(&mut system, &Actor::for_role(role, "rest"), input);
        assert_eq!(sent.is_ok(), may, "{role:?}");
    }
    let mut system = System::default();
    for id in ["anna", "ben"] {
        set(&mut system, id, &[Role::Reviewer], &[]).expect("it is taken");
    }
    let own = Actor { id: "anna".to_owned(), ..Actor::for_role(Role::Reviewer, "rest") };
    let gone =
        |id: &str| Input::SetAway { id: id.to_owned(), away: Some(Away { until: None, delegate: None }) };
    assert_eq!(send(&mut system, &own, gone("anna")), Ok(1), "who is away says so themselves");
    assert_eq!(send(&mut system, &own, gone("ben")), Err(Rejection::Role));
}

/// A delegate replaces an absent person, and the delegate's delegate an absent delegate. A circle of delegates does not
/// loop forever.
#[test]
fn who_stands_in_for_whom() {
    let mut system = System::default();
    for id in ["anna", "ben", "cleo", "dirk"] {
        set(&mut system, id, &[Role::Reviewer], &[]).expect("it is taken");
    }
    away(&mut system, "anna", "ben");
    away(&mut system, "ben", "cleo");
    let stands_in = |system: &System, id: &str, now: i64| -> Vec<String> {
        system.people.represented_people(id, at(now)).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(stands_in(&system, "ben", 2_000), ["anna"]);
    assert_eq!(stands_in(&system, "cleo", 2_000), ["anna", "ben"]);
    assert_eq!(stands_in(&system, "cleo", 5_000), Vec::<String>::new(), "they are back");
    assert_eq!(stands_in(&system, "anna", 2_000), Vec::<String>::new());
    away(&mut system, "cleo", "anna");
    assert_eq!(stands_in(&system, "anna", 2_000), ["ben", "cleo"], "a circle");
    assert_eq!(stands_in(&system, "dirk", 2_000), Vec::<String>::new());
}

#[test]
fn a_delegate_is_somebody_else_who_may_decide() {
    let mut system = System::default();
    set(&mut system, "anna", &[Role::Reviewer], &[]).expect("it is taken");
    set(&mut system, "audrey", &[Role::Auditor], &[]).expect("it is taken");
    for (until, delegate) in
        [(5_000, "anna"), (5_000, "audrey"), (5_000, "nobody-here"), (1_000, "operator"), (0, "operator")]
    {
        let away = Away { until: Some(at(until)), delegate: Some(delegate.to_owned()) };
        let refused = send(&mut system, &admin(), Input::SetAway { id: "anna".to_owned(), away: Some(away) });
        assert!(matches!(refused, Err(Rejection::Invalid(_))), "{until} {delegate}: {refused:?}");
    }
}

/// A person that is written to the journal is read back unchanged.
#[test]
fn a_person_survives_the_journal() {
    let mut system = System::default();
    let whole = Person {
        name: Some("Anna Berg".to_owned()),
        addresses: [("email".to_owned(), "anna@example.org".to_owned())].into(),
        time_zone: Some("Europe/Berlin".to_owned()),
        language: Some("de".to_owned()),
        ..person(&[Role::Reviewer, Role::Auditor], &["legal", "risk"])
    };
    let input = Input::SetPerson { id: "anna".to_owned(), person: whole.clone() };
    let events = system.handle(at(1), &admin(), input).expect("it is taken");
    let facts = events[0].fact.encode();
    assert!(!facts.1.to_string().contains("Berg"), "who somebody is stands in the content: {facts:?}");
    take(&mut system, &events);
    assert_eq!(system.people.get("anna"), Some(&whole));
    let deciders = system.people.deciders();
    assert_eq!(deciders.people, BTreeSet::from(["anna".to_owned(), "operator".to_owned()]));
    assert_eq!(deciders.groups, BTreeSet::from(["legal".to_owned(), "risk".to_owned()]));
}

fn by_token(id: &str, roles: &[Role], issued_at: Option<i64>) -> Input {
    let person = Person { issued_at: issued_at.map(at), ..person(roles, &[]) };
    Input::TakeUp { id: id.to_owned(), person }
}

/// Stories of tokens, admins and people files that change `anna`. Each input yields the expected number of events or
/// rejection, and leaves the expected roles.
#[test]
fn a_token_says_who_somebody_is_where_nobody_here_does() {
    let (r, o) = (&[Role::Reviewer][..], &[Role::Operator][..]);
    let engine = &Actor::engine();
    let admin = &admin();
    let token = |roles: &[Role], issued: i64| (engine, by_token("anna", roles, Some(issued)));
    let set =
        |roles: &[Role]| (admin, Input::SetPerson { id: "anna".to_owned(), person: person(roles, &[]) });
    let remove = || (admin, Input::RemovePerson { id: "anna".to_owned() });
    let file = |names: &[&str]| {
        let people = names.iter().map(|id| ((*id).to_owned(), person(&[Role::Auditor], &[]))).collect();
        (engine, Input::SetPeople { source: PeopleSource::File, people })
    };
    let removed = || Err(Rejection::Removed("anna".to_owned()));
    let stories = [
        (
            "a later token changes, an earlier one does not",
            vec![
                (token(r, 1), Ok(1), r),
                (token(o, 3), Ok(1), o),
                (token(r, 2), Ok(0), o),
                (token(o, 4), Ok(0), o),
            ],
        ),
        (
            "who is removed by an admin stays so until an admin puts them back",
            vec![
                (token(r, 1), Ok(1), r),
                (remove(), Ok(1), &[]),
                (token(r, 2), removed(), &[]),
                (set(o), Ok(1), o),
                (token(r, 3), Ok(0), o),
                (remove(), Ok(1), &[]),
                (token(r, 4), removed(), &[]),
            ],
        ),
        (
            "a token without a role says that they have left, and a later one brings them back",
            vec![
                (token(r, 1), Ok(1), r),
                (token(&[], 2), Ok(1), &[]),
                (token(r, 1), Ok(0), &[]),
                (token(r, 3), Ok(1), r),
            ],
        ),
        (
            "the file comes before a token, and bars whom it drops",
            vec![
                (token(r, 1), Ok(1), r),
                (file(&["anna"]), Ok(1), &[Role::Auditor][..]),
                (token(r, 2), Ok(0), &[Role::Auditor]),
                (token(&[], 2), Ok(0), &[Role::Auditor]),
                (file(&[]), Ok(1), &[]),
                (token(r, 3), removed(), &[]),
                (file(&["anna"]), Ok(1), &[Role::Auditor]),
            ],
        ),
        (
            "an admin comes before a token",
            vec![(token(r, 1), Ok(1), r), (set(o), Ok(1), o), (token(r, 2), Ok(0), o)],
        ),
    ];
    for (story, steps) in stories {
        let mut system = System::default();
        for (i, ((actor, input), expected, roles)) in steps.into_iter().enumerate() {
            assert_eq!(send(&mut system, actor, input), expected, "{story}, step {i}");
            assert_eq!(system.people.roles("anna"), roles.iter().copied().collect(), "{story}, step {i}");
        }
    }
    let refused = send(&mut System::default(), admin, by_token("anna", r, None));
    assert_eq!(refused, Err(Rejection::Role), "nobody says so by a request");
}

#[test]
fn a_token_without_a_time_changes_nothing_that_one_with_a_time_said() {
    let mut system = System::default();
    let mut take =
        |roles: &[Role], issued| send(&mut system, &Actor::engine(), by_token("anna", roles, issued));
    assert_eq!(take(&[Role::Reviewer], None), Ok(1));
    assert_eq!(take(&[Role::Operator], None), Ok(1));
    assert_eq!(take(&[Role::Reviewer], Some(1)), Ok(1));
    assert_eq!(take(&[Role::Operator], None), Ok(0));
}

/// A key with the name of a removed person does not restore the person.
#[test]
fn a_key_of_the_name_of_somebody_who_was_removed_lifts_nothing() {
    let mut system = System::default();
    set(&mut system, "anna", &[Role::Reviewer], &[]).expect("it is taken");
    send(&mut system, &admin(), Input::RemovePerson { id: "anna".to_owned() }).expect("it is taken");
    let (input, key) = key("anna");
    send(&mut system, &admin(), input).expect("it is made");
    assert!(system.people.is_removed("anna") && !system.people.is_barred("anna"));
    send(&mut system, &admin(), Input::RevokeKey { key }).expect("it is revoked");
    assert!(system.people.is_removed("anna") && system.people.is_barred("anna"));
    set(&mut system, "anna", &[Role::Reviewer], &[]).expect("it is taken");
    assert!(!system.people.is_removed("anna") && !system.people.is_barred("anna"));
}

/// A key cannot decide after it has expired.
#[test]
fn a_key_serves_until_it_expires() {
    let mut system = System::default();
    let (Input::MakeKey(new), _) = key("bot") else { unreachable!() };
    send(&mut system, &admin(), Input::MakeKey(NewKey { expires_at: Some(at(2_000)), ..new }))
        .expect("it is made");
    assert!(system.people.can_decide("bot") && system.without_expired(at(1_999)).is_none());
    let mut later = system.without_expired(at(2_000)).expect("a key has expired");
    assert!(!later.people.can_decide("bot") && later.people.is_barred("bot"));
    assert!(later.people.deciders().unknown_person("bot").is_some());
    assert!(later.without_expired(at(3_000)).is_none(), "once");
    let events = later
        .handle(
            at(3_000),
            &admin(),
            Input::SetPerson { id: "bot".to_owned(), person: person(&[Role::Reviewer], &[]) },
        )
        .expect("its name is free");
    take(&mut later, &events);
    assert!(later.people.can_decide("bot"));
    // A replay of the journal yields the same state. Approvals of the expired key are no longer trusted.
    let mut read = system.clone();
    take(&mut read, &events);
    let had_left = |system: &System| system.people.has_left("bot", clock(1_000));
    assert_eq!((had_left(&read), had_left(&later)), (true, true));
    assert_eq!(read, later);
}

fn key(name: &str) -> (Input, KeyId) {
    let id: KeyId = "key_01k6f0000000000000000000aa".parse().expect("an id");
    let new = NewKey {
        id: id.clone(),
        name: name.to_owned(),
        role: Role::Reviewer,
        digest: Digest::of_bytes(b"secret"),
        expires_at: None,
        folder: None,
    };
    (Input::MakeKey(new), id)
}

/// Returns a sign-in as earlier versions recorded it, with a timestamp only.
fn clock(ms: i64) -> Since {
    Since { at: at(ms), seq: None }
}

/// A sign-out ends earlier sign-ins by the order of the journal, because the clocks of nodes differ. Later sign-ins
/// stay valid.
#[test]
fn signing_out_is_in_the_order_of_the_journal() {
    let mut system = System::default();
    set(&mut system, "anna", &[Role::Reviewer], &[]).expect("it is taken");
    let before = system.seq;
    send(&mut system, &admin(), Input::SignOut { person: "anna".to_owned() }).expect("it is taken");
    let since = |ms, seq| Since { at: at(ms), seq: Some(seq) };
    for ms in [0, 1_000, 999_999_999] {
        assert!(system.people.is_signed_out("anna", since(ms, before)), "{ms}");
        assert!(!system.people.is_signed_out("anna", since(ms, system.seq)), "{ms}");
    }
    let before = system.seq;
    send(&mut system, &admin(), Input::RemovePerson { id: "anna".to_owned() }).expect("it is taken");
    set(&mut system, "anna", &[Role::Reviewer], &[]).expect("it is taken");
    assert!(system.people.has_left("anna", since(999_999_999, before)));
    assert!(!system.people.has_left("anna", since(0, system.seq)));
}

/// A person who leaves is signed out. If the person returns, earlier sign-ins stay invalid.
#[test]
fn leaving_signs_out_also_whoever_comes_back() {
    let mut system = System::default();
    assert!(
        !system.people.is_signed_out("operator", clock(0)),
        "the operator of a local start is always there"
    );
    assert!(system.people.is_signed_out("anna", clock(0)), "nobody");
    send(&mut system, &admin(), key("bot").0).expect("it is made");
    assert!(system.people.is_signed_out("bot", clock(0)), "a key signs nobody in");
    set(&mut system, "anna", &[Role::Reviewer], &[]).expect("it is taken");
    assert!(!system.people.is_signed_out("anna", clock(0)));
    send(&mut system, &admin(), Input::RemovePerson { id: "anna".to_owned() }).expect("it is taken");
    assert!(system.people.is_signed_out("anna", clock(2_000)));
    set(&mut system, "anna", &[Role::Reviewer], &[]).expect("it is taken");
    assert!(
        system.people.is_signed_out("anna", clock(1_000))
            && !system.people.is_signed_out("anna", clock(1_001))
    );
}

/// A login link is recorded, and can be created only for an existing person.
#[test]
fn login_links_are_of_people_who_are_there() {
    let mut system = System::default();
    send(&mut system, &admin(), key("bot").0).expect("it is made");
    set(&mut system, "anna", &[Role::Reviewer], &[]).expect("it is taken");
    let link = |person: &str| Input::MakeLoginLink { person: person.to_owned() };
    for (person, may) in
        [("anna", true), ("operator", true), ("bot", false), ("nobody-here", false), ("", false)]
    {
        let made = system.handle(at(1_000), &admin(), link(person));
        let facts: Vec<_> = made.iter().flatten().map(|event| (&event.fact, &event.content)).collect();
        let fact = event::Fact::System(Fact::LoginLinkMade { person: person.to_owned() });
        let none = Content::none();
        assert_eq!(facts, if may { vec![(&fact, &none)] } else { Vec::new() }, "{person}");
    }
    for role in [Role::Operator, Role::Reviewer, Role::Agent, Role::Auditor, Role::Engine] {
        let refused = system.handle(at(1_000), &Actor::for_role(role, "rest"), link("anna"));
        assert_eq!(refused, Err(Rejection::Role), "{role:?}");
    }
}

/// A person who was signed out everywhere is not removed. Only the person and admins can sign a person out
/// everywhere.
#[test]
fn signed_out_everywhere_is_not_gone() {
    let mut system = System::default();
    send(&mut system, &admin(), key("bot").0).expect("it is made");
    set(&mut system, "anna", &[Role::Reviewer], &[]).expect("it is taken");
    let out = |person: &str| Input::SignOut { person: person.to_owned() };
    let anna = Actor { id: "anna".to_owned(), ..Actor::for_role(Role::Reviewer, "rest") };
    for (who, person, expected) in [
        (anna.clone(), "operator", Err(Rejection::Role)),
        (admin(), "bot", Err(Rejection::UnknownPerson)),
        (admin(), "nobody", Err(Rejection::UnknownPerson)),
        (admin(), "operator", Ok(1)),
        (anna.clone(), "anna", Ok(1)),
    ] {
        let said = system.handle(at(1_000), &who, out(person)).map(|events| events.len());
        assert_eq!(said, expected, "{} of {person}", who.id);
    }
    assert!(!system.people.is_signed_out("anna", clock(0)));
    send(&mut system, &anna, out("anna")).expect("it is taken");
    assert!(system.people.is_signed_out("anna", clock(1_000)));
    assert!(!system.people.is_signed_out("anna", clock(1_001)) && !system.people.has_left("anna", clock(0)));
    send(&mut system, &admin(), Input::RemovePerson { id: "anna".to_owned() }).expect("it is taken");
    assert!(system.people.has_left("anna", clock(1_000)));
}
