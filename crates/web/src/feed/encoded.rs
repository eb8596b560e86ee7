//! Encodes an event for followers, once for all that share it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use holdshort_core::envelope::{self, Sealed};
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::Interrupt;
use holdshort_engine::Error;
use holdshort_protocol::{Event, Problem};
use holdshort_store::Positioned;
use serde::{Deserialize, Serialize};

use super::position;
use crate::problem::{Answer, Refused};
use crate::view;
use crate::view::assignment::Reader;

pub(super) struct EncodedEvent {
    pub(super) sealed: Sealed,
    /// Position in the order of commits, if the event was read in that order.
    pub(super) position: Option<u64>,
    /// Type of the event; `None` if its head cannot be read.
    kind: Option<String>,
    /// Interrupt that the event is about.
    interrupt: Option<InterruptId>,
    by_position: OnceLock<Result<EncodedFrame, Box<Problem>>>,
    by_seq: OnceLock<Result<EncodedFrame, Box<Problem>>>,
}

/// Number by which a follower counts events, and from which it resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CursorKind {
    Position,
    Seq,
}

/// An event as bytes. Clones share them.
#[derive(Clone, Debug)]
pub struct EncodedFrame {
    /// The event with its id, as a server-sent event.
    frame: Bytes,
    json: Range<usize>,
}

impl EncodedEvent {
    pub(super) fn by_seq(sealed: Sealed) -> Arc<Self> {
        Arc::new(Self::new(sealed, None))
    }

    pub(super) fn by_position(Positioned { position, event }: Positioned) -> Arc<Self> {
        Arc::new(Self::new(event, Some(position)))
    }

    fn new(sealed: Sealed, position: Option<u64>) -> Self {
        let (kind, interrupt) = Head::parse(&sealed);
        Self { sealed, position, kind, interrupt, by_position: OnceLock::new(), by_seq: OnceLock::new() }
    }

    /// Returns true if the event concerns an inbox, by its head alone: contents are large, and most events are of other
    /// types. True if the type cannot be read, so that the error is reported where the event is shown.
    pub(super) fn is_of_an_inbox(&self) -> bool {
        const KINDS: [&str; 13] = [
            "interrupt_opened",
            "decision_made",
            "vote_withdrawn",
            "interrupt_reassigned",
            "interrupt_delegated",
            "interrupt_reminded",
            "interrupt_escalated",
            "interrupt_snoozed",
            "interrupt_resolved",
            // A freeze holds back decided work.
            "frozen",
            "unfrozen",
            "part_frozen",
            "part_unfrozen",
        ];
        self.kind.as_deref().is_none_or(|kind| KINDS.contains(&kind))
    }

    pub(super) fn interrupt(&self) -> Option<&InterruptId> {
        self.interrupt.as_ref()
    }

    /// Returns true if other people are asked after the event than before.
    pub(super) fn reassigns(&self) -> bool {
        matches!(self.kind.as_deref(), Some("interrupt_reassigned" | "interrupt_escalated"))
    }

    /// Returns true if the event resolves an interrupt, or if its type cannot be read.
    pub(super) fn resolves(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind == "interrupt_resolved")
    }

    pub(super) fn ends_a_run(&self) -> bool {
        matches!(self.kind.as_deref(), Some("run_completed" | "run_failed" | "run_cancelled"))
    }

    pub(super) fn event(&self, count: CursorKind) -> Answer<Event> {
        self.numbered(view::event::from_sealed(&self.sealed), count)
    }

    /// Like [`Self::event`], for a reader that may not see all parts of the interrupt.
    pub(super) fn event_for(
        &self,
        interrupt: &Interrupt,
        reader: &Reader,
        count: CursorKind,
    ) -> Answer<Event> {
        self.numbered(view::event::of_interrupt(&self.sealed, interrupt, reader), count)
    }

    fn numbered(&self, event: Result<Event, envelope::Error>, count: CursorKind) -> Answer<Event> {
        let mut event =
            event.map_err(|source| Error::Damaged { run: self.sealed.stream.to_string(), source })?;
        event.position = self.position.filter(|_| count == CursorKind::Position).map(position::text);
        Ok(event)
    }

    pub(super) fn encode_frame(&self, count: CursorKind) -> Answer<EncodedFrame> {
        let words = match count {
            CursorKind::Position => &self.by_position,
            CursorKind::Seq => &self.by_seq,
        };
        let words = words.get_or_init(|| match self.event(count) {
            Ok(event) => Ok(EncodedFrame::from_event(&event)),
            Err(Refused(problem)) => Err(problem),
        });
        words.clone().map_err(Refused)
    }

    /// Returns the size in memory, without the encoded forms.
    pub(super) fn bytes(&self) -> usize {
        self.sealed.head.len() + self.sealed.content.as_ref().map_or(0, |content| content.bytes.len())
    }
}

impl EncodedFrame {
    pub(super) fn from_event(event: &Event) -> Self {
        let seq = event.seq.to_string();
        Self::framed(&format!("id: {}\n", event.position.as_deref().unwrap_or(&seq)), event)
    }

    /// Encodes another value under the cursor of an event, as a server-sent event of this name.
    pub(super) fn from_value<T: Serialize>(name: &str, cursor: &str, value: &T) -> Self {
        Self::framed(&format!("id: {cursor}\nevent: {name}\n"), value)
    }

    fn framed<T: Serialize>(fields: &str, value: &T) -> Self {
        let head = format!("{fields}data: ");
        // Serialized JSON contains no line break, so one `data:` line is enough.
        let json = serde_json::to_string(value).unwrap_or_default();
        let words = head.len()..head.len() + json.len();
        Self { frame: [&head, &*json, "\n\n"].concat().into(), json: words }
    }

    pub fn frame(&self) -> Bytes {
        self.frame.clone()
    }

    pub fn json(&self) -> &str {
        std::str::from_utf8(&self.frame[self.json.clone()]).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    facts: Facts,
}

#[derive(Default, Deserialize)]
struct Facts {
    #[serde(default)]
    interrupt: Option<InterruptId>,
}

impl Head {
    /// Returns the type of an event, and the interrupt that it is about.
    fn parse(sealed: &Sealed) -> (Option<String>, Option<InterruptId>) {
        match serde_json::from_slice(&sealed.head) {
            Ok(Self { kind, facts }) => (Some(kind), facts.interrupt),
            Err(_) => (None, None),
        }
    }
}
