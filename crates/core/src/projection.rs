//! Rows of the tables that lists are read from. Rows are computed from runs, sessions and the system, so every table
//! can be rebuilt.
//!
//! Rows contain keys, states, deadlines and sequence numbers, and no contents. Contents remain in the events. A row
//! refers to an event by `(stream, seq)`. Exception: rows of type [`AnswerRow`] have content.

use crate::id::{GrantId, InterruptId, RunId, SessionId};
use crate::interrupt::{Kind, assignee_index};
use crate::session::State;
use crate::time::Timestamp;

/// Row of one run. The row is used for the list of runs, and by the driver at its start to find unfinished runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub run: RunId,
    pub session: SessionId,
    pub workflow: String,
    pub status: Status,
    pub end_reason: Option<String>,
    /// True if the run can continue now, without waiting for a person or a deadline. A server node must then drive the
    /// run.
    pub runnable: bool,
    pub deadline: Option<Timestamp>,
    pub seq: u64,
    /// Sequence number of the event that contains the result of the run. Normally, this event ended the run. If an
    /// answer in the result was erased later, this event records the erasure.
    pub ended_seq: Option<u64>,
    /// Number of model replies in the run. This field and the following fields up to `unpriced` are `None` if an older
    /// version of Holdshort wrote the row.
    pub requests: Option<u64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    /// Cost of the run in millionths of the currency unit. `None` if the workflow has no prices.
    pub cost: Option<u64>,
    pub currency: Option<String>,
    /// Number of replies of models for which the workflow has no price.
    pub unpriced: Option<u64>,
    pub created_at: Timestamp,
    /// Time at which the run ended, or the time of its last event if it has not ended. Events after the end, such as a
    /// legal hold, do not change this time.
    pub updated_at: Timestamp,
}

impl RunRow {
    /// Returns the row without its counts (`requests` to `unpriced`), as an older version of Holdshort would have
    /// written it.
    #[must_use]
    pub fn uncounted(&self) -> Self {
        Self {
            requests: None,
            input_tokens: None,
            output_tokens: None,
            cost: None,
            currency: None,
            unpriced: None,
            ..self.clone()
        }
    }
}

/// Total usage of the runs of a session that have the same currency, or of the runs that have no currency.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionUsage {
    pub currency: Option<String>,
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost: u64,
    pub unpriced: u64,
    /// Total duration of the runs. Each run is counted until its end, or until its last event if the run has not ended.
    pub duration_ms: u64,
}

impl SessionUsage {
    /// Adds the usage of a run to the total.
    pub fn add(&mut self, row: &RunRow) {
        let sum = |to: &mut u64, more: Option<u64>| *to = to.saturating_add(more.unwrap_or_default());
        sum(&mut self.requests, row.requests);
        sum(&mut self.input_tokens, row.input_tokens);
        sum(&mut self.output_tokens, row.output_tokens);
        sum(&mut self.cost, row.cost);
        sum(&mut self.unpriced, row.unpriced);
        sum(&mut self.duration_ms, Some(row.updated_at.ms_since(row.created_at)));
    }
}

/// Row of one interrupt in the table from which inboxes are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptRow {
    pub interrupt: InterruptId,
    pub run: RunId,
    pub session: SessionId,
    pub kind: Kind,
    pub open: bool,
    /// Risk level of the interrupt, from 0 (low) to 3 (critical).
    pub risk: u8,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// Sequence number of the event `interrupt_opened` in the run's stream.
    pub opened_seq: u64,
    /// Sequence number of the event `interrupt_resolved` in the run's stream.
    pub resolved_seq: Option<u64>,
    /// Id of the actor who claimed the interrupt.
    pub claimed_by: Option<String>,
    /// Approvers of the interrupt, as [marks](crate::interrupt::assignee_index) for searching. `None` if an older
    /// version of Holdshort wrote the row.
    pub assigned: Option<String>,
}

impl InterruptRow {
    /// Returns the row without its approvers, as an older version of Holdshort would have written it.
    #[must_use]
    pub fn unassigned(&self) -> Self {
        Self { assigned: None, ..self.clone() }
    }

    /// Returns true if showing the interrupt needs more events than the events to which the row refers. More events are
    /// needed, for example, if the approvers have changed.
    pub fn is_involved(&self) -> bool {
        self.assigned.as_ref().is_some_and(|marks| marks.contains(assignee_index::INVOLVED))
    }
}

/// Row of one grant, by which the grant is found by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRow {
    pub grant: GrantId,
    pub session: SessionId,
    /// Sequence number of the event `grant_added` in the session's stream.
    pub added_seq: u64,
    pub revoked: bool,
}

/// Row of the answer to one question, in a run that has a subject. Only rows of this type have content, because people
/// search in the content. If the answer is erased, the content of its row is erased, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRow {
    pub interrupt: InterruptId,
    pub run: RunId,
    pub subject: String,
    pub agent: Option<String>,
    /// Text of the question, cut to [`QUESTION_BYTES`](crate::history::QUESTION_BYTES).
    pub question: String,
    /// Text of the answer, or the answer's data as JSON.
    pub answer: String,
    pub is_data: bool,
    /// Id of the actor who answered. If the answer was reused, the id of the engine.
    pub by: String,
    pub at: Timestamp,
    pub corrected_at: Option<Timestamp>,
    /// True if an earlier answer was reused, so nobody was asked.
    pub reused: bool,
    /// Earlier question whose answer was reused.
    pub source: Option<InterruptId>,
    pub erased: bool,
    /// Key of the question for comparisons, which is the same for [equal questions](crate::history::question_key).
    /// Empty after the answer is erased.
    pub asked: String,
    /// [Words](crate::history::collect_words) of the question and of the answer, separated by spaces. Empty after the
    /// answer is erased.
    pub words: String,
}

impl AnswerRow {
    /// Returns the time since which the answer is valid: the time of its last correction. If the answer was never
    /// corrected, returns the time of the answer.
    pub fn since(&self) -> Timestamp {
        self.corrected_at.unwrap_or(self.at)
    }
}

/// Row of one session. Each run of the session produces one such row, and the session itself produces one.
/// [`with`](Self::with) merges these rows, in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    pub session: SessionId,
    /// Workflow with which the session was opened. Runs of the session can have other workflows.
    pub workflow: Option<String>,
    pub state: State,
    /// Sequence number of the event that set the state of the session, in the session's stream. 0 if the session was
    /// created by the start of a run.
    pub seq: u64,
    pub created_at: Timestamp,
    pub changed_at: Timestamp,
    pub idle_ms: Option<u64>,
    /// Latest run that was started by a message in the session.
    pub front_run: Option<RunId>,
    /// Time of the latest activity: a change of the session's state, or the start of a run. If the session can expire,
    /// also the end of a run. If no run of the session is active, the session has been idle since this time.
    pub idle_since: Timestamp,
}

impl SessionRow {
    /// Returns the row that a run produces for its session. `at` is the time when the run started, and `last_at` the
    /// time of its last activity. The row does not change the state of the session.
    pub fn from_run(session: SessionId, at: Timestamp, last_at: Timestamp) -> Self {
        Self {
            session,
            workflow: None,
            state: State::Open,
            seq: 0,
            created_at: at,
            changed_at: at,
            idle_ms: None,
            front_run: None,
            idle_since: at.max(last_at),
        }
    }

    /// Merges two rows of the same session. Takes the state from the later event, and the creation time from the
    /// earlier row. Two rows for the same event differ only in their times. Rows can therefore be merged in any order.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let created_at = self.created_at.min(other.created_at);
        let idle_since = self.idle_since.max(other.idle_since);
        match self.seq.cmp(&other.seq) {
            std::cmp::Ordering::Less => Self { created_at, idle_since, ..other },
            std::cmp::Ordering::Equal => {
                let changed_at = self.changed_at.min(other.changed_at);
                Self { created_at, changed_at, idle_since, ..self }
            }
            std::cmp::Ordering::Greater => Self { created_at, idle_since, ..self },
        }
    }
}

/// State of a run as clients see it (design, part 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Queued,
    Running,
    Waiting,
    Paused,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    pub const ALL: [Self; 7] = [
        Self::Queued,
        Self::Running,
        Self::Waiting,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    pub fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Queued | Self::Running | Self::Waiting | Self::Paused => false,
        }
    }
}
