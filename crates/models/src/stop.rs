//! What the providers' words for why a reply stopped mean. A closed table: a word that is not in it vouches for nothing.

use holdshort_core::message::Stop;

/// In small letters, of: chat completions, Anthropic, Gemini, Ollama, the Responses API, and servers that speak like the
/// first of these.
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

/// Words that say that the reply makes calls. Where it holds none, they were lost on the way.
const CALLED: &[&str] = &["tool_calls", "tool_call", "function_call", "tool_use"];

pub(crate) fn of(word: &str, has_calls: bool) -> Stop {
    let word = word.to_lowercase();
    if CALLED.contains(&word.as_str()) {
        return if has_calls { Stop::Whole } else { Stop::Unclear };
    }
    let row = WORDS.iter().find(|(_, words)| words.contains(&word.as_str()));
    row.map_or(Stop::Unclear, |(stop, _)| *stop)
}
