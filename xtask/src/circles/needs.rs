//! Needs between the files of a crate, from the names in their code.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};

use super::read::{ModulePath, Source};

/// Methods that types outside the crate have too: a call says nothing about who is called.
const ANYONES: [&str; 96] = [
    "add",
    "all",
    "and",
    "any",
    "append",
    "apply",
    "as_bytes",
    "as_deref",
    "as_mut",
    "as_ref",
    "as_str",
    "at",
    "borrow",
    "build",
    "bytes",
    "chain",
    "check",
    "clear",
    "clone",
    "close",
    "cmp",
    "collect",
    "contains",
    "contains_key",
    "count",
    "default",
    "drain",
    "drop",
    "end",
    "ends_with",
    "entry",
    "eq",
    "err",
    "extend",
    "filter",
    "find",
    "finish",
    "first",
    "flush",
    "fmt",
    "fold",
    "from",
    "get",
    "get_mut",
    "hash",
    "id",
    "insert",
    "into",
    "into_iter",
    "is_empty",
    "is_none",
    "is_some",
    "iter",
    "iter_mut",
    "join",
    "keys",
    "kind",
    "last",
    "len",
    "lines",
    "lock",
    "map",
    "max",
    "merge",
    "min",
    "name",
    "new",
    "next",
    "ok",
    "open",
    "or",
    "parse",
    "path",
    "pop",
    "push",
    "read",
    "remove",
    "replace",
    "retain",
    "rev",
    "send",
    "set",
    "skip",
    "sort",
    "split",
    "start",
    "status",
    "sum",
    "take",
    "then",
    "time",
    "to_owned",
    "to_string",
    "unwrap_or",
    "values",
    "write",
];

/// Imports that lead to one another end after so many steps.
const STEPS: usize = 16;

/// Returns each pair of files of which the first needs the second.
pub(super) fn needs(source: &Source) -> BTreeSet<(usize, usize)> {
    let mut found = BTreeSet::new();
    for (path, module) in &source.modules {
        let mut needed = BTreeSet::new();
        for import in module.imports.values().filter(|import| import.is_private) {
            needed.extend(source.file_of(path, &import.path, STEPS));
        }
        for tokens in &module.tokens {
            scan(tokens.clone(), &mut |name| match name {
                Name::Path(names) => needed.extend(source.file_of(path, &names, STEPS)),
                Name::Method(name) => needed.extend(source.file_of_method(&name)),
            });
        }
        found.extend(needed.into_iter().filter(|to| *to != module.file).map(|to| (module.file, to)));
    }
    found
}

enum Name {
    /// `a::b::c`, or a name alone.
    Path(Vec<String>),
    /// `.name(`
    Method(String),
}

fn scan(tokens: TokenStream, found: &mut impl FnMut(Name)) {
    let trees: Vec<_> = tokens.into_iter().collect();
    let mark = |at: usize| match trees.get(at) {
        Some(TokenTree::Punct(mark)) => Some(mark.as_char()),
        _ => None,
    };
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        match tree {
            TokenTree::Group(group) => scan(group.stream(), found),
            TokenTree::Ident(first) if mark(at.wrapping_sub(1)) == Some('.') => {
                if matches!(trees.get(at + 1), Some(TokenTree::Group(_))) || mark(at + 1) == Some(':') {
                    found(Name::Method(first.to_string()));
                }
            }
            TokenTree::Ident(first) => {
                let mut names = vec![first.to_string()];
                while let (Some(':'), Some(':'), Some(TokenTree::Ident(next))) =
                    (mark(at + 1), mark(at + 2), trees.get(at + 3))
                {
                    names.push(next.to_string());
                    at += 3;
                }
                found(Name::Path(names));
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        at += 1;
    }
}

impl Source {
    fn file_of_method(&self, name: &str) -> Option<usize> {
        match self.methods.get(name)?.as_slice() {
            [file] if !ANYONES.contains(&name) => Some(*file),
            _ => None,
        }
    }

    /// Returns the file that defines what a path names in a module of this crate.
    fn file_of(&self, module: &[String], path: &[String], steps: usize) -> Option<usize> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.below(&[], rest, steps),
            "self" => self.below(module, rest, steps),
            "super" => self.below(module.split_last()?.1, rest, steps),
            _ => self.below(module, path, steps),
        }
    }

    /// Follows the names from this module on.
    fn below(&self, module: &[String], path: &[String], steps: usize) -> Option<usize> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        if first == "super" {
            return self.below(module.split_last()?.1, rest, steps);
        }
        let here = self.modules.get(module)?;
        if here.items.contains(first) {
            return self.method_of(rest).or(Some(here.file));
        }
        let child: ModulePath = [module, std::slice::from_ref(first)].concat();
        if self.modules.contains_key(&child) {
            return self.below(&child, rest, steps);
        }
        if let Some(import) = here.imports.get(first) {
            let path = [import.path.as_slice(), rest].concat();
            return self.file_of(module, &path, steps);
        }
        here.globs.iter().find_map(|glob| {
            let path = [glob.as_slice(), path].concat();
            self.file_of(module, &path, steps)
        })
    }

    /// `Type::method`: where the method is, if one file alone defines one of this name.
    fn method_of(&self, rest: &[String]) -> Option<usize> {
        let [method] = rest else { return None };
        self.file_of_method(method)
    }
}
