//! Copies a journal from one store to another without changing a byte, so that every hash stays valid.
//!
//! The format is JSON Lines: a header, then blobs, events and keys, and a last line with the number of each. A blob
//! comes before the first event that refers to it. For an event, the file contains the exact text over which its hashes
//! were computed. The file contains no rows, because they can be rebuilt from the events. Before an import writes
//! anything, it reads and verifies the whole file and compares it with the store. A second import of the same file
//! changes nothing.

mod export;
mod import;

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{self, Sealed, SealedContent};
use holdshort_core::id::StreamId;
use holdshort_store::{AppendError, Key};
use serde::{Deserialize, Serialize};

pub use export::export;
pub use import::{check, import};

/// Version of the format of exported journals.
const VERSION: u64 = 1;
const FORMAT: &str = "holdshort.journal";
/// Number of events or keys that an export or import reads or writes together.
const PAGE: usize = 500;

/// Numbers of items of each kind that an export or import transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferCounts {
    pub streams: u64,
    pub events: u64,
    pub keys: u64,
    pub blobs: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("line {line} {problem}")]
    Line { line: usize, problem: String },
    #[error("the file is truncated: {0}")]
    CutOff(String),
    #[error(
        "nothing was imported, because the stream {stream} in the file differs from the one in the store at event {seq} or earlier"
    )]
    Differs { stream: StreamId, seq: u64 },
    #[error(
        "nothing was imported, because the store has the idempotency key {scope}/{key} for a different request"
    )]
    KeyDiffers { scope: String, key: String },
    /// The store rejected the import, because another process wrote at the same time or the file contradicts itself.
    #[error("the store rejected the import")]
    Refused(#[source] AppendError),
    #[error("run {0} not found")]
    NoRun(String),
    #[error(
        "{stream} ends with event {there}, but could only be read up to event {found}, because other \
        database transactions are in progress; try again"
    )]
    Incomplete { stream: StreamId, there: u64, found: u64 },
    #[error(transparent)]
    Damaged(#[from] envelope::Error),
    #[error(transparent)]
    Store(#[from] holdshort_store::Error),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Line of an exported journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Header { format: String, v: u64 },
    Blob { digest: Digest, text: String },
    Event(Event),
    Key { scope: String, key: String, digest: Digest, reference: String },
    End(TransferCounts),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    stream: StreamId,
    seq: u64,
    hash: Digest,
    head: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Content>,
}

/// Content of the event. Absent if the content was erased or the event never had content.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    salt: String,
    text: String,
}

impl Event {
    /// Converts a stored event to a line of an exported journal. Returns `None` if the bytes are not UTF-8, which is
    /// never the case for events that Holdshort wrote.
    fn from_sealed(sealed: Sealed) -> Option<Self> {
        let content = match sealed.content {
            Some(content) => Some(Content {
                salt: data_encoding::HEXLOWER.encode(&content.salt),
                text: String::from_utf8(content.bytes).ok()?,
            }),
            None => None,
        };
        let head = String::from_utf8(sealed.head).ok()?;
        Some(Self { stream: sealed.stream, seq: sealed.seq, hash: sealed.hash, head, content })
    }

    fn sealed(self) -> Option<Sealed> {
        let content = match self.content {
            Some(content) => Some(SealedContent {
                salt: data_encoding::HEXLOWER.decode(content.salt.as_bytes()).ok()?.try_into().ok()?,
                bytes: content.text.into_bytes(),
            }),
            None => None,
        };
        let (stream, seq, hash) = (self.stream, self.seq, self.hash);
        Some(Sealed { stream, seq, head: self.head.into_bytes(), content, hash })
    }
}

fn line_of(key: Key) -> Line {
    Line::Key { scope: key.scope, key: key.key, digest: key.digest, reference: key.reference }
}
