//! Finds the words of a line that may be paths. The inspection of the tool call later finds out which of these paths
//! exist.
//!
//! Words of a part are left out if an allow-list says that the part executes none of the files that it names. All words
//! of any other part are listed, because the tables do not say which word names a file to execute.

use crate::reads::TableVerdict;
use crate::scripts::{looked_for, values};
use crate::working_directory::join;
use crate::{Command, Part, programs};

/// Maximum number of words and pieces of words in one command line that are checked as possible paths.
const MAX_TEXTS: usize = 1024;

/// Maximum number of places at which a word is split into possible paths: at each `=`, and at each dot of a module
/// name.
const MAX_ENDS: usize = 16;

/// Maximum length of a path that the operating system accepts.
const MAX_PATH: usize = 4096;

/// Paths that one simple command of a command line may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedPaths {
    /// Folders to which the paths in `texts` may be relative. The folders are relative to the working directory of the
    /// tool call; the empty string is the working directory itself. An empty list means that the folder is unknown.
    pub folders: Vec<String>,
    /// Folders to which the command line changes before this command of the line runs, and folders of options such as
    /// `-C sub`.
    pub entered: Vec<String>,
    /// Texts in the command that may be paths of files or folders. Empty if the command executes none of the files that
    /// it names.
    pub texts: Vec<String>,
    /// Names of files that the program of the command executes if they exist in a folder that `texts` contains.
    pub looked_for: &'static [&'static str],
}

/// Programs that execute none of their arguments. Programs that only read are not in the list. The exceptions are
/// options in [`programs::runs_arguments`].
const RUNS_NOTHING: [&str; 31] = [
    "rm", "cp", "mv", "mkdir", "rmdir", "touch", "chmod", "chown", "chgrp", "ln", "tee", "dd", "truncate",
    "mktemp", "install", "shred", "sync", "kill", "cd", "pushd", "popd", "tar", "gzip", "gunzip", "bzip2",
    "xz", "zstd", "zip", "unzip", "curl", "wget",
];

const GIT_RUNS_NOTHING: [&str; 30] = [
    "add",
    "branch",
    "checkout",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "config",
    "diff",
    "fetch",
    "gc",
    "init",
    "log",
    "ls-files",
    "ls-tree",
    "merge",
    "mv",
    "notes",
    "pull",
    "push",
    "reflog",
    "remote",
    "reset",
    "restore",
    "revert",
    "rm",
    "show",
    "stash",
    "switch",
    "tag",
];

/// Options that make a program change to another folder before its work. Each entry has programs and their options.
const ENTERS: &[(&[&str], &[&str])] = &[
    (&["git", "go", "cargo", "ninja", "meson", "samu"], &["-C"]),
    (&["make", "gmake", "bmake"], &["-C", "--directory"]),
    (&["tar", "bsdtar", "gtar"], &["-C", "--directory", "--cd"]),
    (&["env"], &["-C", "--chdir"]),
    (&["terraform", "tofu"], &["-chdir"]),
];

impl Command {
    /// Returns the possible paths of each simple command of the command line, in the order of the commands. Returns
    /// `None` if there are more than `MAX_TEXTS`.
    pub fn named_paths(&self) -> Option<Vec<NamedPaths>> {
        let mut left = MAX_TEXTS;
        let parts = self.parts.iter().chain(&self.guesses);
        parts
            .map(|part| {
                let named = part.named_paths();
                left = left.checked_sub(named.texts.len())?;
                Some(named)
            })
            .collect()
    }
}

impl Part {
    fn named_paths(&self) -> NamedPaths {
        let entered = self.entered();
        // make changes its folder before it reads any file. In other programs, the same option may have another
        // meaning: `git apply -C1`.
        let folders = match entered.last() {
            Some(last) if is_make(self.base()) => self.located(last),
            Some(_) | None => self.folders.clone(),
        };
        let entered = entered.iter().flat_map(|folder| self.located(folder));
        let runs = !self.runs_nothing();
        NamedPaths {
            folders,
            entered: self
                .folders
                .iter()
                .filter(|folder| !folder.is_empty())
                .cloned()
                .chain(entered)
                .collect(),
            texts: if runs { self.all_texts() } else { Vec::new() },
            looked_for: if runs { looked_for(self.base()) } else { &[] },
        }
    }

    pub(crate) fn runs_nothing(&self) -> bool {
        let git = || {
            let sub = self.subcommand().unwrap_or_default();
            GIT_RUNS_NOTHING.contains(&sub.split(' ').next().unwrap_or_default())
        };
        self.table_verdict() == TableVerdict::Reads
            || self.only_edits()
            || self.program.is_empty()
            || ((RUNS_NOTHING.contains(&self.program.as_str()) || (self.program == "git" && git()))
                && !programs::runs_arguments(&self.program, &self.arguments))
    }

    /// Returns the folders to which options of the command change, each relative to the previous one.
    pub(crate) fn entered(&self) -> Vec<String> {
        let words: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut entered: Vec<String> = Vec::new();
        for folder in values(&words, self.enters()) {
            let from = entered.last().map_or("", String::as_str);
            entered.push(join(from, folder));
        }
        entered
    }

    /// Returns true if an option of the command changes to a folder that a file pattern determines.
    pub(crate) fn enters_unnamed(&self) -> bool {
        let words: Vec<_> = self.words_and_expansions().collect();
        words.iter().enumerate().any(|(at, (word, expands))| {
            let is_option = |word: &str| self.enters().iter().any(|option| word.starts_with(option));
            *expands
                && (is_option(word) || at.checked_sub(1).is_some_and(|before| is_option(words[before].0)))
        })
    }

    fn enters(&self) -> &'static [&'static str] {
        ENTERS
            .iter()
            .find(|(programs, _)| programs.contains(&self.base()))
            .map_or(&[], |(_, options)| options)
    }

    /// Returns the name of the command's program without its folder.
    pub(crate) fn base(&self) -> &str {
        self.program.rsplit('/').next().unwrap_or_default()
    }

    /// Returns each text of the command that may be a path: words, values after `=`, and values that are joined to an
    /// option. Also returns the pieces of words that contain code or several names, such as `--exec=sh a.sh`,
    /// `tests/t.py::test_a` and `open('x.py')`.
    fn all_texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.inputs.clone();
        for word in &self.arguments {
            texts.push(word.clone());
            texts.extend(word.match_indices('=').take(MAX_ENDS).map(|(at, _)| word[at + 1..].to_owned()));
            texts.extend(word.split(is_between).map(str::to_owned));
            let dotted = word.split(is_between).filter(|piece| piece.contains('.') && !piece.contains('/'));
            texts.extend(dotted.flat_map(|piece| self.modules(piece)));
            if self.base() == "java" && !word.starts_with('-') {
                texts.push(format!("{}.class", word.replace('.', "/")));
            }
        }
        texts.extend(self.texts().map(|(text, _)| text.to_owned()).filter(|text| !self.files.contains(text)));
        let may_be_a_path = |text: &String| {
            text.len() <= MAX_PATH && text.contains(|c: char| c.is_alphanumeric() || c == '_' || c == '.')
        };
        texts.retain(may_be_a_path);
        texts.sort();
        texts.dedup();
        texts
    }

    /// Returns the files that Python executes if a word of the command names a module or an item in a module, such as
    /// `tests.t.Case.test_a`.
    fn modules(&self, dotted: &str) -> Vec<String> {
        if !super::scripts::is_python(self.base()) {
            return Vec::new();
        }
        let ends = dotted.match_indices('.').map(|(at, _)| at).chain([dotted.len()]);
        let ends = ends.filter(|end| *end <= MAX_PATH).take(MAX_ENDS);
        ends.map(|end| dotted[..end].replace('.', "/"))
            .flat_map(|module| [format!("{module}.py"), format!("{module}/__init__.py")])
            .collect()
    }
}

fn is_make(base: &str) -> bool {
    matches!(base, "make" | "gmake" | "bmake")
}

/// Returns true for a character that can be between two names in one word of a command.
fn is_between(c: char) -> bool {
    c.is_whitespace() || "'\"`;|&()<>,:=@[]{}".contains(c)
}
