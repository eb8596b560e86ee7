//! Generates the season of the sample in `workflows/coach/sample/`, with equal bytes every time. `UPDATE_SNAPSHOTS=1
//! cargo test -p holdshort-coach sample` rewrites the sample.
//!
//! Ten weeks of one athlete: two blocks of three weeks of build and one week of recovery, then two weeks with more
//! load. In the last week the athlete travels, with little sleep, more load and lower HRV. One day is missing, and one
//! run has no heart rate.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use holdshort_coach::training::metrics::daily::DailyLoads;
use holdshort_coach::training::metrics::load::Scale;
use holdshort_coach::training::metrics::trend::{self, TrendPosition};
use holdshort_coach::training::metrics::{Profile, race};
use holdshort_coach::training::{Athlete, Code, PARTS, Severity};
use jiff::Timestamp;
use jiff::civil::{Date, date};
use jiff::tz::Offset;

use crate::training::fit_writer::{ENUM, FitWriter, U8, U16, U32, time};
use crate::training::generated::Random;
use crate::training::support::read_all;

/// First day of the sample, a Monday.
const FIRST: Date = date(2026, 1, 5);
const WEEKS: usize = 10;
/// Training of each week as a percentage of the plan.
const WEEK: [u32; WEEKS] = [85, 95, 105, 70, 95, 105, 115, 70, 105, 145];

/// Planned session: weekday, sport, minutes at 100 %, bpm, exertion, metres per minute, watts.
struct Planned(usize, &'static str, u32, u32, u32, u32, Option<u32>);

const PLAN: [Planned; 6] = [
    Planned(1, "running", 55, 158, 7, 205, None),
    Planned(2, "cycling", 75, 138, 4, 500, Some(185)),
    Planned(3, "running", 50, 139, 3, 178, None),
    Planned(4, "swimming", 40, 131, 4, 42, None),
    Planned(5, "cycling", 130, 142, 5, 510, Some(196)),
    Planned(6, "running", 95, 146, 6, 182, None),
];

struct Done {
    day: Date,
    start: Timestamp,
    offset: Offset,
    week: usize,
    plan: &'static Planned,
    minutes: u32,
    bpm: u32,
    exertion: u32,
}

fn done(random: &mut Random) -> Vec<Done> {
    let weeks = WEEK.iter().enumerate();
    let days = weeks.flat_map(|(week, percent)| PLAN.iter().map(move |plan| (week, *percent, plan)));
    days.map(|(week, percent, plan)| {
        let is_away = week == WEEKS - 1;
        let day = FIRST + jiff::Span::new().days(i64::try_from(week * 7 + plan.0).unwrap());
        let offset = if is_away { Offset::constant(-5) } else { Offset::constant(1) };
        let start = offset.to_timestamp(day.at(if is_away { 6 } else { 17 }, 30, 0, 0)).unwrap();
        let minutes = plan.2 * percent / 100 + random.below(4);
        // While the athlete travels, the same session feels harder.
        let (bpm, exertion) = (plan.3 + random.below(5), plan.4 + u32::from(is_away) * 2);
        Done { day, start, offset, week, plan, minutes, bpm, exertion }
    })
    .collect()
}

/// Returns the heart rate at a second of a session: a warm-up, five hard intervals if planned, and a slow drift.
fn bpm(done: &Done, second: u32) -> u32 {
    let minute = second / 60;
    let hard = done.plan.0 == 1 && (15..45).contains(&minute) && minute % 6 < 4;
    let warming = 30_u32.saturating_sub(minute * 4);
    done.bpm + u32::from(hard) * 18 + minute / 20 + second / 5 % 3 - warming - 1
}

fn watts(done: &Done, second: u32) -> u32 {
    done.plan.6.unwrap_or(0) + (second / 15 * 7 % 40) - 20 + u32::from(second / 600 % 3 == 2) * 45
}

fn metres(done: &Done, second: u32) -> u32 {
    done.plan.5 * second / 60
}

const STEP: u32 = 5;

fn fit(done: &Done) -> Vec<u8> {
    let start = done.start.as_second();
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (3, 1, U8), (5, 4, U32)]);
    let seconds = done.minutes * 60;
    for second in (0..=seconds).step_by(STEP as usize) {
        let (at, bpm) = (time(start + i64::from(second)), u8::try_from(bpm(done, second)).unwrap());
        writer.message(1, &[&at, &[bpm], &(metres(done, second) * 100).to_le_bytes()]);
    }
    let end = start + i64::from(seconds);
    let session =
        [(253, 4, U32), (2, 4, U32), (5, 1, ENUM), (7, 4, U32), (8, 4, U32), (9, 4, U32), (16, 1, U8)];
    let lasts = (seconds * 1_000).to_le_bytes();
    let far = (metres(done, seconds) * 100).to_le_bytes();
    let average = [u8::try_from(done.bpm).unwrap()];
    writer
        .define(2, 18, &session)
        .message(2, &[&time(end), &time(start), &[1], &lasts, &lasts, &far, &average])
        .define(3, 34, &[(253, 4, U32), (5, 4, U32), (1, 2, U16)])
        .message(3, &[&time(end), &time(end + i64::from(done.offset.seconds())), &1_u16.to_le_bytes()]);
    writer.finish()
}

fn tcx(done: &Done) -> String {
    let start = done.start;
    let seconds = done.minutes * 60;
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TrainingCenterDatabase \
         xmlns=\"http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2\"><Activities>\n<Activity Sport=\"Biking\">\
         <Id>{start}</Id><Lap StartTime=\"{start}\"><TotalTimeSeconds>{seconds}</TotalTimeSeconds>\
         <DistanceMeters>{}</DistanceMeters><Track>\n",
        metres(done, seconds)
    );
    for second in (0..=seconds).step_by(STEP as usize * 4) {
        let at = start + jiff::SignedDuration::from_secs(second.into());
        let _ = writeln!(
            text,
            "<Trackpoint><Time>{at}</Time><DistanceMeters>{}</DistanceMeters><HeartRateBpm><Value>{}</Value>\
             </HeartRateBpm><Extensions><TPX><Watts>{}</Watts></TPX></Extensions></Trackpoint>",
            metres(done, second),
            bpm(done, second),
            watts(done, second)
        );
    }
    text + "</Track></Lap></Activity></Activities></TrainingCenterDatabase>\n"
}

/// Writes a track to the north along a meridian, in the middle of an ocean.
fn gpx(done: &Done) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\" creator=\"holdshort\" \
                    xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><type>running</type><trkseg>\n"
        .to_owned();
    for second in (0..=done.minutes * 60).step_by(STEP as usize * 4) {
        let at = done.start + jiff::SignedDuration::from_secs(second.into());
        // One degree of latitude is 111 195 m.
        let micro = u64::from(metres(done, second)) * 1_000_000 / 111_195;
        let _ = writeln!(
            text,
            "<trkpt lat=\"30.{micro:06}\" lon=\"-40.0\"><time>{at}</time><extensions><hr>{}</hr></extensions></trkpt>",
            bpm(done, second)
        );
    }
    text + "</trkseg></trk></gpx>\n"
}

fn log(all: &[Done]) -> String {
    let mut text = "start,sport,duration_min,distance_km,avg_hr,avg_power_w,rpe\n".to_owned();
    for done in all {
        let Done { day, offset, plan, minutes, exertion, .. } = done;
        let Planned(weekday, sport, _, _, _, speed, power) = plan;
        let hour = if done.week == WEEKS - 1 { 6 } else { 17 };
        let far = speed * minutes;
        // The athlete forgot the heart-rate strap.
        let bpm = if done.week == 8 && *weekday == 3 { String::new() } else { done.bpm.to_string() };
        let power = power.map(|watts| watts.to_string()).unwrap_or_default();
        let offset = if offset.seconds() < 0 { "-05:00" } else { "+01:00" };
        let _ = writeln!(
            text,
            "{day}T{hour:02}:30:00{offset},{sport},{minutes},{}.{:03},{bpm},{power},{exertion}",
            far / 1_000,
            far % 1_000
        );
    }
    text
}

fn days(random: &mut Random) -> String {
    let mut text = "date,resting_hr_bpm,hrv_ms,sleep_h,weight_kg,stress\n".to_owned();
    for number in 0..WEEKS * 7 {
        let day = FIRST + jiff::Span::new().days(i64::try_from(number).unwrap());
        let (tired, away) = (u32::from(number % 7 == 0), u32::from(number >= 64));
        let rate = 46 + random.below(3) + tired + away * 5;
        let hrv = 62 + random.below(9) - tired * 4 - away * 16;
        let sleep = 70 + random.below(12) - away * 17;
        let (weight, stress) = (704 + random.below(8), 22 + random.below(9) + away * 14);
        // On this day the watch was on its charger.
        if number != 40 {
            let _ = writeln!(
                text,
                "{day},{rate},{hrv},{}.{},{}.{},{stress}",
                sleep / 10,
                sleep % 10,
                weight / 10,
                weight % 10
            );
        }
    }
    text
}

/// Returns a platform's data file that holds only the athlete's profile.
fn platform() -> String {
    let profile = "\n    \"gender\": \"FEMALE\",\n    \"birth_date\": \"1990-05-01\",\n    \
                   \"lactate_threshold_heart_rate\": 168\n  ";
    let part = |name: &&str| match *name {
        "user_profile" => format!("  \"{name}\": {{{profile}}}"),
        _ => format!("  \"{name}\": null"),
    };
    format!("{{\n{}\n}}\n", PARTS.iter().map(part).collect::<Vec<_>>().join(",\n"))
}

fn files() -> Vec<(String, Vec<u8>)> {
    let mut random = Random(2026);
    let all = done(&mut random);
    let of = |week: usize, weekday: usize| {
        all.iter().find(|done| done.week == week && done.plan.0 == weekday).unwrap()
    };
    let named = |name: &str, bytes: Vec<u8>| (name.to_owned(), bytes);
    vec![
        named("activities/easy-run.gpx", gpx(of(9, 3)).into_bytes()),
        named("activities/intervals.fit", fit(of(9, 1))),
        named("activities/long-ride.tcx", tcx(of(9, 5)).into_bytes()),
        named("activities/long-run.fit", fit(of(9, 6))),
        named("days.csv", days(&mut random).into_bytes()),
        named("log.csv", log(&all).into_bytes()),
        named("platform.json", platform().into_bytes()),
    ]
}

pub(crate) fn read_committed_files() -> Vec<(String, Vec<u8>)> {
    let read = |name: &str| std::fs::read(folder().join(name)).unwrap();
    files().into_iter().map(|(name, _)| (name.clone(), read(&name))).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows/coach/sample")
}

#[test]
fn the_sample_is_the_season_that_is_generated() {
    for (name, bytes) in files() {
        let path = folder().join(&name);
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &bytes).unwrap();
        }
        let kept = std::fs::read(&path).unwrap_or_default();
        assert!(kept == bytes, "{name}: UPDATE_SNAPSHOTS=1 cargo test -p holdshort-coach sample");
    }
}

#[test]
fn the_sample_has_something_to_ask_about() {
    let reading = read_all(&files());
    let mut told: Vec<Code> = reading.problems.iter().map(|problem| problem.code).collect();
    told.sort();
    told.dedup();
    assert!(reading.problems.iter().all(|problem| problem.severity() == Severity::Warning));
    // Expected warnings: travel, the run without a strap, and activities that are in the log and also in a file.
    assert_eq!(told, [Code::OffsetChanged, Code::NoHeartRate, Code::DuplicateActivity]);
    assert_eq!(reading.season.activities.len(), 60);
    let last = FIRST + jiff::Span::new().days(i64::try_from(WEEKS * 7 - 1).unwrap());
    let athlete = Athlete { max_heart_rate: Some(186.0), threshold_power: Some(236.0), ..Athlete::default() };
    let profile = Profile::from_season(&reading.season, &athlete, last);
    for scale in [Scale::Trimp, Scale::Tss, Scale::SessionRpe] {
        let loads = DailyLoads::compute(&reading.season, &profile, scale, last).unwrap();
        let ratio = loads.ratio().unwrap().value;
        assert!((1.3..2.0).contains(&ratio), "{scale:?}: {ratio}");
    }
    assert_eq!(trend::hrv(&reading.season, last).unwrap().value.against, TrendPosition::Below);
    assert_eq!(trend::resting_heart_rate(&reading.season, last).unwrap().value.against, TrendPosition::Above);
    let races = race::predictions(&reading.season, last).unwrap();
    assert_eq!(races.len(), 4);
}
