//! Whether a text asks its reader for something. English, and the question marks of other languages.
//!
//! What blocks the work (*should I*, *waiting for your*, *I need … to continue*) asks wherever it stands. What merely
//! asks (a question, *please provide*) does so at the end of the text: before it, a question is rhetorical. The tables
//! of both, and of what does neither, are in `tests/it/endings/`.

use super::prose::{self, Block};
use super::words::{
    DOES, DONE, GOES_ON, IF_SO, IF_YOU, KNOWS, LISTED, OFFERS, PERMISSION, POLITE, REQUESTS, WAITS, WILL,
    YOUR_WORD,
};

/// A sentence, as far as it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speech {
    /// Asks whether, or for what, the work may go on.
    Permission,
    /// Says that the work waits for its reader.
    Waiting,
    /// Asks for something.
    Request,
    /// Ends with a question mark.
    Question,
    /// Closes politely, or offers more.
    Polite,
    Plain,
}

/// The sentence with which a text asks its reader for something, if it does.
pub fn asked(text: &str) -> Option<String> {
    let said = prose::said(text);
    let blocks = prose::blocks(&said);
    let last = blocks.iter().rposition(|block| !matches!(block, Block::Code))?;
    let items = (0..=last).rev().take_while(|at| matches!(blocks[*at], Block::Item(_) | Block::Code)).last();
    let items = items.filter(|_| matches!(blocks[last], Block::Item(_)));
    let lead = items.and_then(|first| first.checked_sub(1));
    let tail = lead.or(items).unwrap_or(last);
    let mut reader = Reader::default();
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
                    Place::Middle
                } else if lead == Some(at) {
                    Place::Lead
                } else {
                    Place::End
                };
                reader.read(text, place, blocks.get(at + 1))
            }
            Block::Item(_) if reader.section || reader.lead => None,
            Block::Item(text) => {
                let place = if at < tail { Place::Middle } else { Place::End };
                reader.read(text, place, None)
            }
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Middle,
    /// Right before the list with which the text ends.
    Lead,
    End,
}

#[derive(Default)]
struct Reader {
    /// Something before says that work is done.
    done: bool,
    /// Under a heading, or after words, that say that questions are listed, not asked.
    section: bool,
    lead: bool,
}

impl Reader {
    /// The first sentence of a block that asks.
    fn read(&mut self, text: &str, place: Place, next: Option<&Block>) -> Option<String> {
        let sentences = prose::sentences(text);
        let spoken: Vec<(Speech, String)> = sentences
            .iter()
            .map(|sentence| (sentence, sentence.to_lowercase()))
            .map(|(_, lower)| {
                let speech = self.speech(&lower);
                self.done |= speech == Speech::Plain && is_done(&lower);
                (speech, lower)
            })
            .collect();
        let asks = |at: usize| {
            let (speech, lower) = &spoken[at];
            let rest = &spoken[at + 1..];
            let ends = rest.iter().all(|(speech, _)| *speech != Speech::Plain);
            let is_answered = match rest.first() {
                Some((_, said)) => answers(said),
                None => matches!(next, Some(Block::Paragraph { text, .. }) if answers(&text.to_lowercase())),
            };
            match (speech, place) {
                (Speech::Plain | Speech::Polite, _) | (Speech::Request | Speech::Question, Place::Middle) => {
                    false
                }
                (Speech::Waiting, _) => !self.section,
                (Speech::Permission, Place::Middle) => ends && !is_answered && !self.section,
                (Speech::Permission, Place::Lead | Place::End) => !is_answered,
                (Speech::Request, Place::Lead | Place::End) => true,
                // A list, or code, answers what no one is asked to choose from.
                (Speech::Question, Place::Lead) => {
                    ends && (lower.starts_with("which") || lower.starts_with("who"))
                }
                (Speech::Question, Place::End) => ends && !matches!(next, Some(Block::Code)),
            }
        };
        (0..spoken.len()).find(|at| asks(*at)).map(|at| sentences[at].to_owned())
    }

    fn speech(&self, said: &str) -> Speech {
        let has = |table: &[&str]| table.iter().any(|phrase| said.contains(phrase));
        let is_question = ends_as_question(said);
        if let Some((_, rest)) = said.split_once("let me know") {
            return let_me_know(rest.trim_start());
        }
        let is_offer = has(OFFERS) && !has(GOES_ON) && self.done
            || self.done && said.starts_with("if you") && adds(said);
        if has(POLITE) || is_offer {
            return Speech::Polite;
        }
        if is_question && has(PERMISSION) {
            return Speech::Permission;
        }
        let begins = |table: &[&str]| clauses(said).any(|clause| start_of(clause, table).is_some());
        if has(YOUR_WORD)
            || begins(WAITS)
            || clauses(said).any(depends)
            || needs_to_go_on(said)
            || cannot_go_on(said)
        {
            return Speech::Waiting;
        }
        if clauses(said).any(requests) {
            return Speech::Request;
        }
        if is_question { Speech::Question } else { Speech::Plain }
    }
}

/// A sentence's question mark, behind closing marks.
fn ends_as_question(said: &str) -> bool {
    let end = said.trim_end_matches([')', ']', '\'', '"', '_', '.', '!', '…', '”', '»', ' ']);
    end.ends_with(['?', '？', '؟'])
}

/// Where a clause begins: at the start, and after what may lead in.
fn clauses(said: &str) -> impl Iterator<Item = &str> {
    let after = [", ", "; ", ": ", " - ", " – ", " — ", " but ", " so ", " then "];
    let within = after
        .into_iter()
        .flat_map(move |mark| said.match_indices(mark).map(move |(at, _)| &said[at + mark.len()..]));
    std::iter::once(said).chain(within).map(|clause| {
        let clause = clause.trim_start_matches(['(', '[', '\'', '"', '-', ' ']);
        ["so ", "now ", "also ", "but ", "and ", "then "]
            .iter()
            .find_map(|word| clause.strip_prefix(word))
            .unwrap_or(clause)
    })
}

/// The phrase with whose words a clause begins.
fn start_of<'p>(clause: &str, table: &[&'p str]) -> Option<&'p str> {
    let begins = |phrase: &&&str| {
        clause.strip_prefix(**phrase).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    table.iter().find(begins).copied()
}

fn requests(clause: &str) -> bool {
    let Some(found) = start_of(clause, REQUESTS) else { return false };
    // *I need to mention that …* asks for nothing.
    match clause.split_once(" need to ") {
        Some((_, verb)) if found.starts_with("i ") => KNOWS.iter().any(|knows| verb.starts_with(knows)),
        _ => true,
    }
}

/// *Once you confirm, I will …*
fn depends(clause: &str) -> bool {
    let will = WILL.iter().any(|will| clause.contains(will));
    let on_you = IF_YOU.iter().find_map(|start| clause.strip_prefix(start)).is_some_and(|rest| {
        let rest = rest.trim_start();
        DOES.iter().any(|does| rest.starts_with(does))
    });
    will && (on_you || IF_SO.iter().any(|start| clause.starts_with(start)))
}

/// *I need the key to continue.*
fn needs_to_go_on(said: &str) -> bool {
    let needs = clauses(said).any(|clause| {
        ["i need", "i still need", "i require", "i'll need", "i will need", "i would need", "i'd need"]
            .iter()
            .any(|start| clause.starts_with(start))
    });
    needs
        && ["to continue", "to proceed", "to go on", "to move forward", "before i"]
            .iter()
            .any(|end| said.contains(end))
}

/// *I can't go on without …*
fn cannot_go_on(said: &str) -> bool {
    const CANNOT: &[&str] = &[
        "i can't",
        "i cannot",
        "i can not",
        "i am unable",
        "i'm unable",
        "i am not able",
        "i'm not able",
        "i won't",
    ];
    let cannot = clauses(said).any(|clause| CANNOT.iter().any(|start| clause.starts_with(start)));
    let on = ["proceed", "continue", "go on", "go ahead", "move forward", " you"]
        .iter()
        .any(|word| said.contains(word));
    cannot && on && [" without ", " until ", " unless "].iter().any(|word| said.contains(word))
}

/// What follows *let me know*: a condition is polite, unless it is about the work itself.
fn let_me_know(rest: &str) -> Speech {
    let has = |table: &[&str]| table.iter().any(|phrase| rest.contains(phrase));
    let polite = has(POLITE) || rest.starts_with("if ") && !has(GOES_ON) && !rest.contains(" i should");
    if polite || rest.is_empty() || rest.starts_with("your thoughts") || rest.starts_with("your feedback") {
        Speech::Polite
    } else {
        Speech::Waiting
    }
}

fn adds(said: &str) -> bool {
    [" also", " as well", " too", "additional", " further", " another", " more"]
        .iter()
        .any(|word| said.contains(word))
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

fn is_done(said: &str) -> bool {
    let mut words = said.split(|each: char| !(each.is_alphanumeric() || each == '\''));
    let denied = ["not", "n't", "never", "cannot", "to be", "nothing"].iter().any(|word| said.contains(word));
    !denied && words.any(|word| DONE.contains(&word))
}
