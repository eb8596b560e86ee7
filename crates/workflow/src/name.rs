//! Syntax of names in workflows. This module does not check if something with the name exists.

use crate::bounds;
use crate::item::Item;
use crate::problem::Problems;

/// Checks the name of a workflow or a phase: `[a-z0-9_-]+`.
pub(crate) fn lower_case(text: &str, item: &Item<'_>, problems: &mut Problems) -> bool {
    let is_name = is_name(text, |c| c.is_ascii_lowercase());
    if !is_name {
        complain("a-z, 0-9, `_` and `-`", text, item, problems);
    }
    is_name
}

/// Checks the name of an agent or a tool: `[A-Za-z0-9_-]+`.
pub(crate) fn any_case(text: &str, item: &Item<'_>, problems: &mut Problems) -> bool {
    let is_name = is_name(text, |c| c.is_ascii_alphabetic());
    if !is_name {
        complain("A-Z, a-z, 0-9, `_` and `-`", text, item, problems);
    }
    is_name
}

/// Checks a label, which follows a dot in templates: `[a-z_][a-z0-9_]*`.
pub(crate) fn label(text: &str, item: &Item<'_>, problems: &mut Problems) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c == '_';
    let is_label = text.len() <= bounds::NAME
        && text.starts_with(is_word)
        && text.chars().all(|c| is_word(c) || c.is_ascii_digit());
    if !is_label {
        complain("a-z, 0-9 and `_`, no digit first", text, item, problems);
    }
    is_label
}

fn is_name(text: &str, is_letter: impl Fn(char) -> bool) -> bool {
    (1..=bounds::NAME).contains(&text.len())
        && text.chars().all(|c| is_letter(c) || c.is_ascii_digit() || c == '_' || c == '-')
}

fn complain(of: &str, text: &str, item: &Item<'_>, problems: &mut Problems) {
    let shown: String = text.chars().take(bounds::NAME).collect();
    let message = format!("a name is made of {of}, at most {} characters; found `{shown}`", bounds::NAME);
    problems.at(item, message);
}
