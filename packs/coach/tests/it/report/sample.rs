//! Report of a generated athlete, for the example and the page test. All values are invented.

use holdshort_coach::report::{
    Assumption, Band, Bar, Bars, Chart, Competition, Computed, Lines, Question, Report, Row, Section, Series,
    Zones,
};
use jiff::ToSpan;
use jiff::civil::{Date, date};

const DAY: Date = date(2026, 3, 29);

pub(crate) fn report() -> Report {
    let mut report = Report::new("Training analysis", "Ada Sample", DAY);
    report.is_rehearsal = true;
    report.charts = vec![hrv(), load(), volume(), zones()];
    report.computed = computed();
    report.competitions = vec![
        competition("City half marathon", "2026-05-17", "A", Some("1:34:00")),
        competition("Club 10 km", "2026-04-19", "B", None),
    ];
    report.sections = vec![
        section("metrics", "Training load", METRICS, false),
        section("physiology", "Recovery", PHYSIOLOGY, false),
        section("season", "Season plan", SEASON, true),
    ];
    report.questions = vec![
        Question {
            agent: "physiology".to_owned(),
            question: "Resting heart rate rose on three days in March. Were you ill, or was it the heat?"
                .to_owned(),
            kind: Some("clarification".to_owned()),
            context: Some("The mean of the last 7 days is above the band of the 60 days before.".to_owned()),
            outcome: "answered".to_owned(),
            answer: Some("A cold, from 16 to 18 March 2026.\nI skipped two runs because of it.".to_owned()),
            by: Some("ada".to_owned()),
            at: Some("2026-03-29 09:12".to_owned()),
        },
        Question {
            agent: "season".to_owned(),
            question: "How many hours a week can you train in April?".to_owned(),
            kind: Some("question".to_owned()),
            context: None,
            outcome: "no response: the agent assumed".to_owned(),
            answer: None,
            by: None,
            at: None,
        },
    ];
    report.assumptions = vec![Assumption {
        agent: "season".to_owned(),
        assumption: Some("Six hours a week, as in March.".to_owned()),
        question: Some("How many hours a week can you train in April?".to_owned()),
        why: Some("The weeks of March had between five and seven hours.".to_owned()),
    }];
    report
}

fn competition(name: &str, date: &str, priority: &str, target: Option<&str>) -> Competition {
    Competition {
        name: name.to_owned(),
        date: date.to_owned(),
        priority: Some(priority.to_owned()),
        target: target.map(str::to_owned),
    }
}

fn section(id: &str, title: &str, text: &str, plans: bool) -> Section {
    Section { id: id.to_owned(), title: title.to_owned(), agent: id.to_owned(), text: text.to_owned(), plans }
}

fn days(count: i32) -> impl Iterator<Item = (i32, Date)> {
    (0..count).map(move |at| (at, DAY.checked_sub((count - 1 - at).days()).unwrap()))
}

/// Returns a pseudo-random number between 0 and 1 that is equal on every machine.
fn noise(at: i32) -> f64 {
    let mut bits = u32::try_from(at).unwrap().wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x85eb_ca6b);
    f64::from((bits ^ (bits >> 13)) % 1000) / 1000.0
}

fn hrv() -> Chart {
    let ln = |at: i32| 4.02 + 0.16 * noise(at) - if (76..80).contains(&at) { 0.22 } else { 0.0 };
    let points: Vec<(Date, Option<f64>)> =
        days(91).map(|(at, day)| (day, (!(30..36).contains(&at)).then(|| ln(at)))).collect();
    let mean = points
        .windows(7)
        .map(|week| {
            let values: Vec<f64> = week.iter().filter_map(|(_, value)| *value).collect();
            let count = f64::from(u32::try_from(values.len()).unwrap());
            (week[6].0, (values.len() >= 3).then(|| values.iter().sum::<f64>() / count))
        })
        .collect();
    Chart::Lines(Lines {
        title: "Heart-rate variability".to_owned(),
        unit: "ln ms".to_owned(),
        series: vec![
            Series { name: "mean of 7 days".to_owned(), points: mean },
            Series { name: "each day".to_owned(), points },
        ],
        bands: vec![Band { name: "mean ± 0.5 SD of 60 days".to_owned(), low: 4.06, high: 4.13 }],
    })
}

fn load() -> Chart {
    let (mut acute, mut chronic) = (48.0, 50.0);
    let mut series = [Vec::new(), Vec::new()];
    for (at, day) in days(91) {
        let load = 95.0
            * noise(at * 3)
            * (1.0 + 0.3 * f64::from(at % 28) / 28.0)
            * if at % 7 == 0 { 0.0 } else { 1.0 };
        acute += (load - acute) * 0.25;
        chronic += (load - chronic) * 2.0 / 29.0;
        series[0].push((day, Some(acute)));
        series[1].push((day, Some(chronic)));
    }
    let [acute, chronic] = series;
    Chart::Lines(Lines {
        title: "Acute and chronic load".to_owned(),
        unit: "TRIMP a day".to_owned(),
        series: vec![
            Series { name: "acute (7 days)".to_owned(), points: acute },
            Series { name: "chronic (28 days)".to_owned(), points: chronic },
        ],
        bands: Vec::new(),
    })
}

fn volume() -> Chart {
    let monday = date(2026, 1, 5);
    let bars = (0..12).map(|week| Bar {
        label: monday.checked_add((week * 7).days()).unwrap().strftime("%-d %b").to_string(),
        values: vec![
            Some(10_800.0 + 5400.0 * noise(week)),
            (week != 4).then(|| 3600.0 + 7200.0 * noise(week + 40)),
            (week % 3 == 0).then_some(2700.0),
        ],
    });
    Chart::Bars(Bars {
        title: "Weekly volume".to_owned(),
        unit: "s".to_owned(),
        parts: ["Run", "Ride", "Swim"].map(str::to_owned).to_vec(),
        bars: bars.collect(),
    })
}

fn zones() -> Chart {
    let row = |label: &str, amounts: [f64; 5]| Row { label: label.to_owned(), amounts: amounts.to_vec() };
    Chart::Zones(Zones {
        title: "Time in heart-rate zones".to_owned(),
        unit: "s".to_owned(),
        zones: ["Zone 1", "Zone 2", "Zone 3", "Zone 4", "Zone 5"].map(str::to_owned).to_vec(),
        rows: vec![
            row("2 to 29 March 2026", [9_000.0, 41_000.0, 16_500.0, 9_800.0, 2_100.0]),
            row("2 February to 1 March 2026", [11_000.0, 45_500.0, 9_000.0, 6_000.0, 900.0]),
            row("5 January to 1 February 2026", [14_000.0, 39_000.0, 6_100.0, 2_000.0, 0.0]),
        ],
    })
}

fn computed() -> Vec<Computed> {
    let row = |id: &str, label: &str, value: &str, unit: &str, how: &str, inputs: &str| Computed {
        id: id.to_owned(),
        label: label.to_owned(),
        value: value.to_owned(),
        unit: unit.to_owned(),
        how: how.to_owned(),
        inputs: inputs.to_owned(),
        named: vec!["2026-03-28T06:30:00Z running".to_owned()],
    };
    vec![
        row(
            "acute_load",
            "Acute load",
            "61.4",
            "TRIMP a day",
            "mean of the daily loads of 7 days",
            "6 activities, 23 to 29 March 2026. Days without an activity count as rest.",
        ),
        row(
            "chronic_load",
            "Chronic load",
            "52.9",
            "TRIMP a day",
            "mean of the daily loads of 28 days",
            "22 activities, 2 to 29 March 2026. Days without an activity count as rest.",
        ),
        row(
            "load_ratio",
            "Ratio of acute to chronic load",
            "1.16",
            "",
            "acute load / chronic load; the 7 days are among the 28",
            "As for both loads.",
        ),
        row(
            "resting_heart_rate_trend",
            "Resting heart rate",
            "47.3",
            "bpm",
            "mean of 7 days against mean ± 0.5 SD of the 60 days before: 45.8 to 47.0 bpm",
            "7 and 54 days. Days without a value were left out.",
        ),
        row(
            "riegel",
            "Half marathon, predicted",
            "1:35:42",
            "",
            "T₂ = T₁ · (D₂/D₁)^1.06",
            "Run of 15 March 2026, 10.02 km in 43:21. The fastest recorded run is used as a race result. A real race would be faster.",
        ),
    ]
}

const METRICS: &str = "\
## Where you stand

Your **acute load** is 61.4 TRIMP a day against a chronic load of 52.9: a ratio of **1.16**. That is a moderate rise,
and it follows the cold of 16–18 March. Over the last 28 days you ran 212 km.

| Load | Value | Reading |
|:-----|------:|:--------|
| Acute (7 days) | 61.4 | rising |
| Chronic (28 days) | 52.9 | steady |
| Ratio | 1.16 | moderate |

### What drives it

1. Time in zone 3 went up from 9 to 21 % of the whole within a month.
2. Long runs are easy, as they should be.
   - The longest one stayed in zone 2.
3. Riegel predicts 1:35:42 for the half marathon from 43:21 over 10 km; your target is 1:34:00.

> A ratio is a hint, not a verdict: look at how you feel.
";

const PHYSIOLOGY: &str = "\
Resting heart rate is **47.3 bpm**, above the band of 45.8–47.0. You told us of a cold, which explains it.

- HRV fell with the cold and came back within a week.
- Sleep is not recorded: `sleep_s` has no values.

---

Nothing here asks for a break. Watch the resting heart rate: if it stays above 49 bpm for three days, take it easy.
";

const SEASON: &str = "\
## Seven weeks to the half marathon

| Weeks | Aim | Hours | Key session |
|:------|:----|------:|:------------|
| 1–2 | Absorb the load | 5.5 | 3 × 10 min at threshold |
| 3 | Club 10 km on 19 April | 5 | the race |
| 4–6 | Specific | 6.5 | 2 × 5 km at 4:27/km |
| 7 | Taper | 4 | 3 km at 4:27/km |

Easy runs stay below 145 bpm.
";
