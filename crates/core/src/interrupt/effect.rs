//! Effects of options. The set of effects is fixed in the program. The table has one row per effect, which defines what
//! happens to the work that waits for the decision.

use serde::{Deserialize, Serialize};

/// Effect of an option. Work that waits for a decision continues or stops only through an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Proceed,
    ProceedWithEdit,
    /// Commits only some of the changes of a trial: the changes at the paths that the edit names.
    ProceedWithSome,
    Respond,
    Grant,
    Refuse,
    Retry,
    Redo,
    Skip,
    Replan,
    DropPlan,
    Release,
    NewTask,
    EndTurn,
    Finish,
    FailRun,
    CancelRun,
}

/// Outcome of an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Approved,
    Rejected,
    Answered,
    Expired,
    Cancelled,
    Superseded,
}

/// Consequence of an option for the work that waits for the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldWork {
    /// The work that waits for the decision continues.
    Continues,
    /// The work is done again, and a person then decides on the new result.
    Repeats,
    /// The work that waits for the decision does not continue, or other work replaces it.
    Held,
    /// The work that waits for the decision does not continue, and the run ends.
    Ended,
}

struct EffectRow {
    outcome: Outcome,
    work: HeldWork,
    /// Description of the effect, shown after the name of the option.
    does: &'static str,
}

const fn row(outcome: Outcome, work: HeldWork, does: &'static str) -> EffectRow {
    EffectRow { outcome, work, does }
}

impl Effect {
    const fn row(self) -> EffectRow {
        use HeldWork::{Continues, Ended, Held, Repeats};
        use Outcome::{Answered, Approved, Cancelled, Rejected};
        match self {
            Self::Proceed => row(Approved, Continues, "continues"),
            Self::ProceedWithEdit => row(Approved, Continues, "continues with your version"),
            Self::ProceedWithSome => row(
                Approved,
                Continues,
                "keeps the paths that you choose and drops the rest; the agent learns which paths were dropped",
            ),
            Self::Grant => row(
                Approved,
                Continues,
                "approves it and similar calls in this session, until you revoke the grant",
            ),
            Self::Release => row(Approved, Continues, "releases it"),
            Self::Refuse => row(Rejected, Held, "rejects it; the agent gets your reason and continues"),
            Self::DropPlan => row(Rejected, Held, "drops the plan; the agent gets your reason and continues"),
            Self::EndTurn => row(Rejected, Held, "rejects it and ends the agent's turn"),
            Self::FailRun => row(Rejected, Ended, "ends the run as failed"),
            Self::CancelRun => row(Cancelled, Ended, "cancels the run"),
            Self::Respond => row(Answered, Held, "gives your text to the agent"),
            Self::Retry => row(Answered, Continues, "runs it again"),
            Self::Redo => row(Answered, Continues, "repeats it with your feedback"),
            Self::Skip => row(Answered, Held, "skips it; the run continues"),
            Self::Replan => row(Answered, Repeats, "asks the agent for another plan, with your feedback"),
            Self::NewTask => row(Answered, Continues, "starts a new task"),
            Self::Finish => row(Answered, Held, "finishes with the result so far"),
        }
    }

    /// Returns the outcome of a decision with this effect. If an interrupt expires, its outcome is always `expired`.
    pub fn outcome(self) -> Outcome {
        self.row().outcome
    }

    /// Returns the description that is shown after the name of an option, for example *ends the run as failed*.
    pub fn does(self) -> &'static str {
        self.row().does
    }

    pub fn work(self) -> HeldWork {
        self.row().work
    }

    /// Returns true if work that needs approval continues with this effect. With all other effects, the work stops or
    /// is replaced.
    pub fn lets_go_on(self) -> bool {
        matches!(self.work(), HeldWork::Continues | HeldWork::Repeats)
    }

    /// Returns true if the effect gives a grant, or commits only some of a trial's changes. Options with such an effect
    /// need a tool call that Holdshort can read. An external agent's interrupt offers them only if the agent sent the
    /// call.
    pub fn is_of_own_calls(self) -> bool {
        matches!(self, Self::Grant | Self::ProceedWithSome)
    }

    /// Returns true if votes with these two effects are counted together. An approval for the session counts together
    /// with an approval of a single call.
    pub fn agrees_with(self, other: Self) -> bool {
        let allows = |effect| matches!(effect, Self::Proceed | Self::Grant);
        self == other || (allows(self) && allows(other))
    }
}
