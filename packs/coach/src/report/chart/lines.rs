//! Line charts of values by day, with reference bands behind the lines.

use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::civil::Date;

use super::axis::{Days, Scale, date};
use super::frame::{self, Anchor, Figure, Plot, Swatch, dash, rule, text};
use super::{Lines, Series, describe_unit, unit};
use crate::report::limits::{DRAWN, POINTS, SERIES};
use crate::report::number::{pixel, with_unit};

const HEIGHT: f64 = 230.0;

type Points = Vec<(Date, Option<f64>)>;
/// A series to draw in a line chart, with its points sorted by day.
type Line<'a> = (&'a Series, Points);

/// Returns the last [`POINTS`] points of a chart's series, sorted by day. The later of two values for a day is used.
fn points(series: &Series) -> Points {
    let by_day: BTreeMap<Date, Option<f64>> =
        series.points.iter().map(|(day, value)| (*day, value.filter(|value| value.is_finite()))).collect();
    let skipped = by_day.len().saturating_sub(POINTS);
    by_day.into_iter().skip(skipped).collect()
}

fn is_drawn(value: f64) -> bool {
    value.abs() <= DRAWN
}

pub(crate) fn draw(out: &mut String, chart: &Lines, number: usize) {
    let all: Vec<Line<'_>> = chart.series.iter().map(|series| (series, points(series))).collect();
    let drawn = &all[..all.len().min(SERIES)];
    let values = || drawn.iter().flat_map(|(_, points)| points).filter_map(|(_, value)| *value);
    let days = || drawn.iter().flat_map(|(_, points)| points).map(|(day, _)| *day);
    let bands: Vec<_> = chart
        .bands
        .iter()
        .filter(|band| is_drawn(band.low) && is_drawn(band.high) && band.low <= band.high)
        .take(SERIES)
        .collect();
    let period = days().min().zip(days().max());
    let unit = unit(&chart.unit);
    let subtitle = match period {
        Some((first, last)) if first == last => format!("{unit} · {}", date(first)),
        Some((first, last)) => format!("{unit} · {} to {}", date(first), date(last)),
        None => unit.to_owned(),
    };
    let figure = Figure {
        number,
        title: &chart.title,
        subtitle: subtitle.trim_start_matches(" · ").to_owned(),
        description: describe(chart, &all),
    };
    figure.open(out);
    match period.filter(|_| values().any(is_drawn)) {
        Some((first, last)) => {
            let mut legend: Vec<(Swatch, usize, &str)> =
                drawn.iter().enumerate().map(|(at, (series, _))| (Swatch::Line, at, &*series.name)).collect();
            legend.extend(bands.iter().map(|band| (Swatch::Band, 0, &*band.name)));
            // A single line that has the name of the chart needs no legend.
            if legend.len() > 1 || legend[0].2 != chart.title {
                frame::legend(out, &legend);
            }
            figure.open_drawing(out, HEIGHT);
            let ends = bands.iter().flat_map(|band| [band.low, band.high]);
            let scale = Scale::around(values().filter(|value| is_drawn(*value)).chain(ends), &chart.unit);
            let plot = Plot::for_scale(&scale, HEIGHT);
            for band in &bands {
                let (top, bottom) = (plot.y(scale.position(band.high)), plot.y(scale.position(band.low)));
                let _ = writeln!(
                    out,
                    "<rect class=\"band\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                    pixel(plot.left),
                    pixel(top),
                    pixel(plot.right - plot.left),
                    pixel(bottom - top)
                );
            }
            plot.grid(out, &scale);
            let axis = Days::new(first, last);
            draw_days(out, &plot, &axis);
            for (at, (_, points)) in drawn.iter().enumerate() {
                draw_series(out, points, at, &plot, &scale, &axis);
            }
            out.push_str("</svg>\n");
        }
        None => frame::nothing(out),
    }
    notes(out, chart, values().any(|value| !is_drawn(value)));
    let (headers, rows) = table(chart, &all);
    frame::close(out, &headers, &rows);
}

fn draw_days(out: &mut String, plot: &Plot, days: &Days) {
    for (day, label) in &days.ticks {
        let x = plot.x(days.position(*day));
        rule(out, "axis", (x, plot.bottom), (x, plot.bottom + 4.0));
        let (x, anchor) = if x > plot.right - 24.0 {
            (plot.right + 6.0, Anchor::End)
        } else if x < 24.0 {
            (2.0, Anchor::Start)
        } else {
            (x, Anchor::Middle)
        };
        text(out, (x, plot.bottom + 17.0), anchor, "tick", label, 14);
    }
}

fn draw_series(
    out: &mut String,
    points: &[(Date, Option<f64>)],
    at: usize,
    plot: &Plot,
    scale: &Scale,
    days: &Days,
) {
    let place =
        |day: Date, value: f64| (pixel(plot.x(days.position(day))), pixel(plot.y(scale.position(value))));
    let mut path = String::new();
    let mut single = Vec::new();
    for part in points.split(|(_, value)| value.is_none_or(|value| !is_drawn(value))) {
        let part: Vec<(String, String)> =
            part.iter().filter_map(|(day, value)| Some(place(*day, (*value)?))).collect();
        if let [point] = &part[..] {
            single.push(point.clone());
            continue;
        }
        for (step, (x, y)) in part.iter().enumerate() {
            let _ = write!(path, "{}{x} {y}", if step == 0 { "M" } else { "L" });
        }
    }
    let color = at + 1;
    if !path.is_empty() {
        let _ =
            writeln!(out, "<path class=\"line k{color}\" d=\"{path}\" stroke-dasharray=\"{}\"/>", dash(at));
    }
    for (x, y) in single {
        let _ = writeln!(out, "<circle class=\"point k{color}\" cx=\"{x}\" cy=\"{y}\" r=\"3\"/>");
    }
}

fn describe(chart: &Lines, all: &[Line<'_>]) -> String {
    let mut words = format!("Lines over days{}.", describe_unit(&chart.unit));
    for (series, points) in all {
        let values = || points.iter().filter_map(|(_, value)| *value);
        let value = |value: f64| with_unit(value, &chart.unit);
        let count = values().count();
        let _ = match points.iter().rev().find_map(|(day, value)| Some((*day, (*value)?))) {
            None => write!(words, " {}: no values.", series.name),
            Some((day, last)) => write!(
                words,
                " {}: {count} {} from {} to {}, the last value {} on {}.",
                if series.name.is_empty() { "All" } else { &series.name },
                if count == 1 { "value" } else { "values" },
                value(values().fold(f64::INFINITY, f64::min)),
                value(values().fold(f64::NEG_INFINITY, f64::max)),
                value(last),
                date(day)
            ),
        };
    }
    for band in &chart.bands {
        let (low, high) = (with_unit(band.low, &chart.unit), with_unit(band.high, &chart.unit));
        let _ = write!(words, " {}: {low} to {high}.", band.name);
    }
    words
}

fn notes(out: &mut String, chart: &Lines, is_beyond: bool) {
    if chart.series.len() > SERIES {
        frame::note(
            out,
            &format!(
                "The chart shows the first {SERIES} of {} lines. The table has all lines.",
                chart.series.len()
            ),
        );
    }
    if chart.series.iter().any(|series| series.points.len() > POINTS) {
        frame::note(out, &format!("The chart shows the last {POINTS} days of each line."));
    }
    if is_beyond {
        frame::note(out, "The chart omits values that are too large for it. The table lists them.");
    }
}

fn table(chart: &Lines, all: &[Line<'_>]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut headers = vec!["Day".to_owned()];
    headers.extend(all.iter().map(|(series, _)| match &*series.name {
        "" => unit(&chart.unit).to_owned(),
        name => name.to_owned(),
    }));
    let mut rows: BTreeMap<Date, Vec<Option<f64>>> = BTreeMap::new();
    for (at, (_, points)) in all.iter().enumerate() {
        for (day, value) in points {
            rows.entry(*day).or_insert_with(|| vec![None; all.len()])[at] = *value;
        }
    }
    let cell = |value: Option<f64>| value.map_or("no data".to_owned(), |value| with_unit(value, &chart.unit));
    let rows = rows
        .into_iter()
        .map(|(day, values)| std::iter::once(day.to_string()).chain(values.into_iter().map(cell)).collect())
        .collect();
    (headers, rows)
}
