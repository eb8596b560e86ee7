//! Rehearsal scripts for tests: the pauses in them are as short as possible.

/// Indentation and list marker with which each reply in a rehearsal script begins.
const REPLY: &str = "    - ";

/// Sets the shortest possible pause between the words of each reply in a rehearsal script. If a reply already has a
/// pause, the script becomes invalid.
pub fn hurried(script: &str) -> String {
    let hurry = |line: &str| match line.strip_prefix(REPLY) {
        Some(reply) => match reply.strip_prefix('{') {
            Some(keys) => format!("{REPLY}{{pause_ms: 1, {keys}\n"),
            None => format!("{REPLY}pause_ms: 1\n      {reply}\n"),
        },
        None => format!("{line}\n"),
    };
    script.lines().map(hurry).collect()
}
