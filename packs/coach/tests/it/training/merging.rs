//! Merging many files into one season: each activity is used once, for any order of files and records.

use holdshort_coach::training::{Code, File, Level, Measure, OffsetFrom, Options, Reading, read};
use jiff::tz::TimeZone;

use crate::training::fit_writer::{FitWriter, U16, U32, run, time};
use crate::training::support::{START, codes};

fn read_all(files: &[(&str, Vec<u8>)], zone: Option<TimeZone>) -> Reading {
    let files: Vec<File<'_>> = files.iter().map(|(name, bytes)| File { name, bytes }).collect();
    read(&files, &Options { zone, ..Options::default() })
}

#[test]
fn the_same_activity_in_four_files_counts_once_and_each_tells_what_the_others_lack() {
    let files = [
        ("log.csv", b"start,sport,duration_min,rpe\n2026-03-01 08:31,run,10,6\n".to_vec()),
        ("run.fit", run(START, &[140; 600]).finish()),
        ("phone.gpx", gpx("2026-03-01T06:30:45Z", "2026-03-01T06:39:00Z")),
        (
            "data.json",
            br#"{"all_activities": [{"start_time": "2026-03-01T08:30:00", "activity_type": "running",
                "summary": {"duration": 599, "max_hr": 177}}]}"#
                .to_vec(),
        ),
    ];
    let reading = read_all(&files, Some(TimeZone::fixed(jiff::tz::offset(2))));
    let duplicates = codes(&reading).iter().filter(|code| **code == Code::DuplicateActivity).count();
    assert_eq!(duplicates, 3, "{:?}", reading.problems);
    let [run] = &reading.season.activities[..] else { panic!("one: {:?}", reading.season.activities) };
    let known = |measure: Measure| {
        let known = &run.measures[&measure];
        (known.value, known.source.to_string())
    };
    assert!(known(Measure::Duration).1.starts_with("run.fit@"));
    assert_eq!(known(Measure::Exertion), (6.0, "log.csv:2".to_owned()));
    assert!(known(Measure::HeartRateMax).1.starts_with("run.fit@"));
    assert_eq!(run.offset_from, OffsetFrom::File);
    let files: Vec<&str> = run.sources.iter().map(|source| &*source.file).collect();
    assert_eq!(files, ["data.json", "log.csv", "phone.gpx", "run.fit"]);
}

fn gpx(from: &str, to: &str) -> Vec<u8> {
    let point = |time: &str| format!("<trkpt lat='50' lon='8'><time>{time}</time></trkpt>");
    let middle = from.replace(":45Z", ":59Z");
    let points = [from, &middle, to].map(point).concat();
    format!("<gpx><trk><type>running</type><trkseg>{points}</trkseg></trk></gpx>").into_bytes()
}

/// Tests a log from another time zone: its local time is right, and the UTC computed from it is wrong.
#[test]
fn a_local_time_is_the_same_wherever_it_was() {
    let csv = b"start,sport,duration_min\n2026-03-01 08:30,run,10\n".to_vec();
    let fit = run(START, &[140; 600]).finish();
    let reading = read_all(&[("a.csv", csv), ("a.fit", fit)], Some(TimeZone::fixed(jiff::tz::offset(-7))));
    assert_eq!(reading.season.activities.len(), 1);
}

/// Tests that a log entry without a sport is merged with the activity of the nearest start.
#[test]
fn an_activity_without_a_sport_is_the_one_whose_start_is_nearest() {
    let log = "start,sport,duration_s,avg_hr\n\
               2026-03-01T06:30:00Z,run,600,140\n\
               2026-03-01T06:31:30Z,ride,600,150\n";
    for (at, sport) in [("06:30:20", "running"), ("06:31:10", "cycling"), ("06:30:45", "running")] {
        let unnamed = format!("start,duration_s,rpe\n2026-03-01T{at}Z,600,7\n");
        let reading = read_all(&[("a.csv", log.into()), ("b.csv", unnamed.into())], Some(TimeZone::UTC));
        let found: Vec<_> = reading.season.activities.iter().map(|activity| activity.sport.name()).collect();
        assert_eq!(found, ["running", "cycling"], "{at}");
        let with_exertion =
            reading.season.activities.iter().find(|each| each.measure(Measure::Exertion).is_some());
        assert_eq!(with_exertion.unwrap().sport.name(), sport, "{at}");
    }
    // The entry is close to both activities. After merging with one of them it has a sport, so it does not match the
    // other.
    let fit = b"start,duration_s,avg_hr\n2026-03-01T06:30:00Z,600,140\n".to_vec();
    let others =
        b"start,sport,duration_s\n2026-03-01T06:30:00Z,run,600\n2026-03-01T06:30:30Z,ride,600\n".to_vec();
    let reading = read_all(&[("a.csv", fit), ("b.csv", others)], Some(TimeZone::UTC));
    assert_eq!(reading.season.activities.len(), 2, "{:?}", reading.problems);
}

/// Tests that thousands of activities with the same start and different sports are all kept, and compared only within
/// their sport.
#[test]
fn activities_of_many_sports_at_one_moment_are_all_there() {
    let row = |number: usize| format!("2026-03-01T06:30:00Z,x{number},600\n");
    let most = holdshort_coach::training::limits::CSV_ROWS;
    let log = "start,sport,duration_s\n".to_owned() + &(0..most).map(row).collect::<String>();
    let reading = read_all(&[("a.csv", log.into())], Some(TimeZone::UTC));
    assert_eq!(reading.season.activities.len(), most);
}

#[test]
fn what_follows_at_once_is_another_activity() {
    let log = "start,sport,duration_s\n\
               2026-03-01T06:30:00Z,run,90\n\
               2026-03-01T06:31:30Z,run,90\n\
               2026-03-01T06:33:00Z,ride,90\n";
    let reading = read_all(&[("a.csv", log.into())], Some(TimeZone::UTC));
    assert_eq!(reading.season.activities.len(), 3, "{:?}", reading.problems);
}

#[test]
fn a_journey_is_told_and_each_activity_counts_on_its_own_day() {
    let log = "start,sport,duration_min,avg_hr\n\
               2026-03-01T23:30:00+01:00,run,30,140\n\
               2026-03-02T23:30:00-07:00,run,30,140\n\
               2026-03-04T07:30:00-07:00,run,30,140\n";
    let reading = read_all(&[("a.csv", log.into())], None);
    assert_eq!(codes(&reading), [Code::OffsetChanged]);
    let days: Vec<String> = reading.season.activities.iter().map(|run| run.day().to_string()).collect();
    assert_eq!(days, ["2026-03-01", "2026-03-02", "2026-03-04"]);
}

#[test]
fn what_the_person_wrote_of_a_day_stands_above_what_a_platform_says() {
    let csv = b"date,resting_hr\n2026-03-01,45\n2026-03-02,46\n".to_vec();
    let json = br#"{"recovery_indicators": [
        {"date": "2026-03-01", "sleep": {"resting_heart_rate": 47}},
        {"date": "2026-03-02", "sleep": {"resting_heart_rate": 46}},
        {"date": "2026-03-03", "sleep": {"resting_heart_rate": 48}}]}"#
        .to_vec();
    let reading = read_all(&[("d.json", json), ("d.csv", csv)], None);
    assert_eq!(codes(&reading), [Code::OverriddenDay]);
    let rates: Vec<_> =
        reading.season.days.values().filter_map(|day| day.measure(Measure::RestingHeartRate)).collect();
    assert_eq!(rates, [45.0, 46.0, 48.0]);
}

/// Tests that a session in a log and in a recording is merged, although the sports have different names and the log's
/// time is approximate.
#[test]
fn a_session_in_a_log_and_in_a_file_is_one() {
    let watch = |sports: [u8; 2]| {
        let mut writer = FitWriter::activity_file();
        writer.define(1, 20, &[(253, 4, U32), (7, 2, U16)]);
        for second in 0..=3_000 {
            writer.message(1, &[&time(START + second), &100_u16.to_le_bytes()]);
        }
        writer.session(START, 3_000, 3_000, sports);
        writer.finish()
    };
    // Sport and sub-sport of the file; start, sport and minutes of the log; activities, and the sport of the first.
    for (sports, log, count, name) in [
        ([10, 20], "06:30,Strength training,50", 1, "strength"),
        ([10, 20], "06:30,Krafttraining,50", 1, "strength"),
        ([10, 43], "06:31,Yoga,50", 1, "yoga"),
        ([4, 14], "06:30,Indoor rowing,50", 1, "rowing"),
        ([21, 0], "06:30,E-Bike,50", 1, "e_biking"),
        ([2, 28], "06:30,ride,50", 1, "e_biking"),
        ([10, 0], "06:30,Zirkel,50", 1, "training"),
        ([11, 0], "06:30,hike,60", 1, "walking"),
        ([0, 0], "06:30,yoga,50", 1, "yoga"),
        // A log is ten minutes off at most, and about as long.
        ([1, 0], "06:38,run,55", 1, "running"),
        ([1, 0], "06:38,run,30", 2, "running"),
        ([1, 0], "06:41,run,50", 2, "running"),
        // Two sports that are known are two sessions, and so is a session that is much shorter.
        ([1, 0], "06:30,ride,50", 2, "running"),
        ([10, 0], "06:30,Zirkel,20", 2, "training"),
    ] {
        let log = format!("start,sport,duration_min,rpe\n2026-03-01 {log},5\n");
        let files = [("a.fit", watch(sports)), ("log.csv", log.clone().into_bytes())];
        let reading = read_all(&files, Some(TimeZone::UTC));
        let found: Vec<_> = reading.season.activities.iter().map(|each| each.sport.name()).collect();
        assert_eq!((found.len(), found[0]), (count, name), "{sports:?} {log}: {found:?}");
        let exertion = reading.season.activities.iter().filter_map(|each| each.measure(Measure::Exertion));
        assert_eq!(exertion.collect::<Vec<_>>(), [5.0], "{sports:?} {log}");
    }
}

/// Tests that the advice can be followed: a row of a table can be deleted, a value of a recording cannot.
#[test]
fn two_values_of_one_day_come_with_advice_that_can_be_followed() {
    let scale = |tenths: u16| {
        let mut writer = FitWriter::activity_file();
        writer.define(1, 30, &[(253, 4, U32), (0, 2, U16)]);
        writer.message(1, &[&time(START), &(tenths * 10).to_le_bytes()]);
        writer.finish()
    };
    let table = |kg: &str| format!("date,weight_kg\n2026-03-01,{kg}\n").into_bytes();
    let told = |files: &[(&str, Vec<u8>)]| {
        let reading = read_all(files, Some(TimeZone::UTC));
        let weights: Vec<_> =
            reading.season.days.values().filter_map(|day| day.measure(Measure::Weight)).collect();
        let codes = reading.problems.iter().map(|problem| (problem.code, problem.message.clone()));
        (codes.collect::<Vec<_>>(), weights)
    };
    let scales = [("a.fit", scale(705)), ("b.fit", scale(712))];
    let (problems, weights) = told(&scales);
    assert_eq!(weights, [] as [f64; 0]);
    let [(Code::ConflictingRecording, message)] = &problems[..] else { panic!("{problems:?}") };
    assert!(message.starts_with("weight of 2026-03-01: 71.2 here, 70.5 in a.fit@"), "{message}");
    assert!(Code::ConflictingRecording.what_to_do().contains("into a table of days, which has precedence"));
    // The advice works.
    let [one, two] = scales;
    let (problems, weights) = told(&[one, two, ("days.csv", table("70.9"))]);
    assert_eq!(weights, [70.9]);
    assert!(problems.iter().all(|(code, _)| *code == Code::OverriddenDay), "{problems:?}");

    let (problems, weights) = told(&[("a.csv", table("70")), ("b.csv", table("71"))]);
    assert_eq!((problems[0].0, weights.len()), (Code::ConflictingDay, 0));
    assert!(problems[0].1.contains("71 here, 70 in a.csv:2"), "{problems:?}");
    assert!(Code::ConflictingDay.what_to_do().starts_with("Delete the wrong value from its table"));
}

#[test]
fn one_refused_file_leaves_the_others() {
    let reading = read_all(
        &[
            ("a.doc", b"x".to_vec()),
            ("b.fit", b"x".to_vec()),
            ("c.csv", b"date,weight_kg\n2026-03-01,70\n".to_vec()),
        ],
        None,
    );
    assert_eq!(codes(&reading), [Code::UnknownFormat, Code::FitHeader]);
    assert_eq!(reading.season.days.len(), 1);
}

#[test]
fn measures_have_a_level_and_a_range() {
    for measure in Measure::ALL.iter().copied() {
        let (least, most) = measure.plausible();
        assert!(
            least < most && measure.is_plausible(least) && measure.is_plausible(most),
            "{}",
            measure.name()
        );
        assert!(!measure.is_plausible(f64::NAN) && !measure.is_plausible(most + 1.0), "{}", measure.name());
        let is_of_days = measure >= Measure::RestingHeartRate;
        assert_eq!(measure.level() == Level::Day, is_of_days, "{}", measure.name());
    }
}
