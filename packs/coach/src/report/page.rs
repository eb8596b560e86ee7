//! The HTML page of a report: its head, then the parts of the report in their order. Parts without content are left
//! out.

use std::collections::BTreeSet;
use std::fmt::Write;

use holdshort_presentation::markup::{line, multiline};
use holdshort_presentation::prose::{self, Lookup, Rendered};
use holdshort_presentation::{POLICY, STYLE};

use crate::report::chart::Chart;
use crate::report::gaps;
use crate::report::limits::NAMES;
use crate::report::model::{Assumption, Competition, Question, Report, Section, TrainingValue};
use crate::report::number;
use crate::report::trace::{FoundNumber, KnownNumbers, NumberLookup};

/// Renders the report as one HTML page that is also well-formed XML.
pub fn html(report: &Report) -> String {
    let mut lookup = NumberLookup::new(collect_known_numbers(report), report.given.clone());
    let mut body = String::new();
    let mut contents = Vec::new();
    competitions(&mut body, &report.competitions, &mut contents);
    charts(&mut body, &report.charts, &mut contents);
    let mut untraced = 0;
    for (at, section) in report.sections.iter().enumerate() {
        let anchor = anchor(at, &section.id);
        contents.push((anchor.clone(), line(&section.title)));
        untraced += self::section(&mut body, section, &anchor, &mut lookup).untraced;
    }
    computed(&mut body, report, &mut contents);
    found(&mut body, &lookup.found, &mut contents);
    gaps::not_computed(&mut body, &report.not_computed, &mut contents);
    gaps::unread(&mut body, report.unread.as_ref(), &mut contents);
    questions(&mut body, &report.questions, &mut contents);
    assumptions(&mut body, &report.assumptions, &mut contents);
    numbers(&mut body, &report.sections, untraced, &mut contents);

    let mut out = String::with_capacity(body.len() + STYLE.len() + 4096);
    head(&mut out, report, &contents);
    out.push_str(&body);
    out.push_str("</main>\n</div>\n</body>\n</html>\n");
    out
}

/// Returns all numbers that an agent may quote in the report: those from tools and inputs, and those that the page
/// shows elsewhere.
fn collect_known_numbers(report: &Report) -> KnownNumbers {
    let mut known = report.known.clone();
    known.add_day(report.date);
    for computed in &report.computed {
        known.add_text(&match &*computed.unit {
            "1" => computed.value.clone(),
            unit => format!("{} {unit}", computed.value),
        });
        for text in [&computed.label, &computed.how, &computed.inputs] {
            known.add_text(text);
        }
    }
    for competition in &report.competitions {
        known.add_text(&competition.name);
        known.add_text(&competition.date);
        known.add_text(competition.target.as_deref().unwrap_or_default());
    }
    for answer in report.questions.iter().filter_map(|question| question.answer.as_deref()) {
        known.add_text(answer);
    }
    for chart in &report.charts {
        chart.collect_numbers(&mut known);
    }
    known
}

fn head(out: &mut String, report: &Report, contents: &[(String, String)]) {
    let (title, athlete) = (line(&report.title), line(&report.athlete));
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"robots\" content=\"noindex\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title} · {athlete} · {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<div class=\"page\">\n\
         <header>\n<h1>{title}</h1>\n<p class=\"byline\">{athlete} · <time datetime=\"{}\">{}</time></p>\n",
        report.date,
        report.date,
        day(report.date)
    );
    if let Some(reason) = &report.partial {
        let _ = writeln!(
            out,
            "<div class=\"banner\" role=\"note\"><p><strong>This report is not complete.</strong> The run did not \
             finish: <span class=\"said\">{}</span></p></div>",
            multiline(reason)
        );
    }
    if report.is_rehearsal {
        out.push_str(
            "<div class=\"banner\" role=\"note\"><p><strong>A rehearsal wrote this report.</strong> Its \
             texts were written in advance and replace a model. The computed numbers and the data in the \
             charts are real.</p></div>\n",
        );
    }
    if contents.len() > 1 {
        out.push_str("<nav aria-label=\"Contents\"><ol>\n");
        for (anchor, title) in contents {
            let _ = writeln!(out, "<li><a href=\"#{anchor}\">{title}</a></li>");
        }
        out.push_str("</ol></nav>\n");
    }
    out.push_str("</header>\n<main>\n");
}

/// Formats a date as `12 March 2026`.
fn day(date: jiff::civil::Date) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let month =
        usize::try_from(date.month() - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or_default();
    format!("{} {month} {}", date.day(), date.year())
}

/// Returns a unique HTML id for a section of the report. It consists of the number of the section, and the letters,
/// digits and hyphens of `id`.
fn anchor(at: usize, id: &str) -> String {
    format!("section-{}-{}", at + 1, slug(id)).trim_end_matches('-').to_owned()
}

/// Entries of the report's table of contents, each with its HTML id and title.
pub(crate) type Contents = Vec<(String, String)>;

pub(crate) fn open(out: &mut String, anchor: &str, title: &str, contents: &mut Contents) {
    contents.push((anchor.to_owned(), title.to_owned()));
    let _ = writeln!(
        out,
        "<section id=\"{anchor}\" aria-labelledby=\"{anchor}-title\">\n<h2 id=\"{anchor}-title\">{title}</h2>"
    );
}

fn competitions(out: &mut String, competitions: &[Competition], contents: &mut Vec<(String, String)>) {
    if competitions.is_empty() {
        return;
    }
    open(out, "competitions", "Competitions", contents);
    table_head(out, "Competitions", &["Competition", "Date", "Priority", "Target"]);
    for competition in competitions {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"date\">{}</td><td>{}</td><td>{}</td></tr>",
            line(&competition.name),
            line(&competition.date),
            line(competition.priority.as_deref().unwrap_or("–")),
            line(competition.target.as_deref().unwrap_or("–"))
        );
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}

pub(crate) fn table_head(out: &mut String, label: &str, headers: &[&str]) {
    let _ = write!(
        out,
        "<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\"><table>\n<thead><tr>"
    );
    for header in headers {
        let _ = write!(out, "<th scope=\"col\">{header}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
}

fn charts(out: &mut String, charts: &[Chart], contents: &mut Vec<(String, String)>) {
    if charts.is_empty() {
        return;
    }
    open(out, "charts", "Charts", contents);
    out.push_str("<div class=\"charts\">\n");
    for (at, chart) in charts.iter().enumerate() {
        chart.draw(out, at + 1);
    }
    out.push_str("</div>\n</section>\n");
}

fn section(out: &mut String, section: &Section, anchor: &str, lookup: &mut NumberLookup) -> Rendered {
    let _ = write!(
        out,
        "<section id=\"{anchor}\" aria-labelledby=\"{anchor}-title\">\n<h2 id=\"{anchor}-title\">{}</h2>\n\
         <p class=\"by\">Written by the agent {}</p>\n<div class=\"prose\">\n",
        line(&section.title),
        line(&section.agent)
    );
    let rendered = prose::render(out, &section.text, (!section.plans).then_some(lookup as &mut dyn Lookup));
    if section.text.trim().is_empty() {
        out.push_str("<p>The agent wrote nothing.</p>\n");
    }
    out.push_str("</div>\n");
    let mut notes = Vec::new();
    if rendered.is_cut {
        notes.push(
            "The text is too long for this page. The file of this agent contains the complete text."
                .to_owned(),
        );
    }
    if section.plans {
        notes.push(
            "The numbers of this plan are proposals of the agent. They are not checked against the data."
                .to_owned(),
        );
    }
    match rendered.untraced {
        0 => {}
        1 => notes.push("1 number is marked, because no tool result and no input contains it.".to_owned()),
        count => {
            notes.push(format!(
                "{count} numbers are marked, because no tool result and no input contains \
                them."
            ));
        }
    }
    if !notes.is_empty() {
        let _ = writeln!(out, "<p class=\"foot\">{}</p>", notes.join(" "));
    }
    out.push_str("</section>\n");
    rendered
}

fn computed(out: &mut String, report: &Report, contents: &mut Contents) {
    let computed = &report.computed;
    if computed.is_empty() {
        return;
    }
    open(out, "computed", "Computed numbers", contents);
    out.push_str("<p class=\"by\">Computed from the training data by Holdshort, not by a model.</p>\n");
    table_head(out, "Computed numbers", &["What", "Value", "How", "From"]);
    let mut anchors = BTreeSet::new();
    for number in computed {
        let mut anchor = format!("number-{}", slug(&number.id));
        while !anchors.insert(anchor.clone()) {
            anchor.push_str("-again");
        }
        // For a ratio, no unit is written.
        let unit = if number.unit == "1" { "" } else { &number.unit };
        let _ = writeln!(
            out,
            "<tr id=\"{anchor}\"><th scope=\"row\">{}</th><td class=\"value\">{}{}{}</td><td class=\"how\">{}</td>\
             <td class=\"how\">{}{}</td></tr>",
            line(&number.label),
            line(&number.value),
            if unit.is_empty() { "" } else { "\u{a0}" },
            line(unit),
            line(&number.how),
            line(&number.inputs),
            render_input_names(&number.named)
        );
    }
    out.push_str("</tbody></table></div>\n");
    if !report.caveats.is_empty() {
        out.push_str("<dl class=\"caveats\">\n");
        for (name, text) in &report.caveats {
            let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", line(name), line(text));
        }
        out.push_str("</dl>\n");
    }
    out.push_str("</section>\n");
}

/// Writes the section of the report that shows where quoted numbers are in the training data.
fn found(out: &mut String, found: &[FoundNumber], contents: &mut Contents) {
    if found.is_empty() {
        return;
    }
    open(out, "found", "Numbers from the data", contents);
    out.push_str(
        "<p class=\"by\">Numbers in the texts above that occur in the training data. They were matched by \
         value, and by unit if the text names one. If a number occurs in several places, it is unknown which \
         place the agent meant.</p>\n",
    );
    table_head(out, "Numbers from the data", &["Written", "Where it occurs"]);
    for (at, FoundNumber { written, places, more }) in found.iter().enumerate() {
        let place = |given: &TrainingValue| {
            let value = number::number(given.value);
            let text = format!("{} {value} {}: {}", given.label, given.unit, given.place);
            format!("<li>{}</li>", line(&text))
        };
        let places: String = places.iter().map(place).collect();
        let more = if *more > 0 { format!("<li>and {more} more</li>") } else { String::new() };
        let _ = writeln!(
            out,
            "<tr id=\"found-{}\"><th scope=\"row\">{}</th><td class=\"how\"><ul>{places}{more}</ul></td></tr>",
            at + 1,
            line(written)
        );
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}

/// Renders the names of a computed number's inputs in a list that can be expanded.
fn render_input_names(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> =
        names.iter().take(NAMES).map(|name| format!("<li>{}</li>", line(name))).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!("<li>and {more} more</li>") } else { String::new() };
    format!("<details><summary>which</summary><ul>{}{more}</ul></details>", shown.concat())
}

fn questions(out: &mut String, questions: &[Question], contents: &mut Vec<(String, String)>) {
    if questions.is_empty() {
        return;
    }
    open(out, "questions", "Questions and answers", contents);
    out.push_str("<ol class=\"exchange\">\n");
    for question in questions {
        let kind = question.kind.as_deref().map_or(String::new(), |kind| format!(" · {}", line(kind)));
        let _ = writeln!(
            out,
            "<li><p class=\"by\">{}{kind} · {}</p>\n<p class=\"asked said\">{}</p>",
            line(&question.agent),
            line(&question.outcome),
            multiline(&question.question)
        );
        if let Some(context) = &question.context {
            let _ = writeln!(out, "<p class=\"context said\">{}</p>", multiline(context));
        }
        if let Some(answer) = &question.answer {
            let _ = writeln!(out, "<div class=\"answer\"><p class=\"said\">{}</p>", multiline(answer));
            let by: Vec<String> =
                [&question.by, &question.at].into_iter().flatten().map(|text| line(text)).collect();
            if !by.is_empty() {
                let _ = writeln!(out, "<p class=\"by\">{}</p>", by.join(" · "));
            }
            out.push_str("</div>\n");
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ol>\n</section>\n");
}

fn assumptions(out: &mut String, assumptions: &[Assumption], contents: &mut Vec<(String, String)>) {
    if assumptions.is_empty() {
        return;
    }
    open(out, "assumptions", "Assumptions", contents);
    out.push_str(
        "<p class=\"by\">Assumptions that agents made without an answer.</p>\n<ol class=\"exchange\">\n",
    );
    for assumption in assumptions {
        let _ = writeln!(
            out,
            "<li><p class=\"by\">{}</p>\n<p class=\"asked said\">{}</p>",
            line(&assumption.agent),
            assumption.assumption.as_deref().map_or("The assumption was not stated.".to_owned(), multiline)
        );
        for (label, text) in [("Instead of asking", &assumption.question), ("Why", &assumption.why)] {
            if let Some(text) = text {
                let _ = writeln!(out, "<p class=\"context said\">{label}: {}</p>", multiline(text));
            }
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ol>\n</section>\n");
}

/// Writes the section of the report that explains how the numbers in texts were looked up, and how many were not found.
fn numbers(out: &mut String, sections: &[Section], untraced: usize, contents: &mut Vec<(String, String)>) {
    let plans: Vec<String> =
        sections.iter().filter(|section| section.plans).map(|section| line(&section.title)).collect();
    if sections.is_empty() {
        return;
    }
    open(out, "numbers", "About the numbers", contents);
    out.push_str("<div class=\"prose\">\n");
    if plans.len() < sections.len() {
        let found = match untraced {
            0 => "All numbers were found.".to_owned(),
            1 => "1 was not found. It is marked <mark class=\"untraced\">like this</mark> in the text."
                .to_owned(),
            count => {
                format!(
                    "{count} were not found. They are marked <mark class=\"untraced\">like this</mark> in the text."
                )
            }
        };
        let _ = writeln!(
            out,
            "<p>Every number that an agent wrote in digits in an analysis was looked up in the tool results, \
             the training data and the answers. It may be rounded or in another unit (seconds as minutes, a \
             share as percent, metres as kilometres). Numbers in words, such as a dozen, are not looked up. {found} A \
             marked number may still be right: the agent may have counted or calculated it. A found number \
             does not prove that the sentence around it is right.</p>"
        );
    }
    if !plans.is_empty() {
        let _ = writeln!(
            out,
            "<p>The numbers of {} are proposals of the agents and were not checked.</p>",
            plans.join(", ")
        );
    }
    out.push_str("</div>\n</section>\n");
}

fn slug(id: &str) -> String {
    let id =
        id.chars().take(60).map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    id.collect::<String>().trim_matches('-').to_owned()
}
