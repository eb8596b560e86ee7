//! A store that fails for a while: no result is lost, and no side effect happens twice.

use std::sync::Arc;

use holdshort_core::projection::Status;
use holdshort_core::system;
use holdshort_engine::Error;
use holdshort_store::Memory;
use holdshort_testkit::clock::SimClock;
use holdshort_testkit::faulty::{Fault, Faulty};

use crate::stage::{Stage, command, operator, option};
use crate::world::{Say, World};

fn failing() -> (Arc<Faulty<Memory>>, Stage<Faulty<Memory>>) {
    let world = World::default();
    world.script("solo", vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    let journal = Arc::new(Faulty::new(Arc::new(Memory::new())));
    (journal.clone(), Stage::on(journal, world, SimClock::new(3)))
}

#[tokio::test]
async fn an_answer_that_the_store_refuses_is_brought_again() {
    for fault in [Fault::Full, Fault::LostAnswer] {
        let (journal, stage) = failing();
        let run = stage.play().await;
        let shown = stage.only_open(&run).await.opened.interrupt;
        stage.decide(&run, &shown, option("approve")).await.unwrap();
        let (job, deliver) = stage.world.take().unwrap();
        let answer = stage.world.work(&job);
        journal.fail([fault; 3]);
        let mut refused = 0;
        while let Err(error) = deliver(answer.clone()).await {
            assert!(matches!(error, Error::Store(_)), "{error}");
            refused += 1;
        }
        assert_eq!(refused, if fault == Fault::Full { 3 } else { 1 });
        journal.heal();
        stage.world.settle().await;
        assert_eq!(
            (stage.world.effects().len(), stage.status(&run).await),
            (1, Status::Completed),
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn a_decision_that_the_store_refuses_changes_nothing() {
    let (journal, stage) = failing();
    let run = stage.play().await;
    let shown = stage.only_open(&run).await.opened.interrupt;
    journal.fail([Fault::Full]);
    let refused = stage.decide(&run, &shown, option("approve")).await;
    assert!(matches!(refused, Err(Error::Store(holdshort_store::Error::Full))), "{refused:?}");
    assert_eq!((stage.open(&run).await.len(), stage.world.waiting().len()), (1, 0));
    stage.decide_only(&run, option("approve")).await;
    assert_eq!((stage.world.effects().len(), stage.status(&run).await), (1, Status::Completed));
}

#[tokio::test]
async fn a_decision_whose_answer_got_lost_is_repeated_without_harm() {
    let (journal, stage) = failing();
    let run = stage.play().await;
    let shown = stage.only_open(&run).await.opened.interrupt;
    journal.fail([Fault::LostAnswer]);
    let lost = stage.decide(&run, &shown, option("approve")).await;
    assert!(matches!(lost, Err(Error::Store(_))), "{lost:?}");
    stage.decide(&run, &shown, option("approve")).await.unwrap();
    stage.world.settle().await;
    assert_eq!((stage.world.effects().len(), stage.status(&run).await), (1, Status::Completed));
}

#[tokio::test]
async fn a_start_that_the_store_refuses_leaves_nothing_behind() {
    let (journal, stage) = failing();
    journal.fail([Fault::Full]);
    let refused = stage.try_start(crate::stage::SOLO, None, None, "x").await;
    assert!(matches!(refused, Err(Error::Store(holdshort_store::Error::Full))), "{refused:?}");
    assert_eq!((stage.world.waiting().len(), stage.driver.loaded_runs()), (0, 0));
}

#[tokio::test]
async fn a_start_whose_answer_got_lost_goes_on_also_where_the_store_is_shared() {
    let world = World::default();
    world.script("solo", vec![Say::Text("Done.")]);
    let journal = Arc::new(Faulty::new(Arc::new(Memory::shared())));
    let stage = Stage::on(journal.clone(), world, SimClock::new(3));
    journal.fail([Fault::LostAnswer]);
    let lost = stage.try_start(crate::stage::SOLO, None, None, "x").await;
    assert!(matches!(lost, Err(Error::Store(_))), "{lost:?}");
    assert_eq!(stage.world.waiting().len(), 0);
    stage.driver.sweep().await.unwrap();
    assert_eq!(stage.world.waiting().len(), 1);
}

#[tokio::test]
async fn a_freeze_whose_answer_got_lost_is_a_freeze() {
    let (journal, stage) = failing();
    let run = stage.play().await;
    let shown = stage.only_open(&run).await.opened.interrupt;
    assert!(stage.driver.system().await.unwrap().freezes.all.is_none());
    journal.fail([Fault::LostAnswer]);
    let lost = stage.driver.change_system(system::Input::freeze("a look is needed"), operator()).await;
    assert!(matches!(lost, Err(Error::Store(_))), "{lost:?}");
    assert!(stage.driver.system().await.unwrap().freezes.all.is_some());
    stage.decide(&run, &shown, option("approve")).await.unwrap();
    assert_eq!(stage.world.waiting().len(), 0);
}
