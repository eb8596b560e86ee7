//! Redacts events about an interrupt for people with a certain role. Values that are hidden from this role are removed.

use serde_json::Value;

use crate::actor::{Actor, Role};
use crate::event::{self, Event};
use crate::interrupt::{Interrupt, Vote};
use crate::people::People;
use crate::run::Fact;

impl Interrupt {
    /// Redacts an event about the interrupt. Removes the values that people with the role `sees` are not allowed to
    /// see.
    pub fn cover_event(&self, sees: Role, people: &People, event: &mut Event, seq: u64) {
        let patterns = self.withheld_from(sees);
        if patterns.is_empty() {
            return;
        }
        let mut cover = self.cover(&patterns);
        let vote = Vote::from_event(event, seq);
        if let Some(vote) = &vote {
            // A later vote may have replaced this vote in the state, so the values of this vote are added here.
            cover.add(&self.as_payload(vote.edit.clone()), &patterns);
        }
        if let event::Fact::Run(Fact::CommentAdded { .. }) = &event.fact {
            cover.add(&event.content.data["payload"], &patterns);
        }
        let event::Fact::Run(fact) = &mut event.fact else { return };
        if cover.is_empty() {
            return;
        }
        let Actor { id, role, .. } = &event.actor;
        // Only in these events is the actor always the author of the text.
        let is_said = matches!(
            fact,
            Fact::DecisionMade { .. } | Fact::CommentAdded { .. } | Fact::InterruptReassigned { .. }
        );
        let is_blind = is_said && self.is_blind(id, *role, &patterns, people);
        let shown = |text: &str| if is_blind { text.to_owned() } else { cover.text(text) };
        if let Fact::CommentAdded { .. } = fact
            && let found @ Value::Object(_) = event.content.data.take()
        {
            event.content.text =
                event.content.text.as_deref().map(|text| cover.redact_comment(text, &found, &patterns));
            return;
        }
        event.content.text = event.content.text.as_deref().map(shown);
        if let Fact::InterruptReassigned { assignment, .. } | Fact::InterruptEscalated { assignment, .. } =
            fact
        {
            cover.stages(assignment);
        }
        if let Fact::InterruptOpened(opened) = fact {
            // Labels of options are content. `cover.content` removes withheld values from the labels.
            **opened = self.opened.clone();
            cover.opened(opened);
            event.content.data = cover.content(self);
        } else if let Some(vote) = vote {
            if let Fact::DecisionMade { on_behalf_of, .. } = fact {
                *on_behalf_of = on_behalf_of.as_deref().map(shown);
            }
            event.content.data = self.covered_edit(&vote, &cover, &patterns, people);
        } else if let Fact::InterruptViewed { .. } = fact {
            // The digest covers the whole card, so it would reveal information about the withheld values.
            event.content.data = Value::Null;
        } else {
            event.content.data = cover.value(&event.content.data, &patterns);
        }
    }
}
