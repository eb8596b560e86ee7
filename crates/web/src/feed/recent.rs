//! The newest events of the journal, read once for all followers. A follower that has caught up reads from here; one
//! that is further behind reads the journal until it has caught up.
//!
//! Each follower checks by itself whether it may see an event. While there are no followers nothing is read or held.

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

/// After the journal could not be read.
const PAUSE: Duration = Duration::from_secs(1);

pub struct Recent {
    held: RwLock<Held>,
    /// Events held at most.
    most: usize,
    /// Changes with each event that is added, and whenever followers have to look for themselves.
    news: watch::Receiver<u64>,
    wanted: Notify,
}

#[derive(Default)]
struct Held {
    /// Those that follow this position are here, without a gap. `None`: nothing is read now.
    after: Option<u64>,
    events: VecDeque<Arc<EncodedEvent>>,
    bytes: usize,
}

impl Recent {
    /// Comes with what [`keep_reading`] tells its followers by.
    pub fn new(most: usize) -> (Self, watch::Sender<u64>) {
        let (tell, news) = watch::channel(0);
        (Self { held: RwLock::default(), most, news, wanted: Notify::new() }, tell)
    }

    /// Changes when there may be more than was there at this call.
    pub(super) fn follow(&self) -> watch::Receiver<u64> {
        let news = self.news.clone();
        // After the reader can see that somebody follows.
        self.wanted.notify_one();
        news
    }

    /// The next events after a position. `None`: some of them are in the journal alone.
    pub(super) fn after(&self, position: u64, limit: usize) -> Option<Vec<Arc<EncodedEvent>>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        if held.after? > position {
            return None;
        }
        let first = held.events.partition_point(|event| event.position <= Some(position));
        Some(held.events.range(first..).take(limit).cloned().collect())
    }

    /// The next events of a run. `None`: they are in the journal alone, or there are none.
    pub(super) fn of_run(&self, run: &RunId, since: u64, limit: usize) -> Option<Vec<Arc<EncodedEvent>>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let is_of_run =
            |event: &&Arc<EncodedEvent>| matches!(&event.sealed.stream, StreamId::Run(of) if of == run);
        let mut events = Vec::new();
        // From the last one back: what follows is in most cases among the last few.
        for event in held.events.iter().rev().filter(is_of_run).take_while(|event| event.sealed.seq > since) {
            events.push(event.clone());
        }
        events.reverse();
        events.truncate(limit);
        (events.first()?.sealed.seq == since + 1).then_some(events)
    }

    fn begin(&self, after: Option<u64>) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = Held { after, ..Held::default() };
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

/// Runs until the store is closed. Follows what reads by position see, so also what other nodes write.
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
        // Who had read to its end before it was there looks again.
        tell.send_replace(start);
        let read = read(&app, start, &mut commits, &tell).await;
        recent.begin(None);
        match read {
            Ok(Ended::Alone) => {}
            Ok(Ended::Closed) | Err(Error::Closed) => return,
            Err(error) => {
                tracing::warn!(%error, "what happens can not be read for those who follow it");
                // Each looks for itself, and sees what is wrong.
                tell.send_modify(|_| ());
                sleep(PAUSE).await;
                recent.wanted.notify_one();
            }
        }
    }
}

enum Ended {
    /// Nobody follows any more.
    Alone,
    /// The store is closed.
    Closed,
}

async fn read(
    app: &App,
    start: u64,
    commits: &mut watch::Receiver<u64>,
    tell: &watch::Sender<u64>,
) -> Result<Ended, Error> {
    let mut last = start;
    // One receiver is held for others to copy.
    while tell.receiver_count() > 1 {
        let events = app.journal().tail(last, READ_EVENTS).await?;
        let is_all = events.len() < READ_EVENTS;
        if let Some(event) = events.last() {
            last = event.position;
            app.recent.add(events);
            tell.send_replace(last);
        }
        if is_all && commits.changed().await.is_err() {
            return Ok(Ended::Closed);
        }
    }
    Ok(Ended::Alone)
}
