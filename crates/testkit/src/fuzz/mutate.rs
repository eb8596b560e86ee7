//! Small mutator. Equal seeds give equal bytes on all machines.

use crate::clock::mix;

/// Byte sequences that the mutator inserts, because they have a meaning in the grammars of the fuzz targets.
const PIECES: [&[u8]; 40] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\n",
    b"\n  ",
    b"\t",
    b"\r\n",
    b"- ",
    b"#",
    b"&a ",
    b"*a",
    b"!!str ",
    b"<<: *a\n",
    b"|",
    b">-\n",
    b"'",
    b"---\n",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x80\xae",
    b"9007199254740991",
    b"9007199254740993",
    b"-0",
    b"1e400",
    b"0.1",
    b"null",
    b"true",
    b"{{ task }}",
    b"{% for x in y %}",
    b"p18446744073709551616",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

/// Returns `n` inputs for a fuzz target. Each is made by changing or joining one or two of `seeds`.
pub fn mutations(seeds: &[Vec<u8>], n: u64, seed: u64) -> impl Iterator<Item = Vec<u8>> {
    (0..n).map(move |i| {
        let mut dice = Dice(mix(seed).wrapping_add(i.wrapping_mul(0x9e37_79b9)));
        let mut bytes = seeds[dice.below(seeds.len())].clone();
        for _ in 0..=dice.below(5) {
            change(&mut bytes, &seeds[dice.below(seeds.len())], &mut dice);
        }
        bytes.truncate(1 << 16);
        bytes
    })
}

fn change(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    let end = (at + dice.below(24)).min(bytes.len());
    match dice.below(8) {
        0 => drop(bytes.drain(at..end)),
        1 => drop(bytes.splice(at..at, PIECES[dice.below(PIECES.len())].iter().copied())),
        2 => drop(bytes.splice(at..end, PIECES[dice.below(PIECES.len())].iter().copied())),
        3 => {
            let copy = bytes[at..end].to_vec();
            let to = dice.below(bytes.len() + 1);
            drop(bytes.splice(to..to, copy));
        }
        4 => {
            let from = dice.below(other.len() + 1);
            let upto = (from + dice.below(60)).min(other.len());
            drop(bytes.splice(at..end, other[from..upto].iter().copied()));
        }
        5 => bytes.truncate(end),
        6 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
        _ if at < bytes.len() => bytes[at] = dice.next().to_le_bytes()[0],
        _ => bytes.push(dice.next().to_le_bytes()[0]),
    }
}

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = mix(self.0);
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n.max(1) as u64)).unwrap_or_default()
    }
}
