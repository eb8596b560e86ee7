//! Licence texts of third-party code that is linked into the binary. Every package contains them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::run::cargo;

pub(super) const NAME: &str = "THIRD-PARTY-LICENSES";
/// Library in the browser app that is embedded into the binary, and the file with its licence.
const APP: (&str, &str) = ("svelte (MIT)", "packaging/licenses/svelte.txt");
/// Prefixes of the names of files that contain a licence.
const FILES: [&str; 5] = ["license", "licence", "copying", "copyright", "notice"];

/// Returns the licence texts of linked third-party packages without duplicates, each with the names of the packages.
pub(super) fn texts() -> Result<String> {
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &host])
        .output()?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let linked = linked(&metadata).context("the output of `cargo metadata` has an unexpected form")?;
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let (svelte, text) = APP;
    texts.entry(super::read(text)?).or_default().insert(svelte.to_owned());
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let string = |key: &str| package[key].as_str().unwrap_or_default();
        // A package without a registry belongs to the workspace.
        if !linked.contains(string("id")) || package["source"].is_null() {
            continue;
        }
        let name = format!("{} {} ({})", string("name"), string("version"), string("license"));
        let folder = Path::new(string("manifest_path"))
            .parent()
            .context("the manifest of a package is in no folder")?;
        let found = files(folder)?;
        if found.is_empty() {
            texts.entry(String::from("The package contains no licence file.\n")).or_default().insert(name);
            continue;
        }
        for file in found {
            let text = String::from_utf8_lossy(&fs::read(&file)?).replace("\r\n", "\n");
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    let mut parts: Vec<String> = texts
        .into_iter()
        .map(|(text, names)| {
            let names: Vec<_> = names.into_iter().collect();
            format!("{}\n\n{}\n", names.join("\n"), text.trim_end())
        })
        .collect();
    parts.sort();
    Ok(parts.join(&format!("\n{}\n\n", "-".repeat(80))))
}

/// Returns the packages that are linked into the binary. Build scripts, dependencies of macros, and tests are left out.
fn linked(metadata: &Value) -> Option<BTreeSet<&str>> {
    let nodes = metadata["resolve"]["nodes"].as_array()?;
    let node = |id: &str| nodes.iter().find(|node| node["id"] == id);
    let is_macro: BTreeSet<&str> = metadata["packages"]
        .as_array()?
        .iter()
        .filter(|package| package["targets"][0]["kind"][0] == "proc-macro")
        .filter_map(|package| package["id"].as_str())
        .collect();
    let packages = metadata["packages"].as_array()?;
    let root = packages.iter().find(|package| package["name"] == "holdshort")?["id"].as_str()?;
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        if is_macro.contains(id) || !found.insert(id) {
            continue;
        }
        for dependency in node(id)?["deps"].as_array()? {
            // The kind is `null` for a normal dependency, and has a value for tests and build scripts.
            if dependency["dep_kinds"].as_array()?.iter().any(|kind| kind["kind"].is_null()) {
                open.push(dependency["pkg"].as_str()?);
            }
        }
    }
    Some(found)
}

/// Returns the licence files of a package, and those of bundled C sources up to two folders deeper.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            if path.is_dir() && depth < 2 {
                open.push((path, depth + 1));
            } else if path.is_file() && is_licence(&name) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns true for a licence file, but not for a source file such as `notice.rs`.
fn is_licence(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    FILES.iter().any(|start| name.starts_with(start)) && !["rs", "c", "h", "json", "toml"].contains(&ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_is_named_with_its_licence() {
        let texts = texts().unwrap();
        for part in ["\nring ", "\nsvelte (MIT)\n", "Permission is hereby granted", "Apache License"] {
            assert!(texts.contains(part), "{part}");
        }
        // One of these packages is used only by tests, the other one only by build scripts.
        for part in ["\nportable-pty ", "\ncc "] {
            assert!(!texts.contains(part), "{part}");
        }
    }

    #[test]
    fn licences_are_told_from_sources() {
        let names = ["license-mit", "license.txt", "copying", "notice.rs", "licenses.json", "readme.md"];
        assert_eq!(names.map(is_licence), [true, true, true, false, false, false]);
    }
}
