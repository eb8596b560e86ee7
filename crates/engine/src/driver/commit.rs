//! Writes all events of one decision of the core in a single durable append. The append contains the events with their
//! hashes, the changed rows, and guards: sequence numbers that other streams must not have exceeded.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdshort_core::envelope::{self, Chain};
use holdshort_core::event;
use holdshort_core::id::{Draw, InterruptId, StreamId};
use holdshort_core::interrupt::{Assignment, Cause};
use holdshort_core::projection::SessionRow;
use holdshort_core::run::{Action, ActionId, Authority, Fact, HandledInput};
use holdshort_core::system::System;
use holdshort_store::{Append, AppendError, Blob, Error as StoreError, Journal, Key, Rows, StreamAppend};

use super::Driver;
use super::lookups::{Lookups, Missing};
use super::run_cache::LoadedRun;
use super::sessions::rows_of;
use crate::{Clock, Error, Executor};

pub(super) enum Committed {
    Yes,
    /// The append was not written, because another writer was faster: a stream or a guard does not have the expected
    /// sequence number. The affected streams were removed from the cache.
    Conflict,
    KeyTaken,
    /// The append was not written, because another node drives this run.
    Driven,
    /// The append cannot be built before these lookups (such as digests of files) have been made.
    Misses(Missing),
}

/// Idempotency keys and blobs that are written in the same append as the events.
#[derive(Default)]
pub(super) struct Extra {
    pub(super) keys: Vec<Key>,
    pub(super) blobs: Vec<Blob>,
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Appends the events of a handled input. The state in memory is changed only after the append has succeeded.
    pub(super) async fn commit(
        &self,
        decided: HandledInput,
        loaded: &mut LoadedRun,
        drives: bool,
        (session_chain, system): (Chain, &System),
        Extra { keys, blobs }: Extra,
        lookups: &Lookups,
    ) -> Result<Committed, Error> {
        let HandledInput { run, session, events } = &decided;
        let run_stream = StreamId::Run(run.id.clone());
        let session_stream = StreamId::Session(session.id.clone());
        let (mut run_chain, mut new_session_chain) = (loaded.chain, session_chain);
        let mut draw = Draw::new(self.clock.seed(), self.clock.now());
        let (mut run_events, mut session_events) = (Vec::new(), Vec::new());
        let mut touched: BTreeSet<&InterruptId> = BTreeSet::new();
        let mut begun: Vec<ActionId> = Vec::new();
        let mut erased: Vec<(StreamId, u64)> = Vec::new();
        let mut forgets = None;
        // `relies` is true if the decision depended on the state of the session or of the installation. The append then
        // fails if that state has changed.
        let (mut starts, mut relies) = (false, false);
        for event in events {
            match &event.fact {
                event::Fact::Run(fact) => {
                    run_events.push(envelope::seal(event, &mut run_chain, &mut draw));
                    match fact {
                        Fact::RunStarted { .. } => starts = true,
                        Fact::InterruptOpened(opened) => {
                            touched.insert(&opened.interrupt);
                            relies |= opened.assignment != Assignment::default();
                        }
                        Fact::AnswerErased { interrupt, events } => {
                            erased.extend(events.iter().map(|seq| (run_stream.clone(), *seq)));
                            touched.insert(interrupt);
                        }
                        Fact::ContentErased { from, to, .. } => {
                            // The first event contains the subject, and the run's answers are stored under this
                            // subject. Therefore the erasure of the first event also removes the answers.
                            if *from == 1 {
                                forgets = Some(run.id.clone());
                            }
                            erased.extend((*from..=*to).map(|seq| (run_stream.clone(), seq)));
                        }
                        Fact::InterruptResolved { interrupt, cause, .. } => {
                            touched.insert(interrupt);
                            relies |= matches!(cause, Cause::Expiry | Cause::Rule { .. } | Cause::Grant(_));
                        }
                        Fact::InterruptClaimed { interrupt, .. }
                        | Fact::InterruptReleased { interrupt }
                        | Fact::VoteWithdrawn { interrupt, .. }
                        | Fact::AnswerCorrected { interrupt } => {
                            touched.insert(interrupt);
                        }
                        Fact::DecisionMade { interrupt, .. }
                        | Fact::ApprovalUsed { interrupt, .. }
                        | Fact::ExecReported { interrupt, .. }
                        | Fact::InterruptReassigned { interrupt, .. }
                        | Fact::InterruptDelegated { interrupt, .. }
                        | Fact::InterruptTimed { interrupt, .. }
                        | Fact::InterruptReminded { interrupt, .. }
                        | Fact::InterruptEscalated { interrupt, .. }
                        | Fact::InterruptSnoozed { interrupt, .. } => {
                            touched.insert(interrupt);
                            relies = true;
                        }
                        Fact::RunResumed
                        | Fact::RunUnsuspended
                        | Fact::ToolAuthorised { by: Authority::Gate(_), .. } => relies = true,
                        Fact::ToolStarted { call, attempt, .. } => {
                            begun.push(Action::CallTool { call: call.clone(), attempt: *attempt }.id());
                        }
                        Fact::TrialStarted { call, attempt, .. } => {
                            begun.push(Action::trial_id(call, *attempt));
                        }
                        Fact::ModelStarted { step, turn, attempt, .. } => {
                            let (step, turn, attempt) = (step.clone(), *turn, *attempt);
                            begun.push(Action::CallModel { step, turn, attempt, not_before: None }.id());
                        }
                        // There is no wildcard pattern, so that the compiler requires a case for each new fact. A new
                        // fact that starts an action must be added to `begun`, otherwise the action is never performed.
                        Fact::RunPaused
                        | Fact::RunInterrupted
                        | Fact::RunSuspended
                        | Fact::MessageAdded
                        | Fact::ChangesUndone { .. }
                        | Fact::Adopted { .. }
                        | Fact::RunCompleted { .. }
                        | Fact::RunFailed { .. }
                        | Fact::RunCancelled { .. }
                        | Fact::PhaseStarted { .. }
                        | Fact::PhaseEnded { .. }
                        | Fact::StepStarted { .. }
                        | Fact::StepWithdrawn { .. }
                        | Fact::StepClosed { .. }
                        | Fact::StepEnded { .. }
                        | Fact::StepRedone { .. }
                        | Fact::StepRetried { .. }
                        | Fact::StepInputReplaced { .. }
                        | Fact::LimitReached { .. }
                        | Fact::LimitLifted { .. }
                        | Fact::ModelReplied { .. }
                        | Fact::EndRefused { .. }
                        | Fact::ModelFailed { .. }
                        | Fact::ModelLost { .. }
                        | Fact::ModelStopped { .. }
                        | Fact::ReplyResumed { .. }
                        | Fact::WindowNarrowed { .. }
                        | Fact::HistorySummarised { .. }
                        | Fact::HistoryElided { .. }
                        | Fact::ToolInspected { .. }
                        | Fact::ToolTried { .. }
                        | Fact::CallMade { .. }
                        | Fact::ChangesProposed { .. }
                        | Fact::ChangesKept { .. }
                        | Fact::TrialImpossible { .. }
                        | Fact::TrialLost { .. }
                        | Fact::ToolAuthorised { .. }
                        | Fact::ToolDeferred { .. }
                        | Fact::ToolFinished { .. }
                        | Fact::ToolReturned { .. }
                        | Fact::ToolLost { .. }
                        | Fact::ToolStopped { .. }
                        | Fact::ToolDoubted { .. }
                        | Fact::ResultHeld { .. }
                        | Fact::OutputReleased { .. }
                        | Fact::CommentAdded { .. }
                        | Fact::InterruptViewed { .. }
                        | Fact::NoteAdded { .. }
                        | Fact::LegalHoldPlaced
                        | Fact::LegalHoldLifted
                        | Fact::HandedOver { .. }
                        | Fact::CallJudged { .. }
                        | Fact::JudgementUnusable { .. }
                        | Fact::StepJudged { .. }
                        | Fact::PhaseCalled { .. }
                        | Fact::TaskRouted { .. }
                        | Fact::TaskExtended { .. }
                        | Fact::RoundWanted { .. }
                        | Fact::RoundsOver { .. }
                        | Fact::PlanDrafted { .. }
                        | Fact::PlanUnusable { .. }
                        | Fact::PlanProposed { .. }
                        | Fact::PlanSettled { .. }
                        | Fact::PlanDropped { .. } => {}
                    }
                }
                event::Fact::Session(_) => {
                    session_events.push(envelope::seal(event, &mut new_session_chain, &mut draw));
                }
                event::Fact::System(_) => {}
            }
        }
        let row = run.row();
        let is_runnable = row.as_ref().is_some_and(|row| row.runnable);
        let of_session = rows_of(events, session);
        let expires = session.expires();
        // The row of the session changes when a run starts. If the session can expire, the row also changes when a run
        // ends. Other events of a run are not activity of the session.
        let counts = starts || (expires && run.ended.is_some());
        let mut append = Append {
            keys,
            blobs,
            rows: Rows {
                run: row,
                session: both(of_session.session, run.session_row(expires).filter(|_| counts)),
                interrupts: run.interrupt_rows(touched.iter().copied()),
                answers: run.answer_rows(touched),
                grants: of_session.grants,
            },
            drives,
            erased,
            forgets,
            ..Append::default()
        };
        let first_seq = loaded.chain.seq + 1;
        match self.deliveries(&loaded.run, first_seq, &decided, system, &mut draw, lookups) {
            Ok(deliveries) => append.deliveries = deliveries,
            Err(missing) => return Ok(Committed::Misses(missing)),
        }
        let tells = !append.deliveries.is_empty();
        // The guards make the append fail if the system or the session has changed since the decision. Therefore a
        // revocation, a forbidding rule or a freeze takes effect at the next start. A removed person cannot decide and
        // is not asked. No run starts or resumes in a suspended session, and no deadline expires while the installation
        // is frozen. Revoked grants and removed rules cannot allow a call. If other nodes also write to the journal,
        // cached streams may be stale, so every append has guards.
        let guarded = relies || starts || !begun.is_empty() || self.is_shared();
        if guarded {
            append.guards.push((StreamId::System, system.seq));
        }
        if session_events.is_empty() {
            if guarded {
                append.guards.push((session_stream.clone(), session_chain.seq));
            }
        } else {
            append.streams.push(StreamAppend {
                stream: session_stream.clone(),
                expected: session_chain.seq,
                events: session_events,
            });
        }
        append.streams.push(StreamAppend {
            stream: run_stream,
            expected: loaded.chain.seq,
            events: run_events,
        });

        // `claimed` is set before the append. If this task is dropped before the append returns, the next step reads
        // the events and performs the recorded starts.
        let on = loaded.chain.seq;
        begun.retain(|action| loaded.claimed.insert(action.clone(), on) != Some(on));
        loaded.stale = true;
        let unanswered = loaded.unanswered.replace(on);
        self.cache.appends(&run.id);
        let of_session = append.streams.iter().any(|part| part.stream == session_stream);
        if of_session {
            self.streams.appends(&session_stream, session_chain.seq);
        }
        // If the append erases content, the cached run still contains this content and must be read again.
        let is_in_memory = !append.erased.is_empty();
        let traces = self.traces.get().filter(|_| run.ended.is_some() && loaded.run.ended.is_none());
        if let Some(traces) = traces {
            traces.run_ending(&run.id);
        }
        let appended = self.journal.append(append).await;
        loaded.unanswered = unanswered;
        if of_session {
            self.streams.answered(&session_stream, session_chain.seq);
        }
        if let Err(error) = appended {
            self.streams.forget(&session_stream);
            self.streams.forget(&StreamId::System);
            // After an I/O error or on a closed store, it is unknown whether the append was written. The next read
            // shows it.
            let wrote_nothing = !matches!(error, AppendError::Store(StoreError::Io(_) | StoreError::Closed));
            match traces {
                Some(traces) if wrote_nothing => traces.run_goes_on(&run.id),
                // The append may have ended the run. The exporter checks this in the journal.
                Some(traces) => traces.run_ended(&run.id),
                None => {}
            }
            if wrote_nothing {
                loaded.claimed.retain(|action, _| !begun.contains(action));
            }
            return match error {
                AppendError::Conflict { stream, expected, found } => {
                    tracing::debug!(%stream, expected, found, "another writer appended first");
                    Ok(Committed::Conflict)
                }
                AppendError::KeyTaken(_) => Ok(Committed::KeyTaken),
                AppendError::Driven => Ok(Committed::Driven),
                AppendError::Malformed(why) => Err(Error::Internal(why)),
                AppendError::Store(error) => Err(error.into()),
            };
        }
        self.metrics.committed(events, run);
        if let Some(traces) = traces {
            traces.run_ended(&run.id);
        }
        let closer = run.next_deadline() != loaded.run.next_deadline();
        loaded.chain = run_chain;
        let HandledInput { run, session, .. } = decided;
        loaded.run = Arc::new(run);
        loaded.stale = is_in_memory;
        loaded.unanswered = None;
        loaded.driven_here = !self.is_shared() || (drives && is_runnable);
        let told_of_session = new_session_chain != session_chain;
        // A new session without events is cached too, because the next step of the run needs it.
        if told_of_session || starts {
            self.streams.keep_session(Arc::new(session), new_session_chain);
        }
        if told_of_session {
            self.notify_followers(&session_stream, new_session_chain.seq);
        }
        if tells {
            self.told.notify_one();
        }
        if closer {
            self.deadline.notify_one();
        }
        Ok(Committed::Yes)
    }
}

/// Merges two versions of the stored row of one session: the row that follows from the session's own events, and the
/// row that follows from the start of a run in the session.
fn both(own: Option<SessionRow>, start: Option<SessionRow>) -> Option<SessionRow> {
    match (own, start) {
        (Some(own), Some(start)) => Some(own.with(start)),
        (own, start) => own.or(start),
    }
}
