//! Who asks, and what they may do. An extractor: a handler without one has nothing to work with.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use holdshort_core::actor::{Actor, Role};
use holdshort_core::definition::EXTERNAL;
use holdshort_core::id::{InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::{InterruptRow, RunRow};
use holdshort_core::run::Run;
use holdshort_protocol::{Code, Interrupt, header};
use holdshort_store::{Journal, RunFilter};

use crate::app::{App, blocking};
use crate::logins::Issued;
use crate::pace::Pace;
use crate::problem::{Answer, Refused};
use crate::{connections, links, view};

/// The router's state. Opens to whoever has a token.
#[derive(Clone)]
pub struct AuthState(Arc<App>);

impl AuthState {
    pub fn new(app: Arc<App>) -> Self {
        Self(app)
    }

    /// Whether requests can be served: all that is told to anyone.
    pub async fn ready(&self) -> Answer<()> {
        if *self.0.stopping.borrow() {
            return Err(Refused::of(Code::Stopping));
        }
        if !self.0.journal().is_alive() {
            return Err(Refused::of(Code::StoreFailed));
        }
        self.0.journal().next_deadline().await?;
        Ok(())
    }

    /// How long clients are waited for.
    pub fn pace(&self) -> Pace {
        self.0.pace
    }

    /// Resolves when the server stops.
    pub async fn stopped(&self) {
        self.0.stopped().await;
    }

    /// Lets somebody in. The headers are those of the request, or of the one that a WebSocket began with.
    pub fn caller(&self, headers: &HeaderMap, given: &Credentials<'_>) -> Answer<Caller> {
        let app = self.0.clone();
        let actor = match given {
            Credentials::Token(token) => match app.tokens.role_of(token) {
                Some(Role::Operator) => Some(Actor::operator(via(headers))),
                Some(Role::Agent) => Some(Actor::agent("agent", via(headers))),
                Some(Role::Engine) | None => None,
            },
            Credentials::Secret(secret) => {
                app.logins.find(headers, secret, app.now()).map(|_| Actor::operator("web"))
            }
        };
        let actor = actor.ok_or_else(|| Refused::of(Code::Unauthenticated))?;
        authenticated(actor.role)?;
        let caller = Caller { app, actor };
        caller.charge()?;
        Ok(caller)
    }

    /// Lets somebody in with the token of a decision link. Of one that we did not seal nothing is told.
    pub async fn holder(&self, token: &str) -> Answer<Holder> {
        let app = self.0.clone();
        let claim = app.links.claim(token).ok_or_else(|| {
            let rule = "this link is not whole or was never given out; `holdshort link ID` makes another";
            Refused::new(Code::NotFound, rule)
        })?;
        // The seal is ours: whoever shows it was given the link.
        authenticated(Role::Operator)?;
        if claim.expires_at <= app.now() {
            return Err(Refused::of(Code::LinkExpired));
        }
        let row = app.interrupt_row(&claim.interrupt).await?;
        let interrupt = view::interrupt::of_row(&app, &row).await?;
        if links::subject(&interrupt) != claim.subject {
            return Err(Refused::new(Code::LinkExpired, "what it was made for is no longer what is asked"));
        }
        let actor = Actor { id: claim.person, ..Actor::operator("link") };
        Ok(Holder { app, actor, row, interrupt })
    }

    /// Signs a browser in with a code.
    pub async fn redeem(&self, code: String) -> Answer<Issued> {
        let app = self.0.clone();
        let issued = blocking(move || app.logins.redeem(&code, app.now())).await?;
        issued.ok_or_else(|| Refused::of(Code::LoginCodeSpent))
    }
}

/// Somebody with a decision link: sees one interrupt and decides on it, and nothing else.
pub struct Holder {
    pub app: Arc<App>,
    pub actor: Actor,
    pub row: InterruptRow,
    pub interrupt: Interrupt,
}

/// What somebody shows to be let in: never a cookie alone, never a query parameter.
pub enum Credentials<'a> {
    /// One of the two tokens.
    Token(&'a str),
    /// The secret of a browser's login. It counts beside the cookie of the request.
    Secret(&'a str),
}

/// Somebody with a token or a login, of whatever role.
#[derive(Clone)]
pub struct Caller {
    pub app: Arc<App>,
    pub actor: Actor,
}

/// Somebody who is let in as the operator.
pub struct Operator {
    pub app: Arc<App>,
    pub actor: Actor,
}

impl FromRequestParts<AuthState> for Caller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, door: &AuthState) -> Answer<Self> {
        door.caller(&parts.headers, &Credentials::of(&parts.headers)?)
    }
}

impl FromRequestParts<AuthState> for Operator {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, door: &AuthState) -> Answer<Self> {
        Caller::from_request_parts(parts, door).await?.operator()
    }
}

impl Caller {
    /// Counts a request of an agent, or a frame of its socket, against the rate of all agents. People have none.
    pub fn charge(&self) -> Answer<()> {
        let is_free = self.actor.role != Role::Agent;
        if is_free || self.app.agents.admits(Instant::now()) {
            Ok(())
        } else {
            Err(Refused::of(Code::TooManyRequests))
        }
    }

    pub fn is_operator(&self) -> bool {
        self.actor.role == Role::Operator
    }

    pub fn require_operator(&self) -> Answer<()> {
        if self.is_operator() { Ok(()) } else { Err(Refused::of(Code::ForbiddenRole)) }
    }

    pub fn operator(self) -> Answer<Operator> {
        self.require_operator()?;
        Ok(Operator { app: self.app, actor: self.actor })
    }

    /// A run that the caller may see.
    pub async fn run(&self, id: &RunId) -> Answer<RunRow> {
        let row = self.app.run_row(id).await?;
        if self.may_see(&row).await? { Ok(row) } else { Err(others()) }
    }

    /// An interrupt that the caller may see.
    pub async fn interrupt(&self, id: &InterruptId) -> Answer<InterruptRow> {
        let row = self.app.interrupt_row(id).await?;
        let may_see = match self.app.driver.glance(&row.run) {
            Some(run) => self.may_see_run(&run),
            None => self.may_see(&self.app.run_row(&row.run).await?).await?,
        };
        if may_see { Ok(row) } else { Err(others()) }
    }

    /// The session that a body names. An agent names one that it has a run in; any other is as unknown to it as
    /// one that is malformed or not there.
    pub async fn session(&self, text: Option<&str>) -> Answer<Option<SessionId>> {
        const LOOKED_AT: usize = 100;
        let Some(text) = text else { return Ok(None) };
        let id: SessionId = text.parse().map_err(|_| Refused::of(Code::UnknownSession))?;
        if self.is_operator() {
            return Ok(Some(id));
        }
        let filter = RunFilter { session: Some(id.clone()), ..RunFilter::default() };
        for row in self.app.journal().runs(&filter, None, LOOKED_AT).await?.items {
            if self.may_see(&row).await? {
                return Ok(Some(id));
            }
        }
        Err(Refused::of(Code::UnknownSession))
    }

    /// An agent sees the runs that it started itself, and no run of ours.
    pub async fn may_see(&self, row: &RunRow) -> Answer<bool> {
        Ok(self.is_operator() || owner(&self.app, row).await?.is_some_and(|owner| self.is(&owner)))
    }

    /// The same of a run that is loaded.
    fn may_see_run(&self, run: &Run) -> bool {
        let own = || run.started.as_ref().is_some_and(|started| self.is(&started.by));
        self.is_operator() || (run.definition.name == EXTERNAL && own())
    }

    pub fn is(&self, actor: &Actor) -> bool {
        actor.role == self.actor.role && actor.id == self.actor.id
    }
}

/// Who may see a run beside the operator: whoever started it, where it is none of ours. Never changes.
pub async fn owner(app: &App, row: &RunRow) -> Answer<Option<Actor>> {
    if row.workflow != EXTERNAL {
        return Ok(None);
    }
    let first = app.event(&StreamId::Run(row.run.clone()), 1).await?;
    Ok(Some(first.actor))
}

/// The client of the connection that is being served has said who it is: it counts among the unauthenticated no more.
fn authenticated(role: Role) -> Answer<()> {
    let Some(connection) = connections::current() else { return Ok(()) };
    if role != Role::Agent {
        connection.is_a_persons();
    } else if !connection.is_an_agents() {
        return Err(Refused::of(Code::TooManyConnections));
    }
    Ok(())
}

fn others() -> Refused {
    Refused::new(
        Code::ForbiddenRole,
        "an agent reads and ends the runs that it started itself, and no others",
    )
}

impl<'a> Credentials<'a> {
    /// Those in the headers of a request: one of the two, once.
    pub fn of(headers: &'a HeaderMap) -> Answer<Self> {
        let given = match (headers.contains_key(AUTHORIZATION), headers.contains_key(header::SECRET)) {
            (true, true) => {
                let rule = "Authorization and X-Holdshort-Secret: send one of them";
                return Err(Refused::new(Code::InvalidHeader, rule));
            }
            (true, false) => only(headers, AUTHORIZATION.as_str()).and_then(bearer).map(Self::Token),
            (false, true) => only(headers, header::SECRET).map(Self::Secret),
            (false, false) => None,
        };
        given.ok_or_else(|| Refused::of(Code::Unauthenticated))
    }
}

/// The value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    value.to_str().ok()
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

/// What a client calls itself counts only if it is one of ours.
fn via(headers: &HeaderMap) -> &'static str {
    match headers.get(header::VIA).map(axum::http::HeaderValue::as_bytes) {
        Some(b"cli") => "cli",
        Some(_) | None => "rest",
    }
}
