//! Output of the program: documents and lines on standard output, messages on standard error.
//!
//! It is not an error if the reader of standard output has closed it (`| head`).

use std::io::Write;

use holdshort_protocol::Code;
use serde::Serialize;
use serde_json::{Value, json};

use crate::client::Refused;
use crate::exit::{NO_SERVER, Usage};
use crate::terminal::paint::Paint;

/// Prints text to standard output, with a line break at its end.
pub fn print_text(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints each line to standard output.
pub fn print_lines(lines: &[impl AsRef<str>]) {
    for line in lines {
        print_text(line.as_ref());
    }
}

/// Prints a value to standard output as one JSON document on one line.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    Ok(())
}

/// Prints a message for a person to standard error.
pub fn print_message(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints the prompt before a person's input to standard error, without a line break.
pub(crate) fn prompt(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{text}").and_then(|()| err.flush());
}

/// Prints the lines of a message for a person to standard error.
pub fn print_message_lines(lines: &[impl AsRef<str>]) {
    for line in lines {
        print_message(line.as_ref());
    }
}

/// Formats an error with its causes. A cause that the text already contains is omitted.
pub fn error(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Prints an error to standard error: as text, or as one JSON document.
pub(crate) fn failed(error: &anyhow::Error, json: bool) {
    if json {
        print_message(&json!({ "error": problem(error) }).to_string());
    } else {
        let paint = Paint::stderr();
        let text = self::error(error);
        format!("holdshort: {text}").lines().for_each(|line| print_message_lines(&paint.message(line, 2)));
    }
}

fn problem(error: &anyhow::Error) -> Value {
    if let Some(Refused(problem)) = error.downcast_ref::<Refused>() {
        let mut value = serde_json::to_value(problem).unwrap_or_default();
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|name, _| !matches!(name.as_str(), "type" | "status"));
        }
        return value;
    }
    let (code, title) = match error.downcast_ref::<Usage>() {
        Some(usage) if usage.code == NO_SERVER => (usage.code, "No server answers"),
        Some(usage) if usage.code == Code::JournalDamaged.as_str() => (usage.code, "The journal is damaged"),
        Some(usage) => (usage.code, "Usage or configuration error"),
        None => ("failed", "It failed"),
    };
    json!({"code": code, "title": title, "detail": self::error(error)})
}
