//! The content of a file after a call, and the cases in which it is not certain.

use holdshort_edges::hooks::Cli;
use serde_json::{Value, json};

use super::{call, claude, codex, event, gemini};

fn after(cli: Cli, payload: &Value, before: Option<&str>) -> Option<String> {
    call(&event(cli, payload)).change.apply(before)
}

#[test]
fn edits_are_computed_as_the_cli_does_or_not_at_all() {
    let edit = |old: &str, new: &str, all: bool| {
        claude("Edit", json!({"file_path": "/p/a", "old_string": old, "new_string": new, "replace_all": all}))
    };
    let multi = claude(
        "MultiEdit",
        json!({"file_path": "/p/a", "edits": [
            {"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c", "replace_all": true}]}),
    );
    let replace = |count: Value| {
        gemini(
            "replace",
            json!({"file_path": "/p/a", "old_string": "a", "new_string": "b", "expected_replacements": count}),
        )
    };
    let write = claude("Write", json!({"file_path": "/p/a", "content": "new\r\n"}));
    let rows = [
        (Cli::Claude, edit("a", "b", false), Some("xay"), Some("xby")),
        (Cli::Claude, edit("a", "b", false), Some("aa"), None),
        (Cli::Claude, edit("a", "b", true), Some("aa"), Some("bb")),
        (Cli::Claude, edit("a", "b", false), Some("none"), None),
        (Cli::Claude, edit("a", "b", false), Some("a\r\n"), None),
        (Cli::Claude, edit("a", "b", false), None, None),
        (Cli::Claude, edit("", "text", false), None, Some("text")),
        (Cli::Claude, edit("", "text", false), Some("full"), None),
        (Cli::Claude, multi, Some("a-b"), Some("c-c")),
        (Cli::Claude, write, Some("old\r\n"), Some("new\r\n")),
        (Cli::Gemini, replace(Value::Null), Some("a"), Some("b")),
        (Cli::Gemini, replace(json!(2)), Some("aa"), Some("bb")),
        (Cli::Gemini, replace(json!(3)), Some("aa"), None),
    ];
    for (cli, payload, before, expected) in rows {
        assert_eq!(after(cli, &payload, before).as_deref(), expected, "{payload} on {before:?}");
    }
}

#[test]
fn patches_of_one_file_are_computed_if_their_lines_are_found_once() {
    let patch = |body: &str| {
        codex("apply_patch", json!({"command": format!("*** Begin Patch\n{body}\n*** End Patch")}))
    };
    let update = |hunk: &str| patch(&format!("*** Update File: a\n{hunk}"));
    let rows = [
        (patch("*** Add File: a\n+one\n+two"), None, Some("one\ntwo\n")),
        (patch("*** Add File: a\n+one"), Some("there"), None),
        (update("@@\n one\n-two\n+zwei"), Some("one\ntwo\nthree\n"), Some("one\nzwei\nthree\n")),
        (update("@@ fn b\n-x\n+y"), Some("fn a\nx\nfn b\nx\n"), Some("fn a\nx\nfn b\ny\n")),
        (update("@@\n-x\n+y"), Some("x\nx\n"), None),
        (update("@@\n-missing\n+y"), Some("x\n"), None),
        (update("-x\n+y\n*** End of File"), Some("a\nx"), Some("a\ny\n")),
        (update("-x\n+y\n*** End of File"), Some("x\na\n"), None),
        (update("*** Move to: b\n@@\n-x\n+y"), Some("x\n"), None),
        (patch("*** Delete File: a"), Some("x\n"), None),
    ];
    for (payload, before, expected) in rows {
        assert_eq!(after(Cli::Codex, &payload, before).as_deref(), expected, "{payload} on {before:?}");
    }
}

#[test]
fn each_file_of_a_patch_is_named() {
    let body = "*** Begin Patch\n*** Add File: new\n+x\n*** Delete File: old\n*** Update File: from\n\
                *** Move to: to\n@@\n-a\n+b\n*** End Patch";
    let found = event(Cli::Codex, &codex("apply_patch", json!({"command": body})));
    assert_eq!(call(&found).files, ["new", "old", "from", "to"]);
    for broken in ["", "rm -rf /", "*** Begin Patch\n*** Update File: a", "*** Begin Patch\n*** End Patch"] {
        let found = event(Cli::Codex, &codex("apply_patch", json!({"command": broken})));
        assert_eq!(call(&found).files, [""; 0], "{broken}");
    }
}
