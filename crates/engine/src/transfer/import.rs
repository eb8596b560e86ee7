//! From a file to a store.

use std::collections::BTreeMap;
use std::io::BufRead;

use holdshort_core::event::{self, Chain, Sealed};
use holdshort_core::id::StreamId;
use holdshort_store::{Append, AppendError, Blob, Journal, Key, StreamAppend};

use super::{Error, FORMAT, Line, Moved, PAGE, VERSION};

/// What a line brings.
enum Item {
    Blob(Blob),
    Event(Sealed),
    Key(Key),
}

/// Reads a file to its end and verifies every hash, without writing anything.
pub fn check(from: impl BufRead) -> Result<Moved, Error> {
    let mut chains: BTreeMap<StreamId, Chain> = BTreeMap::new();
    let mut found = Moved::default();
    let told = read(from, |line, item| {
        match item {
            Item::Blob(_) => found.blobs += 1,
            Item::Key(_) => found.keys += 1,
            Item::Event(sealed) => {
                let chain = chains.entry(sealed.stream.clone()).or_insert(Chain::START);
                event::open(&sealed, chain)
                    .map_err(|error| Error::Line { line, problem: format!("does not fit: {error}") })?;
                found.events += 1;
            }
        }
        Ok(())
    })?;
    found.streams = chains.len() as u64;
    if found == told {
        Ok(found)
    } else {
        Err(Error::CutOff(format!("{told:?} were written, {found:?} are here")))
    }
}

/// Writes what a file holds that was [checked](check). What is there already is left alone. Rows have to be made
/// new afterwards.
pub async fn import<J: Journal>(journal: &J, from: impl BufRead) -> Result<Moved, Error> {
    let mut items = Vec::new();
    read(from, |_, item| {
        items.push(item);
        Ok(())
    })?;
    let mut importing =
        Importing { journal, ends: BTreeMap::new(), next: Append::default(), size: 0, new: Moved::default() };
    for item in items {
        importing.take(item).await?;
    }
    importing.write().await?;
    importing.new.streams = importing.ends.values().filter(|end| end.grew).count() as u64;
    Ok(importing.new)
}

/// Where a stream ends, counting what is about to be written.
struct End {
    seq: u64,
    grew: bool,
}

struct Importing<'j, J> {
    journal: &'j J,
    ends: BTreeMap<StreamId, End>,
    next: Append,
    size: usize,
    new: Moved,
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
            Item::Event(sealed) => return self.event(sealed).await,
            Item::Key(key) => match self.journal.key(&key.scope, &key.key).await? {
                Some(known) if known == key => {}
                Some(_) => return Err(Error::KeyDiffers { scope: key.scope, key: key.key }),
                None => {
                    self.next.keys.push(key);
                    self.new.keys += 1;
                    self.size += 1;
                }
            },
        }
        if self.size >= PAGE { self.write().await } else { Ok(()) }
    }

    async fn event(&mut self, sealed: Sealed) -> Result<(), Error> {
        let (stream, seq) = (sealed.stream.clone(), sealed.seq);
        if !self.ends.contains_key(&stream) {
            let seq = self.journal.chain(&stream).await?.seq;
            self.ends.insert(stream.clone(), End { seq, grew: false });
        }
        let Some(end) = self.ends.get_mut(&stream) else { return Ok(()) };
        if seq <= end.seq {
            let there = self.journal.read(&stream, seq - 1, 1).await?;
            let same = there.first().is_some_and(|there| there.hash == sealed.hash);
            return if same { Ok(()) } else { Err(Error::Differs { stream, seq }) };
        }
        *end = End { seq, grew: true };
        match self.next.streams.iter_mut().find(|part| part.stream == stream) {
            Some(part) => part.events.push(sealed),
            None => {
                self.next.streams.push(StreamAppend { stream, expected: seq - 1, events: vec![sealed] });
            }
        }
        self.new.events += 1;
        self.size += 1;
        if self.size >= PAGE { self.write().await } else { Ok(()) }
    }

    async fn write(&mut self) -> Result<(), Error> {
        self.size = 0;
        match self.journal.append(std::mem::take(&mut self.next)).await {
            Ok(_) => Ok(()),
            Err(AppendError::Store(error)) => Err(error.into()),
            Err(AppendError::Conflict { stream, found, .. }) => Err(Error::Differs { stream, seq: found }),
            Err(error) => Err(Error::CutOff(error.to_string())),
        }
    }
}

/// Every item with the number of its line; returns what the end says.
fn read(from: impl BufRead, mut take: impl FnMut(usize, Item) -> Result<(), Error>) -> Result<Moved, Error> {
    let mut lines = (1..).zip(from.lines());
    let broken = |line: usize, problem: &str| Error::Line { line, problem: problem.to_owned() };
    match lines.next() {
        Some((line, text)) => match parse(line, &text?)? {
            Line::Header { format, v } if format == FORMAT && v == VERSION => {}
            Line::Header { format, v } => {
                return Err(broken(
                    line,
                    &format!("names the format {format} {v}; this binary reads {FORMAT} {VERSION}"),
                ));
            }
            _ => return Err(broken(line, "is no header")),
        },
        None => return Err(Error::CutOff("it is empty".to_owned())),
    }
    for (line, text) in lines {
        let item = match parse(line, &text?)? {
            Line::Header { .. } => return Err(broken(line, "is a second header")),
            Line::End(told) => return Ok(told),
            Line::Blob { digest, text } => {
                let blob = Blob::new(text.into_bytes());
                if blob.digest != digest {
                    return Err(broken(line, "has another digest than it says"));
                }
                Item::Blob(blob)
            }
            Line::Event(event) => {
                Item::Event(event.sealed().ok_or_else(|| broken(line, "has a salt that is none"))?)
            }
            Line::Key { scope, key, digest, reference } => Item::Key(Key { scope, key, digest, reference }),
        };
        take(line, item)?;
    }
    Err(Error::CutOff("its last line is missing".to_owned()))
}

fn parse(line: usize, text: &str) -> Result<Line, Error> {
    serde_json::from_str(text)
        .map_err(|error| Error::Line { line, problem: format!("is not readable: {error}") })
}
