//! Notifications that follow from the events of an append: one delivery for each channel whose rules match the notice.

use std::sync::{Arc, PoisonError};

use holdshort_core::channel::{CALLBACKS, Channel, To, Via};
use holdshort_core::delivery::{Delivery, DeliveryState};
use holdshort_core::id::Draw;
use holdshort_core::json;
use holdshort_core::notice::{CheckpointNotice, Notice, Occasion, Recipient, callbacks, notices};
use holdshort_core::run::{HandledInput, Run};
use holdshort_core::system::System;
use holdshort_core::time::Timestamp;
use holdshort_store::Journal;
use serde::Serialize;

use super::Driver;
use super::lookups::{Lookup, Lookups, Missing};
use crate::outbox::limits::RECIPIENTS;
use crate::{Clock, Executor};

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Sets the channels. Called before any run is driven, and again whenever a channel is registered or removed.
    pub fn set_channels(&self, channels: Vec<Channel>) {
        *self.channels.write().unwrap_or_else(PoisonError::into_inner) = Arc::from(channels);
    }

    /// Returns the channels over which people are notified.
    pub fn channels(&self) -> Arc<[Channel]> {
        self.channels.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the deliveries that follow from the new events of a run. `before` is the state of the run before these
    /// events.
    pub(super) fn deliveries(
        &self,
        before: &Run,
        first_seq: u64,
        HandledInput { run, events, .. }: &HandledInput,
        system: &System,
        draw: &mut Draw,
        lookups: &Lookups,
    ) -> Result<Vec<Delivery>, Missing> {
        let (channels, now) = (self.channels(), self.clock.now());
        let mut deliveries = Vec::new();
        for notice in callbacks(run, first_seq, events) {
            deliveries.push(delivery_for_notice(&notice, CALLBACKS, now, draw));
        }
        if channels.is_empty() {
            return Ok(deliveries);
        }
        let mut missing = Vec::new();
        for notice in notices(before, run, first_seq, events) {
            for channel in channels.iter() {
                for to in all_recipients(channel, &notice, system, now, lookups, &mut missing) {
                    let notice = Notice { to, ..notice.clone() };
                    let next_at = Some(channel.held_until(&notice, now, &system.people).unwrap_or(now));
                    deliveries
                        .push(Delivery { next_at, ..delivery_for_notice(&notice, &channel.name, now, draw) });
                }
            }
        }
        match Missing::new(run, before.seq, missing) {
            Some(missing) => Err(missing),
            None => Ok(deliveries),
        }
    }

    /// Returns the deliveries of a checkpoint: one for each channel that is configured to receive checkpoints. Each
    /// delivery refers to the event that will be appended next.
    pub(super) fn checkpoint_deliveries(&self, notice: &CheckpointNotice) -> Vec<Delivery> {
        let now = self.clock.now();
        let mut draw = Draw::new(self.clock.seed(), now);
        let mut deliveries = Vec::new();
        for channel in self.channels().iter().filter(|channel| channel.rule.takes_checkpoints()) {
            let to = match &channel.to {
                To::Addresses(addresses) => {
                    addresses.iter().cloned().map(Recipient::Address).map(Some).collect()
                }
                To::Channel | To::People => vec![None],
            };
            deliveries.extend(to.into_iter().map(|to| {
                let notice = CheckpointNotice { to, ..notice.clone() };
                new(&mut draw, &channel.name, Occasion::Checkpoint, &notice, now)
            }));
        }
        deliveries
    }
}

/// Returns the recipients of a notice on a channel. If the notice reports a resolution, everyone whom this channel
/// asked to decide is a recipient too.
fn all_recipients(
    channel: &Channel,
    notice: &Notice,
    system: &System,
    now: Timestamp,
    lookups: &Lookups,
    missing: &mut Vec<Lookup>,
) -> Vec<Option<Recipient>> {
    let takes = channel.rule.matches(notice);
    let mut all = if takes { recipients(channel, notice, system, now) } else { Vec::new() };
    let is_told_all = takes && channel.to != To::People;
    if notice.occasion.asks() || is_told_all || !channel.rule.is_about(notice) {
        return all;
    }
    if let Some(told) = lookups.recipients(&channel.name, &notice.interrupt) {
        let others: Vec<_> = told.iter().filter(|to| !all.contains(to)).cloned().collect();
        all.extend(others);
    } else {
        let (channel, interrupt) = (channel.name.clone(), notice.interrupt.clone());
        missing.push(Lookup::Recipients { channel, interrupt });
    }
    all
}

/// Returns a delivery of a notice about an interrupt. The delivery is to be sent immediately.
fn delivery_for_notice(notice: &Notice, channel: &str, now: Timestamp, draw: &mut Draw) -> Delivery {
    Delivery {
        run: notice.run.clone(),
        seq: notice.seq,
        interrupt: notice.interrupt.clone(),
        ..new(draw, channel, notice.occasion, notice, now)
    }
}

/// Returns a delivery that concerns no interrupt and no run. The delivery is to be sent immediately.
fn new(
    draw: &mut Draw,
    channel: &str,
    occasion: Occasion,
    notice: &impl Serialize,
    now: Timestamp,
) -> Delivery {
    let (run, interrupt) = Delivery::placeholder_ids();
    Delivery {
        delivery: draw.id(),
        channel: channel.to_owned(),
        occasion,
        run,
        seq: 0,
        interrupt,
        notice: String::from_utf8(json::canonical(notice)).unwrap_or_default(),
        state: DeliveryState::Waiting,
        created_at: now,
        next_at: Some(now),
        attempts: 0,
        node: None,
        status: None,
        error: None,
        ended_at: None,
    }
}

/// Returns the recipients of a notice on a channel. The element `None` means that the notice is sent to the channel as
/// a whole and not to a person.
fn recipients(channel: &Channel, notice: &Notice, system: &System, now: Timestamp) -> Vec<Option<Recipient>> {
    match &channel.to {
        To::Channel => vec![None],
        To::Addresses(addresses) => addresses.iter().cloned().map(Recipient::Address).map(Some).collect(),
        To::People => {
            let asked: Vec<Recipient> = if channel.via == Via::Push {
                notice.browsers(system, now)
            } else {
                notice.recipients(&system.people, now).into_iter().map(Recipient::Person).collect()
            };
            if asked.len() > RECIPIENTS {
                tracing::warn!(
                    channel = channel.name,
                    interrupt = %notice.interrupt,
                    asked = asked.len(),
                    "only the first {RECIPIENTS} approvers are notified: configure one address that reaches \
                    all of them"
                );
            }
            asked.into_iter().take(RECIPIENTS).map(Some).collect()
        }
    }
}
