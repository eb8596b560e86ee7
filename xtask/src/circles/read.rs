//! The modules of a crate: what each defines and imports, and the tokens of its code without tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{ImplItem, Item, TraitItem, UseTree, Visibility};

/// Path of a module from the root of its crate, without `crate`.
pub(super) type ModulePath = Vec<String>;

#[derive(Default)]
pub(super) struct Source {
    pub(super) files: Vec<File>,
    pub(super) modules: BTreeMap<ModulePath, Module>,
    /// Files that define a method of this name, in an `impl` or a trait.
    pub(super) methods: BTreeMap<String, Vec<usize>>,
}

pub(super) struct File {
    /// Below `src`, with `/`.
    pub(super) name: String,
}

#[derive(Default)]
pub(super) struct Module {
    pub(super) file: usize,
    /// Names of the items that are defined here.
    pub(super) items: Vec<String>,
    /// Imports by the name that they have here.
    pub(super) imports: BTreeMap<String, Import>,
    /// Paths whose content is imported.
    pub(super) globs: Vec<Vec<String>>,
    /// Its code, without imports, tests and inner modules.
    pub(super) tokens: Vec<TokenStream>,
}

pub(super) struct Import {
    pub(super) path: Vec<String>,
    /// It is not passed on: this module needs it.
    pub(super) is_private: bool,
}

impl Source {
    /// Reads the crate whose root is `lib.rs` or `main.rs` of this folder.
    pub(super) fn of(folder: &Path) -> Result<Self> {
        let mut source = Self::default();
        for root in ["lib.rs", "main.rs"].map(|name| folder.join(name)) {
            if root.exists() {
                source.read(folder, &root, folder, Vec::new())?;
                break;
            }
        }
        Ok(source)
    }

    /// Reads a file that holds a module. `inner`: the folder of the modules that it declares.
    fn read(&mut self, src: &Path, file: &Path, inner: &Path, path: ModulePath) -> Result<()> {
        let text = fs::read_to_string(file).with_context(|| format!("{} can not be read", file.display()))?;
        let parsed = syn::parse_file(&text).with_context(|| format!("{} is no Rust", file.display()))?;
        let name = file.strip_prefix(src)?.to_string_lossy().into_owned();
        self.files.push(File { name });
        let number = self.files.len() - 1;
        self.take(src, inner, number, path, parsed.items)
    }

    fn take(
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
                        Some((_, items)) => self.take(src, &folder, file, below, items.clone())?,
                        None => self.read(src, &file_of(inner, &name), &folder, below)?,
                    }
                    continue;
                }
                Item::Impl(block) => {
                    for part in &block.items {
                        // Methods of a trait belong to the trait.
                        if let (ImplItem::Fn(method), None) = (part, &block.trait_) {
                            self.define(method.sig.ident.to_string(), file);
                        }
                    }
                }
                Item::Trait(defined) => {
                    for part in &defined.items {
                        if let TraitItem::Fn(method) = part {
                            self.define(method.sig.ident.to_string(), file);
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

    fn define(&mut self, method: String, file: usize) {
        let files = self.methods.entry(method).or_default();
        if !files.contains(&file) {
            files.push(file);
        }
    }
}

impl Module {
    fn import(&mut self, tree: &UseTree, before: &mut Vec<String>, is_private: bool) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before, is_private);
                before.pop();
            }
            UseTree::Name(name) => self.imported(before, name.ident.to_string(), None, is_private),
            UseTree::Rename(name) => {
                self.imported(before, name.ident.to_string(), Some(name.rename.to_string()), is_private);
            }
            UseTree::Glob(_) => self.globs.push(before.clone()),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before, is_private);
                }
            }
        }
    }

    fn imported(&mut self, before: &[String], name: String, rename: Option<String>, is_private: bool) {
        let mut path = before.to_vec();
        // `use a::{self}` imports `a`.
        if name != "self" {
            path.push(name);
        }
        let Some(last) = path.last().cloned() else { return };
        let here = match rename {
            // A trait whose name is not needed.
            Some(name) if name == "_" => format!("_ {}", path.join("::")),
            Some(name) => name,
            None => last,
        };
        self.imports.insert(here, Import { path, is_private });
    }
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    let beside = folder.join(format!("{name}.rs"));
    if beside.exists() { beside } else { folder.join(name).join("mod.rs") }
}

fn is_test(item: &Item) -> bool {
    let attributes = match item {
        Item::Fn(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.meta.to_token_stream().to_string().contains("test")
    })
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
