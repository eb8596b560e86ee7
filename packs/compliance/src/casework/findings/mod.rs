//! The findings of a case. A function implements each rule. Each finding lists the rows of the transactions file that
//! prove it.

mod behaviour;
mod lists;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Serialize, Serializer};

pub use self::lists::similarity;
use crate::casework::case::{Case, Transaction};
use crate::casework::rules::{Rule, RuleId, Rules};

/// Subject of a finding: a customer or a counterparty, by a number from 1 and never by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The subject is a customer, numbered in the order of the customer table.
    Customer(usize),
    /// The subject is a counterparty, numbered in the order of first transactions.
    Party(usize),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Customer(number) => write!(f, "customer {number}"),
            Self::Party(number) => write!(f, "party {number}"),
        }
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A fact about a customer or a counterparty that a rule has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub rule: RuleId,
    pub subject: Subject,
    /// Line numbers, in the transactions file, of the rows that prove the finding, in ascending order.
    pub rows: Vec<u64>,
    /// Amount that the finding is about, in hundredths of the base currency.
    pub amount: i64,
    /// Certainty of the finding, in percent.
    pub confidence: u32,
    /// Details of the finding such as countries, kinds of transactions, or a row of the watch list. They consist only
    /// of numbers and words from given lists, and never of text from the case.
    pub detail: String,
}

impl Finding {
    fn new(rule: &Rule, subject: Subject, transactions: &[&Transaction]) -> Self {
        let mut rows: Vec<u64> = transactions.iter().map(|one| one.row).collect();
        rows.sort_unstable();
        Self {
            rule: rule.id,
            subject,
            rows,
            amount: sum(transactions),
            confidence: rule.confidence,
            detail: String::new(),
        }
    }
}

/// Gravity of a compliance case, computed from its findings and its risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    Low,
    Medium,
    High,
    Critical,
}

/// Reason why a person must review the report about a case before the report is released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    pub id: String,
    pub description: String,
    /// Numbers of the findings that are the reason for the review, from 1. Empty if the reason is the risk of the case,
    /// or that the case has its own rules.
    pub findings: Vec<usize>,
}

/// Findings of a compliance case, with the risk and the gravity of the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// Findings of the case, sorted by rule, then by subject, then by first row.
    pub findings: Vec<Finding>,
    /// Risk of the case in percent: the highest of the risks of its customers and counterparties.
    pub risk: u32,
    pub gravity: Gravity,
    /// Reasons why a person must review the report about the case before its release. Empty if no review is needed.
    pub pause: Vec<Reason>,
}

/// Risk in percent from which the gravity of a case is high (contract D7).
const HIGH_RISK: u32 = 75;

/// Applies the rules to a case. Returns the findings, with the risk and the gravity of the case.
pub fn examine(case: &Case, rules: &Rules) -> Examination {
    let mut findings: Vec<Finding> = Vec::new();
    let dictionary = rules.names.dictionary();
    for rule in &rules.rules {
        findings.extend(match rule.id {
            RuleId::LargeCash => behaviour::large_cash(case, rule),
            RuleId::Structuring => behaviour::structuring(case, rule),
            RuleId::RoundAmounts => behaviour::round_amounts(case, rule),
            RuleId::Velocity => behaviour::velocity(case, rule),
            RuleId::PassThrough => behaviour::pass_through(case, rule),
            RuleId::HighRiskCountry => behaviour::high_risk_country(case, rule, &rules.high_risk_countries),
            RuleId::NovelTechnique => behaviour::novel_technique(case, rule, &rules.novel_kinds),
            RuleId::Sanctions => lists::sanctions(case, rule, dictionary),
            RuleId::Pep => lists::pep(case, rule, dictionary),
        });
    }
    findings.sort_by(|one, other| {
        (one.rule, one.subject, &one.rows).cmp(&(other.rule, other.subject, &other.rows))
    });
    let risk = risk(&findings, rules);
    let pause = pause(&findings, risk, rules);
    let gravity = if findings.iter().any(|finding| finding.rule == RuleId::Sanctions) {
        Gravity::Critical
    } else if risk >= HIGH_RISK {
        Gravity::High
    } else if pause.is_empty() {
        Gravity::Low
    } else {
        Gravity::Medium
    };
    Examination { findings, risk, gravity, pause }
}

fn risk(findings: &[Finding], rules: &Rules) -> u32 {
    let mut met: BTreeMap<Subject, BTreeSet<RuleId>> = BTreeMap::new();
    for finding in findings {
        met.entry(finding.subject).or_default().insert(finding.rule);
    }
    let weight = |id: &RuleId| rules.rule(*id).map_or(0, |rule| rule.weight);
    met.values().map(|met| met.iter().map(weight).sum::<u32>().min(100)).max().unwrap_or_default()
}

fn pause(findings: &[Finding], risk: u32, rules: &Rules) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if rules.are_own {
        let description = "The case has its own rules.".to_owned();
        reasons.push(Reason { id: "own_rules".to_owned(), description, findings: Vec::new() });
    }
    for pause in &rules.pause {
        let is_met = |finding: &Finding| {
            (pause.rules.is_empty() || pause.rules.contains(&finding.rule))
                && pause.min_amount.is_none_or(|least| finding.amount >= i64::from(least) * 100)
                && pause.below_confidence.is_none_or(|below| finding.confidence < below)
        };
        let of_findings =
            !pause.rules.is_empty() || pause.min_amount.is_some() || pause.below_confidence.is_some();
        let met: Vec<usize> = if of_findings {
            findings.iter().enumerate().filter(|(_, finding)| is_met(finding)).map(|(at, _)| at + 1).collect()
        } else {
            Vec::new()
        };
        let holds = (!of_findings || !met.is_empty()) && pause.min_risk.is_none_or(|least| risk >= least);
        if holds {
            let (id, description) = (pause.id.clone(), pause.description.clone());
            reasons.push(Reason { id, description, findings: met });
        }
    }
    reasons
}

fn sum(transactions: &[&Transaction]) -> i64 {
    transactions.iter().fold(0, |sum: i64, one| sum.saturating_add(one.amount))
}

/// Returns, for each customer of the case, the transactions for which `wanted` returns true, sorted by time.
fn by_customer(
    case: &Case,
    wanted: impl Fn(&Transaction) -> bool,
) -> impl Iterator<Item = (Subject, Vec<&Transaction>)> {
    let mut of: BTreeMap<usize, Vec<&Transaction>> = BTreeMap::new();
    for one in case.transactions.iter().filter(|one| wanted(one)) {
        of.entry(one.customer).or_default().push(one);
    }
    of.into_iter().map(|(customer, of)| (Subject::Customer(customer + 1), of))
}
