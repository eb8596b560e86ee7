//! Rehearsal scripts for tests, with the shortest pauses that a script allows.

/// Indentation and list marker before each reply in a script.
const REPLY: &str = "    - ";

/// Sets the shortest pause between the words of each reply in a script. A reply that already sets a pause becomes
/// invalid.
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
