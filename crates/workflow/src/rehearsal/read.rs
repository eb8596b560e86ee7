//! Grammar of rehearsal scripts: reads YAML into a [`Script`].

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::definition::Definition;
use holdshort_core::message::FailureKind;
use holdshort_core::run::OVERSEER;
use holdshort_core::tool;
use serde_json::json;

use super::{Expect, Play, Script, ScriptedCall, Step, template};
use crate::item::{Fields, Item, Keys};
use crate::problem::{Problem, Problems};
use crate::yaml;
use crate::{bounds, name};

const TOP: Keys = Keys { known: &["agents"], later: &[] };
const STEP: Keys =
    Keys { known: &["text", "calls", "error", "expect", "name", "pause_ms", "again"], later: &[] };
const CALL: Keys = Keys { known: &["as", "tool", "arguments"], later: &[] };
const ERROR: Keys = Keys { known: &["kind", "message"], later: &[] };
const EXPECT: Keys = Keys { known: &["contains", "tools"], later: &[] };
/// Failures of a model that a script can simulate. The kind `script` is missing, because it reports errors in the
/// script itself.
const FAILURES: [(&str, FailureKind); 7] = [
    ("rate_limited", FailureKind::RateLimited),
    ("unavailable", FailureKind::Unavailable),
    ("cut", FailureKind::Cut),
    ("timed_out", FailureKind::TimedOut),
    ("unusable", FailureKind::Unusable),
    ("too_long", FailureKind::TooLong),
    ("rejected", FailureKind::Rejected),
];

/// Parses a rehearsal script and reports all problems. `file_name` is only needed for problems.
pub fn parse(file_name: &str, text: &str) -> Result<Script, Vec<Problem>> {
    read(file_name, text, None)
}

/// Parses a rehearsal script for a workflow. Reports each agent or tool that the workflow does not have. `built_in` are
/// the tools that all workflows can use.
pub(crate) fn parse_for(
    file_name: &str,
    text: &str,
    workflow: &Definition,
    built_in: &[tool::Spec],
) -> Result<Script, Vec<Problem>> {
    let built_in = built_in.iter().map(|spec| spec.name.as_str());
    // A workflow may remove built-in tools, such as those that ask people. A call of such a tool is rejected when it is
    // made.
    let tools = workflow.tools.keys().map(String::as_str).chain(built_in).collect();
    read(file_name, text, Some(&Played { workflow, tools }))
}

/// The workflow to which a rehearsal script belongs, and the names of the tools that the script may call.
struct Played<'w> {
    workflow: &'w Definition,
    tools: BTreeSet<&'w str>,
}

impl Played<'_> {
    fn check_tool(&self, tool: &str, item: &Item<'_>, problems: &mut Problems) {
        if !self.tools.contains(tool) {
            let message = format!("the workflow `{}` has no tool `{tool}`", self.workflow.name);
            problems.unknown(item, tool, message, self.tools.iter().copied());
        }
    }
}

fn read(file_name: &str, text: &str, played: Option<&Played<'_>>) -> Result<Script, Vec<Problem>> {
    let mut problems = Problems::for_file(file_name);
    let node = match yaml::parse(text, bounds::REHEARSAL_BYTES) {
        Ok(node) => node,
        Err(yaml::Unreadable { place, message }) => {
            problems.push(place, String::new(), message, None);
            return problems.finish(None);
        }
    };
    let script = script(&Item::top(&node), played, &mut problems);
    problems.finish(script)
}

fn script(top: &Item<'_>, played: Option<&Played<'_>>, problems: &mut Problems) -> Option<Script> {
    let fields = top.fields(&TOP, problems)?;
    let mut agents = BTreeMap::new();
    for (agent, key, value) in fields.need("agents", problems)?.entries(problems)? {
        name::any_case(agent, &key, problems);
        // The judge of the gates is not an agent of the workflow. A script may contain replies of the judge
        // nevertheless.
        let is_one = |workflow: &&Definition| agent == OVERSEER || workflow.agents.contains_key(agent);
        if let Some(workflow) = played.map(|played| played.workflow).filter(|workflow| !is_one(workflow)) {
            let message = format!("the workflow `{}` has no agent `{agent}`", workflow.name);
            problems.unknown(&key, agent, message, workflow.agents.keys().map(String::as_str));
        }
        agents.insert(agent.to_owned(), steps(&value, played, problems));
    }
    Some(Script { agents })
}

fn steps(item: &Item<'_>, played: Option<&Played<'_>>, problems: &mut Problems) -> Vec<Step> {
    let mut labels = BTreeSet::new();
    let items = item.list(bounds::STEPS, problems).unwrap_or_default();
    let last = items.len().saturating_sub(1);
    let steps = items.iter().enumerate();
    steps.filter_map(|(n, item)| step(item, n == last, played, &mut labels, problems)).collect()
}

/// Reads one step of a rehearsal script. `labels` are the labels of earlier calls, which templates of this and later
/// steps may use. The labels of this step are added to `labels`.
fn step(
    item: &Item<'_>,
    is_last: bool,
    played: Option<&Played<'_>>,
    labels: &mut BTreeSet<String>,
    problems: &mut Problems,
) -> Option<Step> {
    let fields = item.fields(&STEP, problems)?;
    let play = match fields.find("error") {
        Some(error) => {
            for key in ["text", "calls"] {
                if let Some(item) = fields.find(key) {
                    problems
                        .at(item, format!("a step is either a reply or an error: remove `{key}` or `error`"));
                }
            }
            failure(error, problems)
        }
        None => reply(item, &fields, played, labels, problems),
    };
    let step_name = fields.find("name").and_then(|item| item.text(bounds::LINE, problems));
    let expect = fields.find("expect").and_then(|item| expect(item, played, problems));
    let pause_ms = fields.find("pause_ms").and_then(|item| item.count(bounds::PAUSE_MS, problems));
    let again = fields.find("again").filter(|item| item.flag(problems) == Some(true));
    let ends = |play: &Play| matches!(play, Play::Reply { calls, .. } if calls.is_empty());
    // If a reply with calls were repeated, the run would never end.
    if let Some(item) = again.filter(|_| !is_last || !play.as_ref().is_none_or(ends)) {
        problems
            .at(item, "`again` is only allowed on the last reply of an agent, and only if it has no calls");
    }
    Some(Step { expect, play: play?, name: step_name, pause_ms, again: again.is_some() })
}

fn failure(item: &Item<'_>, problems: &mut Problems) -> Option<Play> {
    let fields = item.fields(&ERROR, problems)?;
    let kind = fields.need("kind", problems).and_then(|item| item.one_of(&FAILURES, problems));
    let message = fields.need("message", problems).and_then(|item| item.text(bounds::LINE, problems));
    Some(Play::Error { kind: kind?, message: message? })
}

fn reply(
    item: &Item<'_>,
    fields: &Fields<'_>,
    played: Option<&Played<'_>>,
    labels: &mut BTreeSet<String>,
    problems: &mut Problems,
) -> Option<Play> {
    let mut text = String::new();
    if let Some(item) = fields.find("text") {
        text = item.text(bounds::SCRIPTED, problems)?;
        template::check(&text, item, labels, problems);
    }
    let items = match fields.find("calls") {
        Some(item) => item.list(bounds::LIST, problems)?,
        None => Vec::new(),
    };
    if text.is_empty() && items.is_empty() && !fields.was_meant("text") && !fields.was_meant("calls") {
        problems.at(item, "a step needs a `text`, `calls` or an `error`");
    }
    // A call cannot use results of calls in the same reply, because all of them run after the reply is complete.
    let mut own = Vec::new();
    let mut calls = Vec::new();
    for item in &items {
        if let Some(call) = call(item, played, labels, problems) {
            own.extend(call.name.clone().map(|label| (label, item)));
            calls.push(call);
        }
    }
    for (label, item) in own {
        if !labels.insert(label.clone()) {
            problems.at(item, format!("an earlier call already has the label `{label}`"));
        }
    }
    Some(Play::Reply { text, calls })
}

fn call(
    item: &Item<'_>,
    played: Option<&Played<'_>>,
    labels: &BTreeSet<String>,
    problems: &mut Problems,
) -> Option<ScriptedCall> {
    let fields = item.fields(&CALL, problems)?;
    let label = fields.find("as").and_then(|item| {
        let text = item.text(bounds::LINE, problems)?;
        name::label(&text, item, problems).then_some(text)
    });
    let arguments = match fields.find("arguments") {
        Some(item) => {
            templates(item, labels, problems);
            item.json(problems)?
        }
        None => json!({}),
    };
    if !arguments.is_object() {
        problems.at(fields.find("arguments")?, "arguments must be a mapping");
    }
    let item = fields.need("tool", problems)?;
    let tool = item.text(bounds::LINE, problems)?;
    if let Some(played) = played {
        played.check_tool(&tool, item, problems);
    }
    Some(ScriptedCall { name: label, tool, arguments })
}

/// Checks the templates in all strings of the arguments of a prepared tool call.
fn templates(item: &Item<'_>, labels: &BTreeSet<String>, problems: &mut Problems) {
    match &item.node.value {
        yaml::Value::Text(text) => template::check(text, item, labels, problems),
        yaml::Value::List(items) => {
            for (index, node) in items.iter().enumerate() {
                templates(&item.entry(index, node), labels, problems);
            }
        }
        yaml::Value::Map(entries) => {
            for (key, node) in entries {
                if let yaml::Value::Text(key) = &key.value {
                    templates(&item.under(key, node), labels, problems);
                }
            }
        }
        yaml::Value::Null | yaml::Value::Bool(_) | yaml::Value::Number(_) => {}
    }
}

fn expect(item: &Item<'_>, played: Option<&Played<'_>>, problems: &mut Problems) -> Option<Expect> {
    let fields = item.fields(&EXPECT, problems)?;
    let mut texts = |key: &str| {
        let texts = fields.find(key).and_then(|item| item.texts(bounds::LIST, bounds::TEXT, problems));
        texts.unwrap_or_default()
    };
    let (contains, tools) = (texts("contains"), texts("tools"));
    for (tool, item) in &tools {
        if let Some(played) = played {
            played.check_tool(tool, item, problems);
        }
    }
    let only = |texts: Vec<(String, Item<'_>)>| texts.into_iter().map(|(text, _)| text).collect();
    Some(Expect { contains: only(contains), tools: only(tools) })
}
