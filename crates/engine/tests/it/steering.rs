//! Actions of a person on a run: send a message, pause, cancel.

use holdshort_core::actor::Actor;
use holdshort_core::interrupt::Outcome;
use holdshort_core::projection::Status;
use holdshort_core::run::{Input, Rejection};
use holdshort_engine::Error;

use crate::stage::{Stage, command, option, read};
use crate::world::Say;

#[tokio::test]
async fn cancel_stops_what_is_under_way() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("sleep 9")]), Say::Text("Done.")]);
    let run = stage.play().await;
    let shown = stage.only_open(&run).await.opened.interrupt;
    stage.decide(&run, &shown, option("approve")).await.unwrap();
    let (job, deliver) = stage.world.take().unwrap();
    stage.send(&run, Input::Cancel { text: Some("enough".into()) }).await.unwrap();
    assert_eq!(stage.world.aborted(), ["tool/call_1/1"]);
    // The late result is dropped.
    deliver(stage.world.work(&job)).await.unwrap();
    let run = stage.run(&run).await;
    let ended = run.ended.clone().unwrap();
    assert_eq!((ended.status, ended.text.as_deref()), (Status::Cancelled, Some("enough")));
    assert_eq!(stage.world.waiting(), Vec::<String>::new());
}

#[tokio::test]
async fn cancel_closes_what_is_open_while_a_model_call_hangs() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    let run = stage.start().await;
    assert_eq!(stage.world.waiting(), ["model/work/0/1"]);
    stage.send(&run, Input::Cancel { text: None }).await.unwrap();
    assert_eq!(stage.world.aborted(), ["model/work/0/1"]);

    let waiting = stage.play().await;
    let shown = stage.only_open(&waiting).await.opened.interrupt;
    stage.send(&waiting, Input::Cancel { text: None }).await.unwrap();
    let outcome = stage.run(&waiting).await.interrupts[&shown].resolution.clone().unwrap().outcome;
    assert_eq!((outcome, stage.status(&waiting).await), (Outcome::Cancelled, Status::Cancelled));
    let again = stage.send(&waiting, Input::Cancel { text: None }).await;
    assert!(matches!(again, Err(Error::Rejected(Rejection::Ended(Status::Cancelled)))), "{again:?}");
}

#[tokio::test]
async fn a_paused_run_takes_answers_and_starts_nothing() {
    let stage = Stage::solo(vec![Say::Calls(vec![read("a"), command("touch a")]), Say::Text("Done.")]);
    stage.world.write("a", "alpha");
    let run = stage.start().await;
    stage.send(&run, Input::Pause).await.unwrap();
    stage.send(&run, Input::Pause).await.unwrap();
    stage.world.settle().await;
    assert_eq!(stage.world.performed(), ["model/work/0/1"]);
    assert_eq!(stage.status(&run).await, Status::Paused);
    stage.send(&run, Input::Resume).await.unwrap();
    stage.world.settle().await;
    stage.send(&run, Input::Pause).await.unwrap();
    stage.decide_only(&run, option("approve")).await;
    assert_eq!((stage.world.effects().len(), stage.status(&run).await), (0, Status::Paused));
    stage.send(&run, Input::Resume).await.unwrap();
    stage.world.settle().await;
    assert_eq!((stage.world.effects().len(), stage.status(&run).await), (1, Status::Completed));
}

#[tokio::test]
async fn a_message_reaches_the_next_model_request() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    let run = stage.play().await;
    stage.send(&run, Input::Message { text: "use TypeScript".into() }).await.unwrap();
    stage.decide_only(&run, option("approve")).await;
    assert!(stage.last_request().contains("use TypeScript"));
}

#[tokio::test]
async fn agents_do_not_steer() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("touch a")])]);
    let run = stage.play().await;
    let agent = Actor::agent("agent", "test");
    for input in
        [Input::Pause, Input::Resume, Input::Cancel { text: None }, Input::Message { text: "go".into() }]
    {
        let refused = stage.driver.send(&run, input, agent.clone()).await;
        assert!(matches!(refused, Err(Error::Rejected(Rejection::Role))), "{refused:?}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let stage = Stage::solo(Vec::new());
    let unknown = "run_00000000000000000000000000".parse().unwrap();
    let missing = stage.send(&unknown, Input::Pause).await;
    assert!(matches!(missing, Err(Error::NotFound)), "{missing:?}");
    let session = Some("ses_00000000000000000000000000".parse().unwrap());
    let missing = stage.try_start(crate::stage::SOLO, session, None, "x").await;
    assert!(matches!(missing, Err(Error::NotFound)), "{missing:?}");
    assert_eq!(stage.driver.loaded_runs(), 0);
}
