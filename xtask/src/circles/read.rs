//! Reads the modules of a crate: their items, their imports, and the tokens of their code except tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{ImplItem, Item, TraitItem, UseTree, Visibility};

/// Path of a module within its crate, without the segment `crate`.
pub(super) type ModulePath = Vec<String>;

#[derive(Default)]
pub(super) struct Source {
    /// Paths of the crate's source files below `src`, with `/`.
    pub(super) files: Vec<String>,
    pub(super) modules: BTreeMap<ModulePath, Module>,
    /// Indexes of the files that define a method in an `impl` or a trait, by the name of the method.
    pub(super) methods: BTreeMap<String, Vec<usize>>,
}

#[derive(Default)]
pub(super) struct Module {
    pub(super) file: usize,
    pub(super) items: BTreeSet<String>,
    /// Imports of the module, each by the name that it has in the module.
    pub(super) imports: BTreeMap<String, Import>,
    /// Paths of traits that the module imports as `_`.
    pub(super) unnamed: Vec<Vec<String>>,
    pub(super) globs: Vec<Vec<String>>,
    /// Code of the module, without imports, tests and inline modules.
    pub(super) tokens: Vec<TokenStream>,
}

pub(super) struct Import {
    pub(super) path: Vec<String>,
    /// True if the import is not re-exported. A re-export is not a dependency of the module.
    pub(super) is_private: bool,
}

impl Source {
    /// Reads the crate in `folder`, from `lib.rs` on, or from `main.rs` if there is no library.
    pub(super) fn read_crate(folder: &Path) -> Result<Self> {
        let mut source = Self::default();
        for root in ["lib.rs", "main.rs"].map(|name| folder.join(name)) {
            if root.exists() {
                source.read_module(folder, &root, folder, Vec::new())?;
                break;
            }
        }
        Ok(source)
    }

    /// Reads the file of a module. `inner` is the folder that contains the files of its child modules.
    fn read_module(&mut self, src: &Path, file: &Path, inner: &Path, path: ModulePath) -> Result<()> {
        let text = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
        let parsed =
            syn::parse_file(&text).with_context(|| format!("{} is not valid Rust", file.display()))?;
        let name = file.strip_prefix(src)?.to_string_lossy().into_owned();
        self.files.push(name);
        let number = self.files.len() - 1;
        self.read_items(src, inner, number, path, parsed.items)
    }

    fn read_items(
        &mut self,
        src: &Path,
        inner: &Path,
        file: usize,
        path: ModulePath,
        items: Vec<Item>,
    ) -> Result<()> {
        let mut module = Module { file, ..Module::default() };
        for item in items {
            if is_test(&item) {
                continue;
            }
            match &item {
                Item::Use(used) => {
                    let is_private = matches!(used.vis, Visibility::Inherited);
                    module.import(&used.tree, &mut Vec::new(), is_private);
                    continue;
                }
                Item::Mod(declared) => {
                    let name = declared.ident.to_string();
                    let below = [path.clone(), vec![name.clone()]].concat();
                    let folder = inner.join(&name);
                    match &declared.content {
                        Some((_, items)) => self.read_items(src, &folder, file, below, items.clone())?,
                        None => self.read_module(src, &module_file(inner, &name), &folder, below)?,
                    }
                    continue;
                }
                Item::Impl(block) => {
                    for part in &block.items {
                        // Implementations of traits are skipped: the methods of a trait are defined in the file of the
                        // trait.
                        if let (ImplItem::Fn(method), None) = (part, &block.trait_) {
                            self.add_method(method.sig.ident.to_string(), file);
                        }
                    }
                }
                Item::Trait(defined) => {
                    for part in &defined.items {
                        if let TraitItem::Fn(method) = part {
                            self.add_method(method.sig.ident.to_string(), file);
                        }
                    }
                }
                _ => {}
            }
            module.items.extend(name_of(&item));
            module.tokens.push(item.into_token_stream());
        }
        self.modules.insert(path, module);
        Ok(())
    }

    fn add_method(&mut self, method: String, file: usize) {
        let files = self.methods.entry(method).or_default();
        if !files.contains(&file) {
            files.push(file);
        }
    }
}

impl Module {
    /// Returns the paths of those imports of the module that are not re-exported.
    pub(super) fn private_imports(&self) -> impl Iterator<Item = &Vec<String>> {
        let named = self.imports.values().filter(|import| import.is_private).map(|import| &import.path);
        named.chain(&self.unnamed)
    }

    fn import(&mut self, tree: &UseTree, before: &mut Vec<String>, is_private: bool) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before, is_private);
                before.pop();
            }
            UseTree::Name(name) => self.add_import(before, name.ident.to_string(), None, is_private),
            UseTree::Rename(name) => {
                self.add_import(before, name.ident.to_string(), Some(name.rename.to_string()), is_private);
            }
            UseTree::Glob(_) => self.globs.push(before.clone()),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before, is_private);
                }
            }
        }
    }

    fn add_import(&mut self, before: &[String], name: String, rename: Option<String>, is_private: bool) {
        let mut path = before.to_vec();
        // `use a::{self}` imports `a`.
        if name != "self" {
            path.push(name);
        }
        let Some(last) = path.last().cloned() else { return };
        let here = match rename {
            Some(name) if name == "_" => {
                self.unnamed.push(path);
                return;
            }
            Some(name) => name,
            None => last,
        };
        self.imports.insert(here, Import { path, is_private });
    }
}

fn module_file(folder: &Path, name: &str) -> PathBuf {
    let beside = folder.join(format!("{name}.rs"));
    if beside.exists() { beside } else { folder.join(name).join("mod.rs") }
}

fn is_test(item: &Item) -> bool {
    let attributes = match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| attribute.meta.to_token_stream().to_string() == "cfg (test)")
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        _ => return None,
    };
    Some(name.to_string())
}
