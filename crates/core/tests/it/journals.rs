//! Journals written by earlier versions replay for ever.
//!
//! A file holds one event a line, as stored: `{stream, seq, head, salt, content, hash}`, bytes as text. The
//! run's definition is beside it. Never rewrite one: add another.

use std::path::Path;
use std::sync::Arc;

use holdshort_core::definition::Definition;
use holdshort_core::digest::Digest;
use holdshort_core::event::{Sealed, SealedContent};
use holdshort_core::id::StreamId;
use holdshort_core::json;
use holdshort_core::projection::Status;
use serde::{Deserialize, Serialize};

use crate::events::{open, replay, seal, story};
use crate::world::{World, tell};

#[derive(Serialize, Deserialize)]
struct Line {
    stream: StreamId,
    seq: u64,
    head: String,
    salt: Option<[u8; 16]>,
    content: Option<String>,
    hash: Digest,
}

impl From<Sealed> for Line {
    fn from(sealed: Sealed) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("JSON is UTF-8");
        Self {
            stream: sealed.stream,
            seq: sealed.seq,
            head: text(sealed.head),
            salt: sealed.content.as_ref().map(|content| content.salt),
            content: sealed.content.map(|content| text(content.bytes)),
            hash: sealed.hash,
        }
    }
}

impl From<Line> for Sealed {
    fn from(line: Line) -> Self {
        let content =
            line.salt.zip(line.content).map(|(salt, text)| SealedContent { salt, bytes: text.into_bytes() });
        Self { stream: line.stream, seq: line.seq, head: line.head.into_bytes(), content, hash: line.hash }
    }
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journals")
}

/// Writes a new journal: `NEW_JOURNAL=v2 cargo test -p holdshort-core`. Existing ones stay as they are.
#[test]
fn a_new_journal_is_written_on_demand() {
    let Ok(name) = std::env::var("NEW_JOURNAL") else { return };
    let world = story();
    let lines: Vec<String> = seal(&world.log)
        .into_iter()
        .map(|sealed| String::from_utf8(json::canonical(&Line::from(sealed))).expect("JSON is UTF-8"))
        .collect();
    let told: Vec<String> = world.log.iter().map(tell).collect();
    for (suffix, text) in [
        ("jsonl", lines.join("\n") + "\n"),
        (
            "definition.json",
            String::from_utf8(json::canonical(&*world.run.definition)).expect("JSON is UTF-8") + "\n",
        ),
        ("story.txt", told.join("\n") + "\n"),
    ] {
        let path = folder().join(format!("{name}.{suffix}"));
        assert!(!path.exists(), "{} is there already: journals are never rewritten", path.display());
        std::fs::write(path, text).expect("the folder can be written");
    }
}

#[test]
fn old_journals_replay() {
    let mut found = 0;
    for entry in std::fs::read_dir(folder()).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        let Some(name) =
            path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".jsonl"))
        else {
            continue;
        };
        found += 1;
        let read = |suffix: &str| {
            std::fs::read_to_string(folder().join(format!("{name}.{suffix}")))
                .expect("it is beside the journal")
        };
        let sealed: Vec<Sealed> = read("jsonl")
            .lines()
            .map(|line| json::from_slice::<Line>(line.as_bytes()).expect("a line is an event").into())
            .collect();
        let log = open(&sealed).expect("the chain holds");
        let definition: Definition = json::from_slice(read("definition.json").as_bytes()).expect("it is one");
        let StreamId::Run(id) = sealed[0].stream.clone() else { panic!("a run's stream comes first") };
        let mut world = World::new(definition);
        world.run = holdshort_core::run::Run::new(id, Arc::clone(&world.run.definition));
        let (run, session) = replay(&world, &log);

        assert_eq!(
            log.iter().map(|event| tell(event) + "\n").collect::<String>(),
            read("story.txt"),
            "{name}"
        );
        assert_eq!(
            (run.status(), run.open_interrupts().count(), run.actions(), session.grants.len()),
            (Status::Completed, 0, Vec::new(), 1),
            "{name}",
        );
        let result = run.ended.map(|ended| ended.result["text"].clone());
        assert_eq!(result, Some("Done.".into()), "{name}");
    }
    assert!(found > 0, "no journal is kept");
}
