//! Verifies that the journal is unchanged since it was written. The audit only reads, page by page, and works with or
//! without a running server.
//!
//! The module `chain` checks all events in the order of their positions in the journal. The module `streams` checks
//! each stream from its start, and compares the rows in the store with the rows that the events of the stream imply.
//! The module `rows` finds rows in the store that no event explains. The table in `docs/journal.md` lists the changes
//! that an audit finds, and the changes that it cannot find.

mod chain;
mod rows;
mod streams;

use holdshort_core::envelope;
use holdshort_core::head::{Head, HeadNote};
use holdshort_store::{Error, Journal};

/// Result of an audit of the whole journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub streams: u64,
    pub events: u64,
    /// Head of the hash chain over the journal, computed from the events during the audit.
    pub head: Head,
    /// Number of newest events that the store has not yet added to the hash chain over the whole journal.
    pub unsealed: u64,
    /// Results of the comparison of the journal with the heads that the caller gave, one for each head. A person wrote
    /// such a head down earlier.
    pub against: Vec<Compared>,
    /// First problems that the audit found. There is at most one problem per damaged stream.
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub stream: String,
    pub message: String,
}

/// A journal head that a person wrote down earlier. `holds` is true if the journal still begins with exactly the events
/// that led to this head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    pub noted: HeadNote,
    pub holds: bool,
}

/// Maximum number of problems in a report. The audit checks the streams after this number of problems too, but does not
/// report their problems.
const MAX_PROBLEMS: usize = 100;
/// Number of events, rows or streams that the audit reads at a time.
const PAGE: usize = 500;
/// Stream name for problems that belong to no single stream.
const JOURNAL: &str = "journal";

/// Audits the whole journal.
pub async fn verify<J: Journal>(journal: &J) -> Result<Report, Error> {
    verify_against(journal, &[]).await
}

/// Audits the whole journal, and compares it with each head in `noted`: the journal must still begin with the events
/// that led to that head.
pub async fn verify_against<J: Journal>(journal: &J, noted: &[HeadNote]) -> Result<Report, Error> {
    let mut report = Report {
        streams: 0,
        events: 0,
        head: Head::START,
        unsealed: 0,
        against: Vec::new(),
        problems: Vec::new(),
    };
    let written = *journal.watch().borrow();
    for problem in journal.inspect().await? {
        report.add(JOURNAL, problem);
    }
    chain::verify(journal, written, noted, &mut report).await?;
    streams::verify(journal, &mut report).await?;
    rows::verify(journal, &mut report).await?;
    Ok(report)
}

impl Report {
    /// Adds a problem to the report of the audit. Keeps only the first problem of a stream, because the first problem
    /// causes the later ones. Keeps all problems of the stream name [`JOURNAL`].
    fn add(&mut self, stream: &str, message: String) {
        let is_known = stream != JOURNAL && self.problems.iter().any(|problem| problem.stream == stream);
        if !is_known && self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { stream: stream.to_owned(), message });
        }
    }

    /// If the finding is damage, adds it to the report as a problem. If the finding is another error, returns it,
    /// because the audit cannot continue after it.
    fn note(&mut self, stream: &str, found: Result<(), Finding>) -> Result<(), Error> {
        match found {
            Ok(()) => Ok(()),
            Err(Finding::Damage(message)) => {
                self.add(stream, message);
                Ok(())
            }
            Err(Finding::Store(error)) => Err(error),
        }
    }
}

fn count_events(events: u64) -> String {
    if events == 1 { "1 event".to_owned() } else { format!("{events} events") }
}

/// Reason why the audit could not read a stream or a list to its end: damage or another error.
enum Finding {
    Damage(String),
    Store(Error),
}

impl From<Error> for Finding {
    fn from(error: Error) -> Self {
        match error {
            error @ Error::Corrupt(_) => Self::Damage(error.to_string()),
            error => Self::Store(error),
        }
    }
}

impl From<envelope::Error> for Finding {
    fn from(error: envelope::Error) -> Self {
        Self::Damage(error.to_string())
    }
}

impl From<crate::Error> for Finding {
    fn from(error: crate::Error) -> Self {
        match error {
            crate::Error::Store(error) => error.into(),
            error => Self::Damage(error.to_string()),
        }
    }
}
