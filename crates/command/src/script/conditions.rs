//! Conditions: `[[ … ]]`, and `test` with words that the shell computes.
//!
//! In numeric comparisons, some shells run code that is in the brackets of a variable name. dash does not know `[[`: in
//! `[[ … && x ]]`, it runs `x` as a program.

use super::Parser;
use super::values::Value;
use super::word_parser::ScriptWord;
use crate::shell::Expansion;

const OF_ONE: [&str; 23] = [
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-t", "-u", "-w", "-x", "-G",
    "-L", "-N", "-O", "-S", "-n", "-z",
];
const OF_TEXTS: [&str; 6] = ["=", "==", "!=", "-nt", "-ot", "-ef"];
const OF_NUMBERS: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Parser<'_> {
    pub(super) fn double_brackets(&mut self) -> Option<()> {
        self.expect_keyword("[[")?;
        let mut clause: Vec<ScriptWord> = Vec::new();
        let mut is_first = true;
        loop {
            self.blanks();
            let ends = self.keyword() == "]]";
            if ends || self.rest.starts_with("&&") || self.rest.starts_with("||") {
                let begins_with_a_test = is_unary(&clause);
                if !is_condition(&clause, true) || (!is_first && !begins_with_a_test) {
                    return None;
                }
                if ends {
                    return self.expect("]]");
                }
                self.rest = &self.rest[2..];
                is_first = false;
                clause.clear();
                continue;
            }
            if is_first && clause.is_empty() && self.eat_keyword("!") {
                continue;
            }
            clause.push(self.parse_word()?);
        }
    }
}

fn is_unary(clause: &[ScriptWord]) -> bool {
    matches!(clause, [operator, _] if operator.is_literal && OF_ONE.contains(&operator.word.text.as_str()))
}

/// Returns true if the words form one condition of a shell script that runs no code. `in_brackets` is true for `[[ ]]`,
/// in which the shell does not split words.
fn is_condition(words: &[ScriptWord], in_brackets: bool) -> bool {
    let is_whole = |word: &ScriptWord| {
        in_brackets || (word.is_one && (word.is_literal || word.word.quoted || word.value <= Value::Word))
    };
    let is_number = |word: &ScriptWord| {
        let text = word.word.text.trim_start_matches('-');
        let is_written = word.word.expansion == Expansion::None
            && !text.is_empty()
            && text.chars().all(|c| c.is_ascii_digit());
        is_written || word.value <= Value::Count
    };
    match words {
        [only] => is_whole(only) && (!only.is_literal || only.value <= Value::Word),
        [operator, word] if is_unary(words) => operator.is_literal && is_whole(word),
        [left, operator, right] if operator.is_literal => {
            let operator = operator.word.text.as_str();
            let of_texts = OF_TEXTS.contains(&operator) || (in_brackets && operator == "=~");
            (of_texts && is_whole(left) && is_whole(right))
                || (OF_NUMBERS.contains(&operator) && is_number(left) && is_number(right))
        }
        _ => false,
    }
}

/// Returns true if a `test` or `[` command is one condition that runs no code.
pub(super) fn tests(program: &str, words: &[ScriptWord]) -> bool {
    let words = match (program, words.split_last()) {
        ("[", Some((last, words))) if last.is_literal && last.word.text == "]" => words,
        ("[", _) => return false,
        (_, _) => words,
    };
    match words {
        [not, rest @ ..] if not.is_literal && not.word.text == "!" => is_condition(rest, false),
        words => is_condition(words, false),
    }
}
