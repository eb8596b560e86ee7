//! A receiver on the loopback interface. It sends a response that the test chooses, and records the requests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone, Copy)]
pub(crate) enum Answer {
    Bytes(&'static [u8]),
    /// The receiver sends the bytes after a delay.
    Late(Duration, &'static [u8]),
    /// The receiver sends the bytes, and then one further byte every few milliseconds, without end.
    Drips(&'static [u8]),
    /// The receiver sends status `200` and a body with this number of bytes.
    Large(usize),
    /// The receiver closes the connection without a response.
    Hangs,
}

pub(crate) struct Sink {
    port: u16,
    requests: Arc<Mutex<Vec<Vec<u8>>>>,
    written: Arc<Mutex<usize>>,
}

impl Sink {
    pub(crate) async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (requests, written) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let (kept, sent) = (requests.clone(), written.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answer, kept.clone(), sent.clone()));
            }
        });
        Self { port, requests, written }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the head and the body of each request that the receiver got so far.
    pub(crate) fn requests(&self) -> Vec<(String, Vec<u8>)> {
        let split = |bytes: &Vec<u8>| {
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
            (String::from_utf8(bytes[..end].to_vec()).unwrap(), bytes[end..].to_vec())
        };
        self.requests.lock().unwrap().iter().map(split).collect()
    }

    /// Returns the number of response bytes that the receiver could write.
    pub(crate) fn written(&self) -> usize {
        *self.written.lock().unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: Answer,
    kept: Arc<Mutex<Vec<Vec<u8>>>>,
    written: Arc<Mutex<usize>>,
) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).await.unwrap_or_default();
        if read == 0 {
            return;
        }
        bytes.extend_from_slice(&buffer[..read]);
        if is_whole(&bytes) {
            break;
        }
    }
    kept.lock().unwrap().push(bytes);
    let mut write = async |bytes: &[u8]| {
        let wrote = stream.write_all(bytes).await.and(stream.flush().await).is_ok();
        *written.lock().unwrap() += bytes.len();
        wrote
    };
    match answer {
        Answer::Bytes(bytes) => drop(write(bytes).await),
        Answer::Late(time, bytes) => {
            tokio::time::sleep(time).await;
            write(bytes).await;
        }
        Answer::Drips(bytes) => {
            write(bytes).await;
            while write(b"x").await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Answer::Large(size) => {
            write(format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n").as_bytes()).await;
            let part = [b'y'; 16 * 1024];
            for _ in 0..size / part.len() {
                if !write(&part).await {
                    break;
                }
            }
        }
        Answer::Hangs => {}
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    bytes.len() >= end + 4 + length.map_or(0, |length| length.trim().parse::<usize>().unwrap())
}
