//! Proof that the journal is as it was written: every stream's chain, place by place, content included.

use holdshort_core::event::{self, Chain};
use holdshort_core::id::StreamId;
use holdshort_store::{Error, GrantFilter, Journal, RunFilter, SessionFilter};

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

impl Report {
    fn add(&mut self, stream: &str, message: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { stream: stream.to_owned(), message });
        }
    }
}

/// What is damaged is a finding; what keeps the walk from going on is an error.
fn readable<T>(read: Result<T, Error>) -> Result<Result<T, String>, Error> {
    match read {
        Err(error @ Error::Corrupt(_)) => Ok(Err(error.to_string())),
        read => read.map(Ok),
    }
}

/// Problems told at once; every stream is checked all the same.
const MAX_PROBLEMS: usize = 100;
const PAGE: usize = 500;

/// Walks every stream in pages, then asks whether anything is missing: in a store of one node positions run from 1
/// without a gap, and the rows say how far each run and each session had come. What nobody else has seen, its author
/// can still rewrite as a whole: that takes a witness outside.
pub async fn verify<J: Journal>(journal: &J) -> Result<Report, Error> {
    let mut report = Report::default();
    let written = *journal.watch().borrow();
    verify_streams(journal, &mut report).await?;
    verify_rows(journal, &mut report).await?;
    verify_sessions(journal, &mut report).await?;
    verify_grants(journal, &mut report).await?;
    // Where several nodes write, positions have gaps.
    if journal.poll().is_none() && report.problems.is_empty() && report.events < written {
        report.add("journal", format!("{} events are missing", written - report.events));
    }
    Ok(report)
}

/// A run whose last events were taken away has an intact chain, and a row that knows better.
async fn verify_rows<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Error> {
    let mut after = None;
    loop {
        let page = match readable(journal.runs(&RunFilter::default(), after.as_ref(), PAGE).await)? {
            Ok(page) => page,
            Err(why) => {
                report.add("journal", format!("the list of runs can not be read: {why}"));
                return Ok(());
            }
        };
        for row in page.items {
            let stream = StreamId::Run(row.run);
            // One that can not be read was found when its events were.
            let Ok(end) = readable(journal.chain(&stream).await)? else { continue };
            if end.seq < row.seq {
                report.add(stream.as_str(), format!("the run had {} events and has {}", row.seq, end.seq));
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// The same for a session, by the event that set its state.
async fn verify_sessions<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Error> {
    let mut after = None;
    loop {
        let page = match readable(journal.sessions(&SessionFilter::default(), after.as_ref(), PAGE).await)? {
            Ok(page) => page,
            Err(why) => {
                report.add("journal", format!("the list of sessions can not be read: {why}"));
                return Ok(());
            }
        };
        // Most have none: a run's start made them.
        for row in page.items.into_iter().filter(|row| row.seq > 0) {
            let stream = StreamId::Session(row.session);
            let Ok(end) = readable(journal.chain(&stream).await)? else { continue };
            if end.seq < row.seq {
                let had = format!("the session had at least {} events and has {}", row.seq, end.seq);
                report.add(stream.as_str(), had);
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// The same once more: a grant was given in one event, and taken back in a later one.
async fn verify_grants<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Error> {
    let mut after = None;
    loop {
        let page = match readable(journal.grants(&GrantFilter::default(), after.as_ref(), PAGE).await)? {
            Ok(page) => page,
            Err(why) => {
                report.add("journal", format!("the list of grants can not be read: {why}"));
                return Ok(());
            }
        };
        for row in page.items {
            let stream = StreamId::Session(row.session);
            let least = row.added_seq + u64::from(row.revoked);
            let Ok(end) = readable(journal.chain(&stream).await)? else { continue };
            if end.seq < least {
                let had = format!("the session had at least {least} events and has {}", end.seq);
                report.add(stream.as_str(), had);
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
        let streams = match readable(journal.streams(after.as_ref(), PAGE).await)? {
            Ok(streams) => streams,
            Err(why) => {
                report.add("journal", format!("the list of streams can not be read: {why}"));
                return Ok(());
            }
        };
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
        let page = match readable(journal.read(stream, chain.seq, PAGE).await)? {
            Ok(page) => page,
            Err(why) => {
                report.add(stream.as_str(), why);
                return Ok(());
            }
        };
        for sealed in &page {
            if let Err(error) = event::open(sealed, &mut chain) {
                report.add(stream.as_str(), error.to_string());
                return Ok(());
            }
            report.events += 1;
        }
        if page.len() < PAGE {
            return Ok(());
        }
    }
}
