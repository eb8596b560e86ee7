//! Operations of people and of the clock on whole sessions: open, suspend, resume, close, and revoke a grant. An
//! operation first writes the event of the session. After that event, nothing starts that the new state of the session
//! forbids. Then the runs of the session are paused, resumed or cancelled one by one. If a crash interrupts the
//! operation, the remaining runs stay unchanged until the request is repeated.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::envelope::Chain;
use holdshort_core::event::{self, Event};
use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::Status;
use holdshort_core::run::{Input, Rejection};
use holdshort_core::session::{self, End, Open, Session, State};
use holdshort_store::{Journal, Rows, RunFilter};

use super::Driver;
use super::key::IdempotencyKey;
use super::streams::ATTEMPTS;
use crate::{Clock, Error, Executor};

pub struct OpenSession {
    pub open: Open,
    pub key: Option<IdempotencyKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedSession {
    pub session: SessionId,
    /// True if the idempotency key was already used, so that an earlier request created this session.
    pub replayed: bool,
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Creates a session without a run.
    pub async fn open_session(&self, open: OpenSession, actor: Actor) -> Result<OpenedSession, Error> {
        let OpenSession { open, key } = open;
        for _ in 0..ATTEMPTS {
            if let Some(made) = self.made_with(key.as_ref()).await? {
                let session = made.parse().map_err(|_| Error::NotFound)?;
                return Ok(OpenedSession { session, replayed: true });
            }
            let mut session = Session::new(self.new_session());
            let events = session.handle(self.clock.now(), &actor, session::Input::Open(open.clone()))?;
            apply(&mut session, &events);
            let keys = key.iter().map(|key| key.record(session.id.to_string())).collect();
            if self.append_plain(&events, Chain::START, rows_of(&events, &session), keys).await?.is_some() {
                return Ok(OpenedSession { session: session.id, replayed: false });
            }
        }
        Err(Error::Busy)
    }

    /// Continues the conversation of a session after `runs`, which an earlier version of the program started in the
    /// session.
    pub async fn continue_session(
        &self,
        session: &SessionId,
        runs: Vec<RunId>,
        actor: &Actor,
    ) -> Result<Arc<Session>, Error> {
        self.change_session(session, session::Input::Continue { runs }, actor).await
    }

    /// Suspends a session. No run starts or resumes in a suspended session. Live runs of the session wait until the
    /// session is resumed.
    pub async fn suspend_session(
        self: &Arc<Self>,
        session: &SessionId,
        actor: Actor,
    ) -> Result<Arc<Session>, Error> {
        let changed = self.change_session(session, session::Input::Suspend, &actor).await?;
        self.send_to_runs(session, &Input::Tick, &actor).await?;
        Ok(changed)
    }

    /// Resumes a session: runs can start in it again, and its suspended runs continue.
    pub async fn resume_session(
        self: &Arc<Self>,
        session: &SessionId,
        actor: Actor,
    ) -> Result<Arc<Session>, Error> {
        let before = self.session(session).await?;
        let changed = self.change_session(session, session::Input::Resume, &actor).await?;
        if before.state == State::Suspended {
            self.resume_paused_with(&before, &actor).await?;
        }
        self.send_to_runs(session, &Input::Tick, &actor).await?;
        Ok(changed)
    }

    /// Resumes the runs that an earlier version of the program paused one by one when it suspended the session.
    async fn resume_paused_with(self: &Arc<Self>, suspended: &Session, actor: &Actor) -> Result<(), Error> {
        const AT_ONCE: usize = 500;
        let since = suspended.changed.map(|changed| changed.last_at);
        let filter = RunFilter {
            session: Some(suspended.id.clone()),
            status: Some(Status::Paused),
            ..RunFilter::default()
        };
        let mut after = None;
        loop {
            let page = self.journal.runs(&filter, after.as_ref(), AT_ONCE).await?;
            for row in &page.items {
                let run = self.now(&row.run).await?;
                if run.paused && !run.suspended && run.paused_at >= since {
                    self.send(&row.run, Input::Resume, actor.clone()).await?;
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Closes the session permanently, and cancels its live runs. Only the engine itself closes a session with
    /// [`End::Expired`].
    ///
    /// The session is first suspended, so that nothing starts in it. The session is marked as closed only after its
    /// runs have ended. Therefore a session that was only partly closed never appears as closed.
    pub async fn close_session(
        self: &Arc<Self>,
        session: &SessionId,
        reason: End,
        actor: Actor,
    ) -> Result<Arc<Session>, Error> {
        let cancel = |why: &str| Input::Cancel { text: Some(why.to_owned()) };
        match reason {
            End::Completed => {
                if !self.session(session).await?.state.is_closed() {
                    self.change_session(session, session::Input::Suspend, &actor).await?;
                }
                self.send_to_runs(session, &cancel("its session was closed"), &actor).await?;
                self.change_session(session, session::Input::Close { reason }, &actor).await
            }
            // The session had no live run when it was found idle. If a run has started since then, the run is
            // cancelled.
            End::Expired => {
                let changed = self.change_session(session, session::Input::Close { reason }, &actor).await?;
                self.send_to_runs(session, &cancel("its session expired"), &actor).await?;
                Ok(changed)
            }
        }
    }

    /// Closes the sessions whose idle period has passed. Returns the number of closed sessions.
    pub async fn expire_sessions(self: &Arc<Self>) -> Result<usize, Error> {
        const AT_ONCE: usize = 100;
        let mut closed = 0;
        loop {
            let idle = self.journal.idle_sessions(self.clock.now(), AT_ONCE).await?;
            let before = closed;
            for session in &idle {
                match self.close_session(session, End::Expired, Actor::engine()).await {
                    Ok(_) => closed += 1,
                    // The session has been used in the meantime.
                    Err(Error::Session(why)) => tracing::debug!(%session, %why, "a session does not expire"),
                    Err(Error::Store(error)) => return Err(error.into()),
                    Err(error) => tracing::error!(%session, %error, "a session cannot expire"),
                }
            }
            // The loop ends if no session of this page could be closed, because the next page would contain the same
            // sessions.
            if idle.len() < AT_ONCE || closed == before {
                return Ok(closed);
            }
        }
    }

    /// Revokes a grant. A call that has not started yet can no longer use it.
    pub async fn revoke(
        self: &Arc<Self>,
        session: &SessionId,
        grant: &GrantId,
        actor: Actor,
    ) -> Result<Arc<Session>, Error> {
        self.change_session(session, session::Input::Revoke { grant: grant.clone() }, &actor).await
    }

    /// Revokes a refusal. Grants and rules can allow the refused call again.
    pub async fn revoke_refusal(
        self: &Arc<Self>,
        session: &SessionId,
        interrupt: &InterruptId,
        actor: Actor,
    ) -> Result<Arc<Session>, Error> {
        let input = session::Input::RevokeRefusal { interrupt: interrupt.clone() };
        self.change_session(session, input, &actor).await
    }

    /// Applies an input to the session and returns the session. An input without effect writes no event.
    async fn change_session(
        &self,
        id: &SessionId,
        input: session::Input,
        actor: &Actor,
    ) -> Result<Arc<Session>, Error> {
        self.require_session(id).await?;
        // A stale cache could make an input seem to have no effect, so the session is read again.
        if self.is_shared() {
            self.streams.forget(&StreamId::Session(id.clone()));
        }
        for _ in 0..ATTEMPTS {
            let (current, chain) = self.session_chain(id).await?;
            let events = current.handle(self.clock.now(), actor, input.clone())?;
            if events.is_empty() {
                return Ok(current);
            }
            let mut session = (*current).clone();
            apply(&mut session, &events);
            let appended = self.append_plain(&events, chain, rows_of(&events, &session), Vec::new()).await?;
            if let Some(chain) = appended {
                let session = Arc::new(session);
                self.streams.keep_session(session.clone(), chain);
                return Ok(session);
            }
        }
        Err(Error::Busy)
    }

    /// Gives an input to every live run of the session. Skips runs that have ended in the meantime. An unreadable run
    /// does not stop the operation for the remaining runs.
    async fn send_to_runs(
        self: &Arc<Self>,
        session: &SessionId,
        input: &Input,
        actor: &Actor,
    ) -> Result<(), Error> {
        const AT_ONCE: usize = 500;
        let filter = RunFilter { session: Some(session.clone()), ..RunFilter::default() };
        let mut after = None;
        loop {
            let page = self.journal.runs(&filter, after.as_ref(), AT_ONCE).await?;
            for row in page.items.iter().filter(|row| !row.status.is_terminal()) {
                let (run, input) = (&row.run, input.clone());
                // Internal inputs such as `Tick` are sent as the engine, because no role permits them.
                let is_ours = input.permission().is_none();
                let actor = if is_ours { Actor::engine() } else { actor.clone() };
                match self.send(run, input, actor).await {
                    Ok(_) | Err(Error::Rejected(Rejection::Ended(_))) => {}
                    Err(error) if error.is_unreadable() => {
                        tracing::error!(%run, %error, "a run could not be changed with its session");
                    }
                    Err(error) => return Err(error),
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

fn apply(session: &mut Session, events: &[Event]) {
    for event in events {
        session.apply(event);
    }
}

/// Returns the database rows that change with these events of a session. `session` is the state of the session after
/// these events.
pub(super) fn rows_of(events: &[Event], session: &Session) -> Rows {
    let mut rows = Rows::default();
    for event in events {
        let event::Fact::Session(fact) = &event.fact else { continue };
        match fact {
            session::Fact::GrantAdded { grant, .. } | session::Fact::GrantRevoked { grant } => {
                rows.grants.extend(session.grant_row(grant));
            }
            session::Fact::Said { .. }
            | session::Fact::ChangesUndone { .. }
            | session::Fact::UndoStarted { .. }
            | session::Fact::UndoEnded { .. }
            | session::Fact::RefusalAdded { .. }
            | session::Fact::RefusalRevoked { .. } => {}
            session::Fact::SessionOpened { .. }
            | session::Fact::FrontTaken { .. }
            | session::Fact::SessionSuspended
            | session::Fact::SessionResumed
            | session::Fact::SessionClosed { .. } => rows.session = session.row(),
        }
    }
    rows
}
