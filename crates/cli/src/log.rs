//! What a server logs, on standard error: written by a thread of its own.
//!
//! A log that is full, was closed or is not read loses lines, and never holds up or ends whoever logs: what matters is
//! in the journal. The next line that can be written says how many are missing.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use crate::exit::usage;
use crate::output::count;

/// Lines that wait to be written. A burst fits; a log that nobody reads takes no more memory than that.
const WAITING: usize = 4_096;
/// How long the end of the process waits for what was logged.
const FLUSH_TIME: Duration = Duration::from_secs(1);

/// What may be said of the whole program, or of a part of it.
const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];

static LOG: OnceLock<SyncSender<Entry>> = OnceLock::new();
/// Since the last one that was written.
static LOST: AtomicU64 = AtomicU64::new(0);

enum Entry {
    Line(Vec<u8>),
    /// Answered when what came before is written.
    Flush(SyncSender<()>),
}

/// Begins to log; `HOLDSHORT_LOG` says what (`debug`, `holdshort_engine=debug` …).
pub(crate) fn start(default: &str) -> anyhow::Result<()> {
    let filter = std::env::var("HOLDSHORT_LOG").unwrap_or_else(|_| default.to_owned());
    // A client library that logs what providers answer has no place in our log.
    let quiet = |filter: &str| format!("{filter},genai=off");
    let parsed = match without_level(&filter) {
        Some(part) => Err(format!("`{part}` is neither a level ({}) nor a part with one", LEVELS.join(", "))),
        None => EnvFilter::try_new(quiet(&filter)).map_err(|error| error.to_string()),
    };
    let filter = parsed.map_err(|why| {
        usage(format!(
            "HOLDSHORT_LOG is `{filter}`, and must be a level such as `info`, or parts such as `holdshort_engine=debug`: \
             {why}"
        ))
    })?;
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Line);
    // A program that embeds this crate may have one already.
    if subscriber.try_init().is_ok() {
        let (lines, waiting) = sync_channel(WAITING);
        let write = move || write_all(&waiting, &mut io::stderr());
        if thread::Builder::new().name("log".to_owned()).spawn(write).is_ok() {
            let _first = LOG.set(lines);
        }
    }
    Ok(())
}

/// A part of a filter that names no level. `EnvFilter` takes a bare word that is no level for a part of the program,
/// and then shows nothing of the others.
fn without_level(filter: &str) -> Option<&str> {
    let mut parts = filter.split(',').map(str::trim).filter(|part| !part.is_empty());
    let level = |part: &str| part.rsplit_once('=').map_or(part, |(_, level)| level).to_ascii_lowercase();
    parts.find(|part| !LEVELS.contains(&level(part).as_str()))
}

/// Waits until what was logged is written, for a moment.
pub(crate) fn flush() {
    let (written, wait) = sync_channel(1);
    if LOG.get().is_some_and(|log| log.try_send(Entry::Flush(written)).is_ok()) {
        let _in_time = wait.recv_timeout(FLUSH_TIME);
    }
}

/// One event as it is logged: `tracing` writes each in one go.
struct Line;

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let taken = LOG.get().is_some_and(|log| log.try_send(Entry::Line(line.to_vec())).is_ok());
        if !taken {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(waiting: &Receiver<Entry>, out: &mut impl Write) {
    let mut unwritten = 0;
    for entry in waiting {
        match entry {
            Entry::Line(line) => {
                let lost = unwritten + LOST.swap(0, Ordering::Relaxed);
                unwritten = 0;
                if lost > 0
                    && writeln!(out, "{} of the log could not be written", count(lost, "line")).is_err()
                {
                    unwritten = lost;
                }
                if out.write_all(&line).is_err() {
                    unwritten += 1;
                }
            }
            Entry::Flush(written) => {
                let _gone = written.try_send(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Refuses what it is told to refuse.
    struct Disk {
        full_for: usize,
        written: String,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.full_for > 0 {
                self.full_for -= 1;
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.written.push_str(std::str::from_utf8(bytes).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_could_not_be_written_are_counted() {
        let (lines, waiting) = sync_channel(8);
        for line in ["a\n", "b\n", "c\n", "d\n"] {
            lines.send(Entry::Line(line.into())).unwrap();
        }
        drop(lines);
        // The first line, and what is said of it before the second.
        let mut disk = Disk { full_for: 2, written: String::new() };
        write_all(&waiting, &mut disk);
        assert_eq!(disk.written, "b\n1 line of the log could not be written\nc\nd\n");
    }
}
