//! Records of an interrupt: claims, comments, delegations, answers and its resolution.

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

/// Claim on an interrupt. It prevents no other person from deciding. For a client call it names the client that runs
/// the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub by: String,
    /// Client that holds the claim, if clients of one person are distinguished, such as two windows.
    pub holder: Option<ClaimHolder>,
    pub at: Timestamp,
    /// Sequence number of the event.
    pub seq: u64,
}

/// Connection of a client: its node, and its number there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimHolder {
    /// First epoch that the node drew.
    pub node: u64,
    pub number: u64,
}

/// Comment on an interrupt. Its text is `None` once erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    pub by: String,
    /// Role in which the author acted.
    pub role: Role,
    pub text: Option<String>,
    /// `{title, payload}` of a service's finding, from which the text was rendered. Null for a person's comment.
    pub found: Value,
    pub at: Timestamp,
    pub seq: u64,
}

impl Comment {
    /// Renders `{title, payload}` of a finding as the text of a comment. A hold may be larger than a comment. Then the
    /// text contains the beginning, the whole length and its digest, so findings with equal beginnings stay distinct.
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

/// An answer: a text, or data with a text if the question had a schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerContent {
    pub text: Option<String>,
    /// Data of the answer. Null if the text is the answer.
    pub edit: Value,
}

impl AnswerContent {
    /// Renders the answer for a person, with data as JSON.
    pub fn render(&self) -> String {
        if self.edit.is_null() { self.text.clone().unwrap_or_default() } else { self.edit.to_string() }
    }

    /// Returns the answer as a decision for this option.
    pub(crate) fn decision(self, option: &str, from: Option<InterruptId>) -> Decision {
        let option = option.to_owned();
        Decision { option, text: self.text, edit: self.edit, from, ..Decision::default() }
    }
}

/// Corrections and erasure of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerAmendments {
    /// Corrected answer, with the time of the correction.
    pub corrected: Option<(AnswerContent, Timestamp)>,
    /// Sequences of other events that contain the answer: its corrections, and messages to agents.
    pub copies: Vec<u64>,
    pub erased: bool,
}

/// Use of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    pub by: String,
    pub at: Timestamp,
    pub digest: Digest,
}

/// Cause of a resolution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Decision,
    /// The deadline passed without a decision.
    Expiry,
    /// A new grant covers the interrupt.
    Grant(GrantId),
    /// A rule allows or forbids it: nobody was asked.
    Rule {
        source: Source,
        rule: usize,
    },
    /// The workflow does not ask here, or does not ask in an unattended run.
    Unasked,
    /// The workflow reuses the answer to an earlier question.
    Reused(InterruptId),
    /// The subject changed. Another interrupt replaced this one, or none was needed.
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
    /// Actor of the input. For a grant of the same run, the person who gave the grant.
    pub by: String,
    pub at: Timestamp,
    pub seq: u64,
    /// Sequence of the decision that settled the interrupt, if a decision did.
    pub decision: Option<u64>,
}
