//! Questions of agents and of MCP servers, and the answers in the form of the CLI.

use serde_json::{Map, Value, json};

use super::event::Verdict;

/// Question that a person answers.
#[derive(Clone, Debug, PartialEq)]
pub struct HookQuestion {
    pub title: String,
    pub message: String,
    /// JSON Schema of the answer.
    pub schema: Value,
    /// Question in the form of the CLI.
    pub original: Value,
    pub form: QuestionForm,
}

/// Form of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionForm {
    /// One choice, as text.
    Text,
    /// One member per question: `q1`, `q2` …
    Members,
    /// Fields of the form of an MCP server.
    Fields,
}

/// Maximum number of questions that one call of Claude Code may ask.
const QUESTIONS: usize = 20;

/// Reads the arguments of the tool `AskUserQuestion`. `None`: the arguments have a different form.
pub(super) fn ask_user(input: &Map<String, Value>) -> Option<HookQuestion> {
    let questions = input.get("questions")?.as_array()?;
    let schemas: Vec<Value> = questions.iter().map(schema).collect::<Option<_>>()?;
    if schemas.is_empty() || schemas.len() > QUESTIONS {
        return None;
    }
    let texts: Vec<&str> = questions.iter().filter_map(question).collect();
    let explained = questions.iter().map(explain).collect::<Vec<_>>().join("\n\n");
    let (form, schema, title) = match (&schemas[..], &texts[..]) {
        ([only], [text]) if only["type"] == "string" => {
            (QuestionForm::Text, only.clone(), (*text).to_owned())
        }
        (_, [first, ..]) => {
            let names: Vec<String> = (1..=schemas.len()).map(|number| format!("q{number}")).collect();
            let properties: Map<String, Value> = names.iter().cloned().zip(schemas).collect();
            let title =
                if texts.len() == 1 { (*first).to_owned() } else { format!("{} questions", texts.len()) };
            let schema = json!({"type": "object", "properties": properties, "required": names});
            (QuestionForm::Members, schema, title)
        }
        (_, []) => return None,
    };
    Some(HookQuestion { title, message: explained, schema, original: Value::Object(input.clone()), form })
}

fn question(value: &Value) -> Option<&str> {
    value["question"].as_str().filter(|text| !text.trim().is_empty())
}

fn labels(value: &Value) -> Option<Vec<&str>> {
    let options = value["options"].as_array()?;
    options.iter().map(|option| option["label"].as_str()).collect()
}

fn schema(value: &Value) -> Option<Value> {
    let text = question(value)?;
    let labels = labels(value).filter(|labels| !labels.is_empty())?;
    Some(if value["multiSelect"].as_bool().unwrap_or_default() {
        let items = json!({"type": "string", "enum": labels});
        json!({"type": "array", "title": text, "items": items, "uniqueItems": true, "minItems": 1})
    } else {
        json!({"type": "string", "title": text, "enum": labels})
    })
}

/// Returns the question with its options, as text.
fn explain(value: &Value) -> String {
    let mut text = question(value).unwrap_or_default().to_owned();
    for option in value["options"].as_array().into_iter().flatten() {
        let label = option["label"].as_str().unwrap_or_default();
        text = match option["description"].as_str().filter(|about| !about.is_empty()) {
            Some(about) => format!("{text}\n- {label}: {about}"),
            None => format!("{text}\n- {label}"),
        };
    }
    text
}

/// Reads the request of an MCP server for the fields of a form. `None`: the request has a different form.
pub(super) fn elicitation(
    server: &str,
    message: &str,
    schema: &Value,
    original: Value,
) -> Option<HookQuestion> {
    schema.is_object().then(|| HookQuestion {
        title: format!("{server} asks"),
        message: message.to_owned(),
        schema: schema.clone(),
        original,
        form: QuestionForm::Fields,
    })
}

impl HookQuestion {
    /// Returns the answer of a person in the form of the CLI. `None`: the answer has a different form.
    pub fn answered(&self, text: Option<&str>, data: &Value) -> Option<Verdict> {
        if self.form == QuestionForm::Fields {
            return data.is_object().then(|| Verdict::Content(data.clone()));
        }
        let questions = self.original["questions"].as_array()?;
        let mut answers = Map::new();
        for (at, asked) in questions.iter().enumerate() {
            let given = match self.form {
                QuestionForm::Text => text?.to_owned(),
                QuestionForm::Members | QuestionForm::Fields => match &data[format!("q{}", at + 1)] {
                    Value::String(text) => text.clone(),
                    Value::Array(items) => {
                        items.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?.join(", ")
                    }
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
                },
            };
            answers.insert(question(asked)?.to_owned(), given.into());
        }
        let mut input = self.original.clone();
        input["answers"] = Value::Object(answers);
        Some(Verdict::Allow { input: Some(input) })
    }
}
