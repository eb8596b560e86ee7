//! The namespaces of a command (`namespaces(7)`): mounts, processes, System V IPC, and the network if the command is
//! not allowed to use it.

use std::os::fd::AsRawFd;
use std::{fs, io};

use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, sendto, socket,
};
use nix::unistd::{getegid, geteuid};

use super::capabilities;

/// Moves this process to new namespaces for the sandbox. The next child of this process becomes process 1 of the new
/// process namespace.
pub(super) fn leave(network: bool) -> io::Result<()> {
    let mut wanted = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    if !network {
        wanted |= CloneFlags::CLONE_NEWNET;
    }
    if geteuid().is_root() && unshare(wanted).is_ok() {
        return Ok(());
    }
    let (user, group) = (geteuid(), getegid());
    unshare(wanted | CloneFlags::CLONE_NEWUSER)?;
    // User and group ids are the same inside and outside the namespace, so the visible owners of files do not change.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    capabilities::keep_for_init()
}

/// Brings up the loopback device of a new network namespace, for programs that connect to themselves.
///
/// Sends one netlink message (`rtnetlink(7)`): `RTM_NEWLINK` for device 1 with `IFF_UP`.
pub(super) fn raise_loopback() -> io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const NLM_F_REQUEST: u16 = 1;
    const IFF_UP: u32 = 1;
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    message.extend([0; 8]); // sequence, sender
    message.extend([0; 4]); // family, type
    message.extend(1_u32.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    let kernel =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    sendto(kernel.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
    Ok(())
}
