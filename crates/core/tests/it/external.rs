//! Agents of other frameworks ask people with the same interrupts as native agents, and the run executes nothing for
//! them.

use holdshort_core::actor::Actor;
use holdshort_core::event;
use holdshort_core::interrupt::{Decision, Interrupt, Kind, Opened, Refusal};
use holdshort_core::limits;
use holdshort_core::projection::Status;
use holdshort_core::run::{Ask, Config, Fact, Input, Origin, Rejection};
use holdshort_core::time::Timestamp;
use serde_json::{Value, json};

use crate::pairs::ask;
use crate::world::{self, World, choose, choose_with, edit};

fn external(origin: Origin) -> World {
    let mut world = World::new(world::external());
    let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
    start.origin = origin;
    world
        .try_send(&Actor::agent("their-agent", "rest"), Input::Start(start))
        .expect("an agent may start a run of its own");
    world
}

fn asks(world: &mut World, ask: Ask) -> Result<Vec<String>, Rejection> {
    world.try_send(&Actor::agent("their-agent", "rest"), Input::Ask(Box::new(ask)))
}

/// Returns the JSON pointers to the invalid fields of an ask.
fn problems(ask: Ask) -> Vec<String> {
    match asks(&mut external(Origin::External), ask) {
        Err(Rejection::Invalid(problems)) => problems.into_iter().map(|problem| problem.pointer).collect(),
        Ok(_) => Vec::new(),
        Err(other) => vec![format!("{other:?}")],
    }
}

#[test]
fn a_question_without_a_run_ends_its_run() {
    let mut world = external(Origin::ExternalOnce);
    asks(&mut world, ask()).expect("it may ask");
    assert_eq!(world.run.status(), Status::Waiting);
    world.decide(Kind::Question, choose_with("answer", "the first"));
    assert_eq!(
        world.run.ended.map(|ended| (ended.status, ended.reason.clone(), ended.result.clone())),
        Some((
            Status::Completed,
            "resolved".to_owned(),
            json!({ "outcome": "answered", "option": "answer", "text": "the first", "edit": null }),
        )),
    );
}

/// A run for a single question ends with the first resolution, which cancels interrupts that are still open.
#[test]
fn no_run_ends_with_a_question_open() {
    let mut world = external(Origin::ExternalOnce);
    asks(&mut world, ask()).expect("it may ask");
    let review = Ask { kind: Kind::Review, ..ask() };
    asks(&mut world, review).expect("it may ask again");
    assert_eq!(
        world.decide(Kind::Question, choose_with("answer", "x")),
        [
            "decision_made answer",
            "interrupt_resolved answered answer",
            "interrupt_resolved cancelled",
            "run_completed resolved"
        ],
    );
}

#[test]
fn a_run_of_its_own_ends_when_the_agent_says_so() {
    let mut world = external(Origin::External);
    asks(&mut world, ask()).expect("it may ask");
    world.decide(Kind::Question, choose_with("answer", "x"));
    assert_eq!(world.run.status(), Status::Running);
    asks(&mut world, ask()).expect("it may ask again");
    let told = world
        .try_send(&Actor::agent("their-agent", "rest"), Input::Finish { result: json!({ "text": "done" }) })
        .expect("it may finish");
    assert_eq!(told, ["interrupt_resolved cancelled", "run_completed finished"]);
    assert_eq!(world.run.ended.map(|ended| ended.result.clone()), Some(json!({ "text": "done" })));
}

#[test]
fn an_edit_is_checked_against_the_askers_schema() {
    let schema = json!({ "type": "object", "required": ["amount"], "properties": { "amount": { "type": "integer" } } });
    let mut world = external(Origin::External);
    let ask = Ask { kind: Kind::ToolApproval, response_schema: Some(schema), ..ask() };
    asks(&mut world, ask).expect("it may ask");
    let interrupt = world.open(Kind::ToolApproval);
    let decide = |world: &World, edited: Value| {
        let input = Input::Decide { interrupt: interrupt.clone(), decision: edit(edited), holder: None };
        world.handle(&Actor::operator("rest"), input).is_ok()
    };
    assert_eq!(
        [
            decide(&world, json!({ "amount": "many" })),
            decide(&world, json!({})),
            decide(&world, json!({ "amount": 3 }))
        ],
        [false, false, true],
    );
}

/// Returns the JSON pointers to the invalid fields of each decision. The list of an accepted decision is empty.
fn answers(ask: Ask, kind: Kind, decisions: &[Decision]) -> Vec<Vec<String>> {
    let mut world = external(Origin::External);
    asks(&mut world, ask).expect("it may ask");
    let interrupt = world.open(kind);
    let decide = |decision: &Decision| {
        let input = Input::Decide { interrupt: interrupt.clone(), decision: decision.clone(), holder: None };
        match world.handle(&Actor::operator("rest"), input) {
            Ok(_) => Vec::new(),
            Err(Rejection::Refused(Refusal::Invalid(problems))) => {
                problems.into_iter().map(|problem| problem.pointer).collect()
            }
            Err(other) => vec![format!("{other:?}")],
        }
    };
    decisions.iter().map(decide).collect()
}

/// A test case: a decision, and the JSON pointers to its invalid fields.
type Row = (Decision, &'static [&'static str]);

/// If a question's schema accepts only texts, the answer is a text. For any other schema, the answer is data. The
/// answer must match the schema.
#[test]
fn an_answer_is_checked_against_the_askers_schema() {
    let said = |text: &str| choose_with("answer", text);
    let data = |edit: Value| Decision { option: "answer".to_owned(), edit, ..Decision::default() };
    let form = json!({
        "$defs": { "Slot": { "type": "object", "required": ["day"], "properties": { "day": { "enum": ["mon", "tue"] } } } },
        "$ref": "#/$defs/Slot",
    });
    let table: [(Value, Vec<Row>); 6] = [
        (Value::Null, vec![(said("any"), &[]), (data(json!({ "a": 1 })), &["/text", "/edit"])]),
        (
            json!({ "type": "string", "pattern": "^[0-9]+$" }),
            vec![(said("12"), &[]), (said("twelve"), &["/text"]), (data(json!("12")), &["/text", "/edit"])],
        ),
        (json!({ "enum": ["red", "blue"] }), vec![(said("red"), &[]), (said("green"), &["/text"])]),
        (
            form,
            vec![
                (data(json!({ "day": "mon" })), &[]),
                (data(json!({ "day": "sun" })), &["/edit/day"]),
                (data(json!({})), &["/edit"]),
                (data(json!("mon")), &["/edit"]),
                (said("mon"), &["/edit"]),
                (choose("skip"), &[]),
                (choose("cancel"), &[]),
            ],
        ),
        (
            json!({ "type": "integer" }),
            vec![(data(json!(3)), &[]), (data(json!("3")), &["/edit"]), (said("3"), &["/edit"])],
        ),
        (
            json!({ "enum": ["all", 3] }),
            vec![(data(json!("all")), &[]), (data(json!(3)), &[]), (said("all"), &["/edit"])],
        ),
    ];
    for (schema, rows) in table {
        let ask = Ask { response_schema: Some(schema.clone()).filter(|schema| !schema.is_null()), ..ask() };
        let (decisions, expected): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        assert_eq!(answers(ask, Kind::Question, &decisions), expected, "{schema}");
    }
}

/// Without a schema, an edit of an object must be an object.
#[test]
fn an_edit_of_an_object_is_an_object() {
    let edits = [json!({ "amount": 1 }), json!("amount: 1"), json!([1]), json!(1)].map(edit);
    let only_objects: [&[&str]; 4] = [&[], &["/edit"], &["/edit"], &["/edit"]];
    let any: [&[&str]; 4] = [&[], &[], &[], &[]];
    let table = [
        (Kind::ToolApproval, json!({ "arguments": { "amount": 2 } }), only_objects),
        (Kind::ToolApproval, json!({ "amount": 2 }), only_objects),
        (Kind::ToolApproval, json!({ "arguments": "amount 2" }), any),
        (Kind::ToolApproval, json!({ "arguments": [2] }), any),
        (Kind::Checkpoint, json!({ "input": { "amount": 2 } }), only_objects),
        (Kind::Checkpoint, json!({ "results": { "amount": 2 } }), only_objects),
        (Kind::Review, json!({ "content": "A report." }), any),
        (Kind::Review, json!({ "summary": "A report." }), only_objects),
        (Kind::PlanApproval, json!({ "plan": { "subtasks": [] } }), only_objects),
    ];
    for (kind, payload, expected) in table {
        let ask = Ask { kind, payload: payload.clone(), ..ask() };
        assert_eq!(answers(ask, kind, &edits), expected, "{kind:?} {payload}");
    }
}

#[test]
fn what_an_agent_asks_must_fit() {
    let option = |id: &str| (id.to_owned(), None);
    let of = |kind, options: &[&str]| Ask {
        kind,
        options: options.iter().map(|id| option(id)).collect(),
        ..ask()
    };
    let table: Vec<(&str, Ask, &[&str])> = vec![
        ("as it should be", ask(), &[]),
        ("another kind's option", of(Kind::Question, &["approve"]), &["/options/0/id"]),
        ("a grant", of(Kind::ToolApproval, &["approve", "approve_session"]), &["/options/1/id"]),
        ("an option twice", of(Kind::Choice, &["a", "b", "a"]), &["/options/2/id"]),
        ("an empty option", of(Kind::Choice, &[" "]), &["/options/0/id"]),
        ("an option of two lines", of(Kind::Choice, &["a\nb"]), &["/options/0/id"]),
        (
            "options that hide or turn",
            of(Kind::Choice, &["a\u{1b}[2K", "\u{200b}", "\u{202e}a"]),
            &["/options/0/id", "/options/1/id", "/options/2/id"],
        ),
        ("options in words", of(Kind::Choice, &["Deploy now", "Später", "#1: blue"]), &[]),
        ("an endless option", of(Kind::Choice, &[&"x".repeat(101)]), &["/options/0/id"]),
        ("nothing but agreement", of(Kind::ToolApproval, &["approve", "edit"]), &["/options"]),
        ("its own options", of(Kind::Choice, &["a", "b"]), &[]),
        ("instructions, and no way to stop", of(Kind::Escalation, &["continue", "instruct"]), &["/options"]),
        ("a way to stop", of(Kind::Escalation, &["continue", "abort"]), &[]),
        ("a kind of ours", of(Kind::UnknownOutcome, &[]), &["/kind"]),
        ("no title", Ask { title: " ".to_owned(), ..ask() }, &["/title"]),
        ("a long title", Ask { title: "x".repeat(501), ..ask() }, &["/title"]),
        ("a long message", Ask { message: "x".repeat(65_537), ..ask() }, &["/message"]),
        (
            "a large payload",
            Ask { payload: json!("x".repeat(limits::PAYLOAD_BYTES)), ..ask() },
            &["/payload"],
        ),
        ("a huge integer", Ask { payload: json!({ "n": u64::MAX }), ..ask() }, &["/payload"]),
        (
            "no schema",
            Ask { response_schema: Some(json!({ "type": 7 })), ..ask() },
            &["/response_schema/type"],
        ),
        (
            "a schema that refers to itself",
            Ask { response_schema: Some(json!({ "$ref": "#" })), ..ask() },
            &["/response_schema"],
        ),
        (
            "a schema larger than any question",
            Ask { response_schema: Some(json!({ "description": "x".repeat(20_000) })), ..ask() },
            &["/response_schema"],
        ),
        (
            "a pattern that no engine reads",
            Ask { response_schema: Some(json!({ "pattern": "(a*" })), ..ask() },
            &["/response_schema/pattern"],
        ),
        (
            "a schema that nothing would read",
            Ask { kind: Kind::Choice, response_schema: Some(json!({})), ..ask() },
            &["/response_schema"],
        ),
        ("no time", Ask { expires_in_ms: Some(0), ..ask() }, &["/expires_in_ms"]),
        ("for ever", Ask { expires_in_ms: Some(u64::MAX), ..ask() }, &[]),
        (
            "an expiry that is not offered",
            Ask { on_expiry: Some("approve".to_owned()), ..ask() },
            &["/on_expiry"],
        ),
        (
            "the kind's own expiry, where it is not offered",
            Ask { on_expiry: Some("reject".to_owned()), ..of(Kind::ToolApproval, &["approve", "respond"]) },
            &["/on_expiry"],
        ),
        (
            "an expiry that needs a person",
            Ask { kind: Kind::Review, on_expiry: Some("edit".to_owned()), ..ask() },
            &["/on_expiry"],
        ),
        (
            "an expiry that approves",
            Ask { kind: Kind::Review, on_expiry: Some("approve".to_owned()), ..ask() },
            &["/on_expiry"],
        ),
        (
            "a long label",
            Ask { options: vec![("answer".to_owned(), Some("x".repeat(501)))], ..ask() },
            &["/options/0/label"],
        ),
        ("too many options", of(Kind::Choice, &(0..51).map(|_| "x").collect::<Vec<_>>()[..1]), &[]),
    ];
    let wrong: Vec<_> = table
        .into_iter()
        .filter_map(|(name, ask, expected)| {
            let found = problems(ask);
            (found != expected).then_some((name, found))
        })
        .collect();
    assert_eq!(wrong, []);

    let many: Vec<String> = (0..=limits::OPTIONS).map(|i| i.to_string()).collect();
    let many = Ask { kind: Kind::Choice, options: many.into_iter().map(|id| (id, None)).collect(), ..ask() };
    assert_eq!(problems(many), ["/options"]);
}

/// Labels of options are content, so that they can be erased, and facts contain only the option ids. Earlier journals
/// have labels in their facts.
#[test]
fn what_an_agent_calls_its_options_is_content() {
    let options = vec![("go".to_owned(), Some("Pay Mrs Roe".to_owned())), ("stay".to_owned(), None)];
    let mut world = external(Origin::External);
    asks(&mut world, Ask { kind: Kind::Choice, options, ..ask() }).expect("it may ask");
    let opened = world.log.iter().find_map(|event| match &event.fact {
        event::Fact::Run(Fact::InterruptOpened(opened)) => Some((opened, &event.content.data)),
        _ => None,
    });
    let (facts, content) = opened.expect("it is open");
    assert!(!json!(facts).to_string().contains("Roe"), "{facts:?}");
    let labels = |opened: &Opened, content: &Value| -> Vec<String> {
        let interrupt =
            Interrupt::new(opened.clone(), content.clone(), &Actor::engine(), Timestamp::from_millis(0), 1);
        assert_eq!(interrupt.content.get("labels"), None);
        interrupt.opened.options.iter().map(|offer| offer.label.clone()).collect()
    };
    assert_eq!(labels(facts, content), ["Pay Mrs Roe", "stay", "Other answer"]);
    assert_eq!(labels(facts, &Value::Null), ["go", "stay", "Other answer"], "it was erased");
    let mut before = (**facts).clone();
    "Pay Mr Roe".clone_into(&mut before.options[0].label);
    let without = json!({ "title": "Which?", "message": "", "payload": null });
    assert_eq!(labels(&before, &without), ["Pay Mr Roe", "stay", "Other answer"]);
}

/// A choice offers the options of the asking agent, and an answer in the person's own words.
#[test]
fn a_choice_is_among_the_askers_options_or_in_ones_own_words() {
    type OfferedOptions<'a> = &'a [(&'a str, Option<&'a str>)];
    let table: [(OfferedOptions<'_>, &str); 4] = [
        (&[], "custom: Other answer"),
        (&[("go", Some("Deploy now"))], "go: Deploy now, custom: Other answer"),
        (&[("go", None), ("stay", None)], "go: go, stay: stay, custom: Other answer"),
        (&[("custom", Some("Another day")), ("go", None)], "go: go, custom: Another day"),
    ];
    for (given, expected) in table {
        let options = given.iter().map(|(id, label)| ((*id).to_owned(), label.map(str::to_owned))).collect();
        let mut world = external(Origin::External);
        asks(&mut world, Ask { kind: Kind::Choice, options, ..ask() }).expect("it may ask");
        let id = world.open(Kind::Choice);
        let offers = &world.run.interrupts[&id].opened.options;
        let shown: Vec<String> =
            offers.iter().map(|offer| format!("{}: {}", offer.id, offer.label)).collect();
        assert_eq!(shown.join(", "), expected);
        world.person(Input::Decide {
            interrupt: id.clone(),
            decision: choose_with("custom", "On Monday."),
            holder: None,
        });
        let made = world.run.interrupts[&id].settled_by().and_then(|made| made.text.clone());
        assert_eq!(made.as_deref(), Some("On Monday."));
    }
}

/// A very long expiry is shortened to the latest possible timestamp, so that the event can be read back.
#[test]
fn an_endless_expiry_can_be_journalled() {
    let mut world = external(Origin::External);
    asks(&mut world, Ask { expires_in_ms: Some(u64::MAX), ..ask() }).expect("it may ask");
    crate::events::reread(&world);
}

#[test]
fn so_many_questions_are_open_at_once() {
    let mut world = external(Origin::External);
    for _ in 0..limits::OPEN_INTERRUPTS {
        asks(&mut world, ask()).expect("there is room");
    }
    assert_eq!(asks(&mut world, ask()), Err(Rejection::Limit { name: "open_interrupts", limit: 1_000 }));
}

#[test]
fn a_run_of_ours_takes_no_questions_from_outside() {
    let mut world = World::started(world::definition(), Vec::new());
    assert_eq!(asks(&mut world, ask()), Err(Rejection::Role));
    let operator = Actor::operator("rest");
    assert_eq!(world.try_send(&operator, Input::Ask(Box::new(ask()))), Err(Rejection::NotExternal));
}

/// The result of a run has the same size limits as a payload.
#[test]
fn a_result_must_fit_too() {
    for result in [json!("x".repeat(limits::PAYLOAD_BYTES)), json!({ "n": u64::MAX })] {
        let world = external(Origin::External);
        let finish = Input::Finish { result };
        assert!(matches!(
            world.handle(&Actor::agent("their-agent", "rest"), finish),
            Err(Rejection::Invalid(_))
        ));
    }
}

#[test]
fn a_decision_on_an_ended_run_still_has_an_answer() {
    let mut world = external(Origin::ExternalOnce);
    asks(
        &mut world,
        Ask { kind: Kind::Choice, options: vec![("a".to_owned(), None), ("b".to_owned(), None)], ..ask() },
    )
    .expect("it may ask");
    let interrupt = world.open(Kind::Choice);
    let decide =
        |option: &str| Input::Decide { interrupt: interrupt.clone(), decision: choose(option), holder: None };
    world.person(decide("a"));
    let operator = Actor::operator("rest");
    assert_eq!(world.handle(&operator, decide("a")), Ok(Vec::new()));
    assert!(matches!(world.handle(&operator, decide("b")), Err(Rejection::Refused(_))));
}
