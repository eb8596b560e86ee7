//! Reads a compliance case (transactions, customers, a watch list) and applies rules to it. The rules are data.
//!
//! Takes bytes and returns findings, without files, network, clock or randomness. [`read`] builds a [`Case`] from three
//! tables. It rejects a case with an invalid row, and returns the problems with line and column. [`examine`] applies
//! [`Rules`]. Every finding states its rule, the rows that prove it, and an amount. No result contains a name, an
//! account, a date of birth or other text from the case: people are called `customer 3` and `party 7`. Read next:
//! `case.rs`, `rules.rs`, `findings/mod.rs`, `report.rs`. The guide is `docs/guide.md`.

mod case;
pub mod findings;
pub mod limits;
mod names;
mod problem;
mod query;
mod redact;
mod report;
mod rules;
mod table;
mod value;

pub use case::{
    CUSTOMERS, Case, Customer, Direction, List, OWN_RULES, TRANSACTIONS, Transaction, WATCH_LIST, Watched,
    read,
};
pub use findings::{Examination, Finding, Subject, examine, similarity};
pub use names::NameTables;
pub use problem::{Code, Problem, Problems};
pub use query::{GROUPS, Query, query};
pub use redact::{redact, redact_members};
pub use report::{Report, as_file, format_finding, overview, report, warnings};
pub use rules::{Pause, Rule, RuleId, Rules};
pub use value::money;
