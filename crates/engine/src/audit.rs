//! Proof that the journal is as it was written: every stream's chain, place by place, content included.

use holdshort_core::event::{self, Chain};
use holdshort_core::id::StreamId;
use holdshort_store::{Error, Journal, RunFilter};

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

/// Walks every stream in pages, then asks whether anything is missing: positions run from 1 without a gap, and
/// the rows say how far each run had come. What nobody else has seen, its author can still rewrite as a whole:
/// that takes a witness outside.
pub async fn verify<J: Journal>(journal: &J) -> Result<Report, Error> {
    let mut report = Report::default();
    let written = *journal.watch().borrow();
    verify_streams(journal, &mut report).await?;
    verify_rows(journal, &mut report).await?;
    if report.problems.is_empty() && report.events < written {
        let message = format!("{} events are missing", written - report.events);
        report.problems.push(Problem { stream: "journal".to_owned(), message });
    }
    Ok(report)
}

/// A run whose last events were taken away has an intact chain, and a row that knows better.
async fn verify_rows<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Error> {
    let mut after = None;
    loop {
        let page = journal.runs(&RunFilter::default(), after.as_ref(), PAGE).await?;
        for row in page.items {
            let stream = StreamId::Run(row.run);
            let end = journal.chain(&stream).await?.seq;
            if end < row.seq && report.problems.len() < MAX_PROBLEMS {
                let message = format!("the run had {} events and has {end}", row.seq);
                report.problems.push(Problem { stream: stream.to_string(), message });
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn verify_streams<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Error> {
    let mut after: Option<StreamId> = None;
    loop {
        let streams = journal.streams(after.as_ref(), PAGE).await?;
        for stream in &streams {
            report.streams += 1;
            verify_stream(journal, stream, report).await?;
        }
        match streams.last() {
            Some(last) if streams.len() == PAGE => after = Some(last.clone()),
            Some(_) | None => return Ok(()),
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
