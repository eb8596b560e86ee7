//! Push notifications to browsers: the person that a subscription belongs to, its end, and its data in the journal.

use holdshort_core::actor::{Actor, LOCAL_OPERATOR, Role};
use holdshort_core::digest::Digest;
use holdshort_core::envelope;
use holdshort_core::id::PushId;
use holdshort_core::interrupt::Kind;
use holdshort_core::level::Level;
use holdshort_core::limits::PUSH_OF_PERSON;
use holdshort_core::notice::{Notice, Occasion, Recipient};
use holdshort_core::system::push::Subscription;
use holdshort_core::system::{Input, Rejection, System};
use holdshort_core::time::Timestamp;

use crate::world::{self, draw};

fn id(n: u8) -> PushId {
    draw(n).id()
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn reviewer(person: &str) -> Actor {
    Actor { id: person.to_owned(), ..Actor::for_role(Role::Reviewer, "rest") }
}

fn browser(person: &str, endpoint: &str) -> Subscription {
    Subscription {
        person: person.to_owned(),
        host: "push.example.org".to_owned(),
        endpoint: Digest::of_bytes(endpoint.as_bytes()),
    }
}

fn send(system: &mut System, actor: &Actor, input: Input) -> Result<Vec<String>, Rejection> {
    let events = system.handle(at(1), actor, input)?;
    for event in &events {
        system.apply(event);
    }
    Ok(events.iter().map(|event| event.fact.encode().0.clone()).collect())
}

fn subscribe(system: &mut System, n: u8, person: &str, endpoint: &str) -> Result<Vec<String>, Rejection> {
    send(system, &reviewer(person), Input::SubscribePush { push: id(n), is: browser(person, endpoint) })
}

fn set(system: &mut System, person: &str, roles: &[Role], groups: &[&str]) {
    let input = Input::SetPerson { id: person.to_owned(), person: world::person(roles, groups) };
    send(system, &Actor::admin("ann", "rest"), input).expect("it is taken");
}

fn peopled() -> System {
    let mut system = System::default();
    set(&mut system, "anna", &[Role::Reviewer], &["legal"]);
    set(&mut system, "ben", &[Role::Reviewer], &["legal"]);
    set(&mut system, "cleo", &[Role::Auditor], &["legal"]);
    system
}

fn there(system: &System) -> Vec<(&str, &PushId)> {
    system.push.iter().map(|(id, known)| (known.is.person.as_str(), id)).collect()
}

#[test]
fn a_browser_tells_its_person_from_then_on_until_they_end_it() {
    let mut system = peopled();
    assert_eq!(subscribe(&mut system, 1, "anna", "a").unwrap(), ["push_subscribed"]);
    assert_eq!(subscribe(&mut system, 2, "anna", "a").unwrap(), Vec::<String>::new(), "the same once more");
    assert_eq!(there(&system), [("anna", &id(1))]);
    let end = |n: u8| Input::UnsubscribePush { push: id(n) };
    for (actor, n) in [(reviewer("ben"), 1), (Actor::admin("ann", "rest"), 1), (reviewer("anna"), 9)] {
        assert_eq!(send(&mut system, &actor, end(n)), Err(Rejection::UnknownPush), "{actor:?}");
    }
    assert_eq!(send(&mut system, &reviewer("anna"), end(1)).unwrap(), ["push_unsubscribed"]);
    assert_eq!(there(&system), []);
    subscribe(&mut system, 3, "anna", "a").unwrap();
    assert_eq!(send(&mut system, &Actor::engine(), end(3)).unwrap(), ["push_unsubscribed"], "it is gone");
}

#[test]
fn nobody_says_where_somebody_else_is_told() {
    let mut system = peopled();
    let input = Input::SubscribePush { push: id(1), is: browser("anna", "a") };
    for actor in
        [reviewer("ben"), Actor::admin("ann", "rest"), Actor::engine(), Actor::for_role(Role::Agent, "rest")]
    {
        assert_eq!(send(&mut system, &actor, input.clone()), Err(Rejection::Role), "{actor:?}");
    }
    let nobody = subscribe(&mut system, 1, "nobody-known", "a");
    assert!(matches!(nobody, Err(Rejection::Invalid(_))), "{nobody:?}");
}

#[test]
fn a_browser_tells_whoever_signed_in_last() {
    let mut system = peopled();
    subscribe(&mut system, 1, "anna", "shared").unwrap();
    let told = subscribe(&mut system, 2, "ben", "shared").unwrap();
    assert_eq!(told, ["push_unsubscribed", "push_subscribed"]);
    assert_eq!(there(&system), [("ben", &id(2))]);
}

#[test]
fn of_too_many_of_one_person_the_oldest_ends() {
    let mut system = peopled();
    let mut ids: Vec<PushId> = Vec::new();
    for n in 0..PUSH_OF_PERSON {
        let n = u8::try_from(n).unwrap();
        subscribe(&mut system, n, "anna", &n.to_string()).unwrap();
        ids.push(id(n));
    }
    ids.sort();
    subscribe(&mut system, 200, "ben", "of ben").unwrap();
    let told = subscribe(&mut system, 100, "anna", "one more").unwrap();
    assert_eq!(told, ["push_unsubscribed", "push_subscribed"]);
    assert_eq!(system.push_of("anna").count(), PUSH_OF_PERSON);
    assert!(!system.push.contains_key(&ids[0]), "the first by id");
    assert_eq!(system.push_of("ben").count(), 1);
}

#[test]
fn whoever_leaves_or_signs_out_everywhere_is_told_nowhere() {
    for input in [Input::RemovePerson { id: "anna".to_owned() }, Input::SignOut { person: "anna".to_owned() }]
    {
        let mut system = peopled();
        subscribe(&mut system, 1, "anna", "a").unwrap();
        subscribe(&mut system, 2, "ben", "b").unwrap();
        send(&mut system, &Actor::admin("ann", "rest"), input).unwrap();
        assert_eq!(there(&system), [("ben", &id(2))]);
    }
}

#[test]
fn the_event_has_a_host_and_nothing_that_reaches_the_browser() {
    let system = peopled();
    let input = Input::SubscribePush { push: id(1), is: browser("anna", "https://push.example.org/secret") };
    let events = system.handle(at(1), &reviewer("anna"), input).unwrap();
    let [event] = &events[..] else { panic!("{events:?}") };
    let (_, facts) = event.fact.encode();
    let members: Vec<&String> = facts["is"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["person", "host", "endpoint"]);
    assert!(!facts.to_string().contains("secret"), "{facts}");
    assert_eq!(event.content, envelope::Content::none());
}

fn notice(people: &[&str], groups: &[&str], told: &[&str]) -> Notice {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    Notice {
        occasion: Occasion::Opened,
        at: at(1),
        run: draw(1).id(),
        seq: 3,
        session: draw(2).id(),
        workflow: "payout".to_owned(),
        interrupt: draw(3).id(),
        kind: Kind::Review,
        risk: Level::High,
        people: names(people),
        groups: names(groups),
        operators: false,
        expires_at: None,
        outcome: None,
        by: Vec::new(),
        told: names(told),
        to: None,
    }
}

#[test]
fn each_browser_of_those_who_are_asked_is_told() {
    let mut system = peopled();
    set(&mut system, "dora", &[Role::Operator], &[]);
    for (n, person, endpoint) in [
        (1, "anna", "desk"),
        (2, "anna", "phone"),
        (3, "ben", "desk of ben"),
        (4, "cleo", "of an auditor"),
        (5, "dora", "of an operator"),
        (6, LOCAL_OPERATOR, "of this machine"),
    ] {
        subscribe(&mut system, n, person, endpoint).unwrap();
    }
    for (people, groups, told, wanted) in [
        (&["anna"][..], &[][..], &[][..], &["anna", "anna"][..]),
        (&[], &["legal"], &[], &["anna", "anna", "ben"]),
        (&[], &[], &[], &["dora", LOCAL_OPERATOR]),
        (&[LOCAL_OPERATOR], &[], &[], &[LOCAL_OPERATOR]),
        (&[], &["legal"], &["ben"], &["ben"]),
        (&["nobody"], &[], &[], &[]),
    ] {
        let notice = notice(people, groups, told);
        let mut found: Vec<String> =
            notice.browsers(&system, at(2)).iter().filter_map(Recipient::person).map(str::to_owned).collect();
        found.sort();
        assert_eq!(found, wanted, "{people:?} {groups:?} {told:?}");
    }
}
