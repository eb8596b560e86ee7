//! Shipped sample: the binary embeds the folder's files, the sample's tests fail, and the edits of the rehearsal fix
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use holdshort_workflow::{EDGES, Library, PRESETS, Shipped, parse, rehearsal, shipped};
use tempfile::TempDir;

use crate::catalogue::catalogue;
use crate::player::{Person, Played, play, shell};

const WILLING: Person = Person { answer: "the period that begins", refuses: &[] };

fn pair() -> &'static Shipped {
    shipped().iter().find(|shipped| shipped.name == "pair").unwrap()
}

fn unpacked() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in pair().sample {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

fn played(folder: &Path, person: Person) -> Played {
    let script = rehearsal::parse("rehearsal.yaml", pair().rehearsal.unwrap()).unwrap();
    let input: serde_json::Value = serde_json::from_str(pair().input).unwrap();
    play(&script.agents["pair"], input["task"].as_str().unwrap(), folder, person)
}

fn exit_code(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

#[test]
fn the_tables_are_the_folders() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
    let folders: Vec<String> = entries(&root).map(|path| file_name(&path)).collect();
    let plain = || PRESETS.iter().chain(EDGES.iter().map(|(plain, _)| plain));
    let names: BTreeSet<&str> =
        shipped().iter().map(|shipped| shipped.name).chain(plain().map(|plain| plain.name)).collect();
    assert_eq!(folders, Vec::from_iter(names));
    let rehearsals: BTreeMap<&str, &str> =
        EDGES.iter().map(|(plain, rehearsal)| (plain.name, *rehearsal)).collect();
    for plain in plain() {
        let mut files = BTreeMap::new();
        collect(&root.join(plain.name), "", &mut files);
        // The README is not embedded, because it is only for people who read the folder.
        files.remove("README.md");
        let embedded: BTreeMap<String, Vec<u8>> = [
            ("workflow.yaml", Some(plain.workflow)),
            ("rehearsal.yaml", rehearsals.get(plain.name).copied()),
        ]
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), text?.as_bytes().to_vec())))
        .collect();
        assert_eq!(files, embedded, "`shipped.rs` and the folder of `{}` differ", plain.name);
    }
    for shipped in shipped() {
        let mut files = BTreeMap::new();
        collect(&root.join(shipped.name), "", &mut files);
        let embedded: BTreeMap<String, Vec<u8>> = [
            ("workflow.yaml", Some(shipped.workflow)),
            ("rehearsal.yaml", shipped.rehearsal),
            ("README.md", Some(shipped.readme)),
            ("input.json", Some(shipped.input)),
        ]
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), text?.as_bytes().to_vec())))
        .chain(shipped.sample.iter().map(|(path, bytes)| (format!("sample/{path}"), bytes.to_vec())))
        .collect();
        assert_eq!(files, embedded, "`shipped.rs` and the folder of `{}` differ", shipped.name);
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().filter(|path| file_name(path) != "__pycache__")
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for path in entries(folder) {
        let name = format!("{prefix}{}", file_name(&path));
        if path.is_dir() {
            collect(&path, &format!("{name}/"), files);
        } else {
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn every_agent_of_a_rehearsal_uses_tools_that_it_has() {
    let library =
        Library::new(&catalogue(), &[], &holdshort_core::people::Deciders::local(), vec![]).unwrap();
    let has = &library.get("pair").unwrap().agents["pair"].tools;
    let used: Vec<_> = played(unpacked().path(), WILLING).calls.into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(used.iter().filter(|tool| !has.contains(tool)).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn the_edits_mend_the_package_whichever_way_the_person_chooses() {
    for answer in ["the period that begins", "the period that ends", "I do not mind"] {
        let folder = unpacked();
        assert_eq!(exit_code(&shell("python3 -m unittest", folder.path())), "exit code 1", "before");
        let played = played(folder.path(), Person { answer, ..WILLING });
        let codes =
            ["tests_before", "tests_money", "tests_after"].map(|label| exit_code(&played.results[label]));
        assert_eq!(codes, ["exit code 1", "exit code 1", "exit code 0"], "{answer}");
        assert!(played.said.last().unwrap().starts_with("Done."), "{answer}");
        let review = played.review();
        assert!(review["content"].as_str().unwrap().contains(answer), "{review}");
    }
}

#[test]
fn the_person_may_choose_which_period_has_the_day() {
    let second_period = |answer| {
        let folder = unpacked();
        played(folder.path(), Person { answer, ..WILLING });
        let print = "from datetime import date; from boxrent import monthly; \
                     print(monthly(date(2026, 1, 15), date(2026, 4, 14))[1].first)";
        shell(&format!("python3 -c '{print}'"), folder.path())
    };
    assert_eq!(
        [second_period("the period that begins"), second_period("the period that ends")],
        ["2026-02-15\nexit code 0", "2026-02-16\nexit code 0"]
    );
}

#[test]
fn after_a_refusal_the_agent_claims_no_success() {
    let cases: [(&[&str], [&str; 2]); 4] = [
        (&["edit_money"], ["Not fixed: `share`", "Every day is in exactly one period."]),
        (&["edit_periods"], ["`share` rounds half a cent up", "Not fixed: a day"]),
        (&["edit_money", "edit_periods"], ["Not fixed: `share`", "Not fixed: a day"]),
        (&["tests_before", "tests_money", "tests_after"], ["Not tested.", "Not tested."]),
    ];
    for (refuses, says) in cases {
        let played = played(unpacked().path(), Person { refuses, ..WILLING });
        let content = played.review()["content"].as_str().unwrap().to_owned();
        for text in says {
            assert!(content.contains(text), "{refuses:?}: {content}");
        }
        assert!(played.said.last().unwrap().starts_with("I stop here."), "{refuses:?}");
    }
}

#[test]
fn the_digest_is_stable() {
    let digest = || parse("workflow.yaml", pair().workflow, &catalogue()).unwrap().digest();
    assert_eq!(digest(), digest());
}
