//! Verifies that the journal is unchanged since it was written. Only reads, in pages, with or without a running server.
//!
//! `chain` walks all events in the order of their positions. `streams` walks each stream from its start, and compares
//! the stored rows with the rows that follow from the events of the stream. `rows` finds stored rows that follow from
//! no event. The table in `docs/journal.md` lists the changes that an audit finds, and the changes that it cannot find.

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
    /// Hash-chain head of the journal, recomputed from the events.
    pub head: Head,
    /// Number of events that the store has not yet added to the hash chain over the whole journal.
    pub unsealed: u64,
    /// Noted heads with which this audit compared the journal, each with the result. A noted head is a head that a
    /// person wrote down earlier.
    pub against: Vec<Compared>,
    /// The first problems. There is at most one problem per damaged stream.
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub stream: String,
    pub message: String,
}

/// A journal head that a person wrote down earlier. `holds` is true if the first events of the current journal still
/// have this head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    pub noted: HeadNote,
    pub holds: bool,
}

/// Maximum number of problems in a report. After this number, the audit still checks the remaining streams but reports
/// no problem of them.
const MAX_PROBLEMS: usize = 100;
/// Number of events, rows or streams that are read at a time.
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
    /// Adds a problem. Keeps only the first problem of a stream, because the first problem causes the later ones. Keeps
    /// all problems of the stream name [`JOURNAL`].
    fn add(&mut self, stream: &str, message: String) {
        let is_known = stream != JOURNAL && self.problems.iter().any(|problem| problem.stream == stream);
        if !is_known && self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { stream: stream.to_owned(), message });
        }
    }

    /// Adds damage to the report as a problem. Returns any other error, because the audit cannot continue after it.
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

/// Reason why a stream or a list could not be read to its end.
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
