//! Structured answers with too many fields to ask for each one.

use holdshort_testkit::model::Scripted;
use holdshort_testkit::terminal::PROMPT;
use serde_json::{Map, Value, json};

use super::{CONFIG, Stage};

/// Tests that an answer of 200 fields is typed as JSON. Errors are reported with their location, and the question stays
/// open.
#[test]
fn an_answer_of_200_fields_is_typed_as_json() {
    let stage = Stage::new(CONFIG);
    let all = |of: &dyn Fn(usize) -> Value| -> Map<String, Value> {
        (0..200).map(|n| (format!("f{n}"), of(n))).collect()
    };
    let schema = json!({
        "type": "object", "additionalProperties": false, "properties": all(&|_| json!({ "type": "integer" })),
        "required": (0..200).map(|n| format!("f{n}")).collect::<Vec<_>>(),
    });
    let ask = json!({ "question": "How was each day?", "response_schema": schema });
    stage.plays("metrics", vec![Scripted::call("ask_human", ask), Scripted::text("Thank you.")]);
    let mut terminal = stage.terminal();
    assert!(terminal.expect(PROMPT).contains("the answer as JSON"));
    let fits = Value::Object(all(&|n| json!(n)));
    let mut wrong = fits.clone();
    wrong["f7"] = json!("easy");
    terminal.type_line(&wrong.to_string());
    terminal.expect("Enter sends it");
    terminal.type_line("");
    let refused = terminal.expect(PROMPT);
    assert!(refused.contains("at /f7"), "{refused}");
    terminal.type_line(&fits.to_string());
    terminal.expect("Enter sends it");
    terminal.type_line("");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(stage.summary()["questions"][0]["answer"], fits);
}
