//! Tokens of an issuer, over the real binary. A server on loopback publishes the issuer's keys.

use std::os::unix::fs::PermissionsExt;

use futures::{SinkExt, StreamExt};
use holdshort_testkit::issuer::{Answer, KeyServer, Signer, now, set};
use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Starts a server that trusts the issuer of these keys and fetches the keys as often as the limits allow.
async fn believing(keys: &KeyServer) -> TestServer {
    believing_beside(keys, "").await
}

/// Starts a server as [`believing`] does. `more` is put before the issuer's section of the configuration.
async fn believing_beside(keys: &KeyServer, more: &str) -> TestServer {
    let mut server = TestServer::setup().stopped();
    let config = format!(
        r#"{more}
        [[identity.jwt]]
        issuer = "https://issuer.example"
        audience = ["holdshort"]
        algorithms = ["ES256", "EdDSA", "RS256"]
        jwks_url = "{}"
        jwks_pause_s = 1
        jwks_max_age_s = 1
        leeway_s = 0
        roles = {{ deciders = "operator", robots = "agent", owners = "admin", readers = "reviewer" }}
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
    let client = holdshort_http::plain().no_proxy().build().expect("a client");
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
    let keys = KeyServer::with_keys(&[("k", &key)]).await;
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
    let question = json!({"kind": "tool_approval", "title": "Archive 41 branches", "payload": {}});
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

    // A person whose claims map to no role has no access.
    let nobody = token(&key, "k", &claims("eve", "visitors"));
    assert_eq!(get(&server, &nobody, "/v1/login").await.0, 403);
    // An admin may create keys, even under the name of a token's subject.
    let owner = token(&key, "k", &claims("olga", "owners"));
    let made = ask(&server, &owner, Method::POST, "/v1/keys", &json!({"name": "robot-7"})).await;
    assert_eq!((made.0, &made.1["made_by"]), (201, &json!("olga")));
    // The name now belongs to the key, so the token with this subject is refused.
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
    let keys = KeyServer::with_keys(&[("k", &key), ("r", &rsa)]).await;
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
        (
            "issued in five minutes",
            token(&key, "k", &with("iat", json!(now() + 300))),
            401,
            "unauthenticated",
        ),
        ("kid", token(&key, "x", &good), 401, "unauthenticated"),
        ("another's key", token(&Signer::ec(), "k", &good), 401, "unauthenticated"),
        (
            "signed with the public key",
            Signer::secret(&public).token(&json!({"alg": "HS256", "kid": "r"}), &good),
            401,
            "unauthenticated",
        ),
    ];
    // The terminal prints the server's reason, and does not ask for the operator token.
    let told = |token: &str| {
        let ran =
            server.client_command().arg("inbox").env("HOLDSHORT_TOKEN", token).output().expect("it runs");
        let said = String::from_utf8_lossy(&ran.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(ran.status.code() == Some(2) && !said.contains("tokens.json"), "{said}");
        said
    };
    assert!(told(&table[1].1).contains("rejects the JWT in HOLDSHORT_TOKEN: its issuer is not trusted"));
    assert!(
        told(&table[2].1)
            .contains("the token in HOLDSHORT_TOKEN: its `aud` is not an audience of this server")
    );
    for (what, token, status, code) in table {
        let answer = get(&server, &token, "/v1/login").await;
        assert_eq!((answer.0, &answer.1["code"]), (status, &json!(code)), "{what}: {}", answer.1);
    }
    // This server is configured without clock skew, and five minutes exceed the maximum skew anyway.
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
        let asked = keys.request_count();
        eventually("they are asked for again", async || {
            assert_eq!(get(&server, &of_new, "/v1/login").await.0, 200, "{answer:?}");
            (keys.request_count() > asked).then_some(())
        })
        .await;
    }
    drop(keys);
    assert_eq!(get(&server, &of_new, "/v1/login").await.0, 200);
}

/// When a token expires, the server ends the connections that were opened with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_open_ends_with_the_token() {
    let key = Signer::ed();
    let keys = KeyServer::with_keys(&[("k", &key)]).await;
    let server = believing(&keys).await;
    let mut short = claims("ada", "deciders");
    short["exp"] = (now() + 4).into();
    let short = token(&key, "k", &short);
    let url = server.base().replacen("http", "ws", 1) + "/v1/ws";
    let (mut socket, _) = connect_async(&*url).await.expect("a socket");
    let hello = json!({"type": "hello", "token": short});
    socket.send(Message::text(hello.to_string())).await.expect("it is open");
    let (last, code) = closed(&mut socket).await;
    assert_eq!((&last["problem"]["code"], code), (&json!("access_ended"), 4401));
    let (status, refused) = get(&server, &short, "/v1/login").await;
    assert_eq!((status, &refused["code"]), (401, &json!("credential_expired")));
}

/// Returns a copy of a token's claims in which one claim has this value.
fn with(claims: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut claims = claims.clone();
    claims[name] = value.into();
    claims
}

/// Returns a person's roles, groups and source, as an admin reads them.
async fn read_person(server: &TestServer, id: &str) -> Value {
    let (status, person) = get(server, server.token(), &format!("/v1/people/{id}")).await;
    if status == 200 { json!([person["roles"], person["groups"], person["source"]]) } else { json!(status) }
}

/// A removed person stays removed, whatever the person's tokens say. An admin can restore the person, and then sets the
/// roles.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_brings_nobody_back_whom_an_admin_removed() {
    let key = Signer::ec();
    let keys = KeyServer::with_keys(&[("k", &key)]).await;
    let server = believing(&keys).await;
    let of = |role: &str, iat: i64| token(&key, "k", &with(&claims("ada", role), "iat", iat));
    let ada = of("readers", now() - 9);
    assert_eq!(get(&server, &ada, "/v1/login").await.0, 200);
    assert_eq!(read_person(&server, "ada").await, json!([["reviewer"], ["ops"], "provider"]));
    // A newer token changes the person's role. An older token stays valid, but does not change the role back.
    let later = of("deciders", now() - 5);
    assert_eq!(get(&server, &later, "/v1/login").await.1["roles"], json!(["operator"]));
    let (status, who) = get(&server, &ada, "/v1/login").await;
    assert_eq!((status, &who["roles"]), (200, &json!(["operator"])));
    assert_eq!(read_person(&server, "ada").await, json!([["operator"], ["ops"], "provider"]));

    let removed = ask(&server, server.token(), Method::DELETE, "/v1/people/ada", &json!({})).await;
    assert_eq!(removed.0, 200, "{}", removed.1);
    for token in [&ada, &later, &of("owners", now() - 1), &of("robots", now() - 1)] {
        let (status, refused) = get(&server, token, "/v1/login").await;
        assert_eq!((status, &refused["code"]), (401, &json!("unauthenticated")), "{refused}");
        assert!(refused["detail"].as_str().is_some_and(|why| why.contains("was removed")), "{refused}");
    }
    assert_eq!(read_person(&server, "ada").await, json!(404));
    let set = json!({"roles": ["auditor"]});
    assert_eq!(ask(&server, server.token(), Method::PUT, "/v1/people/ada", &set).await.0, 200);
    assert_eq!(get(&server, &of("owners", now() - 1), "/v1/login").await.1["roles"], json!(["auditor"]));
    assert_eq!(read_person(&server, "ada").await, json!([["auditor"], [], "api"]));
}

/// A token without a role ends the person's access. A newer token with a role restores the access.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_provider_takes_away_and_gives_back() {
    let key = Signer::ec();
    let keys = KeyServer::with_keys(&[("k", &key)]).await;
    let server = believing(&keys).await;
    let of = |role: &str, iat: i64| token(&key, "k", &with(&claims("ada", role), "iat", iat));
    let first = of("readers", now() - 9);
    assert_eq!(get(&server, &first, "/v1/login").await.0, 200);
    assert_eq!(get(&server, &of("visitors", now() - 8), "/v1/login").await.0, 403);
    assert_eq!(read_person(&server, "ada").await, json!(404));
    assert_eq!(get(&server, &first, "/v1/login").await.0, 403, "an older token brings nobody back");
    assert_eq!(get(&server, &of("deciders", now() - 7), "/v1/login").await.0, 200);
    assert_eq!(read_person(&server, "ada").await, json!([["operator"], ["ops"], "provider"]));
}

/// The people file overrides tokens. The file may also name people who first authenticated with a token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_people_file_comes_before_tokens() {
    let key = Signer::ec();
    let keys = KeyServer::with_keys(&[("k", &key)]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("people.yaml");
    std::fs::write(&file, "people: {}\n").expect("written");
    let mut server = believing_beside(&keys, &format!("people = \"{}\"", file.display())).await;
    let bob = token(&key, "k", &claims("bob", "deciders"));
    assert_eq!(get(&server, &bob, "/v1/login").await.1["roles"], json!(["operator"]));
    server.stop().await;
    std::fs::write(&file, "people:\n  ada: {roles: [auditor]}\n  bob: {roles: [auditor]}\n")
        .expect("written");
    server.start().await;
    for role in ["deciders", "visitors"] {
        let ada = token(&key, "k", &claims("ada", role));
        assert_eq!(get(&server, &ada, "/v1/login").await.1["roles"], json!(["auditor"]), "{role}");
    }
    assert_eq!(read_person(&server, "ada").await, json!([["auditor"], [], "file"]));
    assert_eq!(read_person(&server, "bob").await, json!([["auditor"], [], "file"]));
    server.stop().await;
    std::fs::write(&file, "people: {}\n").expect("written");
    server.start().await;
    for who in ["ada", "bob"] {
        let token = token(&key, "k", &claims(who, "owners"));
        assert_eq!(get(&server, &token, "/v1/login").await.0, 401, "{who} was dropped from the file");
    }
}

/// A token with invalid claims creates no person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_nobody_who_can_be() {
    let key = Signer::ec();
    let keys = KeyServer::with_keys(&[("k", &key)]).await;
    let server = believing(&keys).await;
    let ada = claims("ada", "readers");
    let groups: Vec<String> = (0..101).map(|n| format!("g{n}")).collect();
    for (what, claims, why) in [
        ("too many groups", with(&ada, "groups", groups.clone()), "/groups"),
        ("a long group", with(&ada, "groups", vec!["g".repeat(129)]), "/groups/0"),
        ("a hidden group", with(&ada, "groups", vec!["g\u{200b}"]), "/groups/0"),
        ("a long name", with(&ada, "sub", "a".repeat(129)), "128"),
        ("agent and person", with(&ada, "roles", vec!["robots", "readers"]), "either an agent or a person"),
    ] {
        let (status, refused) = get(&server, &token(&key, "k", &claims), "/v1/login").await;
        assert_eq!((status, &refused["code"]), (401, &json!("unauthenticated")), "{what}: {refused}");
        assert!(refused["detail"].as_str().is_some_and(|it| it.contains(why)), "{what}: {refused}");
        assert_eq!(read_person(&server, "ada").await, json!(404), "{what}");
    }
    // Groups in an agent's token are ignored.
    let robot = with(&claims("robot", "robots"), "groups", groups);
    assert_eq!(get(&server, &token(&key, "k", &robot), "/v1/login").await.0, 200);
    let fits = with(&claims(&"a".repeat(128), "readers"), "name", "x".repeat(129));
    let (status, who) = get(&server, &token(&key, "k", &fits), "/v1/login").await;
    assert_eq!((status, who.get("name")), (200, None), "a name that is too long is not shown");
}

/// A socket that a token opened ends when the person's roles change, or when the person is removed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_open_ends_with_what_the_person_was() {
    let key = Signer::ec();
    let keys = KeyServer::with_keys(&[("k", &key)]).await;
    let server = believing(&keys).await;
    let url = server.base().replacen("http", "ws", 1) + "/v1/ws";
    for (n, end) in ["a later token", "an admin", "removed"].into_iter().enumerate() {
        let id = format!("ada{n}");
        let first = token(&key, "k", &with(&claims(&id, "readers"), "iat", now() - 9));
        let (mut socket, _) = connect_async(&*url).await.expect("a socket");
        let hello = json!({"type": "hello", "token": first});
        socket.send(Message::text(hello.to_string())).await.expect("it is open");
        let welcome = socket.next().await.expect("a frame").expect("a message");
        assert!(welcome.to_text().expect("text").contains("welcome"), "{welcome}");
        let path = format!("/v1/people/{id}");
        let done = match end {
            "a later token" => get(&server, &token(&key, "k", &claims(&id, "deciders")), "/v1/login").await.0,
            "an admin" => {
                ask(&server, server.token(), Method::PUT, &path, &json!({"roles": ["auditor"]})).await.0
            }
            _ => ask(&server, server.token(), Method::DELETE, &path, &json!({})).await.0,
        };
        assert!((200..300).contains(&done), "{end}: {done}");
        let (last, code) = closed(&mut socket).await;
        assert_eq!((&last["problem"]["code"], code), (&json!("access_ended"), 4401), "{end}");
    }
}

/// Reads a socket until the server closes it. Returns its last frame and the close code.
async fn closed(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>) -> (Value, u16) {
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
    (last, code)
}
