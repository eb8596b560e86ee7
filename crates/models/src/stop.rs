//! Table of the stop reasons that providers send at the end of a reply. A reply with an unknown stop reason is never
//! accepted as complete.

use holdshort_core::message::Stop;

/// Stop reasons in lower case, from the chat-completions API and compatible servers, Anthropic, Gemini, Ollama, and the
/// Responses API.
const WORDS: &[(Stop, &[&str])] = &[
    (Stop::Whole, &["stop", "end_turn", "stop_sequence", "completed", "complete", "eos", "eos_token"]),
    (
        Stop::Cut,
        &[
            "length",
            "max_tokens",
            "max_output_tokens",
            "model_length",
            "model_context_window_exceeded",
            "incomplete",
        ],
    ),
    (
        Stop::Filtered,
        &[
            "content_filter",
            "content_filtered",
            "refusal",
            "safety",
            "recitation",
            "blocklist",
            "prohibited_content",
            "spii",
            "language",
            "image_safety",
        ],
    ),
];

/// Stop reasons of a model's reply with tool calls. If such a reply contains no tool calls, they were lost.
const CALLED: &[&str] = &["tool_calls", "tool_call", "function_call", "tool_use"];

pub(crate) fn from_reason(word: &str, has_calls: bool) -> Stop {
    let word = word.to_lowercase();
    if CALLED.contains(&word.as_str()) {
        return if has_calls { Stop::Whole } else { Stop::Unclear };
    }
    let row = WORDS.iter().find(|(_, words)| words.contains(&word.as_str()));
    row.map_or(Stop::Unclear, |(stop, _)| *stop)
}
