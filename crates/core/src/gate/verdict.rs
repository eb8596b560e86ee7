//! Verdict of the gates on a call, with the reasons for the verdict.

use serde::{Deserialize, Serialize};

use crate::id::GrantId;

/// Source of a reason.
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
    /// The inspection of the call, which precedes the vote of the gates.
    Inspection,
    /// A person has refused the call before in this session.
    Refusal,
    /// Words and options that indicate risk. These words and options raise the risk level, but do not require that a
    /// person decides.
    Words,
    /// Default: no rule matches the call.
    Default,
}

/// Reason why a person must decide on a call, or why the call is forbidden.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub source: Source,
    /// Stable code: `rule`, `default`, `hard_link`, `opaque_command`, `unclear_command`, `guarded_path`,
    /// `sandbox_none`, `refused_before` …
    pub code: String,
    /// Index of the rule in the list to which it belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    pub text: String,
}

/// Reason why the gates release a call without asking a person.
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
    /// The tool itself opens an interrupt.
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
