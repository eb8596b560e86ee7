//! Finds dependencies between the files of a crate by the names in their code.
//!
//! Types are not known: a method call is a dependency if exactly one file defines a method with this name. Items in
//! macros are ignored.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::read::{ModulePath, Source};

/// Names of methods that types of other crates also have, so that a call of them does not show the file with the
/// definition.
const COMMON_METHODS: [&str; 97] = [
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
    "expect",
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

/// Maximum number of imports that are followed for one path, because circular imports would never end.
const MAX_LOOKUPS: usize = 16;

/// Returns each pair of files in a crate in which the first depends on the second.
pub(super) fn between_files(source: &Source) -> BTreeSet<(usize, usize)> {
    let mut found = BTreeSet::new();
    for (path, module) in &source.modules {
        let mut needed = BTreeSet::new();
        for import in module.private_imports() {
            needed.extend(source.resolve(path, import, MAX_LOOKUPS));
        }
        for tokens in &module.tokens {
            scan(tokens.clone(), &mut |name| match name {
                Name::Path(names) => needed.extend(source.of_path(path, &names)),
                Name::Method(name) => needed.extend(source.of_method(&name)),
            });
        }
        found.extend(needed.into_iter().filter(|to| *to != module.file).map(|to| (module.file, to)));
    }
    found
}

enum Name {
    /// A path in the code such as `a::b::c`, or a single name.
    Path(Vec<String>),
    /// A method call `.name(` in the code.
    Method(String),
}

fn scan(tokens: TokenStream, found: &mut impl FnMut(Name)) {
    let trees: Vec<_> = tokens.into_iter().collect();
    let punct = |at: usize| match trees.get(at) {
        Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
        _ => None,
    };
    let mut at = 0_usize;
    while let Some(tree) = trees.get(at) {
        match tree {
            TokenTree::Group(group) => scan(group.stream(), found),
            // A method call has a single dot. Two dots are a range, or the rest of a struct.
            TokenTree::Ident(name)
                if punct(at.wrapping_sub(1)) == Some('.') && punct(at.wrapping_sub(2)) != Some('.') =>
            {
                if is_in_parentheses(trees.get(at + 1)) || punct(at + 1) == Some(':') {
                    found(Name::Method(name.to_string()));
                }
            }
            TokenTree::Ident(first) => {
                let mut names = vec![first.to_string()];
                while let (Some(':'), Some(':'), Some(TokenTree::Ident(next))) =
                    (punct(at + 1), punct(at + 2), trees.get(at + 3))
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

/// Returns true if the name before the token is a method, because parentheses follow. In `match voter.now { … }`,
/// braces follow the field `now`.
fn is_in_parentheses(tree: Option<&TokenTree>) -> bool {
    matches!(tree, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

impl Source {
    /// Returns the files of a crate that a path needs: the file that defines the named item, and the file that defines
    /// a method at the end of the path.
    fn of_path(&self, module: &[String], path: &[String]) -> BTreeSet<usize> {
        let mut files: BTreeSet<_> = self.resolve(module, path, MAX_LOOKUPS).into_iter().collect();
        if let [types @ .., method] = path
            && (types == ["Self"] || self.resolve(module, types, MAX_LOOKUPS).is_some())
        {
            files.extend(self.of_method(method));
        }
        files
    }

    fn of_method(&self, name: &str) -> Option<usize> {
        match self.methods.get(name)?.as_slice() {
            [file] if !COMMON_METHODS.contains(&name) => Some(*file),
            _ => None,
        }
    }

    /// Returns the file that defines the item at a path, which starts in a module of this crate. `lookups` is the
    /// number of imports that may still be followed.
    fn resolve(&self, module: &[String], path: &[String], lookups: usize) -> Option<usize> {
        let lookups = lookups.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.resolve_in(&[], rest, lookups),
            "self" => self.resolve_in(module, rest, lookups),
            "super" => self.resolve_in(module.split_last()?.1, rest, lookups),
            _ => self.resolve_in(module, path, lookups),
        }
    }

    fn resolve_in(&self, module: &[String], path: &[String], lookups: usize) -> Option<usize> {
        let lookups = lookups.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        if first == "super" {
            return self.resolve_in(module.split_last()?.1, rest, lookups);
        }
        let here = self.modules.get(module)?;
        if here.items.contains(first) {
            return Some(here.file);
        }
        let import = here.imports.get(first).map(|import| [import.path.as_slice(), rest].concat());
        let child: ModulePath = [module, std::slice::from_ref(first)].concat();
        // A function may have the name of the module from which it is imported.
        if self.modules.contains_key(&child) && (import.is_none() || !rest.is_empty()) {
            return self.resolve_in(&child, rest, lookups);
        }
        if let Some(path) = import {
            return self.resolve(module, &path, lookups);
        }
        here.globs.iter().find_map(|glob| {
            let path = [glob.as_slice(), path].concat();
            self.resolve(module, &path, lookups)
        })
    }
}
