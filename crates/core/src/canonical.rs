//! Canonical JSON (RFC 8785): one text for one value, so that digests of it mean something.

use serde::Serialize;
use serde_json::{Number, Value};

use crate::json::MAX_INTEGER;

/// RFC 8785 bytes of a value. Our own types always have them: their keys are text and their numbers finite.
pub fn canonical<T: Serialize>(value: &T) -> Vec<u8> {
    let value = serde_json::to_value(value).expect("a journal type serialises to JSON");
    let mut bytes = Vec::with_capacity(512);
    write(&value, &mut bytes);
    bytes
}

fn write(value: &Value, to: &mut Vec<u8>) {
    match value {
        Value::Null => to.extend(b"null"),
        Value::Bool(true) => to.extend(b"true"),
        Value::Bool(false) => to.extend(b"false"),
        Value::Number(number) => write_number(number, to),
        Value::String(text) => write_text(text, to),
        Value::Array(items) => {
            to.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    to.push(b',');
                }
                write(item, to);
            }
            to.push(b']');
        }
        Value::Object(map) => {
            let mut fields: Vec<(&String, &Value)> = map.iter().collect();
            // In UTF-16 (3.2.3), which orders characters beyond the first plane differently from UTF-8.
            fields.sort_unstable_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            to.push(b'{');
            for (i, (key, item)) in fields.into_iter().enumerate() {
                if i > 0 {
                    to.push(b',');
                }
                write_text(key, to);
                to.push(b':');
                write(item, to);
            }
            to.push(b'}');
        }
    }
}

/// As ECMAScript writes the nearest double (3.2.2.3). Integers that doubles hold exactly are those digits.
fn write_number(number: &Number, to: &mut Vec<u8>) {
    match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) if integer.unsigned_abs() <= MAX_INTEGER => {
            to.extend(integer.to_string().as_bytes());
        }
        (_, Some(double)) => to.extend(ryu_js::Buffer::new().format(double).as_bytes()),
        (_, None) => unreachable!("a JSON number is a double: {number}"),
    }
}

/// The escapes of `serde_json` are those of 3.2.2.2.
fn write_text(text: &str, to: &mut Vec<u8>) {
    serde_json::to_writer(to, text).expect("memory takes what is written");
}
