//! `hostile.json`: hostile texts from agents, their display, and the expected warnings. Tests of the browser use the
//! same table.

use holdshort_protocol::{Interrupt, Warning, WarningKind, plain, warnings};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Row {
    name: String,
    /// JSON pointer to the text in the interrupt.
    #[serde(default = "message")]
    at: String,
    given: String,
    as_text: String,
    as_line: String,
    /// Expected display of the text as an exact value on several lines, with its line breaks and tabs. Defaults to
    /// `as_line`.
    as_lines: Option<String>,
    warnings: Vec<WarningKind>,
}

fn message() -> String {
    "/message".to_owned()
}

fn interrupt() -> Value {
    json!({
        "id": "int_1", "run": "run_1", "session": "ses_1", "kind": "tool_approval", "origin": "external",
        "agent": "pair", "status": "open", "title": "A title", "message": "A message",
        "payload": {"tool": "t", "command": "", "path": "", "diff": "", "arguments": {"path": ""}},
        "options": [{"id": "approve", "label": "Allow", "effect": "proceed"}],
        "risk": {"level": "low", "reasons": []}, "assignment": {"approvers": [], "quorum": {"required": 1}},
        "on_expiry": "reject", "version": 1, "created_at": "2026-01-31T09:30:00.000Z",
    })
}

fn warned(interrupt: &Value) -> Vec<Warning> {
    warnings(&Interrupt::deserialize(interrupt).unwrap())
}

#[test]
fn each_row_is_shown_and_warned_of_as_it_says() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("../hostile.json")).unwrap();
    let wrong = rows.iter().filter_map(|row| {
        let mut interrupt = interrupt();
        *interrupt.pointer_mut(&row.at).unwrap() = json!(row.given);
        let warnings: Vec<WarningKind> = warned(&interrupt).iter().map(|warning| warning.kind).collect();
        let as_lines = row.as_lines.as_deref().unwrap_or(&row.as_line);
        let found = (plain::text(&row.given), plain::line(&row.given), plain::lines(&row.given), warnings);
        let expected =
            ((&*row.as_text).into(), (&*row.as_line).into(), as_lines.into(), row.warnings.clone());
        (found != expected).then(|| format!("{}: {found:?}", row.name))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_warning_names_the_place_and_what_it_looks_like() {
    let mut interrupt = interrupt();
    interrupt["title"] = json!("run_command: \u{441}url -O no\u{202e}te");
    interrupt["payload"]["command"] = json!("\u{441}url -O no\u{202e}te");
    interrupt["payload"]["x/b\u{200b}"] = json!("[https://a.example](https://b.example/x)");
    interrupt["options"][0]["label"] = json!("\u{410}llow");
    let expected = json!([
        {"kind": "hidden_characters", "at": "/payload/command", "text": "no\\u{202e}te"},
        {"kind": "look_alike", "at": "/payload/command", "text": "\u{441}url", "looks_like": "curl"},
        {"kind": "hidden_characters", "at": "/payload/x~1b\\u{200b}", "text": "x/b\\u{200b}"},
        {"kind": "misleading_link", "at": "/payload/x~1b\\u{200b}", "text": "https://b.example/x",
         "looks_like": "https://a.example"},
        {"kind": "look_alike", "at": "/options/0/label", "text": "\u{410}llow", "looks_like": "Allow"},
    ]);
    assert_eq!(serde_json::to_value(warned(&interrupt)).unwrap(), expected);
}

#[test]
fn what_is_too_much_is_said_to_be() {
    let mut interrupt = interrupt();
    let words: Vec<String> = (0..30).map(|i| format!("\u{441}url{i}")).collect();
    let deep = (0..100).fold(json!("\u{200b}"), |inner, _| json!([inner]));
    let table = [
        (json!(words), 21, "more warnings exist than can be listed"),
        (json!(vec![0; 100_000]), 1, "the request is too large to be examined completely"),
        (json!("\u{e9}".repeat(200_000)), 1, "the request is too large to be examined completely"),
        (deep, 1, "the request is too large to be examined completely"),
    ];
    for (payload, count, text) in table {
        interrupt["payload"] = json!({ "details": payload });
        let found = warned(&interrupt);
        let last = found.last().unwrap();
        assert_eq!((found.len(), last.kind, &*last.text), (count, WarningKind::More, text));
    }
}
