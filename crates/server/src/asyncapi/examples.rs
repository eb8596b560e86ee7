//! Examples of frames. Each type of frame has one example, or several if a single one cannot show all fields. A test
//! parses each example as its type.

use serde_json::{Value, json};

use super::Schemas;

pub(super) fn all(schemas: &Schemas) -> Vec<Value> {
    let of = |name: &str| schemas[name]["example"].clone();
    let run = "run_01k6f0000000000000000000aa";
    let interrupt = "int_01k6f0000000000000000000cc";
    let mut event = of("Event");
    event["position"] = "p4127".into();
    vec![
        json!({"type": "hello"}),
        json!({"type": "hello", "secret": "b41d…"}),
        json!({"type": "welcome", "person": "operator", "role": "operator", "version": "0.1.0",
               "ping_ms": 15_000, "position": "p4126"}),
        json!({"type": "subscribe", "id": "inbox", "topic": "inbox", "position": "p4126"}),
        json!({"type": "subscribe", "id": "card", "topic": "run", "run": run, "since": 0}),
        json!({"type": "subscribe", "id": "log", "topic": "all", "previews": false}),
        json!({"type": "subscribed", "id": "inbox", "position": "p4126"}),
        json!({"type": "subscribed", "id": "card", "seq": 0}),
        json!({"type": "event", "id": "log", "event": event}),
        json!({"type": "preview", "id": "card", "preview": {
            "run": run, "step": "work", "kind": "text", "text": "The tests "
        }}),
        json!({"type": "unsubscribe", "id": "log"}),
        json!({"type": "ended", "id": "log"}),
        json!({"type": "decide", "id": "d1", "interrupt": interrupt, "option": "approve", "version": 1}),
        json!({"type": "decided", "id": "d1", "interrupt": of("Interrupt")}),
        json!({"type": "message", "id": "m1", "run": run, "text": "use ISO dates"}),
        json!({"type": "told", "id": "m1", "run": of("Run")}),
        json!({"type": "ping", "id": "1"}),
        json!({"type": "pong", "id": "1"}),
        json!({"type": "error", "id": "d1", "problem": of("Problem")}),
        json!({"type": "closing", "reason": "stopping"}),
    ]
}
