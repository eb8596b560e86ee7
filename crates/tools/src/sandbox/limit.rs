//! Resource limits (`setrlimit(2)`), and a place behind the server in line for processor and memory.

use std::{fs, io};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::limits;

/// Nicer than the server, which has to stay able to stop it.
const NICER_BY: i32 = 5;

/// Takes the limits on; they hold for every process to come.
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
    // Out of memory, the kernel shall take the command first. Where this is not possible nothing is lost.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    Ok(())
}
