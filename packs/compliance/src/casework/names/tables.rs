//! The word lists for comparing names, which are part of the rules. This module converts them to a form for fast
//! look-ups.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::letters::{LetterGroup, fold, is_abjad, is_han, latin};

/// Word lists of the rules for comparing names, also in a form for fast look-ups.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameTables {
    lists: Lists,
    /// Word lists in the form for fast look-ups, built at the first comparison of names.
    #[serde(skip)]
    dictionary: OnceLock<Arc<Dictionary>>,
}

impl PartialEq for NameTables {
    fn eq(&self, other: &Self) -> bool {
        self.lists == other.lists
    }
}

impl Eq for NameTables {}

impl NameTables {
    pub(crate) fn dictionary(&self) -> &Dictionary {
        self.dictionary.get_or_init(|| Arc::new(Dictionary::new(&self.lists)))
    }

    /// Returns true if the rules have no word lists for names at all.
    pub(crate) fn are_missing(&self) -> bool {
        self.lists == Lists::default()
    }

    /// Checks the word lists for comparing names.
    ///
    /// # Errors
    /// Returns a sentence that names the list and the wrong entry.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.lists.check()
    }
}

/// Word lists for comparing names. `rules.yaml` explains each list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    letters: BTreeMap<String, String>,
    sounds: BTreeMap<String, String>,
    alike: Vec<String>,
    particles: Vec<String>,
    inner_particles: Vec<String>,
    articles: Vec<String>,
    beginnings: Vec<String>,
    ends: Vec<String>,
    titles: Vec<String>,
    end_titles: Vec<String>,
    patronymics: Vec<String>,
    forms: Vec<String>,
    common: Vec<Vec<String>>,
    spellings: Vec<Vec<String>>,
}

impl Lists {
    fn check(&self) -> Result<(), String> {
        let is_sound = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase());
        for (from, to) in &self.sounds {
            let from = from.strip_prefix('^').unwrap_or(from);
            if from.is_empty() || !is_sound(from) || !is_sound(to) {
                return Err(format!("`names.sounds` may only have the letters a to z, not `{from}: {to}`"));
            }
        }
        if let Some(group) = self.alike.iter().find(|group| !is_sound(group)) {
            return Err(format!("`names.alike` may only have the letters a to z, not `{group}`"));
        }
        if let Some((from, _)) = self.letters.iter().find(|(from, to)| from.is_empty() || !to.is_ascii()) {
            return Err(format!("`names.letters` must map letters to the letters a to z, unlike `{from}`"));
        }
        let lists = [
            ("particles", &self.particles),
            ("inner_particles", &self.inner_particles),
            ("articles", &self.articles),
            ("beginnings", &self.beginnings),
            ("ends", &self.ends),
            ("titles", &self.titles),
            ("end_titles", &self.end_titles),
            ("patronymics", &self.patronymics),
            ("forms", &self.forms),
        ];
        let groups = [("common", &self.common), ("spellings", &self.spellings)];
        let of_groups =
            groups.into_iter().flat_map(|(name, list)| list.iter().map(move |words| (name, words)));
        for (list, words) in lists.into_iter().chain(of_groups) {
            if let Some(entry) = words.iter().find(|entry| fold(entry).is_empty()) {
                return Err(format!("an entry of `names.{list}` has no letter: `{entry}`"));
            }
            let takes_phrases = matches!(list, "titles" | "end_titles" | "forms" | "common");
            if let Some(entry) = words.iter().find(|entry| !takes_phrases && fold(entry).len() > 1) {
                return Err(format!("an entry of `names.{list}` must be one word: `{entry}`"));
            }
        }
        let mut known = BTreeMap::new();
        for (number, words) in self.spellings.iter().enumerate() {
            for word in words {
                if known.insert(fold(word), number).is_some_and(|before| before != number) {
                    return Err(format!("`{word}` is in two lists of `names.spellings`"));
                }
            }
        }
        Ok(())
    }
}

/// Kind of a phrase that many names contain, and that hardly distinguishes names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phrase {
    /// A title that is removed only before a name. After a name, the same word may be a family name.
    Title,
    /// A title that is removed before and after a name.
    EndTitle,
    Form,
    /// A word in a list of `names.common`, with the number of the list.
    Common(u16),
}

/// Word lists for comparing names, in a form for fast look-ups.
#[derive(Debug)]
pub(crate) struct Dictionary {
    /// Groups of letters that form one sound, the longest groups first.
    pub(super) letters: Vec<LetterGroup>,
    pub(super) sounds: Vec<Sound>,
    /// For each letter from a to z, the set of letters that people often write instead of this letter.
    alike: [u32; 26],
    pub(super) particles: BTreeSet<String>,
    /// Words that are particles of a name only between two other words.
    pub(super) inner_particles: BTreeSet<String>,
    /// Articles that are written together with the next word of a name, the longest first.
    pub(super) articles: Vec<String>,
    pub(super) beginnings: Vec<String>,
    pub(super) ends: Vec<String>,
    pub(super) patronymics: Vec<String>,
    pub(super) phrases: BTreeMap<Vec<String>, Phrase>,
    pub(super) longest_phrase: usize,
    /// For each spelling of a name, the number of the list that contains it.
    pub(super) spellings: BTreeMap<String, u16>,
}

/// A group of letters in names, with the letters that replace the group because both sound the same.
#[derive(Debug)]
pub(super) struct Sound {
    pub from: String,
    pub to: String,
    /// True if the group of letters is replaced only at the beginning of a word.
    pub at_start: bool,
    pub has_vowel: bool,
}

/// Letters for vowels, including long vowels.
pub(super) const VOWELS: &str = "aeiouwy";

impl Dictionary {
    fn new(tables: &Lists) -> Self {
        let mut letters: Vec<LetterGroup> =
            tables.letters.iter().map(|(from, to)| (from.chars().collect(), to.clone())).collect();
        letters.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        let sound = |(from, to): (&String, &String)| {
            let (at_start, from) = match from.strip_prefix('^') {
                Some(rest) => (true, rest),
                None => (false, from.as_str()),
            };
            let has_vowel = from.contains(|c| VOWELS.contains(c));
            Sound { from: from.to_owned(), to: to.clone(), at_start, has_vowel }
        };
        let mut sounds: Vec<Sound> = tables.sounds.iter().map(sound).collect();
        sounds.sort_by_key(|sound| std::cmp::Reverse(sound.from.len()));
        let mut alike = [0_u32; 26];
        for group in &tables.alike {
            let set = group.bytes().fold(0, |set, byte| set | bit(byte));
            for byte in group.bytes() {
                alike[usize::from(byte - b'a')] |= set;
            }
        }
        let mut dictionary = Self {
            letters,
            sounds,
            alike,
            particles: BTreeSet::new(),
            inner_particles: BTreeSet::new(),
            articles: Vec::new(),
            beginnings: Vec::new(),
            ends: Vec::new(),
            patronymics: Vec::new(),
            phrases: BTreeMap::new(),
            longest_phrase: 1,
            spellings: BTreeMap::new(),
        };
        let words =
            |list: &[String]| list.iter().filter_map(|word| dictionary.word(word)).collect::<Vec<_>>();
        let set = |list: &[String]| words(list).into_iter().collect();
        let (particles, inner_particles) = (set(&tables.particles), set(&tables.inner_particles));
        let (mut articles, beginnings, ends) =
            (words(&tables.articles), words(&tables.beginnings), words(&tables.ends));
        articles.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
        let patronymics = words(&tables.patronymics);
        let mut spellings = BTreeMap::new();
        for (number, list) in (0..).zip(&tables.spellings) {
            spellings.extend(words(list).into_iter().map(|word| (word, number)));
        }
        let mut phrases = BTreeMap::new();
        phrases.extend(tables.titles.iter().map(|phrase| (dictionary.phrase(phrase), Phrase::Title)));
        let end_titles = tables.end_titles.iter();
        phrases.extend(end_titles.map(|phrase| (dictionary.phrase(phrase), Phrase::EndTitle)));
        phrases.extend(tables.forms.iter().map(|phrase| (dictionary.phrase(phrase), Phrase::Form)));
        for (number, list) in (0..).zip(&tables.common) {
            phrases.extend(list.iter().map(|phrase| (dictionary.phrase(phrase), Phrase::Common(number))));
        }
        dictionary.longest_phrase = phrases.keys().map(Vec::len).max().unwrap_or(1);
        Self {
            particles,
            inner_particles,
            articles,
            beginnings,
            ends,
            patronymics,
            phrases,
            spellings,
            ..dictionary
        }
    }

    /// Returns a word of a name in the form for look-ups in the word lists: in Latin letters. Words in Chinese
    /// characters or in a script without vowels stay unchanged, because different ones would be equal in Latin letters.
    pub(super) fn look_up_form(&self, word: &str) -> String {
        if is_abjad(word) || is_han(word) { word.to_owned() } else { latin(word, &self.letters) }
    }

    fn word(&self, text: &str) -> Option<String> {
        fold(text).first().map(|word| self.look_up_form(word))
    }

    fn phrase(&self, text: &str) -> Vec<String> {
        fold(text).iter().map(|word| self.look_up_form(word)).collect()
    }

    /// Returns true if people often write `other` instead of `one`.
    pub(super) fn are_alike(&self, one: u8, other: u8) -> bool {
        one.is_ascii_lowercase() && self.alike[usize::from(one - b'a')] & bit(other) != 0
    }
}

/// Returns the bit of a letter in a set of letters, or 0 for any other character.
pub(super) const fn bit(byte: u8) -> u32 {
    if byte.is_ascii_lowercase() { 1 << (byte - b'a') } else { 0 }
}
