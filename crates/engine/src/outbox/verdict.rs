//! Decides what happens after a delivery attempt: the delivery has ended, or is tried again later. Disables a channel
//! that has failed for too long.

use std::time::Duration;

use holdshort_core::channel::Channel;
use holdshort_core::delivery::{Attempt, Delivery, DeliveryState};
use holdshort_core::time::Timestamp;
use holdshort_notify::{Sent, Verdict};
use holdshort_store::{DeliveryChange, Failing, Journal, Settled};

use super::limits::{CHANNEL_FAILS, DELIVERY_WAITS, PUT_OFF_LEAST, PUT_OFF_MOST, RETRY_WAIT};
use crate::{Clock, Driver, Error, Executor};

const NO_ROOM: &str =
    "the delivery waited too long, because the receiver did not answer earlier deliveries in time";

pub(super) struct Settling {
    pub(super) settled: Settled,
    /// True if the receiver has said that it rejects all further deliveries.
    pub(super) is_gone: bool,
}

/// Returns the delay before the next attempt, after `attempts` attempts. Each attempt multiplies the delay by four, up
/// to a maximum. `chance` adds up to a quarter of the delay, so that deliveries that failed at the same time are not
/// retried at the same time.
pub fn wait(channel: &Channel, attempts: u64, chance: u8) -> Duration {
    let retries = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
    let ms = channel.retry_ms.saturating_mul(4_u64.saturating_pow(retries));
    let ms = ms.min(u64::try_from(RETRY_WAIT.as_millis()).unwrap_or(u64::MAX));
    Duration::from_millis(ms + ms / 4 * u64::from(chance) / 255)
}

/// Returns the record of a delivery that is dropped without being sent.
pub(super) fn dropped(delivery: Delivery, why: &str, now: Timestamp) -> Settling {
    let delivery = Delivery {
        state: DeliveryState::Dropped,
        next_at: None,
        node: None,
        error: Some(why.to_owned()),
        ended_at: Some(now),
        ..delivery
    };
    Settling { settled: Settled { delivery, attempt: None }, is_gone: false }
}

/// Postpones a delivery because too many callbacks are being sent. Any node is allowed to send the delivery later. No
/// attempt is recorded. If the delivery has exceeded the maximum wait, it fails instead.
pub(super) fn put_off(delivery: Delivery, now: Timestamp) -> Settled {
    let age = Duration::from_millis(now.ms_since(delivery.created_at));
    if age > DELIVERY_WAITS {
        let delivery = Delivery {
            state: DeliveryState::Failed,
            next_at: None,
            node: None,
            error: Some(NO_ROOM.to_owned()),
            ended_at: Some(now),
            ..delivery
        };
        return Settled { delivery, attempt: None };
    }
    let wait = (age / 4).clamp(PUT_OFF_LEAST, PUT_OFF_MOST);
    let next_at = Some(now.plus_ms(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)));
    Settled { delivery: Delivery { next_at, node: None, ..delivery }, attempt: None }
}

pub(super) fn settled(
    delivery: Delivery,
    channel: &Channel,
    sent: &Sent,
    began: Timestamp,
    now: Timestamp,
    chance: u8,
) -> Settling {
    let number = delivery.attempts + 1;
    let attempt = Attempt {
        delivery: delivery.delivery.clone(),
        number,
        at: began,
        took_ms: now.ms_since(began),
        status: sent.status.map(u64::from),
        error: sent.error.clone(),
        digest: Some(sent.digest.clone()),
        answer: sent.answer.clone(),
    };
    let (state, next_at) = match sent.verdict {
        Verdict::Delivered => (DeliveryState::Delivered, None),
        Verdict::Again(asked) if number < channel.attempts => {
            let wait = wait(channel, number, chance).max(asked.unwrap_or_default());
            let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            (DeliveryState::Waiting, Some(now.plus_ms(ms)))
        }
        // Only this delivery is dropped. The channel still works.
        Verdict::Left => (DeliveryState::Dropped, None),
        Verdict::Again(_) | Verdict::Refused | Verdict::Gone => (DeliveryState::Failed, None),
    };
    let delivery = Delivery {
        state,
        next_at,
        node: None,
        attempts: number,
        status: attempt.status,
        error: sent.error.clone(),
        ended_at: next_at.is_none().then_some(now),
        ..delivery
    };
    let is_gone = sent.verdict == Verdict::Gone;
    Settling { settled: Settled { delivery, attempt: Some(attempt) }, is_gone }
}

/// Returns the label for the result of a delivery in `/metrics`.
pub(super) fn outcome(settled: &Settled) -> &'static str {
    match settled.delivery.state {
        DeliveryState::Waiting => "retried",
        DeliveryState::Delivered => "delivered",
        DeliveryState::Failed => "failed",
        DeliveryState::Dropped => "dropped",
    }
}

/// Disables a channel if its receiver is gone or it has failed for too long, and returns the reason. Returns `None` if
/// there is no reason to disable the channel, or if it was already disabled. Logs the reason as an error, because a
/// person must act.
pub(super) async fn judge_channel<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &str,
    failing: Option<Failing>,
    is_gone: bool,
) -> Result<Option<String>, Error> {
    let Some(why) = why_disabled(failing, is_gone) else { return Ok(None) };
    let now = driver.clock().now();
    let change = DeliveryChange::Disable { channel: channel.to_owned(), why: why.clone(), now };
    if driver.journal().change_deliveries(change).await? == 0 {
        return Ok(None);
    }
    driver.metrics().channel_disabled(channel);
    tracing::error!(
        channel,
        why,
        "the channel was disabled; it sends nothing until a person retries one of its deliveries"
    );
    Ok(Some(why))
}

/// Returns the reason to disable the channel, or `None` if there is no reason. `failing` is present if the last attempt
/// failed.
fn why_disabled(failing: Option<Failing>, is_gone: bool) -> Option<String> {
    if is_gone {
        return Some(
            "the receiver answered with status 410, so it rejects all further deliveries".to_owned(),
        );
    }
    let failing = failing.filter(|failing| u128::from(failing.ms) >= CHANNEL_FAILS.as_millis())?;
    Some(format!("no delivery has succeeded since {}", failing.since))
}

#[cfg(test)]
mod tests {
    use holdshort_core::id::{DeliveryId, Id};
    use holdshort_core::notice::Occasion;

    use super::*;

    /// Tests that postponing a delivery only changes its due time, and that the delay is longer for an older delivery.
    #[test]
    fn one_that_is_put_off_was_not_tried() {
        let (run, interrupt) = Delivery::placeholder_ids();
        let now = Timestamp::from_millis(1_000_000_000);
        let due = |age| Delivery {
            delivery: DeliveryId::from_text("dlv_01k6f0000000000000000000aa".to_owned()),
            channel: "agent-callbacks".to_owned(),
            occasion: Occasion::Resolved,
            run: run.clone(),
            seq: 7,
            interrupt: interrupt.clone(),
            notice: "{}".to_owned(),
            state: DeliveryState::Waiting,
            created_at: now.minus_ms(age),
            next_at: Some(now.minus_ms(age)),
            attempts: 3,
            node: Some(1),
            status: Some(503),
            error: Some("answered 503".to_owned()),
            ended_at: None,
        };
        for (age, wait) in [(0, 250), (1_000, 250), (4_000, 1_000), (60_000, 15_000), (9_000_000, 60_000)] {
            let next_at = Some(now.plus_ms(wait));
            let waits = Delivery { next_at, node: None, ..due(age) };
            assert_eq!(put_off(due(age), now), Settled { delivery: waits, attempt: None }, "{age}");
        }
        let week = u64::try_from(DELIVERY_WAITS.as_millis()).expect("milliseconds of a week");
        let over = put_off(due(week + 1), now).delivery;
        assert_eq!((over.state, over.next_at, over.ended_at), (DeliveryState::Failed, None, Some(now)));
        assert_eq!(put_off(due(week), now).delivery.state, DeliveryState::Waiting);
    }

    /// Tests that a channel is disabled when its receiver is gone or when the channel has failed for too long. Only the
    /// time between failed attempts counts. Therefore one failure long ago does not disable a channel.
    #[test]
    fn a_channel_is_disabled_when_it_is_gone_or_has_failed_for_too_long() {
        let long = u64::try_from(CHANNEL_FAILS.as_millis()).unwrap_or(u64::MAX);
        let since = Timestamp::from_millis(0);
        let why = |ms, is_gone| why_disabled(Some(Failing { since, ms }), is_gone);
        assert_eq!((why(0, false), why(long - 1, false), why_disabled(None, false)), (None, None, None));
        assert_eq!(why(long, false), Some(format!("no delivery has succeeded since {since}")));
        let gone = "the receiver answered with status 410, so it rejects all further deliveries";
        assert_eq!(why(0, true).as_deref(), Some(gone));
    }
}
