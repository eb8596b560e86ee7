//! Broken input is harmless: seeded mutations of valid files give a value or problems, never a panic.

use holdshort_workflow::{EDGES, PRESETS, parse, rehearsal, shipped};

use crate::catalogue::catalogue;

/// Pseudo-random generator `SplitMix64`, good enough to choose positions of mutations, and equal on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % (n.max(1) as u64)).unwrap()
    }
}

const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    "- ",
    "\n",
    "\n  ",
    "\t",
    "#",
    "&a ",
    "*a",
    "!!str ",
    "<<: *a\n",
    "|",
    ">-\n",
    "\"",
    "'",
    "---\n",
    "\u{0}",
    "\u{feff}",
    "é",
    "9007199254740993",
];

fn mutate(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(chars.len());
        let end = (at + random.below(30)).min(chars.len());
        match random.below(4) {
            0 => drop(chars.drain(at..end)),
            1 => drop(chars.splice(at..at, PIECES[random.below(PIECES.len())].chars())),
            2 => {
                let copy: Vec<char> = chars[at..end].to_vec();
                let to = random.below(chars.len());
                drop(chars.splice(to..to, copy));
            }
            _ => chars.truncate(end),
        }
    }
    chars.into_iter().collect()
}

#[test]
fn mutated_files_never_panic_and_never_point_outside() {
    let catalogue = catalogue();
    let sources: Vec<&str> = shipped()
        .iter()
        .flat_map(|shipped| [Some(shipped.workflow), shipped.rehearsal])
        .flatten()
        .chain(PRESETS.iter().chain(EDGES.iter().map(|(plain, _)| plain)).map(|plain| plain.workflow))
        .collect();
    for seed in 0..400 {
        let mut random = Random(seed);
        let text = mutate(sources[random.below(sources.len())], &mut random);
        let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count() as u64;
        let found = [parse("w", &text, &catalogue).err(), rehearsal::parse("r", &text).err()];
        for problem in found.into_iter().flatten().flatten() {
            let is_inside = (1..=lines + 1).contains(&problem.line) && problem.column >= 1;
            assert!(is_inside && !problem.message.is_empty(), "seed {seed}: {problem}\n{text}");
        }
    }
}
