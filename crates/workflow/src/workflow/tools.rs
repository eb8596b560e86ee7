//! Reads `tools`: tools that the workflow defines and the client runs. Such a tool replaces a built-in tool with the
//! same name.

use holdshort_core::asking::RECORD;
use holdshort_core::handoff::FINISH;
use holdshort_core::run::undo;
use holdshort_core::tool::{Category, Effect, Runs, Spec};
use serde_json::{Value, json};

use super::input;
use crate::item::{Fields, Item, Keys};
use crate::problem::Problems;
use crate::{bounds, name};

const KEYS: Keys = Keys {
    known: &["name", "description", "parameters", "runs", "effect", "category"],
    later: &["idempotent"],
};

const EFFECTS: [(&str, Effect); 2] = [("read", Effect::Read), ("write", Effect::Write)];

/// Names of the categories for a workflow's tools that write. A tool without a category is treated as if it could do
/// anything.
const CATEGORIES: [(&str, Category); 5] = [
    ("file_write", Category::FileWrite),
    ("bash", Category::Bash),
    ("code_exec", Category::CodeExec),
    ("install", Category::Install),
    ("web", Category::Web),
];

/// Beginnings of tool names that a workflow may not use, because each run defines tools with such names.
const RESERVED: [&str; 2] = ["handoff_to_", "invoke_"];

/// Returns all tools that an agent of the workflow can have: first those of the workflow, then the built-in ones.
pub(super) fn catalogue(own: Option<&Item<'_>>, built_in: &[Spec], problems: &mut Problems) -> Vec<Spec> {
    let mut tools: Vec<Spec> = Vec::new();
    for item in own.and_then(|item| item.list(bounds::LIST, problems)).unwrap_or_default() {
        let Some(fields) = item.fields(&KEYS, problems) else { continue };
        let Some(tool) = read(&fields, built_in, problems) else { continue };
        if tools.iter().any(|other| other.name == tool.name) {
            problems.at(&item, format!("an earlier tool is also named `{}`", tool.name));
            continue;
        }
        tools.push(tool);
    }
    let others: Vec<Spec> =
        built_in.iter().filter(|spec| tools.iter().all(|own| own.name != spec.name)).cloned().collect();
    tools.extend(others);
    tools
}

/// Reads a tool that the workflow defines. Returns a tool with problems if its name is valid, so that references to the
/// tool are not reported too.
fn read(fields: &Fields<'_>, built_in: &[Spec], problems: &mut Problems) -> Option<Spec> {
    let name = fields.need("name", problems).and_then(|item| read_name(item, built_in, problems));
    let description = fields.need("description", problems).and_then(|item| item.text(bounds::TEXT, problems));
    let parameters = match fields.find("parameters") {
        Some(item) => parameters(item, problems),
        None => Some(json!({ "type": "object", "properties": {}, "additionalProperties": false })),
    };
    if let Some(item) = fields.need("runs", problems) {
        match item.text(bounds::NAME, problems).as_deref() {
            Some("client") | None => {}
            Some("mcp") => problems.at(item, "`runs: mcp` is not supported yet by this version"),
            Some(other) => problems.unknown(
                item,
                other,
                format!("a custom tool runs in the client: expected `client`, found `{other}`"),
                ["client"],
            ),
        }
    }
    // If `effect` is missing, the tool is treated as writing.
    let effect =
        fields.find("effect").and_then(|item| item.one_of(&EFFECTS, problems)).unwrap_or(Effect::Write);
    let category = match (fields.find("category"), effect) {
        (Some(item), Effect::Read) => {
            problems.at(item, "`category` has no effect if `effect` is `read`");
            Category::ReadOnly
        }
        (Some(item), Effect::Write) => item.one_of(&CATEGORIES, problems).unwrap_or(Category::CodeExec),
        (None, Effect::Read) => Category::ReadOnly,
        (None, Effect::Write) => Category::CodeExec,
    };
    Some(Spec {
        name: name?,
        description: description.unwrap_or_default(),
        parameters: parameters.unwrap_or_default(),
        runs: Runs::Client { effect, category },
    })
}

fn read_name(item: &Item<'_>, built_in: &[Spec], problems: &mut Problems) -> Option<String> {
    let text = item.text(bounds::NAME, problems)?;
    if !name::any_case(&text, item, problems) {
        return None;
    }
    let asks = built_in.iter().any(|spec| spec.name == text && matches!(spec.runs, Runs::Opens(_)));
    if asks
        || [FINISH, RECORD, undo::TOOL].contains(&text.as_str())
        || RESERVED.iter().any(|reserved| text.starts_with(reserved))
    {
        problems
            .at(item, format!("`{text}` is a built-in tool that clients cannot run; choose another name"));
        return None;
    }
    Some(text)
}

/// Reads the JSON Schema of a tool's parameters, which must describe an object. If the schema has no
/// `additionalProperties`, adds that unknown parameters are rejected.
fn parameters(item: &Item<'_>, problems: &mut Problems) -> Option<Value> {
    let mut schema = input::object(item, "the input of a tool", problems)?;
    if let Value::Object(map) = &mut schema {
        map.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    Some(schema)
}
