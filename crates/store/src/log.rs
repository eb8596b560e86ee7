//! Promises of a journal about its events: they are appended, read, followed and chained. The journal also keeps unique
//! keys and blobs.

use std::future::Future;

use holdshort_core::delivery::Delivery;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::{RunId, StreamId};
use tokio::sync::watch;

use crate::journal::Error;
use crate::tables::Rows;

/// Maximum bytes of content in its event. Larger content is stored once, under its digest; readers see no difference.
pub const CONTENT_INLINE_LIMIT: usize = 64 * 1024;

/// One transaction. All of it is durable when `append` returns `Ok`, and nothing of it otherwise. The store checks keys
/// first, then streams, guards and the lease. A repeated request therefore learns what the first one created.
#[derive(Clone, Debug, Default)]
pub struct Append {
    pub streams: Vec<StreamAppend>,
    /// Streams that must still end at the sequence on which the decision was based.
    pub guards: Vec<(StreamId, u64)>,
    pub keys: Vec<Key>,
    pub blobs: Vec<Blob>,
    pub rows: Rows,
    /// True if the caller also drives the run of `rows`. The append is refused while another living node drives it.
    /// Otherwise this node holds the run's lease while the run is runnable. If false, any node may append, and the node
    /// that drives the run is notified.
    pub drives: bool,
    /// Earlier events of the written streams whose content this append erases. Their hashes stay, so the chain stays
    /// valid.
    pub erased: Vec<(StreamId, u64)>,
    /// Run whose answers are erased. Rows of its answers contain personal data, and responses of receivers to its
    /// notifications may repeat that data.
    pub forgets: Option<RunId>,
    /// New deliveries of its events to channels, not yet claimed by a sender.
    pub deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug)]
pub struct StreamAppend {
    pub stream: StreamId,
    /// Sequence of the stream's last event; 0 for a new stream.
    pub expected: u64,
    /// Sealed in order, from `expected + 1`.
    pub events: Vec<Sealed>,
}

/// Key of an operation that may happen once. `(scope, key)` is unique and never expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub scope: String,
    pub key: String,
    /// Digest of the request. A repeat with another digest is an error of the caller.
    pub digest: Digest,
    /// Id of the run or interrupt that the request created.
    pub reference: String,
}

/// Bytes under their own SHA-256. Writing them again changes nothing.
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
    /// Position of the last event written, or of the journal's last event if none was written. Positions grow in commit
    /// order. Stores of one node count all events from 1, without a gap.
    pub position: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// A stream or a guard has another sequence: the caller reads and decides again.
    #[error("{stream} is at {found}, not at {expected}")]
    Conflict { stream: StreamId, expected: u64, found: u64 },
    /// The key was used before. No event was written.
    #[error("the key was already used")]
    KeyTaken(Key),
    /// Another node holds the run's lease. No event was written.
    #[error("another node drives the run")]
    Driven,
    /// Mistake of the caller: the append contradicts itself, independent of the journal's content.
    #[error("the append contradicts itself: {0}")]
    Malformed(String),
    #[error(transparent)]
    Store(#[from] Error),
}

/// An event with its place in commit order.
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

/// An event's place in the chain over all events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub position: u64,
    /// The event's hash, in the chain of its stream.
    pub hash: Digest,
    /// Head that the store keeps at this position. Stores of one node keep one at least at the end of each append. If
    /// several nodes write, there is one at the end of each sealed range.
    pub sealed: Option<Head>,
}

/// Append-only streams, with unique keys and blobs.
///
/// A read sees every append that was answered before the read began. With several nodes, reads by position (`tail`,
/// `changes`) may lag: they see what `watch` has reported.
pub trait Log: Send + Sync + 'static {
    /// Appends all or nothing, durably. Dropping the future does not cancel the append.
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

    /// Returns the position of the last commit that reads by position see. Follow it with [`Log::tail`]. The sender is
    /// dropped with the store.
    fn watch(&self) -> watch::Receiver<u64>;

    /// Returns the end of a stream; `Chain::START` if the stream has no event.
    fn chain(&self, stream: &StreamId) -> impl Future<Output = Result<Chain, Error>> + Send;

    /// Returns the position of an event of a stream; `None` if the stream has no such event.
    fn position(
        &self,
        stream: &StreamId,
        seq: u64,
    ) -> impl Future<Output = Result<Option<u64>, Error>> + Send;

    /// Returns the chain over all events with `position > after`, as far as reads by position see.
    fn links(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Link>, Error>> + Send;

    /// Returns the head of the journal. If several nodes write, it first seals what reads by position see.
    fn head(&self) -> impl Future<Output = Result<Head, Error>> + Send;

    fn key(&self, scope: &str, key: &str) -> impl Future<Output = Result<Option<Key>, Error>> + Send;

    /// Returns all keys after the given one, in order of scope and key.
    fn keys(&self, after: Option<&Key>, limit: usize)
    -> impl Future<Output = Result<Vec<Key>, Error>> + Send;

    fn blob(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    /// Returns the changes with `position > after`, in commit order.
    fn changes(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Change>, Error>> + Send;

    /// Returns every stream after the given one, in order of its id.
    fn streams(
        &self,
        after: Option<&StreamId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<StreamId>, Error>> + Send;

    /// Describes the faults of the store itself, such as damaged pages or a database that is not the pinned one. Reads
    /// only.
    fn inspect(&self) -> impl Future<Output = Result<Vec<String>, Error>> + Send;
}
