//! Extracts the text of mails from files, so that a person can compare a checkpoint with the saved mail that contained
//! it. Supports all transfer encodings of RFC 2045.

use data_encoding::BASE64_MIME_PERMISSIVE;
use quoted_printable::ParseMode;

/// Returns the plain text of all mails in a file, together with the text between the mails. Skips parts that are not
/// plain text, such as HTML. Returns `None` if the file contains no mail.
pub fn mail_text(file: &str) -> Option<String> {
    file.lines().find_map(|line| header(line, ENCODING))?;
    let mut text = String::new();
    let mut boundaries: Vec<String> = Vec::new();
    let mut part = Part::default();
    for line in file.lines() {
        let edge = line.strip_prefix("--").and_then(|rest| {
            let ends = |boundary: &String| rest.strip_prefix(&**boundary).map(str::trim_end);
            boundaries.iter().filter_map(ends).find(|end| matches!(*end, "" | "--"))
        });
        if let Some(end) = edge {
            part.end(&mut text);
            part.is_body = end == "--";
        } else if part.is_body && line.starts_with("From ") {
            // The next mail in a mailbox file begins.
            part.end(&mut text);
        } else if part.is_body || !part.read_header_line(line, &mut boundaries) {
            part.is_body = true;
            part.body.push_str(line);
            part.body.push('\n');
        }
    }
    part.end(&mut text);
    Some(text)
}

const ENCODING: &str = "content-transfer-encoding";

/// Returns the value of the mail header `name` if the line is this header.
fn header<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (named, value) = line.split_once(':')?;
    named.eq_ignore_ascii_case(name).then(|| value.trim())
}

/// One part of a mail, or a whole mail that has no parts.
#[derive(Default)]
struct Part {
    is_body: bool,
    kind: String,
    encoding: String,
    body: String,
}

impl Part {
    /// Reads a line of a mail as a header, or as the empty line after the headers. Returns false if the line is
    /// neither.
    fn read_header_line(&mut self, line: &str, boundaries: &mut Vec<String>) -> bool {
        if let Some(kind) = header(line, "content-type") {
            self.kind = kind.to_ascii_lowercase();
        }
        if let Some(encoding) = header(line, ENCODING) {
            self.encoding = encoding.to_ascii_lowercase();
        }
        if let Some((at, key)) = line.to_ascii_lowercase().match_indices("boundary=").next() {
            let value = line.get(at + key.len()..).unwrap_or_default().trim();
            let boundary = match value.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next(),
                None => value.split([';', ' ']).next(),
            };
            boundaries.extend(boundary.filter(|boundary| !boundary.is_empty()).map(str::to_owned));
        }
        self.is_body = line.is_empty();
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        line.is_empty()
            || line.starts_with([' ', '\t'])
            || line.starts_with("From ")
            || line.split_once(':').is_some_and(|(name, _)| is_name(name))
    }

    /// Appends the decoded text of the mail part to `text`, and resets the part.
    fn end(&mut self, text: &mut String) {
        let Self { kind, encoding, body, .. } = std::mem::take(self);
        let is_text = kind.is_empty() || kind.starts_with("text/plain") || kind.starts_with("multipart/");
        if !is_text {
            return;
        }
        let decoded = match &*encoding {
            "quoted-printable" => quoted_printable::decode(&body, ParseMode::Robust).ok(),
            "base64" => BASE64_MIME_PERMISSIVE.decode(body.as_bytes()).ok(),
            _ => None,
        };
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        // Text that cannot be decoded is appended undecoded. The caller then finds no checkpoint in it and reports
        // that.
        text.push_str(&decoded.unwrap_or(body).replace("\r\n", "\n"));
        text.push('\n');
    }
}
