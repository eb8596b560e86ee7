//! Descriptions of the calls that a grant covers.

use holdshort_protocol::{GrantScope, plain};
use serde_json::{Value, json};

#[test]
fn each_program_of_a_line_is_named() {
    let table = [
        (json!({"tool": "edit_file", "workspace": "/w"}), "every `edit_file`"),
        (
            json!({"tool": "run_command", "workspace": "/w", "commands": [
                {"program": "cargo", "subcommand": "test", "writes": true},
                {"program": "sort", "writes": false, "files": ["a.txt"]},
            ]}),
            "every `cargo test …`, `sort …` (reading only) redirected only to or from `a.txt`",
        ),
    ];
    for (value, words) in table {
        let covered = GrantScope::from_value(&value).unwrap();
        assert_eq!(covered.describe(), words);
        assert_eq!(covered.sentence(None), format!("{words} in /w"));
        assert_eq!(covered.sentence(Some("/w")), format!("{words} in this folder"));
    }
    let said = json!({"tool": "run_command", "workspace": "/w", "words": "`rm` without options\n", "past": ["rm a", "rm b"]});
    let said = GrantScope::from_value(&said).unwrap();
    assert_eq!(said.sentence(Some("/w")), said.describe(), "they say where");
    assert_eq!(
        (said.describe(), said.past()),
        (plain::line("`rm` without options\n").into_owned(), Some("`rm a`, `rm b`".to_owned()))
    );
    assert!(GrantScope::from_value(&Value::Null).is_none());
}
