//! Tests that exactly the planted findings are found in the shipped sample.

use std::path::Path;

use holdshort_compliance::casework::findings::Gravity;
use holdshort_compliance::casework::{Case, Examination, examine, format_finding, read};

use crate::casework::support::{AS_OF, rules};

pub(crate) fn sample() -> Vec<(&'static str, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows/compliance/sample");
    let files = ["transactions.csv", "customers.csv", "watchlist.csv"];
    files.into_iter().map(|name| (name, std::fs::read(folder.join(name)).unwrap())).collect()
}

pub(crate) fn table(name: &str) -> String {
    let found = sample().into_iter().find(|(known, _)| *known == name).unwrap();
    String::from_utf8(found.1).unwrap()
}

pub(crate) fn examined() -> (Case, Examination) {
    let files = sample();
    let case = read(&files[0].1, &files[1].1, &files[2].1, &rules(), AS_OF).unwrap();
    let examined = examine(&case, &rules());
    (case, examined)
}

#[test]
fn what_is_planted_is_found_and_nothing_else() {
    let (_, examined) = examined();
    let told: Vec<String> = examined
        .findings
        .iter()
        .enumerate()
        .map(|(at, finding)| {
            format_finding(finding, at + 1, &rules()).split("; row").next().unwrap().to_owned()
        })
        .collect();
    let expected = [
        "F1 large_cash: customer 2, 12500.00 EUR, 100 % certain",
        "F2 large_cash: customer 12, 11760.00 EUR, 100 % certain",
        "F3 structuring: customer 1, 12850.00 EUR, 90 % certain",
        "F4 round_amounts: customer 6, 10000.00 EUR, 86 % certain",
        "F5 velocity: customer 7, 5958.00 EUR, 88 % certain",
        "F6 pass_through: customer 5, 8300.00 EUR, 88 % certain",
        "F7 high_risk_country: customer 9, 1450.00 EUR, 100 % certain (IR)",
        "F8 novel_technique: customer 11, 2300.00 EUR, 90 % certain (crypto)",
    ];
    assert_eq!(told[..8], expected);
    let lists = [
        "F9 sanctions: customer 8,",
        "F10 sanctions: party ",
        "F11 pep: customer 4,",
        "F12 pep: customer 10,",
    ];
    assert_eq!(told.len(), 12, "{told:#?}");
    assert!(told[8..].iter().zip(lists).all(|(told, begins)| told.starts_with(begins)), "{told:#?}");
    assert_eq!((examined.risk, examined.gravity), (80, Gravity::Critical));
    let held: Vec<&str> = examined.pause.iter().map(|reason| &*reason.id).collect();
    let all = [
        "amount_with_indicators",
        "high_risk_jurisdiction",
        "sanctions",
        "novel_technique",
        "pep",
        "low_confidence",
        "risk",
    ];
    assert_eq!(held, all);
}
