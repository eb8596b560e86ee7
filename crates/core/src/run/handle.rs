//! Handles all inputs of a run. Each input results in events or in a rejection.

use std::collections::BTreeSet;

use super::draft::{Draft, HandledInput};
use super::input::{Begin, Context, FrontStart, Input, Rejection, Start, check_text};
use super::{Action, ActionId, Fact, Run, undo};
use crate::actor::{Actor, Role};
use crate::envelope::Content;
use crate::json;
use crate::limits;
use crate::rights::{self, Extent, Permission};
use crate::schema::{self, Problem};
use crate::session::{self, State};

impl Run {
    /// Determines the events that follow from an input to the run. Does not change the state of the run. The caller
    /// first appends the events to the journal, and then replaces its states of the run and of the session with the
    /// returned states.
    pub fn handle(&self, cx: &Context<'_>, input: Input) -> Result<HandledInput, Rejection> {
        let mut draft = Draft::new(self, cx);
        if self.started.is_none() {
            let Input::Start(start) = input else { return Err(Rejection::Outdated) };
            let is_own = self.definition.is_external();
            require(&cx.actor, Some(Permission::Steer), is_own)?;
            draft.start(start)?;
        } else {
            draft.take(input)?;
            draft.begin_anew();
        }
        draft.follow_session();
        draft.advance();
        Ok(draft.finish())
    }
}

/// Returns an error if the role of the input's sender does not have the permission `permission`. The engine is allowed
/// to send every input.
fn require(actor: &Actor, permission: Option<Permission>, is_own: bool) -> Result<(), Rejection> {
    let may = match permission {
        _ if actor.role == Role::Engine => true,
        None => false,
        Some(permission) => match rights::extent(actor.role, permission) {
            Extent::All => true,
            Extent::Own => is_own,
            Extent::Nothing | Extent::Assigned | Extent::Unassigned => false,
        },
    };
    if may { Ok(()) } else { Err(Rejection::Role) }
}

impl Draft<'_> {
    fn take(&mut self, input: Input) -> Result<(), Rejection> {
        if let Some(ended) = &self.run.ended {
            // On an ended run, a decision returns the earlier result or the status 409, and a comment is accepted.
            // Decisions and comments therefore continue to the checks below.
            let is_of_interrupt = input.permission() == Some(Permission::Decide);
            let is_late = input.is_of_history() || input.is_about_external_ask();
            if !is_of_interrupt && !is_late && !matches!(input, Input::Start(_)) {
                return Err(Rejection::Ended(ended.status));
            }
        }
        // Inputs about an interrupt check permissions later, in an order of their own.
        if input.permission() != Some(Permission::Decide) {
            // Answers that people gave to an agent's questions do not belong to the agent.
            let is_own = self.run.is_begun_by(&self.cx.actor) && !input.is_of_history();
            // A hold only delays a run. Every sender with the permission may therefore hold any run as if it were the
            // sender's own.
            let is_own = is_own || matches!(input, Input::Hold(_));
            require(&self.cx.actor, input.permission(), is_own)?;
        }
        match input {
            Input::Start(_) => Err(Rejection::AlreadyStarted),
            Input::Adopt { at_work } => {
                self.adopt(&at_work);
                Ok(())
            }
            Input::Tick => {
                self.expire();
                self.keep_waiting();
                Ok(())
            }
            Input::Revote => {
                self.revote();
                Ok(())
            }
            Input::Decide { interrupt, decision, holder } => self.decide_as(&interrupt, &decision, holder),
            Input::Claim { interrupt, holder, over } => self.claim(&interrupt, holder, over),
            Input::Release { interrupt, holder } => self.release_claim(&interrupt, holder.as_ref()),
            Input::Comment { interrupt, text } => self.comment(&interrupt, text),
            Input::View { interrupt } => self.view(&interrupt),
            Input::Snooze { interrupt, until } => self.snooze(&interrupt, until),
            Input::TakeBack { interrupt } => self.take_vote_back(&interrupt),
            Input::Reassign { interrupt, to, text } => self.reassign(&interrupt, to, text),
            Input::Delegate { interrupt, delegation } => self.delegate(&interrupt, delegation),
            Input::PeopleChanged => {
                self.people_changed();
                Ok(())
            }
            Input::CorrectAnswer { interrupt, given } => self.correct_answer(&interrupt, given),
            Input::EraseAnswer { interrupt } => self.erase_answer(&interrupt),
            Input::EraseContent { because } => self.erase_content(because),
            Input::LegalHold { reason } => self.place_legal_hold(reason),
            Input::LiftLegalHold => {
                self.lift_legal_hold();
                Ok(())
            }
            Input::Reuse { interrupt, source, by, given } => {
                self.reuse_answer(&interrupt, source, &by, given)
            }
            Input::Message { text } => self.message(text),
            Input::Replan { phase, version, plan } => self.replan(&phase, version, &plan),
            Input::Pause => {
                self.pause(true);
                Ok(())
            }
            Input::Resume => {
                self.require_open_session()?;
                self.pause(false);
                Ok(())
            }
            Input::Cancel { text } => {
                check_text(text.as_deref().unwrap_or_default())?;
                self.wind_up();
                self.emit(Fact::RunCancelled { reason: "cancelled".to_owned() }, Content::maybe_text(text));
                Ok(())
            }
            Input::Interrupt { text } => {
                check_text(text.as_deref().unwrap_or_default())?;
                self.interrupt_run(text)
            }
            Input::StopCall { call, text } => {
                check_text(text.as_deref().unwrap_or_default())?;
                self.stop_call(&call, text)
            }
            Input::Begin { begins } => self.begin(begins),
            Input::Inspected { call, revision, inspected } => self.inspected(&call, revision, inspected),
            Input::ClientResult { call, outcome } => self.client_result(&call, &outcome),
            Input::Tried { call, attempt, tried } => self.tried(&call, attempt, tried),
            Input::Ran { call, attempt, outcome } => self.ran(&call, attempt, outcome),
            Input::Replied { step, turn, reply } => self.replied(&step, turn, reply),
            Input::Failed { step, turn, failure } => self.failed(&step, turn, failure),
            Input::Stopped { step, turn, text } => self.model_stopped(&step, turn, &text),
            Input::Ask(ask) => self.ask(*ask),
            Input::Hold(hold) => self.hold(*hold),
            Input::UseApproval { interrupt, digest } => self.use_approval(&interrupt, digest),
            Input::ReportExec { interrupt, outcome, text } => self.report_exec(&interrupt, outcome, text),
            Input::Withdraw { interrupt, text } => self.withdraw_question(&interrupt, text),
            Input::Finish { result } => self.finish_external(result),
        }
    }

    fn start(&mut self, start: Start) -> Result<(), Rejection> {
        self.require_open_session()?;
        if start.front.is_some() && self.cx.session.front.runs.len() >= limits::FRONT_RUNS {
            return Err(Rejection::Limit { name: "front_runs", limit: limits::FRONT_RUNS as u64 });
        }
        let mut problems = schema::check(&self.run.definition.input, &start.input, "/input");
        if let Some(problem) = json::unsafe_part(&start.input) {
            problems.push(Problem::new("/input", format!("holds a value that cannot be stored: {problem}")));
        }
        if serde_json::to_string(&start.input).map_or(0, |text| text.len()) > limits::INPUT_BYTES {
            problems.push(Problem::new("/input", format!("is larger than {} bytes", limits::INPUT_BYTES)));
        }
        if start.config.gates.rules.len() > limits::RUN_RULES {
            problems.push(Problem::new(
                "/config/gates/rules",
                format!("has more than {} rules", limits::RUN_RULES),
            ));
        }
        problems.extend(self.check_gates());
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        let undone = undo::Arguments::from_input(&self.run.definition, &start.input).map(|undo| undo.run);
        if let Some(of) = undone {
            if let Some(by) = self.cx.session.open_undos.get(&of) {
                return Err(Rejection::UndoOpen { by: by.clone() });
            }
            let by = self.run.id.clone();
            self.emit_session(session::Fact::UndoStarted { run: of, by });
        }
        if let Some(FrontStart { agent }) = &start.front {
            let run = self.run.id.clone();
            self.emit_session(session::Fact::FrontTaken { run, agent: agent.clone() });
        }
        self.emit(
            Fact::RunStarted {
                session: start.session,
                workflow: self.run.definition.name.clone(),
                definition: start.definition,
                config: start.config,
                origin: start.origin,
                front: start.front.is_some(),
                trace: start.trace,
            },
            Content::data(start.input),
        );
        Ok(())
    }

    fn require_open_session(&self) -> Result<(), Rejection> {
        match self.cx.session.state {
            State::Open => Ok(()),
            State::Suspended => Err(Rejection::SessionSuspended),
            State::Closed(end) => Err(Rejection::SessionClosed(end)),
        }
    }

    /// Suspends or resumes the run together with its session, and tells the agents about undos in the session. The
    /// function is called for each input.
    fn follow_session(&mut self) {
        if self.run.started.is_none() || self.is_over() {
            return;
        }
        let is_suspended = self.cx.session.state == State::Suspended;
        if self.run.suspended != is_suspended {
            let fact = if is_suspended { Fact::RunSuspended } else { Fact::RunUnsuspended };
            self.emit_by(Actor::engine(), fact, Content::none());
        }
        let news = self.cx.session.undone_for(&self.run.id);
        for undone in
            news.filter(|undone| !self.run.undone.contains_key(&undone.by)).cloned().collect::<Vec<_>>()
        {
            let told = Content::text(undone.describe());
            self.emit_by(Actor::engine(), Fact::ChangesUndone { by: undone.by }, told);
        }
    }

    /// Pauses or resumes the run. Emits no event if the run is already in the requested state.
    fn pause(&mut self, pause: bool) {
        if self.run.paused != pause {
            self.emit(if pause { Fact::RunPaused } else { Fact::RunResumed }, Content::none());
        }
    }

    /// Continues work of the run that was running when another process stopped. Each running action is completed or
    /// repeated, or a person is asked about the action. The actions in `at_work` still run in this process, so their
    /// outcomes will be known.
    fn adopt(&mut self, at_work: &BTreeSet<ActionId>) {
        let epoch = self.cx.epoch;
        let kept: BTreeSet<ActionId> = self
            .run
            .started()
            .filter(|(action, of)| *of < epoch && at_work.contains(action))
            .map(|(action, _)| action)
            .collect();
        let models: Vec<(String, u32, u32)> = self
            .run
            .models_to_adopt(epoch)
            .filter(|(id, turn, attempt)| !kept.contains(&Action::model_id(id, *turn, *attempt)))
            .map(|(id, turn, attempt)| (id.clone(), turn, attempt))
            .collect();
        let calls: Vec<String> = self
            .run
            .calls_to_adopt(epoch)
            .filter(|(id, attempt)| !kept.contains(&Action::tool_id(id, *attempt)))
            .map(|(id, _)| id.clone())
            .collect();
        let trials: Vec<(String, u32)> = self
            .run
            .trials_under_way()
            .filter(|(id, attempt, of)| *of < epoch && !kept.contains(&Action::trial_id(id, *attempt)))
            .map(|(id, attempt, _)| (id.clone(), attempt))
            .collect();
        if models.is_empty() && calls.is_empty() && trials.is_empty() && kept.is_empty() {
            return;
        }
        self.emit(Fact::Adopted { epoch, kept }, Content::none());
        for (step, turn, attempt) in models {
            // If a person stopped the model call, the call is not repeated automatically and does not count towards the
            // crash limit.
            let fact = if self.run.steps.get(&step).is_some_and(|step| step.stopped) {
                Fact::ModelStopped { step, turn, attempt, said: false }
            } else {
                Fact::ModelLost { step, turn, attempt }
            };
            self.emit(fact, Content::none());
        }
        for call in calls {
            self.adopt_call(&call);
        }
        for (call, attempt) in trials {
            self.lose_trial(&call, attempt);
        }
    }

    /// Records that the driver is about to start actions. Leaves out actions that the current state of the run no
    /// longer requires.
    fn begin(&mut self, begins: Vec<Begin>) -> Result<(), Rejection> {
        if self.run.freeze(self.cx.system).is_some() {
            return Err(Rejection::Frozen);
        }
        self.require_open_session()?;
        for begin in begins {
            if self.run.is_of_frozen_agent(&begin, self.cx.system) {
                continue;
            }
            match begin {
                Begin::Model { step, turn } => self.begin_model(&step, turn),
                Begin::Trial { call } => self.begin_trial(&call),
                Begin::Tool { call, observed } => self.begin_tool(&call, &observed),
            }
        }
        Ok(())
    }
}
