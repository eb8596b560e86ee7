//! Verdict of the gates on a call, with the reasons for it.

use serde::{Deserialize, Serialize};

use crate::id::GrantId;

/// Origin of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The system policy.
    System,
    /// The configuration of the run.
    Run,
    Workflow,
    /// A mandatory checkpoint of the workflow.
    Checkpoint,
    /// Smart approval: risk words, failures, or the judgement of a model.
    Smart,
    /// The inspection of the call, which precedes the gate.
    Inspection,
    /// A person refused the call before in this session.
    Refusal,
    /// Words and options that indicate risk. These words raise the risk level, but do not require a person's
    /// decision.
    Words,
    /// Default: no rule matches the call.
    Default,
}

/// Reason to require a person's decision on a call, or to forbid the call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub source: Source,
    /// Stable code: `rule`, `default`, `hard_link`, `opaque_command`, `unclear_command`, `guarded_path`,
    /// `sandbox_none`, `refused_before` …
    pub code: String,
    /// Index of the rule in the list that contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    pub text: String,
}

/// Reason why a call is released without asking a person.
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
    /// The tool opens an interrupt by itself.
    OpensInterrupt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Forbid(Reason),
    /// A person must decide. `grantable` is true if an approval for the session may be offered.
    Ask {
        reasons: Vec<Reason>,
        grantable: bool,
    },
    Allow(Release),
}
