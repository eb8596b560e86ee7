//! Verdict of the gates on a call, with its reasons.

use serde::{Deserialize, Serialize};

use crate::id::GrantId;

/// Origin of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The system policy.
    System,
    /// The run's own configuration.
    Run,
    Workflow,
    /// A mandatory checkpoint of the workflow.
    Checkpoint,
    /// Smart approval: words, failures, or a model's judgement.
    Smart,
    /// The inspection of the call before the gate.
    Inspection,
    /// A person refused the call before in this session.
    Refusal,
    /// Words and flags that indicate risk. They raise the level, and hold nothing back.
    Words,
    /// No rule matches.
    Default,
}

/// Reason for holding a call back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub source: Source,
    /// Stable code: `rule`, `default`, `hard_link`, `opaque_command`, `unclear_command`, `guarded_path`,
    /// `sandbox_none`, `refused_before` …
    pub code: String,
    /// Index of the rule in its list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    pub text: String,
}

/// Release of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    Rule {
        source: Source,
        rule: usize,
    },
    Grant {
        grant: GrantId,
    },
    /// The tool opens an interrupt itself.
    OpensInterrupt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Forbid(Reason),
    /// `grantable` is true if an approval for the session may be offered.
    Ask {
        reasons: Vec<Reason>,
        grantable: bool,
    },
    Allow(Release),
}
