//! Who asks, and what they may do. An extractor: a handler without one has nothing to work with.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use holdshort_core::actor::{Actor, Role};
use holdshort_core::definition::EXTERNAL;
use holdshort_core::id::{InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::{InterruptRow, RunRow};
use holdshort_protocol::{Code, header};
use holdshort_store::{Journal, RunFilter};

use crate::app::App;
use crate::problem::{Answer, Refused};

/// The router's state. Opens to whoever has a token.
#[derive(Clone)]
pub(crate) struct Door(Arc<App>);

impl Door {
    pub(crate) fn new(app: Arc<App>) -> Self {
        Self(app)
    }

    /// Whether requests can be served: all that is told to anyone.
    pub(crate) async fn ready(&self) -> Answer<()> {
        if *self.0.stopping.borrow() {
            return Err(Refused::of(Code::Stopping));
        }
        self.0.journal().next_deadline().await?;
        Ok(())
    }
}

/// Somebody with a token, of whatever role.
pub(crate) struct Caller {
    pub(crate) app: Arc<App>,
    pub(crate) actor: Actor,
}

/// Somebody with the operator's token.
pub(crate) struct Operator {
    pub(crate) app: Arc<App>,
    pub(crate) actor: Actor,
}

impl FromRequestParts<Door> for Caller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Answer<Self> {
        let app = door.0.clone();
        let role = bearer(&parts.headers).and_then(|token| app.tokens.role_of(token));
        let via = via(&parts.headers);
        let actor = match role {
            Some(Role::Operator) => Actor::operator(via),
            Some(Role::Agent) => Actor::agent("agent", via),
            Some(Role::Engine) | None => return Err(Refused::of(Code::Unauthenticated)),
        };
        Ok(Self { app, actor })
    }
}

impl FromRequestParts<Door> for Operator {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Answer<Self> {
        let caller = Caller::from_request_parts(parts, door).await?;
        caller.require_operator()?;
        Ok(Self { app: caller.app, actor: caller.actor })
    }
}

impl Caller {
    pub(crate) fn is_operator(&self) -> bool {
        self.actor.role == Role::Operator
    }

    pub(crate) fn require_operator(&self) -> Answer<()> {
        if self.is_operator() { Ok(()) } else { Err(Refused::of(Code::ForbiddenRole)) }
    }

    /// A run that the caller may see.
    pub(crate) async fn run(&self, id: &RunId) -> Answer<RunRow> {
        let row = self.app.run_row(id).await?;
        if self.may_see(&row).await? { Ok(row) } else { Err(others()) }
    }

    /// An interrupt that the caller may see.
    pub(crate) async fn interrupt(&self, id: &InterruptId) -> Answer<InterruptRow> {
        let row = self.app.interrupt_row(id).await?;
        if !self.is_operator() {
            self.run(&row.run).await?;
        }
        Ok(row)
    }

    /// The session that a body names. An agent names one that it has a run in; any other is as unknown to it as
    /// one that is malformed or not there.
    pub(crate) async fn session(&self, text: Option<&str>) -> Answer<Option<SessionId>> {
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
    pub(crate) async fn may_see(&self, row: &RunRow) -> Answer<bool> {
        if self.is_operator() {
            return Ok(true);
        }
        if row.workflow != EXTERNAL {
            return Ok(false);
        }
        let first = self.app.event(&StreamId::Run(row.run.clone()), 1).await?;
        Ok(first.actor.role == self.actor.role && first.actor.id == self.actor.id)
    }
}

fn others() -> Refused {
    Refused::new(
        Code::ForbiddenRole,
        "an agent reads and ends the runs that it started itself, and no others",
    )
}

/// Exactly one header of exactly this form; never a cookie, never a query parameter.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

/// What a client calls itself counts only if it is one of ours.
fn via(headers: &HeaderMap) -> &'static str {
    match headers.get(header::VIA).map(axum::http::HeaderValue::as_bytes) {
        Some(b"cli") => "cli",
        Some(_) | None => "rest",
    }
}
