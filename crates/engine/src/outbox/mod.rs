//! The outbox sends the deliveries that the journal contains, and records the results.
//!
//! The journal stores the state of each delivery. A node first claims a delivery, then sends it, and then settles it by
//! recording the result. If a node dies before it settles a delivery, another node claims the delivery and sends the
//! message again. The receiver can recognise a repeated message by its id. While the whole installation is frozen, the
//! outbox sends nothing. Therefore a data folder that was restored from a backup, and is frozen at first, notifies
//! nobody. Read [`keep_sending`] first. `post.rs` sends over the network, and `verdict.rs` decides what happens after
//! an attempt.

pub mod gather;
pub mod limits;
mod message;
mod post;
mod sweep;
mod turns;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use futures::stream::{self, FuturesUnordered, StreamExt};
use holdshort_core::channel::CALLBACKS;
use holdshort_core::delivery::{Delivery, DeliveryState};
use holdshort_core::id::{DeliveryId, InterruptId};
use holdshort_core::json;
use holdshort_core::notice::{CheckpointNotice, Notice, Occasion, Recipient};
use holdshort_core::time::Timestamp;
use holdshort_notify::{Channel, Channels, Message, Sent, Verdict};
use holdshort_store::{Claim, Journal, SettleOutcome, Settled};
use tokio::sync::watch;

use crate::{Clock, Driver, Error, Executor};
use gather::Sorted;
use limits::{CALLED_AT_ONCE, GATHERED, SENT_AT_ONCE};
pub use message::{
    Alert, BrowserFuture, Buttons, Callback, CallbackFuture, CallbackTarget, CallbackTargetFuture,
    NoCallback, Pages, PersonalLink, review_summary,
};
use message::{Composed, compose};
pub use post::{AttemptContent, Network, Post, Sending};
use turns::Turns;
pub use verdict::wait;

/// Maximum time between two checks for due deliveries. A longer sleep could miss a jump of the clock, a stopped node,
/// or the end of a freeze.
const LONGEST: Duration = Duration::from_secs(5);
/// Pause of the outbox after a failure of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// Parts of the server that the outbox uses to send messages.
#[derive(Clone, Copy)]
struct OutboxServices<'a> {
    /// Addresses of the pages to which messages link.
    pages: &'a dyn Pages,
    post: &'a dyn Post,
    /// Limits on the number of simultaneous callbacks to agents.
    turns: &'a Turns,
}

/// Sends deliveries until the future is dropped. `pages` provides the links that messages contain. `kept` is the time
/// for which the content of runs is kept. `None` means unlimited retention.
pub async fn keep_sending<J: Journal, C: Clock, E: Executor>(
    driver: Arc<Driver<J, C, E>>,
    channels: watch::Receiver<Arc<Channels>>,
    pages: Arc<dyn Pages>,
    post: Arc<dyn Post>,
    kept: Option<Duration>,
) {
    let turns = Turns::default();
    let around = OutboxServices { pages: &*pages, post: &*post, turns: &turns };
    futures::join!(sweep::keep_forgetting(driver.clone(), kept), send_all(driver, channels, around));
}

async fn send_all<J: Journal, C: Clock, E: Executor>(
    driver: Arc<Driver<J, C, E>>,
    channels: watch::Receiver<Arc<Channels>>,
    around: OutboxServices<'_>,
) {
    let mut under_way = FuturesUnordered::new();
    let mut sending: BTreeMap<DeliveryId, String> = BTreeMap::new();
    loop {
        // The channels are read again for each claim, because a channel may have been registered.
        let channels = channels.borrow().clone();
        let (claimed, over) = while_sending(&mut under_way, claim_all(&driver, &channels, &sending)).await;
        let has_room_again = !over.is_empty();
        for id in over {
            sending.remove(&id);
        }
        let wait = match claimed {
            Ok((claimed, wait)) => {
                for (channel, deliveries) in claimed {
                    let name = &channel.definition().name;
                    sending.extend(deliveries.iter().map(|each| (each.delivery.clone(), name.clone())));
                    under_way.push(send_claimed(&driver, channels.clone(), name.clone(), around, deliveries));
                }
                wait
            }
            Err(error) => {
                tracing::warn!(%error, "deliveries cannot be claimed");
                PAUSE
            }
        };
        if has_room_again {
            continue;
        }
        let woken = async {
            select(pin!(driver.clock().sleep(wait)), pin!(driver.told.notified())).await;
        };
        if under_way.is_empty() {
            woken.await;
        } else if let Either::Left((Some(done), _)) = select(under_way.next(), pin!(woken)).await {
            for id in done {
                sending.remove(&id);
            }
        }
    }
}

/// Waits for `claim`. Sends that are in progress continue during the wait. Returns the claim, and the deliveries whose
/// sends have completed. The sends must continue, because one of them may block the store that `claim` needs.
async fn while_sending<T>(
    under_way: &mut FuturesUnordered<impl Future<Output = Vec<DeliveryId>>>,
    claim: impl Future<Output = T>,
) -> (T, Vec<DeliveryId>) {
    let (mut claim, mut over) = (pin!(claim), Vec::new());
    while !under_way.is_empty() {
        match select(claim.as_mut(), under_way.next()).await {
            Either::Left((claimed, _)) => return (claimed, over),
            Either::Right((done, _)) => over.extend(done.into_iter().flatten()),
        }
    }
    (claim.await, over)
}

/// Claims due deliveries within the limits of each channel, and groups the deliveries that are sent as one message.
/// Also returns the delay until the next claim. The next claim may be earlier, when a send ends.
async fn claim_all<'c, J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channels: &'c Channels,
    sending: &BTreeMap<DeliveryId, String>,
) -> Result<(Vec<(&'c Channel, Vec<Delivery>)>, Duration), Error> {
    if driver.system().await?.freezes.all.is_some() || !driver.journal().has_valid_leases() {
        return Ok((Vec::new(), LONGEST));
    }
    let now = driver.clock().now();
    let (mut all, mut have_room) = (Vec::new(), Vec::new());
    for channel in channels.all() {
        let name = &channel.definition().name;
        let busy = sending.values().filter(|of| *of == name).count();
        // All deliveries of a digest are claimed together, so that one node sends the complete digest.
        let gathers = channel.definition().gathers();
        // Callbacks have a higher limit. They go to many hosts, and wait for a turn at their host after they are
        // claimed.
        let most = if name == CALLBACKS { CALLED_AT_ONCE } else { SENT_AT_ONCE };
        let room = match gathers {
            true if busy > 0 => 0,
            true => GATHERED,
            false => most.saturating_sub(busy),
        };
        if room == 0 {
            continue;
        }
        let sending = sending.keys().cloned().collect();
        let claim = Claim { channel: name.clone(), now, limit: room, sending, whole: gathers };
        let claimed = driver.journal().claim_deliveries(claim).await?;
        if claimed.len() < room && (!gathers || claimed.is_empty()) {
            have_room.push(name.clone());
        }
        if gathers && !claimed.is_empty() {
            all.push((channel, claimed));
        } else {
            all.extend(claimed.into_iter().map(|delivery| (channel, vec![delivery])));
        }
    }
    let next = driver.journal().next_delivery(have_room).await?;
    let wait = next.map_or(LONGEST, |at| Duration::from_millis(at.ms_since(driver.clock().now())));
    // The minimum of 20 ms gives another node time to claim the deliveries that have just become due.
    Ok((all, wait.clamp(Duration::from_millis(20), LONGEST)))
}

/// Sends claimed deliveries, and settles them: records their results. If the result of a delivery cannot be recorded,
/// the delivery stays claimed and is claimed again later.
async fn send_claimed<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channels: Arc<Channels>,
    name: String,
    around: OutboxServices<'_>,
    claimed: Vec<Delivery>,
) -> Vec<DeliveryId> {
    let ids: Vec<DeliveryId> = claimed.iter().map(|each| each.delivery.clone()).collect();
    let Some(channel) = channels.get(&name) else { return ids };
    let sorted = if channel.definition().gathers() {
        match sorted(driver, channel, claimed).await {
            Ok(sorted) => sorted,
            Err(error) => {
                tracing::warn!(%error, "notifications for a digest cannot be sorted");
                driver.clock().sleep(PAUSE).await;
                return ids;
            }
        }
    } else {
        Sorted { bundles: vec![claimed], ..Sorted::default() }
    };
    let Sorted { bundles, dropped } = sorted;
    for (delivery, why) in dropped {
        let (id, now) = (delivery.delivery.clone(), driver.clock().now());
        if let Err(error) = settle(driver, channel, around, verdict::dropped(delivery, why, now)).await {
            tracing::warn!(delivery = %id, %error, "the result of a delivery cannot be stored");
        }
    }
    stream::iter(bundles)
        .for_each_concurrent(SENT_AT_ONCE, async |bundle| {
            let first = bundle.first().map(|each| each.delivery.to_string());
            if let Err(error) = Box::pin(deliver(driver, channel, around, bundle)).await {
                let delivery = first.as_deref();
                tracing::warn!(delivery, %error, "the result of a delivery cannot be stored");
                driver.clock().sleep(PAUSE).await;
            }
        })
        .await;
    ids
}

async fn sorted<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    claimed: Vec<Delivery>,
) -> Result<Sorted, Error> {
    let mut open = BTreeSet::new();
    let interrupts: BTreeSet<&InterruptId> = claimed.iter().map(|each| &each.interrupt).collect();
    for id in interrupts {
        if driver.journal().interrupt(id).await?.is_some_and(|row| row.open) {
            open.insert(id.clone());
        }
    }
    let system = driver.glance_system().await?;
    Ok(gather::sort(claimed, channel.definition(), &system.people, &open))
}

/// Sends a bundle of deliveries as one message.
async fn deliver<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: OutboxServices<'_>,
    bundle: Vec<Delivery>,
) -> Result<(), Error> {
    if let [delivery] = &bundle[..]
        && delivery.occasion == Occasion::Checkpoint
    {
        return deliver_checkpoint(driver, channel, around, delivery.clone()).await;
    }
    if channel.definition().name == CALLBACKS {
        for delivery in bundle {
            deliver_callback(driver, channel, around, delivery).await?;
        }
        return Ok(());
    }
    let is_for_people = channel.definition().via.is_read_by_people();
    let (mut deliveries, mut messages) = (Vec::new(), Vec::new());
    for delivery in bundle {
        let row = driver.journal().interrupt(&delivery.interrupt).await?;
        // A person receives no request to decide on an interrupt that is already resolved. A program receives the
        // notice of every event.
        let composed = if is_for_people && delivery.occasion.asks() && row.is_none_or(|row| !row.open) {
            Composed::Dropped("the interrupt was resolved before this notification was sent".to_owned())
        } else {
            compose(driver, channel, around.pages, &delivery).await?
        };
        match composed {
            Composed::Ready(message) => {
                deliveries.push(delivery);
                messages.push(*message);
            }
            Composed::Dropped(why) => {
                let now = driver.clock().now();
                settle(driver, channel, around, verdict::dropped(delivery, &why, now)).await?;
            }
        }
    }
    // The lease of this node has expired since the claim, so a different node may have claimed the delivery.
    if messages.is_empty() || !driver.journal().has_valid_leases() {
        return Ok(());
    }
    let began = driver.clock().now();
    let inbox = around.pages.all();
    let letter = AttemptContent::Messages { messages: &messages, inbox: &inbox };
    let sent = around.post.send(channel, letter, began).await;
    if sent.verdict == Verdict::Left {
        let to = deliveries
            .first()
            .and_then(|delivery| json::from_slice::<Notice>(delivery.notice.as_bytes()).ok());
        if let Some(Recipient::Browser { push, .. }) = to.and_then(|notice| notice.to) {
            around.pages.browser_left(&push).await;
        }
    }
    // All deliveries get the same random value, so that deliveries in one message are also retried in one message.
    let (now, chance) = (driver.clock().now(), driver.clock().seed().0[0]);
    for delivery in deliveries {
        let settled = verdict::settled(delivery, channel.definition(), &sent, began, now, chance);
        settle(driver, channel, around, settled).await?;
    }
    Ok(())
}

/// Sends a checkpoint. A checkpoint is never combined with other messages, because its receiver is a program.
async fn deliver_checkpoint<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: OutboxServices<'_>,
    delivery: Delivery,
) -> Result<(), Error> {
    let began = driver.clock().now();
    let Ok(notice) = json::from_slice::<CheckpointNotice>(delivery.notice.as_bytes()) else {
        let dropped = verdict::dropped(delivery, "the stored notification cannot be read", began);
        return settle(driver, channel, around, dropped).await.map(drop);
    };
    // The lease of this node has expired since the claim, so a different node may have claimed the delivery.
    if !driver.journal().has_valid_leases() {
        return Ok(());
    }
    let letter = AttemptContent::Checkpoint { id: delivery.delivery.as_str(), notice: &notice };
    let sent = around.post.send(channel, letter, began).await;
    conclude(driver, channel, around, delivery, &sent, began).await.map(drop)
}

/// Settles a delivery that was not sent. If the reason is temporary, a failed attempt is recorded, and the delivery is
/// retried later. Without the recorded attempt, the same delivery would be claimed again at once, before all others.
async fn settle_unsent<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: OutboxServices<'_>,
    delivery: Delivery,
    why: NoCallback,
) -> Result<(), Error> {
    let now = driver.clock().now();
    let written = match why {
        NoCallback::Never(why) => settle(driver, channel, around, verdict::dropped(delivery, why, now)).await,
        NoCallback::NotNow => conclude(driver, channel, around, delivery, &unread(), now).await,
    };
    written.map(drop)
}

/// Sends a callback to the URL that the agent gave when it requested the decision. The callback is signed with the
/// agent's secret.
async fn deliver_callback<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: OutboxServices<'_>,
    delivery: Delivery,
) -> Result<(), Error> {
    // Only a few callbacks are sent to one host at the same time, and a few more wait here for their turn. All other
    // callbacks to this host are released and postponed. Therefore a host that does not answer does not block callbacks
    // to other hosts.
    let _turn = match around.pages.callback_target(&delivery).await {
        Err(why) => return settle_unsent(driver, channel, around, delivery, why).await,
        Ok(Some(CallbackTarget { host, asker })) => {
            let Some(room) = around.turns.room(&asker, &host) else {
                let put_off = verdict::put_off(delivery, driver.clock().now());
                driver.journal().settle_delivery(put_off).await?;
                return Ok(());
            };
            Some((room, around.turns.at(&host).await))
        }
        Ok(None) => None,
    };
    // The content and the address are read only after the wait, because they may have been erased during it.
    let began = driver.clock().now();
    let Callback { channel: to, resolution, approval } = match around.pages.callback(&delivery).await {
        Ok(callback) => callback,
        Err(why) => return settle_unsent(driver, channel, around, delivery, why).await,
    };
    let message = match compose(driver, channel, around.pages, &delivery).await? {
        Composed::Ready(message) => Message { resolution: Some(resolution), approval, ..*message },
        Composed::Dropped(why) => {
            let dropped = verdict::dropped(delivery, &why, began);
            return settle(driver, channel, around, dropped).await.map(drop);
        }
    };
    // The callback is not sent if the lease of this node has expired since the claim: another node may then have
    // claimed the delivery. The callback is also not sent while everything is frozen. In this case, the delivery is
    // claimed again later.
    let began = driver.clock().now();
    if !driver.journal().has_valid_leases() || driver.system().await?.freezes.all.is_some() {
        return Ok(());
    }
    let inbox = around.pages.all();
    let letter = AttemptContent::Messages { messages: std::slice::from_ref(&message), inbox: &inbox };
    let sent = around.post.send(&to, letter, began).await;
    let sent = Sent { error: sent.error.as_deref().map(|error| to.without_host(error)), ..sent };
    if conclude(driver, channel, around, delivery, &sent, began).await? {
        around.pages.called_back(&message.notice.interrupt).await;
    }
    Ok(())
}

/// Records the result of an attempt at one delivery. Returns true if the message was delivered and this result was
/// recorded.
async fn conclude<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: OutboxServices<'_>,
    delivery: Delivery,
    sent: &Sent,
    began: Timestamp,
) -> Result<bool, Error> {
    let (now, chance) = (driver.clock().now(), driver.clock().seed().0[0]);
    let settled = verdict::settled(delivery, channel.definition(), sent, began, now, chance);
    let has_arrived = settled.settled.delivery.state == DeliveryState::Delivered;
    Ok(settle(driver, channel, around, settled).await? && has_arrived)
}

/// Returns the result of an attempt in which nothing was sent, because the notification or its recipient could not be
/// read.
fn unread() -> Sent {
    Sent {
        verdict: Verdict::Again(None),
        status: None,
        error: Some(
            "the notification was not sent because it or its recipient could not be read: see the server's log".to_owned(),
        ),
        digest: String::new(),
        answer: None,
    }
}

/// Settles a delivery: records its result. Returns false if another node has claimed the delivery in the meantime.
async fn settle<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: OutboxServices<'_>,
    verdict: verdict::Settling,
) -> Result<bool, Error> {
    let verdict::Settling { settled, is_gone } = verdict;
    let Settled { delivery, .. } = &settled;
    let (id, state, error) = (delivery.delivery.clone(), delivery.state, delivery.error.clone());
    let outcome = verdict::outcome(&settled);
    let name = &channel.definition().name;
    let told = driver.journal().settle_delivery(settled).await?;
    let SettleOutcome::Written { failing } = told else {
        tracing::debug!(delivery = %id, "another node has taken over the delivery");
        return Ok(false);
    };
    driver.metrics().delivered(name, outcome);
    if state == DeliveryState::Failed {
        tracing::warn!(delivery = %id, channel = %name, error, "a delivery failed and is not retried");
    }
    // Callbacks of all agents share one channel, but each agent has its own address. An agent that cannot be reached
    // must not disable the callbacks to other agents.
    if name != CALLBACKS
        && let Some(why) = verdict::judge_channel(driver, name, failing, is_gone).await?
    {
        around.pages.disabled(name, why).await;
    }
    Ok(true)
}
