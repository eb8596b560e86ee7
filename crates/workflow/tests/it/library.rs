//! The library: what ships, what overrides, what cannot be.

use holdshort_core::definition::EXTERNAL;
use holdshort_workflow::{Library, external, shipped};

use crate::catalogue::catalogue;

const PAIR: &str = "
name: pair
agents: {pair: {instructions: Work., tools: [read_file]}}
phases: [{id: work, kind: one_shot, agent: pair}]
";
const SCRIPT: &str = "agents: {pair: [{text: Hello.}]}";

fn library(overrides: &[(&str, &str, Option<&str>)]) -> Result<Library, Vec<String>> {
    let overrides = overrides
        .iter()
        .map(|(file, text, script)| ((*file).to_owned(), (*text).to_owned(), script.map(str::to_owned)))
        .collect();
    Library::new(&catalogue(), overrides)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn what_ships_is_there() {
    let library = library(&[]).unwrap();
    assert_eq!(library.names().collect::<Vec<_>>(), ["external", "pair", "research"]);
    assert_eq!(library.get(EXTERNAL).as_deref(), Some(&external()));
    assert!(external().is_external());
    assert!(library.rehearsal("pair").is_some() && library.rehearsal(EXTERNAL).is_none());
    assert_eq!(library.get("nobody"), None);
    for shipped in shipped() {
        assert_eq!(library.get(shipped.name).unwrap().name, shipped.name);
        let input = serde_json::from_str(shipped.input).unwrap();
        assert!(jsonschema::is_valid(&library.get(shipped.name).unwrap().input, &input), "{input}");
    }
}

#[test]
fn an_override_takes_the_place_of_both_files() {
    let shipped = library(&[]).unwrap();
    let bare = library(&[("mine/pair/workflow.yaml", PAIR, None)]).unwrap();
    assert_ne!(bare.get("pair").unwrap().digest(), shipped.get("pair").unwrap().digest());
    assert_eq!(bare.rehearsal("pair"), None);
    let played = library(&[("mine/pair/workflow.yaml", PAIR, Some(SCRIPT))]).unwrap();
    assert_eq!(played.rehearsal("pair").unwrap().agents["pair"].len(), 1);
}

#[test]
fn all_problems_of_all_files_are_told() {
    let said = library(&[
        ("one/workflow.yaml", "name: external\nphases: []\n", None),
        ("two/workflow.yaml", PAIR, Some("agents: {pari: [{text: Hello.}]}")),
        ("three/workflow.yaml", PAIR, Some(SCRIPT)),
        ("four.yaml", PAIR, None),
    ]);
    assert_eq!(
        said.unwrap_err(),
        [
            "one/workflow.yaml:1:7: the workflow `external` is built in; choose another name",
            "one/workflow.yaml:2:9: a workflow needs at least one phase",
            "two/rehearsal.yaml:1:10: the workflow `pair` has no agent `pari` (did you mean `pair`?)",
            "four.yaml:2:7: the workflow `pair` is in three/workflow.yaml too",
        ]
    );
}
