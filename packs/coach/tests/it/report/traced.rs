//! Tracing of numbers: known numbers, written texts, and the numbers that are marked as unknown.

use holdshort_coach::report::{KnownNumbers, Quantity, untraced};
use jiff::civil::date;
use serde_json::json;

fn known_numbers() -> KnownNumbers {
    let mut known = KnownNumbers::default();
    for (value, quantity) in [
        (61.449, Quantity::Number),
        (2.5, Quantity::Number),
        (3.5, Quantity::Number),
        (-4.2, Quantity::Number),
        (12_345.0, Quantity::Number),
        (0.425, Quantity::Ratio),
        (0.285, Quantity::Ratio),
        (17.0, Quantity::Percent),
        (2712.4, Quantity::Seconds),
        (5742.0, Quantity::Seconds),
        (3900.0, Quantity::Seconds),
        (276.0, Quantity::Seconds),
        (21_097.5, Quantity::Metres),
        (47.3, Quantity::Beats),
        (88.0, Quantity::Own),
    ] {
        known.add_value(value, quantity);
    }
    known.add_day(date(2026, 3, 12));
    known.add_day(date(2024, 2, 29));
    known
}

fn marked(text: &str, known: &KnownNumbers) -> Vec<String> {
    untraced(text, known).into_iter().map(|range| text[range].to_owned()).collect()
}

#[track_caller]
fn is_table(known: &KnownNumbers, table: &[(&str, &[&str])]) {
    let wrong: Vec<_> = table
        .iter()
        .map(|(text, expected)| (text, expected, marked(text, known)))
        .filter(|(_, expected, found)| found[..] != ***expected)
        .collect();
    assert!(wrong.is_empty(), "text, expected, found: {wrong:#?}");
}

#[test]
fn a_rounding_is_traced_and_a_near_miss_is_not() {
    is_table(
        &known_numbers(),
        &[
            ("61.449, 61.45, 61.4, 61", &[]),
            ("61.44 or 61.5 or 62 or 60", &["61.44", "61.5", "62", "60"]),
            ("61.4490 has more digits than is known, and the same value", &[]),
            ("61.4491", &["61.4491"]),
            // 3.5 rounds to 4 half up and half to even, never to 3.
            ("2 and 3", &[]),
            ("3.4 and 4", &["3.4"]),
            ("1", &["1"]),
            ("60", &["60"]),
            ("6", &["6"]),
        ],
    );
    let mut known = KnownNumbers::default();
    known.add_value(3.5, Quantity::Number);
    is_table(&known, &[("3", &["3"]), ("4", &[]), ("3.5", &[]), ("3.50", &[]), ("3.6", &["3.6"])]);
}

#[test]
fn signs_groups_and_commas_are_read() {
    is_table(
        &known_numbers(),
        &[
            ("a fall of 4.2", &[]),
            ("it changed by -4.2, by −4.2, by –4.2", &[]),
            ("it changed by +4.2", &["+4.2"]),
            ("-61.4 was it", &["-61.4"]),
            ("between 2.5-4.2 and 2.5–4.2", &[]),
            ("12,345 and 12345 and 12\u{202f}345 and 12\u{a0}345", &[]),
            ("12,346 and 12\u{202f}346", &["12,346", "12\u{202f}346"]),
            ("61,4 as some write it", &[]),
            ("61,5", &["61,5"]),
            ("2,3,4", &[]),
            ("61.4.4 and 6.1e1", &["61.4.4", "6.1e1"]),
            ("1234567890123456789012345", &["1234567890123456789012345"]),
        ],
    );
}

#[test]
fn ratios_durations_and_distances_are_written_in_their_ways() {
    is_table(
        &known_numbers(),
        &[
            ("0.425, 0.43, 0.42, 42.5 %, 42%, 43 percent", &[]),
            ("41 %, 44%, 0.41", &["41 %", "44%", "0.41"]),
            // 0.285 · 100 as a binary float is 28.499999999999996.
            ("28.5 %, 29 %, 28 %", &[]),
            ("17 %", &[]),
            ("61 %: of a plain number nobody knows that it is none", &[]),
            ("88 %", &["88 %"]),
            ("45:12 and 0:45:12 and 45 min and 2712 s", &[]),
            ("45:13, 45:11, 46 min, 2713 s", &["45:13", "45:11", "46", "2713"]),
            ("1:35:42 and 1 h 36 min and 1h36 and 95 min 42 s and 1.6 hours", &[]),
            ("1:35:43, 1 h 35 min, 1.5 hours", &["1:35:43", "1 h 35 min", "1.5"]),
            ("1:05 h, 1:05, 1 h 5 min, 1h05m", &[]),
            ("1:06 h", &["1:06"]),
            ("4:36/km and 4:37/km", &["4:37"]),
            ("21.1 km, 21.0975 km, 21 km, 21,098 m", &[]),
            ("21.2 km, 22 km", &["21.2", "22"]),
            ("9:77 is no time", &["9", "77"]),
        ],
    );
}

#[test]
fn a_number_of_one_unit_is_not_one_of_another() {
    is_table(
        &known_numbers(),
        &[
            ("47.3 bpm and 47 bpm and 47", &[]),
            ("47 W, 47 km, 47 %, 47 min, 47 ms", &["47", "47", "47 %", "47", "47"]),
            ("88 sessions and 88", &[]),
            ("88 bpm", &["88"]),
            ("276 bpm", &["276"]),
        ],
    );
}

#[test]
fn dates_and_years_are_known_or_marked() {
    is_table(
        &known_numbers(),
        &[
            (
                "2026-03-12, 12.03.2026, 12/03/2026, 12 March 2026, Mar 12, 2026, 12th of March, March 2026",
                &[],
            ),
            ("2026-03-13 and 13 March and March 2025", &["2026-03-13", "13 March", "March 2025"]),
            ("2026-03-12T07:15:09.5Z, 2026-03-12T07:15:09-05:00 and 2026-03-13T07:15", &["2026-03-13T07:15"]),
            ("in 2026 and 2024", &[]),
            ("in 2025", &["2025"]),
            ("2026 W", &["2026"]),
            ("29 February 2024", &[]),
            ("29 February 2025", &["29", "February 2025"]),
            ("10–12 March", &["10"]),
            ("May 5 be it", &["May 5"]),
            ("you may 5 times", &["5"]),
        ],
    );
}

#[test]
fn digits_of_names_and_ordinals_are_no_numbers() {
    is_table(
        &known_numbers(),
        &[
            ("VO2max, Z4, CR10, zone 5, Zones 4 and 5, weeks 7–8, week 9, phase #6", &[]),
            ("1. one\n 9) two\n## 7. three", &[]),
            ("zone 5: 77 %", &["77 %"]),
            ("zones 4 and 5 with 77", &["77"]),
            ("week 9, 77 km", &["77"]),
            ("zone 152", &["152"]),
            ("HR152 and Z4.7", &["152", "4.7"]),
            ("4x8 min", &["8"]),
            ("it ends with 77.", &["77"]),
            ("as (77) [77] \"77\" 77", &["77", "77", "77", "77"]),
        ],
    );
}

#[test]
fn what_is_not_ascii_is_never_taken_for_known() {
    is_table(
        &known_numbers(),
        &[("٤٢ and ４２ and ½ and ⅷ", &["٤٢", "４２", "½", "ⅷ"]), ("VO₂ and m²", &[]), ("6１", &["6", "１"])],
    );
}

#[test]
fn a_range_has_the_unit_of_its_end() {
    let mut known = KnownNumbers::default();
    known.add_value(2500.0, Quantity::Metres);
    known.add_value(3000.0, Quantity::Metres);
    is_table(
        &known,
        &[("2.5–3.0 km, 2.5 to 3 km", &[]), ("2.5 or 9", &["2.5", "9"]), ("2.6–3 km", &["2.6"])],
    );
}

#[test]
fn a_tools_result_is_known_with_its_units() {
    let mut known = KnownNumbers::default();
    known.add_json(&json!({
        "metric": "weekly_volume",
        "value": {"duration_s": 5400, "distance_m": 15_250.5, "heart_rate": 141.6, "easy_share": 0.8},
        "trend": {"unit": "bpm", "value": 46.4, "days": ["2026-03-12"]},
        "long_run_km": 18.2,
        "longest": {"unit": "km", "value": 33.3},
        "activities": ["a", "b", "c"],
        "note": "threshold 255 W, best 19:59",
    }));
    is_table(
        &known,
        &[
            (
                "1:30:00, 90 min, 1.5 h, 15.3 km, 142 bpm, 80 %, 46 bpm, 12 March, 18 km, 3 runs, 255 W, 19:59",
                &[],
            ),
            ("90 km", &["90"]),
            ("142 W", &["142"]),
            ("255 bpm", &["255"]),
            ("4 runs", &["4"]),
            ("18.3 km", &["18.3"]),
            ("33.3 km, 33,300 m", &[]),
        ],
    );
}

#[test]
fn nothing_known_marks_everything_and_values_that_are_none_are_not_known() {
    let mut known = KnownNumbers::default();
    known.add_value(f64::NAN, Quantity::Number);
    known.add_value(f64::INFINITY, Quantity::Number);
    is_table(&known, &[("0 and 1 and 2026-01-01", &["0", "1", "2026-01-01"]), ("none", &[]), ("", &[])]);
}

#[test]
fn ranges_are_in_order_and_on_characters() {
    let known = KnownNumbers::default();
    let pieces = [
        "1", "½", "−", " ", "é", ":", "05", "Mar ", "2026", "-", ".", ",", "%", " h ", "٤", "x", "zone ",
        "\n",
    ];
    let mut state = 7_u32;
    for _ in 0..3000 {
        let text: String = (0..12)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                pieces[usize::try_from(state >> 16).unwrap() % pieces.len()]
            })
            .collect();
        let mut last = 0;
        for range in untraced(&text, &known) {
            assert!(range.start >= last && range.start < range.end, "{text:?} {range:?}");
            assert!(text.get(range.clone()).is_some(), "{text:?} {range:?}");
            last = range.end;
        }
    }
}

/// Tests that the time to scan an agent's text grows linearly: long sequences of digits, words and lines are not
/// scanned again for each digit.
#[test]
fn a_long_text_of_anything_is_read() {
    let known = known_numbers();
    for piece in ["1-", "1 ", "9", "1:", "1,", "Mar ", "a1", "12 ", "zone 1 and ", "1. ", "2026-", "٤"] {
        let text = piece.repeat(holdshort_presentation::limits::TEXT_BYTES / piece.len());
        let _ = untraced(&text, &known);
    }
}
