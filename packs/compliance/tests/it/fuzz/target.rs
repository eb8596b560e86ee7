//! Fuzz target for cases. Its input has transactions, customers, a watch list and optionally the case's own rules,
//! separated by lines `---`.

use std::sync::LazyLock;

use holdshort_compliance::casework::{
    Case, Examination, GROUPS, Problems, Query, Rules, examine, format_finding, limits, overview, query,
    read, redact, report, similarity,
};

const BETWEEN: &[u8] = b"---\n";

pub(crate) fn casework(bytes: &[u8]) {
    let mut rest = Some(bytes);
    let mut part = || {
        let (first, then) = split(rest?);
        rest = then;
        Some(first)
    };
    let tables = [(); 3].map(|()| part().unwrap_or_default());
    let Some(rules) = rules(part()) else { return };
    let as_of = "2026-03-31".parse().expect("a day");
    let read_all = || read(tables[0], tables[1], tables[2], &rules, as_of);
    let (case, again) = match (read_all(), read_all()) {
        (Ok(case), Ok(again)) => (case, again),
        (Err(problems), Err(again)) => {
            assert_eq!(problems, again);
            return assert_problems_described(&problems);
        }
        (one, other) => panic!("{one:?} and then {other:?}"),
    };
    let examined = examine(&case, &rules);
    assert_eq!(examine(&again, &rules), examined, "the same case has the same findings");
    is_computed(&case, &examined);
    let written = report(&case, &examined, &rules, as_of);
    assert_eq!(written.held.len(), examined.pause.len());
    assert_eq!(report(&again, &examined, &rules, as_of), written);
    for text in overview(&case, &rules) {
        let _ = redact(&case, &text);
    }
    for (number, finding) in (1..).zip(&examined.findings) {
        assert!(!format_finding(finding, number, &rules).is_empty());
    }
    for group in GROUPS {
        let asked = Query { group_by: group.to_owned(), ..Query::default() };
        let lines = query(&case, &rules, &asked).expect("it is one of the groups");
        assert!((1..=limits::QUERY_LINES + 1).contains(&lines.len()), "{lines:?}");
    }
}

/// Returns the text of a fuzz input up to the next separator line, and the text after it.
fn split(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    let at = bytes.windows(BETWEEN.len()).position(|window| window == BETWEEN);
    at.map_or((bytes, None), |at| (&bytes[..at], Some(&bytes[at + BETWEEN.len()..])))
}

/// Returns the own rules of the fuzzed case, or the shipped rules if the case has none. Returns `None` if its own rules
/// are rejected.
fn rules(own: Option<&[u8]>) -> Option<Rules> {
    // Inputs without their own rules share the shipped ones, whose word lists are prepared once.
    static SHIPPED: LazyLock<Rules> = LazyLock::new(|| {
        let shipped = Rules::shipped().expect("they are good");
        similarity(&shipped, "", "");
        shipped
    });
    let Some(own) = own else { return Some(SHIPPED.clone()) };
    let read = Rules::parse_case_rules(&String::from_utf8_lossy(own));
    assert!(read.as_ref().err().is_none_or(|why| !why.is_empty()));
    read.ok()
}

fn assert_problems_described(problems: &Problems) {
    assert!((1..=limits::PROBLEMS).contains(&problems.first.len()), "{problems:?}");
    for problem in &problems.first {
        let line = problem.to_string();
        assert!(line.starts_with(problem.file) && !line.contains(char::is_control), "{line:?}");
    }
}

fn is_computed(case: &Case, examined: &Examination) {
    assert!(examined.risk <= 100, "{}", examined.risk);
    for finding in &examined.findings {
        let rows = &finding.rows;
        assert!(finding.amount >= 0 && rows.is_sorted(), "{finding:?}");
        let is_there = |row: &u64| case.transactions.iter().any(|one| one.row == *row);
        assert!(rows.iter().all(is_there), "{finding:?}");
    }
    for reason in &examined.pause {
        assert!(
            reason.findings.iter().all(|number| (1..=examined.findings.len()).contains(number)),
            "{reason:?}"
        );
    }
}
