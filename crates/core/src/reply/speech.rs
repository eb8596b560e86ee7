//! Classifies one English sentence: a request, waiting, an announcement, a polite closing, or a report. Uses the tables
//! in `vocabulary.rs` and `phrases.rs`. This module ignores the position of the sentence in the text.

use super::prose::{self, Block};
use super::texts::phrases::{
    ADVICE, AT_WORK, BEFORE_I, CANNOT, COULD, COULD_NOW, DEPENDS_ON, FUTURE, GIVE, GIVEN, GO_ON, GREETS,
    IDLE, IDLE_ING, LEADS_IN, MUST, READY_FOR, STUCK, TELLS, UNSAID, UNSURE, WILL_DO,
};
use super::texts::vocabulary::{
    DOES, DONE, GOES_ON, IF_SO, IF_YOU, KNOWS, OFFERS, PERMISSION, POLITE, REQUESTS, WAITS, WILL, YOUR_WORD,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech {
    /// The sentence asks for permission to continue, or asks the reader to make a choice before the work continues.
    Permission,
    /// The sentence says that the work waits for the reader.
    Waiting,
    /// The sentence asks for something.
    Request,
    /// The sentence tells the reader to provide something.
    Give,
    /// The sentence announces the work that comes next.
    Announces,
    /// The sentence ends with a question mark.
    Question,
    /// The sentence is a polite closing, or offers more help.
    Polite,
    Plain,
}

/// Kind of a reply as a whole, by which its single sentences are classified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Text {
    /// At least one sentence of the reply says that work is done.
    Report,
    /// The reply neither reports work nor answers a question.
    Greeting,
    #[default]
    Other,
}

/// Properties of the text around a sentence, by which the sentence is classified.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SentenceContext {
    /// True if an earlier sentence of the reply says that work is done.
    done: bool,
    /// Kind of the whole reply that contains the sentence.
    text: Text,
    /// True if the sentence before the classified sentence advises the reader.
    advises: bool,
}

impl SentenceContext {
    pub(super) fn from_blocks(blocks: &[Block]) -> Self {
        let texts = blocks.iter().filter_map(|block| match block {
            Block::Heading(text) | Block::Item(text) | Block::Paragraph { text, .. } => Some(text),
            Block::Quote(_) | Block::Code => None,
        });
        let all: Vec<String> = texts.flat_map(|text| prose::sentences(text)).map(str::to_lowercase).collect();
        let is_greeting = |said: &String| {
            has(said, GREETS)
                || has(said, POLITE)
                || said.split_whitespace().count() <= 4
                || ["i'm ", "i am ", "my name ", "hello", "hi ", "welcome"]
                    .iter()
                    .any(|start| said.starts_with(start))
        };
        let text = if all.iter().any(|said| !ends_as_question(said) && is_done(said)) {
            Text::Report
        } else if all.iter().all(is_greeting) && !blocks.contains(&Block::Code) {
            Text::Greeting
        } else {
            Text::Other
        };
        Self { text, ..Self::default() }
    }

    fn works(self) -> bool {
        self.text == Text::Report
    }

    /// Updates the context after the sentence `said`, which was classified as `speech`.
    pub(super) fn record_sentence(&mut self, speech: Speech, said: &str) {
        self.done |= speech == Speech::Plain && is_done(said);
        self.advises = speech == Speech::Plain && strip_phrase(said, ADVICE).is_some();
    }
}

/// Maximum number of bytes of a sentence that is analysed completely. In a longer sentence, only the beginning and the
/// end are analysed, because the run time grows with the square of the number of clauses.
const SENTENCE_BYTES: usize = 2_000;

/// Classifies a sentence, which must be in lower case.
pub(super) fn classify(said: &str, before: SentenceContext) -> Speech {
    if said.len() <= SENTENCE_BYTES {
        return of_short(said, before);
    }
    let head = &said[..said.floor_char_boundary(SENTENCE_BYTES)];
    let tail = &said[said.ceil_char_boundary(said.len() - SENTENCE_BYTES)..];
    let at_the_end = of_short(tail, before);
    if at_the_end == Speech::Plain { of_short(head, before) } else { at_the_end }
}

fn of_short(said: &str, before: SentenceContext) -> Speech {
    let is_question = ends_as_question(said);
    if let Some((_, rest)) = said.split_once("let me know") {
        return let_me_know(rest.trim_start());
    }
    if before.text == Text::Greeting && has(said, GREETS) {
        return Speech::Request;
    }
    let is_offer = has(said, OFFERS) && !has(said, GOES_ON) && before.done
        || before.done && said.starts_with("if you") && adds(said);
    if (has(said, POLITE) && !and_then_i(said)) || is_offer {
        return Speech::Polite;
    }
    if is_question && has(said, PERMISSION) {
        return Speech::Permission;
    }
    let waits = has_words(said, YOUR_WORD)
        || has_words(said, BEFORE_I)
        || clauses(said).any(|clause| strip_phrase(clause, WAITS).is_some() || depends(clause))
        || defers(said, before)
        || with_leave(said)
        || needs_to_go_on(said)
        || cannot_go_on(said, before);
    if waits {
        return Speech::Waiting;
    }
    if clauses(said).any(requests) || lacks(said, before) {
        return Speech::Request;
    }
    if gives(said, before) {
        return Speech::Give;
    }
    if is_question {
        return Speech::Question;
    }
    if announces(said, before) { Speech::Announces } else { Speech::Plain }
}

fn has(said: &str, table: &[&str]) -> bool {
    table.iter().any(|phrase| said.contains(phrase))
}

/// Returns true if the text contains one of the phrases in `table` as whole words. *before I start* matches, *before I
/// started* does not.
fn has_words(said: &str, table: &[&str]) -> bool {
    table.iter().any(|phrase| {
        said.match_indices(phrase)
            .any(|(at, _)| !said[at + phrase.len()..].starts_with(|next: char| next.is_alphanumeric()))
    })
}

/// Returns the text after the phrase, if the text begins with one of the phrases in `table`.
fn strip_phrase<'s>(said: &'s str, table: &[&str]) -> Option<&'s str> {
    table.iter().find_map(|phrase| {
        said.strip_prefix(phrase)
            .filter(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '\''))
            .map(str::trim_start)
    })
}

/// Returns true if the sentence ends with a question mark. Ignores closing punctuation after the question mark.
fn ends_as_question(said: &str) -> bool {
    let end = said.trim_end_matches([')', ']', '\'', '"', '_', '.', '!', '…', '”', '»', ' ']);
    end.ends_with(['?', '？', '؟'])
}

/// Removes introductory words from the beginning of a sentence: *OK, now …*
fn start(said: &str) -> &str {
    let mut said = said.trim_start_matches(['(', '[', '\'', '"', '-', ' ']);
    while let Some(rest) = strip_phrase(said, LEADS_IN) {
        said = rest.trim_start_matches([',', '!', ':', '.', '-', '–', '—', ' ']);
    }
    said
}

/// Returns the clauses of a sentence, without introductory words.
fn clauses(said: &str) -> impl Iterator<Item = &str> {
    let after = [", ", "; ", ": ", " - ", " – ", " — ", " but ", " so ", " then "];
    let within = after
        .into_iter()
        .flat_map(move |mark| said.match_indices(mark).map(move |(at, _)| &said[at + mark.len()..]));
    std::iter::once(said).chain(within).map(start)
}

fn requests(clause: &str) -> bool {
    let Some(found) = REQUESTS.iter().find(|phrase| strip_phrase(clause, &[phrase]).is_some()) else {
        return false;
    };
    // *I need to mention that …* is a statement, not a request.
    match clause.split_once(" need to ") {
        Some((_, verb)) if found.starts_with("i ") => KNOWS.iter().any(|knows| verb.starts_with(knows)),
        _ => true,
    }
}

/// Returns true if the clause states a condition: *Once you confirm, I will …*
fn depends(clause: &str) -> bool {
    let will = has(clause, WILL);
    let on_you = IF_YOU.iter().find_map(|start| clause.strip_prefix(start)).is_some_and(|rest| {
        let rest = rest.trim_start();
        DOES.iter().any(|does| rest.starts_with(does))
    });
    will && (on_you || IF_SO.iter().any(|start| clause.starts_with(start)))
}

/// Returns true if the sentence postpones work, such as *I'll begin as soon as the key is there*. After completed work,
/// *I can …, if you like* is an offer and postpones nothing.
fn defers(said: &str, before: SentenceContext) -> bool {
    let first = start(said);
    let Some(does) = strip_phrase(first, WILL_DO) else { return false };
    let is_offer =
        before.works() && ["i can", "i could", "i'd", "i would"].iter().any(|start| first.starts_with(start));
    !is_offer && strip_phrase(does, IDLE).is_none() && has(does, DEPENDS_ON)
}

/// Returns true if the sentence asks for permission: *With your permission, I'll …* Returns false if work is already
/// reported as done.
fn with_leave(said: &str) -> bool {
    has(said, &["with your ", "if you allow", "if you don't mind", "if you do not mind", "on your "]) && {
        let is_leave = |word: &str| has(said, &[word]);
        [
            "permission",
            "approval",
            "consent",
            "okay",
            "your ok",
            "go-ahead",
            "blessing",
            "allow",
            "mind",
            "command",
            "signal",
        ]
        .into_iter()
        .any(is_leave)
            && has(
                said,
                &["i will", "i'll", "i can", "i would", "i'd", "i am going", "i'm going", "we can", "we'll"],
            )
    }
}

/// Returns true if the sentence says that the agent needs something to continue: *I need the key to continue.*
fn needs_to_go_on(said: &str) -> bool {
    let needs = clauses(said).any(|clause| {
        [
            "i need",
            "i still need",
            "i require",
            "i'll need",
            "i will need",
            "i would need",
            "i'd need",
            "we need",
        ]
        .iter()
        .any(|start| clause.starts_with(start))
    });
    needs
        && ["to continue", "to proceed", "to go on", "to move forward", "before i"]
            .iter()
            .any(|end| said.contains(end))
}

/// Returns true if the sentence says that something prevents the agent from continuing: *I can't continue: …*, *I can't
/// go on without …*
fn cannot_go_on(said: &str, before: SentenceContext) -> bool {
    let goes_on = has(said, &["proceed", "continue", "go on", "go ahead", "move forward", " you"]);
    let lacks = has(said, &[" without ", " until ", " unless "]);
    let within = said.match_indices(" i ").map(|(at, _)| &said[at + 1..]);
    if within
        .filter_map(|clause| strip_phrase(clause, CANNOT))
        .any(|does| strip_phrase(does, GO_ON).is_some())
    {
        return true;
    }
    clauses(said).any(|clause| {
        if goes_on && lacks && strip_phrase(clause, &["i won't", "i will not"]).is_some() {
            return true;
        }
        strip_phrase(clause, CANNOT).is_some_and(|does| {
            goes_on && lacks
                || strip_phrase(does, GO_ON).is_some()
                || !before.works() && strip_phrase(does, STUCK).is_some()
        })
    })
}

/// Returns true if the sentence says that information is missing, such as *I don't know which file you mean*. Returns
/// false if the sentence also says that the agent decides by itself.
fn lacks(said: &str, before: SentenceContext) -> bool {
    if let Some((_, then)) = said.split_once(" so i ") {
        let goes_on = [
            "need", "can't", "cannot", "can not", "will", "would", "must", "have to", "am ", "wait",
            "require",
        ];
        if !goes_on.iter().any(|word| then.starts_with(word)) {
            return false;
        }
    }
    let asks_how = |rest: &str| {
        [" which ", " what ", " how ", " whether ", " where ", " who ", " when ", " if "]
            .iter()
            .find_map(|word| format!(" {rest}").split_once(word).map(|(_, after)| after.to_owned()))
            .is_some_and(|after| {
                after.contains("you")
                    || after.contains("i should")
                    || !before.works() && format!(" {after}").contains(" to ")
            })
    };
    clauses(said).any(|clause| {
        strip_phrase(clause, UNSURE).is_some_and(asks_how)
            || strip_phrase(clause, UNSAID).is_some() && (!before.works() || clause.contains("you"))
    })
}

/// Returns true if the sentence tells the reader to provide something: *Paste the stack trace.*, *You need to tell me
/// the path.* Returns false if the sentence advises users of the finished work.
fn gives(said: &str, before: SentenceContext) -> bool {
    let first = start(said);
    let (first, must) = match strip_phrase(first, MUST) {
        Some(rest) => (rest, true),
        None => (first, false),
    };
    let told = match strip_phrase(first, GIVE) {
        Some(told) => told,
        None => match said.split_once(", so ").and_then(|(_, then)| strip_phrase(start(then), GIVE)) {
            Some(told) => told,
            None => {
                return strip_phrase(first, &["tell", "give", "send", "show"])
                    .is_some_and(|rest| strip_phrase(rest, &["me", "us"]).is_some());
            }
        },
    };
    let to_me = strip_phrase(told, &["me", "us"]).is_some()
        || has_words(
            said,
            &[" to me", " for me", " here", " and i", " so i", " so that i", " then i", " with me"],
        );
    if to_me {
        return true;
    }
    // The word must be a verb (*provide the …*), not a noun (*answer: 42*).
    let is_told = strip_phrase(told, GIVEN).is_some();
    let is_advice = has_words(
        told,
        &[
            " with",
            " in",
            " via",
            " to",
            " before you",
            " when you",
            " your",
            " from",
            " as",
            " using",
            " under",
            " on",
            " by",
            " through",
            " at",
        ],
    );
    let has_code = has_words(said, &[" code"]);
    is_told && !has_code && !before.advises && (!(before.works() || must) || !is_advice)
}

/// Returns true if the sentence announces work: *I will now run the tests.*
fn announces(said: &str, before: SentenceContext) -> bool {
    let first = start(said);
    if let Some(ready) =
        strip_phrase(first, &["ready to", "i'm ready to", "i am ready to", "all set to", "about to"])
    {
        return strip_phrase(ready, &["be", "use"]).is_none()
            && !(before.works() && strip_phrase(ready, READY_FOR).is_some());
    }
    if AT_WORK.contains(&said.trim_end_matches(['.', '!', '…', ' '])) {
        return true;
    }
    let later = || clauses(said).skip(1).find_map(|clause| strip_phrase(clause, FUTURE));
    if let Some(does) = strip_phrase(said, WILL_DO).or_else(|| strip_phrase(first, WILL_DO)).or_else(later) {
        if strip_phrase(first, COULD).is_some_and(|does| strip_phrase(does, COULD_NOW).is_none()) {
            return false;
        }
        let does = start(does);
        // The text that is announced follows in the same sentence.
        let leads_on = does.contains(':') && strip_phrase(does, TELLS).is_some();
        return strip_phrase(does, IDLE).is_none() && !leads_on && !does.is_empty();
    }
    let first_word = |said: &str| {
        said.split(|each: char| !each.is_alphanumeric() && each != '\'').next().unwrap_or_default().to_owned()
    };
    let is_gerund = |said: &str| {
        let word = first_word(said);
        word.len() > 4 && word.ends_with("ing") && !IDLE_ING.contains(&word.as_str())
    };
    if let Some(does) = strip_phrase(first, &["i'm", "i am", "we're", "we are"]) {
        return is_gerund(start(does)) && !before.works();
    }
    let end = said.trim_end();
    is_gerund(first)
        && (end.ends_with("...") || end.ends_with('…') || end.trim_end_matches('.').ends_with(" now"))
}

/// Classifies the rest of a sentence after *let me know*. A condition such as *if you like* is only polite. A condition
/// about the work is a request.
fn let_me_know(rest: &str) -> Speech {
    let polite =
        has(rest, POLITE) || rest.starts_with("if ") && !has(rest, GOES_ON) && !rest.contains(" i should");
    if and_then_i(rest) {
        Speech::Waiting
    } else if polite
        || rest.is_empty()
        || rest.starts_with("your thoughts")
        || rest.starts_with("your feedback")
    {
        Speech::Polite
    } else {
        Speech::Waiting
    }
}

/// Returns true if the text says that the agent will continue its work afterwards: *… and I'll continue.*
fn and_then_i(said: &str) -> bool {
    ["i'll ", "i will ", "i can "]
        .iter()
        .filter_map(|will| said.split_once(will))
        .any(|(_, does)| strip_phrase(start(does), GOES_ON).is_some())
}

fn adds(said: &str) -> bool {
    [" also", " as well", " too", "additional", " further", " another", " more"]
        .iter()
        .any(|word| said.contains(word))
}

fn is_done(said: &str) -> bool {
    let mut words = said.split(|each: char| !(each.is_alphanumeric() || each == '\''));
    let denied = ["not", "n't", "never", "cannot", "to be", "nothing"].iter().any(|word| said.contains(word));
    let is_to_come = strip_phrase(start(said), WILL_DO).is_some()
        || strip_phrase(start(said), &["once", "when", "if", "after", "as soon as", "unless", "until"])
            .is_some();
    !denied && !is_to_come && words.any(|word| DONE.contains(&word))
}

/// Returns true if the text says that work is done.
pub(super) fn says_done(text: &str) -> bool {
    let blocks = prose::blocks(text);
    SentenceContext::from_blocks(&blocks).works()
}
