//! Redacted view of an interrupt, for people who are not allowed to see all values of the payload.
//!
//! A placeholder (*mark*) replaces each hidden value. If another value of the payload contains the text of a hidden
//! value, a mark also replaces that value. Data that is computed from the payload (a diff, a summary, a digest that
//! could be guessed) is left out completely. A text is shown unchanged if its author is not allowed to see the hidden
//! values either. A mark in such a text would confirm a guess of the author.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::payload::mark;
use super::{pointers, sees_as};
use crate::actor::Role;
use crate::digest::Digest;
use crate::gate::Source;
use crate::interrupt::{About, Assignment, Comment, Effect, Interrupt, Opened, Vote, Voter};
use crate::people::People;

/// Values of a payload that are hidden from a person, and texts that could reveal these values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    /// JSON pointers to the hidden values in the payload.
    pub places: BTreeSet<String>,
    /// Texts and numbers in the hidden values, which are replaced in all displayed texts.
    words: BTreeSet<String>,
}

/// Interrupt without the hidden values.
#[derive(Clone, Debug)]
pub struct RedactedInterrupt {
    pub interrupt: Interrupt,
    pub cover: Cover,
}

/// Text that replaces a part of a displayed text which could reveal a hidden value.
const IN_TEXT: &str = "[withheld]";

/// Keys of a card that are shown even if one value of the card is hidden. All other keys are left out, because their
/// values may be computed from hidden values.
pub(super) const SHOWN: [&str; 36] = [
    "arguments",
    "asker",
    "attempt",
    "call_id",
    "category",
    "choices",
    "content",
    "context",
    "continuations",
    "cwd",
    "details",
    "error",
    "findings",
    "from",
    "id",
    "input",
    "iteration",
    "kind",
    "limit",
    "output",
    "phase",
    "plan",
    "position",
    "proposals",
    "question",
    "questions",
    "redos",
    "reason",
    "risk_level",
    "round",
    "spent",
    "title",
    "to",
    "tool",
    "version",
    "workspace",
];

/// Keys that the gates add to the card of an external agent's call. The redacted card does not contain these keys.
const MADE: [&str; 3] = ["diff", "grant", "new_file"];

impl Interrupt {
    /// Returns the interrupt as people with this role are allowed to see it. `None` if nothing is hidden from the role.
    pub fn redact_for(&self, sees: Role, people: &People) -> Option<RedactedInterrupt> {
        let patterns = self.withheld_from(sees);
        let mut cover = self.cover(&patterns);
        let mut edits = self.votes.iter().filter(|vote| !vote.edit.is_null());
        let hides = |vote: &Vote| !self.edit_places(vote, &cover, &patterns, people).is_empty();
        let holds =
            |comment: &Comment| !places(&comment.found["payload"], &patterns, &cover.words).is_empty();
        if cover.places.is_empty() && !edits.any(hides) && !self.comments.iter().any(holds) {
            return None;
        }
        let mut shown = self.clone();
        cover.opened(&mut shown.opened);
        cover.stages(&mut shown.assignment);
        shown.content = cover.content(self);
        for vote in &mut shown.votes {
            vote.edit = self.covered_edit(vote, &cover, &patterns, people);
            if !self.is_blind(&vote.by, vote.role, &patterns, people) {
                vote.text = vote.text.as_deref().map(|text| cover.text(text));
                vote.on_behalf_of = vote.on_behalf_of.as_deref().map(|name| cover.text(name));
            }
        }
        for comment in &mut shown.comments {
            if !self.is_blind(&comment.by, comment.role, &patterns, people) {
                comment.text =
                    comment.text.as_deref().map(|text| cover.redact_comment(text, &comment.found, &patterns));
            }
            comment.found = Value::Null;
        }
        if let Some((given, _)) = &mut shown.kept.corrected {
            given.text = given.text.as_deref().map(|text| cover.text(text));
            given.edit = cover.value(&given.edit, &patterns);
        }
        // Withheld places that the card does not display are not listed.
        let payload = shown.content.get("payload");
        let is_shown = |place: &&String| payload.is_some_and(|payload| payload.pointer(place).is_some());
        let listed: BTreeSet<String> = cover.places.iter().filter(is_shown).cloned().collect();
        // If the card displays no withheld place, all withheld places are listed. Without the list, people could not
        // see that values are withheld.
        if !listed.is_empty() {
            cover.places = listed;
        }
        Some(RedactedInterrupt { interrupt: shown, cover })
    }

    /// Returns a SHA-256 digest of the content that this voter sees, so without the values that are hidden from the
    /// voter. The digest is computed from canonical JSON.
    pub fn digest_shown(&self, voter: &Voter<'_>) -> Digest {
        let covered = self.redact_for(sees_as(&voter.actor.id, voter.actor.role, voter.people), voter.people);
        Digest::of_json(covered.as_ref().map_or(&self.content, |covered| &covered.interrupt.content))
    }

    /// Returns the edit of a vote, with placeholders (*marks*) instead of the hidden values.
    pub(crate) fn covered_edit(
        &self,
        vote: &Vote,
        cover: &Cover,
        patterns: &[&str],
        people: &People,
    ) -> Value {
        // An edit of this option only names changes of a trial, and the redacted card does not display these changes.
        let names = self.offers(&vote.option).is_some_and(|offer| offer.effect == Effect::ProceedWithSome);
        if vote.edit.is_null() || names {
            return Value::Null;
        }
        // If several votes have the same edit, the mark names the first of these votes.
        let first =
            self.votes.iter().find(|other| other.edit == vote.edit).map_or(vote.seq, |first| first.seq);
        let edit = self.as_payload(vote.edit.clone());
        self.as_edit(marked(edit, self.edit_places(vote, cover, patterns, people), Some(first)))
    }

    /// Returns the JSON pointers to the hidden values in the edit of a vote.
    pub(super) fn edit_places(
        &self,
        vote: &Vote,
        cover: &Cover,
        patterns: &[&str],
        people: &People,
    ) -> BTreeSet<String> {
        let edit = self.as_payload(vote.edit.clone());
        let mut authors = self.authors.values();
        let is_blind = self.is_blind(&vote.by, vote.role, patterns, people)
            && authors.all(|author| self.is_blind(&author.id, author.role, patterns, people));
        if !is_blind {
            return places(&edit, patterns, &cover.words);
        }
        // Only places at which the author of the edit saw marks are added.
        let mut found = places(&edit, patterns, &BTreeSet::new());
        found.extend(cover.places.iter().filter(|place| edit.pointer(place).is_some()).cloned());
        pointers::outermost(&found)
    }

    /// Returns true if the values at the JSON pointers `patterns` are also hidden from the person `id`. In this case,
    /// texts by the person cannot reveal the values.
    pub(crate) fn is_blind(&self, id: &str, role: Role, patterns: &[&str], people: &People) -> bool {
        // A person who has left may have seen the values earlier. Texts of this person may therefore reveal the values.
        if people.is_barred(id) {
            return false;
        }
        let theirs = self.withheld_from(sees_as(id, role, people));
        patterns.iter().all(|pattern| theirs.contains(pattern))
    }

    /// Returns the hidden values of the payload, of all current edits, and of services' findings in comments.
    pub(crate) fn cover(&self, patterns: &[&str]) -> Cover {
        let mut cover = Cover::default();
        if patterns.is_empty() {
            return cover;
        }
        let payload = self.payload();
        cover.add(&payload, patterns);
        for vote in self.votes.iter().filter(|vote| !vote.edit.is_null()) {
            cover.add(&self.as_payload(vote.edit.clone()), patterns);
        }
        for comment in &self.comments {
            cover.add(&comment.found["payload"], patterns);
        }
        cover.places = places(&payload, patterns, &cover.words);
        cover
    }
}

/// Returns JSON pointers to the hidden values in a payload: values at a pointer that matches a pattern, and values that
/// contain one of `words`.
pub(super) fn places(payload: &Value, patterns: &[&str], words: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found: BTreeSet<String> =
        patterns.iter().flat_map(|pattern| pointers::find_matching(payload, pattern)).collect();
    pointers::holding("", payload, words, &mut found);
    pointers::outermost(&found)
}

/// Replaces the values at these JSON pointers, in a payload or an edit, with placeholders (*marks*).
fn marked(mut value: Value, places: BTreeSet<String>, edit_of: Option<u64>) -> Value {
    for place in places {
        if let Some(value) = value.pointer_mut(&place) {
            *value = mark(&place, edit_of);
        }
    }
    value
}

impl Cover {
    /// Returns true if nothing is hidden from the person.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty() && self.words.is_empty()
    }

    /// Removes hidden data from the facts that were stored when the interrupt was opened.
    pub(crate) fn opened(&self, opened: &mut Opened) {
        opened.action_digest = None;
        self.stages(&mut opened.assignment);
        for offer in &mut opened.options {
            offer.label = self.text(&offer.label);
        }
        for reason in &mut opened.risk.reasons {
            let is_of_rule = reason.rule.is_some()
                || matches!(reason.source, Source::Default | Source::System | Source::Run | Source::Workflow);
            if !is_of_rule {
                "not shown: it is derived from values that are withheld from you"
                    .clone_into(&mut reason.text);
            }
        }
    }

    /// Redacts the names of stages, because the agent or service that opened the interrupt wrote these names.
    pub(crate) fn stages(&self, assignment: &mut Assignment) {
        for stage in &mut assignment.stages {
            stage.name = stage.name.as_deref().map(|name| self.text(name));
        }
    }

    /// Adds the hidden values of a further value that has the structure of the payload, such as an edit, to the values
    /// that are hidden.
    pub(crate) fn add(&mut self, payload: &Value, patterns: &[&str]) {
        for place in patterns.iter().flat_map(|pattern| pointers::find_matching(payload, pattern)) {
            if let Some(value) = payload.pointer(&place) {
                pointers::collect_words(value, &mut self.words);
            }
            self.places.insert(place);
        }
    }

    /// Replaces the parts of a text that could reveal a hidden value.
    pub fn text(&self, text: &str) -> String {
        // Longer words come first, because a shorter word may be a part of a longer word.
        let mut words: Vec<&String> = self.words.iter().collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.into_iter().fold(text.to_owned(), |text, word| text.replace(word.as_str(), IN_TEXT))
    }

    /// Redacts a comment. If the comment is the finding of a service, its text is rendered again from the finding
    /// without the hidden values.
    pub(crate) fn redact_comment(&self, text: &str, found: &Value, patterns: &[&str]) -> String {
        if found.is_null() {
            return self.text(text);
        }
        let payload = &found["payload"];
        let title =
            self.title(found["title"].as_str().unwrap_or_default(), &places(payload, patterns, &self.words));
        Comment::describe_finding(&json!({ "title": title, "payload": self.value(payload, patterns) }))
    }

    /// Redacts the title of a service's finding. If the finding is hidden, its title is hidden, too, because the title
    /// and the finding begin with the same text.
    fn title(&self, title: &str, places: &BTreeSet<String>) -> String {
        let is_of_it = |place: &String| place.is_empty() || format!("{place}/").starts_with("/findings/");
        let is_withheld = places.iter().any(is_of_it);
        if is_withheld { IN_TEXT.to_owned() } else { self.text(title) }
    }

    /// Replaces hidden values with placeholders (*marks*). The value must have the structure of the payload.
    pub(crate) fn value(&self, value: &Value, patterns: &[&str]) -> Value {
        marked(value.clone(), places(value, patterns, &self.words), None)
    }

    /// Returns the interrupt's content (`{title, message, payload, response_schema?}`), with placeholders (*marks*)
    /// instead of the hidden values.
    pub(crate) fn content(&self, interrupt: &Interrupt) -> Value {
        let mut content = interrupt.content.clone();
        let Some(members) = content.as_object_mut() else { return content };
        let is_held = interrupt.opened.about == About::Hold;
        // The card of a hold is displayed in the form in which the service sent it.
        let is_own = interrupt.opened.about != About::External && !is_held;
        let payload = interrupt.payload();
        let tool = payload.get("tool").and_then(Value::as_str).filter(|_| is_own);
        let title = tool.unwrap_or_else(|| interrupt.content_text("title"));
        // The message of a call is the agent's description of the call, so it may repeat withheld values.
        let message = if tool.is_some() { "" } else { interrupt.content_text("message") };
        let title = if is_held { self.title(title, &self.places) } else { self.text(title) };
        members.insert("title".to_owned(), title.into());
        members.insert("message".to_owned(), self.text(message).into());
        // The member `call` contains the external agent's call, including the text before and after the change.
        let is_called = members.remove("call").is_some();
        if let Some(schema) = members.get("response_schema") {
            let mut held = BTreeSet::new();
            pointers::holding("", schema, &self.words, &mut held);
            if !held.is_empty() {
                members.remove("response_schema");
            }
        }
        let mut shown = marked(payload, self.places.clone(), None);
        // If the complete payload is withheld, only its mark remains.
        if let Some(fields) = shown.as_object_mut().filter(|_| !self.places.contains("")) {
            fields.retain(|name, _| {
                if is_own {
                    SHOWN.contains(&name.as_str())
                } else {
                    !is_called || !MADE.contains(&name.as_str())
                }
            });
        }
        members.insert("payload".to_owned(), shown);
        content
    }
}
