//! Comparison with Python: two other implementations of the metrics, and other packages that read FIT files.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdshort_coach::training::metrics::Profile;
use holdshort_coach::training::{Activity, Athlete, Measure, Season, Sex};
use jiff::ToSpan as _;
use jiff::civil::date;
use serde_json::{Value, json};

use crate::training::computed;
use crate::training::fit_writer::{FitWriter, TIMER_STARTS, TIMER_STOPS, U8, U16, U32, run, time};
use crate::training::generated::{Generated, Random};
use crate::training::support::{START, read_all, read_one};

/// Python packages that read FIT files. Both are pure Python without dependencies.
const FIT: [&str; 2] = ["fitparse==1.2.0", "fitdecode==0.11.0"];
/// pandas and its dependencies. The first two packages have wheels for Python 3.10 to 3.13, on `x86_64` and `aarch64`.
const PANDAS: [&str; 5] =
    ["pandas==2.3.2", "numpy==2.2.6", "python-dateutil==2.9.0.post0", "pytz==2025.2", "six==1.17.0"];

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name)
}

fn output(command: &mut Command, input: &str) -> Value {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs python3 on the path");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", output.status);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns generated seasons, each with the season that this crate reads from its files.
fn seasons() -> Vec<(Generated, Season)> {
    let of = |seed| {
        let generated = Generated::from_seed(seed);
        let read = read_all(&generated.files()).season;
        (generated, read)
    };
    (0..30).map(of).collect()
}

fn cases(seasons: &[(Generated, Season)]) -> String {
    let case = |(season, read): &(Generated, Season)| {
        let as_of = season.as_of.to_string();
        json!({"season": read, "athlete": season.athlete, "as_of": as_of})
    };
    Value::Array(seasons.iter().map(case).collect()).to_string()
}

#[test]
fn an_independent_implementation_has_the_same_results() {
    let seasons = seasons();
    let theirs = output(Command::new("python3").arg(script("reference.py")), &cases(&seasons));
    let mut computed = 0;
    for (index, (season, read)) in seasons.iter().enumerate() {
        let ours = computed::all(read, &season.athlete, season.as_of);
        let difference = computed::difference(&ours, &theirs[index], "");
        assert_eq!(difference, None, "seed {index}");
        computed += numbers(&ours);
    }
    // Most seasons have most metrics, so the test does not merely compare missing numbers.
    assert!(computed > 10_000, "{computed} numbers");
}

/// Tests recordings with pauses, with and without timer events, and with lost samples.
#[test]
fn an_independent_implementation_has_the_same_results_for_pauses() {
    let athlete = Athlete {
        sex: Some(Sex::Female),
        max_heart_rate: Some(188.0),
        resting_heart_rate: Some(47.0),
        threshold_heart_rate: Some(168.5),
        threshold_power: Some(244.0),
        ..Athlete::default()
    };
    let as_of = date(2026, 3, 1);
    let seasons: Vec<Season> = (0..60).map(|seed| read_all(&[("a.fit", recording(seed))]).season).collect();
    let case = |read: &Season| json!({"season": read, "athlete": athlete, "as_of": as_of.to_string()});
    let cases = Value::Array(seasons.iter().map(case).collect()).to_string();
    let theirs = output(Command::new("python3").arg(script("reference.py")), &cases);
    let (mut computed, mut paused) = (0, 0);
    for (seed, read) in seasons.iter().enumerate() {
        let ours = computed::all(read, &athlete, as_of);
        assert_eq!(computed::difference(&ours, &theirs[seed], ""), None, "seed {seed}");
        computed += numbers(&ours);
        paused += usize::from(!read.activities[0].pauses.is_empty());
    }
    assert!(computed > 1_000 && paused >= 15, "{computed} numbers, {paused} recordings with pauses");
}

/// Writes a recording with a sample every one to four seconds, pauses, and sensors that fail.
fn recording(seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (3, 1, U8), (7, 2, U16), (6, 2, U16), (5, 4, U32)]);
    let (has_events, has_power, has_speed) = (random.once_in(2), random.once_in(2), random.once_in(2));
    let (mut at, mut running, mut metres) = (0_u32, 0_u32, 0_u32);
    let mut losing = 0;
    for _ in 0..600 + random.below(600) {
        losing = if random.once_in(300) { random.below(200) } else { losing.saturating_sub(1) };
        let bpm = if losing > 0 { 255 } else { u8::try_from(120 + random.below(60)).unwrap() };
        let watts = if has_power { u16::try_from(random.below(400)).unwrap() } else { u16::MAX };
        let pace = if has_speed { u16::try_from(2_000 + random.below(3_000)).unwrap() } else { u16::MAX };
        writer.message(
            1,
            &[
                &time(START + i64::from(at)),
                &[bpm],
                &watts.to_le_bytes(),
                &pace.to_le_bytes(),
                &(metres * 100).to_le_bytes(),
            ],
        );
        let step = 1 + random.below(4);
        if random.once_in(60) {
            let pause = 5 + random.below(60);
            if has_events {
                writer.timer(START + i64::from(at + step), TIMER_STOPS);
                writer.timer(START + i64::from(at + step + pause), TIMER_STARTS);
            }
            at += pause;
        }
        at += step;
        running += step;
        metres += step * (2 + random.below(3));
    }
    let sport = [1, 2][random.below(2) as usize];
    writer.session(START, at, running, [sport, 0]);
    writer.finish()
}

/// Tests that pandas has the same results up to a billionth. pandas computes all days at once, this crate single days.
#[test]
fn pandas_has_the_same_loads_and_trends() {
    let mut seasons = seasons();
    for (season, _) in &mut seasons {
        // Otherwise the maximal heart rate would follow from the age and change from day to day.
        season.athlete.max_heart_rate = Some(188.0);
        season.athlete.resting_heart_rate = Some(47.0);
    }
    let mut python = Command::new("python3");
    python.arg(script("pandas_reference.py")).arg(packages(&PANDAS));
    let theirs = output(&mut python, &cases(&seasons));
    let (mut of_activities, mut of_days) = (0, 0);
    for (index, (season, read)) in seasons.iter().enumerate() {
        let ours = computed::all(read, &season.athlete, season.as_of);
        for part in ["activities", "split"] {
            let difference = computed::difference(&ours[part], &theirs[index][part], part);
            assert_eq!(difference, None, "seed {index}");
        }
        of_activities += numbers(&ours["activities"]);
        let profile = Profile::from_season(read, &season.athlete, season.as_of);
        let first = read.activities.iter().map(Activity::day).min().unwrap();
        // A step of five days reaches each day of the week.
        for day in first.series(5.days()).take_while(|day| *day <= season.as_of) {
            let ours = computed::loads_and_trends(read, &profile, day);
            let difference = computed::difference(&ours, &theirs[index]["days"][day.to_string()], "");
            assert_eq!(difference, None, "seed {index}, {day}");
            of_days += numbers(&ours);
        }
    }
    assert!(of_activities > 4_000 && of_days > 4_000, "{of_activities} and {of_days} numbers");
}

fn numbers(value: &Value) -> usize {
    match value {
        Value::Number(_) => 1,
        Value::Array(items) => items.iter().map(numbers).sum(),
        Value::Object(items) => items.values().map(numbers).sum(),
        Value::Null | Value::Bool(_) | Value::String(_) => 0,
    }
}

/// Installs Python packages into a folder that is kept for the next test run. Returns the folder.
fn packages(wanted: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("python {}", wanted.join(" ")));
    if !folder.exists() {
        let fresh = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        if let Err(why) = install(fresh.path(), wanted, &[]) {
            panic!("{why}");
        }
        // If another process created the folder first, its folder has the same packages.
        let _ = std::fs::rename(fresh.path(), &folder);
    }
    folder
}

/// Installs Python packages. A failure names the missing packages and fails the test, because nothing would be compared
/// without them.
fn install(folder: &Path, wanted: &[&str], options: &[&str]) -> Result<(), String> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]);
    // In a container every user is root. pip must not warn, because the target is a folder of this test.
    pip.args(["--root-user-action", "ignore", "--target"]).arg(folder).args(options).args(wanted);
    // Only wheels are used, because compiling these packages takes longer than all tests.
    pip.args(["--only-binary", "numpy,pandas"]);
    let output = pip.output().map_err(|error| format!("this test needs python3 on the path: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "this test compares with {}, and pip could not install them. It needs pip (`python3 -m pip`) and a package \
         index that it reaches: pypi.org, or the one that PIP_INDEX_URL names. pip said:\n{said}",
        wanted.join(" and ")
    ))
}

/// Tests an unreachable package index: no program listens on port 9 of this machine.
#[test]
fn an_index_that_is_not_reached_is_a_failure_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        ["--index-url", "http://127.0.0.1:9/simple", "--retries", "0", "--no-cache-dir", "--isolated"];
    let why = install(folder.path(), &FIT, &options).unwrap_err();
    assert!(why.contains("fitparse==1.2.0 and fitdecode==0.11.0"), "{why}");
    assert!(why.contains("PIP_INDEX_URL") && why.contains("pip said:\nERROR: "), "{why}");
}

/// Fields of a record and of a session that are compared.
const SAMPLE: [&str; 4] = ["heart_rate", "power", "speed", "distance"];
const SESSION: [(&str, Measure); 6] = [
    ("total_timer_time", Measure::Duration),
    ("total_distance", Measure::Distance),
    ("avg_heart_rate", Measure::HeartRateAverage),
    ("max_heart_rate", Measure::HeartRateMax),
    ("avg_power", Measure::PowerAverage),
    ("normalized_power", Measure::PowerNormalised),
];

#[test]
fn fit_files_have_the_values_that_fitparse_and_fitdecode_read() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(samples).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "fit"));
    files.sort();
    assert_eq!(files.len(), 3);
    let written = tempfile::tempdir().unwrap();
    let path = written.path().join("written.fit");
    std::fs::write(&path, run(1_772_346_600, &[0, 140, 255, 151, 152, 149]).finish()).unwrap();
    files.push(path);
    let theirs =
        output(Command::new("python3").arg(script("fit_values.py")).arg(packages(&FIT)).args(&files), "");
    for path in &files {
        let name = path.to_string_lossy().into_owned();
        let reading = read_one(&name, &std::fs::read(path).unwrap());
        for package in ["fitparse", "fitdecode"] {
            compare(&reading.season.activities, &theirs[&*name][package], &format!("{name} by {package}"));
        }
    }
}

fn compare(activities: &[Activity], theirs: &Value, what: &str) {
    let sessions = theirs["sessions"].as_array().unwrap();
    assert_eq!(activities.len(), sessions.len(), "{what}");
    let mut records = theirs["records"].as_array().unwrap().iter();
    for (activity, session) in activities.iter().zip(sessions) {
        assert_eq!(json!(activity.start.as_second()), session["start"], "{what}");
        assert_eq!(json!(activity.sport.name()), session["sport"], "{what}");
        for (name, measure) in SESSION {
            // If the session lacks a value, this crate derives it from the records.
            if !session[name].is_null() {
                assert_eq!(json!(activity.measure(measure)), session[name], "{what}: {name}");
            }
        }
        for [at, local] in theirs["activities"].as_array().unwrap().iter().map(|times| [&times[0], &times[1]])
        {
            let offset = local.as_i64().unwrap() - at.as_i64().unwrap();
            assert_eq!(i64::from(activity.offset.seconds()), offset, "{what}");
        }
        for sample in &activity.samples {
            let record = records.next().unwrap_or_else(|| panic!("{what}: a record more"));
            let start = json!(activity.start.as_second()).as_f64().unwrap();
            assert_eq!(json!(start + sample.at_s), json!(record["time"].as_f64()), "{what}");
            let ours = [sample.heart_rate, sample.power, sample.speed, sample.distance];
            for (name, value) in SAMPLE.into_iter().zip(ours) {
                // This crate treats a heart rate of zero as missing.
                let theirs = record[name].as_f64().filter(|value| name != "heart_rate" || *value > 0.0);
                assert_eq!(value, theirs, "{what}: {name} at {}", record["time"]);
            }
        }
    }
    assert_eq!(records.next(), None, "{what}");
}
