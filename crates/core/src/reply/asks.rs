//! Whether a text asks its reader for something, or announces work instead of doing it. English, and the question marks
//! of other languages.
//!
//! What blocks the work (*should I*, *waiting for your*, *I need … to continue*) asks wherever it stands. What merely
//! asks (a question, *please provide*) does so at the end of the text: before it, a question is rhetorical. What is
//! announced there (*I will now run the tests.*) was not done. What a sentence does is read in `speech.rs`; the tables of
//! all three, and of what does neither, are in `tests/it/endings/`.

use super::prose::{self, Block};
use super::speech::{self, Before, Speech};
use super::texts::words::LISTED;

/// The sentence with which a text asks its reader for something, if it does.
pub fn asked(text: &str) -> Option<String> {
    first(text, &[Speech::Permission, Speech::Waiting, Speech::Request, Speech::Give, Speech::Question])
}

/// The sentence with which a text ends that says what will be done, and does not do it.
pub fn announced(text: &str) -> Option<String> {
    first(text, &[Speech::Announces])
}

/// The first sentence that does one of these where it counts.
fn first(text: &str, sought: &[Speech]) -> Option<String> {
    let said = prose::said(text);
    let blocks = prose::blocks(&said);
    let last = blocks.iter().rposition(|block| !matches!(block, Block::Code))?;
    let items = (0..=last).rev().take_while(|at| matches!(blocks[*at], Block::Item(_) | Block::Code)).last();
    let items = items.filter(|_| matches!(blocks[last], Block::Item(_)));
    let lead = items.and_then(|first| first.checked_sub(1));
    let tail = lead.or(items).unwrap_or(last);
    let mut reader = Reader { before: Before::of(&blocks), ..Reader::default() };
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
    /// Right before the list with which the text ends.
    Lead,
    /// Of that list.
    Item,
    End,
}

#[derive(Default)]
struct Reader {
    before: Before,
    /// Under a heading, or after words, that say that questions are listed, not asked.
    section: bool,
    lead: bool,
}

impl Reader {
    /// The first sentence of a block that does what is sought.
    fn read(&mut self, text: &str, place: Where, next: Option<&Block>, sought: &[Speech]) -> Option<String> {
        let sentences = prose::sentences(text);
        let mut spoken: Vec<(Speech, String)> = Vec::new();
        for sentence in &sentences {
            let lower = sentence.to_lowercase();
            let speech = speech::of(&lower, self.before);
            self.before.hear(speech, &lower);
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
                // What a list tells its reader to do is advice, and what it says will be done is a plan.
                | (Speech::Give | Speech::Announces, Where::Item) => false,
                (Speech::Waiting, _) => !self.section,
                (Speech::Permission, Where::Middle) => ends && !is_answered && !self.section,
                (Speech::Permission, Where::Lead | Where::Item | Where::End) => !is_answered,
                (Speech::Request, Where::Lead | Where::Item | Where::End) => true,
                // A list, or code, answers what no one is asked to choose from.
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

/// *Is it done? Yes.*
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
