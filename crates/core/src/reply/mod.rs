//! Whether a model's reply is an honest end of its work: whole, no tool call written as text, no request in words.
//!
//! Reads texts and decides nothing: what follows from a [`Flaw`] is the run's business (`run/ending.rs`). Language is a
//! guess, so whoever may end by a tool alone (`ends: finish`) is never read here. In doubt a text asks: a question too
//! many costs a person a look, and one too few ends a run with nothing done.

mod asks;
mod calls;
mod prose;
mod questions;
mod speech;
mod texts;

use serde::{Deserialize, Serialize};

use crate::name::is_hidden;

pub use asks::{announced, asked};
pub use calls::{Known, written_call};
pub use questions::{Returned, returned};

/// Whether a text holds anything for its reader: not only thoughts, an empty fence, dots, or characters that nobody sees.
pub fn says_something(text: &str) -> bool {
    let said = prose::said(text);
    // Thoughts that never end.
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

/// Neither blank nor what marks, separates and pads a text.
fn is_seen(each: char) -> bool {
    let is_mark =
        matches!(each, '.' | '…' | '`' | '~' | '*' | '_' | '#' | '>' | '-' | '–' | '—' | '|' | '•' | '=');
    !(each.is_whitespace() || each.is_control() || is_mark || is_hidden(each))
}

/// Why a reply without a tool call does not end its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// The provider stopped it at a length.
    Cut,
    /// The provider held a part of it back.
    Filtered,
    /// The provider gave a reason for stopping that does not say that the reply is whole.
    Unclear,
    /// It holds a tool call as text: nothing was run.
    CallAsText,
    /// It asks a person for something.
    Asks,
    /// It ends with work that it announces and does not do.
    Announces,
    /// Its agent ends by the tool `finish` alone, and did not call it.
    NotFinished,
    /// A question of its agent has no answer, and it has not written down what it assumes.
    Unassumed,
    /// It holds questions that can not be asked as they are, where agents ask in their replies.
    MalformedQuestions,
    /// It holds questions instead of content, and nobody may be asked (contract E39).
    QuestionsUnasked,
}

impl Flaw {
    /// The `end_reason` of a run in which nobody may be asked. `None`: it is an end there.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Cut => Some("reply_cut"),
            Self::Filtered => Some("reply_filtered"),
            Self::Unclear => Some("reply_unclear"),
            Self::CallAsText => Some("call_as_text"),
            Self::NotFinished => Some("not_finished"),
            Self::MalformedQuestions => Some("malformed_questions"),
            Self::QuestionsUnasked => Some("questions_unasked"),
            // A guess about language fails no run; what was assumed without a word, the result says.
            Self::Asks | Self::Announces | Self::Unassumed => None,
        }
    }

    /// What is wrong, for a person: the rest of a sentence about the agent's last reply.
    pub fn says(self) -> &'static str {
        match self {
            Self::Cut => "was cut before it was whole",
            Self::Filtered => "was filtered by the provider",
            Self::Unclear => "stopped for a reason that does not say that it is whole",
            Self::CallAsText => "holds a tool call as text, which ran nothing",
            Self::Asks => "asks in words",
            Self::Announces => "announces work that it does not do",
            Self::Unassumed => "does not say what it assumes in place of an answer",
            Self::NotFinished => "does not call `finish`, with which its agent ends its work",
            Self::MalformedQuestions => "holds questions that can not be asked as they are",
            Self::QuestionsUnasked => "asks instead of bringing a result, and nobody can be asked",
        }
    }
}
