//! Selects a route for a task by rules, without a model (contract A21). The rules are tables of words. The first
//! matching rule applies.
//!
//! Words and phrases match only as whole words: `fix it` does not match `fix item`.

use super::{Mode, Proposal, Route, Routed};

/// Phrases with which a person tells the agent to find out the task by itself. These phrases are searched before the
/// length of the task is examined: a text such as "… no further details. Generate a plan" is long, but describes no
/// task (contract E6).
const META: [&str; 11] = [
    "clarify requirements",
    "clarify the requirements",
    "figure out requirements",
    "figure out the requirements",
    "determine requirements",
    "determine the requirements",
    "no further details",
    "unspecified",
    "no details provided",
    "plan to clarify",
    "needs clarification",
];

/// Verbs, each with its objects. A task that has only such a verb and object does not state its purpose.
const GENERIC: [(&str, &[&str]); 4] = [
    ("create", &["script", "file", "app", "function"]),
    ("write", &["script", "code", "function"]),
    ("make", &["script", "file", "program"]),
    ("build", &["app"]),
];
/// Maximum number of words of a task that is assumed to state no purpose.
const GENERIC_WORDS: usize = 5;
/// Maximum number of words of a task that is assumed to state no purpose if the task contains no word of `PURPOSE`.
const GENERIC_WORDS_WITHOUT_PURPOSE: usize = 10;
const PURPOSE: [&str; 31] = [
    "that",
    "which",
    "to",
    "for",
    "parse",
    "process",
    "calculate",
    "convert",
    "generate",
    "analyze",
    "download",
    "upload",
    "send",
    "read",
    "write",
    "filter",
    "sort",
    "transform",
    "validate",
    "check",
    "test",
    "monitor",
    "extract",
    "import",
    "export",
    "display",
    "show",
    "list",
    "count",
    "analyse",
    "reads",
];

/// Words that refer to something that the task does not name.
const POINTING: [&str; 7] = ["it", "this", "that", "something", "stuff", "things", "thing"];

const VAGUE: [&str; 9] = [
    "fix it",
    "make it work",
    "improve this",
    "help me",
    "something wrong",
    "not working",
    "broken",
    "do something",
    "make it better",
];

const RESEARCH: [&str; 7] = ["research", "find", "search", "learn", "understand", "explain", "what is"];
const RESEARCHER: &str = "researcher";

pub(super) const QUESTIONS: [&str; 2] = ["What should this do?", "What functionality do you need?"];

/// Limits for the length of a task, for each mode. The aggressive mode asks at least as often as the balanced mode
/// (contract E5).
struct Thresholds {
    /// Below this number of words, a task with a word of `POINTING` is treated as unclear.
    pointing_below: usize,
    /// Above this number of words, a task is assumed to have several possible solutions.
    propose_above: usize,
}

fn thresholds(mode: Mode) -> Option<Thresholds> {
    match mode {
        Mode::Minimal => None,
        Mode::Balanced => Some(Thresholds { pointing_below: 5, propose_above: 60 }),
        Mode::Aggressive => Some(Thresholds { pointing_below: 8, propose_above: 40 }),
    }
}

/// Selects the route for a task by its words alone.
pub fn heuristics(task: &str, mode: Mode) -> Routed {
    let words = TaskWords::from_task(task);
    if let Some(thresholds) = thresholds(mode) {
        let unclear: [(&str, Option<String>); 4] = [
            ("the task does not say what to do", words.first_of(&META)),
            ("the task names no purpose", words.generic()),
            ("the task refers to something that it does not name", words.pointing(thresholds.pointing_below)),
            ("the task is vague", words.first_of(&VAGUE)),
        ];
        if let Some((why, found)) = unclear.into_iter().find_map(|(why, found)| Some((why, found?))) {
            return Routed {
                route: Route::Clarify,
                questions: questions(&words),
                reasoning: format!("{why} (`{found}`)"),
                ..Routed::default()
            };
        }
        if words.first_of(&RESEARCH).is_none() && words.count() > thresholds.propose_above {
            return Routed {
                route: Route::Propose,
                proposals: proposals(),
                reasoning: format!("the task has {} words", words.count()),
                ..Routed::default()
            };
        }
    }
    match words.first_of(&RESEARCH) {
        Some(found) => Routed {
            agent: Some(RESEARCHER.to_owned()),
            reasoning: format!("the task asks to find something out (`{found}`)"),
            ..Routed::default()
        },
        None => Routed { reasoning: "nothing in the task is unclear".to_owned(), ..Routed::default() },
    }
}

fn questions(words: &TaskWords) -> Vec<String> {
    let things = GENERIC.iter().flat_map(|(_, targets)| targets.iter());
    let named = things.filter(|thing| words.has(thing)).copied().next();
    match named {
        Some(thing) => vec![format!("What should this {thing} do?"), QUESTIONS[1].to_owned()],
        None => QUESTIONS.map(str::to_owned).to_vec(),
    }
}

/// Returns default proposals for larger tasks (contract A22).
pub(super) fn proposals() -> Vec<Proposal> {
    let proposal = |title: &str, description: &str, pro: &str, con: &str| Proposal {
        title: title.to_owned(),
        description: description.to_owned(),
        pros: vec![pro.to_owned()],
        cons: vec![con.to_owned()],
    };
    vec![
        proposal(
            "Quick & Direct",
            "Begin at once, and adapt on the way.",
            "the fastest",
            "less thought through",
        ),
        proposal(
            "Planned & Thorough",
            "Make a plan first, and carry it out once you have approved it.",
            "you see the whole plan before it starts",
            "takes longer",
        ),
        proposal(
            "Research First",
            "Inspect the current state first, then propose what to do.",
            "decisions rest on facts",
            "nothing changes at first",
        ),
    ]
}

/// Words of a task in lower case, without punctuation.
struct TaskWords(Vec<String>);

impl TaskWords {
    fn from_task(task: &str) -> Self {
        let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        Self(task.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect())
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    fn has(&self, word: &str) -> bool {
        self.0.iter().any(|each| each == word)
    }

    fn has_phrase(&self, phrase: &str) -> bool {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        self.0
            .windows(phrase.len())
            .any(|window| window.iter().map(String::as_str).eq(phrase.iter().copied()))
    }

    fn first_of(&self, phrases: &[&str]) -> Option<String> {
        phrases.iter().find(|phrase| self.has_phrase(phrase)).map(|phrase| (*phrase).to_owned())
    }

    fn generic(&self) -> Option<String> {
        let (action, target) = GENERIC.iter().find_map(|(action, targets)| {
            Some((action, targets.iter().find(|target| self.has(action) && self.has(target))?))
        })?;
        // The action itself states no purpose, even if the word is in `PURPOSE`.
        let has_purpose = PURPOSE.iter().any(|word| word != action && self.has(word));
        let is_short = self.count() <= GENERIC_WORDS;
        let is_empty = self.count() <= GENERIC_WORDS_WITHOUT_PURPOSE && !has_purpose;
        (is_short || is_empty).then(|| format!("{action} {target}"))
    }

    fn pointing(&self, below: usize) -> Option<String> {
        let found = POINTING.iter().find(|word| self.has(word))?;
        (self.count() < below).then(|| (*found).to_owned())
    }
}
