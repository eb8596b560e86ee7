//! Verdict of the gates on a call, and the reasons for it.

use serde::{Deserialize, Serialize};

use crate::id::GrantId;

/// Source of a reason to ask a person about a call, or to forbid the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The reason comes from the system policy.
    System,
    /// The reason comes from the configuration of the run.
    Run,
    Workflow,
    /// The reason is a mandatory checkpoint of the workflow.
    Checkpoint,
    /// The reason comes from smart approval: risk words, failures, or the judgement of a model.
    Smart,
    /// The reason was found by the inspection of the call, which takes place before the vote.
    Inspection,
    /// The reason is that a person has refused the call before in this session.
    Refusal,
    /// The reason is a word or an option that indicates risk. Such reasons raise the risk level of the call, but do not
    /// make a person decide.
    Words,
    /// The reason is that no rule matches the call.
    Default,
}

/// Reason why a person must decide on a call, or why the gates forbid the call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub source: Source,
    /// Stable code of the reason: `rule`, `default`, `hard_link`, `opaque_command`, `unclear_command`, `guarded_path`,
    /// `sandbox_none`, `refused_before` …
    pub code: String,
    /// Index of the rule in its list of rules, from 0. `None` if the reason is not a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    pub text: String,
}

/// Reason why the gates allow a call without asking a person.
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
    /// The tool itself opens an interrupt, so the call needs no approval.
    OpensInterrupt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Forbid(Reason),
    /// A person must decide on the call. If `grantable` is true, the person can also approve similar calls for the rest
    /// of the session.
    Ask {
        reasons: Vec<Reason>,
        grantable: bool,
    },
    Allow(Release),
}
