//! Splits the words of a command into options and operands, with the rows of the tables.

use crate::shell::Expansion;
use crate::tables::{Parser, Row};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedArguments<'w> {
    /// Options of the program by name, each with its value. The name ends with `*` if the value does not change what
    /// the command does.
    pub(crate) options: Vec<(String, Option<&'w str>)>,
    pub(crate) operands: Vec<(usize, &'w str)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionArity {
    Nothing,
    /// The option has one value, in the same word as its name, or none.
    Perhaps,
    One,
    /// The option has one value, which does not change what the command does.
    Free,
    Two,
}

fn parse_spec(spec: &str) -> (&str, OptionArity) {
    if let Some(name) = spec.strip_suffix("::") {
        (name, OptionArity::Two)
    } else if let Some(name) = spec.strip_suffix('*') {
        (name, OptionArity::Free)
    } else if let Some(name) = spec.strip_suffix(':') {
        (name, OptionArity::One)
    } else if let Some(name) = spec.strip_suffix('?') {
        (name, OptionArity::Perhaps)
    } else {
        (spec, OptionArity::Nothing)
    }
}

/// Splits the words of a command into options and operands. Returns `None` if the tables' row of the program does not
/// list an option. As in GNU programs, options can also follow operands.
pub(crate) fn read<'w>(
    row: &Row,
    words: &'w [String],
    expansions: &[Expansion],
) -> Option<ParsedArguments<'w>> {
    let specs: Vec<(&str, OptionArity)> = row.options().map(parse_spec).collect();
    let find = |name: &str| specs.iter().find(|(spec, _)| *spec == name).map(|(_, takes)| *takes);
    let mut given = ParsedArguments::default();
    let mut at = 0;
    while let Some(word) = words.get(at).map(String::as_str) {
        let expansion = expansions.get(at).copied().unwrap_or_default();
        at += 1;
        let is_late = row.parser == Parser::OneByOne && !given.operands.is_empty();
        if word == "--" && !is_late {
            given.operands.extend((at..).zip(words.get(at..)?).map(|(at, word)| (at, word.as_str())));
            break;
        }
        // A word with a file pattern may expand to several words, or to another option.
        let is_plain = expansion == Expansion::None;
        if !word.starts_with('-') || word == "-" {
            if expansion == Expansion::Anything && !row.takes_any_name {
                return None;
            }
            given.operands.push((at - 1, word));
            continue;
        }
        if (!is_plain && !row.takes_any_name) || is_late {
            return None;
        }
        if row.parser == Parser::Names {
            let (name, value) =
                word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            let takes = find(name).or_else(|| find(name.strip_prefix('-')?))?;
            let value = match (takes, value) {
                (OptionArity::Nothing | OptionArity::Perhaps, value)
                | (OptionArity::One | OptionArity::Free, value @ Some(_)) => value,
                (OptionArity::One | OptionArity::Free, None) => {
                    at += 1;
                    words.get(at - 1).map(String::as_str)
                }
                (OptionArity::Two, _) => return None,
            };
            // Some programs do not use such a word as the value (see `may_be_an_option`).
            if value.is_some_and(may_be_an_option) {
                return None;
            }
            given.options.push((option_name(name, takes), value));
            continue;
        }
        let mut next = |many: usize| {
            let values = words.get(at..at + many);
            let plain = (at..at + many).all(|at| expansions.get(at).is_none_or(|it| *it == Expansion::None))
                && values.is_none_or(|values| !values.iter().any(|value| may_be_an_option(value)));
            at += many;
            // If the value of the last option is missing, the program reports an error and does nothing.
            (plain || row.takes_any_name)
                .then(|| values.and_then(|values| values.first()).map(String::as_str))
        };
        if let Some(takes) = find(word).filter(|_| word.len() != 2 || !word.starts_with("--")) {
            let value = match takes {
                OptionArity::Nothing | OptionArity::Perhaps => None,
                OptionArity::One | OptionArity::Free => next(1)?,
                OptionArity::Two => next(2)?,
            };
            given.options.push((option_name(word, takes), value));
        } else if word.starts_with("--") {
            let (name, value) = word.split_once('=')?;
            let takes = find(name)?;
            if !matches!(takes, OptionArity::One | OptionArity::Free | OptionArity::Perhaps) {
                return None;
            }
            given.options.push((option_name(name, takes), Some(value)));
        } else if word[1..].chars().all(|c| c.is_ascii_digit()) && find("-#").is_some() {
            given.options.push(("-#".to_owned(), Some(&word[1..])));
        } else {
            let mut rest = &word[1..];
            while let Some(letter) = rest.chars().next() {
                let name = format!("-{letter}");
                rest = &rest[letter.len_utf8()..];
                let takes = find(&name)?;
                let is_number = !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit());
                let fits = match row.parser {
                    Parser::Getopt | Parser::Names => true,
                    Parser::ValueApart => takes == OptionArity::Nothing || rest.is_empty() || is_number,
                    Parser::OneByOne => {
                        takes == OptionArity::One && word.len() == rest.len() + 2 && is_number
                    }
                };
                if !fits {
                    return None;
                }
                let value = match takes {
                    OptionArity::Nothing => None,
                    OptionArity::Perhaps => Some(std::mem::take(&mut rest)).filter(|value| !value.is_empty()),
                    OptionArity::One | OptionArity::Free if rest.is_empty() => next(1)?,
                    OptionArity::One | OptionArity::Free => Some(std::mem::take(&mut rest)),
                    OptionArity::Two => return None,
                };
                given.options.push((option_name(&name, takes), value));
            }
        }
    }
    Some(given)
}

/// Returns true if the value of an option could also be an option. Some programs do not take such a word as a value:
/// `git diff -U --output=x` writes `x`. A word with a digit or a sign after the dash is harmless, as in `date -d '-1
/// day'`.
fn may_be_an_option(value: &str) -> bool {
    let first = value.strip_prefix('-').and_then(|rest| rest.chars().next());
    first.is_some_and(|first| first.is_alphabetic() || first == '-')
}

fn option_name(name: &str, takes: OptionArity) -> String {
    if takes == OptionArity::Free { format!("{name}*") } else { name.to_owned() }
}
