//! Notices about journal checkpoints: at most one per interval, and only if the journal has new events other than the
//! last notice.

use holdshort_core::actor::{Actor, Role};
use holdshort_core::digest::Digest;
use holdshort_core::system::checkpoint::{CheckpointTree, SendCheckpoint};
use holdshort_core::system::{Input, Rejection, System};
use holdshort_core::time::Timestamp;

const HOUR: u64 = 3_600_000;

fn checkpoint_input(size: u64) -> Input {
    let covered = CheckpointTree { size, root: Digest::of_bytes(&size.to_be_bytes()) };
    Input::TellCheckpoint(SendCheckpoint { covered, every_ms: HOUR })
}

#[test]
fn one_is_told_in_an_interval_and_its_own_event_is_no_reason_for_another() {
    let mut system = System::default();
    let start = Timestamp::from_millis(0);
    for (minutes, size, is_told) in [
        (0, 7, true),
        (30, 50, false),
        // The eighth event is the event of the previous notice.
        (60, 8, false),
        (540, 8, false),
        (540, 9, true),
        (570, 90, false),
        (600, 90, true),
    ] {
        let now = start.plus_ms(minutes * 60_000);
        let events = system.handle(now, &Actor::engine(), checkpoint_input(size)).unwrap();
        let told: Vec<String> = events.iter().map(|event| event.fact.encode().0).collect();
        let wanted: &[&str] = if is_told { &["checkpoint_told"] } else { &[] };
        assert_eq!(told, wanted, "after {minutes} minutes, over {size} events");
        for event in &events {
            system.apply(event);
        }
    }
    assert_eq!(system.checkpoint_told.unwrap().covered.size, 90);
}

#[test]
fn nobody_says_so_by_a_request() {
    let system = System::default();
    for role in [Role::Admin, Role::Operator, Role::Reviewer, Role::Agent, Role::Auditor] {
        let told =
            system.handle(Timestamp::from_millis(1), &Actor::for_role(role, "test"), checkpoint_input(1));
        assert_eq!(told, Err(Rejection::Role));
    }
}
