//! Signed checkpoints, and receipts that can be verified without Holdshort (`docs/reference/receipts.md`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::delivery::Delivery;

/// A signed statement about the state of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignedCheckpoint {
    /// The signed text in the format of C2SP `tlog-checkpoint`. Keep this text.
    pub note: String,
    /// Number of covered events.
    pub size: u64,
    /// Root of the tree over these events (RFC 9162, 2.1), as 64 hexadecimal digits.
    pub root: String,
    /// Public key of the signature as `NAME+HASH+KEY`, the format of tools for signed notes.
    pub key: String,
    #[schema(format = DateTime)]
    pub at: String,
}

/// All events of one interrupt in the journal, with the proof that a checkpoint covers them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    pub interrupt: String,
    pub run: String,
    pub checkpoint: SignedCheckpoint,
    /// Events in their order: the start of the run, the interrupt, each decision, the resolution, and the work that
    /// followed.
    pub events: Vec<ProvedEvent>,
    pub not_covered: NotCovered,
}

/// Records about an interrupt outside the journal. No checkpoint covers them, and they are deleted after some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotCovered {
    /// Deliveries of the interrupt, sent or pending: the newest 200, oldest first.
    pub deliveries: Vec<RecordedDelivery>,
    /// True if there are older deliveries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_older: bool,
}

/// A delivery with its attempts, each with the digest of the sent body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecordedDelivery {
    #[serde(flatten)]
    pub delivery: Delivery,
    /// Recipient, if the channel sends to each recipient separately: a person's id, or an address of the channel.
    /// Kept for 30 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// An event of a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProvedEvent {
    pub stream: String,
    pub seq: u64,
    /// Stored bytes as text: type, time, actor, facts, and the digest of the content.
    pub head: String,
    /// Texts, arguments and results, as stored. Absent if the event has none, or if they were erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Salt in hexadecimal. The digest in `head` is the SHA-256 of `salt` and `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// Hash of the previous event of the same stream. Zeros for the first event.
    pub previous: String,
    /// SHA-256 of `previous` and `head`: the leaf of the tree.
    pub hash: String,
    /// Index among all events, from 0.
    pub index: u64,
    /// Hashes from the leaf up to the root (RFC 9162, 2.1.3).
    pub path: Vec<String>,
}

/// Proof that a later tree begins with all events of an earlier tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Consistency {
    /// Number of events in the earlier tree.
    pub earlier: u64,
    /// Number of events in the later tree.
    pub size: u64,
    /// Hashes of the proof (RFC 9162, 2.1.4).
    pub proof: Vec<String>,
}
