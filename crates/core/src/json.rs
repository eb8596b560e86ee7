//! JSON from untrusted sources: strict parsing, and canonical writing (RFC 8785).
//!
//! Input that JSON readers could understand differently is rejected: duplicate keys, and integers beyond 2^53−1 (RFC
//! 8785, 3.2.2.3; I-JSON, RFC 7493). All input from outside Holdshort is parsed with [`parse`] or [`from_slice`].

use std::fmt;

use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

pub use crate::canonical::canonical;

/// Largest integer that all JSON readers represent exactly.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Error returned when a text is not JSON that [`parse`] accepts. The message contains the line and the column.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(#[from] serde_json::Error);

/// Parses JSON strictly. Accepts only UTF-8 without duplicate keys, without integers beyond ±(2^53−1), and without
/// anything after the value.
pub fn parse(bytes: &[u8]) -> Result<Value, Error> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Parses JSON strictly and deserialises it.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    Ok(serde_json::from_value(parse(bytes)?)?)
}

/// Returns true if the value is the default value of its type. Used with `skip_serializing_if`, so that serde leaves
/// out such a field.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Maximum nesting depth of a value from outside Holdshort. JSON readers stop at a depth of 128, and events nest such
/// values more deeply.
pub const MAX_DEPTH: usize = 64;

/// Returns the reason why different JSON readers could understand the value differently. `None` if all JSON readers
/// understand the value in the same way.
pub fn unsafe_part(value: &Value) -> Option<&'static str> {
    fn look(value: &Value, depth: usize) -> Option<&'static str> {
        match value {
            Value::Null | Value::Bool(_) | Value::String(_) => None,
            Value::Number(number) => {
                (!is_safe(number)).then_some("an integer beyond 2^53-1; write it as text")
            }
            Value::Array(_) | Value::Object(_) if depth == 0 => Some("nested deeper than 64 levels"),
            Value::Array(items) => items.iter().find_map(|item| look(item, depth - 1)),
            Value::Object(map) => map.values().find_map(|item| look(item, depth - 1)),
        }
    }
    look(value, MAX_DEPTH)
}

/// Returns the value that is obtained by writing this value as JSON and parsing it again. In the result, keys are
/// sorted as in RFC 8785, and a number without a fraction is an integer. Values with the same canonical form are then
/// equal, and are shown to people in the same way.
#[must_use]
pub fn as_read_again(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(&number).unwrap_or(number)),
        Value::Array(items) => items.into_iter().map(as_read_again).collect(),
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.into_iter().map(|(key, item)| (key, as_read_again(item))).collect();
            pairs.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    }
}

/// Converts a number without a fraction to an integer, for example `14.0` to `14`.
fn whole(number: &Number) -> Option<Number> {
    let value = number.as_f64().filter(|value| number.is_f64() && value.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "a safe number without a fraction")]
    is_safe(number).then(|| Number::from(value as i64))
}

/// Returns the value that is obtained by [writing and parsing](as_read_again) this value. Parts that some JSON readers
/// would reject are converted to text. Writing and parsing the result therefore never fails.
pub fn made_safe(value: Value) -> Value {
    // The journal adds a few levels around a value from outside.
    const DEPTH: usize = MAX_DEPTH + 16;
    fn make(value: Value, depth: usize) -> Value {
        match value {
            Value::Number(number) if !is_safe(&number) => Value::String(number.to_string()),
            Value::Array(_) | Value::Object(_) if depth == 0 => Value::String(value.to_string()),
            Value::Array(items) => items.into_iter().map(|item| make(item, depth - 1)).collect(),
            Value::Object(map) => {
                Value::Object(map.into_iter().map(|(key, item)| (key, make(item, depth - 1))).collect())
            }
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) => value,
        }
    }
    as_read_again(make(value, DEPTH))
}

#[expect(clippy::cast_precision_loss, reason = "2^53 is exact in f64")]
fn is_safe(number: &Number) -> bool {
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(n), _, _) => n <= MAX_INTEGER,
        (None, Some(n), _) => n.unsigned_abs() <= MAX_INTEGER,
        (None, None, Some(n)) => n.fract() != 0.0 || n.abs() <= MAX_INTEGER as f64,
        (None, None, None) => false,
    }
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

fn too_large<E: de::Error>() -> E {
    E::custom("an integer beyond 2^53-1 has no safe meaning in JSON; write it as text")
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > MAX_INTEGER { Err(too_large()) } else { Ok(value.into()) }
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        if value > MAX_INTEGER { Err(too_large()) } else { Ok(value.into()) }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        // A huge integer is parsed as a float without a fraction, and has already lost some of its digits.
        #[expect(clippy::cast_precision_loss, reason = "2^53 is exact in f64")]
        if value.fract() == 0.0 && value.abs() > MAX_INTEGER as f64 {
            return Err(too_large());
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Strict)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let value = access.next_value_seed(Strict)?;
            if map.contains_key(&key) {
                return Err(de::Error::custom(format_args!(
                    "the key `{}` appears twice",
                    key.escape_debug()
                )));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
