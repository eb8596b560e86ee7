//! Reads lines of prose: comments, documents, texts of the browser app, and strings in the source code.

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};

use crate::run::root;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Comments,
    Documents,
    /// The group has the texts of the browser app, from `ui/src/texts`.
    App,
    /// The group has the strings of at least [`WORDS`] words in `src` folders of crates and packs: errors, help and
    /// messages.
    Strings,
}

impl Group {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Comments => "comments",
            Self::Documents => "documents",
            Self::App => "app",
            Self::Strings => "strings",
        }
    }
}

/// Minimum number of words of a string that is read as a sentence.
const WORDS: usize = 4;

pub(super) struct Line {
    pub(super) group: Group,
    pub(super) file: String,
    pub(super) number: usize,
    pub(super) text: String,
    /// True if a sentence begins at the start of the line of prose.
    pub(super) begins: bool,
}

/// Returns the lines of prose of all committed files.
pub(super) fn lines() -> Result<Vec<Line>> {
    let listed = std::process::Command::new("git").args(["ls-files"]).current_dir(root()).output()?;
    let mut lines = Vec::new();
    for file in String::from_utf8(listed.stdout)?.lines() {
        let Some((_, ending)) = file.rsplit_once('.') else { continue };
        if is_skipped(file) || !["rs", "ts", "js", "svelte", "md"].contains(&ending) {
            continue;
        }
        let text = std::fs::read_to_string(root().join(file)).with_context(|| file.to_owned())?;
        match ending {
            "md" => document(file, &text, &mut lines),
            _ => comments(file, &text, &mut lines),
        }
        if file.starts_with("ui/src/texts/") {
            app(file, &text, &mut lines);
        }
        let is_program = file.contains("/src/") && !file.contains("test") && ending == "rs";
        if is_program && (file.starts_with("crates/") || file.starts_with("packs/")) {
            strings(file, &text, &mut lines)?;
        }
    }
    Ok(lines)
}

/// Returns true for a file whose prose is not checked: one with the rules of this check, or a text of a third party.
fn is_skipped(file: &str) -> bool {
    ["ui/dist/", "xtask/src/plain/", "licenses/"].iter().any(|skipped| file.contains(skipped))
}

/// Reads the lines of a source file that begin with a comment marker.
fn comments(file: &str, text: &str, lines: &mut Vec<Line>) {
    let mut before = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let start =
            ["///", "//!", "//", "/**", "<!--", "* "].into_iter().find(|start| line.starts_with(start));
        let comment = start.map(|start| line[start.len()..].trim().to_owned()).unwrap_or_default();
        if !comment.is_empty() && !comment.starts_with(['`', '@', '|']) {
            push(Group::Comments, file, number, comment.clone(), ends_sentence(&before), lines);
        }
        before = comment;
    }
}

/// Reads the lines of a document outside of code blocks.
fn document(file: &str, text: &str, lines: &mut Vec<Line>) {
    let mut is_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let line = line.trim_start_matches(|char: char| " >*-|#.".contains(char) || char.is_ascii_digit());
        if !is_code && !line.is_empty() {
            push(Group::Documents, file, number, line.to_owned(), true, lines);
        }
    }
}

/// Reads the values in a file of the app's texts: `"key": "value",`.
fn app(file: &str, text: &str, lines: &mut Vec<Line>) {
    for (number, line) in (1..).zip(text.lines()) {
        let Some((_, value)) = line.trim().split_once("\": ") else { continue };
        let value = value.trim_end_matches(',').trim_matches(['"', '\'', '`']);
        if value.contains(' ') {
            push(Group::App, file, number, value.to_owned(), true, lines);
        }
    }
}

/// Reads strings in Rust code that are sentences. Skips comments and doc attributes.
fn strings(file: &str, text: &str, lines: &mut Vec<Line>) -> Result<()> {
    let tokens: TokenStream = text.parse().ok().with_context(|| file.to_owned())?;
    let mut found = Vec::new();
    literals(tokens, &mut found);
    let mut at = 0;
    for (written, sentence) in found {
        at += text.get(at..).and_then(|rest| rest.find(&written)).unwrap_or_default();
        let number = text.get(..at).unwrap_or_default().lines().count().max(1);
        push(Group::Strings, file, number, sentence, true, lines);
    }
    Ok(())
}

/// Collects the strings in Rust code that are sentences, in order, each as written in the source and as its value.
fn literals(tokens: TokenStream, found: &mut Vec<(String, String)>) {
    let mut is_doc = false;
    for token in tokens {
        match token {
            TokenTree::Ident(name) => is_doc = name == "doc",
            TokenTree::Group(group) => literals(group.stream(), found),
            TokenTree::Literal(literal) => {
                let written = literal.to_string();
                let text = syn::parse_str::<syn::LitStr>(&written).map(|text| text.value());
                let is_sentence = |text: &String| text.split_whitespace().count() >= WORDS && text.is_ascii();
                if let Some(text) = text.ok().filter(is_sentence).filter(|_| !is_doc) {
                    found.push((written, text.replace('\n', " ")));
                }
                is_doc = false;
            }
            TokenTree::Punct(_) => {}
        }
    }
}

fn ends_sentence(before: &str) -> bool {
    before.is_empty() || before.ends_with(['.', ':', '?', '!'])
}

fn push(group: Group, file: &str, number: usize, text: String, begins: bool, lines: &mut Vec<Line>) {
    lines.push(Line { group, file: file.to_owned(), number, text, begins });
}
