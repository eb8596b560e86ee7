//! TLS to the database. TLS is used if the database address contains `sslmode=require` or `sslmode=verify-full`. With
//! both settings, this machine must trust the server's certificate, and the certificate must be valid for the host
//! name. The library libpq does not check this for `require`.
//!
//! Without these settings, the connection is unencrypted, even if the database supports TLS, because TLS with an
//! unverified certificate does not protect against an attacker.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as Encrypted;

use super::error::Unsupported;

/// Connector for TLS connections to a database address. `None` if the address does not request TLS.
#[derive(Clone)]
pub(super) struct Tls(Option<TlsConnector>);

impl Tls {
    pub(super) fn for_address(address: &Config) -> Result<Self, Unsupported> {
        if address.get_ssl_mode() != SslMode::Require {
            return Ok(Self(None));
        }
        let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map_err(|error| Unsupported::NoTrust(error.to_string()))?
            .with_no_client_auth();
        Ok(Self(Some(TlsConnector::from(Arc::new(client)))))
    }
}

/// TLS handshake, not begun yet, of one connection to the database.
pub(super) struct Handshake(Option<TlsConnector>, ServerName<'static>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Stream<S>;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Handshake, Self::Error> {
        // The driver also calls this function for connections without TLS. Such a connection may have no host name, for
        // example over a Unix socket.
        let domain = if self.0.is_some() { domain } else { "localhost" };
        Ok(Handshake(self.0.clone(), ServerName::try_from(domain.to_owned())?))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let Self(connector, name) = self;
        Box::pin(async move {
            let connector = connector
                .ok_or_else(|| io::Error::other("the address of the database does not request TLS"))?;
            connector.connect(name, stream).await.map(Stream)
        })
    }
}

/// Encrypted connection to the database.
pub(super) struct Stream<S>(Encrypted<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    /// Switches off channel binding for passwords. Channel binding is not needed, because the certificate already
    /// proves the identity of the server.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
