//! The `Journal` trait: what every store promises (design, parts 3 and 5). One conformance suite checks it.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_core::event::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow, Status};
use holdshort_core::session::State;
use holdshort_core::time::Timestamp;
use tokio::sync::watch;

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

/// Rows to insert or replace, by their id. That of a session is [merged](SessionRow::with) with the one that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub run: Option<RunRow>,
    pub session: Option<SessionRow>,
    pub interrupts: Vec<InterruptRow>,
    pub grants: Vec<GrantRow>,
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

/// What can go wrong with the store itself. Each is typed so that a surface can say what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the disk is full: nothing was written")]
    Full,
    #[error("the data folder is read-only: nothing was written")]
    ReadOnly,
    #[error("another server uses this data folder")]
    InUse,
    #[error("the database is in use by {0}")]
    Nodes(String),
    #[error("the database has schema version {found}; this binary knows {known}: update it")]
    FromTheFuture { found: u32, known: u32 },
    #[error(
        "the database has schema version {found}, and this binary reads version {known}: start its server once, which brings it up to date"
    )]
    Outdated { found: u32, known: u32 },
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    #[error("the store failed: {0}")]
    Io(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the store is shut down")]
    Closed,
    #[error("this is not a cursor of this list: start without one")]
    BadCursor,
}

/// An opaque place in a list; text on the wire, of characters that a URL may hold.
pub type Cursor = String;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<Cursor>,
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
    /// The head that the store keeps at this position. Stores of one node keep one for each event; where several
    /// nodes write, there is one at the end of each sealed stretch.
    pub sealed: Option<Head>,
}

/// One opening of the store: a process that drives runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// The first epoch that it drew.
    pub node: u64,
    /// What its operator calls it; a host name by default.
    pub name: String,
    pub opened_at: Timestamp,
    /// When its leases end unless it renews them. `None`: there is no other node that could take them.
    pub alive_until: Option<Timestamp>,
    pub alive: bool,
    /// The node that answers.
    pub here: bool,
    /// Runs whose lease it holds.
    pub runs: u64,
}

/// A run whose deadline has come.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    pub deadline: Timestamp,
    pub run: RunId,
}

/// A node's right to drive a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub run: RunId,
    /// `None`: the run waits for a node.
    pub node: Option<u64>,
}

/// Newest first.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    pub status: Option<Status>,
    pub workflow: Option<String>,
    pub session: Option<SessionId>,
}

/// Newest first.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Empty: any.
    pub states: BTreeSet<State>,
    /// That the session was opened for, or that a run of it has.
    pub workflow: Option<String>,
}

/// Open first by risk, then by age (oldest first); resolved ones newest first.
#[derive(Clone, Debug, Default)]
pub struct InterruptFilter {
    pub open: Option<bool>,
    pub run: Option<RunId>,
    pub session: Option<SessionId>,
    pub kind: Option<Kind>,
}

/// Newest first.
#[derive(Clone, Debug, Default)]
pub struct GrantFilter {
    pub revoked: Option<bool>,
}

/// The journal: append-only streams, unique keys, blobs, and the rows beside them; and who drives what.
///
/// A read sees every append that was answered before the read began. Lists are stable under inserts: a page
/// that was given out neither repeats nor skips a row that did not change. Reads by position (`tail`,
/// `changes`) may come later where there are several nodes: they see what `watch` has told.
pub trait Journal: Send + Sync + 'static {
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

    /// The position of the last commit that reads by position see: follow it with [`Journal::tail`]. The
    /// sender goes away with the store.
    fn watch(&self) -> watch::Receiver<u64>;

    /// Where a stream ends; `Chain::START` for one that has no event.
    fn chain(&self, stream: &StreamId) -> impl Future<Output = Result<Chain, Error>> + Send;

    fn blob(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    fn key(&self, scope: &str, key: &str) -> impl Future<Output = Result<Option<Key>, Error>> + Send;

    /// All keys in order of scope and key, after the given one.
    fn keys(&self, after: Option<&Key>, limit: usize)
    -> impl Future<Output = Result<Vec<Key>, Error>> + Send;

    fn run(&self, run: &RunId) -> impl Future<Output = Result<Option<RunRow>, Error>> + Send;

    fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<RunRow>, Error>> + Send;

    fn session(&self, session: &SessionId) -> impl Future<Output = Result<Option<SessionRow>, Error>> + Send;

    fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<SessionRow>, Error>> + Send;

    /// Sessions that are not closed and in which nothing happened for as long as they were opened for: no run of
    /// them lives, and the last change of the session and of each run is so old. In order of their ids.
    fn idle_sessions(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<SessionId>, Error>> + Send;

    fn interrupt(&self, id: &InterruptId)
    -> impl Future<Output = Result<Option<InterruptRow>, Error>> + Send;

    fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<InterruptRow>, Error>> + Send;

    fn grant(&self, id: &GrantId) -> impl Future<Output = Result<Option<GrantRow>, Error>> + Send;

    fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<GrantRow>, Error>> + Send;

    /// The chain over all events, with `position > after`, as far as reads by position see.
    fn links(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Link>, Error>> + Send;

    /// The head of the journal. Where several nodes write, what reads by position see is sealed first.
    fn head(&self) -> impl Future<Output = Result<Head, Error>> + Send;

    /// What is wrong with the store itself, in words: damaged pages, a database that is not the one that was
    /// pinned. Reads only.
    fn inspect(&self) -> impl Future<Output = Result<Vec<String>, Error>> + Send;

    /// That events were written with `position > after`, in commit order.
    fn changes(&self, after: u64, limit: usize) -> impl Future<Output = Result<Vec<Change>, Error>> + Send;

    /// Runnable runs whose lease this node holds, oldest first. The only node of a store holds all of them.
    fn runnable(&self, limit: usize) -> impl Future<Output = Result<Vec<RunId>, Error>> + Send;

    /// Takes the lease of runnable runs that nobody drives or whose node is gone, and names those of this node
    /// that another one changed since it was asked last. Empty where there is one node.
    fn claim(&self, limit: usize) -> impl Future<Output = Result<Vec<RunId>, Error>> + Send;

    /// Whether this node's leases stand, as far as its own clock tells: looked at once more right before a
    /// side effect.
    fn holds(&self) -> bool;

    /// How often to look for what other nodes did; `None` where there are none: then nobody else writes, and
    /// what is in memory is what is in the journal.
    fn poll(&self) -> Option<Duration>;

    /// The nodes that are alive or hold leases, in order of their opening.
    fn nodes(&self) -> impl Future<Output = Result<Vec<NodeRow>, Error>> + Send;

    /// Runnable runs and who drives them, in order of their id, after the given one.
    fn leases(
        &self,
        after: Option<&RunId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Lease>, Error>> + Send;

    /// Runs whose deadline is at or before `now`, earliest first, behind the given one: what stays due is passed by.
    fn due(
        &self,
        now: Timestamp,
        after: Option<&Due>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Due>, Error>> + Send;

    /// The earliest deadline of all runs.
    fn next_deadline(&self) -> impl Future<Output = Result<Option<Timestamp>, Error>> + Send;

    /// The last epoch that this node drew, the first of them at its opening. No two are ever the same, and
    /// each is larger than all before. Work is started under one, and adopted under a later one.
    fn epoch(&self) -> u64;

    /// Draws the next epoch: a run was driven under a later one than this node has.
    fn draw_epoch(&self) -> impl Future<Output = Result<u64, Error>> + Send;

    /// Every stream of the journal, in order of its id, after the given one.
    fn streams(
        &self,
        after: Option<&StreamId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<StreamId>, Error>> + Send;

    /// Drops all rows and writes these instead, in one transaction. `keys` and `blobs` stay: they belong to
    /// the journal.
    fn replace_rows(&self, rows: Vec<Rows>) -> impl Future<Output = Result<(), Error>> + Send;
}
