//! Agents that ask questions in their replies. A reply is either questions or content, and the questions of a stage are
//! asked together (contracts C8, E39).

use holdshort_core::asking::{self, Asking, Deliver, Form};
use holdshort_core::definition::Definition;
use holdshort_core::interrupt::{Decision, Kind};
use holdshort_core::message::Message;
use holdshort_core::policy::RuleAction;
use holdshort_core::reply::{ReplyContent, parse_reply};
use holdshort_core::run::{Config, Input};
use serde_json::{Value, json};

use crate::world::{Answer, World, calls, choose, choose_with, definition, one_shot, read, rule, says};

fn returns(asking: Asking) -> Definition {
    let mut definition = Definition {
        asking: Asking { form: Form::Reply, deliver: Deliver::PerStage, ..asking },
        ..definition()
    };
    definition.settle_asking();
    definition
}

/// Returns a workflow with three parallel phases and a fourth phase that needs all of them.
fn staged(asking: Asking) -> Definition {
    let phases =
        vec![one_shot("a", &[]), one_shot("b", &[]), one_shot("c", &[]), one_shot("after", &["a", "b", "c"])];
    Definition { phases, ..returns(asking) }
}

fn asks(questions: &[(&str, &str)]) -> Answer {
    let questions: Vec<Value> =
        questions.iter().map(|(id, message)| json!({ "id": id, "message": message })).collect();
    says(&json!({ "questions": questions }).to_string())
}

/// Returns role and text of the messages in the next request of a step.
fn request_messages(world: &World, step: &str) -> Vec<(String, String)> {
    let request = world.run.request(step).expect("it has begun");
    let said = request.messages.into_iter().map(|message| match message {
        Message::System { text } => ("system".to_owned(), text),
        Message::User { text } => ("user".to_owned(), text),
        Message::Assistant { text, calls, .. } => {
            assert!(calls.is_empty(), "it knows of no tool to ask");
            ("assistant".to_owned(), text)
        }
        Message::Tool { text, .. } => ("tool".to_owned(), text),
    });
    said.collect()
}

fn result(world: &World, key: &str) -> Value {
    world.run.ended.as_ref().map(|ended| ended.result[key].clone()).expect("the run has ended")
}

fn open(world: &World) -> Vec<(String, String)> {
    let open = world.run.open_interrupts().map(|(_, each)| {
        let words = |pointer: &str| each.content.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        (words("/payload/asker").unwrap_or_default(), words("/payload/question").unwrap_or_default())
    });
    let mut open: Vec<_> = open.collect();
    open.sort();
    open
}

fn decide_on(world: &mut World, question: &str, decision: Decision) {
    let asked = |content: &Value| content["payload"]["question"] == json!(question);
    let found = world.run.open_interrupts().find(|(_, each)| asked(&each.content)).map(|(id, _)| id.clone());
    let interrupt = found.unwrap_or_else(|| panic!("{question} is not open"));
    world.person(Input::Decide { interrupt, decision, holder: None });
}

/// By its text, a reply is classified as questions, content, or malformed.
#[test]
fn a_reply_is_questions_or_content_or_neither() {
    let one = json!([{ "id": "q1", "message": "Which?" }]);
    let questions = |text: &str| match parse_reply(text) {
        ReplyContent::Questions(questions) => questions.len(),
        other => panic!("{text}: {other:?}"),
    };
    for text in [
        json!({ "questions": one }).to_string(),
        format!("  {}\n", json!({ "questions": one })),
        format!("```json\n{}\n```", json!({ "questions": one })),
        format!("<think>Hm.</think>\n{}", json!({ "questions": one })),
        json!({ "questions": one, "content": null }).to_string(),
        json!({ "questions": one, "content": "" }).to_string(),
        json!({ "questions": [{ "id": "q1", "message": "Which?", "context": "", "message_type": "observation",
                "choices": ["left", "right"], "response_schema": { "type": "object" } }] })
        .to_string(),
    ] {
        assert_eq!(questions(&text), 1, "{text}");
    }
    for (text, content) in [
        ("The load rose.", "The load rose."),
        (r#"{"content": "The load rose."}"#, "The load rose."),
        (r#"{"questions": [], "content": "The load rose."}"#, "The load rose."),
        (r#"{"questions": null, "content": "The load rose."}"#, "The load rose."),
        (r#"{"load": 7}"#, r#"{"load": 7}"#),
        (r#"[{"id": "q1", "message": "Which?"}]"#, r#"[{"id": "q1", "message": "Which?"}]"#),
        (r#"The form is {"questions": […]}, they say."#, r#"The form is {"questions": […]}, they say."#),
    ] {
        assert_eq!(parse_reply(text), ReplyContent::Content(content.to_owned()), "{text}");
    }
    let many: Vec<Value> = (0..21).map(|n| json!({ "id": format!("q{n}"), "message": "Which?" })).collect();
    let long = "q".repeat(65);
    for (text, why) in [
        (json!({ "questions": one, "content": "The load rose." }).to_string(), "both"),
        (json!({ "questions": [] }).to_string(), "holds none"),
        (json!({ "questions": null }).to_string(), "holds none"),
        (json!({ "questions": "Which?" }).to_string(), "/questions"),
        (json!({ "questions": one, "more": 1 }).to_string(), "/more"),
        (json!({ "questions": ["Which?"] }).to_string(), "/questions/0"),
        (json!({ "questions": [{ "message": "Which?" }] }).to_string(), "\"id\""),
        (json!({ "questions": [{ "id": "q1" }] }).to_string(), "\"message\""),
        (json!({ "questions": [{ "id": "q1", "message": " " }] }).to_string(), "/questions/0/message"),
        (json!({ "questions": [{ "id": "", "message": "Which?" }] }).to_string(), "/questions/0/id"),
        (json!({ "questions": [{ "id": long, "message": "Which?" }] }).to_string(), "/questions/0/id"),
        (json!({ "questions": [{ "id": "q1", "message": "Which?", "why": "" }] }).to_string(), "'why'"),
        (
            json!({ "questions": [{ "id": "q1", "message": "Which?", "message_type": "order" }] })
                .to_string(),
            "/questions/0/message_type",
        ),
        (
            json!({ "questions": [{ "id": "q1", "message": "Which?" }, { "id": "q1", "message": "When?" }] })
                .to_string(),
            "/questions/1/id: `q1` appears twice",
        ),
        (
            json!({ "questions": [{ "id": "q1", "message": "Which?", "response_schema": { "$ref": "#" } }] })
                .to_string(),
            "/questions/0/response_schema",
        ),
        (json!({ "questions": many }).to_string(), "more than 20"),
        (format!("First I ask: {}", json!({ "questions": one })), "text in addition to"),
        (format!("{} Thanks!", json!({ "questions": one })), "text in addition to"),
        (r#"{"questions": [{"id": "q1", "message": "Which?"}"#.to_owned(), "not JSON"),
        (r#"{"questions": [{"id": "q1", "id": "q2", "message": "Which?"}]}"#.to_owned(), "not JSON"),
    ] {
        match parse_reply(&text) {
            ReplyContent::Malformed(told) => assert!(told.contains(why), "{text}: {told}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// The questions of a stage open together. Each asking agent continues with its answers, and the others are not called
/// again.
#[test]
fn questions_of_a_stage_are_gathered_and_only_the_askers_run_again() {
    let mut world = World::new(staged(Asking::default()))
        .with("a", vec![asks(&[("q1", "Were you ill?"), ("q2", "When?")]), says("A.")])
        .with("b", vec![says("B.")])
        .with("c", vec![calls(&[read("a.txt")]), asks(&[("q1", "How hard?")]), says("C.")])
        .with("after", vec![says("After.")]);
    world.start(Config::default());
    world.work();
    let wanted = [("pair", "How hard?"), ("pair", "Were you ill?"), ("pair", "When?")];
    assert_eq!(open(&world), wanted.map(|(asker, text)| (asker.to_owned(), text.to_owned())));
    assert_eq!(world.run.steps["b"].turn, 1);

    // Some questions are answered while others are still open, in any order. A restart in between repeats nothing.
    decide_on(&mut world, "How hard?", choose_with("answer", "Very."));
    world.crash();
    world.work();
    assert_eq!(world.run.steps["c"].output.as_deref(), Some("C."));
    decide_on(&mut world, "When?", choose_with("answer", "In May."));
    world.crash();
    world.work();
    assert_eq!(world.run.steps["a"].turn, 1, "one of its questions is open");
    decide_on(&mut world, "Were you ill?", choose_with("answer", "Yes, a week."));
    let said = request_messages(&world, "a");
    let [.., (_, asked), (_, answers)] = &said[..] else { panic!("{said:?}") };
    assert_eq!(
        serde_json::from_str::<Value>(asked).expect("it is what it wrote"),
        json!({ "questions": [{ "id": "q1", "message": "Were you ill?" }, { "id": "q2", "message": "When?" }] })
    );
    assert!(answers.contains("Question q1: Were you ill?\nAnswer: Yes, a week."), "{answers}");
    assert!(answers.contains("Question q2: When?\nAnswer: In May."), "{answers}");
    let tools: Vec<String> =
        world.run.request("a").expect("it has begun").tools.into_iter().map(|tool| tool.name).collect();
    assert!(!tools.contains(&"ask_human".to_owned()), "{tools:?}");
    world.work();
    let turns = ["a", "b", "c", "after"].map(|step| world.run.steps[step].turn);
    assert_eq!(turns, [2, 1, 3, 1]);
    let questions = result(&world, "questions");
    let told: Vec<_> =
        questions.as_array().into_iter().flatten().map(|one| (&one["id"], &one["answer"])).collect();
    assert_eq!(told.len(), 3);
    assert!(told.contains(&(&json!("q2"), &json!("In May."))), "{told:?}");
}

#[test]
fn what_was_asked_is_not_asked_twice() {
    let again = [("q7", "  which  one? "), ("q8", "When?")];
    let script = vec![asks(&[("q1", "Which one?")]), asks(&again), says("Done.")];
    let mut world = World::started(returns(Asking::default()), script);
    world.work();
    world.decide(Kind::Question, choose_with("answer", "The left one."));
    world.work();
    assert_eq!(open(&world), [("pair".to_owned(), "When?".to_owned())]);
    world.decide(Kind::Question, choose_with("answer", "Now."));
    let said = request_messages(&world, "work");
    let (_, last) = said.last().expect("there is one");
    assert!(last.contains("Answer: not asked again"), "{last}");
    assert!(last.contains("Answer: Now."), "{last}");
    world.work();
    assert_eq!(world.count("interrupt_opened"), 2);
}

/// If the questions in an agent's reply are malformed, the agent gets a message. After a second such reply, a person is
/// asked.
#[test]
fn a_malformed_form_is_told_once() {
    let both = json!({ "questions": [{ "id": "q1", "message": "Which?" }], "content": "Done." }).to_string();
    let mut world = World::started(
        returns(Asking::default()),
        vec![says(&both), asks(&[("q1", "Which?")]), says("Done.")],
    );
    world.work();
    let (_, heard) = &request_messages(&world, "work")[3];
    assert!(heard.contains("both `questions` and `content`"), "{heard}");
    world.decide(Kind::Question, choose_with("answer", "The left one."));
    world.work();
    assert_eq!(result(&world, "text"), json!("Done."));

    let mut world = World::started(returns(Asking::default()), vec![says(&both), says(&both), says("Done.")]);
    world.work();
    assert_eq!(world.open_kinds(), ["continuation"]);
    world.decide(Kind::Continuation, choose("continue"));
    world.work();
    assert_eq!(result(&world, "text"), json!("Done."));
}

/// An agent must record its assumption for a skipped or expired question in a reply, as for a question that the agent
/// asked by a call.
#[test]
fn a_question_without_an_answer_is_assumed() {
    let script = vec![
        asks(&[("q1", "Which?")]),
        calls(&[(asking::RECORD, json!({ "assumption": "The left one." }))]),
        says("Done."),
    ];
    let timed = Asking { timeout_ms: Some(60_000), ..Asking::default() };
    let mut world = World::started(returns(timed), script);
    world.work();
    world.pass_ms(60_000);
    world.send(Input::Tick);
    world.work();
    assert_eq!(result(&world, "questions")[0]["outcome"], json!("expired"));
    assert_eq!(result(&world, "assumptions"), json!([{ "agent": "pair", "assumption": "The left one." }]));
}

#[test]
fn an_answer_of_data_fits_the_schema_of_its_question() {
    let schema =
        json!({ "type": "object", "properties": { "hours": { "type": "number" } }, "required": ["hours"] });
    let question = json!({ "id": "q1", "message": "How long?", "response_schema": schema, "choices": ["8"] });
    let script = vec![says(&json!({ "questions": [question] }).to_string()), says("Done.")];
    let mut world = World::started(returns(Asking::default()), script);
    world.work();
    world.decide(Kind::Question, Decision { edit: json!({ "hours": 7.5 }), ..choose("answer") });
    assert!(
        request_messages(&world, "work").last().expect("there is one").1.contains("Answer: {\"hours\":7.5}")
    );
}

/// With asking switched off, a reply with questions ends the run with a failure text that contains the questions
/// (contracts C2, E39).
#[test]
fn where_nobody_is_asked_questions_end_the_run() {
    let off = || returns(Asking { enabled: false, ..Asking::default() });
    let twice = || vec![asks(&[("q1", "Were you ill?"), ("q2", "When?")]), asks(&[("q1", "Were you ill?")])];
    let mut world = World::started(off(), twice());
    let (_, system) = &request_messages(&world, "work")[0];
    assert!(system.contains("Nobody can be asked") && !system.contains("To ask a person"), "{system}");
    world.work();
    let ended = world.run.ended.as_ref().expect("it has ended");
    assert_eq!(ended.reason, "questions_unasked");
    assert!(ended.text.as_deref().unwrap_or_default().contains("Were you ill?"), "{ended:?}");
    assert_eq!(world.count("interrupt_opened"), 0);

    let mut script = twice();
    script[1] = says("I assume that you were well.");
    let mut world = World::started(off(), script);
    world.work();
    assert_eq!(result(&world, "text"), json!("I assume that you were well."));
}

/// A rule that forbids the asking tool also refuses questions in replies, and no interrupt opens.
#[test]
fn a_rule_about_the_tool_counts() {
    let mut definition = returns(Asking::default());
    definition.gates.rules = vec![rule(RuleAction::Forbid, &["ask_human"], &[])];
    let mut world = World::started(definition, vec![asks(&[("q1", "Which?")]), says("Done.")]);
    world.work();
    assert_eq!(world.count("interrupt_opened"), 0);
    assert_eq!(result(&world, "text"), json!("Done."));
}

/// A reply of an agent without the asking tool is always content. An agent that asks in replies cannot call the tool.
#[test]
fn who_may_ask_is_who_has_the_tool() {
    let mut definition = returns(Asking::default());
    let agent = definition.agents.get_mut("pair").expect("it is there");
    agent.tools.retain(|tool| tool != "ask_human");
    let text = json!({ "questions": [{ "id": "q1", "message": "Name a river" }] }).to_string();
    let mut world = World::started(definition, vec![says(&text)]);
    world.work();
    assert_eq!(result(&world, "text"), json!(text));

    let called = calls(&[("ask_human", json!({ "question": "Which?" }))]);
    let mut world = World::started(returns(Asking::default()), vec![called, says("Done.")]);
    world.work();
    assert_eq!(world.count("interrupt_opened"), 0);
}
