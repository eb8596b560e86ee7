//! Tests of the servers that an HTTPS client accepts: only those with a certificate for their name from a trusted
//! authority. A client for plain HTTP needs no authorities.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use holdshort_testkit::home::{CommandOutput, Home};
use holdshort_testkit::server::real;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Returns the path of a file of the tests' certificate authority, or of its certificate for `localhost`.
fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

/// Starts a server that answers every request over TLS with an empty list.
fn server() -> SocketAddr {
    let certificate = CertificateDer::from_pem_file(file("certificate.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, socket.unwrap());
            // If the client rejected the certificate, it has already closed the connection here.
            if stream.read(&mut [0; 4096]).is_ok() {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
                let _ = stream.flush();
            }
        }
    });
    address
}

/// Returns the report of `doctor` on a model server at this address. The machine trusts the authorities in the file
/// `trusted`.
fn doctor(base_url: &str, trusted: &str) -> String {
    let home = Home::new();
    let mut command = home.command(real());
    command.args(["doctor", "--model", "m", "--base-url", base_url]).env_remove("SSL_CERT_DIR");
    let ran = CommandOutput::from_output(command.env("SSL_CERT_FILE", file(trusted)).output().unwrap());
    ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_certificate_counts_from_who_is_trusted_and_for_its_name_alone() {
    let port = server().port();
    let (by_name, by_number) = (format!("https://localhost:{port}"), format!("https://127.0.0.1:{port}"));
    let table = [
        (&by_name, "authority.pem", format!("✓ model m (openai-compatible) at {by_name}/v1")),
        (&by_name, "certificate.pem", "invalid peer certificate: UnknownIssuer".to_owned()),
        (&by_number, "authority.pem", "certificate not valid for name \"127.0.0.1\"".to_owned()),
    ];
    for (base_url, trusted, expected) in table {
        let said = doctor(base_url, trusted);
        assert!(said.contains(&expected), "{base_url} with {trusted}: {said}");
    }
}

/// A rejected certificate is reported as rejected, and not as a server that does not respond.
#[test]
fn a_server_whose_certificate_does_not_count_is_not_one_that_is_silent() {
    let home = Home::new();
    let at = format!("https://localhost:{}", server().port());
    for (verb, trusted, is_refused) in [
        ("inbox", "certificate.pem", true),
        ("ready", "certificate.pem", true),
        ("inbox", "authority.pem", false),
    ] {
        let mut command = home.command(real());
        command.args([verb, "--server", &at]).env("HOLDSHORT_TOKEN", "x").env_remove("SSL_CERT_DIR");
        let ran = CommandOutput::from_output(command.env("SSL_CERT_FILE", file(trusted)).output().unwrap());
        let said = ran.err.contains("UnknownIssuer") && ran.err.contains("set SSL_CERT_FILE to a file");
        assert_eq!(
            (said, ran.err.contains("no server answers")),
            (is_refused, false),
            "{verb} {trusted}: {ran:?}"
        );
    }
}

#[test]
fn a_server_without_tls_needs_no_authority_on_the_machine() {
    let home = Home::new();
    let _serving = home.serve(&[]);
    let mut command = home.command(real());
    command.arg("inbox").env("SSL_CERT_FILE", "/no/such/file").env("SSL_CERT_DIR", "/no/such/folder");
    let ran = CommandOutput::from_output(command.output().unwrap());
    assert_eq!((ran.code, &*ran.err), (0, "Nothing waits for you.\n"));
}
