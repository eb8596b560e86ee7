//! Answers that are kept per subject, and what is suggested from them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The answer to a question of a run whose input has a `subject`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "interrupt": "int_01k6f0000000000000000000cc", "run": "run_01k6f0000000000000000000aa", "subject": "athlete-7",
    "agent": "metrics", "question": "Were you ill in May?", "answer": "Yes, a week.", "by": "operator",
    "at": "2026-05-30T08:00:00.000Z"
}))]
pub struct KeptAnswer {
    /// The question that it answered.
    pub interrupt: String,
    pub run: String,
    pub subject: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Cut to 2,000 bytes.
    pub question: String,
    /// A text, or data where the question had a schema. Absent once it is erased.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub answer: Value,
    /// Who gave it; `engine` where it was reused.
    pub by: String,
    #[schema(format = DateTime)]
    pub at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub corrected_at: Option<String>,
    /// Nobody was asked: the answer to `from` counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
    /// The question whose answer it was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

/// An earlier answer of the same subject that may be the answer to an open question. Whoever takes it names it in the
/// decision as `from`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "interrupt": "int_01k6f0000000000000000000cc", "run": "run_01k6f0000000000000000000aa",
    "question": "Were you ill in May?", "answer": "Yes, a week.", "by": "operator", "at": "2026-05-30T08:00:00.000Z"
}))]
pub struct Suggestion {
    /// The question that it answered.
    pub interrupt: String,
    pub run: String,
    pub question: String,
    /// A text, or data where that question had a schema.
    #[schema(value_type = Value)]
    pub answer: Value,
    pub by: String,
    /// When it was given, or corrected last.
    #[schema(format = DateTime)]
    pub at: String,
}

/// What is kept of an answer from here on. As in a decision: `edit` where the question had a schema that is not of
/// texts, else `text`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "Yes, ten days."}))]
pub struct CorrectAnswer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub edit: Value,
}
