//! Compares the files of two builds of the browser app, and checks the size of a build. Imports are found by a text
//! search for the form in which the minifier writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Maximum compressed bytes of all files that a browser fetches before it shows the first page of the app.
const FIRST_LOAD: usize = 60_000;
/// Maximum compressed bytes of a script of the app that the browser fetches later.
const LAZY_CHUNK: usize = 100_000;
/// Maximum bytes of all files of the browser app, which are embedded in the binary.
const ALL: usize = 600_000;

const PAGE: &str = "index.html";

/// Files of a build of the browser app: bytes by path with `/`.
#[derive(Debug, Default)]
pub(crate) struct Bundle(BTreeMap<String, Vec<u8>>);

impl Bundle {
    /// Reads the files of a build of the browser app. A missing folder gives an empty bundle.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        if folder.exists() {
            walk(folder, "", &mut files).with_context(|| format!("{} cannot be read", folder.display()))?;
        }
        Ok(Self(files))
    }

    /// Returns the differences between the files of this build of the browser app and those of `other`.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let paths: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let difference = |path: &&String| match (self.0.get(*path), other.0.get(*path)) {
            (Some(a), Some(b)) if a == b => None,
            (Some(_), Some(_)) => Some(format!("{path} differs")),
            (Some(_), None) => Some(format!("{path} is missing")),
            (None, _) => Some(format!("{path} is obsolete")),
        };
        paths.iter().filter_map(difference).collect()
    }

    /// Returns the paths of the HTML page of the app, the files that it names, and the scripts that these import
    /// statically.
    fn first_load(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut next: Vec<&str> = vec![PAGE];
        while let Some(path) = next.pop() {
            let Some((path, bytes)) = self.0.get_key_value(path) else { continue };
            if found.insert(&**path) {
                let text = std::str::from_utf8(bytes).unwrap_or_default();
                next.extend(find_references(path, text).iter().filter_map(|name| self.at(path, name)));
            }
        }
        found
    }

    /// Returns the path of the app's file to which `name` in the file `from` refers.
    fn at(&self, from: &str, name: &str) -> Option<&str> {
        let name = name.split('?').next().unwrap_or_default();
        let path = match (name.strip_prefix('/'), name.strip_prefix("./"), from.rsplit_once('/')) {
            (Some(absolute), ..) => absolute.to_owned(),
            (None, beside, Some((folder, _))) => format!("{folder}/{}", beside.unwrap_or(name)),
            (None, beside, None) => beside.unwrap_or(name).to_owned(),
        };
        self.0.get_key_value(&path).map(|(path, _)| &**path)
    }
}

fn walk(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).context("a file name is not UTF-8")?;
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            walk(&path, &format!("{name}/"), files)?;
        } else {
            files.insert(name, fs::read(&path)?);
        }
    }
    Ok(())
}

/// Returns the names of the files that the browser fetches together with the file at `path`. Files of a dynamic
/// `import("…")` are left out.
fn find_references<'a>(path: &str, text: &'a str) -> Vec<&'a str> {
    let marks: &[&str] = match ending(path) {
        "html" => &["src=\"", "href=\""],
        "js" => &["from\"", "import\""],
        _ => &[],
    };
    marks
        .iter()
        .flat_map(|mark| text.split(mark).skip(1).filter_map(|rest| rest.split_once('"')))
        .map(|(name, _)| name)
        .collect()
}

fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Prints the sizes of a build of the browser app with their limits. Returns an error if a size exceeds its limit.
pub(crate) fn weigh(bundle: &Bundle) -> Result<()> {
    if !bundle.0.contains_key(PAGE) {
        bail!("the bundle has no {PAGE}");
    }
    let first = bundle.first_load();
    let (mut first_load, mut lazy) = (0, Vec::new());
    for (path, bytes) in &bundle.0 {
        let size = gzip(bytes).with_context(|| format!("{path} cannot be compressed"))?;
        if first.contains(&**path) {
            first_load += size;
        } else if ending(path) == "js" {
            lazy.push((format!("{path}, compressed"), size, LAZY_CHUNK));
        }
    }
    let all = bundle.0.values().map(Vec::len).sum();
    let mut rows = vec![("first load, compressed".to_owned(), first_load, FIRST_LOAD)];
    rows.append(&mut lazy);
    rows.push(("all files, not compressed".to_owned(), all, ALL));
    println!("\n== sizes of the bundle");
    for (what, size, limit) in &rows {
        println!("{what}: {size} bytes, at most {limit} are allowed");
    }
    match rows.into_iter().find(|(_, size, limit)| size > limit) {
        Some((what, size, limit)) => {
            bail!("the bundle is too large: {what}: {size} bytes, at most {limit} are allowed")
        }
        None => Ok(()),
    }
}

fn gzip(bytes: &[u8]) -> Result<usize> {
    let mut child =
        Command::new("gzip").args(["-9", "-n"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().context("no pipe")?;
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| anyhow::anyhow!("the writer panicked"))??;
    Ok(output.stdout.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(files: &[(&str, &str)]) -> Bundle {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), text.as_bytes().to_vec());
        Bundle(files.iter().map(owned).collect())
    }

    #[test]
    fn says_what_differs() {
        let built = bundle(&[("a.js", "1"), ("b.js", "2"), ("c.js", "3")]);
        let committed = bundle(&[("a.js", "1"), ("b.js", "0"), ("d.js", "4")]);
        let wanted = ["b.js differs", "c.js is missing", "d.js is obsolete"];
        assert_eq!(built.differences(&committed), wanted);
        assert!(built.differences(&built).is_empty());
    }

    #[test]
    fn the_first_load_is_what_the_page_names_and_what_that_imports_at_once() {
        let page = r#"<link rel="stylesheet" href="/assets/index.css?v=1"><script type="module" src="./assets/index.js">
            </script><link rel="icon" href="/favicon.svg"><a href="https://elsewhere.example/">"#;
        let entry =
            r#"import{a as b}from"./shared.js";import"./polyfill.js";const c=()=>import("./later.js");"#;
        let bundle = bundle(&[
            ("index.html", page),
            ("favicon.svg", ""),
            ("assets/index.css", ""),
            ("assets/index.js", entry),
            ("assets/shared.js", r#"import{c}from"./index.js";import{d}from"/assets/deep.js""#),
            ("assets/polyfill.js", ""),
            ("assets/deep.js", ""),
            ("assets/later.js", ""),
        ]);
        let wanted = [
            "assets/deep.js",
            "assets/index.css",
            "assets/index.js",
            "assets/polyfill.js",
            "assets/shared.js",
            "favicon.svg",
            "index.html",
        ];
        assert_eq!(Vec::from_iter(bundle.first_load()), wanted);
    }

    #[test]
    fn too_big_is_an_error() {
        assert!(weigh(&bundle(&[("index.html", "<p>")])).is_ok());
        let noise: String = (0..ALL).map(|n| char::from(b'a' + u8::try_from(n % 26).unwrap())).collect();
        let too_big = weigh(&bundle(&[("index.html", "<p>"), ("more.svg", &noise)])).unwrap_err().to_string();
        assert_eq!(
            too_big,
            "the bundle is too large: all files, not compressed: 600003 bytes, at most 600000 are allowed"
        );
        let empty = weigh(&Bundle::default()).unwrap_err().to_string();
        assert_eq!(empty, "the bundle has no index.html");
    }
}
