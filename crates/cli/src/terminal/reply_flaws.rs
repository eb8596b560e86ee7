//! Short descriptions of a model's reply that did not complete the agent's step, for a person who follows the run.

const WORDS: [(&str, &str); 9] = [
    ("cut", "its reply was cut"),
    ("filtered", "its reply was filtered"),
    ("call_as_text", "it wrote a tool call as text"),
    ("asks", "it asked in plain text instead of using the tool for questions"),
    ("announces", "it announced work instead of doing it"),
    ("not_finished", "it has not called `finish`"),
    ("unassumed", "it has not recorded its assumptions"),
    ("malformed_questions", "its questions are malformed"),
    ("questions_unasked", "it asked a question, but nobody can answer"),
];

pub(super) fn describe(flaw: &str) -> &'static str {
    let found = WORDS.iter().find(|(name, _)| *name == flaw);
    found.map_or("its reply may be incomplete", |(_, words)| words)
}
