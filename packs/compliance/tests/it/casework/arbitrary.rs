//! Arbitrary bytes give a case or problems, and never a panic.

use holdshort_compliance::casework::{Rules, examine, read, redact, report};

use crate::casework::sample::sample;
use crate::casework::support::{AS_OF, rules};

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most.max(1)
    }
}

const PIECES: [&[u8]; 14] = [
    b",",
    b";",
    b"\"",
    b"\n",
    b"\r\n",
    b"\t",
    b"-",
    b".",
    b"\xff",
    "é".as_bytes(),
    "\u{202f}".as_bytes(),
    b"Z",
    b"+99:99",
    b"999999999999999999999",
];

fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => {
                let piece = PIECES[random.below(PIECES.len())];
                drop(bytes.splice(at..at, piece.iter().copied()));
            }
            1 => {
                let end = (at + random.below(20)).min(bytes.len());
                drop(bytes.drain(at..end));
            }
            2 => {
                let piece = PIECES[random.below(PIECES.len())];
                let end = (at + piece.len()).min(bytes.len());
                drop(bytes.splice(at..end, piece.iter().copied()));
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
    bytes
}

#[test]
fn no_bytes_make_it_panic() {
    let files = sample();
    let (mut whole, mut refused) = (0, 0);
    for seed in 0..1_500 {
        let mut random = Random(seed);
        let mut tables: Vec<Vec<u8>> = files.iter().map(|(_, bytes)| bytes.clone()).collect();
        let at = random.below(tables.len());
        tables[at] = mutated(&tables[at], &mut random);
        match read(&tables[0], &tables[1], &tables[2], &rules(), AS_OF) {
            Ok(case) => {
                let _ = report(&case, &examine(&case, &rules()), &rules(), AS_OF);
                let _ = redact(&case, "ASH hawthorn, ß and ﬃ");
                whole += 1;
            }
            Err(problems) => {
                assert!(!problems.is_empty());
                refused += 1;
            }
        }
    }
    assert!(whole > 50 && refused > 300, "{whole} read, {refused} refused");
    for seed in 0..400 {
        let text = mutated(Rules::text().as_bytes(), &mut Random(seed));
        let _ = Rules::parse_case_rules(&String::from_utf8_lossy(&text));
    }
}
