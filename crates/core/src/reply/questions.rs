//! Replies that contain either questions or content (contract C8). Questions are written as `{"questions": […]}`. Every
//! other reply is content.
//!
//! The questions must have exactly this form. Malformed questions are never treated as content, because nobody would
//! then answer them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::prose::{self, Segment};
use crate::asking::KINDS;
use crate::limits;
use crate::{json, schema};

/// Kind of a reply as a whole.
#[derive(Debug, PartialEq)]
pub enum ReplyContent {
    /// The reply is the result of the agent.
    Content(String),
    /// The reply consists of questions, each `{id, message, context?, message_type?, choices?, response_schema?}`.
    Questions(Vec<Value>),
    /// The reply contains malformed questions. The value is the reason.
    Malformed(String),
}

/// Parses a reply of an agent that asks questions in its replies.
pub fn parse_reply(text: &str) -> ReplyContent {
    let said = prose::strip_thoughts(text);
    let whole = &unfenced(said.trim());
    let parsed = match json::parse(whole.as_bytes()) {
        Ok(parsed) => parsed,
        Err(error) => {
            return not_json(whole, &error).unwrap_or_else(|| ReplyContent::Content(text.to_owned()));
        }
    };
    let Some(fields) = parsed.as_object() else { return ReplyContent::Content(text.to_owned()) };
    let given = |key: &str| {
        fields.get(key).filter(|value| match value {
            Value::Null => false,
            Value::String(text) => !text.trim().is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
        })
    };
    let is_form = fields.keys().all(|key| key == "questions" || key == "content");
    match (given("questions"), given("content")) {
        (Some(_), Some(_)) => {
            ReplyContent::Malformed("it contains both `questions` and `content`".to_owned())
        }
        (None, Some(Value::String(content))) if is_form => ReplyContent::Content(content.clone()),
        (Some(questions), None) => {
            let problems = problems(questions, fields.keys().filter(|key| !is_known(key)));
            if problems.is_empty() {
                ReplyContent::Questions(questions.as_array().cloned().unwrap_or_default())
            } else {
                ReplyContent::Malformed(problems.join("; "))
            }
        }
        (None, None) if fields.contains_key("questions") => {
            ReplyContent::Malformed("/questions: holds none".to_owned())
        }
        (None, Some(_) | None) => ReplyContent::Content(text.to_owned()),
    }
}

fn is_known(key: &str) -> bool {
    ["questions", "content"].contains(&key)
}

/// Detects questions that have other text around them, and questions in JSON that is invalid or cut off.
fn not_json(whole: &str, error: &json::Error) -> Option<ReplyContent> {
    let opens = |at: &usize| whole[at + 1..].trim_start().starts_with("\"questions\"");
    let at = whole.match_indices('{').map(|(at, _)| at).find(opens)?;
    let mut values = serde_json::Deserializer::from_str(&whole[at..]).into_iter::<Value>();
    let asks = matches!(values.next(), Some(Ok(value)) if value.pointer("/questions/0/message").is_some());
    let is_all = at == 0 && values.byte_offset() == whole.len();
    if asks && !is_all {
        return Some(ReplyContent::Malformed("it contains text in addition to its questions".to_owned()));
    }
    (at == 0).then(|| ReplyContent::Malformed(format!("it is not JSON: {error}")))
}

/// Removes the code fence if it encloses the whole text.
fn unfenced(text: &str) -> String {
    let mut segments = prose::segments(text).into_iter().filter(|segment| match segment {
        Segment::Prose(lines) | Segment::Fenced(lines) => lines.iter().any(|line| !line.trim().is_empty()),
    });
    match (segments.next(), segments.next()) {
        (Some(Segment::Fenced(lines)), None) => lines.join("\n"),
        (Some(Segment::Prose(_) | Segment::Fenced(_)) | None, _) => text.to_owned(),
    }
}

fn problems<'k>(questions: &Value, unknown: impl Iterator<Item = &'k String>) -> Vec<String> {
    let mut problems: Vec<String> = unknown.map(|key| format!("/{key}: is an unknown field")).collect();
    let most = limits::QUESTIONS_PER_REPLY;
    if questions.as_array().is_some_and(|all| all.len() > most) {
        problems.push(format!("/questions: has more than {most} questions"));
        return problems;
    }
    let found = schema::check(&form(), questions, "/questions").into_iter();
    problems.extend(found.map(|problem| format!("{}: {}", problem.pointer, problem.message)));
    if let Some(problem) = json::unsafe_part(questions) {
        problems.push(format!("/questions: holds {problem}"));
    }
    if !problems.is_empty() {
        return problems;
    }
    let mut ids = BTreeSet::new();
    for (at, question) in questions.as_array().into_iter().flatten().enumerate() {
        let id = question["id"].as_str().unwrap_or_default();
        if !ids.insert(id) {
            problems.push(format!("/questions/{at}/id: `{id}` appears twice"));
        }
        if let Some(own) = question.get("response_schema") {
            let found = schema::refuse_foreign(own, &format!("/questions/{at}/response_schema"));
            problems
                .extend(found.into_iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)));
        }
    }
    problems
}

fn form() -> Value {
    let text = json!({ "type": "string", "minLength": 1, "pattern": "\\S" });
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "id": { "type": "string", "minLength": 1, "maxLength": limits::QUESTION_ID_CHARS, "pattern": "\\S" },
                "message": text,
                "context": { "type": "string" },
                "message_type": { "enum": KINDS },
                "choices": { "type": "array", "items": text },
                "response_schema": { "type": "object" },
            },
            "required": ["id", "message"],
            "additionalProperties": false,
        },
    })
}
