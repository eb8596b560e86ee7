//! Hatched areas. The lines of a hatch are drawn one by one up to the edges of the area. An SVG pattern would need less
//! code, but printing to PDF makes each pattern a picture of hundreds of kilobytes.

use std::fmt::Write;

use crate::report::number::pixel;

/// Distance between the lines of a hatched area in a chart, in SVG units.
const STEP: f64 = 6.0;

#[derive(Clone, Copy)]
enum Hatch {
    None,
    Rising,
    Dotted,
    Level,
    Falling,
    Crossed,
}

const HATCHES: [Hatch; 6] =
    [Hatch::None, Hatch::Rising, Hatch::Dotted, Hatch::Level, Hatch::Falling, Hatch::Crossed];

/// Rectangle of a chart to fill, given by its upper left corner and its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Draws a rectangle in the colour and the hatch of the stacked part with the index `part`.
pub(crate) fn draw(out: &mut String, part: usize, area: Area) {
    let _ = write!(
        out,
        "<rect class=\"area k{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        part % HATCHES.len() + 1,
        pixel(area.x),
        pixel(area.y),
        pixel(area.width),
        pixel(area.height)
    );
    let hatch = HATCHES[part % HATCHES.len()];
    let mut path = String::new();
    match hatch {
        Hatch::None => {}
        Hatch::Rising => rising(&mut path, area),
        Hatch::Falling => falling(&mut path, area),
        Hatch::Level | Hatch::Dotted => level(&mut path, area),
        Hatch::Crossed => {
            rising(&mut path, area);
            falling(&mut path, area);
        }
    }
    if !path.is_empty() {
        let class = if matches!(hatch, Hatch::Dotted) { "ink dotted" } else { "ink" };
        let _ = write!(out, "<path class=\"{class}\" d=\"{path}\"/>");
    }
}

/// Returns the multiples of [`STEP`] strictly between two numbers.
fn steps(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let first = (low / STEP).floor() + 1.0;
    std::iter::successors(Some(first), |step| Some(step + 1.0))
        .map(|step| step * STEP)
        .take_while(move |at| *at < high)
}

fn stroke(path: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let _ = write!(path, "M{} {}L{} {}", pixel(x1), pixel(y1), pixel(x2), pixel(y2));
}

/// Draws the lines of a hatched area along which x + y is constant.
fn rising(path: &mut String, Area { x, y, width, height }: Area) {
    for sum in steps(x + y, x + width + y + height) {
        let (left, right) = (x.max(sum - y - height), (x + width).min(sum - y));
        stroke(path, (left, sum - left), (right, sum - right));
    }
}

/// Draws the lines of a hatched area along which x − y is constant.
fn falling(path: &mut String, Area { x, y, width, height }: Area) {
    for difference in steps(x - y - height, x + width - y) {
        let (left, right) = (x.max(difference + y), (x + width).min(difference + y + height));
        stroke(path, (left, left - difference), (right, right - difference));
    }
}

fn level(path: &mut String, Area { x, y, width, height }: Area) {
    for at in steps(y, y + height) {
        stroke(path, (x, at), (x + width, at));
    }
}
