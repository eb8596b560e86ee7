//! Finds paths of files in texts. If no text of a task names a changed path, cards label this path as *outside the
//! task*.
//!
//! The label is a hint for the approver. The label has no influence on approvals: rules, grants and gates ignore it.
//! `docs/guides/changesets.md` describes when a path gets the label. `tests/it/mentioned_paths.rs` has the table of
//! test cases.

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobMatcher};

use crate::limits;

/// Returns the given paths that none of the texts names. Returns an empty set if the texts name no path at all, or
/// contain too many file patterns.
///
/// Paths are relative to the workspace, with `/` as the separator. `workspace` is the absolute path of the workspace,
/// because a text may use absolute paths.
pub fn outside<'p>(
    texts: &[&str],
    workspace: &str,
    paths: impl IntoIterator<Item = &'p str>,
) -> BTreeSet<&'p str> {
    let mut names = Names { workspace, ..Names::default() };
    for text in texts {
        names.read(text);
    }
    let Some(globs) = names.compiled() else { return BTreeSet::new() };
    let found: Vec<_> = paths.into_iter().map(|path| (path, names.meaning(path, &globs))).collect();
    let met = |found: &Option<Certainty>| found.is_some_and(|means| means >= Certainty::WhereMet);
    if !names.is_sure() && !found.iter().any(|(_, found)| met(found)) {
        return BTreeSet::new();
    }
    found.into_iter().filter(|(_, found)| found.is_none()).map(|(path, _)| path).collect()
}

/// Certainty that a word of a text is a path, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// The word can be a path or an ordinary word, such as `docs`. If the word is a path, the text also names all paths
    /// below it. The word alone does not prove that the text names any path.
    Perhaps,
    /// The word is treated as a path only if it matches a changed path. Examples are `src/core`, and a word in
    /// backticks.
    WhereMet,
    /// The word looks like a path: `src/lib.rs`, `docs/`, `*.md`, `Makefile`.
    Surely,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    /// Path relative to the workspace. A text that names a folder also names everything below the folder.
    Path(String),
    /// Name of a file that may be in any folder.
    File(String),
    Glob(String),
}

#[derive(Debug, Default)]
struct Names<'a> {
    workspace: &'a str,
    names: BTreeMap<Name, Certainty>,
}

/// Characters that end a word of a task's text outside backticks.
const SEPARATORS: &[char] =
    &[',', ';', '|', '"', '=', '(', ')', '<', '>', '“', '”', '«', '»', '、', '，', '；'];

/// Characters that are removed from the beginning of a word of a task's text.
const LEADING: &[char] = &['\'', '‘', '[', '{', '@', '「', '『', '（', '【', '《'];
const TRAILING: &[char] =
    &['\'', '’', ']', '}', '.', ':', '!', '?', '…', '。', '：', '！', '？', '」', '』', '）', '】', '》'];

impl Names<'_> {
    fn read(&mut self, text: &str) {
        for line in text.lines() {
            let parts: Vec<&str> = line.split('`').collect();
            for (at, part) in parts.iter().enumerate() {
                // A backtick without a closing backtick does not quote the text after it.
                let is_quoted = at % 2 == 1 && at + 1 < parts.len();
                if is_quoted {
                    self.add_word(part.trim(), true);
                }
                let is_one_word = !part.trim().contains(char::is_whitespace);
                if !is_quoted || !is_one_word {
                    part.split(|c: char| c.is_whitespace() || SEPARATORS.contains(&c))
                        .for_each(|word| self.unquoted(word));
                }
            }
        }
    }

    fn unquoted(&mut self, word: &str) {
        if !word.contains(joins_words) {
            self.add_word(word, false);
            return;
        }
        // Some scripts have no space between words, or no space before a suffix. Spaces then do not show where a path
        // begins. A part in Latin letters is judged by its form. The whole word is treated as a path only if it matches
        // a changed path.
        let word = word.trim_start_matches(LEADING).trim_end_matches(TRAILING);
        if word.contains('/') {
            self.add(Name::Path(word.to_owned()), Certainty::WhereMet);
        }
        let is_torn = |part: &str| part.starts_with(['/', '.']) || part.ends_with('/');
        word.split(joins_words).filter(|part| !is_torn(part)).for_each(|part| self.add_word(part, false));
    }

    fn add_word(&mut self, word: &str, is_quoted: bool) {
        if let Some((name, means)) = self.meant(word, is_quoted) {
            self.add(name, means);
        }
    }

    fn add(&mut self, name: Name, means: Certainty) {
        let known = self.names.entry(name).or_insert(means);
        *known = means.max(*known);
    }

    /// Returns the path or file name that a word denotes. `None` if the word cannot be a path in the workspace.
    fn meant(&self, word: &str, is_quoted: bool) -> Option<(Name, Certainty)> {
        let mut word = word.trim_start_matches(if is_quoted { &['@'] } else { LEADING });
        if !is_quoted {
            word = word.trim_end_matches(TRAILING);
            word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        }
        if word.contains("://") {
            return None;
        }
        let word = without_line(word).replace('\\', "/");
        let word = match word.strip_prefix('/') {
            Some(_) => word.strip_prefix(self.workspace)?.strip_prefix('/')?,
            None => word.as_str(),
        };
        let is_from_here = word.starts_with("./");
        let segments: Vec<&str> = word.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        let (first, last) = (segments.first()?, segments.last()?);
        let leads_elsewhere = segments.contains(&"..") || first.starts_with('~') || is_host(first);
        if leads_elsewhere || word.contains([':', '$', '\0']) || first.contains('@') {
            return None;
        }
        if is_from_here || word.contains('/') {
            let is_folder = word.ends_with('/');
            let path = segments.join("/");
            if path.contains('*') {
                return Some((Name::Glob(path), Certainty::Surely));
            }
            let is_named = segments.iter().any(|name| name.starts_with('.'));
            let has_form = is_from_here || is_folder || is_named || is_well_known(last) || has_ending(last);
            return Some((Name::Path(path), if has_form { Certainty::Surely } else { Certainty::WhereMet }));
        }
        alone(last, is_quoted)
    }

    /// Compiles the file patterns, such as `*.md`, that the texts contain. `None` if there are more than
    /// [`limits::NAMED_GLOBS`] patterns.
    fn compiled(&self) -> Option<Vec<(GlobMatcher, Certainty)>> {
        let globs = self.names.iter().filter_map(|(name, means)| match name {
            Name::Glob(glob) => Some((glob, *means)),
            Name::Path(_) | Name::File(_) => None,
        });
        if globs.clone().count() > limits::NAMED_GLOBS {
            return None;
        }
        let compile = |glob: &str| GlobBuilder::new(glob).literal_separator(true).build().ok();
        Some(
            globs
                .filter_map(|(glob, means)| Some((compile(glob)?.compile_matcher(), means)))
                .chain(
                    // If a glob matches a folder, it also covers everything below the folder.
                    self.names.iter().filter_map(|(name, means)| match name {
                        Name::Glob(glob) => Some((compile(&format!("{glob}/**"))?.compile_matcher(), *means)),
                        Name::Path(_) | Name::File(_) => None,
                    }),
                )
                .collect(),
        )
    }

    fn is_sure(&self) -> bool {
        self.names.values().any(|means| *means == Certainty::Surely)
    }

    /// Returns the highest certainty with which the texts name this path. `None` if the texts do not name the path.
    fn meaning(&self, path: &str, globs: &[(GlobMatcher, Certainty)]) -> Option<Certainty> {
        let last = path.rsplit('/').next().unwrap_or(path);
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let by_path = ends.map(|end| Name::Path(path[..end].to_owned()));
        let stem = last.split('.').next().filter(|stem| is_well_known(stem)).unwrap_or(last);
        let by_file = [last, stem].map(|name| Name::File(name.to_owned()));
        let by_name = by_path.chain(by_file).filter_map(|name| self.names.get(&name).copied());
        let by_glob = globs.iter().filter(|(glob, _)| glob.is_match(path)).map(|(_, means)| *means);
        by_name.chain(by_glob).max()
    }
}

/// Returns the path or file name that a word without `/` denotes.
fn alone(word: &str, is_quoted: bool) -> Option<(Name, Certainty)> {
    let file = || Name::File(word.to_owned());
    let ending = word.rsplit_once('.').filter(|(_, ending)| ENDINGS.contains(ending));
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    match ending {
        // The text names files by their extension, as in `.md files`.
        Some(("", ending)) => Some((Name::Glob(format!("**/*.{ending}")), Certainty::Surely)),
        Some((before, ending)) if before.contains('*') => {
            Some((Name::Glob(format!("**/{before}.{ending}")), Certainty::Surely))
        }
        Some(_) if PRODUCTS.contains(&word.to_lowercase().as_str()) => None,
        Some(_) => Some((file(), Certainty::Surely)),
        None if is_well_known(word) => Some((file(), Certainty::Surely)),
        None if word.contains('*') => None,
        None if is_dotfile(word) => Some((file(), Certainty::Surely)),
        None if is_quoted && word.contains('.') => Some((file(), Certainty::WhereMet)),
        None if !word.chars().all(is_name) => None,
        None => {
            let means = if is_quoted { Certainty::WhereMet } else { Certainty::Perhaps };
            Some((Name::Path(word.to_owned()), means))
        }
    }
}

/// Removes a line number from the end of a path: `:12`, `:12:3`, `:12-20`, `#L12`.
fn without_line(word: &str) -> &str {
    let word = word.split_once('#').map_or(word, |(path, _)| path);
    match word.split_once(':') {
        Some((path, line)) if line.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '-')) => path,
        Some(_) | None => word,
    }
}

/// Returns true for the name of a hidden file, such as `.env` and `.gitignore`. Returns false for `.NET`.
fn is_dotfile(word: &str) -> bool {
    word.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Returns true if a name has a file extension, such as `lib.rs`. Returns false for `2.0`.
fn has_ending(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(before, ending)| {
        !before.is_empty() && ending.len() <= 10 && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

/// Returns true if the first component of a path is a host name, such as `example.org` in `example.org/a.html`.
fn is_host(first: &str) -> bool {
    let labels = first.rsplit_once('.').filter(|(before, _)| !before.is_empty());
    first.starts_with("www.") || labels.is_some_and(|(_, last)| DOMAINS.contains(&last))
}

fn is_well_known(name: &str) -> bool {
    FILES.contains(&name)
}

/// Returns true for characters of scripts in which words are not separated by spaces, or in which a suffix directly
/// follows its word.
fn joins_words(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Names of files that have no extension, or that are usually written without it.
const FILES: [&str; 15] = [
    "CHANGELOG",
    "CONTRIBUTING",
    "CODEOWNERS",
    "Containerfile",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "NOTICE",
    "Procfile",
    "README",
    "Rakefile",
    "Vagrantfile",
];

/// File extensions. A word that ends with one of these extensions is the name of a file, even if the word names no
/// folder.
const ENDINGS: [&str; 73] = [
    "adoc", "bat", "bib", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "db", "diff", "env", "ex",
    "exs", "go", "gradle", "h", "hpp", "hs", "htm", "html", "ini", "ipynb", "java", "js", "json", "jsonl",
    "jsx", "kt", "less", "lock", "log", "lua", "m", "md", "mdx", "mjs", "mk", "ml", "nix", "patch", "pdf",
    "php", "pl", "png", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "scala", "scss", "sh", "sql",
    "sqlite", "svelte", "svg", "swift", "tex", "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
];

/// Products whose names look like names of files. All names are in lower case.
const PRODUCTS: [&str; 10] = [
    "alpine.js",
    "asp.net",
    "d3.js",
    "ember.js",
    "express.js",
    "next.js",
    "node.js",
    "nuxt.js",
    "three.js",
    "vue.js",
];

const DOMAINS: [&str; 8] = ["app", "com", "dev", "edu", "gov", "io", "net", "org"];
