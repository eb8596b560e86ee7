//! The report about a case, as text and as data. Both contain findings and sums, but no text from the tables of the
//! case.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use jiff::civil::Date;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::casework::case::{Case, Direction, hex};
use crate::casework::findings::{Examination, Finding, Gravity};
use crate::casework::limits;
use crate::casework::names::Name;
use crate::casework::rules::{RuleId, Rules};
use crate::casework::value::{day_of, money};

/// The report about a case, which people review before its release.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Title of the report in one line.
    pub title: String,
    /// Text of the report in Markdown. It includes a digest of the report's details in the form of [`as_file`].
    pub text: String,
    /// Reasons why a person must review the report before its release, one line each. Empty if no review is needed.
    pub held: Vec<String>,
    /// Regulatory consequences of the findings in the report, without duplicates and in the order of the rules.
    pub implications: Vec<String>,
    pub gravity: Gravity,
    pub details: Value,
}

/// Returns the facts about a compliance case that agents receive before they ask for sums.
pub fn overview(case: &Case, rules: &Rules) -> Vec<String> {
    let of = |direction: Direction| {
        let of = case.transactions.iter().filter(|one| one.direction == direction);
        of.fold((0_usize, 0_i64), |(count, sum), one| (count + 1, sum.saturating_add(one.amount)))
    };
    let ((received, sum_in), (sent, sum_out)) = (of(Direction::In), of(Direction::Out));
    let words = |each: fn(&crate::casework::case::Transaction) -> String| {
        let words: BTreeSet<String> = case.transactions.iter().map(each).collect();
        words.into_iter().collect::<Vec<_>>().join(", ")
    };
    let days = case.transactions.first().zip(case.transactions.last());
    let days = days.map_or_else(
        || "no days".to_owned(),
        |(first, last)| format!("{} to {}", day_of(first.at), day_of(last.at)),
    );
    let base = &rules.base;
    vec![
        format!(
            "{}, {}, {} of the watch list",
            counted(case.customers.len(), "customer", "customers"),
            counted(case.parties.len(), "counterparty", "counterparties"),
            counted(case.watched.len(), "entry", "entries")
        ),
        format!("{}, {days}", counted(case.transactions.len(), "transaction", "transactions")),
        format!(
            "in: {}, {} {base}; out: {}, {} {base}",
            counted(received, "transaction", "transactions"),
            money(sum_in),
            counted(sent, "transaction", "transactions"),
            money(sum_out)
        ),
        format!("kinds: {}", words(|one| one.kind.to_owned())),
        format!("currencies: {}", words(|one| one.currency.clone())),
        format!("countries: {}", words(|one| String::from_utf8_lossy(&one.country).into_owned())),
    ]
}

/// Returns a warning for each script of names in the case in which the watch list has no name. Names in different
/// scripts are matched less reliably.
pub fn warnings(case: &Case) -> Vec<String> {
    let listed: BTreeSet<&str> =
        case.watched.iter().flat_map(|entry| &entry.names).filter_map(Name::main_script).collect();
    if listed.is_empty() {
        return Vec::new();
    }
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for script in case.customers.iter().filter_map(|customer| customer.words.main_script()) {
        counts.entry(script).or_default().0 += 1;
    }
    for script in case.parties.iter().filter_map(|party| party.words.main_script()) {
        counts.entry(script).or_default().1 += 1;
    }
    let listed_are = listed.iter().map(|script| plain(script)).collect::<Vec<_>>().join(", ");
    let others = counts.iter().filter(|(script, _)| !listed.contains(*script));
    let warning = |(script, (customers, parties)): (&&str, &(usize, usize))| {
        let customers = counted(*customers, "customer", "customers");
        let parties = counted(*parties, "counterparty", "counterparties");
        format!(
            "The names of {customers} and {parties} are in the script {script}, but the watch list only has names in \
             {listed_are}. Transliterated names match less reliably: add aliases in the script {script} to the watch \
             list."
        )
    };
    others.map(warning).collect()
}

/// Formats a number and the noun that belongs to it: `1 transaction`, `2 transactions`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Formats a finding in one line. `number` is its position among the findings of the case, from 1.
pub fn format_finding(finding: &Finding, number: usize, rules: &Rules) -> String {
    let Finding { rule, subject, amount, confidence, detail, .. } = finding;
    let (amount, base) = (money(*amount), &rules.base);
    let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    let rows = in_rows(&finding.rows);
    format!("F{number} {}: {subject}, {amount} {base}, {confidence} % certain{detail}; {rows}", rule.name())
}

/// Formats the row numbers of a finding: `row 3`, `rows 3, 5, 9 and 4 more`.
fn in_rows(rows: &[u64]) -> String {
    if rows.is_empty() {
        return "no transactions".to_owned();
    }
    let listed: Vec<String> = rows.iter().take(limits::ROWS).map(u64::to_string).collect();
    let more = rows.len().saturating_sub(limits::ROWS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let noun = if rows.len() == 1 { "row" } else { "rows" };
    format!("{noun} {}{more}", listed.join(", "))
}

/// Returns the findings that the report lists, with their numbers: all, or the gravest if there are too many. Also
/// returns the number of findings left out, by rule.
fn listed<'e>(
    examined: &'e Examination,
    rules: &Rules,
) -> (Vec<(usize, &'e Finding)>, BTreeMap<&'static str, usize>) {
    let mut all: Vec<(usize, &Finding)> =
        examined.findings.iter().enumerate().map(|(at, finding)| (at + 1, finding)).collect();
    let weight = |id: RuleId| rules.rule(id).map_or(0, |rule| rule.weight);
    all.sort_by_key(|(number, finding)| {
        (std::cmp::Reverse(weight(finding.rule)), std::cmp::Reverse(finding.amount), *number)
    });
    let mut rest = BTreeMap::new();
    for (_, finding) in all.split_off(all.len().min(limits::FINDINGS)) {
        *rest.entry(finding.rule.name()).or_default() += 1;
    }
    all.sort_by_key(|(number, _)| *number);
    (all, rest)
}

/// Builds the report about a compliance case.
pub fn report(case: &Case, examined: &Examination, rules: &Rules, as_of: Date) -> Report {
    let (findings, not_listed) = listed(examined, rules);
    let details = details(case, examined, rules, as_of, (&findings, &not_listed));
    let findings_are = counted(examined.findings.len(), "finding", "findings");
    let title = format!("Compliance report: {findings_are}, risk {} %", examined.risk);
    let mut text = format!("# Compliance report\n\n- Day of the case: {as_of}\n");
    for line in overview(case, rules) {
        let _ = writeln!(text, "- {line}");
    }
    let _ = writeln!(
        text,
        "- Rules: version {}{}",
        plain(&rules.version),
        if rules.are_own { ", from the case" } else { "" }
    );
    let _ = writeln!(text, "- Risk: {} %, {}", examined.risk, gravity(examined.gravity));
    for warning in warnings(case) {
        let _ = writeln!(text, "- Warning: {warning}");
    }
    text.push_str("\n## Why it was held back\n\n");
    let held: Vec<String> = examined.pause.iter().map(reason).collect();
    if held.is_empty() {
        text.push_str("No rule held the report back.\n");
    }
    for line in &held {
        let _ = writeln!(text, "- {line}");
    }
    text.push_str("\n## Findings\n\n");
    if findings.is_empty() {
        text.push_str("The rules found nothing.\n");
    }
    for (number, finding) in &findings {
        let _ = writeln!(text, "- {}", format_finding(finding, *number, rules));
    }
    for (rule, count) in &not_listed {
        let _ = writeln!(text, "- {count} more of {rule}, not listed");
    }
    text.push_str("\n## Rules\n\n");
    let met: BTreeSet<RuleId> = examined.findings.iter().map(|finding| finding.rule).collect();
    for rule in rules.rules.iter().filter(|rule| met.contains(&rule.id)) {
        let numbers = rule.describe_numbers();
        let numbers = if numbers.is_empty() { String::new() } else { format!(" ({numbers})") };
        let _ = writeln!(
            text,
            "- {}: {}{numbers} Source: {}",
            rule.id.name(),
            plain(&rule.description),
            plain(&rule.source)
        );
    }
    text.push_str(
        "\n## How to read it\n\nPeople have numbers: customer 3 is the third of customers.csv, party 7 is the seventh \
         counterparty in transactions.csv. Rows are lines of transactions.csv. Amounts are in the base currency, at \
         the rates of the rules.\n\n",
    );
    for (name, digest) in &case.files {
        let _ = writeln!(text, "- {name}: SHA-256 {digest}");
    }
    let _ = writeln!(text, "- findings.json: SHA-256 {}", hex(&Sha256::digest(as_file(&details))));
    let mut implications: Vec<String> = Vec::new();
    for rule in rules.rules.iter().filter(|rule| met.contains(&rule.id)) {
        for text in rule.implications.iter().map(|text| plain(text)) {
            if !implications.contains(&text) {
                implications.push(text);
            }
        }
    }
    Report { title, text, held, implications, gravity: examined.gravity, details }
}

/// Converts a text of the rules to one line of at most 300 characters, without control characters.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

const fn gravity(gravity: Gravity) -> &'static str {
    match gravity {
        Gravity::Low => "low",
        Gravity::Medium => "medium",
        Gravity::High => "high",
        Gravity::Critical => "critical",
    }
}

fn reason(reason: &crate::casework::findings::Reason) -> String {
    let numbers: Vec<String> =
        reason.findings.iter().take(limits::ROWS).map(|number| format!("F{number}")).collect();
    let more = reason.findings.len().saturating_sub(limits::ROWS);
    let of = match (numbers.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!(" ({})", numbers.join(", ")),
        (false, more) => format!(" ({} and {more} more)", numbers.join(", ")),
    };
    format!("{}: {}{of}", plain(&reason.id), plain(&reason.description))
}

fn details(
    case: &Case,
    examined: &Examination,
    rules: &Rules,
    as_of: Date,
    (findings, not_listed): (&[(usize, &Finding)], &BTreeMap<&'static str, usize>),
) -> Value {
    let finding = |(number, finding): &(usize, &Finding)| {
        let rows: Vec<u64> = finding.rows.iter().copied().take(limits::ROWS).collect();
        json!({
            "id": format!("F{number}"),
            "rule": finding.rule,
            "subject": finding.subject,
            "amount": money(finding.amount),
            "confidence_percent": finding.confidence,
            "row_count": finding.rows.len(),
            "rows": rows,
            "detail": finding.detail,
        })
    };
    let met: BTreeSet<RuleId> = examined.findings.iter().map(|finding| finding.rule).collect();
    let sources: BTreeSet<String> =
        rules.rules.iter().filter(|rule| met.contains(&rule.id)).map(|rule| plain(&rule.source)).collect();
    let pause = |reason: &crate::casework::findings::Reason| {
        let numbers: Vec<String> =
            reason.findings.iter().take(limits::ROWS).map(|number| format!("F{number}")).collect();
        json!({ "id": plain(&reason.id), "description": plain(&reason.description), "findings": numbers })
    };
    json!({
        "as_of": as_of.to_string(),
        "base_currency": plain(&rules.base),
        "rules_version": plain(&rules.version),
        "own_rules": rules.are_own,
        "files": case.files,
        "transactions": case.transactions.len(),
        "customers": case.customers.len(),
        "parties": case.parties.len(),
        "watched": case.watched.len(),
        "risk_percent": examined.risk,
        "gravity": examined.gravity,
        "warnings": warnings(case),
        "held_because": examined.pause.iter().map(pause).collect::<Vec<_>>(),
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        "not_listed": not_listed,
        "regulatory_implications": sources,
    })
}

/// Formats the details of a report for a file: sorted keys, indentation, and a line break at the end.
pub fn as_file(details: &Value) -> String {
    let text = serde_json::to_string_pretty(&sorted(details)).unwrap_or_default();
    format!("{text}\n")
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let by_name: BTreeMap<&String, &Value> = members.iter().collect();
            Value::Object(
                by_name.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
