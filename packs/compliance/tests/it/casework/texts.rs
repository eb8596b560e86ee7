//! Texts about a case hold no personal data, are reproducible, and have a limited size.

use std::fmt::Write as _;

use holdshort_compliance::casework::{
    Query, Rules, as_file, examine, format_finding, limits, overview, query, read, redact, redact_members,
    report,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::casework::sample;
use crate::casework::support::{AS_OF, CUSTOMERS, HEADER, NOBODY, case, rules};

/// Returns every text in the sample's tables that identifies a person.
fn personal() -> Vec<String> {
    let mut words = Vec::new();
    for (name, columns) in [
        ("customers.csv", &[0, 1, 2, 5][..]),
        ("watchlist.csv", &[0, 1, 2, 3]),
        ("transactions.csv", &[0, 2, 7]),
    ] {
        for line in sample::table(name).lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            words.extend(
                columns.iter().filter_map(|at| cells.get(*at)).map(|cell| cell.trim_matches('"').to_owned()),
            );
        }
    }
    words.retain(|word| word.len() > 3);
    assert!(words.len() > 500);
    words
}

#[test]
fn nothing_that_is_told_names_anybody() {
    let (case, examined) = sample::examined();
    let report = report(&case, &examined, &rules(), AS_OF);
    let mut all = vec![report.title, report.text, report.held.join("\n"), as_file(&report.details)];
    all.extend(overview(&case, &rules()));
    all.extend(examined.findings.iter().map(|finding| format_finding(finding, 1, &rules())));
    for group_by in holdshort_compliance::casework::GROUPS {
        let asked = Query { group_by: group_by.to_owned(), ..Query::default() };
        all.extend(query(&case, &rules(), &asked).unwrap());
    }
    let all = all.join("\n").to_lowercase();
    for word in personal() {
        assert!(!all.contains(&word.to_lowercase()), "{word}");
    }
}

#[test]
fn a_question_loses_the_names_of_the_case() {
    let (case, _) = sample::examined();
    let asked = "What about ash HAWTHORN (C-1001, born 1971-04-02, DE02120300000000202051), Nightshade Holdings and \
                 Meadow Grocers? And Ashley?";
    let redacted = redact(&case, asked);
    assert!(redacted.starts_with("What about customer 1 (customer 1, born customer 1, customer 1), row 3 of the watch list and party "), "{redacted}");
    assert!(redacted.ends_with("? And Ashley?"), "{redacted}");
    assert_eq!(redact(&case, "How is the weather?"), "How is the weather?");
}

#[test]
fn a_name_is_the_same_however_it_is_written() {
    let customers = "id,name,country,pep\nC1,José Ángel  Núñez,DE,no\nC2,Mun\u{303}oz Griffin,DE,no\n\
                     C3,가나다 Kim,KR,no\nC4,Rosa Weiß,DE,no\nC5,Νίκος Παππάς,GR,no\n";
    let case = case("", customers, NOBODY).unwrap();
    for (written, told) in [
        ("José Ángel Núñez?", "customer 1?"),
        ("(Jose\u{301} A\u{301}ngel Nu\u{301}n\u{303}ez)", "(customer 1)"),
        ("of JOSÉ\u{a0}ÁNGEL \n\t núñez, and", "of customer 1, and"),
        ("José\u{2003}Ángel\u{202f}Núñez José Ángel Núñez", "customer 1 customer 1"),
        ("MUÑOZ Gri\u{fb03}n's", "customer 2's"),
        ("Ｍｕñｏｚ　Ｇｒｉｆｆｉｎ", "customer 2"),
        ("\u{1100}\u{1161}\u{1102}\u{1161}\u{1103}\u{1161} Kim", "customer 3"),
        ("rosa weiß", "customer 4"),
        ("ROSA WEISS", "customer 4"),
        ("ROSA WEIẞ", "customer 4"),
        ("rosa weiss,", "customer 4,"),
        ("ΝΊΚΟΣ ΠΑΠΠΆΣ", "customer 5"),
        // Different letters make a different name. Text that is not a name is unchanged.
        ("Rosa Weis\u{30c}", "Rosa Weis\u{30c}"),
        ("Jose Angel Nunez", "Jose Angel Nunez"),
        ("José Ángel Núñez\u{323}", "José Ángel Núñez\u{323}"),
        ("A\u{30a}  \u{a0}B \u{fb01}", "A\u{30a}  \u{a0}B \u{fb01}"),
        ("", ""),
    ] {
        assert_eq!(redact(&case, written), told, "{written}");
    }
}

#[test]
fn members_lose_the_names_of_the_case_wherever_they_stand() {
    let (case, _) = sample::examined();
    let sent = json!({
        "query": "What about Ash Hawthorn?",
        "Ash Hawthorn": {"C-1001": ["DE02120300000000202051", 7, true, null]},
        "ash hawthorn": "of lower case",
    });
    let told = redact_members(&case, sent.as_object().unwrap().clone());
    let expected = json!({
        "query": "What about customer 1?",
        "customer 1": {"customer 1": ["customer 1", 7, true, null]},
        "customer 1'": "of lower case",
    });
    assert_eq!(json!(told), expected);
}

#[test]
fn a_report_names_the_digest_of_its_findings_and_is_the_same_each_time() {
    let (case, examined) = sample::examined();
    let one = report(&case, &examined, &rules(), AS_OF);
    assert_eq!(one, report(&case, &examined, &rules(), AS_OF));
    let digest = Sha256::digest(as_file(&one.details));
    let digest: String = digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    assert!(one.text.ends_with(&format!("- findings.json: SHA-256 {digest}\n")));
    assert!(
        one.text.contains("\n- F3 structuring: customer 1, 12850.00 EUR, 90 % certain; rows "),
        "{}",
        one.text
    );
    assert!(one.text.contains("Source: FATF Recommendations 6 and 7"));
    assert_eq!(one.details["held_because"][2]["id"], "sanctions");
}

#[test]
fn a_report_of_nothing_says_so() {
    let case = case("T1,2026-03-01,C1,out,card,10,EUR,Meadow,DE", CUSTOMERS, NOBODY).unwrap();
    let report = report(&case, &examine(&case, &rules()), &rules(), AS_OF);
    assert!(report.held.is_empty());
    assert!(
        report.text.contains("No rule held the report back.")
            && report.text.contains("The rules found nothing.")
    );
}

/// Tests that the largest possible report fits into an interrupt.
#[test]
fn a_report_has_a_size() {
    let (mut customers, mut rows) = (String::from("id,name,country,pep\n"), format!("{HEADER}\n"));
    for customer in 0..400 {
        let _ = writeln!(customers, "C{customer},Ash,DE,yes");
        for day in 1..29 {
            let _ =
                writeln!(rows, "T{customer}-{day},2026-03-{day:02},C{customer},in,cash,99999999.99,EUR,,IR");
        }
    }
    let case = read(rows.as_bytes(), customers.as_bytes(), NOBODY.as_bytes(), &rules(), AS_OF).unwrap();
    let examined = examine(&case, &rules());
    assert!(examined.findings.len() >= 1_200);
    let report = report(&case, &examined, &rules(), AS_OF);
    assert_eq!(report.details["findings"].as_array().unwrap().len(), limits::FINDINGS);
    assert!(report.text.contains(" more of pep, not listed"), "{}", report.text);
    assert!(report.text.len() < 60 * 1024, "{}", report.text.len());
    assert!(as_file(&report.details).len() < 160 * 1024, "{}", as_file(&report.details).len());
    assert!(Rules::text().len() < limits::RULES_BYTES);
}

#[test]
fn queries_are_checked() {
    let (case, _) = sample::examined();
    let of = |asked: serde_json::Value| query(&case, &rules(), &serde_json::from_value(asked).unwrap());
    assert!(
        of(serde_json::json!({"group_by": "name"}))
            .unwrap_err()
            .starts_with("`group_by` must be one of customer, party")
    );
    assert!(of(serde_json::json!({"group_by": "kind", "direction": "both"})).is_err());
    let sums = of(serde_json::json!({"group_by": "customer", "kind": "cash", "customer": 1})).unwrap();
    assert_eq!(sums, ["customer 1: 4 transactions, in 12850.00 EUR, out 0.00 EUR"]);
    assert_eq!(of(serde_json::json!({"group_by": "day", "customer": 99})).unwrap(), ["no transactions"]);
}
