//! Where every HTTP client of the project begins: with the one TLS implementation, and the roots of this machine; and the
//! [guard] over addresses that others name; who may read the files that hold its [secrets](secret_file); and what [answers]
//! and errors say.
//!
//! `reqwest` is built without a TLS implementation of its own and panics where none is installed, so clippy refuses
//! its constructors everywhere else (`clippy.toml`).

pub mod answers;
pub mod guard;
pub mod secret_file;

use reqwest::{Client, ClientBuilder, Url};

/// A client for any address. It verifies certificates against the roots that the machine trusts; `build` is an error
/// where the machine has none.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub fn client() -> ClientBuilder {
    // An error says that it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
}

/// A client for `http` alone. It reads no root certificates, so that it works where there are none; every `https` request
/// fails.
pub fn plain() -> ClientBuilder {
    client().tls_certs_only([])
}

/// A client for this server alone.
pub fn client_to(server: &Url) -> ClientBuilder {
    if server.scheme() == "http" { plain() } else { client() }
}
