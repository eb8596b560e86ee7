//! The `AsyncAPI` document of the WebSocket describes every frame, and the examples in it are valid frames.

use std::collections::BTreeSet;

use holdshort_protocol::frame::{ClientFrame, ServerFrame};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::openapi::collect;

/// Returns the frame types that the enum `T` accepts.
fn kinds<T: DeserializeOwned + std::fmt::Debug>() -> Vec<String> {
    let refused = serde_json::from_value::<T>(json!({"type": "nonsense"})).unwrap_err().to_string();
    let (_, known) = refused.split_once("expected one of").unwrap();
    known.split(',').map(|kind| kind.trim().trim_matches('`').to_owned()).collect()
}

#[test]
fn every_frame_is_a_message_with_examples_of_its_type() {
    let document = holdshort_server::asyncapi();
    assert_eq!(document["asyncapi"], "3.1.0");
    let messages = document["components"]["messages"].as_object().unwrap();
    let (client, server) = (kinds::<ClientFrame>(), kinds::<ServerFrame>());
    let described: BTreeSet<&String> = messages.keys().collect();
    assert_eq!(described, client.iter().chain(&server).collect());

    for (kind, message) in messages {
        let schema = json!({
            "$ref": format!("#/components/messages/{kind}/payload"), "components": document["components"]
        });
        let validator = jsonschema::validator_for(&schema).unwrap();
        let examples = message["examples"].as_array().unwrap();
        assert!(!examples.is_empty(), "{kind}");
        for example in examples {
            let frame = &example["payload"];
            let again = if client.contains(kind) {
                serde_json::from_value::<ClientFrame>(frame.clone()).map(|frame| json!(frame))
            } else {
                serde_json::from_value::<ServerFrame>(frame.clone()).map(|frame| json!(frame))
            };
            assert_eq!(again.unwrap(), *frame);
            let errors: Vec<String> = validator.iter_errors(frame).map(|error| error.to_string()).collect();
            assert_eq!(errors, Vec::<String>::new(), "{kind}");
            // A frame of a client with an unknown field is invalid. A frame of the server may have more fields.
            let mut grown = frame.clone();
            grown["colour"] = "red".into();
            assert_eq!(validator.is_valid(&grown), server.contains(kind), "{kind}");
        }
    }
}

/// Every reference in the `AsyncAPI` document has a target, and every frame is part of an operation in its direction.
#[test]
fn the_document_is_whole() {
    let document = holdshort_server::asyncapi();
    let mut references = Vec::new();
    collect(&document, &mut references);
    for reference in &references {
        let target = document.pointer(reference.trim_start_matches('#'));
        assert!(target.is_some(), "{reference} leads nowhere");
    }
    let of = |direction: &str, kind: &str| -> Vec<&Value> {
        let operations = document["operations"].as_object().unwrap().values();
        let reference = format!("#/channels/socket/messages/{kind}");
        let holds = |messages: &Value| {
            messages.as_array().is_some_and(|all| all.contains(&json!({"$ref": reference})))
        };
        operations
            .filter(|operation| match direction {
                "receive" => operation["action"] == "receive" && holds(&operation["messages"]),
                _ => {
                    holds(&operation["reply"]["messages"])
                        || operation["action"] == "send" && holds(&operation["messages"])
                }
            })
            .collect()
    };
    for kind in kinds::<ClientFrame>() {
        assert_eq!(of("receive", &kind).len(), 1, "{kind}");
    }
    for kind in kinds::<ServerFrame>() {
        assert!(!of("send", &kind).is_empty(), "{kind}");
    }
}
