//! Stored answers of people about a subject, and their reuse for new questions. A new question is compared with earlier
//! questions. The answer to a similar question is suggested to the person. The answer to an equal question may be
//! reused without asking.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::event;
use holdshort_core::history;
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::{AnswerContent, Decision, Kind, Refusal};
use holdshort_core::json;
use holdshort_core::projection::AnswerRow;
use holdshort_core::run::{Fact, HandledInput, Input, Rejection, Run};
use holdshort_core::schema::Problem;
use holdshort_core::system::System;
use holdshort_store::{AnswerFilter, Journal, Search};
use serde_json::Value;

use super::Driver;
use super::run_cache::LoadedRun;
use crate::{Clock, Error, Executor};

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Returns earlier answers about a subject that may fit an open question.
    pub async fn suggestions(
        &self,
        subject: &str,
        question: &str,
        itself: &InterruptId,
        schema: Option<&Value>,
    ) -> Result<Vec<AnswerRow>, Error> {
        let mut rows = self.answers_to(subject, question).await?;
        let words = history::searched(question);
        let like = AnswerFilter {
            subject: Some(subject.to_owned()),
            search: Some(Search::Any(words)),
            ..AnswerFilter::default()
        };
        let like = self.journal().answers(&like, None, history::COMPARED).await?.items;
        let known: Vec<InterruptId> = rows.iter().map(|row| row.interrupt.clone()).collect();
        rows.extend(like.into_iter().filter(|row| !known.contains(&row.interrupt)));
        rows.retain(|row| history::has_form(row, schema));
        Ok(history::suggestions(question, itself, rows))
    }

    /// Returns the newest answers about a subject to exactly this question.
    async fn answers_to(&self, subject: &str, question: &str) -> Result<Vec<AnswerRow>, Error> {
        let same = AnswerFilter {
            subject: Some(subject.to_owned()),
            asked: Some(history::question_key(question)),
            ..AnswerFilter::default()
        };
        Ok(self.journal().answers(&same, None, history::COMPARED).await?.items)
    }

    /// Reuses an earlier answer for a new question if the workflow allows reuse. The append that opens the question
    /// also contains the answer. Therefore the question never appears as open, and after a crash the journal contains
    /// both events or neither.
    pub(super) async fn reuse_answers(
        &self,
        decided: &mut HandledInput,
        loaded: &LoadedRun,
        system: &System,
    ) -> Result<(), Error> {
        let Some(reuse_ms) = decided.run.definition.asking.reuse_ms else { return Ok(()) };
        let Some(subject) = decided.run.kept_for().map(str::to_owned) else { return Ok(()) };
        let opened = decided.events.iter().filter_map(|event| match &event.fact {
            event::Fact::Run(Fact::InterruptOpened(opened)) if opened.kind == Kind::Question => {
                Some(opened.interrupt.clone())
            }
            _ => None,
        });
        for id in opened.collect::<Vec<_>>() {
            let Some(asked) = decided.run.interrupts.get(&id).filter(|asked| asked.is_open()) else {
                continue;
            };
            let rows = self.answers_to(&subject, asked.question()).await?;
            let Some(row) = history::reusable(rows, self.clock.now(), reuse_ms) else { continue };
            let Some(given) = parse_answer(&row) else { continue };
            let (source, by) = (row.interrupt, row.by);
            let input = Input::Reuse { interrupt: id, source, by, given };
            let cx = self.context(Actor::engine(), &decided.session, system, loaded.epoch);
            match decided.run.handle(&cx, input) {
                Ok(reused) => decided.then(reused),
                // The earlier answer does not fit the form of the new question, so a person is asked.
                Err(error) => {
                    tracing::debug!(run = %decided.run.id, %error, "a stored answer does not match the \
                        schema of the question, so it is not reused");
                }
            }
        }
        Ok(())
    }

    /// Rejects an answer that refers to an earlier answer in `from` if that earlier answer is about another subject or
    /// is no longer stored.
    pub(super) async fn check_source(&self, run: &Run, input: &Input) -> Result<(), Error> {
        let Input::Decide { decision, .. } = input else { return Ok(()) };
        let Some(source) = &decision.from else { return Ok(()) };
        let row = self.journal().answer(source).await?;
        let says_nothing = decision.text.as_deref().unwrap_or_default().is_empty() && decision.edit.is_null();
        let problem = match row.filter(|row| Some(&*row.subject) == run.kept_for()) {
            None => "refers to an earlier answer that is not stored for the subject of this run",
            Some(row) if row.erased => "refers to an earlier answer that has been erased",
            Some(row) if says_nothing => {
                let (field, what) = if row.is_data { ("/edit", "data") } else { ("/text", "text") };
                let problem = format!(
                    "is missing: `from` only identifies the earlier answer, so also send the {what} of that \
                    answer"
                );
                return Err(refused(field, problem));
            }
            Some(row) if !is_taken(&row, decision) => {
                "refers to an earlier answer whose content differs from what you send: leave out `from`, or \
                send that answer unchanged"
            }
            Some(_) => return Ok(()),
        };
        Err(refused("/from", problem))
    }

    /// Corrects or erases a stored answer. If the answer is erased, the copies of it in runs that reused it
    /// automatically are erased too. If one of these runs is under legal hold or unreadable, its copy is kept, and the
    /// other copies are still erased.
    pub async fn amend_answer(
        self: &Arc<Self>,
        run: &RunId,
        id: &InterruptId,
        input: Input,
        actor: Actor,
    ) -> Result<(), Error> {
        let (mut held, mut failed) = (Vec::new(), None);
        if matches!(input, Input::EraseAnswer { .. }) {
            let reused = AnswerFilter { source: Some(id.clone()), ..AnswerFilter::default() };
            let mut after = None;
            loop {
                let page = self.journal().answers(&reused, after.as_ref(), history::COMPARED).await?;
                for row in page.items.into_iter().filter(|row| row.reused && !row.erased) {
                    let input = Input::EraseAnswer { interrupt: row.interrupt };
                    match self.send(&row.run, input, actor.clone()).await {
                        Ok(_) => {}
                        Err(Error::Rejected(Rejection::Held)) => held.push(row.run),
                        Err(Error::Store(error)) => return Err(error.into()),
                        Err(error) => {
                            tracing::error!(run = %row.run, %error, "a reused copy of an answer cannot be \
                                erased");
                            failed = Some(error);
                        }
                    }
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        self.send(run, input, actor).await?;
        match failed {
            Some(error) => Err(error),
            None if held.is_empty() => Ok(()),
            None => Err(Error::ReuseHeld(held)),
        }
    }
}

fn refused(field: &str, problem: impl Into<String>) -> Error {
    Rejection::Refused(Refusal::Invalid(vec![Problem::new(field, problem)])).into()
}

/// Returns true if the decision takes over the stored answer in `row`, as JSON data or as the text of this data.
fn is_taken(row: &AnswerRow, decision: &Decision) -> bool {
    let text = decision.text.as_deref().unwrap_or_default();
    if !row.is_data {
        return decision.edit.is_null() && text == row.answer;
    }
    let data = json::parse(row.answer.as_bytes()).map(json::as_read_again).ok();
    let edit =
        if decision.edit.is_null() { json::parse(text.as_bytes()).ok() } else { Some(decision.edit.clone()) };
    data.is_some() && edit.map(json::as_read_again) == data
}

/// Returns the answer in a database row of stored answers. Returns `None` if the data of the row cannot be parsed.
fn parse_answer(row: &AnswerRow) -> Option<AnswerContent> {
    if !row.is_data {
        return Some(AnswerContent { text: Some(row.answer.clone()), ..AnswerContent::default() });
    }
    let edit = json::parse(row.answer.as_bytes()).ok()?;
    Some(AnswerContent { text: None, edit })
}
