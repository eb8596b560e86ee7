//! Creates all HTTP clients of the project, with the same TLS implementation and the root certificates of this machine.
//! Contains the address [guard] for URLs from agents and users, the reader of [secret files](secret_file), and
//! functions that interpret [responses and errors](answers).
//!
//! `reqwest` is compiled without a default TLS implementation, and its constructors panic if no implementation is
//! installed. Clippy therefore forbids these constructors outside of this crate (`clippy.toml`).

pub mod answers;
pub mod guard;
pub mod secret_file;

use reqwest::{Client, ClientBuilder, Url};

/// Returns a builder for an HTTP client that may be used for any URL. The client verifies certificates against the root
/// certificates of this machine. `build` fails if the machine has no root certificates.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub fn client() -> ClientBuilder {
    // An error only means that a TLS implementation is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
}

/// Returns a builder for an HTTP client that can use `http` URLs only. The client needs no root certificates, so it
/// works on machines that have none. Every `https` request fails.
pub fn plain() -> ClientBuilder {
    client().tls_certs_only([])
}

/// Returns a builder for an HTTP client that must be used only for this server.
pub fn client_to(server: &Url) -> ClientBuilder {
    if server.scheme() == "http" { plain() } else { client() }
}
