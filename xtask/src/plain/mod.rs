//! `cargo xtask plain`: sentences that a reader has to solve, in comments, documents and the strings that users read.
//!
//! A test of the whole run holds the number of such sentences in 1,000 low. The rules are in `rules.rs`.

mod read;
mod rules;

use std::collections::BTreeMap;

use anyhow::Result;
use regex::Regex;

use self::read::Group;

/// Line of prose in which a rule finds something.
struct Finding {
    place: String,
    text: String,
    phrase: String,
}

/// Rules as they are matched.
struct Checker {
    openings: Regex,
    phrases: Regex,
}

impl Checker {
    fn new() -> Result<Self> {
        let openings =
            Regex::new(&format!("^({})\\b", rules::OPENINGS.map(|it| it.trim_end().to_owned()).join("|")))?;
        let phrases = Regex::new(&format!("(?i)\\b({})\\b", rules::PHRASES.join("|")))?;
        Ok(Self { openings, phrases })
    }

    /// Returns the first phrase of a line that has to be solved. `begins`: the line begins a sentence.
    fn find<'t>(&self, text: &'t str, begins: bool) -> Option<&'t str> {
        if rules::HEADINGS.contains(&text) {
            return None;
        }
        let sentences = text.split_inclusive(['.', '!', '?', ':']);
        let mut at = 0;
        for sentence in sentences {
            let is_first = at == 0;
            at += sentence.len();
            let begins = if is_first { begins } else { sentence.starts_with(' ') };
            let found = self.openings.find(sentence.trim_start()).filter(|_| begins);
            if let Some(found) = found {
                return Some(found.as_str());
            }
        }
        self.phrases.find(text).map(|found| found.as_str())
    }
}

/// Findings and lines of prose of each group.
fn measure() -> Result<BTreeMap<Group, (Vec<Finding>, usize)>> {
    let checker = Checker::new()?;
    let mut all: BTreeMap<Group, (Vec<Finding>, usize)> = BTreeMap::new();
    for line in read::lines()? {
        let (found, lines) = all.entry(line.group).or_default();
        *lines += 1;
        if let Some(phrase) = checker.find(&line.text, line.begins) {
            let phrase = phrase.to_owned();
            found.push(Finding { place: format!("{}:{}", line.file, line.number), text: line.text, phrase });
        }
    }
    Ok(all)
}

/// Prints the findings of a group, or the count of each group.
pub(crate) fn print(group: Option<&str>) -> Result<()> {
    for (each, (found, lines)) in measure()? {
        if group == Some(each.name()) {
            for Finding { place, text, phrase } in &found {
                println!("{place}: {text}   [{phrase}]");
            }
        }
        println!(
            "{}: {} of {lines} lines, {} per 1,000",
            each.name(),
            found.len(),
            per_thousand(found.len(), lines)
        );
    }
    Ok(())
}

fn per_thousand(found: usize, lines: usize) -> usize {
    (found * 1_000).div_ceil(lines.max(1))
}

#[cfg(test)]
mod tests;
