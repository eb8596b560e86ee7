//! Fuzz target for the reader of training data. The first line of an input is the name of a file, and the rest is its
//! bytes. For `records.fit`, the target adds the header and the CRCs, because mutations would never produce valid CRCs.
//!
//! After the name, the first line may have pairs of `--columns`, each after a tab, such as `start=Beginn`. The pair
//! `units=metric` or `units=statute` gives the units of tables without units.

use holdshort_coach::training::metrics::daily::DailyLoads;
use holdshort_coach::training::metrics::load::Scale;
use holdshort_coach::training::metrics::{Profile, efficiency, load, power, race, trend, volume, zones};
use holdshort_coach::training::{
    Activity, Athlete, ColumnMap, File, Measure, Options, Reading, Sex, Units, limits, read,
};

pub(crate) fn training(bytes: &[u8]) {
    if let Some(reading) = read_input(bytes) {
        has_metrics(&reading);
    }
}

/// Reads an input of the fuzz target, and checks the result. Returns `None` if the first line is not UTF-8, or if the
/// pairs in it are refused.
pub(crate) fn read_input(bytes: &[u8]) -> Option<Reading> {
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let first = std::str::from_utf8(&bytes[..line]).ok()?;
    let (name, pairs) = first.split_once('\t').unwrap_or((first, ""));
    let options = options(pairs)?;
    let content = bytes.get(line + 1..).unwrap_or_default();
    let whole = if name == "records.fit" { fit(content) } else { content.to_vec() };
    let file = File { name, bytes: &whole };
    let reading = read(&[file], &options);
    assert_problems_described(&reading);
    // Reading the file again, and reading it twice at once, must give the same season.
    let again = read(&[file, file], &options);
    assert_eq!(again.season.activities, reading.season.activities);
    assert_eq!(again.season.days, reading.season.days);
    Some(reading)
}

/// Returns the options in the pairs of a fuzz input's first line. Returns `None` if the mapping of the columns is
/// refused.
fn options(pairs: &str) -> Option<Options> {
    let mut options = Options::default();
    let mut columns = Vec::new();
    for (name, header) in pairs.split('\t').filter_map(|pair| pair.split_once('=')) {
        match (name, header) {
            ("units", "metric") => options.units = Some(Units::Metric),
            ("units", "statute") => options.units = Some(Units::Statute),
            pair => columns.push(pair),
        }
    }
    match ColumnMap::new(columns) {
        Ok(columns) => Some(Options { columns, ..options }),
        Err(refusal) => {
            assert!(refusal.starts_with("`columns` ") && refusal.len() > 20, "{refusal}");
            None
        }
    }
}

fn assert_problems_described(reading: &Reading) {
    for problem in &reading.problems {
        let length = problem.message.chars().count();
        assert!((1..=limits::MESSAGE_CHARS).contains(&length), "{problem:?}");
        assert!(!problem.message.contains(char::is_control), "{problem:?}");
    }
    for activity in &reading.season.activities {
        let known = activity.measures.iter();
        assert!(known.clone().all(|(measure, known)| measure.is_plausible(known.value)), "{activity:?}");
        assert!(activity.samples.windows(2).all(|pair| pair[0].at_s < pair[1].at_s), "{activity:?}");
        assert!(!activity.id.contains(char::is_control), "{activity:?}");
    }
}

/// Checks that each metric of a fuzzed season is a finite number or a reason.
fn has_metrics(reading: &Reading) {
    let season = &reading.season;
    let days = season.activities.iter().map(Activity::day);
    let Some(as_of) = days.chain(season.days.keys().copied()).max() else { return };
    let athlete = Athlete {
        sex: Some(Sex::Male),
        max_heart_rate: Some(190.0),
        resting_heart_rate: Some(50.0),
        threshold_heart_rate: Some(170.0),
        threshold_power: Some(250.0),
        ..Athlete::default()
    };
    let profile = Profile::from_season(season, &athlete, as_of);
    let mut numbers = Vec::new();
    for scale in [Scale::Trimp, Scale::Tss, Scale::SessionRpe] {
        let Ok(loads) = DailyLoads::compute(season, &profile, scale, as_of) else { continue };
        let all = [
            loads.acute(),
            loads.chronic(),
            loads.ratio(),
            loads.ratio_ewma(),
            loads.ctl(),
            loads.tsb(),
            loads.monotony(),
            loads.strain(),
        ];
        numbers.extend(all.into_iter().flatten().map(|traced| traced.value));
    }
    for activity in &season.activities {
        let ratios = [
            power::normalised_power(activity),
            load::intensity_factor(activity, &profile),
            efficiency::decoupling(activity),
        ];
        numbers.extend(ratios.into_iter().flatten().map(|traced| traced.value));
        numbers.extend(efficiency::efficiency_factor(activity).ok().map(|traced| traced.value.per_beat));
        assert_no_more_than_stated(activity, &profile);
        let zones = [zones::of_max(activity, &profile), zones::of_reserve(activity, &profile)];
        numbers.extend(zones.into_iter().flatten().flat_map(|traced| traced.value.zones_s));
    }
    numbers.extend(zones::intensity_split(&season.activities, &profile).ok().map(|traced| traced.value.easy));
    let trends = [trend::hrv(season, as_of), trend::resting_heart_rate(season, as_of)];
    numbers.extend(trends.into_iter().flatten().map(|traced| traced.value.week));
    let races = race::predictions(season, as_of).unwrap_or_default();
    numbers.extend(races.into_iter().flat_map(|race| [race.riegel.value, race.vdot_time.value]));
    let weeks = volume::weekly(season, as_of).unwrap_or_default();
    assert!(weeks.len() <= limits::DAYS / 7 + 1, "{}", weeks.len());
    assert!(numbers.iter().all(|number| number.is_finite()), "{numbers:?}");
}

/// Asserts that the seconds in heart-rate zones do not exceed the duration of the activity.
fn assert_no_more_than_stated(activity: &Activity, profile: &Profile) {
    let (Some(seconds), Ok(zones)) = (activity.measure(Measure::Duration), zones::of_max(activity, profile))
    else {
        return;
    };
    let all = zones.value.below_s + zones.value.zones_s.iter().sum::<f64>();
    assert!(all <= seconds * (1.0 + 1e-9), "{all} s of zones in {seconds} s");
}

fn fit(records: &[u8]) -> Vec<u8> {
    let mut file = vec![12, 0x20, 0x54, 0x08];
    file.extend(u32::try_from(records.len()).unwrap_or_default().to_le_bytes());
    file.extend(*b".FIT");
    file.extend(records);
    let crc = file.iter().fold(0_u16, |crc, byte| {
        (0..8)
            .fold(crc ^ u16::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xA001 } else { crc >> 1 })
    });
    file.extend(crc.to_le_bytes());
    file
}
