//! Questions of agents: when people see a question, which work continues until the answer arrives, and which assumption
//! replaces a missing answer.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::draft::{Draft, Opening};
use super::{Call, CallEnd, CallState, Run};
use crate::asking::RECORD;
use crate::gate::Verdict;
use crate::handoff::FINISH;
use crate::interrupt::{About, AnswerContent, Interrupt, Kind, Outcome, Resolution};
use crate::reply;
use crate::schema;
use crate::tool::{Opens, Runs};

impl Draft<'_> {
    pub(super) fn open_question(&mut self, id: &str, call: &Call) {
        let question = question_text(call);
        let mut opening = Opening::new(Kind::Question, About::Call(id.to_owned()), question);
        opening.step = Some(call.step.clone());
        call.argument("context").unwrap_or_default().clone_into(&mut opening.message);
        let asker = self.run.steps.get(&call.step).map(|step| step.agent.clone());
        let mut payload = json!({ "question": question, "asker": asker, "call_id": id });
        for key in ["id", "context", "choices"] {
            if let Some(value) = call.arguments.get(key) {
                payload[key] = value.clone();
            }
        }
        if let Some(kind) = kind(call) {
            payload["kind"] = json!(kind);
        }
        opening.payload = payload;
        // An empty schema is left out, because a form for it would make the person type JSON.
        let schema = call
            .arguments
            .get("response_schema")
            .filter(|schema| schema.as_object().is_none_or(|it| !it.is_empty()));
        opening.response_schema = schema.cloned();
        self.open(opening);
    }

    /// Opens all questions that agents asked and that were held back, as soon as every agent waits for an answer
    /// (contract C8).
    pub(super) fn open_gathered_questions(&mut self) -> bool {
        let is_at_work = !self.run.actions().is_empty() || self.run.started().next().is_some();
        if self.is_over() || is_at_work {
            return false;
        }
        let due = |call: &Call| {
            let asks =
                self.run.spec(&call.tool).is_some_and(|spec| spec.runs == Runs::Opens(Opens::Question));
            asks && call.state == CallState::Proposed
        };
        let in_order = self.run.open_calls().into_iter();
        let gathered: Vec<(String, Call)> =
            in_order.filter(|(_, call)| due(call)).map(|(id, call)| (id.clone(), call.clone())).collect();
        for (id, call) in &gathered {
            self.ask_or_refuse(id, call, Opens::Question);
        }
        !gathered.is_empty()
    }

    /// Ends tool calls with which an agent records an assumption. Such calls ask no person. The calls themselves are
    /// the record of the assumption, because they are in the journal.
    pub(super) fn record_assumptions(&mut self) -> bool {
        let records = |call: &Call| self.run.spec(&call.tool).is_some_and(|spec| spec.runs == Runs::Records);
        let due = |call: &Call| call.state == CallState::Proposed && records(call);
        let next = self.run.calls.open().find(|(_, call)| due(call));
        let Some((id, call)) = next.map(|(id, call)| (id.clone(), call.clone())) else { return false };
        match self.run.vote(&call, &self.session, self.cx.system, self.now()) {
            Verdict::Forbid(reason) => {
                let text = format!("refused by policy: {}", reason.text);
                self.finish_call(&id, CallEnd::Refused, Some("forbidden"), text);
            }
            Verdict::Ask { .. } | Verdict::Allow(_) => {
                self.finish_call(&id, CallEnd::Done, None, "The assumption is recorded. Continue.");
            }
        }
        true
    }
}

impl Run {
    /// Returns true if the step `step` must not start work, because a question of another step is open (contract E28).
    pub(super) fn is_held_by_a_question(&self, step: &str) -> bool {
        self.definition.asking.pause_siblings
            && self.open_interrupts().any(|(_, interrupt)| {
                interrupt.opened.kind == Kind::Question && interrupt.opened.step.as_deref() != Some(step)
            })
    }

    /// Returns true if agents of the run have the tool that records assumptions. In runs of earlier versions, agents do
    /// not have this tool.
    pub(super) fn records_assumptions(&self) -> bool {
        self.spec(RECORD).is_some()
    }

    /// Returns true if the agent of the step `id` may record an assumption, because questions are switched off or a
    /// question of the step got no answer.
    fn may_assume(&self, id: &str) -> bool {
        self.records_assumptions()
            && (!self.definition.asking.enabled || self.unanswered(id).next().is_some())
    }

    /// Returns the text of the last question of a step that got no answer. `None` if the step has since recorded an
    /// assumption, or has tried to record one.
    pub(super) fn unassumed(&self, id: &str) -> Option<String> {
        Some(self.left_open(id)?.1.to_owned())
    }

    /// Returns the text of a step's last question that got no answer and no assumption
    /// ([`unassumed`](Self::unassumed)). `None` if a call of `finish` was already rejected because of this question,
    /// because a second rejection would not help.
    pub(super) fn unassumed_and_untold(&self, id: &str) -> Option<String> {
        let (seq, question) = self.left_open(id)?;
        let is_refusal = |call: &&Call| {
            call.step == id && call.tool == FINISH && call.state == CallState::Ended(CallEnd::Failed)
        };
        let told = self.calls.values().filter(is_refusal).filter_map(|call| call.ended_at).any(|at| at > seq);
        (!told).then(|| question.to_owned())
    }

    fn left_open<'r>(&'r self, id: &'r str) -> Option<(u64, &'r str)> {
        if !self.records_assumptions() {
            return None;
        }
        let (seq, question) = self.unanswered(id).max_by_key(|(seq, _)| *seq)?;
        let tried = |call: &&Call| call.step == id && call.tool == RECORD && call.is_ended();
        let recorded = self.calls.values().filter(tried);
        let recorded = recorded.filter_map(|call| call.ended_at).max();
        let text = question.content.pointer("/payload/question").and_then(Value::as_str);
        recorded.is_none_or(|at| at < seq).then(|| (seq, text.unwrap_or_default()))
    }

    /// Returns the unanswered questions of a step, each with the sequence number of the event that closed the question.
    fn unanswered<'r>(&'r self, id: &'r str) -> impl Iterator<Item = (u64, &'r Interrupt)> {
        let asked = self.interrupts.values().filter(move |interrupt| {
            interrupt.opened.kind == Kind::Question && interrupt.opened.step.as_deref() == Some(id)
        });
        asked.filter_map(|interrupt| {
            Some((interrupt.resolution.as_ref().filter(|it| is_left_open(it))?.seq, interrupt))
        })
    }

    /// Returns the questions and assumptions of agents as a part of the run's result. Failed and cancelled runs have no
    /// result, but report their questions and assumptions, too. Null if there are none.
    pub fn asked_and_assumed(&self) -> Value {
        let told = [("questions", self.questions()), ("assumptions", self.assumptions())];
        let told = told.into_iter().filter(|(_, told)| !told.is_empty());
        let told: Map<String, Value> = told.map(|(key, told)| (key.to_owned(), Value::Array(told))).collect();
        if told.is_empty() { Value::Null } else { Value::Object(told) }
    }

    /// Returns the questions of agents with their outcomes, in the order in which the questions were asked. The last
    /// event of the run stores a copy of every answer. If an answer is erased, this copy must be erased, too.
    pub(super) fn questions(&self) -> Vec<Value> {
        let mut asked: Vec<&Interrupt> =
            self.interrupts.values().filter(|interrupt| interrupt.opened.kind == Kind::Question).collect();
        asked.sort_by_key(|interrupt| interrupt.opened_seq);
        asked.into_iter().map(describe_question).chain(self.unshown()).collect()
    }

    /// Returns the questions of agents that nobody saw, because the questions were still held back when the run ended.
    fn unshown(&self) -> impl Iterator<Item = Value> {
        let mut shown = BTreeSet::new();
        for interrupt in self.interrupts.values().filter(|it| it.opened.kind == Kind::Question) {
            if let About::Call(id) = &interrupt.opened.about {
                shown.insert(id.as_str());
            }
        }
        let calls = self.calls_in_order().into_iter();
        let unshown = calls.filter(move |(id, call)| {
            call.state == CallState::Ended(CallEnd::Cancelled)
                && self.is_question_tool(&call.tool)
                && !shown.contains(id.as_str())
        });
        unshown.map(|(_, call)| {
            let mut told = json!({ "interrupt": null, "agent": call.agent, "question": question_text(call) });
            for key in ["id", "context"] {
                if let Some(value) = call.arguments.get(key) {
                    told[key] = value.clone();
                }
            }
            if let Some(kind) = kind(call) {
                told["kind"] = json!(kind);
            }
            told["outcome"] = json!(Outcome::Cancelled);
            told["asked"] = json!(false);
            told
        })
    }

    /// Returns the assumptions that agents recorded, in the order of the calls that recorded them. Also returns each
    /// unanswered question for which an ended step recorded no assumption.
    pub(super) fn assumptions(&self) -> Vec<Value> {
        let recorded = self.calls_in_order().into_iter().filter(|(_, call)| is_recorded(call));
        let told = recorded.map(|(_, call)| {
            let mut told = Map::from_iter([("agent".to_owned(), json!(call.agent))]);
            for key in ["assumption", "question", "why"] {
                told.extend(call.argument(key).map(|text| (key.to_owned(), json!(text))));
            }
            Value::Object(told)
        });
        // The agents of these steps had to assume an answer but recorded no assumption. The result of the run lists the
        // unanswered questions, because the work may depend on an unrecorded assumption.
        let silent = self.steps.iter().filter(|(_, step)| step.end.is_some());
        let silent = silent.filter_map(|(id, step)| Some((step, self.unassumed(id)?)));
        let untold = silent.map(
            |(step, question)| json!({ "agent": step.agent, "assumption": Value::Null, "question": question }),
        );
        told.chain(untold).collect()
    }

    /// Returns the names of the tools that the agent of a step may call now.
    pub(super) fn tools_of(&self, step: &str) -> Vec<&str> {
        // Overseers, routers and summarisers have no tools, even if the workflow has an agent with the same name.
        let found = self.steps.get(step).filter(|step| !step.role.is_aside());
        let agent = found.and_then(|step| self.definition.agents.get(&step.agent));
        let own = agent.into_iter().flat_map(|agent| &agent.tools).map(String::as_str);
        let all = own.chain(agent.and_then(|_| self.lent_tool(step)));
        all.filter(|tool| !self.is_asked_in_replies(tool)).collect()
    }

    /// Returns the name of a tool that the agent of a step may use in addition to its own tools. `None` if there is no
    /// such tool.
    pub(super) fn lent_tool(&self, step: &str) -> Option<&'static str> {
        self.may_assume(step).then_some(RECORD)
    }
}

/// Returns problems of an agent's question that the schema of the asking tool does not detect: an unsupported response
/// schema, a question without words, and a blank choice.
pub(super) fn check(arguments: &Value) -> Vec<schema::Problem> {
    let own = arguments.get("response_schema");
    let mut problems = own.map(|own| schema::refuse_foreign(own, "/response_schema")).unwrap_or_default();
    for key in ["question", "message"] {
        let text = arguments.get(key).and_then(Value::as_str);
        if text.is_some_and(|text| !reply::says_something(text)) {
            problems.push(schema::Problem::new(format!("/{key}"), "is blank: say what you ask"));
        }
    }
    // A choice may be a mark without a word, such as `–`.
    let is_blank = |text: &str| text.chars().all(|c| c.is_whitespace() || c.is_control());
    let choices = arguments.get("choices").and_then(Value::as_array).into_iter().flatten().enumerate();
    for (at, _) in choices.filter(|(_, choice)| choice.as_str().is_some_and(is_blank)) {
        problems.push(schema::Problem::new(format!("/choices/{at}"), "is blank: leave it out"));
    }
    problems
}

/// Returns the text of a question that an agent asks with a tool call. The tool of contract C8 has this text in the
/// argument `message`.
fn question_text(call: &Call) -> &str {
    call.argument("question").or_else(|| call.argument("message")).unwrap_or_default()
}

/// Returns the kind of a question that an agent asks with a tool call. The tool of contract C8 has the kind in the
/// argument `message_type`.
fn kind(call: &Call) -> Option<&str> {
    call.argument("kind").or_else(|| call.argument("message_type"))
}

/// Returns true if an agent's question got no answer, because a person skipped the question or the question expired.
fn is_left_open(resolution: &Resolution) -> bool {
    resolution.outcome == Outcome::Expired || resolution.option.as_deref() == Some("skip")
}

fn is_recorded(call: &Call) -> bool {
    call.tool == RECORD && call.state == CallState::Ended(CallEnd::Done)
}

fn describe_question(interrupt: &Interrupt) -> Value {
    let payload = |key: &str| interrupt.content.pointer(&format!("/payload/{key}")).cloned();
    let mut told = json!({
        "interrupt": interrupt.opened.interrupt,
        "agent": interrupt.opened.agent,
        "question": payload("question"),
    });
    for key in ["id", "context", "kind"] {
        if let Some(value) = payload(key) {
            told[key] = value;
        }
    }
    let Some(resolution) = &interrupt.resolution else {
        told["outcome"] = Value::Null;
        return told;
    };
    told["outcome"] = json!(resolution.outcome);
    if resolution.outcome == Outcome::Answered {
        told["option"] = json!(resolution.option);
        if interrupt.kept.erased {
            told["erased"] = json!(true);
        } else {
            let given = interrupt.answer().unwrap_or_else(|| interrupt.answer_from_votes());
            if given.edit.is_null() {
                told["answer"] = json!(given.text);
            } else {
                told["answer"] = given.edit;
                if let Some(words) = given.text.filter(|words| !words.is_empty()) {
                    told["text"] = json!(words);
                }
            }
            let each: Vec<Value> = interrupt.each_given().into_iter().map(each_told).collect();
            if !each.is_empty() {
                told["answers"] = Value::Array(each);
            }
        }
        if let Some(source) = interrupt.settled_by().and_then(|vote| vote.from.as_ref()) {
            told["from"] = json!(source);
        }
        told["by"] = json!(resolution.by);
        told["at"] = json!(resolution.at.to_string());
    }
    told
}

/// Formats the answer of one person to a question that several people answered. The agent that asked reads the result.
fn each_told((by, given): (&str, AnswerContent)) -> Value {
    if given.edit.is_null() {
        return json!({ "by": by, "answer": given.text });
    }
    let mut told = json!({ "by": by, "answer": given.edit });
    if let Some(text) = given.text.filter(|text| !text.is_empty()) {
        told["text"] = json!(text);
    }
    told
}
