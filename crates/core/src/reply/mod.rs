//! Checks that a model's reply may end its step: the reply is complete, contains no tool call as text, and asks for
//! nothing.
//!
//! This module only analyses texts. The run decides what to do about a [`Flaw`] (`run/ending.rs`). The analysis of
//! language is a guess. Replies of agents that must end with a tool call (`ends: finish`) are therefore not analysed.
//! If the analysis is uncertain, a text is treated as a question. An unnecessary question costs a person little time,
//! but a missed question ends a run without a result.

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

/// Returns true if a text has content for its reader. Thoughts of the model, an empty code fence, dots and invisible
/// characters are no content.
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

/// Returns true if the character is content: neither white space, nor markup, nor padding.
fn is_seen(each: char) -> bool {
    let is_mark =
        matches!(each, '.' | '…' | '`' | '~' | '*' | '_' | '#' | '>' | '-' | '–' | '—' | '|' | '•' | '=');
    !(each.is_whitespace() || each.is_control() || is_mark || is_hidden(each))
}

/// Reason why a reply without a tool call does not end its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// The provider cut the reply off at a length limit.
    Cut,
    /// The provider withheld a part of the reply.
    Filtered,
    /// The provider stopped for a reason that does not show whether the reply is complete.
    Unclear,
    /// The reply contains a tool call as text, so no tool ran.
    CallAsText,
    /// The reply asks a person for something.
    Asks,
    /// The reply ends by announcing work that was not done.
    Announces,
    /// The agent must end its step with the tool `finish`, but did not call the tool.
    NotFinished,
    /// A question of the agent has no answer, and the agent recorded no assumption instead.
    Unassumed,
    /// The questions in the reply are malformed. Applies only to agents that ask in their replies.
    MalformedQuestions,
    /// The reply contains questions instead of content, but agents may not ask people (contract E39).
    QuestionsUnasked,
}

impl Flaw {
    /// Returns the `end_reason` of a run that fails because of this flaw, in a run in which no person can be asked.
    /// `None` if the flaw does not fail such a run.
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

    /// Describes the flaw for a person, worded as the end of a sentence about the agent's last reply.
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
