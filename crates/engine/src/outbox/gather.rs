//! Sorts the held-back deliveries of a channel. Bundles what is sent together, and drops deliveries whose interrupt is
//! resolved or that a later one replaces. Leaves other deliveries alone.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::channel::Channel;
use holdshort_core::delivery::Delivery;
use holdshort_core::id::InterruptId;
use holdshort_core::json;
use holdshort_core::notice::{Notice, Occasion, Recipient};
use holdshort_core::people::People;

/// Reasons why a delivery is not sent.
const DECIDED: &str = "it was already resolved";
const NEVER_TOLD: &str = "it was decided before anyone was notified";
const LATER: &str = "a later notification covers it, too";

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sorted {
    /// Each bundle is one message, of one delivery or of several.
    pub bundles: Vec<Vec<Delivery>>,
    /// Dropped deliveries with the reason.
    pub dropped: Vec<(Delivery, &'static str)>,
}

/// Sorts the claimed deliveries of a channel. `open` contains those of their interrupts that are open.
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

/// Returns the remaining deliveries of one recipient: one for each interrupt.
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
