//! Tests of identity: valid and invalid tokens, and keys of every kind.

mod configured;
mod faults;
mod fetched;

use std::collections::BTreeMap;

use holdshort_core::time::Timestamp;
use holdshort_testkit::issuer::now;
use holdshort_web::identity::jwt::{Issuers, Jwt, Refusal, Verified};
use serde_json::{Value, json};

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "holdshort";

/// Returns an issuer with these changes to its configuration table.
fn issuer(changes: &[(&str, toml::Value)]) -> Jwt {
    let mut table: BTreeMap<String, toml::Value> = toml::from_str(
        r#"
        issuer = "https://issuer.example"
        audience = ["holdshort"]
        algorithms = ["ES256", "RS256", "PS256", "EdDSA"]
        jwks_url = "http://127.0.0.1:9/jwks.json"
        roles = { deciders = "operator", robots = "agent", owners = "admin" }
        "#,
    )
    .expect("a table");
    for (key, value) in changes {
        if value.as_str() == Some("") {
            table.remove(*key);
        } else {
            table.insert((*key).to_owned(), value.clone());
        }
    }
    toml::Value::try_from(table).expect("a table").try_into().expect("an issuer")
}

fn issuers(changes: &[(&str, toml::Value)]) -> Issuers {
    Issuers::open(&[issuer(changes)]).expect("they are right")
}

/// Returns the claims of a person who may decide.
fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "name": "Ada", "roles": ["deciders", "unknown"],
        "groups": ["ops", "night"], "iat": now() - 10, "nbf": now() - 10, "exp": now() + 300,
    })
}

async fn verify(issuers: &Issuers, token: &str) -> Result<Verified, Refusal> {
    issuers.verify(token, Timestamp::from_millis(now() * 1_000)).await
}
