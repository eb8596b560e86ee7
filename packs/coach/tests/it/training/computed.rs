//! All metrics of a season as one JSON value, to compare two implementations.

use holdshort_coach::training::metrics::daily::DailyLoads;
use holdshort_coach::training::metrics::efficiency::{decoupling, efficiency_factor};
use holdshort_coach::training::metrics::load::{Scale, intensity_factor, load, session_rpe, trimp};
use holdshort_coach::training::metrics::race::{best_run, predictions};
use holdshort_coach::training::metrics::trend::{self, Trend};
use holdshort_coach::training::metrics::zones::{Zones, intensity_split, of_max, of_reserve};
use holdshort_coach::training::metrics::{Outcome, Profile, Traced, power, volume};
use holdshort_coach::training::{Athlete, Season};
use jiff::civil::Date;
use serde_json::{Map, Value, json};

fn value<T>(outcome: Outcome<T>, shown: impl Fn(&T) -> Value) -> Value {
    outcome.map_or(Value::Null, |traced| shown(&traced.value))
}

fn number(outcome: Outcome<f64>) -> Value {
    value(outcome, |number| json!(number))
}

fn zones(zones: &Zones) -> Value {
    let [one, two, three, four, five] = zones.zones_s;
    json!([zones.below_s, one, two, three, four, five])
}

fn trend_as_json(trend: &Trend) -> Value {
    json!([trend.week, trend.baseline, trend.deviation, trend.from, trend.to])
}

pub(crate) fn all(season: &Season, athlete: &Athlete, as_of: Date) -> Value {
    let profile = Profile::from_season(season, athlete, as_of);
    let activities: Map<String, Value> = season
        .activities
        .iter()
        .map(|activity| {
            let found = json!({
                "trimp": number(trimp(activity, &profile)),
                "tss": number(load(activity, &profile, Scale::Tss)),
                "session_rpe": number(session_rpe(activity)),
                "normalised_power": number(power::normalised_power(activity)),
                "intensity_factor": number(intensity_factor(activity, &profile)),
                "efficiency_factor": value(efficiency_factor(activity), |found| json!(found.per_beat)),
                "decoupling": number(decoupling(activity)),
                "zones_of_max": value(of_max(activity, &profile), zones),
                "zones_of_reserve": value(of_reserve(activity, &profile), zones),
            });
            (activity.id.clone(), found)
        })
        .collect();
    let races = best_run(season, as_of).map_or(Value::Null, |(run, vdot)| {
        let times = predictions(season, as_of).unwrap();
        let times: Vec<Value> =
            times.iter().map(|race| json!([race.riegel.value, race.vdot_time.value])).collect();
        json!({"run": run.id, "vdot": vdot.value, "times": times})
    });
    let weeks = volume::weekly(season, as_of).map_or(Value::Null, |weeks| {
        let week = |(begins, week): &volume::Week| {
            let sports: Map<String, Value> = week
                .iter()
                .map(|(sport, Traced { value: v, .. })| {
                    (sport.name().to_owned(), json!([v.activities, v.duration_s, v.distance_m]))
                })
                .collect();
            json!([begins.to_string(), sports])
        };
        weeks.iter().map(week).collect()
    });
    let mut by_day = loads_and_trends(season, &profile, as_of);
    json!({
        "activities": activities,
        "loads": by_day["loads"].take(),
        "split": value(intensity_split(&season.activities, &profile), |s| json!([s.easy, s.moderate, s.hard])),
        "hrv": by_day["hrv"].take(),
        "resting": by_day["resting"].take(),
        "races": races,
        "weeks": weeks,
    })
}

/// Returns the values of all metrics of a season that depend on the day.
pub(crate) fn loads_and_trends(season: &Season, profile: &Profile, as_of: Date) -> Value {
    let loads = |scale: Scale| {
        let daily = DailyLoads::compute(season, profile, scale, as_of);
        let of = |metric: fn(&DailyLoads) -> Outcome<f64>| {
            daily.as_ref().map_or(Value::Null, |daily| number(metric(daily)))
        };
        json!({
            "acute": of(DailyLoads::acute),
            "chronic": of(DailyLoads::chronic),
            "ratio": of(DailyLoads::ratio),
            "acute_ewma": of(DailyLoads::acute_ewma),
            "chronic_ewma": of(DailyLoads::chronic_ewma),
            "ratio_ewma": of(DailyLoads::ratio_ewma),
            "ctl": of(DailyLoads::ctl),
            "atl": of(DailyLoads::atl),
            "tsb": of(DailyLoads::tsb),
            "monotony": of(DailyLoads::monotony),
            "strain": of(DailyLoads::strain),
        })
    };
    json!({
        "loads": {
            "trimp": loads(Scale::Trimp), "tss": loads(Scale::Tss), "session_rpe": loads(Scale::SessionRpe),
        },
        "hrv": value(trend::hrv(season, as_of), trend_as_json),
        "resting": value(trend::resting_heart_rate(season, as_of), trend_as_json),
    })
}

/// Returns the first path at which two values differ by more than a billionth.
pub(crate) fn difference(ours: &Value, theirs: &Value, at: &str) -> Option<String> {
    const RELATIVE: f64 = 1e-9;
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter().find_map(|(key, value)| match b.get(key) {
                Some(other) => difference(value, other, &format!("{at}/{key}")),
                None => Some(format!("{at}/{key} is missing")),
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(index, (a, b))| difference(a, b, &format!("{at}/{index}")))
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64()?, b.as_f64()?);
            ((a - b).abs() > RELATIVE * a.abs().max(b.abs()).max(1.0)).then(|| format!("{at}: {a} and {b}"))
        }
        (ours, theirs) => (ours != theirs).then(|| format!("{at}: {ours} and {theirs}")),
    }
}
