//! The FIT protocol: header, definitions, data messages, CRC. This module does not interpret the fields.
//!
//! Source: Garmin, *Flexible & Interoperable Data Transfer (FIT) Protocol*, rev. 2.4. Every size that a file states is
//! checked before it is used.
//!
//! The crate `fitparser` (0.11) is not used, because it reads only complete files. If the end of a file is missing, or
//! one part of a chain is broken, it returns no messages. It also converts times to the time zone of the machine,
//! writes to standard error, and has no limits. The tests compare this reader with two other readers.

/// Time 0 of FIT files: 1989-12-31T00:00:00Z.
pub(super) const EPOCH_S: i64 = 631_065_600;
/// Smallest absolute timestamp in FIT files. Smaller timestamps count the seconds since the device was started.
const FIRST_ABSOLUTE: u32 = 0x1000_0000;
const TIMESTAMP: u8 = 253;
const CRC_BYTES: usize = 2;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Text(String),
}

/// Data message of a FIT file, without the fields that FIT marks as invalid.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) number: u16,
    /// Offset of the message in the FIT file, in bytes.
    pub(super) at: usize,
    fields: Vec<(u8, Value)>,
}

impl Message {
    pub(super) fn number_of(&self, field: u8) -> Option<f64> {
        self.fields.iter().find_map(|(number, value)| match value {
            Value::Number(value) if *number == field => Some(*value),
            Value::Number(_) | Value::Text(_) => None,
        })
    }

    pub(super) fn text_of(&self, field: u8) -> Option<&str> {
        self.fields.iter().find_map(|(number, value)| match value {
            Value::Text(text) if *number == field => Some(&**text),
            Value::Number(_) | Value::Text(_) => None,
        })
    }

    /// Returns the time in a field of the FIT message, in seconds since 1970.
    pub(super) fn time_of(&self, field: u8) -> Option<i64> {
        let seconds = self.number_of(field)?;
        // The file itself defines the types of its fields. A valid time has 32 bits.
        let is_time = (f64::from(FIRST_ABSOLUTE)..=f64::from(u32::MAX)).contains(&seconds);
        #[expect(clippy::cast_possible_truncation, reason = "it is in the range of u32")]
        is_time.then(|| seconds as i64 + EPOCH_S)
    }

    pub(super) fn time(&self) -> Option<i64> {
        self.time_of(TIMESTAMP)
    }
}

/// Reason why the reader of a FIT file cannot continue.
#[derive(Debug, PartialEq)]
pub(super) enum Broken {
    Header(String),
    Crc { stored: u16, computed: u16 },
    Record { at: usize, why: String },
}

/// One FIT file, which may be part of a chain of FIT files.
#[derive(Debug)]
pub(super) struct Segment<'a> {
    /// Offset of this FIT file within the chain, in bytes.
    begins: usize,
    bytes: &'a [u8],
    at: usize,
    pub(super) ending: Ending,
    definitions: [Option<Definition>; 16],
    clock: u32,
    /// True if a definition in the FIT file lists developer fields: fields that apps on the device have added.
    pub(super) has_developer_fields: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Complete,
    Truncated,
    /// The header of the FIT file states the length 0 although data follows, because the device has not finished
    /// writing. Records are read until one is invalid.
    Unfinished,
}

#[derive(Clone, Debug)]
struct Definition {
    number: u16,
    big_endian: bool,
    fields: Vec<Field>,
    /// Total number of bytes of the developer fields in a FIT message, which follow the other fields.
    developer_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    number: u8,
    size: usize,
    base: u8,
}

/// Reads the next FIT file of a chain: parses its header, and checks its CRC if it is complete.
///
/// # Errors
/// Returns an error if the header is invalid, or if a CRC is wrong.
pub(super) fn segment(file: &[u8], begins: usize) -> Result<(Segment<'_>, usize), Broken> {
    let bytes = file.get(begins..).unwrap_or_default();
    let header = usize::from(*bytes.first().unwrap_or(&0));
    if ![12, 14].contains(&header) || bytes.len() < header || bytes.get(8..12) != Some(b".FIT") {
        return Err(Broken::Header("no FIT header".to_owned()));
    }
    let size =
        usize::try_from(u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])).unwrap_or(usize::MAX);
    let stored = |at: usize| {
        let two = bytes.get(at..at.checked_add(CRC_BYTES)?)?;
        Some(u16::from_le_bytes([two[0], two[1]]))
    };
    // A device writes the length last. If the length is 0, only the CRC or the next file of a chain may follow the
    // header.
    if size == 0 && bytes.len() > header + CRC_BYTES && stored(header) != Some(crc(&bytes[..header])) {
        let next = next_header(file, begins + header).unwrap_or(file.len());
        return Ok((Segment::new(begins, &file[begins..next], header, Ending::Unfinished), next));
    }
    if header == 14 {
        let computed = crc(&bytes[..12]);
        // A header without a CRC has 0 in this place.
        if let Some(stored) = stored(12).filter(|stored| *stored != 0 && *stored != computed) {
            return Err(Broken::Crc { stored, computed });
        }
    }
    let end = header.saturating_add(size);
    let ends = stored(end);
    if let Some(stored) = ends {
        let computed = crc(&bytes[..end]);
        if stored != computed {
            return Err(Broken::Crc { stored, computed });
        }
    }
    let ending = if ends.is_some() { Ending::Complete } else { Ending::Truncated };
    let segment = Segment::new(begins, &bytes[..end.min(bytes.len())], header, ending);
    Ok((segment, begins.saturating_add(end).saturating_add(CRC_BYTES).min(file.len())))
}

/// Returns the offset of the FIT file after a broken one in a chain. This is the end in the broken file's header if
/// valid, and otherwise the next bytes that look like a header.
pub(super) fn after_broken(file: &[u8], begins: usize) -> Option<usize> {
    let stated = file.get(begins..begins + 8).filter(|_| is_header(file, begins)).map(|header| {
        let size = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        begins.saturating_add(usize::from(header[0])).saturating_add(size as usize).saturating_add(CRC_BYTES)
    });
    stated.filter(|at| is_header(file, *at)).or_else(|| next_header(file, begins + 1))
}

fn next_header(file: &[u8], from: usize) -> Option<usize> {
    (from..file.len()).find(|at| is_header(file, *at))
}

fn is_header(file: &[u8], at: usize) -> bool {
    let bytes = file.get(at..).unwrap_or_default();
    matches!(bytes.first(), Some(12 | 14)) && bytes.get(8..12) == Some(b".FIT")
}

/// Computes the CRC-16/ARC of the bytes, as the FIT protocol describes it.
fn crc(bytes: &[u8]) -> u16 {
    const TABLE: [u16; 16] = [
        0x0000, 0xCC01, 0xD801, 0x1400, 0xF001, 0x3C00, 0x2800, 0xE401, 0xA001, 0x6C00, 0x7800, 0xB401,
        0x5000, 0x9C01, 0x8801, 0x4400,
    ];
    bytes.iter().fold(0, |crc, byte| {
        let nibble =
            |crc: u16, half: u8| (crc >> 4) ^ TABLE[usize::from(crc & 0xF)] ^ TABLE[usize::from(half & 0xF)];
        nibble(nibble(crc, *byte), byte >> 4)
    })
}

impl<'a> Segment<'a> {
    fn new(begins: usize, bytes: &'a [u8], at: usize, ending: Ending) -> Self {
        let (definitions, clock, has_developer_fields) = (Default::default(), 0, false);
        Self { begins, bytes, at, ending, definitions, clock, has_developer_fields }
    }

    /// Returns the next data message of the FIT file with a wanted message number. Returns `None` at the end, also of a
    /// truncated file.
    pub(super) fn next(&mut self, wanted: impl Fn(u16) -> bool) -> Result<Option<Message>, Broken> {
        while self.at < self.bytes.len() {
            let begins = self.at;
            let whole = self.message(&wanted);
            match whole {
                Ok(Some(message)) => return Ok(Some(message)),
                Ok(None) => {}
                Err(Stop::End) if self.ending != Ending::Complete => {
                    self.at = self.bytes.len();
                    return Ok(None);
                }
                Err(Stop::Malformed(_)) if self.ending == Ending::Unfinished => {
                    self.at = self.bytes.len();
                    return Ok(None);
                }
                Err(Stop::End) => {
                    let why = "the record extends past the end of the data".to_owned();
                    return Err(Broken::Record { at: self.begins + begins, why });
                }
                Err(Stop::Malformed(why)) => {
                    return Err(Broken::Record { at: self.begins + begins, why });
                }
            }
        }
        Ok(None)
    }

    fn take(&mut self, count: usize) -> Result<&[u8], Stop> {
        let taken =
            self.at.checked_add(count).and_then(|end| self.bytes.get(self.at..end)).ok_or(Stop::End)?;
        self.at += count;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        self.take(1).map(|taken| taken[0])
    }

    /// Reads one record of the FIT file. Returns `None` for a definition or an unwanted message.
    fn message(&mut self, wanted: &impl Fn(u16) -> bool) -> Result<Option<Message>, Stop> {
        let at = self.begins + self.at;
        let header = self.byte()?;
        if header & 0x80 != 0 {
            let offset = u32::from(header & 0x1F);
            self.clock = self.clock.wrapping_add(offset.wrapping_sub(self.clock) & 0x1F);
            return self.data((header >> 5) & 0x3, at, Some(self.clock), wanted);
        }
        if header & 0x40 == 0 {
            return self.data(header & 0xF, at, None, wanted);
        }
        self.definition(header & 0xF, header & 0x20 != 0).map(|()| None)
    }

    fn definition(&mut self, local: u8, with_developer_fields: bool) -> Result<(), Stop> {
        let fixed = self.take(5)?;
        let big_endian = match fixed[1] {
            0 => false,
            1 => true,
            other => return Err(Stop::Malformed(format!("byte order {other} is invalid"))),
        };
        let two = [fixed[2], fixed[3]];
        let number = if big_endian { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) };
        let count = usize::from(fixed[4]) * 3;
        let field =
            |three: &[u8]| Field { number: three[0], size: usize::from(three[1]), base: three[2] & 0x1F };
        // A field of size 0 is dropped. It has no content, and a file could contain any number of such fields.
        let fields = self.take(count)?.chunks_exact(3).map(field).filter(|field| field.size > 0).collect();
        let mut developer_bytes = 0;
        if with_developer_fields {
            let count = usize::from(self.byte()?) * 3;
            developer_bytes = self.take(count)?.chunks_exact(3).map(|three| usize::from(three[1])).sum();
            self.has_developer_fields |= developer_bytes > 0;
        }
        self.definitions[usize::from(local)] =
            Some(Definition { number, big_endian, fields, developer_bytes });
        Ok(())
    }

    fn data(
        &mut self,
        local: u8,
        at: usize,
        compressed: Option<u32>,
        wanted: &impl Fn(u16) -> bool,
    ) -> Result<Option<Message>, Stop> {
        let Some(definition) = self.definitions[usize::from(local)].take() else {
            return Err(Stop::Malformed(format!("the local type {local} has no definition")));
        };
        let message = self.fields(&definition, at, compressed, wanted);
        self.definitions[usize::from(local)] = Some(definition);
        message
    }

    fn fields(
        &mut self,
        definition: &Definition,
        at: usize,
        compressed: Option<u32>,
        wanted: &impl Fn(u16) -> bool,
    ) -> Result<Option<Message>, Stop> {
        let is_wanted = wanted(definition.number);
        let mut fields = Vec::new();
        if let Some(time) = compressed {
            fields.push((TIMESTAMP, Value::Number(f64::from(time))));
        }
        for field in &definition.fields {
            let bytes = self.take(field.size)?;
            let value = if is_wanted || field.number == TIMESTAMP {
                value(bytes, field.base, definition.big_endian)
            } else {
                None
            };
            if let Some(value) = value {
                if let (TIMESTAMP, Value::Number(time)) = (field.number, &value) {
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
                    let time = *time as u32;
                    self.clock = time;
                }
                fields.push((field.number, value));
            }
        }
        self.take(definition.developer_bytes)?;
        Ok(is_wanted.then_some(Message { number: definition.number, at, fields }))
    }
}

enum Stop {
    End,
    Malformed(String),
}

/// Returns the number of bytes of a FIT value with this base type, and the value that means "invalid". Returns `None`
/// for texts, bytes and unknown types.
const fn shape(base: u8) -> Option<(usize, u64)> {
    Some(match base {
        0x00 | 0x02 => (1, 0xFF),
        0x01 => (1, 0x7F),
        0x03 => (2, 0x7FFF),
        0x04 => (2, 0xFFFF),
        0x05 => (4, 0x7FFF_FFFF),
        0x06 | 0x08 => (4, 0xFFFF_FFFF),
        0x09 | 0x0F => (8, 0xFFFF_FFFF_FFFF_FFFF),
        0x0A => (1, 0),
        0x0B => (2, 0),
        0x0C => (4, 0),
        0x0E => (8, 0x7FFF_FFFF_FFFF_FFFF),
        0x10 => (8, 0),
        _ => return None,
    })
}

/// Parses a single number or a text in a FIT file. Returns `None` for lists, bytes and invalid values.
fn value(bytes: &[u8], base: u8, big_endian: bool) -> Option<Value> {
    const TEXT: u8 = 0x07;
    if base == TEXT {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
        return (!text.is_empty()).then_some(Value::Text(text));
    }
    let (size, invalid) = shape(base)?;
    if bytes.len() != size {
        return None;
    }
    let fold = |bits: u64, byte: &u8| (bits << 8) | u64::from(*byte);
    let bits = if big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) };
    (bits != invalid).then(|| Value::Number(number(bits, base))).filter(|value| match value {
        Value::Number(number) => number.is_finite(),
        Value::Text(_) => true,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "the bits have the size of the type, and no measure exceeds 2^53"
)]
fn number(bits: u64, base: u8) -> f64 {
    match base {
        0x01 => f64::from(bits as u8 as i8),
        0x03 => f64::from(bits as u16 as i16),
        0x05 => f64::from(bits as u32 as i32),
        0x0E => bits as i64 as f64,
        0x08 => f64::from(f32::from_bits(bits as u32)),
        0x09 => f64::from_bits(bits),
        _ => bits as f64,
    }
}
