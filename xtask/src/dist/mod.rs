//! `cargo xtask dist`: packages the release binary for people without a compiler. It writes an archive, a wheel for
//! pip, a package for npm, and a file of checksums to `dist/`.
//!
//! Equal binaries give equal packages: names are sorted, and modification times and owners are fixed. `--check` (see
//! [`check`]) installs each package from its file and runs the installed program.

mod archive;
mod binary;
mod check;
mod npm;
mod third_party;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::run::root;
use binary::Glibc;

const FOLDER: &str = "dist";
const CHECKSUMS: &str = "SHA256SUMS";
const DOCUMENTS: [&str; 2] = ["LICENSE", "README.md"];
const SUMMARY: &str =
    "People in the loop of AI agents: a run holds short of a risky step until a person clears it.";

struct Entry {
    path: String,
    mode: u32,
    bytes: Vec<u8>,
}

impl Entry {
    fn text(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), mode: 0o644, bytes: text.into().into_bytes() }
    }

    fn program(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self { path: path.into(), mode: 0o755, bytes: bytes.to_vec() }
    }
}

struct Release {
    version: String,
    target: Target,
    glibc: Glibc,
    program: Vec<u8>,
    /// Names and texts of the documents in each package.
    documents: Vec<(String, String)>,
}

/// Architecture of the release binary, with the name that each package format uses for it.
#[derive(Clone, Copy)]
struct Target {
    rust: &'static str,
    npm: &'static str,
}

const TARGETS: [Target; 2] =
    [Target { rust: "x86_64", npm: "x64" }, Target { rust: "aarch64", npm: "arm64" }];

impl Target {
    fn here() -> Result<Self> {
        let rust = std::env::consts::ARCH;
        let target = TARGETS.into_iter().find(|target| target.rust == rust);
        target.with_context(|| format!("packages cannot be built for the architecture {rust}"))
    }
}

pub(crate) fn dist(arguments: &[&str]) -> Result<()> {
    match arguments {
        [] => build().map(|_| ()),
        ["--check"] => check::check(&build()?),
        _ => bail!("usage: cargo xtask dist [--check]"),
    }
}

fn build() -> Result<PathBuf> {
    let program = binary::build()?;
    let glibc = binary::glibc(&program)?;
    let mut documents = vec![(third_party::NAME.to_owned(), third_party::texts()?)];
    for name in DOCUMENTS {
        documents.push((name.to_owned(), read(name)?));
    }
    let release = Release {
        version: version(&read("Cargo.toml")?)?,
        target: Target::here()?,
        glibc,
        program: fs::read(&program).with_context(|| program.display().to_string())?,
        documents,
    };
    let unit = read("packaging/holdshort.service")?;
    let packages = [archive::package(&release, unit)?, wheel::package(&release)?, npm::package(&release)?];
    let folder = root().join(FOLDER);
    write(&folder, &packages)?;
    println!("\nthe binary needs Linux with glibc {} or later; in {FOLDER}/:", release.glibc);
    for (name, bytes) in &packages {
        println!("  {:>10} bytes  {name}", bytes.len());
    }
    Ok(folder)
}

/// Empties the folder and writes the packages of the release into it. A package of an earlier version would have no
/// checksum.
fn write(folder: &Path, packages: &[(String, Vec<u8>)]) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for (name, bytes) in packages {
        fs::write(folder.join(name), bytes).with_context(|| name.clone())?;
    }
    fs::write(folder.join(CHECKSUMS), checksums(packages))?;
    Ok(())
}

/// Returns the checksums of the packages, sorted by name, in the format of `sha256sum --check`.
fn checksums(packages: &[(String, Vec<u8>)]) -> String {
    let mut lines: Vec<_> =
        packages.iter().map(|(name, bytes)| (name, HEXLOWER.encode(&Sha256::digest(bytes)))).collect();
    lines.sort();
    let lines: Vec<_> = lines.into_iter().map(|(name, digest)| format!("{digest}  {name}\n")).collect();
    lines.concat()
}

fn read(name: &str) -> Result<String> {
    fs::read_to_string(root().join(name)).with_context(|| name.to_owned())
}

/// Returns the version of the workspace that its manifest `Cargo.toml` states.
fn version(manifest: &str) -> Result<String> {
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    let version = line.and_then(|rest| rest.strip_suffix('"'));
    Ok(version.context("Cargo.toml states no version of the workspace")?.to_owned())
}

#[cfg(test)]
mod tests;
