//! Types of channels: a closed set. One row for each type states its readers and its secrets.

/// Type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// Standard Webhooks, to any URL.
    Webhook,
    /// An incoming webhook of Slack, or the bot of an app.
    Slack,
    /// A workflow of Microsoft Teams.
    Teams,
    /// A topic of an ntfy server.
    Ntfy,
    /// Mails, over SMTP.
    Email,
    /// A client of the crew edge (source document 003).
    Crew,
    /// Web Push, to the browsers of each person.
    Push,
}

/// Properties of a type of channel.
#[derive(Clone, Copy, Debug)]
pub struct ViaRow {
    /// Name in the channels file.
    pub name: &'static str,
    /// True if people read the channel. A channel for a program receives every notice, in order.
    pub is_read_by_people: bool,
    pub secrets: Secrets,
    pub checkpoints: Checkpoints,
}

/// Purpose of the secrets in a channels file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// Sign the requests; at least one is required. The channel may also add headers.
    Sign,
    /// The URL is the secret: any holder may post to it.
    Url,
    /// A token that permits publishing, if the server requires one.
    Token,
    /// Settings of the type itself name the secrets.
    Own,
}

/// Recipients of the journal's checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoints {
    Any,
    /// Fixed addresses, which archive them.
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
