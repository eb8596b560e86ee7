//! The mode of the terminal while a conversation has it.
//!
//! Between two lines no key is echoed, and Ctrl-C is a key like any other. It waits for the next line: as a signal it could
//! come while the editor takes the terminal over, and nobody would hear it.

use std::io::Write;

use rustix::io::{ioctl_fionread, read};
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

const CTRL_C: u8 = 3;

#[derive(Debug)]
pub(super) struct Tty {
    /// As it was found.
    before: Termios,
}

impl Tty {
    /// `None`: its mode can not be read.
    pub(super) fn take() -> Option<Self> {
        let tty = Self { before: tcgetattr(stdin()).ok()? };
        tty.take_back();
        Some(tty)
    }

    /// Another program has the terminal from here on.
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

    /// Drops the keys that nobody has read yet. Whether Ctrl-C was one of them.
    pub(super) fn forget() -> bool {
        let mut has_interrupt = false;
        let mut keys = [0; 1_024];
        while ioctl_fionread(stdin()).is_ok_and(|waiting| waiting > 0) {
            // A terminal that can not be read is going away; the next read says so.
            let Ok(count @ 1..) = read(stdin(), &mut keys) else { break };
            has_interrupt |= keys[..count].contains(&CTRL_C);
        }
        has_interrupt
    }
}

impl Drop for Tty {
    /// The editor may be in the middle of a line: the terminal is left as it was found.
    fn drop(&mut self) {
        set(&self.before);
        // A terminal that is gone shows nothing.
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(b"\x1b[?2004l").and_then(|()| out.flush());
    }
}

/// What is gone needs no care.
fn set(mode: &Termios) {
    let _ = tcsetattr(stdin(), OptionalActions::Drain, mode);
}
