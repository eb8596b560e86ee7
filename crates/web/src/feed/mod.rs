//! Feeds of events. A feed returns first the existing events after a cursor, then each event when it is committed. In
//! between, it returns previews of model replies that are not complete. Each follower of a run or of the journal has
//! its own feed, which it reads over server-sent events or a WebSocket.
//!
//! A feed reads the next event only when the client is ready to receive it. After the last event, a feed waits for a
//! commit. A feed stores nothing that must survive a disconnect: a client that reconnects with its cursor receives the
//! events after this cursor. `source.rs` reads the events, `recent.rs` shares the newest events among all followers,
//! `encoded.rs` encodes the events, and `visibility.rs` decides which events a caller is allowed to see.

pub mod decisions;
mod encoded;
pub mod position;
mod recent;
mod source;
pub mod sse;
mod visibility;

use std::sync::Arc;
use std::vec;

use futures::stream::{self, BoxStream, StreamExt};
use holdshort_engine::real;
use holdshort_protocol::{Code, Preview};
use tokio::sync::{broadcast, watch};

pub use encoded::EncodedFrame;
pub use recent::{Recent, keep_reading};
pub use source::{Source, page};
pub use visibility::{Owners, Visibility};

use crate::app::App;
use crate::limits::READ_EVENTS;
use crate::problem::Refused;
use crate::view;
use encoded::EncodedEvent;

/// Item of a feed of events. A feed ends when its run ends, or after an error of the store.
#[derive(Debug)]
pub enum Item {
    Event(EncodedFrame),
    Preview(Preview),
    /// Error of an event that exists but is unreadable.
    Problem(Refused),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Previews {
    Shown,
    Hidden,
}

impl Previews {
    /// Converts the client's choice about previews. Without a choice, previews are sent.
    pub fn from_choice(asked: Option<bool>) -> Self {
        if asked.unwrap_or(true) { Self::Shown } else { Self::Hidden }
    }
}

/// Returns the feed of a source as a stream. Dropping the stream ends the feed.
pub fn follow(source: Source, sight: Visibility, previews: Previews) -> BoxStream<'static, Item> {
    let app = sight.app().clone();
    let feed = Feed {
        // The watch begins before the first read, so that no commit between the read and the watch is missed.
        commits: source.watch(&app),
        shared: app.recent.follow(),
        previews: (previews == Previews::Shown).then(|| app.previews.subscribe()),
        source,
        sight,
        found: Vec::new().into_iter(),
        state: State::Behind,
        app,
    };
    stream::unfold(feed, async |mut feed| feed.next().await.map(|item| (item, feed))).boxed()
}

struct Feed {
    app: Arc<App>,
    source: Source,
    sight: Visibility,
    /// Changes after each commit that may contain events of the source.
    commits: watch::Receiver<u64>,
    /// Position up to which the shared reader of all feeds has read the journal.
    shared: watch::Receiver<u64>,
    /// Receiver of previews. `None` if the client wants no previews, or if no further previews can arrive.
    previews: Option<broadcast::Receiver<real::Preview>>,
    /// Events that were read but have not been returned yet.
    found: vec::IntoIter<Arc<EncodedEvent>>,
    state: State,
}

enum State {
    /// The journal may contain events that this feed has not read.
    Behind,
    /// This feed has read all events of the journal. The next commit wakes the feed.
    Waiting,
    Over,
}

impl Feed {
    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(event) = self.found.next() {
                match self.give(&event).await {
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
                // An event contains the complete text of its previews. Therefore previews that were sent before a
                // commit are returned before the events of this commit.
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
        self.source.catch_up(&self.app, &mut self.shared).await;
        let found = match self.source.recent(&self.app, READ_EVENTS) {
            Some(found) => found,
            // Boxed only during the read, so that an idle feed is small.
            None => Box::pin(self.source.read(&self.app, READ_EVENTS)).await?,
        };
        self.found = found.into_iter();
        if self.found.len() < READ_EVENTS {
            self.state = State::Waiting;
        } else {
            // The unread events contain all text of the previews so far, so the queued previews are skipped.
            self.previews = self.previews.as_ref().map(broadcast::Receiver::resubscribe);
        }
        Ok(())
    }

    async fn give(&mut self, event: &EncodedEvent) -> Option<Item> {
        self.source.pass(event);
        let words = match self.source.shows(&self.sight, event).await {
            Ok(false) => return None,
            Ok(true) => self.sight.encode_event(event, self.source.cursor_kind()).await,
            Err(refused) => Err(refused),
        };
        if self.source.is_over() {
            self.end();
        }
        match words {
            Ok(words) => Some(Item::Event(words)),
            Err(refused) => {
                // If the events of one run are damaged, the feed continues with the events of the other runs.
                if refused.code() != Code::JournalDamaged || !self.source.outlives_damage() {
                    self.end();
                }
                Some(Item::Problem(refused))
            }
        }
    }

    fn end(&mut self) {
        self.state = State::Over;
        self.found = Vec::new().into_iter();
    }

    async fn shows(&mut self, preview: &real::Preview) -> bool {
        self.source.is_about(&preview.run) && self.sight.sees_run(&preview.run).await.unwrap_or(false)
    }
}

/// Returns the next preview of a model reply. Returns `None` if this feed was too slow and has missed previews. The
/// future never completes if no further previews can arrive.
async fn next(previews: &mut Option<broadcast::Receiver<real::Preview>>) -> Option<real::Preview> {
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
