//! Checks a shipped workflow. The texts in the binary must equal the files in its directory, the workflow must be
//! valid, and its rehearsal must play to the end.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use holdshort_core::message::{Arguments, Call, Declaration, Message, Request};
use holdshort_core::people::Deciders;
use holdshort_models::{Model, Rehearsal};
use holdshort_tools::{Toolset, catalogue};
use holdshort_workflow::rehearsal::{Step, parse};
use holdshort_workflow::{Library, Shipped};
use serde_json::{Value, json};

/// Checks the workflow of a pack: against its directory below `workflows`, and against the tools of the pack.
pub fn hold(shipped: &'static Shipped, workflows: &Path, toolset: &'static dyn Toolset) {
    let mut files = BTreeMap::new();
    collect(&workflows.join(shipped.name), "", &mut files);
    let texts = [
        ("workflow.yaml", Some(shipped.workflow)),
        ("rehearsal.yaml", shipped.rehearsal),
        ("README.md", Some(shipped.readme)),
        ("input.json", Some(shipped.input)),
    ];
    let texts =
        texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.as_bytes().to_vec())));
    let sample = shipped.sample.iter().map(|(path, bytes)| (format!("sample/{path}"), bytes.to_vec()));
    let embedded: BTreeMap<String, Vec<u8>> = texts.chain(sample).collect();
    assert_eq!(
        files, embedded,
        "the embedded files of `{}` differ from the files in its folder",
        shipped.name
    );

    let library = Library::new(&catalogue(&[toolset]), &[shipped], &Deciders::local(), Vec::new());
    let library = library.unwrap_or_else(|problems| panic!("{problems:#?}"));
    let definition = library.get(shipped.name).expect("it is there");
    assert_eq!(definition.name, shipped.name);
    assert!(!definition.description.is_empty(), "{}: has no description", shipped.name);
    let input: Value = serde_json::from_str(shipped.input).expect("JSON");
    let wrong = holdshort_core::schema::check(&definition.input, &input, "");
    assert!(wrong.is_empty(), "{wrong:?}: {input}");
    assert_eq!(library.rehearsal(shipped.name).is_some(), shipped.rehearsal.is_some(), "{}", shipped.name);
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in folder.read_dir().expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = format!("{prefix}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), files);
        } else {
            files.insert(name, fs::read(&path).expect("a file"));
        }
    }
}

/// Returns a text that satisfies the `expect` of this rehearsal step.
fn expected(step: Option<&Step>) -> String {
    step.and_then(|step| step.expect.as_ref()).map(|expect| expect.contains.join("\n")).unwrap_or_default()
}

fn offered(step: &Step) -> Vec<Declaration> {
    let names = step.expect.iter().flat_map(|expect| expect.tools.clone());
    names.map(|name| Declaration { name, description: String::new(), parameters: json!({}) }).collect()
}

/// Plays the rehearsal of a workflow to its end, three times. Each time, all tool calls return another result.
pub async fn play(workflow: &Shipped) {
    let Some(text) = workflow.rehearsal else { return };
    let mut script = parse("rehearsal.yaml", text).expect("a script");
    for step in script.agents.values_mut().flatten() {
        step.pause_ms = Some(0);
    }
    let input: Value = serde_json::from_str(workflow.input).expect("it is right");
    let task = input["task"].as_str().unwrap_or("a task");
    let rehearsal = Rehearsal::new(script.clone());
    for (agent, steps) in &script.agents {
        for answer in ["refused: not now", "exit code 0\nOK", "exit code 1\nFAILED"] {
            let mut messages = vec![Message::User { text: format!("{task}\n{}", expected(steps.first())) }];
            for (at, step) in steps.iter().enumerate() {
                let request = Request {
                    agent: agent.clone(),
                    model: None,
                    messages: messages.clone(),
                    tools: offered(step),
                    response_schema: None,
                };
                let reply = rehearsal.call(&request, &|_| {}).await.expect("it is right");
                let calls: Vec<Call> = reply
                    .calls
                    .into_iter()
                    .enumerate()
                    .map(|(n, call)| {
                        let Arguments::Json(arguments) = call.arguments else {
                            panic!("{}: {agent}: step {at} is malformed", workflow.name)
                        };
                        Call { id: format!("{at}.{n}"), tool: call.tool, arguments }
                    })
                    .collect();
                let news = format!("{answer}\n{}", expected(steps.get(at + 1)));
                let results = calls.iter().map(|call| Message::Tool {
                    call: call.id.clone(),
                    name: call.tool.clone(),
                    text: news.clone(),
                });
                let results: Vec<Message> = results.collect();
                messages.push(Message::Assistant { agent: agent.clone(), text: reply.text, calls });
                messages.extend(results);
            }
        }
    }
}
