//! Resource limits (`setrlimit(2)`) of a command. The command also has a lower priority than the server for processor
//! time and for memory.

use std::{fs, io};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::limits;

/// Number that is added to the niceness of the server to give the niceness of a sandboxed command. The server must
/// receive enough processor time to stop the command.
const NICER_BY: i32 = 5;

/// Applies the resource limits of the sandbox to this process and to all processes that it starts.
pub(super) fn take_on(cpu_s: u64) -> io::Result<()> {
    let wanted = [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_NPROC, limits::RLIMIT_PROCESSES),
        (Resource::RLIMIT_FSIZE, limits::RLIMIT_FILE_BYTES),
        (Resource::RLIMIT_NOFILE, limits::RLIMIT_OPEN_FILES),
        (Resource::RLIMIT_AS, limits::RLIMIT_ADDRESS_BYTES),
        (Resource::RLIMIT_CPU, cpu_s),
    ];
    for (resource, limit) in wanted {
        let (_, ceiling) = getrlimit(resource)?;
        let limit = limit.min(ceiling);
        setrlimit(resource, limit, limit)?;
    }
    rustix::process::nice(NICER_BY)?;
    // If memory runs out, the kernel should kill the command first. A failure to set this is harmless.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    Ok(())
}
