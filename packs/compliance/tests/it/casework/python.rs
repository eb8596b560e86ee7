//! Comparison with Python: an independent implementation of the findings, and the generator of the sample.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdshort_compliance::casework::{Examination, examine, read};
use serde_json::{Value, json};

use crate::casework::generated::Generated;
use crate::casework::sample::{sample, table};
use crate::casework::support::{AS_OF, rules};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name)
}

fn ours(examined: &Examination) -> Value {
    let pause: Vec<Value> = examined.pause.iter().map(|reason| json!([reason.id, reason.findings])).collect();
    json!({ "findings": examined.findings, "risk": examined.risk, "gravity": examined.gravity, "pause": pause })
}

#[test]
fn an_independent_implementation_has_the_same_findings() {
    let generated: Vec<Generated> = (0..120).map(Generated::from_seed).collect();
    let mut cases = vec![(table("transactions.csv"), table("customers.csv"), table("watchlist.csv"))];
    cases.extend(generated.into_iter().map(|it| (it.transactions, it.customers, it.watched)));
    let given: Vec<Value> = cases
        .iter()
        .map(|(transactions, customers, watched)| {
            json!({
                "transactions": transactions, "customers": customers, "watchlist": watched,
                "rules": rules(), "as_of": AS_OF.to_string(),
            })
        })
        .collect();
    let mut child = Command::new("python3")
        .arg(script("reference.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs python3 on the path");
    child.stdin.take().unwrap().write_all(Value::Array(given).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let theirs: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let (mut found, mut met) = (0, std::collections::BTreeSet::new());
    for (seed, ((transactions, customers, watched), theirs)) in cases.iter().zip(&theirs).enumerate() {
        let case = read(transactions.as_bytes(), customers.as_bytes(), watched.as_bytes(), &rules(), AS_OF);
        let examined = examine(&case.unwrap(), &rules());
        assert_eq!(&ours(&examined), theirs, "case {seed}");
        found += examined.findings.len();
        met.extend(examined.findings.iter().map(|finding| finding.rule));
    }
    // Every rule must have enough findings for the comparison to be meaningful.
    assert!(found > 1_000 && met.len() == 9, "{found} findings of {} rules", met.len());
}

#[test]
fn the_sample_is_what_its_script_writes() {
    let folder = std::env::temp_dir().join(format!("holdshort-casework-{}", std::process::id()));
    let made = Command::new("python3").arg(script("sample.py")).arg(&folder).status().unwrap();
    assert!(made.success());
    for (name, bytes) in sample() {
        assert_eq!(std::fs::read(folder.join(name)).unwrap(), bytes, "{name}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
