//! Sessions: conversations with a person. A session has a state, and contains the grants and refusals that apply to all
//! its runs. If a run is started without a session, a session is created for it. Such a session is open and has no
//! events.

mod fact;
mod front;
mod memory;
mod rows;
mod state;
mod undone;

use serde_json::{Value, json};

pub use fact::Fact;
pub use front::Front;
pub(crate) use memory::Granters;
pub use state::{End, Opened, RowSpan, State};
pub use undone::{Undone, continuation};

use crate::actor::{Actor, Role};
use crate::envelope::Content;
use crate::event::{self, Event};
use crate::gate::{Grant, Refusal};
use crate::id::{GrantId, InterruptId, RunId, SessionId, StreamId};
use crate::json;
use crate::limits;
use crate::rights::{self, Extent, Permission};
use crate::schema::Problem;
use crate::shared::{SharedList, SharedMap};
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    pub id: SessionId,
    pub seq: u64,
    pub last_at: Timestamp,
    pub grants: SharedMap<GrantId, Grant>,
    pub refusals: SharedMap<InterruptId, Refusal>,
    pub state: State,
    pub front: Front,
    /// Number of messages in the conversation of the session.
    pub said: u64,
    /// Changes in the session that a person undid, the oldest first.
    pub undone: SharedList<Undone>,
    /// Undo runs that have not ended. The key is the run whose changes are being undone.
    pub open_undos: SharedMap<RunId, RunId>,
    /// Settings with which the session was opened. `None` if the session was created by the start of a run.
    pub opened: Option<Opened>,
    /// First and last event that changed the state of the session. `None` if no event has changed the state.
    pub changed: Option<RowSpan>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Revoke {
        grant: GrantId,
    },
    RevokeRefusal {
        interrupt: InterruptId,
    },
    Open(Open),
    /// Makes `runs` the earlier runs of the conversation. An earlier version of Holdshort started these runs. Has no
    /// effect if the conversation already has a run.
    Continue {
        runs: Vec<RunId>,
    },
    Suspend,
    Resume,
    /// Closes the session. A person closes a session with [`End::Completed`]. If the session was idle for `idle_ms`,
    /// the engine closes it with [`End::Expired`].
    Close {
        reason: End,
    },
}

/// Settings of a new session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Open {
    pub workflow: Option<String>,
    /// Idle time in milliseconds after which the session expires. The minimum is 1, the maximum is
    /// [`limits::SESSION_IDLE_MS`].
    pub idle_ms: Option<u64>,
    pub name: Option<String>,
    /// Configuration for the session's runs, as the creator of the session sent it. Null if the creator sent no
    /// configuration.
    pub config: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("only an admin or an operator may change this session")]
    Role,
    #[error("the session has no grant with this id")]
    UnknownGrant,
    #[error("the session has no refusal with this id")]
    UnknownRefusal,
    #[error("this session already exists")]
    AlreadyThere,
    #[error("the session is closed ({})", .0.as_str())]
    Closed(End),
    /// The session cannot expire, or has not been idle long enough.
    #[error("the session has not been idle for long enough")]
    NotIdle,
    #[error("the request is not valid")]
    Invalid(Vec<Problem>),
    #[error("the limit `{name}` of {limit} is reached")]
    Limit { name: &'static str, limit: u64 },
}

impl Session {
    pub fn new(id: SessionId) -> Self {
        Self {
            id,
            seq: 0,
            last_at: Timestamp::from_millis(0),
            grants: SharedMap::new_sync(),
            refusals: SharedMap::new_sync(),
            state: State::Open,
            front: Front::default(),
            said: 0,
            undone: SharedList::new_sync(),
            open_undos: SharedMap::new_sync(),
            opened: None,
            changed: None,
        }
    }

    /// Returns the events that follow from an input. A repeated input causes no event. Exception: `Open` causes an
    /// event each time, because each opening creates a new id.
    pub fn handle(&self, now: Timestamp, actor: &Actor, input: Input) -> Result<Vec<Event>, Rejection> {
        let may = |permission| rights::extent(actor.role, permission) == Extent::All;
        let may = match input {
            Input::Close { reason: End::Expired } => actor.role == Role::Engine,
            Input::Open(_) | Input::Continue { .. } | Input::Suspend | Input::Close { .. } => {
                may(Permission::Steer)
            }
            Input::Resume | Input::Revoke { .. } | Input::RevokeRefusal { .. } => may(Permission::Halt),
        };
        if !may {
            return Err(Rejection::Role);
        }
        match input {
            Input::Revoke { grant } => {
                let standing = self.grants.get(&grant).ok_or(Rejection::UnknownGrant)?;
                if standing.revoked_at.is_some() {
                    return Ok(Vec::new());
                }
                Ok(vec![self.event(now, actor, Fact::GrantRevoked { grant })])
            }
            Input::RevokeRefusal { interrupt } => {
                let standing = self.refusals.get(&interrupt).ok_or(Rejection::UnknownRefusal)?;
                if standing.revoked_at.is_some() {
                    return Ok(Vec::new());
                }
                Ok(vec![self.event(now, actor, Fact::RefusalRevoked { interrupt })])
            }
            Input::Open(open) => {
                if self.seq > 0 {
                    return Err(Rejection::AlreadyThere);
                }
                let content = open.content()?;
                let fact = Fact::SessionOpened { workflow: open.workflow, idle_ms: open.idle_ms };
                Ok(vec![Event { content, ..self.event(now, actor, fact) }])
            }
            Input::Continue { runs } if self.front.runs.is_empty() => {
                if runs.len() > limits::FRONT_RUNS {
                    return Err(Rejection::Limit { name: "front_runs", limit: limits::FRONT_RUNS as u64 });
                }
                let taken = runs.into_iter().map(|run| Fact::FrontTaken { run, agent: None });
                Ok(taken.map(|fact| self.event(now, actor, fact)).collect())
            }
            Input::Continue { .. } => Ok(Vec::new()),
            Input::Suspend => match self.state {
                State::Open => Ok(vec![self.event(now, actor, Fact::SessionSuspended)]),
                State::Suspended => Ok(Vec::new()),
                State::Closed(end) => Err(Rejection::Closed(end)),
            },
            Input::Resume => match self.state {
                State::Open => Ok(Vec::new()),
                State::Suspended => Ok(vec![self.event(now, actor, Fact::SessionResumed)]),
                State::Closed(end) => Err(Rejection::Closed(end)),
            },
            Input::Close { reason } => match self.state {
                State::Closed(end) if end == reason => Ok(Vec::new()),
                State::Closed(end) => Err(Rejection::Closed(end)),
                State::Open | State::Suspended => {
                    if reason == End::Expired && self.idle_at().is_none_or(|at| now < at) {
                        return Err(Rejection::NotIdle);
                    }
                    Ok(vec![self.event(now, actor, Fact::SessionClosed { reason })])
                }
            },
        }
    }

    /// Builds an event of this session, without applying the event to the session.
    pub fn event(&self, now: Timestamp, actor: &Actor, fact: Fact) -> Event {
        Event {
            stream: StreamId::Session(self.id.clone()),
            at: now.max(self.last_at),
            actor: actor.clone(),
            fact: event::Fact::Session(fact),
            content: Content::none(),
        }
    }

    /// Applies an event to the state of the session. Ignores events of other streams.
    pub fn apply(&mut self, event: &Event) {
        let event::Fact::Session(fact) = &event.fact else { return };
        let (at, actor) = (event.at, &event.actor);
        self.seq += 1;
        self.last_at = at;
        match fact {
            Fact::GrantAdded { grant, matcher, run, interrupt, expires_at } => {
                self.grants.insert_mut(
                    grant.clone(),
                    Grant {
                        id: grant.clone(),
                        matcher: matcher.clone(),
                        owner: actor.id.clone(),
                        let_in_by: actor.let_in_by.clone(),
                        run: run.clone(),
                        interrupt: interrupt.clone(),
                        added_at: at,
                        added_seq: self.seq,
                        expires_at: *expires_at,
                        revoked_at: None,
                    },
                );
            }
            Fact::GrantRevoked { grant } => {
                if let Some(grant) = self.grants.get_mut(grant) {
                    grant.revoked_at = Some(at);
                }
            }
            Fact::RefusalAdded { interrupt, run, call } => {
                let refusal = Refusal {
                    interrupt: interrupt.clone(),
                    run: run.clone(),
                    call: call.clone(),
                    words: event.content.text.clone(),
                    by: actor.id.clone(),
                    at,
                    seq: self.seq,
                    revoked_at: None,
                };
                self.refusals.insert_mut(interrupt.clone(), refusal);
            }
            Fact::RefusalRevoked { interrupt } => {
                if let Some(refusal) = self.refusals.get_mut(interrupt) {
                    refusal.revoked_at = Some(at);
                }
            }
            Fact::SessionOpened { workflow, idle_ms } => {
                self.opened = Some(Opened { workflow: workflow.clone(), idle_ms: *idle_ms });
                self.change(State::Open, at);
            }
            Fact::FrontTaken { run, agent } => {
                self.front.runs.push_back_mut(run.clone());
                if agent.is_some() {
                    self.front.agent.clone_from(agent);
                }
                self.change(self.state, at);
            }
            Fact::Said { .. } => self.said += 1,
            Fact::ChangesUndone { run, by } => self.take_back(run, by, event.content.as_text()),
            Fact::UndoStarted { run, by } => self.open_undos.insert_mut(run.clone(), by.clone()),
            Fact::UndoEnded { run, .. } => {
                self.open_undos.remove_mut(run);
            }
            Fact::SessionSuspended => self.change(State::Suspended, at),
            Fact::SessionResumed => self.change(State::Open, at),
            Fact::SessionClosed { reason } => self.change(State::Closed(*reason), at),
        }
    }

    fn change(&mut self, state: State, at: Timestamp) {
        self.state = state;
        let first_at = self.changed.map_or(at, |changed| changed.first_at);
        self.changed = Some(RowSpan { first_at, last_at: at, last_seq: self.seq });
    }

    /// Returns the time at which the session expires, computed only from the session's own events. Runs of the session
    /// may have been active later, and then the session expires later.
    fn idle_at(&self) -> Option<Timestamp> {
        let idle_ms = self.opened.as_ref()?.idle_ms?;
        Some(self.changed?.last_at.plus_ms(idle_ms))
    }

    /// Returns true if the session closes automatically after it was idle for some time.
    pub fn expires(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.idle_ms.is_some())
    }

    /// Returns the front run: the latest run that was started by a message. The front run may have ended.
    pub fn front_run(&self) -> Option<&RunId> {
        self.front.runs.last()
    }

    /// Returns the earlier front runs, which came before `run`, the newest first.
    pub fn front_before<'s>(&'s self, run: &'s RunId) -> impl Iterator<Item = &'s RunId> {
        let newer = self.front.runs.iter().rev().position(|each| each == run).map_or(0, |at| at + 1);
        self.front.runs.iter().rev().skip(newer)
    }

    fn take_back(&mut self, of: &RunId, by: &RunId, text: &str) {
        let front = self.front_run().cloned();
        let undone = Undone { of: of.clone(), by: by.clone(), front, text: text.into() };
        self.undone.push_back_mut(undone);
    }

    /// Returns the undone changes about which the agents of a run must be told. These are changes that the run made,
    /// and changes that were undone while the run was the front run.
    pub fn undone_for<'s>(&'s self, run: &'s RunId) -> impl Iterator<Item = &'s Undone> {
        self.undone.iter().filter(move |undone| undone.front.as_ref() == Some(run) || undone.of == *run)
    }

    /// Returns the run whose changes the undo run `by` reverts, if `by` has not ended.
    pub(crate) fn undone_by(&self, by: &RunId) -> Option<&RunId> {
        self.open_undos.iter().find(|(_, undo)| *undo == by).map(|(of, _)| of)
    }

    /// Returns the grants that are neither expired nor revoked.
    pub fn active_grants(&self, now: Timestamp) -> impl Iterator<Item = &Grant> {
        self.grants.values().filter(move |grant| grant.is_active(now))
    }

    /// Returns the refusals that still apply, because they are not revoked.
    pub fn standing_refusals(&self) -> impl Iterator<Item = &Refusal> {
        self.refusals.values().filter(|refusal| refusal.revoked_at.is_none())
    }
}

impl Open {
    /// Returns the content of the event `session_opened`. If the settings are invalid, returns their problems.
    fn content(&self) -> Result<Content, Rejection> {
        let mut problems = Vec::new();
        if self.idle_ms.is_some_and(|ms| ms == 0 || ms > limits::SESSION_IDLE_MS) {
            let message = format!("is not between 1 and {}", limits::SESSION_IDLE_MS);
            problems.push(Problem::new("/expires_when_idle_ms", message));
        }
        if self.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            problems.push(Problem::new("/name", "is empty"));
        }
        if self.name.as_ref().is_some_and(|name| name.len() > limits::TITLE_BYTES) {
            problems.push(Problem::new("/name", format!("is longer than {} bytes", limits::TITLE_BYTES)));
        }
        if let Some(problem) = json::unsafe_part(&self.config) {
            problems.push(Problem::new("/config", format!("holds a value that cannot be stored: {problem}")));
        }
        if serde_json::to_string(&self.config).map_or(0, |text| text.len()) > limits::INPUT_BYTES {
            problems.push(Problem::new("/config", format!("is larger than {} bytes", limits::INPUT_BYTES)));
        }
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        let mut data = serde_json::Map::new();
        data.extend(self.name.iter().map(|name| ("name".to_owned(), json!(name))));
        if !self.config.is_null() {
            data.insert("config".to_owned(), self.config.clone());
        }
        Ok(if data.is_empty() { Content::none() } else { Content::data(Value::Object(data)) })
    }
}
