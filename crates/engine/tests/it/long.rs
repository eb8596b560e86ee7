//! A run that has reached the maximum number of events can be resumed, and ends with a reason.

use holdshort_core::envelope::{self, Content};
use holdshort_core::event::{Event, Fact as Of};
use holdshort_core::id::{Draw, Seed, StreamId};
use holdshort_core::limits::EVENTS;
use holdshort_core::projection::Status;
use holdshort_core::run::Fact;
use holdshort_store::{Append, Journal, Rows, StreamAppend, Tables};

use crate::stage::{Stage, command, operator, option};
use crate::world::Say;

/// Appends pause events directly to the journal, without the driver, until the run has `upto` events.
async fn grow<J: Journal>(stage: &Stage<J>, run: &holdshort_core::id::RunId, upto: u64) {
    let stream = StreamId::Run(run.clone());
    let mut chain = stage.driver.journal().chain(&stream).await.unwrap();
    let mut loaded = (*stage.run(run).await).clone();
    let (expected, at) = (chain.seq, loaded.last_at);
    let mut draw = Draw::new(Seed([6; 16]), at);
    let mut events = Vec::new();
    while chain.seq < upto {
        let fact = if (upto - chain.seq).is_multiple_of(2) { Fact::RunPaused } else { Fact::RunResumed };
        let event = Event {
            stream: stream.clone(),
            at,
            actor: operator(),
            fact: Of::Run(fact),
            content: Content::none(),
        };
        loaded.apply(&event);
        events.push(envelope::seal(&event, &mut chain, &mut draw));
    }
    let rows = Rows { run: loaded.row(), ..Rows::default() };
    let streams = vec![StreamAppend { stream, expected, events }];
    stage.driver.journal().append(Append { streams, rows, ..Append::default() }).await.unwrap();
}

/// A run near the maximum number of events is resumed with a single replay, and ends at the maximum with a reason.
#[tokio::test]
async fn a_run_near_its_limit_resumes_and_ends_there_with_its_reason() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("make")]), Say::Text("Done.")]);
    let run = stage.play().await;
    let interrupt = stage.only_open(&run).await.opened.interrupt;
    grow(&stage, &run, EVENTS - 6).await;
    let fresh = Stage::on(stage.driver.journal().clone(), stage.world.clone(), stage.clock.clone());
    let resumed = fresh.decide(&run, &interrupt, option("approve")).await.unwrap();
    assert_eq!((resumed.status(), resumed.open_interrupts().count()), (Status::Running, 0));
    fresh.world.settle().await;
    let ended = fresh.driver.current(&run).await.unwrap().ended.clone().unwrap();
    assert_eq!((ended.status, ended.reason.as_str()), (Status::Failed, "limit_events"));
    // The approved call ran once, and nothing starts after it.
    assert_eq!(fresh.world.effects(), ["run:make"]);
    let row = fresh.driver.journal().run(&run).await.unwrap().unwrap();
    assert!(row.seq >= EVENTS && row.seq < EVENTS + 10, "{}", row.seq);
}
