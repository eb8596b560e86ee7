//! Bar charts whose bars consist of stacked parts. Parts below zero are stacked downwards.

use std::fmt::Write;

use holdshort_presentation::markup::line;

use super::axis::Scale;
use super::frame::{self, Anchor, Figure, LETTER, Plot, Swatch, rule, text};
use super::hatch::{self, Area};
use super::{Bar, Bars, describe_unit, unit};
use crate::report::limits::{BARS, DRAWN, SERIES};
use crate::report::number::with_unit;

const HEIGHT: f64 = 230.0;
const WIDEST: f64 = 44.0;
/// Maximum number of characters of a label below a bar of the chart.
const LABEL: usize = 12;

/// Returns the stacked parts of a bar that are drawn, each with its index.
fn parts(bar: &Bar) -> impl Iterator<Item = (usize, f64)> + '_ {
    let values = bar.values.iter().take(SERIES).enumerate();
    values.filter_map(|(at, value)| Some((at, value.filter(|value| value.abs() <= DRAWN)?)))
}

/// Returns true if no part of a bar has a value. Such a bar is drawn as a gap and not as zero.
fn is_gap(bar: &Bar) -> bool {
    bar.values.iter().flatten().all(|value| !value.is_finite())
}

pub(crate) fn draw(out: &mut String, chart: &Bars, number: usize) {
    let drawn = &chart.bars[chart.bars.len().saturating_sub(BARS)..];
    let figure = Figure {
        number,
        title: &chart.title,
        subtitle: unit(&chart.unit).to_owned(),
        description: describe(chart, drawn),
    };
    figure.open(out);
    if drawn.iter().any(|bar| parts(bar).next().is_some()) {
        let names = chart.parts.iter().take(SERIES);
        let legend: Vec<_> = names.enumerate().map(|(at, name)| (Swatch::Area, at, &**name)).collect();
        // If there is only one part, the title of the chart names it.
        if legend.len() > 1 {
            frame::legend(out, &legend);
        }
        figure.open_drawing(out, HEIGHT);
        draw_bars(out, chart, drawn);
        out.push_str("</svg>\n");
    } else {
        frame::nothing(out);
    }
    if drawn.iter().any(is_gap) && !drawn.iter().all(is_gap) {
        frame::note(out, "×: no data.");
    }
    if chart.bars.len() > drawn.len() {
        frame::note(out, &format!("The chart shows the last {BARS} of {} bars.", chart.bars.len()));
    }
    if chart.parts.len() > SERIES {
        frame::note(
            out,
            &format!(
                "The chart shows the first {SERIES} of {} parts. The table has all parts.",
                chart.parts.len()
            ),
        );
    }
    if drawn
        .iter()
        .flat_map(|bar| &bar.values)
        .flatten()
        .any(|value| value.is_finite() && value.abs() > DRAWN)
    {
        frame::note(out, "The chart omits values that are too large for it. The table lists them.");
    }
    let (headers, rows) = table(chart, drawn);
    frame::close(out, &headers, &rows);
}

fn draw_bars(out: &mut String, chart: &Bars, drawn: &[Bar]) {
    let sum = |bar: &Bar, is_kept: fn(&f64) -> bool| {
        parts(bar).map(|(_, value)| value).filter(is_kept).sum::<f64>()
    };
    let ends = drawn.iter().flat_map(|bar| [sum(bar, |value| *value > 0.0), sum(bar, |value| *value < 0.0)]);
    let scale = Scale::from_zero(ends, &chart.unit);
    let plot = Plot::for_scale(&scale, HEIGHT);
    plot.grid(out, &scale);
    let count = f64::from(u32::try_from(drawn.len()).unwrap_or(1));
    let slot = (plot.right - plot.left) / count;
    let width = (slot * 0.72).min(WIDEST);
    let longest = drawn.iter().map(|bar| bar.label.chars().count().min(LABEL)).max().unwrap_or(0);
    let label_width = f64::from(u32::try_from(longest).unwrap_or(0)) * LETTER + 6.0;
    // Depending on the width, every bar has a label, or every second bar, and so on. The last bar always has a label.
    let every =
        (1..=drawn.len()).find(|every| f64::from(u32::try_from(*every).unwrap_or(1)) * slot >= label_width);
    let every = every.unwrap_or(drawn.len());
    let mut middle = plot.left + slot / 2.0;
    for (at, bar) in drawn.iter().enumerate() {
        let (mut up, mut down) = (0.0, 0.0);
        for (part, value) in parts(bar) {
            let end = if value < 0.0 { &mut down } else { &mut up };
            let from = *end;
            *end += value;
            let (a, b) = (plot.y(scale.position(from)), plot.y(scale.position(*end)));
            let _ = write!(
                out,
                "<g class=\"bar\"><title>{}</title>",
                line(&describe_part(chart, bar, part, value))
            );
            let area = Area { x: middle - width / 2.0, y: a.min(b), width, height: (a - b).abs() };
            hatch::draw(out, part, area);
            out.push_str("</g>\n");
        }
        if is_gap(bar) {
            text(out, (middle, plot.y(scale.position(0.0)) - 5.0), Anchor::Middle, "tick", "×", 1);
        }
        if (drawn.len() - 1 - at).is_multiple_of(every) {
            let half = label_width / 2.0;
            let x = middle.min(super::frame::WIDTH - half + 3.0).max(half - 3.0);
            text(out, (x, plot.bottom + 17.0), Anchor::Middle, "tick", &bar.label, LABEL);
        }
        middle += slot;
    }
    let zero = plot.y(scale.position(0.0));
    rule(out, "zero", (plot.left, zero), (plot.right, zero));
}

fn describe_part(chart: &Bars, bar: &Bar, part: usize, value: f64) -> String {
    let name = chart.parts.get(part).map_or(String::new(), |name| format!(", {name}"));
    let suffix = match &*chart.unit {
        "s" | "1" | "" => String::new(),
        unit => format!(" {unit}"),
    };
    format!("{}{name}: {}{suffix}", bar.label, with_unit(value, &chart.unit))
}

fn total(bar: &Bar) -> Option<f64> {
    let values = || bar.values.iter().copied().flatten().filter(|value| value.is_finite());
    values().next().map(|_| values().sum())
}

fn describe(chart: &Bars, drawn: &[Bar]) -> String {
    let mut words = format!("Bars{}.", describe_unit(&chart.unit));
    for bar in drawn {
        let value = total(bar).map_or("no data".to_owned(), |total| with_unit(total, &chart.unit));
        let _ = write!(words, " {}: {value}.", bar.label);
    }
    words
}

fn table(chart: &Bars, drawn: &[Bar]) -> (Vec<String>, Vec<Vec<String>>) {
    let columns = drawn.iter().map(|bar| bar.values.len()).max().unwrap_or(0).max(chart.parts.len());
    let mut headers = vec![String::new()];
    headers.extend(
        (0..columns).map(|at| chart.parts.get(at).cloned().unwrap_or_else(|| unit(&chart.unit).to_owned())),
    );
    if columns > 1 {
        headers.push("Total".to_owned());
    }
    let cell = |value: Option<f64>| {
        let value = value.filter(|value| value.is_finite());
        value.map_or("no data".to_owned(), |value| with_unit(value, &chart.unit))
    };
    let rows = drawn
        .iter()
        .map(|bar| {
            let mut row = vec![bar.label.clone()];
            row.extend((0..columns).map(|at| cell(bar.values.get(at).copied().flatten())));
            if columns > 1 {
                row.push(cell(total(bar)));
            }
            row
        })
        .collect();
    (headers, rows)
}
