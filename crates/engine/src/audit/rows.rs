//! Finds rows in the store that no event explains. The module `streams` checks the rows of streams that have events;
//! this module checks the other rows.

use holdshort_core::envelope::Chain;
use holdshort_core::event::Fact;
use holdshort_core::id::StreamId;
use holdshort_core::projection::{GrantRow, SessionRow};
use holdshort_core::session::{self, Session};
use holdshort_store::{
    AnswerFilter, Error, GrantFilter, InterruptFilter, Journal, Row, RunFilter, SessionFilter,
};

use super::streams::{differs, missing, run_had, too_few, unfounded};
use super::{Finding, JOURNAL, PAGE, Report};
use crate::rebuild::event_at;

pub(super) async fn verify<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Error> {
    for (list, found) in [
        ("runs", runs(journal, report).await),
        ("sessions", sessions(journal, report).await),
        ("interrupts", interrupts(journal, report).await),
        ("grants", grants(journal, report).await),
        ("answers", answers(journal, report).await),
    ] {
        let found = found.map_err(|finding| match finding {
            Finding::Damage(why) => Finding::Damage(format!("the list of {list} cannot be read: {why}")),
            finding @ Finding::Store(_) => finding,
        });
        report.note(JOURNAL, found)?;
    }
    Ok(())
}

/// Returns the last sequence number of a stream. Returns `None` if the stream is unreadable: the check of the stream's
/// events has already reported this damage.
async fn end<J: Journal>(journal: &J, stream: &StreamId) -> Result<Option<u64>, Finding> {
    match journal.chain(stream).await {
        Ok(Chain { seq, .. }) => Ok(Some(seq)),
        Err(Error::Corrupt(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn runs<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Finding> {
    let mut after = None;
    loop {
        let page = journal.runs(&RunFilter::default(), after.as_ref(), PAGE).await?;
        for row in page.items {
            let stream = StreamId::Run(row.run);
            match end(journal, &stream).await? {
                // Detects a run whose row still exists although all its events were deleted.
                Some(0) => report.add(stream.as_str(), run_had(row.seq, 0)),
                // Detects that the last events of a run were deleted or are unreadable.
                Some(seq) if seq < row.seq => {
                    report.add(stream.as_str(), run_had(row.seq, seq));
                }
                Some(_) | None => {}
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Checks the database rows of sessions whose stream has no events. Such a session was created by the start of a run,
/// which wrote the event into the stream of the run.
async fn sessions<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Finding> {
    let mut after = None;
    loop {
        let page = journal.sessions(&SessionFilter::default(), after.as_ref(), PAGE).await?;
        for row in page.items {
            let stream = StreamId::Session(row.session.clone());
            if end(journal, &stream).await? != Some(0) {
                continue;
            }
            let problem = session_row(journal, &Session::new(row.session), 0).await?;
            // The first event of the session may have been written between the two reads. In this case there is no
            // problem here: `streams` compares the rows of sessions that have events.
            if let Some(problem) = problem
                && end(journal, &stream).await? == Some(0)
            {
                report.add(stream.as_str(), problem);
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Returns the problem in the stored row of a session whose stream has `seq` events. Returns `None` if the row is
/// correct.
pub(super) async fn session_row<J: Journal>(
    journal: &J,
    session: &Session,
    seq: u64,
) -> Result<Option<String>, Finding> {
    let row = journal.session(&session.id).await?;
    if let Some(row) = &row
        && row.seq > seq
    {
        return Ok(Some(too_few(row.seq, seq)));
    }
    Ok(match (row, expected(journal, session).await?) {
        (None, Some(_)) => Some(missing("its row")),
        (Some(_), None) => Some(unfounded("its row")),
        (Some(row), Some(expected)) if row != expected => Some(differs("its row", &row.differing(&expected))),
        (None, None) | (Some(_), Some(_)) => None,
    })
}

/// Computes the row that the store should have for a session, from the events of the session and the rows of its runs.
/// Other checks compare the rows of runs with their events.
async fn expected<J: Journal>(journal: &J, session: &Session) -> Result<Option<SessionRow>, Finding> {
    let filter = RunFilter { session: Some(session.id.clone()), ..RunFilter::default() };
    let (mut row, mut after) = (session.row(), None);
    loop {
        let page = journal.runs(&filter, after.as_ref(), PAGE).await?;
        for run in page.items {
            let ended = session.expires() && run.status.is_terminal();
            let last_at = if ended { run.updated_at } else { run.created_at };
            let started = SessionRow::from_run(session.id.clone(), run.created_at, last_at);
            row = Some(match row {
                Some(row) => row.with(started),
                None => started,
            });
        }
        after = page.next;
        if after.is_none() {
            return Ok(row);
        }
    }
}

async fn interrupts<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Finding> {
    let mut after = None;
    loop {
        let page = journal.interrupts(&InterruptFilter::default(), after.as_ref(), PAGE).await?;
        for row in page.items {
            let stream = StreamId::Run(row.run);
            if end(journal, &stream).await? == Some(0) {
                report.add(stream.as_str(), unfounded(&format!("the row of {}", row.interrupt)));
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn answers<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Finding> {
    let mut after = None;
    loop {
        let page = journal.answers(&AnswerFilter::default(), after.as_ref(), PAGE).await?;
        for row in page.items {
            let stream = StreamId::Run(row.run);
            if end(journal, &stream).await? == Some(0) {
                let what = format!("the row of the answer to {}", row.interrupt);
                report.add(stream.as_str(), unfounded(&what));
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn grants<J: Journal>(journal: &J, report: &mut Report) -> Result<(), Finding> {
    let mut after = None;
    loop {
        let page = journal.grants(&GrantFilter::default(), after.as_ref(), PAGE).await?;
        for row in page.items {
            let stream = StreamId::Session(row.session.clone());
            let least = row.added_seq + u64::from(row.revoked);
            match end(journal, &stream).await? {
                Some(seq) if seq < least => report.add(stream.as_str(), too_few(least, seq)),
                Some(_) if !was_given(journal, &stream, &row).await? => {
                    report.add(stream.as_str(), unfounded(&format!("the row of {}", row.grant)));
                }
                Some(_) | None => {}
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Returns true if the event with the sequence number of `row` gave this grant. Also returns true if that event is
/// unreadable: the check of its stream reports this damage.
async fn was_given<J: Journal>(journal: &J, stream: &StreamId, row: &GrantRow) -> Result<bool, Finding> {
    match event_at(journal, stream, row.added_seq).await {
        Ok(Some(event)) => Ok(matches!(
            event.fact,
            Fact::Session(session::Fact::GrantAdded { grant, .. }) if grant == row.grant
        )),
        Ok(None) => Ok(false),
        Err(crate::Error::Damaged { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}
