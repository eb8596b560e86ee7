//! FIT files: values that are read, damaged files that are refused, and faults that are reported.

use holdshort_coach::training::{Code, Measure, Sport};

use crate::training::fit_writer::{FitWriter, TEXT, U8, U16, U32, finish_run, run, time};
use crate::training::support::{START, codes, read_one};

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

/// Field sizes that no device writes must not cause a panic or an endless loop, as they do in public FIT readers.
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

/// Times and durations of any type and value must not cause a panic: the file defines the types of its fields.
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

/// Reading ends for every modification of a real file. A file with changed bytes is refused.
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

/// The header of a record with a compressed timestamp holds the lowest five bits of the timestamp.
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
