//! Keys of agents, over the real binary. When a key is revoked, its open sockets and streams end, on the same node and
//! on all other nodes of the database.

use futures::{SinkExt, StreamExt};
use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use crate::cluster::Cluster;

/// Creates an API key for an agent. Returns the id and the secret of the key.
pub(crate) async fn key(server: &TestServer, name: &str) -> (String, String) {
    let made = server.post("/v1/keys", &json!({"name": name})).await.ok();
    let text = |field: &str| made[field].as_str().expect(field).to_owned();
    (text("id"), text("secret"))
}

async fn status(server: &TestServer, secret: &str) -> u16 {
    let client = holdshort_http::plain().build().expect("a client");
    let request = client.get(format!("{}/v1/login", server.base())).bearer_auth(secret);
    request.send().await.expect("an answer").status().as_u16()
}

/// Open connections that use an agent's key. Each task ends when the key is revoked, and returns how its connection
/// ended.
struct Open {
    socket: tokio::task::JoinHandle<(Value, u16)>,
    stream: tokio::task::JoinHandle<String>,
}

impl Open {
    async fn at(server: &TestServer, secret: &str) -> Self {
        let url = server.base().replacen("http", "ws", 1) + "/v1/ws";
        let (mut socket, _) = connect_async(&*url).await.expect("a socket");
        let hello = json!({"type": "hello", "token": secret});
        socket.send(Message::text(hello.to_string())).await.expect("it is open");
        let welcome = socket.next().await.expect("a frame").expect("a frame");
        assert!(welcome.to_text().expect("text").contains("welcome"), "{welcome}");

        let client = holdshort_http::plain().build().expect("a client");
        let request = client.request(Method::GET, format!("{}/v1/events", server.base())).bearer_auth(secret);
        let mut stream = request.header("accept", "text/event-stream").send().await.expect("a stream");
        let first = stream.chunk().await.expect("a stream").expect("where it starts");
        Self {
            socket: tokio::spawn(async move {
                let mut last = Value::Null;
                while let Some(message) = socket.next().await {
                    match message.expect("a message") {
                        Message::Text(text) => last = serde_json::from_str(&text).expect("JSON"),
                        Message::Close(close) => return (last, close.map_or(0, |close| close.code.into())),
                        _ => {}
                    }
                }
                (last, 0)
            }),
            stream: tokio::spawn(async move {
                let mut told = String::from_utf8_lossy(&first).into_owned();
                while let Ok(Some(chunk)) = stream.chunk().await {
                    told.push_str(&String::from_utf8_lossy(&chunk));
                }
                told
            }),
        }
    }

    fn is_open(&self) -> bool {
        !self.socket.is_finished() && !self.stream.is_finished()
    }

    async fn assert_ended(self) {
        let (last, code) = self.socket.await.expect("it ends");
        assert_eq!((&last["problem"]["code"], code), (&json!("access_ended"), 4401));
        let told = self.stream.await.expect("it ends");
        assert!(told.contains("event: problem") && told.contains("access_ended"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_and_a_stream_end_with_their_key_and_a_restart_brings_it_not_back() {
    let mut server = TestServer::setup().start().await;
    let (id, secret) = key(&server, "bot").await;
    let (_, other) = key(&server, "other").await;
    let open = Open::at(&server, &secret).await;
    let others = Open::at(&server, &other).await;
    let revoked = server.send(server.request(Method::DELETE, &format!("/v1/keys/{id}"))).await;
    assert_eq!(revoked.ok()["status"], "revoked");
    open.assert_ended().await;
    assert!(others.is_open());
    assert_eq!((status(&server, &secret).await, status(&server, &other).await), (401, 200));
    server.restart().await;
    assert_eq!((status(&server, &secret).await, status(&server, &other).await), (401, 200));
    assert!(!server.stderr().contains(&secret) && !server.stderr().contains(&other));
}

/// If one node revokes a key, every node refuses the key, and the key's open connections end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_ends_on_every_node() {
    let cluster = Cluster::start([]).await;
    let [a, b, c] = &cluster.nodes[..] else { panic!() };
    let (id, secret) = key(a, "bot").await;
    // A new key is valid on every node at once.
    assert_eq!([status(a, &secret).await, status(b, &secret).await, status(c, &secret).await], [200; 3]);
    let open = [Open::at(a, &secret).await, Open::at(b, &secret).await];
    let rotated = c.post(&format!("/v1/keys/{id}/rotate"), &json!({"overlap_ms": 3_600_000})).await.ok();
    let second = rotated["secret"].as_str().expect("a secret").to_owned();
    assert_eq!([status(a, &secret).await, status(b, &second).await], [200; 2]);
    assert!(open.iter().all(Open::is_open));
    c.send(c.request(Method::DELETE, &format!("/v1/keys/{id}"))).await.ok();
    for token in [&secret, &second] {
        assert_eq!([status(a, token).await, status(b, token).await, status(c, token).await], [401; 3]);
    }
    for open in open {
        open.assert_ended().await;
    }
    // After the revocation the name of the key is free on every node. When the name is used again, it is taken on every
    // node.
    key(b, "bot").await;
    let twice = a.post("/v1/keys", &json!({"name": "bot"})).await;
    assert_eq!(twice.refusal(), (409, "name_taken"));
    eventually("every node lists the same", async || {
        let lists = [a.get("/v1/keys").await.ok(), c.get("/v1/keys").await.ok()];
        let names = lists.map(|list| list["items"].as_array().expect("items").len());
        (names == [2, 2]).then_some(())
    })
    .await;
}
