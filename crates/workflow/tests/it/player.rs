//! Plays a rehearsal in a folder, with minimal tools. [`Person`] holds the decisions of the person.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use holdshort_workflow::rehearsal::{Play, ScriptedCall, Step};
use minijinja::{Environment, UndefinedBehavior, context};
use serde_json::Value;

#[derive(Clone, Copy)]
pub(crate) struct Person {
    /// Answer that the simulated person gives to every question.
    pub(crate) answer: &'static str,
    /// Labels of the calls that the simulated person refuses.
    pub(crate) refuses: &'static [&'static str],
}

/// Result of playing a rehearsal: the results by label, and all rendered texts and arguments.
pub(crate) struct Played {
    pub(crate) results: BTreeMap<String, String>,
    pub(crate) said: Vec<String>,
    pub(crate) calls: Vec<(String, Value)>,
}

impl Played {
    /// Returns the arguments of that call of the rehearsal which requests a review.
    pub(crate) fn review(&self) -> &Value {
        let review = self.calls.iter().rfind(|(tool, _)| tool == "request_review");
        &review.expect("it asks for a review").1
    }
}

pub(crate) fn play(steps: &[Step], task: &str, folder: &Path, person: Person) -> Played {
    let mut played = Played { results: BTreeMap::new(), said: Vec::new(), calls: Vec::new() };
    for step in steps {
        let Play::Reply { text, calls } = &step.play else { panic!("this player knows no errors") };
        let results = played.results.clone();
        let render = |text: &str| {
            let mut environment = Environment::new();
            environment.set_undefined_behavior(UndefinedBehavior::Strict);
            let template = environment.template_from_str(text).unwrap();
            template.render(context! { task, results => &results }).unwrap()
        };
        played.said.push(render(text));
        for ScriptedCall { name, tool, arguments } in calls {
            let arguments = map_texts(arguments, &render);
            let label = name.clone().unwrap_or_default();
            if tool == "finish" {
                played.said.push(arguments["summary"].as_str().unwrap().to_owned());
            }
            let result = if person.refuses.contains(&label.as_str()) {
                "The person refused this call.".to_owned()
            } else {
                run(tool, &arguments, folder, person)
            };
            played.calls.push((tool.clone(), arguments));
            played.results.insert(label, result);
        }
    }
    played
}

fn map_texts(value: &Value, render: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => render(text).into(),
        Value::Array(items) => items.iter().map(|item| map_texts(item, render)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), map_texts(value, render))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn run(tool: &str, arguments: &Value, folder: &Path, person: Person) -> String {
    let argument = |key: &str| arguments[key].as_str().unwrap();
    match tool {
        "run_command" => shell(argument("command"), folder),
        "ask_human" => person.answer.to_owned(),
        "read_file" => std::fs::read_to_string(folder.join(argument("path"))).unwrap(),
        "list_directory" => "README.md\nboxrent/\ntests/".to_owned(),
        "edit_file" => {
            let path = folder.join(argument("path"));
            let before = std::fs::read_to_string(&path).unwrap();
            assert_eq!(
                before.matches(argument("old")).count(),
                1,
                "`old` must occur once in {}",
                path.display()
            );
            std::fs::write(&path, before.replace(argument("old"), argument("new"))).unwrap();
            "edited".to_owned()
        }
        "finish" => argument("summary").to_owned(),
        "search_codebase" | "create_plan" | "request_review" => "done".to_owned(),
        other => panic!("the script calls `{other}`"),
    }
}

/// Runs a command in the folder of the rehearsal and returns its combined output, followed by `exit code N`.
pub(crate) fn shell(command: &str, folder: &Path) -> String {
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("{command} 2>&1")])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    format!("{text}exit code {}", output.status.code().unwrap())
}
