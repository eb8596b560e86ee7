//! Signed checkpoints, and receipts that can be verified without Holdshort (`docs/reference/receipts.md`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::delivery::Delivery;

/// Signed statement about the number of events in a journal and their hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignedCheckpoint {
    /// The signed text in the format of C2SP `tlog-checkpoint`. Store this text outside the server.
    pub note: String,
    /// Number of events that the checkpoint covers.
    pub size: u64,
    /// Root hash of the Merkle tree over these events (RFC 9162, 2.1), as 64 hexadecimal digits.
    pub root: String,
    /// Public key that verifies the signature, as `NAME+HASH+KEY`, the format of tools for signed notes.
    pub key: String,
    #[schema(format = DateTime)]
    pub at: String,
}

/// Events of the journal about one interrupt, each with a proof that a signed checkpoint covers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    pub interrupt: String,
    pub run: String,
    pub checkpoint: SignedCheckpoint,
    /// Events in their order: the start of the run, the interrupt, each decision, the resolution, and the work after
    /// the resolution.
    pub events: Vec<ProvedEvent>,
    pub not_covered: NotCovered,
}

/// Records about an interrupt that are kept outside the journal. The signed checkpoint does not prove them, and they
/// are deleted after some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotCovered {
    /// Deliveries of the interrupt, sent or pending: the newest 200, oldest first.
    pub deliveries: Vec<RecordedDelivery>,
    /// True if the list leaves out older deliveries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_older: bool,
}

/// Delivery of a notification, with its attempts. Each attempt contains the digest of the request body that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecordedDelivery {
    #[serde(flatten)]
    pub delivery: Delivery,
    /// Recipient: the id of a person, or an address in the configuration of the channel. Present if the channel sends a
    /// separate delivery to each recipient. Deleted after 30 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Event of a receipt, with the proof that the signed checkpoint covers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProvedEvent {
    pub stream: String,
    pub seq: u64,
    /// The part of the stored event that `hash` covers, as text: type, time, actor, facts, and the digest of the
    /// content.
    pub head: String,
    /// Stored texts, arguments and results. Absent if the event has no content or if the content was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Salt in hexadecimal. The digest of the content in `head` is the SHA-256 of `salt` and `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// Hash of the previous event of the same stream. All zeros for the first event.
    pub previous: String,
    /// SHA-256 of `previous` and `head`. This hash is the leaf of the event in the Merkle tree.
    pub hash: String,
    /// Index of the event among all events of the journal, from 0.
    pub index: u64,
    /// Hashes on the path from the leaf to the root (RFC 9162, 2.1.3).
    pub path: Vec<String>,
}

/// Proof that a later Merkle tree begins with all events of an earlier Merkle tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Consistency {
    /// Number of events in the earlier tree.
    pub earlier: u64,
    /// Number of events in the later tree.
    pub size: u64,
    /// Hashes of the proof (RFC 9162, 2.1.4).
    pub proof: Vec<String>,
}
