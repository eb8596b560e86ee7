//! Fuzz target for the parser of command lines. Checks that the work of the parser is limited, and that the
//! classifications of a command do not contradict each other.

use holdshort_command::{Class, parse};

/// Maximum number of parts that the parser may return for one command line. The number of parts that the parser may
/// guess has the same maximum.
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
    // In single quotes, the command line is one argument of `echo`. With any argument, `echo` only reads.
    let is_plain = !line.starts_with('-') && !line.contains('\'') && !line.chars().any(char::is_control);
    if is_plain && line.len() < 1000 {
        assert!(parse(&format!("echo '{line}'")).is_read_only(), "{line:?}");
    }
}
