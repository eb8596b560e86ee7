//! Test server on a temporary directory, with an HTTP client for each token.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use holdshort_core::actor::Role;
use holdshort_core::rights::ROLES;
use holdshort_server::{Options, Pace, Server, StartError, Tuning, start_tuned};
use holdshort_testkit::issuer::{Signer, now};
use holdshort_testkit::rehearsal::hurried;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit of a wait in the tests, in which every event happens at once or never.
pub(crate) const SOON: Duration = Duration::from_secs(20);

const ISSUER: &str = "https://issuer.example";
const ISSUER_SECRET: &[u8] = b"the issuer and the server share this";

pub(crate) fn options(data: &Path) -> Options {
    Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        data: data.to_owned(),
        database: None,
        workflows: None,
        packs: holdshort_server::Packs::default(),
        people: None,
        rules: None,
        channels: None,
        model: holdshort_models::Settings::default(),
        sandbox_program: "/bin/false".into(),
        agent_requests: holdshort_server::AGENT_REQUESTS,
        issuers: Vec::new(),
        provider: None,
        per_minute: holdshort_server::PerMinute::default(),
        crew: holdshort_server::Crew::default(),
        otlp: None,
        keep_content: None,
        accept_loss: None,
        callbacks: holdshort_server::Callbacks::default(),
        front: holdshort_server::PublicEndpoint::default(),
        checkpoints: None,
    }
}

pub(crate) struct Served {
    server: Server,
    options: Options,
    tuning: Tuning,
    folder: TempDir,
}

impl Served {
    pub(crate) async fn new() -> Self {
        Self::with(|_| ()).await
    }

    /// Starts a server with a workflow that has a single checkpoint and needs no model.
    pub(crate) async fn with_checkpoint() -> Self {
        let workflow = "name: look\n\
             description: A person looks\n\
             phases:\n  - id: look\n    kind: checkpoint\n    message: Is it good?\n";
        Self::with_workflow(workflow, |_| ()).await
    }

    pub(crate) async fn with_workflow(workflow: &str, change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workflows = folder.path().join("workflows");
        std::fs::create_dir_all(workflows.join("own")).unwrap();
        std::fs::write(workflows.join("own/workflow.yaml"), workflow).unwrap();
        Self::on(folder, |options| {
            options.workflows = Some(workflows);
            change(options);
        })
        .await
        .unwrap()
    }

    /// Starts a server with the workflow `own`. The only agent of this workflow plays the script in the directory
    /// `workspace`, and all its calls ask for approval.
    pub(crate) async fn playing(steps: &str) -> Self {
        let workflow = "name: own\nagents:\n  ada:\n    instructions: Do it.\n    tools: [ask_human, \
             write_file, edit_file, run_command, create_plan, request_review]\n\
             phases:\n  - id: work\n    kind: one_shot\n    agent: ada\n";
        Self::with_workflow_and_rehearsal(workflow, &format!("agents:\n  ada:\n{steps}")).await
    }

    /// Starts a server with the given workflow as `own`, its rehearsal script, and the directory `workspace`.
    pub(crate) async fn with_workflow_and_rehearsal(workflow: &str, rehearsal: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("workflows/own");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir(folder.path().join("workspace")).unwrap();
        std::fs::write(own.join("workflow.yaml"), workflow).unwrap();
        std::fs::write(own.join("rehearsal.yaml"), hurried(rehearsal)).unwrap();
        let workflows = folder.path().join("workflows");
        Self::on(folder, |options| options.workflows = Some(workflows)).await.unwrap()
    }

    pub(crate) fn workspace(&self) -> std::path::PathBuf {
        self.folder.path().join("workspace")
    }

    /// Starts a run on a server from [`Served::playing`]. Returns the first interrupt of this run.
    pub(crate) async fn held(&self) -> Value {
        let workspace = self.workspace();
        let config = json!({"workspace": workspace, "model": "rehearsal"});
        let start = json!({"workflow": "own", "input": {"task": "t"}, "config": config});
        let run = created(self.operator().post("/v1/runs", &start).await);
        self.next_of(text(&run, "id")).await
    }

    pub(crate) async fn next_of(&self, run: &str) -> Value {
        self.open_of(run, 1).await.swap_remove(0)
    }

    /// Returns the open interrupts of a run as soon as there are at least `count` of them.
    pub(crate) async fn open_of(&self, run: &str, count: usize) -> Vec<Value> {
        let path = format!("/v1/interrupts?status=open&run={run}");
        let waited = tokio::time::timeout(SOON, async {
            loop {
                let list = ok(self.operator().get(&path).await);
                if let Some(open) = list["items"].as_array().filter(|open| open.len() >= count) {
                    return open.clone();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let Ok(open) = waited.await else {
            panic!("{:?}", self.operator().get(&format!("/v1/runs/{run}/events")).await)
        };
        open
    }

    pub(crate) async fn ended(&self, run: &str) -> Value {
        let waited = tokio::time::timeout(SOON, async {
            loop {
                let run = ok(self.operator().get(&format!("/v1/runs/{run}")).await);
                if matches!(run["status"].as_str(), Some("completed" | "failed" | "cancelled")) {
                    return run;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let Ok(run) = waited.await else {
            panic!("{:?}", self.operator().get(&format!("/v1/runs/{run}/events")).await)
        };
        run
    }

    /// Starts a server that accepts tokens of an issuer for every role.
    pub(crate) async fn with_issuer() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let secret_file = folder.path().join("issuer.secret");
        std::fs::write(&secret_file, ISSUER_SECRET).unwrap();
        std::fs::set_permissions(&secret_file, PermissionsExt::from_mode(0o600)).unwrap();
        let roles: BTreeMap<_, _> = ROLES.map(|role| (role.as_str(), role.as_str())).into();
        let issuer = json!({
            "issuer": ISSUER, "audience": ["holdshort"], "algorithms": ["HS256"], "secret_file": secret_file,
            "roles": roles,
        });
        let issuer = serde_json::from_value(issuer).unwrap();
        Self::on(folder, |options| options.issuers = vec![issuer]).await.unwrap()
    }

    /// Returns a caller with a single role, authenticated by a token of the issuer.
    pub(crate) fn issued(&self, id: &str, role: Role) -> Api {
        let header = json!({"alg": "HS256", "typ": "JWT"});
        let claims = json!({
            "iss": ISSUER, "aud": "holdshort", "sub": id, "roles": [role.as_str()], "iat": now() - 10,
            "exp": now() + 3_600,
        });
        self.api(Some(&Signer::secret(ISSUER_SECRET).token(&header, &claims)))
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Options)) -> Self {
        Self::on(tempfile::tempdir().unwrap(), change).await.unwrap()
    }

    pub(crate) async fn paced(pace: Pace) -> Self {
        let tuning = Tuning { pace, ..Tuning::default() };
        Self::tuned(tempfile::tempdir().unwrap(), tuning, |_| ()).await.unwrap()
    }

    /// Starts a server with these time limits for connections of clients and the given workflow.
    pub(crate) async fn paced_with_workflow(pace: Pace, workflow: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workflows = folder.path().join("workflows");
        std::fs::create_dir_all(workflows.join("own")).unwrap();
        std::fs::write(workflows.join("own/workflow.yaml"), workflow).unwrap();
        let tuning = Tuning { pace, ..Tuning::default() };
        Self::tuned(folder, tuning, |options| options.workflows = Some(workflows)).await.unwrap()
    }

    pub(crate) async fn with_tuning(tuning: Tuning) -> Self {
        Self::tuned(tempfile::tempdir().unwrap(), tuning, |_| ()).await.unwrap()
    }

    /// Starts a server that keeps few recent events for its followers, so that slow followers soon fall behind.
    pub(crate) async fn remembering(recent_events: usize) -> Self {
        let tuning = Tuning { recent_events: Some(recent_events), ..Tuning::default() };
        Self::tuned(tempfile::tempdir().unwrap(), tuning, |_| ()).await.unwrap()
    }

    async fn on(folder: TempDir, change: impl FnOnce(&mut Options)) -> Result<Self, StartError> {
        Self::tuned(folder, Tuning::default(), change).await
    }

    async fn tuned(
        folder: TempDir,
        tuning: Tuning,
        change: impl FnOnce(&mut Options),
    ) -> Result<Self, StartError> {
        let mut options = options(&folder.path().join("data"));
        change(&mut options);
        Ok(Self { server: Box::pin(start_tuned(options.clone(), tuning)).await?, options, tuning, folder })
    }

    /// Starts a server on the data folder of a stopped server.
    pub(crate) async fn again(folder: TempDir) -> Self {
        Self::on(folder, |_| ()).await.unwrap()
    }

    /// Returns a client with the operator token of a server that the test itself started.
    pub(crate) fn client(server: &Server) -> Api {
        Api {
            base: format!("http://{}", server.address()),
            token: Some(server.token().to_owned()),
            login: None,
            client: client(),
        }
    }

    /// Restarts the server on the same data folder. The port changes.
    pub(crate) async fn restart(self) -> Self {
        let Self { server, options, tuning, folder } = self;
        server.stop().await;
        Self {
            server: Box::pin(start_tuned(options.clone(), tuning)).await.unwrap(),
            options,
            tuning,
            folder,
        }
    }

    pub(crate) async fn restart_with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self.restart().await
    }

    /// Stops the server and expects that the next start fails. Returns the error.
    pub(crate) async fn restart_refused(self) -> String {
        let Self { server, options, tuning, folder: _folder } = self;
        server.stop().await;
        Box::pin(start_tuned(options, tuning)).await.err().expect("it does not start").to_string()
    }

    pub(crate) async fn stop(self) -> TempDir {
        self.server.stop().await;
        self.folder
    }

    pub(crate) fn data(&self) -> &Path {
        &self.options.data
    }

    /// Restarts the server on the same data folder and the same address.
    pub(crate) async fn restart_here(mut self) -> Self {
        self.options.listen = self.address();
        self.restart().await
    }

    /// Returns the login code in the URL of a new login link.
    pub(crate) fn code(&self) -> String {
        let link = self.server.login_link().unwrap();
        let start = format!("http://{}/login#", self.address());
        link.strip_prefix(&start).unwrap().to_owned()
    }

    /// Returns a client with the cookie of a signed-in browser.
    pub(crate) async fn browser(&self) -> Api {
        let response = self.api(None).redeem(&self.code()).await;
        assert_eq!(response.status(), 200);
        let cookie = response.headers()["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let login: Value = response.json().await.unwrap();
        self.signed_in(Login { cookie, secret: text(&login, "secret").to_owned() })
    }

    pub(crate) fn signed_in(&self, login: Login) -> Api {
        Api { login: Some(login), ..self.api(None) }
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.server.address()
    }

    pub(crate) fn token(&self) -> &str {
        self.server.token()
    }

    /// Returns the number of waiting long polls, from the metrics.
    pub(crate) async fn polls(&self) -> u32 {
        let told = fetch_page(self.operator().request(Method::GET, "/metrics")).await.text;
        let polls = told.lines().find_map(|line| line.strip_prefix("holdshort_long_polls "));
        polls.unwrap().parse().unwrap()
    }

    pub(crate) fn agent_token(&self) -> &str {
        self.server.agent_token()
    }

    pub(crate) fn operator(&self) -> Api {
        self.api(Some(self.server.token()))
    }

    pub(crate) fn agent(&self) -> Api {
        self.api(Some(self.server.agent_token()))
    }

    pub(crate) fn api(&self, token: Option<&str>) -> Api {
        Api {
            base: format!("http://{}", self.address()),
            token: token.map(str::to_owned),
            login: None,
            client: client(),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Api {
    base: String,
    token: Option<String>,
    login: Option<Login>,
    client: reqwest::Client,
}

/// Returns a client that does not decompress responses.
fn client() -> reqwest::Client {
    holdshort_http::plain().no_gzip().no_brotli().no_deflate().no_zstd().build().unwrap()
}

#[derive(Clone)]
pub(crate) struct Login {
    /// Cookie of the login, in the form `holdshort_PORT=VALUE`.
    pub(crate) cookie: String,
    pub(crate) secret: String,
}

pub(crate) type StatusAndBody = (u16, Value);

impl Api {
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base)).timeout(SOON);
        let request = match &self.login {
            Some(login) => {
                request.header("cookie", &login.cookie).header("x-holdshort-secret", &login.secret)
            }
            None => request,
        };
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(crate) fn token(&self) -> &str {
        self.token.as_deref().unwrap_or_default()
    }

    /// Sends a GET request for JSON to a route that can also return an event stream.
    pub(crate) async fn get_json(&self, path: &str) -> StatusAndBody {
        send_request(self.request(Method::GET, path).header("accept", "application/json")).await
    }

    pub(crate) fn login(&self) -> &Login {
        self.login.as_ref().unwrap()
    }

    pub(crate) async fn redeem(&self, code: &str) -> Response {
        self.request(Method::POST, "/v1/login").json(&json!({"code": code})).send().await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> StatusAndBody {
        send_request(self.request(Method::GET, path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> StatusAndBody {
        send_request(self.request(Method::DELETE, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> StatusAndBody {
        send_request(self.request(Method::POST, path).json(body)).await
    }

    /// Sends a POST request with a body that may be invalid JSON.
    pub(crate) async fn post_raw(&self, path: &str, body: impl Into<reqwest::Body>) -> StatusAndBody {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        send_request(request.body(body)).await
    }

    /// Asks for an approval as an external agent. Returns the interrupt.
    pub(crate) async fn ask(&self) -> Value {
        created(self.post("/v1/interrupts", &question()).await)
    }

    pub(crate) async fn decide(&self, interrupt: &Value, decision: &Value) -> StatusAndBody {
        let id = text(interrupt, "id");
        self.post(&format!("/v1/interrupts/{id}/decisions"), decision).await
    }

    pub(crate) async fn start_external(&self) -> Value {
        created(self.post("/v1/runs", &json!({"workflow": "external", "input": {"task": "t"}})).await)
    }
}

pub(crate) struct PageResponse {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
}

pub(crate) async fn fetch_page(request: RequestBuilder) -> PageResponse {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    PageResponse { status, headers, text: response.text().await.unwrap() }
}

impl PageResponse {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// Returns the request body with which an external agent asks for an approval.
pub(crate) fn question() -> Value {
    json!({
        "kind": "tool_approval", "title": "Archive 41 branches", "message": "All are merged.",
        "payload": {"tool": "git", "arguments": {"branches": 41}}
    })
}

pub(crate) async fn send_request(request: RequestBuilder) -> StatusAndBody {
    read(request.send().await.unwrap()).await
}

pub(crate) async fn read(response: Response) -> StatusAndBody {
    let status = response.status().as_u16();
    let bytes = response.bytes().await.unwrap();
    // A body that is not JSON, such as metrics, is returned as text.
    let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
    let body = if bytes.is_empty() {
        Value::Null
    } else {
        serde_json::from_slice(&bytes).unwrap_or_else(|_| text())
    };
    (status, body)
}

pub(crate) fn created(said: StatusAndBody) -> Value {
    assert_eq!(said.0, 201, "{}", said.1);
    said.1
}

pub(crate) fn ok(said: StatusAndBody) -> Value {
    assert_eq!(said.0, 200, "{}", said.1);
    said.1
}

/// Returns an interrupt without the card, which lists, frames and responses to decisions do not contain.
pub(crate) fn without_card(mut interrupt: Value) -> Value {
    interrupt.as_object_mut().unwrap().remove("card").expect("a person gets the card");
    interrupt
}

/// Returns the status, the code and the JSON pointers of an error response.
pub(crate) fn refusal(said: &StatusAndBody) -> (u16, &str, Vec<&str>) {
    let errors = said.1["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let pointers = errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect();
    (said.0, said.1["code"].as_str().unwrap_or("no code"), pointers)
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no text `{field}` in {value}"))
}
