//! The events of a journal: how they are appended, read, followed, and linked by hashes. The journal also contains
//! unique keys and blobs.

use std::future::Future;

use holdshort_core::delivery::Delivery;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::{RunId, StreamId};
use tokio::sync::watch;

use crate::journal::Error;
use crate::tables::Rows;

/// Maximum size, in bytes, of an event's content that is stored in the event's row. Larger content is stored as a blob
/// under its digest. A read returns the content in both cases.
pub const CONTENT_INLINE_LIMIT: usize = 64 * 1024;

/// One transaction that appends events to streams, with its keys, rows and blobs. If [`Log::append`] returns `Ok`, the
/// whole transaction is durable. If the transaction is rejected, nothing is written. The store checks the keys before
/// the streams, guards and lease. Therefore a repeated request always gets the reference that its first request stored.
#[derive(Clone, Debug, Default)]
pub struct Append {
    pub streams: Vec<StreamAppend>,
    /// Streams on which the caller's decision depended, although the append does not write to them. The last event of
    /// each of these streams must still have the given sequence number.
    pub guards: Vec<(StreamId, u64)>,
    pub keys: Vec<Key>,
    pub blobs: Vec<Blob>,
    pub rows: Rows,
    /// True if the caller is the driver of the run in `rows`. The append is then rejected while another living node
    /// drives this run. After the append, this node holds the run's lease as long as the run is runnable. If false, any
    /// node is allowed to append, and the node that drives the run is notified.
    pub drives: bool,
    /// Earlier events whose contents are erased, as streams and sequence numbers. The append must also write to these
    /// streams. The hashes of the events are kept, so that the hash chain stays valid.
    pub erased: Vec<(StreamId, u64)>,
    /// Run whose personal data is deleted: its stored answers, and the responses of receivers to notifications about
    /// the run.
    pub forgets: Option<RunId>,
    /// New deliveries: notifications about the appended events that channels are to send. No node has claimed these
    /// deliveries yet.
    pub deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug)]
pub struct StreamAppend {
    pub stream: StreamId,
    /// Sequence number that the last event of the stream must have; 0 for a new stream.
    pub expected: u64,
    /// Events to append, in order. The first event has the sequence number `expected + 1`.
    pub events: Vec<Sealed>,
}

/// Key of an operation that must happen only once, for example an idempotency key. The pair `(scope, key)` is unique
/// and never expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub scope: String,
    pub key: String,
    /// Digest of the request. A later request with the same key and another digest is rejected as a mistake of the
    /// caller.
    pub digest: Digest,
    /// Id of the object that the request created: a run, session or interrupt.
    pub reference: String,
}

/// Bytes that are stored under their SHA-256 digest. If the same bytes are written again, nothing changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub digest: Digest,
    pub bytes: Vec<u8>,
}

impl Blob {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { digest: Digest::of_bytes(&bytes), bytes }
    }
}

/// Result of a successful append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Position of the last event that this append wrote. For an append without events, the position of the last event
    /// in the journal. Later commits have larger positions. In a store with only one node, positions start at 1 and
    /// have no gaps.
    pub position: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// A stream does not end at the sequence number that the caller expected. The caller must read the stream and
    /// decide again.
    #[error("{stream} ends with event {found}, but the append expects event {expected}")]
    Conflict { stream: StreamId, expected: u64, found: u64 },
    /// The unique key of the append was used before. No event was written.
    #[error("the key was already used")]
    KeyTaken(Key),
    /// Another node holds the lease of the run that the append drives. No event was written.
    #[error("another node drives the run")]
    Driven,
    /// Parts of the append contradict each other. The error is a bug in the caller.
    #[error("the append contradicts itself: {0}")]
    Malformed(String),
    #[error(transparent)]
    Store(#[from] Error),
}

/// An event, with its position in the order of all commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positioned {
    pub position: u64,
    pub event: Sealed,
}

/// Notice that an event was appended, without the event itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub position: u64,
    pub stream: StreamId,
    pub seq: u64,
}

/// One event in the hash chain over all events of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub position: u64,
    /// Hash of the event. The chain of its stream contains the same hash.
    pub hash: Digest,
    /// Head of the journal after this event. `None` if the store has not stored the head for this position. With a
    /// single node, the store keeps at least the head after each append. With several nodes, it keeps the head after
    /// each range of events that was added to the hash chain (sealed).
    pub sealed: Option<Head>,
}

/// Store of event streams, unique keys and blobs. Events can be appended to a stream, but never changed.
///
/// A read sees every append that was acknowledged before the read began. With several nodes, `tail` and `changes` may
/// miss the newest events, because they return events only up to the position that `watch` has reported.
pub trait Log: Send + Sync + 'static {
    /// Writes the whole append durably, or writes nothing. The append continues even if the future is dropped.
    fn append(&self, append: Append) -> impl Future<Output = Result<Appended, AppendError>> + Send;

    /// Returns events of one stream with `seq > after`, in order.
    fn read(
        &self,
        stream: &StreamId,
        after: u64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Sealed>, Error>> + Send;

    /// Returns events of all streams with `position > after`, in commit order.
    fn tail(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Positioned>, Error>> + Send;

    /// Returns a receiver of the last position that [`Log::tail`] and [`Log::changes`] can currently read. The receiver
    /// reports each new position. When the store is dropped, the receiver reports that its sender is gone.
    fn watch(&self) -> watch::Receiver<u64>;

    /// Returns the end of a stream's hash chain, or `Chain::START` if the stream has no events.
    fn chain(&self, stream: &StreamId) -> impl Future<Output = Result<Chain, Error>> + Send;

    /// Returns the position of an event, or `None` if the stream has no event with this sequence.
    fn position(
        &self,
        stream: &StreamId,
        seq: u64,
    ) -> impl Future<Output = Result<Option<u64>, Error>> + Send;

    /// Returns links of the hash chain over all events, in the order of positions. The links begin with the first event
    /// after the position `after`, and end at the position that [`Log::watch`] reports.
    fn links(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Link>, Error>> + Send;

    /// Returns the head of the journal. If several nodes write, the events up to the position that [`Log::watch`]
    /// reports are first added to the hash chain.
    fn head(&self) -> impl Future<Output = Result<Head, Error>> + Send;

    fn key(&self, scope: &str, key: &str) -> impl Future<Output = Result<Option<Key>, Error>> + Send;

    /// Returns the unique keys of the journal after `after`, sorted by scope and key.
    fn keys(&self, after: Option<&Key>, limit: usize)
    -> impl Future<Output = Result<Vec<Key>, Error>> + Send;

    fn blob(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    /// Returns notices about the events with `position > after`, in commit order.
    fn changes(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Change>, Error>> + Send;

    /// Returns the streams after the given stream, in the order of their ids.
    fn streams(
        &self,
        after: Option<&StreamId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<StreamId>, Error>> + Send;

    /// Describes faults of the files or the database that the store uses, for example damaged pages. Changes nothing.
    fn inspect(&self) -> impl Future<Output = Result<Vec<String>, Error>> + Send;
}
