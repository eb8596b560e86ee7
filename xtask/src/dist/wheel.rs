//! Python wheel with the binary (binary distribution format 1.0). `pip install` puts the binary next to the program
//! `python`.

use anyhow::Result;
use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

use super::{Entry, Release, SUMMARY, archive};

pub(super) fn package(release: &Release) -> Result<(String, Vec<u8>)> {
    let Release { version, target, glibc, program, documents } = release;
    // PEP 600: the tag states the oldest version of glibc with which the wheel works.
    let tag = format!("py3-none-manylinux_{}_{}_{}", glibc.major, glibc.minor, target.rust);
    let stem = format!("holdshort-{version}");
    let info = format!("{stem}.dist-info");
    let mut entries = vec![
        Entry::program(format!("{stem}.data/scripts/holdshort"), program),
        Entry::text(format!("{info}/WHEEL"), wheel(&tag)),
    ];
    let mut licences = String::new();
    let mut readme = "";
    for (name, text) in documents {
        if name == "README.md" {
            readme = text;
        } else {
            let _ = writeln!(licences, "License-File: {name}");
            entries.push(Entry::text(format!("{info}/licenses/{name}"), text.as_str()));
        }
    }
    entries.push(Entry::text(format!("{info}/METADATA"), metadata(version, &licences, readme)));
    let name = format!("{info}/RECORD");
    entries.push(Entry::text(name.clone(), record(&entries, &name)));
    Ok((format!("{stem}-{tag}.whl"), archive::zip(entries)?))
}

fn wheel(tag: &str) -> String {
    format!("Wheel-Version: 1.0\nGenerator: holdshort xtask\nRoot-Is-Purelib: false\nTag: {tag}\n")
}

/// Returns the metadata of the wheel (core metadata 2.4), with the README as the description.
fn metadata(version: &str, licences: &str, readme: &str) -> String {
    format!(
        "Metadata-Version: 2.4\nName: holdshort\nVersion: {version}\nSummary: {SUMMARY}\n\
         License-Expression: Apache-2.0\n{licences}Requires-Python: >=3.7\n\
         Description-Content-Type: text/markdown\n\n{readme}"
    )
}

/// Returns the file list of the wheel, with digest and size of each file except the list itself.
fn record(entries: &[Entry], name: &str) -> String {
    let line = |Entry { path, bytes, .. }: &Entry| {
        format!("{path},sha256={},{}\n", BASE64URL_NOPAD.encode(&Sha256::digest(bytes)), bytes.len())
    };
    entries.iter().map(line).collect::<String>() + &format!("{name},,\n")
}
