//! Keys of agents and services: their permissions, and the ways in which they end.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Api, Served, created, ok, question, refusal, send_request, text};
use crate::socket::{Socket, SocketMessage};
use crate::streams::Stream;

/// Creates an access key for an agent or service. Returns the key, and a client with its secret.
async fn key(served: &Served, body: Value) -> (Value, Api) {
    let made = created(served.operator().post("/v1/keys", &body).await);
    let api = served.api(Some(text(&made, "secret")));
    (made, api)
}

async fn agent(served: &Served, name: &str) -> (Value, Api) {
    key(served, json!({"name": name})).await
}

fn path(key: &Value) -> String {
    format!("/v1/keys/{}", text(key, "id"))
}

#[tokio::test]
async fn a_secret_is_shown_once_and_kept_nowhere() {
    let served = Served::new().await;
    let operator = served.operator();
    let (made, bot) = agent(&served, "build-bot").await;
    let secret = text(&made, "secret").to_owned();
    assert_eq!((secret.len(), &secret[..7]), (7 + 64, "hs_key_"));
    assert_eq!(
        json!([made["name"], made["role"], made["status"], made["made_by"], made["last_used_at"]]),
        json!(["build-bot", "agent", "live", "operator", null])
    );
    let who = ok(bot.get("/v1/login").await);
    assert_eq!(who, json!({"person": "build-bot", "role": "agent", "roles": ["agent"]}));

    let listed = ok(operator.get("/v1/keys").await);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let read = ok(operator.get(&path(&made)).await);
    assert_eq!(listed["items"][0], read);
    assert!(read["last_used_at"].is_string());
    let events = ok(operator.get_json("/v1/events").await);
    let shown = format!("{listed}{read}{events}");
    assert!(shown.contains("key_made") && shown.contains("build-bot"), "{shown}");
    assert!(!shown.contains(&secret) && !shown.contains(&secret[7..]), "{shown}");

    let folder = served.stop().await;
    let mut files = vec![folder.path().to_owned()];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(64).any(|window| window == &secret.as_bytes()[7..]), "{}", path.display());
        }
    }
    let again = Served::again(folder).await;
    assert_eq!(ok(again.api(Some(&secret)).get("/v1/login").await)["person"], "build-bot");
}

/// An access key may name the existing folder, without links in its path, in which the server tries commands of the
/// agent.
#[tokio::test]
async fn the_folder_of_a_key_exists_and_is_named_without_links() {
    let served = Served::new().await;
    let operator = served.operator();
    let folder = tempfile::tempdir().unwrap();
    let real = std::fs::canonicalize(folder.path()).unwrap();
    std::fs::write(real.join("file"), "").unwrap();
    std::fs::create_dir(real.join("project")).unwrap();
    std::os::unix::fs::symlink(real.join("project"), real.join("link")).unwrap();
    let at = |name: &str| real.join(name).display().to_string();

    let (made, _) = key(&served, json!({"name": "bot", "folder": at("project")})).await;
    assert_eq!(made["folder"], at("project"));
    assert_eq!(ok(operator.get(&path(&made)).await)["folder"], at("project"));
    assert_eq!(ok(operator.get("/v1/keys").await)["items"][0]["folder"], at("project"));
    let (plain, _) = agent(&served, "other").await;
    assert_eq!(plain.get("folder"), None);

    let data = served.data().display().to_string();
    let table = [
        (at("link"), "agent", "is not the real path"),
        (at("project/."), "agent", "is not the real path"),
        (at("missing"), "agent", "cannot be opened"),
        (at("file"), "agent", "is not a directory"),
        ("project".to_owned(), "agent", "must be an absolute path"),
        ("/".to_owned(), "agent", "overlap"),
        (data, "agent", "overlap"),
        (at("project"), "operator", "only for a key with the role `agent`"),
    ];
    for (folder, role, said) in table {
        let body = json!({"name": "refused", "role": role, "folder": folder});
        let answer = operator.post("/v1/keys", &body).await;
        assert_eq!(refusal(&answer), (422, "invalid_request", vec!["/folder"]), "{folder}: {answer:?}");
        assert!(text(&answer.1["errors"][0], "message").contains(said), "{folder}: {answer:?}");
    }
}

/// Two agents have separate names on cards and separate idempotency keys, and cannot read each other's interrupts.
#[tokio::test]
async fn two_agents_are_two() {
    let served = Served::new().await;
    let (_, one) = agent(&served, "one").await;
    let (_, two) = agent(&served, "two").await;
    let with_key = async |api: &Api| {
        let request = api.request(Method::POST, "/v1/interrupts").header("idempotency-key", "same");
        created(send_request(request.json(&question())).await)
    };
    let (of_one, of_two) = (with_key(&one).await, with_key(&two).await);
    assert_ne!(of_one["id"], of_two["id"]);
    assert_eq!(with_key(&one).await["id"], of_one["id"], "a repeat is one");
    let (of_one, of_two) = (text(&of_one, "id"), text(&of_two, "id"));
    for (api, own, others) in [(&one, of_one, of_two), (&two, of_two, of_one)] {
        assert_eq!(api.get(&format!("/v1/interrupts/{own}")).await.0, 200);
        let refused = api.get(&format!("/v1/interrupts/{others}")).await;
        assert_eq!(refusal(&refused), (403, "forbidden_role", vec![]));
    }
    let shown = ok(served.operator().get(&format!("/v1/interrupts/{of_one}")).await);
    assert_eq!(shown["agent"], "one", "{shown}");
    let run = text(&shown, "run");
    let events = ok(served.operator().get(&format!("/v1/runs/{run}/events")).await);
    assert_eq!(events["items"][0]["actor"], json!({"id": "one", "role": "agent", "via": "rest"}));
    // The agent token of the data folder is a third agent.
    assert_eq!(served.agent().get(&format!("/v1/interrupts/{of_one}")).await.0, 403);
}

#[tokio::test]
async fn each_role_may_what_its_column_says() {
    let served = Served::new().await;
    let asked = served.agent().ask().await;
    let table = [
        ("operator", "/v1/runs", 200, 200),
        ("reviewer", "/v1/runs", 200, 403),
        ("auditor", "/v1/runs", 200, 403),
        ("agent", "/v1/runs", 200, 403),
    ];
    for (role, path, reads, decides) in table {
        let (_, api) = key(&served, json!({"name": format!("the-{role}"), "role": role})).await;
        assert_eq!(api.get(path).await.0, reads, "{role}");
        // A key cannot create keys or login links, because they could have more permissions than the key.
        assert_eq!(refusal(&api.get("/v1/keys").await), (403, "forbidden_role", vec![]), "{role}");
        let made = api.post("/v1/keys", &json!({"name": "mine"})).await;
        assert_eq!(refusal(&made), (403, "forbidden_role", vec![]), "{role}");
        let link = api.post("/v1/login-links", &json!({})).await;
        assert_eq!(refusal(&link), (403, "forbidden_role", vec![]), "{role}");
        if decides == 403 {
            assert_eq!(api.decide(&asked, &json!({"option": "approve"})).await.0, 403, "{role}");
        }
    }
    let (_, service) = key(&served, json!({"name": "release", "role": "operator"})).await;
    let decided = ok(service.decide(&asked, &json!({"option": "approve"})).await);
    assert_eq!(decided["resolution"]["by"], json!(["release"]));
}

#[tokio::test]
async fn what_is_refused() {
    let served = Served::new().await;
    let operator = served.operator();
    let (made, _) = agent(&served, "bot").await;
    let path = path(&made);
    let table = [
        ("/v1/keys", json!({}), 422, "invalid_request", vec!["/name"]),
        ("/v1/keys", json!({"name": "a\u{202e}b"}), 422, "invalid_request", vec!["/name"]),
        ("/v1/keys", json!({"name": "a\nb"}), 422, "invalid_request", vec!["/name"]),
        ("/v1/keys", json!({"name": ""}), 422, "invalid_request", vec!["/name"]),
        ("/v1/keys", json!({"name": "a".repeat(65)}), 422, "invalid_request", vec!["/name"]),
        ("/v1/keys", json!({"name": "x", "role": "admin"}), 422, "invalid_request", vec!["/role"]),
        ("/v1/keys", json!({"name": "x", "role": "engine"}), 422, "invalid_request", vec!["/role"]),
        ("/v1/keys", json!({"name": "x", "secret": "s"}), 422, "invalid_request", vec!["/secret"]),
        (
            "/v1/keys",
            json!({"name": "x", "expires_in_ms": 0}),
            422,
            "invalid_request",
            vec!["/expires_in_ms"],
        ),
        ("/v1/keys", json!({"name": "bot"}), 409, "name_taken", vec![]),
        ("/v1/keys", json!({"name": "operator"}), 409, "name_taken", vec![]),
        ("/v1/keys", json!({"name": "engine"}), 409, "name_taken", vec![]),
        (
            &format!("{path}/rotate"),
            json!({"overlap_ms": 2_592_000_001_u64}),
            422,
            "invalid_request",
            vec!["/overlap_ms"],
        ),
        ("/v1/keys/key_01k6f0000000000000000000aa/rotate", json!({}), 404, "not_found", vec![]),
        ("/v1/keys/bot/rotate", json!({}), 404, "not_found", vec![]),
    ];
    for (path, body, status, code, pointers) in table {
        let answer = operator.post(path, &body).await;
        assert_eq!(refusal(&answer), (status, code, pointers), "{path} {body}");
    }
    assert_eq!(refusal(&operator.get("/v1/keys/key_01k6f0000000000000000000aa").await).0, 404);
    assert_eq!(refusal(&operator.delete("/v1/keys/key_01k6f0000000000000000000aa").await).0, 404);
    // The response does not say why a secret is invalid.
    let unknown = format!("hs_key_{}", "0".repeat(64));
    let bodies: Vec<Value> = {
        let mut bodies = Vec::new();
        for secret in ["hs_key_", &unknown, &unknown[..70], &format!("{unknown}0"), text(&made, "id")] {
            bodies.push(refused(&served.api(Some(secret))).await);
        }
        bodies
    };
    assert!(bodies.iter().all(|body| *body == bodies[0] && body["code"] == "unauthenticated"), "{bodies:?}");
}

async fn refused(api: &Api) -> Value {
    let (status, body) = api.get("/v1/runs").await;
    assert_eq!(status, 401, "{body}");
    body
}

#[tokio::test]
async fn a_rotated_secret_counts_no_more_or_for_a_while() {
    let served = Served::new().await;
    let operator = served.operator();
    let (made, first) = agent(&served, "bot").await;
    let rotate = format!("{}/rotate", path(&made));
    let second = ok(operator.post(&rotate, &json!({})).await);
    assert_ne!(second["secret"], made["secret"]);
    assert_eq!(refused(&first).await["code"], "unauthenticated");
    let second = served.api(Some(text(&second, "secret")));
    let third = ok(operator.post(&rotate, &json!({"overlap_ms": 3_600_000})).await);
    assert!(third["previous_until"].is_string() && third["rotated_at"].is_string(), "{third}");
    let third = served.api(Some(text(&third, "secret")));
    for api in [&second, &third] {
        assert_eq!(ok(api.get("/v1/login").await)["person"], "bot");
    }
    // A second rotation ends the overlap of the previous secret.
    ok(operator.post(&rotate, &json!({})).await);
    assert_eq!(refused(&second).await["code"], "unauthenticated");
}

#[tokio::test]
async fn a_revocation_is_one_and_final() {
    let served = Served::new().await;
    let operator = served.operator();
    let (made, bot) = agent(&served, "bot").await;
    let revoked = ok(operator.delete(&path(&made)).await);
    assert_eq!(revoked["status"], "revoked");
    assert_eq!(refused(&bot).await["code"], "unauthenticated");
    assert_eq!(ok(operator.delete(&path(&made)).await)["revoked_at"], revoked["revoked_at"]);
    let rotated = operator.post(&format!("{}/rotate", path(&made)), &json!({})).await;
    assert_eq!(refusal(&rotated), (409, "key_ended", vec![]));
    // The name can be used again, but the old secret does not authenticate the new key.
    agent(&served, "bot").await;
    assert_eq!(refused(&bot).await["code"], "unauthenticated");
}

#[tokio::test]
async fn an_expired_key_says_so() {
    let served = Served::new().await;
    let (_, bot) = key(&served, json!({"name": "bot", "expires_in_ms": 300})).await;
    let mut socket = Socket::open(&served, &[]).await.unwrap();
    let opened = bot.get("/v1/login").await;
    assert!(opened.1["expires_at"].is_string(), "{opened:?}");
    socket.say(&json!({"type": "hello", "token": bot.token()})).await;
    // A socket that was opened before the expiry is closed at the expiry.
    let (_, close) = last(&mut socket).await;
    assert_eq!(close, Some(4401));
    let expired = bot.get("/v1/runs").await;
    assert_eq!(refusal(&expired), (401, "credential_expired", vec![]));
}

/// Returns the last frame of a socket, and the close code of the socket.
async fn last(socket: &mut Socket) -> (Value, Option<u16>) {
    let mut frame = Value::Null;
    loop {
        match socket.came().await {
            SocketMessage::Frame(next) => frame = next,
            SocketMessage::Close(code) => return (frame, code),
        }
    }
}

/// When an access key ends, its open socket, streams and long poll are closed, but not connections of other keys.
#[tokio::test]
async fn what_is_open_ends_with_the_key() {
    let served = Served::new().await;
    let operator = served.operator();
    for end in ["revoke", "rotate"] {
        let (made, bot) = agent(&served, "bot").await;
        let (_, other) = agent(&served, &format!("other-{end}")).await;
        let asked = bot.ask().await;
        let (id, run) = (text(&asked, "id").to_owned(), text(&asked, "run").to_owned());
        let mut socket = Socket::with_token(&served, bot.token()).await;
        socket.ask(&json!({"type": "subscribe", "id": "all", "topic": "all"})).await;
        let mut others = Socket::with_token(&served, other.token()).await;
        let mut of_run = Stream::open(&bot, &run, "", None).await;
        let mut of_all = Stream::at(&bot, "/v1/events", None).await;
        of_all.next().await.expect("a position");
        let poll = tokio::spawn({
            let (bot, id) = (bot.clone(), id.clone());
            async move { bot.get(&format!("/v1/interrupts/{id}?wait=20")).await }
        });
        // The long poll has started to wait.
        while served.polls().await == 0 {
            tokio::task::yield_now().await;
        }
        if end == "revoke" {
            ok(operator.delete(&path(&made)).await);
        } else {
            ok(operator.post(&format!("{}/rotate", path(&made)), &json!({})).await);
        }
        // The decision is committed after the key has ended, so no connection of the key receives it.
        ok(operator.decide(&json!({"id": id}), &json!({"option": "approve"})).await);
        let (frame, code) = last(&mut socket).await;
        assert_eq!((text(&frame["problem"], "code"), code), ("access_ended", Some(4401)), "{end}");
        assert_eq!(refusal(&poll.await.unwrap()), (401, "access_ended", vec![]), "{end}");
        for stream in [&mut of_run, &mut of_all] {
            let mut seen = Vec::new();
            while let Some(frame) = stream.next().await {
                seen.push(frame);
            }
            let last = seen.pop().expect("why it ends");
            let told = (last.event.as_deref(), text(&last.data, "code"));
            assert_eq!(told, (Some("problem"), "access_ended"), "{end}");
            let late = seen.iter().filter(|frame| frame.data["type"] == "decision_made").count();
            assert_eq!(late, 0, "{end}: {seen:?}");
        }
        assert_eq!(others.ask(&json!({"type": "ping", "id": "1"})).await["type"], "pong", "{end}");
        if end == "rotate" {
            ok(operator.delete(&path(&made)).await);
        }
    }
}

/// A sign-out closes all sockets of the browser.
#[tokio::test]
async fn what_is_open_ends_with_the_login() {
    let served = Served::new().await;
    let browser = served.browser().await;
    let cookie = browser.login().cookie.clone();
    let mut socket = Socket::open(&served, &[("cookie", &cookie)]).await.unwrap();
    let hello = json!({"type": "hello", "secret": browser.login().secret});
    assert_eq!(socket.ask(&hello).await["type"], "welcome");
    assert_eq!(browser.delete("/v1/login").await.0, 204);
    let (frame, code) = last(&mut socket).await;
    assert_eq!((text(&frame["problem"], "code"), code), ("access_ended", Some(4401)));
}

#[tokio::test]
async fn a_decision_link_ends_with_its_key() {
    let served = Served::new().await;
    let asked = served.agent().ask().await;
    let (made, service) = key(&served, json!({"name": "release", "role": "operator"})).await;
    let link =
        created(service.post(&format!("/v1/interrupts/{}/links", text(&asked, "id")), &json!({})).await);
    let url = text(&link, "url").to_owned();
    let page = format!("/d/{}", url.rsplit('/').next().unwrap());
    let opened = async || {
        let response = served.api(None).request(Method::GET, &page).header("accept", "text/html");
        response.send().await.unwrap().status().as_u16()
    };
    assert_eq!(opened().await, 200);
    ok(served.operator().delete(&path(&made)).await);
    assert_eq!(opened().await, 410);
}
