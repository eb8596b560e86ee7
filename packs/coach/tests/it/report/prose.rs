//! HTML of an agent's text. Any text produces only allowed elements, and only inside its section.

use std::collections::BTreeSet;

use holdshort_coach::report::{KnownNumbers, Quantity, Report, Section, html};
use holdshort_presentation::limits;
use jiff::civil::date;

use crate::report::markup;

fn report(text: &str, plans: bool) -> Report {
    let mut report = Report::new("Analysis", "Ada", date(2026, 3, 29));
    report.sections = vec![Section {
        id: "metrics".to_owned(),
        title: "Metrics".to_owned(),
        agent: "metrics".to_owned(),
        text: text.to_owned(),
        plans,
    }];
    report
}

fn prose(text: &str) -> String {
    section(&html(&report(text, true)))
}

fn section(html: &str) -> String {
    let (_, rest) = html.split_once("<div class=\"prose\">\n").unwrap();
    let (prose, _) = rest
        .split_once("</div>\n<p class=\"foot\">")
        .or_else(|| rest.split_once("</div>\n</section>"))
        .unwrap();
    prose.trim().to_owned()
}

/// All HTML elements that a report page may contain, whatever the agents write.
const ELEMENTS: [&str; 24] = [
    "a",
    "blockquote",
    "body",
    "br",
    "code",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "li",
    "main",
    "mark",
    "meta",
    "nav",
    "ol",
    "p",
];
const MORE: [&str; 13] =
    ["pre", "section", "strong", "style", "table", "tbody", "td", "th", "thead", "time", "title", "tr", "ul"];

#[track_caller]
fn stays_in_its_section(text: &str) -> markup::Page {
    let page = markup::read(&html(&report(text, false)));
    let known: BTreeSet<&str> = ELEMENTS.into_iter().chain(MORE).collect();
    let others: Vec<&str> = page.names().difference(&known).copied().collect();
    assert_eq!(others, [""; 0]);
    assert_eq!(
        (page.count("section"), page.count("main"), page.count("h1"), page.count("style")),
        (2, 1, 1, 1)
    );
    // Links in the table of contents lead to places within the page.
    assert!(page.attributes.iter().filter(|it| it.starts_with("a ")).all(|it| it.starts_with("a href=#")));
    let handlers = page.attributes.iter().filter(|it| it.contains(" on") || it.contains(" src="));
    assert_eq!(handlers.count(), 0);
    page
}

#[test]
fn a_closed_set_of_markdown_is_rendered() {
    let table = [
        ("one *two* **three** `four`", "<p>one <em>two</em> <strong>three</strong> <code>four</code></p>"),
        (
            "- a\n- b\n\n7. c\n8. d",
            "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol start=\"7\">\n<li>c</li>\n<li>d</li>\n</ol>",
        ),
        ("> quoted\n\n---", "<blockquote>\n<p>quoted</p>\n</blockquote>\n<hr/>"),
        ("```\na < b\n```", "<pre tabindex=\"0\"><code>a &lt; b\n</code></pre>"),
        ("a  \nb\nc", "<p>a<br/>\nb\nc</p>"),
        (
            "|a|b|\n|-|-:|\n|1|2|",
            "<div class=\"scroll\" role=\"region\" aria-label=\"Table\" tabindex=\"0\"><table>\n<thead><tr><th \
             scope=\"col\">a</th><th scope=\"col\" class=\"r\">b</th></tr></thead>\n<tbody>\n<tr><td>1</td><td \
             class=\"r\">2</td></tr>\n</tbody></table></div>",
        ),
        ("R&amp;D &lt;b&gt; & so", "<p>R&amp;D &lt;b&gt; &amp; so</p>"),
    ];
    for (text, expected) in table {
        assert_eq!(prose(text), expected, "{text}");
    }
}

#[test]
fn links_images_and_html_are_shown_as_they_are_written() {
    for text in [
        "see [this](https://example.org \"now\")",
        "![a picture](data:image/png;base64,AAAA)",
        "<https://example.org> and <b>bold</b> <!-- no -->",
        "[a][b] and [c]: https://example.org",
        "[c]: https://example.org 'title'",
        "[^1]: a note\nwith a [^1]",
        "- [x] done",
        "<script>alert(1)</script>",
        "<div>\n*a*",
    ] {
        let page = stays_in_its_section(text);
        let shown = text.trim_start_matches("- ").replace('*', "");
        assert!(page.text.contains(&shown), "{text:?} in {:?}", page.text);
    }
}

#[test]
fn headings_lie_below_the_section_and_skip_no_level() {
    let text = "##### a\n# b\n#### c\n###### d\n## e\n### f\n#### g\n##### h\n###### i\n";
    let levels: Vec<String> = markup::read(&html(&report(text, true)))
        .elements
        .into_iter()
        .filter(|name| name.len() == 2 && name.starts_with('h') && name != "hr")
        .collect();
    assert_eq!(levels, ["h1", "h2", "h3", "h3", "h4", "h5", "h4", "h5", "h6", "h6", "h6", "h2"]);
}

#[test]
fn no_text_leaves_its_section() {
    for text in [
        "```\nunclosed </code></pre></section><script>alert(1)</script>",
        "</div></section><script>alert(1)</script><section>",
        "<style>body{display:none}</style>",
        "a `</section>` b **</section>",
        "| a |\n|---|\n| </table></section><img src=x onerror=alert(1)> |",
        "| a \" onmouseover=\"x |\n|:-:|\n",
        "# </h3><iframe src='javascript:alert(1)'>",
        "&lt;script&gt;alert(1)&#60;/script&#62;",
        "]]> <![CDATA[ x ]]> <?php ?> <!DOCTYPE x>",
        "\u{e000}a\u{e001}b> \u{0}\u{1b}[31m \u{202e}live\u{2066}",
        "- a\n  ```\n  b\n- c\n> ```\nd",
        "",
        "   \n\n",
    ] {
        let page = stays_in_its_section(text);
        assert!(
            page.elements.iter().all(|name| name != "script" && name != "iframe" && name != "img"),
            "{text:?}"
        );
    }
}

#[test]
fn what_would_not_be_seen_is_made_visible() {
    let shown = prose("a\u{202e}b\u{0}c\u{200b}d &#x202e; `\u{1b}[0m`");
    assert_eq!(shown, "<p>a\\u{202e}b\\u{0}c\\u{200b}d \\u{202e} <code>\\u{1b}[0m</code></p>");
    let mut report = report("x", false);
    report.title = "T\u{202e}</title><script>".to_owned();
    report.athlete = "A\nB\" x=\"".to_owned();
    report.partial = Some("</div>\u{7}".to_owned());
    let page = html(&report);
    let read = markup::read(&page);
    assert!(read.text.contains("T\\u{202e}</title><script> · A\\nB\" x=\""));
    assert!(page.contains("&lt;/div&gt;\\u{7}"));
}

/// Tests that parsing time and page size grow only linearly with an agent's text.
#[test]
fn a_megabyte_of_anything_is_bounded() {
    let deep = "> ".repeat(30_000) + &"\n".repeat(60_000);
    let lists = "- ".repeat(30_000) + "x\n" + &"\n".repeat(60_000) + "y";
    let steps = (0..600).fold(String::new(), |text, at| text + &"  ".repeat(at) + "- x\n");
    let table = "|a".repeat(20_000) + "\n" + &"|-".repeat(20_000) + "\n" + &"|b\n".repeat(60_000);
    let texts = [deep, lists, steps, table].into_iter().chain(
        [
            "[", "](", "*", "**a ", "_a_", "`", "` ``", "<", "&", "&#1;", "|", "1 ", "\"", "~~~\n", "# a\n",
            "\\", "*a **b ",
        ]
        .map(|piece| piece.repeat(1_000_000 / piece.len())),
    );
    for text in texts {
        let start: String = text.chars().take(12).collect();
        let page = html(&report(&text, false));
        assert!(page.len() < 2 * limits::PROSE_BYTES, "{start:?}: {}", page.len());
        let read = markup::read(&page);
        assert!(read.depth < 8 * limits::NESTING, "{start:?}: {}", read.depth);
        let is_cut = read.text.contains("too long for this page");
        assert!(is_cut || text.len() <= limits::TEXT_BYTES, "{start:?}");
    }
}

#[test]
fn every_text_is_well_formed() {
    let pieces = [
        "- ", "1. ", "> ", "\n", "\n\n", "    ", "*", "**", "_", "`", "```", "|", "|-|", "a", "7.5 %", "# ",
        "<b>", "[x]", "---", "\t", "\\", "&amp;", "  \n",
    ];
    let mut state = 3_u32;
    for _ in 0..1500 {
        let text: String = (0..25)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                pieces[usize::try_from(state >> 16).unwrap() % pieces.len()]
            })
            .collect();
        stays_in_its_section(&text);
    }
}

#[test]
fn numbers_that_are_not_known_are_marked_and_counted() {
    let mut report =
        report("Ran 10 km in **4**2:15, `9` times.\n\n| Time (min) | kg |\n|-|-|\n| 42 | 42 |\n", false);
    report.known = KnownNumbers::default();
    report.known.add_value(10_000.0, Quantity::Metres);
    report.known.add_value(2535.0, Quantity::Seconds);
    let page = html(&report);
    let mark = "<mark class=\"untraced\" title=\"No tool result and no input has this number.\">";
    let shown = section(&page);
    assert!(shown.starts_with("<p>Ran 10 km in <strong>4</strong>2:15, <code>"), "{shown}");
    assert!(shown.contains(&format!("<code>{mark}9</mark></code> times.")), "{shown}");
    // In the column of minutes, 42 matches 42:15. In the column of kilograms, 42 is unknown.
    assert!(shown.contains(&format!("<tr><td>42</td><td>{mark}42</mark></td></tr>")), "{shown}");
    assert!(page.contains("2 numbers are marked, because no tool result and no input contains them."));
    assert!(page.contains("2 were not found."));

    report.sections[0].text = "**4**3:15".to_owned();
    let page = html(&report);
    assert!(section(&page).contains(&format!("<strong>{mark}4</mark></strong>{mark}3:15</mark>")));
    assert!(page.contains("1 number is marked"));

    report.sections[0].plans = true;
    let page = html(&report);
    assert!(!page.contains(mark));
    assert!(page.contains("The numbers of this plan are proposals of the agent."));
}
