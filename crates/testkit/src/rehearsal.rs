//! Rehearsal scripts for tests: the same replies with the shortest pauses that a script allows.

/// Indented beginning of a reply in a script.
const REPLY: &str = "    - ";

/// Gives each reply of a script the shortest pause between its words. A reply that already sets a pause makes the
/// script invalid.
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
