//! Rows: what lists are made of. A pure function of the aggregates, so every table can be rebuilt.
//!
//! Rows hold keys, states, deadlines and sequence numbers, never payloads: those stay in the events that
//! `(stream, seq)` points at. [`AnswerRow`] is the one exception.

use crate::id::{GrantId, InterruptId, RunId, SessionId};
use crate::interrupt::{Kind, mark};
use crate::session::State;
use crate::time::Timestamp;

/// One run, as the run list and the driver's start-up sweep need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub run: RunId,
    pub session: SessionId,
    pub workflow: String,
    pub status: Status,
    pub end_reason: Option<String>,
    /// Something can happen without a person and without a deadline: a node must drive it.
    pub runnable: bool,
    pub deadline: Option<Timestamp>,
    pub seq: u64,
    /// The event that says how it ended.
    pub ended_seq: Option<u64>,
    /// Replies of models. None of the counts is there where an older version wrote the row last.
    pub requests: Option<u64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    /// In millionths of the currency's unit, where the workflow names prices.
    pub cost: Option<u64>,
    pub currency: Option<String>,
    /// Replies of models without a price.
    pub unpriced: Option<u64>,
    pub created_at: Timestamp,
    /// When it ended, or its last event until then. What happens after the end, such as a hold, changes nothing of it.
    pub updated_at: Timestamp,
}

impl RunRow {
    /// The row without what is counted of it, as an older version wrote it.
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

/// What the runs of a session used, those in one currency, or those without one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionUsage {
    pub currency: Option<String>,
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost: u64,
    pub unpriced: u64,
    /// From the start of each run to its end, or to its last event until then.
    pub duration_ms: u64,
}

impl SessionUsage {
    /// And those of this run.
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

/// One interrupt, as an inbox needs it.
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
    /// The `interrupt_opened` event in the run's stream.
    pub opened_seq: u64,
    /// The `interrupt_resolved` event.
    pub resolved_seq: Option<u64>,
    /// The id of the actor who claimed it.
    pub claimed_by: Option<String>,
    /// The [marks](crate::interrupt::mark) of whoever is asked. `None` where an older version wrote the row last.
    pub assigned: Option<String>,
}

impl InterruptRow {
    /// The row without what is said of whoever is asked, as an older version wrote it.
    #[must_use]
    pub fn unassigned(&self) -> Self {
        Self { assigned: None, ..self.clone() }
    }

    /// Whether more is to be known of it than the events say that the row points at: votes that settle nothing, others
    /// who are asked than at first.
    pub fn is_involved(&self) -> bool {
        self.assigned.as_ref().is_some_and(|marks| marks.contains(mark::INVOLVED))
    }
}

/// One grant, to find it by its id alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRow {
    pub grant: GrantId,
    pub session: SessionId,
    /// The `grant_added` event in the session's stream.
    pub added_seq: u64,
    pub revoked: bool,
}

/// The answer to one question of a run that has a subject. Of all rows this alone holds content, for it is searched:
/// where the answer is erased, its words are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRow {
    pub interrupt: InterruptId,
    pub run: RunId,
    pub subject: String,
    pub agent: Option<String>,
    /// Cut to [`QUESTION_BYTES`](crate::history::QUESTION_BYTES).
    pub question: String,
    /// The words, or the data as JSON.
    pub answer: String,
    pub is_data: bool,
    /// The id of the actor who gave it: of one that was reused the engine.
    pub by: String,
    pub at: Timestamp,
    pub corrected_at: Option<Timestamp>,
    /// Nobody was asked: an earlier answer counted.
    pub reused: bool,
    /// The question whose answer it was taken from.
    pub source: Option<InterruptId>,
    pub erased: bool,
    /// The same for questions that are [the same](crate::history::asked). Empty once it is erased.
    pub asked: String,
    /// The [words](crate::history::words) of question and answer, with spaces between. Empty once it is erased.
    pub words: String,
}

impl AnswerRow {
    /// Since when it holds.
    pub fn since(&self) -> Timestamp {
        self.corrected_at.unwrap_or(self.at)
    }
}

/// One session. Its runs and its own events each bring one, in any order; together they are [the row](Self::with).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    pub session: SessionId,
    /// What it was opened for; its runs may be of others.
    pub workflow: Option<String>,
    pub state: State,
    /// The event in the session's stream that set the state; 0 where a run's start made the session.
    pub seq: u64,
    pub created_at: Timestamp,
    pub changed_at: Timestamp,
    pub idle_ms: Option<u64>,
    /// The last run that was begun by what was said in it.
    pub front_run: Option<RunId>,
    /// When something last happened in it: its state changed, or a run began; where it may expire, also when a run
    /// ended. It is idle since then if no run of it lives.
    pub idle_since: Timestamp,
}

impl SessionRow {
    /// That a run was started in it at one time, and last did something at another. That says nothing about its state.
    pub fn of_run(session: SessionId, at: Timestamp, last_at: Timestamp) -> Self {
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

    /// Two rows of one session as one: the later event says what it is, and it is as old as the older says. Rows of
    /// one event differ in their times alone, so the order in which they come does not matter.
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

/// The state of a run as clients see it (design, part 1).
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
