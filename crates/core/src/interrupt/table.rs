//! Table of interrupts: the options of each kind, and the effects of each option (design, part 4).
//!
//! Workflows and edges (adapters for other frameworks) can rename, leave out or reorder options. Workflows and edges
//! cannot add options. Exception: the agent that opens an interrupt of the kind `choice` defines its options. Choosing
//! one of these options answers the interrupt. The option `custom` of `choice` is always offered, too. Choosing
//! `custom` answers the interrupt with a text.

use serde::{Deserialize, Serialize};

use super::effect::Effect;

/// Kind of an interrupt.
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

    /// Returns the row of the table with all properties of the kind.
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

/// Properties of a kind of interrupt.
#[derive(Clone, Copy, Debug)]
pub struct KindRow {
    /// Name of the kind in journals, workflows and responses.
    pub name: &'static str,
    /// True if external agents, which run in other frameworks, can open interrupts of this kind. All other kinds are
    /// about work that Holdshort executes.
    pub from_outside: bool,
    /// Member of the payload that an edit can replace. `None` if the kind has no edits.
    pub edits: Option<&'static str>,
    /// Option that takes effect by default when the interrupt expires. This option never approves work and never needs
    /// a text. `None` if no option takes effect by default.
    pub on_expiry: Option<&'static str>,
    /// Options of the kind, in the order in which they are displayed.
    pub options: &'static [Row],
}

/// Rule for the text or the edit of a decision: not allowed, optional, or required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    Never,
    May,
    Must,
}

/// One option of a kind of interrupt.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub id: &'static str,
    pub label: &'static str,
    /// Effects among which a workflow can choose for this option. The first effect is the default. A workflow can only
    /// choose for `reject` and `respond`.
    pub effects: &'static [Effect],
    pub text: Carry,
    pub edit: Carry,
    /// Description of the option with its default effect. If `None`, the description of the effect is used
    /// ([`Effect::does`]).
    pub does: Option<&'static str>,
    /// True if the client must ask the person for a confirmation, because the option skips or cancels work.
    pub asks_again: bool,
}

impl Row {
    const fn does(self, words: &'static str) -> Self {
        Self { does: Some(words), ..self }
    }

    const fn asks_again(self) -> Self {
        Self { asks_again: true, ..self }
    }
}

const fn row(
    id: &'static str,
    label: &'static str,
    effects: &'static [Effect],
    text: Carry,
    edit: Carry,
) -> Row {
    Row { id, label, effects, text, edit, does: None, asks_again: false }
}

use Carry::{May, Must, Never};

/// Option that approves only some of the changes of a command that ran in a trial.
pub const KEEP_SOME: &str = "keep_some";

const TOOL_APPROVAL: KindRow = KindRow {
    name: "tool_approval",
    from_outside: true,
    edits: Some("arguments"),
    on_expiry: Some("reject"),
    options: &[
        row("approve", "Approve", &[Effect::Proceed], May, Never).does("runs it once, exactly as shown"),
        row("approve_session", "Approve for this session", &[Effect::Grant], May, Never),
        row("edit", "Edit and approve", &[Effect::ProceedWithEdit], May, Must)
            .does("runs it with your arguments, after they are checked again"),
        row(KEEP_SOME, "Approve some of the changes", &[Effect::ProceedWithSome], May, Must),
        row("respond", "Provide the result", &[Effect::Respond, Effect::Refuse], Must, Never)
            .does("runs nothing; the agent gets your text as the result of the tool"),
        row("reject", "Reject", &[Effect::Refuse, Effect::EndTurn, Effect::FailRun], May, Never),
    ],
};

const PLAN_APPROVAL: KindRow = KindRow {
    name: "plan_approval",
    from_outside: true,
    edits: Some("plan"),
    on_expiry: Some("reject"),
    options: &[
        row("approve", "Approve", &[Effect::Proceed], May, Never).does("continues with this plan"),
        row("edit", "Edit and approve", &[Effect::ProceedWithEdit], May, Must),
        row("revise", "Request another plan", &[Effect::Replan], Must, Never),
        row("reject", "Reject", &[Effect::DropPlan, Effect::FailRun], May, Never),
    ],
};

const CHECKPOINT: KindRow = KindRow {
    name: "checkpoint",
    from_outside: true,
    edits: Some("input"),
    on_expiry: Some("reject"),
    options: &[
        row("approve", "Approve", &[Effect::Proceed], May, Never),
        row("edit", "Edit and approve", &[Effect::ProceedWithEdit], May, Must),
        row("continue", "Continue", &[Effect::Proceed], May, Never),
        row("redo", "Redo", &[Effect::Redo], May, Never),
        row("skip", "Skip", &[Effect::Skip], May, Never).asks_again(),
        row("reject", "Reject", &[Effect::FailRun], May, Never),
        row("abort", "Abort the run", &[Effect::FailRun], May, Never).asks_again(),
    ],
};

const ERROR: KindRow = KindRow {
    name: "error",
    from_outside: false,
    edits: None,
    on_expiry: Some("abort"),
    options: &[
        row("retry", "Retry", &[Effect::Retry], May, Never),
        row("skip", "Skip the step", &[Effect::Skip], May, Never).asks_again(),
        row("hand_over", "Provide the result", &[Effect::Respond], Must, Never)
            .does("uses your text as the result of the step"),
        row("abort", "Abort the run", &[Effect::FailRun], May, Never).asks_again(),
    ],
};

const QUESTION: KindRow = KindRow {
    name: "question",
    from_outside: true,
    edits: None,
    on_expiry: Some("skip"),
    options: &[
        // The option takes a text. If the question has a schema for data, the option takes data: see `Offer::of_data`.
        row("answer", "Answer", &[Effect::Respond], Must, May),
        row("skip", "Skip", &[Effect::Skip], May, Never)
            .does("continues without an answer; the agent makes an assumption")
            .asks_again(),
        row("cancel", "Cancel the run", &[Effect::CancelRun], May, Never).asks_again(),
    ],
};

const CHOICE: KindRow = KindRow {
    name: "choice",
    from_outside: true,
    edits: None,
    on_expiry: None,
    options: &[row("custom", "Other answer", &[Effect::Respond], Must, Never)],
};

const TURN: KindRow = KindRow {
    name: "turn",
    from_outside: false,
    edits: None,
    on_expiry: Some("exit"),
    options: &[
        row("submit", "Send", &[Effect::Respond], Must, Never),
        // After the question whether the task was done well, `new_task` without a text starts the current task again.
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
        row("abort", "Abort the run", &[Effect::FailRun], May, Never).asks_again(),
    ],
};

const REVIEW: KindRow = KindRow {
    name: "review",
    from_outside: true,
    edits: Some("content"),
    on_expiry: Some("reject"),
    options: &[
        row("approve", "Approve", &[Effect::Release], May, Never),
        row("edit", "Edit and approve", &[Effect::Release], May, Must).does("releases your version"),
        row("reject", "Reject", &[Effect::FailRun], May, Never),
    ],
};

const CONTINUATION: KindRow = KindRow {
    name: "continuation",
    from_outside: false,
    edits: None,
    // If the interrupt expires, the run is cancelled, because it must not end as if its work were sufficient (contract
    // E22).
    on_expiry: Some("cancel"),
    options: &[
        row("continue", "Continue", &[Effect::Proceed], May, Never)
            .does("continues, with a fresh budget if a limit stopped the agent"),
        row("finish", "Finish", &[Effect::Finish], May, Never),
        row("cancel", "Cancel the run", &[Effect::CancelRun], May, Never).asks_again(),
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
        row("happened", "It ran: provide the result", &[Effect::Respond], Must, Never)
            .does("uses your text as the result of the call, which does not run again"),
        row("rerun", "It did not run: run it now", &[Effect::Retry], May, Never)
            .does("runs it again; choose this only if you are sure that it did not run"),
        row("skip", "Skip", &[Effect::Skip], May, Never).asks_again(),
        row("abort", "Abort the run", &[Effect::FailRun], May, Never).asks_again(),
    ],
};

/// Returns the row of an option in the option table. `None` if the kind does not have the option.
pub fn option(kind: Kind, id: &str) -> Option<&'static Row> {
    kind.row().options.iter().find(|row| row.id == id)
}
