//! Extractors that authenticate a caller and check that one of the caller's roles has the permission of the route.
//!
//! A handler receives its state only from such an extractor. Without an extractor, it has no access to data.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use holdshort_core::actor::{Actor, Role};
use holdshort_core::definition::EXTERNAL;
use holdshort_core::digest::Digest;
use holdshort_core::id::{InterruptId, RunId, SessionId, StreamId};
use holdshort_core::people::Since;
use holdshort_core::projection::RunRow;
use holdshort_core::rights::{self, Extent, Permission};
use holdshort_core::system::keys::Status;
use holdshort_core::time::Timestamp;
use holdshort_engine::IdempotencyKey;
use holdshort_protocol::{Code, Interrupt, header};
use holdshort_store::{RunFilter, Tables};

use crate::access::{self, Access};
use crate::app::{App, blocking};
use crate::edge_page::EdgePage;
use crate::identity::Principal;
use crate::interrupt_ref::{InterruptRef, takes_part};
use crate::links::Press;
use crate::logins::{Issued, Login, is_over};
use crate::needs::Needs;
use crate::pace::Pace;
use crate::problem::{Answer, Refused};
use crate::route_limit::{Arrival, RouteLimit};
use crate::view::assignment::Reader;
use crate::{connections, view};

/// State of the router. Extractors give access to the [`App`] in this state only to authenticated callers.
#[derive(Clone)]
pub struct AuthState(Arc<App>);

impl AuthState {
    pub fn new(app: Arc<App>) -> Self {
        Self(app)
    }

    /// Checks that the server can read and write its journal. The caller of the endpoint is not authenticated, so the
    /// error message must contain nothing confidential.
    pub async fn ready(&self) -> Answer<()> {
        if *self.0.stopping.borrow() {
            return Err(Refused::from_code(Code::Stopping));
        }
        if !self.0.journal().is_alive() {
            return Err(Refused::from_code(Code::StoreFailed));
        }
        self.0.journal().next_deadline().await?;
        self.0.journal().writable().await.map_err(|why| Refused::new(Code::StoreFailed, why))?;
        // The database may contain events of a newer server. This server continues until it meets an event that it
        // cannot read.
        if let Some(version) = self.0.journal().newer().filter(|_| self.0.driver.has_unreadable()) {
            let why = format!(
                "a newer server upgraded the database to version {version} and wrote data that this server \
                 cannot read: update this server"
            );
            return Err(Refused::new(Code::Outdated, why));
        }
        Ok(())
    }

    pub(crate) fn app(&self) -> &Arc<App> {
        &self.0
    }

    /// Returns the time limits of the server for slow and silent clients.
    pub fn pace(&self) -> Pace {
        self.0.pace
    }

    /// Resolves when the server stops.
    pub async fn stopped(&self) {
        self.0.stopped().await;
    }

    /// Authenticates the caller of a request. For a WebSocket, `headers` are those of the opening request.
    pub async fn authenticate(&self, headers: &HeaderMap, given: &Credentials<'_>) -> Answer<Authenticated> {
        let app = self.0.clone();
        let (found, via) = match given {
            Credentials::Token(token) => (by_token(&app, token).await?, via(headers)),
            Credentials::Secret(secret) => {
                let login = app.logins.find(headers, secret, app.now());
                let found = match login {
                    Some(login) => access::by_login(&app, login).await?,
                    None => None,
                };
                (found, "web")
            }
        };
        Authenticated::admit(app, found, via)
    }

    /// Authenticates a person by the cookie of an edge's page, which is a page of another system that uses one
    /// compatible API of this server. The person acts as an operator. Must be called only on the routes of this edge.
    /// Rejects a request that the page did not send. If the login has ended, the error contains the URL for a new
    /// sign-in.
    pub async fn authenticate_page(&self, headers: &HeaderMap) -> Answer<Authenticated> {
        let app = self.0.clone();
        let Some(page) = app.page.as_ref().filter(|page| page.sent(headers)) else {
            return Err(Refused::from_code(Code::WrongOrigin));
        };
        let found = match app.logins.find_page(headers, app.now()) {
            Some(login) => access::by_login(&app, login).await?,
            None => None,
        };
        let Some((mut principal, access)) = found else {
            let why = format!("this browser is no longer signed in: sign in at {}", page.sign_in_url());
            return Err(Refused::new(Code::Unauthenticated, why));
        };
        principal.roles.retain(|role| *role == Role::Operator);
        Authenticated::admit(app, Some((principal, access)), "web")
    }

    /// Authenticates the bearer of a decision link. For a token that this server did not create, the error does not say
    /// which part of the token is wrong.
    pub async fn authenticate_link(&self, token: &str) -> Answer<LinkBearer> {
        let app = self.0.clone();
        let claim = app.links.claim(token).ok_or_else(|| {
            let rule = "this link is incomplete or was never issued; create a link with `holdshort link ID`";
            Refused::new(Code::NotFound, rule)
        })?;
        // The token's HMAC is valid, so the link was created by this server.
        authenticated(true)?;
        let once = claim.once();
        if let Some(key) = &once
            && app.is_used(key).await?
        {
            let why = "this link was already used; sign in to see the request";
            // A link that was already used still shows the outcome of its interrupt.
            let row = app.interrupt_row(&claim.interrupt).await?;
            if row.open {
                return Err(Refused::new(Code::LinkExpired, why));
            }
        }
        if claim.expires_at <= app.now() {
            return Err(Refused::from_code(Code::LinkExpired));
        }
        if let Some(key) = &claim.key {
            let system = app.driver.system().await?;
            if system.keys.get(key).is_none_or(|key| key.status(app.now()) != Status::Live) {
                return Err(Refused::new(
                    Code::LinkExpired,
                    "the key that created the link has expired or was revoked",
                ));
            }
        }
        let since = claim.since();
        if let Some((there, since)) = claim.there.as_ref().zip(since)
            && is_over(&*app.driver.system().await?, &claim.person, since, there)
        {
            return Err(Refused::new(
                Code::LinkExpired,
                "the recipient of the link was removed or has signed out, so the link no longer works: sign \
                in to decide",
            ));
        }
        let via = match (&once, &claim.there) {
            (Some(_), _) => "email",
            (None, Some(_)) => "web",
            (None, None) => "link",
        };
        let shown = ShownInterrupt { interrupt: claim.interrupt, subject: claim.subject };
        let mut holder = self.authorize_decider((claim.person, claim.let_in_by), &shown, via, since).await?;
        // A mailed link is rejected if the interrupt has become risky, because risky interrupts must be decided after
        // a sign-in.
        if once.is_some() && holder.interrupt.risk.level.is_risky() {
            return Err(Refused::new(Code::LinkExpired, "the risk is high: sign in to decide"));
        }
        if let Some(option) = &claim.option {
            holder.interrupt.options.retain(|offered| offered.id == *option);
        }
        Ok(LinkBearer { once, option: claim.option, ..holder })
    }

    /// Authenticates a person by the address of this person at a channel, such as `U0123` at `slack`. The decision is
    /// accepted only if the content is the same as the channel showed. The caller must first verify the channel's
    /// signature, because the address comes from the channel.
    pub async fn by_address(
        &self,
        channel: &str,
        address: &str,
        shown: &ShownInterrupt,
    ) -> Answer<LinkBearer> {
        let system = self.0.driver.system().await?;
        let mut found = system
            .people
            .iter()
            .filter(|(_, person)| person.addresses.get(channel).is_some_and(|known| known == address));
        let Some((id, _)) = found.next() else {
            let why = format!(
                "no person has the address `{address}` on the channel `{channel}`: ask an admin to assign \
                the address with `holdshort people set ID --address {channel}={address}`"
            );
            return Err(Refused::new(Code::ForbiddenRole, why));
        };
        if found.next().is_some() {
            let why = format!(
                "several people have the address `{address}` on the channel `{channel}`: ask an admin to \
                remove it from all but one"
            );
            return Err(Refused::new(Code::ForbiddenRole, why));
        }
        self.authorize_decider((id.to_owned(), None), shown, channel, None).await
    }

    /// Checks that a person who uses a decision link or a channel is allowed to decide on one interrupt. `let_in_by` is
    /// the person who created the login link of the deciding person, if somebody else did. `since` is the time at which
    /// the decision link was created.
    async fn authorize_decider(
        &self,
        (person, let_in_by): (String, Option<String>),
        shown: &ShownInterrupt,
        via: &str,
        since: Option<Since>,
    ) -> Answer<LinkBearer> {
        let app = self.0.clone();
        let asked = app.find_interrupt(&shown.interrupt).await?;
        let people = &app.driver.system().await?.people;
        let roles = people.roles(&person);
        let role = rights::acting(&roles, Permission::Decide);
        // A person who was removed and added again needs new links.
        let has_left = since.is_some_and(|since| people.has_left(&person, since));
        let Some(role) = role.filter(|_| !people.is_barred(&person) && !has_left) else {
            return Err(Refused::new(
                Code::LinkExpired,
                "the owner of the link is no longer allowed to decide",
            ));
        };
        let actor = Actor { id: person, role, via: Some(via.to_owned()), let_in_by };
        // As in the API: a person without the right to read everything sees only interrupts that are currently assigned
        // to them.
        let reads =
            rights::acting(&roles, Permission::Read).map(|role| rights::extent(role, Permission::Read));
        if reads != Some(Extent::All) && !asked.can_take_part(&app, &actor).await? {
            return Err(Refused::new(Code::LinkExpired, "you are not an approver of this interrupt"));
        }
        let interrupt = view::now::interrupt(&app, &asked, &Reader::for_actor(&app, &actor).await?).await?;
        if view::interrupt::subject_digest(&app, &asked).await? != shown.subject {
            return Err(Refused::new(
                Code::LinkExpired,
                "the request has changed since the link was created",
            ));
        }
        Ok(LinkBearer { app, actor, asked, interrupt, once: None, option: None })
    }

    /// Returns the action of a chat message's button. Returns `None` if this server did not create the button's
    /// `value`.
    pub fn press(&self, value: &str) -> Option<Press> {
        self.0.pressed.press(value)
    }

    /// Returns the URL of the page on which a person who has signed in decides on an interrupt.
    pub fn inbox(&self, interrupt: &InterruptId) -> String {
        format!("{}/inbox/{interrupt}", self.0.base)
    }

    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// Counts a decision that a person made over a channel or with a link. The decision is counted against the rate
    /// limit of the person who decides.
    pub fn count_decision(&self, actor: &Actor) -> Answer<()> {
        self.0.allowances.count_decision(&actor.id, None)
    }

    /// Returns the URL at which people sign in to the page of another system that uses an edge with a cookie. Returns
    /// `None` if no such page is configured.
    pub fn page_sign_in(&self) -> Option<String> {
        self.0.page.as_ref().map(EdgePage::sign_in_url)
    }

    /// Returns true if the request contains the cookie of an edge's page, and such a page is configured.
    pub fn has_page_cookie(&self, headers: &HeaderMap) -> bool {
        self.0.page.is_some() && self.0.logins.has_page_cookie(headers)
    }

    /// Exchanges a login code for a login of the page of an edge. Returns the `Set-Cookie` values of this login. Only
    /// an operator can sign in, because the page acts as an operator.
    pub async fn redeem_for_page(&self, headers: &HeaderMap, code: &str) -> Answer<[String; 2]> {
        let app = self.0.clone();
        let page = app.page.clone().ok_or_else(|| Refused::not_found("page"))?;
        if !page.sent(headers) {
            return Err(Refused::from_code(Code::WrongOrigin));
        }
        let system = app.driver.system().await?;
        let spent = || Refused::from_code(Code::LoginCodeSpent);
        // A person with another role can still use the code at this server's own page.
        let person = app.logins.invited(code, &system, app.now()).ok_or_else(spent)?;
        if !system.people.signs_in(&person).contains(&Role::Operator) {
            let why = format!(
                "`{person}` is not an operator, and this page acts as an operator; the link still works at {}",
                app.base
            );
            return Err(Refused::new(Code::ForbiddenRole, why));
        }
        let invited = app.logins.take(code, &[], &system, app.now()).ok_or_else(spent)?;
        blocking(move || app.logins.issue_for_page(&invited, &page, app.now())).await
    }

    /// Exchanges a login code for the login of a browser.
    pub async fn redeem(&self, headers: &HeaderMap, code: String) -> Answer<(Issued, Role)> {
        let app = self.0.clone();
        let began = app.sign_ins.began(headers);
        let system = app.driver.system().await?;
        let known = system.clone();
        let issued = blocking(move || app.logins.redeem(&code, &began, &known, app.now())).await?;
        let issued = issued.ok_or_else(|| Refused::from_code(Code::LoginCodeSpent))?;
        let roles = system.people.signs_in(&issued.person);
        // A person who was removed after the code was created has no role.
        let role = rights::acting(&roles, Permission::Read)
            .ok_or_else(|| Refused::from_code(Code::LoginCodeSpent))?;
        Ok((issued, role))
    }
}

/// Interrupt on which a person was asked to decide, and the digest of the content that the person was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownInterrupt {
    pub interrupt: InterruptId,
    /// Digest of the action or content that the decision is about, from `view::interrupt::subject_digest`.
    pub subject: Digest,
}

/// Person who decides through a decision link or a channel, and who may see and decide only one interrupt.
pub struct LinkBearer {
    pub app: Arc<App>,
    pub actor: Actor,
    pub asked: InterruptRef,
    pub interrupt: Interrupt,
    /// Idempotency key of a mailed decision link, so that the link can be used only once. `None` for any other link.
    pub once: Option<IdempotencyKey>,
    /// The only option that the person can choose with the decision link. `None` if the person can choose any option.
    pub option: Option<String>,
}

/// Credentials of a request, read from its headers. A cookie alone and a query parameter are not accepted, except for
/// [`AuthState::authenticate_page`], which accepts a cookie alone, on one edge.
pub enum Credentials<'a> {
    /// Token of the data folder, secret of an access key, or token of an issuer.
    Token(&'a str),
    /// Secret of a browser's login, which is valid only together with the cookie of this login.
    Secret(&'a str),
}

/// Caller who has authenticated but whose permissions are not checked yet.
pub struct Authenticated {
    app: Arc<App>,
    principal: Arc<Principal>,
    access: Arc<Access>,
    via: String,
}

impl Authenticated {
    /// Accepts the caller who owns the credentials of a request. Counts the request against the limits of the caller.
    fn admit(app: Arc<App>, found: Option<(Principal, Access)>, via: &str) -> Answer<Self> {
        let (principal, access) = found.ok_or_else(|| Refused::from_code(Code::Unauthenticated))?;
        authenticated(principal.is_person())?;
        charge(&app, &principal)?;
        Ok(Self { app, principal: Arc::new(principal), access: Arc::new(access), via: via.to_owned() })
    }

    pub(crate) fn issued(app: &Arc<App>, principal: Principal, access: Access) -> Self {
        Self {
            app: app.clone(),
            principal: Arc::new(principal),
            access: Arc::new(access),
            via: "web".to_owned(),
        }
    }

    /// Returns the permission that the route of the request requires. If each request to the route records a decision,
    /// counts the request against the caller's rate limit for decisions.
    pub fn needed(&self, parts: &Parts) -> Answer<Needs> {
        let needs: Option<Needs> = parts.extensions.get().copied();
        let needs = needs.ok_or_else(|| {
            tracing::error!(path = parts.uri.path(), "a route has no declared permission");
            Refused::from_code(Code::Internal)
        })?;
        if needs.limit == RouteLimit::Decisions {
            let meter = parts.extensions.get::<Arrival>().map(|arrival| &*arrival.meter);
            self.app.allowances.count_decision(&self.principal.id, meter)?;
        }
        Ok(needs)
    }

    /// Authorizes the caller if one of the caller's roles has the needed permission.
    pub fn authorize(self, needs: Needs) -> Answer<Caller> {
        let Self { app, principal, access, via } = self;
        let role = principal.acting(needs.permission);
        let extent = role.and_then(|role| needs.extent(role));
        let (role, extent) = role.zip(extent).ok_or_else(|| Refused::from_code(Code::ForbiddenRole))?;
        Ok(Caller { actor: principal.actor(role, &via), app, principal, access, extent })
    }

    /// Sets the channel that is recorded with the caller's events, such as the name of an edge.
    #[must_use]
    pub fn through(mut self, channel: &str) -> Self {
        channel.clone_into(&mut self.via);
        self
    }
}

/// Authorized caller, with the role that gives the permission and the objects to which the permission applies.
#[derive(Clone)]
pub struct Caller {
    pub app: Arc<App>,
    pub actor: Actor,
    pub principal: Arc<Principal>,
    access: Arc<Access>,
    extent: Extent,
}

/// Authenticated caller who wants to decide on an interrupt. For this caller, an unknown interrupt is reported before a
/// missing permission (design, part 4).
pub struct DecisionCaller {
    known: Authenticated,
    needs: Needs,
}

impl FromRequestParts<AuthState> for Caller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, auth: &AuthState) -> Answer<Self> {
        let DecisionCaller { known, needs } = DecisionCaller::from_request_parts(parts, auth).await?;
        known.authorize(needs)
    }
}

impl FromRequestParts<AuthState> for DecisionCaller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, auth: &AuthState) -> Answer<Self> {
        let known = auth.authenticate(&parts.headers, &Credentials::from_headers(&parts.headers)?).await?;
        let needs = known.needed(parts)?;
        Ok(Self { known, needs })
    }
}

impl DecisionCaller {
    pub async fn interrupt(self, id: &InterruptId) -> Answer<(Caller, InterruptRef)> {
        let asked = self.known.app.find_interrupt(id).await?;
        Ok((self.known.authorize(self.needs)?, asked))
    }
}

impl Caller {
    /// Counts a WebSocket frame of an agent against the rate limits of agents. People have no such limits. Must not be
    /// called for the first frame of a WebSocket, because `authenticate` counts it.
    pub fn charge(&self) -> Answer<()> {
        charge(&self.app, &self.principal)
    }

    /// Counts a decision that was sent over a WebSocket against the rate limit of the caller.
    pub fn count_decision(&self) -> Answer<()> {
        self.app.allowances.count_decision(&self.principal.id, None)
    }

    /// Authorizes the same caller for another permission, `needs`.
    pub fn authorize(&self, needs: Needs) -> Answer<Self> {
        Authenticated {
            app: self.app.clone(),
            principal: self.principal.clone(),
            access: self.access.clone(),
            via: self.actor.via.clone().unwrap_or_default(),
        }
        .authorize(needs)
    }

    /// Returns the login that authenticated the caller; `None` for other credentials.
    pub fn login(&self) -> Option<&Login> {
        if let Access::Login { login, .. } = &*self.access { Some(login) } else { None }
    }

    /// Returns the latest time at which the caller's access ends.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.access.expires_at()
    }

    /// Resolves when the caller's access has ended, for example because a key was revoked. The caller's open sockets,
    /// streams and long polls then end.
    pub async fn ended(&self) {
        access::ended(&self.app, &self.access).await;
    }

    /// Returns the caller as a reader of interrupts, in the role in which the caller would decide.
    pub async fn reader(&self) -> Answer<Reader> {
        let role = self.principal.acting(Permission::Decide).unwrap_or(self.actor.role);
        Reader::for_actor(&self.app, &Actor { role, ..self.actor.clone() }).await
    }

    /// Returns true if the caller's permission applies to all objects.
    pub fn reaches_all(&self) -> bool {
        self.extent == Extent::All
    }

    /// Returns true if the caller's permission applies only to interrupts on which the caller is allowed to decide.
    pub fn reaches_assigned(&self) -> bool {
        matches!(self.extent, Extent::Assigned | Extent::Unassigned)
    }

    /// Returns true if the caller's permission applies only to runs that the caller started.
    pub fn reaches_own(&self) -> bool {
        self.extent == Extent::Own
    }

    /// Checks that the caller is allowed to start runs of a workflow.
    pub fn starts(&self, workflow: &str) -> Answer<()> {
        let may = self.reaches_all() || (self.extent == Extent::Own && workflow == EXTERNAL);
        if may { Ok(()) } else { Err(Refused::from_code(Code::ForbiddenRole)) }
    }

    /// Returns the row of a run in the list of runs. Returns an error if the caller's permission does not apply to the
    /// run.
    pub async fn run(&self, id: &RunId) -> Answer<RunRow> {
        let row = self.app.run_row(id).await?;
        if self.reaches(&row).await? { Ok(row) } else { Err(others()) }
    }

    /// Checks that the caller's permission applies to a run. If the run is in memory, the store is not read. The result
    /// of this check never changes for a run, so the result can be cached.
    pub async fn sees(&self, id: &RunId) -> Answer<()> {
        let Some(run) = self.app.driver.glance(id) else { return self.run(id).await.map(drop) };
        let sees = self.reaches_all() || (self.extent == Extent::Own && run.is_begun_by(&self.actor));
        if sees { Ok(()) } else { Err(others()) }
    }

    /// Finds an interrupt, and returns its id with the id of its run. Returns an error if the caller's permission does
    /// not apply to the interrupt.
    pub async fn interrupt(&self, id: &InterruptId) -> Answer<InterruptRef> {
        let asked = self.app.find_interrupt(id).await?;
        match self.extent {
            Extent::All => {}
            Extent::Own => self.sees(&asked.run).await?,
            Extent::Assigned | Extent::Unassigned => {
                if !asked.can_take_part(&self.app, &self.actor).await? {
                    return Err(others());
                }
            }
            Extent::Nothing => return Err(others()),
        }
        Ok(asked)
    }

    /// Returns true if the caller was allowed to take part in an interrupt before the event `seq` of its run.
    pub(crate) async fn took_part(&self, run: &RunId, id: &InterruptId, seq: u64) -> Answer<bool> {
        let before = self.app.driver.load_at(run, seq.saturating_sub(1)).await?;
        Ok(takes_part(&self.app, &self.actor, &before, id, &*self.app.driver.glance_system().await?))
    }

    /// Returns the id of the session that a request body names. An agent may name only a session that contains a run of
    /// this agent. Any other session is reported as unknown, like a malformed id.
    pub async fn session(&self, text: Option<&str>) -> Answer<Option<SessionId>> {
        const LOOKED_AT: usize = 100;
        let Some(text) = text else { return Ok(None) };
        let id: SessionId = text.parse().map_err(|_| Refused::from_code(Code::UnknownSession))?;
        if self.reaches_all() {
            return Ok(Some(id));
        }
        let filter = RunFilter { session: Some(id.clone()), ..RunFilter::default() };
        for row in self.app.journal().runs(&filter, None, LOOKED_AT).await?.items {
            if self.reaches(&row).await? {
                return Ok(Some(id));
            }
        }
        Err(Refused::from_code(Code::UnknownSession))
    }

    /// Returns true if the caller's permission applies to a run. A permission that applies only to assigned interrupts
    /// applies to no run.
    pub async fn reaches(&self, row: &RunRow) -> Answer<bool> {
        match self.extent {
            Extent::All => Ok(true),
            Extent::Own => Ok(owner(&self.app, row).await?.is_some_and(|owner| self.is(&owner))),
            Extent::Nothing | Extent::Assigned | Extent::Unassigned => Ok(false),
        }
    }

    pub fn is(&self, actor: &Actor) -> bool {
        actor.role == self.actor.role && actor.id == self.actor.id
    }
}

async fn by_token(app: &App, token: &str) -> Answer<Option<(Principal, Access)>> {
    if let Some(principal) = app.tokens.principal_of(token) {
        return Ok(Some((principal, Access::Token)));
    }
    if let Some(login) = app.logins.find_token(token, app.now()) {
        return access::by_login(app, login).await;
    }
    match access::by_key(app, token, Principal::of_key).await? {
        Some(found) => Ok(Some(found)),
        // Boxed, because this future is large and rarely needed.
        None => Box::pin(access::by_issuer(app, token)).await,
    }
}

/// Counts a request or frame of an agent against the rate limit of this agent and the rate limit of all agents
/// together. The rate limits of agents do not apply to people.
fn charge(app: &App, principal: &Principal) -> Answer<()> {
    if principal.is_person() || app.agents.admits(&principal.id, Instant::now()) {
        Ok(())
    } else {
        Err(Refused::from_code(Code::TooManyRequests))
    }
}

/// Returns the owner of an external run, which is the agent that started the run. Returns `None` for any other run. The
/// owner of a run never changes.
pub async fn owner(app: &App, row: &RunRow) -> Answer<Option<Actor>> {
    if row.workflow != EXTERNAL {
        return Ok(None);
    }
    let loaded = app.driver.glance(&row.run);
    if let Some(started) = loaded.as_ref().and_then(|run| run.started.as_ref()) {
        return Ok(Some(started.by.clone()));
    }
    let first = app.event(&StreamId::Run(row.run.clone()), 1).await?;
    Ok(Some(first.actor))
}

/// Marks the current connection as authenticated, for a person or an agent. Returns an error if the connection quota of
/// agents is used up.
fn authenticated(is_person: bool) -> Answer<()> {
    let Some(connection) = connections::current() else { return Ok(()) };
    if is_person {
        connection.mark_as_person();
    } else if !connection.try_mark_as_agent() {
        return Err(Refused::from_code(Code::TooManyConnections));
    }
    Ok(())
}

fn others() -> Refused {
    Refused::new(
        Code::ForbiddenRole,
        "you did not start this run, and your role can read and steer only runs that you started",
    )
}

impl<'a> Credentials<'a> {
    /// Reads the credentials from the headers of a request. Rejects a request that contains both kinds of credentials,
    /// or that repeats one of these headers.
    pub fn from_headers(headers: &'a HeaderMap) -> Answer<Self> {
        let given = match (headers.contains_key(AUTHORIZATION), headers.contains_key(header::SECRET)) {
            (true, true) => {
                let rule = "Authorization and X-Holdshort-Secret: send only one of them";
                return Err(Refused::new(Code::InvalidHeader, rule));
            }
            (true, false) => only(headers, AUTHORIZATION.as_str()).and_then(bearer).map(Self::Token),
            (false, true) => only(headers, header::SECRET).map(Self::Secret),
            (false, false) => None,
        };
        given.ok_or_else(|| Refused::from_code(Code::Unauthenticated))
    }
}

/// Returns the value of a request header that occurs exactly once. Otherwise returns `None`.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    value.to_str().ok()
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

/// Returns the client that the request header `X-Holdshort-Via` names: `cli`, or `rest` for every other value.
fn via(headers: &HeaderMap) -> &'static str {
    match headers.get(header::VIA).map(axum::http::HeaderValue::as_bytes) {
        Some(b"cli") => "cli",
        Some(_) | None => "rest",
    }
}
