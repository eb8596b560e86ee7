//! A server on a temporary folder, and a client that speaks to it with one token.

use std::path::Path;
use std::time::Duration;

use holdshort_server::{Options, Server, StartError, start};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Everything in these tests happens at once or never.
pub(crate) const SOON: Duration = Duration::from_secs(20);

pub(crate) fn options(data: &Path) -> Options {
    Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        data: data.to_owned(),
        workflows: None,
        model: holdshort_models::Settings::default(),
        sandbox_program: "/bin/false".into(),
    }
}

pub(crate) struct Served {
    server: Server,
    options: Options,
    folder: TempDir,
}

impl Served {
    pub(crate) async fn new() -> Self {
        Self::with(|_| ()).await
    }

    /// With a workflow of one checkpoint, which needs no model.
    pub(crate) async fn with_checkpoint() -> Self {
        let workflow = "name: look\n\
             description: A person looks\n\
             phases:\n  - id: look\n    kind: checkpoint\n    message: Is it good?\n";
        Self::with_workflow(workflow, |_| ()).await
    }

    /// With a workflow of its own.
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

    pub(crate) async fn with(change: impl FnOnce(&mut Options)) -> Self {
        Self::on(tempfile::tempdir().unwrap(), change).await.unwrap()
    }

    async fn on(folder: TempDir, change: impl FnOnce(&mut Options)) -> Result<Self, StartError> {
        let mut options = options(&folder.path().join("data"));
        change(&mut options);
        Ok(Self { server: start(options.clone()).await?, options, folder })
    }

    /// On a folder that another one has left.
    pub(crate) async fn again(folder: TempDir) -> Self {
        Self::on(folder, |_| ()).await.unwrap()
    }

    /// The operator of a server that was started by hand.
    pub(crate) fn client(server: &Server) -> Api {
        Api {
            base: format!("http://{}", server.address()),
            token: Some(server.token().to_owned()),
            client: reqwest::Client::new(),
        }
    }

    /// Stops, and starts again on the same folder. The port is another one.
    pub(crate) async fn restart(self) -> Self {
        let Self { server, options, folder } = self;
        server.stop().await;
        Self { server: start(options.clone()).await.unwrap(), options, folder }
    }

    pub(crate) async fn stop(self) -> TempDir {
        self.server.stop().await;
        self.folder
    }

    pub(crate) fn data(&self) -> &Path {
        &self.options.data
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.server.address()
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
            client: reqwest::Client::new(),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Api {
    base: String,
    token: Option<String>,
    client: reqwest::Client,
}

/// What an answer comes to.
pub(crate) type Said = (u16, Value);

impl Api {
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base)).timeout(SOON);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Said {
        said(self.request(Method::GET, path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Said {
        said(self.request(Method::DELETE, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Said {
        said(self.request(Method::POST, path).json(body)).await
    }

    /// A body that may be no JSON.
    pub(crate) async fn post_raw(&self, path: &str, body: impl Into<reqwest::Body>) -> Said {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        said(request.body(body)).await
    }

    /// Asks a yes-or-no question, and gives the interrupt.
    pub(crate) async fn ask(&self) -> Value {
        created(self.post("/v1/interrupts", &question()).await)
    }

    pub(crate) async fn decide(&self, interrupt: &Value, decision: &Value) -> Said {
        let id = text(interrupt, "id");
        self.post(&format!("/v1/interrupts/{id}/decisions"), decision).await
    }

    /// Starts a run of the workflow `external`, and gives it.
    pub(crate) async fn start_external(&self) -> Value {
        created(self.post("/v1/runs", &json!({"workflow": "external", "input": {"task": "t"}})).await)
    }
}

/// An approval that an agent of another framework asks for.
pub(crate) fn question() -> Value {
    json!({
        "kind": "tool_approval", "title": "Delete 41 branches", "message": "All are merged.",
        "payload": {"tool": "git", "arguments": {"branches": 41}}
    })
}

pub(crate) async fn said(request: RequestBuilder) -> Said {
    read(request.send().await.unwrap()).await
}

pub(crate) async fn read(response: Response) -> Said {
    let status = response.status().as_u16();
    let bytes = response.bytes().await.unwrap();
    let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
    (status, body)
}

pub(crate) fn created(said: Said) -> Value {
    assert_eq!(said.0, 201, "{}", said.1);
    said.1
}

pub(crate) fn ok(said: Said) -> Value {
    assert_eq!(said.0, 200, "{}", said.1);
    said.1
}

/// Status, code and pointers of a problem.
pub(crate) fn refusal(said: &Said) -> (u16, &str, Vec<&str>) {
    let errors = said.1["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let pointers = errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect();
    (said.0, said.1["code"].as_str().unwrap_or("no code"), pointers)
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no text `{field}` in {value}"))
}
