//! A person's turn after a round of a copilot: no card, for what is typed next is the turn. Never decides by itself: words
//! are said in the session, and the journal says that they were heard there.

use holdshort_protocol::{Decision, Event, Interrupt, plain};
use serde_json::Value;

use super::{Chat, TURN};
use crate::terminal::quote::quote;

/// It is open, in the run that hears the next word.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) interrupt: String,
    pub(super) run: String,
    /// What is asked.
    title: String,
    /// The person was told.
    is_told: bool,
}

impl Turn {
    /// One that words are enough for; every other one has a card.
    fn of(event: &Event) -> Option<Self> {
        let string = |pointer: &str| event.data.pointer(pointer).and_then(Value::as_str);
        let offers = event.data.get("options").and_then(Value::as_array)?;
        let takes_words =
            offers.iter().any(|offer| offer.get("id").and_then(Value::as_str) == Some("submit"));
        (string("/kind") == Some("turn") && takes_words).then(|| Self {
            interrupt: string("/interrupt").unwrap_or_default().to_owned(),
            run: event.stream.clone(),
            title: string("/content/data/title").unwrap_or_default().to_owned(),
            is_told: false,
        })
    }
}

impl Chat<'_> {
    /// Takes a turn that opens or ends. Whether the event was about one.
    pub(super) fn follow_turn(&mut self, event: &Event) -> bool {
        let is_turn =
            |turn: &Turn| event.data.get("interrupt").and_then(Value::as_str) == Some(&turn.interrupt);
        match event.kind.as_str() {
            "interrupt_opened" if self.front.as_ref() == Some(&event.stream) => {
                let Some(turn) = Turn::of(event) else { return false };
                self.turn = Some(turn);
                true
            }
            "interrupt_resolved" => self.turn.take_if(|turn| is_turn(turn)).is_some(),
            _ => false,
        }
    }

    /// What was said in a turn: here it stands on the screen already, from elsewhere it is told as any other word.
    pub(super) fn said_in_turn(&mut self, event: &Event, text: &str) {
        let id = event.data.get("interrupt").and_then(Value::as_str);
        let Some(turn) = self.turn.as_ref().filter(|turn| id == Some(&turn.interrupt)) else { return };
        if text.is_empty() {
            return;
        }
        let (interrupt, run) = (turn.interrupt.clone(), turn.run.clone());
        if !self.is_mine(text) {
            let lead = self.person(&event.actor.id);
            self.keyboard.print(&quote(text, &lead, TURN, self.paint));
        }
        if let Some(known) = self.runs.get_mut(&run) {
            known.projector.is_ours(&interrupt);
        }
    }

    /// Says once whose turn it is.
    pub(super) fn tell_turn(&mut self) {
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.is_told) else { return };
        turn.is_told = true;
        let text = format!("{} Say what is next, or /done.", plain::line(&turn.title));
        let lines = self.paint.fold(&format!("  {}", self.paint.dim(&text)), 2);
        self.keyboard.print(&lines);
    }

    /// The work is done: what is said next begins anew.
    pub(super) async fn done(&mut self) -> anyhow::Result<()> {
        let Some(turn) = &self.turn else {
            self.note("Nothing waits for that: what you say is heard, or begins the next piece of work.");
            return Ok(());
        };
        let (interrupt, run) = (turn.interrupt.clone(), turn.run.clone());
        let decision = Decision { option: "done".to_owned(), ..Decision::default() };
        let path = format!("/v1/interrupts/{interrupt}/decisions");
        let _: Interrupt = self.client.post(&path, &decision).await?;
        if let Some(known) = self.runs.get_mut(&run) {
            known.projector.is_ours(&interrupt);
        }
        Ok(())
    }
}
