//! Strict deserialisation of parsed JSON: a struct must be an object, and an enum must be a string.
//!
//! Serde alone would also accept a list in place of a struct, with the fields in the order of their declaration. The
//! error messages of serde would contain names of Rust types. Every request body, protocol frame and plan from outside
//! is therefore deserialised through this module, at every depth.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

/// Deserialises a value strictly: `T::deserialize(Strict(&value))`.
#[derive(Clone, Copy, Debug)]
pub struct Strict<'v>(pub &'v Value);

impl<'v> Strict<'v> {
    fn only<V: Visitor<'v>>(self, fits: bool, expected: &str, visitor: V) -> Result<V::Value, Error> {
        if fits { self.deserialize_any(visitor) } else { Err(self.misfit(expected)) }
    }

    fn misfit(self, expected: &str) -> Error {
        let found = match self.0 {
            Value::Null => "null",
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            Value::Number(number) => &number.to_string(),
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        Error::custom(format_args!("{expected} is expected, not {found}"))
    }
}

impl<'v> IntoDeserializer<'v, Error> for Strict<'v> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

// The macro below needs a lifetime with this name.
impl<'de> Deserializer<'de> for Strict<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                let mut rest = SeqDeserializer::new(items.iter().map(Strict));
                let read = visitor.visit_seq(&mut rest)?;
                rest.end()?;
                Ok(read)
            }
            Value::Object(fields) => {
                let fields = fields.iter().map(|(key, value)| (key.as_str(), Strict(value)));
                let mut rest = MapDeserializer::new(fields);
                let read = visitor.visit_map(&mut rest)?;
                rest.end()?;
                Ok(read)
            }
            scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                scalar.deserialize_any(visitor)
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.only(self.0.is_object(), "an object", visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.only(self.0.is_array(), "a list", visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.only(self.0.is_string(), "a text", visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.only(self.0.is_boolean(), "true or false", visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.only(self.0.is_u64(), "a whole number from 0", visitor)
    }

    /// Accepts only enum variants without data. Enums in requests never carry data.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0.as_str() {
            Some(word) => visitor.visit_enum(word.into_deserializer()),
            None => Err(self.misfit("a text")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct
        identifier ignored_any
    }
}
