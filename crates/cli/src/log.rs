//! Log of a server on standard error, written by a separate thread.
//!
//! Log lines are lost if standard error is full, closed or not read. Writing to the log never blocks or ends the
//! process, because everything important is also in the journal. As soon as a line can be written again, a line reports
//! how many were lost.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use holdshort_engine::{Clock, SystemClock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tracing_subscriber::EnvFilter;

use crate::exit::usage;
use crate::plural::count;

/// Maximum number of log lines that wait to be written. The number is large enough for bursts, and bounds the memory
/// while the output is blocked.
const WAITING: usize = 4_096;
/// Maximum time to wait until the log is written when the process ends.
const FLUSH_TIME: Duration = Duration::from_secs(1);

/// Levels that a log filter can set for the whole program or for one module.
const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];

/// Format of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    #[default]
    Text,
    /// One JSON object per line. With this format, everything else that a server prints on standard error is JSON too.
    Json,
}

/// Environment variable that selects the format of log lines.
pub(crate) const FORMAT: &str = "HOLDSHORT_LOG_FORMAT";

static FORM: OnceLock<Format> = OnceLock::new();
static LOG: OnceLock<SyncSender<Entry>> = OnceLock::new();
/// Number of log lines that were lost since the last successful write.
static LOST: AtomicU64 = AtomicU64::new(0);

enum Entry {
    Line(Vec<u8>),
    /// Request to signal when all earlier lines are written.
    Flush(SyncSender<()>),
}

impl Format {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }

    pub(crate) fn of_environment() -> anyhow::Result<Option<Self>> {
        let Some(said) = std::env::var(FORMAT).ok().filter(|said| !said.is_empty()) else { return Ok(None) };
        let known = [Self::Text, Self::Json].into_iter().find(|format| format.as_str() == said);
        known.map(Some).ok_or_else(|| usage(format!("{FORMAT} is `{said}`, and must be `text` or `json`")))
    }
}

/// Returns true if the log is written as JSON lines.
pub(crate) fn is_json() -> bool {
    FORM.get() == Some(&Format::Json)
}

/// Returns the log filter from `HOLDSHORT_LOG` (`debug`, `holdshort_engine=debug` …), or the default filter.
pub(crate) fn filter(default: &str) -> anyhow::Result<EnvFilter> {
    let filter = std::env::var("HOLDSHORT_LOG").unwrap_or_else(|_| default.to_owned());
    // The library `genai` logs the responses of providers, and `rmcp` logs arguments of tools. The log must not contain
    // such texts.
    let quiet = |filter: &str| format!("{filter},genai=off,rmcp=off");
    let parsed = match without_level(&filter) {
        Some(part) => Err(format!("`{part}` is neither a level ({}) nor PART=LEVEL", LEVELS.join(", "))),
        None => EnvFilter::try_new(quiet(&filter)).map_err(|error| error.to_string()),
    };
    parsed.map_err(|why| {
        usage(format!(
            "HOLDSHORT_LOG is `{filter}`, and must be a level such as `info`, or parts such as `holdshort_engine=debug`: \
             {why}"
        ))
    })
}

pub(crate) fn start(default: &str, format: Format) -> anyhow::Result<()> {
    let filter = filter(default)?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Line);
    let begun = match format {
        Format::Text => log.try_init(),
        Format::Json => {
            log.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init()
        }
    };
    // A program that embeds this crate may already have a subscriber.
    if begun.is_ok() {
        let _first = FORM.set(format);
        if format == Format::Json {
            std::panic::set_hook(Box::new(panicked));
        }
        let (lines, waiting) = sync_channel(WAITING);
        let write = move || write_all(&waiting, &mut io::stderr(), format);
        if thread::Builder::new().name("log".to_owned()).spawn(write).is_ok() {
            let _first = LOG.set(lines);
        }
    }
    Ok(())
}

/// Logs a panic as one JSON line. Only the source location is logged, because the message may contain any data.
fn panicked(panic: &std::panic::PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, "a thread of the program panicked");
}

/// Returns the first part of a log filter without a level. `EnvFilter` would read this part as the name of a module,
/// and hide the log of all other modules.
fn without_level(filter: &str) -> Option<&str> {
    let mut parts = filter.split(',').map(str::trim).filter(|part| !part.is_empty());
    let level = |part: &str| part.rsplit_once('=').map_or(part, |(_, level)| level).to_ascii_lowercase();
    parts.find(|part| !LEVELS.contains(&level(part).as_str()))
}

/// Waits up to [`FLUSH_TIME`] until all earlier log lines are written.
pub(crate) fn flush() {
    let (written, wait) = sync_channel(1);
    if LOG.get().is_some_and(|log| log.try_send(Entry::Flush(written)).is_ok()) {
        let _in_time = wait.recv_timeout(FLUSH_TIME);
    }
}

/// Writer for one log event. `tracing` writes each event in a single call.
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

fn write_all(waiting: &Receiver<Entry>, out: &mut impl Write, format: Format) {
    let mut unwritten = 0;
    for entry in waiting {
        match entry {
            Entry::Line(line) => {
                let lost = unwritten + LOST.swap(0, Ordering::Relaxed);
                unwritten = 0;
                if lost > 0 && writeln!(out, "{}", missing(lost, format)).is_err() {
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

/// Returns a log line that states how many log lines were lost.
fn missing(lines: u64, format: Format) -> String {
    let said = format!("{} of the log could not be written", count(lines, "line"));
    match format {
        Format::Text => said,
        Format::Json => json!({
            "timestamp": SystemClock.now().to_string(), "level": "WARN", "message": said, "lines": lines,
            "target": module_path!(),
        })
        .to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log output for tests whose first writes fail.
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
        // The full disk rejects the first line, and then also the report about this lost line.
        let mut disk = Disk { full_for: 2, written: String::new() };
        write_all(&waiting, &mut disk, Format::Text);
        assert_eq!(disk.written, "b\n1 line of the log could not be written\nc\nd\n");
    }

    #[test]
    fn they_are_counted_in_json_where_the_log_is_json() {
        let line: serde_json::Value = serde_json::from_str(&missing(2, Format::Json)).unwrap();
        assert_eq!(
            (&line["level"], &line["message"], &line["lines"]),
            (&json!("WARN"), &json!("2 lines of the log could not be written"), &json!(2))
        );
        let at = line["timestamp"].as_str().unwrap();
        assert!(at.starts_with("20") && at.ends_with('Z'), "{at}");
    }
}
