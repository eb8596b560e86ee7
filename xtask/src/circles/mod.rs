//! `cargo xtask circles`: files of a crate that need each other, so that none of them can be read alone.
//!
//! Counts paths and calls of methods whose name one file defines. A re-export alone is no need.

mod needs;
mod read;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use crate::run::root;

/// Files that need each other, directly or through one another; sorted.
pub(crate) type Circle = Vec<String>;

/// Prints the circles of each crate, the largest first.
pub(crate) fn circles() -> Result<()> {
    for name in crates()? {
        let found = of_crate(&root().join("crates").join(&name))?;
        let files: usize = found.iter().map(Vec::len).sum();
        println!("{name}: {} circles, {files} files in them", found.len());
        for circle in found {
            println!("  {} files, {} folders: {}", circle.len(), folders(&circle).len(), circle.join(" "));
        }
    }
    Ok(())
}

/// Returns the names of the crates of the product.
fn crates() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root().join("crates"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Returns the circles of the crate in this folder, the largest first.
fn of_crate(folder: &Path) -> Result<Vec<Circle>> {
    let source = read::Source::of(&folder.join("src"))?;
    let mut graph = DiGraphMap::<usize, ()>::new();
    for (from, to) in needs::needs(&source) {
        graph.add_edge(from, to, ());
    }
    let named = |files: Vec<usize>| {
        let mut names: Circle = files.into_iter().map(|file| source.files[file].name.clone()).collect();
        names.sort();
        names
    };
    let mut circles: Vec<_> =
        tarjan_scc(&graph).into_iter().filter(|files| files.len() > 1).map(named).collect();
    circles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    Ok(circles)
}

/// Returns the folders that the files lie in; `x.rs` lies beside the folder `x` that it opens.
fn folders(circle: &Circle) -> BTreeSet<&str> {
    circle.iter().map(|file| file.rsplit_once('/').map_or("", |(folder, _)| folder)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Crates with a circle of more than three files, and the size of the largest. A number is lowered with the circle.
    const LARGEST: [(&str, usize); 15] = [
        ("cli", 85),
        ("command", 33),
        ("core", 117),
        ("edges", 44),
        ("engine", 14),
        ("identity", 6),
        ("notify", 15),
        ("protocol", 15),
        ("report", 4),
        ("server", 9),
        ("store", 29),
        ("testkit", 43),
        ("tools", 46),
        ("training", 11),
        ("web", 30),
    ];

    #[test]
    fn no_circle_grows() {
        let mut large = BTreeMap::new();
        for name in crates().unwrap() {
            let found = of_crate(&root().join("crates").join(&name)).unwrap();
            large.extend(found.first().map(Vec::len).filter(|files| *files > 3).map(|files| (name, files)));
        }
        let expected: BTreeMap<_, _> =
            LARGEST.iter().map(|(name, files)| ((*name).to_owned(), *files)).collect();
        assert_eq!(large, expected, "`cargo xtask circles` lists the files");
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
        // By an import over a re-export, and by a method that the other file alone has.
        write("a.rs", "use crate::B; pub struct A(B); impl A { fn only_here(&self) {} }");
        write("b.rs", "pub struct B; fn call(any: impl Any) { any.only_here() }");
        // Tests, and methods that anything may have, are no needs.
        write("c/mod.rs", "mod d; pub fn run(d: d::D) {} #[cfg(test)] mod tests { use crate::A; }");
        write("c/d.rs", "pub struct D; fn get(any: impl Any) { any.clone() }");
        assert_eq!(of_crate(folder.path()).unwrap(), [["a.rs", "b.rs"]]);
        write("c/d.rs", "pub struct D; fn get() { super::run(D) }");
        assert_eq!(of_crate(folder.path()).unwrap(), [["a.rs", "b.rs"], ["c/d.rs", "c/mod.rs"]]);
    }
}
