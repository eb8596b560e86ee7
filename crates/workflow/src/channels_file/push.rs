//! Reads the key `contact` of a channel that sends push messages to browsers. The file does not contain the push
//! address of a browser, because the browser registers it over the API.

use holdshort_core::channel::Source;

use crate::bounds::LINE;
use crate::item::Fields;
use crate::problem::Problems;

pub(super) const KEYS: [&str; 1] = ["contact"];
/// Keys in the channels file that only other types of channels may have. A push channel with one of them is rejected.
const NOT: [&str; 7] = ["url", "url_file", "url_env", "secret_file", "secret_files", "secret_env", "headers"];

/// Reads the key `contact` of a push channel, an address of the operator for push services (RFC 8292, 2.1).
pub(super) fn read(fields: &Fields<'_>, problems: &mut Problems) -> Option<Source> {
    for (key, found) in NOT.iter().filter_map(|key| Some((key, fields.find(key)?))) {
        problems.at(found, format!("`{key}` is not allowed in a channel of the type `push`: remove it"));
    }
    let contact = fields.need("contact", problems)?;
    let text = contact.text(LINE, problems)?;
    let is_address = text.strip_prefix("mailto:").is_some_and(|address| address.contains('@'));
    if !is_address && !text.starts_with("https://") {
        problems.at(
            contact,
            "the contact must be an address such as `mailto:ops@example.org`, or an `https:` URL",
        );
        return None;
    }
    Some(Source::Plain(text))
}
