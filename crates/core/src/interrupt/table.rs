//! The closed table of interrupts: kind → option ids → effect (design, part 4).
//!
//! Workflows and edges may relabel, drop or reorder options; they may never invent one. `choice` is the one
//! kind whose options are the asker's own: each of those answers, and so does `custom`, which is always among them.

use serde::{Deserialize, Serialize};

/// The one thing behind every pause, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    ToolApproval,
    PlanApproval,
    Checkpoint,
    Error,
    Question,
    Choice,
    Turn,
    Escalation,
    Review,
    Continuation,
    ClientCall,
    UnknownOutcome,
}

impl Kind {
    pub const ALL: [Self; 12] = [
        Self::ToolApproval,
        Self::PlanApproval,
        Self::Checkpoint,
        Self::Error,
        Self::Question,
        Self::Choice,
        Self::Turn,
        Self::Escalation,
        Self::Review,
        Self::Continuation,
        Self::ClientCall,
        Self::UnknownOutcome,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolApproval => "tool_approval",
            Self::PlanApproval => "plan_approval",
            Self::Checkpoint => "checkpoint",
            Self::Error => "error",
            Self::Question => "question",
            Self::Choice => "choice",
            Self::Turn => "turn",
            Self::Escalation => "escalation",
            Self::Review => "review",
            Self::Continuation => "continuation",
            Self::ClientCall => "client_call",
            Self::UnknownOutcome => "unknown_outcome",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Whether an agent of another framework may open it. The others speak of work that we run ourselves.
    pub fn is_open_to_external(self) -> bool {
        match self {
            Self::ToolApproval
            | Self::PlanApproval
            | Self::Checkpoint
            | Self::Question
            | Self::Choice
            | Self::Escalation
            | Self::Review => true,
            Self::Error | Self::Turn | Self::Continuation | Self::ClientCall | Self::UnknownOutcome => false,
        }
    }
}

/// What an option does. A closed set: only these release or stop work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Proceed,
    ProceedWithEdit,
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

/// How an interrupt ended.
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

impl Effect {
    /// The outcome follows from the effect; an expiry is `expired` whatever effect it applies.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Proceed | Self::ProceedWithEdit | Self::Grant | Self::Release => Outcome::Approved,
            Self::Refuse | Self::DropPlan | Self::EndTurn | Self::FailRun => Outcome::Rejected,
            Self::CancelRun => Outcome::Cancelled,
            Self::Respond
            | Self::Retry
            | Self::Redo
            | Self::Skip
            | Self::Replan
            | Self::NewTask
            | Self::Finish => Outcome::Answered,
        }
    }
}

/// Whether a decision may, must or must not carry something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    Never,
    May,
    Must,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub id: &'static str,
    pub label: &'static str,
    /// The first is the default; a workflow may choose another of them for `reject`.
    pub effects: &'static [Effect],
    pub text: Carry,
    pub edit: Carry,
}

const fn row(
    id: &'static str,
    label: &'static str,
    effects: &'static [Effect],
    text: Carry,
    edit: Carry,
) -> Row {
    Row { id, label, effects, text, edit }
}

use Carry::{May, Must, Never};

/// The options of a kind, in the order in which they are shown.
pub fn options(kind: Kind) -> &'static [Row] {
    match kind {
        Kind::ToolApproval => {
            const {
                &[
                    row("approve", "Allow once", &[Effect::Proceed], May, Never),
                    row("approve_session", "Allow for this session", &[Effect::Grant], May, Never),
                    row("edit", "Edit, then run", &[Effect::ProceedWithEdit], May, Must),
                    row("respond", "Answer instead of running", &[Effect::Respond], Must, Never),
                    row("reject", "Refuse", &[Effect::Refuse, Effect::EndTurn, Effect::FailRun], May, Never),
                ]
            }
        }
        Kind::PlanApproval => {
            const {
                &[
                    row("approve", "Approve", &[Effect::Proceed], May, Never),
                    row("edit", "Edit the plan", &[Effect::ProceedWithEdit], May, Must),
                    row("revise", "Ask for another plan", &[Effect::Replan], Must, Never),
                    row("reject", "Reject", &[Effect::DropPlan, Effect::FailRun], May, Never),
                ]
            }
        }
        Kind::Checkpoint => {
            const {
                &[
                    row("approve", "Go ahead", &[Effect::Proceed], May, Never),
                    row("edit", "Edit, then go ahead", &[Effect::ProceedWithEdit], May, Must),
                    row("continue", "Continue", &[Effect::Proceed], May, Never),
                    row("redo", "Do it again", &[Effect::Redo], May, Never),
                    row("skip", "Skip", &[Effect::Skip], May, Never),
                    row("reject", "Reject", &[Effect::FailRun], May, Never),
                    row("abort", "Abort", &[Effect::FailRun], May, Never),
                ]
            }
        }
        Kind::Error => {
            const {
                &[
                    row("retry", "Try again", &[Effect::Retry], May, Never),
                    row("skip", "Skip this step", &[Effect::Skip], May, Never),
                    row("hand_over", "Give the result yourself", &[Effect::Respond], Must, Never),
                    row("abort", "Abort the run", &[Effect::FailRun], May, Never),
                ]
            }
        }
        Kind::Question => {
            const {
                &[
                    // A text, or data where the question has a schema of data: `Offer::of_data`.
                    row("answer", "Answer", &[Effect::Respond], Must, May),
                    row("skip", "Skip: let the agent assume", &[Effect::Skip], May, Never),
                    row("cancel", "Cancel the run", &[Effect::CancelRun], May, Never),
                ]
            }
        }
        Kind::Choice => const { &[row("custom", "Something else", &[Effect::Respond], Must, Never)] },
        Kind::Turn => {
            const {
                &[
                    row("submit", "Send", &[Effect::Respond], Must, Never),
                    row("new_task", "New task", &[Effect::NewTask], Must, Never),
                    row("continue", "Continue", &[Effect::Proceed], May, Never),
                    row("done", "Done", &[Effect::Finish], May, Never),
                    row("exit", "Exit", &[Effect::Finish], May, Never),
                ]
            }
        }
        Kind::Escalation => {
            const {
                &[
                    row("continue", "Continue", &[Effect::Proceed], May, Never),
                    row("instruct", "Give instructions", &[Effect::Respond], Must, Never),
                    row("abort", "Abort the run", &[Effect::FailRun], May, Never),
                ]
            }
        }
        Kind::Review => {
            const {
                &[
                    row("approve", "Release", &[Effect::Release], May, Never),
                    row("edit", "Edit, then release", &[Effect::Release], May, Must),
                    row("reject", "Reject", &[Effect::FailRun], May, Never),
                ]
            }
        }
        Kind::Continuation => {
            const {
                &[
                    row("continue", "Continue with a fresh budget", &[Effect::Proceed], May, Never),
                    row("finish", "Finish here", &[Effect::Finish], May, Never),
                    row("cancel", "Cancel the run", &[Effect::CancelRun], May, Never),
                ]
            }
        }
        Kind::ClientCall => {
            const {
                &[
                    row("result", "Result", &[Effect::Respond], May, Never),
                    row("error", "Error", &[Effect::Respond, Effect::FailRun], Must, Never),
                ]
            }
        }
        Kind::UnknownOutcome => {
            const {
                &[
                    row("happened", "It happened: this is the result", &[Effect::Respond], Must, Never),
                    row("rerun", "It did not happen: run it again", &[Effect::Retry], May, Never),
                    row("skip", "Skip it", &[Effect::Skip], May, Never),
                    row("abort", "Abort the run", &[Effect::FailRun], May, Never),
                ]
            }
        }
    }
}

/// The row of an option, if the kind has it.
pub fn option(kind: Kind, id: &str) -> Option<&'static Row> {
    options(kind).iter().find(|row| row.id == id)
}

/// The option that applies when nobody answered in time and nothing else is configured. Never one that
/// releases work.
pub fn default_on_expiry(kind: Kind) -> &'static str {
    match kind {
        Kind::ToolApproval | Kind::PlanApproval | Kind::Checkpoint | Kind::Review => "reject",
        Kind::Error | Kind::Escalation | Kind::UnknownOutcome => "abort",
        Kind::Question => "skip",
        Kind::Choice => "custom",
        Kind::Turn => "exit",
        // Nobody said that it is enough (contract E22).
        Kind::Continuation => "cancel",
        Kind::ClientCall => "error",
    }
}
