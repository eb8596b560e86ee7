//! Imports an exported journal into a store.

use std::collections::BTreeMap;
use std::io::{BufRead, Seek};

use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::event;
use holdshort_core::id::StreamId;
use holdshort_store::{Append, AppendError, Blob, Journal, Key, StreamAppend};

use super::{Error, FORMAT, Line, PAGE, TransferCounts, VERSION};

/// Line of an exported journal after its header.
enum Item {
    Blob(Blob),
    Event(Sealed),
    Key(Key),
    /// Last line of an exported journal, which contains the number of items of each kind.
    End(TransferCounts),
}

/// Reads an exported journal to its end, and verifies every hash in it. Writes nothing.
pub fn check(from: impl BufRead) -> Result<TransferCounts, Error> {
    let mut chains: BTreeMap<StreamId, Chain> = BTreeMap::new();
    let (mut found, mut told) = (TransferCounts::default(), TransferCounts::default());
    for next in read(from)? {
        match next? {
            (_, Item::Blob(_)) => found.blobs += 1,
            (_, Item::Key(_)) => found.keys += 1,
            (line, Item::Event(sealed)) => {
                let chain = chains.entry(sealed.stream.clone()).or_insert(Chain::START);
                event::open(&sealed, chain).map_err(|error| Error::Line {
                    line,
                    problem: format!("does not match the events before it: {error}"),
                })?;
                found.events += 1;
            }
            (_, Item::End(moved)) => told = moved,
        }
    }
    found.streams = chains.len() as u64;
    if found == told {
        Ok(found)
    } else {
        Err(Error::CutOff(format!("the file should contain {told:?}, but it contains {found:?}")))
    }
}

/// Writes the content of a [checked](check) file to the store. Skips the items that the store already contains. If the
/// store contains a different item under the same id, writes nothing. Afterwards, the caller must rebuild the database
/// rows. No node continues an imported run before that, because nodes find runs by these rows.
pub async fn import<J: Journal>(journal: &J, mut from: impl BufRead + Seek) -> Result<TransferCounts, Error> {
    let begin = from.stream_position()?;
    let there = compare(journal, &mut from).await?;
    from.seek(std::io::SeekFrom::Start(begin))?;
    let mut importing =
        Importing { journal, there, next: Append::default(), size: 0, new: TransferCounts::default() };
    for next in read(from)? {
        importing.take(next?.1).await?;
    }
    importing.write().await?;
    Ok(importing.new)
}

/// Returns for each stream of the file its last sequence number in the store. Returns an error if the store and the
/// file have different events with the same sequence number.
async fn compare<J: Journal>(journal: &J, from: impl BufRead) -> Result<BTreeMap<StreamId, u64>, Error> {
    // Last event of each stream that is in the file and in the store. If the two hashes are equal, all earlier events
    // are equal too.
    let mut common: BTreeMap<StreamId, (Chain, Option<Chain>)> = BTreeMap::new();
    for next in read(from)? {
        match next?.1 {
            Item::Event(Sealed { stream, seq, hash, .. }) => {
                if !common.contains_key(&stream) {
                    common.insert(stream.clone(), (journal.chain(&stream).await?, None));
                }
                if let Some((there, last)) = common.get_mut(&stream)
                    && seq <= there.seq
                {
                    *last = Some(Chain { seq, hash });
                }
            }
            Item::Key(key) => match journal.key(&key.scope, &key.key).await? {
                Some(known) if known != key => {
                    return Err(Error::KeyDiffers { scope: key.scope, key: key.key });
                }
                Some(_) | None => {}
            },
            Item::Blob(_) | Item::End(_) => {}
        }
    }
    let mut ends = BTreeMap::new();
    for (stream, (there, last)) in common {
        if let Some(Chain { seq, hash }) = last {
            let found = if seq == there.seq {
                Some(there.hash)
            } else {
                journal.read(&stream, seq.saturating_sub(1), 1).await?.first().map(|event| event.hash)
            };
            if found != Some(hash) {
                return Err(Error::Differs { stream, seq });
            }
        }
        ends.insert(stream, there.seq);
    }
    Ok(ends)
}

struct Importing<'j, J> {
    journal: &'j J,
    /// Last sequence number that each stream had in the store before the import.
    there: BTreeMap<StreamId, u64>,
    next: Append,
    size: usize,
    new: TransferCounts,
}

impl<J: Journal> Importing<'_, J> {
    async fn take(&mut self, item: Item) -> Result<(), Error> {
        match item {
            Item::Blob(blob) => {
                if self.journal.blob(&blob.digest).await?.is_none() {
                    self.new.blobs += 1;
                }
                self.next.blobs.push(blob);
            }
            Item::Event(sealed) => self.event(sealed).await?,
            Item::Key(key) => {
                if self.journal.key(&key.scope, &key.key).await?.as_ref() != Some(&key) {
                    self.next.keys.push(key);
                    self.new.keys += 1;
                    self.size += 1;
                }
            }
            Item::End(_) => {}
        }
        if self.size >= PAGE { self.write().await } else { Ok(()) }
    }

    /// Adds the next event of the imported file. In the file, the events of one append are grouped by stream. Therefore
    /// an event of a stream that comes earlier in this order belongs to the next append.
    async fn event(&mut self, sealed: Sealed) -> Result<(), Error> {
        let before = sealed.seq.saturating_sub(1);
        let there = self.there.get(&sealed.stream).copied().unwrap_or(0);
        if before < there {
            return Ok(());
        }
        let is_last = self.next.streams.last().is_some_and(|part| part.stream == sealed.stream);
        if !is_last && self.next.streams.iter().any(|part| part.stream == sealed.stream) {
            self.write().await?;
        }
        self.new.streams += u64::from(before == there);
        self.new.events += 1;
        self.size += 1;
        match self.next.streams.last_mut() {
            Some(part) if part.stream == sealed.stream => part.events.push(sealed),
            Some(_) | None => {
                let stream = sealed.stream.clone();
                self.next.streams.push(StreamAppend { stream, expected: before, events: vec![sealed] });
            }
        }
        Ok(())
    }

    async fn write(&mut self) -> Result<(), Error> {
        self.size = 0;
        match self.journal.append(std::mem::take(&mut self.next)).await {
            Ok(_) => Ok(()),
            Err(AppendError::Store(error)) => Err(error.into()),
            Err(refused) => Err(Error::Refused(refused)),
        }
    }
}

/// Returns every item of an exported journal after its header, with its line number. The last item is [`Item::End`] or
/// an error.
fn read(from: impl BufRead) -> Result<impl Iterator<Item = Result<(usize, Item), Error>>, Error> {
    let mut lines = (1..).zip(from.lines());
    let Some((line, text)) = lines.next() else { return Err(Error::CutOff("it is empty".to_owned())) };
    match parse(line, &text?)? {
        Line::Header { format, v } if format == FORMAT && v == VERSION => {}
        Line::Header { format, v } => {
            let problem =
                format!("has the format {format} {v}, but this binary only reads {FORMAT} {VERSION}");
            return Err(Error::Line { line, problem });
        }
        _ => {
            return Err(broken(
                line,
                "is not the header of an exported journal: import a file that `export` wrote",
            ));
        }
    }
    let mut is_over = false;
    Ok(std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let next = match lines.next() {
            Some((line, text)) => text.map_err(Error::from).and_then(|text| Ok((line, item(line, &text)?))),
            None => Err(Error::CutOff("its last line is missing".to_owned())),
        };
        is_over = matches!(next, Err(_) | Ok((_, Item::End(_))));
        Some(next)
    }))
}

fn item(line: usize, text: &str) -> Result<Item, Error> {
    Ok(match parse(line, text)? {
        Line::Header { .. } => return Err(broken(line, "is a second header")),
        Line::End(told) => Item::End(told),
        Line::Blob { digest, text } => {
            let blob = Blob::new(text.into_bytes());
            if blob.digest != digest {
                return Err(broken(line, "does not match its digest"));
            }
            Item::Blob(blob)
        }
        Line::Event(event) => Item::Event(event.sealed().ok_or_else(|| broken(line, "has an invalid salt"))?),
        Line::Key { scope, key, digest, reference } => Item::Key(Key { scope, key, digest, reference }),
    })
}

fn parse(line: usize, text: &str) -> Result<Line, Error> {
    serde_json::from_str(text)
        .map_err(|error| Error::Line { line, problem: format!("is not readable: {error}") })
}

fn broken(line: usize, problem: &str) -> Error {
    Error::Line { line, problem: problem.to_owned() }
}
