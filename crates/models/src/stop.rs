//! Table of the providers' stop reasons. An unknown reason never means that the reply is whole.

use holdshort_core::message::Stop;

/// Stop reasons in lower case of: chat completions, Anthropic, Gemini, Ollama, the Responses API, and servers
/// compatible with the first.
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

/// Stop reasons of a reply that makes calls. If the reply has no call, its calls were lost on the way.
const CALLED: &[&str] = &["tool_calls", "tool_call", "function_call", "tool_use"];

pub(crate) fn from_reason(word: &str, has_calls: bool) -> Stop {
    let word = word.to_lowercase();
    if CALLED.contains(&word.as_str()) {
        return if has_calls { Stop::Whole } else { Stop::Unclear };
    }
    let row = WORDS.iter().find(|(_, words)| words.contains(&word.as_str()));
    row.map_or(Stop::Unclear, |(stop, _)| *stop)
}
