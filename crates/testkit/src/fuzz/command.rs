//! Fuzz target for command lines: parsing has a bound, and the classifications of a command agree with each other.

use holdshort_command::{Class, parse};

/// Limit of the parts of one line, and of its possible parts.
const MAX_PARTS: usize = 256;

pub(super) fn command(bytes: &[u8]) {
    let Ok(line) = std::str::from_utf8(bytes) else { return };
    let command = parse(line);
    assert_eq!(command, parse(line));
    assert!(command.parts.len() <= MAX_PARTS && command.guesses.len() <= MAX_PARTS);
    if command.is_read_only() {
        let is_understood = command.opaque.is_none() || command.computes_and_reads;
        assert!(is_understood && command.class() == Class::Reads, "{line:?}");
        assert!(command.own_tools("").is_none(), "{line:?}");
    }
    let paths = command.paths().unwrap_or_default();
    assert!(paths.iter().all(|path| !path.is_empty()), "{line:?}");
    let _ = command.scripts();
    let _ = command.named_paths();
    // A line in single quotes is one word of `echo`, which only reads, whatever the line contains.
    let is_plain = !line.starts_with('-') && !line.contains('\'') && !line.chars().any(char::is_control);
    if is_plain && line.len() < 1000 {
        assert!(parse(&format!("echo '{line}'")).is_read_only(), "{line:?}");
    }
}
