//! Feeds: the events after a cursor, then those that come, with previews beside them. The one way in which
//! anybody follows anything: a run or all of the journal, over server-sent events or a WebSocket.
//!
//! A feed is pulled: it reads a page of the journal when it is asked for more, and sleeps until a commit when
//! there is none. It keeps nothing that matters; whoever comes back with a cursor gets what follows. `source.rs`
//! says where events are read and which, `sight.rs` whose they are, `outbox.rs` how long a reader is waited for.

mod outbox;
pub(crate) mod position;
mod sight;
mod source;
pub(crate) mod sse;

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt};
use holdshort_engine::live;
use holdshort_protocol::{Code, Event, Preview};
use tokio::sync::{broadcast, watch};

pub(crate) use outbox::{Outbox, Unsent};
pub(crate) use sight::Sight;
pub(crate) use source::{Source, page};

use crate::app::App;
use crate::limits::READ_EVENTS;
use crate::problem::Refused;
use crate::view;
use source::Found;

/// What a feed gives. It ends with the run that it follows, or after a problem of the store.
#[derive(Debug)]
pub(crate) enum Item {
    Event(Event),
    Preview(Preview),
    /// An event that is there and can not be read.
    Problem(Refused),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Previews {
    Shown,
    Hidden,
}

impl Previews {
    /// As a client asks for them.
    pub(crate) fn of(asked: Option<bool>) -> Self {
        if asked.unwrap_or(true) { Self::Shown } else { Self::Hidden }
    }
}

/// Follows a source. Dropping the stream is all that it takes to end it.
pub(crate) fn follow(source: Source, sight: Sight, previews: Previews) -> BoxStream<'static, Item> {
    let app = sight.app().clone();
    let feed = Feed {
        // Before the journal is read: what is committed in between is not missed.
        commits: source.watch(&app),
        previews: (previews == Previews::Shown).then(|| app.previews.subscribe()),
        source,
        sight,
        found: VecDeque::new(),
        state: State::Behind,
        app,
    };
    stream::unfold(feed, async |mut feed| feed.next().await.map(|item| (item, feed))).boxed()
}

struct Feed {
    app: Arc<App>,
    source: Source,
    sight: Sight,
    commits: watch::Receiver<u64>,
    /// `None`: there will be none, or nobody wants them.
    previews: Option<broadcast::Receiver<live::Preview>>,
    /// Read and not yet given.
    found: VecDeque<Found>,
    state: State,
}

enum State {
    /// The journal may hold more.
    Behind,
    /// Everything has been read; what is committed next wakes the feed.
    Waiting,
    Over,
}

impl Feed {
    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(found) = self.found.pop_front() {
                match self.give(&found).await {
                    Some(item) => return Some(item),
                    None => continue,
                }
            }
            match self.state {
                State::Over => return None,
                State::Behind => {
                    if let Err(refused) = self.read().await {
                        self.state = State::Over;
                        return Some(Item::Problem(refused));
                    }
                }
                // Previews that were sent before a commit come before its events, which say what came of them.
                State::Waiting => tokio::select! {
                    biased;
                    preview = next(&mut self.previews) => if let Some(preview) = preview
                        && self.shows(&preview).await
                    {
                        return Some(Item::Preview(view::event::preview(&preview)));
                    },
                    changed = self.commits.changed() => match changed {
                        Ok(()) => self.state = State::Behind,
                        // The store is closed.
                        Err(_) => return None,
                    },
                },
            }
        }
    }

    async fn read(&mut self) -> Result<(), Refused> {
        if self.source.is_over() {
            self.state = State::Over;
            return Ok(());
        }
        self.commits.mark_unchanged();
        self.found = self.source.read(&self.app, READ_EVENTS).await?.into();
        if self.found.len() < READ_EVENTS {
            self.state = State::Waiting;
        } else {
            // What was previewed until now is in the events that are still to be read.
            self.previews = self.previews.as_ref().map(broadcast::Receiver::resubscribe);
        }
        Ok(())
    }

    async fn give(&mut self, found: &Found) -> Option<Item> {
        self.source.pass(found);
        let shown = self.source.show(&mut self.sight, found).await;
        if self.source.is_over() {
            self.state = State::Over;
            self.found.clear();
        }
        match shown {
            Ok(event) => event.map(Item::Event),
            Err(refused) => {
                // One damaged run is no other run's business.
                if refused.code() != Code::JournalDamaged || !self.source.outlives_damage() {
                    self.state = State::Over;
                    self.found.clear();
                }
                Some(Item::Problem(refused))
            }
        }
    }

    async fn shows(&mut self, preview: &live::Preview) -> bool {
        self.source.is_about(&preview.run) && self.sight.sees_run(&preview.run).await.unwrap_or(false)
    }
}

/// The next preview; `None` where some were missed. Waits for ever once there will be no more.
async fn next(previews: &mut Option<broadcast::Receiver<live::Preview>>) -> Option<live::Preview> {
    let Some(receiver) = previews else { return std::future::pending().await };
    match receiver.recv().await {
        Ok(preview) => Some(preview),
        Err(broadcast::error::RecvError::Lagged(_)) => None,
        Err(broadcast::error::RecvError::Closed) => {
            *previews = None;
            None
        }
    }
}
