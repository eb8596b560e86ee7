//! Webhooks that are registered over the API (contract D4): who may register a webhook, which webhooks are valid, and
//! their data in the journal.

use holdshort_core::actor::{Actor, Role};
use holdshort_core::channel::{Channel, Via};
use holdshort_core::envelope;
use holdshort_core::id::WebhookId;
use holdshort_core::interrupt::Kind;
use holdshort_core::limits::WEBHOOKS;
use holdshort_core::system::webhooks::{Webhook, WebhookKind};
use holdshort_core::system::{Input, Rejection, System};
use holdshort_core::time::Timestamp;

use crate::world::draw;

fn webhook(name: &str, kind: WebhookKind) -> Webhook {
    Webhook { name: name.to_owned(), kind, host: "hooks.example.org".to_owned(), active: true }
}

fn id(n: u8) -> WebhookId {
    draw(n).id()
}

fn send(system: &mut System, actor: &Actor, input: Input) -> Result<Vec<String>, Rejection> {
    let events = system.handle(Timestamp::from_millis(1), actor, input)?;
    for event in &events {
        system.apply(event);
    }
    Ok(events.iter().map(|event| event.fact.encode().0.clone()).collect())
}

fn register(system: &mut System, n: u8, is: Webhook) -> Result<Vec<String>, Rejection> {
    send(system, &Actor::admin("ann", "crew"), Input::RegisterWebhook { webhook: id(n), is })
}

#[test]
fn one_is_told_of_reviews_from_its_registration_to_its_removal() {
    let mut system = System::default();
    for (n, kind) in (1..).zip(WebhookKind::ALL) {
        let told = register(&mut system, n, webhook(kind.as_str(), kind)).unwrap();
        assert_eq!(told, ["webhook_registered"]);
    }
    let off = Webhook { active: false, ..webhook("off", WebhookKind::CustomUrl) };
    register(&mut system, 9, off).unwrap();
    let channels: Vec<_> = Channel::registered(&system).collect();
    let mut vias: Vec<Via> = channels.iter().map(|channel| channel.via).collect();
    vias.sort_by_key(|via| via.as_str());
    assert_eq!(vias, [Via::Crew, Via::Email, Via::Slack, Via::Teams], "what is not active is told nothing");
    assert!(channels.iter().all(|channel| channel.rule.kinds.iter().eq([&Kind::Review])));

    let remove = Input::RemoveWebhook { webhook: id(1) };
    let admin = Actor::admin("ann", "crew");
    assert_eq!(send(&mut system, &admin, remove.clone()).unwrap(), ["webhook_removed"]);
    assert_eq!(send(&mut system, &admin, remove), Err(Rejection::UnknownWebhook));
    assert_eq!(Channel::registered(&system).count(), 3);
}

#[test]
fn administrators_alone_register_and_remove() {
    let mut system = System::default();
    for role in [Role::Operator, Role::Reviewer, Role::Agent, Role::Auditor, Role::Engine] {
        let input = Input::RegisterWebhook { webhook: id(1), is: webhook("a", WebhookKind::CustomUrl) };
        let actor = Actor { id: "somebody".to_owned(), role, via: None, let_in_by: None };
        assert_eq!(send(&mut system, &actor, input), Err(Rejection::Role), "{role:?}");
    }
}

#[test]
fn a_name_is_taken_once_and_there_are_not_too_many() {
    let mut system = System::default();
    register(&mut system, 1, webhook("a", WebhookKind::CustomUrl)).unwrap();
    for name in ["a", "", "line\nbreak"] {
        let refused = register(&mut system, 2, webhook(name, WebhookKind::Slack));
        let Err(Rejection::Invalid(problems)) = refused else { panic!("{name}: {refused:?}") };
        assert_eq!(problems[0].pointer, "/name", "{name}");
    }
    for n in 2..=WEBHOOKS {
        let n = u8::try_from(n).unwrap();
        register(&mut system, n, webhook(&n.to_string(), WebhookKind::Teams)).unwrap();
    }
    let refused = register(&mut system, 200, webhook("one more", WebhookKind::Teams));
    assert!(matches!(refused, Err(Rejection::Invalid(_))), "{refused:?}");
}

#[test]
fn the_event_has_a_host_and_nothing_that_lets_in() {
    let system = System::default();
    let input = Input::RegisterWebhook { webhook: id(1), is: webhook("a", WebhookKind::CustomUrl) };
    let events = system.handle(Timestamp::from_millis(1), &Actor::admin("ann", "crew"), input).unwrap();
    let [event] = &events[..] else { panic!("{events:?}") };
    let (_, facts) = event.fact.encode();
    let members: Vec<&String> = facts["is"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["name", "kind", "host", "active"]);
    assert_eq!(event.content, envelope::Content::none());
}
