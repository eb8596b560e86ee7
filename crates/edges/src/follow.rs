//! The events of one run as the core has them, in order, from the first one: what an edge says is told from these.
//!
//! Read for one client at a time: an edge lets the newest connection take the place of the one before. Nothing is
//! kept that matters; a connection that comes back reads again.

use std::sync::Arc;
use std::vec;

use futures::stream::{self, BoxStream, StreamExt};
use holdshort_core::event::{self, Event};
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::run::Fact;
use holdshort_engine::real::Preview;
use holdshort_store::Log;
use holdshort_web::app::App;
use holdshort_web::limits::READ_EVENTS;
use holdshort_web::problem::{Answer, Refused};
use tokio::sync::{broadcast, watch};

/// What a run's follower learns.
#[derive(Debug)]
pub(super) enum News {
    Event {
        seq: u64,
        event: Box<Event>,
    },
    /// Text on its way; an event will say what came of it.
    Preview(Preview),
    /// The journal can not be read any further.
    Problem(Refused),
}

/// Follows a run to its end, from the event after `since`. Dropping the stream is all that it takes to stop.
pub(super) fn run(app: Arc<App>, run: RunId, since: u64) -> BoxStream<'static, News> {
    let follower = Follower {
        // Before anything is read: what is committed in between is not missed.
        commits: app.driver.watch(&run),
        previews: app.previews.subscribe(),
        app,
        run,
        since,
        found: Vec::new().into_iter(),
        state: State::Behind,
    };
    stream::unfold(follower, async |mut follower| follower.next().await.map(|news| (news, follower))).boxed()
}

struct Follower {
    app: Arc<App>,
    run: RunId,
    since: u64,
    commits: watch::Receiver<u64>,
    previews: broadcast::Receiver<Preview>,
    /// Read and not yet given.
    found: vec::IntoIter<(u64, Event)>,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// The journal may hold more.
    Behind,
    /// What is committed next wakes the follower.
    Waiting,
    Over,
}

impl Follower {
    async fn next(&mut self) -> Option<News> {
        loop {
            if let Some((seq, event)) = self.found.next() {
                self.since = seq;
                if ends(&event) {
                    self.state = State::Over;
                }
                return Some(News::Event { seq, event: Box::new(event) });
            }
            match self.state {
                State::Over => return None,
                State::Behind => {
                    if let Err(refused) = self.read().await {
                        self.state = State::Over;
                        return Some(News::Problem(refused));
                    }
                }
                // Previews that were sent before a commit come before its events, which say what came of them.
                State::Waiting => tokio::select! {
                    biased;
                    preview = self.previews.recv() => match preview {
                        Ok(preview) if preview.run == self.run => return Some(News::Preview(preview)),
                        Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                        // The engine is gone, and with it whatever could follow.
                        Err(broadcast::error::RecvError::Closed) => return None,
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

    async fn read(&mut self) -> Answer<()> {
        self.commits.mark_unchanged();
        let stream = StreamId::Run(self.run.clone());
        let read = self.app.journal().read(&stream, self.since, READ_EVENTS).await?;
        if read.len() < READ_EVENTS {
            self.state = State::Waiting;
        } else {
            // What was previewed until now is in the events that are still to be read.
            self.previews = self.previews.resubscribe();
        }
        let mut found = Vec::with_capacity(read.len());
        for sealed in &read {
            let event = self.app.decode_event(sealed)?;
            found.push((sealed.seq, event));
        }
        self.found = found.into_iter();
        Ok(())
    }
}

fn ends(event: &Event) -> bool {
    matches!(
        event.fact,
        event::Fact::Run(Fact::RunCompleted { .. } | Fact::RunFailed { .. } | Fact::RunCancelled { .. })
    )
}
