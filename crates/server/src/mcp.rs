//! The route `/mcp`: the MCP server over streamable HTTP, for agents.
//!
//! Every message is one POST request, authenticated by itself: the server keeps no MCP sessions, so any node can answer,
//! and a restart changes nothing. The tools use the native API with the credentials of the caller, by requests to the
//! routes in this process.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, Request};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{Extensions, HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use axum::{Router, body};
use futures::FutureExt;
use futures::future::BoxFuture;
use holdshort_core::rights::Permission;
use holdshort_edges::mcp::{AgentApi, ApiRequest, ApiResponse, McpServer, McpSettings};
use holdshort_protocol::{Code, header};
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::limits::{BODY_BYTES, PAGE_BYTES};
use holdshort_web::needs::any;
use holdshort_web::problem::{Answer, Refused};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

const PATH: &str = "/mcp";

/// State of the route: the settings of the MCP server, and the routes of the native API.
#[derive(Clone)]
struct Mcp {
    server: McpServer,
    routes: Router,
}

/// Returns the route. `routes` are the routes of the native API.
pub(crate) fn router(routes: Router) -> Router<AuthState> {
    let nobody = InProcess {
        routes: Router::new(),
        headers: HeaderMap::new(),
        extensions: Extensions::new(),
        base: String::new(),
    };
    let mcp = Mcp { server: McpServer::new(Arc::new(nobody), McpSettings::default()), routes };
    let methods = MethodFilter::POST.or(MethodFilter::GET).or(MethodFilter::DELETE);
    Router::new().route(PATH, any(Permission::Ask).on(on(methods, answer)).layer(Extension(mcp)))
}

async fn answer(caller: Caller, Extension(mcp): Extension<Mcp>, mut request: Request) -> Answer<Response> {
    if !caller.reaches_own() {
        let rule = "only agents use /mcp: create an agent key with `holdshort keys create NAME`";
        return Err(Refused::new(Code::ForbiddenRole, rule));
    }
    let mut headers = HeaderMap::new();
    // The SDK may log the headers of a request, so it does not get the key.
    if let Some(token) = request.headers_mut().remove(AUTHORIZATION) {
        headers.insert(AUTHORIZATION, token);
    }
    let api = InProcess {
        routes: mcp.routes,
        headers,
        extensions: request.extensions().clone(),
        base: caller.app.base.clone(),
    };
    let server = mcp.server.for_agent(Arc::new(api), &caller.actor.id);
    // The guard has checked the host and the origin.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    Ok(service.handle(request).await.into_response())
}

/// Native API of this process, with the credentials of one request.
struct InProcess {
    routes: Router,
    headers: HeaderMap,
    /// Data of the guard about the sender of the request.
    extensions: Extensions,
    base: String,
}

impl AgentApi for InProcess {
    fn send(&self, request: ApiRequest) -> BoxFuture<'_, Result<ApiResponse, String>> {
        self.request(request).boxed()
    }

    fn inbox_url(&self, interrupt: &str) -> String {
        format!("{}/inbox/{interrupt}", self.base)
    }
}

impl InProcess {
    async fn request(&self, request: ApiRequest) -> Result<ApiResponse, String> {
        let ApiRequest { method, path, idempotency_key, body, wait: _ } = request;
        let is_post = method == Method::POST;
        let bytes = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
        let mut inner = Request::new(Body::from(bytes));
        *inner.method_mut() = method;
        *inner.uri_mut() = path.parse().map_err(|error| format!("{error}"))?;
        *inner.extensions_mut() = self.extensions.clone();
        let headers = inner.headers_mut();
        headers.clone_from(&self.headers);
        headers.insert(header::VIA, HeaderValue::from_static("mcp"));
        if is_post {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(key) = idempotency_key.and_then(|key| HeaderValue::try_from(key).ok()) {
            headers.insert(header::IDEMPOTENCY_KEY, key);
        }
        let response: Result<Response, Infallible> =
            TowerToHyperService::new(self.routes.clone()).call(inner).await;
        let Ok(response) = response;
        let after = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
        let status = response.status();
        let body =
            body::to_bytes(response.into_body(), PAGE_BYTES).await.map_err(|error| error.to_string())?;
        Ok(ApiResponse { status, retry_after: after.map(Duration::from_secs), body: body.to_vec() })
    }
}
