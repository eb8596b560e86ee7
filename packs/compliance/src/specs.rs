//! Specs of the compliance tools for models: names, descriptions, JSON Schemas.

use holdshort_core::tool::Spec;
use holdshort_tools::reading_tool;
use serde_json::json;

use crate::casework::{GROUPS, RuleId};

/// Returns the specs of the tools. Results of these tools hold sums and findings, never a name.
pub(crate) fn specs() -> Vec<Spec> {
    let rules: Vec<&str> = RuleId::ALL.iter().map(|id| id.name()).collect();
    let number = |description: &str| json!({"type": "integer", "minimum": 1, "description": description});
    vec![
        reading_tool(
            "case_overview",
            "Returns an overview of the case in the workspace: counts of customers, counterparties and \
             transactions, with their days, kinds, currencies and countries. People have numbers instead of \
             names."
                .into(),
            &[],
            &json!({}),
        ),
        reading_tool(
            "case_findings",
            "Returns the findings of the rules in the case. A finding has its rule, its subject (`customer \
             3`, `party 7`), amount, confidence and rows. Never compute a finding \
             yourself."
                .into(),
            &[],
            &json!({
                "rule": {"enum": rules, "description": "Findings of one rule."},
                "customer": number("Findings about one customer, by number."),
            }),
        ),
        reading_tool(
            "case_query",
            "Returns sums of the transactions of the case, one line for each group, largest first.".into(),
            &["group_by"],
            &json!({
                "group_by": {"enum": GROUPS, "description": "Key of the groups."},
                "customer": number("Only transactions of one customer, by number."),
                "party": number("Only transactions with one counterparty, by number."),
                "direction": {"enum": ["in", "out"], "description": "Only incoming or outgoing money."},
                "kind": {"type": "string", "description": "Only of one kind, such as `cash`."},
                "country": {"type": "string", "pattern": "^[A-Z]{2}$", "description": "Only with one country, such as `DE`."},
                "min_amount": number("Minimum amount, in units of the base currency."),
            }),
        ),
        reading_tool(
            "case_review",
            "Returns the report of the case. If a rule holds the report back, a person is asked, and it is \
             returned after the release."
                .into(),
            &[],
            &json!({}),
        ),
    ]
}
