//! The outbox of the journal in memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use holdshort_core::delivery::{Attempt, ChannelState, Delivery, DeliveryState};
use holdshort_core::id::{DeliveryId, RunId};
use holdshort_core::time::Timestamp;

use super::Memory;
use crate::cursor::DeliverySortKey;
use crate::journal::Error;
use crate::outbox::{
    Claim, DELIVERIES_AT_ONCE, DeliveryChange, DeliveryFilter, Failing, Outbox, SettleOutcome, Settled,
    pause_ms,
};
use crate::tables::{Cursor, Page};

#[derive(Debug, Default)]
pub(super) struct Deliveries {
    all: BTreeMap<DeliveryId, Delivery>,
    attempts: BTreeMap<(DeliveryId, u64), Attempt>,
    channels: BTreeMap<String, ChannelState>,
}

impl Deliveries {
    pub(super) fn add(&mut self, new: Vec<Delivery>) {
        self.all.extend(new.into_iter().map(|each| (each.delivery.clone(), each)));
    }

    /// Deletes the responses of receivers to notifications about a run.
    pub(super) fn forget_answers(&mut self, run: &RunId) {
        for ((id, _), attempt) in &mut self.attempts {
            if self.all.get(id).is_some_and(|delivery| delivery.run == *run) {
                attempt.answer = None;
            }
        }
    }

    fn is_disabled(&self, channel: &str) -> bool {
        self.channels.get(channel).is_some_and(|state| state.disabled_at.is_some())
    }

    fn settle(&mut self, settled: Settled) -> SettleOutcome {
        let (works, channel) = (settled.works(), settled.delivery.channel.clone());
        let mut failing = None;
        if let Some(attempt) = settled.attempt {
            match works {
                Some(true) if !self.is_disabled(&channel) => drop(self.channels.remove(&channel)),
                Some(false) => failing = Some(self.fail(&channel, attempt.at)),
                Some(true) | None => {}
            }
            self.attempts.insert((attempt.delivery.clone(), attempt.number), attempt);
        }
        self.all.insert(settled.delivery.delivery.clone(), settled.delivery);
        SettleOutcome::Written { failing }
    }

    fn fail(&mut self, channel: &str, at: Timestamp) -> Failing {
        let state = self.state_of(channel, at);
        let pause = at.ms_since(state.failed_at);
        state.failing_ms += pause.min(u64::try_from(pause_ms()).unwrap_or(u64::MAX));
        state.failed_at = state.failed_at.max(at);
        Failing { since: state.failing_since, ms: state.failing_ms }
    }

    fn state_of(&mut self, channel: &str, now: Timestamp) -> &mut ChannelState {
        self.channels.entry(channel.to_owned()).or_insert_with(|| ChannelState {
            channel: channel.to_owned(),
            failing_since: now,
            failed_at: now,
            failing_ms: 0,
            disabled_at: None,
            why: None,
        })
    }

    fn change(&mut self, change: DeliveryChange, is_sent: impl Fn(&Delivery) -> bool) -> usize {
        match change {
            DeliveryChange::Retry { delivery, now } => {
                let found = self.all.get_mut(&delivery).filter(|each| {
                    each.state != DeliveryState::Delivered && !each.notice.is_empty() && !is_sent(each)
                });
                let Some(found) = found else { return 0 };
                found.state = DeliveryState::Waiting;
                (found.next_at, found.ended_at, found.node) = (Some(now), None, None);
                self.channels.remove(&found.channel);
                1
            }
            DeliveryChange::DropWaiting { why, now } => {
                self.end(DeliveryState::Dropped, &why, now, usize::MAX, |_| true)
            }
            DeliveryChange::FailOld { before, why, now } => {
                self.end(DeliveryState::Failed, &why, now, DELIVERIES_AT_ONCE, |each| {
                    each.next_at.is_some_and(|at| at < before) && !is_sent(each)
                })
            }
            DeliveryChange::Disable { channel, why, now } => {
                let state = self.state_of(&channel, now);
                if state.disabled_at.is_some() {
                    return 0;
                }
                (state.disabled_at, state.why) = (Some(now), Some(why));
                1
            }
            DeliveryChange::Forget { bodies, attempts } => {
                let ended = |each: &Delivery, before| each.ended_at.is_some_and(|at| at < before);
                let of = |all: &BTreeMap<DeliveryId, Delivery>, test: &dyn Fn(&Delivery) -> bool| {
                    let found = all.values().filter(|each| test(each)).take(DELIVERIES_AT_ONCE);
                    found.map(|each| each.delivery.clone()).collect::<Vec<_>>()
                };
                let gone = of(&self.all, &|each| ended(each, attempts));
                let old = of(&self.all, &|each| ended(each, bodies) && !each.notice.is_empty());
                self.all.retain(|id, _| !gone.contains(id));
                self.attempts.retain(|(id, _), _| !gone.contains(id));
                for (id, delivery) in &mut self.all {
                    if old.contains(id) {
                        delivery.notice.clear();
                    }
                }
                for ((id, _), attempt) in &mut self.attempts {
                    if old.contains(id) {
                        attempt.answer = None;
                    }
                }
                gone.len() + old.iter().filter(|id| !gone.contains(id)).count()
            }
        }
    }

    /// Ends waiting deliveries with the state `state`, at most one batch per call. Returns the number of ended
    /// deliveries.
    fn end(
        &mut self,
        state: DeliveryState,
        why: &str,
        now: Timestamp,
        limit: usize,
        test: impl Fn(&Delivery) -> bool,
    ) -> usize {
        let waiting = self.all.values_mut().filter(|each| each.next_at.is_some() && test(each));
        let mut ended = 0;
        for delivery in waiting.take(limit) {
            delivery.state = state;
            (delivery.next_at, delivery.node, delivery.ended_at) = (None, None, Some(now));
            delivery.error = Some(why.to_owned());
            ended += 1;
        }
        ended
    }
}

impl Outbox for Memory {
    async fn claim_deliveries(&self, claim: Claim) -> Result<Vec<Delivery>, Error> {
        let Claim { channel, now, limit, sending, whole: _ } = claim;
        let mut state = self.state()?;
        // A node whose lease has expired claims nothing, because other nodes could claim the same deliveries. This also
        // applies if the node has not noticed the expiry yet.
        if state.outbox.is_disabled(&channel) || !state.is_alive(self.node) {
            return Ok(Vec::new());
        }
        let is_free = |each: &Delivery| match each.node {
            Some(node) => node == self.node || !state.is_alive(node),
            None => true,
        };
        let is_due = |each: &Delivery| each.channel == channel && each.next_at.is_some_and(|at| at <= now);
        let due = |each: &&Delivery| is_due(each) && is_free(each) && !sending.contains(&each.delivery);
        let mut due: Vec<(Option<Timestamp>, DeliveryId)> =
            state.outbox.all.values().filter(due).map(|each| (each.next_at, each.delivery.clone())).collect();
        due.sort();
        due.truncate(limit);
        let mut claimed = Vec::new();
        for (_, id) in due {
            if let Some(delivery) = state.outbox.all.get_mut(&id) {
                delivery.node = Some(self.node);
                claimed.push(delivery.clone());
            }
        }
        Ok(claimed)
    }

    async fn settle_delivery(&self, settled: Settled) -> Result<SettleOutcome, Error> {
        let mut state = self.state()?;
        let found = state.outbox.all.get(&settled.delivery.delivery);
        if found.is_none_or(|found| found.node != Some(self.node)) {
            return Ok(SettleOutcome::Taken);
        }
        Ok(state.outbox.settle(settled))
    }

    async fn change_deliveries(&self, change: DeliveryChange) -> Result<usize, Error> {
        let mut state = self.state()?;
        let alive: Vec<u64> = state.nodes.iter().filter(|(_, node)| node.alive).map(|(id, _)| *id).collect();
        let is_sent = |each: &Delivery| each.node.is_some_and(|node| alive.contains(&node));
        Ok(state.outbox.change(change, is_sent))
    }

    async fn next_delivery(&self, channels: Vec<String>) -> Result<Option<Timestamp>, Error> {
        let state = self.state()?;
        let waits = |each: &&Delivery| {
            channels.contains(&each.channel)
                && !state.outbox.is_disabled(&each.channel)
                && each.node.is_none_or(|node| !state.is_alive(node))
        };
        Ok(state.outbox.all.values().filter(waits).filter_map(|each| each.next_at).min())
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, Error> {
        Ok(self.state()?.outbox.all.get(id).cloned())
    }

    async fn deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Delivery>, Error> {
        let after = after.map(|cursor| DeliverySortKey::decode(cursor)).transpose()?;
        let state = self.state()?;
        let DeliveryFilter { channel, state: wanted, interrupt } = filter;
        let items = state
            .outbox
            .all
            .values()
            .rev()
            .filter(|each| channel.as_ref().is_none_or(|channel| each.channel == *channel))
            .filter(|each| wanted.is_none_or(|wanted| each.state == wanted))
            .filter(|each| interrupt.as_ref().is_none_or(|interrupt| each.interrupt == *interrupt))
            .filter(|each| {
                after.as_ref().is_none_or(|DeliverySortKey(Reverse(after))| each.delivery < *after)
            });
        let items = items.take(limit.saturating_add(1)).cloned().collect();
        Ok(Page::cut(items, limit, |row| DeliverySortKey::from_row(row).encode()))
    }

    async fn attempts(&self, id: &DeliveryId) -> Result<Vec<Attempt>, Error> {
        let state = self.state()?;
        Ok(state.outbox.attempts.values().filter(|attempt| attempt.delivery == *id).cloned().collect())
    }

    async fn channel_states(&self) -> Result<Vec<ChannelState>, Error> {
        Ok(self.state()?.outbox.channels.values().cloned().collect())
    }
}
