//! Tests of the SQLite store only: its folder, full disks, group commit, and killed processes.

mod crash;
mod damage;
mod disk;
mod folder;
mod group;
mod head_file;
mod older;

use std::process::Command;

/// Returns the command that runs one ignored test of this test binary in a separate process.
fn child(test: &str) -> Vec<String> {
    let binary = std::env::current_exe().unwrap().display().to_string();
    [binary.as_str(), "--exact", test, "--ignored", "--nocapture"].map(str::to_owned).to_vec()
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}
