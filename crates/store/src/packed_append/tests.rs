//! Tests that packed events are unpacked unchanged, and that malformed columns are rejected.

use holdshort_core::id::StreamId;

use super::*;
use crate::log::{CONTENT_INLINE_LIMIT, StreamAppend};

/// Seeded random number generator (`SplitMix64`). The seed of a failing test case reproduces the failure.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn byte(&mut self) -> u8 {
        self.roll(256).to_le_bytes()[0]
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        (0..self.roll(most + 1)).map(|_| self.byte()).collect()
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    /// Generates events of a stream that follow the sequence number `after`. Some of the events have content.
    fn events(&mut self, after: u64) -> Vec<Sealed> {
        let (count, one_in) = (1 + self.roll(6), 1 + self.roll(3));
        let event = |seq| Sealed {
            stream: StreamId::System,
            seq,
            head: self.bytes(40),
            content: (self.roll(one_in) == 0).then(|| self.content()),
            hash: Digest::from_bytes(self.array()),
        };
        (after + 1..=after + count).map(event).collect()
    }

    fn content(&mut self) -> SealedContent {
        let bytes = match self.roll(8) {
            0 => vec![self.byte(); CONTENT_INLINE_LIMIT + 1],
            _ => self.bytes(30),
        };
        SealedContent { salt: self.array(), bytes }
    }
}

fn packed(columns: &Columns, seq: u64, position: u64) -> PackedAppend<'_> {
    let Columns { hashes, heads, contents } = columns;
    PackedAppend { stream: StreamId::System, seq, position, hashes, heads, contents: contents.as_deref() }
}

#[test]
fn what_was_packed_is_unpacked_as_it_was() {
    for seed in 0..500 {
        let mut dice = Dice(seed);
        let after = dice.roll(3);
        let events = dice.events(after);
        let mut blobs = Vec::new();
        let columns = Columns::pack(&events, |digest, bytes| blobs.push((digest, bytes.to_vec())));
        let (seq, position) = (after + events.len() as u64, after + 7 + events.len() as u64);
        let unpacked = packed(&columns, seq, position).unpack().unwrap();
        let blob = |wanted: &Digest| {
            let found = blobs.iter().find(|(digest, _)| digest == wanted);
            found.map(|(_, bytes)| bytes.clone())
        };
        let complete = |event: Unpacked| {
            let blob = event.blob.as_ref().and_then(blob);
            event.complete(blob).unwrap()
        };
        let expected: Vec<_> =
            events.into_iter().map(|event| Positioned { position: event.seq + 7, event }).collect();
        assert_eq!(unpacked.into_iter().map(complete).collect::<Vec<_>>(), expected, "seed {seed}");
    }
}

type Column = fn(&mut Columns) -> Option<&mut Vec<u8>>;
type Edit = fn(&mut Vec<u8>);

#[test]
fn lengths_that_do_not_add_up_are_refused() {
    let columns: [(&str, Column); 3] = [
        ("hashes", |it| Some(&mut it.hashes)),
        ("heads", |it| Some(&mut it.heads)),
        ("contents", |it| it.contents.as_mut()),
    ];
    let edits: [(&str, Edit); 3] = [
        ("a byte too many", |bytes| bytes.push(0)),
        ("a byte too few", |bytes| bytes.truncate(bytes.len() - 1)),
        ("nothing", Vec::clear),
    ];
    for seed in 0..200 {
        let events = Dice(seed).events(0);
        let seq = events.len() as u64;
        let whole = Columns::pack(&events, |_, _| ());
        for (name, column) in columns {
            for (what, edit) in edits {
                let mut damaged = whole.clone();
                let Some(bytes) = column(&mut damaged) else { continue };
                edit(bytes);
                let refused = packed(&damaged, seq, seq).unpack();
                assert!(
                    matches!(refused, Err(Error::Corrupt(_))),
                    "seed {seed}, {name}, {what}: {refused:?}"
                );
            }
        }
        let mut of_another_kind = whole.clone();
        if let Some(contents) = &mut of_another_kind.contents {
            contents[0] = 3;
            let refused = packed(&of_another_kind, seq, seq).unpack();
            assert!(matches!(refused, Err(Error::Corrupt(_))), "seed {seed}: {refused:?}");
        }
        let before_the_first = packed(&whole, seq - 1, seq).unpack();
        assert!(matches!(before_the_first, Err(Error::Corrupt(_))), "seed {seed}: {before_the_first:?}");
    }
}

#[test]
fn noise_is_events_or_damage() {
    for seed in 0..2_000 {
        let mut dice = Dice(seed);
        let events = dice.events(0);
        let mut columns = Columns::pack(&events, |_, _| ());
        for _ in 0..=dice.roll(3) {
            let column = match dice.roll(3) {
                0 => &mut columns.hashes,
                1 => &mut columns.heads,
                _ => columns.contents.get_or_insert_default(),
            };
            if let Some(last) = (column.len() as u64).checked_sub(1) {
                let at = usize::try_from(dice.roll(last + 1)).unwrap();
                column[at] = dice.byte();
            }
        }
        match packed(&columns, 9, 9).unpack() {
            Ok(unpacked) => assert_eq!(unpacked.len(), events.len(), "seed {seed}"),
            Err(error) => assert!(matches!(error, Error::Corrupt(_)), "seed {seed}: {error:?}"),
        }
    }
}

#[test]
fn a_content_without_its_blob_names_the_event() {
    let bytes = vec![b'x'; CONTENT_INLINE_LIMIT + 1];
    let content = Some(SealedContent { salt: [5; 16], bytes });
    let event =
        Sealed { stream: StreamId::System, seq: 1, head: Vec::new(), content, hash: Digest::of_bytes(b"") };
    let events = [event];
    let columns = Columns::pack(&events, |_, _| ());
    let unpacked = packed(&columns, 1, 1).unpack().unwrap().remove(0);
    let refused = unpacked.complete(None).unwrap_err().to_string();
    assert!(refused.contains("the content of sys/1 is missing: there is no blob "), "{refused}");
}

/// Tests that an event that an older version stored in a row of its own is packed like an append with one event.
#[test]
fn an_event_of_its_own_row_is_an_append_of_one() {
    for seed in 0..100 {
        let mut dice = Dice(seed);
        let event = dice.events(0).remove(0);
        let Sealed { head, content, hash, .. } = &event;
        let large = content.as_ref().filter(|content| check::is_large(&content.bytes));
        let blob = large.map(|content| Digest::of_bytes(&content.bytes));
        let columns = Columns::of_event(
            hash.as_bytes(),
            head,
            content.as_ref().map(|content| content.salt.as_slice()),
            blob.as_ref().map(|digest| digest.as_bytes().as_slice()),
            content.as_ref().map(|content| content.bytes.as_slice()).filter(|_| blob.is_none()),
        );
        assert_eq!(columns, Columns::pack(std::slice::from_ref(&event), |_, _| ()), "seed {seed}");
    }
}

#[test]
fn an_append_of_many_events_has_several_rows() {
    let events: Vec<Sealed> = (1..=ROW_EVENTS as u64 + 1)
        .map(|seq| Sealed {
            stream: StreamId::System,
            seq,
            head: Vec::new(),
            content: None,
            hash: Digest::of_bytes(b""),
        })
        .collect();
    let part = StreamAppend { stream: StreamId::System, expected: 0, events };
    let append = Append { streams: vec![part], ..Append::default() };
    assert_eq!(chunks(&append).map(<[Sealed]>::len).collect::<Vec<_>>(), [ROW_EVENTS, 1]);
}
