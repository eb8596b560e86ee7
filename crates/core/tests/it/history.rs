//! Answers that are stored per subject: reuse for equal questions, suggestions for similar ones, corrections and
//! erasure.

use holdshort_core::actor::{Actor, Role};
use holdshort_core::asking::Asking;
use holdshort_core::definition::{Definition, KindGate};
use holdshort_core::envelope::Content;
use holdshort_core::event::{self, Event};
use holdshort_core::history;
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::{AnswerContent, Assignment, Cause, Decision, Kind, Refusal};
use holdshort_core::projection::AnswerRow;
use holdshort_core::run::{Config, Fact, Input, Rejection, Run};
use holdshort_core::time::Timestamp;
use serde_json::{Value, json};

use crate::world::{World, calls, choose, choose_with, definition, draw, says};

fn asks(asking: Asking) -> Definition {
    let mut definition = Definition { asking, ..definition() };
    let ask = definition.tools.get_mut("ask_human").expect("it is there");
    ask.parameters["properties"]["response_schema"] = json!({ "type": "object" });
    definition
}

/// Returns a run about `subject` that has asked this question.
fn run_with_question(subject: &Value, definition: Definition, arguments: Value) -> World {
    let mut world =
        World::new(definition).with("work", vec![calls(&[("ask_human", arguments)]), says("Noted.")]);
    let mut input = world.start_input(Config::default());
    if let Input::Start(start) = &mut input {
        start.input = json!({ "task": "Do it", "subject": subject });
    }
    world.send(input);
    world.work();
    world
}

fn ill(subject: &str) -> World {
    run_with_question(&json!(subject), asks(Asking::default()), json!({ "question": "Were you ill in May?" }))
}

fn rows(world: &World) -> Vec<AnswerRow> {
    world.run.answer_rows(world.run.interrupts.keys())
}

fn text_answer(text: &str) -> AnswerContent {
    AnswerContent { text: Some(text.to_owned()), edit: Value::Null }
}

fn only(world: &World) -> InterruptId {
    world.run.interrupts.keys().next().expect("it asked").clone()
}

#[test]
fn a_subject_is_a_text_that_no_two_subjects_share() {
    let long = "x".repeat(history::SUBJECT_BYTES + 1);
    for (input, subject) in [
        (json!({ "subject": "athlete-7" }), Some("athlete-7")),
        (json!({ "subject": "  athlete-7 " }), Some("athlete-7")),
        (json!({ "subject": "Ärztin" }), Some("Ärztin")),
        (json!({ "subject": "" }), None),
        (json!({ "subject": "  " }), None),
        (json!({ "subject": "a\nb" }), None),
        (json!({ "subject": "a\u{0}" }), None),
        (json!({ "subject": long }), None),
        (json!({ "subject": 7 }), None),
        (json!({ "task": "x" }), None),
        (json!("subject"), None),
    ] {
        assert_eq!(history::subject(&input), subject, "{input}");
    }
}

#[test]
fn words_are_the_same_for_every_store() {
    for (text, words) in [
        ("Were you ILL, in May?", vec!["were", "you", "ill", "in", "may"]),
        ("don't  e-mail a@b.c", vec!["don", "t", "e", "mail", "a", "b", "c"]),
        ("may May MAY", vec!["may"]),
        ("Élan Straße İ", vec!["élan", "straße", "i"]),
        ("昨日は走る", vec!["昨", "日", "は", "走", "る"]),
        ("run走る2km", vec!["run", "走", "る", "2km"]),
        ("\"%_*' OR 1=1;--", vec!["or", "1"]),
        ("\u{0}\u{1b}[31m…", vec!["31m"]),
        ("", vec![]),
    ] {
        assert_eq!(history::searched(text), words, "{text}");
    }
    let long = "x".repeat(1_000);
    assert_eq!(history::searched(&long), ["x".repeat(64)]);
    let many = (0..2_000).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    assert_eq!(history::collect_words([many.as_str()], history::WORDS).len(), history::WORDS);
    assert_eq!(history::searched(&many).len(), history::SEARCHED_WORDS);
}

#[test]
fn the_same_question_is_the_same_text() {
    let same = history::question_key("Were you ill in May?");
    for (question, is_same) in [
        ("  were YOU ill\n in   May? ", true),
        ("Were you ill in May", false),
        ("Were you ill in June?", false),
    ] {
        assert_eq!(history::question_key(question) == same, is_same, "{question}");
    }
}

fn answer_row(n: u8, question: &str, answer: &str, at: i64) -> AnswerRow {
    AnswerRow {
        interrupt: draw(n).id(),
        run: draw(100).id::<RunId>(),
        subject: "athlete-7".to_owned(),
        agent: None,
        question: question.to_owned(),
        answer: answer.to_owned(),
        is_data: false,
        by: "operator".to_owned(),
        at: Timestamp::from_millis(at),
        corrected_at: None,
        reused: false,
        source: None,
        erased: false,
        asked: history::question_key(question),
        words: String::new(),
    }
}

#[test]
fn suggestions_are_the_likeliest_newest_and_each_once() {
    let itself = draw(99).id();
    let suggested = |rows: Vec<AnswerRow>| {
        let found = history::suggestions("Were you ill in May?", &itself, rows);
        found.into_iter().map(|row| row.answer).collect::<Vec<_>>()
    };
    let may = "were you ill in may?";
    let june = "Were you ill in June?";
    assert_eq!(suggested(vec![answer_row(1, june, "no", 9), answer_row(2, may, "yes", 1)]), ["yes", "no"]);
    assert_eq!(suggested(vec![answer_row(1, may, "old", 1), answer_row(2, may, "new", 2)]), ["new", "old"]);
    assert_eq!(
        suggested(vec![answer_row(1, may, "a", 1), answer_row(2, may, "a", 2), answer_row(3, june, "a", 3)]),
        ["a"]
    );
    assert_eq!(suggested(vec![answer_row(1, "How did you sleep?", "well", 1)]), [""; 0]);
    let nine = (0..9).map(|n| answer_row(n, may, &n.to_string(), n.into())).collect();
    assert_eq!(suggested(nine), ["8", "7", "6"]);
    let corrected =
        AnswerRow { corrected_at: Some(Timestamp::from_millis(9)), ..answer_row(1, may, "fixed", 1) };
    assert_eq!(suggested(vec![answer_row(2, may, "newer", 5), corrected]), ["fixed", "newer"]);
    let never = [
        AnswerRow { erased: true, ..answer_row(1, may, "erased", 1) },
        AnswerRow { reused: true, ..answer_row(2, may, "reused", 1) },
        AnswerRow { interrupt: itself.clone(), ..answer_row(3, may, "itself", 1) },
        answer_row(4, may, history::NOTHING, 1),
    ];
    assert_eq!(suggested(never.to_vec()), [""; 0]);
}

#[test]
fn what_is_reused_is_young_and_was_given_by_somebody() {
    let now = Timestamp::from_millis(1_000);
    let reusable = |rows: &[AnswerRow], ms| history::reusable(rows.to_vec(), now, ms).map(|row| row.answer);
    let (old, new) = (answer_row(1, "Q?", "old", 400), answer_row(2, "Q?", "new", 900));
    assert_eq!(reusable(&[old.clone(), new.clone()], 600).as_deref(), Some("new"));
    assert_eq!(reusable(std::slice::from_ref(&old), 600).as_deref(), Some("old"));
    assert_eq!(reusable(std::slice::from_ref(&old), 599), None);
    let corrected = AnswerRow { corrected_at: Some(Timestamp::from_millis(950)), ..old };
    assert_eq!(reusable(&[new.clone(), corrected], 100).as_deref(), Some("old"));
    assert_eq!(reusable(&[AnswerRow { reused: true, ..new.clone() }], 600), None);
    assert_eq!(reusable(&[AnswerRow { answer: history::NOTHING.to_owned(), ..new.clone() }], 600), None);
    assert_eq!(reusable(&[AnswerRow { erased: true, ..new }], 600), None);
}

#[test]
fn an_answer_is_kept_where_the_run_has_a_subject() {
    let mut world = ill("athlete-7");
    assert_eq!(rows(&world), []);
    world.decide(Kind::Question, choose_with("answer", "Yes, a week."));
    let row = rows(&world).remove(0);
    let told = (row.subject.as_str(), row.agent.as_deref(), row.question.as_str(), row.answer.as_str());
    assert_eq!(told, ("athlete-7", Some("pair"), "Were you ill in May?", "Yes, a week."));
    assert_eq!((row.by.as_str(), row.is_data, row.reused, row.erased), ("operator", false, false, false));
    assert_eq!(row.words, "were you ill in may yes a week");

    for option in ["skip", "cancel"] {
        let mut world = ill("athlete-7");
        world.decide(Kind::Question, choose(option));
        assert_eq!(rows(&world), [], "{option}");
    }
    for subject in [json!(7), json!("")] {
        let mut world = run_with_question(&subject, asks(Asking::default()), json!({ "question": "Which?" }));
        world.decide(Kind::Question, choose_with("answer", "This."));
        assert_eq!(rows(&world), [], "{subject}");
    }
}

/// An answer can be corrected with a value of the same form, even after the run has ended.
#[test]
fn an_answer_is_corrected_in_its_own_form() {
    let schema =
        json!({ "type": "object", "required": ["hours"], "properties": { "hours": { "type": "number" } } });
    let question = json!({ "question": "How did you sleep?", "response_schema": schema });
    let mut world = run_with_question(&json!("athlete-7"), asks(Asking::default()), question);
    let id = only(&world);
    let correct = |given| Input::CorrectAnswer { interrupt: id.clone(), given };
    let data = |hours: Value| AnswerContent { text: None, edit: json!({ "hours": hours }) };
    let me = Actor::operator("rest");
    let early = world.try_send(&me, correct(data(json!(8))));
    assert!(matches!(early, Err(Rejection::NoAnswer(_))), "{early:?}");
    world.decide(Kind::Question, Decision { edit: json!({ "hours": 7 }), ..choose("answer") });
    world.work();
    assert!(world.run.ended.is_some());
    for wrong in [data(json!("eight")), text_answer("eight"), AnswerContent::default()] {
        let refused = world.try_send(&me, correct(wrong.clone()));
        assert!(matches!(refused, Err(Rejection::Refused(Refusal::Invalid(_)))), "{wrong:?}: {refused:?}");
    }
    world.pass_ms(1_000);
    assert_eq!(world.person(correct(data(json!(8)))).len(), 1);
    assert_eq!(world.person(correct(data(json!(8)))), [""; 0], "the same again is no event");
    let row = rows(&world).remove(0);
    assert_eq!(
        (row.answer.as_str(), row.is_data, row.corrected_at),
        ("{\"hours\":8}", true, Some(world.now))
    );
    // The result of the run keeps the answer that the agent received.
    assert_eq!(world.run.ended.as_ref().unwrap().result["questions"][0]["answer"], json!({ "hours": 7 }));
}

fn without_erased(world: &World) -> Vec<Event> {
    let gone: Vec<u64> = world
        .log
        .iter()
        .filter_map(|event| match &event.fact {
            event::Fact::Run(Fact::AnswerErased { events, .. }) => Some(events.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    let mut seq = 0;
    let mut left = Vec::new();
    for event in &world.log {
        let is_of_run = matches!(event.fact, event::Fact::Run(_));
        seq += u64::from(is_of_run);
        let content = if is_of_run && gone.contains(&seq) { Content::none() } else { event.content.clone() };
        left.push(Event { content, ..event.clone() });
    }
    left
}

#[test]
fn nothing_is_left_of_an_answer_that_is_erased() {
    const SECRET: &str = "a sore left knee";
    // The answer is erased during the run or after its end, with or without an earlier correction.
    for (ends, corrects) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut world = ill("athlete-7");
        let id = only(&world);
        world.decide(Kind::Question, choose_with("answer", SECRET));
        if ends {
            world.work();
        }
        if corrects {
            let given = text_answer(&format!("{SECRET}, really"));
            world.person(Input::CorrectAnswer { interrupt: id.clone(), given });
        }
        assert!(
            serde_json::to_string(&world.log.iter().map(|e| &e.content).collect::<Vec<_>>())
                .unwrap()
                .contains(SECRET)
        );
        world.person(Input::EraseAnswer { interrupt: id.clone() });
        assert_eq!(world.person(Input::EraseAnswer { interrupt: id.clone() }), [""; 0], "once");
        let late = world.try_send(
            &Actor::operator("rest"),
            Input::CorrectAnswer { interrupt: id.clone(), given: text_answer("no") },
        );
        assert_eq!(late, Err(Rejection::NoAnswer("it was erased")));

        let left = without_erased(&world);
        let contents: Vec<&Content> = left.iter().map(|event| &event.content).collect();
        let written = serde_json::to_string(&contents).unwrap();
        assert!(!written.contains(SECRET), "ends: {ends}, corrects: {corrects}: {written}");
        assert!(written.contains("Were you ill in May?"), "the question stays");

        let mut again = Run::new(world.run.id.clone(), world.run.definition.clone());
        for event in &left {
            again.apply(event);
        }
        let row = rows(&world).remove(0);
        assert_eq!(again.answer_rows([&id]), std::slice::from_ref(&row), "a replay comes to the same row");
        assert_eq!(
            (row.erased, row.answer.as_str(), row.words.as_str(), row.asked.as_str()),
            (true, "", "", "")
        );
        assert_eq!(again.row(), world.run.row());
        assert_eq!(
            again.ended.as_ref().map(|ended| (&ended.result, &ended.text)),
            world.run.ended.as_ref().map(|ended| (&ended.result, &ended.text))
        );
        if !ends {
            world.work();
        }
        let told = &world.run.ended.as_ref().unwrap().result;
        let question = &told["questions"][0];
        assert_eq!((&question["erased"], question.get("answer")), (&json!(true), None), "{told}");
        assert_eq!(told["text"], json!("Noted."), "the rest of the result stays");
    }
}

#[test]
fn an_agent_may_not_change_what_people_answered() {
    let mut world = ill("athlete-7");
    let id = only(&world);
    world.decide(Kind::Question, choose_with("answer", "Yes."));
    for role in [Role::Agent, Role::Reviewer, Role::Auditor] {
        let actor = Actor { role, ..Actor::operator("rest") };
        for input in [
            Input::EraseAnswer { interrupt: id.clone() },
            Input::CorrectAnswer { interrupt: id.clone(), given: text_answer("no") },
        ] {
            assert_eq!(world.try_send(&actor, input), Err(Rejection::Role), "{role:?}");
        }
    }
    let reuse =
        Input::Reuse { interrupt: id.clone(), source: id, by: "x".to_owned(), given: text_answer("no") };
    assert_eq!(world.try_send(&Actor::operator("rest"), reuse), Err(Rejection::Role));
}

#[test]
fn an_earlier_answer_counts_without_asking() {
    let mut world = ill("athlete-7");
    let (id, source) = (only(&world), draw(50).id::<InterruptId>());
    let reuse = |given| Input::Reuse {
        interrupt: id.clone(),
        source: source.clone(),
        by: "operator".to_owned(),
        given,
    };
    let blank = world.try_send(&Actor::engine(), reuse(text_answer(" ")));
    assert_eq!(blank, Err(Rejection::Outdated), "no answer leaves it open");
    world.send(reuse(text_answer("Yes, a week.")));
    let interrupt = &world.run.interrupts[&id];
    let resolution = interrupt.resolution.as_ref().unwrap();
    assert_eq!((&resolution.cause, resolution.by.as_str()), (&Cause::Reused(source.clone()), "engine"));
    let row = rows(&world).remove(0);
    assert_eq!((row.reused, row.source.as_ref(), row.answer.as_str()), (true, Some(&source), "Yes, a week."));
    let late = world.try_send(&Actor::engine(), reuse(text_answer("No.")));
    assert_eq!(late, Err(Rejection::Outdated));
    world.work();
    let told = &world.run.ended.as_ref().unwrap().result["questions"][0];
    assert_eq!((&told["answer"], &told["from"]), (&json!("Yes, a week."), &json!(source)));
}

/// Only earlier answers of a question's named approvers are reused.
#[test]
fn an_earlier_answer_counts_only_from_whom_the_question_is_for() {
    for (approvers, by, counts) in
        [(vec![], "ann", true), (vec!["ann".to_owned()], "ann", true), (vec!["ann".to_owned()], "bob", false)]
    {
        let mut definition = asks(Asking::default());
        let gate = KindGate {
            assignment: Some(Assignment::from_approvers(approvers.clone())),
            ..KindGate::default()
        };
        definition.gates.kinds.insert(Kind::Question, gate);
        let mut world = run_with_question(&json!("athlete-7"), definition, json!({ "question": "Which?" }));
        let (interrupt, source) = (only(&world), draw(50).id::<InterruptId>());
        let input = Input::Reuse { interrupt, source, by: by.to_owned(), given: text_answer("This.") };
        let taken = world.try_send(&Actor::engine(), input);
        assert_eq!(taken.is_ok(), counts, "{approvers:?} {by}: {taken:?}");
    }
}

#[test]
fn only_an_answer_is_taken_from_history() {
    let source = draw(50).id::<InterruptId>();
    for (option, text, is_taken) in [("answer", Some("Yes."), true), ("skip", None, false)] {
        let mut world = ill("athlete-7");
        let (interrupt, text) = (only(&world), text.map(str::to_owned));
        let decision = Decision { text, from: Some(source.clone()), ..choose(option) };
        let taken =
            world.try_send(&Actor::operator("rest"), Input::Decide { interrupt, decision, holder: None });
        assert_eq!(taken.is_ok(), is_taken, "{option}: {taken:?}");
        let sources: Vec<_> = rows(&world).into_iter().map(|row| (row.source, row.reused)).collect();
        assert_eq!(sources, if is_taken { vec![(Some(source.clone()), false)] } else { vec![] });
    }
}

/// A client may send the keys of an answer in any order, and integers with a decimal point. The stored answer has the
/// form in which it is read back.
#[test]
fn an_answer_of_data_shows_as_it_is_read_again() {
    let asked_for = json!({ "question": "When?", "response_schema": { "type": "object" } });
    let mut world = run_with_question(&json!("athlete-7"), asks(Asking::default()), asked_for);
    let edit: Value =
        serde_json::from_str(r#"{"hour":14.0,"day":"tue","near":{"b":1e2,"a":-0.0}}"#).expect("JSON");
    world.decide(Kind::Question, Decision { edit, ..choose("answer") });
    assert_eq!(rows(&world)[0].answer, r#"{"day":"tue","hour":14,"near":{"a":0,"b":100}}"#);
    crate::events::reread(&world);
}

#[test]
fn what_is_suggested_has_the_form_that_is_asked_for() {
    let data = |text: &str| AnswerRow { is_data: true, ..answer_row(1, "When?", text, 1) };
    let (of_object, of_text) = (json!({ "type": "object" }), json!({ "type": "string", "maxLength": 3 }));
    for (row, schema, fits) in [
        (answer_row(1, "When?", "tue", 1), None, true),
        (data(r#"{"day":"tue"}"#), None, false),
        (data(r#"{"day":"tue"}"#), Some(&of_object), true),
        (data("14"), Some(&of_object), false),
        (answer_row(1, "When?", "{}", 1), Some(&of_object), false),
        (answer_row(1, "When?", "tue", 1), Some(&of_text), true),
        (answer_row(1, "When?", "tuesday", 1), Some(&of_text), false),
    ] {
        assert_eq!(history::has_form(&row, schema), fits, "{} {schema:?}", row.answer);
    }
}

#[test]
fn a_run_without_a_result_tells_what_it_asked() {
    let mut world = ill("athlete-7");
    world.decide(Kind::Question, choose("cancel"));
    assert_eq!(world.run.row().expect("it began").status, holdshort_core::projection::Status::Cancelled);
    let told = world.run.asked_and_assumed();
    assert_eq!(told["questions"][0]["question"], json!("Were you ill in May?"));
    assert_eq!(told["questions"][0]["outcome"], json!("cancelled"));
}
