//! A filter of system calls, for operations that namespaces and Landlock do not restrict. The filter denies unusual
//! socket families, kernel keyrings, interfaces that bypass filters, and file modes that have an effect after the
//! command has ended. The filter is not meant to become a complete list of allowed calls.

use std::collections::BTreeMap;
use std::io;

use holdshort_core::tool::CommandEffect;
use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::plan::Plan;

type Error = Box<dyn std::error::Error + Send + Sync>;
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Socket families that ordinary programs use. The sandbox denies other families, such as `AF_VSOCK`, because they
/// could lead out of a network namespace.
const SOCKET_FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// System calls that the sandbox denies with any arguments.
const REFUSED: [libc::c_long; 8] = [
    // Kernel keyrings hold secrets, and belong to the user instead of a namespace.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // `io_uring` can open sockets without the system call `socket`.
    libc::SYS_io_uring_setup,
    // Kernel interfaces that no build or test needs.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
];

/// System calls for which the sandbox reports that the kernel does not have them. Libraries then use an equivalent call
/// whose arguments a filter can read.
const ABSENT: [libc::c_long; 1] = [libc::SYS_openat2];

/// System calls for which the sandbox reports that they are not supported.
const UNSUPPORTED: [libc::c_long; 5] = [
    // Reserves disk space that the count of written bytes does not include.
    libc::SYS_fallocate,
    // These calls can set access control lists, and thereby a mode. A filter cannot see which attribute a call sets.
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SYS_SETXATTRAT,
];
/// Number of the system call `setxattrat`, which the headers of some systems lack. The number is the same on every
/// architecture.
const SYS_SETXATTRAT: libc::c_long = 463;

/// System calls that set the mode of a file, each with the index of the mode argument.
const SETS_MODE: [(libc::c_long, u8); 5] = [
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (SYS_FCHMODAT2, 2),
    (libc::SYS_mkdirat, 2),
    (libc::SYS_mknodat, 2),
];
/// Number of the system call `fchmodat2`, which the headers of some systems lack. The number is the same on every
/// architecture.
const SYS_FCHMODAT2: libc::c_long = 452;
/// System calls that set the mode of a file and exist only on older architectures.
#[cfg(target_arch = "x86_64")]
const SETS_MODE_OLD: [(libc::c_long, u8); 4] =
    [(libc::SYS_chmod, 1), (libc::SYS_creat, 1), (libc::SYS_mkdir, 1), (libc::SYS_mknod, 1)];
#[cfg(not(target_arch = "x86_64"))]
const SETS_MODE_OLD: [(libc::c_long, u8); 0] = [];

/// System calls that create a file with a mode, each with the indexes of the flags argument and the mode argument.
const OPENS: [(libc::c_long, u8, u8); 1] = [(libc::SYS_openat, 2, 3)];
#[cfg(target_arch = "x86_64")]
const OPENS_OLD: [(libc::c_long, u8, u8); 1] = [(libc::SYS_open, 1, 2)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS_OLD: [(libc::c_long, u8, u8); 0] = [];

/// The bit of `O_TMPFILE` that is not part of `O_DIRECTORY`.
const TMPFILE: u64 = 0o20_000_000;

/// Applies the system call filters of the sandbox to this process. The filters cannot be removed later.
pub(super) fn take_on(plan: &Plan) -> io::Result<()> {
    let filters = [
        (refused(plan).map_err(io::Error::other)?, libc::EPERM),
        (whatever(&ABSENT), libc::ENOSYS),
        (whatever(&UNSUPPORTED), libc::EOPNOTSUPP),
    ];
    for (rules, error) in filters {
        apply_filter(&program(rules, error).map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    #[cfg(target_arch = "x86_64")]
    apply_filter(&OTHER_NUMBERS).map_err(io::Error::other)?;
    Ok(())
}

/// Filter that denies system calls with numbers of the x32 interface. A kernel may accept x32 numbers for the same
/// calls, and the other filters do not recognize these numbers. Instructions (`seccomp(2)`): load the number, compare
/// it, return.
#[cfg(target_arch = "x86_64")]
const OTHER_NUMBERS: [sock_filter; 4] = [
    sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 },
    sock_filter { code: 0x35, jt: 0, jf: 1, k: 0x4000_0000 },
    sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | libc::EPERM.unsigned_abs() },
    sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x7fff_0000 },
];

/// Returns filter rules without conditions, which match the given system calls with any arguments.
fn whatever(calls: &[libc::c_long]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn refused(plan: &Plan) -> Result<Rules, Error> {
    let mut rules = whatever(&REFUSED);
    // A read-only command needs no Unix sockets. A connection to a Unix socket in the workspace would reach the host.
    let is_reader = plan.effect == CommandEffect::Reads && !plan.network;
    let other_family = SOCKET_FAMILIES
        .into_iter()
        .filter(|family| !is_reader || *family != libc::AF_UNIX)
        .map(|family| {
            let family = u64::try_from(family).unwrap_or_default();
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
        })
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(other_family)?]);
    for (call, mode) in SETS_MODE.into_iter().chain(SETS_MODE_OLD) {
        let rule = |condition| Ok(SeccompRule::new(vec![condition])?);
        let found = bad_modes(mode)?.into_iter().map(rule).collect::<Result<_, Error>>()?;
        rules.insert(call, found);
    }
    for (call, flags, mode) in OPENS.into_iter().chain(OPENS_OLD) {
        let mut found = Vec::new();
        for creates in [u64::try_from(libc::O_CREAT)?, TMPFILE] {
            for bad in bad_modes(mode)? {
                found.push(SeccompRule::new(vec![has(flags, creates, creates)?, bad])?);
            }
        }
        rules.insert(call, found);
    }
    // Denies a umask with which new files would be unreadable for their owner.
    rules.insert(libc::SYS_umask, vec![SeccompRule::new(vec![has(0, OWNER_READS, OWNER_READS)?])?]);
    Ok(rules)
}

const SET_USER_ID: u64 = 0o4000;
const SET_GROUP_ID: u64 = 0o2000;
const OWNER_READS: u64 = 0o400;

/// Returns filter conditions that match a file mode which has a set-user-id or set-group-id bit, or which gives the
/// owner no read permission.
fn bad_modes(argument: u8) -> Result<[SeccompCondition; 3], Error> {
    Ok([
        has(argument, SET_USER_ID, SET_USER_ID)?,
        has(argument, SET_GROUP_ID, SET_GROUP_ID)?,
        has(argument, OWNER_READS, 0)?,
    ])
}

fn has(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, Error> {
    let masked = SeccompCmpOp::MaskedEq(mask);
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, masked, value)?)
}

fn program(rules: Rules, error: libc::c_int) -> Result<BpfProgram, Error> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let refuse = SeccompAction::Errno(u32::try_from(error)?);
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()?)
}
