//! Rows for lists. Rows are a pure function of the aggregates, so every table can be rebuilt.
//!
//! Rows contain keys, states, deadlines and sequence numbers, never payloads. Payloads stay in the events, which a row
//! references by `(stream, seq)`. [`AnswerRow`] is the only exception.

use crate::id::{GrantId, InterruptId, RunId, SessionId};
use crate::interrupt::{Kind, assignee_index};
use crate::session::State;
use crate::time::Timestamp;

/// One run, for the run list and for the driver, which looks for unfinished runs at start-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub run: RunId,
    pub session: SessionId,
    pub workflow: String,
    pub status: Status,
    pub end_reason: Option<String>,
    /// True if a node must drive the run: the run can proceed now, without waiting for a person or a deadline.
    pub runnable: bool,
    pub deadline: Option<Timestamp>,
    pub seq: u64,
    /// Sequence number of the event that ended the run.
    pub ended_seq: Option<u64>,
    /// Number of model replies. The counts from here to `unpriced` are `None` if an older version wrote the row last.
    pub requests: Option<u64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    /// Cost in millionths of the currency unit. `None` if the workflow has no prices.
    pub cost: Option<u64>,
    pub currency: Option<String>,
    /// Number of replies of models that have no price.
    pub unpriced: Option<u64>,
    pub created_at: Timestamp,
    /// Time of the run's end, or of the run's last event while the run has not ended. Events after the end, such as a
    /// legal hold, do not change this time.
    pub updated_at: Timestamp,
}

impl RunRow {
    /// Returns the row without its counts, in the form that an older version wrote.
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

/// Total usage of a session's runs that have the same currency, or no currency.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionUsage {
    pub currency: Option<String>,
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost: u64,
    pub unpriced: u64,
    /// Total duration of the runs. The duration of a run ends with the run, or with its last event while it has not
    /// ended.
    pub duration_ms: u64,
}

impl SessionUsage {
    /// Adds the usage of a run.
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

/// One interrupt, for an inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptRow {
    pub interrupt: InterruptId,
    pub run: RunId,
    pub session: SessionId,
    pub kind: Kind,
    pub open: bool,
    /// 0 low … 3 critical.
    pub risk: u8,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// Sequence number of the `interrupt_opened` event in the run's stream.
    pub opened_seq: u64,
    /// Sequence number of the `interrupt_resolved` event in the run's stream.
    pub resolved_seq: Option<u64>,
    /// Id of the actor who claimed the interrupt.
    pub claimed_by: Option<String>,
    /// [Marks](crate::interrupt::assignee_index) that identify the approvers. `None` if an older version wrote the row
    /// last.
    pub assigned: Option<String>,
}

impl InterruptRow {
    /// Returns the row without its marks, in the form that an older version wrote.
    #[must_use]
    pub fn unassigned(&self) -> Self {
        Self { assigned: None, ..self.clone() }
    }

    /// Returns true if the events that the row references are not enough to show the interrupt. Further events are
    /// needed if a vote did not settle the interrupt, or if the approvers have changed.
    pub fn is_involved(&self) -> bool {
        self.assigned.as_ref().is_some_and(|marks| marks.contains(assignee_index::INVOLVED))
    }
}

/// One grant, to find the grant by its id alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRow {
    pub grant: GrantId,
    pub session: SessionId,
    /// Sequence number of the `grant_added` event in the session's stream.
    pub added_seq: u64,
    pub revoked: bool,
}

/// Answer to one question of a run with a subject. Only these rows have content, because the content is searched.
/// When the answer is erased, its content is erased from the row too.
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
    /// Id of the actor who answered. For a reused answer, the engine is the actor.
    pub by: String,
    pub at: Timestamp,
    pub corrected_at: Option<Timestamp>,
    /// True if an earlier answer was reused, so no person was asked.
    pub reused: bool,
    /// Interrupt of the question whose answer was reused.
    pub source: Option<InterruptId>,
    pub erased: bool,
    /// Key that [equal questions](crate::history::question_key) share. Empty once the answer is erased.
    pub asked: String,
    /// [Words](crate::history::collect_words) of the question and the answer, joined with spaces. Empty once the answer
    /// is erased.
    pub words: String,
}

impl AnswerRow {
    /// Returns the time from which the answer is valid: the time of its correction or, without a correction, of the
    /// answer.
    pub fn since(&self) -> Timestamp {
        self.corrected_at.unwrap_or(self.at)
    }
}

/// One session. Each run of the session contributes a row, and so do the events of the session itself.
/// [`with`](Self::with) merges the rows in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    pub session: SessionId,
    /// Workflow for which the session was opened. Runs of the session may have other workflows.
    pub workflow: Option<String>,
    pub state: State,
    /// Sequence number of the event in the session's stream that set the state. 0 if the start of a run created the
    /// session.
    pub seq: u64,
    pub created_at: Timestamp,
    pub changed_at: Timestamp,
    pub idle_ms: Option<u64>,
    /// Latest run that a message in the session started.
    pub front_run: Option<RunId>,
    /// Time of the latest activity: a change of state, the start of a run or, if the session may expire, the end of a
    /// run. A session without a live run has been idle since this time.
    pub idle_since: Timestamp,
}

impl SessionRow {
    /// Returns the row that a run contributes to its session. `at` is the start of the run, `last_at` its last
    /// activity. The row does not affect the state of the session.
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

    /// Merges two rows of one session. The state comes from the later event, the creation time from the earlier row.
    /// Two rows of the same event differ only in their times, so the order of merging does not matter.
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
