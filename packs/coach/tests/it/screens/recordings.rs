//! Faulty recordings and tables, and how their faults are reported to the athlete.

use std::path::Path;

use holdshort_testkit::model::Scripted;
use serde_json::{Value, json};

use super::{CONFIG, Stage};
use crate::training::fit_writer::{FitWriter, TEXT, U8, U32, finish_run, run, time};

/// Start of the test recordings: 2025-06-01T18:00:00Z.
const START: i64 = 1_748_800_800;

/// Returns a FIT file of a run whose records have a developer field.
fn with_fields_of_apps() -> Vec<u8> {
    let mut writer = FitWriter::activity_file();
    writer.define(4, 206, &[(0, 1, U8), (1, 1, U8), (2, 1, U8), (3, 10, TEXT)]);
    writer.message(4, &[&[0], &[7], &[U8], b"doughnuts\0"]);
    writer.define_with_apps(1, 20, &[(253, 4, U32), (3, 1, U8)], &[(7, 1, 0)]);
    for second in 0..10_u8 {
        writer.message(1, &[&time(START + i64::from(second)), &[140 + second], &[second]]);
    }
    finish_run(&mut writer, START, 10, 1);
    writer.finish()
}

/// Tests that faults of recordings and tables are reported with the file, and that the readable content is used.
#[test]
fn what_is_wrong_with_recordings_and_tables_is_told() {
    let stage = Stage::new(CONFIG);
    let data = stage.home.path().join("data");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let sample = |name: &str| std::fs::read(samples.join(name)).unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(data.join(name), bytes).unwrap();
    let ride = sample("garmin-fenix-5-bike.fit");
    put("cut.fit", &ride[..ride.len() / 2]);
    let mut changed = ride;
    *changed.last_mut().unwrap() ^= 1;
    put("changed.fit", &changed);
    put("apps.fit", &with_fields_of_apps());
    put("no_sensor.fit", &run(START + 86_400, &[0; 20]).finish());
    put("triathlon.fit", &sample("sample_multiple_header.fit"));
    put("commas.csv", b"date;weight_kg\n2028-02-29;70,5\n2027-02-29;70,5\n2027-03-02;70.1\n");
    put("pounds.csv", b"date,weight_lb\n2025-06-02,155.4\n");
    put("stones.csv", b"date,weight_st\n2025-06-02,11\n");
    put("twice.csv", b"date,weight_kg\n2025-06-01,70\n2025-06-01,70\n2025-06-03,70\n2025-06-03,71\n");
    stage.plays(
        "metrics",
        vec![Scripted::call("read_load_data", json!({})), Scripted::text("The load is well.")],
    );
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("2 not read: changed.fit (fit_crc), stones.csv (csv_unit)"), "{flat}");
    let summary = stage.summary();
    let problems = summary["not_read"]["problems"].as_array().unwrap();
    let page = stage.file("analysis.html");
    for (file, code) in [
        ("cut.fit", "fit_truncated"),
        ("cut.fit", "fit_no_session"),
        ("changed.fit", "fit_crc"),
        ("apps.fit", "fit_developer_fields"),
        ("no_sensor.fit", "no_heart_rate"),
        ("triathlon.fit", "several_sports"),
        ("commas.csv", "no_such_date"),
        ("commas.csv", "csv_mixed_decimals"),
        ("stones.csv", "csv_unit"),
        ("twice.csv", "duplicate_day"),
        ("twice.csv", "conflicting_day"),
        ("activities/intervals.fit", "offset_changed"),
    ] {
        let is_told = |it: &Value| it["source"]["file"] == file && it["code"] == code;
        assert!(problems.iter().any(is_told), "{file} {code}: {problems:#?}");
        assert!(page.contains(file), "{file}");
    }
    assert!(!problems.iter().any(|it| it["source"]["file"] == "pounds.csv"), "{problems:#?}");
}

/// Tests an export in German, and a log with its own headers, which the command line maps.
#[test]
fn tables_of_other_programs_are_read_with_units_and_columns() {
    let config = CONFIG.replace("sex: female", "sex: female, units: metric, time_zone: Europe/Berlin");
    let stage = Stage::new(&config);
    let data = stage.home.path().join("data");
    let put = |name: &str, text: &str| std::fs::write(data.join(name), text).unwrap();
    put(
        "Activities.csv",
        "Aktivitätstyp,Datum,Favorit,Titel,Distanz,Zeit,Ø Herzfrequenz\n\
         Laufen,2026-03-12 07:30:00,false,Morgenlauf,\"10,02\",\"01:02:03\",\"151\"\n",
    );
    put("log.ods.csv", "sep=;\nBeginn;Dauer;Puls\n2026-03-13 07:30;62,5;151\n");
    let read = json!({ "metric": "weekly_volume", "parameters": { "weeks": 1 } });
    stage.plays(
        "metrics",
        vec![Scripted::call("compute_metric", read), Scripted::text("The volume is well.")],
    );
    let columns =
        ["--columns", "start=Beginn", "--columns", "duration_min=dauer", "--columns", "avg_hr=Puls"];
    let ran = stage.home.run(&stage.arguments(&columns));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.err.contains("log.ods.csv") && !ran.err.contains("Activities.csv"), "{}", ran.err);
    let told = stage.model.requests_of("metrics")[1].texts().last().cloned().unwrap();
    assert!(told.contains("unknown, 2026-03-09: activities 1.00, duration 3750 s (1:02:30)"), "{told}");

    // Without the options, the table is refused by name, and the advice names them.
    let read = Scripted::call("read_load_data", json!({}));
    stage.plays("metrics", vec![read, Scripted::text("The load is well.")]);
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("1 not read: log.ods.csv (csv_header)"), "{flat}");
    assert!(stage.file("analysis.html").contains("--columns"), "the advice");

    for (columns, told) in [
        (&["--columns", "Beginn"][..], "`Beginn` is not a valid value of --columns: write NAME=HEADER"),
        (
            &["--columns", "start=Beginn", "--columns", "puls=Puls"],
            "`puls`, which is not a known column name",
        ),
        (&["--columns", "decimal=;"], "sets `decimal` to `;`"),
    ] {
        let ran = stage.home.run(&stage.arguments(columns));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(told), "{columns:?}: {}", ran.err);
    }
}
