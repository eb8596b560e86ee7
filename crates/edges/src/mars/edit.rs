//! Reads the member `modifications` of a decision as an edit of a plan, of a step's text, of a call's arguments, or of
//! a text. No member of an edit is ignored: an unexpected member is rejected, and the error names its path.

use holdshort_core::interrupt::{About, Kind, Opened};
use holdshort_core::plan::{self, Subtask};
use holdshort_core::schema::Problem;
use holdshort_protocol::pointer::escape;
use holdshort_web::problem::{Answer, Refused};
use serde_json::{Value, json};

const AT: &str = "/modifications";
/// Path of a plan's steps in an edit that has the form of Holdshort's native API.
const STEPS: &str = "/edit/subtasks";

/// Keys of a plan in a client's edit that may contain the plan's steps.
const LISTS: [&str; 3] = ["sub_tasks", "subtasks", "steps"];
/// Keys of a plan's step in the MARS format, each with the key that Holdshort's native API uses. [`WORDS`] contains the
/// keys for the text of a step.
const OF_A_STEP: [(&str, &str); 5] = [
    ("id", "id"),
    ("agent", "agent"),
    ("sub_task_agent", "agent"),
    ("dependencies", "depends_on"),
    ("depends_on", "depends_on"),
];
/// Keys for the text of a plan's step, without the bullets of the step.
const WORDS: [&str; 4] = ["title", "sub_task", "task", "description"];
/// Keys under which a client's edit may contain a text, if the text is its only member.
const TEXTS: [&str; 4] = ["text", "content", "input", "instructions"];

/// Edit of a person in the form of Holdshort's native API, and the path of the edit in the client's frame.
#[derive(Default)]
pub(super) struct Edit {
    pub(super) value: Value,
    /// Path of a value in the edit of the native API, and the path of the same value in the client's frame, if the two
    /// differ.
    moved: Option<(&'static str, String)>,
}

impl Edit {
    /// Reads the edit that a client sent. `step` is the subtask that is about to start, if the interrupt asks about the
    /// start of a subtask.
    pub(super) fn read(opened: &Opened, step: Option<&Subtask>, sent: &Value) -> Answer<Self> {
        let is_step = matches!(opened.about, About::BeforeStep(_));
        let is_text = is_step || opened.kind == Kind::Review;
        let sent = match (decoded(sent), sent) {
            (Some(value), _) if value.is_object() || !is_text => value,
            (None, Value::String(_)) if !is_text => {
                return Err(Refused::invalid_at(AT, "is a text that is not JSON"));
            }
            // A text is not parsed as JSON, so `"42"` stays a text.
            _ => sent.clone(),
        };
        let mut problems = Vec::new();
        let edit = match opened.kind {
            Kind::PlanApproval => Self::plan(sent, &mut problems),
            Kind::ToolApproval => Self::arguments(sent, &mut problems),
            _ if is_step => Self::from_value(self::step(sent, opened, step, &mut problems)),
            Kind::Review => Self::from_value(text(sent, &mut problems)),
            _ => Self::pass_through(sent, &mut problems),
        };
        if problems.is_empty() { Ok(edit) } else { Err(Refused::invalid(problems)) }
    }

    fn from_value(value: Value) -> Self {
        Self { value, moved: None }
    }

    /// Reads an edited plan in any of the accepted forms. A value in any other form is returned unchanged, and the core
    /// rejects it.
    fn plan(sent: Value, problems: &mut Vec<Problem>) -> Self {
        match plan::read(&sent) {
            Some(plan) => {
                let at = steps(&sent, AT, problems);
                Self { value: plan, moved: at.map(|at| (STEPS, at)) }
            }
            None => Self::from_value(sent),
        }
    }

    /// Reads the edit of an interrupt that is not about a plan, a call, a step or a review. The edit is returned
    /// unchanged. An edit with several plans is rejected, because the run executes the plan in the edit.
    fn pass_through(sent: Value, problems: &mut Vec<Problem>) -> Self {
        let is_plan = plan::sent(&sent).is_some();
        let at =
            is_plan.then(|| plan_key(&sent, AT, problems)).and_then(|_| steps(&sent, AT, &mut Vec::new()));
        Self { value: sent, moved: at.map(|at| (STEPS, at)) }
    }

    fn arguments(sent: Value, problems: &mut Vec<Problem>) -> Self {
        match sent.get("arguments") {
            Some(arguments) => {
                alone("arguments", &sent, problems);
                Self { value: arguments.clone(), moved: Some(("/edit", below(AT, "arguments"))) }
            }
            None => Self::from_value(sent),
        }
    }

    /// Converts the path of a value in the edit of the native API to the path of the same value in the client's frame.
    pub(super) fn pointer(&self, native: &str) -> Option<String> {
        let Some((from, to, rest)) =
            self.moved.as_ref().and_then(|(from, to)| Some((*from, to, native.strip_prefix(from)?)))
        else {
            return native.strip_prefix("/edit").map(|rest| format!("{AT}{rest}"));
        };
        let words = [("/description", "/sub_task"), ("/agent", "/sub_task_agent")];
        let mut named = words.iter().filter_map(|(core, wire)| Some((rest.strip_suffix(core)?, *wire)));
        let (rest, word) = named.next().filter(|_| from == STEPS).unwrap_or((rest, ""));
        Some(format!("{to}{rest}{word}"))
    }
}

/// Reads the new text of a plan's step. A client may send either only the text, or the whole step with all its members.
/// In a whole step, all members except the text must be unchanged.
fn step(sent: Value, opened: &Opened, planned: Option<&Subtask>, problems: &mut Vec<Problem>) -> Value {
    if non_null_fields(&sent).any(|(key, _)| TEXTS.contains(&key)) {
        return text(sent, problems);
    }
    if !sent.is_object() {
        if !sent.is_string() {
            problems.push(Problem::new(AT, "is neither a text nor a step with a `sub_task`"));
        }
        return sent;
    }
    reject_unknown_keys(&sent, AT, problems);
    let no_text = non_null_fields(&sent).filter(|(key, value)| WORDS.contains(key) && !value.is_string());
    problems.extend(no_text.map(|(key, _)| Problem::new(below(AT, key), "is not a text")));
    let mut native =
        plan::read(&json!([sent])).map(|mut plan| plan["subtasks"][0].take()).unwrap_or_default();
    let step = opened.step.as_deref().unwrap_or_default();
    let stays = json!({
        "id": planned.map_or(step, |planned| &planned.id),
        "agent": opened.agent,
        "depends_on": planned.map(|planned| planned.depends_on.as_slice()).unwrap_or_default(),
    });
    for (key, name) in
        OF_A_STEP.iter().filter(|(key, _)| non_null_fields(&sent).any(|(other, _)| other == *key))
    {
        let stays = &stays[name];
        if native.get(name).is_some_and(|said| said != stays) {
            let why = format!("is {stays} and cannot change: an edit of a step changes only its description");
            problems.push(Problem::new(below(AT, key), why));
        }
    }
    let told = native["description"].take();
    if problems.is_empty() && told.as_str().is_none_or(|told| told.trim().is_empty()) {
        problems.push(Problem::new(AT, "has no description of the step: send `sub_task`"));
    }
    told
}

/// Reads the text in a client's edit. A client may send a string, or an object whose only field is the text.
fn text(sent: Value, problems: &mut Vec<Problem>) -> Value {
    let Some(name) = TEXTS.into_iter().find(|name| non_null_fields(&sent).any(|(key, _)| key == *name))
    else {
        if !sent.is_string() {
            problems.push(Problem::new(AT, "is neither a text nor an object with a text as its `content`"));
        }
        return sent;
    };
    alone(name, &sent, problems);
    let text = sent[name].clone();
    if !text.is_string() {
        problems.push(Problem::new(below(AT, name), "is not a text"));
    }
    text
}

/// Returns the path of the list that contains the steps of the plan in `sent`, the edit of a client. The list of steps
/// may be nested at any depth.
fn steps(sent: &Value, at: &str, problems: &mut Vec<Problem>) -> Option<String> {
    if let Some(inner) = decoded(sent) {
        return steps(&inner, at, problems);
    }
    for (i, step) in sent.as_array().into_iter().flatten().enumerate() {
        reject_unknown_keys(step, &format!("{at}/{i}"), problems);
    }
    if !sent.is_object() {
        return Some(at.to_owned());
    }
    let others = non_null_fields(sent).filter(|(key, _)| !holds_steps(key));
    problems.extend(others.map(|(key, _)| Problem::new(below(at, key), "is not a known key of a plan")));
    plan_key(sent, at, problems).and_then(|key| steps(&sent[key], &below(at, key), problems))
}

fn holds_steps(key: &str) -> bool {
    key == "plan" || LISTS.contains(&key)
}

/// Returns the key of the edit's field that contains a plan. Reports a problem if several fields contain a plan.
fn plan_key<'a>(sent: &'a Value, at: &str, problems: &mut Vec<Problem>) -> Option<&'a str> {
    let mut holders = non_null_fields(sent).map(|(key, _)| key).filter(|key| holds_steps(key));
    let holder = holders.next()?;
    problems.extend(holders.map(|key| twice(at, key, holder)));
    Some(holder)
}

/// Rejects a key of a plan's step that exists neither in the MARS format nor in the format of the native API. The types
/// of the values are checked later, together with the plan.
fn reject_unknown_keys(step: &Value, at: &str, problems: &mut Vec<Problem>) {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for (key, value) in non_null_fields(step) {
        let name = OF_A_STEP.iter().find(|(known, _)| *known == key).map(|(_, name)| *name);
        match (name, value) {
            (Some(name), _) => match names.iter().find(|(_, other)| *other == name) {
                Some((other, _)) => problems.push(twice(at, key, other)),
                None => names.push((key, name)),
            },
            (None, _) if WORDS.contains(&key) => {}
            (None, Value::String(_)) if key == "bullet_points" => {}
            (None, Value::Array(bullets)) if key == "bullet_points" => {
                let no_text = bullets.iter().enumerate().filter(|(_, bullet)| !bullet.is_string());
                let place = |i: usize| format!("{}/{i}", below(at, key));
                problems.extend(no_text.map(|(i, _)| Problem::new(place(i), "is not a text")));
            }
            (None, _) if key == "bullet_points" => {
                problems.push(Problem::new(below(at, key), "is not a list of texts"));
            }
            (None, _) => problems.push(Problem::new(below(at, key), "is not a known key of a step")),
        }
    }
}

/// Returns the parsed value if the value is a string that contains JSON.
fn decoded(value: &Value) -> Option<Value> {
    value.as_str().and_then(|text| holdshort_core::json::parse(text.as_bytes()).ok())
}

fn non_null_fields(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = value.as_object().into_iter().flatten();
    fields.filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.as_str(), value))
}

fn alone(name: &str, sent: &Value, problems: &mut Vec<Problem>) {
    let beside = non_null_fields(sent).filter(|(key, _)| *key != name);
    let why = format!("cannot be sent together with `{name}`");
    problems.extend(beside.map(|(key, _)| Problem::new(below(AT, key), &*why)));
}

fn twice(at: &str, key: &str, other: &str) -> Problem {
    Problem::new(below(at, key), format!("repeats {}: omit one of them", below(at, other)))
}

fn below(at: &str, key: &str) -> String {
    format!("{at}/{}", escape(key))
}

#[cfg(test)]
mod tests {
    use holdshort_core::id::InterruptId;
    use holdshort_core::interrupt::Risk;
    use holdshort_core::level::Level;

    use super::*;

    /// The edit of a review accepts only a text. Any other value is rejected, and the error names the path of this
    /// value.
    #[test]
    fn a_review_takes_a_text_and_nothing_else() {
        let opened = Opened {
            interrupt: "int_01k6f0000000000000000000cc".parse::<InterruptId>().unwrap(),
            kind: Kind::Review,
            about: About::Call("call_1".to_owned()),
            step: Some("work".to_owned()),
            agent: None,
            options: Vec::new(),
            risk: Risk { level: Level::Low, reasons: Vec::new() },
            action_digest: None,
            policy_version: 0,
            expires_at: None,
            on_expiry: "reject".to_owned(),
            timing: holdshort_core::interrupt::Timing::default(),
            remind_at: None,
            escalate_at: None,
            assignment: holdshort_core::interrupt::Assignment::default(),
            supersedes: None,
            usable_ms: None,
            withhold: Vec::new(),
            callback: false,
        };
        let table = [
            (json!("final"), Ok("final")),
            (json!("42"), Ok("42")),
            (json!({"content": "final"}), Ok("final")),
            (json!({"contents": "final"}), Err(AT)),
            (json!({"content": null}), Err(AT)),
            (json!({"content": null, "note": "x"}), Err(AT)),
            (json!({"content": 1}), Err("/modifications/content")),
            (json!({"content": "final", "note": "x"}), Err("/modifications/note")),
            (json!([1]), Err(AT)),
            (json!(42), Err(AT)),
        ];
        for (sent, expected) in table {
            let read = Edit::read(&opened, None, &sent);
            let found = match &read {
                Ok(edit) => Ok(edit.value.as_str().unwrap_or_default()),
                Err(refused) => Err(refused.0.errors[0].pointer.as_str()),
            };
            assert_eq!(found, expected, "{sent}");
        }
    }
}
