//! The key of a channel that tells browsers: `contact`. Where each browser is, its person says over the API.

use holdshort_core::channel::Source;

use crate::bounds::LINE;
use crate::item::{Fields, Item};
use crate::problem::Problems;

pub(super) const KEYS: [&str; 1] = ["contact"];
/// Of others.
const NOT: [&str; 7] =
    ["url", "url_file", "url_env", "secret_file", "secret_files", "secret_env", "headers"];

/// Whom a push service may write to (RFC 8292, 2.1).
pub(super) fn read(item: &Item<'_>, fields: &Fields<'_>, problems: &mut Problems) -> Option<Source> {
    for found in NOT.iter().filter_map(|key| fields.find(key)) {
        problems.at(found, "is of no use here: each browser says where it is, and the server has a key of its own");
    }
    let Some(contact) = fields.find("contact") else {
        if !fields.was_meant("contact") {
            problems.at(item, "`contact` is missing: whom a push service may write to, `mailto:ops@example.org`");
        }
        return None;
    };
    let text = contact.text(LINE, problems)?;
    let is_address = text.strip_prefix("mailto:").is_some_and(|address| address.contains('@'));
    if !is_address && !text.starts_with("https://") {
        problems.at(contact, "is neither `mailto:ops@example.org` nor an `https:` URL");
        return None;
    }
    Some(Source::Plain(text))
}
