//! Changes the state of a run. No other code changes the state. `apply` applies one event at a time, cannot fail, and
//! reads no clock. Its branches never depend on content that can be erased.

use std::sync::Arc;

use serde_json::Value;

use super::apply_content::{changeset_of, drafted, found, layer_changes, routed, said_about};
use super::fact::{CallEnd, Fact, ReturnReason, RoutedTask, StepRole};
use super::state::{
    Call, CallChanges, CallState, Entry, ModelCall, Planned, Step, Summary, Trial, Trouble, Used,
};
use super::{Run, RunEnd, Started, StartedPhase, step_ids};
use crate::definition::PhaseKind;
use crate::event::{self, Event};
use crate::interrupt::{About, Cause, Interrupt, Kind};
use crate::message::Stop;
use crate::projection::Status;
use crate::routing::Route;
use crate::tool::CommandEffect;

impl Run {
    /// Applies one event of the run's own stream to the state of the run. Ignores events of other streams.
    pub fn apply(&mut self, event: &Event) {
        let event::Fact::Run(fact) = &event.fact else { return };
        self.seq += 1;
        self.last_at = event.at;
        let content = &event.content;
        match fact {
            Fact::RunStarted { session, config, origin, front, .. } => {
                self.started = Some(Arc::new(Started {
                    by: event.actor.clone(),
                    session: session.clone(),
                    config: config.clone(),
                    origin: *origin,
                    front: *front,
                    input: content.data.clone(),
                    at: event.at,
                }));
            }
            Fact::Adopted { epoch, kept } => self.adopted(*epoch, kept),
            Fact::RunPaused => {
                self.paused = true;
                self.paused_at = Some(event.at);
            }
            Fact::RunResumed => self.paused = false,
            Fact::RunInterrupted => self.stop_models(),
            Fact::RunSuspended => self.suspended = true,
            Fact::RunUnsuspended => self.suspended = false,
            Fact::RunCompleted { reason } => self.end(event, Status::Completed, reason),
            Fact::RunFailed { reason } => self.end(event, Status::Failed, reason),
            Fact::RunCancelled { reason } => self.end(event, Status::Cancelled, reason),

            Fact::PhaseStarted { phase } => {
                self.phases.insert_mut(phase.clone(), None);
            }
            Fact::PhaseEnded { phase, end } => {
                self.phases.insert_mut(phase.clone(), Some(*end));
                if let Some(called) = self.called.get_mut(phase) {
                    Arc::make_mut(called).why.clone_from(&content.text);
                }
            }
            Fact::PhaseCalled { call, nth, phase } => {
                let mut phase = (**phase).clone();
                let text = content.text.clone().unwrap_or_default();
                if let PhaseKind::Checkpoint(look) = &mut phase.kind {
                    look.message.clone_from(&text);
                }
                phase.input = Some(text);
                // The call may still be in the state `Gated`, because a person had to approve it first.
                self.call(call, |call| call.state = CallState::Proposed);
                let called = StartedPhase { call: call.clone(), nth: *nth, why: None, phase };
                self.called.insert_mut(called.phase.id.clone(), Arc::new(called));
            }
            Fact::StepStarted { step, phase, agent, role, subtask } => {
                let mut new = Step::new(phase, *role, agent);
                new.round = self.begin_round(phase, *role);
                // Messages that arrived during an earlier round of the phase belong to the earlier round.
                let heard = new.round.map_or(0, |n| self.rounds_of(phase).heard_before(n));
                let unheard = self.messages.iter().skip(heard);
                new.entries.extend(unheard.map(|text| Entry::Note { text: text.clone() }));
                new.inherited = new.entries.len();
                new.since = self.seq;
                new.since_at = event.at;
                new.model_at = event.at;
                let part = || self.part_to_carry_out(phase, step);
                new.subtask = subtask.clone().or_else(part).map(|part| part.id);
                new.summarises =
                    (*role == StepRole::Summariser).then(|| step_ids::summarised(step)).flatten();
                new.judges = self.call_to_judge(step).filter(|_| *role == StepRole::Overseer);
                self.steps.insert(step.clone(), new);
            }
            Fact::StepWithdrawn { step } => {
                self.steps.remove(step);
            }
            Fact::StepClosed { step, end } => self.step(step, |step| {
                step.closing = Some(*end);
                step.output = content.text.as_deref().map(Arc::from);
            }),
            Fact::StepEnded { step, end } => {
                let seq = self.seq;
                self.step(step, |step| {
                    step.end = Some(*end);
                    step.output = content.text.as_deref().map(Arc::from);
                    step.until = Some(seq);
                    step.until_at = Some(event.at);
                    // The step is over, so the outcome of a model call in progress no longer matters, and no retry
                    // follows.
                    step.model = ModelCall::Idle;
                    step.stopped = false;
                    step.retry_at = None;
                });
                self.end_round(step);
            }
            Fact::StepRedone { step } => self.step(step, |step| {
                step.redos += 1;
                step.trouble = Trouble::None;
            }),
            Fact::StepRetried { step } => {
                self.step(step, |step| {
                    step.failures = 0;
                    step.crashes = 0;
                    step.retry_at = None;
                    step.retries += 1;
                    step.trouble = Trouble::Retried;
                    step.excused = step.turn;
                });
                let phase = self.steps.get(step).map(|step| step.phase.clone());
                let planned = phase.and_then(|phase| self.plans.get_mut(&phase));
                if let Some(plan) = planned {
                    plan.unusable = 0;
                }
            }
            Fact::StepInputReplaced { step } => {
                self.step(step, |step| step.input = content.text.as_deref().map(Arc::from));
            }
            Fact::LimitReached { .. } => {}
            Fact::LimitLifted { step, unasked } => self.step(step, |step| {
                step.used = Used::default();
                step.continued += 1;
                step.continued_unasked += u32::from(*unasked);
            }),

            Fact::ModelStarted { step, attempt, epoch, shortened, .. } => self.step(step, |step| {
                step.history.shortened = *shortened;
                step.model = ModelCall::Running { attempt: *attempt, epoch: *epoch };
                step.model_at = event.at;
                step.sent = step.entries.len();
                step.retry_at = None;
                step.begun = true;
                if step.trouble == Trouble::Stuck {
                    step.trouble = Trouble::None;
                }
            }),
            Fact::ModelReplied { step: id, turn, model, usage, calls, stop } => {
                let agent = self.steps.get(id).map(|step| step.agent.clone()).unwrap_or_default();
                let arguments = content.data.get("arguments").and_then(Value::as_array);
                for (i, listed) in calls.iter().enumerate() {
                    let arguments = arguments.and_then(|all| all.get(i)).cloned().unwrap_or_default();
                    let call = Call::new(id, *turn, &agent, &listed.tool, arguments);
                    self.calls.insert(listed.call.clone(), call);
                }
                self.proposed += u32::try_from(calls.len()).unwrap_or(u32::MAX);
                self.spend(id, model, *usage);
                self.step(id, |step| {
                    step.model = ModelCall::Idle;
                    step.model_at = event.at;
                    step.stopped = false;
                    step.failures = 0;
                    step.crashes = 0;
                    step.turn += 1;
                    step.used.rounds += 1;
                    step.used.calls += u32::try_from(calls.len()).unwrap_or(u32::MAX);
                    // After a shortened request, the provider's token count cannot be used, because the next
                    // request may hold content that this request left out.
                    step.history.counted = if step.history.shortened { 0 } else { usage.input_tokens };
                    step.history.answered = Some(Arc::from(model.as_str()));
                    for listed in calls {
                        let same = step.used.last_call == Some(listed.digest);
                        step.used.identical = if same { step.used.identical + 1 } else { 1 };
                        step.used.last_call = Some(listed.digest);
                    }
                    let turn = Entry::Turn {
                        agent,
                        text: Arc::from(content.as_text()),
                        calls: calls.iter().map(|listed| listed.call.clone()).collect(),
                        stop: *stop,
                    };
                    step.add_turn(turn);
                });
            }
            Fact::CallMade { step: id, call, tool } => {
                let agent = self.steps.get(id).map(|step| step.agent.clone()).unwrap_or_default();
                let made = Call::new(id, 0, &agent, tool, content.data.clone());
                self.calls.insert(call.clone(), made);
                self.proposed += 1;
                self.step(id, |step| {
                    step.turn += 1;
                    let (text, stop) = (Arc::from(""), Stop::default());
                    step.entries.push_back_mut(Entry::Turn { agent, text, calls: vec![call.clone()], stop });
                });
            }
            Fact::EndRefused { step, .. } => {
                self.step(step, |step| step.refused_ends += 1);
                self.push_note(step, content);
            }
            Fact::ModelFailed { step, kind, retry_at, .. } => self.step(step, |step| {
                step.model = ModelCall::Idle;
                step.model_at = event.at;
                step.failures += 1;
                step.last_failure = Some((*kind, Arc::from(content.as_text())));
                step.retry_at = *retry_at;
            }),
            Fact::WindowNarrowed { step, window } => {
                self.step(step, |step| step.history.narrowed = Some(*window));
            }
            Fact::HistorySummarised { step, until, .. } => self.step(step, |step| {
                step.history.summary = Some(Summary { until: *until, text: Arc::from(content.as_text()) });
                step.history.counted = 0;
            }),
            Fact::HistoryElided { step, until, .. } => self.step(step, |step| {
                step.history.elided = *until;
                step.history.counted = 0;
            }),
            Fact::ModelLost { step, .. } => self.step(step, |step| {
                step.model = ModelCall::Idle;
                step.crashes += 1;
            }),

            Fact::ModelStopped { step, said, .. } => self.step(step, |step| {
                step.model = ModelCall::Idle;
                step.stopped = false;
                // The next request is a new model call. If a person excused the failures of this turn, the failures of
                // the next turn are excused, too.
                if step.excused == step.turn {
                    step.excused += 1;
                }
                step.turn += 1;
                step.refused_ends = 0;
                // An interrupted judgement is incomplete, so it is discarded.
                if (*said || content.text.is_some()) && !step.role.is_aside() {
                    let (agent, text) = (step.agent.clone(), Arc::from(content.as_text()));
                    let turn = Entry::Turn { agent, text, calls: Vec::new(), stop: Stop::Cut };
                    step.add_turn(turn);
                }
            }),

            Fact::ToolInspected { call, look } => self.call(call, |call| {
                // A trial is valid only for the inspection that preceded the trial.
                if call.look.as_ref() != Some(look) {
                    call.trial = Trial { attempt: call.trial.attempt, ..Trial::default() };
                }
                call.look = Some(look.clone());
                call.proposal = None;
                call.look_again = false;
                call.deferred = false;
                call.card = content.data.clone();
            }),
            Fact::TrialStarted { call, attempt, epoch } => {
                self.epoch = *epoch;
                self.call(call, |call| {
                    call.trial.attempt = *attempt;
                    call.trial.running = Some(*epoch);
                });
            }
            Fact::TrialLost { call, .. } => {
                self.call(call, |call| {
                    call.trial.running = None;
                    call.trial.lost += 1;
                });
                self.crashed(call);
            }
            Fact::ToolTried { call, changeset, changed, deleted, ask_because, layer, .. } => {
                self.call(call, |call| {
                    call.trial.running = None;
                    call.trial.lost = 0;
                    call.trial.is_stale = false;
                    let found = found(content, *changeset, *changed, *deleted);
                    let layer = layer.as_ref().and_then(|layer| layer_changes(content, layer));
                    call.trial.found =
                        Some(Arc::new(CallChanges { ask_because: ask_because.clone(), layer, ..found }));
                });
            }
            Fact::ChangesProposed { call, changeset, changed, deleted } => self.call(call, |call| {
                call.proposal = Some(Arc::new(found(content, *changeset, *changed, *deleted)));
            }),
            Fact::ChangesKept { call, changeset, changed, deleted } => self.call(call, |call| {
                if let Some(found) = call.trial.found.as_mut().map(Arc::make_mut) {
                    (found.digest, found.changed, found.deleted) = (*changeset, *changed, *deleted);
                    found.changeset = changeset_of(content, *changeset);
                }
            }),
            Fact::TrialImpossible { call, .. } => self.call(call, |call| {
                let attempt = call.trial.attempt;
                call.trial =
                    Trial { attempt, impossible: Some(Arc::from(content.as_text())), ..Trial::default() };
            }),
            Fact::CallJudged { call, judgement, .. } => self.call(call, |call| {
                call.judged = Some(*judgement);
                call.judgement = content.data.clone();
            }),
            // The call is inspected again when its turn comes. Because of the higher revision, a duplicate result of
            // the inspection that deferred the call is rejected.
            Fact::ToolDeferred { call } => self.call(call, |call| {
                call.revision += 1;
                call.look_again = false;
                call.deferred = true;
            }),
            Fact::ToolAuthorised { call, digest, by, effect } => self.call(call, |call| {
                call.state = CallState::Authorised;
                call.digest = Some(*digest);
                call.authority = Some(by.clone());
                call.effect.clone_from(effect);
            }),
            Fact::ToolStarted { call, attempt, epoch, .. } => {
                // A call that a client runs does not change the epoch, because any node can hand out such a call. A
                // call that runs on this node sets the run's epoch to the epoch of the node.
                if self.calls.get(call).is_some_and(|call| self.runs_here(&call.tool)) {
                    self.epoch = *epoch;
                }
                self.spent.calls += 1;
                self.call(call, |call| {
                    call.state = CallState::Started { epoch: *epoch };
                    call.attempt = *attempt;
                    call.started_at = Some(event.at);
                    call.trial.commits += u32::from(call.committing().is_some());
                });
            }
            Fact::ToolStopped { call, interrupted } => self.call(call, |call| {
                call.stopped = Some(Arc::from(content.as_text()));
                call.interrupted = *interrupted;
            }),
            Fact::ToolFinished { call: id, end, code } => {
                // A call that failed before its start also counts towards the run's number of calls.
                let is_untried = self.calls.get(id).is_some_and(|call| call.attempt == 0);
                let is_tried = self.calls.get(id).is_some_and(|call| call.committing().is_some());
                let is_work = *end == CallEnd::Failed || (is_tried && *end == CallEnd::Done);
                self.spent.calls += u64::from(is_untried && is_work);
                let started = self
                    .calls
                    .get(id)
                    .filter(|call| matches!(call.state, CallState::Started { .. } | CallState::Doubted(_)));
                let wrote = started.is_some_and(|call| self.writes(&call.tool));
                // If a call committed a changeset, its changes are known, unless the run ended during the commit.
                let is_told =
                    started.is_none_or(|call| call.committing().is_some()) && *end != CallEnd::Unknown;
                let ended_at = Some(self.seq);
                self.call(id, |call| {
                    call.ended_at = ended_at;
                    if !is_told {
                        call.untold_at = ended_at;
                    }
                    call.state = CallState::Ended(*end);
                    call.result = content.text.as_deref().map(Arc::from);
                    call.outcome = content.data.clone();
                    match code.as_deref() {
                        Some(super::CONFINED) => call.confined.clone_from(&call.effect),
                        // The command created guarded files, which only the effect `Guarded` permits. The narrower
                        // effect `Workspace` is recorded here, because the next approval then allows the next wider
                        // effect, `Guarded`.
                        Some(super::SET_ASIDE) => call.confined = Some(CommandEffect::Workspace),
                        Some(_) | None => {}
                    }
                });
                if let Some(step) = self.calls.get(id).map(|call| call.step.clone()) {
                    self.step(&step, |step| step.crashes = 0);
                }
                if wrote {
                    self.look_again(id);
                }
            }
            Fact::ToolReturned { call: id, why, .. } => {
                let released = self.released_from(id);
                self.call(id, |call| {
                    call.state = CallState::Proposed;
                    call.revision += 1;
                    call.look = None;
                    call.proposal = None;
                    call.trial = Trial { attempt: call.trial.attempt, ..Trial::default() };
                    call.stopped = None;
                    call.interrupted = false;
                    call.authority = None;
                    match why {
                        ReturnReason::Edited => {
                            call.arguments = content.data.get("arguments").cloned().unwrap_or_default();
                            call.cleared = released;
                            call.digest = None;
                        }
                        // The digest of the call stays. If the call keeps this digest, it runs again without a second
                        // question. If the call changes, a person is asked again.
                        ReturnReason::Rerun => call.cleared = released,
                        ReturnReason::Changed | ReturnReason::Withdrawn => {
                            call.cleared = None;
                            call.digest = None;
                        }
                    }
                });
            }
            Fact::ToolLost { call: id } => {
                self.call(id, |call| {
                    call.state = CallState::Authorised;
                    call.lost = Some(call.attempt);
                });
                self.crashed(id);
            }
            Fact::ToolDoubted { call: id } => {
                let doubted_at = Some(self.seq);
                self.call(id, |call| {
                    call.state = CallState::Doubted(None);
                    call.lost = Some(call.attempt);
                    call.untold_at = doubted_at;
                });
                self.crashed(id);
                // The call may have written files before its outcome was lost.
                self.look_again(id);
            }

            Fact::HandedOver { step, to, .. } => self.step(step, |step| {
                step.agent.clone_from(to);
                step.history.counted = 0;
            }),

            Fact::PlanProposed { step, .. } => self.step(step, |step| step.plans += 1),
            Fact::PlanDrafted { phase, step, subtasks, .. } => {
                let turn = step.as_ref().and_then(|step| self.steps.get(step)).map(|step| step.turn);
                let drafted = drafted(subtasks, &content.data);
                self.plan(phase, |plan| {
                    plan.versions.push(Arc::new(drafted));
                    plan.turn = turn;
                    plan.unusable = 0;
                });
            }
            Fact::PlanUnusable { phase, step } => {
                self.plan(phase, |plan| plan.unusable += 1);
                self.push_note(step, content);
            }
            Fact::PlanSettled { phase, version } => self.plan(phase, |plan| {
                plan.settled = Some(*version);
                plan.held = false;
            }),
            Fact::PlanDropped { phase, .. } => self.plan(phase, |plan| plan.held = false),
            Fact::TaskRouted(RoutedTask { phase, route, complexity, agent, simple, .. }) => {
                let routed = routed(*route, *complexity, agent.as_deref(), content);
                self.rounds(phase, |rounds| {
                    rounds.routings += 1;
                    rounds.is_new_task = false;
                    rounds.simple = Some(*simple);
                    rounds.routed = Some(routed);
                });
            }
            Fact::TaskExtended { phase, told } => {
                if *told {
                    self.messages.drop_last_mut();
                }
                self.rounds(phase, |rounds| {
                    rounds.added.push(Arc::from(content.as_text()));
                    rounds.was_asked = true;
                    // The person's answer may turn the task into a different task, so the task is routed again.
                    if rounds.routed.as_ref().is_some_and(|routed| routed.route == Route::Clarify) {
                        rounds.routed = None;
                        rounds.is_new_task = true;
                    }
                });
            }
            Fact::RoundWanted { phase, new_task, fresh, .. } => self.rounds(phase, |rounds| {
                rounds.wanted = true;
                rounds.next = Some(Arc::from(content.as_text()));
                rounds.is_new_task = *new_task;
                if *new_task {
                    rounds.was_replaced = !fresh;
                    rounds.routed = None;
                    rounds.simple = None;
                    rounds.was_asked = false;
                    rounds.task = (!fresh).then(|| Arc::from(content.as_text()));
                }
                if *fresh {
                    rounds.fresh_from = rounds.begun + 1;
                }
            }),
            Fact::RoundsOver { phase } => self.rounds(phase, |rounds| rounds.is_over = true),
            Fact::StepJudged { step, .. } => {
                self.step(step, |step| step.judged += 1);
                self.push_note(step, content);
            }
            Fact::ResultHeld { call, digest, .. } => self.keep_held(call, *digest, content),
            Fact::OutputReleased { .. } => self.released.push_back_mut(content.data.clone()),

            Fact::InterruptOpened(opened) => {
                let id = opened.interrupt.clone();
                match &opened.about {
                    About::Call(call) => self.call(call, |call| {
                        call.state = match call.state {
                            CallState::Doubted(_) => CallState::Doubted(Some(id.clone())),
                            CallState::Started { .. } if opened.kind == Kind::ClientCall => {
                                CallState::WithClient(id.clone())
                            }
                            CallState::Proposed
                            | CallState::Gated(_)
                            | CallState::Authorised
                            | CallState::Started { .. }
                            | CallState::WithClient(_)
                            | CallState::Ended(_) => CallState::Gated(id.clone()),
                        };
                        call.interrupt = Some(id.clone());
                    }),
                    About::BeforeStep(step) | About::AfterStep(step) | About::Printed(step) => {
                        self.step(step, |step| step.blocked = Some(id.clone()));
                    }
                    About::Failure(step) | About::Limit(step) | About::Ending(step) => {
                        self.step(step, |step| {
                            step.blocked = Some(id.clone());
                            step.trouble = Trouble::Stuck;
                        });
                    }
                    About::Plan(phase) => {
                        self.plan(phase, |plan| {
                            plan.iterations += 1;
                            plan.held = plan.settled.is_some();
                        });
                        if let Some(step) = &opened.step {
                            self.step(step, |step| step.blocked = Some(id.clone()));
                        }
                    }
                    About::Round(phase) => self.rounds(phase, |rounds| rounds.asked = Some(id.clone())),
                    About::Interruption | About::Hold => self.rest_for(&id),
                    About::Phase(_) | About::External => {}
                }
                let (opened, content) = ((**opened).clone(), content.data.clone());
                let interrupt = Interrupt::new(opened, content, &event.actor, event.at, self.seq);
                self.interrupts.insert(id.clone(), interrupt);
            }
            Fact::DecisionMade { interrupt: id, .. }
            | Fact::InterruptClaimed { interrupt: id, .. }
            | Fact::InterruptReleased { interrupt: id }
            | Fact::CommentAdded { interrupt: id }
            | Fact::InterruptViewed { interrupt: id }
            | Fact::VoteWithdrawn { interrupt: id, .. }
            | Fact::InterruptReassigned { interrupt: id, .. }
            | Fact::InterruptDelegated { interrupt: id, .. }
            | Fact::InterruptTimed { interrupt: id, .. }
            | Fact::InterruptReminded { interrupt: id, .. }
            | Fact::InterruptEscalated { interrupt: id, .. }
            | Fact::InterruptSnoozed { interrupt: id, .. }
            | Fact::AnswerCorrected { interrupt: id }
            | Fact::ApprovalUsed { interrupt: id, .. }
            | Fact::ExecReported { interrupt: id, .. } => self.apply_to_interrupt(id, event),
            Fact::AnswerErased { interrupt: id, events } => self.erased(event, id, events),
            Fact::ContentErased { from, to, because } => {
                self.content_erased(event, *from, *to, *because);
            }
            Fact::LegalHoldPlaced => self.legal_hold_placed(event),
            Fact::LegalHoldLifted => self.held = None,
            Fact::InterruptResolved { interrupt: id, outcome, cause, .. } => {
                self.apply_to_interrupt(id, event);
                if *cause == Cause::Decision {
                    self.reset_refused_ends(id, *outcome);
                }
                self.unblock(id);
            }

            Fact::MessageAdded => self.tell_all(content),
            Fact::ChangesUndone { by } => {
                self.undone.insert_mut(by.clone(), Arc::from(content.as_text()));
                self.tell_all(content);
            }
            Fact::NoteAdded { step, interrupt: id, later } => {
                self.apply_to_interrupt(id, event);
                self.push_note(step, content);
                if *later {
                    self.messages.push_back_mut(Arc::from(said_about(step, content.as_text())));
                }
            }
            Fact::JudgementUnusable { step } | Fact::ReplyResumed { step } => self.push_note(step, content),
        }
    }

    fn end(&mut self, event: &Event, status: Status, reason: &str) {
        self.ended = Some(Arc::new(RunEnd {
            status,
            reason: reason.to_owned(),
            seq: self.seq,
            at: event.at,
            told: self.seq,
            text: event.content.text.clone(),
            result: event.content.data.clone(),
        }));
    }

    fn plan(&mut self, phase: &str, change: impl FnOnce(&mut Planned)) {
        let mut plan = self.plans.get(phase).cloned().unwrap_or_default();
        change(&mut plan);
        self.plans.insert_mut(phase.to_owned(), plan);
    }

    pub(super) fn step(&mut self, id: &str, change: impl FnOnce(&mut Step)) {
        self.steps.change(id, change);
    }

    pub(super) fn call(&mut self, id: &str, change: impl FnOnce(&mut Call)) {
        self.calls.change(id, change);
    }
}
