//! Lines that bash and dash reject. The shells only parse the lines and execute nothing.

use std::process::{Command, Stdio};

use super::corpus;

/// Returns true if the shell rejects the command line, or `None` if the shell is not installed.
fn refuses(shell: &str, line: &str) -> Option<bool> {
    let status = Command::new(shell)
        .args(["-n", "-c", line])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.ok().map(|status| !status.success())
}

/// Number of command lines that one shell process checks. Nearly all of the time is spent on starting shells.
const TOGETHER: usize = 32;

#[test]
fn shells_refuse_what_the_corpus_says() {
    let entries = corpus();
    for shell in ["bash", "dash"] {
        if refuses(shell, "true").is_none() {
            eprintln!("{shell} is not there");
            continue;
        }
        let (refused, taken): (Vec<_>, Vec<_>) = entries
            .iter()
            .map(|entry| (&entry.line, entry.refused.contains(shell)))
            .partition(|(_, refused)| *refused);
        // Each line becomes a function of its own, so that an incomplete line makes the complete batch fail.
        let all_taken = |lines: &&[(&String, bool)]| {
            let bodies: Vec<String> = lines.iter().map(|(line, _)| format!("f() {{\n{line}\n}}\n")).collect();
            refuses(shell, &bodies.concat()) == Some(false)
        };
        let doubtful = taken.chunks(TOGETHER).filter(|lines| !all_taken(lines)).flatten();
        let wrong: Vec<String> = refused
            .iter()
            .chain(doubtful)
            .filter(|(line, expected)| refuses(shell, line) != Some(*expected))
            .map(|(line, expected)| {
                format!("{line:?}: {shell} {}", if *expected { "takes it" } else { "refuses it" })
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
