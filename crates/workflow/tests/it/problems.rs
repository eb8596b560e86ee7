//! Problems of invalid workflows: the table of `problem_cases`, and cases that are too long for a table.

use holdshort_workflow::parse;

use crate::catalogue::catalogue;
use crate::problem_cases::{CASES, Case};

#[test]
fn every_problem_has_its_place_and_its_words() {
    let mut wrong = vec![];
    for Case { about, text, says } in CASES {
        let said: Vec<String> = match parse("workflow.yaml", text.trim_start(), &catalogue()) {
            Ok(_) => vec![],
            Err(problems) => problems.iter().map(ToString::to_string).collect(),
        };
        if said != *says {
            wrong.push(format!("{about}:\n  says  {said:#?}\n  wants {says:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_problem_names_the_path_in_the_document() {
    let text = "
name: a
agents: {solo: {instructions: Work., tools: [read_file, reed_file]}}
phases: [{id: work, kind: one_shot, agent: solo}, {id: next, kind: one_shot, agent: sole}]
";
    let problems = parse("workflow.yaml", text, &catalogue()).unwrap_err();
    let paths: Vec<_> =
        problems.iter().map(|problem| (problem.path.as_str(), problem.suggestion.as_deref())).collect();
    assert_eq!(paths, [("agents.solo.tools[1]", Some("read_file")), ("phases[1].agent", Some("solo"))]);
}

#[test]
fn too_much_of_anything_is_refused() {
    let phase = |n: usize| format!("  - {{id: p{n}, kind: checkpoint, message: Look.}}\n");
    let phases = "name: a\nphases:\n".to_owned() + &(0..101).map(phase).collect::<String>();
    let rule = "    - {tools: [\"*\"], do: ask}\n";
    let rules = format!("name: a\nphases:\n{}gates:\n  rules:\n{}", phase(0), rule.repeat(501));
    let agent = |n: usize| format!("  a{n}: {{instructions: Work.}}\n");
    let agents = format!("name: a\nphases:\n{}agents:\n{}", phase(0), (0..51).map(agent).collect::<String>());
    let long = format!("name: a\nphases:\n{}description: {}\n", phase(0), "x".repeat(64 * 1024 + 1));
    let name = format!("name: {}\nphases:\n{}", "n".repeat(65), phase(0));
    let large = format!("name: a\n# {}\n", "x".repeat(256 * 1024));
    let deep = format!("name: {}{}", "[".repeat(60), "]".repeat(60));
    let first = |text: &str| {
        let problems = parse("w.yaml", text, &catalogue()).unwrap_err();
        problems.first().map(ToString::to_string).unwrap_or_default()
    };
    assert_eq!(
        [phases, rules, agents, long, name, large, deep].map(|text| first(&text)),
        [
            "w.yaml:3:3: 101 entries; at most 100 are allowed",
            "w.yaml:6:5: 501 entries; at most 500 are allowed",
            "w.yaml:5:3: 51 agents; at most 50 are allowed",
            "w.yaml:4:14: the text has 65537 characters; at most 65536 are allowed",
            "w.yaml:1:7: the text has 65 characters; at most 64 are allowed",
            "w.yaml:1:1: the file has 262155 bytes; at most 262144 are read",
            "w.yaml:1:54: not readable as YAML: nested deeper than 48 levels",
        ]
    );
}

#[test]
fn problems_are_counted_up_to_a_hundred() {
    let unknown: Vec<_> = (0..300).map(|n| format!("unknown{n}: 1")).collect();
    assert_eq!(parse("w.yaml", &unknown.join("\n"), &catalogue()).unwrap_err().len(), 100);
}
