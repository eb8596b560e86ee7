//! Records of an interrupt: claims, comments, delegations, answers, and what ended it.

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

/// Somebody asked somebody else to decide in their place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    pub from: String,
    pub to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Somebody is at it. A claim keeps nobody from deciding; of a call that a client runs it says which client has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub by: String,
    /// Client that holds the claim, if clients of one person count apart, such as two windows.
    pub holder: Option<Holder>,
    pub at: Timestamp,
    /// Sequence number of the event.
    pub seq: u64,
}

/// One connection of a client: the node that it is connected to, and its number there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    /// The first epoch that the node drew.
    pub node: u64,
    pub number: u64,
}

/// Comment on an interrupt. The text is `None` once it is erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    pub by: String,
    /// In which role they came.
    pub role: Role,
    pub text: Option<String>,
    /// `{title, payload}` of what a service found, which the text says; null where it is a person's.
    pub found: Value,
    pub at: Timestamp,
    pub seq: u64,
}

impl Comment {
    /// Renders `{title, payload}` of a finding as the text of a comment. A hold may be larger than a comment: then the text
    /// holds the beginning, the length of the whole and its digest. Findings that begin alike stay distinct.
    pub(crate) fn describe_finding(found: &Value) -> String {
        let title = found["title"].as_str().unwrap_or_default();
        let payload = serde_json::to_string_pretty(&found["payload"]).unwrap_or_default();
        let whole = format!("{title}\n\n{payload}");
        if whole.len() <= limits::TEXT_BYTES {
            return whole;
        }
        let (len, digest) = (whole.len(), Digest::of(whole.as_bytes()));
        let note = format!("\n\n(Cut: this is the beginning of {len} bytes, whose SHA-256 is {digest}.)");
        clip(&whole, limits::TEXT_BYTES - note.len() - '…'.len_utf8()) + &note
    }
}

/// An answer: a text, or data with a text if the question had a schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    pub text: Option<String>,
    /// Null: the text is the answer.
    pub edit: Value,
}

impl Given {
    /// The answer as a person reads it: data as JSON.
    pub fn shown(&self) -> String {
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
pub struct Kept {
    /// Answer that replaces it, and the time of the correction.
    pub corrected: Option<(Given, Timestamp)>,
    /// Other events that hold the answer: its corrections, and messages to agents.
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
    /// A grant that covers it was given.
    Grant(GrantId),
    /// A rule allows or forbids it: nobody was asked.
    Rule {
        source: Source,
        rule: usize,
    },
    /// The workflow asks nobody here, or nobody in a run that nobody attends.
    Unasked,
    /// The workflow reuses the answer to an earlier question.
    Reused(InterruptId),
    /// Its subject changed; another interrupt took its place, or none was needed.
    Superseded,
    /// The agent that asked needs it no more.
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
    /// The sequence of the decision that settled it, where one did.
    pub decision: Option<u64>,
}
