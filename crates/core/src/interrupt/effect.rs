//! Effects of options: a closed set, in which each row tells what an effect does to the work that was held.

use serde::{Deserialize, Serialize};

/// Effect of an option. Only these release or stop work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Proceed,
    ProceedWithEdit,
    /// Keeps the paths that the edit names, out of the changes of a trial.
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

/// Fate of the work that an interrupt holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldWork {
    /// It goes on.
    Continues,
    /// It is done again, and a person decides on the result.
    Repeats,
    /// It stays held, or something takes its place.
    Held,
    /// It stays held, and the run is over.
    Ended,
}

/// Properties of an effect.
struct EffectRow {
    outcome: Outcome,
    work: HeldWork,
    /// Words that follow the name of the option.
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
                "keeps the paths that you choose and drops the rest; the agent learns which",
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
            Self::Respond => row(Answered, Held, "gives the agent your words"),
            Self::Retry => row(Answered, Continues, "runs it again"),
            Self::Redo => row(Answered, Continues, "repeats it with your feedback"),
            Self::Skip => row(Answered, Held, "skips it; the run continues"),
            Self::Replan => row(Answered, Repeats, "asks the agent for another plan, with your feedback"),
            Self::NewTask => row(Answered, Continues, "starts a new task"),
            Self::Finish => row(Answered, Held, "finishes with the result so far"),
        }
    }

    /// Returns the outcome. An expiry is `expired` whatever effect it applies.
    pub fn outcome(self) -> Outcome {
        self.row().outcome
    }

    /// Returns the words that follow the name of an option, such as *lets it go on*.
    pub fn does(self) -> &'static str {
        self.row().does
    }

    pub fn work(self) -> HeldWork {
        self.row().work
    }

    /// Returns true if work that somebody has to agree to goes on by it. Others hold the work back, or take its place.
    pub fn lets_go_on(self) -> bool {
        matches!(self.work(), HeldWork::Continues | HeldWork::Repeats)
    }

    /// Returns true if only a call has it that Holdshort inspects and runs: a grant, and a part of what a trial did.
    pub fn is_of_own_calls(self) -> bool {
        matches!(self, Self::Grant | Self::ProceedWithSome)
    }

    /// Returns true if people who chose the two effects agree: an approval for the session also allows the call once.
    pub fn agrees_with(self, other: Self) -> bool {
        let allows = |effect| matches!(effect, Self::Proceed | Self::Grant);
        self == other || (allows(self) && allows(other))
    }
}
