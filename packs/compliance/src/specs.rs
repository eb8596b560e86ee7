//! Descriptions of the compliance tools for models: names, texts, and JSON Schemas of the parameters.

use holdshort_core::tool::Spec;
use holdshort_tools::reading_tool;
use serde_json::json;

use crate::casework::{GROUPS, RuleId};

/// Returns the descriptions of the compliance tools, whose results contain sums and findings, but never a name.
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
            "Returns the findings of the rules in the case. Each finding states its rule, its subject \
             (`customer 3`, `party 7`), its amount, its confidence and its rows. Never compute a finding \
             yourself."
                .into(),
            &[],
            &json!({
                "rule": {"enum": rules, "description": "Returns only the findings of this rule."},
                "customer": number("Number of a customer. Returns only the findings about this customer."),
            }),
        ),
        reading_tool(
            "case_query",
            "Returns sums of the transactions of the case, one line for each group, largest first.".into(),
            &["group_by"],
            &json!({
                "group_by": {"enum": GROUPS, "description": "Key by which transactions are grouped."},
                "customer": number("Number of a customer. Sums only the transactions of this customer."),
                "party": number("Number of a counterparty. Sums only the transactions with this counterparty."),
                "direction": {"enum": ["in", "out"], "description": "Direction of the money. Sums only incoming or only outgoing transactions."},
                "kind": {"type": "string", "description": "Kind of transaction, such as `cash`. Sums only transactions of this kind."},
                "country": {"type": "string", "pattern": "^[A-Z]{2}$", "description": "Country code, such as `DE`. Sums only the transactions with this country."},
                "min_amount": number("Minimum amount of a transaction, in units of the base currency."),
            }),
        ),
        reading_tool(
            "case_review",
            "Returns the report of the case. If a rule requires a review, a person reviews the report first, \
             and the tool returns the report after its release."
                .into(),
            &[],
            &json!({}),
        ),
    ]
}
