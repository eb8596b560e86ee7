//! Summaries of reviews: derived findings, without raw data of customers (document 003, parts 4 and 8).

use holdshort_notify::summary;
use serde_json::json;

#[test]
fn a_summary_is_the_title_and_the_findings() {
    let table = [
        (
            json!({"title": "Three transfers", "findings": ["structuring", "velocity"], "content": "raw"}),
            Some("Three transfers: structuring; velocity"),
        ),
        (json!({"title": " Report ", "findings": []}), Some("Report")),
        (json!({"findings": "Sanctions\nOFAC", "details": {"name": "raw"}}), Some("Sanctions; OFAC")),
        (json!({"findings": [{"name": "raw"}, "Sanctions"]}), Some("Sanctions")),
        (json!({"findings": {"name": "raw"}}), None),
        (json!({"title": " ", "content": "raw"}), None),
        (json!("raw"), None),
    ];
    for (payload, expected) in table {
        assert_eq!(summary(&payload).as_deref(), expected, "{payload}");
    }
    for long in ["x".repeat(100_000), "x ".repeat(100_000)] {
        let told = summary(&json!({ "findings": long })).unwrap();
        assert_eq!((told.chars().count(), told.ends_with('…')), (301, true));
    }
}

#[test]
fn raw_customer_data_is_replaced_and_derived_findings_stay() {
    let table = [
        (
            "structuring: customer 1, 12850.00 EUR; rows 3, 5, 9",
            "structuring: customer 1, 12850.00 EUR; rows 3, 5, 9",
        ),
        ("5,000 USD at 90 % (F9)", "5,000 USD at 90 % (F9)"),
        ("account DE02 1203 0000 0000 2020 51 of anna.b@example.org", "account [redacted] of [redacted]"),
        ("DE02500105170137075030.", "[redacted]."),
        ("card 4111-1111-1111-1111, phone +49 170 1234567", "card [redacted], phone [redacted]"),
        ("born 1980-02-01", "born [redacted]"),
        ("GB82 WEST 1234 5698 7654 32", "GB82 WEST [redacted]"),
        ("born 01.02.1980", "born [redacted]"),
        ("card 1234.5678.9012.3456", "card [redacted]"),
        ("phone 0170\u{a0}123\u{202f}4567, 030\u{2013}1234\u{2011}567", "phone [redacted], [redacted]"),
        ("account ACC12345678, Konto12345678", "account ACC[redacted], Konto[redacted]"),
        ("number 012.345.678, (0170) 1234567", "number [redacted], ([redacted]"),
        ("de02 5001 0517 0137 0750 30", "de[redacted]"),
        ("paid 1250000.00 and 12.500.000 EUR", "paid 1250000.00 and 12.500.000 EUR"),
        ("rule S-1, FATF 19", "rule S-1, FATF 19"),
        ("12345678", "[redacted]"),
        ("1234567", "1234567"),
        ("ümlaut 7", "ümlaut 7"),
    ];
    for (text, expected) in table {
        assert_eq!(summary(&json!({ "findings": text })).as_deref(), Some(expected), "{text}");
    }
}
