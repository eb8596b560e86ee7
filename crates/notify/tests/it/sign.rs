//! Signatures: the test vectors of Standard Webhooks and of the source documents.

use holdshort_notify::{Secret, SecretError};
use serde_json::Value;

use crate::channels::{OTHER, SECRET};

#[test]
fn a_signature_is_that_of_the_specification() {
    // The test vector of the reference libraries.
    let secret = Secret::parse(SECRET).unwrap();
    let signed = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
    assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[test]
fn each_secret_signs_in_its_own_way() {
    let (one, other) = (Secret::parse(SECRET).unwrap(), Secret::parse(OTHER).unwrap());
    assert_ne!(one.sign("id", 1, b"{}"), other.sign("id", 1, b"{}"));
    assert_ne!(one.sign("id", 1, b"{}"), one.sign("id", 2, b"{}"));
    assert_eq!(one.sign_body(b"{}").len(), 64);
    assert_eq!(format!("{one:?}"), "Secret");
    assert_eq!(Secret::parse("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap_err(), SecretError::Form);
}

#[test]
fn the_vectors_of_the_documents_hold() {
    let page = include_str!("../../../../docs/reference/webhooks.md");
    let vectors: Vec<Value> = page
        .split("```json\n")
        .skip(1)
        .map(|block| serde_json::from_str::<Value>(block.split("```").next().unwrap()).unwrap())
        .filter(|block| block.get("signature").is_some())
        .collect();
    assert_eq!(vectors.len(), 2);
    for vector in vectors {
        let text = |name: &str| vector[name].as_str().unwrap();
        let (secret, body) = (Secret::parse(text("secret")).unwrap(), text("body").as_bytes());
        let timestamp = vector["timestamp"].as_i64().unwrap();
        assert_eq!(secret.sign(text("id"), timestamp, body), text("signature"));
        if let Some(of_body) = vector.get("body_signature") {
            assert_eq!(secret.sign_body(body), of_body.as_str().unwrap());
        }
    }
}
