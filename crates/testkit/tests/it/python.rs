//! Python for the examples: the package `websockets`, from the system or else from the package index, once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A version that the examples are known to work with.
const WEBSOCKETS: &str = "websockets==15.0.1";

/// `python3`, with `websockets` within its reach.
pub(crate) fn python() -> Command {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| (!has_websockets(None)).then(install));
    let mut python = Command::new("python3");
    if let Some(folder) = folder {
        python.env("PYTHONPATH", folder);
    }
    python
}

fn has_websockets(folder: Option<&Path>) -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import websockets; websockets.connect"]);
    if let Some(folder) = folder {
        python.env("PYTHONPATH", folder);
    }
    python.output().is_ok_and(|output| output.status.success())
}

fn install() -> PathBuf {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = all.join("python-packages");
    if has_websockets(Some(&folder)) {
        return folder;
    }
    // Whole or not at all: another test process may look at the same moment.
    let fresh = all.join(format!("python-packages-{}", std::process::id()));
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"])
        .arg(&fresh)
        .arg(WEBSOCKETS);
    let output = pip.output().expect("python3 is there");
    assert!(output.status.success(), "{WEBSOCKETS}: {}", String::from_utf8_lossy(&output.stderr));
    drop(std::fs::remove_dir_all(&folder));
    if std::fs::rename(&fresh, &folder).is_err() {
        assert!(has_websockets(Some(&folder)), "another process put it there");
        drop(std::fs::remove_dir_all(&fresh));
    }
    folder
}
