//! Sockets and pipes of host processes in a workspace: a command without network access cannot reach any of them. These
//! tests need a host with Landlock and namespaces.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use holdshort_core::tool::CommandEffect;
use holdshort_tools::Layers;
use rustix::fs::{FileType, Mode, OFlags};

use crate::bench::Bench;
use crate::trial::tried;

/// Process of the host that listens on sockets and pipes in the workspace and in a subfolder.
struct Host {
    sockets: Vec<UnixListener>,
    pipes: Vec<std::fs::File>,
}

const SOCKETS: [&str; 2] = ["host.sock", "run/host.sock"];
const PIPES: [&str; 2] = ["host.pipe", "run/host.pipe"];

/// Shell line that tries to reach each socket and pipe by its name, by a second name, and below a renamed folder.
const REACH: &str = "\
    for s in host.sock run/host.sock; do \
      python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.send(b\"reached\")' $s; \
      python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.sendto(b\"reached\",sys.argv[1])' $s; \
    done; \
    for p in host.pipe run/host.pipe; do timeout 1 sh -c \"echo reached > $p\"; done; \
    ln host.sock second.sock; mv run moved; \
    for s in second.sock moved/host.sock; do \
      python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.send(b\"reached\")' $s; \
    done; \
    timeout 1 sh -c 'echo reached > moved/host.pipe'; \
    mv moved run; true";

impl Host {
    fn listen(bench: &Bench) -> Self {
        std::fs::create_dir(bench.at("run")).unwrap();
        let sockets = SOCKETS.map(|name| {
            let listener = UnixListener::bind(bench.at(name)).unwrap();
            listener.set_nonblocking(true).unwrap();
            listener
        });
        let pipes = PIPES.map(|name| {
            let mode = Mode::from_raw_mode(0o666);
            rustix::fs::mknodat(rustix::fs::CWD, bench.at(name), FileType::Fifo, mode, 0).unwrap();
            let flags = OFlags::NONBLOCK.bits().try_into().unwrap();
            OpenOptions::new().read(true).custom_flags(flags).open(bench.at(name)).unwrap()
        });
        Self { sockets: sockets.into(), pipes: pipes.into() }
    }

    /// Returns the names of the host's sockets and pipes that a command reached.
    fn reached(&mut self) -> Vec<&'static str> {
        let sockets = SOCKETS.iter().zip(&self.sockets);
        let connected = sockets.filter(|(_, socket)| match socket.accept() {
            Ok(_) => true,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        });
        let mut reached: Vec<_> = connected.map(|(name, _)| *name).collect();
        for (name, pipe) in PIPES.iter().zip(&mut self.pipes) {
            if pipe.read(&mut [0; 16]).is_ok_and(|bytes| bytes > 0) {
                reached.push(name);
            }
        }
        reached
    }
}

#[tokio::test]
async fn no_command_without_network_reaches_a_socket_or_pipe_of_the_host() {
    let places = CommandEffect::Writes { places: vec![".".to_owned()] };
    for effect in [CommandEffect::Reads, places, CommandEffect::Workspace, CommandEffect::Guarded] {
        let bench = Bench::new();
        let mut host = Host::listen(&bench);
        let _ended = bench.command_as(REACH, &effect).await;
        assert_eq!(host.reached(), [""; 0], "{effect:?}");
    }
}

#[tokio::test]
async fn no_trial_reaches_a_socket_or_pipe_of_the_host() {
    for layers in [Layers::Overlay, Layers::Copy] {
        let bench = Bench::with(|settings| settings.layers = layers);
        let mut host = Host::listen(&bench);
        let _tried = tried(&bench.tools, REACH).await;
        assert_eq!(host.reached(), [""; 0], "{layers:?}");
    }
}

/// With network access, the shell line of the other tests reaches the host, so those tests could fail.
#[tokio::test]
async fn a_command_with_network_reaches_a_socket_and_a_pipe() {
    let bench = Bench::with(|settings| settings.network = true);
    let mut host = Host::listen(&bench);
    let _ended = bench.command_as(REACH, &CommandEffect::Workspace).await;
    assert_eq!(host.reached(), [SOCKETS, PIPES].concat());
}

/// Programs of one command can communicate over sockets and pipes that the command created.
#[tokio::test]
async fn a_command_talks_to_itself_over_sockets_and_pipes() {
    let talk = "mkfifo $TMPDIR/own && (echo heard > $TMPDIR/own &) && read x < $TMPDIR/own && echo $x; \
        python3 -c 'import os,socket; p=os.environ[\"TMPDIR\"]+\"/s\"; l=socket.socket(socket.AF_UNIX); l.bind(p); l.listen(); \
        c=socket.socket(socket.AF_UNIX); c.connect(p); c.send(b\"heard too\"); print(l.accept()[0].recv(9).decode())'";
    let bench = Bench::new();
    let (text, _) = bench.command(talk).await;
    assert!(text.contains("heard\nheard too"), "{text}");
}

/// A command that writes to a pipe of the workspace, which is closed for it, fails at once instead of waiting for a
/// reader.
#[tokio::test]
async fn a_command_that_names_a_closed_pipe_fails_at_once() {
    let bench = Bench::new();
    let _host = Host::listen(&bench);
    let began = Instant::now();
    let (text, data) = bench.command("echo x > host.pipe").await;
    assert!(began.elapsed() < Duration::from_secs(30), "the write waited for a reader");
    assert_ne!(data["exit_code"], 0, "{text}");
    assert!(text.contains("Read-only file system"), "{text}");
}
