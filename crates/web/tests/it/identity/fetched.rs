//! Tests of fetched key sets: rotated, missing, huge, invalid, slow.

use holdshort_testkit::issuer::{Answer, KeyServer, Signer, set};
use holdshort_web::identity::jwt::{Issuers, Refusal};
use serde_json::json;

use super::{claims, issuer, issuers, verify};

fn token(key: &Signer, kid: &str) -> String {
    key.token(&json!({"alg": key.algorithm(), "kid": kid}), &claims())
}

fn often(server: &KeyServer) -> [(&'static str, toml::Value); 4] {
    [
        ("jwks_url", server.url().into()),
        ("jwks_pause_s", 1.into()),
        ("jwks_max_age_s", 1.into()),
        ("jwks_keep_s", 600.into()),
    ]
}

async fn pause() {
    tokio::time::sleep(std::time::Duration::from_millis(1_050)).await;
}

#[tokio::test]
async fn a_key_that_is_new_is_fetched_and_one_that_is_gone_counts_no_more() {
    let (old, new) = (Signer::ec(), Signer::ed());
    let server = KeyServer::with_keys(&[("old", &old)]).await;
    let issuers = issuers(&often(&server));
    assert!(verify(&issuers, &token(&old, "old")).await.is_ok());
    server.answers(Answer::Set(set(&[("old", &old), ("new", &new)])));
    pause().await;
    assert!(verify(&issuers, &token(&new, "new")).await.is_ok());
    server.answers(Answer::Set(set(&[("new", &new)])));
    pause().await;
    assert_eq!(verify(&issuers, &token(&old, "old")).await, Err(Refusal::NoKey));
    assert!(verify(&issuers, &token(&new, "new")).await.is_ok());
}

/// Tokens with unknown keys cause at most one fetch in `jwks_pause_s`.
#[tokio::test]
async fn unknown_keys_do_not_have_an_issuer_flooded() {
    let key = Signer::ec();
    let server = KeyServer::with_keys(&[("k", &key)]).await;
    let issuers = issuers(&[("jwks_url", server.url().into())]);
    for n in 0..50 {
        assert_eq!(verify(&issuers, &token(&key, &format!("x{n}"))).await, Err(Refusal::NoKey));
    }
    let good = token(&key, "k");
    let all = futures::future::join_all((0..50).map(|_| verify(&issuers, &good))).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(server.request_count(), 1);
}

#[tokio::test]
async fn what_was_fetched_counts_on_while_nothing_better_comes() {
    let key = Signer::ec();
    let server = KeyServer::with_keys(&[("k", &key)]).await;
    let issuers = issuers(&often(&server));
    let good = token(&key, "k");
    assert!(verify(&issuers, &good).await.is_ok());
    let answers = [
        Answer::Status(500),
        Answer::Status(302),
        Answer::Huge,
        Answer::Text("{".to_owned()),
        Answer::Text("{\"keys\": {}}".to_owned()),
        Answer::Set(json!({"keys": []})),
        Answer::Set(json!({"keys": [{"kty": "later"}]})),
        Answer::Set(json!({"keys": vec![key.jwk("k"); 101]})),
    ];
    for answer in answers {
        server.answers(answer.clone());
        pause().await;
        let asked = server.request_count();
        assert!(verify(&issuers, &good).await.is_ok(), "{answer:?}");
        assert_eq!(server.request_count(), asked + 1, "{answer:?}");
    }
    // A fetch that stalls is cancelled after a time limit.
    server.answers(Answer::Stalled);
    pause().await;
    assert!(verify(&issuers, &good).await.is_ok());
    drop(server);
    pause().await;
    assert!(verify(&issuers, &good).await.is_ok(), "it is gone");
}

#[tokio::test]
async fn an_issuer_that_was_never_reached_lets_nobody_in_until_it_is() {
    let key = Signer::ec();
    let server = KeyServer::start(Answer::Status(503)).await;
    let issuers = issuers(&often(&server));
    let good = token(&key, "k");
    assert_eq!(verify(&issuers, &good).await, Err(Refusal::Unavailable));
    server.answers(Answer::Set(set(&[("k", &key)])));
    pause().await;
    assert!(verify(&issuers, &good).await.is_ok());
}

#[tokio::test]
async fn keys_that_are_too_old_count_no_more() {
    let key = Signer::ec();
    let server = KeyServer::with_keys(&[("k", &key)]).await;
    let mut changes = often(&server).to_vec();
    changes[3].1 = 1.into();
    let issuers = issuers(&changes);
    let good = token(&key, "k");
    assert!(verify(&issuers, &good).await.is_ok());
    server.answers(Answer::Status(500));
    pause().await;
    assert_eq!(verify(&issuers, &good).await, Err(Refusal::Unavailable));
}

/// A token without a key id is verified with the only key of the set. With several keys in the set, it is rejected.
#[tokio::test]
async fn a_token_without_a_key_id() {
    let (one, two) = (Signer::ec(), Signer::ec());
    let server = KeyServer::with_keys(&[("one", &one)]).await;
    let issuers = issuers(&often(&server));
    let nameless = one.token(&json!({"alg": "ES256"}), &claims());
    assert!(verify(&issuers, &nameless).await.is_ok());
    server.answers(Answer::Set(set(&[("one", &one), ("two", &two)])));
    pause().await;
    assert!(verify(&issuers, &token(&two, "two")).await.is_ok());
    assert_eq!(verify(&issuers, &nameless).await, Err(Refusal::NoKey));
    // Two keys with the same id make the choice of a key ambiguous.
    server.answers(Answer::Set(set(&[("one", &one), ("one", &two)])));
    pause().await;
    assert_eq!(verify(&issuers, &token(&one, "one")).await, Err(Refusal::NoKey));
}

#[tokio::test]
async fn keys_of_a_file() {
    let key = Signer::ec();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("jwks.json");
    std::fs::write(&file, set(&[("k", &key)]).to_string()).expect("written");
    let mode = |mode| std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode));
    let path = file.to_str().expect("UTF-8").to_owned();
    let changes = [("jwks_url", "".into()), ("jwks_file", path.into())];
    for writable in [0o664, 0o646] {
        mode(writable).expect("changed");
        let opened = Issuers::open(&[issuer(&changes)]);
        assert!(opened.is_err_and(|wrong| wrong.to_string().contains("chmod go-w")), "{writable:o}");
    }
    mode(0o644).expect("changed");
    let issuers = issuers(&changes);
    assert!(verify(&issuers, &token(&key, "k")).await.is_ok());
    // A file that is invalid at the start is reported immediately, with its name.
    let wrong = |text: Option<&str>| {
        let file = folder.path().join("other.json");
        if let Some(text) = text {
            std::fs::write(&file, text).expect("written");
        }
        let path = file.to_str().expect("UTF-8").to_owned();
        let opened = Issuers::open(&[issuer(&[("jwks_url", "".into()), ("jwks_file", path.into())])]);
        opened.err().map(|wrong| wrong.to_string()).unwrap_or_default()
    };
    for text in [None, Some("not json"), Some("{\"keys\": []}")] {
        assert!(wrong(text).contains("`jwks_file`") && wrong(text).contains("other.json"), "{text:?}");
    }
    // A file whose permissions are changed before it is read is rejected.
    let later = super::issuers(&changes);
    mode(0o666).expect("changed");
    assert_eq!(verify(&later, &token(&key, "k")).await, Err(Refusal::Unavailable));
}
