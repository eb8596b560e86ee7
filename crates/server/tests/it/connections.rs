//! Slow, silent and excess connections are closed, and agents with too many requests are refused, while people are
//! served.

use std::io::ErrorKind;
use std::time::Duration;

use holdshort_server::{Pace, Tuning};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::harness::{SOON, Served, created, ok, refusal, send_request, text, without_card};

async fn connect(served: &Served, words: &str) -> TcpStream {
    let mut stream = TcpStream::connect(served.address()).await.unwrap();
    stream.write_all(words.as_bytes()).await.unwrap();
    stream
}

async fn until_closed(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    match timeout(SOON, stream.read_to_end(&mut said)).await.expect("the server closes it") {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    String::from_utf8(said).unwrap()
}

#[tokio::test]
async fn headers_come_in_time_and_nobody_is_idle_for_ever() {
    let pace = Pace { headers: Duration::from_millis(200), ..Pace::default() };
    let served = Served::paced(pace).await;
    let host = served.address();
    let table = [
        ("nothing", String::new(), ""),
        ("half a request", format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n"), ""),
        ("one, then nothing", format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"), "HTTP/1.1 200"),
        (
            "one, then half of another",
            format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\nGET /hea"),
            "HTTP/1.1 200",
        ),
    ];
    for (what, words, answer) in table {
        let mut stream = connect(&served, &words).await;
        let said = until_closed(&mut stream).await;
        assert!(said.starts_with(answer) && said.matches("HTTP/1.1").count() <= 1, "{what}: {said}");
    }
    // The time limit does not apply to a request that is being served.
    let asked = served.operator().ask().await;
    let path = format!("/v1/interrupts/{}?wait=1", asked["id"].as_str().unwrap());
    assert_eq!(without_card(ok(served.operator().get(&path).await)), asked);
}

#[tokio::test]
async fn a_flood_of_strangers_locks_nobody_out() {
    const STRANGERS: usize = 20;
    let tuning = Tuning { unauthenticated_connections: Some(STRANGERS), ..Tuning::default() };
    let served = Served::with_tuning(tuning).await;
    let host = served.address();
    let known = served.operator();
    ok(known.get("/v1/info").await);
    let mut flood = Vec::new();
    for n in 0..10 * STRANGERS {
        let words = if n % 2 == 0 { String::new() } else { format!("GET / HTTP/1.1\r\nHost: {host}\r\n") };
        flood.push(connect(&served, &words).await);
        // During the flood, new clients can always connect.
        if n % 40 == 39 {
            ok(served.operator().get("/v1/runs").await);
        }
    }
    // The oldest connections were evicted. The authenticated connection was not evicted.
    for stream in &mut flood[..8 * STRANGERS] {
        assert_eq!(until_closed(stream).await, "");
    }
    ok(known.get("/v1/info").await);
}

/// A valid decision link authenticates its connection, so that a flood of unauthenticated connections does not close
/// it.
#[tokio::test]
async fn whoever_holds_a_link_is_no_stranger() {
    let tuning = Tuning { unauthenticated_connections: Some(4), ..Tuning::default() };
    let served = Served::with_tuning(tuning).await;
    let host = served.address();
    let asked = served.operator().ask().await;
    let made =
        served.operator().post(&format!("/v1/interrupts/{}/links", text(&asked, "id")), &json!({})).await;
    let link = text(&created(made), "url").to_owned();
    let path = link.strip_prefix(&format!("http://{host}")).unwrap();
    let forged = path.replace("/d/", "/d/x");
    assert_ne!(forged, path);
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let mut stays = connect(&served, &get(path)).await;
    let mut goes = connect(&served, &get(&forged)).await;
    for (stream, status) in [(&mut stays, "200"), (&mut goes, "404")] {
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(head, *format!("HTTP/1.1 {status}").as_bytes());
    }
    let mut flood = Vec::new();
    for _ in 0..8 {
        flood.push(connect(&served, "").await);
    }
    until_closed(&mut goes).await;
    stays.write_all(get("/healthz").as_bytes()).await.unwrap();
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains("HTTP/1.1 200 OK\r\n") {
        let read = timeout(SOON, stays.read_buf(&mut said)).await.unwrap().unwrap();
        assert!(read > 0, "it was closed: {}", String::from_utf8_lossy(&said));
    }
}

/// Unauthenticated sockets use the quota of unauthenticated connections, and no permit for a stream.
#[tokio::test]
async fn sockets_that_say_nothing_give_way_too() {
    let tuning = Tuning { unauthenticated_connections: Some(4), ..Tuning::default() };
    let served = Served::with_tuning(tuning).await;
    let host = served.address();
    let upgrade = format!(
        "GET /v1/ws HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let mut first = connect(&served, &upgrade).await;
    let mut head = [0; 12];
    first.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 101");
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(connect(&served, &upgrade).await);
    }
    let mut rest = Vec::new();
    timeout(SOON, first.read_to_end(&mut rest)).await.expect("it gives way").unwrap();
    assert!(String::from_utf8_lossy(&rest).contains("are not authenticated"));
}

/// Agents have a quota of connections, which applies to sockets and idle connections.
#[tokio::test]
async fn a_flood_of_agents_connections_locks_nobody_out() {
    const SHARE: usize = 4;
    let tuning = Tuning { agent_connections: Some(SHARE), ..Tuning::default() };
    let served = Served::with_tuning(tuning).await;
    let (host, token) = (served.address(), served.agent_token());
    let get =
        |path: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
    let upgrade = format!(
        "GET /v1/ws HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let asks = [get("/v1/info"), get("/v1/runs"), upgrade.clone(), get("/v1/interrupts/none")];
    let mut open = Vec::new();
    for (n, ask) in asks.iter().chain(&asks).enumerate() {
        let mut stream = connect(&served, ask).await;
        let mut head = [0; 12];
        timeout(SOON, stream.read_exact(&mut head)).await.unwrap().unwrap();
        assert_eq!(&head != b"HTTP/1.1 429", n < SHARE, "{n}: {}", String::from_utf8_lossy(&head));
        open.push(stream);
    }
    let agent = served.agent();
    let refused = agent.request(Method::GET, "/v1/info").send().await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &"1".parse().unwrap()));
    assert_eq!(refused.json::<Value>().await.unwrap()["code"], "too_many_connections");
    ok(served.operator().get("/v1/runs").await);
    // A closed socket no longer counts towards the quota.
    drop(open.remove(2));
    let room = async {
        while agent.get("/v1/info").await.0 == 429 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, room).await.expect("there is room");
}

#[tokio::test]
async fn agents_that_ask_too_often_are_told_to_wait_and_people_are_not() {
    let served = Served::with(|options| options.agent_requests = 1).await;
    let agent = served.agent();
    let mut refused = None;
    // These requests use up the burst of five seconds.
    for _ in 0..100 {
        let response = agent.request(Method::GET, "/v1/info").send().await.unwrap();
        if response.status() == 429 {
            assert_eq!(response.headers()["retry-after"], "1");
            refused = Some(response);
            break;
        }
    }
    let problem: serde_json::Value = refused.expect("a limit").json().await.unwrap();
    assert_eq!(
        (&problem["code"], &problem["type"]),
        (&json!("too_many_requests"), &json!("/docs/errors/too_many_requests"))
    );
    for _ in 0..50 {
        assert_eq!(refusal(&send_request(served.api(None).request(Method::GET, "/v1/info")).await).0, 401);
        ok(served.operator().get("/v1/info").await);
    }
}
