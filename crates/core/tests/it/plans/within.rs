//! Plans of agents for their own step, plans that a person sends at a checkpoint, and the effect of a rejection.

use holdshort_core::actor::Actor;
use holdshort_core::definition::{
    Agent, CheckpointPhase, EndCondition, Phase, PhaseKind, Planning, StepGates,
};
use holdshort_core::interrupt::{Decision, Effect, Kind, Refusal};
use holdshort_core::message::{Arguments, Reply, RequestedCall};
use holdshort_core::policy::Checkpoint;
use holdshort_core::projection::Status;
use holdshort_core::run::{Input, Rejection};
use serde_json::{Value, json};

use super::{approved, at_work, ended, gated, plan_of, planned, planning, proposes, request, say, subtask};
use crate::world::{World, calls, choose_with, definition, edit, one_shot, says};

/// The plan tool refuses a plan within a subtask without asking a person, because such a plan would never be carried
/// out (contracts B5, B8).
#[test]
fn no_plan_is_made_within_a_subtask() {
    let mut definition = gated(StepGates { on_error: true, ..StepGates::default() });
    definition.agents.get_mut("writer").expect("it is there").tools.push("create_plan".to_owned());
    let mut part = subtask("a", &[]);
    part["agent"] = json!("writer");
    let nested = calls(&[("create_plan", plan_of(&[subtask("x", &[])]))]);
    let mut world = approved(definition, &[part]).with("work/a", vec![nested]);
    world.work();
    assert_eq!((world.count("plan_proposed"), world.open_kinds().len()), (0, 0));
    assert!(request(&world, "work/a").contains("cannot make a plan for this part"), "the agent hears why");
    say(&mut world, "work/a", "I did it myself.");
    assert_eq!(ended(&world), Some((Status::Completed, "done")));

    let with_reviewer = Planning { reviewer: Some("reviewer".to_owned()), reviews: 1, ..planning() };
    let mut definition = planned(with_reviewer);
    definition.agents.get_mut("reviewer").expect("it is there").tools.push("create_plan".to_owned());
    let better = calls(&[("create_plan", plan_of(&[subtask("x", &[])]))]);
    let mut world = World::started(definition, Vec::new())
        .with("plan/plan", vec![proposes(&[subtask("a", &[])])])
        .with("plan/review_1", vec![better]);
    world.work();
    assert_eq!((world.count("plan_proposed"), world.open_kinds().len()), (0, 0), "nor by who judges one");
}

/// A plan for an agent's own step, also as edited by a person, may name only this agent and the agents to which it can
/// hand over.
#[test]
fn a_plan_of_ones_own_names_those_who_can_come_to_work_on_it() {
    let named = |agent: &str| {
        let mut part = subtask("a", &[]);
        part["agent"] = json!(agent);
        plan_of(&[part])
    };
    let mut definition = crate::world::handing_over();
    definition.agents.insert(
        "stranger".to_owned(),
        Agent {
            instructions: "Wait.".to_owned(),
            asking_instructions: None,
            model: None,
            tools: Vec::new(),
            ends: EndCondition::Reply,
        },
    );
    let script =
        vec![calls(&[("create_plan", named("stranger"))]), calls(&[("create_plan", named("writer"))])];
    let mut world = World::started(definition, script);
    world.work();
    assert!(request(&world, "work").contains("no agent is called `stranger`"));
    let interrupt = world.open(Kind::PlanApproval);
    let input = Input::Decide { interrupt, decision: edit(named("stranger")), holder: None };
    let refused = world.try_send(&Actor::operator("rest"), input);
    assert!(refused.is_err(), "{refused:?}");
    world.decide(Kind::PlanApproval, edit(named("pair")));
}

/// A plan that a person sends at a checkpoint before the work replaces the settled plan. Any other text goes to later
/// steps (contract A12, case 05).
#[test]
fn an_edit_at_a_checkpoint_is_the_plan_that_is_carried_out() {
    let looked_at = || {
        let mut definition = planned(planning());
        let look = CheckpointPhase { message: "Look.".into(), edit: true, ..CheckpointPhase::default() };
        definition
            .phases
            .insert(1, Phase { kind: PhaseKind::Checkpoint(look), ..one_shot("look", &["plan"]) });
        definition.phases[2].needs = vec!["look".to_owned()];
        approved(definition, &[subtask("a", &[]), subtask("b", &["a"])])
    };
    let only =
        json!({ "sub_tasks": [{ "sub_task": "ONLY", "sub_task_agent": "writer", "bullet_points": [] }] });
    let plans = [
        plan_of(&[subtask("s1", &[])]),
        only.clone(),
        json!({ "plan": only }),
        json!({ "plan": only.to_string() }),
        json!(only.to_string()),
        only["sub_tasks"].clone(),
    ];
    for sent in plans {
        let mut world = looked_at();
        world.decide(Kind::Checkpoint, Decision { text: Some("in short".into()), ..edit(sent.clone()) });
        assert_eq!(at_work(&world), "work/s1", "{sent}");
        let plan = &world.run.plans["plan"];
        assert_eq!((plan.versions.len(), plan.settled), (2, Some(2)), "{sent}");
        let heard = request(&world, "work/s1");
        assert!(heard.contains("in short") && !heard.contains("do b"), "{heard}");
        say(&mut world, "work/s1", "Done.");
        assert_eq!(ended(&world), Some((Status::Completed, "done")), "{sent}");
    }
    let mut world = looked_at();
    world.decide(Kind::Checkpoint, edit(json!({ "plan": only, "dates": "ISO" })));
    assert!(request(&world, "work/s1").contains("ISO"), "what stands beside the plan is not lost");
    for said in [
        json!({ "dates": "ISO" }),
        json!("1. Mind the units\n2. And the dates"),
        json!({ "plan": "shorter" }),
    ] {
        let mut world = looked_at();
        world.decide(Kind::Checkpoint, edit(said.clone()));
        assert_eq!(
            (at_work(&world).as_str(), world.run.plans["plan"].versions.len()),
            ("work/a", 1),
            "{said}"
        );
        assert!(request(&world, "work/a").contains("to be different"), "{said}");
    }
    let mut stranger = subtask("s1", &[]);
    stranger["agent"] = json!("nobody");
    let mut more = subtask("s1", &[]);
    more["colour"] = json!("red");
    let refused = [
        (plan_of(&[]), "/edit/subtasks"),
        (plan_of(&[stranger.clone()]), "/edit/subtasks/0/agent"),
        (json!({ "plan": [stranger] }), "/edit/subtasks/0/agent"),
        (plan_of(&[more]), "/edit/subtasks/0"),
    ];
    let mut world = looked_at();
    let interrupt = world.open(Kind::Checkpoint);
    for (sent, pointer) in refused {
        let input =
            Input::Decide { interrupt: interrupt.clone(), decision: edit(sent.clone()), holder: None };
        let refused = world.try_send(&Actor::operator("rest"), input);
        let Err(Rejection::Refused(Refusal::Invalid(problems))) = refused else {
            panic!("{sent}: {refused:?}")
        };
        assert_eq!(problems[0].pointer, pointer, "{problems:?}");
    }
    assert!(world.run.interrupts[&interrupt].is_open());
}

/// A rejection at the mandatory checkpoint after planning fails the run, also for an agent's plan for its own step. The
/// workflow can choose another effect (contracts A3, A6).
#[test]
fn a_rejection_at_the_mandatory_checkpoint_ends_the_run() {
    let rejected = |must: bool, says: Option<Effect>| {
        let mut definition = definition();
        if must {
            definition.gates.mandatory.insert(Checkpoint::AfterPlanning);
        }
        definition.gates.kinds.entry(Kind::PlanApproval).or_default().reject = says;
        let script = vec![calls(&[("create_plan", plan_of(&[subtask("a", &[])]))])];
        let mut world = World::started(definition, script);
        world.work();
        world.decide(Kind::PlanApproval, choose_with("reject", "wrong"));
        ended(&world).map(|(status, reason)| (status, reason.to_owned()))
    };
    let failed = Some((Status::Failed, "rejected".to_owned()));
    assert_eq!(rejected(true, None), failed);
    assert_eq!(rejected(true, Some(Effect::DropPlan)), None, "the agent goes on without it");
    assert_eq!(rejected(false, None), None);
    assert_eq!(rejected(false, Some(Effect::FailRun)), failed);
}

/// Contract A8: the plan tool accepts every format that a planner may use, and every subtask gets an agent.
#[test]
fn the_tool_takes_a_plan_in_many_forms() {
    let step = json!({ "id": 1, "description": "x", "dependencies": [], "estimated_time": "5 min" });
    let forms = [
        json!({ "subtasks": [step.clone()] }),
        json!({ "subtasks": json!([step]).to_string() }),
        json!({ "subtasks": ["x"] }),
        json!({ "sub_tasks": [{ "sub_task": "x", "sub_task_agent": "pair", "bullet_points": [] }] }),
    ];
    let sent = |arguments: Arguments| {
        let call = RequestedCall { tool: "create_plan".to_owned(), arguments };
        Ok(Reply { calls: vec![call], ..says("").expect("a reply") })
    };
    let twice = Value::String(json!({ "subtasks": ["x"] }).to_string()).to_string();
    let forms: Vec<Arguments> =
        forms.into_iter().map(Arguments::Json).chain([Arguments::Malformed(twice)]).collect();
    for form in forms {
        let mut with_tool = planned(planning());
        with_tool.agents.get_mut("planner").expect("it is there").tools.push("create_plan".to_owned());
        let mut world = World::started(with_tool, Vec::new()).with("plan/plan", vec![sent(form.clone())]);
        world.work();
        let plan = &world.run.interrupts[&world.open(Kind::PlanApproval)].content["payload"]["plan"];
        let part = &plan["subtasks"][0];
        assert_eq!((&part["description"], &part["agent"]), (&json!("x"), &json!("pair")), "{form:?}");

        let mut world = World::started(definition(), vec![sent(form.clone())]);
        world.work();
        assert_eq!(world.open_kinds(), ["plan_approval"], "{form:?}");
    }
    for refused in [Arguments::Malformed("1. Look\n2. Write".into()), Arguments::Json(json!({ "tasks": [] }))]
    {
        let mut world = World::started(definition(), vec![sent(refused.clone())]);
        world.work();
        assert_eq!(world.open_kinds().len(), 0, "{refused:?}");
    }
}
