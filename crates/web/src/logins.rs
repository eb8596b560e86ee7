//! Logins: signs browsers in, and recognizes signed-in browsers.
//!
//! A one-time code creates a login. The login consists of a cookie and a secret, and is valid only with both. Scripts
//! cannot read the cookie, but browsers send it to all ports of the host. The secret is not sent to other ports, but
//! scripts can read it. `logins.json` stores digests of the cookies and the secrets. When the operator's token changes,
//! all logins end. Codes are stored only in memory. The journal contains no code, cookie or secret, and no log may
//! contain one.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use holdshort_core::actor::LOCAL_OPERATOR;
use holdshort_core::digest::Digest;
use holdshort_core::people::Since;
use holdshort_core::system::System;
use holdshort_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::edge_page::EdgePage;
use crate::limits::{LOGIN_CODE_MS, LOGIN_CODES, LOGIN_CODES_OF_PERSON, LOGIN_MS, LOGINS, LOGINS_OF_PERSON};
use crate::secrets::{self, Error};

const FILE: &str = "logins.json";
const MEND: &str = "If others may have read the file, or if it is damaged, delete it; all people must \
    then sign in again";
const TOKEN_PREFIX: &str = "hs_login_";
/// Length of the token of a signed-in terminal: the prefix and 256 bits in hexadecimal.
const TOKEN_CHARS: usize = TOKEN_PREFIX.len() + 64;

pub struct Logins {
    path: PathBuf,
    /// Name of the login cookie. The name contains the port, so that two servers on one host do not overwrite each
    /// other's cookies.
    cookie: String,
    /// Name of the cookie for the page of an edge, without a prefix such as `__Host-`. A cookie with that prefix would
    /// have to be valid for all paths.
    page_cookie: String,
    /// True if browsers may send the login cookie only over TLS. The name of the cookie then begins with `__Host-`, so
    /// that other hosts of the domain cannot set the cookie.
    is_secure: bool,
    operator: Digest,
    codes: Mutex<VecDeque<Code>>,
    /// All logins, as they are stored in `logins.json`. To change this value, lock `changing` and write the file first.
    kept: watch::Sender<Arc<Vec<Login>>>,
    changing: Mutex<()>,
}

/// Login code that has not been used to sign in.
struct Code {
    digest: Digest,
    invited: Invitation,
    since: Since,
    expires_at: Timestamp,
}

impl Code {
    /// Returns true if a browser can use the login code now. `began` contains the digests of the sign-ins at the
    /// identity provider that the browser has begun.
    fn is_valid(&self, began: &[Digest], known: &System, now: Timestamp) -> bool {
        self.expires_at > now
            && !self.is_over(known)
            && self.invited.bound.is_none_or(|bound| began.contains(&bound))
    }

    /// Returns true if the login code is invalid because its person was removed or has signed out.
    fn is_over(&self, known: &System) -> bool {
        is_over(known, &self.invited.person, self.since, &self.invited.there)
    }
}

/// Person whom a login code signs in, and properties of the login that the code creates.
#[derive(Clone, Debug)]
pub struct Invitation {
    pub person: String,
    /// Number of milliseconds for which the login is valid that the code creates.
    pub lasts_ms: u64,
    /// Path of the page that the browser opens after the sign-in with the login code.
    pub to: Option<String>,
    /// Digest of the sign-in at the identity provider that created the login code. Only the browser that has the cookie
    /// of this sign-in can redeem the code.
    pub bound: Option<Digest>,
    /// Number of the last installation event (a change to people, keys or settings) that was known when the login code
    /// was created.
    pub seq: u64,
    /// Digests of the session and subject at the identity provider. When either is signed out at the provider, the
    /// login ends.
    pub there: Vec<Digest>,
    /// Person who created the login link that contains the code. `None` if the person who signs in created the link.
    pub let_in_by: Option<String>,
}

impl Invitation {
    /// Returns the properties of a login that a login link creates for `person`.
    pub fn for_login_link(person: &str, seq: u64) -> Self {
        let person = person.to_owned();
        Self { person, lasts_ms: LOGIN_MS, to: None, bound: None, seq, there: Vec::new(), let_in_by: None }
    }
}

/// Login of a person, as it is stored in `logins.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// Person who is signed in with the login. Files that an earlier version of Holdshort wrote contain no person:
    /// their logins belong to the operator.
    #[serde(default = "operator")]
    pub person: String,
    /// Digest of the login's cookie. The login of a terminal has no cookie: the terminal sends only the secret, as a
    /// token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cookie: Option<Digest>,
    secret: Digest,
    pub created_at: Timestamp,
    /// Number of the last installation event (a change to people, keys or settings) that was known at the sign-in.
    /// `None` if an earlier version of Holdshort created the login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// Digests of the session and subject at the identity provider. When either is signed out at the provider, the
    /// login ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    there: Vec<Digest>,
    /// Person who created the login link with which the login began. `None` if the signed-in person created the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub let_in_by: Option<String>,
    /// True for a login of the page of an edge. The cookie of such a login is accepted without a secret, but only on
    /// this edge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    page: bool,
    pub expires_at: Timestamp,
}

struct LoginProof {
    cookie: Option<Digest>,
    secret: Digest,
    page: bool,
}

impl Login {
    /// Returns true if the login is no longer valid, because its person was removed or has signed out.
    pub fn is_over(&self, known: &System) -> bool {
        is_over(known, &self.person, self.since(), &self.there)
    }

    /// Returns the time of the sign-in, with the number of the last installation event that was known then.
    pub fn since(&self) -> Since {
        Since { at: self.created_at, seq: self.seq }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    /// Digest of the operator's token when `logins.json` was written. If the token has changed since, all logins are
    /// invalid.
    operator: Digest,
    logins: Vec<Login>,
}

/// Values of a new login that are sent to the browser.
pub struct Issued {
    pub person: String,
    /// Value of the `Set-Cookie` header with the cookie of the new login.
    pub cookie: String,
    pub secret: String,
    pub expires_at: Timestamp,
    /// Path of the page that the browser opens after the sign-in.
    pub to: Option<String>,
}

/// Token of a terminal's new login.
#[derive(Clone)]
pub struct Token {
    pub token: String,
    pub expires_at: Timestamp,
}

impl Logins {
    /// Reads the logins from `logins.json`, if the file exists. The caller must have locked the data folder.
    pub fn open(data: &Path, port: u16, is_secure: bool, operator: &str) -> Result<Self, Error> {
        let path = data.join(FILE);
        let operator = Digest::of_parts(&[b"holdshort logins\n", operator.as_bytes()]);
        let stored = secrets::read::<Stored>(&path, MEND)?.filter(|stored| stored.operator == operator);
        let logins = stored.map(|stored| stored.logins).unwrap_or_default();
        Ok(Self {
            path,
            cookie: format!("{}holdshort_{port}", if is_secure { "__Host-" } else { "" }),
            page_cookie: format!("holdshort_{port}_page"),
            is_secure,
            operator,
            codes: Mutex::default(),
            kept: watch::Sender::new(Arc::new(logins)),
            changing: Mutex::default(),
        })
    }

    /// Creates a login code with which a person can sign in once, in one browser. `seq` is the number of the last known
    /// installation event. Returns the code and its expiry.
    pub fn invite(&self, person: &str, seq: u64, now: Timestamp) -> Result<(String, Timestamp), Error> {
        self.invite_as(Invitation::for_login_link(person, seq), now, LOGIN_CODE_MS)
    }

    /// Like [`Logins::invite`], but the caller chooses the properties of the login and the validity of the login code.
    pub fn invite_as(
        &self,
        invited: Invitation,
        now: Timestamp,
        within_ms: u64,
    ) -> Result<(String, Timestamp), Error> {
        let code = secrets::draw()?;
        let expires_at = now.plus_ms(within_ms);
        let digest = Digest::of_bytes(code.as_bytes());
        let mut codes = lock(&self.codes);
        let is_theirs = |code: &Code| code.invited.person == invited.person;
        if codes.iter().filter(|code| is_theirs(code)).count() >= LOGIN_CODES_OF_PERSON {
            let oldest = codes.iter().position(is_theirs);
            oldest.and_then(|place| codes.remove(place));
        }
        if codes.len() >= LOGIN_CODES {
            codes.pop_front();
        }
        let since = Since { at: now, seq: Some(invited.seq) };
        codes.push_back(Code { digest, invited, since, expires_at });
        Ok((code, expires_at))
    }

    /// Redeems a login code for the login of a browser. Returns `None` if the code is not valid ([`Logins::take`]).
    pub fn redeem(
        &self,
        code: &str,
        began: &[Digest],
        known: &System,
        now: Timestamp,
    ) -> Result<Option<Issued>, Error> {
        let Some(invited) = self.take(code, began, known, now) else { return Ok(None) };
        let (cookie, secret) = (secrets::draw()?, secrets::draw()?);
        let digest = Digest::of_bytes(cookie.as_bytes());
        let secret_digest = Digest::of_bytes(secret.as_bytes());
        let proof = LoginProof { cookie: Some(digest), secret: secret_digest, page: false };
        let expires_at = self.keep(&invited, &proof, now)?;
        let cookie = self.set_cookie(&cookie, invited.lasts_ms / 1_000);
        Ok(Some(Issued { person: invited.person, cookie, secret, expires_at, to: invited.to }))
    }

    /// Signs in a browser that uses the page of an edge. Returns the `Set-Cookie` values of this login.
    pub(crate) fn issue_for_page(
        &self,
        invited: &Invitation,
        page: &EdgePage,
        now: Timestamp,
    ) -> Result<[String; 2], Error> {
        let (cookie, unused) = (secrets::draw()?, secrets::draw()?);
        let [digest, secret] = [&cookie, &unused].map(|text| Digest::of_bytes(text.as_bytes()));
        self.keep(invited, &LoginProof { cookie: Some(digest), secret, page: true }, now)?;
        Ok(page.set_cookies(&self.page_cookie, &cookie, invited.lasts_ms / 1_000))
    }

    /// Returns the person whom a login code would sign in, without using the code. Returns `None` if the code is not
    /// valid ([`Logins::take`]).
    pub(crate) fn invited(&self, code: &str, known: &System, now: Timestamp) -> Option<String> {
        let digest = Digest::of_bytes(code.as_bytes());
        let codes = lock(&self.codes);
        let code = codes.iter().find(|code| code.digest == digest)?;
        code.is_valid(&[], known, now).then(|| code.invited.person.clone())
    }

    /// Uses up a code, and returns the properties of the login that the code creates. Returns `None` for an unknown,
    /// used or expired code, for a code of a person who was removed or has signed out since, and for a code from a
    /// sign-in at the provider that another browser began. The code is used up even if the sign-in fails. `began`
    /// contains the digests of the sign-ins at the provider that this browser has begun.
    pub(crate) fn take(
        &self,
        code: &str,
        began: &[Digest],
        known: &System,
        now: Timestamp,
    ) -> Option<Invitation> {
        let digest = Digest::of_bytes(code.as_bytes());
        let mut codes = lock(&self.codes);
        let found = codes.iter().position(|code| code.digest == digest);
        let found = found.and_then(|place| codes.remove(place));
        drop(codes);
        let Code { invited, .. } = found.filter(|code| code.is_valid(began, known, now))?;
        Some(Invitation { seq: known.seq, ..invited })
    }

    /// Creates a login with a token that signs a terminal in.
    pub fn issue(&self, invited: &Invitation, now: Timestamp) -> Result<Token, Error> {
        let token = format!("{TOKEN_PREFIX}{}", secrets::draw()?);
        let secret = Digest::of_bytes(token.as_bytes());
        let expires_at = self.keep(invited, &LoginProof { cookie: None, secret, page: false }, now)?;
        Ok(Token { token, expires_at })
    }

    fn keep(&self, invited: &Invitation, proof: &LoginProof, now: Timestamp) -> Result<Timestamp, Error> {
        let expires_at = now.plus_ms(invited.lasts_ms);
        let is_theirs = |login: &Login| login.person == invited.person;
        self.change(|logins| {
            logins.retain(|login| login.expires_at > now);
            if logins.iter().filter(|login| is_theirs(login)).count() >= LOGINS_OF_PERSON {
                let oldest = logins.iter().position(is_theirs);
                oldest.map(|place| logins.remove(place));
            }
            logins.push(Login {
                person: invited.person.clone(),
                cookie: proof.cookie,
                secret: proof.secret,
                page: proof.page,
                created_at: now,
                seq: Some(invited.seq),
                there: invited.there.clone(),
                let_in_by: invited.let_in_by.clone(),
                expires_at,
            });
            let over = logins.len().saturating_sub(LOGINS);
            logins.drain(..over);
        })?;
        Ok(expires_at)
    }

    /// Returns the login to which the secret and a cookie of the request belong. Compares digests, so the duration of
    /// the comparison reveals nothing about the secret or the cookie.
    pub fn find(&self, headers: &HeaderMap, secret: &str, now: Timestamp) -> Option<Login> {
        let secret = Digest::of_bytes(secret.as_bytes());
        let logins = self.kept.borrow().clone();
        let is_it = |login: &&Login| !login.page && login.secret == secret && login.expires_at > now;
        let login = logins.iter().find(is_it)?;
        // A different server on this host may have set a cookie with the same name. Such a cookie must not sign the
        // browser out, so all cookies are tried.
        let mut cookies = self.cookies(headers);
        cookies.any(|cookie| Some(Digest::of_bytes(cookie.as_bytes())) == login.cookie).then(|| login.clone())
    }

    /// Returns the login of a terminal by its token.
    pub fn find_token(&self, token: &str, now: Timestamp) -> Option<Login> {
        if token.len() != TOKEN_CHARS || !token.starts_with(TOKEN_PREFIX) {
            return None;
        }
        let secret = Digest::of_bytes(token.as_bytes());
        let logins = self.kept.borrow().clone();
        let is_it =
            |login: &&Login| login.cookie.is_none() && login.secret == secret && login.expires_at > now;
        logins.iter().find(is_it).cloned()
    }

    /// Returns the login of a browser that uses the page of an edge. The caller must have checked that this page sent
    /// the request.
    pub(crate) fn find_page(&self, headers: &HeaderMap, now: Timestamp) -> Option<Login> {
        let logins = self.kept.borrow().clone();
        let mut cookies = self.page_cookies(headers).map(|cookie| Digest::of_bytes(cookie.as_bytes()));
        cookies.find_map(|cookie| {
            let is_it = |login: &&Login| login.page && login.cookie == Some(cookie) && login.expires_at > now;
            logins.iter().find(is_it).cloned()
        })
    }

    pub(crate) fn has_page_cookie(&self, headers: &HeaderMap) -> bool {
        self.page_cookies(headers).next().is_some()
    }

    fn page_cookies<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        cookies(headers, |name| name == self.page_cookie)
    }

    /// Returns a receiver of the list of logins, which changes when a login begins or ends.
    pub fn follow(&self) -> watch::Receiver<Arc<Vec<Login>>> {
        self.kept.subscribe()
    }

    /// Ends the logins of people who were removed or signed out, and deletes their login codes. `logins.json` is
    /// written only if a login ends.
    pub fn purge(&self, known: &System) -> Result<(), Error> {
        lock(&self.codes).retain(|code| !code.is_over(known));
        let is_out = |login: &Login| login.is_over(known);
        if self.kept.borrow().iter().any(is_out) {
            self.change(|logins| logins.retain(|it| !is_out(it)))
        } else {
            Ok(())
        }
    }

    /// Ends a login, so that its cookie and secret are no longer accepted.
    pub fn end(&self, login: &Login) -> Result<(), Error> {
        self.change(|logins| logins.retain(|each| each != login))
    }

    /// Returns the `Set-Cookie` value with which the browser deletes its login cookie.
    pub fn forget(&self) -> String {
        self.set_cookie("", 0)
    }

    fn set_cookie(&self, value: &str, seconds: u64) -> String {
        set_cookie(&self.cookie, value, "Strict", seconds, self.secure())
    }

    fn cookies<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        cookies(headers, |name| name == self.cookie)
    }

    /// Returns the name of the cookie that this server uses for a purpose, such as `oidc`.
    pub(crate) fn cookie_of(&self, purpose: &str) -> String {
        format!("{}_{purpose}", self.cookie)
    }

    /// Returns the cookie attribute that limits a cookie to TLS. The result is empty if this server does not use TLS.
    pub(crate) fn secure(&self) -> &'static str {
        if self.is_secure { "; Secure" } else { "" }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Login>)) -> Result<(), Error> {
        let _changing = lock(&self.changing);
        let mut logins = Vec::clone(&self.kept.borrow());
        change(&mut logins);
        let stored = Stored { operator: self.operator, logins };
        secrets::write(&self.path, &stored)?;
        self.kept.send_replace(Arc::new(stored.logins));
        Ok(())
    }
}

/// Returns the value of a `Set-Cookie` header. If `seconds` is 0, the browser deletes the cookie.
pub(crate) fn set_cookie(name: &str, value: &str, same_site: &str, seconds: u64, secure: &str) -> String {
    format!("{name}={value}; HttpOnly; SameSite={same_site}; Path=/; Max-Age={seconds}{secure}")
}

/// Returns the values of those cookies in a request for whose names `is_it` returns true.
pub(crate) fn cookies<'a>(
    headers: &'a HeaderMap,
    is_it: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(name, _)| is_it(name)).map(|(_, value)| value)
}

/// Returns true if the person was removed or signed out after `since`, at this server or at the identity provider.
/// `there` contains digests of the person's session and subject at the provider.
pub(crate) fn is_over(known: &System, person: &str, since: Since, there: &[Digest]) -> bool {
    known.people.is_signed_out(person, since) || known.signed_out_there.has_ended(there, since)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn operator() -> String {
    LOCAL_OPERATOR.to_owned()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use holdshort_core::actor::{Actor, Role};
    use holdshort_core::envelope::Content;
    use holdshort_core::event::{self, Event};
    use holdshort_core::id::StreamId;
    use holdshort_core::people::{People, PeopleSource, Person};
    use holdshort_core::system;

    use super::*;

    const PORT: u16 = 4_100;
    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn open(data: &Path) -> Logins {
        Logins::open(data, PORT, false, "token").unwrap()
    }

    fn people(ids: &[&str]) -> People {
        let person = Person {
            roles: [Role::Reviewer].into(),
            groups: [].into(),
            time_zone: None,
            language: None,
            source: PeopleSource::Api,
            issued_at: None,
            name: None,
            addresses: [].into(),
            away: None,
        };
        People::from_entries(&ids.iter().map(|id| ((*id).to_owned(), person.clone())).collect::<Vec<_>>())
    }

    fn system_with_people(ids: &[&str]) -> System {
        let mut known = System::default();
        known.people.clone_from(&people(ids));
        known
    }

    fn sign_in(logins: &Logins) -> (String, String, Timestamp) {
        sign_in_as(logins, "anna")
    }

    /// Signs a person in. Returns the value of the login cookie, the secret and the expiry of the login.
    fn sign_in_as(logins: &Logins, id: &str) -> (String, String, Timestamp) {
        let (code, _) = logins.invite(id, 0, NOW).unwrap();
        let issued = logins.redeem(&code, &[], &system_with_people(&[id]), NOW).unwrap().unwrap();
        let Issued { person, cookie, secret, expires_at, .. } = issued;
        assert_eq!(person, id);
        let (cookie, attributes) = cookie.split_once("; ").unwrap();
        assert_eq!(attributes, "HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
        (cookie.strip_prefix("holdshort_4100=").unwrap().to_owned(), secret, expires_at)
    }

    fn cookie(text: &str) -> HeaderMap {
        HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(text).unwrap())])
    }

    #[test]
    fn a_code_works_once_and_not_for_long() {
        let data = tempfile::tempdir().unwrap();
        let logins = open(data.path());
        let known = system_with_people(&["anna", "ben"]);
        let redeem = |code: &str, now| logins.redeem(code, &[], &known, now).unwrap().is_some();

        let (code, expires_at) = logins.invite("anna", 0, NOW).unwrap();
        assert!(!redeem("", NOW) && !redeem(&code[1..], NOW), "nothing that is nearly a code");
        assert_eq!([redeem(&code, NOW), redeem(&code, NOW)], [true, false]);

        let (code, _) = logins.invite("anna", 0, NOW).unwrap();
        assert!(!redeem(&code, expires_at), "too old");

        let of_ben = logins.invite("ben", 0, NOW).unwrap().0;
        let codes: Vec<String> =
            (0..=LOGIN_CODES_OF_PERSON).map(|_| logins.invite("anna", 0, NOW).unwrap().0).collect();
        let work: Vec<bool> = codes.iter().map(|code| redeem(code, NOW)).collect();
        assert_eq!(work.iter().position(|works| *works), Some(1), "the oldest went");
        assert!(redeem(&of_ben, NOW), "and nobody else's");

        let codes: Vec<String> =
            (0..=LOGIN_CODES).map(|n| logins.invite(&format!("p{n}"), 0, NOW).unwrap().0).collect();
        let everybody: Vec<String> = (0..=LOGIN_CODES).map(|n| format!("p{n}")).collect();
        let everybody = self::system_with_people(&everybody.iter().map(String::as_str).collect::<Vec<_>>());
        let mut work = codes.iter().map(|code| logins.redeem(code, &[], &everybody, NOW).unwrap().is_some());
        assert_eq!((work.next(), work.next()), (Some(false), Some(true)), "the oldest of all went");
    }

    #[test]
    fn whoever_leaves_is_signed_out_and_invited_no_more() {
        let data = tempfile::tempdir().unwrap();
        let logins = open(data.path());
        let of_ben = sign_in_as(&logins, "ben");
        sign_in(&logins);
        let codes = ["anna", "ben"].map(|person| logins.invite(person, 0, NOW).unwrap().0);
        logins.purge(&system_with_people(&["anna", "ben"])).unwrap();
        assert_eq!(logins.follow().borrow().len(), 2);
        logins.purge(&system_with_people(&["ben"])).unwrap();
        let find = |logins: &Logins, (own, secret, _): &(String, String, Timestamp)| {
            logins.find(&cookie(&format!("holdshort_4100={own}")), secret, NOW).is_some()
        };
        for logins in [&logins, &open(data.path())] {
            assert_eq!(logins.follow().borrow().len(), 1, "also in the file");
            assert!(find(logins, &of_ben));
        }
        // The codes stay invalid even after a person with the same id was added again.
        let redeemed = codes.map(|code| {
            logins.redeem(&code, &[], &system_with_people(&["anna", "ben"]), NOW).unwrap().is_some()
        });
        assert_eq!(redeemed, [false, true]);
    }

    /// A sign-out at the identity provider invalidates the login codes that a sign-in at this provider created.
    #[test]
    fn whoever_is_signed_out_at_their_provider_is_invited_no_more() {
        let data = tempfile::tempdir().unwrap();
        let logins = open(data.path());
        let there = Digest::of_bytes(b"a session there");
        let invite = || {
            let invited = Invitation { there: vec![there], ..Invitation::for_login_link("anna", 0) };
            logins.invite_as(invited, NOW, LOGIN_CODE_MS).unwrap().0
        };
        let mut since = system_with_people(&["anna"]);
        let fact =
            system::Fact::SignedOutByProvider { session: there, notice: Digest::of_bytes(b"a notice") };
        since.apply(&Event {
            stream: StreamId::System,
            at: NOW,
            actor: Actor::engine(),
            fact: event::Fact::System(fact),
            content: Content::none(),
        });
        assert!(logins.redeem(&invite(), &[], &since, NOW).unwrap().is_none());
        let code = invite();
        logins.purge(&since).unwrap();
        assert!(
            logins.redeem(&code, &[], &system_with_people(&["anna"]), NOW).unwrap().is_none(),
            "it was taken back"
        );
    }

    #[test]
    fn cookie_and_secret_belong_together() {
        let data = tempfile::tempdir().unwrap();
        let logins = open(data.path());
        let (own, secret, end) = sign_in(&logins);
        let (others, others_secret, _) = sign_in(&logins);
        let table = [
            (format!("holdshort_4100={own}"), &secret, NOW, true),
            (format!("a=b; holdshort_4100=planted; holdshort_4100={own}"), &secret, NOW, true),
            (format!("holdshort_4100={own}"), &others_secret, NOW, false),
            (format!("holdshort_4100={others}"), &secret, NOW, false),
            (format!("holdshort_4101={own}"), &secret, NOW, false),
            (format!("holdshort_4100={own}"), &own, NOW, false),
            (format!("holdshort_4100={secret}"), &secret, NOW, false),
            (String::new(), &secret, NOW, false),
            (format!("holdshort_4100={own}"), &secret, end, false),
        ];
        for (header, secret, now, expected) in table {
            assert_eq!(logins.find(&cookie(&header), secret, now).is_some(), expected, "{header}");
        }
    }

    #[test]
    fn logins_outlive_the_process_and_not_the_token() {
        let data = tempfile::tempdir().unwrap();
        let first = open(data.path());
        let (own, secret, _) = sign_in(&first);
        let headers = cookie(&format!("holdshort_4100={own}"));
        let find = |logins: &Logins| logins.find(&headers, &secret, NOW);

        let text = std::fs::read_to_string(data.path().join(FILE)).unwrap();
        assert!(!text.contains(&own) && !text.contains(&secret), "digests only");
        let login = find(&open(data.path())).unwrap();
        let another_token = Logins::open(data.path(), PORT, false, "another").unwrap();
        assert_eq!(find(&another_token), None);

        first.end(&login).unwrap();
        assert_eq!((find(&first), find(&open(data.path()))), (None, None));
    }

    /// The cookie of an edge's page is not accepted as a login of this server's own page, and vice versa.
    #[test]
    fn the_cookie_of_an_edges_page_is_no_other_credential() {
        let data = tempfile::tempdir().unwrap();
        let logins = open(data.path());
        let origin = ("http://localhost:3000".to_owned(), Vec::new());
        let page = EdgePage::new("/edges/mars/", ["/api", "/ws"], origin);
        let (code, _) = logins.invite("anna", 0, NOW).unwrap();
        let invited = logins.take(&code, &[], &system_with_people(&["anna"]), NOW).unwrap();
        assert!(logins.take(&code, &[], &system_with_people(&["anna"]), NOW).is_none(), "a code works once");
        let [api, _] = logins.issue_for_page(&invited, &page, NOW).unwrap();
        let (pair, _) = api.split_once("; ").unwrap();
        let (name, value) = pair.split_once('=').unwrap();
        let (own, secret, end) = sign_in(&logins);
        let found = |logins: &Logins, text: &str, now| logins.find_page(&cookie(text), now).is_some();
        assert!(found(&logins, pair, NOW) && found(&open(data.path()), pair, NOW));
        assert!(found(&logins, &format!("{name}=planted; {pair}"), NOW));
        for other in [format!("holdshort_4100={value}"), format!("{name}={own}"), format!("{name}={secret}")]
        {
            assert!(!found(&logins, &other, NOW), "{other}");
        }
        assert!(!found(&logins, pair, end), "it expires");
        for secret in [value, &secret] {
            assert!(logins.find(&cookie(&format!("holdshort_4100={value}")), secret, NOW).is_none());
        }
        assert!(logins.find_token(&format!("{TOKEN_PREFIX}{value}"), NOW).is_none());
    }

    #[test]
    fn the_oldest_logins_go() {
        let data = tempfile::tempdir().unwrap();
        let logins = open(data.path());
        let of_ben = sign_in_as(&logins, "ben");
        let all: Vec<_> = (0..=LOGINS_OF_PERSON).map(|_| sign_in(&logins)).collect();
        let works: Vec<bool> = all
            .iter()
            .map(|(own, secret, _)| {
                logins.find(&cookie(&format!("holdshort_4100={own}")), secret, NOW).is_some()
            })
            .collect();
        assert_eq!(works.iter().position(|works| *works), Some(1));
        let (own, secret, _) = of_ben;
        assert!(
            logins.find(&cookie(&format!("holdshort_4100={own}")), &secret, NOW).is_some(),
            "nobody else's"
        );
    }
}
