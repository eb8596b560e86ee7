//! Elements of all charts: the figure, its legend, the grid, the table of its data, and a line for missing data.

use std::fmt::Write;

use holdshort_presentation::markup::{cut_line, line};

use super::hatch::{self, Area};
use crate::report::number::pixel;

/// Width of every chart in SVG units. The report page scales a chart down slightly on a phone and up slightly on a
/// desktop.
pub(crate) const WIDTH: f64 = 440.0;
/// Width of one character in the axis labels of a chart, in SVG units: that of the widest digit in common fonts.
pub(crate) const LETTER: f64 = 7.0;

/// Dash patterns of the lines in a chart, one per series.
const DASHES: [&str; 6] = ["", "7 4", "2 3", "10 3 2 3", "14 4", "5 2 1 2 1 2"];
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Swatch {
    Line,
    Area,
    Band,
}

pub(crate) fn dash(at: usize) -> &'static str {
    DASHES[at % DASHES.len()]
}

pub(crate) struct Figure<'a> {
    pub number: usize,
    pub title: &'a str,
    /// Unit of the chart's values, and period of the chart.
    pub subtitle: String,
    /// Description of the chart that a screen reader reads aloud.
    pub description: String,
}

impl Figure<'_> {
    pub(crate) fn open(&self, out: &mut String) {
        let _ = write!(out, "<figure class=\"chart\" id=\"chart-{}\">\n<figcaption><h3>", self.number);
        out.push_str(&line(self.title));
        out.push_str("</h3>");
        if !self.subtitle.is_empty() {
            let _ = write!(out, "<p class=\"unit\">{}</p>", line(&self.subtitle));
        }
        out.push_str("</figcaption>\n");
    }

    /// Writes the start of the chart's SVG drawing. The caller closes the drawing with `</svg>`.
    pub(crate) fn open_drawing(&self, out: &mut String, height: f64) {
        let number = self.number;
        let _ = write!(
            out,
            "<svg class=\"drawing\" viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"chart-{number}-title \
             chart-{number}-desc\">\n<title id=\"chart-{number}-title\">{}</title>\n<desc id=\"chart-{number}-desc\">{}\
             </desc>\n",
            pixel(WIDTH),
            pixel(height),
            line(self.title),
            holdshort_presentation::markup::multiline(&self.description)
        );
    }
}

/// Writes the legend of a chart. Writes nothing if no entry has a name: the title of the chart then says what is drawn.
pub(crate) fn legend(out: &mut String, entries: &[(Swatch, usize, &str)]) {
    if entries.iter().all(|(_, _, name)| name.is_empty()) {
        return;
    }
    out.push_str("<ul class=\"legend\">");
    for (swatch, at, name) in entries {
        out.push_str("<li><svg class=\"swatch\" viewBox=\"0 0 28 12\" aria-hidden=\"true\">");
        let _ = match swatch {
            Swatch::Line => write!(
                out,
                "<path class=\"line k{}\" d=\"M0 6H28\" stroke-dasharray=\"{}\"/>",
                at + 1,
                dash(*at)
            ),
            Swatch::Area => {
                hatch::draw(out, *at, Area { x: 0.0, y: 0.0, width: 28.0, height: 12.0 });
                Ok(())
            }
            Swatch::Band => {
                write!(out, "<rect class=\"band\" x=\"0.5\" y=\"0.5\" width=\"27\" height=\"11\"/>")
            }
        };
        let _ = write!(out, "</svg>{}</li>", line(name));
    }
    out.push_str("</ul>\n");
}

/// Writes the sentence that replaces the drawing of a chart without data.
pub(crate) fn nothing(out: &mut String) {
    out.push_str("<p class=\"nothing\">No data for this chart.</p>\n");
}

/// Writes a note below a chart about data that is not drawn.
pub(crate) fn note(out: &mut String, note: &str) {
    let _ = writeln!(out, "<p class=\"note\">{}</p>", line(note));
}

/// Writes the data table of the chart, and closes the chart's figure. The first cell of each table row is the header of
/// the row.
pub(crate) fn close(out: &mut String, headers: &[String], rows: &[Vec<String>]) {
    if !rows.is_empty() {
        out.push_str("<details><summary>Data of this chart</summary>\n");
        out.push_str("<div class=\"scroll\" role=\"region\" aria-label=\"Data of the chart\" tabindex=\"0\"><table class=\"data\">\n<thead><tr>");
        for header in headers {
            let _ = write!(out, "<th scope=\"col\">{}</th>", line(header));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            out.push_str("<tr>");
            for (at, cell) in row.iter().enumerate() {
                let _ = match at {
                    0 => write!(out, "<th scope=\"row\">{}</th>", line(cell)),
                    _ => write!(out, "<td class=\"r\">{}</td>", line(cell)),
                };
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div></details>\n");
    }
    out.push_str("</figure>\n");
}

/// Point of a text in a chart that the text's position refers to.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Writes a text into the drawing of a chart, cut after `chars` characters.
pub(crate) fn text(
    out: &mut String,
    (x, y): (f64, f64),
    anchor: Anchor,
    class: &str,
    text: &str,
    chars: usize,
) {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
        pixel(x),
        pixel(y),
        cut_line(text, chars)
    );
}

pub(crate) fn rule(out: &mut String, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let _ = writeln!(
        out,
        "<path class=\"{class}\" d=\"M{} {}L{} {}\"/>",
        pixel(x1),
        pixel(y1),
        pixel(x2),
        pixel(y2)
    );
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plot {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Plot {
    /// Returns the area of a chart inside the axes, with space at the left for the tick labels of the scale.
    pub(crate) fn for_scale(scale: &super::axis::Scale, height: f64) -> Self {
        let longest = scale.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
        let left = f64::from(u32::try_from(longest.min(14)).unwrap_or(0)) * LETTER + 8.0;
        Self { left, right: WIDTH - 8.0, top: 10.0, bottom: height - 24.0 }
    }

    pub(crate) fn x(&self, place: f64) -> f64 {
        self.left + place * (self.right - self.left)
    }

    pub(crate) fn y(&self, place: f64) -> f64 {
        self.bottom - place * (self.bottom - self.top)
    }

    pub(crate) fn grid(&self, out: &mut String, scale: &super::axis::Scale) {
        for (value, label) in &scale.ticks {
            let y = self.y(scale.position(*value));
            rule(out, if *value == 0.0 { "zero" } else { "grid" }, (self.left, y), (self.right, y));
            text(out, (self.left - 6.0, y + 4.0), Anchor::End, "tick", label, 14);
        }
    }
}
