//! Packs ids into 17 bytes instead of 30 characters, for the database. Packed ids have the same order as the texts.
//! They are never shown to people.

use holdshort_core::id::{Id, StreamId};

/// Alphabet of ids (Crockford base 32), sorted by the values of the characters.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Value of each character of an id. A character outside the alphabet has the value 0.
const VALUES: [u8; 256] = {
    let mut values = [0; 256];
    let mut value = 0_u8;
    while value < 32 {
        values[ALPHABET[value as usize] as usize] = value;
        value += 1;
    }
    values
};
/// Number of characters that an id has after its prefix. The first byte of a packed id holds the 5 bits of the first
/// character. The other 125 bits are in 16 bytes.
const LENGTH: usize = 26;

pub(super) type Packed = [u8; 17];

/// Packs an id. `id` is the text of the id with its prefix.
pub(super) fn pack(id: &str) -> Packed {
    let text = id.split_once('_').map_or(id, |(_, text)| text);
    let mut values = text.bytes().map(|char| VALUES[usize::from(char)]);
    let first = values.next().unwrap_or_default();
    let rest = values.fold(0_u128, |bits, value| bits << 5 | u128::from(value));
    let mut packed = [0; 17];
    packed[0] = first;
    packed[1..].copy_from_slice(&rest.to_be_bytes());
    packed
}

/// Returns the id that the bytes are packed from. Returns `None` for bytes that `pack` never produces.
pub(super) fn unpack<I: Id>(packed: &[u8]) -> Option<I> {
    let packed: &Packed = packed.try_into().ok()?;
    let rest = u128::from_be_bytes(packed[1..].try_into().ok()?);
    if rest >> (5 * (LENGTH - 1)) != 0 {
        return None;
    }
    let mut text = String::with_capacity(I::PREFIX.len() + LENGTH);
    text.push_str(I::PREFIX);
    text.push(char::from(*ALPHABET.get(usize::from(packed[0]))?));
    for i in (0..LENGTH - 1).rev() {
        text.push(char::from(ALPHABET[(rest >> (5 * i) & 31) as usize]));
    }
    Some(I::from_text(text))
}

/// Packs the id of a stream: one byte for the kind of stream, then the packed id of the run or session.
pub(super) fn pack_stream(stream: &StreamId) -> Vec<u8> {
    match stream {
        StreamId::Run(run) => tagged(1, run.as_str()),
        StreamId::Session(session) => tagged(2, session.as_str()),
        StreamId::System => vec![3],
    }
}

pub(super) fn unpack_stream(packed: &[u8]) -> Option<StreamId> {
    match packed.split_first()? {
        (1, id) => unpack(id).map(StreamId::Run),
        (2, id) => unpack(id).map(StreamId::Session),
        (3, []) => Some(StreamId::System),
        _ => None,
    }
}

fn tagged(tag: u8, id: &str) -> Vec<u8> {
    let mut packed = vec![tag];
    packed.extend(pack(id));
    packed
}

#[cfg(test)]
mod tests {
    use holdshort_core::id::RunId;

    use super::*;

    #[test]
    fn packing_keeps_every_id_and_their_order() {
        let texts = [
            "00000000000000000000000000",
            "01kd2ae0007zj8m4cs9w1qv3xz",
            "01kd2ae0007zj8m4cs9w1qv3zz",
            "7zzzzzzzzzzzzzzzzzzzzzzzzz",
            "zzzzzzzzzzzzzzzzzzzzzzzzzy",
        ];
        let ids = texts.map(|text| format!("run_{text}").parse::<RunId>().unwrap());
        let packed = ids.clone().map(|id| pack(id.as_str()));
        assert!(packed.is_sorted());
        assert_eq!(packed.map(|packed| unpack::<RunId>(&packed).unwrap()), ids);
    }

    #[test]
    fn bytes_that_are_no_id_are_refused() {
        assert_eq!(unpack::<RunId>(&[0; 16]), None);
        assert_eq!(unpack::<RunId>(&[255; 17]), None);
        assert_eq!(unpack_stream(&[]), None);
        assert_eq!(unpack_stream(&[3, 0]), None);
    }
}
