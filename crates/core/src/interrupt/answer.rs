//! Answers to questions, their later corrections, and their erasure.

use serde_json::Value;

use super::{AnswerContent, Cause, Effect, Interrupt, Kind, Offer, Outcome, Vote};

impl Interrupt {
    /// Returns true if choosing this option answers the question.
    pub fn is_answered_by(&self, offer: &Offer) -> bool {
        self.opened.kind == Kind::Question && offer.effect == Effect::Respond
    }

    /// Returns the option that a person chooses to answer the question.
    pub fn answering(&self) -> Option<&Offer> {
        self.opened.options.iter().find(|offer| self.is_answered_by(offer))
    }

    /// Returns the current answer to the question. Returns `None` if the question has no answer, or if the answer was
    /// erased.
    pub fn answer(&self) -> Option<AnswerContent> {
        if self.kept.erased || !self.was_answered() {
            return None;
        }
        if let Some((given, _)) = &self.kept.corrected {
            return Some(given.clone());
        }
        Some(self.answer_from_votes())
    }

    /// Returns the answer in the form in which later questions can reuse it. If several people gave equal answers,
    /// returns the answer once.
    pub fn answer_kept(&self) -> Option<AnswerContent> {
        let answer = self.answer()?;
        let each = self.each_given();
        let alike = each.split_first().filter(|((_, first), rest)| {
            rest.iter().all(
                |(_, other)| {
                    if first.edit.is_null() { other == first } else { other.edit == first.edit }
                },
            )
        });
        Some(alike.map_or(answer, |((_, first), _)| first.clone()))
    }

    /// Returns the text and the data of the votes that decided the question. If several people answered, each answer
    /// begins with the name of its author.
    pub fn answer_from_votes(&self) -> AnswerContent {
        let gathered = self.gathered();
        if gathered.is_empty() {
            let edit = self.settled_by().map(|vote| vote.edit.clone()).unwrap_or_default();
            return AnswerContent { text: self.agreed_text(), edit };
        }
        let told = gathered.iter().flat_map(|vote| {
            let words = vote.text.as_deref().filter(|text| !text.is_empty()).map(str::to_owned);
            let data = (!vote.edit.is_null()).then(|| vote.edit.to_string());
            data.into_iter().chain(words).map(|said| format!("{}: {said}", vote.by))
        });
        AnswerContent { text: Some(told.collect::<Vec<_>>().join("\n")), edit: Value::Null }
    }

    /// Returns each person's id and answer, in the order of the votes. Empty if one answer is enough for the question.
    pub fn each_given(&self) -> Vec<(&str, AnswerContent)> {
        if self.kept.erased || self.kept.corrected.is_some() {
            return Vec::new();
        }
        let given = |vote: &'_ Vote| AnswerContent { text: vote.text.clone(), edit: vote.edit.clone() };
        self.gathered().into_iter().map(|vote| (vote.by.as_str(), given(vote))).collect()
    }

    /// Returns the votes on a question that several people must answer.
    fn gathered(&self) -> Vec<&Vote> {
        let mut agreed = self.agreed();
        agreed.retain(|vote| self.offers(&vote.option).is_some_and(|offer| self.is_gathered(offer)));
        agreed
    }

    /// Returns true if a person answered the question, or if the answer to an earlier question was reused.
    pub fn was_answered(&self) -> bool {
        let Some(resolution) = &self.resolution else { return false };
        let option = resolution.option.as_deref().and_then(|option| self.offers(option));
        resolution.outcome == Outcome::Answered
            && matches!(resolution.cause, Cause::Decision | Cause::Reused(_))
            && option.is_some_and(|offer| self.is_answered_by(offer))
    }

    /// Returns the question in the words of the agent.
    pub fn question(&self) -> &str {
        let question = self.content.pointer("/payload/question").and_then(Value::as_str);
        question.unwrap_or_else(|| self.content_text("title"))
    }
}
