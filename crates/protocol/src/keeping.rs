//! How long what runs say is kept: holds, and what is erased on request.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a run is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "Case 2026-114 is open."}))]
pub struct PlaceHold {
    /// 1 to 2,000 bytes. In the journal, and erased with the rest once the hold is lifted.
    pub reason: String,
}

/// What is kept of what a run said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Keeping {
    pub run: String,
    /// Nothing of it may be erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// The last event of which nothing that it said is kept; 0: everything is.
    pub erased_to: u64,
    /// Once nothing of all that it said is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<ErasedContent>,
}

/// Nothing of what a run said is kept: no input, texts, arguments, results. That they were, when and by whom stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"by": "anna", "at": "2026-02-28T09:30:00.000Z", "because": "request"}))]
pub struct ErasedContent {
    pub by: String,
    #[schema(format = DateTime)]
    pub at: String,
    /// `request`: somebody asked for it; `retention`: it was kept as long as the installation keeps it.
    pub because: String,
}

impl ErasedContent {
    /// By whom, or why nobody had to ask for it.
    pub fn why(&self) -> String {
        match &*self.because {
            "retention" => "kept as long as this installation keeps it".to_owned(),
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

/// What is to be erased: what one run said, or what all runs about a subject said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"subject": "customer 4711"}))]
pub struct Erase {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// As `input.subject` of the runs names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// What came of it. The subject is named nowhere in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Erasure {
    /// Runs of which nothing is kept now but that things happened.
    pub erased: Vec<String>,
    /// Runs that have not ended. Ask again once they have.
    pub not_ended: Vec<String>,
    /// Runs that somebody holds.
    pub held: Vec<String>,
    /// Runs that can not be read or changed: the server's log says why.
    pub failed: Vec<String>,
}
