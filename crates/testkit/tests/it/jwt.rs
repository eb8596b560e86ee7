//! Tokens of an issuer over the real binary, whose keys are fetched from a server on loopback.

use std::os::unix::fs::PermissionsExt;

use futures::{SinkExt, StreamExt};
use holdshort_testkit::issuer::{Answer, KeyServer, Signer, now, set};
use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

/// A server that believes this issuer, which it fetches keys from as often as it may.
async fn believing(keys: &KeyServer) -> TestServer {
    let mut server = TestServer::setup().stopped();
    let config = format!(
        r#"
        [[identity.jwt]]
        issuer = "https://issuer.example"
        audience = ["holdshort"]
        algorithms = ["ES256", "EdDSA", "RS256"]
        jwks_url = "{}"
        jwks_pause_s = 1
        jwks_max_age_s = 1
        leeway_s = 0
        roles = {{ deciders = "operator", robots = "agent", owners = "admin" }}
        "#,
        keys.url()
    );
    let path = server.data().join("holdshort.toml");
    std::fs::write(&path, config).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("changed");
    server.start().await;
    server
}

fn claims(sub: &str, role: &str) -> Value {
    json!({
        "iss": "https://issuer.example", "aud": ["holdshort", "others"], "sub": sub, "name": "Somebody",
        "roles": [role], "groups": ["ops"], "iat": now(), "exp": now() + 300,
    })
}

fn token(key: &Signer, kid: &str, claims: &Value) -> String {
    key.token(&json!({"alg": key.algorithm(), "kid": kid, "typ": "JWT"}), claims)
}

async fn ask(server: &TestServer, token: &str, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let client = holdshort_http::client().no_proxy().build().expect("a client");
    let request = client.request(method, format!("{}{path}", server.base())).bearer_auth(token).json(body);
    let answer = request.send().await.expect("an answer");
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap_or_default())
}

async fn get(server: &TestServer, token: &str, path: &str) -> (u16, Value) {
    ask(server, token, Method::GET, path, &json!({})).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_is_who_their_issuer_says_and_may_what_their_role_may() {
    let key = Signer::ec();
    let keys = KeyServer::of(&[("k", &key)]).await;
    let server = believing(&keys).await;
    let ada = token(&key, "k", &claims("ada@example.org", "deciders"));
    let (status, who) = get(&server, &ada, "/v1/login").await;
    assert_eq!(status, 200, "{who}");
    assert_eq!(
        json!([who["person"], who["name"], who["role"], who["roles"], who["groups"]]),
        json!(["ada@example.org", "Somebody", "operator", ["operator"], ["ops"]])
    );
    assert!(who["expires_at"].is_string());

    let robot = token(&key, "k", &claims("robot-7", "robots"));
    let question = json!({"kind": "tool_approval", "title": "Delete 41 branches", "payload": {}});
    let (status, asked) = ask(&server, &robot, Method::POST, "/v1/interrupts", &question).await;
    assert_eq!((status, &asked["agent"]), (201, &json!("robot-7")), "{asked}");
    let path = format!("/v1/interrupts/{}", asked["id"].as_str().expect("an id"));
    let decision = json!({"option": "approve"});
    let decide = |token: String| {
        let (server, path, decision) = (&server, format!("{path}/decisions"), &decision);
        async move { ask(server, &token, Method::POST, &path, decision).await }
    };
    assert_eq!(decide(robot.clone()).await.0, 403);
    let (status, decided) = decide(ada.clone()).await;
    assert_eq!((status, &decided["resolution"]["by"]), (200, &json!(["ada@example.org"])), "{decided}");

    // Who maps to nothing is let in to nothing.
    let nobody = token(&key, "k", &claims("eve", "visitors"));
    assert_eq!(get(&server, &nobody, "/v1/login").await.0, 403);
    // An owner makes keys, also one whose name a subject had.
    let owner = token(&key, "k", &claims("olga", "owners"));
    let made = ask(&server, &owner, Method::POST, "/v1/keys", &json!({"name": "robot-7"})).await;
    assert_eq!((made.0, &made.1["made_by"]), (201, &json!("olga")));
    // From then on the name is the key's.
    let (status, refused) = get(&server, &robot, "/v1/login").await;
    assert_eq!((status, &refused["code"]), (403, &json!("forbidden_role")), "{refused}");
    for name in ["operator", "Operator", "engine", "agent"] {
        let token = token(&key, "k", &claims(name, "deciders"));
        assert_eq!(get(&server, &token, "/v1/login").await.0, 403, "{name}");
    }
    let log = server.stderr();
    assert!(!log.contains(&ada) && !log.contains(&robot));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_token_lets_nobody_in() {
    let (key, rsa) = (Signer::ec(), Signer::rsa());
    let keys = KeyServer::of(&[("k", &key), ("r", &rsa)]).await;
    let server = believing(&keys).await;
    let good = claims("ada", "deciders");
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        claims
    };
    let public = rsa.jwk("r")["n"].as_str().expect("n").as_bytes().to_vec();
    let table = [
        ("none", key.token(&json!({"alg": "none", "kid": "k"}), &good), 401, "unauthenticated"),
        ("issuer", token(&key, "k", &with("iss", json!("https://x.example"))), 401, "unauthenticated"),
        ("audience", token(&key, "k", &with("aud", json!("others"))), 401, "unauthenticated"),
        ("expired", token(&key, "k", &with("exp", json!(now() - 5))), 401, "credential_expired"),
        ("not yet", token(&key, "k", &with("nbf", json!(now() + 600))), 401, "unauthenticated"),
        ("kid", token(&key, "x", &good), 401, "unauthenticated"),
        ("another's key", token(&Signer::ec(), "k", &good), 401, "unauthenticated"),
        (
            "signed with the public key",
            Signer::secret(&public).token(&json!({"alg": "HS256", "kid": "r"}), &good),
            401,
            "unauthenticated",
        ),
    ];
    for (what, token, status, code) in table {
        let answer = get(&server, &token, "/v1/login").await;
        assert_eq!((answer.0, &answer.1["code"]), (status, &json!(code)), "{what}: {}", answer.1);
    }
    // The skew of clocks that is allowed here is none; five minutes are too many anyway.
    let late = token(&key, "k", &with("exp", json!(now() - 300)));
    assert_eq!(get(&server, &late, "/v1/login").await.0, 401);
    assert_eq!(get(&server, &token(&key, "k", &good), "/v1/login").await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keys_of_an_issuer_change_and_go_away() {
    let (old, new) = (Signer::ec(), Signer::ed());
    let keys = KeyServer::start(Answer::Status(503)).await;
    let server = believing(&keys).await;
    let of_old = token(&old, "old", &claims("ada", "deciders"));
    let of_new = token(&new, "new", &claims("ada", "deciders"));
    let (status, refused) = get(&server, &of_old, "/v1/login").await;
    assert_eq!((status, &refused["code"]), (503, &json!("identity_unavailable")), "{refused}");
    // The operator of this machine needs no issuer.
    assert_eq!(get(&server, server.token(), "/v1/login").await.0, 200);
    let comes_to = async |token: &str, wanted: u16| {
        eventually("the keys are fetched", async || {
            let (status, _) = get(&server, token, "/v1/login").await;
            (status == wanted).then_some(())
        })
        .await;
    };
    keys.answers(Answer::Set(set(&[("old", &old)])));
    comes_to(&of_old, 200).await;
    keys.answers(Answer::Set(set(&[("new", &new)])));
    comes_to(&of_new, 200).await;
    comes_to(&of_old, 401).await;
    for answer in [Answer::Huge, Answer::Text("<html>".to_owned()), Answer::Stalled] {
        keys.answers(answer.clone());
        let asked = keys.asked();
        eventually("they are asked for again", async || {
            assert_eq!(get(&server, &of_new, "/v1/login").await.0, 200, "{answer:?}");
            (keys.asked() > asked).then_some(())
        })
        .await;
    }
    drop(keys);
    assert_eq!(get(&server, &of_new, "/v1/login").await.0, 200);
}

/// A connection lives no longer than what it was let in by.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_open_ends_with_the_token() {
    let key = Signer::ed();
    let keys = KeyServer::of(&[("k", &key)]).await;
    let server = believing(&keys).await;
    let mut short = claims("ada", "deciders");
    short["exp"] = (now() + 4).into();
    let short = token(&key, "k", &short);
    let url = server.base().replacen("http", "ws", 1) + "/v1/ws";
    let (mut socket, _) = connect_async(&*url).await.expect("a socket");
    let hello = json!({"type": "hello", "token": short});
    socket.send(Message::text(hello.to_string())).await.expect("it is open");
    let (mut last, mut code) = (Value::Null, 0);
    while let Some(message) = socket.next().await {
        match message.expect("a message") {
            Message::Text(text) => last = serde_json::from_str(&text).expect("JSON"),
            Message::Close(close) => {
                code = close.map_or(0, |close| close.code.into());
                break;
            }
            _ => {}
        }
    }
    assert_eq!((&last["problem"]["code"], code), (&json!("access_ended"), 4401));
    let (status, refused) = get(&server, &short, "/v1/login").await;
    assert_eq!((status, &refused["code"]), (401, &json!("credential_expired")));
}
