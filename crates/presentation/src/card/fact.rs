//! Fact on a card: one line with a label. The runtime writes it, and not an agent.

use holdshort_protocol::PeopleLine;
use serde::Serialize;
use utoipa::ToSchema;

/// One line of a card with a label, which the runtime wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = CardFact)]
pub struct Fact {
    pub name: FactName,
    pub label: &'static str,
    /// Text of one line, in which invisible characters are already escaped with `plain`.
    pub text: String,
    pub tone: Tone,
    /// Id of another interrupt that the text names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<String>,
}

/// Emphasis with which a fact is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = CardTone)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    Plain,
    /// Fact that the reader must not overlook.
    Notice,
    /// Fact that speaks against an approval.
    Alarm,
}

/// Kind of a fact, which determines its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = CardFactName)]
#[serde(rename_all = "snake_case")]
pub enum FactName {
    Model,
    Task,
    Workspace,
    AskedBy,
    Because,
    Risk,
    AskedOf,
    Stage,
    StandsIn,
    Vote,
    Missing,
    You,
    Expires,
    Reminder,
    Escalates,
    Snoozed,
    Frozen,
    Erased,
    Withheld,
    Again,
    AskedAt,
    Id,
    Tool,
    After,
    Host,
    Path,
    Query,
    By,
    Directory,
    Effect,
    Sandbox,
    Network,
    Timeout,
    Untried,
    RunsAt,
    Grant,
    NotCovered,
}

impl FactName {
    /// Returns the label of the fact. It has at most two words, because the column for labels in the terminal is
    /// narrow.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Model => "Model",
            Self::Task => "Task",
            Self::Workspace => "Workspace",
            Self::AskedBy => "From",
            Self::Because => "Reason",
            Self::Risk => "Risk",
            Self::AskedOf => PeopleLine::Asked.label(),
            Self::Stage => PeopleLine::Stage.label(),
            Self::StandsIn => PeopleLine::StandsIn.label(),
            Self::Vote => PeopleLine::Voted.label(),
            Self::Missing => PeopleLine::Missing.label(),
            Self::You => PeopleLine::You.label(),
            Self::Expires => "Expires",
            Self::Reminder => "Reminder",
            Self::Escalates => "Escalates",
            Self::Snoozed => "Snoozed",
            Self::Frozen => "Frozen",
            Self::Erased => "Erased",
            Self::Withheld => "Withheld",
            Self::Again => "Replaces",
            Self::AskedAt => "Requested",
            Self::Id => "Id",
            Self::Tool => "Tool",
            Self::After => "After",
            Self::Host => "Host",
            Self::Path => "Path",
            Self::Query => "Query",
            Self::By => "By",
            Self::Directory => "Directory",
            Self::Effect => "Effect",
            Self::Sandbox => "Sandbox",
            Self::Network => "Network",
            Self::Timeout => "Timeout",
            Self::Untried => "Not tried",
            Self::RunsAt => "Runs",
            Self::Grant => "Session grant",
            Self::NotCovered => "Not covered",
        }
    }
}

impl Fact {
    pub(super) fn new(name: FactName, text: impl Into<String>) -> Self {
        Self { name, label: name.label(), text: text.into(), tone: Tone::Plain, interrupt: None }
    }

    pub(super) fn notice(name: FactName, text: impl Into<String>) -> Self {
        Self { tone: Tone::Notice, ..Self::new(name, text) }
    }

    pub(super) fn alarm(name: FactName, text: impl Into<String>) -> Self {
        Self { tone: Tone::Alarm, ..Self::new(name, text) }
    }
}
