//! Summary of a trial on a card, and the parts that the card does not show.

use holdshort_protocol::{TrialCard, TrialChange};
use serde_json::{Value, json};

#[test]
fn a_trial_is_told_in_words_and_what_is_not_shown_is_counted() {
    let payload = json!({ "trial": {
        "exit_code": 0, "duration_ms": 2134, "tests": ["41 passed (cargo test)", "2 passed (jest)"], "files": 2, "deleted": 1, "ignored": 1, "outside": 2, "not_shown": 3,
        "changes": [
            { "path": "old", "does": "deleted", "kind": "file", "outside": true },
            { "path": "pic.png", "does": "created", "kind": "file", "bytes": 9, "not_text": true },
            { "path": "run", "does": "mode", "kind": "file", "bytes": 1, "mode": "755" },
            { "path": "target/x", "does": "changed", "kind": "file", "bytes": 2, "ignored": true },
        ],
    } });
    let trial = TrialCard::from_payload(&payload).expect("it was tried");
    assert_eq!(
        trial.summary(),
        "2 files changed, 1 deleted (1 of them ignored by git); 2 outside what the task names; exit code 0 after 2.1 s; \
         tests, as the command reports: 41 passed (cargo test); 2 passed (jest)"
    );
    let words: Vec<_> = trial.changes().map(TrialChange::describe).collect();
    let expected = [
        "deleted, outside what the task names",
        "created, 9 bytes",
        "mode 755, 1 byte",
        "changed, 2 bytes, ignored by git",
    ];
    assert_eq!(words, expected);
    let expected = "Not shown here: 3 more paths, the changes in 2 of the files above.";
    assert_eq!(trial.unseen().as_deref(), Some(expected));
    let nothing = json!({ "trial": { "files": 0, "deleted": 0, "changes": [] } });
    assert_eq!(
        TrialCard::from_payload(&nothing).map(TrialCard::summary).as_deref(),
        Some("it changed nothing")
    );
    assert!(TrialCard::from_payload(&json!({ "trial": null })).is_none());
}

#[test]
fn what_a_card_has_no_room_for_is_counted() {
    let cut = json!({ "hunks": [{ "old_start": 1, "old_lines": 0, "new_start": 1, "new_lines": 1,
        "lines": [{ "op": "+", "text": "a" }] }], "added": 9, "removed": 2, "truncated": true });
    let file = |path: &str, more: Value| {
        let mut file = json!({ "path": path, "does": "created", "kind": "file" });
        file.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        file
    };
    let all = [file(".git/index", json!({})), file("b", json!({ "not_text": true }))];
    let ignored = file("target/x", json!({ "ignored": true }));
    let link = json!({ "path": "l", "does": "created", "kind": "symlink", "target": "a" });
    let shown = json!([all[0], all[1], link]);
    let unseen = |changes: Value, not_shown: usize| {
        TrialCard::from_payload(&json!({ "trial": { "changes": changes, "not_shown": not_shown } }))
            .and_then(TrialCard::unseen)
    };
    let told = |words: &str| Some(format!("Not shown here: {words}."));
    for (changes, not_shown, expected) in [
        (shown.clone(), 0, None),
        (shown, 7, told("7 more paths")),
        (json!([file("a", json!({}))]), 0, told("the changes in 1 of the files above")),
        (json!([ignored]), 0, told("the changes in 1 of the files above")),
        (json!([file("a", json!({ "diff": cut }))]), 0, told("10 more changed lines")),
    ] {
        assert_eq!(unseen(changes, not_shown), expected);
    }
}

/// A change that a person drops is not counted among the changes that a card does not show.
#[test]
fn of_some_of_the_changes_only_what_is_kept_counts() {
    let file = |path: &str| json!({ "path": path, "does": "created", "kind": "file" });
    let mut seen = file("a");
    seen["not_text"] = json!(true);
    let mut replaced = file("r");
    replaced["does"] = json!("replaced");
    replaced["not_text"] = json!(true);
    let changes = json!([seen, file("b"), replaced, file("r/x"), file("ab")]);
    let payload = json!({ "trial": {
        "changes": changes, "not_shown": 7,
        "keep": { "parts": ["a", "ab", "b", "r", ".git", "last"], "not_shown": 3 },
    } });
    let trial = TrialCard::from_payload(&payload).expect("it was tried");
    let table: [(&[&str], Option<&str>); 6] = [
        (&["a"], None),
        (&["a", "b"], Some("the changes in 1 of the files above")),
        (&["a", "last"], Some("1 more path")),
        (&["r"], Some("7 more paths, the changes in 1 of the files above")),
        (&[".git"], Some("7 more paths")),
        (&["one", "that", "is", "not", "listed"], Some("5 more paths")),
    ];
    for (kept, expected) in table {
        let kept: Vec<String> = kept.iter().map(|part| (*part).to_owned()).collect();
        let expected = expected.map(|words| format!("Not shown here: {words}."));
        assert_eq!(trial.unseen_of(&kept), expected, "{kept:?}");
    }
}
