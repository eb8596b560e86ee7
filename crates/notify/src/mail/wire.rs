//! Connection to a mail server, which limits the number of received bytes, and returns the received text line by line.
//!
//! Each read stops at the end of a line, and leaves the bytes after it unread. Bytes that arrived before the switch to
//! TLS stay in the old reader. Therefore a response from before the switch is never mistaken for a response over TLS
//! (RFC 3207, 5).

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use lettre::transport::smtp::client::AsyncTokioStream;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::limits::SMTP_BYTES;

/// Connects to the first of a mail server's addresses that can be reached. If `host` is given, TLS starts at once, and
/// the certificate must be valid for this host name.
pub(super) async fn connect(
    addresses: &[SocketAddr],
    host: Option<&str>,
) -> io::Result<Box<dyn AsyncTokioStream>> {
    let stream = TcpStream::connect(addresses).await?;
    let peer = stream.peer_addr()?;
    let Some(host) = host else { return Ok(Box::new(Lines::new(stream, peer))) };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(io::Error::other)?
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let encrypted = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    Ok(Box::new(Lines::new(encrypted, peer)))
}

#[derive(Debug)]
struct Lines<S> {
    stream: S,
    peer: SocketAddr,
    /// Bytes that were received from the mail server but not yet returned.
    held: Vec<u8>,
    /// Number of bytes that the mail server is still allowed to send.
    left: usize,
}

impl<S> Lines<S> {
    fn new(stream: S, peer: SocketAddr) -> Self {
        Self { stream, peer, held: Vec::new(), left: SMTP_BYTES }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lines<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.held.is_empty() {
            let mut bytes = [0; 4096];
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
            let Some(left) = this.left.checked_sub(read.filled().len()) else {
                let why = format!("the mail server sent more than {SMTP_BYTES} bytes over one connection");
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
            };
            this.left = left;
            this.held.extend_from_slice(read.filled());
        }
        let line = this.held.iter().position(|byte| *byte == b'\n').map_or(this.held.len(), |end| end + 1);
        let line = line.min(buf.remaining());
        buf.put_slice(&this.held[..line]);
        this.held.drain(..line);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Lines<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin + std::fmt::Debug> AsyncTokioStream for Lines<S> {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}
