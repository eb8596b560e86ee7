//! The files of the compliance workflow in the binary, including the sample for a demo.

use holdshort_workflow::Shipped;

use crate::WORKFLOW;

pub(crate) static SHIPPED: [Shipped; 1] = [Shipped {
    name: WORKFLOW,
    aliases: &["fraud_analysis", "fraud_investigation"],
    shows: "A crew reviews transactions. Its report is computed by rules. If a rule requires a review, the \
    report waits for your approval.",
    sample_is: "a generated case",
    folder: "case",
    workflow: include_str!("../workflows/compliance/workflow.yaml"),
    rehearsal: Some(include_str!("../workflows/compliance/rehearsal.yaml")),
    readme: include_str!("../workflows/compliance/README.md"),
    input: include_str!("../workflows/compliance/input.json"),
    sample: &[
        ("customers.csv", include_bytes!("../workflows/compliance/sample/customers.csv")),
        ("transactions.csv", include_bytes!("../workflows/compliance/sample/transactions.csv")),
        ("watchlist.csv", include_bytes!("../workflows/compliance/sample/watchlist.csv")),
    ],
}];
