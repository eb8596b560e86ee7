//! The ten-part data file, as JSON and as YAML.

use holdshort_coach::training::{Code, File, Measure, Options, PARTS, Sex, parts, read};
use jiff::tz::TimeZone;
use serde_json::json;

use crate::training::support::{codes, read_one};

/// Returns a data file as the extractor of garmin-ai-coach writes it, with keys that are read and keys that are not.
pub(crate) fn sample() -> serde_json::Value {
    let activity = json!({
        "activity_id": 1, "activity_type": "trail_running", "activity_name": "Morning",
        "start_time": "2026-03-01T07:30:00.0",
        "summary": {"distance": 10000.0, "duration": 3000, "average_hr": 151, "max_hr": 172, "avg_power": null},
        "weather": {"temp": 50.0}, "laps": [{"distance": 1.0}],
    });
    json!({
        "user_profile": {
            "gender": "FEMALE", "weight": 61000.0, "birth_date": "1990-05-01", "lactate_threshold_heart_rate": 171,
        },
        "daily_stats": {"date": "2026-03-02", "resting_heart_rate": 48, "sleeping_hours": 7.5},
        "recent_activities": [activity],
        "all_activities": [activity, {
            "activity_id": 2, "activity_type": "multisport", "start_time": "2026-02-20T09:00:00",
            "summary": {"duration": 4000},
            "laps": [
                {"activityType": "swimming", "startTime": "2026-02-20T09:00:00", "summary": {"duration": 1000.0}},
                {"activityType": "cycling", "startTime": "2026-02-20T09:20:00", "summary": {"duration": 3000.0}},
            ],
        }],
        "physiological_markers": {"resting_heart_rate": 47, "vo2_max": 52.0, "hrv": {"weekly_avg": 60}},
        "body_metrics": {"weight": {"data": [{"date": "2026-03-01", "weight": 61.2}], "average": 61.0}},
        "recovery_indicators": [{
            "date": "2026-03-01",
            "sleep": {"duration": {"total": 7.9}, "avg_overnight_hrv": 64.0, "resting_heart_rate": 47},
            "stress": {"avg_level": 25, "max_level": 80},
        }],
        "training_status": null,
        "vo2_max_history": {"running": [{"date": "2026-03-01", "value": 52.0}], "cycling": []},
    })
}

fn options() -> Options {
    Options { zone: Some(TimeZone::fixed(jiff::tz::offset(1))), ..Options::default() }
}

#[test]
fn json_and_yaml_say_the_same() {
    let json = serde_json::to_vec(&sample()).unwrap();
    // JSON is valid YAML, so both files hold the same bytes.
    let readings = ["data.json", "data.YAML"].map(|name| read(&[File { name, bytes: &json }], &options()));
    for reading in &readings {
        assert_eq!(codes(reading), [Code::SeveralSports, Code::NoHeartRate, Code::NoHeartRate]);
        let season = &reading.season;
        let found: Vec<&str> = season.activities.iter().map(|activity| &*activity.id).collect();
        assert_eq!(
            found,
            ["2026-02-20T08:00:00Z swimming", "2026-02-20T08:20:00Z cycling", "2026-03-01T06:30:00Z running"]
        );
        assert_eq!(season.activities[2].measure(Measure::HeartRateAverage), Some(151.0));
        assert_eq!(season.athlete.sex, Some(Sex::Female));
        assert_eq!(season.athlete.threshold_heart_rate, Some(171.0));
        assert_eq!(season.athlete.resting_heart_rate, Some(47.0));
        let days: Vec<_> = season
            .days
            .iter()
            .flat_map(|(date, day)| {
                day.measures
                    .iter()
                    .map(move |(measure, known)| (date.to_string(), measure.name(), known.value))
            })
            .collect();
        let day = |date: &str, name: &'static str, value: f64| (date.to_owned(), name, value);
        assert_eq!(
            days,
            [
                day("2026-03-01", "resting_heart_rate", 47.0),
                day("2026-03-01", "hrv", 64.0),
                day("2026-03-01", "sleep", 7.9),
                day("2026-03-01", "weight", 61.2),
                day("2026-03-01", "stress", 25.0),
                day("2026-03-02", "resting_heart_rate", 48.0),
                day("2026-03-02", "sleep", 7.5),
            ]
        );
    }
    let weight = &readings[0].season.days.values().next().unwrap().measures[&Measure::Weight];
    assert_eq!(weight.source.to_string(), "data.json#/body_metrics/weight/data/0/weight");
}

#[test]
fn unquoted_dates_of_yaml_are_dates() {
    let text = "body_metrics:\n  weight:\n    data:\n      - {date: 2028-02-29, weight: 61.2}\nall_activities: null\n";
    let reading = read_one("data.yml", text.as_bytes());
    assert_eq!(codes(&reading), []);
    assert_eq!(reading.season.days.keys().map(ToString::to_string).collect::<Vec<_>>(), ["2028-02-29"]);
}

#[test]
fn each_analyst_can_be_given_its_parts() {
    let json = serde_json::to_vec(&sample()).unwrap();
    let found = parts(&File { name: "data.json", bytes: &json }).unwrap();
    let names: Vec<&str> = PARTS.into_iter().filter(|part| found.contains_key(part)).collect();
    assert_eq!(names, &PARTS[..7].iter().copied().chain(["vo2_max_history"]).collect::<Vec<_>>()[..]);
    assert_eq!(found["vo2_max_history"]["running"][0]["value"], 52.0);
    assert_eq!(parts(&File { name: "a.csv", bytes: b"" }).unwrap_err().code, Code::UnknownFormat);
}

#[test]
fn what_is_no_data_file_is_refused_and_a_wrong_value_is_told() {
    for (name, text, code, place) in [
        ("d.json", "{\"user_profile\": NaN}", Code::DataSyntax, "d.json:1"),
        ("d.json", "{\n\"user_profile\": {", Code::DataSyntax, "d.json:2"),
        ("d.json", "[]", Code::DataShape, "d.json"),
        ("d.yaml", "a: [1\nb: 2", Code::DataSyntax, "d.yaml:2"),
        ("d.yaml", "user_profile: &a [*a]", Code::DataSyntax, "d.yaml:1"),
        ("d.json", "{\"weather\": 1}", Code::DataUnknownPart, "d.json#"),
        ("d.json", "{\"all_activities\": {}}", Code::DataValue, "d.json#/all_activities"),
        (
            "d.json",
            "{\"daily_stats\": {\"date\": \"2026-03-01\", \"resting_heart_rate\": \"48\"}}",
            Code::DataValue,
            "d.json#/daily_stats/resting_heart_rate",
        ),
        (
            "d.json",
            "{\"daily_stats\": {\"date\": \"2026-02-29\"}}",
            Code::NoSuchDate,
            "d.json#/daily_stats/date",
        ),
        (
            "d.json",
            "{\"body_metrics\": {\"weight\": {\"data\": [{\"date\": \"2026-03-01\", \"weight\": 61200}]}}}",
            Code::Implausible,
            "d.json#/body_metrics/weight/data/0/weight",
        ),
    ] {
        let reading = read_one(name, text.as_bytes());
        let [problem] = &reading.problems[..] else { panic!("{text}: {:?}", reading.problems) };
        assert_eq!((problem.code, problem.source.to_string()), (code, place.to_owned()), "{text}: {problem}");
    }
}

#[test]
fn what_nests_too_deeply_is_refused() {
    for (name, text) in [
        ("d.json", "[".repeat(100_000)),
        ("d.yaml", "[".repeat(100_000)),
        ("d.yaml", (0..500).map(|depth| " ".repeat(depth) + "a:\n").collect()),
    ] {
        let reading = read_one(name, text.as_bytes());
        assert_eq!(codes(&reading), [Code::TooNested], "{name}: {:?}", reading.problems);
    }
    // Nine lines of aliases that would expand to a billion values.
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let before = format!("*a{}", level - 1);
        bomb = format!("{bomb}a{level}: &a{level} [{}]\n", vec![before; 10].join(", "));
    }
    assert_eq!(codes(&read_one("d.yaml", bomb.as_bytes())), [Code::DataSyntax]);
}
