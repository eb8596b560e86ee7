//! Values of a request that the templates in a rehearsal script can use.
//!
//! `task` is the first message of a person. `results.LABEL` is the result of the call with the label LABEL in an
//! earlier step of the script. `last` is the newest result of any call. `messages` are the person's messages since the
//! agent's previous reply. A missing value is an error, except in a test with `is defined`.

use std::collections::BTreeMap;

use holdshort_core::message::{Call, Message, Request};
use holdshort_workflow::rehearsal::{Play, Step};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

/// Maximum number of template instructions that one template of a rehearsal script may execute.
const FUEL: u64 = 100_000;
/// Maximum length, in bytes, of the text that one template of a rehearsal script may produce.
const MAX_TEXT: usize = 1024 * 1024;

pub(super) struct Scene<'a> {
    replies: usize,
    /// Messages in the model request since the previous reply of the agent.
    news: &'a [Message],
    values: Value,
    environment: Environment<'static>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(request: &'a Request, steps: &[Step]) -> Self {
        let messages = request.messages.as_slice();
        let is_reply = |message: &Message| matches!(message, Message::Assistant { .. });
        let replies = calls_per_reply(request).count();
        let news = &messages[messages.iter().rposition(is_reply).map_or(0, |at| at + 1)..];
        Self { replies, news, values: values(request, news, steps), environment: environment() }
    }

    /// Returns the index of the rehearsal script's step that replies to this model request.
    pub(super) fn step(&self) -> usize {
        self.replies
    }

    /// Returns the texts of the messages in the model request since the previous reply of the agent.
    pub(super) fn news(&self) -> impl Iterator<Item = &'a str> {
        self.news.iter().map(text)
    }

    pub(super) fn render(&self, template: &str) -> Result<String, Error> {
        if !["{{", "{%", "{#"].into_iter().any(|mark| template.contains(mark)) {
            return Ok(template.to_owned());
        }
        let text = self.environment.render_str(template, self.values.clone())?;
        if text.len() > MAX_TEXT {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                format!("the rendered text is longer than {MAX_TEXT} bytes"),
            ));
        }
        Ok(text)
    }
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // Keeps a line break at the end of a template.
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        environment.set_syntax(syntax);
    }
    environment
}

/// Returns the tool calls in each reply of the agent that made the model request. Replies of other agents are skipped.
fn calls_per_reply(request: &Request) -> impl Iterator<Item = &[Call]> {
    request.messages.iter().filter_map(|message| match message {
        Message::Assistant { agent, calls, .. } if *agent == request.agent => Some(calls.as_slice()),
        Message::Assistant { .. } | Message::System { .. } | Message::User { .. } | Message::Tool { .. } => {
            None
        }
    })
}

fn values(request: &Request, news: &[Message], steps: &[Step]) -> Value {
    let messages = request.messages.as_slice();
    let said = |message: &Message| match message {
        Message::User { text } => Some(Value::from(text.as_str())),
        Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    };
    let task = messages.iter().find_map(said);
    let last = messages.iter().rev().find_map(result).map(|(_, text)| Value::from(text));
    let always = [
        ("messages", news.iter().filter_map(said).collect()),
        ("results", Value::from_pairs(results(request, steps))),
    ];
    let perhaps = [("task", task), ("last", last)];
    Value::from_pairs(
        always.into_iter().chain(perhaps.into_iter().filter_map(|(name, value)| Some((name, value?)))),
    )
}

/// Returns the texts of the tool results in the model request, by the labels of the calls in the script. A call has the
/// label at the same position in the script.
fn results(request: &Request, steps: &[Step]) -> BTreeMap<String, String> {
    let texts: BTreeMap<&str, &str> = request.messages.iter().filter_map(result).collect();
    let mut results = BTreeMap::new();
    for (calls, step) in calls_per_reply(request).zip(steps) {
        let Play::Reply { calls: scripted, .. } = &step.play else { continue };
        for (Call { id, .. }, scripted) in calls.iter().zip(scripted) {
            if let (Some(label), Some(text)) = (&scripted.name, texts.get(id.as_str())) {
                results.insert(label.clone(), (*text).to_owned());
            }
        }
    }
    results
}

fn result(message: &Message) -> Option<(&str, &str)> {
    match message {
        Message::Tool { call, text, .. } => Some((call, text)),
        Message::System { .. } | Message::User { .. } | Message::Assistant { .. } => None,
    }
}

fn text(message: &Message) -> &str {
    match message {
        Message::System { text }
        | Message::User { text }
        | Message::Assistant { text, .. }
        | Message::Tool { text, .. } => text,
    }
}
