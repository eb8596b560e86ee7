//! The outbox: sends what appends have written down for channels, and writes down what came of it.
//!
//! The journal is the truth: a delivery is claimed, sent, settled. A process that dies in between leaves a claim behind that
//! the next one takes, and the receiver tells the repeat by its id. Nothing is sent while everything is frozen, so a folder
//! that was restored tells nobody anything. Read [`keep_sending`] first; `verdict.rs` says what follows from an attempt.

pub mod limits;
mod sweep;
mod verdict;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use futures::stream::{FuturesUnordered, StreamExt};
use holdshort_core::delivery::Delivery;
use holdshort_core::event::{self, Fact};
use holdshort_core::id::{DeliveryId, StreamId};
use holdshort_core::notice::Notice;
use holdshort_core::{json, run};
use holdshort_notify::{Channel, Channels, Message, Sent, title};
use holdshort_store::{Claim, Journal, Settled, Told};

use crate::rebuild::event_at;
use crate::{Clock, Driver, Error, Executor};
use limits::SENT_AT_ONCE;
pub use verdict::wait;

/// The longest sleep: clocks jump, other nodes go away, and a freeze is lifted.
const LONGEST: Duration = Duration::from_secs(5);
/// After a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// Sends for as long as it is not dropped. `base`: what links begin with.
pub async fn keep_sending<J: Journal, C: Clock, E: Executor>(
    driver: Arc<Driver<J, C, E>>,
    channels: Arc<Channels>,
    base: String,
) {
    if channels.is_empty() {
        return sweep::keep_forgetting(driver).await;
    }
    futures::join!(sweep::keep_forgetting(driver.clone()), send_all(driver, channels, base));
}

async fn send_all<J: Journal, C: Clock, E: Executor>(
    driver: Arc<Driver<J, C, E>>,
    channels: Arc<Channels>,
    base: String,
) {
    let mut under_way = FuturesUnordered::new();
    let mut sending: BTreeMap<DeliveryId, String> = BTreeMap::new();
    loop {
        let wait = match claim_all(&driver, &channels, &sending).await {
            Ok((claimed, wait)) => {
                for delivery in claimed {
                    sending.insert(delivery.delivery.clone(), delivery.channel.clone());
                    under_way.push(send_one(&driver, &channels, &base, delivery));
                }
                wait
            }
            Err(error) => {
                tracing::warn!(%error, "deliveries can not be claimed");
                PAUSE
            }
        };
        let woken = async {
            select(pin!(driver.clock().sleep(wait)), pin!(driver.told.notified())).await;
        };
        if under_way.is_empty() {
            woken.await;
        } else if let Either::Left((Some(done), _)) = select(under_way.next(), pin!(woken)).await {
            sending.remove(&done);
        }
    }
}

/// What is due and has room, and how long to wait where nothing else happens.
async fn claim_all<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channels: &Channels,
    sending: &BTreeMap<DeliveryId, String>,
) -> Result<(Vec<Delivery>, Duration), Error> {
    if driver.system().await?.freezes.all.is_some() || !driver.journal().holds() {
        return Ok((Vec::new(), LONGEST));
    }
    let now = driver.clock().now();
    let (mut all, mut have_room) = (Vec::new(), Vec::new());
    for channel in channels.all() {
        let name = &channel.definition().name;
        let room = SENT_AT_ONCE - sending.values().filter(|of| *of == name).count().min(SENT_AT_ONCE);
        if room == 0 {
            continue;
        }
        let claim =
            Claim { channel: name.clone(), now, limit: room, sending: sending.keys().cloned().collect() };
        let claimed = driver.journal().claim_deliveries(claim).await?;
        if claimed.len() < room {
            have_room.push(name.clone());
        }
        all.extend(claimed);
    }
    let next = driver.journal().next_delivery(have_room).await?;
    let wait = next.map_or(LONGEST, |at| Duration::from_millis(at.ms_since(driver.clock().now())));
    // What has just become due is looked at in a moment, not at once: another node may be at it.
    Ok((all, wait.clamp(Duration::from_millis(20), LONGEST)))
}

/// Sends one that this node has claimed, and settles it. Where that fails it stays claimed, and is claimed again.
async fn send_one<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channels: &Channels,
    base: &str,
    delivery: Delivery,
) -> DeliveryId {
    let id = delivery.delivery.clone();
    let Some(channel) = channels.get(&delivery.channel) else { return id };
    if let Err(error) = Box::pin(deliver(driver, channel, base, delivery)).await {
        tracing::warn!(delivery = %id, %error, "what became of a delivery can not be written down");
        driver.clock().sleep(PAUSE).await;
    }
    id
}

async fn deliver<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    base: &str,
    delivery: Delivery,
) -> Result<(), Error> {
    let is_for_people = channel.definition().via.is_read_by_people();
    let row = driver.journal().interrupt(&delivery.interrupt).await?;
    // Nobody is asked to decide what is decided. A program hears of everything that happened.
    if is_for_people && delivery.occasion.asks() && row.is_none_or(|row| !row.open) {
        let now = driver.clock().now();
        return settle(driver, channel, verdict::dropped(delivery, "it was resolved before", now)).await;
    }
    let Some(message) = message(driver, channel, base, &delivery).await? else {
        let now = driver.clock().now();
        return settle(driver, channel, verdict::dropped(delivery, "its notice can not be read", now)).await;
    };
    // Its lease ran out since the claim: another node may have it by now.
    if !driver.journal().holds() {
        return Ok(());
    }
    let began = driver.clock().now();
    let sent: Sent = channel.send(&message, began).await;
    let (now, chance) = (driver.clock().now(), driver.clock().seed().0[0]);
    settle(driver, channel, verdict::settled(delivery, channel.definition(), &sent, began, now, chance)).await
}

async fn message<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    base: &str,
    delivery: &Delivery,
) -> Result<Option<Message>, Error> {
    let Ok(notice) = json::from_slice::<Notice>(delivery.notice.as_bytes()) else { return Ok(None) };
    let title = if channel.definition().title { title_of(driver, delivery).await? } else { None };
    let link = format!("{base}/inbox/{}", delivery.interrupt);
    Ok(Some(Message { id: delivery.delivery.to_string(), notice, title, link }))
}

/// Read when it is sent: where it was erased meanwhile, nobody is told it any more. Nor is one that may quote what some who
/// read the channel are not shown.
async fn title_of<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    delivery: &Delivery,
) -> Result<Option<String>, Error> {
    let Some(row) = driver.journal().interrupt(&delivery.interrupt).await? else { return Ok(None) };
    let stream = StreamId::Run(row.run);
    let Some(event) = event_at(&**driver.journal(), &stream, row.opened_seq).await? else { return Ok(None) };
    let is_it = matches!(&event.fact, Fact::Run(run::Fact::InterruptOpened(opened))
        if opened.interrupt == delivery.interrupt && opened.withhold.is_empty());
    let event::Content { data, .. } = event.content;
    Ok(data.get("title").and_then(|title| title.as_str()).filter(|_| is_it).and_then(title))
}

async fn settle<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    verdict: verdict::Settling,
) -> Result<(), Error> {
    let verdict::Settling { settled, is_gone } = verdict;
    let Settled { delivery, .. } = &settled;
    let (id, state, error) = (delivery.delivery.clone(), delivery.state, delivery.error.clone());
    let outcome = verdict::outcome(&settled);
    let name = &channel.definition().name;
    let told = driver.journal().settle_delivery(settled).await?;
    let Told::Written { failing_since } = told else {
        tracing::debug!(delivery = %id, "another node has it by now");
        return Ok(());
    };
    driver.metrics().delivered(name, outcome);
    if state == holdshort_core::delivery::DeliveryState::Failed {
        tracing::warn!(delivery = %id, channel = %name, error, "a delivery failed, and is not tried any more");
    }
    verdict::judge_channel(driver, name, failing_since, is_gone).await
}
