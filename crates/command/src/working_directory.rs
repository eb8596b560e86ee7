//! Finds the folders in which each part of a line may run, and the paths that the part names.
//!
//! This module compares paths only as texts. The inspection of the tool call resolves links.

use crate::shell::Separator;
use crate::{Command, Part, Pattern, programs};

/// Maximum number of folders in which a part of a command line may run. With more, the folder is treated as unknown.
const MAX_FOLDERS: usize = 8;

/// Maximum number of option letters that can be joined before a value in one word of a command: `-xvzfpath`.
const MAX_BUNDLE: usize = 5;

/// Maximum number of paths in one command line. A person would not read an approval card with more paths.
const MAX_PATHS: usize = 256;

/// Folders in which the next part of a command line may run, relative to the working directory of the tool call.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    /// Folders in which the next part of the command line may run. `None` if unknown.
    now: Option<Vec<String>>,
    /// Folders in which any earlier part of the command line may have run, or to which it may have changed.
    ever: Vec<String>,
    /// True if the output of the previous part of the command line is piped into the next part.
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

    /// Forgets the folders of earlier parts of the command line, because they do not influence a new shell that starts
    /// here.
    pub(crate) fn begin_anew(&mut self) {
        self.ever = self.now().to_vec();
    }

    /// Updates the folders after a part of the line: in `cd sub && make`, make runs in `sub`. After `&&`, it is certain
    /// how the part affects the next one. In a pipe, the change of the folder may happen in a subshell. After any other
    /// separator, the change may also have failed.
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
    /// Returns true if the command changes to the current folder, or to a folder inside the current folder.
    pub(crate) fn stays_below(&self) -> bool {
        target(self).is_some_and(is_below)
    }
}

/// Returns true if a path names the current folder, or something inside the current folder.
pub(crate) fn is_below(path: &str) -> bool {
    !path.is_empty() && !path.starts_with(['/', '-', '~']) && path.split('/').all(|name| name != "..")
}

/// Returns true if the command changes to a folder whose path is not in the command line, as in `cd -` and `cd ~/x`.
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

/// Joins a folder and a path as texts. `..` and symbolic links are not resolved.
pub(crate) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{}/{path}", folder.trim_end_matches('/'))
    }
}

/// Returns the path without `.` components. Each `..` is removed together with the component before it. A `..` without
/// a component before it is removed alone.
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
    /// Returns each text of the command that may be a path, with a flag that is true if the shell expands it. These
    /// texts are words, values of options, files of redirections, and a program that is called by its path.
    pub fn texts(&self) -> impl Iterator<Item = (&str, bool)> {
        // It is unknown whether a pattern in a redirection's file name was quoted.
        let files = self.files.iter().map(|file| (file.as_str(), Pattern::is_in(file)));
        let program = Some((self.program.as_str(), false)).filter(|(program, _)| program.contains('/'));
        let words = self.words_and_expansions().flat_map(|(word, expands)| {
            // `--file=secrets/key`, `-fsecrets/key` and `if=secrets/key` name a file too.
            let value = word.split_once('=').map(|(_, value)| value);
            // A value may follow several option letters in the same word.
            let bundle = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
            let glued = bundle.char_indices().skip(1).take(MAX_BUNDLE).map(|(at, _)| &bundle[at..]);
            [Some(word), value].into_iter().flatten().chain(glued).map(move |text| (text, expands))
        });
        words.chain(files).chain(program)
    }

    /// Returns the texts of the command that must be inside the paths of an allowing rule, each with a flag that is
    /// true if the shell expands it. These are all texts that may be paths, but not the subcommand and options without
    /// a value.
    pub fn operands(&self) -> impl Iterator<Item = (&str, bool)> {
        let named = programs::with_subcommands(&self.program)
            .and_then(|_| self.subcommand())
            .map_or(0, |sub| self.subcommand_index() + sub.split(' ').count());
        // If the option letters of the program are unknown, `-f.env` may be the option `-f` with the file `.env`.
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

    /// Returns the path relative to the working directory of the tool call: one result for each folder in which this
    /// command may run.
    pub fn located(&self, path: &str) -> Vec<String> {
        if path.starts_with('/') {
            return vec![path.to_owned()];
        }
        self.folders.iter().map(|folder| join(folder, path)).collect()
    }
}

impl Command {
    /// Returns the paths that the command line may name, relative to the working directory of the tool call. All words
    /// are included, because usually it is unknown which arguments are files. Returns `None` if there are too many
    /// paths, or if a part runs in an unknown folder.
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
