//! Answers that are objects of plain values: supported schemas, parsing of typed texts, and display.

use holdshort_protocol::{Input, Member, answer_of, labelled_lines};
use serde_json::{Value, json};

/// Pairs of a field name and the text that was typed into the field.
type Typed = &'static [(&'static str, &'static str)];

fn felt() -> Value {
    json!({"type": "object", "additionalProperties": false, "required": ["felt", "as_planned"], "properties": {
        "note": {"type": "string", "title": "Anything else"},
        "as_planned": {"type": "boolean", "description": "They were meant to be that hard"},
        "felt": {"type": "string", "enum": ["easier than planned", "as planned"]},
        "rpe": {"type": "integer"}, "hours": {"type": "number"}
    }})
}

fn typed(members: &[Member<'_>], table: &[(&str, &str)]) -> Result<Value, Vec<(String, String)>> {
    let of =
        |at: usize| table.iter().find(|(name, _)| *name == members[at].name).map_or("", |(_, typed)| *typed);
    answer_of(members, |at| of(at).to_owned())
}

#[test]
fn a_flat_object_is_drawn_member_by_member() {
    let schema = felt();
    let members = Member::all(&schema).unwrap();
    assert_eq!((members[0].name, members[1].name), ("felt", "as_planned"), "what is required comes first");
    assert!(members[0].is_required && members[1].is_required && !members[2].is_required);
    let of = |name: &str| members.iter().find(|member| member.name == name).unwrap();
    assert_eq!(&*of("as_planned").label, "as planned");
    assert_eq!(&*of("note").label, "Anything else");
    assert_eq!(of("as_planned").description, Some("They were meant to be that hard"));
    assert_eq!(of("felt").input(), Input::Choice(vec!["easier than planned".into(), "as planned".into()]));
    assert_eq!(of("as_planned").input(), Input::Choice(vec!["yes".into(), "no".into()]));
    assert_eq!(
        (of("note").input(), of("rpe").input(), of("hours").input()),
        (Input::Text, Input::Integer, Input::Number)
    );
}

#[test]
fn anything_else_is_written_as_json() {
    for schema in [
        json!(true),
        json!({"type": "string"}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "properties": {"a": {"type": "array"}}}),
        json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
        json!({"type": "object", "properties": {"a": {}}}),
        json!({"type": "object", "properties": {"a": {"enum": ["1", 1]}}}),
        json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "if": {}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
    ] {
        assert_eq!(Member::all(&schema), None, "{schema}");
    }
    let behind = json!({"$defs": {"A": {"properties": {"a": {"$ref": "#/$defs/B"}}}, "B": {"enum": [1, null]}},
                        "$ref": "#/$defs/A"});
    let members = Member::all(&behind).unwrap();
    assert_eq!(members[0].input(), Input::Choice(vec!["1".into(), "none".into()]));
}

#[test]
fn what_was_typed_is_read_by_the_types_of_the_schema() {
    let schema = felt();
    let members = Member::all(&schema).unwrap();
    let table: [(&[(&str, &str)], Value); 3] = [
        (&[("felt", "0"), ("as_planned", "1")], json!({"felt": "easier than planned", "as_planned": false})),
        (
            &[("felt", "1"), ("as_planned", "0"), ("rpe", " 7 "), ("hours", "1.5"), ("note", " hot ")],
            json!({"felt": "as planned", "as_planned": true, "rpe": 7, "hours": 1.5, "note": " hot "}),
        ),
        (
            &[("felt", "1"), ("as_planned", "0"), ("note", "  ")],
            json!({"felt": "as planned", "as_planned": true}),
        ),
    ];
    for (table, expected) in table {
        assert_eq!(typed(&members, table), Ok(expected), "{table:?}");
    }
    let refused: [(Typed, &[&str]); 7] = [
        (&[], &["/edit/felt", "/edit/as_planned"]),
        (&[("note", "It was hard")], &["/edit/felt", "/edit/as_planned"]),
        (&[("felt", "2"), ("as_planned", "0")], &["/edit/felt"]),
        (&[("felt", "easier than planned"), ("as_planned", "0")], &["/edit/felt"]),
        (&[("felt", "0"), ("as_planned", "0"), ("rpe", "7.5")], &["/edit/rpe"]),
        (&[("felt", "0"), ("as_planned", "0"), ("hours", "1,5")], &["/edit/hours"]),
        (&[("felt", "0"), ("as_planned", "0"), ("hours", "inf")], &["/edit/hours"]),
    ];
    for (table, at) in refused {
        let problems = typed(&members, table).unwrap_err();
        let places: Vec<&str> = problems.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(places, at, "{table:?}");
    }
    let all_optional = json!({"properties": {"a/b": {"type": "string"}}});
    let members = Member::all(&all_optional).unwrap();
    assert_eq!(typed(&members, &[]).unwrap_err()[0].0, "/edit", "an answer that nobody gave is none");
    assert!(members[0].is_meant_by("/edit/a~1b") && !members[0].is_meant_by("/edit/a~1bc"));
}

#[test]
fn data_is_told_by_the_labels_of_its_schema() {
    let schema = felt();
    let data = json!({"as_planned": false, "felt": "as planned", "note": "hot", "other_thing": [1, 2]});
    let mut lines = labelled_lines(Some(&schema), &data);
    lines.sort();
    assert_eq!(lines, ["Anything else: hot", "as planned: no", "felt: as planned", "other thing: [1,2]"]);
    assert_eq!(labelled_lines(None, &json!({"as_planned": true})), ["as planned: yes"]);
    assert_eq!(labelled_lines(None, &json!(7)), ["7"]);
    assert_eq!(labelled_lines(None, &json!("left")), ["left"]);
}
