//! Types of channels: a closed set, in which each row tells who reads a channel and which secrets it has.

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

/// Properties of a type of channels.
#[derive(Clone, Copy, Debug)]
pub struct ViaRow {
    /// Name in the channels file.
    pub name: &'static str,
    /// True if people read it. A program that reads a channel is told everything, in order.
    pub is_read_by_people: bool,
    pub secrets: Secrets,
    pub checkpoints: Checkpoints,
}

/// Use of the secrets that a channels file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// They sign what is sent; one of them at least. The channel sends headers of its own, too.
    Sign,
    /// The URL is the secret: anybody who has it may post there.
    Url,
    /// A token that lets the channel publish, if it needs one.
    Token,
    /// Keys of the type itself name them.
    Own,
}

/// Receivers of checkpoints of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoints {
    Any,
    /// Fixed addresses, which keep them.
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
