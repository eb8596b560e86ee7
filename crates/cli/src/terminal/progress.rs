//! A spinner with the current activity of the run and, below it, the newest lines of streamed text.
//!
//! The spinner is drawn on standard error, and only if standard error is a terminal. The spinner is erased before
//! anything else is printed.

use std::time::Duration;

use holdshort_protocol::plain;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::paint::Paint;

const TICK: Duration = Duration::from_millis(100);
/// Maximum number of lines of streamed text that are shown below the spinner.
const TAIL_LINES: usize = 4;
const KEPT_BYTES: usize = 4_096;

#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    enabled: bool,
    paint: Paint,
    preview: String,
    /// Description of the run's current activity, shown next to the spinner.
    activity: String,
    /// Number of working agents in words, which the spinner shows instead of the activity.
    counted: String,
    team: Vec<String>,
    /// Id of the step whose streamed text is shown below the spinner. If several steps run in parallel, the text of
    /// only one is shown.
    speaker: String,
}

impl Progress {
    pub(crate) fn new(paint: Paint) -> Self {
        Self {
            bar: None,
            enabled: console::Term::stderr().is_term(),
            paint,
            preview: String::new(),
            activity: String::new(),
            counted: String::new(),
            team: Vec::new(),
            speaker: String::new(),
        }
    }

    /// Shows a new activity of the run next to the spinner, and discards the text that was streamed so far.
    pub(crate) fn show(&mut self, activity: &str) {
        if !self.enabled {
            return;
        }
        let style = ProgressStyle::with_template("{spinner} {prefix} {elapsed:.dim}{msg}");
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = style {
            bar.set_style(style);
        }
        self.hide();
        activity.clone_into(&mut self.activity);
        self.bar = Some(bar.clone());
        self.draw();
        bar.enable_steady_tick(TICK);
    }

    pub(crate) fn is_shown(&self) -> bool {
        self.bar.is_some()
    }

    /// Returns true if progress is shown because standard error is a terminal.
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Shows the agents that work on the run next to the spinner. With empty `lines`, the activity is shown instead.
    pub(crate) fn team(&mut self, counted: String, lines: Vec<String>) {
        (self.counted, self.team) = (counted, lines);
        self.draw();
    }

    /// Adds streamed text of a step to the lines below the spinner.
    pub(crate) fn stream(&mut self, step: &str, text: &str) {
        if self.bar.is_none() {
            return;
        }
        if self.preview.is_empty() {
            step.clone_into(&mut self.speaker);
        }
        if self.speaker != step {
            return;
        }
        self.preview.push_str(text);
        if self.preview.len() > KEPT_BYTES {
            let mut cut = self.preview.len() - KEPT_BYTES / 2;
            while !self.preview.is_char_boundary(cut) {
                cut += 1;
            }
            self.preview.drain(..cut);
        }
        self.draw();
    }

    fn draw(&self) {
        let Some(bar) = &self.bar else { return };
        let activity = match &*self.activity {
            _ if !self.team.is_empty() => self.counted.as_str(),
            "" => "working",
            activity => activity,
        };
        bar.set_prefix(self.paint.dim(activity));
        let room = self.paint.width.saturating_sub(6);
        let text = plain::text(&self.preview);
        let lines: Vec<_> = text
            .lines()
            .flat_map(|line| textwrap::wrap(line, room))
            .filter(|line| !line.trim().is_empty())
            .collect();
        let tail = &lines[lines.len().saturating_sub(TAIL_LINES)..];
        let tail = tail.iter().map(|line| format!("  {line}"));
        let lines = self.team.iter().cloned().chain(tail);
        let lines: Vec<String> = lines.map(|line| format!("\n{}", self.paint.dim(&line))).collect();
        bar.set_message(lines.concat());
    }

    /// Erases the spinner and the streamed text below it.
    pub(crate) fn hide(&mut self) {
        self.preview.clear();
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
