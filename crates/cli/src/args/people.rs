//! Arguments of the verbs about people, groups, keys and assignment.

use clap::Subcommand;
use holdshort_protocol::PersonRole;

use super::duration;

#[derive(Debug, Subcommand)]
pub(crate) enum People {
    /// Everybody who may sign in
    List,
    /// Make a person, or change them: what is not said is nothing
    Set {
        /// The name that they sign in as.
        person: String,
        /// What they may do; may be said several times.
        #[arg(long, value_name = "ROLE", required = true,
              value_parser = PersonRole::ALL.map(PersonRole::word))]
        role: Vec<String>,
        /// A group that they are in; may be said several times.
        #[arg(long, value_name = "NAME")]
        group: Vec<String>,
        /// As people read it.
        #[arg(long)]
        name: Option<String>,
        /// Where they are reached: `email=anna@example.org`; may be said several times.
        #[arg(long, value_name = "CHANNEL=ADDRESS")]
        address: Vec<String>,
        /// Such as `Europe/Berlin`.
        #[arg(long, value_name = "ZONE")]
        time_zone: Option<String>,
        /// Such as `de`.
        #[arg(long, value_name = "TAG")]
        language: Option<String>,
    },
    /// Remove a person: they decide nothing any more
    Remove {
        /// Their id.
        person: String,
    },
    /// Say that a person is out of the office
    Away {
        /// Their id.
        person: String,
        /// Until then: `2026-02-07T00:00:00Z`, or `2026-02-07`, which is the beginning of that day in their time zone, or of
        /// UTC where they have none [default: until `back`].
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Who decides in their place meanwhile.
        #[arg(long, value_name = "PERSON")]
        delegate: Option<String>,
    },
    /// Say that a person is back
    Back {
        /// Their id.
        person: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Reassign {
    /// `int_…`
    pub interrupt: String,
    /// A person who is to decide; may be said several times.
    #[arg(long, value_name = "PERSON")]
    pub to: Vec<String>,
    /// A group whose people are to decide; may be said several times.
    #[arg(long, value_name = "NAME")]
    pub group: Vec<String>,
    /// How many of them have to agree [default: as many as before].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub required: Option<u32>,
    /// Each person that is named, and somebody of each group, has to agree.
    #[arg(long)]
    pub all: bool,
    /// Why.
    #[arg(long)]
    pub text: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("when").required(true)))]
pub(crate) struct Snooze {
    /// `int_…`
    pub interrupt: String,
    /// For so long, such as `2h`.
    #[arg(long = "for", value_name = "TIME", value_parser = duration, group = "when")]
    pub lasts: Option<u64>,
    /// Until then, such as `2026-02-07T09:00:00Z`.
    #[arg(long, value_name = "TIME", group = "when")]
    pub until: Option<String>,
    /// No more.
    #[arg(long, group = "when")]
    pub off: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Groups {
    /// All groups, how many may decide in each, and their hours
    List,
    /// Say when somebody of a group is at work: what is not said is free
    Hours {
        /// Its name.
        group: String,
        /// Such as `Europe/Berlin`.
        #[arg(long, value_name = "ZONE")]
        time_zone: String,
        /// Such as `mon-fri=09:00-17:00`; may be said several times.
        #[arg(long, value_name = "DAYS=FROM-TO", required = true)]
        at: Vec<String>,
        /// A free day, such as `2026-12-25`; may be said several times.
        #[arg(long, value_name = "DATE")]
        holiday: Vec<String>,
    },
    /// Forget the hours of a group
    Unset {
        /// Its name.
        group: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Make a key; its secret is printed on standard output, this once
    Create {
        /// What its holder is called in events, on cards and in lists, such as `build-bot`.
        name: String,
        /// What it may do. Agents ask and read their own, and never decide.
        #[arg(long, value_name = "ROLE", default_value = "agent",
              value_parser = ["agent", "operator", "reviewer", "auditor"])]
        role: String,
        /// How long it counts, such as `12h` or `90d` [default: until it is revoked].
        #[arg(long, value_name = "TIME", value_parser = duration)]
        expires_in: Option<u64>,
    },
    /// The keys, the oldest first; secrets are nowhere to be read
    List,
    /// Replace the secret of a key; the new one is printed on standard output, this once
    Rotate {
        /// `key_…`
        key: String,
        /// How long the secret of now goes on counting, such as `1h` [default: not at all].
        #[arg(long, value_name = "TIME", value_parser = duration)]
        overlap: Option<u64>,
    },
    /// End a key, and whatever is open with it
    Revoke {
        /// `key_…`
        key: String,
    },
}
