//! Retention of the content of runs: legal holds, and erasure on request.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Request to hold the content of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "Case 2026-114 is open."}))]
pub struct PlaceHold {
    /// 1 to 2,000 bytes. The journal stores the reason. It is erased with the run's other content after the hold is
    /// lifted.
    pub reason: String,
}

/// Retention state of a run's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Keeping {
    pub run: String,
    /// Hold that keeps the content from being erased. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// Sequence number of the last event up to which all content is erased. 0 if none is erased.
    pub erased_to: u64,
    /// Present if all content of the run is erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<ErasedContent>,
}

/// Record of an erasure. The input, texts, arguments and results of the run are gone. The events stay, with their
/// times and actors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"by": "anna", "at": "2026-02-28T09:30:00.000Z", "because": "request"}))]
pub struct ErasedContent {
    pub by: String,
    #[schema(format = DateTime)]
    pub at: String,
    /// `request` if a person asked for it, `retention` if the retention period of the installation ended.
    pub because: String,
}

impl ErasedContent {
    /// Returns the person who erased the content, or says that the retention period ended.
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

/// Request to erase the content of one run, or of all runs about a subject. Exactly one of the two is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"subject": "customer 4711"}))]
pub struct Erase {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Subject, equal to `input.subject` of the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// Result of an erasure. The journal never names the subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Erasure {
    /// Runs whose content is erased. Their events stay.
    pub erased: Vec<String>,
    /// Runs that have not ended. Ask again after they have.
    pub not_ended: Vec<String>,
    /// Runs under a legal hold.
    pub held: Vec<String>,
    /// Runs that cannot be read or changed. The server's log names the reason.
    pub failed: Vec<String>,
}
