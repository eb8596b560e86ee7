//! The outbox: sends what appends have written down for channels, and writes down what came of it.
//!
//! The journal is the truth: a delivery is claimed, sent, settled. A process that dies in between leaves a claim behind that
//! the next one takes, and the receiver tells the repeat by its id. Nothing is sent while everything is frozen, so a folder
//! that was restored tells nobody anything. Read [`keep_sending`] first; `post.rs` is the way out,
//! `verdict.rs` says what follows from an attempt.

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
use holdshort_store::{Claim, Journal, Settled, Told};
use tokio::sync::watch;

use crate::{Clock, Driver, Error, Executor};
use gather::Sorted;
use limits::{CALLED_AT_ONCE, GATHERED, SENT_AT_ONCE};
pub use message::{
    Alert, BrowserOf, Buttons, Callback, CallbackOf, NoCallback, Pages, PersonalLink, Place, PlaceOf,
};
use message::{Composed, compose};
pub use post::{Letter, Network, Post, Sending};
use turns::Turns;
pub use verdict::wait;

/// The longest sleep: clocks jump, other nodes go away, and a freeze is lifted.
const LONGEST: Duration = Duration::from_secs(5);
/// After a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// What the worker has of whoever runs it.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// Where links lead.
    pages: &'a dyn Pages,
    post: &'a dyn Post,
    /// Of agents that are called back.
    turns: &'a Turns,
}

/// Sends for as long as it is not dropped. `pages`: where links lead. `kept`: how long what runs said is kept; `None`: for ever.
pub async fn keep_sending<J: Journal, C: Clock, E: Executor>(
    driver: Arc<Driver<J, C, E>>,
    channels: watch::Receiver<Arc<Channels>>,
    pages: Arc<dyn Pages>,
    post: Arc<dyn Post>,
    kept: Option<Duration>,
) {
    let turns = Turns::default();
    let around = Around { pages: &*pages, post: &*post, turns: &turns };
    futures::join!(sweep::keep_forgetting(driver.clone(), kept), send_all(driver, channels, around));
}

async fn send_all<J: Journal, C: Clock, E: Executor>(
    driver: Arc<Driver<J, C, E>>,
    channels: watch::Receiver<Arc<Channels>>,
    around: Around<'_>,
) {
    let mut under_way = FuturesUnordered::new();
    let mut sending: BTreeMap<DeliveryId, String> = BTreeMap::new();
    loop {
        // As they are now: one may have been registered.
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
                tracing::warn!(%error, "deliveries can not be claimed");
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

/// What comes of a claim, and what was over meanwhile. All that is under way goes on: it may have its turn at the store
/// that the claim waits for.
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

/// What is due and has room, as it is sent together, and how long to wait where nothing else happens.
async fn claim_all<'c, J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channels: &'c Channels,
    sending: &BTreeMap<DeliveryId, String>,
) -> Result<(Vec<(&'c Channel, Vec<Delivery>)>, Duration), Error> {
    if driver.system().await?.freezes.all.is_some() || !driver.journal().holds() {
        return Ok((Vec::new(), LONGEST));
    }
    let now = driver.clock().now();
    let (mut all, mut have_room) = (Vec::new(), Vec::new());
    for channel in channels.all() {
        let name = &channel.definition().name;
        let busy = sending.values().filter(|of| *of == name).count();
        // What is gathered is claimed as a whole, so that one node tells all of it.
        let gathers = channel.definition().gathers();
        // Agents are told at many places, and at each of them they wait for their turn.
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
    // What has just become due is looked at in a moment, not at once: another node may be at it.
    Ok((all, wait.clamp(Duration::from_millis(20), LONGEST)))
}

/// Sends what this node has claimed, and settles it. What can not be settled stays claimed, and is claimed again.
async fn send_claimed<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channels: Arc<Channels>,
    name: String,
    around: Around<'_>,
    claimed: Vec<Delivery>,
) -> Vec<DeliveryId> {
    let ids: Vec<DeliveryId> = claimed.iter().map(|each| each.delivery.clone()).collect();
    let Some(channel) = channels.get(&name) else { return ids };
    let sorted = if channel.definition().gathers() {
        match sorted(driver, channel, claimed).await {
            Ok(sorted) => sorted,
            Err(error) => {
                tracing::warn!(%error, "what is to be told together can not be sorted");
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
            tracing::warn!(delivery = %id, %error, "what became of a delivery can not be written down");
        }
    }
    stream::iter(bundles)
        .for_each_concurrent(SENT_AT_ONCE, async |bundle| {
            let first = bundle.first().map(|each| each.delivery.to_string());
            if let Err(error) = Box::pin(deliver(driver, channel, around, bundle)).await {
                let delivery = first.as_deref();
                tracing::warn!(delivery, %error, "what became of a delivery can not be written down");
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

/// Several of them are one message.
async fn deliver<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: Around<'_>,
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
        // Nobody is asked to decide what is decided. A program hears of everything that happened.
        let composed = if is_for_people && delivery.occasion.asks() && row.is_none_or(|row| !row.open) {
            Composed::Dropped("it was resolved before".to_owned())
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
    // Its lease ran out since the claim: another node may have it by now.
    if messages.is_empty() || !driver.journal().holds() {
        return Ok(());
    }
    let began = driver.clock().now();
    let inbox = around.pages.all();
    let letter = Letter::Messages { messages: &messages, inbox: &inbox };
    let sent = around.post.send(channel, letter, began).await;
    if sent.verdict == Verdict::Left {
        let to = deliveries
            .first()
            .and_then(|delivery| json::from_slice::<Notice>(delivery.notice.as_bytes()).ok());
        if let Some(Recipient::Browser { push, .. }) = to.and_then(|notice| notice.to) {
            around.pages.browser_left(&push).await;
        }
    }
    // One chance for all: what was told together is told together when it is tried again.
    let (now, chance) = (driver.clock().now(), driver.clock().seed().0[0]);
    for delivery in deliveries {
        let settled = verdict::settled(delivery, channel.definition(), &sent, began, now, chance);
        settle(driver, channel, around, settled).await?;
    }
    Ok(())
}

/// It is never told together with others: nobody is disturbed by a program that keeps it.
async fn deliver_checkpoint<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: Around<'_>,
    delivery: Delivery,
) -> Result<(), Error> {
    let began = driver.clock().now();
    let Ok(notice) = json::from_slice::<CheckpointNotice>(delivery.notice.as_bytes()) else {
        let dropped = verdict::dropped(delivery, "its notice can not be read", began);
        return settle(driver, channel, around, dropped).await.map(drop);
    };
    // Its lease ran out since the claim: another node may have it by now.
    if !driver.journal().holds() {
        return Ok(());
    }
    let letter = Letter::Checkpoint { id: delivery.delivery.as_str(), notice: &notice };
    let sent = around.post.send(channel, letter, began).await;
    conclude(driver, channel, around, delivery, &sent, began).await.map(drop)
}

/// Nothing is sent. Where that is for now alone it is an attempt that failed: one that was only left would be claimed before
/// all others, again and again.
async fn not_told<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: Around<'_>,
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

/// It goes where the agent said that asked, signed with the secret that it gave.
async fn deliver_callback<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: Around<'_>,
    delivery: Delivery,
) -> Result<(), Error> {
    // A host takes a few at once, and a few more wait here. Others are given back, so that all that wait for a host that does
    // not answer are in nobody's way.
    let _turn = match around.pages.place(&delivery).await {
        Err(why) => return not_told(driver, channel, around, delivery, why).await,
        Ok(Some(Place { host, asker })) => {
            let Some(room) = around.turns.room(&asker, &host) else {
                let put_off = verdict::put_off(delivery, driver.clock().now());
                driver.journal().settle_delivery(put_off).await?;
                return Ok(());
            };
            Some((room, around.turns.at(&host).await))
        }
        Ok(None) => None,
    };
    // What is told, and where, is read once it is its turn: it may have been forgotten while others were told there.
    let began = driver.clock().now();
    let Callback { channel: to, resolution } = match around.pages.callback(&delivery).await {
        Ok(callback) => callback,
        Err(why) => return not_told(driver, channel, around, delivery, why).await,
    };
    let message = match compose(driver, channel, around.pages, &delivery).await? {
        Composed::Ready(message) => Message { resolution: Some(resolution), ..*message },
        Composed::Dropped(why) => {
            let dropped = verdict::dropped(delivery, &why, began);
            return settle(driver, channel, around, dropped).await.map(drop);
        }
    };
    // Its lease ran out since the claim: another node may have it by now. Or everything was frozen meanwhile: it is claimed
    // again.
    let began = driver.clock().now();
    if !driver.journal().holds() || driver.system().await?.freezes.all.is_some() {
        return Ok(());
    }
    let inbox = around.pages.all();
    let letter = Letter::Messages { messages: std::slice::from_ref(&message), inbox: &inbox };
    let sent = around.post.send(&to, letter, began).await;
    let sent = Sent { error: sent.error.as_deref().map(|error| to.without_host(error)), ..sent };
    if conclude(driver, channel, around, delivery, &sent, began).await? {
        around.pages.called_back(&message.notice.interrupt).await;
    }
    Ok(())
}

/// Writes down what an attempt at one delivery came to. Whether it arrived, and that was written.
async fn conclude<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: Around<'_>,
    delivery: Delivery,
    sent: &Sent,
    began: Timestamp,
) -> Result<bool, Error> {
    let (now, chance) = (driver.clock().now(), driver.clock().seed().0[0]);
    let settled = verdict::settled(delivery, channel.definition(), sent, began, now, chance);
    let has_arrived = settled.settled.delivery.state == DeliveryState::Delivered;
    Ok(settle(driver, channel, around, settled).await? && has_arrived)
}

/// What an attempt came to before anything was sent.
fn unread() -> Sent {
    Sent {
        verdict: Verdict::Again(None),
        status: None,
        error: Some(
            "what is told, or where, can not be read at the moment: the log of the server says why"
                .to_owned(),
        ),
        digest: String::new(),
        answer: None,
    }
}

/// Whether it was written down: another node may have it by now.
async fn settle<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    channel: &Channel,
    around: Around<'_>,
    verdict: verdict::Settling,
) -> Result<bool, Error> {
    let verdict::Settling { settled, is_gone } = verdict;
    let Settled { delivery, .. } = &settled;
    let (id, state, error) = (delivery.delivery.clone(), delivery.state, delivery.error.clone());
    let outcome = verdict::outcome(&settled);
    let name = &channel.definition().name;
    let told = driver.journal().settle_delivery(settled).await?;
    let Told::Written { failing } = told else {
        tracing::debug!(delivery = %id, "another node has it by now");
        return Ok(false);
    };
    driver.metrics().delivered(name, outcome);
    if state == DeliveryState::Failed {
        tracing::warn!(delivery = %id, channel = %name, error, "a delivery failed, and is not tried any more");
    }
    // Each agent is told elsewhere: one that can not be reached, or wants nothing more, keeps nothing from the others.
    if name != CALLBACKS
        && let Some(why) = verdict::judge_channel(driver, name, failing, is_gone).await?
    {
        around.pages.disabled(name, why).await;
    }
    Ok(true)
}
