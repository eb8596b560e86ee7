//! Requests that fit into the context window of a model: a model sums up old turns, but never people's messages.

use std::collections::BTreeMap;

use holdshort_core::definition::Definition;
use holdshort_core::event;
use holdshort_core::interrupt::Kind;
use holdshort_core::limits;
use holdshort_core::message::{FailureKind, Message, Reply, Request, Usage};
use holdshort_core::pricing::{DEFAULT, ModelTerms, Price};
use holdshort_core::projection::Status;
use holdshort_core::run::{Fact, Input, SUMMARISER};
use serde_json::json;

use super::{asking_off, paired, phase, request_messages};
use crate::world::{Answer, World, calls, choose, choose_with, fails, read, says};

/// Context window of the model in tokens. Three quarters of it are 4,500 bytes.
const WINDOW: u64 = 2_000;

fn narrow(mut definition: Definition) -> Definition {
    let terms = ModelTerms { window_tokens: Some(WINDOW), price: None };
    definition.models = BTreeMap::from([(DEFAULT.to_owned(), terms)]);
    definition
}

/// Starts a run in a world with files of 800 bytes, each of which begins and ends with a unique word.
fn world(definition: Definition, script: Vec<Answer>) -> World {
    let mut world = World::started(definition, script);
    for name in ["a", "b", "c", "d", "e", "f"] {
        world.files.insert(name.to_owned(), format!("begin-{name} {} end-{name}", name.repeat(780)));
    }
    world
}

fn reads(names: &[&str]) -> Vec<Answer> {
    names.iter().map(|name| calls(&[read(name)])).collect()
}

/// Returns the size of a request in bytes, computed independently of the core.
fn bytes(request: &Request) -> usize {
    let texts = request.messages.iter().map(|message| json!(message).to_string().len());
    texts.sum::<usize>()
}

/// Returns the id of the step that writes a summary.
fn summariser(world: &World) -> String {
    let waits = |(id, step): (&String, &std::sync::Arc<holdshort_core::run::Step>)| {
        (step.agent == SUMMARISER && step.end.is_none()).then(|| id.clone())
    };
    world.run.steps.iter().find_map(waits).expect("old turns are to be summed up")
}

fn facts(world: &World, kind: &str) -> Vec<Fact> {
    let of = |event: &event::Event| match &event.fact {
        event::Fact::Run(fact) if event.fact.encode().0 == kind => Some(fact.clone()),
        _ => None,
    };
    world.log.iter().filter_map(of).collect()
}

fn asks(question: &str) -> Answer {
    calls(&[("ask_human", json!({ "question": question }))])
}

#[test]
fn old_turns_are_summed_up_and_what_people_said_is_not() {
    let mut script = vec![asks("Which colour?")];
    script.extend(reads(&["a", "b", "c", "d", "e"]));
    script.push(says("Done."));
    let mut world = world(narrow(asking()), script);
    world.work();
    world.decide(Kind::Question, choose_with("answer", "Green, and no other."));
    world.message("Use tabs.");
    world.work();

    let by = summariser(&world);
    let asked = world.run.request(&by).expect("it is asked");
    assert!(asked.tools.is_empty() && asked.messages.len() == 2, "{asked:#?}");
    let Message::User { text } = &asked.messages[1] else { panic!("{asked:#?}") };
    assert!(text.contains("begin-a") && !text.contains("end-e"), "the old turns and no other: {text}");
    assert!(!world.run.actions().is_empty(), "and the step itself waits for it");
    assert_eq!(world.run.actions().len(), 1);

    let usage = Usage { input_tokens: 40, output_tokens: 2 };
    let summary = says("All of a is a.").map(|reply| Reply { usage, ..reply });
    world.script.insert(by.clone(), vec![summary].into());
    world.work_once();
    assert_eq!(world.count("history_summarised"), 1);
    let request = world.run.request("work").expect("it goes on");
    paired(&request);
    assert!(bytes(&request) < 4_500, "{}", bytes(&request));
    let told = request_messages(&world);
    let all = told.join("\n");
    for kept in ["Green, and no other.", "Which colour?", "user: Use tabs.", "All of a is a.", "end-d"] {
        assert!(all.contains(kept), "{kept}: {all}");
    }
    assert!(!all.contains("begin-a"), "{all}");
    let at = |words: &str| told.iter().position(|line| line.contains(words)).expect(words);
    assert!(at("Green") < at("written by a model") && at("Use tabs.") < at("written by a model"));
    assert!(at("written by a model") < at("end-d"), "{told:#?}");
    assert_eq!(world.run.steps["work"].used.tokens, 42, "it is paid by the step that needs it");

    // As long as the requests fit, nothing more is summed up. The next summary covers the previous summary and the
    // turns after it.
    world.work();
    while world.run.ended.is_none() {
        let by = summariser(&world);
        let asked = world.run.request(&by).expect("it is asked");
        assert!(json!(asked.messages).to_string().contains("All of a is a."));
        world.script.insert(by, vec![says("All of a is a, and b b.")].into());
        world.work();
    }
    assert_eq!(world.run.status(), Status::Completed);
    assert!(!world.log.iter().any(|event| event.fact.encode().1["shortened"] == true));
}

/// The approved plan stays word for word in the requests after several summaries.
#[test]
fn an_open_plan_is_never_summed_up() {
    let step = "Sort names.txt by length, the shortest first";
    let plan = json!({ "subtasks": [{ "id": "sort", "description": step }] });
    let mut script = vec![calls(&[("create_plan", plan)])];
    script.extend(reads(&["a", "b", "c", "d", "e", "f", "a", "b", "c"]));
    script.push(says("Done."));
    let mut definition = narrow(asking());
    definition.gates.plan = holdshort_core::definition::PlanGate::Ask;
    let mut world = world(definition, script);
    world.work();
    world.decide(Kind::PlanApproval, choose_with("approve", "carefully"));
    world.work();
    let mut summaries = 0;
    while world.run.ended.is_none() {
        let by = summariser(&world);
        world.script.insert(by, vec![says("Some files were read.")].into());
        world.work();
        summaries += 1;
        let told = request_messages(&world).join("\n");
        assert!(told.contains(step) && told.contains("carefully"), "after {summaries} summaries: {told}");
        assert!(bytes(&world.run.request("work").expect("it goes on")) < 6_000);
    }
    assert!(summaries > 1, "{summaries}");
    assert_eq!(world.run.status(), Status::Completed);
}

fn asking() -> Definition {
    phase(|_| {})
}

#[test]
fn without_a_summary_old_results_are_left_out_and_the_journal_says_so() {
    type Broken = (&'static str, Vec<Answer>);
    let table: Vec<Broken> = vec![
        ("it cannot be reached", vec![fails(FailureKind::Rejected)]),
        ("it says nothing, again and again", vec![says(" "), says(" "), says(" ")]),
        (
            "it calls what it has not",
            vec![calls(&[read("a")]).map(|reply| Reply { text: String::new(), ..reply })],
        ),
        ("it is too long itself", vec![fails(FailureKind::TooLong)]),
    ];
    for (why, broken) in table {
        let mut script = reads(&["a", "b", "c", "d"]);
        script.push(says("Done."));
        let mut world = world(narrow(asking_off()), script);
        world.work();
        let by = summariser(&world);
        world.script.insert(by, broken.into());
        for _ in 0..4 {
            world.work();
            world.pass_ms(60_000);
        }
        assert_eq!(world.run.status(), Status::Completed, "{why}: {:#?}", world.story());
        assert_eq!((world.count("history_elided"), world.count("history_summarised")), (1, 0), "{why}");
        let all = request_messages(&world).join("\n");
        assert!(all.contains("is left out here") && !all.contains("begin-a"), "{why}: {all}");
        assert!(all.contains("end-d"), "{why}: {all}");
    }
}

#[test]
fn a_result_that_is_too_long_by_itself_is_cut_in_the_request_alone() {
    let mut world = world(narrow(asking_off()), vec![calls(&[read("big")]), says("Done.")]);
    world.files.insert("big".to_owned(), format!("begin {} end", "x".repeat(20_000)));
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
    let all = request_messages(&world).join("\n");
    assert!(all.contains("begin") && all.contains("end"), "{all}");
    assert!(all.contains("bytes are left out here]") && all.len() < 2_000, "{all}");
    let call = world.run.calls.values().next().expect("it was made");
    assert_eq!(call.result.as_ref().map(|text| text.len()), Some(20_010), "the journal has all of it");
    let shortened: Vec<bool> = facts(&world, "model_started")
        .iter()
        .map(|fact| matches!(fact, Fact::ModelStarted { shortened: true, .. }))
        .collect();
    assert_eq!(shortened, [false, true], "and says that the request had not");
}

#[test]
fn a_provider_that_refuses_the_length_is_asked_once_more_with_less() {
    let mut script = reads(&["a", "b", "c"]);
    script.extend([fails(FailureKind::TooLong), says("Done.")]);
    let mut world = world(asking_off(), script);
    world.work();
    let by = summariser(&world);
    assert_eq!(world.count("window_narrowed"), 1);
    world.script.insert(by, vec![says("a and b are long.")].into());
    world.work();
    assert_eq!(world.run.status(), Status::Completed, "{:#?}", world.story());
    assert!(request_messages(&world).join("\n").contains("a and b are long."));

    // If the provider refuses the shortened request, too, the step fails.
    let mut script = reads(&["a", "b", "c"]);
    script.extend([fails(FailureKind::TooLong), fails(FailureKind::TooLong)]);
    let mut world = self::world(asking_off(), script);
    world.work();
    let by = summariser(&world);
    world.script.insert(by, vec![says("a and b are long.")].into());
    let told = world.work();
    assert_eq!(told.last().map(String::as_str), Some("run_failed model_failed"));
}

#[test]
fn what_can_not_be_made_to_fit_is_not_sent() {
    for (asks, last) in [(true, "interrupt_opened error"), (false, "run_failed window")] {
        let mut definition = narrow(phase(|phase| phase.gates.on_error = asks));
        definition.agents.get_mut("pair").expect("it is there").instructions = "Work hard. ".repeat(700);
        let mut world = World::new(definition).with("work", vec![says("Done.")]);
        let told = world.start(holdshort_core::run::Config::default());
        assert_eq!(told.last().map(String::as_str), Some(last), "{told:#?}");
        assert_eq!(world.count("model_started"), 0);
    }
}

/// The provider's token count corrects the estimate of three bytes per token.
#[test]
fn the_provider_s_count_corrects_the_estimate() {
    for (counted, summed_up) in [(0, true), (900, false), (1_600, true), (1, false)] {
        let usage = Usage { input_tokens: counted, output_tokens: 1 };
        let script =
            reads(&["a", "b", "c", "d"]).into_iter().map(|reply| reply.map(|reply| Reply { usage, ..reply }));
        let mut world = world(narrow(asking_off()), script.take(4).collect());
        world.work();
        assert_eq!(world.count("step_started") > 1, summed_up, "{counted}: {:#?}", world.story());
    }
}

#[test]
fn a_crash_in_the_middle_of_a_summary_loses_nothing() {
    let mut script = reads(&["a", "b", "c", "d"]);
    script.push(says("Done."));
    let mut world = world(narrow(asking_off()), script);
    world.work();
    let by = summariser(&world);
    world.begin_model(&by);
    world.crash();
    assert_eq!(world.count("model_lost"), 1);
    world.script.insert(by, vec![says("All is said.")].into());
    world.work();
    assert_eq!(world.run.status(), Status::Completed, "{:#?}", world.story());
}

/// The summary that is being written is dropped when the run is cancelled.
#[test]
fn a_run_that_ends_meanwhile_needs_no_summary() {
    let mut world = world(narrow(asking()), reads(&["a", "b", "c", "d"]));
    world.work();
    let by = summariser(&world);
    world.begin_model(&by);
    world.person(Input::Cancel { text: None });
    assert_eq!(world.run.status(), Status::Cancelled);
    assert_eq!(world.count("history_summarised"), 0);
}

fn priced(terms: &[(&str, u64)]) -> BTreeMap<String, ModelTerms> {
    let terms = terms.iter().map(|(name, price)| {
        let price =
            Price { input_per_million: *price, output_per_million: 2 * price, currency: "USD".to_owned() };
        ((*name).to_owned(), ModelTerms { window_tokens: None, price: Some(price) })
    });
    terms.collect()
}

/// Costs and budgets are whole numbers. A reply of a model without a price is charged at the highest price.
#[test]
fn a_budget_in_money_asks_and_what_was_spent_is_told() {
    let usage = Usage { input_tokens: 1_000_000, output_tokens: 250_000 };
    let costly =
        |model: &str| calls(&[read("a")]).map(|reply| Reply { usage, model: model.to_owned(), ..reply });
    for (prices, cost, unpriced) in [
        (priced(&[("small", 1_000_000)]), "1.50", 0),
        (priced(&[(DEFAULT, 1_000_000)]), "1.50", 0),
        (priced(&[("small", 1_000_000), (DEFAULT, 9_000_000)]), "1.50", 0),
        (priced(&[("other", 1_000_000)]), "0.00", 1),
    ] {
        let mut definition = phase(|phase| phase.limits.budget_money = Some(1_500_000));
        definition.models = prices;
        let mut world = world(definition, vec![costly("small"), says("Done.")]);
        let told = world.work();
        let asked = ["limit_reached budget_money", "interrupt_opened continuation"].map(str::to_owned);
        assert!(told.ends_with(&asked), "{told:#?}");
        let open = &world.run.interrupts[&world.open(Kind::Continuation)];
        assert_eq!(open.content["title"], "Step `work` has reached its limit of 1.50 USD budget money");
        assert_eq!(open.content["payload"]["value"], 1_500_000);
        let spent = &open.content["payload"]["spent"];
        assert_eq!(spent["cost"], json!({ "amount": cost, "currency": "USD" }));
        assert_eq!(world.run.spent.unpriced, unpriced);
        world.decide(Kind::Continuation, choose("continue"));
        world.work();
        assert_eq!(world.run.status(), Status::Completed);
    }
}

#[test]
fn the_shares_leave_room_for_a_reply() {
    const { assert!(limits::RECENT_SHARE + 2 * limits::RESULT_SHARE < limits::WINDOW_SHARE) };
    const { assert!(limits::WINDOW_SHARE < limits::WINDOW_MOST && limits::WINDOW_MOST < 100) };
}
