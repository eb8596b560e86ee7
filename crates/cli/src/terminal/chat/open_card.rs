//! Card of an interrupt in a conversation, from its display until the interrupt is resolved.

use std::time::Instant;

use holdshort_protocol::{Interrupt, plain};

use super::{Asking, Chat};
use crate::terminal::card::{self, View};
use crate::terminal::prompt::Prompt;

impl Chat<'_> {
    /// Prints the card of an interrupt. Returns true if the card shows everything that the person decides on.
    pub(super) fn ask(&mut self, interrupt: Interrupt) -> bool {
        let said = self.runs.get(&interrupt.run).map_or("", |run| run.projector.last_message());
        let view = View { paint: self.paint, uncut: false, alone: false, said };
        let mut lines = vec![String::new()];
        lines.extend(card::render(&interrupt, view));
        lines.extend(card::options(&interrupt, self.paint));
        let cut_lines = card::cut_lines(&interrupt, view);
        let prompt = Prompt::new(interrupt, cut_lines);
        let is_whole = prompt.shows_all();
        if prompt.digits() > 0 && self.keyboard.is_live() {
            // A decision on a risky or cut card must be confirmed.
            let is_sent = is_whole && !prompt.interrupt.risk.level.is_risky();
            let does = if is_sent { "decides" } else { "chooses" };
            lines.push(self.paint.dim(&format!("  a digit {does} at once")));
        }
        lines.extend(prompt.keys(self.paint));
        self.keyboard.forget();
        self.keyboard.take_digits(prompt.digits());
        self.asking = Some(Asking { prompt, shown: Instant::now() });
        self.is_settled = None;
        self.keyboard.print(&lines);
        is_whole
    }

    /// Removes the card of an interrupt that was resolved elsewhere. Text that the person began to type as an answer to
    /// this card is printed and not sent.
    pub(super) fn withdraw(&mut self) {
        if let Some(asking) = &self.asking {
            self.withdrawn.push((asking.shown, Instant::now()));
        }
        self.put_away();
        if let Some(text) = self.keyboard.take_begun() {
            self.not_sent(&text);
        }
    }

    /// Prints text that a person typed for a card that is removed now, with a remark that the text was not sent.
    pub(super) fn not_sent(&self, text: &str) {
        self.note(&format!("Not sent: {}", plain::line(text.trim())));
    }

    /// Returns true if a card that has been removed since was on the screen at the time `begun`, when the person began
    /// to type.
    pub(super) fn was_for_withdrawn(&self, begun: Instant) -> bool {
        self.withdrawn.iter().any(|(shown, gone)| (*shown..*gone).contains(&begun))
    }

    pub(super) fn put_away(&mut self) {
        self.asking = None;
        self.is_settled = None;
        self.keyboard.take_digits(0);
    }
}
