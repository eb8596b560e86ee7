//! Summary of a run for other parts of the server: its status, its next deadline, and its rows in the tables of the
//! store.

use super::{Action, ActionId, Call, CallState, ModelCall, Origin, Run};
use crate::history;
use crate::id::InterruptId;
use crate::interrupt::{AnswerContent, Cause, Interrupt};
use crate::projection::{AnswerRow, InterruptRow, RunRow, SessionRow, Status};
use crate::text::clip;
use crate::time::Timestamp;

impl Run {
    pub fn status(&self) -> Status {
        if let Some(ended) = &self.ended {
            return ended.status;
        }
        let Some(started) = &self.started else { return Status::Queued };
        if self.is_paused() {
            return Status::Paused;
        }
        let has_open = self.open_interrupts().next().is_some();
        match started.origin {
            Origin::Native if self.phases.is_empty() => Status::Queued,
            Origin::Native if self.is_busy() => Status::Running,
            Origin::Native | Origin::External | Origin::ExternalOnce => {
                if has_open {
                    Status::Waiting
                } else {
                    Status::Running
                }
            }
        }
    }

    /// Returns true if work of the run is running or is about to start.
    pub(super) fn is_busy(&self) -> bool {
        self.is_in_flight() || !self.actions().is_empty()
    }

    /// Returns true if an action of the run has started and its result has not arrived.
    fn is_in_flight(&self) -> bool {
        self.steps.open().any(|(_, step)| step.model != ModelCall::Idle)
            || self.calls_under_way().next().is_some()
            || self.trials_under_way().next().is_some()
    }

    /// Returns the latest epoch in which a process started or adopted an action of the run.
    pub fn last_epoch(&self) -> u64 {
        self.started().map(|(_, epoch)| epoch).fold(self.epoch, u64::max)
    }

    /// Returns the actions of the run that have started and whose results have not arrived, each with the epoch in
    /// which the action started.
    pub fn started(&self) -> impl Iterator<Item = (ActionId, u64)> {
        let calls =
            self.calls_under_way().map(|(id, call, epoch)| (Action::tool_id(id, call.attempt), epoch));
        let trials =
            self.trials_under_way().map(|(id, attempt, epoch)| (Action::trial_id(id, attempt), epoch));
        let models = self
            .models_under_way()
            .map(|(id, turn, attempt, epoch)| (Action::model_id(id, turn, attempt), epoch));
        calls.chain(trials).chain(models)
    }

    fn calls_under_way(&self) -> impl Iterator<Item = (&String, &Call, u64)> {
        self.calls.open().filter_map(|(id, call)| match call.state {
            CallState::Started { epoch } => Some((id, call, epoch)),
            CallState::Proposed
            | CallState::Gated(_)
            | CallState::Authorised
            | CallState::WithClient(_)
            | CallState::Doubted(_)
            | CallState::Ended(_) => None,
        })
    }

    /// Returns the running trials of tool calls: call, attempt and epoch.
    pub(super) fn trials_under_way(&self) -> impl Iterator<Item = (&String, u32, u64)> {
        self.calls
            .open()
            .filter_map(|(id, call)| call.trial.running.map(|epoch| (id, call.trial.attempt, epoch)))
    }

    fn models_under_way(&self) -> impl Iterator<Item = (&String, u32, u32, u64)> {
        self.steps.open().filter_map(|(id, step)| match step.model {
            ModelCall::Running { attempt, epoch } => Some((id, step.turn, attempt, epoch)),
            ModelCall::Idle => None,
        })
    }

    /// Returns true if an action of the run was started in an older epoch, for example before a restart of the server.
    /// The process with the epoch `epoch` must then adopt the action.
    pub fn needs_adoption(&self, epoch: u64) -> bool {
        self.ended.is_none()
            && (self.models_to_adopt(epoch).next().is_some()
                || self.calls_to_adopt(epoch).next().is_some()
                || self.trials_under_way().any(|(_, _, of)| of < epoch))
    }

    /// Returns the model calls of the run that were started in an older epoch: step, turn and attempt.
    pub(super) fn models_to_adopt(&self, epoch: u64) -> impl Iterator<Item = (&String, u32, u32)> {
        let older = self.models_under_way().filter(move |(_, _, _, of)| *of < epoch);
        older.map(|(id, turn, attempt, _)| (id, turn, attempt))
    }

    /// Returns the tool calls of the run that were started in an older epoch, each with its attempt.
    pub(super) fn calls_to_adopt(&self, epoch: u64) -> impl Iterator<Item = (&String, u32)> {
        let older = self.calls_under_way().filter(move |(_, _, of)| *of < epoch);
        older.map(|(id, call, _)| (id, call.attempt))
    }

    /// Returns the next time at which an event follows in the run without an input. Examples are the expiry of an
    /// interrupt, a reminder, and the retry of a failed model call.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        if self.ended.is_some() {
            return None;
        }
        let expiries = self.open_interrupts().flat_map(|(_, interrupt)| interrupt.deadlines());
        // A retry that waits for anything other than its time has no deadline. The retry starts when the run no longer
        // blocks it.
        let retries = self.steps.open().filter(|(id, _)| self.wants_model(id));
        let retries = retries.filter_map(|(_, step)| step.retry_at);
        expiries.chain(retries).min()
    }

    /// Returns the run's row for the table of runs in the store. `None` before the run's first event.
    pub fn row(&self) -> Option<RunRow> {
        let started = self.started.as_ref()?;
        let waits_for_time = |action: &super::Action| match action {
            super::Action::CallModel { not_before, .. } => not_before.is_some(),
            super::Action::Inspect { .. } | super::Action::Try { .. } | super::Action::CallTool { .. } => {
                false
            }
        };
        Some(RunRow {
            run: self.id.clone(),
            session: started.session.clone(),
            workflow: self.definition.name.clone(),
            status: self.status(),
            end_reason: self.ended.as_ref().map(|ended| ended.reason.clone()),
            runnable: self.ended.is_none()
                && (self.is_in_flight() || !self.actions().iter().all(waits_for_time)),
            deadline: self.next_deadline(),
            seq: self.seq,
            ended_seq: self.ended.as_ref().map(|ended| ended.told),
            requests: Some(self.spent.requests),
            input_tokens: Some(self.spent.input_tokens),
            output_tokens: Some(self.spent.tokens - self.spent.input_tokens),
            cost: self.currency().map(|_| self.spent.cost.millionths()),
            currency: self.currency().map(str::to_owned),
            unpriced: Some(self.spent.unpriced),
            created_at: started.at,
            updated_at: self.ended.as_ref().map_or(self.last_at, |ended| ended.at),
        })
    }

    /// Returns the row of the session in the store, as the run produces the row. `None` before the run's first event.
    /// If the session can expire (`expires`), the end of the run is an activity of the session, too.
    pub fn session_row(&self, expires: bool) -> Option<SessionRow> {
        let started = self.started.as_ref()?;
        let ended = self.ended.as_ref().filter(|_| expires);
        let last_at = ended.map_or(started.at, |ended| ended.at);
        Some(SessionRow::from_run(started.session.clone(), started.at, last_at))
    }

    /// Returns the rows of the interrupts `ids` for the table of interrupts in the store.
    pub fn interrupt_rows<'a>(&self, ids: impl IntoIterator<Item = &'a InterruptId>) -> Vec<InterruptRow> {
        let Some(started) = &self.started else { return Vec::new() };
        ids.into_iter()
            .filter_map(|id| self.interrupts.get(id))
            .map(|interrupt| InterruptRow {
                interrupt: interrupt.opened.interrupt.clone(),
                run: self.id.clone(),
                session: started.session.clone(),
                kind: interrupt.opened.kind,
                open: interrupt.is_open(),
                risk: interrupt.opened.risk.level.rank(),
                created_at: interrupt.opened_at,
                expires_at: interrupt.opened.expires_at,
                opened_seq: interrupt.opened_seq,
                resolved_seq: interrupt.resolution.as_ref().map(|resolution| resolution.seq),
                claimed_by: interrupt.claim.as_ref().map(|claim| claim.by.clone()),
                assigned: Some(interrupt.marks()),
            })
            .collect()
    }

    /// Returns the subject of the run, under which answers to the run's questions are stored. `None` if the run has no
    /// subject.
    pub fn kept_for(&self) -> Option<&str> {
        history::subject(&self.started.as_ref()?.input)
    }

    /// Returns the rows of answers for the store, one row for each of the interrupts that is an answered question.
    pub fn answer_rows<'a>(&self, ids: impl IntoIterator<Item = &'a InterruptId>) -> Vec<AnswerRow> {
        let Some(subject) = self.kept_for() else { return Vec::new() };
        let asked = ids.into_iter().filter_map(|id| self.interrupts.get(id));
        asked.filter_map(|interrupt| self.answer_row(subject, interrupt)).collect()
    }

    fn answer_row(&self, subject: &str, interrupt: &Interrupt) -> Option<AnswerRow> {
        let resolution = interrupt.resolution.as_ref().filter(|_| interrupt.was_answered())?;
        let vote = interrupt.settled_by()?;
        let source = vote.from.clone();
        let (given, question) = (interrupt.answer_kept(), interrupt.question());
        // Some stores cannot store the character NUL in a text column.
        let readable = |text: &str| text.replace('\0', "\u{fffd}");
        let answer = given.as_ref().map(AnswerContent::render).unwrap_or_default();
        let is_kept = given.is_some();
        let words = history::collect_words(
            [question, answer.as_str()].into_iter().filter(|_| is_kept),
            history::WORDS,
        );
        Some(AnswerRow {
            interrupt: interrupt.opened.interrupt.clone(),
            run: self.id.clone(),
            subject: subject.to_owned(),
            agent: interrupt.opened.agent.as_deref().map(readable),
            question: readable(&clip(question, history::QUESTION_BYTES)),
            answer: readable(&answer),
            is_data: given.as_ref().is_some_and(|given| !given.edit.is_null()),
            by: resolution.by.clone(),
            at: resolution.at,
            corrected_at: interrupt.kept.corrected.as_ref().map(|(_, at)| *at),
            reused: matches!(resolution.cause, Cause::Reused(_)),
            source,
            erased: !is_kept,
            asked: if is_kept { history::question_key(question) } else { String::new() },
            words: words.join(" "),
        })
    }
}
