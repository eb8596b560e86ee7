//! The tools of the coach's agents on the sample: data for each analyst, computed metrics, and reported problems.

use std::os::unix::fs::symlink;

use holdshort_coach::tools::Training;
use holdshort_core::tool::Outcome;
use holdshort_testkit::bench::Bench;
use serde_json::{Value, json};

/// Returns a workspace with the sample's data, for a run with this input.
fn bench(input: Value) -> Bench {
    let bench = Bench::new(&Training, input);
    let sample = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows/coach/sample");
    for name in
        ["days.csv", "log.csv", "platform.json", "activities/intervals.fit", "activities/long-ride.tcx"]
    {
        bench.put(name, std::fs::read(sample.join(name)).unwrap());
    }
    bench
}

fn input() -> Value {
    json!({ "current_date": "2026-03-15", "athlete": { "sex": "female", "max_heart_rate": 188 }, "metrics_days": 56 })
}

async fn done(bench: &Bench, tool: &str, arguments: Value) -> (String, Value) {
    match bench.run(tool, arguments).await {
        Outcome::Done { text, data } => (text, data),
        other => panic!("{other:?}"),
    }
}

async fn failed(bench: &Bench, tool: &str, arguments: Value) -> String {
    match bench.run(tool, arguments).await {
        Outcome::Failed { text } => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_analyst_is_given_its_own_part() {
    let bench = bench(input());
    let cases = [
        ("read_load_data", "metrics", "weeks", ["days", "activities"]),
        ("read_activity_data", "activities", "activities", ["days", "weeks"]),
        ("read_physiology_data", "physiology", "days", ["weeks", "activities"]),
    ];
    for (tool, analyst, has, lacks) in cases {
        let (text, data) = done(&bench, tool, json!({})).await;
        assert_eq!(data["given"]["analyst"], analyst);
        assert!(!data["given"][has].as_array().unwrap().is_empty(), "{tool}");
        assert!(lacks.iter().all(|part| data["given"][part].is_null()), "{tool}");
        let told: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(told["given"], data["given"]);
    }
}

/// Tests that the text for a model has a number as a report quotes it, and that the data has its exact value.
#[tokio::test]
async fn a_metric_is_computed_with_what_it_comes_from() {
    let bench = bench(input());
    let call = json!({ "metric": "acute_load", "parameters": { "scale": "session_rpe" } });
    let (text, data) = done(&bench, "compute_metric", call).await;
    // In the sample's log, exertion times minutes gives 4491 AU in seven days.
    assert!(text.starts_with("acute load: 642 AU/day"), "{text}");
    let value = data["computed"]["results"][0]["values"][0]["value"].as_f64().unwrap();
    assert!((value - 4491.0 / 7.0).abs() < 1e-9, "{value}");
    assert!(
        data["computed"]["results"][0]["inputs"]["files"].as_array().unwrap().contains(&json!("log.csv"))
    );

    let (text, data) = done(&bench, "compute_metric", json!({ "metric": "power_tss" })).await;
    assert!(text.contains("power_tss needs") && data["refused"]["needs"].is_string(), "{text}");
    let told = failed(&bench, "compute_metric", json!({ "metric": "acute_load" })).await;
    assert!(told.contains("/scale"), "{told}");
}

#[tokio::test]
async fn a_series_is_handed_to_the_report() {
    let bench = bench(input());
    let (text, data) = done(&bench, "plot_series", json!({ "series": "sleep", "title": "Sleep" })).await;
    assert_eq!((&data["plot"]["title"], &data["plot"]["unit"]), (&json!("Sleep"), &json!("h")));
    let points = data["plot"]["points"].as_array().unwrap();
    assert!(text.contains(&format!("{} points", points.len())), "{text}");
    assert_eq!(points.last().unwrap(), &json!(["2026-03-15", 6.4]));
    let early = self::bench(json!({ "current_date": "2020-01-01" }));
    let told = failed(&early, "plot_series", json!({ "series": "sleep", "title": "Sleep" })).await;
    assert!(told.starts_with("no_data"), "{told}");
}

/// Tests that the report receives the planned weeks, and the completed weeks that the tool computes.
#[tokio::test]
async fn planned_weeks_are_handed_to_the_report_beside_those_that_were_done() {
    let bench = bench(input());
    let weeks = json!([{ "begins": "2026-03-23", "hours": 5 }, { "begins": "2026-03-16", "hours": 3.5 }]);
    let (text, data) = done(&bench, "plan_weeks", json!({ "weeks": weeks })).await;
    assert!(
        text.starts_with("The report shows 2 planned weeks next to the past weeks. Average of the "),
        "{text}"
    );
    let planned = json!([{ "week": "2026-03-16", "hours": 3.5 }, { "week": "2026-03-23", "hours": 5.0 }]);
    assert_eq!(data["weeks"]["planned"], planned);
    let done_weeks = data["weeks"]["done"].as_array().unwrap();
    assert_eq!(done_weeks.last().unwrap()["week"], "2026-03-09");
    assert_eq!(done_weeks.len(), 8);
    let computed = json!({ "metric": "weekly_volume", "parameters": { "weeks": 1 } });
    let (_, volume) = done(&bench, "compute_metric", computed).await;
    let seconds = volume["computed"]["results"].as_array().unwrap().iter();
    let seconds = seconds.flat_map(|piece| piece["values"].as_array().unwrap());
    let hours: f64 =
        seconds.filter(|it| it["name"] == "duration").map(|it| it["value"].as_f64().unwrap() / 3_600.0).sum();
    assert!((done_weeks.last().unwrap()["hours"].as_f64().unwrap() - hours).abs() < 1e-9, "{hours}");

    let week = |begins: &str, hours: f64| json!({ "begins": begins, "hours": hours });
    let many: Vec<Value> = (0..27).map(|_| week("2026-03-16", 1.0)).collect();
    for (weeks, told) in [
        (json!([]), "name 1 to 26 weeks"),
        (json!(many), "name 1 to 26 weeks"),
        (json!([week("2026-03-17", 1.0)]), "/weeks/0: a week begins on a Monday"),
        (json!([week("2026-03-02", 1.0)]), "/weeks/0: the week of 2026-03-02 is over"),
        (json!([week("2026-03-16", 61.0)]), "/weeks/0: hours must be between 0 and 60"),
        (
            json!([week("2026-03-16", 1.0), week("2026-03-16", 2.0)]),
            "/weeks/1: the week of 2026-03-16 occurs twice",
        ),
    ] {
        let text = failed(&bench, "plan_weeks", json!({ "weeks": weeks })).await;
        assert!(text.starts_with("bad_arguments") && text.contains(told), "{text}");
    }
}

#[tokio::test]
async fn a_run_that_does_not_say_whose_data_it_is_is_told_so() {
    for (input, told) in [
        (json!({}), "current_date"),
        (json!({ "current_date": "today" }), "bad_input"),
        (json!({ "current_date": "2026-03-15", "athlete": { "time_zone": "Mars/Base" } }), "Mars/Base"),
    ] {
        let text = failed(&bench(input), "read_load_data", json!({})).await;
        assert!(text.contains("bad_input") && text.contains(told), "{text}");
    }
    let empty = Bench::new(&Training, input());
    let text = failed(&empty, "read_load_data", json!({})).await;
    assert!(text.starts_with("no_data"), "{text}");
}

/// Tests that symbolic links are not followed, and that an unreadable file is reported while the others are read.
#[tokio::test]
async fn links_are_not_followed_and_broken_files_are_told() {
    let bench = bench(input());
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("days.csv"), "date,sleep_h\n2026-03-15,1\n").unwrap();
    symlink(outside.path(), bench.at("more")).unwrap();
    symlink(outside.path().join("days.csv"), bench.at("other.csv")).unwrap();
    bench.put("broken.fit", b"no fit file");
    bench.put(".hidden.csv", "date,sleep_h\n2026-03-15,2\n");
    // Files that people usually keep next to training data.
    for name in ["README.md", "coach.yaml", "Thumbs.db", ".DS_Store"] {
        bench.put(name, "Of no day.");
    }
    for name in ["b.fit.gz", "sub/a.zip", "c.xlsx", "noext", "note.txt"] {
        bench.put(name, b"\x1f\x8b");
    }
    let (text, data) = done(&bench, "read_physiology_data", json!({})).await;
    let told: Value = serde_json::from_str(&text).unwrap();
    let named = |list: &Value| -> Vec<(String, String)> {
        let problems = list["problems"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        problems.map(|it| (text(&it["source"]["file"]), text(&it["code"]))).collect()
    };
    for list in [&told["not_read"], &data["not_read"]] {
        let errors = [
            ("b.fit.gz", "unknown_format"),
            ("broken.fit", "fit_header"),
            ("c.xlsx", "unknown_format"),
            ("more", "link"),
            ("noext", "unknown_format"),
            ("note.txt", "unknown_format"),
            ("other.csv", "link"),
            ("sub/a.zip", "unknown_format"),
        ];
        let errors = errors.map(|(file, code)| (file.to_owned(), code.to_owned()));
        assert_eq!(named(list)[..8], errors, "{list}");
        assert_eq!((&list["files"], &list["refused"]), (&json!(13), &json!(8)), "{list}");
    }
    let last = data["given"]["days"].as_array().unwrap().last().unwrap().clone();
    let sleep = last["measures"].as_array().unwrap().iter().find(|it| it["name"] == "sleep").unwrap().clone();
    assert_eq!(sleep["value"], json!(6.4));
}

/// Tests that the oldest entries of an analyst's data are left out and counted if the data is too large. The text stays
/// valid JSON.
#[tokio::test]
async fn what_is_too_much_is_left_out_from_its_oldest_end() {
    let bench = Bench::new(&Training, json!({ "current_date": "2026-03-15", "metrics_days": 366 }));
    let names = "resting_hr_bpm,hrv_ms,sleep_h,weight_kg,stress";
    let long = "a".repeat(180);
    let first: jiff::civil::Date = "2025-03-15".parse().unwrap();
    let rows: Vec<String> = first
        .series(jiff::Span::new().days(1))
        .take(366)
        .map(|day| format!("{day},47,66,7.3,70.8,25"))
        .collect();
    bench.put(&format!("{long}.csv"), format!("date,{names}\n{}\n", rows.join("\n")));
    let (text, data) = done(&bench, "read_physiology_data", json!({})).await;
    assert!(text.len() <= 256 * 1024, "{}", text.len());
    let told: Value = serde_json::from_str(&text).unwrap();
    let days = told["given"]["days"].as_array().unwrap();
    let left_out = told["older_left_out"]["days"].as_u64().unwrap();
    assert_eq!(days.len() as u64 + left_out, data["given"]["days"].as_array().unwrap().len() as u64);
    assert_eq!(days.last(), data["given"]["days"].as_array().unwrap().last());
}

/// Tests that a file with an error in every line does not hide the problems of other files, and that all errors are
/// counted.
#[tokio::test]
async fn what_was_not_read_is_told_by_file_and_counted() {
    let bench = bench(input());
    bench.put("a.csv", format!("date,weight_kg\n{}", "yesterday,70\n".repeat(600)));
    for n in 0..30 {
        bench.put(&format!("b/{n:02}.fit"), b"no fit file");
    }
    let (text, data) = done(&bench, "read_load_data", json!({})).await;
    let whole = &data["not_read"];
    assert_eq!((&whole["files"], &whole["refused"]), (&json!(36), &json!(30)));
    let problems = whole["problems"].as_array().unwrap();
    let refused = problems.iter().filter(|it| it["severity"] == "error").count();
    assert_eq!(refused, 30, "{whole}");
    let of_table = problems.iter().find(|it| it["source"]["file"] == "a.csv").unwrap();
    assert_eq!((&of_table["places"], &of_table["code"]), (&json!(600), &json!("bad_date")));
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told["not_read"]["problems"].as_array().unwrap().len(), 20);
    assert_eq!(told["not_read"]["more"]["fit_header"], json!(10));
    assert_eq!(told["not_read"]["more"]["bad_date"], json!(600));
}

/// Tests that the newest training files are read if they exceed the size limit, and that the others are reported.
#[tokio::test]
async fn of_too_much_data_the_newest_is_read() {
    let bench = Bench::new(&Training, input());
    let old = bench.at("old.csv");
    let file = |path: &std::path::Path| std::fs::File::create(path).unwrap();
    // A sparse file: it takes no space on the disk, and is not read.
    file(&old).set_len(100 << 20).unwrap();
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    std::fs::File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    bench.put("new.csv", "date,sleep_h\n2026-03-15,7\n");
    file(&bench.at("large.fit")).set_len(60 << 20).unwrap();
    let (_, data) = done(&bench, "read_physiology_data", json!({})).await;
    assert_eq!(data["given"]["days"][0]["measures"][0]["value"], json!(7.0));
    let told = &data["not_read"];
    assert_eq!((&told["files"], &told["refused"]), (&json!(3), &json!(2)), "{told}");
    assert_eq!(told["problems"][1]["source"]["file"], "old.csv");
    assert_eq!(told["problems"][1]["code"], "left_out");
    let input = json!({ "current_date": "2026-03-15" });
    let before = holdshort_coach::tools::not_read(&bench.at(""), &input).unwrap();
    assert_eq!(json!(before), *told);
}

/// Tests that the data for the report includes the parts of the data file, although only agents read them.
#[tokio::test]
async fn the_parts_of_a_data_file_are_in_the_data() {
    let bench = Bench::new(&Training, input());
    bench
        .put("platform.json", r#"{"vo2_max_history": {"running": [{"date": "2026-03-01", "value": 57.3}]}}"#);
    let (text, data) = done(&bench, "read_load_data", json!({})).await;
    assert!(text.contains("57.3"), "{text}");
    assert_eq!(data["parts"]["vo2_max_history"]["running"][0]["value"], json!(57.3));
}

/// Tests that a file is read again after its content changed.
#[tokio::test]
async fn a_changed_file_is_read_again() {
    let bench = Bench::new(&Training, input());
    for hours in ["7.5", "6.25"] {
        bench.put("days.csv", format!("date,sleep_h\n2026-03-15,{hours}\n"));
        let (_, data) = done(&bench, "read_physiology_data", json!({})).await;
        assert_eq!(data["given"]["days"][0]["measures"][0]["value"].to_string(), hours);
    }
}
