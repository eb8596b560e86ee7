//! Creates every HTTP client of the project, with one TLS implementation and the root certificates of this machine.
//! Holds the address [guard] for URLs from others, the reader of [secret files](secret_file), and the reader of
//! [answers] and errors.
//!
//! `reqwest` is built without a TLS implementation of its own and panics where none is installed. Clippy therefore
//! forbids its constructors everywhere else (`clippy.toml`).

pub mod answers;
pub mod guard;
pub mod secret_file;

use reqwest::{Client, ClientBuilder, Url};

/// Returns a client for any address. The client verifies certificates against the roots that the machine trusts;
/// `build` fails if the machine has none.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub fn client() -> ClientBuilder {
    // An error means that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
}

/// Returns a client for `http` alone. The client reads no root certificates, so it works on machines without any. Every
/// `https` request fails.
pub fn plain() -> ClientBuilder {
    client().tls_certs_only([])
}

/// Returns a client for this server alone.
pub fn client_to(server: &Url) -> ClientBuilder {
    if server.scheme() == "http" { plain() } else { client() }
}
