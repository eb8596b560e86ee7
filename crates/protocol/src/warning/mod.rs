//! Finds text that could deceive the person who decides. Terminal and browser show the same warnings.
//!
//! PURE. The amount of work is limited, because an agent can send a payload of any length. A warning does not mean
//! danger: it means that a text looks like something else. `field.rs` collects the texts of an interrupt, `alike.rs`
//! examines words, and `link.rs` examines links.

mod alike;
mod field;
mod link;

use serde::{Deserialize, Serialize};
use unicode_script::Script;
use utoipa::ToSchema;

use crate::interrupt::Interrupt;
use crate::plain;
use crate::warning::field::{Field, Reading};
use crate::warning::link::Link;

/// Maximum number of warnings of one interrupt. Beyond this number, a last warning of the kind `more` follows.
const WARNINGS: usize = 20;
/// Maximum number of characters of the deceptive text that a warning shows.
const SHOWN: usize = 80;

/// Warning about text that could deceive the person who decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "kind": "look_alike", "at": "/payload/command", "text": "\u{441}url", "looks_like": "curl"
}))]
pub struct Warning {
    pub kind: WarningKind,
    /// JSON pointer to the text within the interrupt, escaped for display. Empty for `more`.
    #[schema(example = "/payload/command")]
    pub at: String,
    /// The deceptive text, escaped for display and shortened.
    pub text: String,
    /// The word that a `look_alike` imitates, or the address in the visible text of a `misleading_link`. Absent for all
    /// other kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks_like: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Characters that are invisible or that change how other characters are displayed: invisible, bidirectional and
    /// control characters.
    HiddenCharacters,
    /// A word with letters of another script that look like ASCII letters.
    LookAlike,
    /// A Markdown image that is loaded from another server.
    ExternalImage,
    /// A Markdown link whose visible text is one address, but whose target is another address or not a web page.
    MisleadingLink,
    /// Some warnings are not listed, or a limit left a part of the interrupt unexamined.
    More,
}

impl Warning {
    /// Describes the warning in a sentence for a person.
    pub fn describe(&self) -> String {
        let Self { kind, at, text, looks_like } = self;
        let looks = looks_like.as_deref().unwrap_or_default();
        match kind {
            WarningKind::HiddenCharacters => {
                format!("{at} contains hidden or control characters, written out here: {text}")
            }
            WarningKind::LookAlike => {
                let letters = foreign(text);
                format!("“{text}” only looks like “{looks}”: {letters} of another script.")
            }
            WarningKind::ExternalImage => {
                format!("The text refers to an external image, which is not loaded here: {text}")
            }
            WarningKind::MisleadingLink => format!("A link that reads “{looks}” leads to {text}"),
            WarningKind::More => format!("Warnings may be missing here: {text}."),
        }
    }
}

/// Lists the letters of a deceptive word that are not ASCII, with their code points, because a reader cannot recognize
/// them.
fn foreign(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().filter(|letter| !letter.is_ascii() && *letter != '…').collect();
    letters.sort_unstable();
    letters.dedup();
    let number = |letter: &char| format!("{letter} (\\u{{{:x}}})", u32::from(*letter));
    let are = if letters.len() == 1 { "is" } else { "are" };
    format!("{} {are}", letters.iter().map(number).collect::<Vec<_>>().join(", "))
}

/// Returns the warnings about an interrupt's texts, without duplicates.
pub fn warnings(interrupt: &Interrupt) -> Vec<Warning> {
    let (places, is_all) = field::collect_fields(interrupt);
    let spoken = alike::spoken(&places);
    let mut found: Vec<Warning> = Vec::new();
    for new in places.iter().flat_map(|place| of_place(place, &spoken)) {
        let is_known = found.iter().any(|known| {
            (known.kind, &known.text, &known.looks_like) == (new.kind, &new.text, &new.looks_like)
        });
        if is_known {
            continue;
        }
        if found.len() == WARNINGS {
            found.push(more("more warnings exist than can be listed"));
            return found;
        }
        found.push(new);
    }
    if !is_all {
        found.push(more("the request is too large to be examined completely"));
    }
    found
}

fn more(text: &str) -> Warning {
    Warning { kind: WarningKind::More, at: String::new(), text: text.to_owned(), looks_like: None }
}

fn of_place<'a>(place: &'a Field<'a>, spoken: &'a [Script]) -> impl Iterator<Item = Warning> {
    let warning = |kind, text: &str, looks_like: Option<&str>| Warning {
        kind,
        at: escape_and_cut(&place.at),
        text: escape_and_cut(text),
        looks_like: looks_like.map(escape_and_cut),
    };
    let hidden = place.hidden().map(|at| around(place.text, at));
    let hidden = hidden.into_iter().map(move |word| warning(WarningKind::HiddenCharacters, word, None));
    let alike = alike::find_look_alikes(place, spoken)
        .map(move |(word, looks)| warning(WarningKind::LookAlike, word, Some(&looks)));
    let links = (place.reading == Reading::Prose).then(|| link::links(place.text));
    let links = links.into_iter().flatten().filter_map(move |link| match link {
        Link { is_image: true, target, .. } if link::is_elsewhere(target) => {
            Some(warning(WarningKind::ExternalImage, target, None))
        }
        Link { is_image: false, text, target } if link::misleads(text, target) => {
            Some(warning(WarningKind::MisleadingLink, target, Some(text)))
        }
        Link { .. } => None,
    });
    hidden.chain(alike).chain(links)
}

/// Returns the word of `text` that contains the byte offset `at`.
fn around(text: &str, at: usize) -> &str {
    let before = &text[..at];
    let far = before.char_indices().rev().nth(SHOWN / 2).map_or(0, |(i, _)| i);
    let start = before.rfind(|c: char| c.is_ascii_whitespace()).map_or(0, |i| i + 1).max(far);
    let mut after = text[at..].char_indices().skip(1);
    let end = after.find(|(_, c)| c.is_ascii_whitespace()).map_or(text.len(), |(i, _)| at + i);
    &text[start..end]
}

/// Escapes the deceptive text of a warning for one line, and shortens it.
fn escape_and_cut(text: &str) -> String {
    let mut head = text.char_indices();
    let end = head.nth(SHOWN).map_or(text.len(), |(i, _)| i);
    let plain = plain::line(&text[..end]);
    let mut out: String = plain.chars().take(SHOWN).collect();
    if out.len() < plain.len() || end < text.len() {
        out.push('…');
    }
    out
}
