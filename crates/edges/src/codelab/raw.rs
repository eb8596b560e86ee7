//! Reads tool results of any JSON type as text: numbers keep their digits, and keys may be repeated. `message.rs`
//! parses the other members of a `tool_result` message strictly.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, json};

/// Converts the members `result` and `error` of a `tool_result` message to strings. Returns `None` if no member needs a
/// conversion, or if the text is not a `tool_result` message.
pub(super) fn results_as_texts(message: &str) -> Option<String> {
    let members = members(message)?;
    let is_result = members.iter().any(|(key, value)| *key == r#""type""# && *value == r#""tool_result""#);
    let is_raw = |(key, value): &(&str, &str)| {
        matches!(*key, r#""result""# | r#""error""#) && !value.starts_with('"') && *value != "null"
    };
    if !is_result || !members.iter().any(is_raw) {
        return None;
    }
    let member = |member: &(&str, &str)| {
        let (key, value) = *member;
        if is_raw(member) { format!("{key}:{}", json!(value)) } else { format!("{key}:{value}") }
    };
    Some(format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(",")))
}

/// Returns the names and values of a JSON object's members, both in their original spelling.
fn members(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = text.trim_start().strip_prefix('{')?.trim_start();
    let mut members = Vec::new();
    loop {
        let (key, after) = value::<String>(rest)?;
        let (value, after) = value::<IgnoredAny>(after.trim_start().strip_prefix(':')?)?;
        members.push((key, value));
        let after = after.trim_start();
        if let Some(end) = after.strip_prefix('}') {
            return end.trim_start().is_empty().then_some(members);
        }
        rest = after.strip_prefix(',')?;
    }
}

/// Returns the JSON value at the start of the text in its original spelling, and the text after this value.
fn value<'t, T: Deserialize<'t>>(text: &'t str) -> Option<(&'t str, &'t str)> {
    let mut values = Deserializer::from_str(text).into_iter::<T>();
    values.next()?.ok()?;
    let (value, rest) = text.split_at_checked(values.byte_offset())?;
    Some((value.trim(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stay_as_they_are_written() {
        let table = [
            (
                r#"{"type":"tool_result","call_id":"c","result":{"n": 1763819583123456789}}"#,
                Some(r#"{"n": 1763819583123456789}"#),
            ),
            (r#" { "type" : "tool_result" , "result" : {"a":1,"a":2} } "#, Some(r#"{"a":1,"a":2}"#)),
            (r#"{"type":"tool_result","result":1.50}"#, Some("1.50")),
            (r#"{"type":"tool_result","result":"text"}"#, None),
            (r#"{"type":"tool_result","result":null}"#, None),
            (r#"{"type":"user_message","result":1}"#, None),
            (r#"{"type":"tool_result","result":[1"#, None),
            (r#"{"type":"tool_result","result":1} x"#, None),
            ("[]", None),
            ("", None),
        ];
        for (text, expected) in table {
            let changed = results_as_texts(text).map(|text| serde_json::from_str::<serde_json::Value>(&text));
            let found = changed.map(|changed| changed.unwrap()["result"].as_str().unwrap().to_owned());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        // A repeated member of the message itself is not removed here: `message.rs` rejects the message.
        let twice = results_as_texts(r#"{"type":"tool_result","result":1,"result":2}"#).unwrap();
        assert_eq!(twice.matches("result\":").count(), 2);
    }
}
