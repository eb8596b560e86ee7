//! Finds sentences of a text that ask the reader for something, or that announce work instead of doing it. The analysis
//! understands English. In other languages, only question marks are recognised.
//!
//! A sentence that says that the work cannot continue (*should I*, *waiting for your*, *I need … to continue*) is a
//! request anywhere in the text. Other requests (a question, *please provide*) are found only at the end of the text,
//! because earlier questions are usually rhetorical. If a text ends by announcing work (*I will now run the tests.*),
//! the work was not done. `speech.rs` classifies a single sentence. `tests/it/endings/` has the tables of test cases.

use super::prose::{self, Block};
use super::speech::{self, SentenceContext, Speech};
use super::texts::vocabulary::LISTED;

/// Returns the sentence with which the text asks its reader for something. `None` if the text asks for nothing.
pub fn find_request(text: &str) -> Option<String> {
    first(text, &[Speech::Permission, Speech::Waiting, Speech::Request, Speech::Give, Speech::Question])
}

/// Returns the sentence at the end of the text that announces work. `None` if the text does not end with such a
/// sentence.
pub fn announced(text: &str) -> Option<String> {
    first(text, &[Speech::Announces])
}

/// Returns the first sentence of one of the kinds `sought`. Some kinds are found only at the end of the text.
fn first(text: &str, sought: &[Speech]) -> Option<String> {
    let said = prose::strip_thoughts(text);
    let blocks = prose::blocks(&said);
    let last = blocks.iter().rposition(|block| !matches!(block, Block::Code))?;
    let items = (0..=last).rev().take_while(|at| matches!(blocks[*at], Block::Item(_) | Block::Code)).last();
    let items = items.filter(|_| matches!(blocks[last], Block::Item(_)));
    let lead = items.and_then(|first| first.checked_sub(1));
    let tail = lead.or(items).unwrap_or(last);
    let mut reader = Reader { before: SentenceContext::from_blocks(&blocks), ..Reader::default() };
    for (at, block) in blocks[..=last].iter().enumerate() {
        let found = match block {
            Block::Heading(text) | Block::Paragraph { text, bold: true } if at < last => {
                reader.section = is_listed(text);
                reader.lead = false;
                None
            }
            Block::Quote(_) if at < last => None,
            Block::Code => None,
            Block::Heading(text) | Block::Paragraph { text, .. } | Block::Quote(text) => {
                reader.lead = is_listed(text);
                let place = if at < tail {
                    Where::Middle
                } else if lead == Some(at) {
                    Where::Lead
                } else {
                    Where::End
                };
                reader.read(text, place, blocks.get(at + 1), sought)
            }
            Block::Item(_) if reader.section || reader.lead => None,
            Block::Item(text) => {
                let place = if at < tail { Where::Middle } else { Where::Item };
                reader.read(text, place, None, sought)
            }
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Middle,
    /// Position of a paragraph that introduces a list at the end of the text.
    Lead,
    /// Position of an item of a list at the end of the text.
    Item,
    End,
}

#[derive(Default)]
struct Reader {
    before: SentenceContext,
    /// True if the questions in the following list are information for the reader, as a heading or a sentence shows.
    /// The text then does not ask these questions.
    section: bool,
    lead: bool,
}

impl Reader {
    /// Returns the first sentence of a block that is of one of the kinds `sought`. Some kinds are found only in blocks
    /// at the end of the text. `place` is the position of the block.
    fn read(&mut self, text: &str, place: Where, next: Option<&Block>, sought: &[Speech]) -> Option<String> {
        let sentences = prose::sentences(text);
        let mut spoken: Vec<(Speech, String)> = Vec::new();
        for sentence in &sentences {
            let lower = sentence.to_lowercase();
            let speech = speech::classify(&lower, self.before);
            self.before.record_sentence(speech, &lower);
            spoken.push((speech, lower));
        }
        let counts = |at: usize| {
            let (speech, lower) = &spoken[at];
            let rest = &spoken[at + 1..];
            let ends = rest.iter().all(|(speech, _)| *speech != Speech::Plain);
            let is_answered = match rest.first() {
                Some((_, said)) => answers(said),
                None => matches!(next, Some(Block::Paragraph { text, .. }) if answers(&text.to_lowercase())),
            };
            match (speech, place) {
                (Speech::Plain | Speech::Polite, _)
                | (Speech::Request | Speech::Give | Speech::Question | Speech::Announces, Where::Middle)
                // In a list, an instruction is only advice, and an announcement is only a plan.
                | (Speech::Give | Speech::Announces, Where::Item) => false,
                (Speech::Waiting, _) => !self.section,
                (Speech::Permission, Where::Middle) => ends && !is_answered && !self.section,
                (Speech::Permission, Where::Lead | Where::Item | Where::End) => !is_answered,
                (Speech::Request, Where::Lead | Where::Item | Where::End) => true,
                // A list or code after a question answers the question, unless the question asks for a choice.
                (Speech::Question, Where::Lead) => {
                    ends && (lower.starts_with("which") || lower.starts_with("who"))
                }
                (Speech::Question, Where::Item | Where::End) => ends && !matches!(next, Some(Block::Code)),
                (Speech::Give | Speech::Announces, Where::Lead | Where::End) => ends,
            }
        };
        (0..spoken.len())
            .find(|at| sought.contains(&spoken[*at].0) && counts(*at))
            .map(|at| sentences[at].to_owned())
    }
}

/// Returns true if the text answers the question that precedes it: *Is it done? Yes.*
fn answers(said: &str) -> bool {
    let first = said.split(|each: char| !each.is_alphanumeric()).next().unwrap_or_default();
    matches!(
        first,
        "yes" | "no" | "not" | "never" | "always" | "because" | "absolutely" | "definitely" | "indeed"
    )
}

fn is_listed(text: &str) -> bool {
    let lower = text.to_lowercase();
    LISTED.iter().any(|phrase| lower.contains(phrase))
}
