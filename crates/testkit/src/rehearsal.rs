//! Rehearsals of tests: the same words in as little time as a script can ask for.

/// A reply in a script, as all of them are indented.
const REPLY: &str = "    - ";

/// Gives each reply of a script the shortest pause between its words. Replies that have a pause of their own are an error
/// of the script.
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
