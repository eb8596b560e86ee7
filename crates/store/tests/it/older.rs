//! Events as older databases stored them, one event per row of the table `events`, before appends were packed.

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::StreamId;
use holdshort_store::{CONTENT_INLINE_LIMIT, Error, Journal, Positioned};

use crate::fixture::{content, event, run_stream};

/// Columns of a row in the table `events`.
pub(crate) struct OldEvent {
    pub(crate) position: u64,
    pub(crate) stream: StreamId,
    pub(crate) seq: u64,
    pub(crate) hash: Vec<u8>,
    pub(crate) salt: Option<Vec<u8>>,
    pub(crate) large: Option<Digest>,
    pub(crate) head: Vec<u8>,
    pub(crate) content: Option<Vec<u8>>,
}

/// Returns events of two runs, with every kind of content. The first event has the position `first`.
pub(crate) fn written(first: u64) -> Vec<Positioned> {
    let (one, other) = (run_stream(1), run_stream(2));
    let (mut chain, mut chain_of_other) = (Chain::START, Chain::START);
    let large = vec![b'x'; CONTENT_INLINE_LIMIT + 1];
    let mut events: Vec<Sealed> = [None, Some(Vec::new()), Some(large), Some(b"\"short\"".to_vec())]
        .into_iter()
        .map(|bytes| event(&one, &mut chain, bytes.map(content)))
        .collect();
    events.insert(1, event(&other, &mut chain_of_other, None));
    (first..).zip(events).map(|(position, event)| Positioned { position, event }).collect()
}

impl OldEvent {
    pub(crate) fn from_positioned(Positioned { position, event }: &Positioned) -> Self {
        let Sealed { stream, seq, head, content, hash } = event.clone();
        let (salt, bytes) = content.map(|content| (content.salt.to_vec(), content.bytes)).unzip();
        let large = bytes.as_ref().filter(|bytes| bytes.len() > CONTENT_INLINE_LIMIT);
        let large = large.map(|bytes| Digest::of_bytes(bytes));
        let content = bytes.filter(|_| large.is_none());
        let hash = hash.as_bytes().to_vec();
        Self { position: *position, stream, seq, hash, salt, large, head, content }
    }
}

/// Checks that all reads return the written events unchanged.
pub(crate) async fn is_read_as_it_was(journal: &impl Journal, written: &[Positioned]) {
    let (after, count) = (written[0].position - 1, written.len());
    assert_eq!(journal.tail(0, usize::MAX >> 1).await.unwrap(), written);
    assert_eq!(journal.tail(after + 1, 2).await.unwrap(), written[1..3]);
    let places: Vec<_> =
        written.iter().map(|each| (each.position, each.event.stream.clone(), each.event.seq)).collect();
    let changes = journal.changes(after, count).await.unwrap();
    let changes: Vec<_> =
        changes.into_iter().map(|change| (change.position, change.stream, change.seq)).collect();
    assert_eq!(changes, places);
    for stream in [run_stream(1), run_stream(2)] {
        let events: Vec<_> =
            written.iter().map(|each| each.event.clone()).filter(|event| event.stream == stream).collect();
        assert_eq!(journal.read(&stream, 0, count).await.unwrap(), events);
        let last = events.last().unwrap();
        assert_eq!(journal.chain(&stream).await.unwrap(), Chain { seq: last.seq, hash: last.hash });
    }
    let head = written.iter().fold(Head::START, |head, each| head.then(&each.event.hash));
    assert_eq!(journal.head().await.unwrap(), head);
    assert_eq!(journal.inspect().await.unwrap(), [""; 0]);
}

/// Kinds of damage in the last event of the first run, before the migration. After the migration, the first run must be
/// reported as damaged, and the second must be readable.
pub(crate) const DAMAGES: [Damage; 3] = [
    Damage { what: "a hash of another length", change: |event| event.hash.truncate(1) },
    Damage { what: "a salt without its content", change: |event| event.content = None },
    Damage {
        what: "a content without its blob",
        change: |event| (event.content, event.large) = (None, Some(Digest::ZERO)),
    },
];

pub(crate) struct Damage {
    pub(crate) what: &'static str,
    change: fn(&mut OldEvent),
}

impl Damage {
    /// Returns the events with this damage, from the position `first` on.
    pub(crate) fn done(&self, first: u64) -> Vec<OldEvent> {
        let mut events: Vec<OldEvent> = written(first).iter().map(OldEvent::from_positioned).collect();
        (self.change)(events.last_mut().unwrap());
        events
    }
}

pub(crate) async fn is_damaged_and_nothing_else(journal: &impl Journal, what: &str) {
    let refused = journal.read(&run_stream(1), 0, 9).await;
    assert!(matches!(refused, Err(Error::Corrupt(_))), "{what}: {refused:?}");
    assert_eq!(journal.read(&run_stream(2), 0, 9).await.unwrap().len(), 1, "{what}");
    assert_eq!(journal.read(&run_stream(1), 0, 1).await.unwrap().len(), 1, "{what}");
}
