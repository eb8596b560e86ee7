//! Proof that the journal is as it was written: every stream's chain, place by place, content included.

use holdshort_core::event::{self, Chain};
use holdshort_core::id::StreamId;
use holdshort_store::{Error, Journal};

/// What a walk over the whole journal found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub streams: u64,
    pub events: u64,
    /// The first problems, one per damaged stream.
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub stream: String,
    pub message: String,
}

/// Problems told at once; every stream is checked all the same.
const MAX_PROBLEMS: usize = 100;
const PAGE: usize = 500;

/// Walks every stream in pages.
pub async fn verify<J: Journal>(journal: &J) -> Result<Report, Error> {
    let mut report = Report::default();
    let mut after: Option<StreamId> = None;
    loop {
        let streams = journal.streams(after.as_ref(), PAGE).await?;
        for stream in &streams {
            report.streams += 1;
            verify_stream(journal, stream, &mut report).await?;
        }
        match streams.last() {
            Some(last) if streams.len() == PAGE => after = Some(last.clone()),
            Some(_) | None => return Ok(report),
        }
    }
}

async fn verify_stream<J: Journal>(journal: &J, stream: &StreamId, report: &mut Report) -> Result<(), Error> {
    let mut chain = Chain::START;
    loop {
        let page = journal.read(stream, chain.seq, PAGE).await?;
        for sealed in &page {
            if let Err(error) = event::open(sealed, &mut chain) {
                if report.problems.len() < MAX_PROBLEMS {
                    report.problems.push(Problem { stream: stream.to_string(), message: error.to_string() });
                }
                return Ok(());
            }
            report.events += 1;
        }
        if page.len() < PAGE {
            return Ok(());
        }
    }
}
