//! Sign-ins at an identity provider. A browser or terminal begins the sign-in at this server, the person continues it
//! at the provider, and the same browser or terminal completes it at this server.
//!
//! Until a sign-in is completed, this server stores nothing about it. The values that are compared at the end are
//! sealed in a cookie of the browser. Without this cookie, the URL to which the provider sends the browser back is
//! useless. Because the cookie contains all state, every node can complete the sign-in. A completed sign-in is recorded
//! until it expires, so that it cannot be used twice.
//!
//! The person is [accepted](crate::access) in the same way as the subject of any issuer's token. After the person is
//! accepted, the browser is signed in with a code, or the terminal receives a token.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use holdshort_core::actor::Actor;
use holdshort_core::actor::Role;
use holdshort_core::digest::Digest;
use holdshort_core::id::InterruptId;
use holdshort_core::rights::{self, Permission};
use holdshort_core::system::Input;
use holdshort_core::time::Timestamp;
use holdshort_protocol::Code;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::access;
use crate::app::{App, blocking, detached};
use crate::auth::{AuthState, Authenticated};
use crate::identity::oidc::{Device, LogoutScope, Notice, Polled, Provider, SignInError, SignedInPerson};
use crate::limits::{
    LOGIN_MS, SIGN_IN_CODE_MS, SIGN_IN_MS, SIGN_IN_TO_BYTES, SIGN_IN_TOLD_MS, SIGN_INS, SIGN_INS_OF_BROWSER,
    SIGNED_IN_PAGE_MS,
};
use crate::links::Claim;
use crate::logins::{Invitation, Logins, Token, cookies, set_cookie};
use crate::needs::any;
use crate::problem::{Answer, Refused};
use crate::seal::Seal;
use crate::view;

/// Path at which a browser begins a sign-in at the identity provider.
pub const BEGIN: &str = "/login/oidc";
/// Path to which the identity provider sends the browser back. This path is registered at the provider.
pub const CALLBACK: &str = "/login/oidc/callback";
/// Prefix of the path in a decision link for several people, followed by the id of an interrupt. A person who opens
/// such a link signs in, and then decides on a page without scripts.
pub const DECIDE: &str = "/decide/";
/// Path that redirects the browser to the page at which it signs out at the identity provider.
pub const SIGN_OUT: &str = "/login/oidc/out";

/// Number of characters of the digest in the name of a sign-in's cookie. This digest of `state` distinguishes the
/// sign-ins of one browser.
const STATE_CHARS: usize = 16;

pub struct SignIns {
    provider: Option<Arc<Provider>>,
    pending: Seal,
    devices: Seal,
    cookie: String,
    secure: &'static str,
    done: Mutex<VecDeque<(Digest, Timestamp)>>,
    /// Terminals that have signed in recently: the digest of the terminal's device code, the time until which this
    /// entry is kept, and the result.
    told: Mutex<VecDeque<(Digest, Timestamp, SignedIn)>>,
}

/// Values that a browser must bring back from the identity provider, stored in a signed cookie of the browser.
#[derive(Serialize, Deserialize)]
struct Pending {
    #[serde(rename = "s")]
    state: String,
    #[serde(rename = "n")]
    nonce: String,
    #[serde(rename = "v")]
    verifier: String,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(rename = "x")]
    expires_at: Timestamp,
}

/// Sign-in of a terminal that is not complete, stored in the signed handle that the terminal sends.
#[derive(Clone, Serialize, Deserialize)]
struct PendingDevice {
    #[serde(rename = "c")]
    code: String,
    /// Minimum number of seconds between two polls for a terminal's sign-in, as the identity provider last requested.
    #[serde(rename = "i", default = "usual_interval")]
    interval_s: u64,
    #[serde(rename = "x")]
    expires_at: Timestamp,
}

/// Query parameters of the URL to which the identity provider sends the browser back (RFC 6749, 4.1.2; RFC 9207).
#[derive(Debug, Default, Deserialize)]
pub struct CallbackQuery {
    pub code: Option<String>,
    pub state: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
}

/// Redirect of a browser, with the `Set-Cookie` values of the response.
pub struct BrowserRedirect {
    pub to: String,
    pub cookies: Vec<String>,
}

/// Sign-in that a terminal began, before the person has completed it.
pub struct DeviceSignIn {
    pub device: Device,
    /// Signed text that contains the state of the terminal's sign-in. The terminal sends this text with each poll.
    pub handle: String,
    pub expires_at: Timestamp,
}

/// State of the sign-in of a terminal, as the terminal receives it when it polls.
pub enum Progress {
    /// The sign-in is not complete, and the terminal must wait `wait_ms` before it polls again. If `handle` is present,
    /// the terminal must send this new handle.
    Pending {
        wait_ms: u64,
        handle: Option<String>,
    },
    SignedIn(SignedIn),
}

/// Person and token of a terminal that has signed in.
#[derive(Clone)]
pub struct SignedIn {
    pub person: String,
    pub role: Role,
    pub token: Token,
}

/// Returns the default time between two polls for a terminal's sign-in, in seconds (RFC 8628, 3.2).
fn usual_interval() -> u64 {
    5
}

impl SignIns {
    pub fn new(provider: Option<Provider>, logins: &Logins, operator: &str) -> Self {
        Self {
            provider: provider.map(Arc::new),
            pending: Seal::new("sign-ins", operator),
            devices: Seal::new("sign-ins of terminals", operator),
            cookie: logins.cookie_of("oidc"),
            secure: logins.secure(),
            done: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// Returns the name of the identity provider, or `None` if no provider is configured.
    pub fn name(&self) -> Option<String> {
        self.provider.as_ref().map(|provider| provider.config().called())
    }

    fn provider(&self) -> Answer<Arc<Provider>> {
        self.provider
            .clone()
            .ok_or_else(|| Refused::new(Code::NotFound, "no identity provider is configured on this server"))
    }

    /// Returns the `Set-Cookie` value with the cookie of a browser's sign-in. `SameSite=Strict` would not work, because
    /// the browser returns from the provider's site. Each sign-in has its own cookie, so that sign-ins in two tabs do
    /// not interfere.
    fn set_cookie(&self, state: &str, value: &str, seconds: u64) -> String {
        let digest = Digest::of_bytes(state.as_bytes()).to_string();
        let name = format!("{}_{}", self.cookie, &digest[..STATE_CHARS]);
        set_cookie(&name, value, "Lax", seconds, self.secure)
    }

    /// Returns the `Set-Cookie` values that delete the cookie of the browser's sign-in with the value `state`.
    pub fn forget(&self, headers: &HeaderMap, state: Option<&str>) -> Vec<String> {
        let is_it = |pending: &Pending| state.is_some_and(|state| is_same(state, &pending.state));
        self.opened(headers).filter(is_it).map(|pending| self.set_cookie(&pending.state, "", 0)).collect()
    }

    /// Returns the `Set-Cookie` values that delete the cookies of the browser's oldest sign-ins, so that a new sign-in
    /// does not exceed the maximum number.
    fn make_room(&self, headers: &HeaderMap) -> Vec<String> {
        let mut pending: Vec<Pending> = self.opened(headers).collect();
        pending.sort_by_key(|pending| pending.expires_at);
        let over = (pending.len() + 1).saturating_sub(SIGN_INS_OF_BROWSER);
        pending.iter().take(over).map(|pending| self.set_cookie(&pending.state, "", 0)).collect()
    }

    /// Returns the result of a recently completed sign-in, for a terminal that polls again because it missed the
    /// response.
    fn find_completed(&self, code: Digest, now: Timestamp) -> Option<SignedIn> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.retain(|(_, until, _)| *until > now);
        told.iter().find(|(it, _, _)| *it == code).map(|(_, _, signed_in)| signed_in.clone())
    }

    fn record_completed(&self, code: Digest, now: Timestamp, signed_in: SignedIn) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= SIGN_INS {
            told.pop_front();
        }
        told.push_back((code, now.plus_ms(SIGN_IN_TOLD_MS), signed_in));
    }

    /// Returns the digests of the sign-ins that the browser has begun, which are stored in its cookies.
    pub(crate) fn began(&self, headers: &HeaderMap) -> Vec<Digest> {
        self.opened(headers).map(|pending| Digest::of_bytes(pending.state.as_bytes())).collect()
    }

    fn opened<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = Pending> + 'a {
        cookies(headers, |name| name.strip_prefix(&*self.cookie).is_some_and(|rest| rest.starts_with('_')))
            .filter_map(|value| self.pending.open(value))
    }

    /// Finds the sign-in that the browser began with the value `state`, and marks it as used. Returns an error if this
    /// sign-in is missing, expired or already used.
    fn pending(&self, headers: &HeaderMap, state: Option<&str>, now: Timestamp) -> Answer<Pending> {
        let mut began = self.opened(headers).peekable();
        if began.peek().is_none() {
            return Err(failed("this browser has not started a sign-in, or the sign-in has already ended"));
        }
        let pending = began.find(|pending| state.is_some_and(|state| is_same(state, &pending.state)));
        let pending = pending
            .ok_or_else(|| failed("the response belongs to another sign-in (its `state` does not match)"))?;
        if pending.expires_at <= now {
            return Err(failed("the sign-in took longer than 10 minutes"));
        }
        let digest = Digest::of_bytes(pending.state.as_bytes());
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.retain(|(_, expires_at)| *expires_at > now);
        if done.iter().any(|(it, _)| *it == digest) {
            return Err(failed("the sign-in has already ended"));
        }
        if done.len() >= SIGN_INS {
            done.pop_front();
        }
        done.push_back((digest, pending.expires_at));
        Ok(pending)
    }
}

/// Returns true if two texts are equal. Compares their digests, so that the duration reveals nothing about the texts.
fn is_same(one: &str, two: &str) -> bool {
    Digest::of_bytes(one.as_bytes()) == Digest::of_bytes(two.as_bytes())
}

fn failed(why: impl Into<String>) -> Refused {
    Refused::new(Code::SignInFailed, why)
}

fn refused(trouble: &SignInError) -> Refused {
    match trouble {
        SignInError::Unavailable => Refused::from_code(Code::IdentityUnavailable),
        SignInError::NoDevices => Refused::new(Code::NotFound, trouble.to_string()),
        other => failed(other.to_string()),
    }
}

/// Returns the path of a page of this server, without its query. Returns `None` for a URL of another server, a login
/// path or an API path.
fn own_place(text: &str) -> Option<String> {
    let is_path = text.starts_with('/')
        && !text.starts_with("//")
        && text.len() <= SIGN_IN_TO_BYTES
        && text.bytes().all(|c| c.is_ascii_graphic() && c != b'\\');
    // The path is checked in the form to which a browser resolves it.
    let base = Url::parse("https://here.invalid").ok()?;
    let read = base.join(text).ok().filter(|url| is_path && url.origin() == base.origin())?;
    let path = read.path();
    let is_own = !path.starts_with("//") && !path.starts_with("/login") && !path.starts_with("/v1");
    is_own.then(|| path.to_owned())
}

impl AuthState {
    /// Returns the name of the identity provider at which people sign in, or `None` if no provider is configured.
    pub fn provider(&self) -> Option<String> {
        self.app().sign_ins.name()
    }

    /// Returns the public URL of a page, such as [`BEGIN`].
    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.app().base)
    }

    /// Begins the sign-in of a browser. Returns the redirect to the identity provider.
    pub async fn begin_sign_in(&self, headers: &HeaderMap, to: Option<&str>) -> Answer<BrowserRedirect> {
        let app = self.app();
        let begun = app.sign_ins.provider()?.begin(&callback(app)?).await.map_err(|it| refused(&it))?;
        let pending = Pending {
            state: begun.state,
            nonce: begun.nonce,
            verifier: begun.verifier,
            to: to.and_then(own_place),
            expires_at: app.now().plus_ms(SIGN_IN_MS),
        };
        let value = app.sign_ins.pending.seal(&pending);
        let mut cookies = app.sign_ins.make_room(headers);
        cookies.push(app.sign_ins.set_cookie(&pending.state, &value, SIGN_IN_MS / 1_000));
        Ok(BrowserRedirect { to: begun.url.to_string(), cookies })
    }

    /// Returns the `Set-Cookie` values that delete the cookie of the browser's sign-in with the value `state`.
    pub fn forget_sign_in(&self, headers: &HeaderMap, state: Option<&str>) -> Vec<String> {
        self.app().sign_ins.forget(headers, state)
    }

    /// Completes the sign-in of a browser with the response of the identity provider. Returns the URL that the browser
    /// opens next.
    pub async fn finish_sign_in(&self, headers: &HeaderMap, back: CallbackQuery) -> Answer<String> {
        let app = self.app();
        let provider = app.sign_ins.provider()?;
        let pending = app.sign_ins.pending(headers, back.state.as_deref(), app.now())?;
        provider.check_issuer(back.iss.as_deref()).await.map_err(|it| refused(&it))?;
        if let Some(error) = back.error {
            let shown: String =
                error.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(100).collect();
            return Err(failed(format!("the identity provider reported the error `{shown}`")));
        }
        let code = back.code.ok_or_else(|| failed("the response has no `code`"))?;
        let began = Digest::of_bytes(pending.state.as_bytes());
        let bound = (pending.verifier, &*pending.nonce);
        let signed_in = provider.finish(code, bound, &callback(app)?, app.now()).await;
        let decided = pending.to.as_deref().and_then(decided_at);
        let (mut invited, _, known) = self.admit_signed_in(&provider, signed_in, pending.to).await?;
        if let Some(interrupt) = decided {
            return Box::pin(page(app, interrupt, invited, known)).await;
        }
        // The code is valid only for the browser that began the sign-in, so the URL with the code is useless in a
        // different browser.
        invited.bound = Some(began);
        let (code, _) = app.logins.invite_as(invited, app.now(), SIGN_IN_CODE_MS)?;
        Ok(app.login_url(&code))
    }

    /// Begins the sign-in of a terminal at the identity provider.
    pub async fn begin_device(&self) -> Answer<DeviceSignIn> {
        let app = self.app();
        let device = app.sign_ins.provider()?.device().await.map_err(|it| refused(&it))?;
        let ms = u64::try_from(device.expires_in.as_millis()).unwrap_or(SIGN_IN_MS).min(LOGIN_MS);
        let expires_at = app.now().plus_ms(ms);
        let interval_s = device.interval.as_secs();
        let waiting = PendingDevice { code: device.code.clone(), interval_s, expires_at };
        Ok(DeviceSignIn { handle: app.sign_ins.devices.seal(&waiting), device, expires_at })
    }

    /// Polls the identity provider for the sign-in of a terminal.
    pub async fn poll_device(&self, handle: &str) -> Answer<Progress> {
        let app = self.app();
        let provider = app.sign_ins.provider()?;
        let waiting: Option<PendingDevice> = app.sign_ins.devices.open(handle);
        let waiting = waiting
            .ok_or_else(|| failed("this server has not started this sign-in: start the sign-in again"))?;
        if waiting.expires_at <= app.now() {
            return Err(failed("the sign-in was not completed in time"));
        }
        let code = Digest::of_bytes(waiting.code.as_bytes());
        if let Some(signed_in) = app.sign_ins.find_completed(code, app.now()) {
            return Ok(Progress::SignedIn(signed_in));
        }
        let interval = Duration::from_secs(waiting.interval_s);
        let polled = provider.poll(&waiting.code, interval, app.now()).await;
        let signed_in = match polled.map_err(|it| refused(&it))? {
            Polled::Pending(wait) => {
                let longer = PendingDevice { interval_s: wait.as_secs(), ..waiting.clone() };
                let is_longer = longer.interval_s > waiting.interval_s;
                return Ok(Progress::Pending {
                    wait_ms: u64::try_from(wait.as_millis()).unwrap_or(SIGN_IN_MS),
                    handle: is_longer.then(|| app.sign_ins.devices.seal(&longer)),
                });
            }
            Polled::SignedIn(signed_in) => *signed_in,
        };
        let (invited, role, _) = self.admit_signed_in(&provider, Ok(signed_in), None).await?;
        let (issuing, now) = (app.clone(), app.now());
        let person = invited.person.clone();
        let token = blocking(move || issuing.logins.issue(&invited, now)).await?;
        let signed_in = SignedIn { person, role, token };
        app.sign_ins.record_completed(code, now, signed_in.clone());
        Ok(Progress::SignedIn(signed_in))
    }

    /// Returns the URL at which a browser signs out at the identity provider. If the provider has no URL for signing
    /// out, returns the URL of this server's login page.
    pub async fn provider_sign_out_url(&self) -> Answer<String> {
        let app = self.app();
        let back = Url::parse(&self.address("/login")).map_err(|_| Refused::from_code(Code::Internal))?;
        let place = app.sign_ins.provider()?.sign_out(&back).await;
        Ok(place.unwrap_or(back).to_string())
    }

    /// Handles a logout notice of the identity provider, which names a session or a subject at the provider. All logins
    /// that belong to this session or subject end, on every node.
    pub async fn handle_logout_notice(&self, token: &str) -> Answer<()> {
        let app = self.app();
        let provider = app.sign_ins.provider()?;
        let notice = provider.notice(token, app.now()).await.map_err(|trouble| match trouble {
            SignInError::Unavailable => refused(&trouble),
            trouble => Refused::new(Code::LogoutTokenRefused, trouble.to_string()),
        })?;
        let Notice { id, of } = notice;
        let issuer = &provider.config().issuer;
        let (session, notice) = (digest(issuer, &of), digest_of(issuer, "notice", &id));
        let driver = app.driver.clone();
        let input = Input::SignOutByProvider { session, notice };
        let change = async move { driver.change_system(input, Actor::engine()).await };
        let system = detached(change).await?;
        access::wait_until_published(app, system.seq).await;
        Ok(())
    }

    /// Records the person who has signed in at the identity provider. Returns the properties of the new login, the
    /// person's role, and the authenticated caller.
    async fn admit_signed_in(
        &self,
        provider: &Provider,
        signed_in: Result<SignedInPerson, SignInError>,
        to: Option<String>,
    ) -> Answer<(Invitation, Role, Authenticated)> {
        let app = self.app();
        let SignedInPerson { verified, subject, session } = signed_in.map_err(|it| refused(&it))?;
        let issuer = &provider.config().issuer;
        let there = std::iter::once(LogoutScope::AllOf(subject)).chain(session.map(LogoutScope::Session));
        let there = there.map(|ended| digest(issuer, &ended)).collect();
        let (principal, access) = Box::pin(access::admit(app, verified)).await?;
        // Agents use keys and do not sign in.
        let system = app.driver.system().await?;
        let role = rights::acting(&system.people.signs_in(&principal.id), Permission::Read);
        let role = role.ok_or_else(|| {
            let why = format!(
                "`{}` has no role that may sign in, according to the token of the identity provider",
                principal.id
            );
            Refused::new(Code::ForbiddenRole, why)
        })?;
        let lasts_ms = (provider.config().session_s * 1_000).min(LOGIN_MS);
        let person = principal.id.clone();
        let invited =
            Invitation { person, lasts_ms, to, bound: None, seq: system.seq, there, let_in_by: None };
        Ok((invited, role, Authenticated::issued(app, principal, access)))
    }
}

/// Returns the interrupt in the path of a decision link, or `None` if the path does not begin with [`DECIDE`].
fn decided_at(place: &str) -> Option<InterruptId> {
    place.strip_prefix(DECIDE)?.parse().ok()
}

/// Returns the URL of the page on which a person who has just signed in decides on an interrupt. The page uses no
/// cookie. The URL expires, and is valid only for this person and for this content of the interrupt.
async fn page(
    app: &App,
    interrupt: InterruptId,
    invited: Invitation,
    known: Authenticated,
) -> Answer<String> {
    let caller = known.authorize(any(Permission::Read))?;
    let asked = caller.interrupt(&interrupt).await?;
    if caller.principal.acting(Permission::Decide).is_none() {
        return Err(Refused::new(
            Code::ForbiddenRole,
            "you may not decide this interrupt, but you can read it in the app",
        ));
    }
    let now = app.now();
    let claim = Claim {
        interrupt,
        person: invited.person,
        subject: view::interrupt::subject_digest(app, &asked).await?,
        expires_at: now.plus_ms(SIGNED_IN_PAGE_MS.min(invited.lasts_ms)),
        key: None,
        made_at: Some(now),
        seq: Some(invited.seq),
        mailed: None,
        option: None,
        there: Some(invited.there),
        let_in_by: invited.let_in_by,
    };
    Ok(format!("{}/d/{}", app.base, app.links.token(&claim)))
}

/// Returns the digest of a session or subject at the identity provider, under which the sign-out is recorded. The
/// digest does not reveal the name of the session or subject.
fn digest(issuer: &str, ended: &LogoutScope) -> Digest {
    match ended {
        LogoutScope::Session(session) => digest_of(issuer, "session", session),
        LogoutScope::AllOf(subject) => digest_of(issuer, "subject", subject),
    }
}

fn digest_of(issuer: &str, what: &str, id: &str) -> Digest {
    let parts = serde_json::json!(["holdshort provider", issuer, what, id]);
    Digest::of_json(&parts)
}

fn callback(app: &App) -> Answer<Url> {
    Url::parse(&format!("{}{CALLBACK}", app.base)).map_err(|_| Refused::from_code(Code::Internal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_sign_in_one_goes_to_a_place_of_this_server_and_nowhere_else() {
        let own = ["/", "/inbox/int_01k6f0000000000000000000cc", "/runs/new", "/runs/../inbox"];
        for text in own {
            assert!(own_place(text).is_some(), "{text}");
        }
        let others = [
            "",
            "inbox",
            "https://evil.example/",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "/ /evil",
            "/.//evil.example",
            "/inbox/..//evil.example",
            "javascript:alert(1)",
            "/login/oidc",
            "/v1/login",
            "/\u{e9}",
        ];
        for text in others {
            assert_eq!(own_place(text), None, "{text}");
        }
        assert_eq!(own_place(&format!("/{}", "a".repeat(SIGN_IN_TO_BYTES))), None);
        assert_eq!(own_place("/inbox?a=b#c").as_deref(), Some("/inbox"), "a place, without what follows");
    }

    #[test]
    fn an_interrupt_is_decided_at_its_own_place_alone() {
        let id = "int_01k6f0000000000000000000cc";
        assert_eq!(decided_at(&format!("/decide/{id}")).map(|it| it.to_string()).as_deref(), Some(id));
        for other in ["/inbox/int_01k6f0000000000000000000cc", "/decide/", "/decide/x", "/decide"] {
            assert_eq!(decided_at(other), None, "{other}");
        }
    }

    #[test]
    fn what_a_browser_began_counts_once_for_a_while_and_for_that_browser_alone() {
        const NOW: Timestamp = Timestamp::from_millis(1_000);
        let data = tempfile::tempdir().unwrap();
        let logins = Logins::open(data.path(), 4_100, true, "token").unwrap();
        let sign_ins = SignIns::new(None, &logins, "token");
        let pending = |state: &str| Pending {
            state: state.to_owned(),
            nonce: "n".to_owned(),
            verifier: "v".to_owned(),
            to: None,
            expires_at: NOW.plus_ms(SIGN_IN_MS),
        };
        let set = sign_ins.set_cookie("a", &sign_ins.pending.seal(&pending("a")), 600);
        assert!(set.starts_with("__Host-holdshort_4100_oidc_"), "{set}");
        assert!(set.ends_with("; HttpOnly; SameSite=Lax; Path=/; Max-Age=600; Secure"), "{set}");
        let headers =
            |cookies: &str| HeaderMap::from_iter([(axum::http::header::COOKIE, cookies.parse().unwrap())]);
        let of = |sign_ins: &SignIns, state: &str| {
            format!("{}_{state}={}", sign_ins.cookie, sign_ins.pending.seal(&pending(state)))
        };
        // Each tab has a separate sign-in. Deleting the cookie of one sign-in keeps the cookies of the other
        // sign-ins.
        let tabs = headers(&format!("{}; {}", of(&sign_ins, "t1"), of(&sign_ins, "t2")));
        assert_eq!(sign_ins.forget(&tabs, Some("t1")).len(), 1);
        assert_eq!((sign_ins.forget(&tabs, None).len(), sign_ins.make_room(&tabs).len()), (0, 0));
        for state in ["t1", "t2"] {
            assert!(sign_ins.pending(&tabs, Some(state), NOW).is_ok(), "{state}");
        }
        let many: Vec<String> = (0..SIGN_INS_OF_BROWSER).map(|n| of(&sign_ins, &format!("m{n}"))).collect();
        assert_eq!(sign_ins.make_room(&headers(&many.join("; "))).len(), 1);
        let other = SignIns::new(None, &logins, "another token");
        let both = format!("{}; {}", of(&other, "b"), of(&sign_ins, "b"));
        let late = NOW.plus_ms(SIGN_IN_MS);
        let table = [
            (of(&sign_ins, "a"), Some("a"), late, "the sign-in took longer than 10 minutes"),
            (of(&sign_ins, "a"), Some("a"), NOW, ""),
            (of(&sign_ins, "a"), Some("a"), NOW, "the sign-in has already ended"),
            (
                of(&sign_ins, "a"),
                Some("b"),
                NOW,
                "the response belongs to another sign-in (its `state` does not match)",
            ),
            (
                of(&sign_ins, "a"),
                None,
                NOW,
                "the response belongs to another sign-in (its `state` does not match)",
            ),
            (
                of(&other, "a"),
                Some("a"),
                NOW,
                "this browser has not started a sign-in, or the sign-in has already ended",
            ),
            (
                "a=b".to_owned(),
                Some("a"),
                NOW,
                "this browser has not started a sign-in, or the sign-in has already ended",
            ),
            (both, Some("b"), NOW, ""),
        ];
        for (cookies, state, now, why) in table {
            let found = sign_ins.pending(&headers(&cookies), state, now);
            let said = found.map_or_else(|refused| refused.0.detail, |_| String::new());
            assert_eq!(said, why, "{cookies} {state:?}");
        }
    }
}
