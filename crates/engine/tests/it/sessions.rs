//! Opening, suspending, resuming and closing sessions, and the effect on their runs.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::id::{RunId, SessionId, StreamId};
use holdshort_core::projection::Status;
use holdshort_core::run::{Input, Rejection};
use holdshort_core::session::{self, End, Open, State};
use holdshort_engine::{Error, IdempotencyKey, OpenSession, OpenedSession, audit, rebuild};
use holdshort_store::{Journal, Log, Memory, SessionFilter, Tables};
use holdshort_testkit::clock::SimClock;
use holdshort_testkit::faulty::{Fault, Faulty};

use crate::stage::{SOLO, Stage, command, operator, option};
use crate::world::{Say, World};

const IDLE_MS: i64 = 1_000;

fn asks_once() -> Vec<Say> {
    vec![Say::Calls(vec![command("git add a")]), Say::Text("Done.")]
}

fn on<J: Journal>(journal: Arc<J>) -> Stage<J> {
    let world = World::default();
    world.script("solo", asks_once());
    Stage::on(journal, world, SimClock::new(3))
}

fn opening(key: Option<&str>) -> OpenSession {
    let open = Open {
        workflow: Some("solo".to_owned()),
        idle_ms: Some(IDLE_MS.unsigned_abs()),
        name: Some("A week of work".to_owned()),
        config: serde_json::json!({ "a": 1 }),
    };
    let key = key.map(|text| IdempotencyKey {
        scope: "s".to_owned(),
        key: "k".to_owned(),
        digest: Digest::of_bytes(text.as_bytes()),
    });
    OpenSession { open, key }
}

impl<J: Journal> Stage<J> {
    async fn open_session(&self) -> SessionId {
        self.driver.open_session(opening(None), operator()).await.unwrap().session
    }

    async fn state(&self, session: &SessionId) -> State {
        let row = self.driver.journal().session(session).await.unwrap().unwrap();
        assert_eq!(row.state, self.driver.session(session).await.unwrap().state);
        row.state
    }

    async fn statuses(&self, runs: &[RunId]) -> Vec<Status> {
        let mut found = Vec::new();
        for run in runs {
            found.push(self.status(run).await);
        }
        found
    }

    async fn try_start_in(&self, session: &SessionId) -> Result<RunId, Error> {
        Ok(self.try_start(SOLO, Some(session.clone()), None, "do it").await?.run)
    }
}

/// A caller that waits for the opening of a session is not woken by other events.
#[tokio::test]
async fn only_the_opening_of_a_session_wakes_who_waits_for_one() {
    let stage = on(Arc::new(Memory::new()));
    let mut opened = stage.driver.watch_opened();
    stage.start().await;
    stage.world.settle().await;
    assert!(!opened.has_changed().unwrap(), "a run says nothing of sessions");
    let session = stage.open_session().await;
    assert!(opened.has_changed().unwrap());
    opened.mark_unchanged();
    stage.driver.suspend_session(&session, operator()).await.unwrap();
    assert!(!opened.has_changed().unwrap(), "nor does what becomes of one");
}

#[tokio::test]
async fn a_session_is_there_before_its_first_run() {
    let stage = Stage::solo(asks_once());
    let session = stage.open_session().await;
    let row = stage.driver.journal().session(&session).await.unwrap().unwrap();
    assert_eq!(
        (row.seq, row.state, row.workflow.as_deref(), row.idle_ms),
        (1, State::Open, Some("solo"), Some(IDLE_MS.unsigned_abs()))
    );
    let opened = rebuild::event_at(&**stage.driver.journal(), &StreamId::Session(session.clone()), 1)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(opened.content.data, serde_json::json!({ "name": "A week of work", "config": { "a": 1 } }));

    let run = stage.start_in(&session).await;
    stage.world.settle().await;
    assert_eq!(stage.run(&run).await.session(), Some(&session));
    assert_eq!(
        stage.driver.journal().session(&session).await.unwrap(),
        Some(row),
        "a start says nothing new"
    );
    let mistyped = stage.try_start_in(&"ses_00000000000000000000000000".parse().unwrap()).await;
    assert!(matches!(mistyped, Err(Error::NotFound)), "{mistyped:?}");
}

#[tokio::test]
async fn the_same_key_opens_one_session() {
    let stage = Stage::solo(asks_once());
    let open = async |key| stage.driver.open_session(opening(Some(key)), operator()).await;
    let first = open("one").await.unwrap();
    assert_eq!(open("one").await.unwrap(), OpenedSession { replayed: true, ..first.clone() });
    assert!(matches!(open("two").await, Err(Error::KeyReused)));
    let all = stage.driver.journal().sessions(&SessionFilter::default(), None, 9).await.unwrap();
    assert_eq!(all.items.len(), 1);
    let refused = stage.driver.open_session(opening(None), Actor::agent("a", "test")).await;
    assert!(matches!(refused, Err(Error::Session(session::Rejection::Role))), "{refused:?}");
}

#[tokio::test]
async fn a_suspended_session_lets_nothing_start_and_pauses_every_run() {
    let stage = Stage::solo(asks_once());
    let session = stage.open_session().await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(stage.start_in(&session).await);
    }
    stage.world.settle().await;
    stage.decide_only(&runs[0], option("approve")).await;
    let stranger = stage.play().await;
    for _ in 0..2 {
        let suspended = stage.driver.suspend_session(&session, operator()).await.unwrap();
        assert_eq!((suspended.state, suspended.seq), (State::Suspended, 2), "again is the same");
    }
    assert_eq!(stage.statuses(&runs).await, [Status::Completed, Status::Paused, Status::Paused]);
    assert_eq!(stage.status(&stranger).await, Status::Waiting);
    let refused = stage.try_start_in(&session).await;
    assert!(matches!(refused, Err(Error::Rejected(Rejection::SessionSuspended))), "{refused:?}");
    let refused = stage.send(&runs[1], Input::Resume).await;
    assert!(matches!(refused, Err(Error::Rejected(Rejection::SessionSuspended))), "{refused:?}");
    // While a session is suspended, decisions are accepted but take effect only after it is resumed.
    stage.decide_only(&runs[1], option("approve")).await;
    assert_eq!(stage.world.effects().len(), 1);

    stage.driver.resume_session(&session, operator()).await.unwrap();
    stage.world.settle().await;
    assert_eq!(stage.statuses(&runs).await, [Status::Completed, Status::Completed, Status::Waiting]);
    assert_eq!(stage.state(&session).await, State::Open);
    stage.try_start_in(&session).await.unwrap();
}

/// A late response of the store does not restore an old state of a session. Here, the response to the append that
/// suspends the session arrives after the session was resumed.
#[tokio::test]
async fn a_late_answer_leaves_no_session_as_it_was() {
    let journal = Arc::new(Faulty::new(Arc::new(Memory::new())));
    let stage = on(journal.clone());
    let session = stage.open_session().await;
    journal.fail([Fault::LateAnswer]);
    let suspending = tokio::spawn({
        let (driver, session) = (stage.driver.clone(), session.clone());
        async move { driver.suspend_session(&session, operator()).await }
    });
    let stream = StreamId::Session(session.clone());
    while journal.chain(&stream).await.unwrap().seq < 2 {
        tokio::task::yield_now().await;
    }
    stage.driver.resume_session(&session, operator()).await.unwrap();
    journal.answer();
    suspending.await.unwrap().unwrap();
    assert_eq!(stage.state(&session).await, State::Open);
    stage.try_start_in(&session).await.unwrap();
}

#[tokio::test]
async fn a_closed_session_is_over() {
    let stage = Stage::solo(asks_once());
    // A session that a run created behaves like a session that was opened separately.
    let run = stage.play().await;
    let session = stage.run(&run).await.session().unwrap().clone();
    for _ in 0..2 {
        stage.driver.close_session(&session, End::Completed, operator()).await.unwrap();
    }
    assert_eq!(stage.status(&run).await, Status::Cancelled);
    assert_eq!(stage.state(&session).await, State::Closed(End::Completed));
    let refused = stage.try_start_in(&session).await;
    assert!(matches!(refused, Err(Error::Rejected(Rejection::SessionClosed(End::Completed)))), "{refused:?}");
    let refused = stage.driver.resume_session(&session, operator()).await;
    assert!(
        matches!(refused, Err(Error::Session(session::Rejection::Closed(End::Completed)))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn more_runs_than_a_page_are_paused() {
    let stage = Stage::solo(vec![Say::Text("Done.")]);
    let session = stage.open_session().await;
    let mut runs = Vec::new();
    for _ in 0..501 {
        runs.push(stage.start_in(&session).await);
    }
    stage.driver.suspend_session(&session, operator()).await.unwrap();
    assert_eq!(stage.status(&runs[0]).await, Status::Paused, "the oldest one too");
    assert_eq!(stage.status(&runs[500]).await, Status::Paused);
}

#[tokio::test]
async fn whoever_repeats_a_request_that_broke_off_brings_it_to_its_end() {
    let stage = on(Arc::new(Faulty::new(Arc::new(Memory::new()))));
    let session = stage.open_session().await;
    let runs = [stage.start_in(&session).await, stage.start_in(&session).await];
    stage.world.settle().await;
    // The event of the session is written, but the pause of its first run is not.
    stage.driver.journal().fail([Fault::Pass, Fault::Full]);
    assert!(stage.driver.suspend_session(&session, operator()).await.is_err());
    assert_eq!(stage.state(&session).await, State::Suspended);
    assert_eq!(stage.statuses(&runs).await, [Status::Waiting; 2]);
    // A run follows the state of its session at its next input, so a decision in between must wait.
    stage.decide_only(&runs[0], option("approve")).await;
    assert_eq!(stage.statuses(&runs).await, [Status::Paused, Status::Waiting]);
    assert_eq!((stage.world.effects().len(), stage.driver.sweep().await.unwrap()), (0, 0));
    stage.driver.suspend_session(&session, operator()).await.unwrap();
    assert_eq!(stage.statuses(&runs).await, [Status::Paused; 2]);
    stage.driver.resume_session(&session, operator()).await.unwrap();
    stage.world.settle().await;
    assert_eq!(stage.statuses(&runs).await, [Status::Completed, Status::Waiting]);
}

#[tokio::test]
async fn what_a_broken_off_suspension_held_back_goes_on_with_the_resume() {
    let stage = on(Arc::new(Faulty::new(Arc::new(Memory::new()))));
    let session = stage.open_session().await;
    let run = stage.start_in(&session).await;
    stage.driver.journal().fail([Fault::Pass, Fault::Full]);
    assert!(stage.driver.suspend_session(&session, operator()).await.is_err());
    // The model's response is recorded and pauses the run. The request to the model is not repeated.
    stage.world.settle().await;
    assert_eq!((stage.status(&run).await, stage.world.effects().len()), (Status::Paused, 0));
    stage.driver.resume_session(&session, operator()).await.unwrap();
    stage.world.settle().await;
    stage.decide_only(&run, option("approve")).await;
    stage.world.settle().await;
    assert_eq!((stage.status(&run).await, stage.world.effects().len()), (Status::Completed, 1));
}

#[tokio::test]
async fn a_start_looks_at_the_session_as_others_left_it() {
    let memory = Arc::new(Memory::shared());
    let here = on(memory.clone());
    let session = here.open_session().await;
    // The node `here` has the session in memory as open, while the node `there` suspends it.
    here.try_start_in(&session).await.unwrap();
    let there = Stage::on(Arc::new(memory.join()), here.world.clone(), here.clock.clone());
    there.driver.suspend_session(&session, operator()).await.unwrap();
    let refused = here.try_start_in(&session).await;
    assert!(matches!(refused, Err(Error::Rejected(Rejection::SessionSuspended))), "{refused:?}");
    // The node `here` has the session in memory as suspended, although it is open again.
    there.driver.resume_session(&session, operator()).await.unwrap();
    here.try_start_in(&session).await.unwrap();
}

#[tokio::test]
async fn a_suspension_that_nobody_told_of_is_found_by_the_guard() {
    // A store of a single node is not read again before each start. The append itself detects that the session has
    // changed.
    let stage = Stage::solo(asks_once());
    let session = stage.open_session().await;
    let run = stage.start_in(&session).await;
    stage.world.settle().await;
    let other = Stage::on(stage.driver.journal().clone(), stage.world.clone(), stage.clock.clone());
    other.driver.suspend_session(&session, operator()).await.unwrap();
    let refused = stage.try_start_in(&session).await;
    assert!(matches!(refused, Err(Error::Rejected(Rejection::SessionSuspended))), "{refused:?}");
    assert_eq!(other.status(&run).await, Status::Paused);
}

#[tokio::test]
async fn a_session_in_which_nothing_happens_expires() {
    let stage = Stage::solo(asks_once());
    let idle = stage.open_session().await;
    let busy = stage.open_session().await;
    let run = stage.start_in(&busy).await;
    stage.world.settle().await;
    stage.clock.advance_ms(IDLE_MS - 1);
    assert_eq!(stage.driver.expire_sessions().await.unwrap(), 0);
    stage.clock.advance_ms(1);
    assert_eq!(stage.driver.expire_sessions().await.unwrap(), 1);
    assert_eq!(stage.state(&idle).await, State::Closed(End::Expired));
    let closed = rebuild::event_at(&**stage.driver.journal(), &StreamId::Session(idle.clone()), 2)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(closed.actor, Actor::engine());
    // A waiting run keeps its session open. The idle period begins when the run has ended.
    stage.clock.advance_ms(10 * IDLE_MS);
    assert_eq!(stage.driver.expire_sessions().await.unwrap(), 0);
    stage.decide_only(&run, option("approve")).await;
    assert_eq!(stage.driver.expire_sessions().await.unwrap(), 0);
    stage.clock.advance_ms(IDLE_MS);
    assert_eq!(stage.driver.expire_sessions().await.unwrap(), 1);
    assert_eq!(stage.state(&busy).await, State::Closed(End::Expired));
}

#[tokio::test]
async fn more_sessions_expire_than_are_looked_at_at_once() {
    let stage = Stage::solo(asks_once());
    for _ in 0..201 {
        stage.open_session().await;
    }
    stage.clock.advance_ms(IDLE_MS);
    assert_eq!(stage.driver.expire_sessions().await.unwrap(), 201);
}

#[tokio::test]
async fn audit_finds_a_session_whose_last_event_was_taken_away() {
    let stage = Stage::solo(asks_once());
    let session = stage.open_session().await;
    stage.driver.suspend_session(&session, operator()).await.unwrap();
    let mut row = stage.driver.journal().session(&session).await.unwrap().unwrap();
    row.seq += 1;
    let rows = holdshort_store::Rows { session: Some(row), ..Default::default() };
    stage.driver.journal().append(holdshort_store::Append { rows, ..Default::default() }).await.unwrap();
    let report = audit::verify(&**stage.driver.journal()).await.unwrap();
    let told: Vec<_> = report.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(told, ["events of the session are missing: the session had at least 3 events and has 2"]);
}
