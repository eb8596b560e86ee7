//! Tests of the packages' contents, with a script in place of the binary.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use flate2::read::GzDecoder;

use super::*;

const PROGRAM: &[u8] = b"#!/bin/sh\necho holdshort 1.2.3\n";

fn release() -> Release {
    Release {
        version: "1.2.3".to_owned(),
        target: TARGETS[0],
        glibc: Glibc { major: 2, minor: 34 },
        program: PROGRAM.to_vec(),
        documents: vec![
            ("THIRD-PARTY-LICENSES".to_owned(), "MIT\n".to_owned()),
            ("LICENSE".to_owned(), "Apache\n".to_owned()),
            ("README.md".to_owned(), "# Read me\n".to_owned()),
        ],
    }
}

/// Returns the names and modes of the entries in a tar.gz archive, in order.
fn in_tar(bytes: &[u8]) -> Vec<(String, u32)> {
    let mut tar = tar::Archive::new(GzDecoder::new(bytes));
    let entries = tar.entries().unwrap().map(Result::unwrap);
    entries
        .map(|entry| (entry.path().unwrap().display().to_string(), entry.header().mode().unwrap()))
        .collect()
}

#[test]
fn the_archive_has_a_folder_of_its_name() {
    let (name, bytes) = archive::package(&release(), "[Unit]\n".to_owned()).unwrap();
    assert_eq!(name, "holdshort-1.2.3-x86_64-linux-gnu.tar.gz");
    let in_folder = |(file, mode): (&str, u32)| (format!("holdshort-1.2.3-x86_64-linux-gnu/{file}"), mode);
    let expected = [
        ("LICENSE", 0o644),
        ("README.md", 0o644),
        ("THIRD-PARTY-LICENSES", 0o644),
        ("holdshort", 0o755),
        ("holdshort.service", 0o644),
    ];
    assert_eq!(in_tar(&bytes), expected.map(in_folder));
}

#[test]
fn the_package_for_npm_runs_nothing_and_names_its_machine() {
    let (name, bytes) = npm::package(&release()).unwrap();
    assert_eq!(name, "holdshort-1.2.3-npm-linux-x64.tgz");
    let mut tar = tar::Archive::new(GzDecoder::new(bytes.as_slice()));
    let mut text = String::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.path().unwrap().ends_with("package.json") {
            entry.read_to_string(&mut text).unwrap();
        }
    }
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["bin"]["holdshort"], "bin/holdshort");
    assert_eq!((&manifest["os"][0], &manifest["cpu"][0]), (&"linux".into(), &"x64".into()));
    assert!(manifest["scripts"].is_null() && manifest["dependencies"].is_null());
    assert!(in_tar(&bytes).contains(&("package/bin/holdshort".to_owned(), 0o755)));
}

#[test]
fn the_wheel_lists_every_file_with_its_digest() {
    let (name, bytes) = wheel::package(&release()).unwrap();
    assert_eq!(name, "holdshort-1.2.3-py3-none-manylinux_2_34_x86_64.whl");
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut files = BTreeMap::new();
    for n in 0..zip.len() {
        let mut file = zip.by_index(n).unwrap();
        let mut held = Vec::new();
        file.read_to_end(&mut held).unwrap();
        let name = file.name().unwrap().into_owned();
        files.insert(name, (file.unix_mode().unwrap() & 0o777, held));
    }
    assert_eq!(files["holdshort-1.2.3.data/scripts/holdshort"], (0o755, PROGRAM.to_vec()));
    let text = |name: &str| {
        String::from_utf8(files[&format!("holdshort-1.2.3.dist-info/{name}")].1.clone()).unwrap()
    };
    assert!(text("METADATA").starts_with("Metadata-Version: 2.4\nName: holdshort\nVersion: 1.2.3\n"));
    assert!(
        text("METADATA").contains("License-File: LICENSE\n") && text("METADATA").ends_with("\n\n# Read me\n")
    );
    assert!(text("WHEEL").contains("\nTag: py3-none-manylinux_2_34_x86_64\n"));
    // Output of `printf 'Apache\n' | openssl dgst -sha256 -binary | basenc --base64url`.
    let apache = "licenses/LICENSE,sha256=sMMgujMVkDQ0FSosgFSSGmRuMa-6p54lSuqcG1f74zQ,7\n";
    let record = text("RECORD");
    let listed: Vec<&str> = record.lines().filter_map(|line| line.split(',').next()).collect();
    assert_eq!(listed.len(), files.len(), "{record}");
    assert!(listed.iter().all(|name| files.contains_key(*name)), "{record}");
    assert!(record.contains(apache) && record.ends_with("RECORD,,\n"), "{record}");
}

#[test]
fn the_same_binary_gives_the_same_bytes() {
    let packed = || {
        [
            archive::package(&release(), String::new()).unwrap(),
            wheel::package(&release()).unwrap(),
            npm::package(&release()).unwrap(),
        ]
    };
    assert_eq!(packed(), packed());
    assert_eq!(checksums(&packed()), checksums(&packed()));
}

#[test]
fn checksums_are_those_of_sha256sum() {
    let packages = [("b".to_owned(), b"abc".to_vec()), ("a".to_owned(), Vec::new())];
    assert_eq!(
        checksums(&packages),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n\
         ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b\n"
    );
}

#[test]
fn the_newest_symbol_says_which_glibc_is_needed() {
    let symbols = "0000 DF *UND* 0000 (GLIBC_2.2.5) read\n\
                   0000 DF *UND* 0000 (GLIBC_2.34) dlsym\n\
                   0000 DF *UND* 0000 (GLIBC_2.9)  pipe2\n\
                   0000 DF *UND* 0000 (GCC_3.0)    _Unwind_Resume\n";
    assert_eq!(binary::needed(symbols), Some(Glibc { major: 2, minor: 34 }));
    assert_eq!(binary::needed("0000 DF *UND* 0000 (GCC_3.0) _Unwind_Resume\n"), None);
}

#[test]
fn the_version_is_that_of_the_workspace() {
    assert_eq!(version(&read("Cargo.toml").unwrap()).unwrap(), env!("CARGO_PKG_VERSION"));
}
