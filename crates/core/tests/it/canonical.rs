//! Canonical JSON, compared with the output of a second implementation of RFC 8785.

use holdshort_core::json;
use serde_json::{Value, json};

#[test]
fn it_is_what_another_writer_makes_of_it() {
    let table = [
        json!(null),
        json!([true, false, [], {}]),
        json!({ "b": 1, "a": { "z": [1, { "y": 2, "x": 3 }], "": "" } }),
        // The emoji has two UTF-16 code units. By its first unit it sorts before U+FB33.
        json!({ "\u{fb33}": 1, "\u{1f600}": 2, "\u{20ac}": 3, "\r": 4, "1": 5, "\u{80}": 6, "\u{f6}": 7 }),
        // Keys are sorted by their characters, not by their escaped forms.
        json!({ "\"": 1, "!": 2, "#": { "\\": 3, "[": 4, "]": 5, "\n": 6, "a": 7, "": 8 }, "a\"": 9, "a": 10 }),
        json!("\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1f}\u{7f}\u{2028}\"\\/é😀"),
        json!([0, -1, 9_007_199_254_740_991_u64, -9_007_199_254_740_991_i64, u64::MAX, i64::MIN]),
        json!([0.0, -0.0, 0.5, 1.0, 1e21, 1e-7, 123_456.789e3, 5e-324, 1.797_693_134_862_315_7e308]),
        json!([4.5, 0.002, 1e-27, 333_333_333.333_333_3, 1e30, 9_007_199_254_740_992.0]),
    ];
    for value in table {
        let other = serde_json_canonicalizer::to_vec(&value).expect("it is finite");
        assert_eq!(text(&json::canonical(&value)), text(&other), "{value}");
    }
}

/// The examples of RFC 8785, sections 3.2.2 and 3.2.3, have the output that the standard shows.
#[test]
fn it_is_what_the_standard_shows() {
    let shown = r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#;
    let value: Value = serde_json::from_str(shown).expect("it is JSON");
    let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
    assert_eq!(text(&json::canonical(&value)), expected);
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("JSON is UTF-8")
}
