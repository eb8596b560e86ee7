//! Tests of the WebSocket, with an independent client library.

mod acts;
mod follow;
mod limits;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::Response;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::harness::{SOON, Served, ok, text};

pub(crate) struct Socket(WebSocketStream<TcpStream>);

#[derive(Debug, PartialEq)]
pub(crate) enum SocketMessage {
    Frame(Value),
    Close(Option<u16>),
}

impl Socket {
    /// Opens a socket whose opening request has these headers.
    pub(crate) async fn open(
        served: &Served,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, Response<Option<Vec<u8>>>> {
        let mut request = format!("ws://{}/v1/ws", served.address()).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        // The buffer is small, so that the server soon notices a client that does not read.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(64 * 1024).unwrap();
        let stream = socket.connect(served.address()).await.unwrap();
        match timeout(SOON, client_async(request, stream)).await.unwrap() {
            Ok((stream, _)) => Ok(Self(stream)),
            Err(Error::Http(response)) => Err(*response),
            Err(other) => panic!("{other}"),
        }
    }

    pub(crate) async fn with_token(served: &Served, token: &str) -> Self {
        let mut socket = Self::open(served, &[]).await.unwrap();
        socket.say(&json!({"type": "hello", "token": token})).await;
        assert_eq!(socket.next().await["type"], "welcome");
        socket
    }

    pub(crate) async fn operator(served: &Served) -> Self {
        Self::with_token(served, served.token()).await
    }

    pub(crate) async fn say(&mut self, frame: &Value) {
        self.send(Message::text(frame.to_string())).await;
    }

    pub(crate) async fn send(&mut self, message: Message) {
        assert!(self.try_send(message).await, "the socket is closed");
    }

    pub(crate) async fn try_send(&mut self, message: Message) -> bool {
        timeout(SOON, self.0.send(message)).await.unwrap().is_ok()
    }

    pub(crate) async fn came(&mut self) -> SocketMessage {
        loop {
            match timeout(SOON, self.0.next()).await.expect("a socket that says nothing") {
                Some(Ok(Message::Text(text))) => {
                    return SocketMessage::Frame(serde_json::from_str(&text).unwrap());
                }
                Some(Ok(Message::Close(close))) => {
                    return SocketMessage::Close(close.map(|close| close.code.into()));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(other)) => panic!("{other:?}"),
                Some(Err(_)) | None => return SocketMessage::Close(None),
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Value {
        match self.came().await {
            SocketMessage::Frame(frame) => frame,
            SocketMessage::Close(code) => panic!("the socket closed: {code:?}"),
        }
    }

    /// Returns the frames of the socket up to the first frame of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            frames.push(self.next().await);
            if frames.last().is_some_and(|frame| frame["type"] == kind) {
                return frames;
            }
        }
    }

    /// Sends a frame on the socket, and returns the next frame as the response.
    pub(crate) async fn ask(&mut self, frame: &Value) -> Value {
        self.say(frame).await;
        self.next().await
    }

    /// Subscribes to events on the socket. Returns the response, which contains the start position.
    pub(crate) async fn subscribe(&mut self, wish: Value) -> Value {
        let mut frame = wish;
        frame["type"] = "subscribe".into();
        let answer = self.ask(&frame).await;
        assert_eq!((&answer["type"], &answer["id"]), (&json!("subscribed"), &frame["id"]), "{answer}");
        answer
    }

    /// Returns the next `count` events of a subscription on the socket.
    pub(crate) async fn events(&mut self, id: &str, count: usize) -> Vec<Value> {
        let mut events = Vec::new();
        while events.len() < count {
            let frame = self.next().await;
            assert_eq!((&frame["type"], &frame["id"]), (&json!("event"), &json!(id)), "{frame}");
            events.push(frame["event"].clone());
        }
        events
    }
}

/// Starts a run with more events than fit into the buffers of a client. Returns the number of these events.
pub(crate) async fn fill(served: &Served) -> usize {
    const LARGE: usize = 150;
    let operator = served.operator();
    let run = operator.start_external().await;
    let path = format!("/v1/runs/{}/messages", text(&run, "id"));
    let large = json!({ "text": "x".repeat(60_000) });
    for _ in 0..LARGE {
        ok(operator.post(&path, &large).await);
    }
    1 + LARGE
}

/// Returns the id, the code and the JSON pointers of a socket's error frame.
pub(crate) fn error(frame: &Value) -> (Option<&str>, &str, Vec<&str>) {
    assert_eq!(frame["type"], "error", "{frame}");
    let problem = &frame["problem"];
    let errors = problem["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let pointers = errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect();
    (frame["id"].as_str(), problem["code"].as_str().unwrap(), pointers)
}

pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}
