//! Questions of agents: typed answers, time limits, sibling steps that continue, and assumptions in place of missing
//! answers (contract C).

use holdshort_core::asking::{self, Asking, Deliver};
use holdshort_core::definition::{Definition, EndCondition};
use holdshort_core::interrupt::{Decision, Kind};
use holdshort_core::run::{Config, Input, Rejection};
use serde_json::{Value, json};

use crate::world::{World, calls, choose, choose_with, definition, one_shot, says};

/// Returns a workflow whose `ask_human` has every argument and whose agents can record assumptions.
fn asks(asking: Asking) -> Definition {
    let mut definition = Definition { asking, ..definition() };
    let ask = definition.tools.get_mut("ask_human").expect("it is there");
    ask.parameters["properties"]["kind"] = json!({ "type": "string" });
    ask.parameters["properties"]["response_schema"] = json!({ "type": "object" });
    definition.tools.insert(asking::RECORD.to_owned(), asking::record());
    definition
}

/// Returns a workflow with three parallel phases and a fourth phase that needs all of them.
fn staged(asking: Asking) -> Definition {
    let phases =
        vec![one_shot("a", &[]), one_shot("b", &[]), one_shot("c", &[]), one_shot("after", &["a", "b", "c"])];
    Definition { phases, ..asks(asking) }
}

fn question(text: &str) -> (&'static str, Value) {
    ("ask_human", json!({ "question": text }))
}

fn assumes(text: &str) -> (&'static str, Value) {
    (asking::RECORD, json!({ "assumption": text }))
}

fn result(world: &World, key: &str) -> Value {
    world.run.ended.as_ref().map(|ended| ended.result[key].clone()).expect("the run has ended")
}

fn last_result(world: &World, step: &str) -> String {
    let call = world.run.calls.values().filter(|call| call.step == step).max_by_key(|call| call.ended_at);
    call.and_then(|call| call.result.as_deref().map(str::to_owned)).unwrap_or_default()
}

fn tools(world: &World, step: &str) -> Vec<String> {
    world.run.request(step).expect("it has begun").tools.into_iter().map(|tool| tool.name).collect()
}

/// Agents get instructions about asking people only if they may ask. The config of a run can remove the asking tool, or
/// switch asking off.
#[test]
fn an_agent_may_ask_while_it_has_the_tool_and_asking_is_on() {
    let config = |without: &[&str], asks_nobody| holdshort_core::run::Config {
        without_tools: without.iter().map(|name| (*name).to_owned()).collect(),
        asks_nobody,
        ..holdshort_core::run::Config::default()
    };
    for (config, may) in
        [(config(&[], false), true), (config(&[], true), false), (config(&["ask_human"], false), false)]
    {
        let definition = config.adapts(asks(Asking::default()));
        let may_ask = definition.agents.values().any(|agent| definition.may_ask(agent));
        assert_eq!(may_ask, may, "{config:?}");
    }
}

#[test]
fn an_answer_of_data_fits_the_schema_of_its_question() {
    let schema = json!({
        "$defs": { "Night": { "type": "object", "properties": { "hours": { "type": "number", "minimum": 0 } },
                   "required": ["hours"], "additionalProperties": false } },
        "$ref": "#/$defs/Night",
    });
    let ask = (
        "ask_human",
        json!({ "question": "How did you sleep?", "kind": "clarification", "response_schema": schema }),
    );
    let mut world = World::started(asks(Asking::default()), vec![calls(&[ask]), says("Noted.")]);
    world.work();
    let interrupt = world.open(Kind::Question);
    let opened = &world.run.interrupts[&interrupt];
    assert_eq!(opened.content["payload"]["kind"], json!("clarification"));
    assert_eq!(opened.content["response_schema"], schema);
    let answer = opened.offers("answer").expect("it is offered");
    assert_eq!((answer.needs_text, answer.needs_edit), (false, true));
    let with = |edit: Value, text: Option<&str>| Input::Decide {
        interrupt: interrupt.clone(),
        decision: Decision { edit, text: text.map(str::to_owned), ..choose("answer") },
        holder: None,
    };
    let me = holdshort_core::actor::Actor::operator("rest");
    for wrong in
        [Value::Null, json!("7"), json!({}), json!({ "hours": -1 }), json!({ "hours": 7, "more": 1 })]
    {
        let refused = world.try_send(&me, with(wrong.clone(), None));
        assert!(matches!(refused, Err(Rejection::Refused(_))), "{wrong}: {refused:?}");
    }
    // Text that is valid JSON is accepted as data, for clients that can send only text.
    let mut in_words = world.clone();
    in_words.person(with(Value::Null, Some("{\"hours\": 8}")));
    assert_eq!(last_result(&in_words, "work"), "{\"hours\":8}");
    assert!(matches!(world.try_send(&me, with(Value::Null, Some("eight"))), Err(Rejection::Refused(_))));
    assert!(matches!(
        world.try_send(&me, with(Value::Null, Some("{\"hours\": -1}"))),
        Err(Rejection::Refused(_))
    ));
    world.person(with(json!({ "hours": 7.5 }), Some("Woke up once.")));
    assert_eq!(last_result(&world, "work"), "{\"hours\":7.5}\nWoke up once.");
    world.work();
    let told = result(&world, "questions");
    assert_eq!(told[0]["answer"], json!({ "hours": 7.5 }));
    assert_eq!(told[0]["text"], json!("Woke up once."), "the words that came beside it");
    assert_eq!((&told[0]["outcome"], &told[0]["kind"]), (&json!("answered"), &json!("clarification")));
}

/// A question without visible text is refused, because a person cannot answer it. The agent gets an error, and can ask
/// again.
#[test]
fn a_question_of_blanks_is_no_question() {
    let ask = |arguments: Value| calls(&[("ask_human", arguments)]);
    for (arguments, told) in [
        (json!({ "question": "  \n\t" }), Some("/question: is blank: say what you ask")),
        (json!({ "question": "\u{a0}\u{200b}…" }), Some("/question: is blank: say what you ask")),
        (
            json!({ "question": "Which?", "choices": ["left", " "] }),
            Some("/choices/1: is blank: leave it out"),
        ),
        (json!({ "question": "Up or down?", "choices": ["+", "–"] }), None),
        (json!({ "question": "Why?" }), None),
    ] {
        let script = vec![ask(arguments.clone()), says("Done.")];
        let mut world = World::started(asks(Asking::default()), script);
        world.work();
        assert_eq!(world.run.interrupts.is_empty(), told.is_some(), "{arguments}");
        if let Some(told) = told {
            let result = last_result(&world, "work");
            assert!(result.contains(told), "{arguments}: {result}");
        }
    }
}

#[test]
fn a_schema_of_texts_is_answered_in_words() {
    let ask = (
        "ask_human",
        json!({ "question": "Which?", "response_schema": { "enum": ["left", "right"], "type": "string" } }),
    );
    let mut world = World::started(asks(Asking::default()), vec![calls(&[ask]), says("Done.")]);
    world.work();
    let interrupt = world.open(Kind::Question);
    let me = holdshort_core::actor::Actor::operator("rest");
    let decide = |text: &str| Input::Decide {
        interrupt: interrupt.clone(),
        decision: choose_with("answer", text),
        holder: None,
    };
    assert!(matches!(world.try_send(&me, decide("up")), Err(Rejection::Refused(_))));
    world.person(decide("left"));
    assert_eq!(last_result(&world, "work"), "left");
}

/// An empty schema accepts every answer, so an answer as text is valid.
#[test]
fn an_empty_schema_is_answered_in_words() {
    let ask = ("ask_human", json!({ "question": "Which?", "response_schema": {} }));
    let mut world = World::started(asks(Asking::default()), vec![calls(&[ask]), says("Done.")]);
    world.work();
    world.decide(Kind::Question, choose_with("answer", "the left one"));
    assert_eq!(last_result(&world, "work"), "the left one");
}

/// An invalid response schema of a question returns to the agent as an error, and no interrupt opens.
#[test]
fn a_schema_that_is_not_taken_goes_back_to_the_agent() {
    for schema in
        [json!({ "type": "nothing" }), json!({ "$ref": "https://example.com/x" }), json!({ "$ref": "#" })]
    {
        let ask = ("ask_human", json!({ "question": "Which?", "response_schema": schema }));
        let mut world = World::started(asks(Asking::default()), vec![calls(&[ask]), says("Done.")]);
        world.work();
        assert_eq!(world.count("interrupt_opened"), 0, "{schema}");
        let call = world.run.calls.values().next().expect("it called");
        let told = call.result.as_deref().unwrap_or_default();
        assert!(told.contains("/response_schema"), "{told}");
    }
}

#[test]
fn a_question_has_as_much_time_as_its_workflow_says() {
    let timed = Asking { timeout_ms: Some(60_000), ..Asking::default() };
    let ask = || vec![calls(&[question("Which?")]), calls(&[assumes("The left one.")]), says("Done.")];
    let mut world = World::started(asks(timed), ask());
    world.work();
    world.pass_ms(59_999);
    world.send(Input::Tick);
    assert_eq!(world.open_kinds(), ["question"]);
    world.pass_ms(1);
    world.send(Input::Tick);
    assert!(
        last_result(&world, "work").starts_with("No response in time."),
        "{}",
        last_result(&world, "work")
    );
    world.work();
    assert_eq!(result(&world, "questions")[0]["outcome"], json!("expired"));
    assert_eq!(result(&world, "assumptions"), json!([{ "agent": "pair", "assumption": "The left one." }]));

    // If a gate sets an expiry for questions, that expiry overrides the time limit of the question.
    let mut gated = asks(timed);
    gated.gates.kinds.entry(Kind::Question).or_default().expires_in_ms = Some(5_000);
    let mut world = World::started(gated, ask());
    world.work();
    world.pass_ms(5_000);
    world.send(Input::Tick);
    assert!(world.open_kinds().is_empty());
}

/// An agent whose question was skipped is reminded once to record its assumption. If the agent records none, the
/// result lists no assumption.
#[test]
fn an_assumption_is_recorded_or_missed() {
    let skipped = |script: Vec<crate::world::Answer>| {
        let mut world = World::started(asks(Asking::default()), script);
        world.work();
        assert!(
            !tools(&world, "work").contains(&asking::RECORD.to_owned()),
            "it has asked, and may be answered"
        );
        world.decide(Kind::Question, choose("skip"));
        assert!(tools(&world, "work").contains(&asking::RECORD.to_owned()));
        world.work();
        world
    };
    let ask = || calls(&[question("Which?")]);
    let cases = [
        (
            "at once",
            vec![ask(), calls(&[assumes("The left one.")]), says("Done.")],
            0,
            json!("The left one."),
        ),
        (
            "once told",
            vec![ask(), says("Done."), calls(&[assumes("The left one.")]), says("Done.")],
            1,
            json!("The left one."),
        ),
        ("never", vec![ask(), says("Done."), says("Done, as I said.")], 1, Value::Null),
    ];
    for (case, script, told, assumed) in cases {
        let world = skipped(script);
        assert_eq!(world.count("end_refused"), told, "{case}");
        assert_eq!(result(&world, "assumptions")[0]["assumption"], assumed, "{case}");
        assert_eq!(result(&world, "questions")[0]["outcome"], json!("answered"), "{case}");
        assert_eq!(result(&world, "questions")[0]["option"], json!("skip"), "{case}");
    }
}

#[test]
fn a_step_that_ends_by_its_tool_says_what_it_assumes_first() {
    let mut definition = asks(Asking::default());
    definition.agents.get_mut("pair").expect("it is there").ends = EndCondition::Finish;
    definition.agents.get_mut("pair").expect("it is there").tools.push("finish".to_owned());
    definition.tools.insert("finish".to_owned(), holdshort_core::handoff::finish());
    let finish = || calls(&[("finish", json!({ "summary": "It is done." }))]);
    let script = vec![calls(&[question("Which?")]), finish(), calls(&[assumes("The left one.")]), finish()];
    let mut world = World::started(definition, script);
    world.work();
    world.decide(Kind::Question, choose("skip"));
    world.work();
    assert_eq!(result(&world, "assumptions")[0]["assumption"], json!("The left one."));
    let refused = world
        .run
        .calls
        .values()
        .filter(|call| call.tool == "finish")
        .filter_map(|call| call.result.as_deref());
    assert!(refused.into_iter().any(|text| text.contains("nobody answered \"Which?\"")));
}

/// An agent that ends its step by a tool is reminded once to record its assumption. If it still records none, the step
/// ends, and the result shows the missing assumption.
#[test]
fn a_step_that_ends_by_its_tool_is_told_once() {
    let mut definition = asks(Asking { timeout_ms: Some(1_000), ..Asking::default() });
    let agent = definition.agents.get_mut("pair").expect("it is there");
    agent.ends = EndCondition::Finish;
    agent.tools.push("finish".to_owned());
    definition.tools.insert("finish".to_owned(), holdshort_core::handoff::finish());
    let finish = || calls(&[("finish", json!({ "summary": "It is done." }))]);
    let mut world = World::started(definition, vec![calls(&[question("Which?")]), finish(), finish()]);
    world.work();
    world.pass_ms(1_000);
    world.send(Input::Tick);
    world.work();
    assert_eq!(world.count("run_completed"), 1);
    assert_eq!(result(&world, "assumptions")[0]["assumption"], Value::Null);
}

/// A rule that forbids every tool also forbids the tool for assumptions. The step still ends.
#[test]
fn a_record_meets_the_rules() {
    let mut definition = asks(Asking::default());
    let forbid = holdshort_core::policy::RuleAction::Forbid;
    definition.gates.rules = vec![crate::world::rule(forbid, &[asking::RECORD], &[])];
    let script = vec![calls(&[question("Which?")]), calls(&[assumes("The left one.")]), says("Done.")];
    let mut world = World::started(definition, script);
    world.work();
    world.decide(Kind::Question, choose("skip"));
    world.work();
    assert_eq!(world.count("run_completed"), 1);
    assert_eq!(world.count("end_refused"), 0);
    assert_eq!(result(&world, "assumptions"), Value::Null);
}

/// A step that waits because a sibling step asks a person has no retry deadline. The step retries after the answer.
#[test]
fn a_held_step_has_no_deadline() {
    let strict = Asking { pause_siblings: true, ..Asking::default() };
    let mut world = World::new(staged(strict))
        .with("a", vec![calls(&[question("A?")]), says("a is done.")])
        .with(
            "b",
            vec![crate::world::fails(holdshort_core::message::FailureKind::Unavailable), says("b is done.")],
        )
        .with("c", vec![says("c is done.")])
        .with("after", vec![says("All is done.")]);
    world.start(Config::default());
    for step in ["b", "a"] {
        world.begin_model(step);
    }
    for step in ["b", "a"] {
        let said =
            world.script.get_mut(step).and_then(std::collections::VecDeque::pop_front).expect("it speaks");
        world.answer(step, 0, said);
    }
    assert_eq!(world.open_kinds(), ["question"]);
    assert_eq!(world.run.next_deadline(), None);
    answer(&mut world, "A?", "a");
    assert!(world.run.next_deadline().is_some());
    world.pass_ms(600_000);
    world.work();
    assert_eq!(result(&world, "text"), json!("All is done."));
}

#[test]
fn an_answered_question_needs_no_assumption() {
    let mut world =
        World::started(asks(Asking::default()), vec![calls(&[question("Which?")]), says("Done.")]);
    world.work();
    world.decide(Kind::Question, choose_with("answer", "the left one"));
    world.work();
    assert_eq!(world.count("end_refused"), 0);
    assert_eq!(result(&world, "assumptions"), Value::Null);
    assert_eq!(result(&world, "questions")[0]["answer"], json!("the left one"));
    assert!(!tools(&world, "work").contains(&asking::RECORD.to_owned()));
}

/// With asking switched off, every agent gets the tool for recording assumptions, and instructions to use it (contract
/// C2).
#[test]
fn without_asking_agents_are_told_to_write_down_what_they_assume() {
    let off = Asking { enabled: false, ..Asking::default() };
    let mut definition = asks(off);
    definition.agents.get_mut("pair").expect("it is there").tools.retain(|tool| tool != "ask_human");
    let mut world = World::started(definition, vec![calls(&[assumes("The left one.")]), says("Done.")]);
    let request = world.run.request("work").expect("it has begun");
    assert!(request.tools.iter().any(|tool| tool.name == asking::RECORD));
    assert!(!request.tools.iter().any(|tool| tool.name == "ask_human"));
    assert!(format!("{:?}", request.messages[0]).contains(asking::RECORD));
    world.work();
    assert_eq!(result(&world, "assumptions"), json!([{ "agent": "pair", "assumption": "The left one." }]));
    assert_eq!(world.count("interrupt_opened"), 0);
}

/// A step continues while a sibling step asks. The asking step waits only for its own answer, and no work is
/// repeated.
#[test]
fn siblings_go_on_while_one_waits() {
    let mut world = World::new(staged(Asking::default()))
        .with("a", vec![calls(&[question("A?")]), calls(&[question("A again?")]), says("a is done.")])
        .with("b", vec![calls(&[question("B?")]), says("b is done.")])
        .with("c", vec![says("c is done.")])
        .with("after", vec![says("All is done.")]);
    world.start(Config::default());
    world.work();
    assert_eq!(world.open_kinds(), ["question", "question"]);
    assert!(world.run.steps["c"].end.is_some());
    answer(&mut world, "B?", "b");
    world.work();
    assert!(world.run.steps["b"].end.is_some());
    answer(&mut world, "A?", "a");
    world.work();
    answer(&mut world, "A again?", "a");
    world.work();
    assert_eq!(result(&world, "text"), json!("All is done."));
    assert_eq!(world.count("model_started"), 3 + 2 + 1 + 1, "no model is asked twice for the same");
}

/// With `pause_siblings`, an open question of one agent also delays the trials (runs in isolation) of other agents'
/// commands.
#[test]
fn an_open_question_holds_trials_back() {
    let mut definition = staged(Asking { pause_siblings: true, ..Asking::default() });
    definition.gates.trial = true;
    definition.gates.rules.push(crate::world::allow(&["run_command"]));
    let mut world = World::new(definition)
        .with("a", vec![calls(&[question("A?")]), says("a is done.")])
        .with("b", vec![calls(&[crate::world::command("make test")]), says("b is done.")])
        .with("c", vec![says("c is done.")])
        .with("after", vec![says("All is done.")]);
    world.start(Config::default());
    for step in ["a", "b", "c"] {
        world.begin_model(step);
    }
    for step in ["a", "b", "c"] {
        let said =
            world.script.get_mut(step).and_then(std::collections::VecDeque::pop_front).expect("it speaks");
        world.answer(step, 0, said);
    }
    world.work();
    assert_eq!((world.open_kinds(), world.count("trial_started")), (vec!["question"], 0));
    answer(&mut world, "A?", "a");
    world.work();
    assert_eq!(world.count("trial_started"), 1);
    assert_eq!(result(&world, "text"), json!("All is done."));
}

/// With `pause_siblings`, all sibling steps wait while a question is open, as the strict form of contract E28
/// requires.
#[test]
fn an_open_question_can_pause_the_siblings() {
    let strict = Asking { pause_siblings: true, ..Asking::default() };
    let mut world = World::new(staged(strict))
        .with("a", vec![calls(&[question("A?")]), says("a is done.")])
        .with("b", vec![calls(&[("run_command", json!({ "command": "ls" }))]), says("b is done.")])
        .with("c", vec![says("c is done.")])
        .with("after", vec![says("All is done.")]);
    world.start(Config::default());
    world.begin_model("a");
    let asked = world.script.get_mut("a").and_then(std::collections::VecDeque::pop_front).expect("it asks");
    world.answer("a", 0, asked);
    assert_eq!(world.run.actions(), [], "b and c have not begun, and do not");
    assert_eq!(world.run.status(), holdshort_core::projection::Status::Waiting);
    answer(&mut world, "A?", "a");
    world.work();
    assert!(world.run.steps["c"].end.is_some());
}

/// With `per_stage` delivery, the questions of a stage open together once no step can continue. A person can answer one
/// question while the others stay open (contract C8).
#[test]
fn questions_of_a_stage_come_together() {
    let gathered = Asking { deliver: Deliver::PerStage, ..Asking::default() };
    let mut world = World::new(staged(gathered))
        .with("a", vec![calls(&[question("A?")]), says("a is done.")])
        .with("b", vec![calls(&[question("B?"), question("B too?")]), says("b is done.")])
        .with("c", vec![calls(&[("read_file", json!({ "path": "x" }))]), says("c is done.")])
        .with("after", vec![calls(&[question("And now?")]), says("All is done.")]);
    world.start(Config::default());
    loop {
        let opened = world.count("interrupt_opened");
        if world.work_once().is_none() {
            break;
        }
        let now = world.count("interrupt_opened");
        assert!(now == opened || (opened == 0 && now == 3), "from {opened} to {now}");
    }
    assert_eq!(world.open_kinds(), ["question"; 3]);
    assert!(world.run.steps["c"].end.is_some(), "who has no question is done first");
    answer(&mut world, "A?", "a");
    world.work();
    assert!(world.run.steps["a"].end.is_some(), "a part of the answers is taken");
    answer(&mut world, "B?", "b");
    answer(&mut world, "B too?", "b");
    world.work();
    assert_eq!(world.open_kinds(), ["question"]);
    answer(&mut world, "And now?", "go");
    world.work();
    assert_eq!(result(&world, "questions").as_array().map(Vec::len), Some(4));
}

/// A rule that forbids asking also refuses questions that were gathered but not yet opened.
#[test]
fn a_gathered_question_meets_the_rules() {
    let mut definition = staged(Asking { deliver: Deliver::PerStage, ..Asking::default() });
    definition.gates.rules =
        vec![crate::world::rule(holdshort_core::policy::RuleAction::Forbid, &["ask_human"], &[])];
    let mut world = World::new(definition);
    for step in ["a", "b", "c", "after"] {
        world = world.with(step, vec![calls(&[question("May I?")]), says("Done.")]);
    }
    world.start(Config::default());
    world.work();
    assert_eq!(world.count("interrupt_opened"), 0);
    assert_eq!(world.count("run_completed"), 1);
}

fn answer(world: &mut World, question: &str, text: &str) {
    let open = world
        .run
        .open_interrupts()
        .find(|(_, interrupt)| interrupt.content["payload"]["question"] == question);
    let interrupt = open.map_or_else(|| panic!("`{question}` is open"), |(id, _)| id.clone());
    world.person(Input::Decide { interrupt, decision: choose_with("answer", text), holder: None });
}

/// The result of a cancelled run lists the gathered questions that were never shown.
#[test]
fn a_question_that_was_kept_back_is_in_the_result_of_a_cancelled_run() {
    let gathered = Asking { deliver: Deliver::PerStage, ..Asking::default() };
    let ask = ("ask_human", json!({ "question": "Were you ill?", "context": "It fell." }));
    let mut world =
        World::new(staged(gathered)).with("a", vec![calls(&[ask])]).with("c", vec![says("Done.")]);
    world.start(Config::default());
    world.begin_model("b");
    world.work();
    assert_eq!(world.open_kinds(), [""; 0], "b is at work, and the question is kept back");
    world.person(Input::Cancel { text: None });
    let told = world.run.asked_and_assumed();
    assert_eq!(
        told["questions"],
        json!([{ "interrupt": null, "agent": "pair", "question": "Were you ill?", "context": "It fell.",
                 "outcome": "cancelled", "asked": false }])
    );
}

/// The ids of questions in one reply sort in the order of asking. Each id contains the same millisecond, and then the
/// position of its question in the reply.
#[test]
fn ids_sort_as_questions_were_asked() {
    let texts: Vec<String> = (1..=12).map(|n| format!("Question {n}?")).collect();
    let asked: Vec<_> = texts.iter().map(|text| question(text)).collect();
    for deliver in [Deliver::AtOnce, Deliver::PerStage] {
        let asking = Asking { deliver, ..Asking::default() };
        let mut world = World::started(asks(asking), vec![calls(&asked), says("Done.")]);
        world.work();
        let shown: Vec<_> = world
            .run
            .open_interrupts()
            .map(|(_, each)| each.content["payload"]["question"].as_str().unwrap_or_default())
            .collect();
        assert_eq!(shown, texts, "{deliver:?}");
    }
}
