//! Terminal mode while a conversation runs.
//!
//! While no line is read, keys are not echoed, and Ctrl-C is an ordinary key that is kept for the next line. A signal
//! for Ctrl-C could be lost if it arrived while the editor changes the terminal mode.

use std::io::Write;

use rustix::io::{ioctl_fionread, read};
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

const CTRL_C: u8 = 3;

#[derive(Debug)]
pub(super) struct Tty {
    /// Mode of the terminal before the conversation began.
    before: Termios,
}

impl Tty {
    /// Sets the terminal to the mode of a conversation. Returns `None` if the current mode of the terminal cannot be
    /// read.
    pub(super) fn take() -> Option<Self> {
        let tty = Self { before: tcgetattr(stdin()).ok()? };
        tty.take_back();
        Some(tty)
    }

    /// Restores the terminal mode from before the conversation, so that another program can use the terminal.
    pub(super) fn lend(&self) {
        set(&self.before);
    }

    pub(super) fn take_back(&self) {
        let mut quiet = self.before.clone();
        quiet
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        set(&quiet);
    }

    /// Discards unread keys of the terminal. Returns true if one of the discarded keys was Ctrl-C.
    pub(super) fn forget() -> bool {
        let mut has_interrupt = false;
        let mut keys = [0; 1_024];
        while ioctl_fionread(stdin()).is_ok_and(|waiting| waiting > 0) {
            // A terminal that is unreadable is closing. The next read reports the error.
            let Ok(count @ 1..) = read(stdin(), &mut keys) else { break };
            has_interrupt |= keys[..count].contains(&CTRL_C);
        }
        has_interrupt
    }
}

impl Drop for Tty {
    /// Restores the mode that the terminal had before the conversation, even if the line editor is active.
    fn drop(&mut self) {
        set(&self.before);
        // Output to a closed terminal is discarded.
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(b"\x1b[?2004l").and_then(|()| out.flush());
    }
}

/// Sets the terminal mode. Ignores errors, because the terminal may be closed.
fn set(mode: &Termios) {
    let _ = tcsetattr(stdin(), OptionalActions::Drain, mode);
}
