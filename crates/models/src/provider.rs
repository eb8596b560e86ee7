//! A model provider that is reached over the network. A call sends one streamed request and returns one reply or
//! failure.
//!
//! A failed request is never retried here. A reply is accepted only if the provider marked its end.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatStreamEvent, JsonSpec, ReasoningEffort, StreamEnd};
use genai::resolver::{AuthData, Endpoint, ProviderConfig};
use genai::{Client, ModelIden, WebConfig};
use holdshort_core::message::{Failure, FailureKind, Reply, Request, RequestedCall, Stop, Usage};
use reqwest::Url;

use crate::base_url::BaseUrl;
use crate::frames::{FrameSummary, Frames};
use crate::mask::Mask;
use crate::source::{self, Error, Settings};
use crate::{Description, Model, arguments, failure, outgoing, stop};

/// Maximum time for connecting to a model provider. After this time the request fails.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Address of Ollama that the provider library always uses.
const OLLAMA: &str = "http://localhost:11434";

/// Provider to which model requests are sent, with its API key.
pub(crate) enum Route {
    /// Requests are sent to a server with the chat-completions API.
    Compatible {
        base_url: BaseUrl,
        key: String,
    },
    OpenAi {
        key: String,
    },
    Anthropic {
        key: String,
    },
    Gemini {
        key: String,
    },
    Ollama,
}

impl Route {
    fn name(&self) -> &'static str {
        match self {
            Self::Compatible { .. } => "openai-compatible",
            Self::OpenAi { .. } => "openai",
            Self::Anthropic { .. } => "anthropic",
            Self::Gemini { .. } => "gemini",
            Self::Ollama => "ollama",
        }
    }

    fn key(&self) -> Option<&str> {
        match self {
            Self::Compatible { key, .. }
            | Self::OpenAi { key }
            | Self::Anthropic { key }
            | Self::Gemini { key } => Some(key),
            Self::Ollama => None,
        }
    }

    fn base_url(&self) -> Option<&BaseUrl> {
        match self {
            Self::Compatible { base_url, .. } => Some(base_url),
            Self::OpenAi { .. } | Self::Anthropic { .. } | Self::Gemini { .. } | Self::Ollama => None,
        }
    }

    /// Returns the URL of the model server. Returns `None` for a provider whose address on the internet is always the
    /// same.
    fn server(&self) -> Option<Url> {
        match self {
            Self::Ollama => Url::parse(OLLAMA).ok(),
            _ => self.base_url().map(|base_url| base_url.url().clone()),
        }
    }

    /// Returns the identifier of a model in the provider library. For a compatible server, adds a namespace (a part
    /// before `::`), which the library removes. The server then receives the name of the model unchanged.
    fn model(&self, name: &str) -> ModelIden {
        match self {
            Self::Compatible { .. } => ModelIden::new(AdapterKind::OpenAI, format!("openai::{name}")),
            Self::OpenAi { .. } => match source::kind(name) {
                AdapterKind::OpenAIResp => ModelIden::new(AdapterKind::OpenAIResp, name),
                _ => ModelIden::new(AdapterKind::OpenAI, name),
            },
            Self::Anthropic { .. } => ModelIden::new(AdapterKind::Anthropic, name),
            Self::Gemini { .. } => ModelIden::new(AdapterKind::Gemini, name),
            Self::Ollama => ModelIden::new(AdapterKind::Ollama, name),
        }
    }
}

pub(crate) struct Provider {
    client: Client,
    route: Route,
    model: String,
    timeout: Duration,
    idle_timeout: Duration,
    mask: Mask,
}

impl Provider {
    pub(crate) fn new(route: Route, model: String, settings: &Settings) -> Result<Self, Error> {
        let endpoint = route.base_url().map(|url| Endpoint::from_owned(url.as_str()));
        Self::at(endpoint, route, model, settings)
    }

    /// Creates a model provider. If `endpoint` is set, all requests are sent to it: a compatible server, or a local
    /// server in a test.
    fn at(
        endpoint: Option<Endpoint>,
        route: Route,
        model: String,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let http =
            route.server().map_or_else(holdshort_http::client, |server| holdshort_http::client_to(&server));
        let mut http = WebConfig::default()
            .with_connect_timeout(CONNECT_TIMEOUT)
            .apply_to_builder(http)
            .redirect(reqwest::redirect::Policy::none());
        let local = matches!(route, Route::Ollama) || route.base_url().is_some_and(BaseUrl::is_loopback);
        if local {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| Error::Client(error.to_string()))?;

        let config = ProviderConfig {
            endpoint,
            auth: Some(route.key().map_or(AuthData::None, AuthData::from_single)),
        };
        let mut client = Client::builder().with_reqwest(http);
        for kind in [
            AdapterKind::OpenAI,
            AdapterKind::OpenAIResp,
            AdapterKind::Anthropic,
            AdapterKind::Gemini,
            AdapterKind::Ollama,
        ] {
            client = client.append_provider_config(kind, config.clone());
        }
        Ok(Self {
            client: client.build().map_err(|error| Error::Client(error.to_string()))?,
            mask: Mask::new(route.key().map(str::to_owned)),
            route,
            model,
            timeout: Duration::from_millis(settings.timeout_ms),
            idle_timeout: Duration::from_millis(settings.idle_timeout_ms),
        })
    }

    async fn stream(
        &self,
        request: &Request,
        on_text: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Reply, Failure> {
        let name = request.model.as_deref().unwrap_or(&self.model);
        let model = self.route.model(name);
        let frames = Arc::new(Frames::default());
        let mut options = self.options(&model, Arc::clone(&frames));
        if let Some(schema) = &request.response_schema {
            options = options.with_response_format(JsonSpec::new("answer", schema.clone()));
        }
        let failed = |error: genai::Error| failure::from_error(&error, self.route.name(), &self.mask);

        let mut stream = self
            .client
            .exec_chat_stream(model, outgoing::request(request), Some(&options))
            .await
            .map_err(failed)?
            .stream;
        let mut text = String::new();
        let mut end = None;
        while let Some(event) = stream.next().await {
            match event {
                Ok(ChatStreamEvent::Chunk(piece)) => {
                    text.push_str(&piece.content);
                    on_text(&piece.content);
                }
                Ok(ChatStreamEvent::End(this)) => {
                    end = Some(this);
                    break;
                }
                Ok(_) => {}
                Err(error) => {
                    let failure = failed(error);
                    // A complete reply stays valid if the connection breaks after the end of the reply.
                    if failure.kind == FailureKind::Cut && frames.seen().ended {
                        break;
                    }
                    return Err(failure);
                }
            }
            if let Some(excess) = frames.seen().excess() {
                return Err(failure::new(FailureKind::Unusable, excess));
            }
        }
        reply(text, end.unwrap_or_default(), &mut frames.seen(), name)
    }

    fn options(&self, model: &ModelIden, frames: Arc<Frames>) -> ChatOptions {
        let options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_tool_calls(model.adapter_kind != AdapterKind::OpenAI)
            .with_raw_frame_sink_arc(frames)
            .with_stream_header_timeout(self.idle_timeout)
            .with_stream_read_timeout(self.idle_timeout);
        match self.route {
            // Without an explicit effort, the library derives an effort from the name of the model: it would send
            // `qwen3-max` as `qwen3` with `reasoning_effort: max`. A budget prevents this, and the library never sends
            // a budget over this API.
            Route::Compatible { .. } => options.with_reasoning_effort(ReasoningEffort::Budget(0)),
            Route::OpenAi { .. } | Route::Anthropic { .. } | Route::Gemini { .. } | Route::Ollama => options,
        }
    }
}

impl Model for Provider {
    fn call<'a>(
        &'a self,
        request: &'a Request,
        on_text: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<Reply, Failure>> {
        Box::pin(async move {
            match tokio::time::timeout(self.timeout, self.stream(request, on_text)).await {
                Ok(result) => result,
                Err(_) => Err(failure::new(
                    FailureKind::TimedOut,
                    format!("the model call took longer than {} ms", self.timeout.as_millis()),
                )),
            }
        })
    }

    fn describe(&self) -> Description {
        Description {
            name: self.model.clone(),
            provider: self.route.name(),
            rehearsal: false,
            base_url: match &self.route {
                Route::Compatible { base_url, .. } => Some(base_url.display_url()),
                Route::Ollama => Some(OLLAMA.to_owned()),
                Route::OpenAi { .. } | Route::Anthropic { .. } | Route::Gemini { .. } => None,
            },
        }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Provider").field(&self.describe()).finish()
    }
}

/// Builds the reply of the model. Returns a failure if the reply is too large, incomplete or empty.
fn reply(text: String, end: StreamEnd, seen: &mut FrameSummary, name: &str) -> Result<Reply, Failure> {
    if let Some(excess) = seen.excess() {
        return Err(failure::new(FailureKind::Unusable, excess));
    }
    if seen.count == 0 {
        return Err(failure::new(FailureKind::Unusable, "the provider's response is not an event stream"));
    }
    if !seen.ended {
        return Err(failure::new(FailureKind::Cut, "the reply ended before it was complete"));
    }
    let usage = if seen.chat_completions { seen.usage.unwrap_or_default() } else { usage(&end) };
    let calls = if seen.chat_completions { seen.take_calls() } else { calls(end) };
    let stop = seen.stop.as_deref().map_or(Stop::Whole, |word| stop::from_reason(word, !calls.is_empty()));
    let model = seen.model.take().unwrap_or_else(|| name.to_owned());
    let reply = Reply { text, calls, usage, model, stop };
    if reply.says_nothing() {
        let stop = seen.stop.as_deref().unwrap_or("no reason given");
        return Err(failure::new(
            FailureKind::Unusable,
            format!("the model's reply has neither text nor a tool call ({stop})"),
        ));
    }
    Ok(reply)
}

fn calls(end: StreamEnd) -> Vec<RequestedCall> {
    end.captured_into_tool_calls()
        .unwrap_or_default()
        .into_iter()
        .map(|call| RequestedCall { tool: call.fn_name, arguments: arguments::of_value(call.fn_arguments) })
        .collect()
}

fn usage(end: &StreamEnd) -> Usage {
    let tokens = |count: Option<i32>| u64::try_from(count.unwrap_or(0)).unwrap_or(0);
    end.captured_usage.as_ref().map_or_else(Usage::default, |usage| Usage {
        input_tokens: tokens(usage.prompt_tokens),
        output_tokens: tokens(usage.completion_tokens),
    })
}
