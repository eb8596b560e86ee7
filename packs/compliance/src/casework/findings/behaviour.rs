//! Rules about what customers do.

use std::collections::BTreeSet;

use super::{Finding, Subject, by_customer, sum};
use crate::casework::case::{Case, Direction, Transaction};
use crate::casework::rules::Rule;

/// Finds cash transactions of at least the rule's amount. There is one finding per customer with such transactions.
pub(super) fn large_cash(case: &Case, rule: &Rule) -> Vec<Finding> {
    let is_large = |one: &Transaction| one.kind == "cash" && one.amount >= rule.amount();
    by_customer(case, is_large).map(|(subject, found)| Finding::new(rule, subject, &found)).collect()
}

pub(super) fn structuring(case: &Case, rule: &Rule) -> Vec<Finding> {
    let is_below =
        |one: &Transaction| one.kind == "cash" && (rule.floor()..rule.amount()).contains(&one.amount);
    in_windows(case, rule, is_below, |found| found.len() >= rule.count() && sum(found) >= rule.amount())
}

pub(super) fn round_amounts(case: &Case, rule: &Rule) -> Vec<Finding> {
    let is_round =
        |one: &Transaction| one.written % rule.multiple().max(1) == 0 && one.amount >= rule.floor();
    in_windows(case, rule, is_round, |found| found.len() >= rule.count())
}

pub(super) fn velocity(case: &Case, rule: &Rule) -> Vec<Finding> {
    in_windows(case, rule, |_| true, |found| found.len() >= rule.count() && sum(found) >= rule.amount())
}

/// Finds customers who receive money and send it on within the rule's number of hours.
pub(super) fn pass_through(case: &Case, rule: &Rule) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (subject, of) in by_customer(case, |_| true) {
        let mut at = 0;
        while at < of.len() {
            let window = window(&of[at..], rule.seconds());
            let is = |direction: Direction| {
                window.iter().copied().filter(|one| one.direction == direction).collect::<Vec<_>>()
            };
            let (received, sent) = (sum(&is(Direction::In)), sum(&is(Direction::Out)));
            let nearly_all = i128::from(sent) * 100 >= i128::from(received) * i128::from(rule.share());
            if of[at].direction == Direction::In && received >= rule.amount() && nearly_all {
                let finding = Finding::new(rule, subject, window);
                findings.push(Finding { amount: received.min(sent), ..finding });
                at += window.len();
            } else {
                at += 1;
            }
        }
    }
    findings
}

pub(super) fn high_risk_country(case: &Case, rule: &Rule, countries: &BTreeSet<String>) -> Vec<Finding> {
    let code = |one: &Transaction| String::from_utf8_lossy(&one.country).into_owned();
    of_words(case, rule, |one| Some(code(one)).filter(|code| countries.contains(code)))
}

pub(super) fn novel_technique(case: &Case, rule: &Rule, kinds: &BTreeSet<String>) -> Vec<Finding> {
    of_words(case, rule, |one| Some(one.kind.to_owned()).filter(|kind| kinds.contains(kind)))
}

/// Returns one finding for each customer with transactions for which `word` returns a word. The detail of the finding
/// lists these words.
fn of_words(case: &Case, rule: &Rule, word: impl Fn(&Transaction) -> Option<String>) -> Vec<Finding> {
    let found = by_customer(case, |one| word(one).is_some());
    let finding = |(subject, of): (Subject, Vec<&Transaction>)| {
        let words: BTreeSet<String> = of.iter().filter_map(|one| word(one)).collect();
        let detail = words.into_iter().collect::<Vec<_>>().join(", ");
        Finding { detail, ..Finding::new(rule, subject, &of) }
    };
    found.map(finding).collect()
}

/// Returns one finding for each period in which a customer's transactions show a pattern. A period begins with a
/// transaction, and lasts the rule's number of hours. After a finding, the next period begins after the end of the last
/// one.
fn in_windows(
    case: &Case,
    rule: &Rule,
    wanted: impl Fn(&Transaction) -> bool,
    shows: impl Fn(&[&Transaction]) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (subject, of) in by_customer(case, wanted) {
        let mut at = 0;
        while at < of.len() {
            let window = window(&of[at..], rule.seconds());
            if shows(window) {
                findings.push(Finding::new(rule, subject, window));
                at += window.len();
            } else {
                at += 1;
            }
        }
    }
    findings
}

/// Returns the leading transactions of a customer that are at most `seconds` after the first one.
fn window<'w, 'c>(of: &'w [&'c Transaction], seconds: i64) -> &'w [&'c Transaction] {
    let Some(first) = of.first() else { return of };
    &of[..of.partition_point(|one| one.at - first.at <= seconds)]
}
