//! Wrappers: programs that run a second program, such as `env` or `timeout`. The words of the second program follow the
//! wrapper's options. A wrapper is understood only if all its options are known. Otherwise it is uncertain what runs,
//! and the line is opaque.

use crate::{Part, is_assignment, script};

struct Wrapper {
    programs: &'static [&'static str],
    /// Options of the wrapper that have no value.
    flags: &'static [&'static str],
    /// Options of the wrapper that have a value, in the same word or in the next one.
    valued: &'static [&'static str],
    /// Number of words between the options of the wrapper and the program that the wrapper runs.
    operands: usize,
}

const fn wrapper(
    programs: &'static [&'static str],
    flags: &'static [&'static str],
    valued: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { programs, flags, valued, operands }
}

const ROWS: &[Wrapper] = &[
    wrapper(&["nice"], &[], &["-n", "--adjustment"], 0),
    wrapper(&["ionice"], &["-t", "--ignore"], &["-c", "-n", "--class", "--classdata"], 0),
    wrapper(
        &["timeout"],
        &["--foreground", "--preserve-status", "-v", "--verbose"],
        &["-k", "-s", "--kill-after", "--signal"],
        1,
    ),
    wrapper(&["stdbuf"], &[], &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper(&["command"], &["-p"], &[], 0),
    wrapper(&["env"], &["-i", "-", "--ignore-environment"], &["-u", "--unset"], 0),
];

/// Returns the index of the argument that names the program which a wrapper runs. Returns `None` if the command is not
/// a wrapper or the index is uncertain.
pub(crate) fn program_at(part: &Part) -> Option<usize> {
    let row = ROWS.iter().find(|row| row.programs.contains(&part.program.as_str()))?;
    let words = &part.arguments;
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        let is_valued = |option: &&&str| {
            let value = word.strip_prefix(**option);
            let glued =
                |value: &str| if option.starts_with("--") { value.starts_with('=') } else { is_value(value) };
            value.is_some_and(|value| value.is_empty() || glued(value))
        };
        let is_niceness = row.programs == ["nice"] && is_number(&word[1..]);
        at += if row.flags.contains(&word.as_str()) || is_niceness {
            1
        } else if row.valued.contains(&word.as_str()) {
            words.get(at + 1).filter(|value| is_value(value)).map(|_| 2)?
        } else if row.valued.iter().any(|option| is_valued(&option)) {
            1
        } else {
            return None;
        };
    }
    at += row.operands;
    if row.programs == ["env"] {
        while let Some(word) = words.get(at).filter(|word| is_assignment(word)) {
            let (name, value) = word.split_once('=')?;
            script::only_shapes_output(name, value).then_some(())?;
            at += 1;
        }
    }
    let program = words.get(at)?;
    let is_plain =
        (0..=at).all(|at| !part.expands(at)) && !words[..at].iter().any(|word| word.contains(['$', '`']));
    (is_plain && !program.starts_with('-') && !is_assignment(program)).then_some(at)
}

/// Returns true if a word after a wrapper looks like a number, a signal, a time or a name: letters, digits and a few
/// other characters.
fn is_value(value: &str) -> bool {
    let is_sign = |c: char| matches!(c, '.' | '_' | '+');
    let value = value.strip_prefix('-').unwrap_or(value);
    !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || is_sign(c))
}

fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}
