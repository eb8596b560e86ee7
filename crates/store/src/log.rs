//! What a journal promises of its events: they are appended, read back, followed, and chained. Beside them stand
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

/// Content above this many bytes is kept once, as a blob under its SHA-256, and not beside its event. Whoever
/// reads the event does not notice.
pub const CONTENT_INLINE_LIMIT: usize = 64 * 1024;

/// One transaction: all of it is durable when `append` returns `Ok`, none of it otherwise. Keys are checked
/// first, then the streams, then the guards, then the lease: whoever repeats a request learns what the first
/// one made.
#[derive(Clone, Debug, Default)]
pub struct Append {
    pub streams: Vec<StreamAppend>,
    /// Streams that must still end where the decision was made on them.
    pub guards: Vec<(StreamId, u64)>,
    pub keys: Vec<Key>,
    pub blobs: Vec<Blob>,
    pub rows: Rows,
    /// Who appends also drives the run of `rows`: refused while another living node does; otherwise this
    /// node holds the run's lease from here on, for as long as the run is runnable. Without it the append is
    /// anybody's, and whoever drives the run is told.
    pub drives: bool,
    /// Earlier events of streams that it writes: their content goes with it. What they are chained by stays.
    pub erased: Vec<(StreamId, u64)>,
    /// A run of which no answer is kept any more: the rows of what people answered name whom they are about, and what
    /// receivers answered to what they were told of it may repeat that.
    pub forgets: Option<RunId>,
    /// What channels are told of its events. New ones, that nobody sends so far.
    pub deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug)]
pub struct StreamAppend {
    pub stream: StreamId,
    /// The sequence of the stream's last event, 0 for a new stream.
    pub expected: u64,
    /// Sealed in order, from `expected + 1`.
    pub events: Vec<Sealed>,
}

/// Something that may happen once: `(scope, key)` is unique for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub scope: String,
    pub key: String,
    /// Of the request; a repeat with another digest is an error of the caller.
    pub digest: Digest,
    /// What the request made: a run's or an interrupt's id.
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
        Self { digest: Digest::of(&bytes), bytes }
    }
}

/// What a successful append tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The position of the last event written, or of the journal's last event where none was. Positions grow
    /// in commit order. Stores of one node count all events from 1, without a gap.
    pub position: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// A stream or a guard stands elsewhere: read again and decide again.
    #[error("{stream} is at {found}, not at {expected}")]
    Conflict { stream: StreamId, expected: u64, found: u64 },
    /// The key was used before; nothing was written.
    #[error("the key is taken")]
    KeyTaken(Key),
    /// Another node holds the run's lease; nothing was written.
    #[error("another node drives the run")]
    Driven,
    /// A mistake of the caller: the append contradicts itself, whatever the journal holds.
    #[error("the append contradicts itself: {0}")]
    Malformed(String),
    #[error(transparent)]
    Store(#[from] Error),
}

/// An event with its place in the order of commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positioned {
    pub position: u64,
    pub event: Sealed,
}

/// That a stream has an event, without the event.
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
    /// The head that the store keeps at this position. Stores of one node keep one at the end of each append at
    /// least; where several nodes write, there is one at the end of each sealed stretch.
    pub sealed: Option<Head>,
}

/// Append-only streams, with unique keys and blobs.
///
/// A read sees every append that was answered before the read began. Reads by position (`tail`, `changes`) may come
/// later where there are several nodes: they see what `watch` has told.
pub trait Log: Send + Sync + 'static {
    /// All or nothing, and durable. Dropping the future does not take the append back.
    fn append(&self, append: Append) -> impl Future<Output = Result<Appended, AppendError>> + Send;

    /// Events of one stream with `seq > after`, in order.
    fn read(
        &self,
        stream: &StreamId,
        after: u64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Sealed>, Error>> + Send;

    /// Events of all streams with `position > after`, in commit order.
    fn tail(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Positioned>, Error>> + Send;

    /// The position of the last commit that reads by position see: follow it with [`Log::tail`]. The
    /// sender goes away with the store.
    fn watch(&self) -> watch::Receiver<u64>;

    /// Where a stream ends; `Chain::START` for one that has no event.
    fn chain(&self, stream: &StreamId) -> impl Future<Output = Result<Chain, Error>> + Send;

    /// The position of an event of a stream; `None` where it has no such event.
    fn position(
        &self,
        stream: &StreamId,
        seq: u64,
    ) -> impl Future<Output = Result<Option<u64>, Error>> + Send;

    /// The chain over all events, with `position > after`, as far as reads by position see.
    fn links(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Link>, Error>> + Send;

    /// The head of the journal. Where several nodes write, what reads by position see is sealed first.
    fn head(&self) -> impl Future<Output = Result<Head, Error>> + Send;

    fn key(&self, scope: &str, key: &str) -> impl Future<Output = Result<Option<Key>, Error>> + Send;

    /// All keys in order of scope and key, after the given one.
    fn keys(&self, after: Option<&Key>, limit: usize)
    -> impl Future<Output = Result<Vec<Key>, Error>> + Send;

    fn blob(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    /// That events were written with `position > after`, in commit order.
    fn changes(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Change>, Error>> + Send;

    /// Every stream of the journal, in order of its id, after the given one.
    fn streams(
        &self,
        after: Option<&StreamId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<StreamId>, Error>> + Send;

    /// What is wrong with the store itself, in words: damaged pages, a database that is not the one that was
    /// pinned. Reads only.
    fn inspect(&self) -> impl Future<Output = Result<Vec<String>, Error>> + Send;
}
