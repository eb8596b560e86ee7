//! Path of a Python for the examples that has the package `websockets`. On a fresh machine this is Debian's Python.

use std::process::{Command, Stdio};

pub(crate) fn python() -> Command {
    let has_it = |python: &&str| {
        let import = Command::new(python).args(["-c", "import websockets"]).stderr(Stdio::null()).status();
        import.is_ok_and(|status| status.success())
    };
    let found = ["python3", "/usr/bin/python3"].into_iter().find(has_it);
    Command::new(found.expect("the Debian package python3-websockets is installed"))
}
