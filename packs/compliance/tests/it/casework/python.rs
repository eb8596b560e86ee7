//! Comparison with Python: an independent implementation of the findings, and the generator of the sample.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use any_ascii::any_ascii_char;
use holdshort_compliance::casework::{Examination, examine, read, similarity};
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;

use crate::casework::generated::Generated;
use crate::casework::names::pairs;
use crate::casework::sample::{sample, table};
use crate::casework::support::{AS_OF, rules};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name)
}

fn ours(examined: &Examination) -> Value {
    let pause: Vec<Value> = examined.pause.iter().map(|reason| json!([reason.id, reason.findings])).collect();
    json!({ "findings": examined.findings, "risk": examined.risk, "gravity": examined.gravity, "pause": pause })
}

/// Returns the transliteration of all letters that are not ASCII. The library's table is given to Python and not
/// compared.
fn ascii_of(texts: &[&str]) -> Value {
    let folded = texts.iter().map(|text| text.nfkc().collect::<String>().to_lowercase());
    let letters = folded.flat_map(|text| text.nfc().chain(text.nfd()).collect::<Vec<_>>());
    let letters = letters.filter(|letter| !letter.is_ascii());
    letters.map(|letter| (letter.to_string(), Value::from(any_ascii_char(letter)))).collect()
}

/// Runs a script with JSON on its standard input, and returns the JSON that it writes.
fn python<T: serde::de::DeserializeOwned>(name: &str, given: &Value) -> T {
    let mut child = Command::new("python3")
        .arg(script(name))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs python3 on the path");
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_independent_implementation_has_the_same_similarities() {
    let pairs: Vec<_> = ["tuning.txt", "held_back.txt"].into_iter().flat_map(pairs).collect();
    let lists = json!(rules().names).to_string();
    let texts: Vec<&str> =
        pairs.iter().flat_map(|pair| [&*pair.one, &*pair.other]).chain([&*lists]).collect();
    let names: Vec<Value> = pairs.iter().map(|pair| json!([pair.one, pair.other])).collect();
    let given = json!({ "names": rules().names, "ascii": ascii_of(&texts), "pairs": names });
    let theirs: Vec<f64> = python("names.py", &given);
    assert_eq!(theirs.len(), pairs.len());
    let known = rules();
    for (pair, theirs) in pairs.iter().zip(theirs) {
        let ours = similarity(&known, &pair.one, &pair.other);
        assert!((ours - theirs).abs() < 1e-9, "{} and {}: {ours}, {theirs}", pair.one, pair.other);
    }
}

#[test]
fn an_independent_implementation_has_the_same_findings() {
    let generated: Vec<Generated> = (0..120).map(Generated::from_seed).collect();
    let mut cases = vec![(table("transactions.csv"), table("customers.csv"), table("watchlist.csv"))];
    cases.extend(generated.into_iter().map(|it| (it.transactions, it.customers, it.watched)));
    let lists = json!(rules().names).to_string();
    let given: Vec<Value> = cases
        .iter()
        .map(|(transactions, customers, watched)| {
            json!({
                "transactions": transactions, "customers": customers, "watchlist": watched,
                "rules": rules(), "as_of": AS_OF.to_string(),
                "ascii": ascii_of(&[transactions, customers, watched, &lists]),
            })
        })
        .collect();
    let theirs: Vec<Value> = python("reference.py", &Value::Array(given));
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
