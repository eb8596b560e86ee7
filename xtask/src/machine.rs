//! Programs that the tests need in addition to Rust, Node and Python, and how to install them.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::run::step;

/// Debian packages that the tests need, each with a file that exists if the package is installed. The file is a program
/// on the path, or an absolute path in which `*` stands for one folder name.
const NEEDED: [(&str, &str); 15] = [
    ("git", "git"),
    ("python3", "python3"),
    // WebSocket library of the example clients.
    ("/usr/lib/python3/dist-packages/websockets/__init__.py", "python3-websockets"),
    ("curl", "curl"),
    // Programs that tests run over an overlay. A command in an overlay sees only programs of the system, and none in
    // the home folder of a person.
    ("make", "make"),
    ("sqlite3", "sqlite3"),
    ("/usr/bin/pip3", "python3-pip"),
    ("setsid", "util-linux"),
    // Lists the programs that a command line starts.
    ("strace", "strace"),
    ("chromium", "chromium"),
    ("chromium-headless-shell", "chromium-headless-shell"),
    // Without a font, the browser draws boxes instead of letters.
    ("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "fonts-dejavu-core"),
    // PostgreSQL server, in a folder that has its version as the name. Tests start their own servers and do not use the
    // cluster of Debian.
    ("/usr/lib/postgresql/*/bin/postgres", "postgresql"),
    ("/usr/sbin/nginx", "nginx-light"),
    // Library that runs servers with a wrong clock, in a folder that has the machine's architecture as the name.
    ("/usr/lib/*/faketime/libfaketimeMT.so.1", "libfaketime"),
];

/// Installs missing Debian packages with apt if the user is root. Otherwise returns an error with the command that
/// installs them.
pub(crate) fn prepare() -> Result<()> {
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(witness, _)| !is_installed(witness)).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() || !is_installed("apt-get") {
        bail!("{}", by_hand(&missing));
    }
    println!("installing {} with apt", missing.join(", "));
    step("apt-get update", Command::new("apt-get").arg("update"))?;
    step(
        "apt-get install",
        Command::new("apt-get").args(["install", "-y", "--no-install-recommends"]).args(&missing),
    )
}

fn by_hand(missing: &[&str]) -> String {
    let packages = missing.join(" ");
    format!(
        "programs that the tests need are missing; install them, on Debian with:\n  sudo apt-get install \
         --no-install-recommends {packages}\nor skip those tests: cargo xtask verify --quick"
    )
}

fn is_root() -> bool {
    // The owner of this folder is the effective user of the process.
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn is_installed(witness: &str) -> bool {
    if let Some((above, below)) = witness.split_once("/*/") {
        let mut folders = std::fs::read_dir(above).into_iter().flatten().flatten();
        return folders.any(|folder| folder.path().join(below).is_file());
    }
    if witness.starts_with('/') {
        return Path::new(witness).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(witness).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_can_be_installed_with_one_command() {
        let said = by_hand(&["strace", "chromium"]);
        assert!(
            said.contains("\n  sudo apt-get install --no-install-recommends strace chromium\n"),
            "{said}"
        );
    }

    #[test]
    fn a_witness_is_a_program_a_file_or_a_file_in_any_folder() {
        let here = |witness: &str| is_installed(witness);
        assert!(here("sh") && here("/proc/self/stat") && here("/proc/*/stat"));
        assert!(!here("no-such-program") && !here("/proc/none") && !here("/proc/*/none"));
    }
}
