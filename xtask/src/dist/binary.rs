//! The release binary, and the version of glibc that it requires.
//!
//! The binary is linked dynamically to glibc and `libgcc_s`, which even a minimal system has. A static glibc would be
//! unsafe, because it loads the system's name service modules (`nsswitch.conf`), which are made for another version.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::run::{cargo, root, step, target};

/// Version of glibc, such as 2.34.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Glibc {
    pub major: u32,
    pub minor: u32,
}

impl fmt::Display for Glibc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Builds the release binary without paths of this machine, in a separate target directory, because other builds use
/// other flags.
pub(super) fn build() -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).context("no home folder")?;
    let places = [(home.join("registry/src"), "crates"), (root(), "holdshort"), (target(), "target")];
    let maps = |flag: &str| {
        let map = |(from, to): &(PathBuf, &str)| format!("{flag}={}={to}", from.display());
        places.iter().map(map).collect::<Vec<_>>()
    };
    let folder = target().join("dist");
    let mut build = cargo();
    build
        .args(["build", "--profile", "dist", "--locked", "--package", "holdshort", "--target-dir"])
        .arg(&folder)
        // The flags are separated by a byte that no path contains.
        .env("CARGO_ENCODED_RUSTFLAGS", maps("--remap-path-prefix").join("\u{1f}"))
        .env("CFLAGS", maps("-ffile-prefix-map").join(" "));
    step("the binary, with optimisation", &mut build)?;
    Ok(folder.join("dist/holdshort"))
}

/// Returns the oldest version of glibc that contains all symbols that a program needs.
pub(super) fn glibc(program: &Path) -> Result<Glibc> {
    let output = Command::new("objdump").arg("-T").arg(program).output();
    let output = output.context("objdump cannot be started; install the Debian package binutils")?;
    if !output.status.success() {
        bail!("objdump cannot read {}", program.display());
    }
    needed(&String::from_utf8_lossy(&output.stdout))
        .context("the symbol table of the binary names no version of glibc")
}

/// Returns the newest glibc version that a symbol table names.
pub(super) fn needed(symbols: &str) -> Option<Glibc> {
    let version = |text: &str| {
        let (major, rest) = text.split_once('.')?;
        let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some(Glibc { major: major.parse().ok()?, minor: minor.parse().ok()? })
    };
    symbols.split("GLIBC_").skip(1).filter_map(version).max()
}
