//! Reads the keys of a `slack` channel whose messages have buttons. Such a channel uses a Slack app instead of a
//! webhook URL.

use holdshort_core::channel::{SlackApp, Source, To};

use super::join_keys;
use crate::bounds::{LINE, NAME};
use crate::item::{Fields, Item};
use crate::problem::Problems;

/// Keys in the channels file of a channel that uses a Slack app instead of a webhook URL. Any of these keys makes the
/// channel such a channel.
pub(super) const KEYS: [&str; 5] =
    ["channel", "token_file", "token_env", "signing_secret_file", "signing_secret_env"];
const PEOPLE: &str = "people";
/// Base URL of the Slack Web API.
const API: &str = "https://slack.com/api/";

pub(super) struct Read {
    pub(super) url: Source,
    pub(super) app: SlackApp,
    pub(super) to: To,
}

pub(super) fn is_app(fields: &Fields<'_>) -> bool {
    KEYS.iter().any(|key| fields.find(key).is_some())
}

pub(super) fn read(item: &Item<'_>, fields: &Fields<'_>, problems: &mut Problems) -> Option<Read> {
    for key in ["url_file", "url_env", "secret_file", "secret_files", "secret_env"] {
        if let Some(found) = fields.find(key) {
            problems.at(found, format!("`{key}` is not allowed in a Slack channel with buttons: remove it"));
        }
    }
    let token = source(
        item,
        fields,
        ["token_file", "token_env"],
        "the bot token, with which Holdshort opens the form for a person's reason",
        problems,
    );
    let signing_secret = source(
        item,
        fields,
        ["signing_secret_file", "signing_secret_env"],
        "the signing secret, which verifies that a button was pressed in Slack",
        problems,
    );
    let at = fields.need("channel", problems)?;
    let conversation = at.text(NAME, problems)?;
    let to = if conversation == PEOPLE { To::People } else { To::Channel };
    let is_id = conversation.starts_with(['C', 'G', 'D'])
        && conversation.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    if to == To::Channel && !is_id {
        problems.at(at, format!("expected the id of a channel such as `C0123456789`, or `{PEOPLE}`"));
    }
    let url = match fields.find("url") {
        Some(item) => item.text(LINE, problems)?,
        None => API.to_owned(),
    };
    let conversation = if to == To::People { String::new() } else { conversation };
    let app = SlackApp { conversation, token: token?, signing_secret: signing_secret? };
    Some(Read { url: Source::Plain(url), app, to })
}

fn source(
    item: &Item<'_>,
    fields: &Fields<'_>,
    keys: [&str; 2],
    what: &str,
    problems: &mut Problems,
) -> Option<Source> {
    let found: Vec<_> = keys.iter().filter_map(|key| Some((*key, fields.find(key)?))).collect();
    match found[..] {
        [(key, item)] => {
            let text = item.text(LINE, problems)?;
            Some(if key.ends_with("_env") { Source::Env(text) } else { Source::File(text) })
        }
        [] => {
            problems
                .at(item, format!("a slack channel with buttons needs {what}: one of {}", join_keys(&keys)));
            None
        }
        [_, (_, second), ..] => {
            problems.at(second, format!("only one of {} is allowed: remove the others", join_keys(&keys)));
            None
        }
    }
}
