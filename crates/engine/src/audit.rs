//! Proof that the journal is as it was written. Reads only, in pages, beside a server that works or without one.
//!
//! `chain` walks all events in the order of their positions, `streams` each stream from its start with the rows
//! that its events imply, `rows` those rows that no event stands behind. What is found here, and what is not, is
//! the table in `docs/journal.md`.

mod chain;
mod rows;
mod streams;

use holdshort_core::envelope;
use holdshort_core::head::{Head, Noted};
use holdshort_store::{Error, Journal};

/// What a walk over the whole journal found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub streams: u64,
    pub events: u64,
    /// The head of the journal, as its events give it.
    pub head: Head,
    /// Events that the store has not chained yet.
    pub unsealed: u64,
    /// The heads that it was compared with.
    pub against: Vec<Compared>,
    /// The first problems, at most one per damaged stream.
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub stream: String,
    pub message: String,
}

/// A head that somebody noted, and whether the journal continues from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    pub noted: Noted,
    pub holds: bool,
}

/// Problems told at once; every stream is checked all the same.
const MAX_PROBLEMS: usize = 100;
/// Events, rows and streams read at once.
const PAGE: usize = 500;
/// What no single stream is to blame for.
const JOURNAL: &str = "journal";

/// Walks the whole journal.
pub async fn verify<J: Journal>(journal: &J) -> Result<Report, Error> {
    verify_against(journal, &[]).await
}

/// The same, and whether the journal continues from each of these heads.
pub async fn verify_against<J: Journal>(journal: &J, noted: &[Noted]) -> Result<Report, Error> {
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
    /// What follows from a stream's first problem is not told. The journal as a whole can have several.
    fn add(&mut self, stream: &str, message: String) {
        let is_known = stream != JOURNAL && self.problems.iter().any(|problem| problem.stream == stream);
        if !is_known && self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { stream: stream.to_owned(), message });
        }
    }

    /// Damage is noted; what keeps the walk from going on is an error.
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

/// Why a stream or a list could not be read to its end.
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
