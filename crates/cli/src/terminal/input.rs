//! Lines that a person types, read one at a time and only when a line is requested.
//!
//! Input is never read in advance. `$EDITOR` can therefore use the terminal alone, and text that was typed before a
//! card was shown does not decide on the card. A thread reads the input until the process ends.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as thread_mpsc};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, isatty, tcflush};
use tokio::sync::mpsc;

/// Maximum length of a line from a terminal, in bytes. The terminal silently discards the rest of a longer line.
const LONGEST: usize = 4_095;

#[derive(Debug)]
pub(crate) struct Input {
    terminal: Arc<Terminal>,
    ask: thread_mpsc::Sender<()>,
    lines: mpsc::Receiver<Read>,
    /// True while the thread that reads the terminal waits for a line.
    is_asked: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    /// The line is longer than a terminal can deliver.
    TooLong,
    End,
}

#[derive(Debug)]
struct Terminal {
    fd: OwnedFd,
    /// Number of calls of `Input::forget`. The mutex is locked while a part of a line is read, so that `Input::forget`
    /// discards a whole line or none of it.
    age: Mutex<u64>,
}

#[derive(Debug, Default)]
struct PartialLine {
    age: u64,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Read {
    age: u64,
    line: io::Result<Line>,
}

impl Input {
    /// Opens the terminal for input. Returns `None` if standard input or standard error is not a terminal.
    pub(crate) fn open() -> Option<Self> {
        let stdin = rustix::stdio::stdin();
        if !isatty(stdin) || !isatty(rustix::stdio::stderr()) {
            return None;
        }
        let terminal = Arc::new(Terminal { fd: rustix::io::dup(stdin).ok()?, age: Mutex::new(0) });
        let (ask, asked) = thread_mpsc::channel();
        let (sender, lines) = mpsc::channel(1);
        let reader = terminal.clone();
        let read = move || {
            while asked.recv().is_ok() {
                if sender.blocking_send(reader.read()).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("terminal".to_owned()).spawn(read).ok()?;
        Some(Self { terminal, ask, lines, is_asked: false })
    }

    /// Discards everything that a person typed into the terminal before this call.
    pub(crate) fn forget(&mut self) {
        let mut age = self.terminal.age();
        *age += 1;
        // A terminal that cannot be flushed is closing. The next read reports the error.
        let _ = tcflush(&self.terminal.fd, QueueSelector::IFlush);
    }

    /// Returns the next line that a person types into the terminal. If the future is dropped, no input is lost.
    pub(crate) async fn line(&mut self) -> io::Result<Line> {
        let gone = || io::Error::other("the terminal is not read any more");
        loop {
            if !self.is_asked {
                self.ask.send(()).map_err(|_| gone())?;
                self.is_asked = true;
            }
            let read = self.lines.recv().await.ok_or_else(gone)?;
            self.is_asked = false;
            if read.age == *self.terminal.age() || !matches!(read.line, Ok(Line::Text(_) | Line::TooLong)) {
                return read.line;
            }
        }
    }
}

impl Terminal {
    fn age(&self) -> MutexGuard<'_, u64> {
        self.age.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> Read {
        let mut begun = PartialLine::default();
        loop {
            match self.take(&mut begun) {
                Ok(Some(read)) => return read,
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                // The terminal was closed.
                Err(rustix::io::Errno::IO) => return Read { age: 0, line: Ok(Line::End) },
                Err(error) => return Read { age: 0, line: Err(error.into()) },
            }
        }
    }

    /// Waits for terminal input and reads it. Returns `None` if the line is not complete, or if `Input::forget`
    /// discarded the input.
    fn take(&self, begun: &mut PartialLine) -> rustix::io::Result<Option<Read>> {
        poll(&mut [PollFd::new(&self.fd, PollFlags::IN)], None)?;
        let age = self.age();
        let mut now = [PollFd::new(&self.fd, PollFlags::IN)];
        if poll(&mut now, Some(&Timespec::default()))? == 0 {
            return Ok(None);
        }
        let mut buffer = [0; 8_192];
        let count = rustix::io::read(&self.fd, &mut buffer)?;
        if begun.age != *age {
            *begun = PartialLine { age: *age, bytes: Vec::new() };
        }
        begun.bytes.extend_from_slice(&buffer[..count]);
        let line = if count == 0 {
            Line::End
        } else if begun.bytes.ends_with(b"\n") {
            let text = String::from_utf8_lossy(&begun.bytes).trim().to_owned();
            if begun.bytes.len() > LONGEST { Line::TooLong } else { Line::Text(text) }
        } else {
            return Ok(None);
        };
        Ok(Some(Read { age: *age, line: Ok(line) }))
    }
}
