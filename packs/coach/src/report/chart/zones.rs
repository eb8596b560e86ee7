//! Charts of shares. Each row is a bar that is divided into zones.

use std::fmt::Write;

use holdshort_presentation::markup::line;

use super::frame::{self, Anchor, Figure, Swatch, WIDTH, text};
use super::hatch::{self, Area};
use super::{Row, Zones};
use crate::report::limits::{DRAWN, ROWS, SERIES};
use crate::report::number::{fixed, pixel, with_unit};

const ROW: f64 = 46.0;
const BAR: f64 = 24.0;
/// Smallest share of a bar in a chart in which a label of four characters fits.
const NAMED: f64 = 0.09;

/// Returns the sum of the amounts of a bar. Returns `None` if the amounts cannot be shown as shares.
fn whole(row: &Row) -> Option<f64> {
    let is_part = |amount: &f64| (0.0..=DRAWN).contains(amount);
    let amounts = row.amounts.get(..SERIES).unwrap_or(&row.amounts);
    let sum: f64 = amounts.iter().sum();
    (row.amounts.iter().all(is_part) && sum > 0.0).then_some(sum)
}

pub(crate) fn draw(out: &mut String, chart: &Zones, number: usize) {
    let drawn = &chart.rows[chart.rows.len().saturating_sub(ROWS)..];
    let figure = Figure {
        number,
        title: &chart.title,
        subtitle: "share of the total".to_owned(),
        description: describe(chart, drawn),
    };
    figure.open(out);
    if drawn.iter().any(|row| whole(row).is_some()) {
        let names = chart.zones.iter().take(SERIES);
        let legend: Vec<_> = names.enumerate().map(|(at, name)| (Swatch::Area, at, &**name)).collect();
        frame::legend(out, &legend);
        let height = f64::from(u32::try_from(drawn.len()).unwrap_or(1)) * ROW + 4.0;
        figure.open_drawing(out, height);
        let mut y = 0.0;
        for row in drawn {
            draw_row(out, chart, row, y);
            y += ROW;
        }
        out.push_str("</svg>\n");
    } else {
        frame::nothing(out);
    }
    if chart.rows.len() > drawn.len() {
        frame::note(out, &format!("The chart shows the last {ROWS} of {} rows.", chart.rows.len()));
    }
    if chart.zones.len() > SERIES {
        frame::note(
            out,
            &format!("The shares are computed from the first {SERIES} of {} zones.", chart.zones.len()),
        );
    }
    let (headers, rows) = table(chart, drawn);
    frame::close(out, &headers, &rows);
}

fn draw_row(out: &mut String, chart: &Zones, row: &Row, y: f64) {
    text(out, (0.0, y + 14.0), Anchor::Start, "label", &row.label, 60);
    let Some(whole) = whole(row) else {
        return text(out, (0.0, y + 36.0), Anchor::Start, "tick", "no data", 60);
    };
    let mut names = String::new();
    let mut x = 0.0;
    for (at, amount) in row.amounts.iter().take(SERIES).enumerate().filter(|(_, amount)| **amount > 0.0) {
        let share = amount / whole;
        let width = share * WIDTH;
        let zone = chart.zones.get(at).map_or("", |zone| &**zone);
        let told = format!("{}, {zone}: {} ({})", row.label, percent(share), with_unit(*amount, &chart.unit));
        let _ = write!(out, "<g class=\"bar\"><title>{}</title>", line(&told));
        hatch::draw(out, at, Area { x, y: y + 20.0, width, height: BAR });
        out.push_str("</g>\n");
        if share >= NAMED {
            let (x, y) = (x + width / 2.0, y + 20.0 + BAR / 2.0);
            let label = percent(share);
            let _ = writeln!(
                names,
                "<rect class=\"chip\" x=\"{}\" y=\"{}\" width=\"34\" height=\"16\" rx=\"3\"/>",
                pixel(x - 17.0),
                pixel(y - 8.0)
            );
            text(&mut names, (x, y + 4.0), Anchor::Middle, "share", &label, 6);
        }
        x += width;
    }
    out.push_str(&names);
}

/// Formats a share in whole percent, or with one decimal below 1 %.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    format!("{} %", fixed(percent, usize::from(percent < 1.0 && percent > 0.0)))
}

fn describe(chart: &Zones, drawn: &[Row]) -> String {
    let mut words = "Shares of the total.".to_owned();
    for row in drawn {
        let _ = write!(words, " {}:", row.label);
        let Some(whole) = whole(row) else {
            words.push_str(" no data.");
            continue;
        };
        for (at, amount) in row.amounts.iter().take(SERIES).enumerate() {
            let zone = chart.zones.get(at).map_or("", |zone| &**zone);
            let _ = write!(words, "{} {zone} {}", if at == 0 { "" } else { "," }, percent(amount / whole));
        }
        words.push('.');
    }
    words
}

fn table(chart: &Zones, drawn: &[Row]) -> (Vec<String>, Vec<Vec<String>>) {
    let columns = drawn.iter().map(|row| row.amounts.len()).max().unwrap_or(0).max(chart.zones.len());
    let mut headers = vec![String::new()];
    headers.extend((0..columns).map(|at| chart.zones.get(at).cloned().unwrap_or_default()));
    let rows = drawn
        .iter()
        .map(|row| {
            let whole = whole(row);
            let mut cells = vec![row.label.clone()];
            cells.extend((0..columns).map(|at| {
                let Some(amount) = row.amounts.get(at).filter(|amount| amount.is_finite()) else {
                    return "no data".to_owned();
                };
                match whole.filter(|_| at < SERIES) {
                    Some(whole) => {
                        format!("{} ({})", with_unit(*amount, &chart.unit), percent(amount / whole))
                    }
                    None => with_unit(*amount, &chart.unit),
                }
            }));
            cells
        })
        .collect();
    (headers, rows)
}
