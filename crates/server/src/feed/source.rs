//! Where events are read: in one run's stream by `seq`, or in the order of commits by position.

use holdshort_core::event::Sealed;
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::projection::RunRow;
use holdshort_engine::Error;
use holdshort_protocol::{Event, List};
use holdshort_store::Journal;
use serde::Deserialize;
use tokio::sync::watch;

use super::{Sight, position};
use crate::app::App;
use crate::limits::{PAGE_BYTES, READ_EVENTS, SCANNED_EVENTS};
use crate::problem::Answer;
use crate::view;

/// The events after a place.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Of one run, until it ends. Whoever makes one has looked whether the caller may see the run.
    Run { run: RunId, since: u64, ended: bool },
    /// Of all streams.
    All { after: u64 },
    /// Of all streams, of the types that an inbox is made of.
    Inbox { after: u64 },
}

/// An event as it was read.
pub(super) struct Found {
    sealed: Sealed,
    position: Option<u64>,
}

impl Source {
    pub(crate) fn run(row: &RunRow, since: u64) -> Self {
        Self::Run { run: row.run.clone(), since, ended: row.ended_seq.is_some_and(|ended| ended <= since) }
    }

    /// The place as the client of a list or stream gives it back.
    pub(crate) fn cursor(&self) -> String {
        match self {
            Self::Run { since, .. } => since.to_string(),
            Self::All { after } | Self::Inbox { after } => position::text(*after),
        }
    }

    /// Changes with each commit that may matter. One that does not costs a follower nothing.
    pub(super) fn watch(&self, app: &App) -> watch::Receiver<u64> {
        match self {
            Self::Run { run, .. } => app.driver.watch(run),
            Self::All { .. } | Self::Inbox { .. } => app.journal().watch(),
        }
    }

    /// The next events, of whatever type, whoever may see them.
    pub(super) async fn read(&self, app: &App, limit: usize) -> Result<Vec<Found>, holdshort_store::Error> {
        match self {
            Self::Run { run, since, .. } => {
                let events = app.journal().read(&StreamId::Run(run.clone()), *since, limit).await?;
                Ok(events.into_iter().map(|sealed| Found { sealed, position: None }).collect())
            }
            Self::All { after } | Self::Inbox { after } => {
                let events = app.journal().tail(*after, limit).await?;
                let found = |each: holdshort_store::Positioned| Found {
                    sealed: each.event,
                    position: Some(each.position),
                };
                Ok(events.into_iter().map(found).collect())
            }
        }
    }

    /// What follows is read after this event.
    pub(super) fn pass(&mut self, found: &Found) {
        match self {
            Self::Run { since, .. } => *since = found.sealed.seq,
            Self::All { after } | Self::Inbox { after } => {
                if let Some(position) = found.position {
                    *after = position;
                }
            }
        }
    }

    /// The event as clients see it; `None` where it is not asked for, or not theirs to see.
    pub(super) async fn show(&mut self, sight: &mut Sight, found: &Found) -> Answer<Option<Event>> {
        let Found { sealed, position } = found;
        if matches!(self, Self::Inbox { .. }) && !is_of_an_inbox(sealed) {
            return Ok(None);
        }
        if position.is_some() && !sight.sees(&sealed.stream).await? {
            return Ok(None);
        }
        let mut event = view::event::of(sealed)
            .map_err(|source| Error::Damaged { run: sealed.stream.to_string(), source })?;
        event.position = position.map(position::text);
        if let Self::Run { ended, .. } = self {
            *ended = matches!(&*event.kind, "run_completed" | "run_failed" | "run_cancelled");
        }
        Ok(Some(event))
    }

    /// Nothing will follow.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self, Self::Run { ended: true, .. })
    }

    /// Whether an event that can not be read leaves others to go on with.
    pub(super) fn outlives_damage(&self) -> bool {
        match self {
            Self::Run { .. } => false,
            Self::All { .. } | Self::Inbox { .. } => true,
        }
    }

    /// Whether previews of this run belong to it.
    pub(super) fn is_about(&self, other: &RunId) -> bool {
        match self {
            Self::Run { run, .. } => run == other,
            Self::All { .. } => true,
            Self::Inbox { .. } => false,
        }
    }
}

/// By its head alone: contents are large, and most events are of other types. One whose type can not be read is
/// let through, for whoever shows it to say what is wrong.
fn is_of_an_inbox(sealed: &Sealed) -> bool {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(rename = "type")]
        kind: &'a str,
    }
    serde_json::from_slice(&sealed.head).map_or(true, |head: Head<'_>| {
        matches!(head.kind, "interrupt_opened" | "decision_made" | "interrupt_resolved")
    })
}

/// A page: as many events as asked for and no more bytes than a page may have. One that had to pass over very
/// many which are not the caller's to see holds fewer.
pub(crate) async fn page(mut source: Source, mut sight: Sight, limit: usize) -> Answer<List<Event>> {
    let app = sight.app().clone();
    let mut items: Vec<Event> = Vec::new();
    let (mut bytes, mut passed) = (0, 0);
    loop {
        // One more than is shown, to see whether anything follows.
        let wanted = (limit - items.len() + 1).min(READ_EVENTS);
        let read = source.read(&app, wanted).await?;
        for found in &read {
            if items.len() == limit || bytes > PAGE_BYTES || passed == SCANNED_EVENTS {
                return Ok(List { items, next_cursor: Some(source.cursor()) });
            }
            if let Some(event) = source.show(&mut sight, found).await? {
                bytes += found.bytes();
                items.push(event);
            }
            source.pass(found);
            passed += 1;
        }
        if read.len() < wanted {
            return Ok(List { items, next_cursor: None });
        }
    }
}

impl Found {
    fn bytes(&self) -> usize {
        self.sealed.head.len() + self.sealed.content.as_ref().map_or(0, |content| content.bytes.len())
    }
}
