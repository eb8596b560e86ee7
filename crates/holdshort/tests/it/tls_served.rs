//! Tests of the server's TLS: a handshake, and certificates that are replaced by valid and by broken ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdshort_testkit::home::{Home, Serving, wait_for};

use crate::raw::{NAME, certificate, file, send_plain, send_tls, tls_handshake};

/// Replaces a certificate file atomically, as programs that renew certificates do.
fn put(to: &Path, bytes: &[u8], mode: u32) {
    let beside = to.with_extension("new");
    fs::write(&beside, bytes).unwrap();
    fs::set_permissions(&beside, fs::Permissions::from_mode(mode)).unwrap();
    fs::rename(beside, to).unwrap();
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn create_in(home: &Home) -> Self {
        let files = Self { certificate: home.path().join("tls.pem"), key: home.path().join("tls.key") };
        files.put("first");
        files
    }

    fn put(&self, name: &str) {
        put(&self.key, &fs::read(file(&format!("served-{name}.key.pem"))).unwrap(), 0o600);
        put(&self.certificate, &fs::read(file(&format!("served-{name}.pem"))).unwrap(), 0o644);
    }

    fn arguments(&self) -> [&str; 4] {
        ["--tls-cert", self.certificate.to_str().unwrap(), "--tls-key", self.key.to_str().unwrap()]
    }
}

fn at(serving: &Serving) -> String {
    serving.started["listening"].as_str().unwrap().strip_prefix("https://").unwrap().to_owned()
}

#[test]
fn it_speaks_tls_under_its_name_and_plainly_to_the_commands_of_this_machine() {
    let home = Home::new();
    let (files, people) = (Files::create_in(&home), crate::remote_access::people(&home));
    let public = ["--people", &people, "--public-url", "https://holdshort.example"];
    let serving = home.serve_at("0.0.0.0:0", &[&files.arguments()[..], &public].concat());
    let port = at(&serving).rsplit_once(':').unwrap().1.to_owned();
    let at = format!("127.0.0.1:{port}");
    let (_, shown) = tls_handshake(&at).unwrap();
    assert_eq!(shown, certificate("served-first.pem"));
    let host = format!("host: {NAME}");
    assert_eq!(send_tls(&at, "GET /healthz", &[&host], "").status, 200);
    assert_eq!(send_tls(&at, "GET /v1/openapi.json", &["host: evil.example"], "").status, 421);
    assert_ne!(send_plain(&at, "GET /healthz", &[&host], "").status, 200);
    let token = format!("authorization: Bearer {}", serving.started["token"].as_str().unwrap());
    let change = |origin: &str| {
        let origin = format!("origin: {origin}");
        send_tls(&at, "POST /v1/login-links", &[&host, &token, &origin], "").status
    };
    assert_eq!(change("https://holdshort.example"), 201);
    assert_eq!(change(&format!("https://localhost:{port}")), 201);
    assert_eq!(change(&format!("http://localhost:{port}")), 403);
    // A WebSocket works over TLS too.
    let (stream, _) = tls_handshake(&at).unwrap();
    stream.sock.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let upgrade = format!(
        "GET /v1/ws HTTP/1.1\r\n{host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    assert_eq!(crate::raw::speak(stream, &upgrade).status, 101);

    assert_eq!(home.json(&["inbox"]), serde_json::json!([]));
    assert_eq!(home.json(&["doctor"])["server"]["address"], serving.started["local"]);
    assert!(serving.started["local"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    assert_eq!(serving.stop().0, 0);
}

#[test]
fn a_certificate_is_replaced_by_a_good_one_and_never_by_a_broken_one() {
    let home = Home::new();
    let (files, log) = (Files::create_in(&home), home.path().join("log"));
    let serving = home.serve_logging(&log, "127.0.0.1:0", &files.arguments());
    let at = at(&serving);
    let shows = |name: &str| tls_handshake(&at).is_ok_and(|(_, shown)| shown == certificate(name));
    let problem = || {
        let doctor = home.json(&["doctor"]);
        doctor["server"]["certificate_problem"].as_str().map(str::to_owned)
    };
    assert!(shows("served-first.pem") && problem().is_none());
    // An open connection keeps using its certificate.
    let (before, _) = tls_handshake(&at).unwrap();
    files.put("second");
    wait_for("the new certificate is used", || shows("served-second.pem"));
    let host = format!("host: localhost:{}", at.rsplit_once(':').unwrap().1);
    assert_eq!(crate::raw::speak(before, &crate::raw::request("GET /healthz", &[&host], "")).status, 200);

    let first = fs::read(file("served-first.pem")).unwrap();
    let key = fs::read(&files.key).unwrap();
    let table: [(&Path, &[u8], u32, &str); 4] = [
        (
            &files.certificate,
            b"-----BEGIN CERTIFICATE-----\nMIIB",
            0o644,
            "contains no complete PEM certificate",
        ),
        (&files.certificate, &first, 0o644, "cannot be used together"),
        (
            &files.key,
            b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n",
            0o600,
            "contains no complete PEM private key",
        ),
        (&files.key, &key, 0o640, "is readable by others (mode 640)"),
    ];
    for (path, bytes, mode, said) in table {
        put(path, bytes, mode);
        wait_for(said, || problem().is_some_and(|problem| problem.contains(said)));
        assert!(shows("served-second.pem"), "{said}");
        assert_eq!(send_tls(&at, "GET /readyz", &[&host], "").status, 200);
        files.put("second");
    }
    files.put("first");
    wait_for("the certificate is used", || shows("served-first.pem"));
    assert_eq!(problem(), None);
    assert_eq!(serving.stop().0, 0);
    let logged = fs::read_to_string(&log).unwrap();
    for (_, _, _, said) in table {
        assert!(logged.contains(said), "{said}");
    }
    assert!(logged.contains("the previous certificate stays in use") && !logged.contains("c2VjcmV0"));
}

#[test]
fn files_that_can_not_be_used_stop_the_start() {
    let home = Home::new();
    let files = Files::create_in(&home);
    let refused = |arguments: &[&str], said: &str| {
        let ran = home.run(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
        let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(ran.code == 2 && told.contains(said), "{arguments:?}: {ran:?}");
    };
    let [_, certificate, _, key] = files.arguments();
    refused(&["--tls-cert", certificate], "--tls-key");
    refused(&["--tls-cert", key, "--tls-key", key], "contains no complete PEM certificate");
    refused(&["--tls-cert", "/nowhere.pem", "--tls-key", key], "/nowhere.pem cannot be read");
    fs::set_permissions(key, fs::Permissions::from_mode(0o604)).unwrap();
    refused(&files.arguments(), "is readable by others (mode 604): run `chmod 600`");
    assert!(!home.data().exists(), "nothing was made");

    // Certificate errors from the configuration file are reported in the same way, and the doctor reports them too.
    fs::create_dir_all(home.data()).unwrap();
    let config = home.data().join("holdshort.toml");
    let write = |text: &str| put(&config, text.as_bytes(), 0o600);
    write("tls_cert = \"tls.pem\"\n");
    refused(&[], "`tls_cert` and `tls_key` belong together");
    write(&format!("tls_cert = \"{certificate}\"\ntls_key = \"{key}\"\n"));
    refused(&[], "is readable by others");
    let report = home.run(&["doctor", "--json"]);
    assert_eq!((report.code, &*report.err), (2, ""), "a server would refuse it: {report:?}");
    let report: serde_json::Value = serde_json::from_str(&report.out).unwrap();
    assert!(report["certificate"]["problem"].as_str().unwrap().contains("is readable by others"));
    let shown = home.run(&["doctor"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(&format!("✗ tls {key} is readable by others")), "{shown}");
    fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(home.json(&["doctor"])["certificate"]["problem"].is_null());
    let serving = home.serve(&[]);
    assert!(serving.started["listening"].as_str().unwrap().starts_with("https://127.0.0.1:"));
    assert!(serving.started["login"].as_str().unwrap().starts_with("https://127.0.0.1:"));
}
