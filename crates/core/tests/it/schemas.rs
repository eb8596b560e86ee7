//! JSON Schemas from outside: schemas that common libraries produce are accepted, and schemas that are too expensive to
//! check are rejected.

use std::fmt::Write;

use holdshort_core::schema::{check, refuse_foreign};
use serde_json::{Value, json};

/// Returns the schemas that a library prints. The files were made by `tests/schemas/print_*`.
fn printed(library: &str) -> Value {
    let text = match library {
        "pydantic" => include_str!("../schemas/pydantic.json"),
        _ => include_str!("../schemas/zod.json"),
    };
    serde_json::from_str(text).expect("it is JSON")
}

fn pointers(schema: &Value, value: &Value) -> Vec<String> {
    check(schema, value, "").into_iter().map(|problem| problem.pointer).collect()
}

#[test]
fn what_libraries_print_is_taken_and_checks() {
    let refund = json!({ "order": 1, "amount": 20, "currency": "EUR", "lines": [{ "sku": "AB-1", "quantity": 2 }], "due": null });
    let wrong = json!({ "order": 1, "amount": 20, "currency": "GBP", "lines": [{ "sku": "AB-1", "quantity": 0 }], "due": null });
    let places: &[&str] = &["/currency", "/lines/0/quantity"];
    let tree = json!({ "name": "a", "children": [{ "name": "b", "children": [] }] });
    let broken = json!({ "name": "a", "children": [{ "name": "b", "children": [{ "children": [] }] }] });
    let number = |value: Value| json!({ "kind": "number", "value": value });
    let sum = |left: Value| json!({ "kind": "sum", "left": left, "right": { "kind": "number", "value": 1 } });
    let table: [(&str, &str, Value, Value, &[&str]); 13] = [
        ("pydantic", "Refund", refund.clone(), wrong.clone(), places),
        (
            "pydantic",
            "Price",
            json!({ "net": "-0.10", "gross": "119.00", "rates": { "de": "0.19", "nl": 0.21, "us": null } }),
            json!({ "net": "+.", "gross": -1, "rates": { "de": "19%" } }),
            &["/gross", "/net", "/rates/de"],
        ),
        ("pydantic", "Node", tree.clone(), broken.clone(), &["/children/0/children/0"]),
        (
            "pydantic",
            "Formula",
            json!({ "root": sum(number(json!(2))) }),
            json!({ "root": sum(number(json!("2"))) }),
            &["/root/left/value"],
        ),
        ("pydantic", "Currency", json!("EUR"), json!("GBP"), &[""]),
        (
            "pydantic",
            "Lines",
            json!([{ "sku": "AB-1", "quantity": 1 }]),
            json!([{ "sku": "x" }]),
            &["/0", "/0/sku"],
        ),
        ("zod", "Refund", refund.clone(), wrong.clone(), places),
        ("zod", "RefundDraft7", refund.clone(), wrong.clone(), places),
        ("zod", "RefundReused", refund, wrong, places),
        ("zod", "Node", tree, broken, &["/children/0/children/0"]),
        ("zod", "Expression", sum(number(json!(2))), sum(number(json!("2"))), &["/left/value"]),
        ("zod", "Currency", json!("EUR"), json!("GBP"), &[""]),
        ("zod", "Email", json!("a@example.org"), json!("nobody"), &[""]),
    ];
    for (library, name, fits, does_not, at) in table {
        let schema = &printed(library)[name];
        assert_eq!(refuse_foreign(schema, ""), [], "{library} {name}");
        assert_eq!(pointers(schema, &fits), [""; 0], "{library} {name}");
        let mut found = pointers(schema, &does_not);
        found.sort();
        assert_eq!(found, at, "{library} {name}");
    }
}

#[test]
fn what_is_no_reference_within_is_named() {
    let table = [
        ("https", json!({ "$ref": "https://example.org/a.json" }), "/s/$ref"),
        ("a file", json!({ "items": { "$ref": "file:///etc/passwd" } }), "/s/items/$ref"),
        (
            "beside it",
            json!({ "properties": { "a/b": { "$ref": "other.json#/$defs/A" } } }),
            "/s/properties/a~1b/$ref",
        ),
        ("a draft", json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" }), "/s/$ref"),
        (
            "its own name",
            json!({ "$id": "https://example.org/a", "anyOf": [{ "$ref": "https://example.org/a" }] }),
            "/s/anyOf/0/$ref",
        ),
        ("no text", json!({ "$ref": 7 }), "/s/$ref"),
        ("nothing there", json!({ "$defs": { "A": {} }, "$ref": "#/$defs/B" }), "/s/$ref"),
        (
            "data",
            json!({ "default": { "type": "string" }, "items": { "$ref": "#/default" } }),
            "/s/items/$ref",
        ),
        ("an anchor", json!({ "$defs": { "A": { "$anchor": "a" } } }), "/s/$defs/A/$anchor"),
        ("a moving one", json!({ "$dynamicRef": "#a" }), "/s/$dynamicRef"),
        (
            "another document within",
            json!({ "$defs": { "A": { "$id": "https://example.org/a" } } }),
            "/s/$defs/A/$id",
        ),
        ("another draft", json!({ "$schema": "http://json-schema.org/draft-04/schema#" }), "/s/$schema"),
        ("a draft of one's own", json!({ "$schema": "https://example.org/mine" }), "/s/$schema"),
        (
            "a draft inside",
            json!({ "items": { "$schema": "https://json-schema.org/draft/2020-12/schema" } }),
            "/s/items/$schema",
        ),
        ("itself", json!({ "$ref": "#" }), "/s"),
        (
            "each other",
            json!({ "$defs": { "A": { "not": { "$ref": "#/$defs/B" } }, "B": { "allOf": [{ "$ref": "#/$defs/A" }] } } }),
            "/s/$defs/A",
        ),
        ("no schema", json!({ "properties": { "a": { "type": 7 } } }), "/s/properties/a/type"),
        ("a pattern that no engine reads", json!({ "pattern": "(a*" }), "/s/pattern"),
        (
            "unevaluated, beside a pattern that looks ahead",
            json!({ "properties": { "a": { "pattern": "^(?!x)" } }, "unevaluatedProperties": false }),
            "/s/unevaluatedProperties",
        ),
        (
            "unevaluated",
            json!({ "$defs": { "A": { "unevaluatedProperties": false } }, "items": { "$ref": "#/$defs/A" } }),
            "/s/$defs/A/unevaluatedProperties",
        ),
        ("size", json!({ "description": "x".repeat(16 * 1024) }), "/s"),
    ];
    for (what, schema, at) in table {
        let found: Vec<_> =
            refuse_foreign(&schema, "/s").into_iter().map(|problem| problem.pointer).collect();
        assert_eq!(found, [at], "{what}");
    }
}

/// A schema that requires itself as a part is rejected, because no value matches it. A recursive schema that can end is
/// accepted.
#[test]
fn a_schema_that_nothing_can_fit_is_refused() {
    let node = |required: &[&str], next: Value| {
        json!({ "type": "object", "required": required, "additionalProperties": false,
                "properties": { "name": { "type": "string" }, "next": next } })
    };
    let itself = || json!({ "$ref": "#" });
    let refused = [
        ("itself", node(&["name", "next"], itself()), "/s/properties/next"),
        (
            "each other",
            json!({ "$ref": "#/$defs/A", "$defs": {
                "A": { "type": "object", "required": ["b"], "properties": { "b": { "$ref": "#/$defs/B" } } },
                "B": { "type": "object", "required": ["a"], "properties": { "a": { "$ref": "#/$defs/A" } } },
            } }),
            "/s/$defs/B/properties/a",
        ),
        (
            "a list that is never empty",
            json!({ "type": "array", "minItems": 1, "items": itself() }),
            "/s/items",
        ),
        (
            "a tuple",
            json!({ "type": "array", "minItems": 2, "prefixItems": [{}, itself()] }),
            "/s/prefixItems/1",
        ),
        (
            "draft 07",
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "minItems": 2,
                    "items": [{}, itself()] }),
            "/s/items/1",
        ),
        (
            "each of a union",
            node(&["next"], json!({ "anyOf": [itself(), { "allOf": [itself()] }] })),
            "/s/properties/next/anyOf/0",
        ),
        (
            "two types",
            json!({ "type": ["object", "array"], "required": ["a"], "minItems": 1, "items": itself(),
                              "properties": { "a": itself() } }),
            "/s/properties/a",
        ),
        ("a name that may not be there", node(&["other"], json!({})), "/s/additionalProperties"),
        ("a member of nothing", node(&["next"], json!(false)), "/s/properties/next"),
        ("nothing", json!(false), "/s"),
    ];
    for (what, schema, at) in refused {
        let found: Vec<_> =
            refuse_foreign(&schema, "/s").into_iter().map(|problem| problem.pointer).collect();
        assert_eq!(found, [at], "{what}");
    }
    let taken = [
        node(&["name"], itself()),
        node(&["name", "next"], json!({ "anyOf": [itself(), { "type": "null" }] })),
        node(&["next"], json!({ "type": "array", "items": itself() })),
        json!({ "type": ["object", "null"], "required": ["next"], "properties": { "next": itself() } }),
        json!({ "type": "object", "additionalProperties": itself() }),
        json!({ "type": "array", "contains": itself(), "minContains": 0 }),
        json!({ "type": "object", "required": ["a"], "patternProperties": { "^a": { "type": "string" } },
                "additionalProperties": false }),
        json!({ "type": "object", "properties": { "a": false } }),
        json!(true),
    ];
    for schema in taken {
        assert_eq!(refuse_foreign(&schema, ""), [], "{schema}");
    }
}

#[test]
fn names_and_data_are_no_references() {
    let taken = [
        json!({ "$schema": "https://json-schema.org/draft/2020-12/schema#", "$id": "https://example.org/a", "$defs": { "A": { "type": "string" } }, "items": { "$ref": "#/$defs/A" } }),
        json!({ "properties": { "$ref": { "type": "string" }, "$schema": { "type": "string" } } }),
        json!({ "default": { "$ref": "https://example.org/a" }, "enum": [{ "$ref": 7 }], "const": { "$schema": "x" } }),
        json!({ "$defs": { "a/b": { "type": "string" } }, "items": { "$ref": "#/$defs/a~1b" } }),
        json!(true),
    ];
    for schema in taken {
        assert_eq!(refuse_foreign(&schema, ""), [], "{schema}");
    }
    assert_eq!(
        pointers(
            &json!({ "$id": "https://example.org/a", "$defs": { "A": { "type": "string" } }, "items": { "$ref": "#/$defs/A" } }),
            &json!([1])
        ),
        ["/0"]
    );
}

/// The check takes no exponential time for a short schema whose definitions each use the previous one twice.
#[test]
fn a_short_schema_costs_no_endless_check() {
    let doubling = |wrap: fn(&str) -> String| {
        let mut defs = String::new();
        for i in 0..30 {
            let next = format!("{{\"$ref\": \"#/$defs/a{}\"}}", i + 1);
            let _ = write!(defs, "\"a{i}\": {},", wrap(&next));
        }
        let schema =
            format!("{{\"$defs\": {{{defs} \"a30\": {{\"type\": \"string\"}}}}, \"$ref\": \"#/$defs/a0\"}}");
        serde_json::from_str::<Value>(&schema).expect("it is JSON")
    };
    let here = doubling(|next| format!("{{\"anyOf\": [{next}, {next}]}}"));
    let below = doubling(|next| format!("{{\"allOf\": [{{\"items\": {next}}}, {{\"items\": {next}}}]}}"));
    let recursive = json!({ "anyOf": [
        { "properties": { "a": { "$ref": "#" } }, "required": ["b"] },
        { "properties": { "a": { "$ref": "#" } }, "required": ["c"] },
        { "type": "string" },
    ] });
    let mut nested = json!(7);
    let mut listed = json!(7);
    for _ in 0..40 {
        nested = json!({ "a": nested });
        listed = json!([listed]);
    }
    for (what, schema, value) in
        [("here", here, json!(7)), ("below", below, listed), ("recursive", recursive, nested)]
    {
        let refused = refuse_foreign(&schema, "");
        let told: Vec<_> = refused
            .into_iter()
            .chain(check(&schema, &value, "/edit"))
            .map(|problem| problem.message)
            .collect();
        assert!(
            told.iter()
                .any(|message| message.contains("takes too long") || message.contains("leads through")),
            "{what}: {told:?}"
        );
    }
}

/// A value is refused if matching the pattern would take almost unlimited time, for a required and for a forbidden
/// match.
#[test]
fn a_pattern_that_backtracks_to_its_limit_refuses_the_value() {
    let endless = "^(?=(a|a)*\\1b)";
    let text = format!("{}!", "a".repeat(60));
    let many: Vec<Value> = (0..5_000).map(|i| json!(format!("{text}{i}"))).collect();
    let under = |schema: Value| json!({ "properties": { "a": schema } });
    let member = json!({ "a": text });
    let named = json!({ text.clone(): 1 });
    let table = [
        ("by itself", json!({ "pattern": endless }), json!(text), "simpler"),
        ("refers back", json!({ "pattern": "^(a|a)*\\1b" }), json!(text), "simpler"),
        ("negated", under(json!({ "not": { "pattern": endless } })), member.clone(), "simpler"),
        (
            "a condition",
            under(json!({ "if": { "pattern": endless }, "then": false })),
            member.clone(),
            "simpler",
        ),
        (
            "one of several",
            under(json!({ "oneOf": [{ "pattern": endless }, { "type": "string" }] })),
            member,
            "simpler",
        ),
        ("of a name", json!({ "patternProperties": { endless: false } }), named.clone(), "simpler"),
        ("of names", json!({ "propertyNames": { "not": { "pattern": endless } } }), named, "simpler"),
        ("many", json!({ "items": { "pattern": endless } }), json!(many), "takes too long to check"),
        ("long", json!({ "pattern": "^(?!b).*c" }), json!("a".repeat(200_000)), "takes too long to check"),
    ];
    for (what, schema, value, message) in table {
        assert_eq!(refuse_foreign(&schema, ""), [], "{what}");
        let told = check(&schema, &value, "/edit");
        assert!(told.iter().any(|problem| problem.message.contains(message)), "{what}: {told:?}");
    }
}

/// A value of the maximum depth and size is checked, and not refused because the schema is recursive.
#[test]
fn a_large_tree_is_checked() {
    let schema = &printed("pydantic")["Node"];
    let mut deep = json!({ "name": "leaf" });
    for _ in 0..30 {
        deep = json!({ "name": "x", "children": [deep], "twin": null });
    }
    assert_eq!(pointers(schema, &deep), [""; 0]);
    let wide: Vec<Value> = (0..2_000).map(|i| json!({ "name": i.to_string(), "children": [] })).collect();
    assert_eq!(pointers(schema, &json!({ "name": "root", "children": wide })), [""; 0]);
}

/// Compiling and checking an accepted schema never overflows the stack of a thread.
#[test]
fn the_deepest_that_is_taken_needs_no_deep_stack() {
    let mut defs = String::new();
    for i in 0..99 {
        let _ = write!(
            defs,
            "\"a{i}\": {{\"properties\": {{\"x\": {{\"items\": {{\"$ref\": \"#/$defs/a{}\"}}}}}}}},",
            i + 1
        );
    }
    let schema =
        format!("{{\"$defs\": {{{defs} \"a99\": {{\"$ref\": \"#/$defs/a0\"}}}}, \"$ref\": \"#/$defs/a0\"}}");
    let schema: Value = serde_json::from_str(&schema).expect("it is JSON");
    let mut value = json!(7);
    for _ in 0..32 {
        value = json!({ "x": [value] });
    }
    assert_eq!(refuse_foreign(&schema, ""), []);
    let checked =
        std::thread::Builder::new().stack_size(1024 * 1024).spawn(move || pointers(&schema, &value));
    assert_eq!(checked.expect("it starts").join().expect("it ends"), [""; 0]);
}

/// The error quotes only the start of a long value, and then the complete reason.
#[test]
fn the_reason_is_told_behind_a_long_value() {
    let long = "a".repeat(50_000);
    let table = [
        (json!({ "pattern": "^b+$" }), json!(long), "does not match"),
        (json!({ "maxLength": 3 }), json!(long), "is longer than 3 characters"),
        (json!({ "type": "integer" }), json!(long), "is not of type"),
        (json!({ "type": "string" }), json!(vec![1; 5_000]), "is not of type"),
        (json!({ "enum": ["x", "y"] }), json!(long), "is not one of"),
    ];
    for (schema, value, reason) in table {
        let problems = check(&schema, &value, "/edit");
        let [problem] = &problems[..] else { panic!("{schema}: {problems:?}") };
        assert!(problem.message.contains(reason), "{schema}: {}", problem.message);
        assert!(problem.message.contains('…') && problem.message.len() < 200, "{}", problem.message);
    }
}
