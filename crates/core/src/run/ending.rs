//! Decides if a reply ends its step.
//!
//! A reply does not end its step if the reply was cut or filtered, contains a tool call as text, asks a question, or
//! announces work.
//!
//! After the first such reply, the model gets one message about the flaw. If the model repeats the flaw before a person
//! has spoken in the step, a person is asked. If agents may not ask people, the run fails. The detection of questions
//! and announcements can be wrong. A repeated question or announcement in such a run therefore ends the step, and does
//! not fail the run.
//!
//! `reply/` reads the text of a reply. This module decides which replies are analysed, and handles the results.

use serde_json::{Value, json};

use super::draft::{Draft, Opening};
use super::{Call, CallEnd, CallState, Entry, Fact, Run, Step, StepEnd, StepRole};
use crate::asking::RECORD;
use crate::definition::EndCondition;
use crate::envelope::Content;
use crate::handoff::FINISH;
use crate::interrupt::{About, Kind};
use crate::level::Level;
use crate::limits;
use crate::plan;
use crate::reply::{self, CallableTool, Flaw};
use crate::text::clip;
use crate::tool::{Opens, Runs};

/// Number of a step's replies that may fail to end the step before a person is asked. The model gets a message after
/// each such reply. The count restarts when a person speaks in the step.
const TOLD: u32 = 1;

impl Draft<'_> {
    /// Handles a flaw of a step's last reply: the model gets a message, a person is asked, or the run fails. If a tool
    /// call began the phase of the step, only the phase fails. Returns false if the step ends with the reply despite
    /// the flaw. `about` is the question in the reply, or the tool that
    /// the reply calls in its text.
    pub(super) fn end_refused(&mut self, id: &str, step: &Step, flaw: Flaw, about: &str) -> bool {
        let may_ask = self.run.definition.asking.enabled;
        // Some flaws are guesses about language. If no person can be asked, a reply with a guessed flaw ends the step
        // only if the previous reply has the flaw, too.
        let is_news = !may_ask && flaw.reason().is_none() && !said_twice(step);
        if step.refused_ends < TOLD || is_news {
            let fact = Fact::EndRefused { step: id.to_owned(), turn: step.turn, flaw };
            let text = self.run.told_of_flaw(step, flaw, about);
            self.emit(fact, Content::text(text));
        } else if flaw == Flaw::Unassumed {
            return false;
        } else if may_ask && flaw == Flaw::Asks {
            self.ask_what_was_printed(id, step, about);
        } else if may_ask {
            self.ask_about_end(id, step, flaw, about);
        } else if let Some(reason) = flaw.reason() {
            let text = format!("the last reply of `{}` {}{}", step.agent, flaw.says(), after_colon(about));
            self.fail_phase(&step.phase, reason, text);
        } else {
            return false;
        }
        true
    }

    /// Asks a person the question that an agent wrote in its reply instead of asking with a tool.
    fn ask_what_was_printed(&mut self, id: &str, step: &Step, question: &str) {
        let mut opening = Opening::new(Kind::Question, About::Printed(id.to_owned()), question.to_owned());
        opening.step = Some(id.to_owned());
        opening.message = String::from(
            "The agent wrote this question in its reply instead of asking it \
            with a tool.",
        );
        opening.payload = json!({ "question": self.run.last_words(step), "asker": step.agent });
        self.open(opening);
    }

    fn ask_about_end(&mut self, id: &str, step: &Step, flaw: Flaw, about: &str) {
        let title =
            format!("Step `{id}` has not ended properly: the last reply of `{}` {}", step.agent, flaw.says());
        let mut opening = Opening::new(Kind::Continuation, About::Ending(id.to_owned()), title);
        opening.step = Some(id.to_owned());
        opening.message = format!("Its last reply {}{}.", flaw.says(), after_colon(about));
        opening.risk = Level::Medium;
        opening.labels = &[("continue", "Continue"), ("finish", "Accept the reply")];
        let output = clip(&self.run.last_words(step), limits::TEXT_BYTES);
        opening.payload = json!({ "flaw": flaw, "output": output });
        self.open(opening);
    }
}

fn after_colon(about: &str) -> String {
    if about.is_empty() { String::new() } else { format!(": {about}") }
}

impl Run {
    /// Returns the flaw because of which the last reply of a step's agent does not end the step, and the part of the
    /// reply that has the flaw.
    pub(super) fn flaw(&self, id: &str, step: &Step) -> Option<(Flaw, String)> {
        let Some(Entry::Turn { text, calls, stop, .. }) = step.entries.last() else { return None };
        // The text of a reply with calls is not checked for flaws, because a call may be a plan or the end of the work.
        // Replies of overseers, routers and summarisers have formats of their own.
        if !calls.is_empty() || step.role.is_aside() {
            return None;
        }
        if let Some(flaw) = stop.flaw() {
            return Some((flaw, String::new()));
        }
        if let Some(found) = self.returned_flaw(step, text) {
            return Some(found);
        }
        let text = &self.content_of(step, text);
        // A reply of a planner should contain a plan, so the text around a plan is not checked for flaws.
        if step.role == StepRole::Planner && !self.may_answer(step) && !plan::candidates(text).is_empty() {
            return None;
        }
        if let Some(tool) = reply::written_call(text, &self.callable(step)) {
            return Some((Flaw::CallAsText, tool));
        }
        if self.ends_by_tool(step) {
            return Some((Flaw::NotFinished, String::new()));
        }
        if !may_not_ask(step.role) {
            return None;
        }
        let asks = reply::find_request(text).map(|question| (Flaw::Asks, question));
        asks.or_else(|| reply::announced(text).map(|announced| (Flaw::Announces, announced)))
            .or_else(|| self.unassumed(id).map(|question| (Flaw::Unassumed, question)))
    }

    /// Returns true if the agent of a step can end the step only with a tool call. Agents that judge, reword tasks,
    /// propose ideas or make plans always reply without a tool call.
    pub(super) fn ends_by_tool(&self, step: &Step) -> bool {
        let works = match step.role {
            StepRole::Worker | StepRole::Subtask => true,
            StepRole::Planner => self.may_answer(step),
            StepRole::Improver
            | StepRole::Judge
            | StepRole::Maker
            | StepRole::Overseer
            | StepRole::Router
            | StepRole::Summariser => false,
        };
        let agent = self.definition.agents.get(&step.agent);
        works && agent.is_some_and(|agent| agent.ends == EndCondition::Finish)
    }

    /// Returns the items that agents reported as not done in their last calls of `finish`, in the order of the agents'
    /// steps.
    pub(super) fn undone(&self) -> Vec<String> {
        let ended = self.steps.values().filter(|step| step.end == Some(StepEnd::Completed));
        let last = ended.filter_map(|step| self.last_turn(step));
        let finished = last
            .flat_map(|(_, calls)| calls)
            .filter(|call| call.tool == FINISH && call.state == CallState::Ended(CallEnd::Done));
        finished.flat_map(left_undone).collect()
    }

    /// Returns true if the step's agent is a planner that may reply with an answer to the task instead of a plan.
    fn may_answer(&self, step: &Step) -> bool {
        self.planning(&step.phase).is_some_and(|planning| planning.optional)
    }

    fn callable<'r>(&'r self, step: &Step) -> Vec<CallableTool<'r>> {
        let agent = self.definition.agents.get(&step.agent);
        let names = agent.into_iter().flat_map(|agent| &agent.tools);
        let names = names.filter(|name| !self.is_asked_in_replies(name));
        let specs = names.filter_map(|name| self.spec(name));
        specs.map(|spec| CallableTool { name: &spec.name, parameters: &spec.parameters }).collect()
    }

    fn last_words(&self, step: &Step) -> String {
        self.last_turn(step).map(|(text, _)| text.to_owned()).unwrap_or_default()
    }

    /// Returns the message that tells the model how to correct a flaw in its reply.
    fn told_of_flaw(&self, step: &Step, flaw: Flaw, about: &str) -> String {
        let mut text = format!("Your last reply {}, so it does not end your work. ", flaw.says());
        text.push_str(match flaw {
            Flaw::Cut => "Go on where it stopped, or send a shorter reply.",
            Flaw::Filtered | Flaw::Unclear => "Go on, or say it again in other words.",
            Flaw::CallAsText => {
                return format!(
                    "{text}Call `{about}` itself. If it was an example and your work is done, give your result again \
                     without it."
                );
            }
            Flaw::Asks if !self.definition.asking.enabled => {
                "Nobody can be asked: decide by yourself, go on, and state what you assumed."
            }
            Flaw::Asks => {
                let asks = self.callable(step).into_iter().map(|tool| tool.name).find(|name| {
                    matches!(self.spec(name).map(|spec| &spec.runs), Some(Runs::Opens(Opens::Question)))
                });
                let how = match asks {
                    _ if self.asks_by(step).is_some() => {
                        "To ask a person, reply with `{\"questions\": […]}` alone.".to_owned()
                    }
                    Some(tool) => format!("To ask a person, call `{tool}`."),
                    None => "If you need the answer, ask again: a person will be asked.".to_owned(),
                };
                return format!(
                    "{text}{how} If you can go on without the answer, do so; if your work is done, say what you did, \
                     and ask nothing."
                );
            }
            Flaw::Announces => {
                "Do it now, with your tools. If your work is done, say what you did, and announce nothing."
            }
            Flaw::Unassumed => {
                return format!(
                    "{text}Nobody answered \"{about}\". Write down with `{RECORD}` what you assume instead, then give \
                     your result again."
                );
            }
            Flaw::MalformedQuestions => {
                return format!("{text}{about}. Send all questions again, or your result without questions.");
            }
            Flaw::QuestionsUnasked => {
                "Decide by yourself, write down what you assume, and give your result without questions."
            }
            Flaw::NotFinished => "Call `finish` with what you did and what you left undone, or go on.",
        });
        text
    }
}

/// Returns the items of the work that a call of [`FINISH`] reports as not done.
fn left_undone(call: &Call) -> Vec<String> {
    let items = call.arguments.get("undone").and_then(Value::as_array).into_iter().flatten();
    let items = items.filter_map(Value::as_str).map(str::trim).filter(|item| !item.is_empty());
    items.map(str::to_owned).collect()
}

/// Returns the final text of a tool call that ends an agent's work: its summary and the items that are not done.
pub(super) fn last_word(call: &Call) -> Option<String> {
    let said = call.argument("summary").or_else(|| call.argument("message"));
    let mut text = said.filter(|said| !said.trim().is_empty())?.to_owned();
    let undone = left_undone(call);
    if !undone.is_empty() {
        text.push_str("\n\nLeft undone:");
        text.extend(undone.iter().map(|item| format!("\n- {item}")));
    }
    Some(text)
}

/// Returns true if a call of the tool `tool` with these arguments would end an agent's work with an empty summary.
pub(super) fn is_blank(tool: &str, arguments: &Value) -> bool {
    let said = arguments.get("summary").and_then(Value::as_str);
    tool == FINISH && said.is_none_or(|said| !reply::says_something(said))
}

/// Returns true if the reply of a step with this role must not contain a question. Judgements and reworded tasks may
/// contain questions, because their readers are other agents.
pub(super) fn may_not_ask(role: StepRole) -> bool {
    match role {
        StepRole::Worker | StepRole::Planner | StepRole::Subtask | StepRole::Maker => true,
        StepRole::Improver
        | StepRole::Judge
        | StepRole::Overseer
        | StepRole::Router
        | StepRole::Summariser => false,
    }
}

/// Returns true if the last two replies of a step's agent contained no tool call.
fn said_twice(step: &Step) -> bool {
    let turns = step.entries.iter().rev().filter_map(|entry| match entry {
        Entry::Turn { calls, .. } => Some(calls.is_empty()),
        Entry::Note { .. } => None,
    });
    turns.take(2).filter(|is_silent| *is_silent).count() == 2
}
