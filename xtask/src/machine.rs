//! What the tests need of the machine beyond Rust, Node and Python, and how it gets there.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::run::step;

/// Debian packages by what shows that they are there: a program on the path, or a file, in which one folder may
/// be any (`*`).
const NEEDED: [(&str, &str); 8] = [
    ("git", "git"),
    ("python3", "python3"),
    // The clients of the examples speak WebSocket.
    ("/usr/lib/python3/dist-packages/websockets/__init__.py", "python3-websockets"),
    ("curl", "curl"),
    // Tells which programs a command line starts.
    ("strace", "strace"),
    ("chromium", "chromium"),
    // Without a font a browser draws boxes.
    ("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "fonts-dejavu-core"),
    // The server itself, in a folder of its version; tests start their own and leave Debian's cluster alone.
    ("/usr/lib/postgresql/*/bin/postgres", "postgresql"),
];

/// Installs what is missing with apt, as root; otherwise says what to install.
pub(crate) fn prepare() -> Result<()> {
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(witness, _)| !is_there(witness)).map(|(_, package)| *package).collect();
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
