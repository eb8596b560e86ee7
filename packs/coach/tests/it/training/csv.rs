//! Tables of the athlete: columns, units, decimal marks, dates.

use holdshort_coach::training::{Code, Measure, Options, Sport};
use jiff::tz::TimeZone;

use crate::training::support::{codes, problem_lines, read_one, read_utc};

fn days(text: &str) -> Vec<(String, Measure, f64)> {
    let reading = read_one("days.csv", text.as_bytes());
    assert_eq!(codes(&reading), [], "{text}");
    let each = reading.season.days.into_iter();
    each.flat_map(|(date, day)| {
        day.measures.into_iter().map(move |(measure, known)| (date.to_string(), measure, known.value))
    })
    .collect()
}

#[test]
fn every_way_to_write_a_table_of_days_is_read_alike() {
    let expected = vec![
        ("2028-02-29".to_owned(), Measure::RestingHeartRate, 47.0),
        ("2028-02-29".to_owned(), Measure::Hrv, 63.5),
        ("2028-02-29".to_owned(), Measure::Sleep, 7.5),
        ("2028-02-29".to_owned(), Measure::Weight, 70.5),
    ];
    for text in [
        "date,resting_hr_bpm,hrv_ms,sleep_h,weight_kg\n2028-02-29,47,63.5,7.5,70.5\n",
        "\u{feff}Date;Resting HR;HRV rMSSD (ms);Sleep [h];Weight (kg)\r\n2028-02-29;47;63,5;7,5;70,5\r\n",
        "weight_kg\tdate\tsleep_min\thrv_ms\tresting_hr\n70.5\t2028-02-29\t450\t63.5\t47\n",
        "date,resting_hr,hrv_s,sleep_hms,weight_kg,notes\n\"2028-02-29\",47,0.0635,7:30:00,70.5,\"slept, well\"\n\n",
    ] {
        assert_eq!(days(text), expected, "{text}");
    }
    let [(_, _, kg)] = &days("date,weight_lb\n2026-03-01,155.4\n")[..] else { panic!("one") };
    assert!((kg - 70.488_254_298).abs() < 1e-9, "{kg}");
}

#[test]
fn a_table_of_activities_is_read_with_its_units() {
    let text = "start,sport,duration_min,distance_mi,avg_hr,max_hr,avg_power_w,rpe,name\n\
                2026-03-01T07:30:00+01:00,Trail Run,61.5,6.2,151,172,,7,\"long, hilly\"\n";
    let reading = read_one("log.csv", text.as_bytes());
    assert_eq!(codes(&reading), []);
    let [run] = &reading.season.activities[..] else { panic!("one activity") };
    assert_eq!((run.id.as_str(), run.sport.clone()), ("2026-03-01T06:30:00Z running", Sport::Running));
    let measures: Vec<_> = run.measures.iter().map(|(measure, known)| (*measure, known.value)).collect();
    assert_eq!(
        measures,
        [
            (Measure::Duration, 3_690.0),
            (Measure::Distance, 6.2 * 1_609.344),
            (Measure::HeartRateAverage, 151.0),
            (Measure::HeartRateMax, 172.0),
            (Measure::Exertion, 7.0),
        ]
    );
    assert_eq!(run.measures[&Measure::Exertion].source.to_string(), "log.csv:2");
}

#[test]
fn what_can_not_be_understood_is_refused_by_name() {
    for (text, code, said) in [
        ("", Code::CsvHeader, "empty"),
        ("when,weight_kg\n", Code::CsvHeader, "neither"),
        ("date,start\n", Code::CsvHeader, "both"),
        ("date,weight\n2026-03-01,70\n", Code::CsvUnit, "weight_kg, weight_lb"),
        ("date,weight_st\n2026-03-01,11\n", Code::CsvUnit, "weight_kg, weight_lb"),
        ("start,distance_furlong\n", Code::CsvUnit, "distance_m, distance_km, distance_mi"),
        ("start,duration\n", Code::CsvUnit, "duration_s, duration_min, duration_h"),
        ("date,weight_kg,weight_lb\n", Code::CsvColumnTwice, "weight_lb"),
        ("date,sleep_h,sleep_hms\n", Code::CsvColumnTwice, "sleep_hms"),
    ] {
        let reading = read_one("x.csv", text.as_bytes());
        let found: Vec<_> = reading.problems.iter().filter(|problem| problem.code == code).collect();
        let [problem] = found[..] else { panic!("{text}: {:?}", reading.problems) };
        assert!(problem.message.contains(said), "{text}: {problem}");
        assert!(reading.season.activities.is_empty() && reading.season.days.is_empty(), "{text}");
    }
    assert_eq!(codes(&read_one("x.csv", b"date,notes\n2026-03-01,caf\xE9\n")), [Code::NotUtf8]);
}

#[test]
fn a_bad_row_or_cell_is_told_with_its_line_and_the_others_count() {
    let text = "date,weight_kg,mood\n\
                2026-02-29,70\n\
                2026-02-29,70,1\n\
                01.03.2026,70,1\n\
                3/1/2026,70,1\n\
                2026-03-02,heavy,1\n\
                2026-03-03,700,1\n\
                2026-03-04,1e2,1\n\
                2026-03-05,71,1\n";
    let reading = read_one("d.csv", text.as_bytes());
    let told: Vec<_> =
        reading.problems.iter().map(|problem| (problem.source.to_string(), problem.code)).collect();
    let expected = [
        (1, Code::CsvUnknownColumn),
        (2, Code::CsvRow),
        (3, Code::NoSuchDate),
        (4, Code::BadDate),
        (5, Code::BadDate),
        (6, Code::BadNumber),
        (7, Code::Implausible),
        (8, Code::BadNumber),
    ];
    assert_eq!(told, expected.map(|(line, code)| (format!("d.csv:{line}"), code)));
    let left: Vec<String> = reading.season.days.keys().map(ToString::to_string).collect();
    assert_eq!(left, ["2026-03-05"]);
}

/// An invalid cell does not change the other cells of its row or its column.
#[test]
fn a_cell_with_another_mark_is_told_with_row_and_column_and_is_absent() {
    // Separator, cells of a column, values that are read, and problems.
    for (separator, cells, counted, expected) in [
        // A decimal comma is rejected in a file with comma separators.
        (',', &["70.5", "\"70,5\"", "71"][..], &[70.5, 71.0][..], &[(3, Code::CsvDecimalComma, "70,5")][..]),
        // Most cells have a decimal comma, so the point is reported.
        (';', &["70,5", "70.4", "70,3"], &[70.5, 70.3], &[(3, Code::CsvMixedDecimals, "70.4")]),
        (';', &["70.5", "70.4", "70,3"], &[70.5, 70.4], &[(4, Code::CsvMixedDecimals, "70,3")]),
        // With equally many commas and points, the decimal mark is not guessed.
        (
            ';',
            &["70,5", "70.4", "71"],
            &[71.0],
            &[(2, Code::CsvMixedDecimals, "70,5"), (3, Code::CsvMixedDecimals, "70.4")],
        ),
        // `70.123` could have a thousands separator. The other cell cannot have one, so it determines the decimal mark.
        (
            ';',
            &["70.123", "71.123", "70,5"],
            &[70.5],
            &[(2, Code::CsvMixedDecimals, "70.123"), (3, Code::CsvMixedDecimals, "71.123")],
        ),
        (';', &["1.234,5", "70,5"], &[70.5], &[(2, Code::CsvMixedDecimals, "1.234,5")]),
        ('\t', &["1,234,567", "70,5"], &[70.5], &[(2, Code::CsvMixedDecimals, "1,234,567")]),
        (',', &["70.5", "7O.5"], &[70.5], &[(3, Code::BadNumber, "7O.5")]),
    ] {
        let row = |(day, cell): (usize, &&str)| format!("2026-03-{:02}{separator}{cell}\n", day + 1);
        let rows: String = cells.iter().enumerate().map(row).collect();
        let reading = read_one("d.csv", format!("date{separator}weight_kg\n{rows}").as_bytes());
        let expected: Vec<String> = expected
            .iter()
            .map(|(line, code, cell)| format!("d.csv:{line} {code}: `{cell}` in the column `weight_kg`"))
            .collect();
        assert_eq!(problem_lines(&reading), expected, "{cells:?}");
        let found: Vec<f64> =
            reading.season.days.values().filter_map(|day| day.measure(Measure::Weight)).collect();
        assert_eq!(found, counted, "{cells:?}");
    }
}

#[test]
fn a_bad_cell_of_an_activity_leaves_its_other_cells() {
    let text = "start;sport;duration_min;distance_km;avg_hr\n\
                2026-03-01T07:00:00Z;run;60,5;10.2;140\n\
                2026-03-02T07:00:00Z;run;61,5;10,3;fast\n";
    let reading = read_utc("log.csv", text);
    assert_eq!(
        problem_lines(&reading),
        [
            "log.csv:2 csv_mixed_decimals: `10.2` in the column `distance_km`",
            "log.csv:3 bad_number: `fast` in the column `avg_hr`",
            "log.csv:3 no_heart_rate: 2026-03-02T07:00:00Z running has no heart rate",
        ]
    );
    let runs = &reading.season.activities;
    assert_eq!(
        runs.iter().map(|run| run.measure(Measure::Duration)).collect::<Vec<_>>(),
        [Some(3_630.0), Some(3_690.0)]
    );
    assert_eq!(
        runs.iter().map(|run| run.measure(Measure::Distance)).collect::<Vec<_>>(),
        [None, Some(10_300.0)]
    );
}

/// Line numbers count empty lines and line breaks within cells, as in an editor.
#[test]
fn problems_name_the_line_in_which_their_row_begins() {
    let text = "date,weight_kg,notes\r\n\r\n\r\n2026-03-01,heavy,\"one\ntwo\"\r\n2026-03-02,light,\n\n";
    let reading = read_one("d.csv", text.as_bytes());
    assert_eq!(
        problem_lines(&reading),
        [
            "d.csv:4 bad_number: `heavy` in the column `weight_kg`",
            "d.csv:6 bad_number: `light` in the column `weight_kg`",
        ]
    );
}

#[test]
fn one_day_has_one_value_or_none() {
    let reading =
        read_one("d.csv", b"date,weight_kg\n2026-03-01,70\n2026-03-01,70\n2026-03-02,70\n2026-03-02,71\n");
    assert_eq!(codes(&reading), [Code::DuplicateDay, Code::ConflictingDay]);
    let left: Vec<String> = reading.season.days.keys().map(ToString::to_string).collect();
    assert_eq!(left, ["2026-03-01"]);
}

/// Time zones are given as POSIX rules, because this crate has no time zone database.
#[test]
fn local_times_are_of_the_zone_that_is_named_on_both_sides_of_its_change() {
    let text = "start,sport,duration_min,avg_hr\n\
                2026-03-28 23:30,run,30,140\n\
                2026-03-29 23:30,run,30,140\n";
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let file = holdshort_coach::training::File { name: "log.csv", bytes: text.as_bytes() };
    let reading = holdshort_coach::training::read(&[file], &Options { zone: Some(zone) });
    assert_eq!(codes(&reading), []);
    let found: Vec<_> =
        reading.season.activities.iter().map(|run| (run.start.to_string(), run.day().to_string())).collect();
    assert_eq!(
        found,
        [
            ("2026-03-28T22:30:00Z".to_owned(), "2026-03-28".to_owned()),
            ("2026-03-29T21:30:00Z".to_owned(), "2026-03-29".to_owned()),
        ]
    );
    let unnamed = read_one("log.csv", text.as_bytes());
    assert_eq!(codes(&unnamed), [Code::OffsetAssumed]);
}

/// Local times that a clock change skipped or repeated are read in the most likely way, and reported.
#[test]
fn local_times_around_a_change_of_the_clock_are_told() {
    let text = "start,sport,duration_min,avg_hr\n\
                2026-03-29 01:59:59,run,30,140\n\
                2026-03-29 02:30,run,30,140\n\
                2026-03-29 03:00,walk,30,140\n\
                2026-10-25 02:30,run,30,140\n\
                2026-10-25T02:30:00+01:00,ride,30,140\n\
                2026-10-25 03:00,walk,30,140\n";
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let file = holdshort_coach::training::File { name: "log.csv", bytes: text.as_bytes() };
    let reading = holdshort_coach::training::read(&[file], &Options { zone: Some(zone) });
    let mut told: Vec<_> = reading.problems.iter().map(|it| (it.source.to_string(), it.code)).collect();
    told.retain(|(_, code)| *code != Code::OffsetChanged);
    assert_eq!(
        told,
        [("log.csv:3".to_owned(), Code::LocalTimeSkipped), ("log.csv:5".to_owned(), Code::LocalTimeTwice),]
    );
    let starts: Vec<_> = reading.season.activities.iter().map(|run| run.start.to_string()).collect();
    assert_eq!(
        starts,
        [
            "2026-03-29T00:59:59Z",
            "2026-03-29T01:00:00Z",
            "2026-03-29T01:30:00Z",
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:30:00Z",
            "2026-10-25T02:00:00Z",
        ]
    );
}

#[test]
fn a_start_that_is_none_and_an_activity_without_a_duration_are_told() {
    let text = "start,sport,duration_hms,avg_hr\n\
                2027-02-29T07:00:00Z,run,1:00:00,140\n\
                2026-03-01,run,1:00:00,140\n\
                2026-03-02T07:00:00Z,run,,140\n\
                2026-03-03T07:00:00Z,run,75:00,140\n\
                2026-03-04T07:00:00Z,run,1:75:00,140\n";
    let file = holdshort_coach::training::File { name: "a.csv", bytes: text.as_bytes() };
    let reading = holdshort_coach::training::read(&[file], &Options { zone: Some(TimeZone::UTC) });
    let told: Vec<_> =
        reading.problems.iter().map(|problem| (problem.source.to_string(), problem.code)).collect();
    let expected = [
        (2, Code::NoSuchDate),
        (3, Code::BadDate),
        (4, Code::NoDuration),
        (6, Code::BadNumber),
        (6, Code::NoDuration),
    ];
    assert_eq!(told, expected.map(|(line, code)| (format!("a.csv:{line}"), code)));
    assert_eq!(reading.season.activities[0].measure(Measure::Duration), Some(4_500.0));
}

/// Sleep is never written in minutes and seconds, so `7:30` is hours. For an activity `1:05` is ambiguous and rejected.
#[test]
fn times_of_two_parts_are_read_where_they_can_mean_one_thing() {
    for (cell, hours) in [("7:30", 7.5), ("7:30:00", 7.5), ("0:45", 0.75)] {
        let text = format!("date,sleep_hms\n2026-03-01,{cell}\n");
        assert_eq!(days(&text), [("2026-03-01".to_owned(), Measure::Sleep, hours)], "{cell}");
    }
    for (cell, told, seconds) in [
        ("1:05:00", &[][..], Some(3_900.0)),
        ("62:03", &[], Some(3_723.0)),
        ("1:05", &[Code::CsvAmbiguousTime, Code::NoDuration], None),
        ("23:59", &[Code::CsvAmbiguousTime, Code::NoDuration], None),
        ("7:75", &[Code::CsvAmbiguousTime, Code::NoDuration], None),
        ("61:75", &[Code::BadNumber, Code::NoDuration], None),
    ] {
        let text = format!("start,sport,duration_hms,avg_hr\n2026-03-01T07:00:00Z,run,{cell},140\n");
        let reading = crate::training::support::read_utc("a.csv", text);
        assert_eq!(codes(&reading), told, "{cell}");
        let read = reading.season.activities.first().and_then(|run| run.measure(Measure::Duration));
        assert_eq!(read, seconds, "{cell}");
    }
}

/// 10 km in 65 s is impossible: either the distance or the time is wrong.
#[test]
fn a_distance_that_nobody_covers_in_its_time_is_told() {
    for (sport, seconds, taken) in [
        ("run", 65, false),
        ("run", 1_600, true),
        ("swim", 1_600, false),
        ("ride", 250, false),
        ("", 100, true),
    ] {
        let text = format!(
            "start,sport,duration_s,distance_m,avg_hr\n2026-03-01T07:00:00Z,{sport},{seconds},10000,140\n"
        );
        let reading = crate::training::support::read_utc("a.csv", text);
        assert_eq!(codes(&reading).contains(&Code::Implausible), !taken, "{sport} {seconds}");
        assert_eq!(reading.season.activities.len(), usize::from(taken), "{sport} {seconds}");
    }
}
