//! Client code of an IDE and of a gateway. `reader.rs` strictly checks every frame that they receive.

use futures::{SinkExt, StreamExt};
use holdshort_testkit::server::{PATIENCE, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::reader;

pub(crate) struct Ide {
    socket: WebSocketStream<TcpStream>,
    /// Id of the last frame that the IDE received, after which it can resume.
    pub(crate) place: String,
}

impl Ide {
    /// Connects an IDE to the session, and reads the `session_info` frame.
    pub(crate) async fn connect(server: &TestServer, session: &str) -> Self {
        let mut ide = Self::open(server, session).await;
        let info = ide.next().await;
        assert_eq!((&info["type"], &info["session_id"]), (&json!("session_info"), &json!(session)), "{info}");
        ide
    }

    /// Reconnects an IDE to the session, to receive the frames after the frame with the id `since`.
    pub(crate) async fn come_back(server: &TestServer, session: &str, since: &str) -> Self {
        let headers = [("authorization", format!("Bearer {}", server.token()))];
        let path = format!("/edges/codelab/ws/{session}?since={since}");
        let mut ide = Self::try_open(server, &path, &headers).await.unwrap();
        assert_eq!(ide.next().await["type"], "session_info");
        ide
    }

    /// Connects an IDE to the session without reading any frame.
    pub(crate) async fn open(server: &TestServer, session: &str) -> Self {
        let headers = [("authorization", format!("Bearer {}", server.token()))];
        Self::try_open(server, &format!("/edges/codelab/ws/{session}"), &headers).await.unwrap()
    }

    /// Connects an IDE to a path of the server. Returns the HTTP status if the server refuses the connection.
    pub(crate) async fn try_open(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, String)],
    ) -> Result<Self, u16> {
        let address = server.base().strip_prefix("http://").unwrap();
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(address).await.unwrap();
        match timeout(PATIENCE, client_async(request, stream)).await.unwrap() {
            Ok((socket, _)) => Ok(Self { socket, place: String::new() }),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(other) => panic!("{other}"),
        }
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.send(Message::text(message.to_string())).await;
    }

    /// Sends several messages of the IDE at once, so that all messages have arrived when the server reads the first
    /// message.
    pub(crate) async fn say_all(&mut self, messages: &[Value]) {
        for message in messages {
            self.socket.feed(Message::text(message.to_string())).await.unwrap();
        }
        timeout(PATIENCE, self.socket.flush()).await.unwrap().unwrap();
    }

    pub(crate) async fn send(&mut self, message: Message) {
        timeout(PATIENCE, self.socket.send(message)).await.unwrap().unwrap();
    }

    /// Returns the next frame that the IDE receives, without its `id`, which is stored in `place`.
    pub(crate) async fn next(&mut self) -> Value {
        loop {
            match timeout(PATIENCE, self.socket.next()).await.expect("a socket that says nothing") {
                Some(Ok(Message::Text(text))) => {
                    let mut frame: Value = serde_json::from_str(&text).unwrap();
                    assert_no_nulls(&frame);
                    reader::frame(&frame);
                    if let Some(Value::String(id)) = frame.as_object_mut().unwrap().remove("id") {
                        self.place = id;
                    }
                    return frame;
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Returns the frames that the IDE receives until the server closes the connection, and the close code.
    pub(crate) async fn until_closed(&mut self) -> (Vec<Value>, Option<u16>) {
        let mut frames = Vec::new();
        loop {
            match timeout(PATIENCE, self.socket.next()).await.expect("a socket that says nothing") {
                Some(Ok(Message::Text(text))) => {
                    frames.push(serde_json::from_str(&text).unwrap());
                    reader::frame(&frames[frames.len() - 1]);
                }
                Some(Ok(Message::Close(close))) => return (frames, close.map(|close| close.code.into())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return (frames, None),
            }
        }
    }

    /// Returns the frames that the IDE receives up to and including the first frame of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            frames.push(self.next().await);
            if frames.last().is_some_and(|frame| frame["type"] == kind) {
                return frames;
            }
        }
    }

    /// Skips frames that the IDE receives until a frame of this type arrives, and returns that frame.
    pub(crate) async fn find(&mut self, kind: &str) -> Value {
        self.until(kind).await.pop().unwrap()
    }

    /// Sends a message of the IDE that the server must refuse. Returns the error frame.
    pub(crate) async fn refused(&mut self, message: &Value) -> Value {
        self.say(message).await;
        let frame = self.next().await;
        assert_eq!((&frame["type"], &frame["is_final"]), (&json!("error"), &json!(false)), "{frame}");
        frame
    }
}

/// Asserts that a frame contains no nulls, because the IDE expects that fields without a value are omitted.
fn assert_no_nulls(value: &Value) {
    match value {
        Value::Null => panic!("a null on the wire"),
        Value::Object(fields) => {
            fields
                .iter()
                .filter(|(key, _)| *key != "arguments")
                .for_each(|(_, value)| assert_no_nulls(value));
        }
        Value::Array(items) => items.iter().for_each(assert_no_nulls),
        _ => {}
    }
}

/// Posts one message of a gateway to the session. Returns all frames of the response, without their ids.
pub(crate) async fn post(server: &TestServer, session: &str, message: &Value) -> Vec<Value> {
    let mut frames = post_body(server, &json!({ "session_id": session, "message": message })).await;
    for frame in &mut frames {
        frame.as_object_mut().unwrap().remove("id");
    }
    frames
}

/// Posts the body of a gateway's request. Returns the frames of the response.
pub(crate) async fn post_body(server: &TestServer, body: &Value) -> Vec<Value> {
    let request = server.request(Method::POST, "/edges/codelab/agent/message/stream").json(body);
    post_request(request).await
}

/// Sends a request of a gateway. Returns the frames of the response.
pub(crate) async fn post_request(request: reqwest::RequestBuilder) -> Vec<Value> {
    let read = async {
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        reader::answer(status, &text);
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let frames: Vec<Value> = data.map(|frame| serde_json::from_str(frame).unwrap()).collect();
        frames.iter().for_each(assert_no_nulls);
        frames
    };
    timeout(PATIENCE, read).await.expect("the stream ends")
}

/// Posts the body of a gateway's request that the server must refuse. Returns the error, which must be the only frame
/// of the response.
pub(crate) async fn post_refused(server: &TestServer, body: &Value) -> Value {
    let mut frames = post_body(server, body).await;
    assert_eq!(kinds(&frames), ["error", "done"], "{frames:#?}");
    assert_eq!((&frames[0]["is_final"], &frames[1]["status"]), (&json!(false), &json!("refused")));
    frames.remove(0)
}

/// Sends a GET request to a path of the `CodeLab` edge. Returns the JSON response.
pub(crate) async fn get(server: &TestServer, path: &str) -> Value {
    let found = server.get(&format!("/edges/codelab/{path}")).await.ok();
    reader::rest(path, &found);
    found
}

pub(crate) fn kinds(frames: &[Value]) -> Vec<&str> {
    frames.iter().filter_map(|frame| frame["type"].as_str()).collect()
}

pub(crate) fn find_only_frame<'f>(frames: &'f [Value], kind: &str) -> &'f Value {
    let found: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == kind).collect();
    assert_eq!(found.len(), 1, "{kind} in {frames:#?}");
    found[0]
}
