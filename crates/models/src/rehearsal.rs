//! The rehearsal model, which replays a script instead of calling a provider. Everything else works as with a real
//! model.
//!
//! The number of the agent's replies in the request determines the next step of the script. No position is stored, so a
//! rehearsal can continue after a restart. A request without a step in the script fails with an explanation.

mod scene;

use std::time::Duration;

use futures::future::BoxFuture;
use holdshort_core::message::{Failure, FailureKind, Reply, Request, RequestedCall};
use holdshort_workflow::rehearsal::{Expect, Play, Script, ScriptedCall, Step};
use serde_json::Value;

use crate::{Description, Model, arguments, failure};
use scene::Scene;

/// Default pause between two words of a rehearsed reply, in milliseconds. A step of the script can set another pause.
const PAUSE_MS: u64 = 15;
/// Maximum duration of a rehearsed reply in milliseconds, even if the reply has many words.
const MAX_REPLY_MS: u64 = 5_000;
/// Maximum number of characters of the received text that the message about a failed expectation of the script quotes.
const MAX_SHOWN: usize = 600;

/// Model that replays a rehearsal script instead of calling a provider.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    script: Script,
}

impl Rehearsal {
    pub fn new(script: Script) -> Self {
        Self { script }
    }

    async fn play(
        &self,
        request: &Request,
        on_text: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Reply, Failure> {
        let steps = self.script.agents.get(&request.agent).ok_or_else(|| {
            off_script(format!("the rehearsal has no script for the agent `{}`", request.agent))
        })?;
        let scene = Scene::new(request, steps);
        let at = scene.step();
        let Some(step) = steps.get(at).or_else(|| steps.last().filter(|step| step.again)) else {
            return Err(off_script(format!(
                "the script for agent `{}` has {} {}, but the run requested reply {}: add a reply, or add \
                `again: true` to the last reply to repeat it at the end of every turn",
                request.agent,
                steps.len(),
                if steps.len() == 1 { "reply" } else { "replies" },
                at + 1
            )));
        };
        let place = describe_step(&request.agent, at, step);
        if let Some(expect) = &step.expect {
            check(expect, request, &scene).map_err(|lacks| off_script(format!("{place} {lacks}")))?;
        }
        match &step.play {
            Play::Error { kind, message } => {
                tokio::time::sleep(pause(step, 1)).await;
                Err(failure::new(*kind, message.as_str()))
            }
            Play::Reply { text, calls } => {
                let render = |template: &str| {
                    scene.render(template).map_err(|error| {
                        off_script(format!("{place} has a template that cannot be rendered: {error}"))
                    })
                };
                let text = render(text)?;
                let calls =
                    calls.iter().map(|call| requested(call, &render)).collect::<Result<Vec<_>, Failure>>()?;
                if text.trim().is_empty() && calls.is_empty() {
                    return Err(off_script(format!("{place} has neither text nor calls")));
                }
                speak(step, &text, on_text).await;
                Ok(Reply { text, calls, model: "rehearsal".to_owned(), ..Reply::default() })
            }
        }
    }
}

impl Model for Rehearsal {
    fn call<'a>(
        &'a self,
        request: &'a Request,
        on_text: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<Reply, Failure>> {
        Box::pin(self.play(request, on_text))
    }

    fn describe(&self) -> Description {
        Description { name: "rehearsal".to_owned(), provider: "rehearsal", rehearsal: true, base_url: None }
    }
}

async fn speak(step: &Step, text: &str, on_text: &(dyn Fn(&str) + Send + Sync)) {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let pause = pause(step, words.len().max(1));
    if words.is_empty() {
        tokio::time::sleep(pause).await;
    }
    for word in words {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        on_text(word);
    }
}

fn pause(step: &Step, words: usize) -> Duration {
    let most = MAX_REPLY_MS / u64::try_from(words).unwrap_or(u64::MAX);
    Duration::from_millis(step.pause_ms.unwrap_or(PAUSE_MS).min(most))
}

fn off_script(message: String) -> Failure {
    failure::new(FailureKind::Script, message)
}

fn describe_step(agent: &str, at: usize, step: &Step) -> String {
    let label = step.name.as_ref().map(|name| format!(" (`{name}`)")).unwrap_or_default();
    format!("reply {}{label} in the script for agent `{agent}`", at + 1)
}

fn check(expect: &Expect, request: &Request, scene: &Scene<'_>) -> Result<(), String> {
    for wanted in &expect.contains {
        if !scene.news().any(|text| text.contains(wanted)) {
            let there: Vec<&str> = scene.news().collect();
            return Err(format!(
                "requires a message that contains “{wanted}”, but the request has these messages: {}",
                quote_excerpt(&there.join(" | "))
            ));
        }
    }
    for wanted in &expect.tools {
        if !request.tools.iter().any(|tool| tool.name == *wanted) {
            let offered: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
            return Err(format!(
                "requires the tool `{wanted}`, but the request offers these tools: {}",
                quote_excerpt(&offered.join(", "))
            ));
        }
    }
    Ok(())
}

fn quote_excerpt(text: &str) -> String {
    if text.is_empty() {
        return "nothing".to_owned();
    }
    let head: String = text.chars().take(MAX_SHOWN).collect();
    if head.len() < text.len() { format!("“{head}…”") } else { format!("“{head}”") }
}

fn requested(
    call: &ScriptedCall,
    render: &impl Fn(&str) -> Result<String, Failure>,
) -> Result<RequestedCall, Failure> {
    let arguments = arguments::of_value(rendered(&call.arguments, render)?);
    Ok(RequestedCall { tool: call.tool.clone(), arguments })
}

/// Fills in the templates in the arguments of a scripted tool call. Each string value is a template, but not the keys
/// of objects.
fn rendered(value: &Value, render: &impl Fn(&str) -> Result<String, Failure>) -> Result<Value, Failure> {
    Ok(match value {
        Value::String(template) => Value::String(render(template)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| rendered(item, render)).collect::<Result<_, _>>()?)
        }
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, item)| Ok((key.clone(), rendered(item, render)?)))
                .collect::<Result<_, Failure>>()?,
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}
