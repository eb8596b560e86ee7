//! Tests of the nginx configuration in `docs/deploy.md`, with a real nginx in front of a real server.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use holdshort_testkit::home::Home;
use serde_json::{Value, json};

use crate::raw::{NAME, SOON, file, send_plain, send_tls, speak, tls_handshake};

/// An nginx process, which is stopped with its workers on drop.
struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

fn program() -> PathBuf {
    let places = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"].map(PathBuf::from);
    let found = places.into_iter().find(|path| path.exists());
    found.expect("no nginx to test with: apt-get install nginx-light")
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns the configuration in `docs/deploy.md`, with the paths and ports of this test.
fn site(upstream: &str, ports: [u16; 2], tls: &Path) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/deploy.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, block) = page.split_once("```nginx\n").unwrap();
    let mut text = block.split("```").next().unwrap().to_owned();
    for (from, to) in [
        ("127.0.0.1:7349", upstream.to_owned()),
        // This nginx connects to the server from the address that the page uses for the proxy.
        ("proxy_http_version 1.1;", "proxy_http_version 1.1;\n        proxy_bind 127.0.0.2;".to_owned()),
        ("listen 80;", format!("listen 127.0.0.1:{};", ports[0])),
        ("listen [::]:80;", String::new()),
        ("listen 443 ssl;", format!("listen 127.0.0.1:{} ssl;", ports[1])),
        ("listen [::]:443 ssl;", String::new()),
        ("holdshort.example.org", NAME.to_owned()),
        ("/etc/ssl/holdshort.pem", file("served-first.pem").display().to_string()),
        ("/etc/ssl/private/holdshort.key", tls.display().to_string()),
    ] {
        assert!(text.contains(from), "the page has no `{from}`");
        text = text.replace(from, &to);
    }
    text
}

fn start(folder: &Path, site: &str) -> Nginx {
    let shown = folder.display();
    let user = if rustix::process::geteuid().is_root() { "user root;\n" } else { "" };
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {shown}/{name};\n"))
        .concat();
    let text = format!(
        "{user}daemon off;\nworker_processes 1;\npid {shown}/pid;\nerror_log {shown}/error.log;\n\
         events {{}}\nhttp {{\naccess_log off;\n{temporary}{site}}}\n"
    );
    let config = folder.join("nginx.conf");
    fs::write(&config, text).unwrap();
    let mut command = Command::new(program());
    command.arg("-e").arg(folder.join("error.log")).arg("-p").arg(folder).arg("-c").arg(&config);
    Nginx(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

#[test]
fn the_file_for_nginx_works_as_it_stands_in_the_page() {
    let home = Home::new();
    let (people, log) = (crate::remote_access::people(&home), home.path().join("log"));
    let public = format!("https://{NAME}");
    let arguments = ["--people", &people, "--public-url", &public, "--proxy", "127.0.0.2"];
    let serving = home.serve_logging(&log, "127.0.0.1:0", &arguments);
    let upstream = serving.started["listening"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let folder = home.path().join("nginx");
    fs::create_dir(&folder).unwrap();
    let ports = [free_port(), free_port()];
    let _nginx = start(&folder, &site(&upstream, ports, &file("served-first.key.pem")));
    let [plain, tls] = ports.map(|port| format!("127.0.0.1:{port}"));
    let end = Instant::now() + SOON;
    while TcpStream::connect(&tls).is_err() {
        let log = || fs::read_to_string(folder.join("error.log")).unwrap_or_default();
        assert!(Instant::now() < end, "nginx does not start: {}", log());
        sleep(Duration::from_millis(50));
    }

    let host = format!("host: {NAME}");
    let moved = send_plain(&plain, "GET /healthz", &[&host], "");
    assert_eq!((moved.status, moved.header("location")), (301, Some("https://holdshort.example/healthz")));

    // A login link contains the public address, even if the client sends forged headers.
    let forged =
        ["x-forwarded-for: 198.51.100.1", "x-forwarded-host: evil.example", "x-forwarded-proto: http"];
    let link = home.run(&["login", "--as", "anna"]).out;
    let code = link.trim_end().strip_prefix("https://holdshort.example/login#").expect(&link);
    let origin = format!("origin: {public}");
    let headers = [&[&*host, &origin], &forged[..]].concat();
    let entered = send_tls(&tls, "POST /v1/login", &headers, &json!({"code": code}).to_string());
    assert_eq!(entered.status, 200, "{entered:?}");
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-") && cookie.ends_with("; Secure"), "{cookie}");
    assert_eq!(send_tls(&tls, "GET /v1/openapi.json", &["host: evil.example"], "").status, 421);

    // A WebSocket works, and an event stream is not buffered.
    let (stream, _) = tls_handshake(&tls).unwrap();
    stream.sock.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let upgrade = format!(
        "GET /v1/ws HTTP/1.1\r\n{host}\r\n{origin}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    assert_eq!(speak(stream, &upgrade).status, 101);
    let token = format!("authorization: Bearer {}", serving.started["token"].as_str().unwrap());
    let (stream, _) = tls_handshake(&tls).unwrap();
    stream.sock.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let follow = format!("GET /v1/events HTTP/1.1\r\n{host}\r\n{token}\r\naccept: text/event-stream\r\n\r\n");
    let events = speak(stream, &follow);
    assert!(events.status == 200 && events.body.contains("event: position"), "{events:?}");

    let readable: Value = send_tls(&tls, "GET /v1/info", &[&host, &token], "").json();
    assert_eq!(readable["public_url"], "https://holdshort.example");
    drop(serving.stop());
    let logged = fs::read_to_string(&log).unwrap();
    let of_login = logged.lines().find(|line| line.contains("answered") && line.contains("/v1/login"));
    assert!(of_login.is_some_and(|line| line.contains("client=127.0.0.1")), "{of_login:?}");
    assert!(!logged.contains("client=198.51.100.1"), "the client's word of itself does not count");
}
