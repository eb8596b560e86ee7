//! What is printed: documents and lines on standard output, messages on standard error.
//!
//! A reader that goes away (`| head`) is no error.

use std::io::Write;

use serde::Serialize;

/// One line of text, or several.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Lines of text.
pub(crate) fn say_all(lines: &[impl AsRef<str>]) {
    for line in lines {
        say(line.as_ref());
    }
}

/// One JSON document on one line.
pub(crate) fn document(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    Ok(())
}

/// A message for a person.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Lines of a message.
pub(crate) fn tell_all(lines: &[impl AsRef<str>]) {
    for line in lines {
        tell(line.as_ref());
    }
}

/// An error with its causes, without repeating what a cause says already.
pub(crate) fn error(error: &anyhow::Error) -> String {
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
