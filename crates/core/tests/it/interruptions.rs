//! A person interrupts a run: running work stops, partial output is kept, and the run waits for the person's message.

use holdshort_core::actor::Actor;
use holdshort_core::definition::{Copilot, Definition, Phase, PhaseKind, StepGates};
use holdshort_core::interrupt::{Kind, Outcome as Resolved};
use holdshort_core::message::{FailureKind, Message};
use holdshort_core::policy::RuleAction;
use holdshort_core::projection::Status;
use holdshort_core::run::{Begin, CallEnd, CallState, Config, Input, Rejection, Run, StepRole};
use holdshort_core::tool::{Outcome, PhaseTool, Runs, Spec, TrialOutcome};
use serde_json::{Value, json};

use crate::copilot;
use crate::pairs::states;
use crate::world::{
    self, World, allow, assigned, calls, choose, choose_with, command, definition, fails, one_shot, read,
    rule, says, write,
};

fn interrupt() -> Input {
    Input::Interrupt { text: None }
}

fn with_words(text: &str) -> Input {
    Input::Interrupt { text: Some(text.to_owned()) }
}

/// Returns a run whose model is replying.
fn replying(script: Vec<world::Answer>) -> World {
    let mut world = World::started(definition(), script);
    world.begin_model("work");
    world
}

fn stopped(world: &mut World, step: &str, text: &str) -> Vec<String> {
    let turn = world.run.steps[step].turn;
    world.send(Input::Stopped { step: step.to_owned(), turn, text: text.to_owned() })
}

/// Returns the messages in the next request of a step, without the system message and the task.
fn request_messages(run: &Run, step: &str) -> Vec<String> {
    let request = run.request(step).expect("the step is there");
    let texts = request.messages.iter().skip(2).map(|message| match message {
        Message::System { text } | Message::User { text } => text.clone(),
        Message::Tool { call, text, .. } => format!("{call}: {text}"),
        Message::Assistant { text, calls, .. } => {
            let calls: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
            format!("> {text}{}", calls.join(" "))
        }
    });
    texts.collect()
}

fn stopping(world: &World) -> Vec<String> {
    world.run.stopping().map(|action| action.to_string()).collect()
}

fn due(world: &World) -> Vec<String> {
    world.run.actions().iter().map(|action| action.id().to_string()).collect()
}

fn end_of(world: &World, call: &str) -> Option<CallEnd> {
    match world.run.calls[call].state {
        CallState::Ended(end) => Some(end),
        _ => None,
    }
}

fn result(world: &World, call: &str) -> String {
    world.run.calls[call].result.as_deref().unwrap_or_default().to_owned()
}

fn ended(world: &World) -> Option<(Status, &str)> {
    world.run.ended.as_ref().map(|ended| (ended.status, ended.reason.as_str()))
}

/// Sends the result of each action that the driver is stopping.
fn settle(world: &mut World) {
    loop {
        let next = world.run.stopping().next().map(|id| id.to_string());
        let Some(action) = next else { return };
        if let Some(rest) = action.strip_prefix("model/") {
            // The id of a step may contain a slash.
            let step = rest.rsplitn(3, '/').nth(2).expect("a step, a turn and an attempt");
            stopped(world, step, "Half a");
            continue;
        }
        let parts: Vec<String> = action.split('/').map(str::to_owned).collect();
        let (call, attempt) = (parts[1].clone(), parts[2].parse().expect("a number"));
        if parts[0] == "try" {
            world.send(Input::Tried { call, attempt, tried: TrialOutcome::Changed { paths: Vec::new() } });
        } else {
            let outcome = Outcome::Stopped { text: "half".to_owned(), data: Value::Null };
            world.send(Input::Ran { call, attempt, outcome });
        }
    }
}

#[test]
fn the_words_of_a_reply_that_is_interrupted_are_kept_and_the_next_request_holds_them() {
    let mut world = replying(vec![says("Done.")]);
    assert_eq!(world.person(interrupt()), ["run_interrupted", "interrupt_opened turn"]);
    assert_eq!(stopping(&world), ["model/work/0/1"]);
    assert_eq!(world.run.status(), Status::Running, "its model has not come back");
    assert!(world.person(interrupt()).is_empty(), "twice is once");
    assert_eq!(stopped(&mut world, "work", "I will now"), ["model_stopped"]);
    assert_eq!((world.run.status(), due(&world).len(), stopping(&world).len()), (Status::Waiting, 0, 0));
    assert_eq!(request_messages(&world.run, "work"), ["> I will now"]);

    world.message("Use tabs.");
    assert_eq!(world.run.status(), Status::Running);
    assert_eq!(request_messages(&world.run, "work"), ["> I will now", "Use tabs."]);
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
    assert_eq!(world.count("message_added"), 1);
    assert_eq!(world.count("end_refused"), 0);
}

#[test]
fn words_that_come_with_it_count_at_once_and_nobody_is_asked() {
    let mut world = replying(vec![says("Done.")]);
    assert_eq!(world.person(with_words("Use tabs.")), ["run_interrupted", "message_added"]);
    assert_eq!((stopping(&world).len(), due(&world).len()), (1, 0), "not before the model is back");
    stopped(&mut world, "work", "I will");
    assert_eq!(request_messages(&world.run, "work"), ["> I will", "Use tabs."]);
    assert_eq!(due(&world), ["model/work/1/1"], "the next request is another call");
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
}

#[test]
fn words_after_an_interruption_are_the_turn() {
    let mut world = replying(Vec::new());
    world.person(interrupt());
    assert_eq!(
        world.person(with_words("Use tabs.")),
        ["decision_made submit", "interrupt_resolved answered submit", "message_added"]
    );
    stopped(&mut world, "work", "I");
    assert_eq!(request_messages(&world.run, "work"), ["> I", "Use tabs."]);
}

#[test]
fn to_continue_goes_on_where_it_stopped() {
    let go_on = "A person interrupted your last reply and now lets you continue. Continue where the reply \
        stopped.";
    // Both orders: the person decides before or after the model has stopped.
    for is_fast in [false, true] {
        let mut world = replying(vec![says("Done.")]);
        world.person(interrupt());
        if !is_fast {
            stopped(&mut world, "work", "I will");
        }
        world.decide(Kind::Turn, choose("continue"));
        if is_fast {
            assert!(due(&world).is_empty());
            stopped(&mut world, "work", "I will");
        }
        assert_eq!(request_messages(&world.run, "work"), ["> I will", go_on]);
        world.work();
        assert_eq!(ended(&world), Some((Status::Completed, "done")));
    }
    // The model had not sent any text, so the request is sent again.
    let mut world = replying(vec![says("Done.")]);
    world.person(interrupt());
    stopped(&mut world, "work", "");
    assert_eq!(world.decide(Kind::Turn, choose("continue")).len(), 2);
    assert!(request_messages(&world.run, "work").is_empty());
}

#[test]
fn done_ends_the_step_with_what_was_said_and_says_that_a_person_did() {
    let mut world = replying(Vec::new());
    world.person(interrupt());
    stopped(&mut world, "work", "I found two bugs.");
    world.decide(Kind::Turn, choose_with("done", "That is enough."));
    assert_eq!(ended(&world), Some((Status::Completed, "partial")));
    let output = world.run.steps["work"].output.as_deref().unwrap_or_default();
    assert_eq!(output, "I found two bugs.\n\nA person interrupted this step and then ended it.");
}

#[test]
fn a_turn_that_nobody_takes_ends_the_work_and_never_lets_it_go_on() {
    let mut definition = definition();
    let next =
        Phase { id: "next".to_owned(), needs: ["work".to_owned()].into(), ..definition.phases[0].clone() };
    definition.phases.push(next);
    let gate = definition.gates.kinds.entry(Kind::Turn).or_default();
    gate.expires_in_ms = Some(60_000);
    gate.on_expiry = Some("continue".to_owned());
    let mut world = World::started(definition, Vec::new());
    world.begin_model("work");
    world.person(interrupt());
    stopped(&mut world, "work", "Half");
    world.pass_ms(60_001);
    world.send(Input::Tick);
    assert_eq!(ended(&world), Some((Status::Failed, "expired")));
    assert!(!world.run.phases.contains_key("next"));
    let turn = world.run.interrupts.values().next().and_then(|each| each.resolution.clone()).unwrap();
    assert_eq!((turn.outcome, turn.option.as_deref()), (Resolved::Expired, Some("done")));
}

#[test]
fn a_reply_that_was_whole_at_that_moment_counts_and_what_it_calls_does_not_begin() {
    let mut world = replying(Vec::new());
    world.person(interrupt());
    world.answer("work", 0, calls(&[write("a.txt"), read("b.txt")]));
    assert_eq!(
        (end_of(&world, "call_1"), end_of(&world, "call_2")),
        (Some(CallEnd::Skipped), Some(CallEnd::Skipped))
    );
    assert!(
        result(&world, "call_1").starts_with("Not run: a person interrupted"),
        "{}",
        result(&world, "call_1")
    );
    assert!(due(&world).is_empty() && world.effects.is_empty());
    world.decide(Kind::Turn, choose("continue"));
    assert_eq!(due(&world), ["model/work/1/1"]);

    // Once the person lets the step continue, the interrupted reply ends the step, because the reply has no calls.
    let mut world = replying(Vec::new());
    world.person(interrupt());
    world.answer("work", 0, says("Done."));
    assert_eq!(ended(&world), None);
    world.decide(Kind::Turn, choose("continue"));
    assert_eq!(ended(&world), Some((Status::Completed, "done")));

    // A model call that fails during the interruption is not retried before the person decides.
    let mut world = replying(Vec::new());
    world.person(interrupt());
    world.answer("work", 0, fails(FailureKind::Unavailable));
    assert_eq!((world.count("model_failed"), world.count("model_stopped")), (0, 1));
    assert!(due(&world).is_empty());
}

#[test]
fn what_was_said_is_lost_with_its_process_and_counts_as_no_crash() {
    let mut world = replying(Vec::new());
    world.person(interrupt());
    assert_eq!(world.crash(), ["adopted", "model_stopped"]);
    assert_eq!((world.run.status(), world.run.steps["work"].crashes), (Status::Waiting, 0));
    world.message("Go on.");
    assert_eq!(request_messages(&world.run, "work"), ["Go on."]);
    assert_eq!(due(&world), ["model/work/1/1"]);
}

/// If a person interrupts a run, each call of the run ends, has its process stopped, or keeps its interrupt open,
/// depending on the state of the call.
#[test]
fn calls_are_ended_by_what_they_are_at() {
    /// A test case: state of the call before the interruption, its end, actions that are being stopped, and open
    /// interrupts.
    type Row = (&'static str, Option<CallEnd>, &'static [&'static str], &'static [&'static str]);
    let rows: &[Row] = &[
        ("call proposed", Some(CallEnd::Skipped), &[], &["turn"]),
        ("call gated", Some(CallEnd::Skipped), &[], &["turn"]),
        ("call being judged", Some(CallEnd::Skipped), &[], &["turn"]),
        ("call tried", None, &["try/call_1/1"], &["turn"]),
        ("tried call gated", Some(CallEnd::Skipped), &[], &["turn"]),
        ("tried call committing", None, &[], &["turn"]),
        ("call authorised", Some(CallEnd::Skipped), &[], &["turn"]),
        // In this test, the file tool writes the file itself, so the call is not stopped.
        ("call started", None, &[], &["turn"]),
        ("call doubted", None, &[], &["turn", "unknown_outcome"]),
        ("call started again", None, &["tool/call_1/2"], &["turn"]),
        ("call with the client", None, &[], &["client_call", "turn"]),
        ("question open", Some(CallEnd::Skipped), &[], &["turn"]),
        ("plan open", Some(CallEnd::Skipped), &[], &["turn"]),
        ("review open", Some(CallEnd::Skipped), &[], &["turn"]),
        ("escalation open", Some(CallEnd::Skipped), &[], &["turn"]),
    ];
    for (name, end, processes, open) in rows {
        let (_, mut world) =
            states().into_iter().find(|(known, _)| known == name).expect("there is such a state");
        world.person(interrupt());
        assert_eq!(end_of(&world, "call_1"), *end, "{name}: {:#?}", world.story());
        assert_eq!(stopping(&world), *processes, "{name}");
        let mut kinds = world.open_kinds();
        kinds.sort_unstable();
        assert_eq!(kinds, *open, "{name}");
        assert!(world.run.actions().is_empty(), "{name}: {:?}", due(&world));
    }
}

/// In every state, an interruption gives the person the turn or is rejected with the reason. The person's next message
/// reaches the agents.
#[test]
fn every_state_waits_for_words_and_goes_on_with_them() {
    for (name, mut world) in states() {
        match world.try_send(&Actor::operator("rest"), interrupt()) {
            // The person already has the turn.
            Ok(told) if told.is_empty() && world.open_kinds() == ["turn"] => continue,
            Ok(_) => {}
            Err(Rejection::Ended(_) | Rejection::NotInterruptible(_) | Rejection::Outdated) => continue,
            Err(other) => panic!("{name}: {other:?}"),
        }
        assert!(world.run.interrupted.is_some(), "{name}");
        settle(&mut world);
        world.work();
        assert!(world.run.actions().is_empty(), "{name}: {:?}", due(&world));
        world.message("Use tabs.");
        assert_eq!(world.run.interrupted, None, "{name}");
        for (id, step) in
            world.run.steps.iter().filter(|(_, step)| step.end.is_none() && step.role == StepRole::Worker)
        {
            let request = world.run.request(id).expect("the step is there");
            // A message before the first round becomes a part of the round's task.
            let is_heard = |message: &Message| match message {
                Message::User { text } => text.lines().any(|line| line == "Use tabs."),
                Message::System { .. } | Message::Tool { .. } | Message::Assistant { .. } => false,
            };
            assert!(request.messages.iter().any(is_heard), "{name}: {request:?} {step:?}");
        }
        assert!(
            world.run.is_paused()
                || world.run.row().is_some_and(|row| row.runnable)
                || world.run.next_deadline().is_some()
                || world.run.open_interrupts().next().is_some()
                || world.run.ended.is_some(),
            "{name}: nobody is at it, and nobody is asked"
        );
    }
}

#[test]
fn what_only_reads_is_given_up_at_once() {
    let mut definition = definition();
    definition.gates.rules = vec![allow(&["read_file"])];
    let mut world = World::started(definition, vec![calls(&[read("a.txt"), write("b.txt")])]);
    world.work_once();
    world.work_once();
    world.begin_tool("call_1");
    world.person(interrupt());
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Skipped));
    assert!(result(&world, "call_1").contains("there is no result"));
    assert!(!world.run.awaited().iter().any(|action| action.to_string() == "tool/call_1/1"), "it is aborted");
}

#[test]
fn a_command_is_stopped_and_its_output_kept_and_the_rest_of_the_reply_does_not_begin() {
    let mut definition = definition();
    definition.gates.rules = vec![allow(&["run_command", "write_file"])];
    let mut world = World::started(definition, vec![calls(&[command("make"), write("b.txt")])]);
    for _ in 0..3 {
        world.work_once();
    }
    if !matches!(world.run.calls["call_1"].state, CallState::Started { .. }) {
        world.begin_tool("call_1");
    }
    let told_of = world.person(interrupt());
    assert!(told_of.contains(&"tool_stopped call_1".to_owned()), "{told_of:?}");
    assert_eq!(end_of(&world, "call_2"), Some(CallEnd::Skipped));
    let outcome = Outcome::Stopped { text: "half\nkilled".to_owned(), data: Value::Null };
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Failed));
    assert_eq!(
        result(&world, "call_1"),
        "half\nkilled\nA person stopped this command. It ran in the workspace, and may have done a part of \
        its work. Run it again \
         only if it is still wanted."
    );
    assert_eq!(world.run.status(), Status::Waiting);
}

#[test]
fn words_that_come_with_the_stop_of_a_stopped_command_are_heard() {
    let mut definition = definition();
    definition.gates.rules = vec![allow(&["run_command"])];
    let mut world = World::started(definition, vec![calls(&[command("make")])]);
    while world.run.calls.get("call_1").is_none_or(|call| call.look.is_none()) {
        world.work_once();
    }
    world.begin_tool("call_1");
    world.person(interrupt());
    let stop = |text: Option<&str>| Input::StopCall { call: "call_1".into(), text: text.map(str::to_owned) };
    assert!(world.person(stop(None)).is_empty());
    world.person(stop(Some("use ninja")));
    assert!(world.open_kinds().is_empty(), "the words are the turn");
    assert!(request_messages(&world.run, "work").iter().any(|text| text == "use ninja"));
}

/// A commit that a crash interrupted is completed while the person has the turn.
#[test]
fn what_is_being_written_is_written_to_its_end() {
    let committing = states().into_iter().find(|(name, _)| *name == "tried call committing").unwrap().1;
    let mut world = committing.clone();
    world.person(interrupt());
    let outcome = world.execute("call_1");
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Done));

    let mut world = committing;
    world.person(interrupt());
    world.crash();
    assert_eq!(due(&world), ["tool/call_1/2"]);
    world.work();
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Done), "{:#?}", world.story());
    assert_eq!(world.open_kinds(), ["turn"]);
}

#[test]
fn all_steps_that_are_at_work_stop_and_hear_what_is_said() {
    let mut definition = definition();
    definition.limits.parallel = 2;
    definition.phases = vec![one_shot("a", &[]), one_shot("b", &[])];
    let mut world = World::started(definition, Vec::new());
    world.begin_model("a");
    world.begin_model("b");
    world.person(interrupt());
    assert_eq!(stopping(&world), ["model/a/0/1", "model/b/0/1"]);
    stopped(&mut world, "a", "From a");
    assert_eq!(world.run.status(), Status::Running);
    stopped(&mut world, "b", "From b");
    world.message("Both of you.");
    for (step, said) in [("a", "> From a"), ("b", "> From b")] {
        assert_eq!(request_messages(&world.run, step), [said, "Both of you."]);
    }
    assert_eq!(due(&world).len(), 2);
    // The last text of each step is its output.
    world.person(interrupt());
    world.decide(Kind::Turn, choose("done"));
    assert_eq!(ended(&world), Some((Status::Completed, "partial")));
}

fn calling_phases() -> Definition {
    let mut definition = definition();
    let name = "invoke_one_shot_phase".to_owned();
    let spec = Spec {
        name: name.clone(),
        description: String::new(),
        parameters: json!({ "type": "object" }),
        runs: Runs::Begins(PhaseTool::OneShot),
    };
    definition.agents.entry("pair".to_owned()).and_modify(|agent| agent.tools.push(name.clone()));
    definition.tools.insert(name, spec);
    definition
}

#[test]
fn a_phase_that_a_call_began_is_interrupted_with_its_steps_and_goes_on() {
    let ask = calls(&[("invoke_one_shot_phase", json!({ "task": "count" }))]);
    let begun = || {
        let mut world = World::started(calling_phases(), vec![ask.clone(), says("All done.")])
            .with("of:call_1", vec![says("Three.")]);
        world.work_once();
        world.begin_model("of:call_1");
        world.person(interrupt());
        stopped(&mut world, "of:call_1", "One, two");
        world
    };
    let mut world = begun();
    assert_eq!(end_of(&world, "call_1"), None, "its phase goes on");
    world.message("And quickly.");
    assert_eq!(request_messages(&world.run, "of:call_1"), ["> One, two", "And quickly."]);
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
    assert!(result(&world, "call_1").contains("Three."));

    let mut world = begun();
    world.decide(Kind::Turn, choose("done"));
    assert_eq!(ended(&world), Some((Status::Completed, "partial")), "{:#?}", world.story());
    assert!(world.run.steps.values().all(|step| step.end.is_some()));
}

fn copilot_at_work(conversational: bool) -> World {
    let mut definition = definition();
    let satisfaction = !conversational;
    let copilot = Copilot { agent: "pair".to_owned(), conversational, satisfaction, ..Copilot::default() };
    definition.phases[0].kind = PhaseKind::Copilot(copilot);
    World::started(definition, Vec::new())
}

#[test]
fn a_copilots_round_is_interrupted_adapted_and_ended() {
    let mut world = copilot_at_work(true).with("work/round_1", vec![says("In tabs.")]);
    world.begin_model("work/round_1");
    world.person(interrupt());
    stopped(&mut world, "work/round_1", "In blanks");
    world.message("Tabs!");
    world.work();
    // The round has ended, so the open turn is the copilot's, and nothing is running that could be interrupted.
    assert_eq!(world.open_kinds(), ["turn"]);
    assert!(world.run.interrupted.is_none());
    assert!(world.person(interrupt()).is_empty());
    world.message("More.");
    world.begin_model("work/round_2");
    world.person(interrupt());
    world.decide(Kind::Turn, choose("done"));
    assert_eq!(world.open_kinds(), ["turn"], "the round is done, and the next is the person's");
    world.decide(Kind::Turn, choose("done"));
    assert!(matches!(ended(&world), Some((Status::Completed, _))), "{:#?}", world.story());
}

/// A person who ends a round early is not asked about their satisfaction.
#[test]
fn nobody_is_asked_whether_a_round_that_they_ended_was_done_well() {
    let mut world = copilot_at_work(false).with("work/round_1", vec![says("In tabs.")]);
    world.begin_model("work/round_1");
    world.person(interrupt());
    stopped(&mut world, "work/round_1", "In blanks");
    world.decide(Kind::Turn, choose("done"));
    assert_eq!(ended(&world), Some((Status::Completed, "partial")), "{:#?}", world.story());
}

/// If a person ends a round, the phase waits for running calls and calls in doubt.
#[test]
fn a_round_that_a_person_ended_waits_for_what_is_in_doubt() {
    let mut world = copilot_at_work(false).with("work/round_1", vec![calls(&[command("make x")])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.begin_tool("call_1");
    world.crash();
    world.person(interrupt());
    world.decide(Kind::Turn, choose("done"));
    assert_eq!((ended(&world), world.open_kinds()), (None, vec!["unknown_outcome"]), "{:#?}", world.story());
    world.decide(Kind::UnknownOutcome, choose("skip"));
    assert_eq!(ended(&world), Some((Status::Completed, "partial")), "{:#?}", world.story());
}

/// The options that a workflow sets for a copilot's turns do not apply to the turn after an interruption.
#[test]
fn its_three_options_are_always_there() {
    let mut definition = definition();
    let gate = definition.gates.kinds.entry(Kind::Turn).or_default();
    gate.options = vec!["submit".to_owned(), "exit".to_owned()];
    gate.labels.insert("done".to_owned(), "Satisfied".to_owned());
    let mut world = World::started(definition, Vec::new());
    world.begin_model("work");
    world.person(interrupt());
    let turn = world.run.open_interrupts().next().expect("it is open").1;
    let offered: Vec<_> =
        turn.opened.options.iter().map(|offer| (offer.id.as_str(), offer.label.as_str())).collect();
    assert_eq!(offered, [("submit", "Send"), ("continue", "Continue"), ("done", "Done")]);
}

/// A command that a person stopped is not a failure of the agent.
#[test]
fn a_command_that_was_interrupted_did_not_fail() {
    let mut definition = definition();
    definition.phases[0].gates = StepGates { on_error: true, ..StepGates::default() };
    let mut world = World::started(definition, vec![calls(&[command("make x")]), says("Done.")]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.begin_tool("call_1");
    world.person(interrupt());
    let outcome = Outcome::Stopped { text: "half".to_owned(), data: Value::Null };
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
    world.message("Without make.");
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done")), "{:#?}", world.story());
}

#[test]
fn what_is_asked_about_a_step_stays_asked_beside_the_turn() {
    let mut definition = definition();
    definition.phases[0].gates = StepGates { before_step: true, ..StepGates::default() };
    let mut world = World::started(definition, vec![says("Done.")]);
    world.person(interrupt());
    assert_eq!(world.open_kinds(), ["checkpoint", "turn"]);
    world.decide(Kind::Checkpoint, choose("approve"));
    assert!(due(&world).is_empty(), "the person has the turn");
    world.decide(Kind::Turn, choose("continue"));
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
}

/// Returns a copilot that asks before its first round.
fn asks_first(route: &Value) -> World {
    let scripts = [
        ("route_1", vec![says(&route.to_string())]),
        ("route_2", vec![says(&json!({ "route_type": "direct" }).to_string())]),
        ("round_1", vec![says("Done.")]),
    ];
    copilot::begun_with(copilot::routed_team(), Config::default(), "fix it", &scripts)
}

fn resolved(world: &World, kind: Kind) -> Option<(Resolved, Option<String>)> {
    let asked = world.run.interrupts.values().find(|each| each.opened.kind == kind)?;
    asked.resolution.as_ref().map(|resolution| (resolution.outcome, resolution.option.clone()))
}

/// A message after an interruption supersedes the open question before a round, because it replaces the task.
#[test]
fn what_was_asked_before_a_round_is_superseded_by_the_words_after_an_interruption() {
    for (route, kind, name) in [("clarify", Kind::Question, "question"), ("propose", Kind::Choice, "choice")]
    {
        for is_said_at_once in [false, true] {
            let mut world = asks_first(&json!({ "route_type": route }));
            assert_eq!(world.open_kinds(), [name]);
            if is_said_at_once {
                world.person(with_words("List the files."));
            } else {
                world.person(interrupt());
                assert_eq!(world.open_kinds(), [name, "turn"], "nothing else was said yet");
                world.message("List the files.");
            }
            assert_eq!(resolved(&world, kind), Some((Resolved::Superseded, None)), "{route}");
            if route == "clarify" {
                let request = world.run.request("work/route_2").expect("it is routed once more");
                assert!(json!(request.messages).to_string().contains("List the files."), "{request:#?}");
            }
            world.work();
            assert_eq!(world.open_kinds(), ["turn"], "{route}: its round is done");
            let request = world.run.request("work/round_1").expect("the round is there");
            let heard: usize = request
                .messages
                .iter()
                .map(|each| json!(each).to_string().matches("List the files.").count())
                .sum();
            assert_eq!(heard, 1, "{route}: {request:#?}");
            assert_eq!(world.count("message_added"), 1, "it is said once");
        }
    }
}

#[test]
fn what_was_asked_before_a_round_stands_where_it_goes_on_and_ends_with_it() {
    let mut world = asks_first(&json!({ "route_type": "clarify" }));
    world.person(interrupt());
    world.decide(Kind::Turn, choose("continue"));
    assert_eq!(world.open_kinds(), ["question"]);
    world.decide(Kind::Question, choose_with("answer", "names.txt"));
    world.work();
    assert_eq!(resolved(&world, Kind::Question), Some((Resolved::Answered, Some("answer".to_owned()))));

    let mut world = asks_first(&json!({ "route_type": "propose" }));
    world.person(interrupt());
    world.decide(Kind::Turn, choose("done"));
    world.work();
    assert_eq!(resolved(&world, Kind::Choice), Some((Resolved::Superseded, None)));
    assert!(matches!(ended(&world), Some((Status::Completed, _))), "{:#?}", world.story());
}

/// A message of a person who is not an approver of the open question reaches the run, and the question stays open.
#[test]
fn who_may_not_decide_on_what_was_asked_leaves_it_open() {
    let mut definition = copilot::routed_team();
    definition.gates.kinds.entry(Kind::Question).or_default().assignment = assigned(&["lena"]);
    let routed = [("route_1", vec![says(&json!({ "route_type": "clarify" }).to_string())])];
    let mut world = copilot::begun_with(definition, Config::default(), "fix it", &routed);
    world.person(with_words("List the files."));
    assert_eq!(world.open_kinds(), ["question"]);
    assert_eq!(world.count("message_added"), 1);
}

#[test]
fn a_paused_run_stays_paused() {
    let mut world = replying(vec![says("Done.")]);
    world.person(Input::Pause);
    world.person(interrupt());
    stopped(&mut world, "work", "Half");
    world.message("Use tabs.");
    assert_eq!((world.run.status(), due(&world).len()), (Status::Paused, 0));
    world.person(Input::Resume);
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
}

#[test]
fn who_may_not_steer_may_not_interrupt_and_what_runs_elsewhere_is_not_interrupted() {
    let world = replying(Vec::new());
    for actor in [
        Actor::agent("a", "rest"),
        Actor { role: holdshort_core::actor::Role::Auditor, ..Actor::operator("rest") },
    ] {
        assert_eq!(world.handle(&actor, interrupt()).unwrap_err(), Rejection::Role);
    }
    let mut external = World::new(world::external());
    external.start(Config::default());
    let refused = external.handle(&Actor::operator("rest"), interrupt()).unwrap_err();
    assert!(matches!(refused, Rejection::NotInterruptible(_)), "{refused:?}");
    let long = Input::Interrupt { text: Some("x".repeat(70_000)) };
    assert!(matches!(world.handle(&Actor::operator("rest"), long), Err(Rejection::Invalid(_))));
}

/// An interruption also stops the judge of a call and discards its partial reply. The next call gets a new judgement.
#[test]
fn what_helps_a_step_stops_with_it_and_half_of_it_is_nothing() {
    let (_, mut world) = states().into_iter().find(|(name, _)| *name == "call being judged").unwrap();
    let overseer = "oversee:call_1";
    world.begin_model(overseer);
    world.person(interrupt());
    assert_eq!(stopping(&world), ["model/oversee:call_1/0/1"]);
    stopped(&mut world, overseer, "{\"escalate\": fal");
    assert!(world.run.steps[overseer].entries.is_empty());
    world.decide(Kind::Turn, choose("continue"));
    assert!(world.run.steps[overseer].end.is_some());
    assert_eq!(due(&world), ["model/work/1/1"]);
}

#[test]
fn a_trial_is_stopped_and_nothing_of_it_happens() {
    let (_, mut world) = states().into_iter().find(|(name, _)| *name == "call tried").unwrap();
    world.person(interrupt());
    let tried = world.try_command("call_1");
    world.send(Input::Tried { call: "call_1".to_owned(), attempt: 1, tried });
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Refused));
    assert_eq!(
        result(&world, "call_1"),
        "tried ./do a=1\nA person stopped this command. It ran only in a trial, so nothing has changed. Run \
        it again \
        only if it is still \
         wanted."
    );
    assert!(world.files.is_empty() && world.run.status() == Status::Waiting);
}

/// A run may be interrupted any number of times. A person is never asked about an interrupted reply.
#[test]
fn interrupted_again_and_again_it_goes_on_each_time() {
    let mut world = replying(vec![says("Done.")]);
    for n in 0..5 {
        world.person(interrupt());
        stopped(&mut world, "work", &format!("Try {n}"));
        world.decide(Kind::Turn, choose("continue"));
        assert_eq!(world.open_kinds(), Vec::<&str>::new());
        if n < 4 {
            world.begin_model("work");
        }
    }
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
}

#[test]
fn a_forbidden_rule_and_a_new_grant_change_nothing_of_it() {
    let mut definition = definition();
    definition.gates.rules = vec![rule(RuleAction::Forbid, &["write_file"], &[])];
    let mut world = World::started(definition, vec![calls(&[read("a.txt")])]);
    world.work_once();
    world.work_once();
    world.person(interrupt());
    world.send(Input::Revote);
    assert_eq!(world.open_kinds(), ["turn"]);
    world.send(Input::Begin { begins: vec![Begin::Model { step: "work".to_owned(), turn: 1 }] });
    assert_eq!(world.count("model_started"), 1, "nothing begins meanwhile");
}
