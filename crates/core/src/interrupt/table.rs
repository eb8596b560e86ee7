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

    /// Its row: what is known of a kind stands there once, and nowhere else.
    pub const fn row(self) -> &'static KindRow {
        match self {
            Self::ToolApproval => &TOOL_APPROVAL,
            Self::PlanApproval => &PLAN_APPROVAL,
            Self::Checkpoint => &CHECKPOINT,
            Self::Error => &ERROR,
            Self::Question => &QUESTION,
            Self::Choice => &CHOICE,
            Self::Turn => &TURN,
            Self::Escalation => &ESCALATION,
            Self::Review => &REVIEW,
            Self::Continuation => &CONTINUATION,
            Self::ClientCall => &CLIENT_CALL,
            Self::UnknownOutcome => &UNKNOWN_OUTCOME,
        }
    }

    pub const fn as_str(self) -> &'static str {
        self.row().name
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What is known of a kind.
#[derive(Clone, Copy, Debug)]
pub struct KindRow {
    /// As it is written in journals, workflows and answers.
    pub name: &'static str,
    /// Whether an agent of another framework may open it. The others speak of work that we run ourselves.
    pub from_outside: bool,
    /// The member of the payload that an edit takes the place of. `None`: an edit of it takes the place of nothing.
    pub edits: Option<&'static str>,
    /// Option that an expiry takes if nothing else is configured. Never one that releases work or needs a text. `None`:
    /// the kind has no such option, and expires without one.
    pub on_expiry: Option<&'static str>,
    /// In the order in which they are shown.
    pub options: &'static [Row],
}

/// What an option does. A closed set: only these release or stop work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Proceed,
    ProceedWithEdit,
    /// Of what a trial did, the paths that the edit names.
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
            Self::Proceed | Self::ProceedWithEdit | Self::ProceedWithSome | Self::Grant | Self::Release => {
                Outcome::Approved
            }
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

impl Effect {
    /// Whether only a call can have it that we look at and run ourselves: a grant, and a part of what a trial did.
    pub fn is_of_own_calls(self) -> bool {
        matches!(self, Self::Grant | Self::ProceedWithSome)
    }

    /// Whether work goes on by it that somebody has to agree to. The others hold it back, or take its place.
    pub fn lets_go_on(self) -> bool {
        match self {
            Self::Proceed
            | Self::ProceedWithEdit
            | Self::ProceedWithSome
            | Self::Grant
            | Self::Release
            | Self::Retry
            | Self::Redo
            | Self::Replan
            | Self::NewTask => true,
            Self::Respond
            | Self::Refuse
            | Self::Skip
            | Self::DropPlan
            | Self::EndTurn
            | Self::Finish
            | Self::FailRun
            | Self::CancelRun => false,
        }
    }

    /// Whether who chose one of them agrees with who chose the other: to allow for the session is to allow once, too.
    pub fn agrees_with(self, other: Self) -> bool {
        let allows = |effect| matches!(effect, Self::Proceed | Self::Grant);
        self == other || (allows(self) && allows(other))
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

/// Of a card whose command was tried, and only there.
pub const KEEP_SOME: &str = "keep_some";

const TOOL_APPROVAL: KindRow = KindRow {
    name: "tool_approval",
    from_outside: true,
    edits: Some("arguments"),
    on_expiry: Some("reject"),
    options: &[
        row("approve", "Allow once", &[Effect::Proceed], May, Never),
        row("approve_session", "Allow for this session", &[Effect::Grant], May, Never),
        row("edit", "Edit, then run", &[Effect::ProceedWithEdit], May, Must),
        row(KEEP_SOME, "Keep some of the changes", &[Effect::ProceedWithSome], May, Must),
        row("respond", "Give the result yourself", &[Effect::Respond], Must, Never),
        row("reject", "Refuse", &[Effect::Refuse, Effect::EndTurn, Effect::FailRun], May, Never),
    ],
};

const PLAN_APPROVAL: KindRow = KindRow {
    name: "plan_approval",
    from_outside: true,
    edits: Some("plan"),
    on_expiry: Some("reject"),
    options: &[
        row("approve", "Approve", &[Effect::Proceed], May, Never),
        row("edit", "Edit the plan", &[Effect::ProceedWithEdit], May, Must),
        row("revise", "Ask for another plan", &[Effect::Replan], Must, Never),
        row("reject", "Reject", &[Effect::DropPlan, Effect::FailRun], May, Never),
    ],
};

const CHECKPOINT: KindRow = KindRow {
    name: "checkpoint",
    from_outside: true,
    edits: Some("input"),
    on_expiry: Some("reject"),
    options: &[
        row("approve", "Go ahead", &[Effect::Proceed], May, Never),
        row("edit", "Edit, then go ahead", &[Effect::ProceedWithEdit], May, Must),
        row("continue", "Continue", &[Effect::Proceed], May, Never),
        row("redo", "Do it again", &[Effect::Redo], May, Never),
        row("skip", "Skip", &[Effect::Skip], May, Never),
        row("reject", "Reject", &[Effect::FailRun], May, Never),
        row("abort", "Abort", &[Effect::FailRun], May, Never),
    ],
};

const ERROR: KindRow = KindRow {
    name: "error",
    from_outside: false,
    edits: None,
    on_expiry: Some("abort"),
    options: &[
        row("retry", "Try again", &[Effect::Retry], May, Never),
        row("skip", "Skip this step", &[Effect::Skip], May, Never),
        row("hand_over", "Give the result yourself", &[Effect::Respond], Must, Never),
        row("abort", "Abort the run", &[Effect::FailRun], May, Never),
    ],
};

const QUESTION: KindRow = KindRow {
    name: "question",
    from_outside: true,
    edits: None,
    on_expiry: Some("skip"),
    options: &[
        // A text, or data where the question has a schema of data: `Offer::of_data`.
        row("answer", "Answer", &[Effect::Respond], Must, May),
        row("skip", "Skip: let the agent assume", &[Effect::Skip], May, Never),
        row("cancel", "Cancel the run", &[Effect::CancelRun], May, Never),
    ],
};

const CHOICE: KindRow = KindRow {
    name: "choice",
    from_outside: true,
    edits: None,
    on_expiry: None,
    options: &[row("custom", "Something else", &[Effect::Respond], Must, Never)],
};

const TURN: KindRow = KindRow {
    name: "turn",
    from_outside: false,
    edits: None,
    on_expiry: Some("exit"),
    options: &[
        row("submit", "Send", &[Effect::Respond], Must, Never),
        // Without words the task at hand is begun again, where a person is asked whether it was done well.
        row("new_task", "New task", &[Effect::NewTask], May, Never),
        row("continue", "Continue", &[Effect::Proceed], May, Never),
        row("done", "Done", &[Effect::Finish], May, Never),
        row("exit", "Exit", &[Effect::Finish], May, Never),
    ],
};

const ESCALATION: KindRow = KindRow {
    name: "escalation",
    from_outside: true,
    edits: None,
    on_expiry: Some("abort"),
    options: &[
        row("continue", "Continue", &[Effect::Proceed], May, Never),
        row("instruct", "Give instructions", &[Effect::Respond], Must, Never),
        row("abort", "Abort the run", &[Effect::FailRun], May, Never),
    ],
};

const REVIEW: KindRow = KindRow {
    name: "review",
    from_outside: true,
    edits: Some("content"),
    on_expiry: Some("reject"),
    options: &[
        row("approve", "Release", &[Effect::Release], May, Never),
        row("edit", "Edit, then release", &[Effect::Release], May, Must),
        row("reject", "Reject", &[Effect::FailRun], May, Never),
    ],
};

const CONTINUATION: KindRow = KindRow {
    name: "continuation",
    from_outside: false,
    edits: None,
    // Nobody said that it is enough (contract E22).
    on_expiry: Some("cancel"),
    options: &[
        row("continue", "Continue with a fresh budget", &[Effect::Proceed], May, Never),
        row("finish", "Finish here", &[Effect::Finish], May, Never),
        row("cancel", "Cancel the run", &[Effect::CancelRun], May, Never),
    ],
};

const CLIENT_CALL: KindRow = KindRow {
    name: "client_call",
    from_outside: false,
    edits: None,
    on_expiry: None,
    options: &[
        row("result", "Result", &[Effect::Respond], May, Never),
        row("error", "Error", &[Effect::Respond, Effect::FailRun], Must, Never),
    ],
};

const UNKNOWN_OUTCOME: KindRow = KindRow {
    name: "unknown_outcome",
    from_outside: false,
    edits: None,
    on_expiry: Some("abort"),
    options: &[
        row("happened", "It happened: this is the result", &[Effect::Respond], Must, Never),
        row("rerun", "It did not happen: run it again", &[Effect::Retry], May, Never),
        row("skip", "Skip it", &[Effect::Skip], May, Never),
        row("abort", "Abort the run", &[Effect::FailRun], May, Never),
    ],
};

/// The row of an option, if the kind has it.
pub fn option(kind: Kind, id: &str) -> Option<&'static Row> {
    kind.row().options.iter().find(|row| row.id == id)
}
