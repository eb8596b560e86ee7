//! Orders of agents and people in contract A7, each as a workflow and a complete run.

use std::sync::Arc;

use holdshort_workflow::parse;

use crate::catalogue::catalogue;
use crate::stage::{Stage, calls, hands, plans, says};
use holdshort_core::message::Reply;
use serde_json::json;

/// Workflow of a team that plans. Its control agent chooses an agent for each subtask that names no agent.
const TEAM: &str = "
name: team
agents:
  planner: {instructions: Plan.}
  plan_reviewer: {instructions: Judge the plan.}
  control: {instructions: Choose who does it., handoffs: [engineer, researcher, terminator]}
  engineer: {instructions: Build., handoffs: [control, admin], tools: [write_file, run_command]}
  researcher: {instructions: Look., handoffs: [control], tools: [read_file]}
phases:
  - {id: plan, kind: planning, agents: {planner: planner, reviewer: plan_reviewer}}
  - {id: work, kind: control, agent: control}
";
const QUIET: &str = "gates: {plan: show, rules: [{tools: [\"*\"], do: allow}]}\n";

fn stage(gates: &str, script: &[(&str, &[Reply])]) -> Stage {
    let definition = parse("team.yaml", &format!("{TEAM}{gates}"), &catalogue()).expect("it is good");
    Stage::new(Arc::new(definition), script)
}

fn planning(subtasks: &[&'static str]) -> [(&'static str, Vec<Reply>); 2] {
    [("planner", vec![plans(subtasks), plans(subtasks)]), ("plan_reviewer", vec![says("Good.")])]
}

/// Runs the team's workflow with a plan of these subtasks.
fn team(gates: &str, subtasks: &[&'static str], script: &[(&str, &[Reply])]) -> Stage {
    let planning = planning(subtasks);
    let planning = planning.iter().map(|(agent, replies)| (*agent, replies.as_slice()));
    stage(gates, &planning.chain(script.iter().copied()).collect::<Vec<_>>())
}

/// Without people, the order of agents is: control → engineer, researcher or terminator.
#[test]
fn control_chooses_and_says_when_it_is_done() {
    let control = [hands("engineer", "Write the script."), hands("terminator", "The script is there.")];
    let engineer =
        [calls("write_file", json!({ "path": "a.py", "content": "" })), hands("control", "Written.")];
    let mut team = team(QUIET, &["script"], &[("control", &control), ("engineer", &engineer)]);
    assert_eq!(
        team.chain(),
        "planner plan_reviewer planner control engineer engineer control",
        "the step comes back to whom it began with",
    );
    assert_eq!(team.ended(), "completed done");
    let result = &team.run.ended.as_ref().expect("it has").result;
    assert_eq!(
        result["phases"]["work"]["script"],
        json!({
            "status": "completed", "agent": "control", "output": "The script is there.", "attempts": 1,
            "redos": 0,
        }),
    );
}

/// The control agent receives the subtask. The agent that it chooses receives the subtask and the message of the
/// hand-off. A subtask that was handed over is recorded for the agent that completed it.
#[test]
fn whoever_works_knows_the_subtask() {
    let control = [hands("researcher", "Read the data.")];
    let mut team = team(QUIET, &["look", "script@engineer"], &[("control", &control)]);
    assert_eq!(team.chain(), "planner plan_reviewer planner control");
    let told = team.request("work/look");
    for part in [
        "Agent: researcher",
        "Find the wettest month",
        "Your part of it, `look`:\nDo look.",
        "Read the data.",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    let control = [hands("researcher", "Read the data.")];
    let (researcher, engineer) = ([says("36 rows.")], [says("Written.")]);
    let script: [(&str, &[Reply]); 3] =
        [("control", &control), ("researcher", &researcher), ("engineer", &engineer)];
    let mut team = self::team(QUIET, &["look", "script@engineer"], &script);
    assert_eq!(team.chain(), "planner plan_reviewer planner control researcher engineer");
    let agents: Vec<&str> = team.run.steps.values().map(|step| step.agent.as_str()).collect();
    assert_eq!(
        (agents, team.ended().as_str()),
        (vec!["planner", "plan_reviewer", "researcher", "engineer"], "completed done")
    );
}

/// With a mandatory checkpoint, the order is: reviewer → admin → control.
#[test]
fn a_person_stands_between_the_plan_and_the_work() {
    let gates = "gates: {plan: show, mandatory: [after_planning]}\n";
    let control = [hands("terminator", "Nothing to do.")];
    let mut team = team(gates, &["look"], &[("control", &control)]);
    assert_eq!(team.chain(), "planner plan_reviewer planner (plan_approval)");
    assert_eq!(team.decide("approve", "Mind the gaps."), "control");
    assert_eq!(team.ended(), "completed done");
    assert!(team.request("work/look").contains("Mind the gaps."));
}

/// With a question to a person, the order is: engineer → admin → engineer. The agent itself hands over to the person.
#[test]
fn the_same_agent_goes_on_after_a_person() {
    let engineer = [hands("admin", "500 files would go."), says("Done.")];
    let asked = || {
        let mut team = team(QUIET, &["clean@engineer"], &[("engineer", &engineer)]);
        assert_eq!(team.chain(), "planner plan_reviewer planner engineer (escalation)");
        team
    };
    let mut team = asked();
    assert_eq!((team.decide("continue", "").as_str(), team.ended().as_str()), ("engineer", "completed done"));
    let mut team = asked();
    assert_eq!(team.decide("instruct", "Only the logs."), "engineer");
    assert!(team.request("work/clean").contains("Only the logs."));
    let mut team = asked();
    assert_eq!(team.decide("abort", "Too risky."), "");
    assert_eq!(
        team.ended(),
        "failed aborted: `handoff_to_admin` was aborted: Too risky.\n\
         So far: 2 steps done, 0 calls made, 4 replies of models, 0 tokens, 0 s."
    );
}

/// With all gates, the order is: planner → reviewer → admin → control. Then for each step: gate before → work with a
/// gate on a call → gate after.
#[test]
fn both_layers_ask_in_their_own_places() {
    let gates = "
gates:
  plan: ask
  before_step: ask
  after_step: ask
  mandatory: [before_execution]
  rules: [{tools: [\"*\"], do: allow}]
";
    let engineer = [calls("run_command", json!({ "command": "python3 a.py" })), hands("control", "It ran.")];
    let control = [hands("engineer", "Run it."), hands("terminator", "All done.")];
    let mut team = team(gates, &["run"], &[("control", &control), ("engineer", &engineer)]);
    assert_eq!(team.chain(), "planner plan_reviewer planner (plan_approval)");
    assert_eq!(team.decide("approve", ""), "(checkpoint)", "before the step");
    assert_eq!(team.decide("approve", ""), "control engineer (tool_approval)", "inside it");
    assert_eq!(team.decide("approve", ""), "engineer control (checkpoint)", "after it");
    assert_eq!((team.decide("continue", "").as_str(), team.ended().as_str()), ("", "completed done"));
}

/// With a gate on a hand-off, the order is: control → admin → the deploying agent.
#[test]
fn a_person_stands_before_the_agent_that_deploys() {
    let team = TEAM
        .replace("handoffs: [engineer, researcher, terminator]", "handoffs: [deploy_agent, terminator]")
        + "  - {id: out, kind: one_shot, agent: deploy_agent}\ngates: {plan: show, mandatory: [before_deploy]}\n";
    let text = team.replace("phases:", "  deploy_agent: {instructions: Deploy.}\nphases:");
    let definition = parse("team.yaml", &text, &catalogue()).expect("it is good");
    let control = [hands("deploy_agent", "Out with it."), hands("terminator", "Not today.")];
    let planning = planning(&["ship"]);
    let script: Vec<(&str, &[Reply])> = planning
        .iter()
        .map(|(agent, replies)| (*agent, replies.as_slice()))
        .chain([("control", control.as_slice())])
        .collect();
    let mut team = Stage::new(Arc::new(definition), &script);
    assert_eq!(team.chain(), "planner plan_reviewer planner control (escalation)");
    assert_eq!(team.decide("instruct", "Not before Monday."), "control");
    assert!(team.request("work/ship").contains("Not before Monday."));
}

/// The message to the terminator may be any result of an agent, such as a plan or an idea.
#[test]
fn the_terminator_takes_what_a_last_word_would_be() {
    let text = "
name: thinkers
agents:
  maker: {instructions: Think., handoffs: [terminator]}
  critic: {instructions: Judge., handoffs: [terminator]}
  planner: {instructions: Plan., handoffs: [terminator]}
phases:
  - {id: ideas, kind: idea_generation, agents: {maker: maker, critic: critic}}
  - {id: plan, kind: planning, agents: {planner: planner}, workers: [maker]}
";
    let definition = parse("thinkers.yaml", text, &catalogue()).expect("it is good");
    let done = |message: &str| hands("terminator", message);
    let script: [(&str, &[Reply]); 3] = [
        ("maker", &[done("A kite."), done("A red kite.")]),
        ("critic", &[done("Bolder.")]),
        ("planner", &[done(&plans(&["fold", "fly"]).text)]),
    ];
    let mut stage = Stage::new(Arc::new(definition), &script);
    assert_eq!(stage.chain(), "maker critic maker planner (plan_approval)");
    assert!(stage.request("ideas/review_1").contains("A red kite."), "what was said last");
    assert!(stage.request("ideas/make").contains("Bolder."));
    assert_eq!((stage.decide("approve", "").as_str(), stage.ended().as_str()), ("", "completed done"));
    let result = &stage.run.ended.as_ref().expect("it has").result["phases"];
    assert_eq!(
        (&result["ideas"]["ideas"], &result["ideas"]["selected_idea"], &result["plan"]["subtasks"][1]["id"]),
        (&json!(["A kite.", "A red kite."]), &json!("A red kite."), &json!("fly"))
    );
}

/// The terminator does not end a step if another call of the same reply failed and `on_error` asks.
#[test]
fn a_failure_is_asked_about_before_the_end() {
    let gates = "gates: {plan: show, on_error: ask, rules: [{tools: [\"*\"], do: allow}]}\n";
    let text = TEAM.replace("handoffs: [control, admin]", "handoffs: [terminator]") + gates;
    let definition = Arc::new(parse("team.yaml", &text, &catalogue()).expect("it is good"));
    let mut both = calls("run_command", json!({ "command": "false" }));
    both.calls.extend(hands("terminator", "It builds.").calls);
    let asked = || {
        let engineer = [both.clone(), says("It does not build.")];
        let planning = planning(&["build@engineer"]);
        let planning = planning.iter().map(|(agent, replies)| (*agent, replies.as_slice()));
        let script: Vec<(&str, &[Reply])> = planning.chain([("engineer", engineer.as_slice())]).collect();
        let mut team = Stage::new(definition.clone(), &script);
        assert_eq!(team.chain(), "planner plan_reviewer planner engineer (error)");
        team
    };
    let output = |team: &Stage| team.run.steps["work/build"].output.clone();
    let mut team = asked();
    assert_eq!(team.decide("retry", ""), "engineer");
    assert_eq!(output(&team).as_deref(), Some("It does not build."));
    let mut team = asked();
    assert_eq!(team.decide("hand_over", "I built it."), "");
    assert_eq!(output(&team).as_deref(), Some("I built it."));
}
