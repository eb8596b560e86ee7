//! Two drivers on one journal: the one that writes later must read and decide again, and nothing starts twice.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdshort_core::id::RunId;
use holdshort_core::limits::OPEN_INTERRUPTS;
use holdshort_core::projection::Status;
use holdshort_core::run::{Input, Origin, Rejection};
use holdshort_core::system;
use holdshort_engine::Error;
use holdshort_store::{Memory, Tables};
use holdshort_testkit::clock::SimClock;
use holdshort_testkit::faulty::{Fault, Faulty};

use crate::keys::{ask, external};
use crate::stage::{Stage, command, operator, option, text, write};
use crate::world::{Say, World};

fn rivals(script: Vec<Say>) -> (Stage<Memory>, Stage<Memory>) {
    let (journal, world, clock) = (Memory::shared(), World::default(), SimClock::new(2));
    world.script("solo", script);
    let other = Arc::new(journal.join());
    let one = Stage::on(Arc::new(journal), world.clone(), clock.clone());
    (one, Stage::on(other, world, clock))
}

async fn assert_each_start_was_performed_once(stage: &Stage<Memory>, run: &RunId) {
    let told = stage.story(run).await;
    let starts = told.iter().filter(|event| event.starts_with("tool_started") || *event == "model_started");
    let performed = stage.world.performed();
    let begun: Vec<&String> = performed
        .iter()
        .filter(|action| action.starts_with("tool/") || action.starts_with("model/"))
        .collect();
    let unique: BTreeSet<&&String> = begun.iter().collect();
    assert_eq!((begun.len(), unique.len()), (starts.clone().count(), starts.count()), "{performed:#?}");
}

#[tokio::test]
async fn a_decision_taken_elsewhere_is_seen() {
    let calls = Say::Calls(vec![command("touch a"), write("b.txt", "beta")]);
    let (one, two) = rivals(vec![calls, Say::Text("Done.")]);
    let run = one.play().await;
    let [first, second] = one.open(&run).await.try_into().unwrap();
    // Both drivers have loaded the run. Each decides without knowing the decision of the other driver.
    two.send(&run, Input::Tick).await.unwrap();
    two.decide(&run, &first.opened.interrupt, option("approve")).await.unwrap();
    one.decide(&run, &second.opened.interrupt, option("approve")).await.unwrap();
    one.send(&run, Input::Message { text: "hurry".into() }).await.unwrap();
    two.send(&run, Input::Message { text: "slowly".into() }).await.unwrap();
    one.world.settle().await;
    assert_eq!(one.world.effects(), ["run:touch a", "write:b.txt=beta"]);
    assert_eq!(one.status(&run).await, Status::Completed);
    assert_each_start_was_performed_once(&one, &run).await;
}

#[tokio::test]
async fn a_conflict_in_the_middle_of_a_call_does_not_run_it_again() {
    let calls = Say::Calls(vec![command("touch a"), command("touch b")]);
    let (one, two) = rivals(vec![calls, Say::Text("Done.")]);
    let run = one.play().await;
    let [first, second] = one.open(&run).await.try_into().unwrap();
    one.decide(&run, &first.opened.interrupt, option("approve")).await.unwrap();
    assert_eq!(one.world.waiting(), ["tool/call_1/1"]);
    // Driver `two` writes. Driver `one` meets a conflict while its call is in flight.
    two.send(&run, Input::Message { text: "hello".into() }).await.unwrap();
    one.decide(&run, &second.opened.interrupt, option("approve")).await.unwrap();
    assert_eq!(one.world.waiting(), ["tool/call_1/1"]);
    // Driver `one` still knows which job to stop.
    one.send(&run, Input::Cancel { text: None }).await.unwrap();
    assert_eq!((one.world.waiting().len(), one.world.aborted()), (0, vec!["tool/call_1/1".to_owned()]));
}

#[tokio::test]
async fn the_same_decision_at_both_is_taken_once() {
    let (one, two) = rivals(vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    let run = one.play().await;
    let shown = one.only_open(&run).await.opened.interrupt;
    let (left, right) = tokio::join!(
        one.decide(&run, &shown, option("approve")),
        two.decide(&run, &shown, option("approve")),
    );
    left.unwrap();
    right.unwrap();
    one.world.settle().await;
    assert_eq!(one.world.effects(), ["run:touch a"]);
    assert_each_start_was_performed_once(&one, &run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_deciders_exactly_one_wins() {
    let (one, two) = rivals(vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    let run = one.play().await;
    let shown = one.only_open(&run).await.opened.interrupt;
    let deciders: Vec<_> = (0..20)
        .map(|n| {
            let driver = if n % 2 == 0 { one.driver.clone() } else { two.driver.clone() };
            let (run, interrupt) = (run.clone(), shown.clone());
            let decision = text("respond", &format!("answer {n}"));
            tokio::spawn(async move {
                let input = Input::Decide { interrupt, decision, holder: None };
                driver.send(&run, input, operator()).await
            })
        })
        .collect();
    let mut won = 0;
    for decider in deciders {
        match decider.await.unwrap() {
            Ok(_) => won += 1,
            Err(Error::Rejected(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(won, 1);
    one.world.settle().await;
    assert_eq!(one.status(&run).await, Status::Completed);
    assert_each_start_was_performed_once(&one, &run).await;
}

#[tokio::test]
async fn everything_at_once_converges() {
    for seed in 0..20 {
        let calls = Say::Calls(vec![command("touch a"), write("b.txt", "beta"), command("touch c")]);
        let (one, two) = rivals(vec![calls, Say::Text("Done.")]);
        let run = one.play().await;
        let mut dice = seed;
        let mut roll = |sides: u64| {
            dice = holdshort_testkit::clock::mix(dice);
            dice % sides
        };
        for _ in 0..200 {
            let stage = if roll(2) == 0 { &one } else { &two };
            let open = one.open(&run).await;
            match (roll(4), one.world.take(), open.first()) {
                (0 | 1, Some((job, deliver)), _) => deliver(stage.world.work(&job)).await.unwrap(),
                (_, Some((job, deliver)), open) => {
                    // The job stays in flight while a person decides.
                    if let Some(open) = open {
                        stage.decide(&run, &open.opened.interrupt, option("approve")).await.unwrap();
                    }
                    deliver(stage.world.work(&job)).await.unwrap();
                }
                (2, None, Some(open)) => {
                    stage.decide(&run, &open.opened.interrupt, option("approve")).await.unwrap();
                }
                (_, None, Some(_)) => drop(stage.send(&run, Input::Tick).await),
                (_, None, None) => break,
            }
        }
        let mut effects = one.world.effects();
        effects.sort();
        assert_eq!(effects, ["run:touch a", "run:touch c", "write:b.txt=beta"], "seed {seed}");
        assert_eq!(two.status(&run).await, Status::Completed, "seed {seed}");
        assert_each_start_was_performed_once(&one, &run).await;
    }
}

#[tokio::test]
async fn what_others_wrote_is_read_before_anybody_is_refused() {
    let (one, two) = rivals(vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    let run = one.start().await;
    drop(two.send(&run, Input::Tick).await);
    one.world.settle().await;
    let shown = one.only_open(&run).await.opened.interrupt;
    two.decide(&run, &shown, option("approve")).await.unwrap();
    one.world.settle().await;
    assert_eq!(two.status(&run).await, Status::Completed);
    assert_each_start_was_performed_once(&one, &run).await;
}

/// A sweep stops the jobs of a run that another node cancelled. No lease names the run any more, because the append
/// that ends a run also ends its lease.
#[tokio::test]
async fn what_another_node_cancelled_is_stopped_by_a_sweep() {
    let (one, two) = rivals(vec![Say::Calls(vec![command("touch a")])]);
    let run = one.play().await;
    let shown = one.only_open(&run).await.opened.interrupt;
    one.decide(&run, &shown, option("approve")).await.unwrap();
    two.send(&run, Input::Cancel { text: None }).await.unwrap();
    assert_eq!(one.driver.claim().await.unwrap(), 0);
    assert_eq!(one.world.waiting(), ["tool/call_1/1"]);
    one.driver.sweep().await.unwrap();
    assert_eq!((one.world.waiting().len(), one.world.aborted()), (0, vec!["tool/call_1/1".to_owned()]));
}

#[tokio::test]
async fn an_agent_is_not_refused_for_what_another_node_resolved() {
    let (one, two) = rivals(Vec::new());
    let start = external(Origin::External, None, None);
    let run = one.driver.start(start, operator()).await.unwrap().run;
    let asked = async || one.driver.ask(&run, ask("Which?"), None, operator()).await;
    let first = asked().await.unwrap().interrupt.unwrap();
    for _ in 1..OPEN_INTERRUPTS {
        asked().await.unwrap();
    }
    assert!(matches!(asked().await, Err(Error::Rejected(Rejection::Limit { .. }))));
    two.decide(&run, &first, text("answer", "yes")).await.unwrap();
    asked().await.unwrap();
}

#[tokio::test]
async fn a_freeze_that_another_node_lifted_is_no_freeze() {
    let (one, two) = rivals(Vec::new());
    for (stage, input, frozen) in [
        (&one, system::Input::freeze("a look is needed"), true),
        (&two, system::Input::unfreeze(), false),
        (&one, system::Input::freeze("a look is needed"), true),
    ] {
        stage.driver.change_system(input, operator()).await.unwrap();
        assert_eq!(two.driver.system().await.unwrap().freezes.all.is_some(), frozen);
    }
}

/// Reading a run reads nothing from the store while a decision on the run is being written.
#[tokio::test]
async fn a_run_is_read_while_a_decision_on_it_is_written() {
    let (stage, journal, run) = waiting_on_a_faulty_journal().await;
    let before = stage.driver.current(&run).await.expect("it is loaded");
    journal.fail([Fault::Held]);
    let input = Input::Message { text: "quickly".to_owned() };
    let mut sent = Box::pin(stage.driver.send(&run, input, operator()));
    assert!(futures::poll!(&mut sent).is_pending(), "it is being written");
    let meanwhile = stage.driver.glance(&run).expect("nobody waits for who is at it");
    assert_eq!(meanwhile.seq, before.seq);
    // The caller disconnects. The append may still be written, so the state in memory is uncertain.
    drop(sent);
    assert!(stage.driver.glance(&run).is_none());
    journal.write_held().await.remove(0).unwrap();
    let after = stage.driver.now(&run).await.unwrap();
    assert_eq!(after.seq, before.seq + 1);
}

/// A read never combines a row from the journal with an older state of the run in memory.
#[tokio::test]
async fn what_the_journal_has_is_not_told_as_it_was_before() {
    let (stage, journal, run) = waiting_on_a_faulty_journal().await;
    let before = stage.driver.current(&run).await.expect("it is loaded");
    let [asked] = stage.open(&run).await.try_into().unwrap();
    let interrupt = asked.opened.interrupt;
    journal.fail([Fault::LateAnswer]);
    let decide = Input::Decide { interrupt: interrupt.clone(), decision: option("approve"), holder: None };
    let mut sent = Box::pin(stage.driver.send(&run, decide, operator()));
    assert!(futures::poll!(&mut sent).is_pending(), "it is written, and nobody was told");
    assert!(!journal.interrupt(&interrupt).await.unwrap().unwrap().open);
    assert!(stage.driver.current(&run).await.is_none());
    assert!(stage.driver.current_asker(&interrupt).await.is_none());
    journal.answer();
    sent.await.unwrap();
    for after in [stage.driver.current(&run).await, stage.driver.current_asker(&interrupt).await] {
        assert!(after.expect("it is loaded").seq > before.seq);
    }
}

async fn waiting_on_a_faulty_journal() -> (Stage<Faulty<Memory>>, Arc<Faulty<Memory>>, RunId) {
    let world = World::default();
    world.script("solo", vec![Say::Calls(vec![command("make x")]), Say::Text("Done.")]);
    let journal = Arc::new(Faulty::new(Arc::new(Memory::new())));
    let stage = Stage::on(journal.clone(), world, SimClock::new(7));
    let run = stage.play().await;
    (stage, journal, run)
}
