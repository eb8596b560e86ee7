//! Keys of an `email` channel: the server, the sender and the recipients.

use holdshort_core::channel::{Mail, Security, Source, To};

use super::join_keys;
use crate::bounds::{CHANNEL_ADDRESSES, LINE};
use crate::item::{Fields, Item};
use crate::problem::Problems;
use crate::yaml::Value;

/// Keys in the channels file that only an e-mail channel may have.
pub(super) const KEYS: [&str; 7] =
    ["server", "security", "from", "user", "password_file", "password_env", "to"];
/// Keys in the channels file that only other types of channels may have. An e-mail channel with one of them is
/// rejected.
const OF_OTHERS: [&str; 6] = ["url", "url_file", "url_env", "secret_file", "secret_files", "secret_env"];
const SECURITIES: [(&str, Security); 3] =
    [("starttls", Security::Starttls), ("tls", Security::Tls), ("none", Security::None)];
const PEOPLE: &str = "people";

pub(super) struct Read {
    pub(super) url: Source,
    pub(super) mail: Mail,
    pub(super) password: Option<Source>,
    pub(super) to: To,
}

pub(super) fn read(item: &Item<'_>, fields: &Fields<'_>, problems: &mut Problems) -> Option<Read> {
    for key in OF_OTHERS {
        if let Some(found) = fields.find(key) {
            problems.at(found, format!("`{key}` is not allowed in a channel of the type `email`: remove it"));
        }
    }
    let security = fields.find("security").map(|item| (item, item.one_of(&SECURITIES, problems)));
    let server = fields.need("server", problems);
    let server = server.and_then(|item| Some((item, item.text(LINE, problems)?)));
    let from = fields.need("from", problems).and_then(|item| {
        let from = item.text(LINE, problems)?;
        if !from.contains('@') {
            problems.at(item, "this is not a mail address such as `Holdshort <holdshort@example.org>`");
        }
        Some(from)
    });
    let user = fields.find("user").map(|item| (item, item.text(LINE, problems)));
    let password = password(item, fields, user.is_some(), problems);
    let to = to(fields, problems);
    let (at, server) = server?;
    let (host, port) = split(&server).or_else(|| {
        problems.at(at, "this is not a mail server such as `smtp.example.org:587`");
        None
    })?;
    let said = security.and_then(|(item, security)| Some((item, security?)));
    let security =
        said.map_or(if port == Some(465) { Security::Tls } else { Security::Starttls }, |(_, it)| it);
    if let Some((item, Security::None)) = said
        && fields.find("allow").is_none()
    {
        let why = "`security: none` is allowed only for a mail server in a network that `allow` lists: add \
            the network, or use TLS";
        problems.at(item, why);
    }
    let port = port.unwrap_or(match security {
        Security::Starttls => 587,
        Security::Tls => 465,
        Security::None => 25,
    });
    Some(Read {
        url: Source::Plain(format!("smtp://{host}:{port}")),
        mail: Mail { from: from?, security, user: user.and_then(|(_, user)| user) },
        password,
        to: to?,
    })
}

/// Splits the text of a mail server into host and port. An IPv6 address must be in brackets.
fn split(server: &str) -> Option<(&str, Option<u16>)> {
    let is_host = |host: &str| {
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let shows = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        match inner {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.bytes().all(shows),
        }
    };
    match server.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
        Some((host, port)) if is_host(host) => {
            Some((host, Some(port.parse().ok().filter(|port| *port > 0)?)))
        }
        Some(_) => None,
        None => is_host(server).then_some((server, None)),
    }
}

fn password(item: &Item<'_>, fields: &Fields<'_>, has_user: bool, problems: &mut Problems) -> Option<Source> {
    const KEYS: [&str; 2] = ["password_file", "password_env"];
    let found: Vec<_> = KEYS.iter().filter_map(|key| Some((*key, fields.find(key)?))).collect();
    let [(key, value)] = found[..] else {
        match found.first() {
            Some((_, value)) => {
                problems.at(value, format!("only one of {} is allowed: remove the others", join_keys(&KEYS)));
            }
            None if has_user => {
                problems.at(
                    item,
                    format!("`user` is set without a password: also set one of {}", join_keys(&KEYS)),
                );
            }
            None => {}
        }
        return None;
    };
    if !has_user {
        problems.at(value, "`user` is missing: name the mail account to which this password belongs");
    }
    let text = value.text(LINE, problems)?;
    Some(if key == "password_env" { Source::Env(text) } else { Source::File(text) })
}

/// Reads the key `to` of an e-mail channel: the word `people`, or a list of mail addresses.
fn to(fields: &Fields<'_>, problems: &mut Problems) -> Option<To> {
    let Some(item) = fields.find("to") else { return Some(To::People) };
    match &item.node.value {
        Value::List(_) => {
            let addresses = item.texts(CHANNEL_ADDRESSES, LINE, problems)?;
            if addresses.is_empty() {
                problems.at(item, "the list is empty: name at least one mail address");
            }
            for (address, item) in &addresses {
                let is_one = address.bytes().filter(|byte| *byte == b'@').count() == 1;
                if !is_one || address.chars().any(|char| char.is_whitespace() || char.is_control()) {
                    problems
                        .at(item, format!("`{address}` is not a mail address such as `legal@example.org`"));
                }
            }
            Some(To::Addresses(addresses.into_iter().map(|(address, _)| address).collect()))
        }
        Value::Text(text) if text == PEOPLE => Some(To::People),
        Value::Text(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
            problems.at(item, format!("expected `{PEOPLE}` or a list of addresses, found {}", item.found()));
            None
        }
    }
}
