//! A system call filter for what namespaces and Landlock do not cover: odd socket families, kernel keyrings,
//! and interfaces that go around filters. Never a full list of what programs may do.

use std::collections::BTreeMap;
use std::io;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

/// The families that programs use. Others, such as `AF_VSOCK`, may lead out of a network namespace.
const SOCKET_FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Refused whatever their arguments.
const REFUSED: [libc::c_long; 8] = [
    // Keyrings belong to the user, not to a namespace, and hold secrets.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // Opens sockets without `socket`.
    libc::SYS_io_uring_setup,
    // Kernel surface that no build or test needs.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
];

/// Takes the filter on for good.
pub(super) fn take_on() -> io::Result<()> {
    apply_filter(&program().map_err(io::Error::other)?).map_err(io::Error::other)
}

fn program() -> Result<BpfProgram, Box<dyn std::error::Error + Send + Sync>> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let other_family = SOCKET_FAMILIES
        .into_iter()
        .map(|family| {
            let family = u64::try_from(family).unwrap_or_default();
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
        })
        .collect::<Result<_, _>>()?;
    // No rule for a call means: whatever its arguments.
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.into_iter().map(|call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(other_family)?]);
    let refuse = SeccompAction::Errno(u32::try_from(libc::EPERM)?);
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()?)
}
