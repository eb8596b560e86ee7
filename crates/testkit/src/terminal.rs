//! Pseudo-terminal in which the program runs. A test can wait for output, type, and read the exit code.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use crate::home::Home;
use crate::server::real;

/// Prompt of the program in the terminal, after which a person can type.
pub const PROMPT: &str = "\n> ";
const PATIENCE: Duration = Duration::from_mins(1);

pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    screen: Arc<Screen>,
    /// Number of bytes of the terminal's output up to the end of the last match.
    seen: usize,
    _master: Box<dyn MasterPty + Send>,
}

#[derive(Default)]
struct Screen {
    shown: Mutex<TerminalOutput>,
    changed: Condvar,
}

#[derive(Default)]
struct TerminalOutput {
    bytes: Vec<u8>,
    is_over: bool,
}

impl Terminal {
    pub fn open(home: &Home, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let size = PtySize { rows: 50, cols: 100, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(real());
        for name in Home::without() {
            command.env_remove(name);
        }
        for (name, value) in home.environment() {
            command.env(name, value);
        }
        for (name, value) in environment {
            command.env(name, value);
        }
        command.args(arguments);
        command.cwd(home.path());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = Arc::new(Screen::default());
        let mut reader = pair.master.try_clone_reader().unwrap();
        let shared = screen.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            loop {
                // On Linux, a read from a terminal whose process has ended fails with an error
                // and not with an end of file.
                let count = reader.read(&mut buffer).unwrap_or(0);
                let mut shown = shared.shown.lock().unwrap();
                shown.bytes.extend_from_slice(&buffer[..count]);
                shown.is_over = count == 0;
                shared.changed.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        Self { child, keyboard, screen, seen: 0, _master: pair.master }
    }

    /// Waits until the terminal's output contains this text after the last match. Returns the output from the last
    /// match up to the end of the text.
    pub fn expect(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut shown = self.screen.shown.lock().unwrap();
        loop {
            let plain = plain(&shown.bytes);
            if let Some(at) = plain[self.seen..].find(text) {
                let end = self.seen + at + text.len();
                let between = plain[self.seen..end].to_owned();
                self.seen = end;
                return between;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !shown.is_over, "{text:?} is not shown:\n{}", &plain[self.seen..]);
            shown = self.screen.changed.wait_timeout(shown, left).unwrap().0;
        }
    }

    /// Waits until the terminal's output contains one of these texts after the last match. Returns the output from the
    /// last match up to the end of the text that was found.
    pub fn expect_any(&mut self, texts: &[&str]) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut shown = self.screen.shown.lock().unwrap();
        loop {
            let plain = plain(&shown.bytes);
            let ends = texts.iter().filter_map(|text| Some(plain[self.seen..].find(text)? + text.len()));
            if let Some(end) = ends.min() {
                let between = plain[self.seen..self.seen + end].to_owned();
                self.seen += end;
                return between;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !shown.is_over,
                "none of {texts:?} is shown:\n{}",
                &plain[self.seen..]
            );
            shown = self.screen.changed.wait_timeout(shown, left).unwrap().0;
        }
    }

    /// Kills the program in the terminal with SIGKILL.
    pub fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().unwrap();
    }

    /// Sends SIGHUP to the program, as a terminal does when its connection is lost.
    pub fn hang_up(&self) {
        self.signal(Signal::HUP);
    }

    fn signal(&self, signal: Signal) {
        let pid = self.child.process_id().and_then(|pid| Pid::from_raw(pid.try_into().unwrap()));
        kill_process(pid.unwrap(), signal).unwrap();
    }

    pub fn type_line(&mut self, line: &str) {
        self.type_raw(&format!("{line}\n"));
    }

    pub fn type_raw(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits until the program in the terminal ends. Returns the exit code, and the output since the last match.
    pub fn end(mut self) -> (u32, String) {
        let deadline = Instant::now() + PATIENCE;
        let mut shown = self.screen.shown.lock().unwrap();
        while !shown.is_over {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "it does not end:\n{}", &plain(&shown.bytes)[self.seen..]);
            shown = self.screen.changed.wait_timeout(shown, left).unwrap().0;
        }
        let rest = plain(&shown.bytes)[self.seen..].to_owned();
        drop(shown);
        (self.child.wait().unwrap().exit_code(), rest)
    }
}

/// Removes control sequences from the terminal's output. An incomplete line may still be drawn again, but tests wait
/// for no text in such a line.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    console::strip_ansi_codes(&text).replace('\r', "")
}
