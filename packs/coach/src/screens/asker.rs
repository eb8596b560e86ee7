//! Shows questions of the coach's agents in the terminal and reads the answers, like the runner of garmin-ai-coach
//! (contract C4, C6, C9, E14).

use std::borrow::Cow;

use holdshort_cli::kit::{Paint, Prompt, Reaction};
use holdshort_cli::pack::Asker;
use holdshort_core::history::NOTHING;
use holdshort_protocol::{Decision, Interrupt, Kind, plain};
use textwrap::{Options, WordSeparator, WordSplitter};

/// Width in characters of the horizontal lines around a question in the terminal.
const WIDTH: usize = 70;

/// Words that cancel the run if the person types nothing else, in upper or lower case.
const LEAVES: [&str; 3] = ["quit", "exit", "cancel"];

/// State of the coach's terminal dialogue that is kept between questions.
#[derive(Debug, Default)]
pub(crate) struct Runner {
    /// Position of the question in the terminal among the open questions (from 1), and the number of open questions.
    at: usize,
    of: usize,
    /// Id of the interrupt that the terminal shows. An interrupt that is shown again keeps its position.
    shown: String,
    /// True if the person entered an empty line, so that the terminal asked the question again.
    was_empty: bool,
}

impl Asker for Runner {
    fn asks(&self, interrupt: &Interrupt) -> bool {
        interrupt.kind == Kind::Question
    }

    fn screen(&mut self, interrupt: &Interrupt, open: usize, paint: Paint) -> Option<Vec<String>> {
        self.was_empty = false;
        let line = "=".repeat(WIDTH);
        let mut lines = vec![line.clone()];
        let is_new = self.shown != interrupt.id;
        if is_new && self.at >= self.of {
            (self.at, self.of) = (0, open);
            if open > 1 {
                lines.push(format!("{open} AGENT QUESTIONS"));
                lines.push(line.clone());
            }
        }
        if is_new {
            self.at += 1;
            self.shown.clone_from(&interrupt.id);
        }
        // garmin-ai-coach has no forms, so a form is shown and answered as in the rest of the product.
        if interrupt.response_schema.is_some() {
            return None;
        }
        let part =
            |key: &str| interrupt.payload.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
        let asker = plain::line(part("asker")).to_uppercase();
        lines.push(if self.of > 1 {
            format!("Question {} [{asker}]", self.at)
        } else {
            format!("AGENT QUESTION [{asker}]")
        });
        if !part("context").is_empty() {
            lines.extend(wrapped(&plain::text(part("context")), paint));
        }
        lines.push(String::new());
        let question = plain::text(part("question"));
        if !question.is_empty() {
            lines.extend(wrapped(&format!("Question: {question}"), paint));
        }
        lines.push(line);
        Some(lines)
    }

    /// Handles a line that the person typed in reply to a question.
    fn line(&mut self, prompt: &mut Prompt, line: &str, paint: Paint) -> Reaction {
        let word = line.trim().to_lowercase();
        if LEAVES.contains(&&*word) && !prompt.accepts_value(line.trim()) {
            return Reaction::Decide(decision(prompt, "cancel", None));
        }
        if word.is_empty() && prompt.is_choosing() {
            if self.was_empty {
                // An option that needs data does not accept an empty answer.
                let is_data =
                    prompt.interrupt.options.iter().any(|offer| offer.id == "answer" && offer.needs_edit);
                let option = if is_data { "skip" } else { "answer" };
                return Reaction::Decide(decision(prompt, option, Some(NOTHING.to_owned())));
            }
            self.was_empty = true;
            return Reaction::Ask(vec![
                "  Please type an answer. Press Enter again to continue without an answer, or type quit to \
                 cancel the run."
                    .to_owned(),
            ]);
        }
        self.was_empty = false;
        prompt.read_conversation_line(line, false, paint)
    }
}

/// Wraps text to the width of the terminal. Lines are broken only at blanks.
fn wrapped(text: &str, paint: Paint) -> Vec<String> {
    let options = Options::new(paint.width)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    text.lines().flat_map(|line| textwrap::wrap(line, &options)).map(Cow::into_owned).collect()
}

fn decision(prompt: &Prompt, option: &str, text: Option<String>) -> Decision {
    Decision {
        option: option.to_owned(),
        text,
        version: Some(prompt.interrupt.version),
        ..Decision::default()
    }
}
