//! Encodes each event only once, and shares the encoded event among all followers that are allowed to see all of it.

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
    /// Position of the event in the order of commits. `None` if the event was read from the stream of one run.
    pub(super) position: Option<u64>,
    /// Type of the event. `None` if the stored bytes that contain the type are unreadable.
    kind: Option<String>,
    /// Interrupt that the event is about, or `None` if it is about no interrupt.
    interrupt: Option<InterruptId>,
    by_position: OnceLock<Result<EncodedFrame, Box<Problem>>>,
    by_seq: OnceLock<Result<EncodedFrame, Box<Problem>>>,
}

/// Kind of number that a client uses as its cursor: the `seq` of an event in its run, or the position of an event in
/// the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CursorKind {
    Position,
    Seq,
}

/// Encoded event. Clones share the encoded bytes.
#[derive(Clone, Debug)]
pub struct EncodedFrame {
    /// Event in the format of a server-sent event, with its id.
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

    /// Returns true if inboxes show events of this type. Only the type is read, because the content of an event is
    /// large. An unreadable type also yields true, so that the client receives an error in place of the event.
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
            // An inbox also shows freezes, because a freeze delays work that a person has already approved.
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

    /// Returns true if the event changes the approvers of an interrupt.
    pub(super) fn reassigns(&self) -> bool {
        matches!(self.kind.as_deref(), Some("interrupt_reassigned" | "interrupt_escalated"))
    }

    /// Returns true if the event resolves an interrupt. An unreadable type also yields true, so that the client
    /// receives an error.
    pub(super) fn resolves(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind == "interrupt_resolved")
    }

    pub(super) fn ends_a_run(&self) -> bool {
        matches!(self.kind.as_deref(), Some("run_completed" | "run_failed" | "run_cancelled"))
    }

    pub(super) fn event(&self, count: CursorKind) -> Answer<Event> {
        self.numbered(view::event::from_sealed(&self.sealed), count)
    }

    /// Like [`Self::event`], for a reader who is not allowed to see all parts of the interrupt that the event is about.
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

    /// Returns the number of bytes that the stored event occupies in memory. The encoded forms of the event are not
    /// counted.
    pub(super) fn bytes(&self) -> usize {
        self.sealed.head.len() + self.sealed.content.as_ref().map_or(0, |content| content.bytes.len())
    }
}

impl EncodedFrame {
    pub(super) fn from_event(event: &Event) -> Self {
        let seq = event.seq.to_string();
        Self::framed(&format!("id: {}\n", event.position.as_deref().unwrap_or(&seq)), event)
    }

    /// Encodes `value` as a server-sent event with the event name `name` and the id `cursor`.
    pub(super) fn from_value<T: Serialize>(name: &str, cursor: &str, value: &T) -> Self {
        Self::framed(&format!("id: {cursor}\nevent: {name}\n"), value)
    }

    fn framed<T: Serialize>(fields: &str, value: &T) -> Self {
        let head = format!("{fields}data: ");
        // Serialized JSON contains no line break, so a single `data:` line is enough.
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
    /// Returns the type of an event, and the interrupt that the event is about.
    fn parse(sealed: &Sealed) -> (Option<String>, Option<InterruptId>) {
        match serde_json::from_slice(&sealed.head) {
            Ok(Self { kind, facts }) => (Some(kind), facts.interrupt),
            Err(_) => (None, None),
        }
    }
}
