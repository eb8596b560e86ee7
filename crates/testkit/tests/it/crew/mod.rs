//! Tests of the crew edge over the real binary (contracts D2 to D7, D9, D10, E16 to E20, E29, E30, E35, E36; cases 37
//! to 43; lessons 53 to 61).

mod access;
mod bad;
mod callbacks;
mod client;
mod crashed;
mod decisions;
mod docs;
mod links;
mod nodes;
mod refusals;
mod socket;
mod summaries;
mod switched_off;
mod tasks;
mod webhooks;

use std::os::unix::fs::PermissionsExt;

use holdshort_testkit::issuer::{KeyServer, Signer, now};
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{Setup, TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};

pub(crate) const BASE: &str = "/edges/crew/api/v1";

/// Workflow of a crew with five agents in sequence. The fourth agent requests a review of its findings.
pub(crate) const WORKFLOW: &str = "
name: fraud
description: Looks for fraud, and reports what a person has released.
agents:
  nlq_translator: {instructions: You translate.}
  graph_analyst: {instructions: You look.}
  fraud_pattern_hunter: {instructions: You hunt.}
  compliance_checker:
    instructions: You check.
    tools: [request_review]
  report_writer: {instructions: You write.}
phases:
  - {id: translate, kind: one_shot, agent: nlq_translator}
  - {id: analyse, kind: one_shot, agent: graph_analyst}
  - {id: hunt, kind: one_shot, agent: fraud_pattern_hunter}
  - {id: check, kind: one_shot, agent: compliance_checker}
  - {id: report, kind: one_shot, agent: report_writer}
";
const AGENTS: [&str; 5] =
    ["nlq_translator", "graph_analyst", "fraud_pattern_hunter", "compliance_checker", "report_writer"];

/// Returns the reply with which the agent `checker` of the crew requests a review.
pub(crate) fn review() -> Scripted {
    Scripted::call(
        "request_review",
        json!({
            "title": "Three transfers below the threshold",
            "content": "Account A split 14,000 into three.",
            "findings": ["structuring", "velocity"],
            "risk_level": "high",
            "regulatory_implications": ["SAR filing"],
        }),
    )
}

/// Starts a model with replies for all five agents of the crew. The checker requests a review, and has no further
/// replies.
pub(crate) async fn model() -> ScriptedModel {
    let model = ScriptedModel::start().await;
    for agent in AGENTS {
        let said = match agent {
            "compliance_checker" => review(),
            "report_writer" => Scripted::text(r#"{"report": "done", "cases": 1}"#),
            other => Scripted::text(format!("{other} is done")),
        };
        model.script(agent, vec![said]);
    }
    model
}

pub(crate) fn setup(model: &ScriptedModel) -> Setup {
    TestServer::setup().workflow("fraud", WORKFLOW).model(model).env("CREW_RUNS_PER_MINUTE", "1000")
}

pub(crate) async fn server() -> (ScriptedModel, TestServer) {
    let model = model().await;
    let server = setup(&model).start().await;
    (model, server)
}

pub(crate) async fn get(server: &TestServer, path: &str) -> Value {
    server.get(&format!("{BASE}{path}")).await.ok()
}

pub(crate) async fn post(server: &TestServer, path: &str, body: &Value) -> (u16, Value) {
    let answer = server.post(&format!("{BASE}{path}"), body).await;
    (answer.status, answer.body)
}

pub(crate) async fn ask(
    server: &TestServer,
    token: &str,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> (u16, Value) {
    let client = holdshort_http::plain().no_proxy().build().expect("a client");
    let mut request = client.request(method, format!("{}{BASE}{path}", server.base())).bearer_auth(token);
    if let Some(body) = body {
        request = request.json(body);
    }
    let answer = request.send().await.expect("an answer");
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

/// Starts the crew in the background and waits until its task is paused. Returns the ids of the task and the review.
pub(crate) async fn paused(server: &TestServer) -> (String, String) {
    let body = json!({"crew_name": "fraud", "inputs": {"case": "T123"}, "async_execution": true});
    let (status, run) = post(server, "/crew/run", &body).await;
    assert_eq!(status, 200, "{run}");
    let task = run["task_id"].as_str().expect("an id").to_owned();
    let shown = wait_state(server, &task, "PAUSED").await;
    (task, shown["review_id"].as_str().expect("a review").to_owned())
}

/// Starts the crew in the background and waits until it calls the model of the analyst. That model replies after it is
/// [released](ScriptedModel::release). Returns the id of the task.
pub(crate) async fn at_the_analyst(model: &ScriptedModel, server: &TestServer) -> String {
    model.script("graph_analyst", vec![Scripted::Hang(Box::new(Scripted::text("graph_analyst is done")))]);
    let body = json!({"crew_name": "fraud", "async_execution": true});
    let (_, run) = post(server, "/crew/run", &body).await;
    eventually("the analyst is asked", async || (request_counts(model)[1] == 1).then_some(())).await;
    run["task_id"].as_str().expect("an id").to_owned()
}

pub(crate) async fn wait_state(server: &TestServer, task: &str, state: &str) -> Value {
    eventually(&format!("{task} is {state}"), async || {
        let shown = get(server, &format!("/crew/status/{task}")).await;
        (shown["status"] == state).then_some(shown)
    })
    .await
}

pub(crate) fn request_counts(model: &ScriptedModel) -> Vec<usize> {
    AGENTS.iter().map(|agent| model.requests_of(agent).len()).collect()
}

/// Creates an API key for a service with this role. Returns the secret of the key.
pub(crate) async fn key(server: &TestServer, name: &str, role: &str) -> String {
    let made = server.post("/v1/keys", &json!({"name": name, "role": role})).await.ok();
    made["secret"].as_str().expect("a secret").to_owned()
}

pub(crate) struct Issuer {
    key: Signer,
    _keys: KeyServer,
}

impl Issuer {
    pub(crate) async fn serving(setup: Setup) -> (Self, TestServer) {
        let key = Signer::ec();
        let keys = KeyServer::with_keys(&[("k", &key)]).await;
        let mut server = setup.stopped();
        let config = format!(
            r#"
            [[identity.jwt]]
            issuer = "https://issuer.example"
            audience = ["holdshort"]
            algorithms = ["ES256"]
            jwks_url = "{}"
            leeway_s = 0
            roles = {{ analyst = "operator", compliance = "reviewer", admin = "admin", audit = "auditor", robot = "agent" }}
            "#,
            keys.url()
        );
        let path = server.data().join("holdshort.toml");
        std::fs::write(&path, config).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("changed");
        server.start().await;
        (Self { key, _keys: keys }, server)
    }

    /// Returns a token (JWT) for a person with a role of the source system.
    pub(crate) fn token(&self, sub: &str, role: &str) -> String {
        self.token_until(sub, role, now() + 300)
    }

    pub(crate) fn token_until(&self, sub: &str, role: &str, exp: i64) -> String {
        self.token_with(sub, role, &json!({ "exp": exp }))
    }

    /// Returns a token (JWT) for a person, with additional claims.
    pub(crate) fn token_with(&self, sub: &str, role: &str, more: &Value) -> String {
        let mut claims = json!({
            "iss": "https://issuer.example", "aud": "holdshort", "sub": sub, "roles": [role],
            "iat": now(), "exp": now() + 300,
        });
        for (name, value) in more.as_object().expect("claims") {
            claims[name] = value.clone();
        }
        self.key.token(&json!({"alg": "ES256", "kid": "k", "typ": "JWT"}), &claims)
    }
}
