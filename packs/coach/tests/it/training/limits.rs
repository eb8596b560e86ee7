//! Every limit at its largest allowed value and one above. Data beyond a limit is refused while the file is being read.

use holdshort_coach::training::{Code, File, Options, Reading, Severity, limits, read};

use crate::training::fit_writer::{FitWriter, U8, U16, U32, finish_run, run, time};
use crate::training::support::{START, codes, read_all, read_utc};

/// Returns the codes of the errors in a reading, and the numbers of activities and of days in the season.
fn outcome(reading: &Reading) -> (Vec<Code>, usize, usize) {
    let errors = reading.problems.iter().filter(|problem| problem.severity() == Severity::Error);
    let (activities, days) = (reading.season.activities.len(), reading.season.days.len());
    (errors.map(|problem| problem.code).collect(), activities, days)
}

#[test]
fn bytes_of_a_file() {
    let csv = |size: usize| vec![b'#'; size];
    let found = |name: &str, size: usize| codes(&read_utc(name, csv(size)))[0];
    assert_ne!(found("a.fit", limits::FILE_BYTES), Code::FileTooLarge);
    assert_eq!(found("a.fit", limits::FILE_BYTES + 1), Code::FileTooLarge);
    assert_ne!(found("a.json", limits::DATA_FILE_BYTES), Code::FileTooLarge);
    assert_eq!(found("a.json", limits::DATA_FILE_BYTES + 1), Code::FileTooLarge);
}

#[test]
fn files_of_a_reading() {
    let names: Vec<String> = (0..limits::FILES + 2).map(|n| format!("{n:05}.csv")).collect();
    let files: Vec<File<'_>> = names.iter().map(|name| File { name, bytes: b"date,weight_kg\n" }).collect();
    assert_eq!(codes(&read(&files[..limits::FILES], &Options::default())), []);
    let reading = read(&files, &Options::default());
    assert_eq!(codes(&reading), [Code::TooManyFiles]);
    assert_eq!(&*reading.problems[0].source.file, "04000.csv");
}

#[test]
fn rows_of_a_table() {
    let table = |rows: usize| {
        let row = |n: usize| {
            format!(
                "{},1,ride\n",
                jiff::Timestamp::from_second(START + 3_600 * i64::try_from(n).unwrap()).unwrap()
            )
        };
        "start,duration_s,sport\n".to_owned() + &(0..rows).map(row).collect::<String>()
    };
    assert_eq!(outcome(&read_utc("a.csv", table(limits::CSV_ROWS))), (vec![], limits::CSV_ROWS, 0));
    assert_eq!(
        outcome(&read_utc("a.csv", table(limits::CSV_ROWS + 1))),
        (vec![Code::TooManyActivities], 0, 0)
    );
}

#[test]
fn columns_and_cells_of_a_table() {
    let table = |columns: usize| format!("date{}\n", ",notes".repeat(columns - 1));
    assert_eq!(codes(&read_utc("a.csv", table(limits::CSV_COLUMNS))), []);
    assert_eq!(codes(&read_utc("a.csv", table(limits::CSV_COLUMNS + 1))), [Code::CsvHeader]);
    let cell = |size: usize| format!("date,weight_kg\n2026-03-01,{}\n", "7".repeat(size));
    // The value is implausible as a weight, but the cell is read completely.
    assert_eq!(codes(&read_utc("a.csv", cell(300))), [Code::Implausible]);
    assert_eq!(codes(&read_utc("a.csv", cell(limits::CELL_CHARS + 1))), [Code::BadNumber]);
    let padded = |size: usize| format!("date,weight_kg\n2026-03-01,{}70\n", " ".repeat(size - 2));
    assert_eq!(codes(&read_utc("a.csv", padded(limits::CELL_CHARS))), []);
    assert_eq!(codes(&read_utc("a.csv", padded(limits::CELL_CHARS + 1))), [Code::BadNumber]);
    let notes = format!("date,weight_kg,notes\n2026-03-01,70,{}\n", "x".repeat(limits::CELL_CHARS + 1));
    assert_eq!(outcome(&read_utc("a.csv", notes)), (vec![], 0, 1));
}

#[test]
fn points_of_a_gpx_file() {
    let track = |points: usize| format!("<trk><trkseg>{}</trkseg></trk>", "<trkpt/>".repeat(points));
    let file = |tracks: &str| codes(&read_utc("a.gpx", format!("<gpx>{tracks}</gpx>")));
    assert_eq!(file(&track(limits::SAMPLES)), [Code::NoActivity, Code::NoTime]);
    assert_eq!(file(&track(limits::SAMPLES + 1)), [Code::TooManySamples]);
    let full = track(limits::SAMPLES).repeat(limits::FILE_SAMPLES / limits::SAMPLES);
    assert!(!file(&full).contains(&Code::TooManySamples));
    assert_eq!(file(&(full + &track(1))), [Code::TooManySamples]);
    assert!(!file(&"<trk/>".repeat(limits::ACTIVITIES)).contains(&Code::TooManyActivities));
    assert_eq!(file(&"<trk/>".repeat(limits::ACTIVITIES + 1)), [Code::TooManyActivities]);
}

#[test]
fn points_and_laps_of_a_tcx_file() {
    let activity = |laps: usize, points: usize| {
        let (laps, points) = ("<Lap/>".repeat(laps), "<Trackpoint/>".repeat(points));
        format!("<Activity>{laps}<Track>{points}</Track></Activity>")
    };
    let file =
        |activities: &str| codes(&read_utc("a.tcx", format!("<T><Activities>{activities}</Activities></T>")));
    assert!(!file(&activity(7, limits::SAMPLES - 7)).contains(&Code::TooManySamples));
    assert_eq!(file(&activity(8, limits::SAMPLES - 7)), [Code::TooManySamples]);
    let full = activity(0, limits::SAMPLES).repeat(limits::FILE_SAMPLES / limits::SAMPLES);
    assert!(!file(&full).contains(&Code::TooManySamples));
    assert_eq!(file(&(full + &activity(1, 0))), [Code::TooManySamples]);
    assert!(!file(&"<Activity/>".repeat(limits::ACTIVITIES)).contains(&Code::TooManyActivities));
    assert_eq!(file(&"<Activity/>".repeat(limits::ACTIVITIES + 1)), [Code::TooManyActivities]);
}

/// Returns a FIT file of a run with this number of records, one per second.
fn records(start: i64, count: usize) -> Vec<u8> {
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (3, 1, U8)]);
    for second in (0..).take(count) {
        writer.message(1, &[&time(start + second), &[140]]);
    }
    writer.finish()
}

#[test]
fn records_of_a_fit_file_and_of_a_chain() {
    assert_eq!(outcome(&read_utc("a.fit", records(START, limits::SAMPLES))), (vec![], 1, 0));
    assert_eq!(
        outcome(&read_utc("a.fit", records(START, limits::SAMPLES + 1))),
        (vec![Code::TooManySamples], 0, 0)
    );
    let in_chain = limits::FILE_SAMPLES / limits::SAMPLES;
    let segment = |number: usize, count: usize| {
        records(START + i64::try_from(number * limits::SAMPLES).unwrap(), count)
    };
    let mut chain: Vec<u8> = (0..in_chain).flat_map(|number| segment(number, limits::SAMPLES)).collect();
    assert_eq!(outcome(&read_utc("a.fit", &chain)), (vec![], in_chain, 0));
    chain.extend(segment(in_chain, 1));
    assert_eq!(outcome(&read_utc("a.fit", &chain)), (vec![Code::TooManySamples], 0, 0));
}

/// Tests that each FIT file of a chain is read once, even if the chain has many files.
#[test]
fn files_of_a_fit_chain() {
    let chain = |count: usize| -> Vec<u8> {
        let segment = |number: usize| run(START + 3_600 * i64::try_from(number).unwrap(), &[140; 3]).finish();
        (0..count).flat_map(segment).collect()
    };
    assert_eq!(outcome(&read_utc("a.fit", chain(limits::FIT_SEGMENTS))), (vec![], limits::FIT_SEGMENTS, 0));
    assert_eq!(outcome(&read_utc("a.fit", chain(limits::FIT_SEGMENTS + 1))), (vec![Code::FitChain], 0, 0));
}

/// Tests that the limit of daily measures applies to a single FIT file and to a chain of FIT files.
#[test]
fn values_of_days_in_fit_files() {
    let weights = |from: usize, count: usize| {
        let mut writer = FitWriter::default();
        writer.define(1, 30, &[(253, 4, U32), (0, 2, U16)]);
        for second in (from..from + count).map(|second| i64::try_from(second).unwrap()) {
            writer.message(1, &[&time(START + second), &7_050_u16.to_le_bytes()]);
        }
        writer.finish()
    };
    let (most, half) = (limits::DAY_VALUES, limits::DAY_VALUES / 2);
    let chain = |second: usize| [weights(0, half), weights(half, second)].concat();
    assert_eq!(outcome(&read_utc("a.fit", weights(0, most))).0, []);
    assert_eq!(outcome(&read_utc("a.fit", weights(0, most + 1))), (vec![Code::TooManyDays], 0, 0));
    assert_eq!(outcome(&read_utc("a.fit", chain(half))).0, []);
    assert_eq!(outcome(&read_utc("a.fit", chain(half + 1))), (vec![Code::TooManyDays], 0, 0));
    // The first file uses part of the limit. The second file is refused, and the content of the first file is kept.
    let two = [("a.fit", weights(0, half)), ("b.fit", weights(half, half + 1))];
    let reading = read_all(&two);
    assert_eq!(outcome(&reading).0, [Code::TooManyDays]);
    assert_eq!(
        &*reading.season.days.values().next().unwrap().measures.values().next().unwrap().source.file,
        "a.fit"
    );
}

#[test]
fn activities_of_a_reading() {
    let sessions = |count: usize| {
        let mut writer = FitWriter::default();
        for session in 0..i64::try_from(count).unwrap() {
            finish_run(&mut writer, START + 3_600 * session, 60, 1);
        }
        writer.finish()
    };
    let most = limits::ACTIVITIES;
    assert_eq!(outcome(&read_utc("a.fit", sessions(most))), (vec![], most, 0));
    assert_eq!(outcome(&read_utc("a.fit", sessions(most + 1))), (vec![Code::TooManyActivities], 0, 0));
    let row = |n: usize| {
        format!(
            "{{\"start_time\": \"{}\"}}",
            jiff::Timestamp::from_second(START + i64::try_from(n).unwrap()).unwrap()
        )
    };
    let data = |count: usize| {
        let rows: Vec<String> = (0..count).map(row).collect();
        format!("{{\"all_activities\": [{}]}}", rows.join(","))
    };
    assert!(outcome(&read_utc("a.json", data(most))).0.is_empty());
    assert_eq!(outcome(&read_utc("a.json", data(most + 1))).0, [Code::TooManyActivities]);
}

/// Tests that the first warnings by file and place are listed, and that further warnings are only counted and not held
/// in memory.
#[test]
fn warnings_of_a_reading() {
    let bad = |rows: usize| "date,weight_kg\n".to_owned() + &"yesterday,70\n".repeat(rows);
    let of_file = limits::PLACES;
    let reading = read_all(&[("a.csv", bad(of_file + 7)), ("b.csv", bad(3))]);
    assert_eq!((reading.problems.len(), reading.more_warnings), (of_file + 3, 7));
    let not_read = reading.not_read(1);
    assert_eq!((not_read.files, not_read.refused, not_read.problems[0].places), (2, 0, of_file + 7));
    assert_eq!(not_read.more, std::collections::BTreeMap::from([("bad_date", 3)]));
    let full = limits::WARNINGS / of_file;
    let mut files: Vec<_> = (0..full).map(|n| (format!("a{n:03}.csv"), bad(of_file))).collect();
    let reading = read_all(&files);
    assert_eq!((reading.problems.len(), reading.more_warnings), (limits::WARNINGS, 0));
    files.push(("b.csv".to_owned(), bad(4)));
    files.push(("c.fit".to_owned(), String::new()));
    let reading = read_all(&files);
    assert_eq!((reading.problems.len(), reading.more_warnings), (limits::WARNINGS + 1, 4));
    let last = reading.problems.iter().rfind(|problem| problem.severity() == Severity::Warning).unwrap();
    assert_eq!(last.source.to_string(), format!("a{:03}.csv:{}", full - 1, of_file + 1));
    // An error is listed even if there are too many warnings.
    assert!(codes(&reading).contains(&Code::FitHeader));
}
