//! Landlock (`landlock(7)`): limits which files a command may use and which processes it may signal. Landlock also
//! prevents TCP connections if the command has no network namespace that prevents them.

use std::path::{Path, PathBuf};

use holdshort_core::tool::CommandEffect;
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope, path_beneath_rules,
};

use super::folders;
use super::plan::Plan;

/// Newest Landlock version whose features are used. On an older kernel, the features that it lacks are skipped.
const NEWEST: ABI = ABI::V9;
/// Oldest Landlock version that suffices for the sandbox: it restricts all operations on files, including truncation.
const OLDEST: ABI = ABI::V3;

/// Devices that every sandboxed program may use.
pub(super) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Folder of shared memory. A command can use this folder only if the command has a view of the file system of its own.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";
/// Files in `/proc` that language runtimes read. Without a file system view of its own, a command sees the `/proc` of
/// the host. The command may then read only these files, so that it cannot read data about processes of other users.
const HOST_PROC: [&str; 6] =
    ["/proc/cpuinfo", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version"];

/// Applies the Landlock rules of the sandbox to this process. The rules cannot be removed later.
pub(super) fn take_on(plan: &Plan) -> Result<(), RulesetError> {
    let read = AccessFs::from_read(NEWEST);
    let write = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    // A read-only command must not execute a file that an agent may have written.
    let of_workspace = if plan.effect == CommandEffect::Reads { read & !AccessFs::Execute } else { read };
    let of_private = if plan.effect == CommandEffect::Reads { write & !AccessFs::Execute } else { write };
    // A socket in the workspace could connect the command to a program outside the sandbox.
    let of_sockets =
        if plan.network { AccessFs::MakeSock.into() } else { AccessFs::MakeSock | AccessFs::ResolveUnix };
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if !plan.network && !plan.has_namespaces() {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    ruleset
        .create()?
        .add_rules(path_beneath_rules(readable(plan), read))?
        .add_rules(path_beneath_rules([Path::new("/etc")], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules([&plan.workspace], of_workspace))?
        .add_rules(path_beneath_rules(plan.written(), write & !of_sockets))?
        .add_rules(path_beneath_rules(private(plan), of_private))?
        .restrict_self()?;
    Ok(())
}

fn readable(plan: &Plan) -> Vec<PathBuf> {
    let mut paths = folders::system(plan);
    paths.extend(folders::etc(plan));
    paths.extend(folders::resolver(plan));
    paths.extend(plan.tool_folders.iter().cloned());
    if plan.has_namespaces() {
        paths.push("/proc".into());
    } else {
        paths.extend(HOST_PROC.map(PathBuf::from));
    }
    paths
}

fn private(plan: &Plan) -> Vec<PathBuf> {
    let mut paths = vec![plan.private()];
    if plan.has_namespaces() {
        paths.push(SHARED_MEMORY.into());
    }
    paths
}
