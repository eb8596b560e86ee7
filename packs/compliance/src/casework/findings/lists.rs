//! Rules about identity, which compare names of customers and counterparties, word by word, with names on watch lists.

use jiff::civil::Date;

use super::{Finding, Subject};
use crate::casework::case::{Case, List, Transaction, Watched};
use crate::casework::names::{Dictionary, Name};
use crate::casework::rules::{Rule, Rules};

/// Percentage points by which different dates of birth reduce the certainty of a match with the watch list.
const OTHER_BIRTH_DATE: u32 = 20;

/// Entry of the watch list with the name that is most similar to a name in the case.
struct Match<'c> {
    entry: &'c Watched,
    /// Similarity of the name in the case and the name on the watch list in percent, rounded down.
    percent: u32,
    other_birth_date: bool,
    /// True if the name in the case and the name on the watch list are in different scripts, so that one was
    /// transliterated.
    other_script: bool,
}

pub(super) fn sanctions(case: &Case, rule: &Rule, dictionary: &Dictionary) -> Vec<Finding> {
    let customers = case.customers.iter().enumerate().filter_map(|(at, customer)| {
        let found = best(case, List::Sanctions, rule, dictionary, &customer.words, customer.birth_date)?;
        Some(finding(case, rule, Subject::Customer(at + 1), &found))
    });
    let parties = case.parties.iter().enumerate().filter_map(|(at, party)| {
        let found = best(case, List::Sanctions, rule, dictionary, &party.words, None)?;
        Some(finding(case, rule, Subject::Party(at + 1), &found))
    });
    customers.chain(parties).collect()
}

pub(super) fn pep(case: &Case, rule: &Rule, dictionary: &Dictionary) -> Vec<Finding> {
    let customers = case.customers.iter().enumerate().filter_map(|(at, customer)| {
        let subject = Subject::Customer(at + 1);
        if customer.is_pep {
            let of = transactions(case, subject);
            return Some(Finding {
                detail: "marked as such in the customer table".to_owned(),
                ..Finding::new(rule, subject, &of)
            });
        }
        let found = best(case, List::Pep, rule, dictionary, &customer.words, customer.birth_date)?;
        Some(finding(case, rule, subject, &found))
    });
    customers.collect()
}

/// Returns the similarity of two names, from 0 to 1, computed with the word lists of the compliance rules.
pub fn similarity(rules: &Rules, one: &str, other: &str) -> f64 {
    let dictionary = rules.names.dictionary();
    Name::new(one, dictionary).like(&Name::new(other, dictionary), dictionary)
}

fn best<'c>(
    case: &'c Case,
    list: List,
    rule: &Rule,
    dictionary: &Dictionary,
    words: &Name,
    birth_date: Option<Date>,
) -> Option<Match<'c>> {
    let mut best: Option<(f64, &Watched, &Name)> = None;
    for entry in case.watched.iter().filter(|entry| entry.list == list) {
        for name in &entry.names {
            let like = name.like(words, dictionary);
            // If two names are equally similar, the one that comes first in the file is used.
            if like >= rule.least_similarity() && best.is_none_or(|(before, ..)| like > before) {
                best = Some((like, entry, name));
            }
        }
    }
    let (like, entry, name) = best?;
    let other_script = name.main_script().zip(words.main_script()).is_some_and(|(one, other)| one != other);
    let other_birth_date =
        birth_date.is_some() && entry.birth_date.is_some() && birth_date != entry.birth_date;
    Some(Match { entry, percent: percent(like), other_birth_date, other_script })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a similarity is from 0 to 1")]
fn percent(like: f64) -> u32 {
    (like * 100.0 + 1e-9).floor().clamp(0.0, 100.0) as u32
}

fn finding(case: &Case, rule: &Rule, subject: Subject, found: &Match<'_>) -> Finding {
    let of = transactions(case, subject);
    let (row, percent) = (found.entry.row, found.percent);
    let mut detail = format!("row {row} of the watch list, {percent} % similar");
    let mut confidence = percent.min(rule.confidence);
    if found.other_script {
        detail.push_str(", in another script");
    }
    if found.other_birth_date {
        detail.push_str(", different birth date");
        confidence = confidence.saturating_sub(OTHER_BIRTH_DATE);
    }
    Finding { confidence, detail, ..Finding::new(rule, subject, &of) }
}

fn transactions(case: &Case, subject: Subject) -> Vec<&Transaction> {
    let is_of = |one: &&Transaction| match subject {
        Subject::Customer(number) => one.customer + 1 == number,
        Subject::Party(number) => one.party.is_some_and(|party| party + 1 == number),
    };
    case.transactions.iter().filter(is_of).collect()
}
