//! Holds: a service stops a run until a person has reviewed the run (contract D2). A hold is a single `review`
//! interrupt about the whole run.
//!
//! Running work is completed, and its results are kept. No further work begins before the approval. A hold only delays
//! a run. Therefore every actor who is allowed to ask people can hold every run.

use serde_json::{Value, json};

use super::draft::{Draft, Opening};
use super::external::unkeepable;
use super::input::{Hold, Rejection};
use super::{Fact, Origin, Run};
use crate::digest::Digest;
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{About, Cause, Comment, Interrupt, Kind, Offer, Outcome, option};
use crate::limits;
use crate::schema::Problem;

impl Draft<'_> {
    /// Stops the run until a person has reviewed the run. If a review of the run is already open, adds the service's
    /// finding to this review. An identical finding is added only once.
    pub(super) fn hold(&mut self, hold: Hold) -> Result<(), Rejection> {
        if self.run.started.as_ref().is_none_or(|started| started.origin != Origin::Native) {
            let why = "its agent runs in another system, and only that system can hold it";
            return Err(Rejection::NotInterruptible(why));
        }
        let Hold { title, message, payload, risk, expires_in_ms } = hold;
        let mut problems = Vec::new();
        for (pointer, text, most) in
            [("/title", &title, limits::TITLE_BYTES), ("/message", &message, limits::TEXT_BYTES)]
        {
            if text.len() > most {
                problems.push(Problem::new(pointer, format!("is longer than {most} bytes")));
            }
        }
        problems.extend(unkeepable(&payload, "/payload"));
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        if let Some(review) = self.run.open_review().cloned() {
            return self.add_finding(&review, &title, &payload);
        }
        let mut opening = Opening::new(Kind::Review, About::Hold, title);
        opening.only = &["approve", "reject"];
        opening.message = message;
        opening.payload = payload;
        opening.risk = risk;
        opening.agent = Some(self.cx.actor.id.clone());
        opening.expires_in_ms = expires_in_ms;
        let interrupt = self.open(opening);
        if self.run.is_unreviewed() {
            self.let_through(&interrupt);
        }
        Ok(())
    }

    /// Adds a service's finding to an open review as a comment that the approvers can read, instead of opening a second
    /// review.
    fn add_finding(&mut self, review: &Interrupt, title: &str, payload: &Value) -> Result<(), Rejection> {
        let found = json!({ "title": title, "payload": payload });
        let text = Comment::describe_finding(&found);
        let is_said = review.content.get("payload").map(Digest::of_json) == Some(Digest::of_json(payload))
            || review.comments.iter().any(|comment| comment.text.as_deref() == Some(&*text));
        if is_said {
            return Ok(());
        }
        if review.comments.len() >= limits::COMMENTS {
            return Err(Rejection::Limit { name: "comments", limit: limits::COMMENTS as u64 });
        }
        let interrupt = review.opened.interrupt.clone();
        // The finding is also stored as data, because a withheld field can be removed from data but not from a text.
        self.emit(Fact::CommentAdded { interrupt }, Content { text: Some(text), data: found });
        Ok(())
    }

    /// Approves a review of the run without asking a person, because reviews are switched off. The journal records the
    /// review.
    pub(super) fn let_through(&mut self, interrupt: &InterruptId) -> Offer {
        let opened = self.run.interrupts.get(interrupt).map(|each| (**each).clone());
        let offered = opened.and_then(|each| each.offers("approve").cloned());
        let approve = offered.unwrap_or_else(|| {
            Offer::from_row(option(Kind::Review, "approve").unwrap_or(&Kind::Review.row().options[0]))
        });
        self.resolve(interrupt, Outcome::Approved, Some(&approve), Cause::Unasked);
        approve
    }
}

impl Run {
    /// Returns the open interrupt of the kind `review` that was opened first in the run.
    pub fn open_review(&self) -> Option<&Interrupt> {
        let reviews = self.open_interrupts().filter(|(_, each)| each.opened.kind == Kind::Review);
        reviews.map(|(_, each)| each).min_by_key(|each| each.opened_seq)
    }

    /// Returns true if reviews in the run are approved at once, without a person.
    pub(super) fn is_unreviewed(&self) -> bool {
        self.config().is_some_and(|config| config.unreviewed)
    }
}
