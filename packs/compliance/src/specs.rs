//! Specs of the tools of a case for models: names, descriptions, JSON Schemas.

use holdshort_core::tool::Spec;
use holdshort_tools::reading_tool;
use serde_json::json;

use crate::casework::{GROUPS, RuleId};

/// Returns the specs of the tools. Their results hold sums and findings, never a name.
pub(crate) fn specs() -> Vec<Spec> {
    let rules: Vec<&str> = RuleId::ALL.iter().map(|id| id.name()).collect();
    let number = |description: &str| json!({"type": "integer", "minimum": 1, "description": description});
    vec![
        reading_tool(
            "case_overview",
            "Returns what the case in the workspace holds: how many customers, other sides and transactions, of which days, \
             kinds, currencies and countries. People have numbers."
                .into(),
            &[],
            &json!({}),
        ),
        reading_tool(
            "case_findings",
            "Returns what the rules found in the case: rule, whom it is about (`customer 3`, `party 7`), the amount at stake, \
             how certain it is, and the rows that show it. Never compute a finding yourself."
                .into(),
            &[],
            &json!({
                "rule": {"enum": rules, "description": "Of one rule."},
                "customer": number("About one customer, by number."),
            }),
        ),
        reading_tool(
            "case_query",
            "Returns sums of the transactions of the case, a line for each group, the greatest first.".into(),
            &["group_by"],
            &json!({
                "group_by": {"enum": GROUPS, "description": "What they are grouped by."},
                "customer": number("Of one customer, by number."),
                "party": number("With one other side, by number."),
                "direction": {"enum": ["in", "out"], "description": "Only money that came in, or left."},
                "kind": {"type": "string", "description": "Only of one kind, such as `cash`."},
                "country": {"type": "string", "pattern": "^[A-Z]{2}$", "description": "Only with one country, such as `DE`."},
                "min_amount": number("Only of at least so many units of the base currency."),
            }),
        ),
        reading_tool(
            "case_review",
            "Brings the report of the case. Where one of its rules holds it back a person is asked, and it comes when they \
             have released it."
                .into(),
            &[],
            &json!({}),
        ),
    ]
}
