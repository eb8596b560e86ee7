//! Current work of a run: which steps work, what the others wait for, and since when.

use holdshort_core::asking::{Asking, Deliver};
use holdshort_core::definition::Definition;
use holdshort_core::interrupt::Kind;
use holdshort_core::run::{Config, Doing, Input};
use serde_json::json;

use crate::world::{World, calls, checkpoint, choose, choose_with, definition, one_shot, says};

/// Returns a workflow with two parallel phases and a third phase that needs both. Each phase has its own agent.
fn staged(asking: Asking) -> Definition {
    let mut definition = Definition { asking, ..definition() };
    for agent in ["a", "b", "c"] {
        let same = definition.agents["pair"].clone();
        definition.agents.insert(agent.to_owned(), same);
    }
    let phase = |id: &str, needs: &[&str]| {
        let mut phase = one_shot(id, needs);
        phase.kind = holdshort_core::definition::PhaseKind::OneShot { agent: id.to_owned() };
        phase
    };
    definition.phases = vec![phase("a", &[]), phase("b", &[]), phase("c", &["a", "b"])];
    definition
}

fn world(asking: Asking) -> World {
    let ask = || calls(&[("ask_human", json!({ "question": "Which?" }))]);
    let mut world = World::new(staged(asking))
        .with("a", vec![ask(), says("A.")])
        .with("b", vec![calls(&[crate::world::read("a.txt")]), says("B.")])
        .with("c", vec![says("C.")]);
    world.start(Config::default());
    world
}

/// Formats the current work, such as `a: thinks, 2 s`, with the seconds since the start of the activity.
fn describe_work(world: &World) -> Vec<String> {
    let told = world.run.work().into_iter().map(|work| {
        let doing = match work.doing {
            Doing::Thinks => "thinks".to_owned(),
            Doing::Acts(tools) => format!("acts {}", tools.join(" ")),
            Doing::Begins => "begins".to_owned(),
            Doing::Asks(open) => format!("asks {}", open.len()),
            Doing::Gathers(agents) => format!("gathers {}", agents.join(" ")),
            Doing::Held(agents) => format!("held {}", agents.join(" ")),
            Doing::Needs(phases) => format!("needs {}", phases.join(" ")),
            Doing::Rests => "rests".to_owned(),
        };
        let since = work.since.map(|since| format!(", {} s", world.now.ms_since(since) / 1_000));
        format!("{}: {doing}{}", work.agent.unwrap_or(work.phase), since.unwrap_or_default())
    });
    told.collect()
}

fn reply(world: &mut World, step: &str) {
    let said = world.script.get_mut(step).and_then(std::collections::VecDeque::pop_front).expect("it speaks");
    let turn = world.run.steps[step].turn;
    world.answer(step, turn, said);
}

#[test]
fn a_question_that_is_kept_back_waits_for_who_works() {
    let mut world = world(Asking { deliver: Deliver::PerStage, ..Asking::default() });
    assert_eq!(describe_work(&world), ["a: begins, 0 s", "b: begins, 0 s", "c: needs a b"]);
    world.begin_model("a");
    world.begin_model("b");
    world.pass_ms(2_000);
    assert_eq!(describe_work(&world), ["a: thinks, 2 s", "b: thinks, 2 s", "c: needs a b"]);
    reply(&mut world, "a");
    world.pass_ms(1_000);
    assert_eq!(describe_work(&world), ["a: gathers b, 1 s", "b: thinks, 3 s", "c: needs a b"]);
    // Between a reply and the start of its call, the step continues without a person.
    reply(&mut world, "b");
    world.work();
    assert_eq!(describe_work(&world), ["a: asks 1, 0 s", "c: needs a"]);
    world.pass_ms(60_000);
    assert_eq!(describe_work(&world), ["a: asks 1, 60 s", "c: needs a"]);
    world.decide(Kind::Question, choose_with("answer", "The left one."));
    world.work();
    assert!(describe_work(&world).is_empty(), "nothing of a run that has ended");
}

#[test]
fn who_is_held_waits_for_the_answer_to_another_one() {
    let mut world = world(Asking { pause_siblings: true, ..Asking::default() });
    world.begin_model("a");
    world.pass_ms(2_000);
    reply(&mut world, "a");
    world.pass_ms(3_000);
    assert_eq!(describe_work(&world), ["a: asks 1, 3 s", "b: held a, 3 s", "c: needs a b"]);
    world.person(Input::Pause);
    assert_eq!(describe_work(&world)[1], "b: rests, 5 s");
}

#[test]
fn a_checkpoint_waits_for_a_person() {
    let definition =
        Definition { phases: vec![checkpoint("look", &[]), one_shot("work", &["look"])], ..definition() };
    let mut world = World::started(definition, vec![says("Done.")]);
    world.pass_ms(4_000);
    assert_eq!(describe_work(&world), ["look: asks 1, 4 s", "pair: needs look"]);
    world.decide(Kind::Checkpoint, choose("approve"));
    assert_eq!(describe_work(&world), ["pair: begins, 0 s"]);
}
