//! Questions that agents ask in their replies (contract C8). Each question is converted to a call of a tool that asks
//! people. All other code treats this call like any tool call. The agent does not have the tool. The agent's next
//! request therefore shows the questions and their answers as text.

use serde_json::{Value, json};

use super::request::result_text;
use super::{Call, Run, Step, StepRole};
use crate::asking::{Form, KINDS};
use crate::history;
use crate::limits;
use crate::message::{Arguments, Message, Reply, RequestedCall};
use crate::reply::{self, Flaw, ReplyContent};
use crate::text::clip;
use crate::tool::{Opens, Runs};

impl Run {
    pub(super) fn is_question_tool(&self, tool: &str) -> bool {
        self.spec(tool).is_some_and(|spec| spec.runs == Runs::Opens(Opens::Question))
    }

    /// Returns true if agents ask questions in their replies instead of calling the tool `tool`.
    pub(super) fn is_asked_in_replies(&self, tool: &str) -> bool {
        self.definition.asking.form == Form::Reply && self.is_question_tool(tool)
    }

    /// Returns the tool whose calls represent the questions in the replies of a step's agent.
    pub(super) fn asks_by(&self, step: &Step) -> Option<&str> {
        let agent = self.definition.agents.get(&step.agent).filter(|_| may_return_questions(step.role))?;
        agent.tools.iter().map(String::as_str).find(|tool| self.is_asked_in_replies(tool))
    }

    /// Converts an agent's reply that contains only questions to tool calls. The texts of the questions become the
    /// arguments of the calls. Returns false if the reply contains anything else.
    pub(super) fn as_calls(&self, step: &str, reply: &mut Reply) -> bool {
        let tool = self.steps.get(step).and_then(|step| self.asks_by(step));
        let Some(tool) = tool.filter(|_| reply.calls.is_empty() && reply.stop.flaw().is_none()) else {
            return false;
        };
        let ReplyContent::Questions(questions) = reply::parse_reply(&reply.text) else { return false };
        let call = |arguments| RequestedCall { tool: tool.to_owned(), arguments: Arguments::Json(arguments) };
        reply.calls = questions.into_iter().map(call).collect();
        reply.text = String::new();
        true
    }

    /// Returns an error for the agent if the step's conversation already contains the outcome of the same question. The
    /// error is a code and a text. `None` if the question is new.
    pub(super) fn asked_before(&self, step: &str, arguments: &Value) -> Option<(&'static str, String)> {
        let text = |arguments: &Value| arguments["message"].as_str().map(history::question_key);
        let same = |call: &Call| {
            call.step == step
                && call.is_ended()
                && self.is_asked_in_replies(&call.tool)
                && call.interrupt.is_some()
                && text(&call.arguments) == text(arguments)
        };
        let told = "not asked again: you asked this before, and the outcome is above. Continue with it";
        self.calls.values().any(same).then(|| ("asked_before", told.to_owned()))
    }

    /// Returns the flaw in the questions of a reply without tool calls. `None` if the questions have no flaw.
    pub(super) fn returned_flaw(&self, step: &Step, text: &str) -> Option<(Flaw, String)> {
        let asking = self.definition.asking;
        if asking.form != Form::Reply || !may_return_questions(step.role) {
            return None;
        }
        match reply::parse_reply(text) {
            ReplyContent::Questions(questions) if !asking.enabled => {
                let asked: Vec<&str> = questions.iter().filter_map(|one| one["message"].as_str()).collect();
                Some((Flaw::QuestionsUnasked, asked.join(" / ")))
            }
            ReplyContent::Malformed(_) if !asking.enabled => {
                Some((Flaw::QuestionsUnasked, clip(text, limits::TITLE_BYTES)))
            }
            ReplyContent::Malformed(why) if self.asks_by(step).is_some() => {
                Some((Flaw::MalformedQuestions, why))
            }
            ReplyContent::Content(_) | ReplyContent::Questions(_) | ReplyContent::Malformed(_) => None,
        }
    }

    /// Returns the text of a reply without tool calls, as other agents and people read the text.
    pub(super) fn content_of(&self, step: &Step, text: &str) -> String {
        if self.definition.asking.form == Form::Reply
            && may_return_questions(step.role)
            && let ReplyContent::Content(content) = reply::parse_reply(text)
        {
            return content;
        }
        text.to_owned()
    }

    /// Returns the instructions that explain to the agent how to ask questions in its replies.
    pub(super) fn told_to_return_questions(&self, step: &Step) -> Option<String> {
        self.asks_by(step).filter(|_| self.definition.asking.enabled)?;
        let form = r#"{"questions": [{"id": "q1", "message": "…", "context": "…"}]}"#;
        Some(format!(
            "To ask a person, reply with one JSON object and nothing else: {form}. Each question has an `id` of its own and \
             a `message` that is complete in itself; `context` (what one needs to know to answer), `message_type` ({}), \
             `choices` (suggested answers) and `response_schema` (the JSON Schema of an answer that is data) may be left \
             out. At most {} at once. You are called again with the answers. Any other reply without a tool call is your \
             result: ask nothing in it.",
            KINDS.join(", "),
            limits::QUESTIONS_PER_REPLY,
        ))
    }

    /// Returns a turn of an agent that consists of questions as two messages: the questions in the agent's words, and
    /// their outcomes. `None` if the turn does not consist of questions.
    pub(super) fn returned_turn(&self, agent: &str, calls: &[(&String, &Call)]) -> Option<[Message; 2]> {
        let asks = !calls.is_empty() && calls.iter().all(|(_, call)| self.is_asked_in_replies(&call.tool));
        asks.then(|| {
            let questions: Vec<&Value> = calls.iter().map(|(_, call)| &call.arguments).collect();
            let text = json!({ "questions": questions }).to_string();
            let answers = calls.iter().map(|(_, call)| answered(call));
            let answers = answers.collect::<Vec<_>>().join("\n\n");
            [
                Message::Assistant { agent: agent.to_owned(), text, calls: Vec::new() },
                Message::User { text: format!("The outcome of your questions:\n\n{answers}") },
            ]
        })
    }

    /// Returns the outcome of a single question of an agent as a separate message.
    pub(super) fn returned_answer(&self, call: &Call) -> Option<String> {
        self.is_asked_in_replies(&call.tool)
            .then(|| format!("Earlier you asked, with this outcome:\n\n{}", answered(call)))
    }
}

fn answered(call: &Call) -> String {
    let words = |key: &str| call.argument(key).unwrap_or_default();
    format!("Question {}: {}\nAnswer: {}", words("id"), words("message"), result_text(call))
}

/// Returns true if the replies of a step with this role may contain questions. Agents that judge, and steps that help
/// other steps, reply in formats without questions.
fn may_return_questions(role: StepRole) -> bool {
    super::ending::may_not_ask(role)
}
