//! Charts as inline SVG. Each chart has a table of its data. Colours are CSS classes of the page. Dashes and hatches
//! make the same distinctions without colour. `frame.rs` draws the parts that all charts share. `axis.rs` computes
//! round ticks.

mod axis;
mod bars;
mod frame;
mod hatch;
mod lines;
mod zones;

use jiff::civil::Date;

use crate::report::trace::{KnownNumbers, Quantity};

#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    Lines(Lines),
    Bars(Bars),
    Zones(Zones),
}

/// Line chart of values by day.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    pub title: String,
    /// Unit of the values in the line chart. Values in `s` are shown as `h:mm:ss`.
    pub unit: String,
    pub series: Vec<Series>,
    pub bands: Vec<Band>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub name: String,
    /// Days of a line chart with their values. A day without a value is a gap in the line.
    pub points: Vec<(Date, Option<f64>)>,
}

/// A range of values in a line chart with which the drawn values are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    pub name: String,
    pub low: f64,
    pub high: f64,
}

/// Bar chart of amounts. The parts of a bar are stacked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    pub title: String,
    /// Unit of the values in the bar chart. Values in `s` are shown as `h:mm:ss`.
    pub unit: String,
    /// Names of the stacked parts in the bar chart, which are the same for all bars.
    pub parts: Vec<String>,
    pub bars: Vec<Bar>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    pub label: String,
    /// Values of the bar, one for each name in [`Bars::parts`]. `None` is a gap.
    pub values: Vec<Option<f64>>,
}

/// A chart of shares. Each row is a bar that is divided into zones, whose shares add up to 100 %.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zones {
    pub title: String,
    /// Unit of the amounts in the chart of shares. Amounts in `s` are shown as `h:mm:ss`.
    pub unit: String,
    /// Names of the zones into which the bars of the chart are divided.
    pub zones: Vec<String>,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub label: String,
    /// Amounts of the bar, one for each name in [`Zones::zones`]. The shares are computed from the amounts.
    pub amounts: Vec<f64>,
}

impl Chart {
    /// Draws the chart. `number` becomes part of the chart's HTML ids, so that they are unique on the page.
    pub(crate) fn draw(&self, out: &mut String, number: usize) {
        match self {
            Self::Lines(lines) => lines::draw(out, lines, number),
            Self::Bars(bars) => bars::draw(out, bars, number),
            Self::Zones(zones) => zones::draw(out, zones, number),
        }
    }

    /// Adds the numbers and days of the chart to `known`. Agents may quote these numbers, because readers see them on
    /// the report page.
    pub(crate) fn collect_numbers(&self, known: &mut KnownNumbers) {
        match self {
            Self::Lines(lines) => {
                for (day, value) in lines.series.iter().flat_map(|series| &series.points) {
                    known.add_day(*day);
                    known.add_in_unit(value.unwrap_or(f64::NAN), &lines.unit);
                }
                for value in lines.bands.iter().flat_map(|band| [band.low, band.high]) {
                    known.add_in_unit(value, &lines.unit);
                }
            }
            Self::Bars(bars) => {
                for bar in &bars.bars {
                    known.add_text(&bar.label);
                    let values = || bar.values.iter().copied().flatten();
                    values().chain([values().sum()]).for_each(|value| known.add_in_unit(value, &bars.unit));
                }
            }
            Self::Zones(zones) => {
                for row in &zones.rows {
                    known.add_text(&row.label);
                    let total: f64 = row.amounts.iter().sum();
                    for amount in &row.amounts {
                        known.add_in_unit(*amount, &zones.unit);
                        known.add_value(amount / total, Quantity::Ratio);
                    }
                    known.add_in_unit(total, &zones.unit);
                }
            }
        }
    }
}

/// Returns the unit of a chart as it is shown to readers.
fn unit(unit: &str) -> &str {
    match unit {
        "s" => "h:mm:ss",
        "1" => "",
        unit => unit,
    }
}

/// Returns the unit of a chart as a part of the chart's description, such as `, in km`.
fn describe_unit(text: &str) -> String {
    match unit(text) {
        "" => String::new(),
        unit => format!(", in {unit}"),
    }
}
