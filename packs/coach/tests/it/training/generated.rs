//! Seasons generated from a seed, with failing sensors, days without data, and activities without heart rate.

use std::fmt::Write as _;

use holdshort_coach::training::{Athlete, Sex};
use jiff::civil::{Date, date};

/// Pseudo-random generator `SplitMix64` (Steele, Lea & Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, below: u32) -> u32 {
        u32::try_from(self.next() % u64::from(below)).unwrap()
    }

    pub(crate) fn once_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(u32::try_from(last).unwrap() + 1) as usize);
        }
    }
}

/// Files of a generated season by name. The rows or elements of a file are in arbitrary order.
pub(crate) struct Generated {
    pub(crate) tables: Vec<(String, String, Vec<String>)>,
    pub(crate) tracks: Vec<(String, String, Vec<String>)>,
    pub(crate) athlete: Athlete,
    pub(crate) as_of: Date,
}

impl Generated {
    pub(crate) fn from_seed(seed: u64) -> Self {
        let mut random = Random(seed);
        let first = date(2027, 12, 20);
        let length = 8 + random.below(110);
        let mut days = Vec::new();
        let mut log = Vec::new();
        let mut tracks = Vec::new();
        for number in 0..length {
            let day = first + jiff::Span::new().days(number);
            if !random.once_in(6) {
                days.push(day_row(day, &mut random));
            }
            for _ in 0..[0, 1, 1, 1, 2][random.below(5) as usize] {
                if random.once_in(4) && tracks.len() < 5 {
                    tracks.push(track(day, tracks.len(), &mut random));
                } else {
                    log.push(log_row(day, log.len(), &mut random));
                }
            }
        }
        let known = |random: &mut Random, value: f64| (!random.once_in(4)).then_some(value);
        let athlete = Athlete {
            sex: (!random.once_in(8)).then_some(if random.once_in(2) { Sex::Female } else { Sex::Male }),
            birth_date: known(&mut random, 0.0).map(|_| date(1984, 2, 29)),
            max_heart_rate: known(&mut random, 188.0),
            resting_heart_rate: known(&mut random, 47.0),
            threshold_heart_rate: known(&mut random, 168.5),
            threshold_power: known(&mut random, 244.0),
        };
        let as_of = first + jiff::Span::new().days(length - 1 + random.below(3));
        let table = |name: &str, header: &str, rows| (name.to_owned(), header.to_owned(), rows);
        let tables = vec![
            table("days.csv", "date;hrv_ms;resting_hr;sleep_h;weight_kg\n", days),
            table("log.csv", "start,sport,duration_s,distance_m,avg_hr,avg_power_w,np_w,rpe\n", log),
        ];
        Self { tables, tracks, athlete, as_of }
    }

    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let tables =
            self.tables.iter().map(|(name, header, rows)| (name.clone(), header.clone() + &rows.concat()));
        let tracks = self.tracks.iter().map(|(name, sport, points)| {
            let text = format!(
                "<TrainingCenterDatabase><Activities><Activity Sport='{sport}'><Lap><Track>{}</Track></Lap></Activity>\
                 </Activities></TrainingCenterDatabase>",
                points.concat()
            );
            (name.clone(), text)
        });
        tables.chain(tracks).map(|(name, text)| (name, text.into_bytes())).collect()
    }
}

fn cell(random: &mut Random, empty_once_in: u32, value: impl std::fmt::Display) -> String {
    if random.once_in(empty_once_in) { String::new() } else { value.to_string() }
}

fn day_row(day: Date, random: &mut Random) -> String {
    let decimal = |random: &mut Random, from: u32, to: u32| {
        format!("{},{}", from + random.below(to - from), random.below(10))
    };
    let (hrv, sleep, weight) = (decimal(random, 40, 90), decimal(random, 5, 9), decimal(random, 68, 71));
    let rate = 44 + random.below(9);
    let cells =
        [cell(random, 5, hrv), cell(random, 5, rate), cell(random, 9, sleep), cell(random, 9, weight)];
    format!("{day};{}\n", cells.join(";"))
}

/// Returns the start of an activity on this day, in one of three notations of the UTC offset.
fn start(day: Date, number: usize, random: &mut Random) -> String {
    let offset = ["+01:00", "+02:00", "-07:00"][random.below(3) as usize];
    // Starts are at least 15 minutes apart, so that no two activities are duplicates.
    let quarter = number % 64;
    format!("{day}T{:02}:{:02}:00{offset}", 5 + quarter / 4, quarter % 4 * 15)
}

fn log_row(day: Date, number: usize, random: &mut Random) -> String {
    let sport = ["run", "trail run", "ride", "swim", "yoga"][random.below(5) as usize];
    let seconds = 1_200 + random.below(6_000);
    let metres = seconds * (25 + random.below(12)) / 10;
    let starts = start(day, number, random);
    let (power, above) = (150 + random.below(100), random.below(30));
    let (bpm, exertion) = (110 + random.below(75), 1 + random.below(10));
    let cells = [
        cell(random, 8, metres),
        cell(random, 6, bpm),
        cell(random, 2, power),
        cell(random, 2, power + above),
        cell(random, 10, exertion),
    ];
    format!("{starts},{sport},{seconds},{}\n", cells.join(","))
}

fn track(day: Date, number: usize, random: &mut Random) -> (String, String, Vec<String>) {
    let starts: jiff::Timestamp = start(day, 63 - number, random).parse().unwrap();
    let sport = ["Running", "Biking"][random.below(2) as usize];
    let (mut bpm, mut watts, mut second, mut metres) = (120, 180, 0, 0);
    let mut points = Vec::new();
    for _ in 0..200 + random.below(500) {
        let mut point =
            format!("<Trackpoint><Time>{}</Time>", starts + jiff::SignedDuration::from_secs(second));
        let _ = write!(point, "<DistanceMeters>{metres}</DistanceMeters>");
        bpm = (bpm + random.below(9)).clamp(104, 190) - 4;
        watts = (watts + random.below(61)).clamp(60, 400) - 30;
        if !random.once_in(15) {
            let _ = write!(point, "<HeartRateBpm><Value>{bpm}</Value></HeartRateBpm>");
        }
        if !random.once_in(10) {
            let _ = write!(point, "<Extensions><TPX><Watts>{watts}</Watts></TPX></Extensions>");
        }
        points.push(point + "</Trackpoint>");
        second += if random.once_in(80) {
            20 + i64::from(random.below(90))
        } else {
            1 + i64::from(random.below(4))
        };
        metres += 3 * (1 + random.below(3));
    }
    (format!("track{number:02}.tcx"), sport.to_owned(), points)
}
