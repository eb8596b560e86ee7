//! Parses plans that models and people write: an object, a list without an object around it, JSON within a text, or a
//! list in prose (contract A8). The parser is used for replies, for the arguments of the tool `create_plan`, and for
//! edits by people.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Converts a value to the form `{subtasks: […]}`, which [`Plan::check`](super::Plan::check) then checks. `None` if the
/// value does not resemble a plan. An empty list becomes a plan without subtasks.
pub fn read(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => candidates(text).pop(),
        Value::Array(items) => Some(of_items(items)),
        Value::Object(fields) => of_object(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Parses a plan that is the argument of a tool call or the edit of a checkpoint. Prose is not accepted, even if it
/// contains a list.
pub fn sent(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => encoded(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => read(value),
    }
}

/// Returns all fields of the value except `plan`. `None` if the value has no field `plan`, or no other field.
pub fn fields_without_plan(value: &Value) -> Option<Value> {
    let mut rest = value.as_object().filter(|fields| fields.contains_key("plan"))?.clone();
    rest.remove("plan");
    (!rest.is_empty()).then_some(Value::Object(rest))
}

/// Parses a plan from JSON text. The text may be encoded as JSON twice.
fn encoded(text: &str) -> Option<Value> {
    let parse = |text: &str| serde_json::from_str::<Value>(text.trim()).ok();
    let mut value = parse(text)?;
    if let Value::String(inner) = &value {
        value = parse(inner)?;
    }
    if value.is_string() { None } else { read(&value) }
}

fn of_object(fields: &Map<String, Value>) -> Option<Value> {
    let list = ["subtasks", "sub_tasks", "steps"].iter().find_map(|key| fields.get(*key));
    match (list, fields.get("plan")) {
        (Some(Value::Array(items)), _) => Some(of_items(items)),
        (Some(Value::String(text)), _) => candidates(text).pop(),
        (None, Some(plan)) => read(plan),
        (Some(_) | None, _) => None,
    }
}

fn of_items(items: &[Value]) -> Value {
    let mut subtasks: Vec<Value> = items.iter().map(subtask).collect();
    count(&mut subtasks);
    json!({ "subtasks": subtasks })
}

/// Gives each subtask without an id its position in the plan as id. If another subtask already has that id, the next
/// free number is used.
fn count(subtasks: &mut [Value]) {
    let given = |subtask: &Value| subtask.get("id").and_then(Value::as_str).map(str::to_owned);
    let given: BTreeSet<String> = subtasks.iter().filter_map(given).collect();
    let mut n = 0;
    for (place, subtask) in (1..).zip(subtasks) {
        let Some(fields) = subtask.as_object_mut().filter(|fields| !fields.contains_key("id")) else {
            continue;
        };
        n = place.max(n + 1);
        while given.contains(&id(n)) {
            n += 1;
        }
        fields.insert("id".to_owned(), json!(id(n)));
    }
}

/// Renames the fields of a subtask to the names that [`Plan`](super::Plan) uses. Keeps fields with a wrong type, so
/// that [`Plan::check`](super::Plan::check) reports them. Drops fields that a plan does not have, such as results.
fn subtask(item: &Value) -> Value {
    let fields = match item {
        Value::String(text) => return json!({ "description": text.trim() }),
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return item.clone(),
    };
    let mut native = Map::new();
    for (key, value) in fields {
        let key = match key.as_str() {
            "id" => "id",
            "agent" | "sub_task_agent" => "agent",
            "depends_on" | "dependencies" => "depends_on",
            "estimated_time" | "estimated_time_minutes" => "estimated_time",
            _ => continue,
        };
        let value = match (key, value) {
            ("id", number) => normalize_id(number),
            ("depends_on", Value::Array(ids)) => ids.iter().map(normalize_id).collect(),
            ("estimated_time", Value::Number(minutes)) => Value::String(format!("{minutes} min")),
            (_, other) => other.clone(),
        };
        let is_blank = || value.as_str().is_some_and(|text| text.trim().is_empty());
        let is_nothing = value.is_null() || (["agent", "estimated_time"].contains(&key) && is_blank());
        if !is_nothing {
            native.insert(key.to_owned(), value);
        }
    }
    if let Some(description) = description(fields) {
        native.insert("description".to_owned(), description);
    }
    Value::Object(native)
}

/// Fields that may contain the description of a subtask. The texts of these fields are joined in this order.
const WORDS: [&str; 5] = ["title", "sub_task", "task", "description", "bullet_points"];

/// Joins the descriptions of a subtask into one text. A description that is not a text is kept, so that the check of
/// the plan reports it.
fn description(fields: &Map<String, Value>) -> Option<Value> {
    let mut told: Option<String> = None;
    for word in WORDS {
        let parts: Vec<&str> = match fields.get(word) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => vec![text.trim()],
            Some(Value::Array(bullets)) if word == "bullet_points" => {
                bullets.iter().filter_map(Value::as_str).collect()
            }
            Some(other) => return Some(other.clone()),
        };
        for part in parts {
            match &mut told {
                None => told = Some(part.to_owned()),
                Some(told) if word == "bullet_points" => told.extend(["\n- ", part]),
                Some(told) if !part.is_empty() => told.extend([": ", part]),
                Some(_) => {}
            }
        }
    }
    told.map(Value::String)
}

/// Converts the id of a subtask to a text if the id is a number.
fn normalize_id(id: &Value) -> Value {
    if id.is_u64() { Value::String(id.to_string()) } else { id.clone() }
}

fn id(n: usize) -> String {
    format!("s{n}")
}

/// Returns all possible plans in a text. A plan can be JSON alone, JSON in a code fence, or JSON within prose. If there
/// is no JSON, the items of a list become the plan. The last plan is the most likely one, because many models write
/// down their thoughts before the plan.
pub fn candidates(text: &str) -> Vec<Value> {
    let fenced =
        text.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').map_or(block, |(_, it)| it));
    let spans = [('[', ']'), ('{', '}')].into_iter().filter_map(|(open, close)| {
        let (from, to) = (text.find(open)?, text.rfind(close)?);
        text.get(from..=to)
    });
    let ways: [Vec<&str>; 3] = [vec![text], fenced.collect(), spans.collect()];
    for way in &ways {
        let found: Vec<Value> = way.iter().filter_map(|part| encoded(part)).collect();
        if !found.is_empty() {
            return found;
        }
    }
    from_lines(text).into_iter().collect()
}

/// Returns the text without the JSON of the plan. A card shows the plan separately.
pub fn around(text: &str) -> String {
    let is_json = |part: &str| encoded(part).is_some();
    if is_json(text) {
        return String::new();
    }
    let blocks: Vec<&str> = text.split("```").collect();
    let is_plan = |(n, block): &(usize, &&str)| {
        n % 2 == 1 && is_json(block.split_once('\n').map_or(block, |(_, code)| code))
    };
    if blocks.iter().enumerate().any(|block| is_plan(&block)) {
        let kept: Vec<&str> = blocks
            .iter()
            .enumerate()
            .filter(|block| !is_plan(block))
            .map(|(_, block)| block.trim())
            .collect();
        return kept.join("\n").trim().to_owned();
    }
    for (open, close) in [('{', '}'), ('[', ']')] {
        if let (Some(from), Some(to)) = (text.find(open), text.rfind(close))
            && text.get(from..=to).is_some_and(is_json)
        {
            return [text[..from].trim(), text[to + 1..].trim()].join(" ").trim().to_owned();
        }
    }
    text.to_owned()
}

/// Parses numbered or bulleted lines as subtasks. An indented line continues the line above it. A list of questions is
/// not accepted as a plan.
fn from_lines(text: &str) -> Option<Value> {
    let mut items: Vec<String> = Vec::new();
    for line in text.lines() {
        match (listed(line), items.last_mut()) {
            (Some(item), _) if !line.starts_with([' ', '\t']) => items.push(item.to_owned()),
            (Some(item), Some(above)) => above.extend(["\n- ", item]),
            (Some(_), None) | (None, _) => {}
        }
    }
    if items.iter().any(|item| item.trim_end().ends_with('?')) {
        return None;
    }
    let items: Vec<Value> = items.into_iter().map(Value::String).collect();
    (!items.is_empty()).then(|| of_items(&items))
}

/// Returns the text after a list marker: `1.`, `2)`, `-` or `*`.
fn listed(line: &str) -> Option<&str> {
    let line = line.trim();
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = match (digits, &line[digits..]) {
        (0, rest) => rest.strip_prefix(['-', '*', '•'])?,
        (_, rest) => rest.strip_prefix(['.', ')'])?,
    };
    rest.strip_prefix(' ').map(str::trim).filter(|rest| !rest.is_empty())
}
