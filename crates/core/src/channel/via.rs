//! Types of channels. The set of types is fixed in the program. Each type has one table row, which states who reads the
//! channel and what its secrets are for.

/// Type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// Standard Webhooks, sent to any URL.
    Webhook,
    /// An incoming webhook of Slack, or the bot of a Slack app.
    Slack,
    /// A workflow in Microsoft Teams.
    Teams,
    /// A topic on an ntfy server.
    Ntfy,
    /// E-mail over SMTP.
    Email,
    /// A client that speaks the crew protocol (source document 003).
    Crew,
    /// Web Push to the browsers of each person.
    Push,
}

/// Properties that all channels of one type share.
#[derive(Clone, Copy, Debug)]
pub struct ViaRow {
    /// Name of the channel type in the channels file.
    pub name: &'static str,
    /// True if people read the channel. If false, a program reads the channel. A program gets every notice, in order.
    pub is_read_by_people: bool,
    pub secrets: Secrets,
    pub checkpoints: Checkpoints,
}

/// Use of the secrets that the channels file contains for a channel of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// The secrets of the channel sign its requests, and at least one secret is required. The configuration may also
    /// add HTTP headers.
    Sign,
    /// The URL of the channel is the secret, because anyone who knows the URL may post to it.
    Url,
    /// The secret of the channel is a token for publishing, which is needed only if the server requires one.
    Token,
    /// The channel type has its own settings for secrets. For example, an e-mail channel stores the password of the
    /// mail server.
    Own,
}

/// Recipients to which a channel of this type may send checkpoints of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoints {
    Any,
    /// Checkpoints are sent only to addresses that the configuration lists, so that the recipients can archive them.
    Addresses,
    Never,
}

const fn row(
    name: &'static str,
    is_read_by_people: bool,
    secrets: Secrets,
    checkpoints: Checkpoints,
) -> ViaRow {
    ViaRow { name, is_read_by_people, secrets, checkpoints }
}

impl Via {
    pub const ALL: [Self; 7] =
        [Self::Webhook, Self::Slack, Self::Teams, Self::Ntfy, Self::Email, Self::Crew, Self::Push];

    pub const fn row(self) -> ViaRow {
        use Checkpoints::{Addresses, Any, Never};
        use Secrets::{Own, Sign, Token, Url};
        match self {
            Self::Webhook => row("webhook", false, Sign, Any),
            Self::Slack => row("slack", true, Url, Never),
            Self::Teams => row("teams", true, Url, Never),
            Self::Ntfy => row("ntfy", true, Token, Never),
            Self::Email => row("email", true, Own, Addresses),
            Self::Crew => row("crew", false, Sign, Never),
            Self::Push => row("push", true, Own, Never),
        }
    }

    pub const fn as_str(self) -> &'static str {
        self.row().name
    }

    pub const fn is_read_by_people(self) -> bool {
        self.row().is_read_by_people
    }
}
