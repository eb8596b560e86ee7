//! Sums of transactions, grouped by a key. An agent asks for sums and never sees rows.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::casework::case::{Case, Direction, Transaction};
use crate::casework::findings::Subject;
use crate::casework::limits;
use crate::casework::report::counted;
use crate::casework::rules::Rules;
use crate::casework::value::{day_of, money};

/// Keys by which transactions can be grouped for a sum.
pub const GROUPS: [&str; 7] =
    ["customer", "party", "country", "kind", "currency", "day", "customer_and_party"];

/// Request of an agent for sums of transactions: the transactions to add up, and the key by which they are grouped.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    pub group_by: String,
    /// Number of the customer whose transactions are added up, from 1.
    pub customer: Option<usize>,
    pub party: Option<usize>,
    /// Direction of the transactions to add up: `in` or `out`.
    pub direction: Option<String>,
    pub kind: Option<String>,
    pub country: Option<String>,
    /// Minimum amount of the transactions to add up, in units of the base currency.
    pub min_amount: Option<u32>,
}

/// Returns one line per group of transactions, the greatest sum first. Further groups after [`limits::QUERY_LINES`] are
/// only counted.
///
/// # Errors
/// Returns an error if the query is invalid.
pub fn query(case: &Case, rules: &Rules, query: &Query) -> Result<Vec<String>, String> {
    if !GROUPS.contains(&&*query.group_by) {
        return Err(format!("`group_by` must be one of {}", GROUPS.join(", ")));
    }
    let direction = match query.direction.as_deref() {
        None => None,
        Some("in") => Some(Direction::In),
        Some("out") => Some(Direction::Out),
        Some(_) => return Err("`direction` must be `in` or `out`".to_owned()),
    };
    let least = i64::from(query.min_amount.unwrap_or_default()) * 100;
    let wanted = |one: &&Transaction| {
        query.customer.is_none_or(|number| one.customer + 1 == number)
            && query.party.is_none_or(|number| one.party.is_some_and(|party| party + 1 == number))
            && direction.is_none_or(|direction| one.direction == direction)
            && query.kind.as_ref().is_none_or(|kind| one.kind == kind)
            && query.country.as_ref().is_none_or(|country| one.country == country.as_bytes())
            && one.amount >= least
    };
    let mut groups: BTreeMap<String, (usize, i64, i64)> = BTreeMap::new();
    for one in case.transactions.iter().filter(wanted) {
        let (count, received, sent) = groups.entry(group(one, &query.group_by)).or_default();
        *count += 1;
        let sum = if one.direction == Direction::In { received } else { sent };
        *sum = sum.saturating_add(one.amount);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(name, (_, received, sent))| {
        (std::cmp::Reverse(received.saturating_add(*sent)), name.clone())
    });
    let more = groups.len().saturating_sub(limits::QUERY_LINES);
    let base = &rules.base;
    let line = |(name, (count, received, sent)): &(String, (usize, i64, i64))| {
        let count = counted(*count, "transaction", "transactions");
        format!("{name}: {count}, in {} {base}, out {} {base}", money(*received), money(*sent))
    };
    let mut lines: Vec<String> = groups.iter().take(limits::QUERY_LINES).map(line).collect();
    if lines.is_empty() {
        lines.push("no transactions".to_owned());
    }
    if more > 0 {
        let more = counted(more, "more group is", "more groups are");
        lines.push(format!("{more} groups are not listed; narrow the query"));
    }
    Ok(lines)
}

fn group(one: &Transaction, by: &str) -> String {
    let customer = || Subject::Customer(one.customer + 1).to_string();
    let party =
        || one.party.map_or_else(|| "nobody named".to_owned(), |it| Subject::Party(it + 1).to_string());
    match by {
        "customer" => customer(),
        "party" => party(),
        "country" => String::from_utf8_lossy(&one.country).into_owned(),
        "kind" => one.kind.to_owned(),
        "currency" => one.currency.clone(),
        "day" => day_of(one.at).to_string(),
        _ => format!("{} and {}", customer(), party()),
    }
}
