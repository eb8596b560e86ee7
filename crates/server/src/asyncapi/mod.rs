//! The `AsyncAPI` document of the WebSocket. The messages are generated from the frame types, so the document lists
//! exactly the frames that the server understands. Only the table of requests with their responses is written by hand.

mod examples;

use std::collections::BTreeMap;

use holdshort_protocol::frame::{ClientFrame, ServerFrame};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

type Schemas = BTreeMap<String, Value>;

/// Types of WebSocket frames that a client may send, each with the types of the server's possible responses.
const ANSWERS: &[(&str, &[&str])] = &[
    ("hello", &["welcome", "error"]),
    ("subscribe", &["subscribed", "error"]),
    ("unsubscribe", &["ended", "error"]),
    ("decide", &["decided", "error"]),
    ("message", &["told", "error"]),
    ("ping", &["pong"]),
];

/// Operations of the WebSocket in which the server sends frames on its own: an operation id, a summary, and the types
/// of its frames.
const SENT: &[(&str, &str, &[&str])] = &[
    ("deliver", "Events of a subscription", &["event", "preview", "ended", "error"]),
    ("close", "Before the server closes the connection", &["closing", "error"]),
];

const ABOUT: &str = "\
One connection to follow runs and interrupts, to decide and to send messages. Each text message is a JSON object with \
a `type`. The first message must be `hello`, within 10 seconds. The client chooses every `id`. Frames with an unknown \
field are rejected; later versions may add fields to frames of the server.\n\n\
An invalid or rejected frame is answered with an `error`, and the connection stays open. Close codes of the server: \
4400, a frame is not JSON text; 1009, a frame is over 1 MiB; 4401, the client is not authenticated or its access \
ended; 4408, the client reads too slowly or is silent for too long; 1001, the server stops. A client that accepts no \
data for 30 seconds is disconnected without a close frame. A client that reconnects continues after the last event that it \
has seen, without gap or duplicate.";

/// Returns the `AsyncAPI` document of the WebSocket `/v1/ws`.
pub fn asyncapi() -> Value {
    let mut schemas = Schemas::new();
    let mut payloads = frames::<ClientFrame>(&mut schemas);
    payloads.extend(frames::<ServerFrame>(&mut schemas));
    let examples = examples::all(&schemas);
    let messages: Map<String, Value> = payloads
        .into_iter()
        .map(|(name, payload)| {
            let examples: Vec<Value> = examples
                .iter()
                .filter(|example| example["type"] == name)
                .map(|example| json!({ "payload": example }))
                .collect();
            let summary = payload["description"].clone();
            (
                name.clone(),
                json!({ "name": name, "summary": summary, "payload": payload, "examples": examples }),
            )
        })
        .collect();
    let of_channel: Map<String, Value> =
        messages.keys().map(|name| (name.clone(), refer(&format!("#/components/messages/{name}")))).collect();
    json!({
        "asyncapi": "3.1.0",
        "info": {
            "title": "Holdshort",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "Apache-2.0" },
        },
        "defaultContentType": "application/json",
        "servers": {
            "local": {
                "host": "127.0.0.1:{port}",
                "protocol": "ws",
                "variables": { "port": { "default": "7349" } },
                "security": [refer("#/components/securitySchemes/token")],
            },
        },
        "channels": { "socket": { "address": "/v1/ws", "messages": of_channel } },
        "operations": operations(),
        "components": {
            "messages": messages,
            "schemas": schemas,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "One of the two tokens, on the request that opens the socket. \
                        Alternatively, the frame `hello` authenticates the client.",
                },
            },
        },
    })
}

fn operations() -> Map<String, Value> {
    let channel = refer("#/channels/socket");
    let received = ANSWERS.iter().map(|(name, answers)| {
        let reply = json!({ "channel": channel, "messages": of_channel(answers) });
        let operation = json!({
            "action": "receive", "channel": channel, "messages": of_channel(&[name]), "reply": reply,
        });
        ((*name).to_owned(), operation)
    });
    let sent = SENT.iter().map(|(name, summary, messages)| {
        let operation = json!({
            "action": "send", "channel": channel, "summary": summary, "messages": of_channel(messages),
        });
        ((*name).to_owned(), operation)
    });
    received.chain(sent).collect()
}

fn of_channel(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| refer(&format!("#/channels/socket/messages/{name}"))).collect()
}

fn refer(target: &str) -> Value {
    json!({ "$ref": target })
}

/// Returns each variant of an enum of WebSocket frames as its `type` and its payload schema. Adds to `schemas` the
/// schemas that the payloads refer to.
fn frames<T: ToSchema>(schemas: &mut Schemas) -> Vec<(String, Value)> {
    let mut referred = vec![(String::new(), T::schema())];
    T::schemas(&mut referred);
    schemas.extend(referred.into_iter().map(|(name, schema)| (name, json!(schema))));
    let frames = schemas.remove("").unwrap_or_default();
    let variants = frames["oneOf"].as_array().cloned().unwrap_or_default();
    variants.into_iter().map(|variant| payload(variant, schemas)).collect()
}

/// Returns the `type` and the payload schema of a WebSocket frame. A schema that the variant refers to is copied into
/// one object with the field `type`, because `additionalProperties` does not work across combined schemas.
fn payload(variant: Value, schemas: &mut Schemas) -> (String, Value) {
    let mut parts = match variant.get("allOf").and_then(Value::as_array) {
        Some(parts) => parts.clone(),
        None => vec![variant],
    };
    let tag = parts.pop().unwrap_or_default();
    let mut payload = match parts.pop().as_ref().and_then(|part| part["$ref"].as_str()) {
        Some(reference) => schemas.remove(reference.trim_start_matches("#/components/schemas/")),
        None => None,
    }
    .unwrap_or_else(|| tag.clone());
    let kind = tag["properties"]["type"]["enum"][0].as_str().unwrap_or_default().to_owned();
    payload["properties"]["type"] = json!({ "const": kind });
    let mut required: Vec<Value> = payload["required"].as_array().cloned().unwrap_or_default();
    required.retain(|field| field != "type");
    required.insert(0, "type".into());
    payload["required"] = required.into();
    (kind, payload)
}
