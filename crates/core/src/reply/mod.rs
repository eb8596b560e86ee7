//! Checks that a model's reply can end its step. The reply must be complete, must contain no tool call as text, and
//! must not ask for anything.
//!
//! This module only analyses the text. `run/ending.rs` decides what happens if the reply has a [`Flaw`]. The analysis
//! of natural language can be wrong. The analysis is not applied to agents that must end their step by a tool call
//! (`ends: finish`). In doubt, a text is treated as a question. An unnecessary question costs a person little time, but
//! a missed question ends a run without a result.

mod asks;
mod calls;
mod prose;
mod questions;
mod speech;
mod texts;

use serde::{Deserialize, Serialize};

use crate::name::is_hidden;

pub use asks::{announced, find_request};
pub use calls::{CallableTool, written_call};
pub use questions::{ReplyContent, parse_reply};

/// Returns true if a text has any content for its reader. Thoughts of the model, an empty code fence, dots and
/// invisible characters are not content.
pub fn says_something(text: &str) -> bool {
    let said = prose::strip_thoughts(text);
    // The text begins with a thought that has no end.
    if said.trim_start().starts_with("<think>") {
        return false;
    }
    said.lines().any(|line| {
        let line = line.trim();
        let opens =
            ["```", "~~~"].iter().any(|fence| line.starts_with(fence) && line.matches(fence).count() == 1);
        !opens && line.chars().any(is_seen)
    })
}

/// Returns true if the character is content for a reader: not white space, markup or padding.
fn is_seen(each: char) -> bool {
    let is_mark =
        matches!(each, '.' | '…' | '`' | '~' | '*' | '_' | '#' | '>' | '-' | '–' | '—' | '|' | '•' | '=');
    !(each.is_whitespace() || each.is_control() || is_mark || is_hidden(each))
}

/// Reason why a reply without a tool call does not end the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// The provider cut off the reply at a length limit.
    Cut,
    /// A content filter of the provider removed a part of the reply.
    Filtered,
    /// The provider stopped for an unclear reason, so the reply may be incomplete.
    Unclear,
    /// The reply contains a tool call that is written as text. No tool was therefore called.
    CallAsText,
    /// The reply asks a person for something.
    Asks,
    /// The reply ends by announcing work, which was therefore not done.
    Announces,
    /// The agent must end its step by calling the tool `finish`, and has not called the tool.
    NotFinished,
    /// The agent did not record an assumption after one of its questions got no answer.
    Unassumed,
    /// The questions in the reply are malformed. Only for agents that ask their questions in replies.
    MalformedQuestions,
    /// The reply contains questions instead of content, but the agent is not allowed to ask people (contract E39).
    QuestionsUnasked,
}

impl Flaw {
    /// Returns the `end_reason` of the run if a reply with this flaw fails a run in which nobody can be asked. `None`
    /// if the flaw does not fail such a run.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Cut => Some("reply_cut"),
            Self::Filtered => Some("reply_filtered"),
            Self::Unclear => Some("reply_unclear"),
            Self::CallAsText => Some("call_as_text"),
            Self::NotFinished => Some("not_finished"),
            Self::MalformedQuestions => Some("malformed_questions"),
            Self::QuestionsUnasked => Some("questions_unasked"),
            // A guess about language must not fail a run. A missing assumption does not fail the run either, because
            // the result of the run reports the missing assumption.
            Self::Asks | Self::Announces | Self::Unassumed => None,
        }
    }

    /// Describes the flaw for a person, as the end of a sentence about the agent's last reply.
    pub fn says(self) -> &'static str {
        match self {
            Self::Cut => "was cut off before it was complete",
            Self::Filtered => "was filtered by the provider",
            Self::Unclear => "stopped for a reason that does not show whether it is complete",
            Self::CallAsText => "contains a tool call as text, so no tool ran",
            Self::Asks => "asks in words",
            Self::Announces => "announces work that it does not do",
            Self::Unassumed => "does not say what it assumes in place of an answer",
            Self::NotFinished => "does not call `finish`, with which its agent must end its work",
            Self::MalformedQuestions => "contains questions that cannot be asked in this form",
            Self::QuestionsUnasked => "asks a question instead of giving a result, and no person can answer",
        }
    }
}
