//! Tests of the program's packs: each addition of a pack exists only once and is documented.
#![cfg(feature = "packs")]

use std::collections::BTreeSet;

use holdshort_testkit::home::Home;
use holdshort_tools::catalogue;
use serde_json::json;

#[test]
fn no_tool_and_no_workflow_is_there_twice() {
    let packs = holdshort::PACKS.for_server();
    let names: Vec<String> = catalogue(&packs.toolsets).into_iter().map(|spec| spec.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    let samples: Vec<&str> = holdshort::PACKS.samples().into_iter().map(|shipped| shipped.name).collect();
    assert_eq!(samples, ["coach", "codelab", "compliance", "copilot", "pair", "research"]);
}

/// A server lists the workflows of packs together with its own.
#[test]
fn the_workflows_of_packs_are_served() {
    let home = Home::new();
    let server = home.serve(&[]);
    let listed = home.json(&["workflows"]);
    let named: Vec<&str> = listed.as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(
        named,
        [
            "autonomous",
            "coach",
            "codelab",
            "codelab_ide",
            "compliance",
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
    server.stop();
}

/// The documentation's table of built-in tools lists all names and arguments, with a `?` after an optional argument.
#[test]
fn the_documents_list_every_tool_with_its_arguments() {
    let page = include_str!("../../../../docs/workflows.md");
    let table = page.split("## Built-in tools").nth(1).expect("the part").split("## ").next().unwrap();
    let mut listed: Vec<(String, Vec<String>)> = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let words = |cell: &str| -> Vec<String> {
            cell.split(", ")
                .filter(|word| !word.is_empty())
                .map(|word| word.trim_matches('`').to_owned())
                .collect()
        };
        let mut arguments = words(cells[2]);
        arguments.sort();
        listed.extend(words(cells[1]).into_iter().map(|name| (name, arguments.clone())));
    }
    listed.sort();
    let mut known: Vec<(String, Vec<String>)> = catalogue(&holdshort::PACKS.for_server().toolsets)
        .into_iter()
        .map(|spec| {
            let required = spec.parameters["required"].as_array().unwrap().clone();
            let names = spec.parameters["properties"].as_object().unwrap().keys();
            let mut arguments: Vec<String> = names
                .map(|name| if required.contains(&json!(name)) { name.clone() } else { format!("{name}?") })
                .collect();
            arguments.sort();
            (spec.name, arguments)
        })
        .collect();
    known.sort();
    assert_eq!(listed, known);
}
