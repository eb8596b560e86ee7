//! What follows from an attempt: it is over, or tried again later; and a channel that fails for too long is disabled.

use std::time::Duration;

use holdshort_core::channel::Channel;
use holdshort_core::delivery::{Attempt, Delivery, DeliveryState};
use holdshort_core::time::Timestamp;
use holdshort_notify::{Sent, Verdict};
use holdshort_store::{DeliveryChange, Journal, Settled};

use super::limits::{CHANNEL_FAILS, RETRY_WAIT};
use crate::{Clock, Driver, Error, Executor};

pub(super) struct Settling {
    pub(super) settled: Settled,
    /// The receiver wants nothing more.
    pub(super) is_gone: bool,
}

/// How long to wait after so many attempts: four times as long each time, and up to a quarter more by `chance`, so that what
/// failed together does not come back together.
pub fn wait(channel: &Channel, attempts: u64, chance: u8) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX).min(30);
    let ms = channel.retry_ms.saturating_mul(4_u64.saturating_pow(doublings));
    let ms = ms.min(u64::try_from(RETRY_WAIT.as_millis()).unwrap_or(u64::MAX));
    Duration::from_millis(ms + ms / 4 * u64::from(chance) / 255)
}

/// One that is not sent at all.
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
        // The channel is none the worse for it.
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

/// What it counts as in `/metrics`.
pub(super) fn outcome(settled: &Settled) -> &'static str {
    match settled.delivery.state {
        DeliveryState::Waiting => "retried",
        DeliveryState::Delivered => "delivered",
        DeliveryState::Failed => "failed",
        DeliveryState::Dropped => "dropped",
    }
}

/// Disables a channel that wants nothing more, or has failed for too long. Told as an error: a person has to look.
/// Disables a channel that is gone, or that nothing has come through for too long; why, where it was not before.
pub(super) async fn judge_channel<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &str,
    failing_since: Option<Timestamp>,
    is_gone: bool,
) -> Result<Option<String>, Error> {
    let now = driver.clock().now();
    let failed_for = failing_since.map_or(0, |since| now.ms_since(since));
    let why = if is_gone {
        "it answered 410: it wants nothing more".to_owned()
    } else if u128::from(failed_for) >= CHANNEL_FAILS.as_millis() {
        format!("nothing came through since {}", failing_since.unwrap_or(now))
    } else {
        return Ok(None);
    };
    let change = DeliveryChange::Disable { channel: channel.to_owned(), why: why.clone(), now };
    if driver.journal().change_deliveries(change).await? == 0 {
        return Ok(None);
    }
    driver.metrics().channel_disabled(channel);
    tracing::error!(
        channel,
        why,
        "the channel is disabled: nobody is told over it until a delivery is retried"
    );
    Ok(Some(why))
}
