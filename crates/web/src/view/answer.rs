//! Stored answers of people as clients see them.

use holdshort_core::json;
use holdshort_core::projection::AnswerRow;
use holdshort_protocol::{KeptAnswer, Suggestion};
use serde_json::Value;

pub fn answer(row: &AnswerRow) -> KeptAnswer {
    KeptAnswer {
        interrupt: row.interrupt.to_string(),
        run: row.run.to_string(),
        subject: row.subject.clone(),
        agent: row.agent.clone(),
        question: row.question.clone(),
        answer: if row.erased { Value::Null } else { answer_value(row) },
        by: row.by.clone(),
        at: row.at.to_string(),
        corrected_at: row.corrected_at.map(|at| at.to_string()),
        reused: row.reused,
        from: row.source.as_ref().map(ToString::to_string),
        erased: row.erased,
    }
}

pub fn suggestion(row: &AnswerRow) -> Suggestion {
    Suggestion {
        interrupt: row.interrupt.to_string(),
        run: row.run.to_string(),
        question: row.question.clone(),
        answer: answer_value(row),
        by: row.by.clone(),
        at: row.since().to_string(),
    }
}

fn answer_value(row: &AnswerRow) -> Value {
    let text = || Value::String(row.answer.clone());
    if row.is_data { json::parse(row.answer.as_bytes()).unwrap_or_else(|_| text()) } else { text() }
}
