//! Legal holds on the content of runs, and erasure of this content on request.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Request to place a legal hold on the content of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "Case 2026-114 is open."}))]
pub struct PlaceHold {
    /// Reason of the hold, 1 to 2,000 bytes. The reason is content of the run: it can be erased after the hold is
    /// lifted.
    pub reason: String,
}

/// Retention of a run's content: which content is erased, and whether a legal hold prevents erasure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Keeping {
    pub run: String,
    /// Legal hold that prevents the erasure of the content. Absent if there is no hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// Sequence number of the last event with erased content. The content of all earlier events is erased too. 0 if no
    /// content is erased.
    pub erased_to: u64,
    /// Record of the erasure. Present if all content of the run is erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<ErasedContent>,
}

/// Record of an erasure. The input, texts, arguments and results of the run are deleted. The events themselves are
/// kept, with their times and actors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"by": "anna", "at": "2026-02-28T09:30:00.000Z", "because": "request"}))]
pub struct ErasedContent {
    pub by: String,
    #[schema(format = DateTime)]
    pub at: String,
    /// Cause of the erasure: `request` if a person requested the erasure, `retention` if the retention period of the
    /// installation ended.
    pub because: String,
}

impl ErasedContent {
    /// Returns the cause of the erasure: the person who requested it, or the end of the retention period.
    pub fn why(&self) -> String {
        match &*self.because {
            "retention" => "the retention period has ended".to_owned(),
            _ => format!("by {}", self.by),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Hold {
    pub by: String,
    #[schema(format = DateTime)]
    pub at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Request to erase the content of one run, or of all runs about a subject. Send exactly one of the two fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"subject": "customer 4711"}))]
pub struct Erase {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Subject of the runs whose content is erased: the value of their `input.subject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// Result of an erasure request. The journal does not record the subject of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Erasure {
    /// Ids of the runs whose content is erased. Their events stay.
    pub erased: Vec<String>,
    /// Ids of the runs that were not erased because they have not ended. Repeat the request after they have ended.
    pub not_ended: Vec<String>,
    /// Ids of the runs that were not erased because a legal hold protects them.
    pub held: Vec<String>,
    /// Ids of the runs that could not be erased because of an error, such as unreadable events. The server's log
    /// contains the error.
    pub failed: Vec<String>,
}
