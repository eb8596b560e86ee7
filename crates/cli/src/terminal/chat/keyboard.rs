//! Keyboard input of a conversation, and the output above the line that a person is typing.
//!
//! At a terminal, a thread runs the line editor, and output appears above the edited line. Without a terminal, a line
//! is read only when it is needed, so that a line of a script never answers an earlier question. This module makes no
//! decisions. It reports when the first key of an input was pressed, and the conversation interprets the input.

use std::borrow::Cow;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as thread_mpsc};
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::termios::isatty;
use rustyline::completion::Completer;
use rustyline::error::{ReadlineError, Signal};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::{History, MemHistory};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, Helper, KeyCode,
    KeyEvent, Modifiers, Movement, RepeatCount,
};
use tokio::sync::mpsc;

use super::history;
use super::tty::Tty;
use crate::output::print_text;

/// Time after a card appears during which a single key selects no option, because the person pressed the key before
/// seeing the card.
const GRACE: Duration = Duration::from_millis(300);

#[derive(Clone, Debug)]
pub(super) enum Typed {
    /// One or more lines that a person typed, and the time at which the first key was pressed.
    Text {
        text: String,
        begun: Instant,
    },
    /// Number of the option that a person selected with a single key.
    Digit {
        digit: usize,
        at: Instant,
    },
    Interrupt,
    End,
}

#[derive(Debug)]
pub(super) struct Keyboard {
    ask: thread_mpsc::Sender<String>,
    typed: mpsc::Receiver<std::io::Result<Typed>>,
    is_asked: bool,
    /// Time at which the conversation last requested a line from the keyboard.
    asked: Option<Instant>,
    /// True if a script was asked for a line for a card, and this card has been removed since.
    is_withdrawn: bool,
    keys: Arc<Keys>,
    /// Terminal in the mode of a conversation. `None` if output cannot be printed above the line that a person types.
    tty: Option<Tty>,
}

/// State that the thread of the line editor and the conversation share.
#[derive(Debug, Default)]
struct Keys(Mutex<State>);

#[derive(Debug)]
struct State {
    /// Number of options that a single key can select, and the time at which these options were displayed.
    digits: (usize, Instant),
    picked: Option<usize>,
    begun: Instant,
    /// True if the line editor must discard the keys that it has already read.
    forgets: bool,
    /// True if Ctrl-C was among the keys that the line editor discarded.
    is_struck: bool,
    /// True if an unfinished input line was removed from the screen. The next key then begins a new line.
    is_taken: bool,
    /// Input line that is being edited, or `None` if there is none.
    line: Option<Edited>,
}

/// Input line in the state that the screen shows.
#[derive(Debug, Default)]
struct Edited {
    label: String,
    text: String,
    /// Position of the cursor in the edited line, in bytes from the start of the line.
    at: usize,
}

impl Edited {
    /// Prints text above the edited line, and draws the line again. The cursor is then where the line editor expects
    /// it. The printer of the editor library is not used, because it waits for a key when several texts arrive at once.
    fn above(&self, text: &str) {
        self.redraw(text, &self.text);
    }

    /// Prints text above the edited line, and draws `line` in its place. The cursor stays in the row that the line
    /// editor expects.
    fn redraw(&self, text: &str, line: &str) {
        let columns = usize::from(console::Term::stdout().size().1).max(1);
        let whole = format!("{}{}", self.label, self.text);
        let place = |text: &str| {
            let (mut row, mut column) = (0, 0);
            for letter in text.chars() {
                let width = console::measure_text_width(letter.encode_utf8(&mut [0; 4]));
                if letter == '\n' || column + width > columns {
                    (row, column) = (row + 1, 0);
                }
                column += width;
            }
            if column == columns { (row + 1, 0) } else { (row, column) }
        };
        let cursor = place(&whole[..(self.label.len() + self.at).min(whole.len())]);
        if line.is_empty() && !self.text.is_empty() {
            let up = if cursor.0 > 0 { format!("\u{1b}[{}A", cursor.0) } else { String::new() };
            let down = "\n".repeat(cursor.0);
            write_out(&format!("{up}\r\u{1b}[J{text}{down}{}", self.label));
            return;
        }
        let end = place(&whole);
        let up = |rows: usize| if rows > 0 { format!("\u{1b}[{rows}A") } else { String::new() };
        let right = |columns: usize| if columns > 0 { format!("\u{1b}[{columns}C") } else { String::new() };
        let wrapped = if end.1 == 0 && !whole.ends_with('\n') && !whole.is_empty() { "\n" } else { "" };
        let drawn = format!(
            "{}\r\u{1b}[J{text}{whole}{wrapped}{}\r{}",
            up(cursor.0),
            up(end.0 - cursor.0),
            right(cursor.1)
        );
        write_out(&drawn);
    }
}

fn write_out(text: &str) {
    let mut out = std::io::stdout().lock();
    // Output to a closed terminal is discarded.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

impl Default for State {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            digits: (0, now),
            picked: None,
            begun: now,
            forgets: false,
            is_struck: false,
            is_taken: false,
            line: None,
        }
    }
}

impl Keys {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_line(&self, text: &str, at: usize) {
        if let Some(line) = &mut self.state().line {
            text.clone_into(&mut line.text);
            line.at = at;
        }
    }
}

impl Keyboard {
    /// Starts the thread that reads the keyboard. `history` is the path of the file with the input history.
    pub(super) fn open(history: PathBuf) -> anyhow::Result<Self> {
        let (ask, asked) = thread_mpsc::channel();
        let (sender, typed) = mpsc::channel(1);
        let keys = Arc::new(Keys::default());
        let is_terminal = isatty(rustix::stdio::stdin()) && isatty(rustix::stdio::stdout());
        let live = if is_terminal { Tty::take() } else { None };
        let live = live.and_then(|tty| Some((tty, editor(&keys, &history)?)));
        let (tty, edited) = live.unzip();
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        if let Some(editor) = edited {
            let keys = keys.clone();
            named("keyboard").spawn(move || edit(editor, &history, &keys, &asked, &sender))
        } else {
            named("input").spawn(move || read(&asked, &sender))
        }
        .context("cannot start a thread")?;
        Ok(Self { ask, typed, is_asked: false, asked: None, is_withdrawn: false, keys, tty })
    }

    /// Returns true if output can be printed above the line that a person types.
    pub(super) fn is_live(&self) -> bool {
        self.tty.is_some()
    }

    /// Discards all keys that were pressed while the conversation requested no line. A discarded Ctrl-C is remembered.
    pub(super) fn forget(&self) {
        if self.is_live() && !self.is_asked {
            let mut state = self.keys.state();
            state.forgets = true;
            state.is_struck |= Tty::forget();
        }
    }

    /// Removes the unfinished input line from the screen, and returns its text. The next key begins a new line.
    pub(super) fn take_begun(&mut self) -> Option<String> {
        self.is_withdrawn = self.is_asked && !self.is_live();
        let mut state = self.keys.state();
        let line = state.line.as_mut().filter(|line| !line.text.trim().is_empty())?;
        line.redraw("", "");
        line.at = 0;
        let text = std::mem::take(&mut line.text);
        state.is_taken = true;
        Some(text)
    }

    /// Gives the terminal to another program until [`Self::take_back`] is called.
    pub(super) fn lend(&self) {
        if let Some(tty) = &self.tty {
            tty.lend();
        }
    }

    pub(super) fn take_back(&self) {
        if let Some(tty) = &self.tty {
            tty.take_back();
        }
    }

    /// Sets the number of options that a single key can select. With 0, no single key selects an option.
    pub(super) fn take_digits(&self, options: usize) {
        let mut state = self.keys.state();
        if state.digits.0 != options || options > 0 {
            state.digits = (options, Instant::now());
        }
    }

    /// Returns the next keyboard input, which a person types after the prompt `label`. If the future is dropped, no
    /// input is lost.
    pub(super) async fn next(&mut self, label: &str) -> anyhow::Result<Typed> {
        if std::mem::take(&mut self.keys.state().is_struck) {
            return Ok(Typed::Interrupt);
        }
        if !self.is_asked {
            self.ask.send(label.to_owned()).context("the terminal is not read any more")?;
            self.is_asked = true;
            self.asked = Some(Instant::now());
        }
        let typed = self.typed.recv().await.context("the terminal is not read any more")?;
        self.is_asked = false;
        let asked = self.asked.take();
        let is_withdrawn = std::mem::take(&mut self.is_withdrawn);
        let typed = typed.context("the terminal cannot be read")?;
        Ok(match (typed, asked) {
            (Typed::Text { text, .. }, Some(begun)) if is_withdrawn => Typed::Text { text, begun },
            (typed, _) => typed,
        })
    }

    pub(super) fn print(&self, lines: &[impl AsRef<str>]) {
        if lines.is_empty() {
            return;
        }
        let mut text = String::new();
        for line in lines {
            text.push_str(line.as_ref());
            text.push('\n');
        }
        match &self.keys.state().line {
            Some(line) => line.above(&text),
            None => print_text(text.trim_end_matches('\n')),
        }
    }
}

type Lines = Editor<Whole, MemHistory>;

/// Returns a line editor, or `None` if the terminal does not support one. In this case, the input is read in whole
/// lines.
fn editor(keys: &Arc<Keys>, history: &std::path::Path) -> Option<Lines> {
    let config = Config::builder().max_history_size(history::ENTRIES).ok()?.bracketed_paste(true).build();
    let kept = MemHistory::with_config(&config);
    let mut editor = Lines::with_history(config, kept).ok()?;
    editor.set_helper(Some(Whole(keys.clone())));
    for enter in [KeyEvent(KeyCode::Enter, Modifiers::ALT), KeyEvent::alt('\r'), KeyEvent::alt('\n')] {
        editor.bind_sequence(enter, EventHandler::Simple(Cmd::Newline));
    }
    editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(Watch(keys.clone()))));
    for entry in history::read(history) {
        editor.history_mut().add_owned(entry).ok()?;
    }
    Some(editor)
}

fn edit(
    mut editor: Lines,
    history: &std::path::Path,
    keys: &Arc<Keys>,
    asked: &thread_mpsc::Receiver<String>,
    sender: &mpsc::Sender<std::io::Result<Typed>>,
) {
    while let Ok(label) = asked.recv() {
        let forgets = {
            let mut state = keys.state();
            state.begun = Instant::now();
            state.line = Some(Edited { label: label.clone(), ..Edited::default() });
            state.is_taken = false;
            std::mem::take(&mut state.forgets)
        };
        // Keys that arrived together with the last line wait inside the editor. Creating a new editor discards these
        // keys.
        if forgets {
            let Some(new) = self::editor(keys, history) else {
                let why = std::io::Error::other("the line editor cannot be restarted");
                drop(sender.blocking_send(Err(why)));
                return;
            };
            editor = new;
        }
        let read = editor.readline(&label);
        let (picked, begun) = {
            let mut state = keys.state();
            state.line = None;
            (state.picked.take(), state.begun)
        };
        let typed = match (read, picked) {
            (Ok(_), Some(digit)) => Ok(Typed::Digit { digit, at: begun }),
            (Ok(text), None) => {
                let text = text.replace("\\\n", "\n");
                if history::is_kept(&text) && editor.history_mut().add(&text).unwrap_or(false) {
                    history::add(history, &text);
                }
                Ok(Typed::Text { text, begun })
            }
            (Err(ReadlineError::Interrupted | ReadlineError::Signal(Signal::Interrupt)), _) => {
                Ok(Typed::Interrupt)
            }
            (Err(ReadlineError::Eof), _) => Ok(Typed::End),
            // The window was resized, so the line is drawn again.
            (Err(ReadlineError::Signal(_)), _) => Ok(Typed::Text { text: String::new(), begun }),
            (Err(ReadlineError::Io(error)), _) => Err(error),
            (Err(error), _) => Err(std::io::Error::other(error)),
        };
        if sender.blocking_send(typed).is_err() {
            return;
        }
    }
}

/// Reads lines from standard input without a line editor, one for each request.
fn read(asked: &thread_mpsc::Receiver<String>, sender: &mpsc::Sender<std::io::Result<Typed>>) {
    let mut lines = std::io::stdin().lock();
    while asked.recv().is_ok() {
        let mut text = String::new();
        let mut read = lines.read_line(&mut text);
        while matches!(read, Ok(1..)) && text.ends_with("\\\n") {
            text.truncate(text.len() - 2);
            text.push('\n');
            read = lines.read_line(&mut text);
        }
        let typed = read.map(|count| match (count, text.is_empty()) {
            (0, true) => Typed::End,
            _ => Typed::Text { text, begun: Instant::now() },
        });
        if sender.blocking_send(typed).is_err() {
            return;
        }
    }
}

/// Helper of the line editor that continues the input after a line with a backslash at its end, and records each change
/// of the line.
struct Whole(Arc<Keys>);

impl Helper for Whole {}
impl Completer for Whole {
    type Candidate = String;
}
impl Hinter for Whole {
    type Hint = String;
}
impl Highlighter for Whole {
    fn highlight<'l>(&self, line: &'l str, at: usize) -> Cow<'l, str> {
        self.0.set_line(line, at);
        Cow::Borrowed(line)
    }

    fn highlight_char(&self, line: &str, at: usize, _: CmdKind) -> bool {
        self.0.set_line(line, at);
        false
    }
}
impl Validator for Whole {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let goes_on = context.input().ends_with('\\');
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

/// Handler of the line editor for the first key of a line. Records the time, replaces a line that was removed from the
/// screen, and accepts a key that selects an option.
struct Watch(Arc<Keys>);

impl ConditionalEventHandler for Watch {
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let mut state = self.0.state();
        let is_taken = std::mem::take(&mut state.is_taken);
        if !context.line().is_empty() && !is_taken {
            return None;
        }
        let is_paste_or_ctrl_c = matches!(
            event.get(0),
            Some(KeyEvent(KeyCode::BracketedPasteStart, _) | KeyEvent(KeyCode::Char('C'), Modifiers::CTRL))
        );
        // A paste is appended to the text that was removed. The line keeps its old start time, so it is not sent to the
        // new card.
        if is_taken && is_paste_or_ctrl_c {
            return None;
        }
        state.begun = Instant::now();
        let picked = Self::picked(&mut state, event);
        if !is_taken || picked.is_some() {
            return picked;
        }
        let key = match event.get(0) {
            Some(KeyEvent(KeyCode::Char(key), Modifiers::NONE | Modifiers::SHIFT)) => Some(key.to_string()),
            _ => None,
        };
        Some(Cmd::Replace(Movement::WholeBuffer, key))
    }
}

impl Watch {
    /// Ends the input line and selects an option if the pressed key is the number of this option.
    fn picked(state: &mut State, event: &Event) -> Option<Cmd> {
        let (options, shown) = state.digits;
        let Some(KeyEvent(KeyCode::Char(key), Modifiers::NONE)) = event.get(0) else { return None };
        let digit = usize::try_from(key.to_digit(10)?).ok()?;
        if !(1..=options).contains(&digit) || shown.elapsed() < GRACE {
            return None;
        }
        state.picked = Some(digit);
        Some(Cmd::AcceptLine)
    }
}
