//! Recognises sed scripts that only edit text, by an allow-list of commands. A script that is not accepted may run
//! commands or write files.

/// Option letters of sed whose value is never the next word. A value of `-i` is in the same word.
const FLAGS: &str = "nErsuz";

/// Returns true if all scripts of a sed command contain only substitutions, deletions and similar edits. The flag of a
/// word is true if the shell may expand the word into several operands. The caller must make sure that no word can
/// become an option.
pub(crate) fn only_edits<'a>(mut words: impl Iterator<Item = (&'a str, bool)>) -> bool {
    let is_edit = |(script, expands): (&str, bool)| !expands && is_edit(script);
    let mut named = false;
    let mut first = None;
    while let Some((word, expands)) = words.next() {
        let Some(option) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            first = first.or(Some((word, expands)));
            continue;
        };
        let is_plain = option.chars().all(|c| FLAGS.contains(c))
            || option.starts_with('i')
            || matches!(option, "-in-place" | "-quiet" | "-silent" | "-regexp-extended");
        // Forms of options that contain a script: `-ne script`, `--expression=script`.
        let script = match (option.strip_suffix('e'), option.strip_prefix("-expression=")) {
            (Some(flags), _) if flags.chars().all(|c| FLAGS.contains(c)) => words.next(),
            (_, Some(script)) => Some((script, expands)),
            _ if is_plain => continue,
            _ => return false,
        };
        if !script.is_some_and(is_edit) {
            return false;
        }
        named = true;
    }
    named || first.is_some_and(is_edit)
}

fn is_edit(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';', '\n']);
        if rest.is_empty() {
            return true;
        }
        if let Some(after) = rest.strip_prefix('}') {
            rest = after;
            continue;
        }
        let Some(commanded) = address(rest) else { return false };
        if let Some(after) = commanded.strip_prefix('{') {
            rest = after;
            continue;
        }
        let Some(after) = command(commanded) else { return false };
        if !after.is_empty() && !after.starts_with([';', '\n', '}']) {
            return false;
        }
        rest = after;
    }
}

/// Returns the text of a sed script after an address, which selects lines: by number, by pattern, or the last line.
fn address(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let before = rest;
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '+' | '~'));
        if let Some(pattern) = rest.strip_prefix('/') {
            rest = until(pattern, '/')?;
        }
        if rest == before {
            return Some(rest.trim_start_matches([' ', '\t', '!']));
        }
    }
}

/// Returns the text of a sed script after a command that only edits. Returns `None` if the command may do more.
fn command(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    let after = match chars.next()? {
        's' => {
            let delimiter =
                chars.next().filter(|c| !c.is_alphanumeric() && !matches!(c, '\\' | '\n' | ' '))?;
            let flags = until(until(chars.as_str(), delimiter)?, delimiter)?;
            // The flag `e` runs the result as a command, and the flag `w` writes the result to a file.
            flags.trim_start_matches(|c: char| c.is_ascii_digit() || "gpiImM".contains(c))
        }
        'y' => {
            let delimiter =
                chars.next().filter(|c| !c.is_alphanumeric() && !matches!(c, '\\' | '\n' | ' '))?;
            until(until(chars.as_str(), delimiter)?, delimiter)?
        }
        'd' | 'p' | 'q' | '=' | 'l' | 'D' | 'P' | 'h' | 'H' | 'g' | 'G' | 'x' | 'n' | 'N' => chars.as_str(),
        _ => return None,
    };
    Some(after.trim_start_matches([' ', '\t']))
}

/// Returns the text of a sed script after the next unescaped delimiter. Rejects a delimiter inside brackets, because
/// sed implementations disagree about its meaning.
pub(crate) fn until(text: &str, delimiter: char) -> Option<&str> {
    let mut chars = text.chars();
    let mut in_brackets = false;
    while let Some(c) = chars.next() {
        match c {
            '\n' => return None,
            c if c == delimiter => return (!in_brackets).then_some(chars.as_str()),
            '[' if in_brackets && chars.as_str().starts_with(':') => {
                // A character class, as in `[[:space:]]`.
                let (class, rest) = chars.as_str()[1..].split_once(":]")?;
                if !class.chars().all(|c| c.is_ascii_lowercase()) {
                    return None;
                }
                chars = rest.chars();
            }
            '\\' | '[' if in_brackets => return None,
            '\\' => {
                chars.next()?;
            }
            '[' => {
                in_brackets = true;
                // In `[]x]` and `[^]x]` the first `]` is a literal bracket.
                let mut ahead = chars.clone();
                let first = ahead.next()?;
                if first == ']' || (first == '^' && ahead.next()? == ']') {
                    return None;
                }
            }
            ']' => in_brackets = false,
            _ => {}
        }
    }
    None
}
