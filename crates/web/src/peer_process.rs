//! Decides whether the server may run trials (test runs of commands) for the process at the other end of a connection.
//! The process must run on this machine as the same user as the server, and must see the same files.
//!
//! Only reads `/proc`. If the process cannot be found, no trials run for it. This module must never use an address from
//! a header, because any client can send headers.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use axum::http::HeaderMap;
use axum::http::header::FORWARDED;

use crate::connections::Ends;

/// Reason why no trials run for the process at the other end of a connection. The text of the reason completes a
/// sentence such as "not tried: …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unproved {
    #[error("the request came from another machine")]
    Elsewhere,
    #[error("the request came through a proxy")]
    Proxied,
    #[error("the request came from a process of another user")]
    OtherUser,
    #[error("the request came from a process that sees other files than the server, such as a container")]
    OtherFiles,
    #[error("the process that sent the request cannot be found")]
    Unknown,
}

/// Request headers that proxies add. A request with one of these headers may come from another machine.
const OF_PROXIES: [&str; 4] = ["x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/// Kernel's tables of TCP sockets in the network namespace of this process.
const TABLES: [&str; 2] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

/// State, in the kernel's socket table, of a socket with an open connection.
const ESTABLISHED: &str = "01";

/// Returns an error for a request that a proxy forwarded, because no trials run for such a request.
pub fn check_headers(headers: &HeaderMap) -> Result<(), Unproved> {
    let is_proxied =
        headers.contains_key(FORWARDED) || OF_PROXIES.iter().any(|name| headers.contains_key(*name));
    if is_proxied { Err(Unproved::Proxied) } else { Ok(()) }
}

/// Checks that the process at the other end of a connection is trusted to request trials: it must run on this machine,
/// as the user of this process, and must see the same files. The connection must stay open during this check. Blocks.
pub fn prove(ends: Ends) -> Result<(), Unproved> {
    let (peer, local) = (canonical(ends.peer), canonical(ends.local));
    if !peer.ip().is_loopback() || !local.ip().is_loopback() {
        return Err(Unproved::Elsewhere);
    }
    let own = rustix::process::geteuid().as_raw();
    let socket = find_socket(peer, local).ok_or(Unproved::Unknown)?;
    if socket.uid != own {
        return Err(Unproved::OtherUser);
    }
    let holders = holders(socket.inode, own).map_err(|_| Unproved::Unknown)?;
    if holders.is_empty() {
        return Err(Unproved::Unknown);
    }
    let here = View::read(Path::new("/proc/self")).map_err(|_| Unproved::Unknown)?;
    for process in holders {
        match View::read(&process) {
            Ok(view) if view == here => {}
            Ok(_) => return Err(Unproved::OtherFiles),
            Err(_) => return Err(Unproved::Unknown),
        }
    }
    Ok(())
}

/// Returns an IPv4-mapped IPv6 address as its IPv4 address, and any other address unchanged.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Entry of the kernel's socket table for the other end of the connection.
struct Socket {
    uid: u32,
    inode: u64,
}

fn find_socket(peer: SocketAddr, local: SocketAddr) -> Option<Socket> {
    let wanted: BTreeSet<(String, String)> = spellings(peer).into_iter().zip(spellings(local)).collect();
    TABLES.iter().find_map(|table| {
        let text = fs::read_to_string(table).ok()?;
        text.lines().skip(1).find_map(|line| parse_row(line, &wanted))
    })
}

/// Parses a row of the kernel's socket table: number, local address, remote address, state, queues, timers,
/// retransmissions, uid, time-out, inode. Returns `None` for a row that is not in `wanted`, or whose connection is not
/// established.
fn parse_row(line: &str, wanted: &BTreeSet<(String, String)>) -> Option<Socket> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_, local, remote, state, _, _, _, uid, _, inode, ..] = fields.as_slice() else { return None };
    let ends = ((*local).to_owned(), (*remote).to_owned());
    (*state == ESTABLISHED && wanted.contains(&ends))
        .then(|| Some(Socket { uid: uid.parse().ok()?, inode: inode.parse().ok()? }))
        .flatten()
}

/// Returns the spellings of a socket address in the kernel's tables: the address in its own family and, for an IPv4
/// address, also the address mapped into IPv6. Each word of 32 bits is in the byte order of the machine.
fn spellings(address: SocketAddr) -> Vec<String> {
    let render = |octets: &[u8]| {
        let words =
            octets.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        let words = words.map(|word| format!("{word:08X}")).collect::<Vec<_>>().concat();
        format!("{words}:{:04X}", address.port())
    };
    let mapped = |ip: Ipv6Addr| render(&ip.octets());
    match address.ip() {
        IpAddr::V4(ip) => vec![render(&ip.octets()), mapped(ip.to_ipv6_mapped())],
        IpAddr::V6(ip) => vec![mapped(ip)],
    }
}

/// Returns the directories in `/proc` of the user's processes that have the socket with this inode open.
fn holders(inode: u64, uid: u32) -> io::Result<Vec<PathBuf>> {
    let wanted = format!("socket:[{inode}]");
    let is_process = |path: &Path| {
        let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
        path.file_name().and_then(|name| name.to_str()).is_some_and(is_number)
    };
    let holds = |process: &Path| {
        let mut descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        descriptors.any(|entry| {
            fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == wanted.as_str())
        })
    };
    let processes = fs::read_dir("/proc")?.flatten().map(|entry| entry.path());
    Ok(processes.filter(|path| is_process(path) && has_user(path, uid) && holds(path)).collect())
}

/// Returns true if the process has the user `uid` as its real, effective, saved and file system user.
fn has_user(process: &Path, uid: u32) -> bool {
    let Ok(status) = fs::read_to_string(process.join("status")) else { return false };
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    users.is_some_and(|users| {
        let mut users = users.split_whitespace().peekable();
        users.peek().is_some() && users.all(|user| user.parse() == Ok(uid))
    })
}

/// Identity of the files that a process sees: its mount namespace, and the device and inode of its root folder.
#[derive(PartialEq, Eq)]
struct View {
    mounts: PathBuf,
    root: (u64, u64),
}

impl View {
    fn read(process: &Path) -> io::Result<Self> {
        let root = fs::metadata(process.join("root"))?;
        Ok(Self { mounts: fs::read_link(process.join("ns/mnt"))?, root: (root.dev(), root.ino()) })
    }
}
