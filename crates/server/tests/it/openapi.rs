//! The committed OpenAPI document equals the document that the server serves, and it describes the real routes.

use std::path::Path;

use holdshort_protocol::Code;
use serde_json::Value;

use crate::harness::{Served, ok};

#[tokio::test]
async fn the_committed_documents_are_up_to_date() {
    for name in ["openapi.json", "asyncapi.json"] {
        is_up_to_date(name).await;
    }
}

async fn is_up_to_date(name: &str) {
    let served = Served::new().await;
    let given = ok(served.api(None).get(&format!("/v1/{name}")).await);
    let text = format!("{}\n", serde_json::to_string_pretty(&given).unwrap());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "docs/{name} is not what the server gives out; run `UPDATE_OPENAPI=1 cargo test -p holdshort-server \
         openapi` and commit it"
    );
}

/// Every reference in the `OpenAPI` document has a target. Every operation has a success response, error responses and
/// the permission that it needs.
#[test]
fn the_document_is_complete() {
    let document = holdshort_server::openapi();
    assert_eq!(document["openapi"].as_str().map(|version| &version[..3]), Some("3.1"));
    let mut references = Vec::new();
    collect(&document, &mut references);
    for reference in &references {
        let target = document.pointer(reference.trim_start_matches('#'));
        assert!(target.is_some(), "{reference} leads nowhere");
    }
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let name = format!("{method} {path}");
            assert!(operation["operationId"].is_string(), "{name}");
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.keys().any(|status| status.starts_with(['1', '2'])), "{name}");
            for response in responses.values().filter(|response| response.get("$ref").is_none()) {
                assert!(response["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
            }
            let is_open = [
                "get /v1/openapi.json",
                "get /v1/asyncapi.json",
                "post /v1/login",
                "post /v1/login/backchannel",
                "get /v1/login/provider",
                "post /v1/device-logins",
                "post /v1/device-logins/progress",
            ]
            .contains(&&*name);
            if path.starts_with("/v1") && !is_open {
                assert!(operation["security"].as_array().is_some_and(|roles| !roles.is_empty()), "{name}");
                for status in ["401", "403", "421", "500"] {
                    assert!(responses.contains_key(status), "{name}: {status}");
                }
            }
        }
    }
    let text = document["components"]["responses"].to_string();
    for code in Code::ALL {
        // Codes of paths and pages that the document does not describe.
        let is_elsewhere =
            [Code::MethodNotAllowed, Code::NotAwaited, Code::Frozen, Code::LinkExpired].contains(code);
        if !is_elsewhere {
            assert!(text.contains(&format!("`{}`", code.as_str())), "{} is in no operation", code.as_str());
        }
    }
}

/// Collects all values of `$ref` in a JSON document.
pub(crate) fn collect(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                references.push(reference.clone());
            }
            map.values().for_each(|value| collect(value, references));
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, references)),
        _ => {}
    }
}
