//! Charts as SVG, one per file in `golden/`. `UPDATE_SNAPSHOTS=1 cargo test -p holdshort-coach charts` writes the
//! files.

use std::path::Path;

use holdshort_coach::report::{Band, Bar, Bars, Chart, Lines, Report, Row, Series, Zones, html, limits};
use jiff::ToSpan;
use jiff::civil::{Date, date};

use crate::report::markup;

const DAY: Date = date(2026, 2, 27);

fn draw(chart: Chart) -> String {
    let mut report = Report::new("Charts", "Ada", DAY);
    report.charts = vec![chart];
    let page = html(&report);
    markup::read(&page);
    let (_, rest) = page.split_once("<div class=\"charts\">\n").unwrap();
    rest.split_once("</div>\n</section>").unwrap().0.to_owned()
}

fn series(name: &str, values: &[Option<f64>]) -> Series {
    let days = (0..).map(|at: i32| DAY.checked_add(at.days()).unwrap());
    Series { name: name.to_owned(), points: days.zip(values.iter().copied()).collect() }
}

fn lines(unit: &str, series: Vec<Series>) -> Lines {
    Lines { title: "Lines".to_owned(), unit: unit.to_owned(), series, bands: Vec::new() }
}

fn bars(unit: &str, parts: &[&str], bars: &[(&str, &[Option<f64>])]) -> Chart {
    Chart::Bars(Bars {
        title: "Bars".to_owned(),
        unit: unit.to_owned(),
        parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        bars: bars
            .iter()
            .map(|(label, values)| Bar { label: (*label).to_owned(), values: values.to_vec() })
            .collect(),
    })
}

fn zones(zones: &[&str], rows: &[(&str, &[f64])]) -> Chart {
    Chart::Zones(Zones {
        title: "Zones".to_owned(),
        unit: "s".to_owned(),
        zones: zones.iter().map(|zone| (*zone).to_owned()).collect(),
        rows: rows
            .iter()
            .map(|(label, amounts)| Row { label: (*label).to_owned(), amounts: amounts.to_vec() })
            .collect(),
    })
}

/// Returns one chart of each kind for the golden files, and charts with faulty data.
fn charts() -> Vec<(&'static str, Chart)> {
    let some = Some;
    let band = Band { name: "normal".to_owned(), low: 46.0, high: 49.5 };
    let long = "a name that goes on and on, ".repeat(20);
    vec![
        (
            "lines",
            Chart::Lines(Lines {
                bands: vec![band],
                ..lines(
                    "bpm",
                    vec![
                        series(
                            "resting",
                            &[some(47.0), some(48.5), None, some(46.0), None, some(51.0), some(50.0)],
                        ),
                        series("goal <48>", &[some(48.0); 7]),
                    ],
                )
            }),
        ),
        ("lines_no_data", Chart::Lines(lines("bpm", vec![series("resting", &[None, some(f64::NAN)])]))),
        ("lines_nothing", Chart::Lines(lines("", Vec::new()))),
        ("lines_one_point", Chart::Lines(lines("s", vec![series("", &[some(5742.0)])]))),
        (
            "lines_huge_and_negative",
            Chart::Lines(lines(
                "W",
                vec![series("x", &[some(-1.5e12), some(0.0), some(9.7e14), some(1e300)])],
            )),
        ),
        ("lines_flat_and_small", Chart::Lines(lines("", vec![series("x", &[some(-0.000_25); 3])]))),
        ("lines_long_names", Chart::Lines(lines(&long, vec![series(&long, &[some(1.0), some(2.0)])]))),
        (
            "bars",
            bars(
                "km",
                &["Run", "Ride"],
                &[
                    ("23 Feb", &[some(42.2), some(80.0)]),
                    ("2 Mar", &[some(0.0), None]),
                    ("9 Mar", &[None, None]),
                    ("16 March of this year", &[some(12.5)]),
                ],
            ),
        ),
        ("bars_negative", bars("kJ", &[], &[("a", &[some(-5.0)]), ("b", &[some(3.0)])])),
        ("bars_durations", bars("s", &["Run"], &[("a", &[some(19_800.0)])])),
        ("bars_no_data", bars("km", &["Run"], &[("a", &[None]), ("b", &[some(f64::INFINITY)])])),
        (
            "zones",
            zones(
                &["Easy", "Moderate", "Hard"],
                &[
                    ("March", &[7200.0, 1800.0, 30.0]),
                    ("February", &[0.0, 0.0, 0.0]),
                    ("January", &[1.0, -1.0]),
                ],
            ),
        ),
        ("zones_no_data", zones(&["Easy"], &[("March", &[0.0])])),
        ("zones_nothing", zones(&[], &[])),
    ]
}

#[test]
fn charts_are_drawn_as_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, chart) in charts() {
        let path = folder.join(format!("{name}.html"));
        let drawn = draw(chart);
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, &drawn).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == drawn, "{name}: UPDATE_SNAPSHOTS=1 cargo test -p holdshort-coach charts");
    }
}

#[test]
fn no_data_is_said_in_words() {
    for (name, chart) in charts() {
        let drawn = draw(chart);
        let is_empty = name.ends_with("no_data") || name.ends_with("nothing");
        assert_eq!(drawn.contains("No data for this chart."), is_empty, "{name}");
        assert_eq!(drawn.contains("class=\"drawing\""), !is_empty, "{name}");
    }
}

/// Tests that the line of a series is interrupted at each gap, and that a single day between gaps is drawn as a point.
#[test]
fn a_gap_is_a_gap_and_one_day_between_two_is_a_point() {
    let values = [Some(1.0), Some(2.0), None, Some(3.0), None, Some(1.0), Some(2.0)];
    let drawn = draw(Chart::Lines(lines("W", vec![series("x", &values)])));
    let (_, path) = drawn.rsplit_once("<path class=\"line k1\" d=\"").unwrap();
    let (path, _) = path.split_once('"').unwrap();
    assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 2));
    assert_eq!(drawn.matches("<circle class=\"point k1\"").count(), 1);
    assert_eq!(drawn.matches("<td class=\"r\">no data</td>").count(), 2);
}

#[test]
fn every_chart_stays_within_its_drawing() {
    for (name, chart) in charts() {
        let page = markup::read(&draw(chart));
        let height = page
            .attributes
            .iter()
            .find_map(|it| it.strip_prefix("svg viewBox=0 0 440 "))
            .map(|height| height.parse::<f64>().unwrap());
        for attribute in &page.attributes {
            let Some((key, value)) = attribute.split_once(' ').unwrap().1.split_once('=') else { continue };
            let end = match key {
                "x" | "x1" | "cx" | "width" => 440.0,
                "y" | "cy" | "height" => height.unwrap_or(12.0),
                _ => continue,
            };
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{name}: {attribute}"));
            assert!((0.0..=end).contains(&value), "{name}: {attribute}");
        }
    }
}

/// Returns the tick labels of a chart's axis from `low` to `high`, from the lowest value.
fn ticks(unit: &str, low: f64, high: f64) -> Vec<String> {
    let drawn = draw(Chart::Lines(lines(unit, vec![series("x", &[Some(low), Some(high)])])));
    drawn
        .split("<text class=\"tick\"")
        .skip(1)
        .filter(|text| text.contains("text-anchor=\"end\"") && !text.contains("Feb"))
        .map(|text| text.split_once('>').unwrap().1.split_once('<').unwrap().0.to_owned())
        .collect()
}

#[test]
fn ticks_are_round() {
    let table: [(&str, f64, f64, &[&str]); 9] = [
        ("", 0.0, 10.0, &["0", "2", "4", "6", "8", "10"]),
        ("", 41.0, 52.0, &["40.0", "42.5", "45.0", "47.5", "50.0", "52.5"]),
        ("", -3.0, 3.0, &["−4", "−2", "0", "2", "4"]),
        ("", 0.8, 1.31, &["0.8", "1.0", "1.2", "1.4"]),
        ("", 5.0, 5.0, &["4.4", "4.6", "4.8", "5.0", "5.2", "5.4", "5.6"]),
        ("", 0.0, 0.0, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ("", 0.0, 1.2e6, &["0", "250,000", "500,000", "750,000", "1,000,000", "1,250,000"]),
        ("s", 0.0, 20_000.0, &["0", "2:00", "4:00", "6:00"]),
        ("s", 260.0, 290.0, &["4:20", "4:30", "4:40", "4:50"]),
    ];
    let wrong: Vec<_> = table
        .iter()
        .map(|(unit, low, high, expected)| (low, high, expected, ticks(unit, *low, *high)))
        .filter(|(_, _, expected, found)| found[..] != ***expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn more_than_can_be_drawn_is_said_and_in_the_table() {
    let many: Vec<Series> =
        (0..8).map(|at| series(&format!("line {at}"), &[Some(f64::from(at)), Some(1.0)])).collect();
    let drawn = draw(Chart::Lines(lines("W", many)));
    assert!(drawn.contains(&format!(
        "The chart shows the first {} of 8 lines. The table has all lines.",
        limits::SERIES
    )));
    assert!(drawn.contains("<th scope=\"col\">line 7</th>"));

    let values = vec![Some(1.0); limits::POINTS + 5];
    let drawn = draw(Chart::Lines(lines("W", vec![series("x", &values)])));
    assert!(drawn.contains("The chart shows the last 2000 days of each line."));
    assert_eq!(drawn.matches("<th scope=\"row\">").count(), limits::POINTS);

    let week = [Some(1.0)];
    let weeks: Vec<(&str, &[Option<f64>])> = vec![("w", &week); 60];
    let drawn = draw(bars("km", &[], &weeks));
    assert!(drawn.contains("The chart shows the last 53 of 60 bars."));
}

/// Tests that the dashes and hatches distinguish all parts of a chart without colours.
#[test]
fn parts_differ_without_colours() {
    let many = (0..6).map(|at| series("x", &[Some(f64::from(at)), Some(1.0)])).collect();
    let drawn = draw(Chart::Lines(lines("W", many)));
    let dashes: std::collections::BTreeSet<&str> =
        drawn.split("stroke-dasharray=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0).collect();
    assert_eq!(dashes.len(), 6);

    let drawn = draw(zones(&["a", "b", "c", "d", "e", "f"], &[("x", &[1.0; 6])]));
    let legend = drawn.split_once("</ul>").unwrap().0;
    let hatches: std::collections::BTreeSet<&str> = legend
        .split("<svg")
        .skip(1)
        .map(|swatch| swatch.split_once("<path").map_or("", |(_, path)| path.split_once("/>").unwrap().0))
        .collect();
    assert_eq!(hatches.len(), 6);
}

/// Tests that a number which an agent quotes is not marked as unknown if a chart of the report shows it.
#[test]
fn numbers_of_charts_are_known() {
    let mut report = Report::new("Charts", "Ada", DAY);
    report.charts = charts().into_iter().map(|(_, chart)| chart).collect();
    report.sections = vec![holdshort_coach::report::Section {
        id: "a".to_owned(),
        title: "A".to_owned(),
        agent: "a".to_owned(),
        text: "47 bpm, 122.2 km, 80 %, 2 h, 28 February, 5:30:00 and 47 W".to_owned(),
        plans: false,
    }];
    let page = html(&report);
    let marks: Vec<&str> =
        page.split("has this number.\">").skip(1).map(|rest| rest.split_once('<').unwrap().0).collect();
    assert_eq!(marks, ["47"]);
}
