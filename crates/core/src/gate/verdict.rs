//! Verdict of the gates on a call, with its reasons.

use serde::{Deserialize, Serialize};

use crate::id::GrantId;

/// Origin of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The installation's policy.
    System,
    /// The run's own configuration.
    Run,
    Workflow,
    /// A mandatory checkpoint of the workflow.
    Checkpoint,
    /// Smart approval: words, failures, or a model's judgement.
    Smart,
    /// The look at the call before the gate.
    Inspection,
    /// A person refused it before in this session.
    Refusal,
    /// Words and flags that speak of risk. They raise a level, and hold nothing back.
    Words,
    /// No rule speaks of it.
    Default,
}

/// Why a call is held back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub source: Source,
    /// Stable: `rule`, `default`, `hard_link`, `opaque_command`, `unclear_command`, `guarded_path`, `sandbox_none`,
    /// `refused_before` …
    pub code: String,
    /// The rule's place in its list.
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
    /// A tool that opens an interrupt itself.
    OpensInterrupt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Forbid(Reason),
    /// `grantable`: whether allowing it for the session may be offered.
    Ask {
        reasons: Vec<Reason>,
        grantable: bool,
    },
    Allow(Release),
}
