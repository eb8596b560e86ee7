//! What the tests need of the machine beyond Rust, Node and Python, and how it gets there.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::run::step;

/// Debian packages by the program that shows whether they are there.
const NEEDED: [(&str, &str); 3] = [("git", "git"), ("python3", "python3"), ("curl", "curl")];

/// Installs what is missing with apt, as root; otherwise says what to install.
pub(crate) fn prepare() -> Result<()> {
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(program, _)| !on_path(program)).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {} with apt", missing.join(", "));
    step("apt-get update", Command::new("apt-get").arg("update"))?;
    step(
        "apt-get install",
        Command::new("apt-get").args(["install", "-y", "--no-install-recommends"]).args(&missing),
    )
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).is_file())
}
