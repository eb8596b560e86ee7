//! Tests of forms that a schema defines and that are asked field by field.

use super::*;
use crate::terminal::test::interrupt;

/// Fills in the form of a question with this schema. Returns the printed messages, and the answer if it is complete.
fn filled(schema: Value, lines: &[&str]) -> (Vec<String>, Option<Value>) {
    let mut question = interrupt(Kind::Question);
    question.payload = serde_json::json!({});
    question.response_schema = Some(schema);
    let answer = question.options.iter_mut().find(|option| option.id == "answer").unwrap();
    (answer.needs_text, answer.needs_edit) = (false, true);
    let mut prompt = Prompt::new(question, 0);
    let mut told = prompt.keys(Paint::plain());
    for line in lines {
        match prompt.line(line, Paint::plain()) {
            Reaction::Ask(said) => told.extend(said),
            Reaction::Decide(decision) => return (told, Some(decision.edit)),
            other => panic!("{other:?}"),
        }
    }
    (told, None)
}

/// Schemas from pydantic and zod become forms, with optional values, nested objects, lists, single values and fields
/// without a type.
#[test]
fn schemas_as_libraries_write_them_are_asked_for_part_by_part() {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let cases: [(&str, &[&str], &str, &str); 16] = [
        (r#"{"type": "integer"}"#, &["seven", "7", ""], "the answer (a whole number)", "7"),
        (r#"{"type": "boolean", "title": "Ill"}"#, &["no", ""], "  Ill (yes or no)", "false"),
        (
            r#"{"type": "array", "items": {"type": "integer"}}"#,
            &["1, 2,3", ""],
            "values separated by commas, each a whole number",
            "[1, 2, 3]",
        ),
        (
            r#"{"type": "array", "items": {"type": "string"}}"#,
            &["[\"a, b\", \"c\"]", ""],
            "values separated by commas",
            r#"["a, b", "c"]"#,
        ),
        (r#"{"type": ["integer", "null"]}"#, &["", "4", ""], "This part is required.", "4"),
        (r#"{"title": "Anything"}"#, &["a word", ""], "  Anything", r#""a word""#),
        (r"{}", &["[1]", "", ""], "the answer", "[1]"),
        (
            r#"{"type": "object", "required": ["a"], "properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "b": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": null}}}"#,
            &["", "1.5", ""],
            "1 of 2: a (a whole number) [Enter leaves it out]",
            r#"{"a": null, "b": 1.5}"#,
        ),
        (
            r##"{"type": "object", "required": ["sleep"], "properties": {"sleep": {"$ref": "#/$defs/Sleep"}},
                "$defs": {"Sleep": {"type": "object", "required": ["hours"],
                    "properties": {"hours": {"type": "number"}, "note": {"type": "string"}}}}}"##,
            &["7.5", "", ""],
            "1 of 2: sleep · hours (a number)",
            r#"{"sleep": {"hours": 7.5}}"#,
        ),
        (
            r#"{"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}, "a": {"type": "object",
                "required": ["x"], "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}}}"#,
            &["1", "", ""],
            "2 of 3: a · x (a whole number) [Enter leaves it out]",
            r#"{"b": 1}"#,
        ),
        (
            r#"{"type": "object", "properties": {"a": {"type": "object",
                "required": ["x", "z"], "properties": {"x": {"type": "integer"}, "z": {"type": "integer"}}}}}"#,
            &["1", "", "2", ""],
            "  This part is required.",
            r#"{"a": {"x": 1, "z": 2}}"#,
        ),
        (
            r#"{"type": "object", "required": ["a"], "properties": {"a": {"anyOf": [{"type": "object",
                "required": ["x"], "properties": {"x": {"type": "integer"}}}, {"type": "null"}]}}}"#,
            &["", ""],
            "[Enter leaves it out]",
            r#"{"a": null}"#,
        ),
        (
            r#"{"type": "object", "required": ["a"], "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}"#,
            &["12", ""],
            "a whole number or text",
            r#"{"a": 12}"#,
        ),
        (
            r#"{"type": "object", "required": ["a"], "properties": {"a": {"enum": ["x", null]}}}"#,
            &["", ""],
            "(1 x)",
            r#"{"a": null}"#,
        ),
        (
            r#"{"properties": {"a": {"allOf": [{"type": "integer"}]}}}"#,
            &["3", ""],
            "a (a whole number)",
            r#"{"a": 3}"#,
        ),
        // An answer with a list of objects is typed as JSON. The prompt shows the shape of the JSON.
        (
            r#"{"type": "array", "items": {"type": "object", "required": ["d"], "properties": {"d": {"type": "string"}, "n": {"type": "integer"}}}}"#,
            &[r#"[{"d": "mon"}]"#, ""],
            r#"The answer is [{"d": text, "n"?: whole number}, …]"#,
            r#"[{"d": "mon"}]"#,
        ),
    ];
    for (schema, lines, said, expected) in cases {
        let (told, answer) = filled(json(schema), lines);
        assert_eq!(answer, Some(json(expected)), "{schema}: {told:#?}");
        assert!(told.join("\n").contains(said), "{schema}: {told:#?}");
    }
    let many: serde_json::Map<String, Value> =
        (0..200).map(|n| (format!("part_{n:03}"), serde_json::json!({"type": "integer"}))).collect();
    let (told, _) = filled(serde_json::json!({"type": "object", "properties": many}), &[]);
    assert!(told.iter().any(|line| line.contains("\"part_000\"?: whole number")), "{told:#?}");
    assert!(told.iter().map(String::len).sum::<usize>() < 1_200, "{told:#?}");
    let circle = json(
        r##"{"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}}}"##,
    );
    let (told, _) = filled(circle, &[]);
    assert!(told.join("\n").contains("The answer is {"), "{told:#?}");
}

/// While the completed form waits for confirmation, typed text changes no field. Only `e`, `n`, JSON or an option has
/// an effect.
#[test]
fn a_form_that_is_shown_back_keeps_its_parts() {
    let edited = r#"{"a": 1, "c": "new"}"#;
    let cases: [(&[&str], Option<Value>); 6] = [
        (&["new", ""], Some(serde_json::json!({"a": 1, "c": "two"}))),
        (&["2", "yes"], Some(serde_json::json!({"a": 1, "c": "two"}))),
        (&["e", ""], Some(serde_json::json!({"a": 1, "c": "new"}))),
        (&[r#"{"a": 7, "c": "x"}"#, ""], Some(serde_json::json!({"a": 7, "c": "x"}))),
        (&["n", "3", "three", ""], Some(serde_json::json!({"a": 3, "c": "three"}))),
        (&["skip", "y"], None),
    ];
    for (lines, expected) in cases {
        let mut question = interrupt(Kind::Question);
        question.payload = serde_json::json!({});
        question.response_schema = Some(serde_json::json!({"type": "object", "required": ["a", "c"],
            "properties": {"a": {"type": "integer"}, "c": {"type": "string"}}}));
        let answer = question.options.iter_mut().find(|option| option.id == "answer").unwrap();
        (answer.needs_text, answer.needs_edit) = (false, true);
        let mut prompt = Prompt::new(question, 0);
        for line in ["1", "two"] {
            assert!(matches!(prompt.line(line, Paint::plain()), Reaction::Ask(_)));
        }
        let mut sent = None;
        for line in lines {
            match prompt.line(line, Paint::plain()) {
                Reaction::Decide(decision) => sent = Some(decision),
                Reaction::Edit(editing) => {
                    assert!(editing.text.contains("two"), "{}", editing.text);
                    assert!(matches!(prompt.edited(&editing, edited, Paint::plain()), Reaction::Ask(_)));
                }
                Reaction::Ask(_) => {}
                other => panic!("{lines:?}: {other:?}"),
            }
        }
        let sent = sent.unwrap_or_else(|| panic!("{lines:?}: nothing is sent"));
        assert_eq!(sent.edit, expected.unwrap_or_default(), "{lines:?}");
    }
}

/// After the server rejects a form, the person is asked only for the fields with errors. All other fields keep their
/// values.
#[test]
fn a_refused_form_keeps_the_parts_that_fit() {
    let schema = serde_json::json!({"type": "object", "required": ["a", "b", "c"], "properties": {
        "a": {"type": "integer"}, "b": {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}},
        "c": {"type": "string"}}});
    let whole = || serde_json::json!({"a": 1, "b": {"x": "new"}, "c": "two"});
    let cases: [(&str, &[&str], Value); 5] = [
        ("/edit/b/x", &["new", ""], whole()),
        ("/edit/b", &["new", ""], whole()),
        ("/edit/c/0", &["new", ""], serde_json::json!({"a": 1, "b": {"x": "one"}, "c": "new"})),
        ("/edit", &["4", "five", "six", ""], serde_json::json!({"a": 4, "b": {"x": "five"}, "c": "six"})),
        ("/text", &[r#"{"a": 7}"#, ""], serde_json::json!({"a": 7})),
    ];
    for (pointer, lines, expected) in cases {
        let mut question = interrupt(Kind::Question);
        question.payload = serde_json::json!({});
        question.response_schema = Some(schema.clone());
        let answer = question.options.iter_mut().find(|option| option.id == "answer").unwrap();
        (answer.needs_text, answer.needs_edit) = (false, true);
        let mut prompt = Prompt::new(question, 0);
        for line in ["1", "one", "two"] {
            assert!(matches!(prompt.line(line, Paint::plain()), Reaction::Ask(_)));
        }
        assert!(matches!(prompt.line("", Paint::plain()), Reaction::Decide(_)));
        let problem = FieldError { pointer: pointer.to_owned(), message: "does not fit".to_owned() };
        let told = prompt.refused(&[problem], Paint::plain());
        let mut sent = None;
        for line in lines {
            if let Reaction::Decide(decision) = prompt.line(line, Paint::plain()) {
                sent = Some(decision.edit);
            }
        }
        assert_eq!(sent, Some(expected), "{pointer}: {told:?}");
    }
}
