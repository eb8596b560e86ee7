//! A spinner with what the run is doing, and the newest lines of streamed text below it.
//!
//! Drawn on standard error, and only if that is a terminal. Erased before anything else is printed.

use std::time::Duration;

use holdshort_protocol::plain;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::paint::Paint;

const TICK: Duration = Duration::from_millis(100);
/// Of streamed text: what is shown, and what is kept.
const TAIL_LINES: usize = 4;
const KEPT_BYTES: usize = 4_096;

#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    enabled: bool,
    paint: Paint,
    preview: String,
    /// Whose words these are: of agents who work side by side one is shown at a time.
    speaker: String,
}

impl Progress {
    pub(crate) fn new(paint: Paint) -> Self {
        Self {
            bar: None,
            enabled: console::Term::stderr().is_term(),
            paint,
            preview: String::new(),
            speaker: String::new(),
        }
    }

    /// Something new begins: what was streamed is over.
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
        let activity = if activity.is_empty() { "working" } else { activity };
        bar.set_prefix(self.paint.dim(activity));
        bar.enable_steady_tick(TICK);
        self.bar = Some(bar);
    }

    /// Text of a step as it arrives.
    pub(crate) fn stream(&mut self, step: &str, text: &str) {
        let Some(bar) = &self.bar else { return };
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
        let room = self.paint.width.saturating_sub(6);
        let text = plain::text(&self.preview);
        let lines: Vec<_> = text
            .lines()
            .flat_map(|line| textwrap::wrap(line, room))
            .filter(|line| !line.trim().is_empty())
            .collect();
        let tail = &lines[lines.len().saturating_sub(TAIL_LINES)..];
        let tail: Vec<String> = tail.iter().map(|line| format!("\n  {}", self.paint.dim(line))).collect();
        bar.set_message(tail.concat());
    }

    /// Leaves nothing behind.
    pub(crate) fn hide(&mut self) {
        self.preview.clear();
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
