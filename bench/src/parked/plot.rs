//! The picture of the cost per waiting run: four small plots over the number of runs, in powers of ten. The vertical
//! axis starts at 0, so a horizontal line means that the cost does not grow.

use std::fmt::Write as _;

use super::Rung;
use super::report::{ms, spread, thousands};
use crate::load::count;

/// Width and height of one plot, and its margin, in pixels.
const SIZE: (f64, f64) = (360.0, 220.0);
const ROOM: (f64, f64) = (56.0, 40.0);
const COLOURS: [&str; 3] = ["#1f6feb", "#d1242f", "#1a7f37"];

/// Line of a plot: its name, and one value for each measured number of waiting runs.
type Line = (&'static str, Vec<f64>);

pub(super) fn plot(rungs: &[Rung]) -> String {
    let line = |name, value: &dyn Fn(&Rung) -> f64| (name, rungs.iter().map(value).collect::<Vec<_>>());
    let disk = |rung: &Rung| count(rung.split.total()) / count(rung.runs);
    let plots: [(&str, Vec<Line>); 4] = [
        ("disk a run, bytes", vec![line("all", &disk)]),
        (
            "resident memory, MB",
            vec![
                line("after the start", &|rung| spread(rung, |start| count(start.memory) / 1e6).median),
                line("after inbox pages", &|rung| {
                    spread(rung, |start| count(start.memory_later) / 1e6).median
                }),
            ],
        ),
        (
            "times after a start, ms",
            vec![
                line("first decision", &|rung| spread(rung, |start| ms(start.decision)).median),
                line("first inbox page", &|rung| spread(rung, |start| ms(start.first_look)).median),
                line("a deep page", &|rung| spread(rung, |start| ms(start.deep_look)).median),
            ],
        ),
        (
            "start to ready, ms",
            vec![line("from a cold disk", &|rung| spread(rung, |start| ms(start.ready_after)).median)],
        ),
    ];
    let (width, height) = SIZE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        width * 2.0,
        height * 2.0,
    );
    let places = [(0.0, 0.0), (width, 0.0), (0.0, height), (width, height)];
    for ((title, lines), (x, y)) in plots.iter().zip(places) {
        let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">{}</g>", panel(title, rungs, lines));
    }
    svg.push_str("</svg>\n");
    svg
}

fn panel(title: &str, rungs: &[Rung], lines: &[Line]) -> String {
    let (width, height) = (SIZE.0 - ROOM.0 - 16.0, SIZE.1 - 2.0 * ROOM.1);
    let highest = lines.iter().flat_map(|(_, values)| values).copied().fold(0.0, f64::max);
    let top = round_up(highest);
    let power = |runs: u64| count(runs).log10();
    let (first, last) = (
        rungs.first().map_or(0.0, |rung| power(rung.runs)),
        rungs.last().map_or(1.0, |rung| power(rung.runs)),
    );
    let x = |runs: u64| ROOM.0 + width * (power(runs) - first) / (last - first).max(1.0);
    let y = |value: f64| ROOM.1 + height * (1.0 - value / top);
    let mut svg = format!("\n<text x=\"{}\" y=\"16\" font-weight=\"bold\">{title}</text>", ROOM.0);
    for (place, (name, _)) in lines.iter().enumerate() {
        let at = ROOM.0 + count(place) * 100.0;
        let colour = COLOURS[place % COLOURS.len()];
        let _ = write!(svg, "\n<text x=\"{at}\" y=\"30\" fill=\"{colour}\">{name}</text>");
    }
    for value in [0.0, top / 2.0, top] {
        let (at, left, right) = (y(value), ROOM.0, ROOM.0 + width);
        let _ = write!(
            svg,
            "\n<path d=\"M{left} {at:.1}H{right}\" stroke=\"#d0d7de\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            left - 6.0,
            at + 4.0,
        );
    }
    for rung in rungs {
        let (at, below) = (x(rung.runs), SIZE.1 - ROOM.1 + 16.0);
        let _ = write!(
            svg,
            "\n<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{}</text>",
            thousands(rung.runs)
        );
    }
    for (place, (_, values)) in lines.iter().enumerate() {
        let colour = COLOURS[place % COLOURS.len()];
        let points: Vec<_> =
            rungs.iter().zip(values).map(|(rung, value)| (x(rung.runs), y(*value))).collect();
        let joined: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = write!(
            svg,
            "\n<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            joined.join(" ")
        );
        for (x, y) in points {
            let _ = write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
    }
    svg
}

/// Rounds a value of a plot's axis up to 1, 2 or 5 times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.max(1.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= value).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(
            [0.3, 1.0, 3.0, 47.0, 2_345.0].map(|value| round_up(value).to_string()),
            ["1", "1", "5", "50", "5000"]
        );
    }
}
