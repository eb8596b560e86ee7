//! The folder in which each part of a line runs, and the paths that it names.
//!
//! Paths are compared as text. The inspection resolves links.

use crate::shell::Separator;
use crate::{Command, Part, Pattern, programs};

/// How many folders one line may run in before nobody can tell any more.
const MAX_FOLDERS: usize = 8;

/// How many letters of options may stand before a value in one word: `-xvzfpath`.
const MAX_BUNDLE: usize = 5;

/// How many paths of one line are told. Nobody reads a card with more.
const MAX_PATHS: usize = 256;

/// The folders that the next part may run in, from the working directory.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    /// `None`: nobody can tell.
    now: Option<Vec<String>>,
    /// All that any part so far may have run in, or have gone to.
    ever: Vec<String>,
    /// Whether the part before this one is piped into it.
    is_piped: bool,
}

impl Default for Folders {
    fn default() -> Self {
        Self { now: Some(vec![String::new()]), ever: vec![String::new()], is_piped: false }
    }
}

impl Folders {
    pub(crate) fn now(&self) -> &[String] {
        self.now.as_deref().unwrap_or_default()
    }

    /// What has been left behind is nothing to a shell that starts here.
    pub(crate) fn begin_anew(&mut self) {
        self.ever = self.now().to_vec();
    }

    /// `cd sub && make` runs make in `sub`. After anything but `&&` and `|` nobody knows whether the change came off, or
    /// happened in a shell of its own.
    pub(crate) fn after(&mut self, part: Option<&Part>, separator: Separator) {
        if let (Some(part), Some(now)) = (part.filter(|part| changes_folder(part)), &self.now) {
            match target(part) {
                Some(to) => {
                    let mut gone: Vec<String> = now.iter().map(|folder| join(folder, to)).collect();
                    self.ever.extend(gone.iter().cloned());
                    if self.is_piped || separator == Separator::Pipe {
                        gone.extend(now.iter().cloned());
                    }
                    self.now = Some(gone);
                }
                None => self.now = None,
            }
        }
        self.is_piped = separator == Separator::Pipe;
        if separator == Separator::Other && self.now.is_some() {
            self.ever.sort();
            self.ever.dedup();
            self.now = Some(self.ever.clone());
        }
        if self.ever.len() > MAX_FOLDERS {
            self.now = None;
        }
    }
}

fn changes_folder(part: &Part) -> bool {
    matches!(part.program.as_str(), "cd" | "pushd" | "popd")
}

impl Part {
    /// Whether it changes into a folder beneath the present one.
    pub(crate) fn stays_below(&self) -> bool {
        target(self).is_some_and(is_below)
    }
}

/// Returns true if a path names a folder beneath the present one, or that one itself.
pub(crate) fn is_below(path: &str) -> bool {
    !path.is_empty() && !path.starts_with(['/', '-', '~']) && path.split('/').all(|name| name != "..")
}

/// Whether it changes into a folder that the line does not say: `cd -`, `cd ~/x`.
pub(crate) fn leads_anywhere(part: &Part) -> bool {
    changes_folder(part) && target(part).is_none()
}

fn target(part: &Part) -> Option<&str> {
    match part.arguments.as_slice() {
        [to] if part.program == "cd"
            && !part.expands(0)
            && !to.starts_with(['-', '~'])
            && !to.contains(['$', '`'])
            && !to.is_empty() =>
        {
            Some(to)
        }
        [..] => None,
    }
}

/// A path from the working directory, without resolving anything.
pub(crate) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{}/{path}", folder.trim_end_matches('/'))
    }
}

/// Without `.`, and with `..` taken back, as far as names say. A `..` that has nothing to take back is left out.
pub fn normal(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", names.join("/"))
}

impl Part {
    /// Each text of it that may be a path, and whether the shell expands it: words, the values of options, files of
    /// redirections, the program where it is named by a path, and the folders it runs in.
    pub fn texts(&self) -> impl Iterator<Item = (&str, bool)> {
        // Of a redirection's file nobody knows whether its pattern was quoted.
        let files = self.files.iter().map(|file| (file.as_str(), Pattern::is_in(file)));
        let program = Some((self.program.as_str(), false)).filter(|(program, _)| program.contains('/'));
        let words = self.words_and_expansions().flat_map(|(word, expands)| {
            // `--file=secrets/key`, `-fsecrets/key` and `if=secrets/key` name a file too.
            let value = word.split_once('=').map(|(_, value)| value);
            // Behind as many letters as anybody puts into one word.
            let bundle = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
            let glued = bundle.char_indices().skip(1).take(MAX_BUNDLE).map(|(at, _)| &bundle[at..]);
            [Some(word), value].into_iter().flatten().chain(glued).map(move |text| (text, expands))
        });
        words.chain(files).chain(program)
    }

    /// The texts that a rule which allows has to find inside: all that may be a path but for the subcommand, and for
    /// options without a value. Each comes with whether the shell expands it.
    pub fn operands(&self) -> impl Iterator<Item = (&str, bool)> {
        let named = programs::with_subcommands(&self.program)
            .and_then(|_| self.subcommand())
            .map_or(0, |sub| self.begins() + sub.split(' ').count());
        // Where nobody knows which letters of `-f.env` are options, it may be `-f` and the file `.env`.
        let values = self.option_values();
        let words = self.words_and_expansions().skip(named).flat_map(move |(word, expands)| {
            let value = word.split_once('=').map(|(_, value)| value);
            let bundle = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
            let is_value = |tail: &str| values.as_ref().is_none_or(|values| values.contains(&tail));
            let tails: Vec<&str> = bundle
                .char_indices()
                .skip(1)
                .map(|(at, _)| &bundle[at..])
                .filter(|tail| is_value(tail))
                .collect();
            let operand = (!word.starts_with('-')).then_some(word);
            [operand, value].into_iter().flatten().chain(tails).map(move |text| (text, expands))
        });
        let files = self.files.iter().map(|file| (file.as_str(), Pattern::is_in(file)));
        let program = Some((self.program.as_str(), false)).filter(|(program, _)| program.contains('/'));
        words.chain(files).chain(program)
    }

    /// A path that it names, from the working directory of the call, in each folder that it may run in.
    pub fn located(&self, path: &str) -> Vec<String> {
        if path.starts_with('/') {
            return vec![path.to_owned()];
        }
        self.folders.iter().map(|folder| join(folder, path)).collect()
    }
}

impl Command {
    /// The paths that the line may name, from the working directory of the call: any word, for nobody knows of every
    /// program which of its words are files. `None`: they are too many, or nobody can tell where a part runs.
    pub fn paths(&self) -> Option<Vec<String>> {
        let mut paths = Vec::new();
        for part in self.parts.iter().chain(&self.guesses) {
            if part.folders.is_empty() {
                return None;
            }
            let texts = part.texts().filter(|(text, _)| !text.is_empty());
            paths.extend(texts.flat_map(|(text, _)| part.located(text)));
            paths.extend(part.folders.iter().filter(|folder| !folder.is_empty()).cloned());
        }
        paths.sort();
        paths.dedup();
        (paths.len() <= MAX_PATHS).then_some(paths)
    }
}
