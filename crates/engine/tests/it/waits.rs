//! Waiting times of a delivery before each retry.

use std::time::Duration;

use holdshort_core::channel::Channel;
use holdshort_engine::outbox::limits::RETRY_WAIT;
use holdshort_engine::outbox::wait;

use crate::gather::at_once;

/// Deliveries that failed at the same time are not retried at the same time (lesson 59).
#[test]
fn each_is_four_times_as_long_up_to_a_limit_and_up_to_a_quarter_more_by_chance() {
    let channel = Channel { retry_ms: 5_000, ..at_once() };
    let seconds = Duration::from_secs;
    for (attempts, least) in [
        (1, seconds(5)),
        (2, seconds(20)),
        (3, seconds(80)),
        (7, seconds(20_480)),
        (8, RETRY_WAIT),
        (50, RETRY_WAIT),
        (u64::MAX, RETRY_WAIT),
    ] {
        let most = least + least / 4;
        assert_eq!(wait(&channel, attempts, 0), least, "after {attempts}");
        assert_eq!(wait(&channel, attempts, u8::MAX), most, "after {attempts}");
        let between = wait(&channel, attempts, 128);
        assert!(least < between && between < most, "after {attempts}: {between:?}");
    }
}
