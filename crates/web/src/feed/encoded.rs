//! An event encoded for followers: once, by the first that needs it, for all that share it.

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
    /// Where it was read in the order of commits.
    pub(super) position: Option<u64>,
    /// `None`: its head can not be read.
    kind: Option<String>,
    /// Which interrupt it is about.
    interrupt: Option<InterruptId>,
    by_position: OnceLock<Result<Words, Box<Problem>>>,
    by_seq: OnceLock<Result<Words, Box<Problem>>>,
}

/// By what a follower counts: it is the id that it comes back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Position,
    Seq,
}

/// An event as bytes. A copy of it shares them.
#[derive(Clone, Debug)]
pub struct Words {
    /// With its id, as a server-sent event.
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
        let (kind, interrupt) = Head::of(&sealed);
        Self { sealed, position, kind, interrupt, by_position: OnceLock::new(), by_seq: OnceLock::new() }
    }

    /// By its head alone: contents are large, and most events are of other types. One whose type can not be read
    /// is let through, for whoever shows it to say what is wrong.
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
            // What was decided waits while it is frozen.
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

    /// Whether others are asked from it on.
    pub(super) fn reassigns(&self) -> bool {
        matches!(self.kind.as_deref(), Some("interrupt_reassigned" | "interrupt_escalated"))
    }

    /// Whether it says how an interrupt ended; also where its type can not be read.
    pub(super) fn resolves(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind == "interrupt_resolved")
    }

    pub(super) fn ends_a_run(&self) -> bool {
        matches!(self.kind.as_deref(), Some("run_completed" | "run_failed" | "run_cancelled"))
    }

    pub(super) fn event(&self, count: Count) -> Answer<Event> {
        self.numbered(view::event::of(&self.sealed), count)
    }

    /// The same for somebody from whom a part of the interrupt may be withheld that it is about.
    pub(super) fn event_for(&self, interrupt: &Interrupt, reader: &Reader, count: Count) -> Answer<Event> {
        self.numbered(view::event::of_interrupt(&self.sealed, interrupt, reader), count)
    }

    fn numbered(&self, event: Result<Event, envelope::Error>, count: Count) -> Answer<Event> {
        let mut event =
            event.map_err(|source| Error::Damaged { run: self.sealed.stream.to_string(), source })?;
        event.position = self.position.filter(|_| count == Count::Position).map(position::text);
        Ok(event)
    }

    pub(super) fn words(&self, count: Count) -> Answer<Words> {
        let words = match count {
            Count::Position => &self.by_position,
            Count::Seq => &self.by_seq,
        };
        let words = words.get_or_init(|| match self.event(count) {
            Ok(event) => Ok(Words::of(&event)),
            Err(Refused(problem)) => Err(problem),
        });
        words.clone().map_err(Refused)
    }

    /// What it holds in memory, words aside.
    pub(super) fn bytes(&self) -> usize {
        self.sealed.head.len() + self.sealed.content.as_ref().map_or(0, |content| content.bytes.len())
    }
}

impl Words {
    pub(super) fn of(event: &Event) -> Self {
        let seq = event.seq.to_string();
        Self::framed(&format!("id: {}\n", event.position.as_deref().unwrap_or(&seq)), event)
    }

    /// Something else under the cursor of an event, as a server-sent event of this name.
    pub(super) fn named<T: Serialize>(name: &str, cursor: &str, value: &T) -> Self {
        Self::framed(&format!("id: {cursor}\nevent: {name}\n"), value)
    }

    fn framed<T: Serialize>(fields: &str, value: &T) -> Self {
        let head = format!("{fields}data: ");
        // JSON holds no line break of its own, so one `data:` line holds it.
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
    /// The type of an event, and the interrupt that it is about.
    fn of(sealed: &Sealed) -> (Option<String>, Option<InterruptId>) {
        match serde_json::from_slice(&sealed.head) {
            Ok(Self { kind, facts }) => (Some(kind), facts.interrupt),
            Err(_) => (None, None),
        }
    }
}
