//! Additional headers of a webhook. The key `headers` contains values that are not secret. The key `header_files` names
//! files that contain secret values.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::channel::{Secrets, Source, Via, is_own_header};

use crate::bounds::{CHANNEL_HEADERS, LINE, NAME};
use crate::item::{Fields, Item};
use crate::problem::Problems;

const PLAIN: &str = "headers";
const FILES: &str = "header_files";
/// Words in the name of a webhook header that indicate a secret value. Such a header must be in `header_files`.
const SECRET: [&str; 13] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "jwt",
    "key",
    "password",
    "secret",
    "signature",
    "token",
];

pub(super) fn read(via: Via, fields: &Fields<'_>, problems: &mut Problems) -> BTreeMap<String, Source> {
    let found: Vec<_> = [PLAIN, FILES].iter().filter_map(|key| Some((*key, fields.find(key)?))).collect();
    let (mut headers, mut names) = (BTreeMap::new(), BTreeSet::new());
    for (key, item) in found {
        if via.row().secrets != Secrets::Sign {
            problems.at(
                item,
                format!(
                    "`{key}` is allowed only in a channel of the type `{}`: remove it",
                    Via::Webhook.as_str()
                ),
            );
            continue;
        }
        for (name, at, value) in item.entries(problems).unwrap_or_default() {
            if let Some(why) = refused(key, name) {
                problems.at(&at, why);
            }
            if !names.insert(name.to_ascii_lowercase()) {
                problems.at(&at, format!("the header `{name}` is listed twice: remove one of the two"));
            }
            if let Some(source) = source(key, &value, problems) {
                headers.insert(name.to_owned(), source);
            }
        }
        if names.len() > CHANNEL_HEADERS {
            problems.at(
                item,
                format!("the channel has {} headers; at most {CHANNEL_HEADERS} are allowed", names.len()),
            );
        }
    }
    headers
}

/// Returns the reason why a webhook header with this name is rejected. Returns `None` if the header is allowed.
fn refused(key: &str, name: &str) -> Option<String> {
    let is_token = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if name.is_empty() || !is_token || name.len() > NAME {
        Some(format!("`{name}` is not a valid header name"))
    } else if is_own_header(name) {
        Some(format!("Holdshort itself sets the header `{name}`: remove it here"))
    } else if key == PLAIN && is_secret(name) {
        Some(format!(
            "the header `{name}` contains a secret, and secrets must not be in this file: name a file with \
            the value in `{FILES}`"
        ))
    } else {
        None
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split(['-', '_']).any(|word| SECRET.contains(&word))
}

fn source(key: &str, value: &Item<'_>, problems: &mut Problems) -> Option<Source> {
    let text = value.text(LINE, problems)?;
    if key == FILES {
        return Some(Source::File(text));
    }
    if text.chars().any(|char| !(' '..='~').contains(&char)) {
        problems.at(value, "a header value may contain only printable ASCII");
    }
    Some(Source::Plain(text))
}
