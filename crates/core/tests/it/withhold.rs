//! Values that are withheld from a role: the values that a pointer names, their replacements, and the allowed edits.

use std::collections::BTreeSet;

use holdshort_core::actor::{Actor, Role};
use holdshort_core::digest::Digest;
use holdshort_core::event::Event;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::withhold::{flaw_of_field, flaw_of_role};
use holdshort_core::interrupt::{Assignment, Decision, Interrupt, Kind, Refusal, Stage, Withhold};
use holdshort_core::level::Level;
use holdshort_core::run::{Ask, Config, Hold, Input, Origin, Rejection};
use holdshort_core::system::Fact;
use serde_json::{Value, json};

use crate::assignments::{actor, decide, of_groups, people, stages};
use crate::pairs::ask;
use crate::world::{self, World, choose, choose_with, edit};

fn from_reviewers(fields: &[&str]) -> Vec<Withhold> {
    let fields = fields.iter().map(|field| (*field).to_owned()).collect();
    vec![Withhold { from: BTreeSet::from([Role::Reviewer]), fields }]
}

/// Opens an interrupt of an agent with these fields withheld from reviewers. The operator `olga` may also decide.
fn open_withheld(kind: Kind, payload: Value, fields: &[&str], required: u32) -> (World, InterruptId) {
    let mut world = World::new(world::external());
    people(&mut world.system);
    let agent = Actor::agent("their-agent", "rest");
    let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
    start.origin = Origin::External;
    world.try_send(&agent, Input::Start(start)).expect("it may start");
    let stage = Stage { approvers: vec!["olga".to_owned()], ..of_groups(&["legal"], required) };
    let ask =
        Ask { kind, payload, assignment: stages(vec![stage]), withhold: from_reviewers(fields), ..ask() };
    world.try_send(&agent, Input::Ask(Box::new(ask))).expect("it may ask");
    let id = world.open(kind);
    (world, id)
}

fn seen(world: &World, id: &InterruptId, sees: Role) -> Interrupt {
    let interrupt = &world.run.interrupts[id];
    interrupt
        .redact_for(sees, &world.system.people)
        .map_or_else(|| (**interrupt).clone(), |covered| covered.interrupt)
}

fn reviewer_payload(payload: Value, fields: &[&str]) -> Value {
    let (world, id) = open_withheld(Kind::ToolApproval, payload, fields, 1);
    seen(&world, &id, Role::Reviewer).content["payload"].clone()
}

#[test]
fn a_pointer_names_places() {
    let payload = json!({"a": {"b": 1, "c~/d": 2}, "list": [{"x": 1, "y": 2}, {"y": 3}, 4], "n": null});
    let table = [
        ("/a/b", json!(["/a/b"])),
        ("/a", json!(["/a"])),
        ("/a/c~0~1d", json!(["/a/c~0~1d"])),
        ("/a/*", json!(["/a/b", "/a/c~0~1d"])),
        ("/list/*/x", json!(["/list/0/x"])),
        ("/list/*/y", json!(["/list/0/y", "/list/1/y"])),
        ("/list/1", json!(["/list/1"])),
        ("/*/*/y", json!(["/list/0/y", "/list/1/y"])),
        ("/n", json!(["/n"])),
        ("/a/b/c", json!([])),
        ("/list/9", json!([])),
        ("/none/*", json!([])),
    ];
    for (field, expected) in table {
        let (world, id) = open_withheld(Kind::ToolApproval, payload.clone(), &[field], 1);
        let covered = world.run.interrupts[&id].redact_for(Role::Reviewer, &world.system.people);
        let places: Vec<String> = covered.map(|it| it.cover.places.into_iter().collect()).unwrap_or_default();
        assert_eq!(json!(places), expected, "{field}");
    }
    let both = reviewer_payload(json!({"a": {"b": "bbbb"}}), &["/a/b", "/a"]);
    assert_eq!(both, json!({"a": {"withheld": "/a"}}), "the outer one counts");
}

#[test]
fn what_can_not_be_a_place_or_a_role() {
    for good in ["/a", "/a/*/b", "/~0~1", "/a/"] {
        assert_eq!(flaw_of_field(good), None, "{good}");
    }
    for bad in ["", "/", "a/b", "$.a", "/a~", "/a~2", &format!("/{}", "x".repeat(500))] {
        assert!(flaw_of_field(bad).is_some(), "{bad}");
    }
    assert_eq!(flaw_of_role(Role::Reviewer), None);
    for role in [Role::Admin, Role::Operator, Role::Agent, Role::Auditor, Role::Engine] {
        assert!(flaw_of_role(role).is_some(), "{role:?}");
    }
}

#[test]
fn the_same_words_are_withheld_wherever_they_stand() {
    let payload = json!({
        "arguments": {"to": "ann@example.org", "text": "Dear ann@example.org, hello", "cc": ["ann@example.org"], "n": 1},
        "note": "ann@example.org is new", "other": "no",
    });
    let shown = reviewer_payload(payload, &["/arguments/to"]);
    let mark = |at: &str| json!({ "withheld": at });
    let expected = json!({
        "arguments": {
            "to": mark("/arguments/to"), "text": mark("/arguments/text"), "cc": [mark("/arguments/cc/0")], "n": 1
        },
        "note": mark("/note"), "other": "no",
    });
    assert_eq!(shown, expected);
}

/// An object is withheld if the name of one of its members contains a withheld value. In the end, the whole payload may
/// be withheld.
#[test]
fn a_name_that_tells_it_is_withheld_with_what_bears_it() {
    let of = |more: Value| {
        let mut payload = json!({"arguments": {"to": "DE11-1111", "word": "summ"}});
        payload.as_object_mut().expect("it is one").extend(more.as_object().cloned().unwrap_or_default());
        reviewer_payload(payload, &["/arguments/to", "/arguments/word"])
    };
    let balances = of(json!({"balances": {"of DE11-1111": 5, "x": 1}, "summary": 1}));
    assert_eq!((&balances["balances"], &balances["summary"]), (&json!({"withheld": "/balances"}), &json!(1)));
    assert_eq!(of(json!({"DE11-1111": 5})), json!({"withheld": ""}));
}

/// Withheld values are also redacted in the labels of options and the names of stages.
#[test]
fn what_is_chosen_among_and_who_is_asked_say_none_of_it() {
    let (mut world, id) = open_withheld(Kind::ToolApproval, json!({"iban": "DE11 1111"}), &["/iban"], 1);
    world.run.interrupts.change(&id, |interrupt| {
        interrupt.opened.options[0].label = "Pay DE11 1111".to_owned();
        interrupt.assignment.stages[0].name = Some("for DE11 1111".to_owned());
    });
    let interrupt = seen(&world, &id, Role::Reviewer);
    let told = (&*interrupt.opened.options[0].label, interrupt.assignment.stages[0].name.as_deref());
    assert_eq!(told, ("Pay [withheld]", Some("for [withheld]")));
}

/// A short withheld value is not redacted in other texts, because short words occur everywhere.
#[test]
fn a_short_word_is_no_word() {
    let payload = json!({"arguments": {"pin": "07", "sum": 125_000}, "text": "07 days", "more": 125_000});
    let shown = reviewer_payload(payload, &["/arguments/pin", "/arguments/sum"]);
    assert_eq!((&shown["text"], &shown["more"]), (&json!("07 days"), &json!({"withheld": "/more"})));
}

#[test]
fn nothing_is_withheld_from_others_and_where_there_is_nothing() {
    let payload = json!({"arguments": {"to": "ann@example.org"}});
    let (world, id) = open_withheld(Kind::ToolApproval, payload.clone(), &["/arguments/to"], 1);
    for role in [Role::Admin, Role::Operator, Role::Agent, Role::Auditor] {
        assert!(world.run.interrupts[&id].redact_for(role, &world.system.people).is_none(), "{role:?}");
    }
    assert_eq!(reviewer_payload(payload.clone(), &["/arguments/from"]), payload);
}

/// Digests of values are not shown to a role from which the values are withheld, because the digest of a value with few
/// possibilities reveals the value.
#[test]
fn no_digest_is_shown() {
    let (world, id) =
        open_withheld(Kind::ToolApproval, json!({"arguments": {"to": "a"}}), &["/arguments/to"], 1);
    assert!(world.run.interrupts[&id].opened.action_digest.is_some());
    assert_eq!(seen(&world, &id, Role::Reviewer).opened.action_digest, None);
}

/// The view event has the digest of the card as the person saw it. A person who may not see the whole card never gets
/// the whole card's digest.
#[test]
fn a_look_has_the_digest_of_what_was_shown() {
    let (world, id) =
        open_withheld(Kind::ToolApproval, json!({"arguments": {"to": "a"}}), &["/arguments/to"], 1);
    let interrupt = &world.run.interrupts[&id];
    for (who, sees) in [("olga", Role::Operator), ("anna", Role::Reviewer)] {
        let view = Input::View { interrupt: id.clone() };
        let events = world.handle(&actor(&world.system, who), view).expect("it is taken");
        let [event] = &events[..] else { panic!("{events:?}") };
        let shown = json!({ "digest": Digest::of_json(&seen(&world, &id, sees).content) });
        assert_eq!(event.content.data, shown, "{who}");
        for (reader, expected) in [(Role::Operator, &shown), (Role::Reviewer, &Value::Null)] {
            let mut told = event.clone();
            interrupt.cover_event(reader, &world.system.people, &mut told, 9);
            assert_eq!(told.content.data, *expected, "{who} looked, {reader:?} reads");
        }
    }
    let (open, withheld) = (seen(&world, &id, Role::Operator), seen(&world, &id, Role::Reviewer));
    assert_ne!(open.content, withheld.content);
}

fn payload() -> Value {
    json!({"arguments": {
        "to": "ann@example.org", "sum": 5,
        "items": [{"n": 1, "iban": "DE11 1111"}, {"n": 2, "iban": "DE22 2222"}],
    }})
}

const FIELDS: [&str; 2] = ["/arguments/to", "/arguments/items/*/iban"];

/// Returns the arguments as a reviewer sees them, after `change` was applied to them.
fn sent(change: impl FnOnce(&mut Value)) -> Value {
    let mut arguments = reviewer_payload(payload(), &FIELDS)["arguments"].take();
    change(&mut arguments);
    arguments
}

/// A test case: title, edit, and the released arguments or the pointers of the rejection.
type Sent<'a> = (&'a str, Value, Result<Value, Vec<&'a str>>);

#[test]
fn an_edit_keeps_what_is_withheld() {
    let table: Vec<Sent<'_>> = vec![
        (
            "another sum",
            sent(|it| it["sum"] = json!(6)),
            Ok({
                let mut whole = payload()["arguments"].take();
                whole["sum"] = json!(6);
                whole
            }),
        ),
        ("a mark is gone", sent(|it| drop(it.as_object_mut().unwrap().remove("to"))), Err(vec!["/edit/to"])),
        ("another value", sent(|it| it["to"] = json!("me@example.org")), Err(vec!["/edit/to"])),
        (
            "the items change places",
            sent(|it| it["items"].as_array_mut().unwrap().reverse()),
            Err(vec!["/edit/items/0/iban", "/edit/items/1/iban"]),
        ),
        (
            "an item is gone",
            sent(|it| drop(it["items"].as_array_mut().unwrap().remove(0))),
            Err(vec!["/edit/items/0/iban", "/edit/items/1/iban"]),
        ),
        (
            "a mark is copied to where it can be read",
            sent(|it| it["note"] = json!({"withheld": "/arguments/to"})),
            Err(vec!["/edit/note"]),
        ),
        (
            "another one of the kind is added",
            sent(|it| it["items"].as_array_mut().unwrap().push(json!({"n": 3, "iban": "DE33"}))),
            Err(vec!["/edit/items/2/iban"]),
        ),
        (
            "something else entirely",
            json!("x"),
            Err(vec!["/edit/to", "/edit/items/0/iban", "/edit/items/1/iban"]),
        ),
        (
            "marks of an edit that is not there",
            sent(|it| it["to"] = json!({"withheld": "/arguments/to", "edit_of": 99})),
            Err(vec![]),
        ),
    ];
    for (what, edited, expected) in table {
        let (mut world, id) = open_withheld(Kind::ToolApproval, payload(), &FIELDS, 1);
        let result = decide(&mut world, &id, "anna", edit(edited));
        match expected {
            Ok(whole) => {
                result.unwrap_or_else(|why| panic!("{what}: {why:?}"));
                assert_eq!(world.run.interrupts[&id].answer_from_votes().edit, whole, "{what}");
            }
            Err(places) => {
                let Err(Rejection::Refused(Refusal::Withheld(problems))) = result else {
                    panic!("{what}: {result:?}")
                };
                let told: BTreeSet<&str> = problems.iter().map(|problem| &*problem.pointer).collect();
                assert!(places.iter().all(|place| told.contains(place)), "{what}: {problems:?}");
                let said = format!("{problems:?}");
                assert!(!said.contains("ann@") && !said.contains("DE11"), "{what}: {said}");
                assert!(world.run.interrupts[&id].is_open(), "{what}");
            }
        }
    }
}

/// An edit that changes nothing is an approval. A person who sees a withheld value may change the value in an edit.
/// People who do not see the value can vote for this edit.
#[test]
fn others_agree_to_an_edit_that_they_see_a_part_of() {
    let (mut world, id) = open_withheld(Kind::ToolApproval, payload(), &FIELDS, 2);
    let mut whole = payload()["arguments"].take();
    whole["to"] = json!("bob@example.org");
    whole["sum"] = json!(7);
    decide(&mut world, &id, "olga", edit(whole.clone())).expect("she sees all of it");
    let interrupt = seen(&world, &id, Role::Reviewer);
    let theirs = interrupt.votes[0].edit.clone();
    assert_eq!(theirs["sum"], json!(7));
    assert!(theirs["to"]["edit_of"].is_u64(), "{theirs}");
    assert!(!theirs.to_string().contains("bob@"), "{theirs}");
    decide(&mut world, &id, "anna", edit(theirs)).expect("she agrees");
    let standing = &world.run.interrupts[&id];
    assert!(!standing.is_open());
    assert_eq!(standing.answer_from_votes().edit, whole);

    let (mut world, id) = open_withheld(Kind::ToolApproval, payload(), &FIELDS, 1);
    decide(&mut world, &id, "anna", edit(sent(|_| ()))).expect("it changes nothing");
    let standing = &world.run.interrupts[&id];
    assert_eq!((standing.answer_from_votes().edit, &*standing.votes[0].option), (Value::Null, "approve"));
}

/// Withheld values in a text of a person who sees them are redacted for everybody else.
#[test]
fn words_of_others_hold_none_of_it() {
    let (mut world, id) = open_withheld(Kind::ToolApproval, payload(), &FIELDS, 2);
    let said = choose_with("approve", "ann@example.org is known to me");
    decide(&mut world, &id, "olga", said).expect("it is taken");
    let vote = seen(&world, &id, Role::Reviewer).votes[0].text.clone();
    assert_eq!(vote.as_deref(), Some("[withheld] is known to me"));
}

/// Findings of a service are withheld in the review that it opens, and in a comment on an open review.
#[test]
fn what_a_service_found_is_withheld_wherever_it_is_said() {
    let service = Actor::agent("watcher", "crew");
    let hold = || {
        Input::Hold(Box::new(Hold {
            title: "Sanctions: account B".to_owned(),
            message: String::new(),
            payload: json!({"findings": "account B\nat a bank", "details": {"iban": "DE11 1111", "n": 7}}),
            risk: Level::High,
            expires_in_ms: None,
        }))
    };
    let handed_in =
        json!({"title": "t", "content": "the report", "findings": ["velocity"], "risk_level": "high"});
    let withheld_of = |fields: &[&str], script: Vec<world::Answer>| {
        let mut definition = world::definition();
        definition.gates.withhold = from_reviewers(fields);
        let is_at_work = !script.is_empty();
        let mut world = World::started(definition, script);
        if is_at_work {
            world.work();
        }
        world.try_send(&service, hold()).expect("it may");
        let id = world.open(Kind::Review);
        (seen(&world, &id, Role::Reviewer), world, id)
    };
    let mark = |place: &str| json!({ "withheld": place });

    let fields = ["/details/iban", "/details/n", "/content"];
    let script = vec![world::calls(&[("request_review", handed_in)])];
    let (interrupt, world, id) = withheld_of(&fields, script);
    let payload = &interrupt.content["payload"];
    let told = json!([payload["content"], payload["findings"], payload["risk_level"]]);
    assert_eq!(told, json!([mark("/content"), ["velocity"], "high"]), "{payload}");
    let text = interrupt.comments[0].text.as_deref().expect("it is there");
    assert!(text.contains("account B") && text.contains("/details/iban"), "{text}");
    assert!(!text.contains("DE11") && !text.contains('7'), "{text}");
    let whole = &world.run.interrupts[&id];
    assert!(whole.comments[0].text.as_ref().expect("it is there").contains("DE11 1111"));
    let said = |event: &&Event| event.actor == service && event.content.text.is_some();
    let mut event = world.log.iter().rev().find(said).expect("it is there").clone();
    whole.cover_event(Role::Reviewer, &world.system.people, &mut event, 9);
    assert_eq!((event.content.text.as_deref(), &event.content.data), (Some(text), &Value::Null));

    let (interrupt, world, id) = withheld_of(&fields, Vec::new());
    let details = json!({"iban": mark("/details/iban"), "n": mark("/details/n")});
    assert_eq!(interrupt.content["payload"], json!({"findings": "account B\nat a bank", "details": details}));
    let covered = world.run.interrupts[&id].redact_for(Role::Reviewer, &world.system.people);
    let places = covered.map(|covered| covered.cover.places).unwrap_or_default();
    assert_eq!(json!(places), json!(["/details/iban", "/details/n"]));
    // The title contains the withheld finding.
    let (interrupt, ..) = withheld_of(&["/findings"], Vec::new());
    assert_eq!(
        (&interrupt.content["title"], &interrupt.content["payload"]["findings"]),
        (&json!("[withheld]"), &mark("/findings"))
    );
}

/// A person's own text is not redacted for that person, because this would confirm a guess of a withheld value.
#[test]
fn nobody_learns_from_their_own_words_what_is_withheld() {
    let guessed = "ann@example.org bob@example.org DE11 1111";
    let (mut world, id) = open_withheld(Kind::ToolApproval, payload(), &FIELDS, 2);
    world.system.apply(&world::of_system(Fact::PersonSet {
        person: "dirk".to_owned(),
        is: world::person(&[Role::Auditor, Role::Reviewer], &["legal"]),
    }));
    let [anna, ben] = ["anna", "ben"].map(|who| actor(&world.system, who));
    let dirk = Actor { role: Role::Reviewer, ..actor(&world.system, "dirk") };
    for who in [&anna, &dirk] {
        let comment = Input::Comment { interrupt: id.clone(), text: guessed.to_owned() };
        world.try_send(who, comment).expect("it is taken");
    }
    let theirs = Decision { text: Some(guessed.to_owned()), ..edit(sent(|it| it["guess"] = json!(guessed))) };
    decide(&mut world, &id, "anna", theirs).expect("she changes what she sees");

    let interrupt = seen(&world, &id, Role::Reviewer);
    let said: Vec<&str> = interrupt.comments.iter().filter_map(|comment| comment.text.as_deref()).collect();
    assert_eq!(said, [guessed, "[withheld] bob@example.org [withheld]"], "who is an auditor, too, saw it");
    let vote = &interrupt.votes[0];
    assert_eq!((vote.text.as_deref(), &vote.edit["guess"]), (Some(guessed), &json!(guessed)));
    assert!(vote.edit["to"]["withheld"].is_string(), "what she was sent a mark for has one: {}", vote.edit);
    let mut event =
        world.log.iter().rev().find(|event| event.actor.id == "anna").expect("it is there").clone();
    let whole = &world.run.interrupts[&id];
    whole.cover_event(Role::Reviewer, &world.system.people, &mut event, vote.seq);
    assert_eq!((event.content.text.as_deref(), &event.content.data), (Some(guessed), &vote.edit));
    // Ben votes for the edit in the form that he sees.
    let agreed = edit(vote.edit.clone());
    world
        .try_send(&ben, Input::Decide { interrupt: id.clone(), decision: agreed, holder: None })
        .expect("as shown");
    assert!(!world.run.interrupts[&id].is_open());

    // A person who sees the withheld values may repeat the values elsewhere in an edit. The values are redacted
    // there, too.
    let (mut world, id) = open_withheld(Kind::ToolApproval, payload(), &FIELDS, 3);
    let mut whole = payload()["arguments"].take();
    whole["note"] = json!("for ann@example.org");
    decide(&mut world, &id, "olga", edit(whole)).expect("she sees all of it");
    let theirs = seen(&world, &id, Role::Reviewer).votes[0].edit.clone();
    decide(&mut world, &id, "anna", edit(theirs.clone())).expect("she agrees");
    assert_eq!(seen(&world, &id, Role::Reviewer).votes[1].edit, theirs);
}

/// Texts derived from the arguments of a native call, such as the title, are redacted too. A person who does not see
/// all arguments cannot give a grant for the call.
#[test]
fn of_an_own_call_nothing_is_shown_that_is_made_of_it() {
    let mut definition = world::definition();
    definition.gates.withhold = from_reviewers(&["/arguments/command"]);
    let mut world = World::new(definition);
    people(&mut world.system);
    let mut world = world.with("work", vec![world::calls(&[world::command("make secret-target")])]);
    world.person(world.start_input(Config::default()));
    world.work();
    let id = world.open(Kind::ToolApproval);
    let legal = stages(vec![of_groups(&["legal"], 1)]);
    world.run.interrupts.change(&id, |interrupt| interrupt.assignment = legal);
    let interrupt = &world.run.interrupts[&id];
    let covered =
        interrupt.redact_for(Role::Reviewer, &world.system.people).expect("it is covered").interrupt;
    assert_eq!(covered.content["title"], "run_command");
    let all = format!("{:?} {}", covered.opened, covered.content);
    assert!(!all.contains("secret-target"), "{all}");
    assert!(interrupt.offers("approve_session").is_some(), "the test means something");
    let refused = decide(&mut world, &id, "anna", choose("approve_session"));
    assert!(matches!(refused, Err(Rejection::Refused(Refusal::Withheld(_)))), "{refused:?}");
    decide(&mut world, &id, "anna", choose("approve")).expect("she may approve it all the same");
}

/// A journal without `withhold` (rules that hide values) can be read as before. The `withhold` of an interrupt survives
/// reading the journal back.
#[test]
fn it_stands_in_the_facts() {
    let (world, id) = open_withheld(Kind::Review, json!({"content": "x"}), &["/content"], 1);
    let opened = &world.run.interrupts[&id].opened;
    let stored = serde_json::to_value(opened).expect("it serialises");
    assert_eq!(stored["withhold"], json!([{"from": ["reviewer"], "fields": ["/content"]}]));
    let read: holdshort_core::interrupt::Opened = serde_json::from_value(stored).expect("it is read");
    assert_eq!(&read, opened);
    let plain = holdshort_core::interrupt::Opened { withhold: Vec::new(), ..read };
    assert!(serde_json::to_value(plain).expect("it serialises").get("withhold").is_none());
}

/// An invalid ask is rejected, with pointers to the invalid fields.
#[test]
fn an_ask_is_checked() {
    let mut world = World::new(world::external());
    let agent = Actor::agent("their-agent", "rest");
    let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
    start.origin = Origin::External;
    world.try_send(&agent, Input::Start(start)).expect("it may start");
    let rule = |from: &[Role], fields: &[&str]| Withhold {
        from: from.iter().copied().collect(),
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
    };
    let table = [
        (rule(&[Role::Operator], &["/a"]), "/withhold/0/from/0"),
        (rule(&[], &["/a"]), "/withhold/0/from"),
        (rule(&[Role::Reviewer], &[]), "/withhold/0/fields"),
        (rule(&[Role::Reviewer], &["/a", "b"]), "/withhold/0/fields/1"),
    ];
    for (rule, pointer) in table {
        let ask = Ask { withhold: vec![rule.clone()], assignment: Assignment::default(), ..ask() };
        let Err(Rejection::Invalid(problems)) = world.try_send(&agent, Input::Ask(Box::new(ask))) else {
            panic!("{rule:?}")
        };
        assert_eq!(problems[0].pointer, pointer, "{rule:?}");
    }
}
