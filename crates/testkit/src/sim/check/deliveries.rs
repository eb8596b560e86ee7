//! Checks the deliveries of channels by means of events. Each message must belong to an event, a message may be
//! repeated only with a reason, and no delivery may get lost.
//!
//! `notices.rs` computes from the events which notices are expected. The messages that are checked are those that reach
//! the simulated receivers.

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;
use holdshort_core::channel::Channel;
use holdshort_core::delivery::{Delivery, DeliveryState};
use holdshort_core::id::{DeliveryId, InterruptId};
use holdshort_core::notice::Occasion;
use holdshort_core::time::Timestamp;
use holdshort_store::{DeliveryFilter, Outbox};

use super::Witness;
use super::notices::NoticeKey;
use crate::sim::history::short;
use crate::sim::leases::{Leases, Term};
use crate::sim::node::NodeId;
use crate::sim::store::Store;

#[derive(Default)]
pub(in crate::sim) struct DeliveryWitness {
    /// True if this simulation has channels: see [`crate::sim::OUTBOX_FROM`].
    pub(in crate::sim) plays: bool,
    pub(super) happened: BTreeSet<NoticeKey>,
    claims: BTreeMap<(NodeId, DeliveryId), ClaimedDelivery>,
    /// For each channel and interrupt, the creation time and the event's sequence number of the newest delivery that a
    /// simulated node has claimed.
    newest: BTreeMap<(String, InterruptId), (Timestamp, u64)>,
    attempts: BTreeMap<DeliveryId, Vec<Attempt>>,
    ids: BTreeMap<(String, NoticeKey), DeliveryId>,
    /// For each channel, the notices that its simulated receiver has read.
    received: BTreeSet<(String, NoticeKey)>,
    delivered: BTreeSet<DeliveryId>,
    dead: BTreeSet<NodeId>,
    /// For each simulated node, the number of times that its store failed.
    stumbles: BTreeMap<NodeId, u32>,
    /// Disabled channels about which the simulated admins were alerted.
    alerts: BTreeSet<String>,
    /// Numbers of attempts and deliveries, by their results: see [`crate::sim::SimulationReport::told`].
    pub(in crate::sim) counts: BTreeMap<&'static str, u64>,
}

#[derive(Clone, Copy)]
struct ClaimedDelivery {
    term: Option<Term>,
    was_open: bool,
}

struct Attempt {
    node: NodeId,
    term: Option<Term>,
    stumbles: u32,
    /// Response of the receiver to the delivery attempt. `None` if there is no response yet.
    answer: Option<ReceiverAnswer>,
}

/// Response of a simulated receiver, as the sender understands it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum ReceiverAnswer {
    Well,
    /// The receiver has failed, and the sender is allowed to try the delivery again.
    Badly,
    /// The receiver has failed, and the sender must not try the delivery again.
    Never,
}

impl DeliveryWitness {
    pub(in crate::sim) fn died(&mut self, node: NodeId) {
        self.dead.insert(node);
    }

    pub(in crate::sim) fn stumbled(&mut self, node: NodeId) {
        *self.stumbles.entry(node).or_default() += 1;
    }

    pub(in crate::sim) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub(in crate::sim) fn alerted(&mut self, channel: &str) {
        self.count("disabled");
        self.alerts.insert(channel.to_owned());
    }

    pub(in crate::sim) fn settled(&mut self, delivery: &Delivery) {
        if delivery.state == DeliveryState::Delivered {
            self.delivered.insert(delivery.delivery.clone());
        }
    }

    pub(in crate::sim) fn answered(&mut self, id: &DeliveryId, node: NodeId, answer: ReceiverAnswer) {
        let attempts = self.attempts.entry(id.clone()).or_default();
        let waits = |each: &&mut Attempt| each.node == node && each.answer.is_none();
        if let Some(attempt) = attempts.iter_mut().rev().find(waits) {
            attempt.answer = Some(answer);
        }
    }

    pub(in crate::sim) fn received(&mut self, channel: &str, what: &NoticeKey) {
        self.received.insert((channel.to_owned(), what.clone()));
    }

    /// Returns true if there is a reason to send a delivery again after its last attempt.
    fn is_excused(&self, last: &Attempt, leases: &Leases) -> bool {
        matches!(last.answer, Some(ReceiverAnswer::Badly | ReceiverAnswer::Never))
            || self.dead.contains(&last.node)
            || leases.term(last.node) != last.term
            || self.stumbles.get(&last.node).copied().unwrap_or_default() > last.stumbles
    }

    fn check_attempt(
        &mut self,
        node: NodeId,
        leases: &Leases,
        channel: &Channel,
        id: &DeliveryId,
        what: &NoticeKey,
    ) -> Result<(), String> {
        let told = describe_notice(&channel.name, what);
        if !self.happened.contains(what) {
            return Err(format!("{told}, but the event never occurred"));
        }
        let key = (channel.name.clone(), what.clone());
        if self.ids.entry(key).or_insert_with(|| id.clone()) != id {
            return Err(format!("{told} under two ids"));
        }
        let Some(ClaimedDelivery { term, was_open }) = self.claims.get(&(node, id.clone())).copied() else {
            return Err(format!("{told}, but n{node} has not claimed it"));
        };
        if channel.via.is_read_by_people() && what.occasion.asks() && !was_open {
            return Err(format!("{told}, but the interrupt was already resolved"));
        }
        // The lease under which the delivery was claimed has ended, so another node may have continued with the
        // delivery. The message may then be repeated, as after a crash.
        let was_given_up = leases.term(node) != term;
        if self.delivered.contains(id) && !was_given_up {
            return Err(format!("{told} again, although it was recorded as delivered"));
        }
        let last = self.attempts.get(id).and_then(|attempts| attempts.last());
        if last.is_some_and(|last| !was_given_up && !self.is_excused(last, leases)) {
            return Err(format!("{told} again, although nothing had failed"));
        }
        if last.is_some_and(|last| last.answer.is_none_or(|answer| answer == ReceiverAnswer::Well)) {
            self.count("repeated");
        }
        let stumbles = self.stumbles.get(&node).copied().unwrap_or_default();
        let attempt = Attempt { node, term, stumbles, answer: None };
        self.attempts.entry(id.clone()).or_default().push(attempt);
        Ok(())
    }

    /// Checks that the simulated channel sent every notice that the events require. A notice may be missing only if the
    /// channel had a reason to leave it out.
    fn check_channel(&self, channel: &Channel, rows: &[Delivery], is_disabled: bool) -> Result<(), String> {
        let occasions = &channel.rule.occasions;
        let takes = |what: &&NoticeKey| occasions.is_empty() || occasions.contains(&what.occasion);
        for what in self.happened.iter().filter(takes) {
            let of_it = |row: &&Delivery| {
                row.channel == channel.name
                    && row.interrupt == what.interrupt
                    && (row.seq, row.occasion) == (what.seq, what.occasion)
            };
            let told = describe_notice(&channel.name, what);
            let mut found = rows.iter().filter(of_it);
            let row = found.next().ok_or_else(|| format!("the delivery is lost: {told}"))?;
            if found.next().is_some() {
                return Err(format!("{told} under two ids"));
            }
            let is_received = self.received.contains(&(channel.name.clone(), what.clone()));
            match row.state {
                DeliveryState::Delivered if !is_received => {
                    return Err(format!("not delivered, but recorded as delivered: {told}"));
                }
                DeliveryState::Waiting if !is_disabled => {
                    return Err(format!("never delivered: {told}"));
                }
                DeliveryState::Failed if !is_received && !self.has_failed(channel, row) => {
                    return Err(format!("given up too soon: {told}"));
                }
                DeliveryState::Dropped if !is_received && !self.may_be_dropped(channel, what) => {
                    return Err(format!("dropped, but should be sent: {told}"));
                }
                DeliveryState::Delivered
                | DeliveryState::Waiting
                | DeliveryState::Failed
                | DeliveryState::Dropped => {}
            }
        }
        Ok(())
    }

    /// Returns true if all attempts of the delivery failed, or one of them failed permanently.
    fn has_failed(&self, channel: &Channel, row: &Delivery) -> bool {
        let attempts = self.attempts.get(&row.delivery).map(Vec::as_slice).unwrap_or_default();
        let badly = attempts.iter().filter(|each| each.answer == Some(ReceiverAnswer::Badly)).count();
        badly as u64 >= channel.attempts
            || attempts.iter().any(|each| each.answer == Some(ReceiverAnswer::Never))
    }

    /// Returns true if the channel has a reason not to send this notice. For example, a request to decide is not needed
    /// if its interrupt is already resolved. In a channel with digests, it is enough to send a later notice about the
    /// same interrupt. Such a channel also need not report a resolution if it has not asked anyone to decide on the
    /// interrupt.
    fn may_be_dropped(&self, channel: &Channel, what: &NoticeKey) -> bool {
        if !channel.via.is_read_by_people() {
            return false;
        }
        let of_the_same = || self.happened.iter().filter(|each| each.interrupt == what.interrupt);
        let id = |each: &NoticeKey| self.ids.get(&(channel.name.clone(), each.clone()));
        let is_resolved = of_the_same().any(|each| !each.occasion.asks());
        if what.occasion.asks() && is_resolved {
            return true;
        }
        let later = of_the_same().any(|each| each.seq > what.seq && id(each).is_some());
        // If a node died after it sent a delivery and before it recorded that, no other node knows that the delivery
        // was sent.
        let is_known = |each: &NoticeKey| id(each).is_some_and(|id| self.delivered.contains(id));
        let was_asked = of_the_same().any(|each| each.occasion == Occasion::Opened && is_known(each));
        channel.gathers() && (later || (what.occasion == Occasion::Resolved && !was_asked))
    }
}

impl Witness {
    pub(in crate::sim) fn claimed(&mut self, node: NodeId, leases: &Leases, claimed: &[Delivery]) {
        let mut claimed: Vec<&Delivery> = claimed.iter().collect();
        // Deliveries that a node claims together are sent at the same time, or in one message.
        claimed.sort_by_key(|each| (each.created_at, each.seq));
        for delivery in claimed {
            let interrupt = self.run(&delivery.run).and_then(|run| run.interrupts.get(&delivery.interrupt));
            let was_open = interrupt.is_some_and(|interrupt| interrupt.is_open());
            let is_first = !self.telling.claims.keys().any(|(_, id)| *id == delivery.delivery);
            let claim = ClaimedDelivery { term: leases.term(node), was_open };
            self.telling.claims.insert((node, delivery.delivery.clone()), claim);
            if !is_first {
                continue;
            }
            let place = (delivery.channel.clone(), delivery.interrupt.clone());
            let this = (delivery.created_at, delivery.seq);
            let newest = self.telling.newest.entry(place).or_insert(this);
            if this.0 < newest.0 && this.1 < newest.1 {
                let (channel, interrupt) = (&delivery.channel, short(delivery.interrupt.as_str()));
                let problem = format!("`{channel}` is notified of {interrupt} out of order");
                self.note(Err(problem));
            } else {
                *newest = this;
            }
        }
    }

    /// Checks an attempt of a simulated node to send a delivery. `believes` is true if the node believes that its lease
    /// is valid.
    pub(in crate::sim) fn sends(
        &mut self,
        (node, believes): (NodeId, bool),
        leases: &Leases,
        channel: &Channel,
        messages: &[(DeliveryId, NoticeKey)],
    ) {
        if !believes {
            self.note(Err(format!("n{node} sends, although it knows that its lease has expired")));
        }
        if messages.len() > 1 {
            self.telling.count("together");
        }
        for (id, what) in messages {
            let checked = self.telling.check_attempt(node, leases, channel, id, what);
            self.note(checked);
        }
    }

    /// Checks that no delivery of the simulation was lost. The check is made at the end, when all deliveries have been
    /// sent.
    pub(in crate::sim) fn check_deliveries(&mut self, store: &Store, channels: &[Channel]) {
        let checked = self.check_all_channels(store, channels);
        self.note(checked);
    }

    fn check_all_channels(&mut self, store: &Store, channels: &[Channel]) -> Result<(), String> {
        let rows = list_deliveries(store)?;
        let disabled = list_disabled_channels(store)?;
        if let Some(channel) = disabled.iter().find(|channel| !self.telling.alerts.contains(*channel)) {
            return Err(format!("`{channel}` is disabled, but no alert was sent"));
        }
        for row in &rows {
            self.telling.count(row.state.as_str());
            let (interrupt, run) = (row.interrupt.clone(), row.run.clone());
            let what = NoticeKey { interrupt, seq: row.seq, occasion: row.occasion, run };
            if !self.telling.happened.contains(&what) {
                return Err(format!(
                    "{}, but the event never occurred",
                    describe_notice(&row.channel, &what)
                ));
            }
        }
        channels.iter().try_for_each(|channel| {
            self.telling.check_channel(channel, &rows, disabled.contains(&channel.name))
        })
    }
}

pub(in crate::sim) fn list_deliveries(store: &Store) -> Result<Vec<Delivery>, String> {
    let filter = DeliveryFilter::default();
    let all = store.deliveries(&filter, None, usize::MAX >> 1).now_or_never();
    let all = all.ok_or("the outbox did not answer at once")?;
    all.map(|page| page.items).map_err(|error| error.to_string())
}

pub(in crate::sim) fn list_disabled_channels(store: &Store) -> Result<BTreeSet<String>, String> {
    let states = store.channel_states().now_or_never().ok_or("the outbox did not answer at once")?;
    let states = states.map_err(|error| error.to_string())?;
    Ok(states.into_iter().filter(|each| each.disabled_at.is_some()).map(|each| each.channel).collect())
}

fn describe_notice(channel: &str, what: &NoticeKey) -> String {
    let (occasion, interrupt) = (what.occasion.as_str(), short(what.interrupt.as_str()));
    format!("`{channel}` is notified that {interrupt} is {occasion}, by event {}", what.seq)
}
