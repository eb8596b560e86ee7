//! The events of a journal: how they are appended, read, followed and chained by hashes. The journal also contains
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

/// Maximum size, in bytes, of an event's content that is stored next to the event. Larger content is stored as a blob
/// under its digest. A read returns the content in both cases.
pub const CONTENT_INLINE_LIMIT: usize = 64 * 1024;

/// One transaction. If [`Log::append`] returns `Ok`, the whole transaction is durable. If the transaction is rejected,
/// nothing is written. The store checks the keys first, and then the streams, the guards and the lease. Therefore a
/// repeated request always gets the reference that the first request created.
#[derive(Clone, Debug, Default)]
pub struct Append {
    pub streams: Vec<StreamAppend>,
    /// Streams that the append does not write, but on which the caller's decision depended. The last event of each of
    /// these streams must still have this sequence.
    pub guards: Vec<(StreamId, u64)>,
    pub keys: Vec<Key>,
    pub blobs: Vec<Blob>,
    pub rows: Rows,
    /// True if the caller drives the run in `rows`. The append is then rejected while another living node drives this
    /// run. After the append, this node holds the run's lease as long as the run is runnable. If false, any node may
    /// append, and the node that drives the run is notified.
    pub drives: bool,
    /// Earlier events of the written streams. The append erases their contents but not their hashes, so the chain stays
    /// valid.
    pub erased: Vec<(StreamId, u64)>,
    /// Run of which the append erases the stored answers, and the responses of receivers to notifications. Answers and
    /// responses may contain personal data.
    pub forgets: Option<RunId>,
    /// New deliveries, which notify channels of the appended events. No node has claimed them yet.
    pub deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug)]
pub struct StreamAppend {
    pub stream: StreamId,
    /// Sequence that the stream's last event must have; 0 for a new stream.
    pub expected: u64,
    /// Events in order. The first event has the sequence `expected + 1`.
    pub events: Vec<Sealed>,
}

/// Key of an operation that must happen only once. `(scope, key)` is unique and never expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub scope: String,
    pub key: String,
    /// Digest of the request. A later request with the same key and another digest is rejected as an error of its
    /// caller.
    pub digest: Digest,
    /// Id of the run, session or interrupt that the request created.
    pub reference: String,
}

/// Bytes that are stored under their SHA-256 digest. Writing the same bytes again changes nothing.
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
    /// Position of the last event that was written. If the append has no events, position of the journal's last event.
    /// Positions increase in the order of commits. In a store with only one node, positions start at 1 and have no
    /// gaps.
    pub position: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// A stream does not end at the expected sequence. The caller must read the stream and decide again.
    #[error("{stream} ends with event {found}, but the append expects event {expected}")]
    Conflict { stream: StreamId, expected: u64, found: u64 },
    /// The key was used before. No event was written.
    #[error("the key was already used")]
    KeyTaken(Key),
    /// Another node holds the run's lease. No event was written.
    #[error("another node drives the run")]
    Driven,
    /// The append contradicts itself, whatever the journal contains. This is an error of the caller.
    #[error("the append contradicts itself: {0}")]
    Malformed(String),
    #[error(transparent)]
    Store(#[from] Error),
}

/// An event with its position in the order of commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positioned {
    pub position: u64,
    pub event: Sealed,
}

/// Notification that an event was appended, without the event itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub position: u64,
    pub stream: StreamId,
    pub seq: u64,
}

/// An event in the chain over all events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub position: u64,
    /// Hash of the event, which is also part of the chain of its stream.
    pub hash: Digest,
    /// Head of the journal after this event. `None` if the store has no head for this position. A store with only one
    /// node has at least the head after each append. If several nodes write, ranges of events are added to the chain
    /// (sealed) later, and the store has the head at the end of each range.
    pub sealed: Option<Head>,
}

/// Append-only streams, with unique keys and blobs.
///
/// A read sees every append that was acknowledged before the read began. The exception are reads by position (`tail`,
/// `changes`) with several nodes: they return events only up to the position that `watch` has reported, and so may lag
/// behind.
pub trait Log: Send + Sync + 'static {
    /// Writes the whole append durably, or writes nothing. Dropping the future does not cancel the append.
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

    /// Returns a receiver of the latest position that is visible to reads by position. Read the new events with
    /// [`Log::tail`]. The sender is dropped together with the store.
    fn watch(&self) -> watch::Receiver<u64>;

    /// Returns the end of a stream's chain, or `Chain::START` if the stream has no events.
    fn chain(&self, stream: &StreamId) -> impl Future<Output = Result<Chain, Error>> + Send;

    /// Returns the position of an event, or `None` if the stream has no event with this sequence.
    fn position(
        &self,
        stream: &StreamId,
        seq: u64,
    ) -> impl Future<Output = Result<Option<u64>, Error>> + Send;

    /// Returns the links of the chain over all events. They begin with the first event with `position > after`, and end
    /// with the latest position that is visible to reads by position.
    fn links(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Link>, Error>> + Send;

    /// Returns the head of the journal. If several nodes write, events up to the latest visible position are first
    /// added to the chain (sealed).
    fn head(&self) -> impl Future<Output = Result<Head, Error>> + Send;

    fn key(&self, scope: &str, key: &str) -> impl Future<Output = Result<Option<Key>, Error>> + Send;

    /// Returns the keys after the given key, in the order of scope and key.
    fn keys(&self, after: Option<&Key>, limit: usize)
    -> impl Future<Output = Result<Vec<Key>, Error>> + Send;

    fn blob(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    /// Returns the changes with `position > after`, in commit order.
    fn changes(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Change>, Error>> + Send;

    /// Returns the streams after the given stream, in the order of their ids.
    fn streams(
        &self,
        after: Option<&StreamId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<StreamId>, Error>> + Send;

    /// Describes faults of the store itself. Examples are damaged pages, and a database that contradicts its head file.
    /// Changes nothing.
    fn inspect(&self) -> impl Future<Output = Result<Vec<String>, Error>> + Send;
}
