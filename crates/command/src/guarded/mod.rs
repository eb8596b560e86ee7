//! Guarded names: files that the user's own tools run or take configuration from, without asking.
//!
//! Owns the comparison of a path with the table of guarded names (`names`). Never looks at a file: the caller passes
//! the names of a path. A call that writes a guarded path always asks and states the reason, and no grant covers it.
//! Reading is free.

mod names;

use std::cell::LazyCell;
use std::sync::LazyLock;

use names::NAMES;

/// Guarded name, with the reason for guarding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// Consecutive names of a path, in lower case. `*` stands for any part of a name.
    pub name: &'static str,
    pub why: &'static str,
    scope: Scope,
}

/// Folders in which a name is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Everywhere,
    /// Everywhere except in packages of others. A linter applies the configuration there only to the files of that
    /// package.
    OwnSources,
}

/// Folders that package managers fill.
const PACKAGES_OF_OTHERS: [&str; 2] = ["node_modules", "site-packages"];

/// Any other path below `.git`: references, index, objects.
pub const BELOW_GIT: Guarded = guarded(".git/*", "git alone writes there");

pub(crate) const fn guarded(name: &'static str, why: &'static str) -> Guarded {
    Guarded { name, why, scope: Scope::Everywhere }
}

const fn in_own_sources(name: &'static str, why: &'static str) -> Guarded {
    Guarded { name, why, scope: Scope::OwnSources }
}

/// Returns the table of guarded names.
pub const fn all() -> &'static [Guarded] {
    NAMES
}

/// Returns the guarded name that a path matches or is below. `names` are the names of the path, from the workspace or
/// the root. Names that are `.` or empty are skipped. Case is ignored, as in some file systems.
pub fn guards<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'static Guarded> {
    let names: Vec<Forms> =
        names.into_iter().filter(|name| !matches!(*name, "" | ".")).map(Forms::from_name).collect();
    let meets = |row: &&Row| {
        // A file named `.git` points elsewhere. Paths below a folder named `.git` have rows of their own.
        if row.guarded.name == ".git" {
            return names.last().is_some_and(|last| last.name() == row.guarded.name);
        }
        (0..names.len()).any(|at| row.is_prefix_of(&names[at..]) && row.counts_below(&names[..at]))
    };
    ROWS.iter().find(meets).map(|row| row.guarded)
}

/// Returns true if the last of these names ends a guarded path. Returns false for a path below a guarded folder:
/// callers check the folder itself.
pub fn ends_guarded(names: &[impl AsRef<str>]) -> bool {
    let Some((last, above)) = names.split_last() else { return false };
    let last = Forms::from_name(last.as_ref());
    let above =
        LazyCell::new(|| above.iter().map(|name| Forms::from_name(name.as_ref())).collect::<Vec<_>>());
    let ends = |row: &Row| {
        let Some((part, parts)) = row.parts.split_last() else { return false };
        last.fit(part)
            && above.len().checked_sub(parts.len()).is_some_and(|at| {
                let (folders, tail) = above.split_at(at);
                parts.iter().zip(tail).all(|(part, name)| name.fit(part)) && row.counts_below(folders)
            })
    };
    ROWS.iter().any(ends)
}

/// Table of guarded names, parsed once.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let row = |guarded: &'static Guarded| Row {
        guarded,
        parts: guarded.name.split('/').map(Part::parse).collect(),
    };
    NAMES.iter().map(row).collect()
});

struct Row {
    guarded: &'static Guarded,
    parts: Vec<Part>,
}

impl Row {
    /// Returns true if these names begin with the names of the row.
    fn is_prefix_of(&self, names: &[Forms]) -> bool {
        names.len() >= self.parts.len() && self.parts.iter().zip(names).all(|(part, name)| name.fit(part))
    }

    /// Returns true if the row applies below these folders.
    fn counts_below(&self, folders: &[Forms]) -> bool {
        let is_of_others = |folder: &Forms| PACKAGES_OF_OTHERS.contains(&folder.name());
        self.guarded.scope == Scope::Everywhere || !folders.iter().any(is_of_others)
    }
}

/// One name of a row.
struct Part {
    start: &'static str,
    /// Text after each `*`. Empty for a name without `*`.
    rest: Vec<&'static str>,
}

impl Part {
    fn parse(name: &'static str) -> Self {
        let mut pieces = name.split('*');
        Self { start: pieces.next().unwrap_or_default(), rest: pieces.collect() }
    }

    fn fits(&self, name: &str) -> bool {
        let Some((end, between)) = self.rest.split_last() else { return name == self.start };
        let Some(mut name) = name.strip_prefix(self.start) else { return false };
        for piece in between {
            let Some(at) = name.find(piece) else { return false };
            name = &name[at + piece.len()..];
        }
        name.ends_with(end)
    }
}

/// Lower-case name with the names that it is a variant of: `.mise.local.toml` is a variant of `.mise.toml` and `.mise`.
///
/// Tools read a local variant after the shared file, and the same configuration in several languages.
struct Forms(Vec<String>);

/// Suffixes of a name, before its extension, that mark a variant.
const VARIANTS: [&str; 8] = [".local", "-local", "_local", ".override", ".private", ".user", ".d", "-2"];

/// File extensions of configuration languages.
const LANGUAGES: [&str; 26] = [
    "bash", "cfg", "cjs", "conf", "cts", "fish", "ini", "js", "json", "json5", "jsonc", "lua", "mjs", "mts",
    "nix", "pkl", "ps1", "py", "rb", "sh", "toml", "ts", "xml", "yaml", "yml", "zsh",
];

impl Forms {
    fn from_name(name: &str) -> Self {
        let name = name.to_lowercase();
        let language =
            name.rsplit_once('.').filter(|(stem, end)| !stem.is_empty() && LANGUAGES.contains(end));
        let variant = |name: &str| {
            let found = VARIANTS.iter().find_map(|end| name.strip_suffix(end));
            found.filter(|name| !name.is_empty()).map(str::to_owned)
        };
        let mut forms = Vec::new();
        forms.extend(variant(&name));
        if let Some((stem, end)) = language {
            let stems = variant(stem);
            forms.extend(stems.iter().map(|stem| format!("{stem}.{end}")));
            // A hidden file without an extension also matches with the extension of any language.
            forms.extend(stems.into_iter().chain([stem.to_owned()]).filter(|stem| stem.starts_with('.')));
        }
        // `.git` has no variants.
        forms.retain(|form| form != ".git");
        forms.insert(0, name);
        Self(forms)
    }

    fn name(&self) -> &str {
        &self.0[0]
    }

    fn fit(&self, part: &Part) -> bool {
        self.name() != ".." && self.0.iter().any(|name| part.fits(name))
    }
}
