//! Files that a program can read or write (reach). A program can reach the paths that its arguments name. Some programs
//! also reach everything below these paths, or any file at all.
//!
//! A program that has no row is assumed to reach any file.

pub(crate) struct Walks {
    pub(crate) programs: &'static [&'static str],
    /// Option letters, and beginnings of long options, that make the program read folders recursively. If both are
    /// empty, the program always reads recursively.
    letters: &'static str,
    long: &'static [&'static str],
    /// Option letters, and beginnings of long options, that make the program follow symbolic links.
    follows: &'static str,
    follows_long: &'static [&'static str],
    /// Number of leading operands of the program that are not file names.
    pub(crate) texts: usize,
}

const fn walks(programs: &'static [&'static str], texts: usize) -> Walks {
    Walks { programs, letters: "", long: &[], follows: "", follows_long: &[], texts }
}

impl Walks {
    const fn with(self, letters: &'static str, long: &'static [&'static str]) -> Self {
        Self { letters, long, ..self }
    }

    const fn following(self, follows: &'static str, follows_long: &'static [&'static str]) -> Self {
        Self { follows, follows_long, ..self }
    }

    pub(crate) fn goes_through(&self, words: &[String]) -> bool {
        let always = self.letters.is_empty() && self.long.is_empty();
        always || words.iter().any(|word| is_option(word, self.letters, self.long)) || self.follows(words)
    }

    pub(crate) fn follows(&self, words: &[String]) -> bool {
        words.iter().any(|word| is_option(word, self.follows, self.follows_long))
    }
}

/// Returns true if a word of a command is a long option that begins with an element of `long`, or joined option letters
/// that contain a letter of `letters`.
fn is_option(word: &str, letters: &str, long: &[&str]) -> bool {
    match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(name), _) => long.iter().any(|begin| name.starts_with(begin)),
        (None, Some(bundle)) => bundle.contains(|c| letters.contains(c)),
        (None, None) => false,
    }
}

pub(crate) const WALKS: &[Walks] = &[
    walks(&["find"], 0).following("L", &[]),
    walks(&["tree"], 0).following("l", &[]),
    walks(&["du"], 0).following("LHD", &["dereference"]),
    walks(&["rg", "fd", "fdfind"], 1).following("L", &["fol"]),
    walks(&["grep", "egrep", "fgrep"], 1).with("rd", &["r", "di"]).following("R", &["der"]),
    walks(&["ls", "dir", "vdir"], 0).with("R", &["rec"]),
    walks(&["lsattr", "getfacl"], 0).with("R", &["rec"]),
    walks(&["diff"], 0),
    walks(&["cp"], 0).with("arRd", &["a", "r"]).following("LH", &["der"]),
    walks(&["rm"], 0).with("rR", &["r"]),
    walks(&["chmod", "chown", "chgrp"], 0).with("R", &["rec"]).following("L", &[]),
    // A folder is moved with its content, and a link to a folder leads to its content.
    walks(&["mv", "ln"], 0),
    walks(&["gzip", "gunzip"], 0).with("r", &["r"]),
    walks(&["zip"], 0).with("rR", &["rec"]),
    walks(&["git add", "git rm", "git mv"], 0),
];

/// Programs that can read or write only the files that their arguments name. Programs that only read are not repeated
/// here.
pub(crate) const STAYS: &[&str] = &[
    "echo",
    "printf",
    "test",
    "[",
    "cd",
    "set",
    "rmdir",
    "unlink",
    "shred",
    "mkdir",
    "mkfifo",
    "mktemp",
    "touch",
    "truncate",
    "fallocate",
    "tee",
    "dd",
    "sync",
    "kill",
    "killall",
    "pkill",
    "bzip2",
    "bunzip2",
    "xz",
    "unxz",
    "zstd",
    "unzstd",
    "sed",
    "gsed",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "base64",
    "iconv",
    "dos2unix",
    "unix2dos",
];

/// Subcommands of git that neither print the content of files nor change files, whatever their options are.
pub(crate) const GIT_STAYS: &[&str] = &[
    "branch",
    "tag",
    "remote",
    "rev-parse",
    "describe",
    "shortlog",
    "merge-base",
    "name-rev",
    "for-each-ref",
    "show-ref",
    "count-objects",
    "check-ignore",
    "check-attr",
    "check-ref-format",
    "cherry",
    "show-branch",
    "version",
    "var",
    "notes",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "config",
    "init",
    "fetch",
    "push",
    "bisect log",
    "worktree list",
    "blame",
    "annotate",
];

/// Subcommands of git that print the content of files only with the listed options.
pub(crate) const GIT_STAYS_WITHOUT: &[(&str, &str)] = &[
    ("status", "-v -vv --verbose"),
    ("commit", "-a -v -p -i -o --all --verbose --patch --include --only"),
    ("log", CONTENT),
    ("whatchanged", CONTENT),
    ("rev-list", CONTENT),
    ("reflog", CONTENT),
    ("stash list", CONTENT),
    ("stash show", CONTENT),
];

/// Options of git that print or search the contents of files.
const CONTENT: &str = "-p -u -U -W -c -m -L -G -S -R -a --patch --unified --raw --patch-with-raw --patch-with-stat --cc --binary \
     --function-context --inter-hunk-context --color-words --word-diff --word-diff-regex --color-moved --full-diff \
     --text --check --objects --diff-merges=on --diff-merges=m --diff-merges=first-parent --diff-merges=1 \
     --diff-merges=separate --diff-merges=combined --diff-merges=c --diff-merges=dense-combined --diff-merges=cc";

/// Subcommands of git that read all files, or everything below the paths after `--`.
pub(crate) const GIT_WALKS: &[&str] = &[
    "show",
    "diff",
    "diff-tree",
    "diff-index",
    "diff-files",
    "range-diff",
    "grep",
    "archive",
    "format-patch",
    "log",
    "whatchanged",
    "reflog",
    "stash list",
    "stash show",
    "cat-file",
    "status",
    "commit",
    "fast-export",
    "bundle",
    "rev-list",
];
