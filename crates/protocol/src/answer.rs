//! Stored answers of people about a subject (`input.subject` of a run), and suggestions that are made from them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Answer that was stored because the input of the asking run has a `subject`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "interrupt": "int_01k6f0000000000000000000cc", "run": "run_01k6f0000000000000000000aa", "subject": "athlete-7",
    "agent": "metrics", "question": "Were you ill in May?", "answer": "Yes, a week.", "by": "operator",
    "at": "2026-05-30T08:00:00.000Z"
}))]
pub struct KeptAnswer {
    /// Id of the answered question.
    pub interrupt: String,
    pub run: String,
    pub subject: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Text of the question, cut to 2,000 bytes.
    pub question: String,
    /// The answer: a text, or structured data if the question had a schema. Absent if the answer was erased.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub answer: Value,
    /// Id of the person who answered, or `engine` if an earlier answer was reused.
    pub by: String,
    #[schema(format = DateTime)]
    pub at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub corrected_at: Option<String>,
    /// True if no person was asked, because the answer to an earlier question was reused. `from` has the id of this
    /// question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
    /// Id of the earlier question whose answer was reused. Absent if a person answered this question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

/// Earlier answer about the same subject that may also answer an open question. To use this answer, send the id of the
/// earlier question as `from` of the decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "interrupt": "int_01k6f0000000000000000000cc", "run": "run_01k6f0000000000000000000aa",
    "question": "Were you ill in May?", "answer": "Yes, a week.", "by": "operator", "at": "2026-05-30T08:00:00.000Z"
}))]
pub struct Suggestion {
    /// Id of the earlier question that was answered.
    pub interrupt: String,
    pub run: String,
    pub question: String,
    /// The earlier answer: a text, or structured data if the earlier question had a schema.
    #[schema(value_type = Value)]
    pub answer: Value,
    pub by: String,
    /// Time at which the earlier answer was given or last corrected.
    #[schema(format = DateTime)]
    pub at: String,
}

/// Request to correct a stored answer. Send `edit` if the JSON Schema of the question accepts other values than text,
/// and `text` in all other cases.
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
