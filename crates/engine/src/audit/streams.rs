//! Checks each stream from its start: the hash chain, the contents, and the rows that the events imply.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::envelope::{self, Chain, Sealed};
use holdshort_core::event::{self, Event};
use holdshort_core::id::{InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::{AnswerRow, InterruptRow, RunRow};
use holdshort_core::run::{Fact, Run};
use holdshort_core::session::Session;
use holdshort_store::{AnswerFilter, Error, InterruptFilter, Journal, Row};

use super::rows::session_row;
use super::{Finding, PAGE, Report, count_events};
use crate::driver::{Definitions, first};

/// Maximum number of times that a stream is read again because new events arrived while its database rows were
/// compared.
const ATTEMPTS: u32 = 100;

pub(super) async fn verify<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Error> {
    let definitions = Definitions::default();
    let mut after: Option<StreamId> = None;
    loop {
        let streams = match journal.streams(after.as_ref(), PAGE).await {
            Err(error @ Error::Corrupt(_)) => {
                report.add(super::JOURNAL, format!("the list of streams cannot be read: {error}"));
                return Ok(());
            }
            streams => streams?,
        };
        for stream in &streams {
            report.streams += 1;
            let found = match stream {
                StreamId::Run(run) => verify_run(journal, &definitions, run, report).await,
                StreamId::Session(session) => verify_session(journal, session, report).await,
                StreamId::System => verify_system(journal, report).await,
            };
            report.note(stream.as_str(), found)?;
        }
        match streams.last() {
            Some(last) if streams.len() == PAGE => after = Some(last.clone()),
            Some(_) | None => return Ok(()),
        }
    }
}

/// Events of one stream whose content is missing or present, contrary to what the stream records about erasures.
#[derive(Default)]
struct Contents {
    there: BTreeSet<u64>,
    /// Sequence numbers of events whose content is missing although no later event records an erasure.
    lost: BTreeSet<u64>,
    /// Sequence numbers of events whose content exists although a later event records its erasure.
    back: BTreeSet<u64>,
}

impl Contents {
    fn met(&mut self, sealed: &Sealed) -> Result<(), envelope::Error> {
        if sealed.content.is_some() {
            self.there.insert(sealed.seq);
        } else if envelope::has_lost_content(sealed)? {
            self.lost.insert(sealed.seq);
        }
        Ok(())
    }

    fn were_erased(&mut self, events: impl Iterator<Item = u64>) {
        for seq in events {
            self.lost.remove(&seq);
            if self.there.remove(&seq) {
                self.back.insert(seq);
            }
        }
    }
}

/// Returns the next events of a stream, each verified. Returns no events at the end of the stream.
async fn next<J: Journal>(
    journal: &J,
    stream: &StreamId,
    chain: &mut Chain,
    contents: &mut Contents,
    report: &mut Report,
) -> Result<Vec<Event>, Finding> {
    let page = journal.read(stream, chain.seq, PAGE).await?;
    let mut events = Vec::with_capacity(page.len());
    for sealed in &page {
        events.push(event::open(sealed, chain)?);
        report.events += 1;
        contents.met(sealed)?;
        // An erasure is recorded after the events that it erases.
        match events.last().map(|event: &Event| &event.fact) {
            Some(event::Fact::Run(Fact::AnswerErased { events, .. })) => {
                contents.were_erased(events.iter().copied());
            }
            Some(event::Fact::Run(Fact::ContentErased { from, to, .. })) => {
                // An event can record the erasure of itself and of earlier events only, so the range ends at the
                // recording event.
                contents.were_erased(*from..=(*to).min(chain.seq));
            }
            _ => {}
        }
    }
    Ok(events)
}

async fn tell_contents<J: Journal>(
    journal: &J,
    stream: &StreamId,
    contents: &Contents,
    report: &mut Report,
) -> Result<(), Finding> {
    for seq in &contents.lost {
        report.add(
            stream.as_str(),
            format!("the content of {stream}/{seq} was removed, but no event records an erasure"),
        );
    }
    for seq in &contents.back {
        // The content may have been erased between the two reads.
        let read_again = journal.read(stream, seq - 1, 1).await?;
        if read_again.first().is_some_and(|sealed| sealed.seq == *seq && sealed.content.is_some()) {
            report
                .add(stream.as_str(), format!("the content of {stream}/{seq} was erased, but exists again"));
            return Ok(());
        }
    }
    Ok(())
}

async fn verify_run<J: Journal>(
    journal: &J,
    definitions: &Definitions,
    id: &RunId,
    report: &mut Report,
) -> Result<(), Finding> {
    let stream = StreamId::Run(id.clone());
    let (mut chain, mut run) = (Chain::START, None::<Run>);
    let mut contents = Contents::default();
    for _ in 0..ATTEMPTS {
        loop {
            let events = next(journal, &stream, &mut chain, &mut contents, report).await?;
            for event in &events {
                match &mut run {
                    Some(run) => run.apply(event),
                    None => run = Some(first(journal, definitions, id, event).await?),
                }
            }
            if events.is_empty() {
                break;
            }
        }
        tell_contents(journal, &stream, &contents, report).await?;
        let Some(run) = &run else { return Ok(()) };
        let (row, interrupts) = (journal.run(id).await?, interrupts_of(journal, id).await?);
        let answers = answers_of(journal, id).await?;
        let session = match run.row() {
            Some(row) => Some((journal.session(&row.session).await?.is_some(), row.session)),
            None => None,
        };
        // Rows change in the same append as events. If no event was written between the two reads, the rows belong to
        // the events that were read.
        if journal.chain(&stream).await?.seq > chain.seq {
            continue;
        }
        let problem = run_problem(run, row.as_ref(), &interrupts);
        if let Some(problem) = problem.or_else(|| answer_problem(run, &answers)) {
            report.add(stream.as_str(), problem);
        }
        if let Some((false, session)) = session {
            report.add(StreamId::Session(session).as_str(), missing("its row"));
        }
        return Ok(());
    }
    Err(Finding::Damage(
        "the stream could not be compared with its rows, because new events arrived each time: run the audit \
        again"
            .to_owned(),
    ))
}

fn run_problem(
    run: &Run,
    row: Option<&RunRow>,
    interrupts: &BTreeMap<InterruptId, InterruptRow>,
) -> Option<String> {
    let expected = run.row()?;
    let Some(row) = row else { return Some(missing("its row")) };
    if row.seq > expected.seq {
        return Some(run_had(row.seq, expected.seq));
    }
    // A row that was last written by an older version has no token usage.
    let expected = if row.requests.is_none() { expected.uncounted() } else { expected };
    // An older version stored in the row the timestamp of the last event of any kind, also of an event after the end of
    // the run.
    let updated_at = if row.updated_at == run.last_at { run.last_at } else { expected.updated_at };
    let expected = RunRow { updated_at, ..expected };
    if *row != expected {
        let fields = row.differing(&expected);
        return Some(differs("its row", &fields));
    }
    let expected: BTreeMap<_, _> = run
        .interrupt_rows(run.interrupts.keys())
        .into_iter()
        .map(|row| (row.interrupt.clone(), row))
        .collect();
    for (id, expected) in &expected {
        let row = interrupts.get(id);
        // A row of an older version has no assignment.
        let is_old = row.is_some_and(|row| row.assigned.is_none());
        let expected = if is_old { &expected.unassigned() } else { expected };
        match row {
            None => return Some(missing(&format!("the row of {id}"))),
            Some(row) if row != expected => {
                let fields = row.differing(expected);
                return Some(differs(&format!("the row of {id}"), &fields));
            }
            Some(_) => {}
        }
    }
    let extra = interrupts.keys().find(|id| !expected.contains_key(*id))?;
    Some(unfounded(&format!("the row of {extra}")))
}

/// Reads from the store the rows of the interrupts that the run opened.
async fn interrupts_of<J: Journal>(
    journal: &J,
    run: &RunId,
) -> Result<BTreeMap<InterruptId, InterruptRow>, Finding> {
    let filter = InterruptFilter { run: Some(run.clone()), ..InterruptFilter::default() };
    let (mut rows, mut after) = (BTreeMap::new(), None);
    loop {
        let page = journal.interrupts(&filter, after.as_ref(), PAGE).await?;
        rows.extend(page.items.into_iter().map(|row| (row.interrupt.clone(), row)));
        after = page.next;
        if after.is_none() {
            return Ok(rows);
        }
    }
}

fn answer_problem(run: &Run, rows: &BTreeMap<InterruptId, AnswerRow>) -> Option<String> {
    let expected = run.answer_rows(run.interrupts.keys());
    let expected: BTreeMap<_, _> = expected.into_iter().map(|row| (row.interrupt.clone(), row)).collect();
    for (id, expected) in &expected {
        let Some(row) = rows.get(id) else { return Some(missing(&format!("the row of the answer to {id}"))) };
        if row != expected {
            let fields = row.differing(expected);
            return Some(differs(&format!("the row of the answer to {id}"), &fields));
        }
    }
    let extra = rows.keys().find(|id| !expected.contains_key(*id))?;
    Some(unfounded(&format!("the row of the answer to {extra}")))
}

/// Reads from the store the rows of the answers that people gave in the run, by the id of the interrupt.
async fn answers_of<J: Journal>(
    journal: &J,
    run: &RunId,
) -> Result<BTreeMap<InterruptId, AnswerRow>, Finding> {
    let filter = AnswerFilter { run: Some(run.clone()), ..AnswerFilter::default() };
    let (mut rows, mut after) = (BTreeMap::new(), None);
    loop {
        let page = journal.answers(&filter, after.as_ref(), PAGE).await?;
        rows.extend(page.items.into_iter().map(|row| (row.interrupt.clone(), row)));
        after = page.next;
        if after.is_none() {
            return Ok(rows);
        }
    }
}

async fn verify_session<J: Journal>(journal: &J, id: &SessionId, report: &mut Report) -> Result<(), Finding> {
    let stream = StreamId::Session(id.clone());
    let (mut chain, mut session) = (Chain::START, Session::new(id.clone()));
    let mut contents = Contents::default();
    for _ in 0..ATTEMPTS {
        loop {
            let events = next(journal, &stream, &mut chain, &mut contents, report).await?;
            for event in &events {
                session.apply(event);
            }
            if events.is_empty() {
                break;
            }
        }
        tell_contents(journal, &stream, &contents, report).await?;
        let problem = match session_row(journal, &session, chain.seq).await? {
            None => grant_problem(journal, &session, chain.seq).await?,
            problem => problem,
        };
        if journal.chain(&stream).await?.seq > chain.seq {
            continue;
        }
        if let Some(problem) = problem {
            report.add(stream.as_str(), problem);
        }
        return Ok(());
    }
    Err(Finding::Damage(
        "the stream could not be compared with its rows, because new events arrived each time: run the audit \
        again"
            .to_owned(),
    ))
}

/// Compares the rows that the store has for the grants of a session with the events of the session. Returns the first
/// problem.
async fn grant_problem<J: Journal>(
    journal: &J,
    session: &Session,
    seq: u64,
) -> Result<Option<String>, Finding> {
    for id in session.grants.keys() {
        let expected = session.grant_row(id);
        match (journal.grant(id).await?, expected) {
            (None, _) => return Ok(Some(missing(&format!("the row of {id}")))),
            (Some(row), _) if row.added_seq + u64::from(row.revoked) > seq => {
                return Ok(Some(too_few(row.added_seq + u64::from(row.revoked), seq)));
            }
            (Some(row), Some(expected)) if row != expected => {
                let fields = row.differing(&expected);
                return Ok(Some(differs(&format!("the row of {id}"), &fields)));
            }
            (Some(_), _) => {}
        }
    }
    Ok(None)
}

async fn verify_system<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Finding> {
    let (mut chain, mut contents) = (Chain::START, Contents::default());
    while !next(journal, &StreamId::System, &mut chain, &mut contents, report).await?.is_empty() {}
    tell_contents(journal, &StreamId::System, &contents, report).await
}

pub(super) fn missing(what: &str) -> String {
    format!(
        "{what} is missing in the lists of the store: run `holdshort rebuild` to rebuild the lists from the \
        events"
    )
}

pub(super) fn differs(what: &str, fields: &[&str]) -> String {
    format!(
        "{what} does not match the events in these columns: {}. Run `holdshort rebuild` to rebuild the lists \
        from the events",
        fields.join(", ")
    )
}

pub(super) fn unfounded(what: &str) -> String {
    format!(
        "{what} exists in the lists of the store, but no event created it: run `holdshort rebuild` to \
        rebuild the lists from the events"
    )
}

pub(super) fn run_had(had: u64, has: u64) -> String {
    format!("events of the run are missing: the run had {} and has {has}", count_events(had))
}

pub(super) fn too_few(had: u64, has: u64) -> String {
    format!("events of the session are missing: the session had at least {} and has {has}", count_events(had))
}
