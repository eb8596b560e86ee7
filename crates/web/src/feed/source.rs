//! Sources of events: one run, read by `seq`, or all runs, read by position in the order of commits.

use std::sync::Arc;

use holdshort_core::id::{RunId, StreamId};
use holdshort_core::projection::RunRow;
use holdshort_protocol::{Event, List};
use holdshort_store::Log;
use tokio::sync::watch;

use super::encoded::{CursorKind, EncodedEvent};
use super::{Visibility, position};
use crate::app::App;
use crate::limits::{PAGE_BYTES, READ_EVENTS, SCANNED_EVENTS};
use crate::problem::Answer;

/// Selection of events, and the cursor after which reading continues.
#[derive(Clone, Debug)]
pub enum Source {
    /// Events of one run, until the run ends. The code that creates this source has checked that the client may see the
    /// run.
    Run { run: RunId, since: u64, ended: bool },
    /// All events of the journal, of every stream.
    All { after: u64 },
    /// Events of all streams that have a type which an inbox shows.
    Inbox { after: u64 },
    /// Events that resolve interrupts of runs that the caller started.
    Decisions { after: u64 },
}

impl Source {
    pub fn run(row: &RunRow, since: u64) -> Self {
        Self::Run { run: row.run.clone(), since, ended: row.ended_seq.is_some_and(|ended| ended <= since) }
    }

    /// Returns the cursor from which a client can continue later.
    pub fn cursor(&self) -> String {
        match self {
            Self::Run { since, .. } => since.to_string(),
            Self::All { after } | Self::Inbox { after } | Self::Decisions { after } => position::text(*after),
        }
    }

    pub(super) fn cursor_kind(&self) -> CursorKind {
        match self {
            Self::Run { .. } => CursorKind::Seq,
            Self::All { .. } | Self::Inbox { .. } | Self::Decisions { .. } => CursorKind::Position,
        }
    }

    /// Returns a receiver that changes after each commit that may contain events of this source. The receiver does not
    /// change after other commits.
    pub(super) fn watch(&self, app: &App) -> watch::Receiver<u64> {
        match self {
            Self::Run { run, .. } => app.driver.watch(run),
            Self::All { .. } | Self::Inbox { .. } | Self::Decisions { .. } => app.recent.follow(),
        }
    }

    /// Waits until the shared reader of all feeds has read up to the last event of the journal, if the source is one
    /// run. Without this wait, all feeds of a run would read the journal at the same time.
    pub(super) async fn catch_up(&self, app: &App, shared: &mut watch::Receiver<u64>) {
        if let Self::Run { .. } = self {
            let last = position::last(app);
            // If the store is closed, the next read reports it.
            let _ = shared.wait_for(|read| *read >= last).await;
        }
    }

    /// Returns the next events from the memory that all feeds share. Returns `None` if an event is not there any more.
    pub(super) fn recent(&self, app: &App, limit: usize) -> Option<Vec<Arc<EncodedEvent>>> {
        match self {
            Self::Run { run, since, .. } => app.recent.after_in_run(run, *since, limit),
            Self::All { after } | Self::Inbox { after } | Self::Decisions { after } => {
                app.recent.after(*after, limit)
            }
        }
    }

    /// Reads the next events of all types, without checking whether the caller is allowed to see them.
    pub(super) async fn read(
        &self,
        app: &App,
        limit: usize,
    ) -> Result<Vec<Arc<EncodedEvent>>, holdshort_store::Error> {
        match self {
            Self::Run { run, since, .. } => {
                let events = app.journal().read(&StreamId::Run(run.clone()), *since, limit).await?;
                Ok(events.into_iter().map(EncodedEvent::by_seq).collect())
            }
            Self::All { after } | Self::Inbox { after } | Self::Decisions { after } => {
                let events = app.journal().tail(*after, limit).await?;
                Ok(events.into_iter().map(EncodedEvent::by_position).collect())
            }
        }
    }

    /// Moves the cursor of the source past this event.
    pub(super) fn pass(&mut self, event: &EncodedEvent) {
        match self {
            Self::Run { since, ended, .. } => {
                *since = event.sealed.seq;
                *ended = event.ends_a_run();
            }
            Self::All { after } | Self::Inbox { after } | Self::Decisions { after } => {
                if let Some(position) = event.position {
                    *after = position;
                }
            }
        }
    }

    /// Returns true if the event belongs to the source and the caller is allowed to see it. Each feed makes this check
    /// for its own caller.
    pub(super) async fn shows(&self, sight: &Visibility, event: &EncodedEvent) -> Answer<bool> {
        match self {
            Self::Run { .. } => Ok(true),
            Self::Decisions { .. } if !event.resolves() => Ok(false),
            Self::Decisions { .. } => sight.owns(&event.sealed.stream).await,
            Self::Inbox { .. } if !event.is_of_an_inbox() => Ok(false),
            Self::Inbox { .. } if sight.caller().reaches_assigned() => sight.sees_assigned(event).await,
            Self::All { .. } | Self::Inbox { .. } => sight.sees(&event.sealed.stream).await,
        }
    }

    /// Returns true if the source has no further events.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Run { ended: true, .. })
    }

    /// Returns true if the feed continues after an unreadable event. The feed of one run ends there.
    pub(super) fn outlives_damage(&self) -> bool {
        match self {
            Self::Run { .. } => false,
            Self::All { .. } | Self::Inbox { .. } | Self::Decisions { .. } => true,
        }
    }

    /// Returns true if this source includes previews of the run `other`.
    pub(super) fn is_about(&self, other: &RunId) -> bool {
        match self {
            Self::Run { run, .. } => run == other,
            Self::All { .. } => true,
            Self::Inbox { .. } | Self::Decisions { .. } => false,
        }
    }
}

/// Returns a page of at most `limit` events. The page ends early after the event that exceeds the maximum page size in
/// bytes, and if too many events that the caller may not see had to be scanned.
pub async fn page(mut source: Source, sight: Visibility, limit: usize) -> Answer<List<Event>> {
    let app = sight.app().clone();
    let mut items: Vec<Event> = Vec::new();
    let (mut bytes, mut passed) = (0, 0);
    loop {
        // Reads one event more than the page can show, to find out if there is a next page.
        let wanted = (limit - items.len() + 1).min(READ_EVENTS);
        let read = source.read(&app, wanted).await?;
        for event in &read {
            if items.len() == limit || bytes > PAGE_BYTES || passed == SCANNED_EVENTS {
                return Ok(List { items, next_cursor: Some(source.cursor()) });
            }
            if source.shows(&sight, event).await? {
                bytes += event.bytes();
                items.push(sight.event(event, source.cursor_kind()).await?);
            }
            source.pass(event);
            passed += 1;
        }
        if read.len() < wanted {
            return Ok(List { items, next_cursor: None });
        }
    }
}
