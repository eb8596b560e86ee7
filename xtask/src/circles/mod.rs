//! `cargo xtask circles`: finds circular dependencies between the files of a crate.
//!
//! A file depends on another if it contains a path to an item of it, or calls a method that only the other defines.
//! Re-exports, tests, and items in macros are ignored.

mod needs;
mod read;
mod rooms;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use crate::run::root;

/// Files of a crate that depend on each other, directly or indirectly, sorted by name.
type Circle = Vec<String>;

/// Prints the circular dependencies of each crate, the largest first.
pub(crate) fn print() -> Result<()> {
    for name in crates()? {
        let found = circles_of(&folder_of(&name))?;
        let files: usize = found.iter().map(Vec::len).sum();
        println!("{name}: circles of dependencies: {}, with {files} files in total", found.len());
        for circle in found {
            println!("  {} files, {} folders: {}", circle.len(), folders(&circle).len(), circle.join(" "));
        }
    }
    println!("dependencies of the core from a lower room on a higher room (see rooms.rs):");
    rooms::print()
}

const FOLDERS: [&str; 2] = ["crates", "packs"];

fn crates() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(root().join(folder))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn folder_of(name: &str) -> PathBuf {
    let folders = FOLDERS.map(|folder| root().join(folder).join(name));
    folders.into_iter().find(|folder| folder.is_dir()).unwrap_or_default()
}

/// Returns the circular dependencies of the crate in `folder`, the largest first.
fn circles_of(folder: &Path) -> Result<Vec<Circle>> {
    let source = read::Source::read_crate(&folder.join("src"))?;
    let mut graph = DiGraphMap::<usize, ()>::new();
    for (from, to) in needs::between_files(&source) {
        graph.add_edge(from, to, ());
    }
    let named = |files: Vec<usize>| {
        let mut names: Circle = files.into_iter().map(|file| source.files[file].clone()).collect();
        names.sort();
        names
    };
    let mut circles: Vec<_> =
        tarjan_scc(&graph).into_iter().filter(|files| files.len() > 1).map(named).collect();
    circles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    Ok(circles)
}

fn folders(circle: &Circle) -> BTreeSet<&str> {
    circle.iter().map(|file| file.rsplit_once('/').map_or("", |(folder, _)| folder)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Numbers of files in the known circular dependencies with more than three files, by crate. Lower a number when
    /// its circle shrinks.
    const LARGE: [(&str, &[usize]); 13] = [
        ("cli", &[40, 32]),
        ("coach", &[8, 4, 4]),
        ("command", &[22, 7]),
        ("core", &[50]),
        ("edges", &[32, 6, 4]),
        ("engine", &[15, 5, 4]),
        ("notify", &[15]),
        ("protocol", &[15]),
        ("server", &[9]),
        ("store", &[9, 6, 5]),
        ("testkit", &[43]),
        ("tools", &[44]),
        ("web", &[27]),
    ];

    #[test]
    fn no_circle_grows() {
        let mut large = BTreeMap::new();
        for name in crates().unwrap() {
            let sizes = circles_of(&folder_of(&name)).unwrap();
            let sizes: Vec<_> = sizes.iter().map(Vec::len).filter(|files| *files > 3).collect();
            if !sizes.is_empty() {
                large.insert(name, sizes);
            }
        }
        let expected = LARGE.map(|(name, sizes)| (name.to_owned(), sizes.to_vec()));
        assert_eq!(large, BTreeMap::from(expected), "`cargo xtask circles` lists the files");
    }

    #[test]
    fn paths_and_calls_of_methods_are_needs() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join("src").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("lib.rs", "pub mod a; mod b; mod c; pub use a::A; pub use b::B;");
        // One dependency is an import through a re-export. The other one is a method that only one file defines.
        write("a.rs", "use crate::B; pub struct A(B); impl A { fn only_here(&self) {} }");
        write("b.rs", "pub struct B; fn call(any: impl Any) { any.only_here() }");
        // Tests, fields, and methods of many types are not dependencies.
        write(
            "c/mod.rs",
            "mod d; pub fn run(d: d::D) {} impl C { fn of_c(&self) {} } #[cfg(test)] mod tests { use crate::A; }",
        );
        write("c/d.rs", "pub struct D; fn get(any: impl Any) { match any.of_c { _ => any.clone() } }");
        assert_eq!(circles_of(folder.path()).unwrap(), [["a.rs", "b.rs"]]);
        write("c/d.rs", "pub struct D; fn get() { super::run(D) }");
        assert_eq!(circles_of(folder.path()).unwrap(), [["a.rs", "b.rs"], ["c/d.rs", "c/mod.rs"]]);
    }
}
