//! Tables of `docs/reference/hooks.md`. `UPDATE_DOCS=1` rewrites them.

use std::fmt::Write as _;
use std::fs;

use holdshort_testkit::coding_agent::CodingAgent;
use holdshort_testkit::documents::root;

use super::Outcome::{self, Ran, Rewritten, Stopped};
use super::answers::ANSWERS;
use super::failures::FAILURES;

const PAGE: &str = "docs/reference/hooks.md";

/// Returns a table of the documentation, with a row for each case and a column for each coding agent.
fn table<'a>(head: &str, rows: impl Iterator<Item = (&'a str, [String; 3])>) -> String {
    let version = |agent: CodingAgent| format!("{} {}", agent.title(), agent.version());
    let mut table =
        format!("| {head} | {} |\n|---|---|---|---|\n", CodingAgent::ALL.map(version).join(" | "));
    for (case, cells) in rows {
        writeln!(table, "| {case} | {} |", cells.join(" | ")).unwrap();
    }
    table
}

/// Returns the table cell for an outcome without and with the coding agent's own prompt or sandbox.
fn cell(alone: Outcome, with_second_line: Outcome) -> String {
    match (alone, with_second_line) {
        (Ran | Rewritten, Stopped) => format!("{}; second line stops", alone.title()),
        _ => alone.title().to_owned(),
    }
}

fn answers() -> String {
    let rows = ANSWERS
        .iter()
        .map(|answer| (answer.case, [0, 1, 2].map(|at| cell(answer.alone[at], answer.with_second_line[at]))));
    table("the hook prints", rows)
}

fn failures() -> String {
    let rows = FAILURES.iter().map(|failure| {
        let alone = |runs: bool| if runs { Ran } else { Stopped };
        (failure.case, failure.needs_second_line.map(|runs| cell(alone(runs), Stopped)))
    });
    table("what is broken", rows)
}

/// Replaces the table of the documentation after the line that names the table.
fn replaced(page: &str, name: &str, table: &str) -> String {
    let mark = format!("<!-- table: {name} -->\n\n");
    let (head, rest) = page.split_once(&mark).unwrap_or_else(|| panic!("no table {name}"));
    let (_, tail) = rest.split_once("\n\n").expect("a text follows the table");
    format!("{head}{mark}{table}\n{tail}")
}

#[test]
fn the_page_lists_every_answer_and_every_failure() {
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let expected = replaced(&replaced(&page, "answers", &answers()), "failures", &failures());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, expected).unwrap();
    } else {
        assert!(page == expected, "run UPDATE_DOCS=1 cargo test -p holdshort-testkit coding_agents::page");
    }
}
