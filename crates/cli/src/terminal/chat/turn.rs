//! A turn of the person: a point at which a run waits for the person's next message. A turn begins after a round of a
//! copilot, or after an interruption. A turn has no card: the next text that the person types is sent to the run as a
//! message of the session. A text never decides on an interrupt.

use holdshort_protocol::{Decision, Event, Interrupt, plain};
use serde_json::Value;

use super::{Chat, TURN, Typed};
use crate::limits::HELD_LINES;
use crate::terminal::quote::{brief, quote};

/// Hint that is printed when a run waits for the person after an interruption.
pub(super) const GUIDE: &str =
    "Say what to do instead, or press Enter to continue as before; /done ends the task.";

/// Point at which a run waits for the person's next message.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) interrupt: String,
    pub(super) run: String,
    options: Vec<String>,
    after: After,
    /// True if the hint about this turn of the person was already printed.
    is_told: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum After {
    /// The run waits after a round of work. Contains the title of the question that the run asks.
    Round(String),
    Interruption,
}

impl Turn {
    /// Returns the turn of the person that an event begins. Returns `None` for any other event. An interrupt that a
    /// message cannot answer gets a card.
    fn from_event(event: &Event) -> Option<Self> {
        let string = |pointer: &str| event.data.pointer(pointer).and_then(Value::as_str);
        let offers = event.data.get("options").and_then(Value::as_array)?.iter();
        let options: Vec<String> =
            offers.filter_map(|offer| offer.get("id")?.as_str()).map(str::to_owned).collect();
        let after = match string("/about") {
            Some("interruption") => After::Interruption,
            Some(_) | None => After::Round(string("/content/data/title").unwrap_or_default().to_owned()),
        };
        let takes_words = options.iter().any(|option| option == "submit");
        (string("/kind") == Some("turn") && takes_words).then(|| Self {
            interrupt: string("/interrupt").unwrap_or_default().to_owned(),
            run: event.stream.clone(),
            options,
            after,
            is_told: false,
        })
    }

    pub(super) fn is_of_interruption(&self) -> bool {
        self.after == After::Interruption
    }

    fn hint(&self) -> String {
        match &self.after {
            After::Round(title) => format!("{} Say what is next, or /done.", plain::line(title)),
            After::Interruption => format!("The agent was interrupted. {GUIDE}"),
        }
    }
}

impl Chat<'_> {
    /// Returns true if interrupted work waits for a message of the person. Cards of other questions are then shown
    /// later.
    pub(super) fn is_interrupted(&self) -> bool {
        !self.interrupting.is_empty() || self.turns.iter().any(Turn::is_of_interruption)
    }

    /// Stores typed input until it is known to which turn of the person the input belongs.
    pub(super) fn hold(&mut self, typed: Typed) {
        if self.held.len() < HELD_LINES {
            self.held.push_back(typed);
        } else if let Typed::Text { text, .. } = typed {
            let brief = brief(text.trim(), self.paint.width / 2);
            self.note(&format!(
                "{HELD_LINES} lines already wait to be sent, so “{brief}” was dropped. Ctrl-C leaves."
            ));
        }
    }

    /// Returns the turn of the person after a round. The next message is sent to the run of this turn.
    pub(super) fn resting(&self) -> Option<&Turn> {
        self.turns.iter().find(|turn| !turn.is_of_interruption())
    }

    /// Records the turn of the person that an event begins. Returns true if a turn was recorded. A turn after a round
    /// is recorded only for the front run, which is the run that a message started last.
    pub(super) fn record_turn(&mut self, event: &Event) -> bool {
        let Some(mut turn) = Turn::from_event(event) else { return false };
        if turn.is_of_interruption() {
            // A person who pressed Ctrl-C in this terminal has already seen the hint.
            turn.is_told = self.struck;
            self.put_away();
        } else if self.front.as_ref() != Some(&turn.run) {
            return false;
        }
        self.turns.push(turn);
        self.is_settled = None;
        true
    }

    /// Removes and returns the turn of the person whose interrupt the event resolves.
    pub(super) fn remove_turn(&mut self, event: &Event) -> Option<Turn> {
        let id = event.data.get("interrupt").and_then(Value::as_str)?;
        let at = self.turns.iter().position(|turn| turn.interrupt == id)?;
        Some(self.turns.remove(at))
    }

    /// Prints the message that ended a turn of the person. A message from this terminal is already on the screen, and
    /// is not printed again.
    pub(super) fn print_turn_message(&mut self, event: &Event, text: &str) {
        let id = event.data.get("interrupt").and_then(Value::as_str);
        let Some(turn) = self.turns.iter().find(|turn| id == Some(&turn.interrupt)) else { return };
        if text.is_empty() {
            return;
        }
        let (interrupt, run) = (turn.interrupt.clone(), turn.run.clone());
        if !self.is_mine(text) {
            let lead = self.person(&event.actor.id);
            self.keyboard.print(&quote(text, &lead, TURN, self.paint));
        }
        if let Some(known) = self.runs.get_mut(&run) {
            known.projector.mark_decided_here(&interrupt);
        }
    }

    /// Prints the hint of each turn of the person for which no hint has been printed yet.
    pub(super) fn print_turn_hints(&mut self) {
        for turn in self.turns.iter_mut().filter(|turn| !turn.is_told) {
            turn.is_told = true;
            let lines = self.paint.fold(&format!("  {}", self.paint.dim(&turn.hint())), 2);
            self.keyboard.print(&lines);
        }
    }

    /// Chooses the option for each turn of the person that offers this option, without a text. If runs were
    /// interrupted, answers only the turns after interruptions. Returns true if a turn was answered.
    pub(super) async fn answer_turns(&mut self, option: &str) -> bool {
        let of_interruption = self.turns.iter().any(Turn::is_of_interruption);
        let offers = |turn: &&Turn| {
            turn.is_of_interruption() == of_interruption
                && turn.options.iter().any(|offered| offered == option)
        };
        let turns: Vec<(String, String)> =
            self.turns.iter().filter(offers).map(|turn| (turn.run.clone(), turn.interrupt.clone())).collect();
        let decision = Decision { option: option.to_owned(), ..Decision::default() };
        for (run, interrupt) in &turns {
            let path = format!("/v1/interrupts/{interrupt}/decisions");
            match self.client.post::<Interrupt>(&path, &decision).await {
                Ok(_) => {
                    if let Some(known) = self.runs.get_mut(run) {
                        known.projector.mark_decided_here(interrupt);
                    }
                }
                Err(error) => self.refused(&error),
            }
        }
        self.is_settled = None;
        !turns.is_empty()
    }
}
