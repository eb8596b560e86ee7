//! Lines that a person types, one at a time and only when they are asked for.
//!
//! Nothing is read ahead: `$EDITOR` gets the terminal to itself, and what was typed before a card was there never
//! decides on it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, isatty, tcflush};
use tokio::io::unix::AsyncFd;

/// The longest line that a terminal hands over; it drops the rest without a word.
const LONGEST: usize = 4_095;

#[derive(Debug)]
pub(crate) struct Input {
    terminal: AsyncFd<OwnedFd>,
    /// Of a line that is not whole yet.
    begun: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    /// Longer than the terminal can hand over.
    TooLong,
    End,
}

impl Input {
    /// `None`: nobody is there to type, or to see what is asked.
    pub(crate) fn open() -> Option<Self> {
        let stdin = rustix::stdio::stdin();
        if !isatty(stdin) || !isatty(rustix::stdio::stderr()) {
            return None;
        }
        let terminal = AsyncFd::new(rustix::io::dup(stdin).ok()?).ok()?;
        Some(Self { terminal, begun: Vec::new() })
    }

    /// Forgets what was typed before now.
    pub(crate) fn forget(&mut self) {
        self.begun.clear();
        // A terminal that can not be flushed is going away; the next read says so.
        let _ = tcflush(self.terminal.get_ref(), QueueSelector::IFlush);
    }

    /// The next line. May be dropped while it waits: nothing is lost.
    pub(crate) async fn line(&mut self) -> io::Result<Line> {
        loop {
            let mut ready = self.terminal.readable().await?;
            let begun = &mut self.begun;
            let read = ready.try_io(|terminal| {
                // The terminal is shared with the shell and stays blocking: never read without knowing.
                let mut fds = [PollFd::new(terminal.get_ref(), PollFlags::IN)];
                if poll(&mut fds, Some(&Timespec::default()))? == 0 {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                let mut buffer = [0; 8_192];
                let count = rustix::io::read(terminal.get_ref(), &mut buffer)?;
                begun.extend_from_slice(&buffer[..count]);
                Ok(count)
            });
            match read {
                Err(_would_block) => {}
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // The other side hung up.
                Ok(Err(error)) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                    return Ok(Line::End);
                }
                Ok(Err(error)) => return Err(error),
                Ok(Ok(0)) => return Ok(Line::End),
                Ok(Ok(_)) if self.begun.ends_with(b"\n") => {
                    let bytes = std::mem::take(&mut self.begun);
                    if bytes.len() > LONGEST {
                        return Ok(Line::TooLong);
                    }
                    return Ok(Line::Text(String::from_utf8_lossy(&bytes).trim().to_owned()));
                }
                Ok(Ok(_)) => {}
            }
        }
    }
}
