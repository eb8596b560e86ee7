//! Tests of the configuration of issuers.

use holdshort_web::identity::jwt::{Jwt, check};
use holdshort_web::identity::oidc::Oidc;

use super::issuer;

/// Changes to the configuration table of a valid issuer.
type Changes = Vec<(&'static str, toml::Value)>;

fn check_result(issuers: &[Jwt]) -> String {
    check(issuers).map_or_else(|wrong| wrong.to_string(), |()| "right".to_owned())
}

#[test]
fn what_is_right_and_what_is_wrong() {
    let list = |names: &[&str]| toml::Value::from(names.to_vec());
    let table = |text: &str| toml::from_str::<toml::Value>(text).expect("a table");
    let cases: Vec<(Changes, &str)> = vec![
        (vec![], "right"),
        (vec![("jwks_url", "https://issuer.example/keys".into())], "right"),
        (vec![("jwks_url", "http://[::1]:1/keys".into())], "right"),
        (vec![("jwks_url", "http://localhost:1/keys".into())], "right"),
        (vec![("jwks_url", "http://issuer.example/keys".into())], "must be `https`"),
        (vec![("jwks_url", "http://127.0.0.1.example/keys".into())], "must be `https`"),
        (vec![("jwks_url", "https://me:secret@issuer.example/".into())], "a user, a password"),
        (vec![("jwks_url", "file:///etc/keys".into())], "must be `https`"),
        (vec![("jwks_url", "keys".into())], "is not a URL"),
        (vec![("jwks_networks", list(&["10.0.0.0/8"]))], "right"),
        (vec![("jwks_networks", list(&["10.0.0.1/8"]))], "ranges of addresses"),
        (vec![("jwks_pause_s", 0.into())], "must be at least 1"),
        (vec![("jwks_max_age_s", 10.into())], "must be at least 1"),
        (
            vec![("jwks_url", "".into()), ("jwks_file", "f".into()), ("jwks_max_age_s", 0.into())],
            "must be at least 1",
        ),
        (
            vec![
                ("jwks_url", "".into()),
                ("jwks_file", "f".into()),
                ("jwks_networks", list(&["10.0.0.0/8"])),
            ],
            "are only allowed together with `jwks_url`",
        ),
        (vec![("jwks_url", "".into())], "name one of `secret_file`, `jwks_file`, `jwks_url`"),
        (vec![("secret_file", "s".into())], "name one of `secret_file`, `jwks_file`, `jwks_url`"),
        (vec![("algorithms", list(&["HS256"]))], "HS algorithms need a secret"),
        (vec![("algorithms", list(&["ES256", "HS256"]))], "HS algorithms need a secret"),
        (vec![("algorithms", list(&[]))], "is empty, or contains an algorithm twice"),
        (vec![("algorithms", list(&["ES256", "ES256"]))], "is empty, or contains an algorithm twice"),
        (vec![("jwks_url", "".into()), ("secret_file", "s".into())], "with `secret_file` use only `HS256`"),
        (vec![("issuer", "\u{0}".into())], "right"),
        (vec![("audience", list(&[]))], "is empty; without it"),
        (vec![("audience", list(&[""]))], "is empty; without it"),
        (vec![("leeway_s", 601.into())], "synchronize the clocks"),
        (vec![("prefix", "partner".into())], "is not a prefix such as `partner:`"),
        (vec![("prefix", ":".into())], "is not a prefix such as `partner:`"),
        (vec![("prefix", "partner:".into())], "right"),
        (vec![("roles", table("a = \"engine\""))], "the role `engine` belongs to Holdshort itself"),
        (vec![("roles", table(""))], "no principal would have a role"),
        (vec![("claims", table("roles = \"\""))], "set it to the name of a claim"),
    ];
    for (changes, expected) in cases {
        let told = format!("{changes:?}");
        let said = check_result(&[issuer(&changes)]);
        assert!(said.contains(expected), "{told}: {said}");
    }
}

#[test]
fn issuers_are_told_apart() {
    let other = |prefix: &str| {
        let mut other = issuer(&[("issuer", "https://other.example".into())]);
        other.prefix = prefix.to_owned();
        other
    };
    let mut prefixed = issuer(&[]);
    prefixed.prefix = "a:".to_owned();
    assert_eq!(check_result(&[issuer(&[]), other("b:")]), "right");
    assert_eq!(check_result(&[prefixed.clone(), other("b:")]), "right");
    assert!(check_result(&[issuer(&[]), issuer(&[])]).contains("2 `issuer`: is used by an earlier issuer"));
    assert!(check_result(&[issuer(&[]), other("")]).contains("2 `prefix`"));
    assert!(check_result(&[prefixed.clone(), other("a:")]).contains("2 `prefix`"));
}

#[test]
fn no_key_is_passed_over() {
    let text = "issuer = \"a\"\naudience = [\"b\"]\nalgorithms = [\"ES256\"]\nroles = {}\n";
    let read =
        |more: &str| toml::from_str::<Jwt>(&format!("{text}{more}")).map_err(|error| error.to_string());
    assert!(read("").is_ok());
    for (more, said) in [
        ("jwks = \"x\"", "unknown field `jwks`"),
        ("leeway = 5", "unknown field `leeway`"),
        ("claims = { sub = \"x\" }", "unknown field `sub`"),
        ("typ = 5", "expected a string"),
    ] {
        let error = read(more).expect_err(more);
        assert!(error.contains(said) && error.contains("line 5"), "{more}: {error}");
    }
    for (from, to, said) in [
        ("ES256", "none", "unknown variant `none`"),
        ("ES256", "ES512", "unknown variant `ES512`"),
        ("roles = {}", "roles = { a = \"root\" }", "unknown variant `root`"),
        ("issuer = \"a\"\n", "", "missing field `issuer`"),
        ("roles = {}\n", "", "missing field `roles`"),
    ] {
        let error = toml::from_str::<Jwt>(&text.replace(from, to)).expect_err(to).to_string();
        assert!(error.contains(said), "{to}: {error}");
    }
}

#[test]
fn a_provider_that_is_right_and_what_is_wrong_with_one() {
    let read = |more: &str| {
        let text = format!(
            "issuer = \"https://login.example\"\nclient_id = \"c\"\nroles = {{a = \"admin\"}}\n{more}"
        );
        let mut table: toml::Table = toml::from_str("").expect("a table");
        for line in text.lines() {
            table.extend(toml::from_str::<toml::Table>(line).expect("a line"));
        }
        toml::Value::from(table).try_into::<Oidc>().expect("a provider")
    };
    let said = |more: &str, issuers: &[Jwt]| {
        read(more).check(issuers).map_or_else(|wrong| wrong.to_string(), |()| "right".to_owned())
    };
    for (more, expected) in [
        ("", "right"),
        ("issuer = \"http://127.0.0.1:1/\"", "right"),
        ("issuer = \"http://login.example\"", "must be `https`"),
        ("issuer = \"https://me:x@login.example\"", "a user, a password"),
        ("issuer = \"login\"", "is not a URL"),
        ("client_id = \"\"", "is empty"),
        ("name = \"\"", "`name`"),
        ("scopes = [\"a b\"]", "`scopes`"),
        ("algorithms = [\"HS256\"]", "HS algorithms need a secret"),
        ("networks = [\"10.0.0.1/8\"]", "`networks`: must be ranges"),
        ("session_s = 59", "`session_s`"),
        ("session_s = 2592001", "`session_s`"),
        ("leeway_s = 601", "synchronize the clocks"),
        ("prefix = \"p\"", "is not a prefix such as"),
        ("roles = {}", "no principal would have a role"),
        ("roles = {a = \"engine\"}", "belongs to Holdshort itself"),
    ] {
        let said = said(more, &[]);
        assert!(said.contains(expected), "{more}: {said}");
    }
    // If issuers of tokens are configured too, a provider has either its own people or the same people.
    let mut other = issuer(&[]);
    assert!(said("", std::slice::from_ref(&other)).contains("needs its own"));
    other.issuer = "https://login.example".to_owned();
    assert_eq!(said("", std::slice::from_ref(&other)), "right");
    other.prefix = "a:".to_owned();
    assert!(said("", std::slice::from_ref(&other)).contains("each person would have two ids"));
}
