//! What only SQLite promises: about its folder, its disk, its groups, and being killed.

mod crash;
mod damage;
mod disk;
mod folder;
mod group;
mod older;
mod pin;

use std::process::Command;

/// This test binary once more, to run one ignored test that plays a process of its own.
fn child(test: &str) -> Vec<String> {
    let binary = std::env::current_exe().unwrap().display().to_string();
    [binary.as_str(), "--exact", test, "--ignored", "--nocapture"].map(str::to_owned).to_vec()
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}
