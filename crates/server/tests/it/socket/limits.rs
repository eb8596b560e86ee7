//! Frames that a socket refuses, and reasons for closing a socket, each with its error.

use std::time::Duration;

use holdshort_server::Pace;
use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::{Socket, SocketMessage, error, fill};
use crate::harness::{Served, refusal, send_request, text};

#[tokio::test]
async fn a_frame_that_is_not_understood_is_answered_and_the_socket_stays() {
    let served = Served::new().await;
    let mut socket = Socket::operator(&served).await;
    let table = [
        (r"[]", None, "invalid_request", vec![""]),
        (r"5", None, "invalid_request", vec![""]),
        (r"{}", None, "invalid_request", vec!["/type"]),
        (r#"{"type": "bless", "id": "x"}"#, Some("x"), "invalid_request", vec!["/type"]),
        (r#"{"type": 5}"#, None, "invalid_request", vec!["/type"]),
        (r#"{"type": "ping", "id": "x", "colour": "red"}"#, Some("x"), "invalid_request", vec!["/colour"]),
        (r#"{"type": "ping", "id": 5}"#, None, "invalid_request", vec!["/id"]),
        (r#"{"type": "ping", "id": ""}"#, Some(""), "invalid_request", vec!["/id"]),
        (r#"{"type": "ping", "id": "a", "id": "b"}"#, None, "malformed_json", vec![]),
        (r#"{"type": "ping", "id": "x", "n": 9007199254740993}"#, None, "malformed_json", vec![]),
        (r#"{"type": "hello"}"#, None, "invalid_request", vec!["/type"]),
        (r#"{"type": "subscribe", "topic": "all"}"#, None, "invalid_request", vec!["/id"]),
        (r#"{"type": "subscribe", "id": "x"}"#, Some("x"), "invalid_request", vec!["/topic"]),
        (
            r#"{"type": "subscribe", "id": "x", "topic": "weather"}"#,
            Some("x"),
            "invalid_request",
            vec!["/topic"],
        ),
        (r#"{"type": "subscribe", "id": "x", "topic": "run"}"#, Some("x"), "invalid_request", vec!["/run"]),
        (
            r#"{"type": "subscribe", "id": "x", "topic": "run", "run": "run_1"}"#,
            Some("x"),
            "not_found",
            vec![],
        ),
        (
            r#"{"type": "subscribe", "id": "x", "topic": "run", "run": "run_1", "position": "p0"}"#,
            Some("x"),
            "invalid_request",
            vec!["/position"],
        ),
        (
            r#"{"type": "subscribe", "id": "x", "topic": "all", "run": "run_1"}"#,
            Some("x"),
            "invalid_request",
            vec!["/run"],
        ),
        (
            r#"{"type": "subscribe", "id": "x", "topic": "inbox", "since": 1}"#,
            Some("x"),
            "invalid_request",
            vec!["/since"],
        ),
        (
            r#"{"type": "subscribe", "id": "x", "topic": "inbox", "previews": true}"#,
            Some("x"),
            "invalid_request",
            vec!["/previews"],
        ),
        (
            r#"{"type": "subscribe", "id": "x", "topic": "all", "position": "4"}"#,
            Some("x"),
            "invalid_request",
            vec!["/position"],
        ),
        (
            r#"{"type": "subscribe", "id": "x", "topic": "all", "position": "p4"}"#,
            Some("x"),
            "invalid_request",
            vec!["/position"],
        ),
        (r#"{"type": "unsubscribe", "id": "x"}"#, Some("x"), "not_found", vec![]),
    ];
    for (frame, id, code, pointers) in table {
        socket.send(Message::text(frame)).await;
        assert_eq!(error(&socket.next().await), (id, code, pointers), "{frame}");
    }
    assert_eq!(socket.ask(&json!({"type": "ping"})).await, json!({"type": "pong"}));
    assert_eq!(socket.ask(&json!({"type": "ping", "id": "1"})).await, json!({"type": "pong", "id": "1"}));
}

#[tokio::test]
async fn a_socket_has_so_many_subscriptions_each_with_an_id_of_its_own() {
    let served = Served::new().await;
    let mut socket = Socket::operator(&served).await;
    let wish = |n: usize| json!({"type": "subscribe", "id": n.to_string(), "topic": "inbox"});
    for n in 0..64 {
        socket.subscribe(wish(n)).await;
    }
    assert_eq!(error(&socket.ask(&wish(7)).await), (Some("7"), "invalid_request", vec!["/id"]));
    assert_eq!(error(&socket.ask(&wish(64)).await), (Some("64"), "limit_reached", vec![]));
    let ended = socket.ask(&json!({"type": "unsubscribe", "id": "7"})).await;
    assert_eq!(ended, json!({"type": "ended", "id": "7"}));
    socket.subscribe(wish(7)).await;
    served.operator().ask().await;
    let mut told: Vec<String> = Vec::new();
    while told.len() < 64 {
        told.push(text(&socket.next().await, "id").to_owned());
    }
    told.sort_by_key(|id| id.parse::<usize>().unwrap());
    assert_eq!(told, (0..64).map(|n| n.to_string()).collect::<Vec<_>>());
}

/// Sends a message. Returns the last frame and the close message of the socket.
async fn end(mut socket: Socket, message: Option<Message>) -> (Value, SocketMessage) {
    if let Some(message) = message {
        socket.send(message).await;
    }
    (socket.next().await, socket.came().await)
}

#[tokio::test]
async fn what_is_no_frame_at_all_ends_the_socket() {
    let served = Served::new().await;
    let table = [
        (Message::text("{"), "malformed_json", 4400),
        (Message::text("hello"), "malformed_json", 4400),
        (Message::binary(b"{}".as_slice()), "malformed_json", 4400),
        (
            Message::text(json!({"type": "ping", "id": "x".repeat(1024 * 1024)}).to_string()),
            "body_too_large",
            1009,
        ),
    ];
    for (message, code, close) in table {
        let (frame, came) = end(Socket::operator(&served).await, Some(message)).await;
        assert_eq!((error(&frame), came), ((None, code, vec![]), SocketMessage::Close(Some(close))));
    }
}

#[tokio::test]
async fn whoever_does_not_say_who_it_is_stays_outside() {
    let pace = Pace { hello: Duration::from_secs(1), ..Pace::default() };
    let served = Served::paced(pace).await;
    let browser = served.browser().await;
    let login = browser.login();
    let agent = format!("Bearer {}", served.agent_token());
    let wrong = served.token().replace("hs_op_", "hs_ag_");
    let hello = |field: &str, value: &str| Some(json!({"type": "hello", field: value}));
    let table: [(&[(&str, &str)], _, _); 10] = [
        (&[], None, "unauthenticated"),
        (&[], Some(json!({"type": "hello"})), "unauthenticated"),
        (&[], Some(json!({"type": "ping"})), "unauthenticated"),
        (&[], hello("token", &wrong), "unauthenticated"),
        (&[], hello("token", ""), "unauthenticated"),
        (&[], hello("secret", &login.secret), "unauthenticated"),
        (&[("cookie", &login.cookie)], Some(json!({"type": "hello"})), "unauthenticated"),
        (&[("cookie", &login.cookie)], hello("secret", &login.cookie), "unauthenticated"),
        (&[("authorization", &agent)], hello("token", &wrong), "unauthenticated"),
        (&[], hello("password", "swordfish"), "invalid_request"),
    ];
    for (headers, first, code) in table {
        let headers: Vec<(&'static str, &str)> = headers
            .iter()
            .map(|(name, value)| (if *name == "cookie" { "cookie" } else { "authorization" }, *value))
            .collect();
        let socket = Socket::open(&served, &headers).await.unwrap();
        let message = first.as_ref().map(|frame| Message::text(frame.to_string()));
        let (frame, came) = end(socket, message).await;
        assert_eq!((error(&frame).1, came), (code, SocketMessage::Close(Some(4401))), "{first:?}");
    }
    // The header authenticates the client without a `hello` frame.
    let mut socket = Socket::open(&served, &[("authorization", &agent)]).await.unwrap();
    assert_eq!(socket.ask(&json!({"type": "hello"})).await["role"], "agent");
}

/// An agent beyond its rate limit gets `too_many_requests` after `hello`, and not an authentication error.
#[tokio::test]
async fn an_agent_over_its_rate_is_told_so_when_it_says_hello() {
    let served = Served::with(|options| options.agent_requests = 1).await;
    let hello = json!({"type": "hello", "token": served.agent_token()});
    loop {
        let mut socket = Socket::open(&served, &[]).await.unwrap();
        let said = socket.ask(&hello).await;
        if said["type"] != "welcome" {
            assert_eq!(
                (error(&said), socket.came().await),
                ((None, "too_many_requests", vec![]), SocketMessage::Close(Some(4429)))
            );
            break;
        }
    }
    Socket::operator(&served).await;
}

/// Frames of agents have a rate limit. Excess frames are refused one by one, and a flood closes the socket. People have
/// no rate limit.
#[tokio::test]
async fn an_agents_flood_ends_its_socket() {
    let served = Served::with(|options| options.agent_requests = 1).await;
    let mut agent = Socket::with_token(&served, served.agent_token()).await;
    let ping = json!({"type": "ping", "id": "1"});
    let mut refused = Vec::new();
    let close = loop {
        // The socket may be closed before the frame is sent.
        agent.try_send(Message::text(ping.to_string())).await;
        match agent.came().await {
            SocketMessage::Frame(frame) if frame["type"] == "pong" => refused.clear(),
            SocketMessage::Frame(frame) => refused.push(frame),
            SocketMessage::Close(close) => break close,
        }
    };
    // The last error is the reason for the close, and belongs to no frame.
    let last = refused.pop().unwrap();
    assert_eq!((error(&last), close), ((None, "too_many_requests", vec![]), Some(4429)));
    assert_eq!(refused.len(), 100);
    for frame in &refused {
        assert_eq!(error(frame), (Some("1"), "too_many_requests", vec![]));
    }
    let mut operator = Socket::operator(&served).await;
    for _ in 0..200 {
        assert_eq!(operator.ask(&ping).await["type"], "pong");
    }
}

#[tokio::test]
async fn the_request_that_opens_a_socket_is_checked_like_any_other() {
    let served = Served::new().await;
    let port = served.address().port();
    let own = format!("http://127.0.0.1:{port}");
    let table: [(&'static str, &str, u16, &str); 6] = [
        ("origin", "http://evil.example", 403, "wrong_origin"),
        ("origin", "null", 403, "wrong_origin"),
        ("origin", &format!("http://localhost:{}", port ^ 1), 403, "wrong_origin"),
        ("host", "evil.example", 421, "wrong_host"),
        ("authorization", "Bearer hs_op_0", 401, "unauthenticated"),
        ("sec-websocket-version", "12", 400, "invalid_header"),
    ];
    for (name, value, status, code) in table {
        let response = Socket::open(&served, &[(name, value)]).await.err().unwrap();
        let problem: Value = serde_json::from_slice(response.body().as_ref().unwrap()).unwrap();
        assert_eq!((response.status().as_u16(), text(&problem, "code")), (status, code), "{name}: {value}");
    }
    assert!(Socket::open(&served, &[("origin", &own)]).await.is_ok());
    let plain = send_request(served.operator().request(Method::GET, "/v1/ws")).await;
    assert_eq!(refusal(&plain), (400, "invalid_header", vec![]));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped_and_comes_back_missing_nothing() {
    let pace = Pace { patience: Duration::from_secs(1), ..Pace::default() };
    let served = Served::paced(pace).await;
    let events = fill(&served).await;
    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "all", "topic": "all", "position": "p0"})).await;
    // The client notices the closed connection only when it writes.
    while socket.try_send(Message::Ping(Vec::new().into())).await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut positions = Vec::new();
    while let SocketMessage::Frame(frame) = socket.came().await {
        positions.push(text(&frame["event"], "position").to_owned());
    }
    assert!(positions.len() < events);

    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "all", "topic": "all", "position": positions.last()})).await;
    for event in socket.events("all", events - positions.len()).await {
        positions.push(text(&event, "position").to_owned());
    }
    assert_eq!(positions, (1..=events).map(|position| format!("p{position}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_client_that_is_not_there_any_more_is_given_up() {
    let pace = Pace { ping: Duration::from_millis(50), silence: Duration::from_secs(1), ..Pace::default() };
    let served = Served::paced(pace).await;
    let mut gone = Socket::operator(&served).await;
    let mut there = Socket::operator(&served).await;
    // One client responds to pings because it waits for a frame. The other client does nothing.
    let waits = tokio::spawn(async move {
        there.subscribe(json!({"id": "in", "topic": "inbox"})).await;
        there.next().await
    });
    tokio::time::sleep(2 * pace.silence).await;
    assert_eq!(gone.next().await, json!({"type": "closing", "reason": "silent"}));
    assert_eq!(gone.came().await, SocketMessage::Close(Some(4408)));
    served.operator().ask().await;
    assert_eq!(waits.await.unwrap()["type"], "event");
}

#[tokio::test]
async fn a_client_that_leaves_gets_its_goodbye() {
    let served = Served::new().await;
    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "all", "topic": "all"})).await;
    let close = CloseFrame { code: CloseCode::Normal, reason: "".into() };
    socket.send(Message::Close(Some(close))).await;
    assert_eq!(socket.came().await, SocketMessage::Close(Some(1000)));
}

#[tokio::test]
async fn a_server_that_stops_says_so() {
    let served = Served::new().await;
    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "all", "topic": "all"})).await;
    let silent = Socket::open(&served, &[]).await.unwrap();
    let ended = tokio::spawn(end(socket, None));
    let outside = tokio::spawn(end(silent, None));
    let started = std::time::Instant::now();
    served.stop().await;
    assert!(started.elapsed() < Duration::from_secs(5), "nothing holds the server up");
    for told in [ended, outside] {
        let closing = json!({"type": "closing", "reason": "stopping"});
        assert_eq!(told.await.unwrap(), (closing, SocketMessage::Close(Some(1001))));
    }
}
