//! Canonical JSON (RFC 8785). Each value has exactly one text, so equal values have equal digests.
//!
//! The writer makes one pass over the value, and builds no intermediate tree. When an object ends, the writer sorts the
//! fields that it has written for this object.

use std::cmp::Ordering;
use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

use crate::json::MAX_INTEGER;

/// Returns the RFC 8785 bytes of a value. The serialisation of Holdshort's own types cannot fail, because their keys
/// are texts and their numbers are finite.
pub fn canonical<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    let writer = Writer { to: &mut bytes, open: Vec::new(), fields: Vec::new() };
    value
        .serialize(&mut Serializer::with_formatter(io::sink(), writer))
        .expect("a journal type serialises to JSON");
    bytes
}

/// Formatter that writes canonical JSON to the buffer `to`. Ignores the writer that serde passes to each method. To
/// sort the fields of an object, the formatter must read the bytes that it has already written.
struct Writer<'a> {
    to: &'a mut Vec<u8>,
    /// JSON objects whose end the canonical writer has not written yet, the outermost first.
    open: Vec<Object>,
    /// Fields of the JSON objects whose end the canonical writer has not written yet.
    fields: Vec<Field>,
}

struct Object {
    /// Offset in the output buffer at which the first field of the JSON object begins.
    begin: usize,
    /// Number of entries in the writer's list `fields` that belong to enclosing JSON objects.
    outer: usize,
}

/// Offsets of a JSON field in the output buffer: the first quote of its key, the end of its key, and the end of its
/// value.
#[derive(Clone, Copy)]
struct Field {
    begin: usize,
    colon: usize,
    end: usize,
}

impl Writer<'_> {
    fn double(&mut self, value: f64) {
        self.to.extend(ryu_js::Buffer::new().format(value).as_bytes());
    }

    /// Sorts the fields of a JSON object. Does nothing if the fields are already in order.
    fn sort(&mut self, object: &Object) {
        let bytes = &*self.to;
        let order = |a: &Field, b: &Field| compare(a.key(bytes), b.key(bytes));
        let fields = &mut self.fields[object.outer..];
        if fields.is_sorted_by(|a, b| order(a, b).is_lt()) {
            return;
        }
        fields.sort_by(order);
        let mut sorted = Vec::with_capacity(bytes.len() - object.begin);
        for (i, field) in fields.iter().enumerate() {
            if i > 0 {
                sorted.push(b',');
            }
            sorted.extend(&bytes[field.begin..field.end]);
        }
        self.to.truncate(object.begin);
        self.to.append(&mut sorted);
    }
}

impl Field {
    /// Returns the escaped key of a JSON field, without its quotes.
    fn key<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.begin + 1..self.colon - 1]
    }
}

/// Compares JSON keys as UTF-16 (RFC 8785, 3.2.3). UTF-16 and UTF-8 sort characters above U+FFFF differently.
fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let plain = |key: &[u8]| !key.iter().any(|byte| *byte == b'\\' || *byte >= 0xf0);
    if plain(a) && plain(b) { a.cmp(b) } else { utf16(a).cmp(&utf16(b)) }
}

/// Decodes an escaped JSON key into UTF-16.
fn utf16(written: &[u8]) -> Vec<u16> {
    let quoted = [b"\"", written, b"\""].concat();
    let key: String = serde_json::from_slice(&quoted).expect("a key that was just written");
    key.encode_utf16().collect()
}

/// Keeps the default escaping of texts, because `serde_json` escapes characters exactly as RFC 8785, 3.2.2.2 requires.
impl Formatter for Writer<'_> {
    fn write_null<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.write_null(self.to)
    }

    fn write_bool<W: io::Write + ?Sized>(&mut self, _: &mut W, value: bool) -> io::Result<()> {
        CompactFormatter.write_bool(self.to, value)
    }

    fn write_i8<W: io::Write + ?Sized>(&mut self, to: &mut W, value: i8) -> io::Result<()> {
        self.write_i64(to, value.into())
    }

    fn write_i16<W: io::Write + ?Sized>(&mut self, to: &mut W, value: i16) -> io::Result<()> {
        self.write_i64(to, value.into())
    }

    fn write_i32<W: io::Write + ?Sized>(&mut self, to: &mut W, value: i32) -> io::Result<()> {
        self.write_i64(to, value.into())
    }

    /// Writes a JSON integer as the nearest double, in the format of ECMAScript (RFC 8785, 3.2.2.3). If a double can
    /// represent the integer exactly, the integer is written unchanged.
    #[expect(clippy::cast_precision_loss, reason = "RFC 8785 requires the nearest double")]
    fn write_i64<W: io::Write + ?Sized>(&mut self, _: &mut W, value: i64) -> io::Result<()> {
        if value.unsigned_abs() <= MAX_INTEGER {
            return CompactFormatter.write_i64(self.to, value);
        }
        self.double(value as f64);
        Ok(())
    }

    fn write_i128<W: io::Write + ?Sized>(&mut self, _: &mut W, _: i128) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn write_u8<W: io::Write + ?Sized>(&mut self, to: &mut W, value: u8) -> io::Result<()> {
        self.write_u64(to, value.into())
    }

    fn write_u16<W: io::Write + ?Sized>(&mut self, to: &mut W, value: u16) -> io::Result<()> {
        self.write_u64(to, value.into())
    }

    fn write_u32<W: io::Write + ?Sized>(&mut self, to: &mut W, value: u32) -> io::Result<()> {
        self.write_u64(to, value.into())
    }

    #[expect(clippy::cast_precision_loss, reason = "RFC 8785 requires the nearest double")]
    fn write_u64<W: io::Write + ?Sized>(&mut self, _: &mut W, value: u64) -> io::Result<()> {
        if value <= MAX_INTEGER {
            return CompactFormatter.write_u64(self.to, value);
        }
        self.double(value as f64);
        Ok(())
    }

    fn write_u128<W: io::Write + ?Sized>(&mut self, _: &mut W, _: u128) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn write_f32<W: io::Write + ?Sized>(&mut self, to: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(to, value.into())
    }

    fn write_f64<W: io::Write + ?Sized>(&mut self, _: &mut W, value: f64) -> io::Result<()> {
        self.double(value);
        Ok(())
    }

    fn write_number_str<W: io::Write + ?Sized>(&mut self, _: &mut W, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn begin_string<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.begin_string(self.to)
    }

    fn end_string<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.end_string(self.to)
    }

    fn write_string_fragment<W: io::Write + ?Sized>(&mut self, _: &mut W, text: &str) -> io::Result<()> {
        CompactFormatter.write_string_fragment(self.to, text)
    }

    fn write_char_escape<W: io::Write + ?Sized>(&mut self, _: &mut W, escape: CharEscape) -> io::Result<()> {
        CompactFormatter.write_char_escape(self.to, escape)
    }

    fn write_byte_array<W: io::Write + ?Sized>(&mut self, _: &mut W, bytes: &[u8]) -> io::Result<()> {
        CompactFormatter.write_byte_array(self.to, bytes)
    }

    fn begin_array<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.begin_array(self.to)
    }

    fn end_array<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.end_array(self.to)
    }

    fn begin_array_value<W: io::Write + ?Sized>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        CompactFormatter.begin_array_value(self.to, first)
    }

    fn begin_object<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        CompactFormatter.begin_object(self.to)?;
        self.open.push(Object { begin: self.to.len(), outer: self.fields.len() });
        Ok(())
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        if let Some(object) = self.open.pop() {
            self.sort(&object);
            self.fields.truncate(object.outer);
        }
        CompactFormatter.end_object(self.to)
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        CompactFormatter.begin_object_key(self.to, first)?;
        let begin = self.to.len();
        self.fields.push(Field { begin, colon: begin, end: begin });
        Ok(())
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        if let Some(field) = self.fields.last_mut() {
            field.colon = self.to.len();
        }
        CompactFormatter.begin_object_value(self.to)
    }

    fn end_object_value<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        if let Some(field) = self.fields.last_mut() {
            field.end = self.to.len();
        }
        Ok(())
    }

    fn write_raw_fragment<W: io::Write + ?Sized>(&mut self, _: &mut W, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
