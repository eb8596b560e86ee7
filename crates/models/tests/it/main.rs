//! Tests of models through their public API: providers over real sockets, and the rehearsal.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod compatible;
mod rehearsal;
mod shipped;
mod wire;

use std::sync::{Arc, Mutex};

use holdshort_core::message::{Declaration, Failure, Message, Reply, Request};
use holdshort_models::{Model, Settings, Source, from_env};
use serde_json::json;

/// Returns the first model request of the agent `pair`, with one tool.
fn request() -> Request {
    Request {
        agent: "pair".into(),
        model: None,
        messages: vec![system(), user("Say hello")],
        tools: vec![Declaration {
            name: "read_file".into(),
            description: "Reads a file".into(),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false}),
        }],
        response_schema: None,
    }
}

fn system() -> Message {
    Message::System { text: "Agent: pair\nYou help.".into() }
}

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn model(settings: &Settings, env: &[(&str, &str)]) -> Arc<dyn Model> {
    let env: Vec<(String, String)> = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let found =
        from_env(settings, &|name| env.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()));
    match found.unwrap() {
        Source::Provider(model) => model,
        Source::Missing(missing) => panic!("{missing}"),
    }
}

/// Returns a model on the compatible server at `base_url`, with an API key.
fn at(base_url: &str) -> Arc<dyn Model> {
    let settings = Settings {
        model: Some("test-model".into()),
        base_url: Some(base_url.to_owned()),
        ..Settings::default()
    };
    model(&settings, &[("OPENAI_API_KEY", "sk-test-0123456789")])
}

async fn call(model: &dyn Model) -> Result<Reply, Failure> {
    model.call(&request(), &|_| {}).await
}

/// Sends a request to the model. Returns the result, and the pieces of text that `on_text` received.
async fn call_collecting_text(model: &dyn Model, request: &Request) -> (Result<Reply, Failure>, Vec<String>) {
    let pieces = Mutex::new(Vec::new());
    let result = model.call(request, &|piece| pieces.lock().unwrap().push(piece.to_owned())).await;
    (result, pieces.into_inner().unwrap())
}
