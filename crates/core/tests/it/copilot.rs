//! Copilots: rounds, the interrupts before and after rounds, and the messages that a round receives.

use holdshort_core::definition::{Agent, Copilot, Definition, EndCondition, PhaseKind};
use holdshort_core::interrupt::{Kind, Refusal};
use holdshort_core::message::{FailureKind, Message};
use holdshort_core::projection::Status;
use holdshort_core::routing::{Mode, Route};
use holdshort_core::run::{Config, Input, Rejection, RoutedBy};
use serde_json::{Value, json};

use crate::handoffs::{TO_PAIR, TO_WRITER};
use crate::world::{
    Answer, World, allow, calls, choose, choose_with, definition, fails, handing_over, says, write,
};

fn copilot(copilot: Copilot) -> Definition {
    let mut definition = definition();
    definition.phases[0].kind = PhaseKind::Copilot(Copilot { agent: "pair".to_owned(), ..copilot });
    for name in ["researcher", "copilot_control"] {
        let agent = Agent {
            instructions: "Be it.".to_owned(),
            asking_instructions: None,
            model: None,
            tools: Vec::new(),
            ends: EndCondition::Reply,
        };
        definition.agents.insert(name.to_owned(), agent);
    }
    definition
}

/// Returns a copilot run with a clarification, a hand-off within a round, a turn with a new task, and a choice. A
/// person also interrupts the run, and ends it.
pub(crate) fn story() -> World {
    let mut definition = routed_team();
    definition.gates.rules.push(allow(&["write_file"]));
    let route = |route: Value| vec![says(&route.to_string())];
    let scripts = [
        ("route_1", route(json!({ "route_type": "clarify", "clarifying_questions": ["Which list?"] }))),
        ("route_2", route(json!({ "route_type": "direct", "complexity": 20, "refined_task": "Sort it." }))),
        (
            "round_1",
            vec![
                calls(&[(TO_WRITER, json!({ "message": "yours" }))]),
                calls(&[write("a.txt"), (TO_PAIR, json!({}))]),
                says("Sorted."),
            ],
        ),
        (
            "route_3",
            route(json!({ "route_type": "propose", "proposals": [{ "title": "A" }, { "title": "B" }] })),
        ),
        ("round_3", vec![calls(&[write("b.txt")]), says("Done.")]),
    ];
    let mut world = begun_with(definition, Config::default(), "sort the list", &scripts);
    world.decide(Kind::Question, choose_with("answer", "names.txt"));
    world.work();
    world.decide(Kind::Turn, choose_with("new_task", "the other list"));
    world.work();
    world.decide(Kind::Choice, choose_with("option_2", "with care"));
    world.work();
    world.begin_model("work/round_2");
    world.person(Input::Interrupt { text: None });
    world.send(Input::Stopped { step: "work/round_2".to_owned(), turn: 0, text: "Half a".to_owned() });
    world.decide(Kind::Turn, choose("done"));
    world.work();
    world.message("go on");
    world.work();
    world.decide(Kind::Turn, choose("done"));
    assert!(world.run.ended.is_some(), "{:#?}", world.story());
    world
}

/// Returns a workflow with a copilot that has a router, turns, and two agents that can hand over to each other.
pub(crate) fn routed_team() -> Definition {
    let mut definition = handing_over();
    let router = Agent {
        instructions: "Route.".to_owned(),
        asking_instructions: None,
        model: None,
        tools: Vec::new(),
        ends: EndCondition::Reply,
    };
    definition.agents.insert("router".to_owned(), router);
    let what = Copilot {
        agent: "pair".to_owned(),
        routing: Some(Mode::Balanced),
        router: Some("router".to_owned()),
        team: vec!["writer".to_owned()],
        conversational: true,
        ..Copilot::default()
    };
    definition.phases[0].kind = PhaseKind::Copilot(what);
    definition
}

fn by_rules(mode: Mode) -> Copilot {
    Copilot { routing: Some(mode), team: vec!["researcher".to_owned()], ..Copilot::default() }
}

fn routed() -> Copilot {
    Copilot { router: Some("copilot_control".to_owned()), ..by_rules(Mode::Balanced) }
}

/// Starts a run of the copilot with this task. `scripts` contains the replies for each step.
fn begun(what: Copilot, task: &str, scripts: &[(&str, Vec<Answer>)]) -> World {
    begun_with(copilot(what), Config::default(), task, scripts)
}

pub(crate) fn begun_with(
    definition: Definition,
    config: Config,
    task: &str,
    scripts: &[(&str, Vec<Answer>)],
) -> World {
    let mut world = World::new(definition);
    for (step, script) in scripts {
        world = world.with(&format!("work/{step}"), script.clone());
    }
    let Input::Start(mut start) = world.start_input(config) else { unreachable!("it is a start") };
    start.input = json!({ "task": task });
    world.send(Input::Start(start));
    world.work();
    world
}

/// Returns the messages in the request of a step, without the system message.
fn request_messages(world: &World, step: &str) -> Vec<String> {
    let request = world.run.request(&format!("work/{step}")).expect("the step is there");
    let texts = request.messages.iter().skip(1).map(|message| match message {
        Message::System { text } | Message::User { text } | Message::Tool { text, .. } => text.clone(),
        Message::Assistant { text, .. } => format!("> {text}"),
    });
    texts.collect()
}

fn end(world: &World) -> Option<(Status, &str)> {
    world.run.ended.as_ref().map(|ended| (ended.status, ended.reason.as_str()))
}

fn text(world: &World) -> &str {
    world.run.ended.as_ref().and_then(|ended| ended.result["text"].as_str()).unwrap_or_default()
}

#[test]
fn without_a_router_the_agent_begins_and_its_last_word_ends_the_run() {
    let world = begun(Copilot::default(), "fix it", &[("round_1", vec![says("Fixed.")])]);
    assert_eq!(end(&world), Some((Status::Completed, "done")));
    assert_eq!(text(&world), "Fixed.");
    assert_eq!(world.count("task_routed"), 0);
}

/// Cases 12 and 13: a vague task is clarified once, and the person's answer reaches the agent.
#[test]
fn a_vague_task_is_clarified_once_and_the_answer_reaches_the_agent() {
    let mut world = begun(by_rules(Mode::Balanced), "fix it", &[("round_1", vec![says("Sorted.")])]);
    let question = world.open(Kind::Question);
    assert_eq!(world.count("model_started"), 0, "nobody works before the answer");
    let refused = world.try_send(
        &holdshort_core::actor::Actor::operator("rest"),
        Input::Decide { interrupt: question, decision: choose("answer"), holder: None },
    );
    assert!(matches!(refused, Err(Rejection::Refused(Refusal::Invalid(_)))), "{refused:?}");
    // The answer is as vague as the task, but the copilot does not ask a second time.
    world.decide(Kind::Question, choose_with("answer", "sort it in util.py"));
    world.work();
    assert_eq!(world.count("task_routed"), 2);
    assert_eq!(world.count("interrupt_opened"), 1);
    assert_eq!(request_messages(&world, "round_1")[0], "fix it\n\nsort it in util.py");
    assert_eq!(end(&world), Some((Status::Completed, "done")));
}

/// With asking switched off, work on a vague task begins at once (case 14, contract C2).
#[test]
fn where_nobody_is_asked_work_begins() {
    let mut definition = copilot(by_rules(Mode::Balanced));
    definition.asking.enabled = false;
    definition.settle_asking();
    let scripts = [("round_1", vec![says("Guessed.")])];
    let world = begun_with(definition, Config::default(), "fix it", &scripts);
    assert_eq!(world.count("interrupt_opened"), 0);
    assert_eq!(end(&world), Some((Status::Completed, "done")));
}

#[test]
fn a_question_that_is_skipped_lets_work_begin_with_a_guess() {
    let mut world = begun(by_rules(Mode::Balanced), "fix it", &[("round_1", vec![says("Guessed.")])]);
    world.decide(Kind::Question, choose("skip"));
    world.work();
    assert!(request_messages(&world, "round_1")[0].contains("best guess"));
    assert_eq!(end(&world), Some((Status::Completed, "done")));
    let world = begun(by_rules(Mode::Minimal), "fix it", &[("round_1", vec![says("Fixed.")])]);
    assert_eq!((world.count("interrupt_opened"), end(&world)), (0, Some((Status::Completed, "done"))));
}

#[test]
fn a_router_decides_who_begins_and_what_is_asked() {
    let route = r#"{"route_type": "direct", "complexity": 75, "primary_agent": "researcher", "refined_task": "Find X"}"#;
    let world =
        begun(routed(), "look around", &[("route_1", vec![says(route)]), ("round_1", vec![says("Found.")])]);
    assert_eq!(world.run.steps["work/round_1"].agent, "researcher");
    let first = &request_messages(&world, "round_1")[0];
    assert!(first.contains("Find X") && first.contains("a plan helps"), "{first}");
    let request = world.run.request("work/route_1").expect("the router was asked");
    assert!(
        matches!(&request.messages[0], Message::System { text } if text.starts_with("Agent: copilot_control\n"))
    );

    // No agent has the name that the router gives, so the agent of the phase begins.
    let route = r#"{"route_type": "direct", "primary_agent": "hacker"}"#;
    let scripts = [("route_1", vec![says(route)]), ("round_1", vec![says("Done.")])];
    let world = begun(routed(), "look around", &scripts);
    assert_eq!(world.run.steps["work/round_1"].agent, "pair");
}

#[test]
fn a_router_that_proposes_leaves_the_choice_to_a_person() {
    let route = r#"{"route_type": "propose", "proposals": [{"title": "A", "description": "quick", "pros": ["fast"]}, {"title": "B"}]}"#;
    let table = [
        (choose("option_1"), "The person chose this approach: A. quick"),
        (choose_with("option_2", "in Rust"), "The person chose this approach: B.\nThe person adds: in Rust"),
        (choose_with("custom", "by hand"), "The person described a different approach: by hand"),
    ];
    for (decision, expected) in table {
        let scripts = [("route_1", vec![says(route)]), ("round_1", vec![says("Done.")])];
        let mut world = begun(routed(), "rework", &scripts);
        let choice = world.open(Kind::Choice);
        let options: Vec<_> =
            world.run.interrupts[&choice].opened.options.iter().map(|offer| offer.id.clone()).collect();
        assert_eq!(options, ["option_1", "option_2", "custom"]);
        let nine = Input::Decide { interrupt: choice.clone(), decision: choose("option_9"), holder: None };
        assert!(world.try_send(&holdshort_core::actor::Actor::operator("rest"), nine).is_err());
        world.decide(Kind::Choice, decision);
        world.work();
        assert_eq!(request_messages(&world, "round_1")[0], format!("rework\n\n{expected}"));
        assert_eq!(end(&world), Some((Status::Completed, "done")));
    }
}

/// Rules choose the route if the router fails or its reply is unreadable (case 15).
#[test]
fn rules_take_the_place_of_a_router_that_can_not_be_heard() {
    let failing = || vec![fails(FailureKind::Rejected); 4];
    let nonsense = || vec![says("I would rather not say.")];
    let long = ["word"; 61].join(" ");
    let table = [
        ("write code", failing(), Route::Clarify, "question"),
        (long.as_str(), failing(), Route::Propose, "choice"),
        ("write code", nonsense(), Route::Clarify, "question"),
    ];
    for (task, script, expected, kind) in table {
        let mut world = begun(routed(), task, &[("route_1", script)]);
        for _ in 0..5 {
            world.pass_ms(60_000);
            world.work();
        }
        let rounds = &world.run.rounds["work"];
        assert_eq!(rounds.routed.as_ref().map(|routed| routed.route), Some(expected), "{:#?}", world.story());
        assert_eq!(world.open_kinds(), [kind]);
        assert_eq!(world.run.steps["work/route_1"].end, Some(holdshort_core::run::StepEnd::Failed));
        let by_rules = world.log.iter().any(|event| {
            matches!(&event.fact, holdshort_core::event::Fact::Run(holdshort_core::run::Fact::TaskRouted(routed))
                if routed.by == RoutedBy::Rules && event.content.as_text().contains("gave no usable answer"))
        });
        assert!(by_rules, "the journal says so");
    }
}

/// In a conversational copilot, the person has a turn after every round (case 20).
#[test]
fn in_a_conversation_the_person_has_a_turn_after_every_round() {
    let what = Copilot { conversational: true, ..Copilot::default() };
    let rounds = [("round_1", says("One.")), ("round_2", says("Two.")), ("round_3", says("Three."))];
    let scripts = rounds.map(|(step, answer)| (step, vec![answer]));
    let mut world = begun(what, "do it", &scripts);
    assert_eq!(world.open_kinds(), ["turn"]);
    let empty = world.open(Kind::Turn);
    let empty = Input::Decide { interrupt: empty, decision: choose("new_task"), holder: None };
    assert!(
        world.try_send(&holdshort_core::actor::Actor::operator("rest"), empty).is_err(),
        "a new task has words"
    );
    world.decide(Kind::Turn, choose_with("submit", "new task: Y"));
    world.work();
    assert_eq!(request_messages(&world, "round_2"), ["do it", "> One.", "New task: Y", "> Two."]);
    // If a turn is open, a message to the run is the person's turn.
    world.message("shorter");
    world.work();
    assert_eq!(
        request_messages(&world, "round_3"),
        ["do it", "> One.", "New task: Y", "> Two.", "shorter", "> Three."]
    );
    world.decide(Kind::Turn, choose("done"));
    assert_eq!(end(&world), Some((Status::Completed, "done")));
    assert_eq!(text(&world), "Three.");
}

#[test]
fn what_is_said_while_a_round_works_is_heard_once() {
    let what = Copilot { conversational: true, ..Copilot::default() };
    let mut world = begun(what, "do it", &[("round_2", vec![says("Two.")])]);
    world.message("use TypeScript");
    world = world.with("work/round_1", vec![says("One.")]);
    world.work();
    world.decide(Kind::Turn, choose_with("continue", "and tests"));
    world.work();
    assert_eq!(
        request_messages(&world, "round_2"),
        ["do it", "use TypeScript", "> One.", "and tests", "> Two."]
    );
}

/// Case 23: the question about satisfaction has three options.
#[test]
fn whoever_is_asked_whether_it_meets_their_needs_has_three_answers() {
    let what = || Copilot { satisfaction: true, ..Copilot::default() };
    let scripts = [("round_1", vec![says("One.")]), ("round_2", vec![says("Two.")])];
    let mut world = begun(what(), "do it", &scripts);
    let turn = world.open(Kind::Turn);
    let options: Vec<(String, String)> = world.run.interrupts[&turn]
        .opened
        .options
        .iter()
        .map(|offer| (offer.id.clone(), offer.label.clone()))
        .collect();
    let expected = [("submit", "Needs changes"), ("new_task", "Start over"), ("done", "Satisfied")];
    assert_eq!(options, expected.map(|(id, label)| (id.to_owned(), label.to_owned())));
    world.decide(Kind::Turn, choose_with("submit", "in metric units"));
    world.work();
    assert_eq!(request_messages(&world, "round_2"), ["do it", "> One.", "in metric units", "> Two."]);
    world.decide(Kind::Turn, choose("done"));
    assert_eq!(end(&world), Some((Status::Completed, "done")));

    let mut world = begun(what(), "do it", &scripts);
    world.decide(Kind::Turn, choose("new_task"));
    world.work();
    assert_eq!(request_messages(&world, "round_2"), ["do it", "> Two."], "begun again, it remembers nothing");

    // In an unattended run, the copilot does not ask if the person is satisfied.
    let unattended = Config { unattended: true, ..Config::default() };
    let world = begun_with(copilot(what()), unattended, "do it", &scripts);
    assert_eq!(end(&world), Some((Status::Completed, "done")));
}

#[test]
fn step_checkpoints_stand_around_every_round_that_is_not_simple() {
    let mut gated = copilot(Copilot { conversational: true, ..Copilot::default() });
    gated.phases[0].gates.before_step = true;
    gated.phases[0].gates.after_step = true;
    let scripts = [("round_1", vec![says("One."), says("Better.")]), ("round_2", vec![says("Two.")])];
    let mut world = begun_with(gated.clone(), Config::default(), "do it", &scripts);
    world.decide(Kind::Checkpoint, choose("approve"));
    world.work();
    world.decide(Kind::Checkpoint, choose_with("redo", "again"));
    world.work();
    world.decide(Kind::Checkpoint, choose("continue"));
    world.work();
    world.decide(Kind::Turn, choose_with("submit", "more"));
    world.work();
    let before = world.open(Kind::Checkpoint);
    assert_eq!(world.run.interrupts[&before].content["payload"]["input"], json!("more"));
    world.decide(Kind::Checkpoint, choose("skip"));
    world.work();
    world.decide(Kind::Turn, choose("done"));
    assert_eq!(end(&world), Some((Status::Completed, "done")));
    assert_eq!(text(&world), "Better.", "what a skipped round would have brought is nobody's word");

    // A person who has reviewed the output of a round is not asked about their satisfaction.
    let mut looked_at = copilot(Copilot { satisfaction: true, ..Copilot::default() });
    looked_at.phases[0].gates.after_step = true;
    let mut world = begun_with(looked_at, Config::default(), "do it", &scripts);
    world.decide(Kind::Checkpoint, choose("continue"));
    assert_eq!(end(&world), Some((Status::Completed, "done")));

    let simple = |words| {
        let mut definition = gated.clone();
        let what = Copilot { agent: "pair".to_owned(), simple_words: Some(words), ..Copilot::default() };
        definition.phases[0].kind = PhaseKind::Copilot(what);
        begun_with(definition, Config::default(), "do it now", &[("round_1", vec![says("One.")])])
    };
    assert_eq!(end(&simple(3)), Some((Status::Completed, "done")));
    assert_eq!(simple(2).open_kinds(), ["checkpoint"]);
}

#[test]
fn a_router_says_what_is_simple() {
    for (complexity, kinds) in [(30, vec![]), (31, vec!["checkpoint"])] {
        let what = Copilot { simple_words: Some(50), ..routed() };
        let mut definition = copilot(what);
        definition.phases[0].gates.before_step = true;
        let route = json!({ "route_type": "direct", "complexity": complexity }).to_string();
        let scripts = [("route_1", vec![says(&route)]), ("round_1", vec![says("One.")])];
        let world = begun_with(definition, Config::default(), "do it", &scripts);
        assert_eq!(world.open_kinds(), kinds, "{complexity}");
    }
}

#[test]
fn a_turn_that_nobody_takes_is_over_as_the_workflow_says() {
    let what = Copilot { conversational: true, ..Copilot::default() };
    let scripts = [("round_1", vec![says("One.")]), ("round_2", vec![says("Two.")])];
    for (on_expiry, expected) in [(None, 1), (Some("continue"), 2)] {
        let mut definition = copilot(what.clone());
        let gate = definition.gates.kinds.entry(Kind::Turn).or_default();
        gate.expires_in_ms = Some(1_000);
        gate.on_expiry = on_expiry.map(str::to_owned);
        let mut world = begun_with(definition, Config::default(), "do it", &scripts);
        world.pass_ms(1_001);
        world.send(Input::Tick);
        world.work();
        assert_eq!(world.run.rounds["work"].begun, expected);
    }
}

#[test]
fn a_run_of_rounds_is_the_same_when_it_is_read_again() {
    let what = Copilot { conversational: true, ..by_rules(Mode::Balanced) };
    let scripts = [("round_1", vec![says("One.")]), ("round_2", vec![says("Two.")])];
    let mut world = begun(what, "fix it", &scripts);
    world.decide(Kind::Question, choose_with("answer", "util.py"));
    world.work();
    world.decide(Kind::Turn, choose_with("new_task", "now the parser of the import, with all of its tests"));
    world.work();
    let mut again = holdshort_core::run::Run::new(world.run.id.clone(), world.run.definition.clone());
    for event in &world.log {
        again.apply(event);
    }
    assert_eq!(again, world.run);
    let erased: Vec<Value> = world.log.iter().map(|event| json!(event.content.text)).collect();
    assert!(!erased.is_empty());
}
