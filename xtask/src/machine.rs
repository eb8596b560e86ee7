//! What the tests need of the machine beyond Rust, Node and Python, and how it gets there.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::run::step;

/// Debian packages by what shows that they are there: a program on the path, or a file, in which one folder may
/// be any (`*`).
const NEEDED: [(&str, &str); 15] = [
    ("git", "git"),
    ("python3", "python3"),
    // The clients of the examples speak WebSocket.
    ("/usr/lib/python3/dist-packages/websockets/__init__.py", "python3-websockets"),
    ("curl", "curl"),
    // Programs that are tried over a layer. Commands see those of the system, not what a person installed for themselves.
    ("make", "make"),
    ("sqlite3", "sqlite3"),
    ("/usr/bin/pip3", "python3-pip"),
    ("setsid", "util-linux"),
    // Tells which programs a command line starts.
    ("strace", "strace"),
    ("chromium", "chromium"),
    ("chromium-headless-shell", "chromium-headless-shell"),
    // Without a font a browser draws boxes.
    ("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "fonts-dejavu-core"),
    // The server itself, in a folder of its version; tests start their own and leave Debian's cluster alone.
    ("/usr/lib/postgresql/*/bin/postgres", "postgresql"),
    ("/usr/sbin/nginx", "nginx-light"),
    // Servers whose clocks are wrong; in the folder of the machine's architecture.
    ("/usr/lib/*/faketime/libfaketimeMT.so.1", "libfaketime"),
];

/// Installs what is missing with apt, as root; otherwise says what to install.
pub(crate) fn prepare() -> Result<()> {
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(witness, _)| !is_there(witness)).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() || !is_there("apt-get") {
        bail!("{}", by_hand(&missing));
    }
    println!("installing {} with apt", missing.join(", "));
    step("apt-get update", Command::new("apt-get").arg("update"))?;
    step(
        "apt-get install",
        Command::new("apt-get").args(["install", "-y", "--no-install-recommends"]).args(&missing),
    )
}

/// What a person does about missing packages.
fn by_hand(missing: &[&str]) -> String {
    let packages = missing.join(" ");
    format!(
        "the tests need what is not here; install it, on Debian with:\n  sudo apt-get install --no-install-recommends \
         {packages}\nor leave those tests out: cargo xtask verify --quick"
    )
}

fn is_root() -> bool {
    // The folder belongs to the user that the process acts as.
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn is_there(witness: &str) -> bool {
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
        let here = |witness: &str| is_there(witness);
        assert!(here("sh") && here("/proc/self/stat") && here("/proc/*/stat"));
        assert!(!here("no-such-program") && !here("/proc/none") && !here("/proc/*/none"));
    }
}
