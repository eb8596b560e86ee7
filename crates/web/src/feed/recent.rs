//! The newest events of the journal, which are read once and shared by all followers. A follower that is not behind
//! reads the shared events. A follower that is behind reads the journal until it is not behind any more.
//!
//! The feed of each follower checks for itself which events the follower is allowed to see. While there are no
//! followers, no events are read or stored in memory.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use holdshort_core::id::{RunId, StreamId};
use holdshort_store::{Error, Log, Positioned};
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

use super::encoded::EncodedEvent;
use crate::app::App;
use crate::limits::{READ_EVENTS, RECENT_BYTES};

/// Pause before the journal is read again after an error.
const PAUSE: Duration = Duration::from_secs(1);

pub struct Recent {
    held: RwLock<EventWindow>,
    /// Maximum number of shared events.
    most: usize,
    /// Receiver that changes after each added event. It also changes when feeds must read the journal themselves.
    news: watch::Receiver<u64>,
    wanted: Notify,
}

#[derive(Default)]
struct EventWindow {
    /// Position after which the shared events begin: all later events are here, without a gap. `None` while no events
    /// are read.
    after: Option<u64>,
    events: VecDeque<Arc<EncodedEvent>>,
    bytes: usize,
}

impl Recent {
    /// Returns an empty list of shared events, and the sender with which [`keep_reading`] wakes the followers.
    pub fn new(most: usize) -> (Self, watch::Sender<u64>) {
        let (tell, news) = watch::channel(0);
        (Self { held: RwLock::default(), most, news, wanted: Notify::new() }, tell)
    }

    /// Returns a receiver that changes when new events may exist. Also wakes the shared reader of the journal.
    pub(super) fn follow(&self) -> watch::Receiver<u64> {
        let news = self.news.clone();
        // The shared reader is notified after the clone, so that it counts this follower.
        self.wanted.notify_one();
        news
    }

    /// Returns at most `limit` shared events after a position. Returns `None` if one of them is no longer in memory.
    pub(super) fn after(&self, position: u64, limit: usize) -> Option<Vec<Arc<EncodedEvent>>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        if held.after? > position {
            return None;
        }
        let first = held.events.partition_point(|event| event.position <= Some(position));
        Some(held.events.range(first..).take(limit).cloned().collect())
    }

    /// Returns the next shared events of a run. Returns `None` if the run has no later event here, or if the event
    /// after `since` is no longer in memory.
    pub(super) fn after_in_run(
        &self,
        run: &RunId,
        since: u64,
        limit: usize,
    ) -> Option<Vec<Arc<EncodedEvent>>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let is_of_run =
            |event: &&Arc<EncodedEvent>| matches!(&event.sealed.stream, StreamId::Run(of) if of == run);
        let mut events = Vec::new();
        // The search starts at the last event, because the next events of a run are usually among the last few events.
        for event in held.events.iter().rev().filter(is_of_run).take_while(|event| event.sealed.seq > since) {
            events.push(event.clone());
        }
        events.reverse();
        events.truncate(limit);
        (events.first()?.sealed.seq == since + 1).then_some(events)
    }

    fn begin(&self, after: Option<u64>) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) =
            EventWindow { after, ..EventWindow::default() };
    }

    fn add(&self, events: Vec<Positioned>) {
        let events: Vec<_> = events.into_iter().map(EncodedEvent::by_position).collect();
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        for event in events {
            held.bytes += event.bytes();
            held.events.push_back(event);
        }
        while held.events.len() > self.most || held.bytes > RECENT_BYTES {
            let Some(event) = held.events.pop_front() else { return };
            held.bytes -= event.bytes();
            held.after = event.position;
        }
    }
}

/// Reads new events of the journal for all feeds, as long as a feed exists. Runs until the store is closed. The events
/// are read by their position in the journal, so the events of other nodes are included.
pub async fn keep_reading(app: Arc<App>, tell: watch::Sender<u64>) {
    let recent = &app.recent;
    let mut commits = app.journal().watch();
    loop {
        tokio::select! {
            () = recent.wanted.notified() => {}
            changed = commits.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return,
            },
        }
        let start = *commits.borrow_and_update();
        recent.begin(Some(start));
        // Followers that reached the end of the journal before this moment must read again.
        tell.send_replace(start);
        let read = read(&app, start, &mut commits, &tell).await;
        recent.begin(None);
        match read {
            Ok(ReadEnd::Alone) => {}
            Ok(ReadEnd::Closed) | Err(Error::Closed) => return,
            Err(error) => {
                tracing::warn!(%error, "new events cannot be read for subscribers");
                // Each follower then reads the journal itself, and gets the error.
                tell.send_modify(|_| ());
                sleep(PAUSE).await;
                recent.wanted.notify_one();
            }
        }
    }
}

enum ReadEnd {
    /// No client follows events any more, so that none are read.
    Alone,
    /// The store is closed.
    Closed,
}

async fn read(
    app: &App,
    start: u64,
    commits: &mut watch::Receiver<u64>,
    tell: &watch::Sender<u64>,
) -> Result<ReadEnd, Error> {
    let mut last = start;
    // `Recent` itself has one receiver, from which the receivers of the followers are cloned.
    while tell.receiver_count() > 1 {
        let events = app.journal().tail(last, READ_EVENTS).await?;
        let is_all = events.len() < READ_EVENTS;
        if let Some(event) = events.last() {
            last = event.position;
            app.recent.add(events);
            tell.send_replace(last);
        }
        if is_all && commits.changed().await.is_err() {
            return Ok(ReadEnd::Closed);
        }
    }
    Ok(ReadEnd::Alone)
}
