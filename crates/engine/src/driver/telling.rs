//! What an append tells people: the deliveries that go into it, one for each channel that is told of each notice.

use std::sync::{Arc, PoisonError};

use holdshort_core::channel::Channel;
use holdshort_core::delivery::{Delivery, DeliveryState};
use holdshort_core::event::Event;
use holdshort_core::id::Draw;
use holdshort_core::json;
use holdshort_core::notice::notices;
use holdshort_core::run::Run;
use holdshort_store::Journal;

use super::Driver;
use crate::{Clock, Executor};

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// These are the channels from here on: before anything is driven, and whenever one is registered or removed.
    pub fn tell_channels(&self, channels: Vec<Channel>) {
        *self.channels.write().unwrap_or_else(PoisonError::into_inner) = Arc::from(channels);
    }

    /// Where people are told.
    pub fn channels(&self) -> Arc<[Channel]> {
        self.channels.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The deliveries of the events that follow the run as it was `before`.
    pub(super) fn deliveries(
        &self,
        before: &Run,
        first_seq: u64,
        run: &Run,
        events: &[Event],
        draw: &mut Draw,
    ) -> Vec<Delivery> {
        let channels = self.channels();
        if channels.is_empty() {
            return Vec::new();
        }
        let now = self.clock.now();
        let mut deliveries = Vec::new();
        for notice in notices(before, run, first_seq, events) {
            let text = String::from_utf8(json::canonical(&notice)).unwrap_or_default();
            for channel in channels.iter().filter(|channel| channel.rule.takes(&notice)) {
                deliveries.push(Delivery {
                    delivery: draw.id(),
                    channel: channel.name.clone(),
                    occasion: notice.occasion,
                    run: notice.run.clone(),
                    seq: notice.seq,
                    interrupt: notice.interrupt.clone(),
                    notice: text.clone(),
                    state: DeliveryState::Waiting,
                    created_at: now,
                    next_at: Some(now),
                    attempts: 0,
                    node: None,
                    status: None,
                    error: None,
                    ended_at: None,
                });
            }
        }
        deliveries
    }
}
