//! Runs with seeded random inputs: they never panic, no event follows the end of a run, every run finishes or waits,
//! and a replay yields the live state. The seed of a failure reproduces it.

use holdshort_core::actor::Actor;
use holdshort_core::definition::{Agent, Copilot, Definition, Judge, KindGate, PhaseKind, PlanGate, Smart};
use holdshort_core::interrupt::{About, Decision, Effect, Kind, Reminders};
use holdshort_core::message::{Arguments, FailureKind, Reply, RequestedCall, Stop, Usage};
use holdshort_core::policy::{ChangeScope, Rule, RuleAction};
use holdshort_core::projection::Status;
use holdshort_core::routing::Mode;
use holdshort_core::run::{Action, Ask, Begin, Call, Config, Input, Origin};
use holdshort_core::tool::{InspectionOutcome, Outcome, TrialOutcome};
use serde_json::{Value, json};

use crate::events::{reread, twice};
use crate::handoffs::{TO_ADMIN, TO_PAIR, TO_TERMINATOR, TO_WRITER};
use crate::pairs::inputs;
use crate::world::{self, Answer, World, fails, one_shot, rule, says, with_client_tools};

/// Random number generator (xorshift64*) that yields the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let value = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(value).unwrap_or(0) % sides
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.roll(items.len())]
    }
}

fn some_definition(dice: &mut Dice) -> Definition {
    let base = if dice.one_in(2) { world::handing_over() } else { world::definition() };
    let mut definition = with_client_tools(base);
    if dice.one_in(2) {
        definition.gates.rules.push(world::allow(&["client_read"]));
    }
    definition.phases = vec![one_shot("work", &[]), one_shot("b", &[]), one_shot("c", &["work"])];
    if dice.one_in(3) {
        definition.phases.insert(1, world::checkpoint("look", &["work"]));
    }
    if dice.one_in(3) {
        let router = Agent { tools: Vec::new(), ..definition.agents["pair"].clone() };
        definition.agents.insert("router".to_owned(), router);
        definition.phases[0].kind = PhaseKind::Copilot(some_copilot(dice));
    }
    for phase in &mut definition.phases {
        phase.gates.before_step = dice.one_in(4);
        phase.gates.after_step = dice.one_in(4);
        phase.gates.on_error = dice.one_in(2);
        phase.limits.rounds = 2 + u32::try_from(dice.roll(6)).unwrap_or(0);
        phase.limits.tool_calls = 3 + u32::try_from(dice.roll(9)).unwrap_or(0);
    }
    definition.asking.enabled = !dice.one_in(5);
    definition.gates.plan = if dice.one_in(2) { PlanGate::Ask } else { PlanGate::Show };
    if dice.one_in(2) {
        definition.gates.rules.push(rule(RuleAction::Allow, &["run_command"], &["make *"]));
    }
    if dice.one_in(3) {
        let action = *dice.pick(&[RuleAction::Ask, RuleAction::Forbid]);
        definition.gates.rules.push(rule(action, &[TO_PAIR, TO_TERMINATOR], &[]));
    }
    definition.gates.trial = dice.one_in(2);
    if dice.one_in(3) {
        let changes =
            Some(dice.pick(&[ChangeScope::None, ChangeScope::Paths(vec!["f1".to_owned()])]).clone());
        let action = *dice.pick(&[RuleAction::Allow, RuleAction::Ask, RuleAction::Forbid]);
        definition.gates.rules.insert(0, Rule { changes, ..rule(action, &[], &[]) });
    }
    if dice.one_in(3) {
        let judge = if dice.one_in(4) { Judge::Off } else { Judge::Run };
        definition.gates.smart = Some(Smart { judge, ..Smart::default() });
    }
    for kind in Kind::ALL {
        if dice.one_in(3) {
            definition.gates.kinds.insert(kind, some_gate(kind, dice));
        }
        for phase in &mut definition.phases {
            if dice.one_in(8) {
                phase.kinds.insert(kind, some_gate(kind, dice));
            }
        }
    }
    definition
}

fn some_copilot(dice: &mut Dice) -> Copilot {
    let routing = (!dice.one_in(3)).then(|| *dice.pick(&[Mode::Minimal, Mode::Balanced, Mode::Aggressive]));
    let conversational = dice.one_in(2);
    Copilot {
        agent: "pair".to_owned(),
        routing,
        router: routing.and_then(|_| dice.one_in(2).then(|| "router".to_owned())),
        conversational,
        satisfaction: !conversational && dice.one_in(2),
        simple_words: dice.one_in(2).then_some(3),
        ..Copilot::default()
    }
}

fn some_gate(kind: Kind, dice: &mut Dice) -> KindGate {
    let rows = kind.row().options;
    KindGate {
        expires_in_ms: Some(2 + dice.roll(50_000) as u64),
        on_expiry: rows.get(dice.roll(8)).map(|row| row.id.to_owned()),
        reject: Some(*dice.pick(&[Effect::EndTurn, Effect::FailRun, Effect::Refuse, Effect::Proceed])),
        reminders: dice.one_in(3).then(|| Reminders {
            after_ms: 1,
            every_ms: dice.one_in(2).then(|| 1 + dice.roll(9_000) as u64),
            limit: 1 + u32::try_from(dice.roll(4)).unwrap_or_default(),
        }),
        ..KindGate::default()
    }
}

fn some_call(dice: &mut Dice) -> RequestedCall {
    let n = dice.roll(3);
    let (tool, arguments) = match dice.roll(17) {
        0..3 => ("read_file", json!({ "path": format!("f{n}") })),
        3..5 => ("write_file", json!({ "path": format!("f{n}"), "content": format!("{n}") })),
        5 => {
            let line = *dice.pick(&[
                "make x",
                "git push",
                "ls",
                "make $X",
                "./do f0=x",
                "./do f1=y -f2",
                "./do -f0",
            ]);
            ("run_command", json!({ "command": line }))
        }
        6 => ("ask_human", json!({ "question": "Which?" })),
        7 => ("create_plan", json!({ "subtasks": [{ "id": "1", "description": "do" }] })),
        8 => ("request_review", json!({ "title": "t", "content": "c" })),
        9 => ("client_read", json!({ "path": format!("f{n}") })),
        10 => ("client_write", json!({ "path": format!("f{n}"), "content": format!("{n}") })),
        11..16 => {
            let to = *dice.pick(&[TO_WRITER, TO_PAIR, TO_WRITER, TO_PAIR, TO_ADMIN, TO_TERMINATOR]);
            (to, if dice.one_in(2) { json!({}) } else { json!({ "message": format!("{n}") }) })
        }
        _ => ("nonsense", json!({ "n": u64::MAX })),
    };
    let arguments =
        if dice.one_in(12) { Arguments::Malformed("{".to_owned()) } else { Arguments::Json(arguments) };
    RequestedCall { tool: tool.to_owned(), arguments }
}

fn some_reply(dice: &mut Dice) -> Answer {
    match dice.roll(11) {
        0 => fails(*dice.pick(&[FailureKind::Unavailable, FailureKind::Rejected, FailureKind::RateLimited])),
        1 if dice.one_in(3) => says("Done.").map(|reply| Reply { stop: Stop::Filtered, ..reply }),
        1 => says("Done."),
        2 => says("Which one?"),
        3 => says(""),
        4 => says(r#"{"escalate": true, "reasons": ["it guesses"]}"#),
        5 => says(r#"{"escalate": false, "reasons": []}"#),
        6 => says(dice.pick::<&str>(&[
            r#"{"route_type": "direct", "complexity": 20}"#,
            r#"{"route_type": "clarify"}"#,
            r#"{"route_type": "propose"}"#,
        ])),
        _ => Ok(Reply {
            text: "I will.".to_owned(),
            calls: (0..=dice.roll(4)).map(|_| some_call(dice)).collect(),
            usage: Usage { input_tokens: u64::MAX, output_tokens: 1 },
            model: "m".to_owned(),
            stop: if dice.one_in(8) { Stop::Cut } else { Stop::Whole },
        }),
    }
}

fn some_decision(dice: &mut Dice, world: &World) -> Option<Input> {
    let open: Vec<_> = world.run.open_interrupts().collect();
    let (id, interrupt) = *open.get(dice.roll(open.len().max(1)))?;
    let choice = dice.pick(&interrupt.opened.options);
    let edit = match interrupt.opened.kind {
        Kind::ToolApproval => json!({ "path": "f1", "content": "edited" }),
        Kind::PlanApproval => json!({ "subtasks": [{ "id": "2", "description": "other" }] }),
        _ => json!("edited"),
    };
    let decision = Decision {
        option: choice.id.clone(),
        text: (choice.needs_text || dice.one_in(2)).then(|| "so".to_owned()),
        edit: if choice.needs_edit { edit } else { Value::Null },
        ..Decision::default()
    };
    Some(Input::Decide { interrupt: id.clone(), decision, holder: None })
}

/// Returns a random next input of the run: usually one that the run expects, and sometimes any other.
fn some_input(dice: &mut Dice, world: &mut World) -> Option<(Actor, Input)> {
    let engine = Actor::engine();
    let operator = Actor::operator("rest");
    if dice.one_in(6) {
        // Any input, even if it is not due.
        let all = inputs(world);
        let (_, actor, input) = dice.pick(&all).clone();
        let drastic = matches!(input, Input::Cancel { .. });
        return (!drastic || dice.one_in(20)).then_some((actor, input));
    }
    if dice.one_in(4) {
        return some_decision(dice, world).map(|input| (operator, input));
    }
    if dice.one_in(8) {
        world.pass_ms(dice.roll(40_000) as u64);
        return Some((engine, Input::Tick));
    }
    if dice.one_in(30) {
        world.epoch += 1;
        return Some((engine, world::adopt()));
    }
    if dice.one_in(20) {
        let name = format!("f{}", dice.roll(3));
        world.files.insert(name, format!("{}", dice.roll(1_000)));
    }
    if dice.one_in(40) {
        return Some((operator, if world.run.paused { Input::Resume } else { Input::Pause }));
    }
    // Results of the calls that were started.
    let started: Vec<(String, u32)> = world
        .run
        .calls
        .iter()
        .filter(|(_, call)| matches!(call.state, holdshort_core::run::CallState::Started { epoch } if epoch == world.epoch))
        .map(|(id, call)| (id.clone(), call.attempt))
        .collect();
    if !started.is_empty() && dice.one_in(2) {
        let (call, attempt) = dice.pick(&started).clone();
        let outcome = match dice.roll(6) {
            0 => Outcome::Failed { text: "no".to_owned() },
            1 => Outcome::Changed { paths: vec!["f".to_owned()] },
            _ => world.execute(&call),
        };
        return Some((engine, Input::Ran { call, attempt, outcome }));
    }
    let trying: Vec<(String, u32)> = world
        .run
        .calls
        .iter()
        .filter(|(_, call)| call.trial.running == Some(world.epoch) && !call.is_ended())
        .map(|(id, call)| (id.clone(), call.trial.attempt))
        .collect();
    if !trying.is_empty() && dice.one_in(2) {
        let (call, attempt) = dice.pick(&trying).clone();
        let tried = match dice.roll(6) {
            0 => TrialOutcome::Impossible { why: "no".to_owned() },
            1 => TrialOutcome::Changed { paths: vec!["f".to_owned()] },
            _ => world.try_command(&call),
        };
        return Some((engine, Input::Tried { call, attempt, tried }));
    }
    let running: Vec<(String, u32)> = world
        .run
        .steps
        .iter()
        .filter(|(_, step)| step.model != holdshort_core::run::ModelCall::Idle)
        .map(|(id, step)| (id.clone(), step.turn))
        .collect();
    if !running.is_empty() && dice.one_in(2) {
        let (step, turn) = dice.pick(&running).clone();
        return Some(match some_reply(dice) {
            Ok(reply) => (engine, Input::Replied { step, turn, reply }),
            Err(failure) => (engine, Input::Failed { step, turn, failure }),
        });
    }
    let actions = world.run.actions();
    let action = actions.get(dice.roll(actions.len().max(1)))?.clone();
    Some((
        engine,
        match action {
            Action::Inspect { call, revision } => {
                let inspected = if dice.one_in(10) {
                    InspectionOutcome::Impossible { code: "not_found", message: "no".to_owned() }
                } else {
                    world.inspect(&call)
                };
                Input::Inspected { call, revision, inspected }
            }
            Action::Try { call, .. } => Input::Begin { begins: vec![Begin::Trial { call }] },
            Action::CallTool { call, .. } => Input::Begin { begins: vec![world.begin_of(&call)] },
            Action::CallModel { step, turn, .. } => {
                Input::Begin { begins: vec![Begin::Model { step, turn }] }
            }
        },
    ))
}

/// Checks the invariants of a run that hold in each of its states.
#[track_caller]
fn check(world: &World, seed: u64) {
    let run = &world.run;
    let open = run.open_interrupts().count();
    if run.ended.is_some() {
        let all_ended = run.calls.values().all(Call::is_ended);
        assert!(open == 0 && all_ended && run.actions().is_empty(), "seed {seed}: {:#?}", world.story());
    } else if run.started.is_some() && run.actions().is_empty() && !run.paused {
        // If no action is due, the run must have an open interrupt or be runnable.
        let status = run.status();
        let waited = open > 0 || run.row().is_some_and(|row| row.runnable);
        assert!(waited, "seed {seed}: nothing is due and nobody is asked ({status:?}): {:#?}", world.story());
    }
    for opened in run.interrupts.values().map(|each| &each.opened) {
        let phase = match &opened.about {
            About::Phase(phase) | About::Round(phase) => phase,
            // These interrupts are opened by a person or a service in every state of the run.
            About::Interruption | About::Hold => continue,
            _ => &run.steps[opened.step.as_ref().expect("a step asks")].phase,
        };
        let phase = run.definition.phases.iter().find(|each| each.id == *phase).expect("it is there");
        assert!(phase.kind.opens(opened.kind), "seed {seed}: `{}` opened {:?}", phase.id, opened.kind);
    }
    for step in run.steps.keys() {
        crate::turns::paired(&run.request(step).expect("a step has a request"));
    }
    assert_eq!(twice(world), Vec::<String>::new(), "seed {seed}: {:#?}", world.story());
}

#[test]
fn nothing_panics_and_everything_ends() {
    let mut ends = std::collections::BTreeMap::new();
    let (mut handed_over, mut rounds, mut asked_first) = (0, 0, 0);
    for seed in 1..=60_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut world = World::new(some_definition(&mut dice));
        let mut config = Config::default();
        config.gates.after_step = dice.one_in(8);
        world.start(config);
        for turn in 0..300 {
            let Some((actor, input)) = some_input(&mut dice, &mut world) else { continue };
            let ended = world.run.ended.is_some();
            let told = world.try_send(&actor, input).unwrap_or_default();
            assert!(!ended || told.is_empty(), "seed {seed}: {told:?} after the end");
            if turn % 10 == 0 || world.run.ended.is_some() != ended {
                check(&world, seed);
            }
        }
        reread(&world);
        handed_over += world.count("handed_over");
        rounds += world.count("round_wanted");
        asked_first += world.count("task_extended");
        *ends.entry(world.run.status()).or_insert(0) += 1;
    }
    assert!(handed_over > 0, "somebody hands over");
    assert!(rounds > 0 && asked_first > 0, "{rounds} more rounds, {asked_first} tasks asked about first");
    // The random runs must reach both of these ends.
    assert!(ends.contains_key(&Status::Completed) && ends.contains_key(&Status::Failed), "{ends:?}");
}

#[test]
fn external_runs_end_well_too() {
    for seed in 1..=60_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut world = World::new(world::external());
        let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
        start.origin = *dice.pick(&[Origin::External, Origin::ExternalOnce]);
        world.send(Input::Start(start));
        for _ in 0..60 {
            let input = match dice.roll(6) {
                0 | 1 => Some(Input::Ask(Box::new(Ask {
                    kind: *dice.pick(&Kind::ALL),
                    expires_in_ms: dice.one_in(2).then(|| dice.roll(1_000) as u64),
                    on_expiry: dice.one_in(3).then(|| "approve".to_owned()),
                    ..crate::pairs::ask()
                }))),
                2 | 3 => some_decision(&mut dice, &world),
                4 => {
                    world.pass_ms(dice.roll(1_000) as u64);
                    Some(Input::Tick)
                }
                _ => dice.one_in(10).then(|| Input::Finish { result: json!("done") }),
            };
            let Some(input) = input else { continue };
            let actor = match &input {
                Input::Ask(_) | Input::Finish { .. } => Actor::agent("a", "rest"),
                Input::Tick => Actor::engine(),
                _ => Actor::operator("rest"),
            };
            let ended = world.run.ended.is_some();
            let told = world.try_send(&actor, input).unwrap_or_default();
            assert!(!ended || told.is_empty(), "seed {seed}: {told:?} after the end");
            let open = world.run.open_interrupts().count();
            assert!(world.run.ended.is_none() || open == 0, "seed {seed}: {:#?}", world.story());
        }
        reread(&world);
    }
}
