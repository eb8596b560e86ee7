//! Exports the journal of a store to a file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{self, Chain, Sealed};
use holdshort_core::event;
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::projection::RunRow;
use holdshort_core::run::Fact;
use holdshort_store::{Journal, Key, RunFilter};

use super::{Error, Event, FORMAT, Line, PAGE, TransferCounts, VERSION, line_of};

/// Writes the whole journal to a file, in the order of the commits. If `runs` are given, writes only these runs and
/// their sessions.
pub async fn export<J: Journal>(
    journal: &J,
    runs: &[RunId],
    to: &mut impl Write,
) -> Result<TransferCounts, Error> {
    let mut file =
        Exporting { to, chains: BTreeMap::new(), blobs: BTreeSet::new(), moved: TransferCounts::default() };
    file.line(&Line::Header { format: FORMAT.to_owned(), v: VERSION })?;
    if runs.is_empty() {
        file.everything(journal).await?;
    } else {
        file.some(journal, runs).await?;
    }
    file.keys(journal, runs).await?;
    file.moved.streams = file.chains.len() as u64;
    let moved = file.moved;
    file.line(&Line::End(moved))?;
    file.to.flush()?;
    Ok(moved)
}

struct Exporting<'w, W> {
    to: &'w mut W,
    chains: BTreeMap<StreamId, Chain>,
    /// Digests of the workflow definitions that were already written to the exported file.
    blobs: BTreeSet<Digest>,
    moved: TransferCounts,
}

impl<W: Write> Exporting<'_, W> {
    async fn everything<J: Journal>(&mut self, journal: &J) -> Result<(), Error> {
        let mut after = 0;
        loop {
            let page = journal.tail(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.position;
            for positioned in page {
                self.event(journal, positioned.event).await?;
            }
        }
        self.assert_complete(journal).await?;
        let mut after = None;
        loop {
            let page = journal.runs(&RunFilter::default(), after.as_ref(), PAGE).await?;
            page.items.iter().try_for_each(|row| self.assert_whole(row))?;
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Returns an error if the last events of the run are missing. The hash chain does not reveal this. Therefore the
    /// last sequence number is compared with the database row of the run.
    fn assert_whole(&self, row: &RunRow) -> Result<(), Error> {
        let stream = StreamId::Run(row.run.clone());
        let found = self.chains.get(&stream).map_or(0, |chain| chain.seq);
        if found < row.seq {
            Err(envelope::Error::Missing { stream, found, told: row.seq }.into())
        } else {
            Ok(())
        }
    }

    /// Returns an error if the events that were read are not all events of the journal. In a shared database, a read in
    /// the order of positions may not return the newest events. But an export must contain them.
    async fn assert_complete<J: Journal>(&self, journal: &J) -> Result<(), Error> {
        let mut after = None;
        loop {
            let streams = journal.streams(after.as_ref(), PAGE).await?;
            for stream in &streams {
                let there = journal.chain(stream).await?.seq;
                let found = self.chains.get(stream).map_or(0, |chain| chain.seq);
                if found != there {
                    return Err(Error::Incomplete { stream: stream.clone(), there, found });
                }
            }
            if streams.len() < PAGE {
                return Ok(());
            }
            after = streams.last().cloned();
        }
    }

    async fn some<J: Journal>(&mut self, journal: &J, runs: &[RunId]) -> Result<(), Error> {
        let mut rows = Vec::new();
        for run in runs {
            rows.push(journal.run(run).await?.ok_or_else(|| Error::NoRun(run.to_string()))?);
        }
        let sessions: BTreeSet<_> = rows.iter().map(|row| row.session.clone()).collect();
        let sessions = sessions.into_iter().map(StreamId::Session);
        for stream in sessions.chain(runs.iter().cloned().map(StreamId::Run)) {
            loop {
                let after = self.chains.get(&stream).map_or(0, |chain| chain.seq);
                let page = journal.read(&stream, after, PAGE).await?;
                let more = page.len() == PAGE;
                for sealed in page {
                    self.event(journal, sealed).await?;
                }
                if !more {
                    break;
                }
            }
        }
        rows.iter().try_for_each(|row| self.assert_whole(row))
    }

    /// Verifies one event, and writes it to the exported file. Returns an error if the event is invalid.
    async fn event<J: Journal>(&mut self, journal: &J, sealed: Sealed) -> Result<(), Error> {
        let chain = self.chains.entry(sealed.stream.clone()).or_insert(Chain::START);
        let event = event::open(&sealed, chain)?;
        if let event::Fact::Run(Fact::RunStarted { definition, .. }) = &event.fact
            && !self.blobs.contains(definition)
        {
            self.blob(journal, definition).await?;
        }
        let (stream, seq) = (sealed.stream.clone(), sealed.seq);
        let event = Event::from_sealed(sealed).ok_or(envelope::Error::WrongContent { stream, seq })?;
        self.line(&Line::Event(event))?;
        self.moved.events += 1;
        Ok(())
    }

    async fn blob<J: Journal>(&mut self, journal: &J, digest: &Digest) -> Result<(), Error> {
        let missing =
            || holdshort_store::Error::Corrupt(format!("the workflow definition {digest} is missing"));
        let bytes = journal.blob(digest).await?.ok_or_else(missing)?;
        let text = String::from_utf8(bytes).map_err(|_| missing())?;
        self.line(&Line::Blob { digest: *digest, text })?;
        self.blobs.insert(*digest);
        self.moved.blobs += 1;
        Ok(())
    }

    async fn keys<J: Journal>(&mut self, journal: &J, runs: &[RunId]) -> Result<(), Error> {
        let mut after: Option<Key> = None;
        loop {
            let page = journal.keys(after.as_ref(), PAGE).await?;
            let more = page.len() == PAGE;
            after = page.last().cloned();
            for key in page {
                if runs.is_empty() || self.belongs(journal, &key, runs).await? {
                    self.line(&line_of(key))?;
                    self.moved.keys += 1;
                }
            }
            if !more {
                return Ok(());
            }
        }
    }

    /// Returns true if the request with this key created one of these runs, or an interrupt of one
    /// of these runs.
    async fn belongs<J: Journal>(&self, journal: &J, key: &Key, runs: &[RunId]) -> Result<bool, Error> {
        if let Ok(run) = key.reference.parse::<RunId>() {
            return Ok(runs.contains(&run));
        }
        let Ok(interrupt) = key.reference.parse() else { return Ok(false) };
        Ok(journal.interrupt(&interrupt).await?.is_some_and(|row| runs.contains(&row.run)))
    }

    fn line(&mut self, line: &Line) -> Result<(), Error> {
        serde_json::to_writer(&mut *self.to, line).map_err(std::io::Error::from)?;
        Ok(self.to.write_all(b"\n")?)
    }
}
