//! Records about an interrupt: claims, comments, delegations, answers, and the resolution.

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

/// Delegation of one interrupt from one person to a second person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    pub from: String,
    pub to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Claim on an interrupt. Other people may still decide a claimed interrupt. If a client executes the call of the
/// interrupt, the claim names this client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub by: String,
    /// Client that holds the claim. Set if one person can have several clients, such as two windows.
    pub holder: Option<ClaimHolder>,
    pub at: Timestamp,
    /// Sequence number of the claim's event.
    pub seq: u64,
}

/// Connection of a client, identified by the node and by the number of the connection at that node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimHolder {
    /// Identifier of the node: the first epoch that the node acquired after its start.
    pub node: u64,
    pub number: u64,
}

/// Comment on an interrupt. `text` is `None` after the erasure of the comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    pub by: String,
    /// Role that the author had when commenting.
    pub role: Role,
    pub text: Option<String>,
    /// Finding of a service, `{title, payload}`, from which the text was rendered. Null if a person wrote the comment.
    pub found: Value,
    pub at: Timestamp,
    pub seq: u64,
}

impl Comment {
    /// Renders the finding `{title, payload}` as the text of a comment. If the finding is too large for a comment, the
    /// text contains the beginning of the finding, its original length and its digest. Two findings with the same
    /// beginning therefore get different texts.
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

/// Answer to a question. The answer is a text, or data with an optional text if the question has a schema.
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

/// Correction and erasure of a stored answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerAmendments {
    /// Corrected answer, with the time of its correction.
    pub corrected: Option<(AnswerContent, Timestamp)>,
    /// Sequence numbers of further events that contain a copy of the answer: corrections, and messages to agents.
    pub copies: Vec<u64>,
    pub erased: bool,
}

/// Record of the use of an approval.
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
    /// All changes were written.
    Done,
    /// No change was written.
    Nothing,
    /// Some of the changes were written.
    Halfway,
}

/// Report of an external agent about writing the changes that were approved. The text is `None` after it is erased.
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
    /// The deadline passed, and nobody had decided.
    Expiry,
    /// A new grant covers the call of the interrupt.
    Grant(GrantId),
    /// A rule allows or forbids the call, so no person was asked.
    Rule {
        source: Source,
        rule: usize,
    },
    /// The workflow requires no decision here, or requires none in an unattended run.
    Unasked,
    /// The workflow reused the answer to an earlier question.
    Reused(InterruptId),
    /// The subject of the interrupt changed. A new interrupt replaced this interrupt, or no interrupt was needed any
    /// more.
    Superseded,
    /// The agent withdrew its question.
    Withdrawn,
    /// The run ended.
    RunEnded,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    pub outcome: Outcome,
    pub option: Option<String>,
    pub cause: Cause,
    /// Actor whose input resolved the interrupt. If a grant of the same run resolved it, this is the person who gave
    /// the grant.
    pub by: String,
    pub at: Timestamp,
    pub seq: u64,
    /// Sequence number of the decision that settled the interrupt. `None` if no decision settled the interrupt.
    pub decision: Option<u64>,
}
