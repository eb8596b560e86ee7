//! HTTP requests as raw text, because a client library refuses to send forged ones, and TLS connections as a browser
//! makes them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

/// Host name in the TLS certificates of these tests.
pub(crate) const NAME: &str = "holdshort.example";
/// Timeout of all HTTP requests in these tests.
pub(crate) const SOON: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(each, _)| each.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Returns the text of an HTTP request on its own connection. `headers` are complete header lines.
pub(crate) fn request(line: &str, headers: &[&str], body: &str) -> String {
    let length = format!("content-length: {}", body.len());
    let mut lines = vec![format!("{line} HTTP/1.1")];
    lines.extend(headers.iter().map(|line| (*line).to_owned()));
    if !body.is_empty() {
        lines.extend([length, "content-type: application/json".to_owned()]);
    }
    format!("{}\r\nconnection: close\r\n\r\n{body}", lines.join("\r\n"))
}

pub(crate) fn speak(mut stream: impl Read + Write, request: &str) -> Answer {
    stream.write_all(request.as_bytes()).unwrap();
    stream.flush().unwrap();
    let mut bytes = Vec::new();
    // Some servers close a connection without a TLS closing message. The bytes received so far are sufficient.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

pub(crate) fn send_plain(at: &str, line: &str, headers: &[&str], body: &str) -> Answer {
    speak(connected(at), &request(line, headers, body))
}

fn connected(at: &str) -> TcpStream {
    let stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream
}

/// Returns the path of a file of the tests' certificate authority.
pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

pub(crate) fn certificate(name: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(file(name)).unwrap()
}

/// Opens a TLS connection to the server that trusts the tests' certificate authority. Returns the connection and the
/// server's certificate.
pub(crate) fn tls_handshake(
    at: &str,
) -> Result<(StreamOwned<ClientConnection, TcpStream>, CertificateDer<'static>), String> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate("served-authority.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(NAME).unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, connected(at));
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(|error| error.to_string())?;
    }
    let shown = stream.conn.peer_certificates().unwrap()[0].clone().into_owned();
    Ok((stream, shown))
}

pub(crate) fn send_tls(at: &str, line: &str, headers: &[&str], body: &str) -> Answer {
    speak(tls_handshake(at).unwrap().0, &request(line, headers, body))
}
