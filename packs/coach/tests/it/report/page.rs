//! The complete page: well-formed, without external resources, in order, readable in the light and the dark theme.

use holdshort_coach::report::{NotComputed, Report, TrainingValue, Unread, UnreadRow, html};
use jiff::civil::date;

use crate::report::{markup, sample};

#[test]
fn the_page_of_the_sample_is_well_formed_and_self_contained() {
    let html = html(&sample::report());
    let page = markup::read(&html);
    assert_eq!(
        page.names().intersection(&["script", "link", "img", "iframe", "form", "object"].into()).count(),
        0
    );
    assert!(html.contains("default-src 'none'; style-src 'unsafe-inline'"));
    for (text, is_there) in
        [("http:", false), ("https:", false), ("@import", false), ("url(", false), ("lang=\"en\"", true)]
    {
        assert_eq!(html.contains(text), is_there, "{text}");
    }
    // Every chart has a name and a description. Symbols of a legend have neither.
    let drawings = page.attributes.iter().filter(|it| *it == "svg role=img").count();
    assert_eq!(drawings, 4);
    assert_eq!(page.count("desc"), drawings);
    assert!(html.contains("A rehearsal wrote this report."));
    assert!(!html.contains("This report is not complete."));
}

#[test]
fn ids_are_unique_and_links_lead_to_them() {
    let mut report = sample::report();
    let again = report.sections[0].clone();
    report.sections.push(again);
    let again = report.computed[0].clone();
    report.computed.push(again);
    report.sections[1].id = "\"><b> é".to_owned();
    let page = markup::read(&html(&report));
    let of = |key: &str| -> Vec<&str> {
        page.attributes.iter().filter_map(|it| it.split_once(' ')?.1.strip_prefix(key)).collect()
    };
    let ids = of("id=");
    let unique: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len());
    let links =
        of("href=#").into_iter().chain(of("aria-labelledby=").into_iter().flat_map(|ids| ids.split(' ')));
    assert_eq!(links.filter(|id| !unique.contains(id)).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn headings_are_in_order() {
    let page = markup::read(&html(&sample::report()));
    let levels: Vec<u32> =
        page.elements.iter().filter_map(|name| name.strip_prefix('h')?.parse().ok()).collect();
    assert_eq!(levels[0], 1);
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

#[test]
fn an_empty_report_is_a_page() {
    let report = Report::new("", "", date(2024, 2, 29));
    let page = markup::read(&html(&report));
    assert_eq!((page.count("section"), page.count("nav")), (0, 0));
}

#[test]
fn a_report_that_is_not_complete_says_so_at_the_top() {
    let mut report = sample::report();
    report.partial = Some("the weekly planner failed".to_owned());
    let html = html(&report);
    let told = html.find("This report is not complete.").unwrap();
    assert!(html.contains("the weekly planner failed") && told < html.find("<main>").unwrap());
}

#[test]
fn equal_reports_are_equal_bytes() {
    assert_eq!(html(&sample::report()), html(&sample::report()));
}

#[test]
fn an_answer_of_a_megabyte_is_cut_and_counted() {
    let mut report = sample::report();
    report.questions[0].answer = Some("é".repeat(1_000_000));
    let html = html(&report);
    assert!(html.contains("<em>(980000 more characters)</em>"));
    assert!(html.len() < 400_000);
}

/// Returns the contrast ratio of two colours by the formula of WCAG 2.
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |color: &str| {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn the_contrast_is_aa_in_both_themes() {
    let style = holdshort_presentation::STYLE;
    let (light, rest) = style.split_once("@media screen and (prefers-color-scheme: dark)").unwrap();
    let (dark, _) = rest.split_once("*,").unwrap();
    let pairs = [
        ("text", "ground", 4.5),
        ("text", "sheet", 4.5),
        ("text", "sunk", 4.5),
        ("soft", "ground", 4.5),
        ("soft", "sheet", 4.5),
        ("soft", "sunk", 4.5),
        ("accent", "ground", 4.5),
        ("accent", "sheet", 4.5),
        ("warn", "warn-soft", 4.5),
        ("band-edge", "sheet", 3.0),
        ("k1", "band", 3.0),
        ("k1", "sheet", 3.0),
        ("k2", "sheet", 3.0),
        ("k3", "sheet", 3.0),
        ("k4", "sheet", 3.0),
        ("k5", "sheet", 3.0),
        ("k6", "sheet", 3.0),
        ("ink", "k1", 3.0),
        ("ink", "k6", 3.0),
    ];
    for theme in [light, dark] {
        let color = |name: &str| {
            let (_, rest) = theme.split_once(&format!("--{name}: ")).unwrap();
            &rest[..7]
        };
        for (one, other, least) in pairs {
            let found = contrast(color(one), color(other));
            assert!(found >= least, "{one} on {other}: {found:.2}, {} on {}", color(one), color(other));
        }
    }
}

/// Tests that the report page lists missing data, so that readers know which data a number does not include.
#[test]
fn what_could_not_be_read_or_computed_is_told_in_sections_of_its_own() {
    let mut report = sample::report();
    report.caveats.insert("rest days".to_owned(), "Days without an activity count as rest.".to_owned());
    report.not_computed =
        vec![NotComputed { label: "power tss".to_owned(), why: "It needs <power>.".to_owned() }];
    let row = |place: &str, is_refused: bool| UnreadRow {
        place: place.to_owned(),
        message: "byte 7 is not UTF-8".to_owned(),
        code: "not_utf8".to_owned(),
        places: 3,
        what_to_do: "Save the file as UTF-8.".to_owned(),
        is_refused,
        needs_nothing: false,
    };
    let rows = vec![row("<a>.csv", true), row("b.csv:4", false)];
    let more = Some("42 more: bad_date".to_owned());
    report.unread = Some(Unread { told: "31 files, 9 not read.".to_owned(), rows, more });
    let html = html(&report);
    markup::read(&html);
    for text in [
        "Data that was not read",
        "31 files, 9 not read.",
        "&lt;a&gt;.csv",
        "read in part: byte 7",
        "42 more: bad_date",
        "Metrics that were not computed",
        "It needs &lt;power&gt;.",
        "<dt>rest days</dt><dd>Days without an activity count as rest.</dd>",
        "<details><summary>which</summary><ul><li>2026-03-28T06:30:00Z running</li></ul></details>",
        "<a href=\"#unread\">",
    ] {
        assert!(html.contains(text), "{text}");
    }
    let plain = holdshort_coach::report::html(&sample::report());
    for heading in ["Data that was not read", "Metrics that were not computed"] {
        assert!(!plain.contains(heading), "a part without content is not there: {heading}");
    }
}

/// Tests that a number which an agent quotes links to its places in the training data, even if an emphasis begins or
/// ends inside the number.
#[test]
fn a_number_leads_to_where_it_stands_in_the_data() {
    let given = |label: &str, value: f64, unit: &str, place: &str| TrainingValue {
        label: label.to_owned(),
        value,
        unit: unit.to_owned(),
        place: place.to_owned(),
    };
    let mut report = Report::new("Analysis", "Ada", date(2026, 3, 29));
    report.given = vec![
        given("ride of <13 March>, distance", 39_000.0, "m", "log.csv, line 44"),
        given("rest", 47.0, "bpm", "a.csv, line 2"),
        given("rest", 47.0, "bpm", "a.csv, line 3"),
        given("rest", 47.2, "bpm", "a.csv, line 4"),
        given("rest", 46.9, "bpm", "a.csv, line 5"),
        given("exertion", 7.0, "CR-10", "log.csv, line 9"),
        given("night", 7.5, "h", "a.csv, line 6"),
    ];
    for given in &report.given {
        report.known.add_in_unit(given.value, &given.unit);
    }
    let text = "It was **39**.0 km, at 47 bpm, with an exertion of 7, after 7:30 h. 47 bpm again; 48 bpm is nowhere.";
    for (id, plans) in [("metrics", false), ("season", true)] {
        let (title, agent) = ("Load".to_owned(), id.to_owned());
        let text = text.to_owned();
        report.sections.push(holdshort_coach::report::Section {
            id: id.to_owned(),
            title,
            agent,
            text,
            plans,
        });
    }
    let page = html(&report);
    markup::read(&page);
    for text in [
        "<a href=\"#found\">",
        "<a class=\"found\" href=\"#found-1\">39</a></strong><a class=\"found\" href=\"#found-1\">.0</a>",
        "ride of &lt;13 March&gt;, distance 39,000 m: log.csv, line 44",
        "<a class=\"found\" href=\"#found-2\">47</a> bpm again",
        "<li>rest 47.2 bpm: a.csv, line 4</li><li>and 1 more</li>",
        "night 7.5 h: a.csv, line 6",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // A single digit is not linked, because it occurs everywhere in the data.
    assert!(!page.contains("exertion 7 CR-10"), "{page}");
    assert_eq!(page.matches("<tr id=\"found-").count(), 3, "{page}");
    assert_eq!(page.matches("<mark class=\"untraced\" title").count(), 1, "{page}");
    // The numbers of a plan are proposals, so they are not looked up.
    assert_eq!(page.matches("<a class=\"found\"").count(), 5, "{page}");
}

/// Tests that a number which an agent quotes links only to values with its unit and of nearly its size.
#[test]
fn a_number_leads_to_no_value_of_another_unit_or_size() {
    let given = |label: &str, value: f64, unit: &str| TrainingValue {
        label: label.to_owned(),
        value,
        unit: unit.to_owned(),
        place: "log.csv, line 9".to_owned(),
    };
    for (text, of, leads) in [
        ("over 7.00 days", given("exertion", 7.0, "CR-10"), false),
        ("over 12 days", given("pause", 12.0, "day"), true),
        ("12 sessions", given("pause", 12.0, "day"), false),
        ("a race of 10 km", given("distance", 9_612.0, "m"), false),
        ("a race of 9.6 km", given("distance", 9_612.0, "m"), true),
        ("a race of 10 km", given("distance", 9_980.0, "m"), true),
        ("at 142 bpm", given("pulse", 141.6, "bpm"), true),
    ] {
        let mut report = Report::new("Analysis", "Ada", date(2026, 3, 29));
        report.known.add_in_unit(of.value, &of.unit);
        report.given = vec![of];
        let (title, agent) = ("Load".to_owned(), "metrics".to_owned());
        let (id, written) = (agent.clone(), text.to_owned());
        report.sections =
            vec![holdshort_coach::report::Section { id, title, agent, text: written, plans: false }];
        let page = html(&report);
        assert_eq!(page.contains("<tr id=\"found-1\""), leads, "{text}: {page}");
    }
}
