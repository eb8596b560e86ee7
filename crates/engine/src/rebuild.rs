//! Rebuilds the rows of the store from the events of the journal. The rows are used to list runs, interrupts and the
//! like. All rows can be deleted and rebuilt.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdshort_core::event;
use holdshort_core::id::StreamId;
use holdshort_store::{Journal, Rows};

use crate::{Clock, Driver, Error, Executor};

/// Number of rebuilt database rows of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    pub runs: usize,
    pub sessions: usize,
    pub interrupts: usize,
    pub grants: usize,
    pub answers: usize,
}

/// Reads the whole journal and replaces all database rows that are derived from it in one transaction. No other node
/// may run at the same time.
pub async fn rebuild<J: Journal, C: Clock, E: Executor>(
    driver: &Arc<Driver<J, C, E>>,
) -> Result<Rebuilt, Error> {
    let (rows, rebuilt) = rows(driver).await?;
    driver.journal().replace_rows(rows).await?;
    Ok(rebuilt)
}

/// Returns the database rows that follow from the events of the journal.
pub async fn rows<J: Journal, C: Clock, E: Executor>(
    driver: &Arc<Driver<J, C, E>>,
) -> Result<(Vec<Rows>, Rebuilt), Error> {
    const PAGE: usize = 1_000;
    let mut all = Vec::new();
    let mut rebuilt = Rebuilt::default();
    let mut sessions = BTreeSet::new();
    let mut after: Option<StreamId> = None;
    loop {
        let streams = driver.journal().streams(after.as_ref(), PAGE).await?;
        for stream in &streams {
            let rows = match stream {
                StreamId::Run(run) => {
                    let run = driver.rebuild_run(run).await?;
                    let expires = match run.session() {
                        Some(session) => driver.session(session).await?.expires(),
                        None => false,
                    };
                    Rows {
                        run: run.row(),
                        session: run.session_row(expires),
                        interrupts: run.interrupt_rows(run.interrupts.keys()),
                        grants: Vec::new(),
                        answers: run.answer_rows(run.interrupts.keys()),
                    }
                }
                StreamId::Session(session) => {
                    let session = driver.session(session).await?;
                    let grants = session.grants.keys().filter_map(|grant| session.grant_row(grant));
                    Rows { session: session.row(), grants: grants.collect(), ..Rows::default() }
                }
                StreamId::System => continue,
            };
            sessions.extend(rows.session.iter().map(|row| row.session.clone()));
            rebuilt.runs += usize::from(rows.run.is_some());
            rebuilt.interrupts += rows.interrupts.len();
            rebuilt.grants += rows.grants.len();
            rebuilt.answers += rows.answers.len();
            all.push(rows);
        }
        match streams.last() {
            Some(last) if streams.len() == PAGE => after = Some(last.clone()),
            Some(_) | None => return Ok((all, Rebuilt { sessions: sessions.len(), ..rebuilt })),
        }
    }
}

/// Reads one event of a stream by its sequence number.
pub async fn event_at<J: Journal>(
    journal: &J,
    stream: &StreamId,
    seq: u64,
) -> Result<Option<event::Event>, Error> {
    let page = journal.read(stream, seq.saturating_sub(1), 1).await?;
    page.first()
        .map(event::decode)
        .transpose()
        .map_err(|source| Error::Damaged { run: stream.to_string(), source })
}
