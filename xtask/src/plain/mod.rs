//! `cargo xtask plain`: finds sentences that are hard to read, in comments, documents and user-facing strings.
//!
//! A test limits the number of such sentences per 1,000 lines. The rules are in `rules.rs`.

mod read;
mod rules;

use std::collections::BTreeMap;

use anyhow::Result;
use regex::Regex;

use self::read::Group;

struct Finding {
    place: String,
    text: String,
    phrase: String,
}

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

    /// Returns the first phrase of a line of prose that matches a rule. `begins` is true if the line begins with a
    /// sentence.
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

/// Returns the sentences that are hard to read and the number of lines of prose, by group of texts.
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

/// Prints the sentences that are hard to read in a group of texts, or their number in each group if none is given.
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
