//! Proxy in front of a server. It can answer one step of the hook in a wrong way, and follow a server that restarts.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Request of the hook, in the order of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Run,
    Ask,
    Wait,
    Use,
}

impl Step {
    pub(crate) const ALL: [Self; 4] = [Self::Run, Self::Ask, Self::Wait, Self::Use];

    fn of_request(head: &str) -> Self {
        let first = head.lines().next().unwrap_or_default();
        if first.contains("/consume") {
            Self::Use
        } else if first.starts_with("POST /v1/runs") {
            Self::Run
        } else if first.starts_with("POST") {
            Self::Ask
        } else {
            Self::Wait
        }
    }
}

/// Wrong answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// These bytes, and then the end of the connection.
    Bytes(&'static str),
    /// No answer, and no end of the connection.
    Silence,
    /// The end of the connection without an answer.
    Close,
}

/// Address of the server behind a proxy, such as `127.0.0.1:7349`.
pub(crate) type Target = Arc<Mutex<String>>;

/// Starts a proxy that answers each request of one step with the fault. Returns its base URL.
pub(crate) async fn start(target: &Target, fault: Option<(Step, Fault)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let target = target.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(serve(client, target.lock().unwrap().clone(), fault));
        }
    });
    base
}

/// Serves one request, and closes the connection.
async fn serve(mut client: TcpStream, target: String, fault: Option<(Step, Fault)>) {
    let Some((head, body)) = read(&mut client).await else { return };
    match fault.filter(|(step, _)| Step::of_request(&head) == *step) {
        Some((_, Fault::Bytes(bytes))) => {
            let _ = client.write_all(bytes.as_bytes()).await;
        }
        Some((_, Fault::Silence)) => std::future::pending().await,
        Some((_, Fault::Close)) => {}
        None => {
            // An error closes the connection, as a server that restarts does.
            let _ = forward(&mut client, &target, &head, &body).await;
        }
    }
}

async fn forward(client: &mut TcpStream, target: &str, head: &str, body: &[u8]) -> std::io::Result<()> {
    let mut upstream = TcpStream::connect(target).await?;
    // The end of the connection is the end of the response.
    let is_kept =
        |line: &&str| !["connection:", "host:"].iter().any(|name| line.to_lowercase().starts_with(name));
    // The server refuses requests for another address.
    let host = format!("Host: {target}");
    let lines: Vec<&str> =
        head.lines().filter(is_kept).chain([host.as_str(), "Connection: close", "", ""]).collect();
    upstream.write_all(lines.join("\r\n").as_bytes()).await?;
    upstream.write_all(body).await?;
    let mut response = Vec::new();
    upstream.read_to_end(&mut response).await?;
    client.write_all(&response).await
}

/// Reads one request: the lines of its head, and its body.
async fn read(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        let mut chunk = [0; 4_096];
        let read = client.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut body = bytes[end + 4..].to_vec();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let missing = length.unwrap_or_default().saturating_sub(body.len());
    let mut rest = vec![0; missing];
    client.read_exact(&mut rest).await.ok()?;
    body.extend(rest);
    Some((head, body))
}
