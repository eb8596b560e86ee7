//! The configured channels for notifications, with their secrets. Error messages never contain a secret.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdshort_core::channel::{self, Security, Source, Via};
use holdshort_http::guard::{self, Guard};
use holdshort_http::secret_file;
use lettre::message::Mailbox;
use reqwest::Url;

use crate::limits::SECRET_FILE_BYTES;
use crate::sign::{Secret, SecretError};
use crate::slack::Bot;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("channel `{channel}`: {} {source}", path.display())]
    File { channel: String, path: PathBuf, source: secret_file::Error },
    #[error("channel `{channel}`: the environment variable {name} is missing or empty")]
    NoVariable { channel: String, name: String },
    #[error("channel `{channel}`: secret {number} {source}")]
    Secret { channel: String, number: usize, source: SecretError },
    #[error("channel `{channel}`: the header `{name}` contains characters other than printable ASCII")]
    Header { channel: String, name: String },
    #[error("channel `{channel}`: the URL {why}")]
    Url { channel: String, why: &'static str },
    #[error(
        "channel `{channel}`: `from` is not an address such as `Holdshort <holdshort@example.org>`: {why}"
    )]
    From { channel: String, why: String },
    #[error("channel `{channel}`: `{address}` is not a mail address: {why}")]
    To { channel: String, address: String, why: String },
    #[error("channel `{channel}`: {source}")]
    Guard { channel: String, source: guard::Error },
    #[error(
        "channel `{channel}` sends its mails through a channel of the type `email`, but no such channel is \
        configured: add one to the channels file"
    )]
    NoServer { channel: String },
}

/// A channel for notifications that is configured in a file or was registered over the API, with its secrets.
pub struct Channel {
    pub(crate) definition: channel::Channel,
    pub(crate) url: Url,
    pub(crate) secrets: Vec<Secret>,
    pub(crate) token: Option<String>,
    pub(crate) smtp: Option<Arc<Smtp>>,
    /// Mail address to which the channel sends, if it was registered over the API. The journal does not contain this
    /// address.
    pub(crate) mailbox: Option<String>,
    pub(crate) slack: Option<Bot>,
    pub(crate) guard: Guard,
    /// Additional HTTP headers from the definition or the registration of the channel. Their values may be secret.
    pub(crate) headers: BTreeMap<String, String>,
    /// Encoding of the signature header in requests to clients of the crew edge (`format/crew.rs`).
    pub(crate) encoding: Encoding,
}

/// Encoding of the signature of a webhook's request body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    #[default]
    Hex,
    Base64,
}

/// Secrets of a webhook that was registered over the API and is not in the channels file.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    pub url: String,
    pub secret: Option<String>,
    pub headers: BTreeMap<String, String>,
}

pub(crate) struct Smtp {
    /// Host name of the channel's mail server, for which the server's certificate must be valid.
    pub(crate) host: String,
    pub(crate) security: Security,
    /// User name and password with which the channel signs in at the mail server.
    pub(crate) credentials: Option<(String, String)>,
    pub(crate) from: Mailbox,
}

/// Omits the URL of the channel, because the URL may be a secret.
impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channel").field("name", &self.definition.name).finish_non_exhaustive()
    }
}

/// All channels for notifications by name.
#[derive(Clone, Debug, Default)]
pub struct Channels(BTreeMap<String, Arc<Channel>>);

impl Channels {
    /// Creates the channels of the definitions, and reads their secrets. Paths of secret files are relative to the
    /// directory `folder`. `variable` returns the value of an environment variable.
    pub fn open(
        definitions: Vec<channel::Channel>,
        folder: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        let open = |definition: channel::Channel| {
            Ok((definition.name.clone(), Arc::new(Channel::open(definition, folder, variable)?)))
        };
        definitions.into_iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the first of the channels, by name, that sends mails.
    pub fn of_mails(&self) -> Option<&Channel> {
        self.all().find(|channel| channel.smtp.is_some())
    }

    pub fn get(&self, name: &str) -> Option<&Channel> {
        self.0.get(name).map(|channel| &**channel)
    }

    pub fn all(&self) -> impl Iterator<Item = &Channel> {
        self.0.values().map(|channel| &**channel)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns these channels together with the channels in `more`.
    #[must_use]
    pub fn with_channels(&self, more: Vec<Channel>) -> Self {
        let mut all = self.0.clone();
        all.extend(more.into_iter().map(|channel| (channel.definition.name.clone(), Arc::new(channel))));
        Self(all)
    }

    pub fn definitions(&self) -> Vec<channel::Channel> {
        self.0.values().map(|channel| channel.definition.clone()).collect()
    }
}

impl Channel {
    fn open(
        definition: channel::Channel,
        folder: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        let channel = definition.name.clone();
        let read = |source: &Source| read_source(&channel, source, folder, variable);
        let url = url(&definition, &read(&definition.url)?)
            .map_err(|why| Error::Url { channel: channel.clone(), why })?;
        let texts = definition.secrets.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let (mut secrets, mut token, mut smtp) = (Vec::new(), None, None);
        match definition.via.row().secrets {
            channel::Secrets::Sign => {
                for (number, text) in (1..).zip(&texts) {
                    let secret = Secret::parse(text);
                    secrets.push(secret.map_err(|source| Error::Secret {
                        channel: channel.clone(),
                        number,
                        source,
                    })?);
                }
            }
            channel::Secrets::Token => token = texts.into_iter().next(),
            channel::Secrets::Own if definition.via == Via::Email => {
                smtp = Some(Arc::new(open_smtp(&definition, &url, texts)?));
            }
            channel::Secrets::Own | channel::Secrets::Url => {}
        }
        let slack = match &definition.slack {
            None => None,
            Some(app) => {
                Some(Bot::new(app.conversation.clone(), read(&app.token)?, &read(&app.signing_secret)?))
            }
        };
        let guard = Guard::new(&definition.allow)
            .map_err(|source| Error::Guard { channel: channel.clone(), source })?;
        let mut headers = BTreeMap::new();
        for (name, source) in &definition.headers {
            let value = read(source)?;
            if value.chars().any(|char| !(' '..='~').contains(&char)) {
                return Err(Error::Header { channel, name: name.clone() });
            }
            headers.insert(name.clone(), value);
        }
        let (mailbox, encoding) = (None, Encoding::default());
        Ok(Self { definition, url, secrets, token, smtp, mailbox, slack, guard, headers, encoding })
    }

    /// Creates a channel that was registered over the API. Any text is accepted as its secret. If the URL is a mail
    /// address, mails are sent through the mail server of the configured channel `mails`.
    pub fn registered(
        definition: channel::Channel,
        secrets: Secrets,
        encoding: Encoding,
        mails: Option<&Self>,
    ) -> Result<Self, Error> {
        if definition.via == Via::Email {
            return Self::to_address(definition, &secrets.url, mails);
        }
        let channel = definition.name.clone();
        let url =
            url(&definition, &secrets.url).map_err(|why| Error::Url { channel: channel.clone(), why })?;
        let guard = Guard::new(&definition.allow)
            .map_err(|source| Error::Guard { channel: channel.clone(), source })?;
        let secret = |text: String| Secret::parse(&text).unwrap_or_else(|_| Secret::plain(&text));
        let keys = secrets.secret.map(secret).into_iter().collect();
        let headers = secrets.headers;
        Ok(Self {
            definition,
            url,
            secrets: keys,
            token: None,
            smtp: None,
            mailbox: None,
            slack: None,
            guard,
            headers,
            encoding,
        })
    }

    /// Creates a channel for mails to `url`, which is `mailto:ADDRESS` or only the address. The mails are sent through
    /// the mail server of the channel `mails`.
    fn to_address(definition: channel::Channel, url: &str, mails: Option<&Self>) -> Result<Self, Error> {
        let channel = definition.name.clone();
        let Some(mails) = mails else { return Err(Error::NoServer { channel }) };
        let address: Result<lettre::Address, _> = url.strip_prefix("mailto:").unwrap_or(url).parse();
        let why = "is not an address such as `mailto:anna@example.org`";
        let address = address.map_err(|_| Error::Url { channel, why })?;
        Ok(Self {
            definition,
            url: mails.url.clone(),
            secrets: Vec::new(),
            token: None,
            smtp: mails.smtp.clone(),
            mailbox: Some(address.to_string()),
            slack: None,
            guard: mails.guard.clone(),
            headers: BTreeMap::new(),
            encoding: Encoding::default(),
        })
    }

    /// Returns the channel with a stricter address check: it may connect only to the address ranges in its definition.
    #[must_use]
    pub fn closed(self) -> Self {
        Self { guard: self.guard.closed(), ..self }
    }

    /// Returns an error if the host of the channel's URL is a forbidden IP address. A host name is looked up and
    /// checked when a message is sent.
    pub fn check_address(&self) -> Result<(), Error> {
        // The mail server comes from the channels file, so it needs no check.
        if self.mailbox.is_some() {
            return Ok(());
        }
        let checked = self.guard.check_literal(&self.url);
        let checked = checked.and_then(|()| self.guard.check_in_clear(&self.url, guard::literal(&self.url)));
        checked.map_err(|source| Error::Guard { channel: self.definition.name.clone(), source })
    }

    /// Replaces the host of the channel's URL and all IP addresses in a text, for readers who may not learn the
    /// addresses.
    pub fn without_host(&self, text: &str) -> String {
        let host = self.url.host_str().unwrap_or_default();
        if host.chars().all(is_of_address) {
            // IP addresses are removed first, because the host may be one or a part of one.
            let text = without_addresses(text);
            return if host.is_empty() { text } else { text.replace(host, "its host") };
        }
        without_addresses(&text.replace(host, "its host"))
    }

    /// Returns the mail address to which a channel sends that was registered over the API. Notices do not contain this
    /// address.
    pub fn mailbox(&self) -> Option<&str> {
        self.mailbox.as_deref()
    }

    /// Returns the host and port of the channel's URL. The rest of the URL may be secret.
    pub fn host_and_port(&self) -> String {
        let port = self.url.port_or_known_default().unwrap_or_default();
        format!("{}:{port}", self.url.host_str().unwrap_or_default())
    }

    pub fn definition(&self) -> &channel::Channel {
        &self.definition
    }
}

fn is_of_address(char: char) -> bool {
    char.is_ascii_hexdigit() || matches!(char, '.' | ':')
}

/// Replaces each word of a text that looks like an IP address, with or without a port. Doubtful words are replaced too.
fn without_addresses(text: &str) -> String {
    let (mut said, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(is_of_address) {
        let (before, found) = rest.split_at(start);
        let end = found.find(|char: char| !is_of_address(char)).unwrap_or(found.len());
        let (found, after) = found.split_at(end);
        // Punctuation at the end of the word belongs to the sentence, so it is removed.
        let word = found.trim_end_matches('.');
        let word = if word.ends_with("::") { word } else { word.trim_end_matches(':') };
        let (word, end) = found.split_at(word.len());
        let is_address = word.matches('.').count() >= 3 || word.matches(':').count() >= 2;
        said.extend([before, if is_address { "its address" } else { word }, end]);
        rest = after;
    }
    said + rest
}

fn open_smtp(definition: &channel::Channel, url: &Url, texts: Vec<String>) -> Result<Smtp, Error> {
    let wrong = |why: String| Error::From { channel: definition.name.clone(), why };
    let mail = definition.mail.as_ref().ok_or_else(|| wrong("it is missing".to_owned()))?;
    if let channel::To::Addresses(addresses) = &definition.to {
        for address in addresses {
            let parsed: Result<lettre::Address, _> = address.parse();
            parsed.map_err(|why| Error::To {
                channel: definition.name.clone(),
                address: address.clone(),
                why: why.to_string(),
            })?;
        }
    }
    let from: Mailbox = mail.from.parse().map_err(|why| wrong(format!("{why}")))?;
    let credentials = mail.user.clone().zip(texts.into_iter().next());
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    Ok(Smtp { host, security: mail.security, credentials, from })
}

/// Reads a secret or a URL of a channel. The definition contains the text itself, or the name of an environment
/// variable or file that contains it.
fn read_source(
    channel: &str,
    source: &Source,
    folder: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Error> {
    let channel = channel.to_owned();
    match source {
        Source::Plain(text) => Ok(text.clone()),
        Source::Env(name) => {
            let text = variable(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
            text.ok_or_else(|| Error::NoVariable { channel, name: name.clone() })
        }
        Source::File(path) => {
            let path = folder.join(path);
            secret_file::read_text(&path, SECRET_FILE_BYTES).map_err(|source| Error::File {
                channel,
                path,
                source,
            })
        }
    }
}

/// Parses the URL of a channel. The error never contains the URL, because the URL may be a secret.
fn url(definition: &channel::Channel, text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).map_err(|_| "is not a URL such as `https://example.org/hook`")?;
    match url.scheme() {
        "smtp" if definition.via == Via::Email => {}
        // The URL of a push channel may be a contact address for push services. No message is sent to it.
        "mailto" if definition.via == Via::Push && url.path().contains('@') => return Ok(url),
        "https" => {}
        // Unencrypted requests are allowed only to the networks in `allow`. The address is checked when a message is
        // sent.
        "http" if !definition.allow.is_empty() => {}
        "http" => {
            return Err(
                "begins with `http:`, which is only allowed in networks that `allow` names; use `https:`",
            );
        }
        _ => return Err("is neither `https:` nor `http:`"),
    }
    if !url.has_host() {
        return Err("names no host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("contains a user name or password: use a header or a signing secret instead");
    }
    if definition.slack.is_some() && !url.path().ends_with('/') {
        return Err("does not end with `/`; write it like `https://slack.com/api/`");
    }
    if definition.via == Via::Ntfy && url.path().trim_matches('/').is_empty() {
        return Err("names no topic: `https://ntfy.sh/TOPIC`");
    }
    Ok(url)
}
