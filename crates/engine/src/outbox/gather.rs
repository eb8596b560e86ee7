//! Decides which claimed deliveries of a channel are sent together, and which are dropped. A bundle contains the
//! deliveries that are sent as one message. A delivery is dropped if its interrupt is resolved or if a later delivery
//! replaces it. All remaining deliveries are sent alone.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::channel::Channel;
use holdshort_core::delivery::Delivery;
use holdshort_core::id::InterruptId;
use holdshort_core::json;
use holdshort_core::notice::{Notice, Occasion, Recipient};
use holdshort_core::people::People;

const DECIDED: &str = "the interrupt was resolved before this notification was sent";
const NEVER_TOLD: &str = "the interrupt was decided before anyone was notified";
const LATER: &str = "a later notification about the same interrupt replaced this notification";

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sorted {
    /// Deliveries to send. Each bundle contains one or several deliveries and becomes one message.
    pub bundles: Vec<Vec<Delivery>>,
    /// Dropped deliveries, each with its reason.
    pub dropped: Vec<(Delivery, &'static str)>,
}

/// Sorts the claimed deliveries of a channel. `open` contains the interrupts that are still open.
pub fn sort(
    claimed: Vec<Delivery>,
    channel: &Channel,
    people: &People,
    open: &BTreeSet<InterruptId>,
) -> Sorted {
    let mut sorted = Sorted::default();
    let mut held: BTreeMap<Option<Recipient>, Vec<Delivery>> = BTreeMap::new();
    for delivery in claimed {
        let notice: Option<Notice> = json::from_slice(delivery.notice.as_bytes()).ok();
        match notice.filter(|notice| channel.held_until(notice, delivery.created_at, people).is_some()) {
            Some(notice) => held.entry(notice.to).or_default().push(delivery),
            None => sorted.bundles.push(vec![delivery]),
        }
    }
    for deliveries in held.into_values() {
        let bundle = of_one(deliveries, open, &mut sorted.dropped);
        if !bundle.is_empty() {
            sorted.bundles.push(bundle);
        }
    }
    sorted
}

/// Returns the deliveries to one recipient that are not dropped: at most one per interrupt.
fn of_one(
    mut deliveries: Vec<Delivery>,
    open: &BTreeSet<InterruptId>,
    dropped: &mut Vec<(Delivery, &'static str)>,
) -> Vec<Delivery> {
    deliveries.sort_by(|one, other| {
        (&one.run, one.seq, &one.delivery).cmp(&(&other.run, other.seq, &other.delivery))
    });
    let never_told: BTreeSet<InterruptId> = deliveries
        .iter()
        .filter(|each| each.occasion == Occasion::Opened && each.attempts == 0)
        .map(|each| each.interrupt.clone())
        .collect();
    let mut left: Vec<Delivery> = Vec::new();
    for delivery in deliveries {
        if delivery.occasion.asks() && !open.contains(&delivery.interrupt) {
            dropped.push((delivery, DECIDED));
        } else if delivery.occasion == Occasion::Resolved && never_told.contains(&delivery.interrupt) {
            dropped.push((delivery, NEVER_TOLD));
        } else {
            if let Some(at) = left.iter().position(|each| each.interrupt == delivery.interrupt) {
                dropped.push((left.remove(at), LATER));
            }
            left.push(delivery);
        }
    }
    left
}
