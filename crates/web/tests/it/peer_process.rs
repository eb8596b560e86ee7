//! Proof of the process at the other end of a connection, with real processes.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use axum::http::HeaderMap;
use holdshort_web::connections::Ends;
use holdshort_web::peer_process::{Unproved, check_headers, prove};

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Shell that connects to a port of this machine, says one line, and stays connected until its input ends.
struct Client {
    child: Child,
    stream: TcpStream,
}

impl Client {
    fn connect(launcher: &[&str], listen: SocketAddr, host: &str) -> Self {
        let listener = TcpListener::bind(listen).unwrap();
        let port = listener.local_addr().unwrap().port();
        let line = format!("exec 3<>/dev/tcp/{host}/{port}; echo here >&3; read -r _");
        let words: Vec<&str> = launcher.iter().copied().chain(["bash", "-c", &line]).collect();
        let child = Command::new(words[0]).args(&words[1..]).stdin(Stdio::piped()).spawn().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let mut said = [0; 5];
        stream.read_exact(&mut said).unwrap();
        Self { child, stream }
    }

    fn ends(&self) -> Ends {
        Ends { peer: self.stream.peer_addr().unwrap(), local: self.stream.local_addr().unwrap() }
    }

    fn end(mut self) {
        self.child.stdin.take().unwrap().write_all(b"\n").unwrap();
        self.child.wait().unwrap();
    }
}

fn v4() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

#[test]
fn a_process_of_the_same_user_with_the_same_files_is_proved() {
    let table = [
        (v4(), "127.0.0.1"),
        // The server listens on IPv6 and the client connects over IPv4.
        ((Ipv6Addr::UNSPECIFIED, 0).into(), "127.0.0.1"),
        ((Ipv6Addr::LOCALHOST, 0).into(), "::1"),
    ];
    for (listen, host) in table {
        let client = Client::connect(&[], listen, host);
        assert_eq!(prove(client.ends()), Ok(()), "{listen} {host}");
        client.end();
    }
}

#[test]
fn a_process_in_another_mount_namespace_is_not_proved() {
    let launcher: &[&str] =
        if is_root() { &["unshare", "--mount"] } else { &["unshare", "--map-root-user", "--mount"] };
    let client = Client::connect(launcher, v4(), "127.0.0.1");
    assert_eq!(prove(client.ends()), Err(Unproved::OtherFiles));
    client.end();
}

/// Only root can start a process of another user.
#[test]
fn a_process_of_another_user_is_not_proved() {
    if !is_root() {
        return;
    }
    let launcher = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let client = Client::connect(&launcher, v4(), "127.0.0.1");
    assert_eq!(prove(client.ends()), Err(Unproved::OtherUser));
    client.end();
}

/// A privileged process opens the connection and gives it to a process of another user.
#[test]
fn a_connection_that_was_handed_to_another_user_is_not_proved() {
    if !is_root() {
        return;
    }
    let listener = TcpListener::bind(v4()).unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (stream, _) = listener.accept().unwrap();
    let ends = Ends { peer: stream.peer_addr().unwrap(), local: stream.local_addr().unwrap() };
    let theirs: OwnedFd = socket.as_fd().try_clone_to_owned().unwrap();
    let mut child = Command::new("setpriv")
        .args([
            "--reuid",
            "65534",
            "--regid",
            "65534",
            "--clear-groups",
            "sh",
            "-c",
            "echo here; exec sleep 600",
        ])
        .stdin(theirs)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 5];
    child.stdout.take().unwrap().read_exact(&mut said).unwrap();
    drop(socket);
    assert_eq!(prove(ends), Err(Unproved::Unknown));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_connection_that_is_not_of_this_machine_or_does_not_exist_is_not_proved() {
    let at = |text: &str| text.parse::<SocketAddr>().unwrap();
    let table = [
        ("192.0.2.1:4000", "192.0.2.2:80", Unproved::Elsewhere),
        ("127.0.0.1:4000", "192.0.2.2:80", Unproved::Elsewhere),
        ("[2001:db8::1]:4000", "[::1]:80", Unproved::Elsewhere),
        ("127.0.0.1:1", "127.0.0.1:1", Unproved::Unknown),
        ("[::1]:1", "[::1]:1", Unproved::Unknown),
    ];
    for (peer, local, why) in table {
        assert_eq!(prove(Ends { peer: at(peer), local: at(local) }), Err(why), "{peer} {local}");
    }
}

#[test]
fn a_request_through_a_proxy_is_not_proved() {
    for name in ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"] {
        let headers: HeaderMap = [(name.parse().unwrap(), "x".parse().unwrap())].into_iter().collect();
        assert_eq!(check_headers(&headers), Err(Unproved::Proxied), "{name}");
    }
    assert_eq!(check_headers(&HeaderMap::new()), Ok(()));
}
