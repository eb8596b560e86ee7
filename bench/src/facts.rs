//! Describes the machine and the versions of the measured software. The results are published, so the description must
//! not contain names of hosts or people.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

const LOCK: &str = include_str!("../../Cargo.lock");

pub(crate) struct Facts {
    machine: String,
    holdshort: String,
}

impl Facts {
    pub(crate) fn collect(binary: &Path) -> Self {
        let version = Command::new(binary).arg("--version").output();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        Self { machine: machine(), holdshort: version.unwrap_or_default() }
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, holdshort } = self;
        writeln!(f, "- Machine: {machine}; servers and clients share it.")?;
        writeln!(
            f,
            "- Versions: {holdshort}, SQLite {}, rusqlite {}, axum {}, tokio {}.",
            rusqlite::version(),
            locked("rusqlite"),
            locked("axum"),
            locked("tokio"),
        )
    }
}

/// Describes the machine of the measurements: the number of cores, the processor and the kernel.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let processor = model.map_or("unknown processor", |(_, model)| model);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // The end of the kernel version may contain names of builds and machines, so it is removed.
    let kernel = kernel.trim().split('-').next().unwrap_or_default();
    format!("{cores} cores ({processor}), Linux {kernel}")
}

/// Returns the version of a package in `Cargo.lock`.
fn locked(package: &str) -> &'static str {
    let name = format!("name = \"{package}\"\nversion = \"");
    let after = LOCK.split_once(&name).map_or("", |(_, after)| after);
    after.split('"').next().unwrap_or_default()
}
