//! Library: shipped workflows, overrides, and rejected files.

use holdshort_core::definition::EXTERNAL;
use holdshort_workflow::{EDGES, Library, external, shipped, workflow};

use crate::catalogue::catalogue;

const PAIR: &str = "
name: pair
agents: {pair: {instructions: Work., tools: [read_file]}}
phases: [{id: work, kind: one_shot, agent: pair}]
";
const SCRIPT: &str = "agents: {pair: [{text: Hello.}]}";
/// Rehearsal script that calls and expects tools. `ask_human` is built in, although no agent has it.
const UNKNOWN_TOOLS: &str = "agents:
  pair:
    - calls: [{tool: read_fil}, {tool: read_file}, {tool: ask_human}]
    - text: Done.
      expect: {tools: [deploy, read_file]}
";

fn library(overrides: &[(&str, &str, Option<&str>)]) -> Result<Library, Vec<String>> {
    let overrides = overrides
        .iter()
        .map(|(file, text, script)| ((*file).to_owned(), (*text).to_owned(), script.map(str::to_owned)))
        .collect();
    Library::new(&catalogue(), &[], &holdshort_core::people::Deciders::local(), overrides)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// Asserts that each shipped rehearsal fits its workflow, like the rehearsal of a workflow in a folder.
fn check_shipped_rehearsals() {
    let edges = EDGES.iter().map(|(plain, rehearsal)| (plain.workflow, *rehearsal));
    let files = shipped().iter().filter_map(|it| Some((it.workflow, it.rehearsal?)));
    for (workflow, rehearsal) in files.chain(edges) {
        library(&[("own/workflow.yaml", workflow, Some(rehearsal))]).unwrap();
    }
}

#[test]
fn what_ships_is_there() {
    let library = library(&[]).unwrap();
    assert_eq!(
        library.names().collect::<Vec<_>>(),
        [
            "autonomous",
            "codelab",
            "codelab_ide",
            "copilot",
            "error_recovery",
            "external",
            "full_interactive",
            "pair",
            "research",
            "review_plan",
            "step_by_step",
        ]
    );
    assert_eq!(library.get(EXTERNAL).as_deref(), Some(&external()));
    assert!(external().is_external());
    let with_rehearsal: Vec<_> = library.names().filter(|name| library.has_rehearsal(name)).collect();
    assert_eq!(with_rehearsal, ["codelab", "codelab_ide", "copilot", "pair", "research"]);
    for name in library.names() {
        assert_eq!(library.rehearsal(name).is_some(), library.has_rehearsal(name), "{name}");
    }
    assert_eq!(library.get("nobody"), None);
    check_shipped_rehearsals();
    for shipped in shipped() {
        let definition = library.get(shipped.name).unwrap();
        assert_eq!(definition.name, shipped.name);
        assert!(!definition.description.is_empty(), "{}: whoever chooses reads what it is", shipped.name);
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
        ("five/workflow.yaml", &PAIR.replace("name: pair", "name: five"), Some(UNKNOWN_TOOLS)),
    ]);
    assert_eq!(
        said.unwrap_err(),
        [
            "one/workflow.yaml:1:7: the workflow `external` is built in; choose another name",
            "one/workflow.yaml:2:9: a workflow needs at least one phase",
            "two/rehearsal.yaml:1:10: the workflow `pair` has no agent `pari` (did you mean `pair`?)",
            "four.yaml:2:7: the workflow `pair` is also defined in three/workflow.yaml",
            "five/rehearsal.yaml:3:22: the workflow `five` has no tool `read_fil` (did you mean `read_file`?)",
            "five/rehearsal.yaml:5:24: the workflow `five` has no tool `deploy`",
        ]
    );
}

/// Workflow for other workflows to extend, with a planning phase.
const BASE: &str = "
name: base
description: The base.
agents:
  planner: {instructions: Plan.}
  engineer: {instructions: Build., tools: [read_file, run_command]}
phases:
  - {id: plan, kind: planning, agents: {planner: planner}, gates: {plan_approval: {expires_in: 2h}}}
  - {id: work, kind: control, agent: engineer, gates: {error: {expires_in: 2h}}}
gates:
  plan: show
  rules: [{tools: [run_command], do: ask}]
  question: {expires_in: 1h}
limits: {rounds: 7, redos: 1}
";

fn extended(text: &str) -> Result<Library, Vec<String>> {
    library(&[("base.yaml", BASE, None), ("mine.yaml", text, None)])
}

#[test]
fn a_workflow_is_another_one_with_a_few_keys_changed() {
    let library = extended(
        "
name: mine
extends: base
agents: {engineer: {instructions: Build well., tools: [run_command]}, critic: {instructions: Judge.}}
phases:
  - {id: work, kind: control, agent: critic}
  - {id: look, kind: checkpoint, message: Good?}
gates: {plan: ask, before_step: ask}
limits: {rounds: 9}
",
    )
    .unwrap();
    let (base, mine) = (library.get("base").unwrap(), library.get("mine").unwrap());
    let alone = workflow::parse(
        "alone.yaml",
        "
name: mine
description: The base.
agents:
  planner: {instructions: Plan.}
  engineer: {instructions: Build well., tools: [run_command]}
  critic: {instructions: Judge.}
phases:
  - {id: plan, kind: planning, agents: {planner: planner}, gates: {plan_approval: {expires_in: 2h}}}
  - {id: work, kind: control, agent: critic}
  - {id: look, kind: checkpoint, message: Good?}
gates:
  plan: ask
  before_step: ask
  rules: [{tools: [run_command], do: ask}]
  question: {expires_in: 1h}
limits: {rounds: 9, redos: 1}
",
        &catalogue(),
    )
    .unwrap();
    assert_eq!(*mine, alone);
    assert_eq!(base.name, "base", "which stays as it is");
}

/// `extends` finds a workflow by its name, even the shipped workflow that the file replaces. A workflow of the folder
/// takes precedence over a shipped workflow with the same name.
#[test]
fn what_is_extended_is_found_by_its_name() {
    let quiet = "name: pair\nextends: pair\nlimits: {rounds: 3}\n";
    let own = library(&[("pair.yaml", quiet, None)]).unwrap();
    assert_eq!(own.get("pair").unwrap().limits.rounds, 3);
    assert_eq!(
        own.get("pair").unwrap().phases.len(),
        library(&[]).unwrap().get("pair").unwrap().phases.len()
    );
    let more = "name: more\nextends: pair\ndescription: More.\n";
    let both = library(&[("pair.yaml", PAIR, None), ("more.yaml", more, None)]).unwrap();
    assert_eq!(both.get("more").unwrap().agents["pair"].instructions, "Work.");
    assert!(workflow::parse("more.yaml", more, &catalogue()).is_ok(), "the shipped ones are always there");
}

#[test]
fn a_tool_takes_the_place_of_the_one_with_its_name() {
    let tool = |name: &str, effect: &str| {
        format!("{{name: {name}, description: It., runs: client, effect: {effect}}}")
    };
    let solo = "agents: {solo: {instructions: Work., tools: [look, send]}}\nphases: [{id: work, kind: one_shot, agent: solo}]";
    let base = format!("name: base\ntools: [{}, {}]\n{solo}\n", tool("look", "write"), tool("send", "write"));
    let mine = format!("name: mine\nextends: base\ntools: [{}]\n", tool("look", "read"));
    let library = library(&[("base.yaml", &base, None), ("mine.yaml", &mine, None)]).unwrap();
    let (base, mine) = (library.get("base").unwrap(), library.get("mine").unwrap());
    assert_eq!(mine.tools.keys().collect::<Vec<_>>(), ["look", "send"]);
    assert_ne!(mine.tools["look"], base.tools["look"]);
    assert_eq!(mine.tools["send"], base.tools["send"]);
}

#[test]
fn what_can_not_be_extended_has_its_place() {
    let table = [
        (
            "name: mine\nextends: bas\n",
            vec!["mine.yaml:2:10: there is no workflow `bas` to extend (did you mean `base`?)"],
        ),
        (
            "name: Bad Name\nextends: bas\nlimits: {round: 3}\ncolour: blue\n",
            vec![
                "mine.yaml:1:7: a name is made of a-z, 0-9, `_` and `-`, at most 64 characters; found `Bad Name`",
                "mine.yaml:2:10: there is no workflow `bas` to extend (did you mean `base`?)",
                "mine.yaml:3:10: unknown key `round` (did you mean `rounds`?)",
                "mine.yaml:4:1: unknown key `colour`",
            ],
        ),
        (
            "name: mine\nextends: external\n",
            vec!["mine.yaml:2:10: there is no workflow `external` to extend"],
        ),
        ("name: mine\nextends: mine\n", vec!["mine.yaml:2:10: `mine` would extend itself"]),
        (
            "name: mine\nextends: review_plan\n",
            vec![
                "mine.yaml:2:10: `review_plan` itself extends another workflow; extend that other workflow \
                instead",
            ],
        ),
        ("name: mine\nextends: [base]\n", vec!["mine.yaml:2:10: expected a text, found a list"]),
        ("extends: base\n", vec!["mine.yaml:1:1: the key `name` is missing"]),
        (
            "name: mine\nextends: base\nextends: base\n",
            vec!["mine.yaml:3:1: the key `extends` appears twice (first in line 2)"],
        ),
        (
            "name: mine\nextend: base\n",
            vec![
                "mine.yaml:1:1: the key `phases` is missing",
                "mine.yaml:2:1: unknown key `extend` (did you mean `extends`?)",
            ],
        ),
        // A problem of a key in this file is reported at that key. A problem that the key causes in inherited keys is
        // reported at `extends`.
        (
            "name: mine\nextends: base\nphases: [{id: plan, kind: checkpoint, message: Look.}]\ngates: {plan: aks}\n",
            vec![
                "mine.yaml:3:9: `work` needs a planning phase before it",
                "mine.yaml:4:15: expected `ask` or `show`, found `aks` (did you mean `ask`?)",
            ],
        ),
        (
            "name: mine\nextends: base\nagents: {engineer: {instructions: Build.}}\n",
            vec![
                "mine.yaml:2:10: in the workflow `base`, line 12: no agent has the tool `run_command`, so this rule would never match it",
            ],
        ),
    ];
    for (text, says) in table {
        assert_eq!(extended(text).unwrap_err(), says, "{text}");
    }
    let ring =
        library(&[("a.yaml", "name: a\nextends: b\n", None), ("b.yaml", "name: b\nextends: a\n", None)]);
    assert_eq!(
        ring.unwrap_err(),
        [
            "a.yaml:2:10: `b` itself extends another workflow; extend that other workflow instead",
            "b.yaml:2:10: `a` itself extends another workflow; extend that other workflow instead",
        ]
    );
    let broken = BASE.replace("kind: control", "kind: contrl");
    let said = library(&[("base.yaml", &broken, None), ("mine.yaml", "name: mine\nextends: base\n", None)]);
    assert_eq!(
        said.unwrap_err()[1],
        "mine.yaml:2:10: the extended workflow `base` is not valid: correct its problems"
    );
}
