//! Signed checkpoints, and receipts that anybody can check without Holdshort (`docs/reference/receipts.md`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::delivery::Delivery;

/// How a journal stood, signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignedCheckpoint {
    /// The signed text, in the format of C2SP `tlog-checkpoint`. Keep this.
    pub note: String,
    /// Events that it covers.
    pub size: u64,
    /// The root of the tree over them (RFC 9162, 2.1), as 64 hexadecimal digits.
    pub root: String,
    /// The key that checks the signature: `NAME+HASH+KEY`, as tools for signed notes take it.
    pub key: String,
    #[schema(format = DateTime)]
    pub at: String,
}

/// Everything that the journal has of one interrupt, with the proof that a checkpoint covers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    pub interrupt: String,
    pub run: String,
    pub checkpoint: SignedCheckpoint,
    /// How the run began, what was asked, each decision, how it ended, and what was carried out, in their order.
    pub events: Vec<ProvedEvent>,
    pub not_covered: NotCovered,
}

/// What is known of an interrupt beside the journal: no checkpoint covers it, and it is forgotten with time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotCovered {
    /// What channels were told of it, or are to be told, the oldest first: at most the newest 200.
    pub deliveries: Vec<RecordedDelivery>,
    /// There are older ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_older: bool,
}

/// A delivery with its attempts, each with the digest of what was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecordedDelivery {
    #[serde(flatten)]
    pub delivery: Delivery,
    /// Whom it was for, where the channel writes to each alone: a person by id, or an address of the channel. For 30 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// An event of a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProvedEvent {
    pub stream: String,
    pub seq: u64,
    /// The stored bytes: type, time, actor, facts, and the digest of the content.
    pub head: String,
    /// Texts, arguments, results, as stored; not there where the event has none, or where it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// In hexadecimal. The digest in the head is the SHA-256 of `salt` and `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// The hash of the event before it in its stream; zeros for the first.
    pub previous: String,
    /// SHA-256 of `previous` and `head`: the leaf of the tree.
    pub hash: String,
    /// Its place among all events, from 0.
    pub index: u64,
    /// The way from the leaf up to the root (RFC 9162, 2.1.3).
    pub path: Vec<String>,
}

/// That a later tree begins with all events of an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Consistency {
    /// Events of the earlier tree.
    pub earlier: u64,
    /// Events of the later one.
    pub size: u64,
    /// RFC 9162, 2.1.4.
    pub proof: Vec<String>,
}
