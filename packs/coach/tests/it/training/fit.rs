//! FIT files: values that are read, damaged files that are refused, and faults that are reported.

use holdshort_coach::training::{Code, Measure, Sport};

use crate::training::fit_writer::{
    ENUM, FitWriter, TEXT, TIMER_STARTS, TIMER_STOPS, U8, U16, U32, finish_run, run, time,
};
use crate::training::support::{START, codes, problem_lines, read_one, read_utc};

#[test]
fn a_run_is_read_with_its_local_day() {
    let reading = read_one("run.fit", &run(START, &[140, 150, 160, 150, 150, 150]).finish());
    assert_eq!(codes(&reading), []);
    let [run] = &reading.season.activities[..] else { panic!("one activity") };
    assert_eq!(run.id, "2026-03-01T06:30:00Z running");
    assert_eq!((run.sport.clone(), run.offset.seconds()), (Sport::Running, 7_200));
    assert_eq!(run.day().to_string(), "2026-03-01");
    assert_eq!(run.measure(Measure::Duration), Some(6.0));
    assert_eq!(run.measure(Measure::Distance), Some(18.0));
    // The mean excludes the last sample, which only ends the series.
    assert_eq!(run.measure(Measure::HeartRateAverage), Some(150.0));
    assert_eq!(run.measure(Measure::HeartRateMax), Some(160.0));
    let rates: Vec<_> =
        run.samples.iter().map(|sample| (sample.at_s, sample.heart_rate, sample.speed)).collect();
    let expected = [(0.0, 140.0), (1.0, 150.0), (2.0, 160.0), (3.0, 150.0), (4.0, 150.0), (5.0, 150.0)];
    assert_eq!(rates, expected.map(|(at_s, bpm)| (at_s, Some(bpm), Some(3.0))));
}

#[test]
fn each_damage_is_told_by_its_code_and_place() {
    let whole = run(START, &[140; 30]).finish();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        bytes
    };
    let end = whole.len();
    for (what, bytes, code, place) in [
        ("empty", Vec::new(), Code::FitHeader, "run.fit"),
        ("no FIT", b"GIF89a, which is a picture".to_vec(), Code::FitHeader, "run.fit@0"),
        ("header of another size", with(&|bytes| bytes[0] = 13), Code::FitHeader, "run.fit@0"),
        ("wrong CRC of the header", with(&|bytes| bytes[3] ^= 1), Code::FitCrc, "run.fit@0"),
        ("wrong CRC", with(&|bytes| bytes[end - 1] ^= 1), Code::FitCrc, "run.fit@0"),
        ("a changed byte", with(&|bytes| bytes[80] ^= 1), Code::FitCrc, "run.fit@0"),
        ("truncated", whole[..200].to_vec(), Code::FitTruncated, "run.fit@200"),
        ("bytes behind the end", with(&|bytes| bytes.extend(*b"more")), Code::FitTrailing, "run.fit@"),
    ] {
        let reading = read_one("run.fit", &bytes);
        let found = reading.problems.iter().find(|problem| problem.code == code);
        let found = found.unwrap_or_else(|| panic!("{what}: {:?}", reading.problems));
        assert!(found.source.to_string().starts_with(place), "{what}: {found}");
    }
}

#[test]
fn what_is_whole_of_a_truncated_file_counts() {
    let whole = run(START, &[140; 30]).finish();
    let reading = read_one("run.fit", &whole[..200]);
    assert_eq!(codes(&reading), [Code::OffsetAssumed, Code::FitNoSession, Code::FitTruncated]);
    let [run] = &reading.season.activities[..] else { panic!("one activity") };
    assert_eq!(run.measure(Measure::HeartRateAverage), Some(140.0));
    assert_eq!(run.sport, Sport::Unknown);
}

/// Tests that field sizes that no device writes cause no panic and no endless loop, as in public FIT readers.
#[test]
fn definitions_of_any_shape_do_no_harm() {
    for base in 0..=u8::MAX {
        for size in [0, 1, 3, 5, 255] {
            let mut writer = FitWriter::activity_file();
            writer.define(1, 20, &[(253, 4, U32), (3, size, base)]);
            writer.message(1, &[&time(START), &vec![1; usize::from(size)]]);
            finish_run(&mut writer, START, 60, 1);
            let reading = read_one("odd.fit", &writer.finish());
            assert_eq!(reading.season.activities.len(), 1, "{base} {size}: {:?}", reading.problems);
        }
    }
}

/// Tests that times and durations of any type and value cause no panic. A FIT file itself defines the types of its
/// fields.
#[test]
fn times_beyond_all_time_do_no_harm() {
    for (base, size, value) in [
        (0x89, 8, 1e300_f64.to_le_bytes().to_vec()),
        (0x89, 8, (-1e300_f64).to_le_bytes().to_vec()),
        (0x88, 4, 1e38_f32.to_le_bytes().to_vec()),
        (0x8F, 8, (u64::MAX - 1).to_le_bytes().to_vec()),
        (0x8E, 8, i64::MAX.to_le_bytes().to_vec()),
    ] {
        for field in [253, 2, 5, 7] {
            for message in [18, 20, 21] {
                let mut writer = FitWriter::activity_file();
                writer.define(1, message, &[(field, size, base)]);
                writer.message(1, &[&value]);
                writer.define(2, message, &[(253, 4, U32), (field, size, base)]);
                writer.message(2, &[&time(START), &value]);
                finish_run(&mut writer, START, 60, 3);
                let reading = read_one("odd.fit", &writer.finish());
                assert!(
                    !reading.season.activities.is_empty(),
                    "{base} {field} {message}: {:?}",
                    reading.problems
                );
            }
        }
    }
}

/// Tests that reading ends for every modification of a real file, and that a file with changed bytes is refused.
#[test]
fn no_byte_of_a_file_makes_it_panic() {
    let sample = include_bytes!("../../samples/garmin-fenix-5-bike.fit");
    for at in 0..sample.len() {
        let mut bytes = sample.to_vec();
        bytes[at] ^= 0xFF;
        assert!(!read_one("changed.fit", &bytes).problems.is_empty(), "{at}");
    }
    for end in (0..sample.len()).step_by(7) {
        read_one("cut.fit", &sample[..end]);
    }
    // With correct CRCs, every changed record is read.
    let body = &sample[14..sample.len() - 2];
    for at in (0..body.len()).step_by(3) {
        let mut writer = FitWriter::default();
        writer.data.extend(body);
        writer.data[at] ^= 0x55;
        read_one("changed.fit", &writer.finish());
    }
}

#[test]
fn fields_of_apps_are_named_and_change_nothing() {
    let mut writer = FitWriter::activity_file();
    let name = b"doughnuts\0";
    writer.define(4, 206, &[(0, 1, U8), (1, 1, U8), (2, 1, U8), (3, 10, TEXT)]);
    writer.message(4, &[&[0], &[7], &[U8], name]);
    writer.define_with_apps(1, 20, &[(253, 4, U32), (3, 1, U8)], &[(7, 1, 0)]);
    for second in 0..10_u8 {
        writer.message(1, &[&time(START + i64::from(second)), &[140 + second], &[second]]);
    }
    finish_run(&mut writer, START, 10, 1);
    let reading = read_one("apps.fit", &writer.finish());
    let [problem] = &reading.problems[..] else { panic!("{:?}", reading.problems) };
    assert_eq!((problem.code, &*problem.message), (Code::FitDeveloperFields, "fields of apps: doughnuts"));
    assert_eq!(reading.season.activities[0].measure(Measure::HeartRateMax), Some(149.0));
}

#[test]
fn a_run_without_a_sensor_is_told() {
    for rates in [[0; 20], [255; 20]] {
        let reading = read_one("run.fit", &run(START, &rates).finish());
        assert_eq!(codes(&reading), [Code::NoHeartRate]);
        assert_eq!(reading.season.activities[0].measure(Measure::HeartRateAverage), None);
    }
}

/// Tests FIT records with a compressed timestamp, whose header has only the lowest five bits of the timestamp.
#[test]
fn compressed_timestamps_go_on_from_the_last_whole_one() {
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (3, 1, U8)]).message(1, &[&time(START), &[140]]);
    writer.define(2, 20, &[(3, 1, U8)]);
    let low = u8::try_from((START - crate::training::fit_writer::EPOCH) & 0x1F).unwrap();
    for second in [1_u8, 2, 30, 40] {
        writer.message(0x80 | (2 << 5) | ((low + second) & 0x1F), &[&[140 + second]]);
    }
    let reading = read_one("old.fit", &writer.finish());
    let at: Vec<f64> = reading.season.activities[0].samples.iter().map(|sample| sample.at_s).collect();
    assert_eq!(at, [0.0, 1.0, 2.0, 30.0, 40.0]);
}

#[test]
fn a_triathlon_is_an_activity_for_each_sport() {
    let reading = read_one("tri.fit", include_bytes!("../../samples/sample_multiple_header.fit"));
    let sports: Vec<&str> = reading.season.activities.iter().map(|activity| activity.sport.name()).collect();
    assert_eq!(sports, ["swimming", "transition", "cycling", "transition", "running"]);
    assert!(codes(&reading).contains(&Code::SeveralSports));
}

#[test]
fn scales_and_watches_tell_of_days() {
    let mut writer = FitWriter::activity_file();
    writer.define(1, 30, &[(253, 4, U32), (0, 2, U16)]).message(1, &[&time(START), &7_050_u16.to_le_bytes()]);
    writer.define(2, 211, &[(253, 4, U32), (0, 1, U8)]).message(2, &[&time(START), &[47]]);
    writer
        .define(3, 370, &[(253, 4, U32), (1, 2, U16)])
        .message(3, &[&time(START), &(64_u16 * 128).to_le_bytes()]);
    let reading = read_one("day.fit", &writer.finish());
    assert_eq!(codes(&reading), []);
    let (date, day) = reading.season.days.iter().next().unwrap();
    let measures: Vec<_> = day.measures.iter().map(|(measure, known)| (*measure, known.value)).collect();
    assert_eq!(date.to_string(), "2026-03-01");
    assert_eq!(measures, [(Measure::RestingHeartRate, 47.0), (Measure::Hrv, 64.0), (Measure::Weight, 70.5)]);
}

/// Tests that the pauses of a session lie between timer events, and that the next session has its own pauses.
#[test]
fn pauses_are_between_timer_events() {
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (3, 1, U8)]);
    for second in [0, 10, 40, 50, 100, 110] {
        writer.message(1, &[&time(START + second), &[140]]);
    }
    for (at, kind) in [(0, TIMER_STARTS), (15, TIMER_STOPS), (40, TIMER_STARTS), (45, 9), (100, TIMER_STARTS)]
    {
        writer.timer(START + at, kind);
    }
    // The event 9 is that of a lap, and 1 is a stop.
    writer
        .define(5, 21, &[(253, 4, U32), (0, 1, ENUM), (1, 1, ENUM)])
        .message(5, &[&time(START + 5), &[9], &[1]]);
    writer.session(START, 60, 20, [1, 0]).session(START + 60, 60, 20, [2, 0]);
    let reading = read_utc("a.fit", writer.finish());
    let pauses: Vec<_> = reading.season.activities.iter().map(|each| each.pauses.clone()).collect();
    assert_eq!(pauses, [vec![(15.0, 40.0), (45.0, 60.0)], vec![(0.0, 40.0)]]);
}

/// Tests that the duration of a recording without a session is the time in which the timer ran.
#[test]
fn a_cut_recording_lasts_as_long_as_its_timer_ran() {
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (3, 1, U8)]);
    writer.timer(START, TIMER_STARTS);
    for second in (0..=20).chain(45..=55) {
        writer.message(1, &[&time(START + second), &[140]]);
        if second == 20 {
            writer.timer(START + second, TIMER_STOPS).timer(START + 45, TIMER_STARTS);
        }
    }
    let reading = read_utc("a.fit", writer.finish());
    assert_eq!(reading.season.activities[0].measure(Measure::Duration), Some(30.0));
}

/// Tests that sports have the names of the FIT profile, and that a general sport takes the name of its sub-sport.
#[test]
fn sports_are_those_of_the_profile() {
    for (sports, name) in [
        ([1, 0], "running"),
        ([1, 1], "running"),
        ([2, 7], "cycling"),
        ([2, 28], "e_biking"),
        ([2, 47], "e_biking"),
        ([21, 0], "e_biking"),
        ([4, 14], "rowing"),
        ([4, 15], "elliptical"),
        ([4, 1], "running"),
        ([4, 6], "cycling"),
        ([4, 0], "fitness_equipment"),
        ([5, 18], "swimming"),
        ([10, 20], "strength"),
        ([10, 43], "yoga"),
        ([10, 26], "cardio_training"),
        ([10, 0], "training"),
        ([0, 43], "yoga"),
        ([0, 32], "transition"),
        ([0, 33], "transition"),
        ([10, 34], "transition"),
        ([0, 0], "unknown"),
        ([254, 254], "unknown"),
        ([12, 42], "skiing"),
        ([15, 0], "rowing"),
        ([17, 0], "hiking"),
        ([31, 69], "rock_climbing"),
        ([40, 0], "water_skiing"),
        ([64, 85], "padel"),
        ([66, 0], "wheelchair_push_run"),
        ([84, 0], "jump_rope"),
        ([1, 200], "running"),
        ([200, 3], "fit sport 200"),
    ] {
        let mut writer = FitWriter::activity_file();
        writer.session(START, 600, 600, sports);
        let reading = read_utc("a.fit", writer.finish());
        assert_eq!(reading.season.activities[0].sport.name(), name, "{sports:?}");
    }
}

/// Tests that each complete part of a chain of three recordings is read, wherever the broken part is.
#[test]
fn a_chain_keeps_its_good_parts() {
    let day = 86_400;
    let parts: Vec<Vec<u8>> = (0..3).map(|n| run(START + n * day, &[140; 30]).finish()).collect();
    let broken = |part: usize, change: &dyn Fn(&mut Vec<u8>)| {
        let mut parts = parts.clone();
        change(&mut parts[part]);
        parts.concat()
    };
    let part = parts[0].len();
    let wrong_crc = |bytes: &mut Vec<u8>| bytes[80] ^= 1;
    let no_definition = |bytes: &mut Vec<u8>| {
        let mut writer = FitWriter::activity_file();
        writer.message(9, &[&[0]]);
        *bytes = writer.finish();
    };
    let garbage = |bytes: &mut Vec<u8>| *bytes = b"no FIT at all".to_vec();
    for (what, bytes, left, told) in [
        (
            "first",
            broken(0, &wrong_crc),
            &["2026-03-02", "2026-03-03"][..],
            "a.fit@0 fit_part: part of the file not read (fit_crc)".to_owned(),
        ),
        (
            "middle",
            broken(1, &wrong_crc),
            &["2026-03-01", "2026-03-03"],
            format!("a.fit@{part} fit_part: part of the file not read (fit_crc)"),
        ),
        (
            "last",
            broken(2, &wrong_crc),
            &["2026-03-01", "2026-03-02"],
            format!("a.fit@{} fit_part: part of the file not read (fit_crc)", 2 * part),
        ),
        (
            "record",
            broken(1, &no_definition),
            &["2026-03-01", "2026-03-03"],
            "fit_part: part of the file not read (fit_record)".to_owned(),
        ),
        (
            "garbage",
            broken(1, &garbage),
            &["2026-03-01", "2026-03-03"],
            format!("a.fit@{part} fit_part: part of the file not read (fit_header)"),
        ),
    ] {
        let reading = read_utc("a.fit", bytes);
        let days: Vec<String> = reading.season.activities.iter().map(|run| run.day().to_string()).collect();
        assert_eq!(days, left, "{what}: {:?}", reading.problems);
        let lines = problem_lines(&reading);
        assert!(lines.iter().any(|line| line.contains(&told)), "{what}: {lines:?}");
    }
    // Without a good part, the file is refused as before.
    let all = [0, 1, 2]
        .map(|n| {
            let mut part = parts[n].clone();
            wrong_crc(&mut part);
            part
        })
        .concat();
    assert_eq!(codes(&read_utc("a.fit", all)), [Code::FitCrc]);
}

/// Tests a FIT file whose header states the length 0, because the device writes the length last. The records up to the
/// end are read, and no message speaks of changed bytes.
#[test]
fn a_length_of_zero_is_a_recording_that_was_not_finished() {
    let whole = run(START, &[140; 30]).finish();
    let mut unfinished = whole.clone();
    unfinished[4..8].fill(0);
    for bytes in [unfinished.clone(), unfinished[..unfinished.len() - 2].to_vec(), unfinished[..200].to_vec()]
    {
        let reading = read_utc("a.fit", &bytes);
        assert!(codes(&reading).contains(&Code::FitUnfinished), "{:?}", reading.problems);
        assert!(!codes(&reading).contains(&Code::FitCrc), "{:?}", reading.problems);
        assert_eq!(reading.season.activities.len(), 1, "{:?}", reading.problems);
    }
    // In a chain, the next recording is read too.
    let chain = [unfinished, run(START + 86_400, &[150; 30]).finish()].concat();
    assert_eq!(read_utc("a.fit", chain).season.activities.len(), 2);
    // A file that is really empty has nothing to read.
    let empty = FitWriter::default().finish();
    assert_eq!(codes(&read_utc("a.fit", empty)), [Code::NoActivity]);
}

/// Tests that a pause belongs to only one of several sessions that overlap.
#[test]
fn overlapping_sessions_share_no_pause() {
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (3, 1, U8)]);
    for minute in 0..10 {
        let begins = START + minute * 60;
        writer.timer(begins, TIMER_STARTS).define(1, 20, &[(253, 4, U32), (3, 1, U8)]);
        for second in 0..30 {
            writer.message(1, &[&time(begins + second), &[140]]);
        }
        writer.timer(begins + 30, TIMER_STOPS);
    }
    for start in [0, 120, 300] {
        writer.session(START + start, 600, 300, [1, 0]);
    }
    let reading = read_one("run.fit", &writer.finish());
    let pauses: Vec<usize> = reading.season.activities.iter().map(|activity| activity.pauses.len()).collect();
    assert!(pauses.len() > 1 && pauses.iter().sum::<usize>() <= 10, "{pauses:?}");
}
