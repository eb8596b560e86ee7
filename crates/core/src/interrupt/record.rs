//! Parts of an interrupt's record: claims, comments, delegations, answers, and the resolution.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Decision, Outcome};
use crate::actor::Role;
use crate::digest::Digest;
use crate::gate::Source;
use crate::id::{GrantId, InterruptId};
use crate::limits;
use crate::text::clip;
use crate::time::Timestamp;

/// Delegation of one interrupt from one person to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    pub from: String,
    pub to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Claim on an interrupt, by which a person states that they will decide. Other people can still decide on the
/// interrupt. If a client of the person executes the call that the interrupt is about, the claim names this client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub by: String,
    /// Client for which the claim was made. Set if a person can have several clients at the same time, such as two
    /// windows.
    pub holder: Option<ClaimHolder>,
    pub at: Timestamp,
    /// Sequence number of the event that records the claim.
    pub seq: u64,
}

/// Client, identified by its connection: a server node, and the number of the connection at this node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimHolder {
    /// Identifier of the server node: the first epoch that the node acquired after its start.
    pub node: u64,
    pub number: u64,
}

/// Comment on an interrupt. `text` is `None` after the comment is erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    pub by: String,
    /// Role of the author at the time of the comment.
    pub role: Role,
    pub text: Option<String>,
    /// Finding of a service (`{title, payload}`), from which the text of the comment was rendered. Null if a person
    /// wrote the comment.
    pub found: Value,
    pub at: Timestamp,
    pub seq: u64,
}

impl Comment {
    /// Renders the finding `{title, payload}` as the text of a comment. If the finding is too long for a comment, the
    /// text is its beginning, with the original length and the digest. Therefore two findings with the same beginning
    /// still have different texts.
    pub(crate) fn describe_finding(found: &Value) -> String {
        let title = found["title"].as_str().unwrap_or_default();
        let payload = serde_json::to_string_pretty(&found["payload"]).unwrap_or_default();
        let whole = format!("{title}\n\n{payload}");
        if whole.len() <= limits::TEXT_BYTES {
            return whole;
        }
        let (len, digest) = (whole.len(), Digest::of_bytes(whole.as_bytes()));
        let note = format!("\n\n(Cut: this is the beginning of {len} bytes, whose SHA-256 is {digest}.)");
        clip(&whole, limits::TEXT_BYTES - note.len() - '…'.len_utf8()) + &note
    }
}

/// Answer to a question. The answer is a text. If the question has a schema, the answer is data, optionally with a
/// text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerContent {
    pub text: Option<String>,
    /// Data of the answer. Null if the answer is only a text.
    pub edit: Value,
}

impl AnswerContent {
    /// Renders the answer for a person. Data is rendered as JSON.
    pub fn render(&self) -> String {
        if self.edit.is_null() { self.text.clone().unwrap_or_default() } else { self.edit.to_string() }
    }

    /// Returns a decision that gives this answer by choosing the option `option`.
    pub(crate) fn decision(self, option: &str, from: Option<InterruptId>) -> Decision {
        let option = option.to_owned();
        Decision { option, text: self.text, edit: self.edit, from, ..Decision::default() }
    }
}

/// Later correction and erasure of a stored answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerAmendments {
    /// Corrected answer, with the time of its correction.
    pub corrected: Option<(AnswerContent, Timestamp)>,
    /// Sequence numbers of other events that contain a copy of the answer: corrections, and messages to agents. Erasing
    /// the answer also erases these copies.
    pub copies: Vec<u64>,
    pub erased: bool,
}

/// Record that an external agent used an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    pub by: String,
    pub at: Timestamp,
    pub digest: Digest,
}

/// Result of an external agent's attempt to write the changes that were approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecOutcome {
    /// The agent wrote all approved changes.
    Done,
    /// The agent wrote none of the approved changes.
    Nothing,
    /// The agent wrote only some of the approved changes.
    Halfway,
}

/// Report of an external agent on writing the approved changes. `text` is `None` after the text is erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecReport {
    pub outcome: ExecOutcome,
    /// Reason why the agent did not write the changes.
    pub text: Option<String>,
    pub at: Timestamp,
}

/// Reason why an interrupt was resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Decision,
    /// The deadline of the interrupt passed before a decision was made.
    Expiry,
    /// A new grant covers the call of the interrupt.
    Grant(GrantId),
    /// A rule allows or forbids the call, so nobody was asked.
    Rule {
        source: Source,
        rule: usize,
    },
    /// The workflow requires no decision on the interrupt. The reason may be that nobody attends the run.
    Unasked,
    /// The workflow reused the answer to an earlier question.
    Reused(InterruptId),
    /// The work on which people were deciding changed. Another interrupt replaced this interrupt, or no decision was
    /// needed any more.
    Superseded,
    /// The agent withdrew its question.
    Withdrawn,
    /// The run ended before a decision was made.
    RunEnded,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    pub outcome: Outcome,
    pub option: Option<String>,
    pub cause: Cause,
    /// Id of the actor who caused the resolution. If a grant that was given in the same run resolved the interrupt,
    /// this is the person who gave the grant.
    pub by: String,
    pub at: Timestamp,
    pub seq: u64,
    /// Sequence number of the decisive vote's event. `None` if no vote resolved the interrupt.
    pub decision: Option<u64>,
}
