//! Blank lines and comments in a command, which run nothing.

use std::ops::RangeInclusive;

/// Invisible characters: the default ignorable characters of Unicode, and two blank characters that a shell treats as
/// letters.
const UNSEEN: [RangeInclusive<char>; 18] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{202a}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Returns true if a command line contains only white space, comments and invisible characters. NUL is not blank.
pub fn is_blank(line: &str) -> bool {
    let shows = |c: &char| {
        let is_unseen = c.is_whitespace() || c.is_control() || UNSEEN.iter().any(|range| range.contains(c));
        *c == '\0' || !is_unseen
    };
    line.split('\n').all(|line| line.chars().find(shows).is_none_or(|first| first == '#'))
}
