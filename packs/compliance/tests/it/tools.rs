//! The compliance tools on the sample: results, the report that is held back, and rejected input.

use std::os::unix::fs::symlink;

use holdshort_compliance::tools::CaseTools;
use holdshort_core::level::Level;
use holdshort_core::tool::Outcome;
use holdshort_testkit::bench::Bench;
use serde_json::{Value, json};

fn sample(name: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows/compliance/sample");
    std::fs::read(folder.join(name)).unwrap()
}

fn bench(input: Value) -> Bench {
    let bench = Bench::new(&CaseTools, input);
    for name in ["transactions.csv", "customers.csv", "watchlist.csv"] {
        bench.put(name, sample(name));
    }
    bench
}

fn input() -> Value {
    json!({ "task": "Look.", "case": "sample", "as_of": "2026-03-31" })
}

async fn done(bench: &Bench, tool: &str, arguments: Value) -> String {
    match bench.run(tool, arguments).await {
        Outcome::Done { text, .. } => text,
        other => panic!("{other:?}"),
    }
}

async fn failed(bench: &Bench, tool: &str, arguments: Value) -> String {
    match bench.run(tool, arguments).await {
        Outcome::Failed { text } => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn sums_and_findings_are_told() {
    let bench = bench(input());
    let text = done(&bench, "case_overview", json!({})).await;
    assert!(
        text.starts_with("12 customers, ") && text.contains("\n168 transactions, 2026-01-02 to "),
        "{text}"
    );
    let text = done(&bench, "case_findings", json!({ "rule": "structuring" })).await;
    assert!(text.starts_with("F3 structuring: customer 1, 12850.00 EUR, 90 % certain; rows "), "{text}");
    assert_eq!(
        done(&bench, "case_findings", json!({ "customer": 3, "rule": "pep" })).await,
        "nothing was found"
    );
    assert_eq!(done(&bench, "case_findings", json!({})).await.lines().count(), 12);
    let text =
        done(&bench, "case_query", json!({ "group_by": "kind", "customer": 2, "min_amount": 10000 })).await;
    assert_eq!(text, "cash: 1 transaction, in 12500.00 EUR, out 0.00 EUR");
    assert!(failed(&bench, "case_findings", json!({ "rule": "luck" })).await.starts_with("bad_arguments"));
    assert!(failed(&bench, "case_review", json!({ "force": true })).await.starts_with("bad_arguments"));
}

/// Tests a counterparty with the name of an input key, such as `query`. The key of the question is not redacted.
#[test]
fn what_is_asked_stays_what_is_asked_whoever_is_called_so() {
    let bench = bench(input());
    let rows = String::from_utf8(sample("transactions.csv")).unwrap();
    bench.put("transactions.csv", rows.replace("Thistle Payroll", "query"));
    let said = json!({ "query": "Who is query?", "Rowan Elder": 1, "as_of": "2026-03-31" });
    let said = said.as_object().unwrap().clone();
    let begun = holdshort_compliance::tools::prepare_case(&bench.at(""), "T123", said).unwrap().input;
    let asked = begun["query"].as_str().unwrap();
    assert!(asked.starts_with("Who is party "), "{asked}");
    assert_eq!(begun["customer 2"], 1, "{begun:?}");
}

#[tokio::test]
async fn a_report_is_held_where_a_rule_says_so() {
    let bench = bench(input());
    let Outcome::Held(held) = bench.run("case_review", json!({})).await else { panic!("not held") };
    assert_eq!((held.level, held.findings.len()), (Level::Critical, 7));
    let freezing = "Freezing of funds without delay (FATF Recommendations 6 and 7)".to_owned();
    assert!(held.implications.contains(&freezing), "{:?}", held.implications);
    let each_once: std::collections::BTreeSet<&String> = held.implications.iter().collect();
    assert_eq!(each_once.len(), held.implications.len(), "{:?}", held.implications);
    assert!(
        held.findings[2]
            .starts_with("sanctions: A name is similar to an entry of the sanctions list. (F9, F10)"),
        "{:?}",
        held.findings
    );
    assert_eq!(held.details["risk_percent"], 80);

    let quiet = Bench::new(&CaseTools, input());
    let rows = "id,time,customer,direction,kind,amount,currency,counterparty,country\nT,2026-03-01,C,out,card,5,EUR,,DE\n";
    quiet.put("transactions.csv", rows);
    quiet.put("customers.csv", "id,name,country,pep\nC,Ash,DE,no\n");
    quiet.put("watchlist.csv", "id,name,list\n");
    assert!(done(&quiet, "case_review", json!({})).await.contains("No rule held the report back."));
    // If a case has its own rules, the report is always held back.
    quiet.put("rules.yaml", holdshort_compliance::casework::Rules::text());
    let Outcome::Held(held) = quiet.run("case_review", json!({})).await else { panic!("not held") };
    assert_eq!(held.findings, ["own_rules: The case has its own rules."]);
    quiet.put("rules.yaml", "rules: none");
    assert!(failed(&quiet, "case_review", json!({})).await.starts_with("bad_case: rules.yaml: bad_rules: "));
}

#[tokio::test]
async fn what_is_no_case_is_refused() {
    let empty = Bench::new(&CaseTools, input());
    assert!(failed(&empty, "case_review", json!({})).await.starts_with("no_case: "));
    assert!(failed(&empty, "case_overview", json!({})).await.starts_with("no_case: "));
    let unnamed = Bench::new(&CaseTools, json!({ "task": "Look." }));
    assert_eq!(done(&unnamed, "case_review", json!({})).await, "");
    unnamed.put("customers.csv", sample("customers.csv"));
    let told = failed(&unnamed, "case_review", json!({})).await;
    assert!(
        told.contains("transactions.csv: missing_file.") && told.contains("watchlist.csv: missing_file."),
        "{told}"
    );

    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("x"), sample("watchlist.csv")).unwrap();
    let bench = bench(input());
    std::fs::remove_file(bench.at("watchlist.csv")).unwrap();
    symlink(elsewhere.path().join("x"), bench.at("watchlist.csv")).unwrap();
    assert!(failed(&bench, "case_review", json!({})).await.contains("watchlist.csv: link."));
    let early = self::bench(json!({ "task": "Look.", "as_of": "2026-01-01" }));
    assert!(failed(&early, "case_overview", json!({})).await.contains("future_date"));
    let wrong = self::bench(json!({ "task": "Look.", "as_of": "soon" }));
    assert!(failed(&wrong, "case_overview", json!({})).await.starts_with("bad_input"));
}
