//! Test helpers: small tables as text, and their findings.

use std::sync::LazyLock;

use holdshort_compliance::casework::{Case, Examination, Problems, Rules, examine, read, similarity};
use jiff::civil::{Date, date};

pub(crate) const AS_OF: Date = date(2026, 3, 31);
pub(crate) const HEADER: &str = "id,time,customer,direction,kind,amount,currency,counterparty,country";
pub(crate) const CUSTOMERS: &str =
    "id,name,birth_date,country,pep\nC1,Ash Hawthorn,1971-04-02,DE,no\nC2,Rowan Elder,,AT,no\n";
pub(crate) const NOBODY: &str = "id,name,aliases,birth_date,list\n";

/// Returns the shipped rules, parsed once.
pub(crate) fn rules() -> Rules {
    static SHIPPED: LazyLock<Rules> = LazyLock::new(|| {
        let rules = Rules::shipped().unwrap();
        // The first comparison prepares the word lists.
        similarity(&rules, "", "");
        rules
    });
    SHIPPED.clone()
}

pub(crate) fn case(rows: &str, customers: &str, watched: &str) -> Result<Case, Problems> {
    let table = format!("{HEADER}\n{rows}");
    read(table.as_bytes(), customers.as_bytes(), watched.as_bytes(), &rules(), AS_OF)
}

/// Reads the tables of a case and applies the shipped rules.
pub(crate) fn examined(rows: &str, customers: &str, watched: &str) -> Examination {
    examine(&case(rows, customers, watched).unwrap(), &rules())
}

/// Returns each finding of a case as `rule subject rows amount confidence detail`.
pub(crate) fn found(rows: &str, customers: &str, watched: &str) -> Vec<String> {
    let examined = examined(rows, customers, watched);
    let line = |finding: &holdshort_compliance::casework::Finding| {
        let rows: Vec<String> = finding.rows.iter().map(u64::to_string).collect();
        let (rule, subject) = (finding.rule.name(), finding.subject);
        let (amount, confidence, detail) = (finding.amount, finding.confidence, &finding.detail);
        format!("{rule} {subject} [{}] {amount} {confidence} {detail}", rows.join(" ")).trim_end().to_owned()
    };
    examined.findings.iter().map(line).collect()
}

pub(crate) fn codes(problems: &Problems) -> Vec<String> {
    let line = |problem: &holdshort_compliance::casework::Problem| {
        let column = problem.column.map_or(String::new(), |(number, name)| format!(" {number} {name}"));
        format!("{}:{}{column} {}", problem.file, problem.line, problem.code.name())
    };
    problems.first.iter().map(line).collect()
}
