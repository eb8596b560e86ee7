//! Every value that is read but not used is reported with its file and place. No value is dropped silently.

use crate::training::fit_writer::{FitWriter, U8, U16, U32, finish_run, time};
use crate::training::support::{START, codes, problem_lines, read_utc};

/// Returns each problem as `FILE:PLACE CODE: MESSAGE`.
fn lines(name: &str, bytes: &[u8]) -> Vec<String> {
    problem_lines(&read_utc(name, bytes))
}

fn gpx(points: &str) -> String {
    format!("<gpx><trk>\n<type>run</type><trkseg>\n{points}\n</trkseg></trk></gpx>")
}

fn gpx_point(second: u32, inside: &str) -> String {
    format!("<trkpt lat='50.0' lon='8.0'><time>2026-03-01T06:30:{second:02}Z</time>{inside}</trkpt>\n")
}

#[test]
fn gpx_tells_points_without_a_time_and_numbers_that_are_none() {
    let (first, last) = (gpx_point(0, ""), gpx_point(10, ""));
    let rate = |value: &str| format!("<extensions><hr>{value}</hr></extensions>");
    for (point, expected) in [
        ("<trkpt lat='50.0' lon='8.0'/>".to_owned(), &["a.gpx:1 no_time: points without a time: 1 of 3"][..]),
        (gpx_point(5, &rate("fast")), &["a.gpx:4 bad_number: `fast` as hr"]),
        (gpx_point(5, "").replace("50.0", "north"), &["a.gpx:4 bad_number: `north` as lat"]),
        (
            gpx_point(5, "").replace("8.0", "800"),
            &["a.gpx:4 implausible: lon 800 ° is not within -180 to 180"],
        ),
        (gpx_point(5, &rate("")), &[]),
    ] {
        let mut found = lines("a.gpx", gpx(&(first.clone() + &point + &last)).as_bytes());
        found.retain(|line| !line.contains("no_heart_rate"));
        assert_eq!(found, expected, "{point}");
    }
}

#[test]
fn a_track_without_times_beside_one_with_times_is_told() {
    let text = gpx(&(gpx_point(0, "") + &gpx_point(10, "")))
        .replace("</gpx>", "\n<trk><type>run</type><trkseg><trkpt lat='1' lon='2'/></trkseg></trk></gpx>");
    let found = lines("a.gpx", text.as_bytes());
    assert!(found.contains(&"a.gpx:7 no_time: points without a time: 1 of 1".to_owned()), "{found:?}");
}

fn tcx(activity: &str) -> String {
    format!("<T><Activities>\n<Activity Sport='Running'>{activity}\n</Activity></Activities></T>")
}

#[test]
fn tcx_tells_what_it_leaves_out() {
    let point = |second: u32, inside: &str| {
        format!("<Trackpoint><Time>2026-03-01T06:30:{second:02}Z</Time>{inside}</Trackpoint>")
    };
    let whole = "<TotalTimeSeconds>60</TotalTimeSeconds><DistanceMeters>200</DistanceMeters>";
    let lap = |at: &str, inside: &str| format!("<Lap StartTime='{at}'>{inside}</Lap>");
    let at = "2026-03-01T06:30:00Z";
    let rate = |value: &str| format!("<HeartRateBpm><Value>{value}</Value></HeartRateBpm>");
    for (activity, expected) in [
        (
            lap(at, &format!("{whole}<Track><Trackpoint/>{}</Track>", point(5, ""))),
            &["a.tcx:2 no_time: points without a time: 1 of 2"][..],
        ),
        (
            format!(
                "<Id>2026-03-01T06:30:10Z</Id>{}",
                lap(at, &format!("{whole}<Track>{}{}</Track>", point(5, ""), point(15, "")))
            ),
            &["a.tcx:2 outside_activity: samples before the activity's start: 1"],
        ),
        (
            lap(at, &format!("{whole}<Track>{}</Track>", point(5, &rate("fast")))),
            &["a.tcx:2 bad_number: `fast` as Value"],
        ),
        (
            lap("at noon", &format!("{whole}<Track>{}</Track>", point(5, ""))),
            &["a.tcx:2 bad_date: `at noon` is not a time"],
        ),
        (
            format!("<Id>noon</Id>{}", lap(at, &format!("{whole}<Track>{}</Track>", point(5, "")))),
            &["a.tcx:2 bad_date: `noon` is not a time"],
        ),
        (
            lap(at, whole) + &lap(at, "<TotalTimeSeconds>60</TotalTimeSeconds>"),
            &[
                "a.tcx:2 laps_incomplete: laps without a distance: 1 of 2; the sum of the other laps is not used",
            ],
        ),
    ] {
        let mut found = lines("a.tcx", tcx(&activity).as_bytes());
        found.retain(|line| !line.contains("no_heart_rate"));
        assert_eq!(found, expected, "{activity}");
    }
    let two = tcx(&lap(at, whole)).replace("</Activities>", "\n<Activity Sport='Running'/></Activities>");
    let found = lines("a.tcx", two.as_bytes());
    assert!(found.contains(&"a.tcx:4 no_time: the activity has no start".to_owned()), "{found:?}");
}

#[test]
fn fit_tells_records_and_sessions_that_it_leaves_out() {
    // The record is one hour after the end of the session.
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (3, 1, U8)]);
    for second in [0, 1, 3_600] {
        writer.message(1, &[&time(START + second), &[140]]);
    }
    finish_run(&mut writer, START, 60, 1);
    let mut found = lines("a.fit", &writer.finish());
    found.retain(|line| !line.contains("no_heart_rate"));
    assert_eq!(found, ["a.fit@0 outside_activity: records outside of all sessions: 1 of 3"]);

    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(3, 1, U8)]).message(1, &[&[140]]);
    writer.define(1, 18, &[(5, 1, U8)]).message(1, &[&[1]]);
    writer.define(1, 30, &[(0, 2, U16)]).message(1, &[&7_050_u16.to_le_bytes()]);
    finish_run(&mut writer, START, 60, 1);
    let found = lines("a.fit", &writer.finish());
    let no_time = |at: u32, what: &str| format!("a.fit@{at} no_time: {what} has no time");
    for line in [no_time(39, "a record"), no_time(50, "a session"), no_time(61, "weight")] {
        assert!(found.contains(&line), "{line}: {found:#?}");
    }

    // The local time differs from UTC by an impossible 20 hours.
    let mut writer = FitWriter::activity_file();
    finish_run(&mut writer, START, 60, 1);
    writer
        .define(3, 34, &[(253, 4, U32), (5, 4, U32)])
        .message(3, &[&time(START), &time(START + 20 * 3_600)]);
    let found = lines("a.fit", &writer.finish());
    assert!(
        found.iter().any(|line| line.contains("implausible: the local time differs from UTC by 72000 s")),
        "{found:#?}"
    );
}

#[test]
fn a_column_of_the_other_kind_of_table_is_told() {
    let days = lines("a.csv", b"date,hrv_ms,rpe,sport\n2026-03-01,60,5,run\n");
    assert_eq!(
        days,
        [
            "a.csv:1 csv_unknown_column: the column `rpe` is only for tables of activities",
            "a.csv:1 csv_unknown_column: the column `sport` is only for tables of activities",
        ]
    );
    let log = lines("a.csv", b"start,duration_s,avg_hr,hrv_ms\n2026-03-01T06:30:00Z,60,140,60\n");
    assert_eq!(log, ["a.csv:1 csv_unknown_column: the column `hrv_ms` is only for tables of days"]);
}

#[test]
fn a_data_file_tells_entries_without_a_day_or_a_start_and_numbers_that_are_none() {
    for (text, expected) in [
        (
            r#"{"all_activities": [{"summary": {"duration": 60}}]}"#,
            "#/all_activities/0/start_time data_value: `null` is not a text",
        ),
        (r#"{"all_activities": [7]}"#, "#/all_activities/0 data_value: `7` is not a mapping"),
        (
            r#"{"all_activities": [{"start_time": "2026-03-01T06:30:00", "summary": 7}]}"#,
            "#/all_activities/0/summary data_value: `7` is not a mapping",
        ),
        (
            r#"{"daily_stats": {"resting_heart_rate": 50}}"#,
            "#/daily_stats/date data_value: `null` is not a text",
        ),
        (r#"{"body_metrics": "none"}"#, "#/body_metrics data_value: `\"none\"` is not a mapping"),
        (
            r#"{"user_profile": {"lactate_threshold_heart_rate": 900}}"#,
            "#/user_profile/lactate_threshold_heart_rate implausible: threshold_heart_rate 900 bpm is not within 40 to 250",
        ),
        (
            r#"{"physiological_markers": {"resting_heart_rate": 5}}"#,
            "#/physiological_markers/resting_heart_rate implausible: resting_heart_rate 5 bpm is not within 20 to 150",
        ),
        (
            r#"{"user_profile": {"gender": "m"}}"#,
            "#/user_profile/gender data_value: `\"m\"` is neither male nor female",
        ),
        (
            r#"{"all_activities": [
                {"activity_id": 1, "start_time": "2026-03-01T06:30:00", "summary": {"duration": 60}},
                {"activity_id": 1, "start_time": "2026-03-02T06:30:00", "summary": {"duration": 60}}]}"#,
            "#/all_activities/1 duplicate_activity: the activity_id 1 occurs twice in the list",
        ),
    ] {
        let found = lines("d.json", text.as_bytes());
        assert!(found.contains(&format!("d.json{expected}")), "{text}: {found:#?}");
    }
    let nothing =
        br#"{"daily_stats": {"date": null, "resting_heart_rate": null}, "recovery_indicators": [{}]}"#;
    assert_eq!(lines("d.json", nothing), [""; 0]);
}

#[test]
fn what_follows_from_samples_and_is_no_measure_is_told() {
    let text = tcx(
        "<Track><Trackpoint><Time>2026-03-01T06:30:00Z</Time><DistanceMeters>0</DistanceMeters></Trackpoint>\
         <Trackpoint><Time>2026-03-01T06:30:10Z</Time><DistanceMeters>1e300</DistanceMeters></Trackpoint></Track>",
    );
    let found = lines("a.tcx", text.as_bytes());
    assert!(found.iter().any(|line| line.starts_with("a.tcx:2 implausible: distance 1000")), "{found:#?}");
}

#[test]
fn files_that_differ_on_the_athlete_are_told() {
    let file =
        |threshold: u32| format!(r#"{{"user_profile": {{"lactate_threshold_heart_rate": {threshold}}}}}"#);
    let (one, two) = (file(170), file(172));
    let files = [("a.json", one.as_bytes()), ("b.json", two.as_bytes())];
    let reading = crate::training::support::read_all(&files);
    assert_eq!(
        problem_lines(&reading),
        [
            "b.json#/user_profile/lactate_threshold_heart_rate conflicting_athlete: threshold_heart_rate: 172 here, 170 in \
          a.json#/user_profile/lactate_threshold_heart_rate"
        ]
    );
    assert_eq!(reading.season.athlete.threshold_heart_rate, Some(170.0));
    assert!(
        codes(&crate::training::support::read_all(&[("a.json", one.as_bytes()), ("b.json", one.as_bytes())]))
            .is_empty()
    );
}

/// Tests that an XML text that is longer than any valid measure is dropped as a whole.
#[test]
fn an_element_that_is_too_long_is_no_number() {
    let long = format!("1<![CDATA[{}]]>40", " ".repeat(holdshort_coach::training::limits::CELL_CHARS));
    let point = gpx_point(0, &format!("<extensions><hr>{long}</hr></extensions>"));
    let found = lines("a.gpx", gpx(&(point + &gpx_point(10, ""))).as_bytes());
    assert!(found.iter().any(|line| line.starts_with("a.gpx:3 bad_number: `1")), "{found:#?}");
}
