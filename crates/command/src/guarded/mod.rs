//! Guarded names: names of files that the user's own tools execute or read as configuration without asking the user.
//!
//! This module compares a path with a table of these names (`names`). The module never looks at a file: the caller
//! passes the components of the path. If a call writes to a guarded path, a person is always asked and sees the reason.
//! No grant can allow such a call. Reading from a guarded path is not restricted.

mod names;

use std::cell::LazyCell;
use std::sync::LazyLock;

use names::NAMES;

/// A guarded name that a path contains, and the reason why files with this name are guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// The guarded name: consecutive components of a path, in lower case. In a component, `*` stands for any
    /// characters.
    pub name: &'static str,
    pub why: &'static str,
    scope: Scope,
}

/// Folders in which a file with a guarded name is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Everywhere,
    /// The name is guarded in all folders except those of installed packages. For example, a linter applies the
    /// configuration in an installed package only to the files of this package.
    OwnSources,
}

/// Folders into which package managers install packages.
const PACKAGES_OF_OTHERS: [&str; 2] = ["node_modules", "site-packages"];

/// Any path below `.git` for which the table of guarded names has no row, such as references, the index and objects.
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

/// Returns the guarded name that matches a path or one of its parent folders. `names` are the components of the path,
/// from the workspace or the root folder on. Components that are `.` or empty are skipped. Upper and lower case are
/// treated as equal, as some file systems do.
pub fn guards<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'static Guarded> {
    let names: Vec<Forms> =
        names.into_iter().filter(|name| !matches!(*name, "" | ".")).map(Forms::from_name).collect();
    let meets = |row: &&Row| {
        // A file named `.git` points to a repository in another place. The rows of the table cover the paths below a
        // folder named `.git`.
        if row.guarded.name == ".git" {
            return names.last().is_some_and(|last| last.name() == row.guarded.name);
        }
        (0..names.len()).any(|at| row.is_prefix_of(&names[at..]) && row.counts_below(&names[..at]))
    };
    ROWS.iter().find(meets).map(|row| row.guarded)
}

/// Returns true if the last component of a path is a guarded name. Returns false for a path below a guarded folder,
/// because callers check the folder itself.
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
    /// Returns true if a path begins with the components of this guarded name.
    fn is_prefix_of(&self, names: &[Forms]) -> bool {
        names.len() >= self.parts.len() && self.parts.iter().zip(names).all(|(part, name)| name.fit(part))
    }

    /// Returns true if this guarded name applies to files in a path with these folders: names with
    /// [`Scope::OwnSources`] do not apply in folders of installed packages.
    fn counts_below(&self, folders: &[Forms]) -> bool {
        let is_of_others = |folder: &Forms| PACKAGES_OF_OTHERS.contains(&folder.name());
        self.guarded.scope == Scope::Everywhere || !folders.iter().any(is_of_others)
    }
}

/// One component of a guarded name, split at each `*`.
struct Part {
    start: &'static str,
    /// Texts after each `*` in one component of a guarded name. Empty if the component contains no `*`.
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

/// A component of a path in lower case, together with all names of which it is a variant: `.mise.local.toml` is a
/// variant of `.mise.toml` and of `.mise`.
///
/// Many tools read a local variant of a file in addition to the shared file. Many tools can also read the same
/// configuration in several configuration languages.
struct Forms(Vec<String>);

/// Suffixes that make a file name a variant of another file name. The suffix is before the file extension.
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
            // If a guarded name begins with a dot and has no extension, it also matches the same name with the
            // extension of a configuration language.
            forms.extend(stems.into_iter().chain([stem.to_owned()]).filter(|stem| stem.starts_with('.')));
        }
        // The name `.git` has no variants.
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
