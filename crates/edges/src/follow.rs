//! Reads the events of one run in order, beginning after a given event, in the form of the core. Edges derive their
//! frames from these events.
//!
//! Each follower serves the connection of one client. An edge closes the older connections of a client when the client
//! opens a newer one. A follower stores nothing that must survive a disconnect: after a reconnect, a new follower reads
//! the events again.

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

/// Item that a follower of a run returns to an edge.
#[derive(Debug)]
pub(super) enum News {
    Event {
        seq: u64,
        event: Box<Event>,
    },
    /// Preview of the text that an agent streams. A later event contains the final text.
    Preview(Preview),
    /// Error while reading the journal. No event of the run follows.
    Problem(Refused),
}

/// Follows a run from the event after `since` until the run ends. Dropping the returned stream stops the follower.
pub(super) fn run(app: Arc<App>, run: RunId, since: u64) -> BoxStream<'static, News> {
    let follower = Follower {
        // Subscribe before the first read, so that no commit in between is missed.
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
    /// Events that the follower has read from the journal and not yielded yet.
    found: vec::IntoIter<(u64, Event)>,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// The journal may contain events of the run that are not yet read.
    Behind,
    /// All events of the run are read. The next commit wakes the follower.
    Waiting,
    Over,
}

impl Follower {
    async fn next(&mut self) -> Option<News> {
        loop {
            if let Some((seq, event)) = self.found.next() {
                self.since = seq;
                if is_run_end(&event) {
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
                // Previews from before a commit are yielded before the committed events, because these events contain
                // the final text.
                State::Waiting => tokio::select! {
                    biased;
                    preview = self.previews.recv() => match preview {
                        Ok(preview) if preview.run == self.run => return Some(News::Preview(preview)),
                        Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                        // The engine has stopped, so no event can follow.
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
            // Skip the earlier previews: the events that are not yet read contain their text.
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

fn is_run_end(event: &Event) -> bool {
    matches!(
        event.fact,
        event::Fact::Run(Fact::RunCompleted { .. } | Fact::RunFailed { .. } | Fact::RunCancelled { .. })
    )
}
