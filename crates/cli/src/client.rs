//! HTTP client for all verbs of the command line. The client finds the server, sends authenticated requests, and
//! returns the response or the server's description of the problem.
//!
//! Never retries: the caller decides what a missing response means.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::Context;
use holdshort_http::answers::refused_certificate;
use holdshort_protocol::{Code, Event, FieldError, List, Problem, Resolution, header, plain};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::args::Reach;
use crate::data_dir::DataDir;
use crate::exit::{no_server, usage};
use crate::login_store;
use crate::program_name::{holdshort, with_program_name};
use crate::shell::quoted;

const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Time after which a command-line client stops waiting for the response to a request. The timeout is long enough for a
/// request that makes the server read the whole journal.
const REQUEST_TIME: Duration = Duration::from_mins(5);
/// Time limit for the request that reports to the server that a person has seen a card. Keyboard input is not read
/// while this request is sent.
const LOOK_TIME: Duration = Duration::from_secs(2);
/// Maximum number of events in one page, when a client reads the events of a run.
const EVENTS: usize = 200;
/// Time without data after which a client considers an event stream disconnected. A server sends a keep-alive every 15
/// s.
const SILENCE: Duration = Duration::from_secs(50);

/// Error for a request that the server rejected, with the problem document of its response.
#[derive(Debug, thiserror::Error)]
#[error("{}", describe(.0))]
pub(crate) struct Refused(pub(crate) Problem);

impl Refused {
    /// Returns true if the server rejected a request as invalid. A request that lacks a permission (403) is not
    /// invalid.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self.0.status, 400 | 401 | 413 | 415 | 421 | 422)
    }
}

fn describe(problem: &Problem) -> String {
    // The title of `not_found` contains a URL path, which the person did not type.
    if problem.code == Code::NotFound {
        return plain::text(&format!("{} [{}]", problem.detail, problem.code.as_str())).into_owned();
    }
    let mut text = problem.title.clone();
    let places: Vec<String> = problem.errors.iter().map(describe_field_error).collect();
    match &places[..] {
        _ if problem.code == Code::Stale && problem.version.is_some() => {
            text = format!(
                "{text}: the current version of the request is {}",
                problem.version.unwrap_or_default()
            );
        }
        // If only one field is invalid, the detail from the server would repeat the error of this field.
        [only] => text = format!("{text}: {only}"),
        [] if repeats(problem) => {}
        _ if problem.detail.is_empty() => {}
        _ => match beyond_title(problem) {
            Some(rest) => text.push_str(rest),
            None => text = format!("{text}: {}", problem.detail),
        },
    }
    if let [_, _, ..] = &places[..] {
        text = format!("{text}\n  {}", places.join("\n  "));
    }
    let known = problem.known.join(", ");
    // Some details already end with the list of the known values.
    if !known.is_empty() && !text.ends_with(&format!(": {known}")) {
        text = format!("{text}\n  known: {known}");
    }
    if let Some(approval) = &problem.approval {
        text = format!("{text}\n  {}", approval.describe());
    }
    if let Some(resolution) = &problem.resolution {
        text = format!("{text}\n  {}", describe_resolution(resolution));
    }
    let fix = problem.code.fix();
    // The fixes of these two codes are instructions for authors of clients. The message already states what a person
    // can do.
    let is_said = matches!(problem.code, Code::InvalidRequest | Code::Unauthenticated)
        || problem.resolution.is_some()
        || problem.detail.contains(fix);
    if !is_said {
        text = format!("{text}\n  {}", with_program_name(fix));
    }
    // Id of the request in the server's log.
    let request = problem.request_id.as_ref().map(|id| format!(", request {id}")).unwrap_or_default();
    plain::text(&format!("{text} [{}{request}]", problem.code.as_str())).into_owned()
}

/// Percent-encodes a text so that it is one segment of a URL path (RFC 3986, 2.3).
pub(crate) fn segment(text: &str) -> String {
    let written = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(written).collect()
}

/// Describes an invalid field of a request body, as a clause for the middle of an error message.
fn describe_field_error(error: &FieldError) -> String {
    const VERBS: [&str; 14] = [
        "is", "are", "has", "must", "can", "cannot", "holds", "names", "takes", "needs", "contains",
        "exceeds", "leads", "carries",
    ];
    let (what, message) = (argument_for_pointer(&error.pointer), &error.message);
    let goes_on = message.split_whitespace().next().is_some_and(|word| VERBS.contains(&word));
    if goes_on && !what.contains(", at ") {
        format!("{what} {message}")
    } else {
        format!("{what}: {message}")
    }
}

/// Returns the command-line argument that sets a member of a request body, such as `--text` for `/text`. Returns the
/// JSON pointer to the member if no argument sets it.
fn argument_for_pointer(pointer: &str) -> String {
    const ARGUMENTS: [(&str, &str); 9] = [
        ("/config/workspace", "--workspace"),
        ("/config/model", "--model"),
        ("/input/task", "the task"),
        ("/workflow", "the workflow"),
        ("/session", "--session"),
        ("/option", "the option"),
        ("/text", "--text"),
        ("/edit", "--edit"),
        ("/until", "--until"),
    ];
    if pointer.is_empty() {
        return "the body".to_owned();
    }
    for (place, argument) in ARGUMENTS {
        match pointer.strip_prefix(place) {
            Some("") => return argument.to_owned(),
            Some(rest) if rest.starts_with('/') => return format!("{argument}, at {rest}"),
            Some(_) | None => {}
        }
    }
    pointer.to_owned()
}

/// Returns true if the detail of a problem says nothing beyond its title and its resolution, which are printed anyway.
fn repeats(problem: &Problem) -> bool {
    match problem.code {
        Code::AlreadyResolved => true,
        Code::Expired => problem.resolution.is_some(),
        _ => false,
    }
}

/// Returns the rest of a problem's detail if the detail begins with the title. Returns `None` if it does not.
fn beyond_title(problem: &Problem) -> Option<&str> {
    let (start, rest) = problem.detail.split_at_checked(problem.title.len())?;
    start.eq_ignore_ascii_case(&problem.title).then_some(rest)
}

fn describe_resolution(resolution: &Resolution) -> String {
    let mut text = crate::terminal::card::outcome(resolution.outcome);
    if let Some(option) = &resolution.option {
        text = format!("{text} with `{option}`");
    }
    text = format!(
        "{text} by {}, {}",
        resolution.describe_deciders(),
        crate::terminal::time::ago(&resolution.at)
    );
    match &resolution.text {
        Some(words) => format!("{text}: “{}”", plain::line(words)),
        None => text,
    }
}

#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    target: Arc<RwLock<Target>>,
    /// Arguments with which the client can look up the server's address again. `None` if the server runs in the
    /// client's process.
    reach: Option<Reach>,
    words: Arc<str>,
}

#[derive(Clone, Debug)]
struct Target {
    base: Url,
    /// Token for the server. `None` while this terminal is not signed in at the server.
    token: Option<String>,
    from: From,
}

/// Origin of a client's token: an environment variable, a login, or the data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Environment,
    /// The token belongs to a login of this terminal.
    Login,
    DataFolder,
}

impl Client {
    /// Creates a client for the server that the command-line arguments select. Without such arguments, the client uses
    /// the server of the default data folder.
    pub(crate) fn find(reach: &Reach) -> anyhow::Result<Self> {
        Self::new(target(reach)?, Some(reach.clone()), &render_server_arguments(reach)?)
    }

    /// Creates a client for an address and a token. `words` are the command-line arguments with which another command
    /// selects the same server.
    pub(crate) fn with_token(address: &str, token: &str, words: &str) -> anyhow::Result<Self> {
        Self::new(
            Target { base: Url::parse(address)?, token: Some(token.to_owned()), from: From::DataFolder },
            None,
            words,
        )
    }

    /// Creates a client without a token, for a server at which this terminal is not signed in yet.
    pub(crate) fn unknown(server: &Url) -> anyhow::Result<Self> {
        Self::new(Target { base: server.clone(), token: None, from: From::Login }, None, "")
    }

    /// Returns true if the client's token is from a login of this terminal.
    pub(crate) fn is_signed_in(&self) -> bool {
        self.target().from == From::Login
    }

    fn new(target: Target, reach: Option<Reach>, words: &str) -> anyhow::Result<Self> {
        let http = holdshort_http::client_to(&target.base)
            .user_agent(concat!("holdshort/", env!("CARGO_PKG_VERSION")))
            // A proxy from the environment cannot reach a server on this machine, and must not receive the token of
            // that server.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIME)
            .read_timeout(SILENCE)
            .build()
            .context("the HTTP client cannot be built")?;
        Ok(Self { http, target: Arc::new(RwLock::new(target)), reach, words: words.into() })
    }

    pub(crate) fn address(&self) -> String {
        self.target().base.as_str().trim_end_matches('/').to_owned()
    }

    /// Returns the command-line arguments with which another command selects the same server. The result is empty or
    /// begins with a space.
    pub(crate) fn server_arguments(&self) -> &str {
        &self.words
    }

    /// Looks up the server's address and token again. After a restart the server may listen at another address, and
    /// another program may listen at the previous address.
    fn find_again(&self) -> anyhow::Result<Target> {
        let Some(reach) = &self.reach else { return Ok(self.target()) };
        let found = target(reach)?;
        self.target.write().unwrap_or_else(PoisonError::into_inner).clone_from(&found);
        Ok(found)
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.ask(self.request(Method::GET, path)?).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        self.ask(self.request(Method::POST, path)?.json(body)).await
    }

    /// Reports to the server that the person at the terminal has seen the whole card of an interrupt. Errors are
    /// ignored, because the server rejects the report of a person who may not decide.
    pub(crate) async fn looked(&self, interrupt: &str) {
        let (path, body) = (format!("/v1/interrupts/{interrupt}/views"), json!({}));
        let _ = tokio::time::timeout(LOOK_TIME, self.post::<Value>(&path, &body)).await;
    }

    pub(crate) async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        self.ask(self.request(Method::PUT, path)?.json(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> anyhow::Result<Value> {
        self.ask(self.request(Method::DELETE, path)?).await
    }

    /// Returns the body of the server's response as text, for example an HTML page.
    pub(crate) async fn text(&self, path: &str) -> anyhow::Result<String> {
        let response = self.send(self.request(Method::GET, path)?.timeout(REQUEST_TIME)).await?;
        response.text().await.context("the connection ended before the server's response was complete")
    }

    /// Returns the items of all pages of a list endpoint.
    pub(crate) async fn list(&self, path: &str, query: &[(&str, &str)]) -> anyhow::Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut request = self.request(Method::GET, path)?.query(query);
            if let Some(cursor) = &cursor {
                request = request.query(&[("cursor", cursor)]);
            }
            let mut page: List<Value> = self.ask(request).await?;
            items.append(&mut page.items);
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(items),
            }
        }
    }

    /// Calls `look` with each stored event of a run, oldest first.
    pub async fn each_event(&self, run: &str, mut look: impl FnMut(&Event)) -> anyhow::Result<()> {
        let mut since = 0;
        loop {
            let page: List<Event> =
                self.get(&format!("/v1/runs/{run}/events?since={since}&limit={EVENTS}")).await?;
            let Some(last) = page.items.last() else { return Ok(()) };
            since = last.seq;
            page.items.iter().for_each(&mut look);
        }
    }

    /// Opens the stream of a run's events with a sequence number above `since`.
    pub(crate) async fn events(&self, run: &str, since: u64) -> anyhow::Result<Response> {
        let request = self
            .request(Method::GET, &format!("/v1/runs/{run}/events"))?
            .header(reqwest::header::ACCEPT, "text/event-stream")
            .header(header::LAST_EVENT_ID, since.to_string());
        self.send(request).await
    }

    /// Opens the stream of all events after a position in the journal. Without a position, the stream starts with new
    /// events.
    pub(crate) async fn everything(&self, position: Option<&str>) -> anyhow::Result<Response> {
        let mut request =
            self.request(Method::GET, "/v1/events")?.header(reqwest::header::ACCEPT, "text/event-stream");
        if let Some(position) = position {
            request = request.header(header::LAST_EVENT_ID, position);
        }
        self.send(request).await
    }

    fn target(&self) -> Target {
        self.target.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn request(&self, method: Method, path: &str) -> anyhow::Result<RequestBuilder> {
        let target = self.find_again()?;
        let url = target.base.join(path).with_context(|| format!("{path} is not a valid URL path"))?;
        let request = self.http.request(method, url).header(header::VIA, "cli");
        Ok(match target.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
    }

    async fn ask<T: DeserializeOwned>(&self, request: RequestBuilder) -> anyhow::Result<T> {
        let response = self.send(request.timeout(REQUEST_TIME)).await?;
        if response.status() == StatusCode::NO_CONTENT {
            return Ok(serde_json::from_value(Value::Null)?);
        }
        let text = response
            .text()
            .await
            .context("the connection ended before the server's response was complete")?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} sent a response that this version cannot read", self.address()))
    }

    async fn send(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let response = request.send().await.map_err(|source| {
            let address = self.address();
            if let Some(why) = refused_certificate(&source) {
                usage(format!(
                    "the certificate of {address} is not trusted: {why}; if your own authority issued it, \
                     set SSL_CERT_FILE to a file with all trusted authorities"
                ))
            } else if source.is_connect() {
                no_server(format!(
                    "no server answers at {address}; start a server with `{} serve`, or name the address of \
                     a running server with --server URL",
                    holdshort()
                ))
            } else {
                anyhow::Error::new(source.without_url()).context(format!("{address} did not respond"))
            }
        })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let named = find_id(response.url()).map(str::to_owned);
        let text = response.text().await.unwrap_or_default();
        match serde_json::from_str::<Problem>(&text) {
            Ok(problem) => Err(self.refused(problem, named.as_deref())),
            Err(_) => anyhow::bail!(
                "{} answered {status}: no Holdshort server runs at this address, or the server has another \
                version",
                self.address()
            ),
        }
    }

    fn refused(&self, mut problem: Problem, named: Option<&str>) -> anyhow::Error {
        if problem.code == Code::NotFound
            && let Some(id) = named
        {
            if !problem.detail.contains(id) {
                problem.detail = format!("{}: {id}", problem.detail);
            }
            let lists = id.split_once('_').map_or("inbox --all", |(kind, _)| listed_by(kind));
            problem.detail = format!(
                "{}\n  `{} {lists}{}` lists the existing ones",
                problem.detail,
                holdshort(),
                self.server_arguments()
            );
        }
        if problem.code == Code::Frozen {
            problem.detail = format!(
                "{}\n  `{} doctor{}` shows what is frozen, why, and how to lift the freeze",
                problem.detail,
                holdshort(),
                self.server_arguments()
            );
        }
        if problem.code == Code::Unauthenticated {
            problem.detail = self.unknown_token(&problem.detail);
        }
        Refused(problem).into()
    }

    /// Returns the message for a token that the server rejected, with advice that depends on the origin of the token.
    /// `said` is the explanation of the server.
    fn unknown_token(&self, said: &str) -> String {
        let at = self.address();
        let Target { token, from, .. } = self.target();
        if said != Code::Unauthenticated.fix() && from != From::Login {
            return match said.strip_prefix("the token:") {
                Some(why) if from == From::Environment => format!("the token in HOLDSHORT_TOKEN:{why}"),
                _ => said.to_owned(),
            };
        }
        if self.is_signed_in() {
            return format!(
                "the login at {at} has ended; sign in again with `{} login --server {}`",
                holdshort(),
                quoted(&at)
            );
        }
        let token = token.unwrap_or_default();
        if from == From::Environment && token.starts_with("ey") && token.split('.').count() == 3 {
            return format!(
                "the server at {at} rejects the JWT in HOLDSHORT_TOKEN: its issuer is not trusted, or its signature does not \
                 match [[identity.jwt]] in holdshort.toml; with HOLDSHORT_LOG=debug the server logs the reason"
            );
        }
        if from == From::Environment && token.starts_with("hs_key_") {
            return format!(
                "the server at {at} rejects the key in HOLDSHORT_TOKEN, because the key is unknown, expired \
                 or revoked; `{} keys` lists the valid keys",
                holdshort()
            );
        }
        if from == From::Environment {
            return format!(
                "the server at {at} rejects the token in HOLDSHORT_TOKEN; unset the variable and name the \
                 server's folder with --data DIR, or set the variable to the token `operator` in \
                 tokens.json of that folder"
            );
        }
        format!(
            "the server at {at} uses another data folder; pass that folder with --data DIR, or set \
             HOLDSHORT_TOKEN to the token `operator` in tokens.json of that folder"
        )
    }
}

/// Returns true if the server rejected exactly one field of the request body, and `pointer` is the JSON pointer to this
/// field.
pub(crate) fn is_refused_at(error: &anyhow::Error, pointer: &str) -> bool {
    error
        .downcast_ref::<Refused>()
        .is_some_and(|refused| matches!(&refused.0.errors[..], [only] if only.pointer == pointer))
}

pub(crate) fn code(error: &anyhow::Error) -> Option<Code> {
    error.downcast_ref::<Refused>().map(|refused| refused.0.code)
}

/// Returns the fields of a request body that the server rejected as invalid. Returns none for any other error.
pub(crate) fn errors(error: &anyhow::Error) -> &[FieldError] {
    error.downcast_ref::<Refused>().map_or(&[], |refused| &refused.0.errors)
}

/// Returns true if a retry of a failed request may succeed: no response arrived, or the server was temporarily unable
/// to respond.
pub(crate) fn is_passing(error: &anyhow::Error) -> bool {
    match code(error) {
        Some(code) => matches!(code, Code::Stopping | Code::StoreFailed | Code::Busy | Code::TooManyStreams),
        None => true,
    }
}

/// Checks that an id contains only characters that are valid in a URL path.
pub(crate) fn id(text: &str) -> anyhow::Result<&str> {
    let fits = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if fits { Ok(text) } else { Err(usage(format!("`{}` is not an id", plain::line(text)))) }
}

/// Returns the command-line arguments with which another command selects the same server. The result is empty for the
/// server of the default data folder.
fn render_server_arguments(reach: &Reach) -> anyhow::Result<String> {
    let server = reach.server.as_deref().map(|url| format!(" --server {}", quoted(url)));
    Ok(format!("{}{}", DataDir::resolve(reach.data.as_deref())?.arguments(), server.unwrap_or_default()))
}

/// Returns the address and the token of the server that the command-line arguments select. Without such arguments, this
/// is the server whose process has locked the data folder. The token must not be sent to any other server.
fn target(reach: &Reach) -> anyhow::Result<Target> {
    let data_dir = DataDir::resolve(reach.data.as_deref())?;
    let address = reach.server.clone().or_else(|| data_dir.listening()).ok_or_else(|| data_dir.unserved())?;
    let base = self::address(&address)?;
    let given = std::env::var("HOLDSHORT_TOKEN").ok().filter(|token| !token.is_empty());
    if let Some(token) = given {
        return Ok(Target { base, token: Some(token), from: From::Environment });
    }
    if reach.server.is_some()
        && let Some(login) = login_store::find(&data_dir, &base)?
    {
        return Ok(Target { base, token: Some(login.token), from: From::Login });
    }
    // The token of a data folder is for the server on this machine. The token is sent to another server only if the
    // person named the data folder.
    let is_for_it = reach.server.is_none() || reach.data.is_some() || is_loopback(&base);
    let token = is_for_it.then(|| data_dir.token()).transpose()?.flatten().ok_or_else(|| {
        let elsewhere = reach.server.as_deref().map(|server| {
            format!(", or sign in there with `{} login --server {}`", holdshort(), quoted(server))
        });
        usage(format!(
            "the folder {} contains no token for this server; name the server's folder with --data DIR, or \
            set HOLDSHORT_TOKEN{}",
            data_dir.path.display(),
            elsewhere.unwrap_or_default()
        ))
    })?;
    Ok(Target { base, token: Some(token), from: From::DataFolder })
}

/// Parses the address of a server. Rejects plain HTTP to another machine, because the client would send the token
/// unencrypted.
pub(crate) fn address(text: &str) -> anyhow::Result<Url> {
    let base = Url::parse(&with_scheme(text))
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let base = base.ok_or_else(|| {
        usage(format!("`{text}` is not an address such as http://127.0.0.1:7349 or localhost:7349"))
    })?;
    if base.scheme() == "http" && !is_loopback(&base) {
        return Err(usage(format!(
            "{text} is on another machine: use https, because http would send the token unencrypted"
        )));
    }
    Ok(base)
}

/// Prefixes of ids, each with the kind of object that the prefix identifies.
const KINDS: [(&str, &str); 6] = [
    ("run", "a run"),
    ("int", "an interrupt"),
    ("ses", "a session"),
    ("gra", "a grant"),
    ("key", "a key"),
    ("dlv", "a delivery"),
];

/// Returns the command that lists the ids of a kind of object.
fn listed_by(kind: &str) -> &'static str {
    match kind {
        "run" | "ses" => "sessions",
        "gra" => "grants",
        "key" => "keys",
        "dlv" => "deliveries",
        _ => "inbox --all",
    }
}

/// Checks that an id has the given prefix: `run`, `int`, `ses`, `gra`, `key` or `dlv`. The error for an id of another
/// kind names this kind.
pub(crate) fn id_of<'a>(text: &'a str, prefix: &str) -> anyhow::Result<&'a str> {
    let text = id(text)?;
    let name = |prefix: &str| KINDS.iter().find(|(each, _)| *each == prefix).map(|(_, name)| *name);
    let wanted = name(prefix).unwrap_or(prefix);
    let found = text.split_once('_').map_or("", |(prefix, _)| prefix);
    match name(found) {
        Some(_) if found == prefix => Ok(text),
        Some(other) => Err(usage(format!("{text} is {other}, not {wanted}"))),
        None => Err(usage(format!("`{text}` is not the id of {wanted}, such as {prefix}_…"))),
    }
}

/// Returns the first id of a known kind in the path of a URL.
fn find_id(url: &Url) -> Option<&str> {
    url.path_segments()?.find(|part| {
        part.split_once('_').is_some_and(|(prefix, _)| KINDS.iter().any(|(each, _)| *each == prefix))
    })
}

/// Adds `http://` to an address of the form `HOST:PORT`, such as `localhost:7349`.
fn with_scheme(address: &str) -> String {
    let is_host_and_port = !address.contains('/')
        && address
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if is_host_and_port { format!("http://{address}") } else { address.to_owned() }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}
