//! The scripts of the shipped workflows play to their end, whatever the tools answer.

use holdshort_core::message::{Arguments, Call, Declaration, Message, Request};
use holdshort_models::{Model, Rehearsal};
use holdshort_workflow::rehearsal::{Step, parse};
use holdshort_workflow::shipped;
use serde_json::{Value, json};

/// What the request must hold for this step, so that its expectations are met.
fn expected(step: Option<&Step>) -> String {
    step.and_then(|step| step.expect.as_ref()).map(|expect| expect.contains.join("\n")).unwrap_or_default()
}

fn offered(step: &Step) -> Vec<Declaration> {
    let names = step.expect.iter().flat_map(|expect| expect.tools.clone());
    names.map(|name| Declaration { name, description: String::new(), parameters: json!({}) }).collect()
}

#[tokio::test]
async fn every_shipped_script_plays() {
    for workflow in shipped() {
        let Some(text) = workflow.rehearsal else { continue };
        let script = parse("rehearsal.yaml", text).unwrap();
        let input: Value = serde_json::from_str(workflow.input).unwrap();
        let task = input["task"].as_str().unwrap_or("a task");
        let rehearsal = Rehearsal::new(script.clone()).with_pace(0);
        for (agent, steps) in &script.agents {
            for answer in ["refused: not now", "exit code 0\nOK", "exit code 1\nFAILED"] {
                let mut messages =
                    vec![Message::User { text: format!("{task}\n{}", expected(steps.first())) }];
                for (at, step) in steps.iter().enumerate() {
                    let request = Request {
                        agent: agent.clone(),
                        model: None,
                        messages: messages.clone(),
                        tools: offered(step),
                        response_schema: None,
                    };
                    let reply = rehearsal.call(&request, &|_| {}).await.unwrap();
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
}
