//! Arguments of the verbs about people, groups, keys and assignment.

use clap::Subcommand;
use holdshort_protocol::PersonRole;

use super::duration;

#[derive(Debug, Subcommand)]
pub(crate) enum People {
    /// List everyone who may sign in
    List,
    /// Create or replace a person: omitted options are cleared
    Set {
        /// The name that they sign in as.
        person: String,
        /// Role of the person; may be repeated.
        #[arg(long, value_name = "ROLE", required = true,
              value_parser = PersonRole::ALL.map(PersonRole::as_str))]
        role: Vec<String>,
        /// Group of the person; may be repeated.
        #[arg(long, value_name = "NAME")]
        group: Vec<String>,
        /// Display name.
        #[arg(long)]
        name: Option<String>,
        /// Address for notifications, such as `email=anna@example.org`; may be repeated.
        #[arg(long, value_name = "CHANNEL=ADDRESS")]
        address: Vec<String>,
        /// Such as `Europe/Berlin`.
        #[arg(long, value_name = "ZONE")]
        time_zone: Option<String>,
        /// Such as `de`.
        #[arg(long, value_name = "TAG")]
        language: Option<String>,
    },
    /// Remove a person, who can then no longer decide
    Remove {
        /// Their id.
        person: String,
    },
    /// Mark a person as out of office
    Away {
        /// Their id.
        person: String,
        /// End of the absence: `2026-02-07T00:00:00Z`, or `2026-02-07` for the start of that day in their time zone, or in
        /// UTC if they have none [default: until `back`].
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Delegate who decides for them during the absence.
        #[arg(long, value_name = "PERSON")]
        delegate: Option<String>,
    },
    /// Mark a person as back
    Back {
        /// Their id.
        person: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Reassign {
    /// `int_…`
    pub interrupt: String,
    /// New approver; may be repeated.
    #[arg(long, value_name = "PERSON")]
    pub to: Vec<String>,
    /// Group whose members become approvers; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub group: Vec<String>,
    /// How many of them have to agree [default: as many as before].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub required: Option<u32>,
    /// Each named person, and one member of each group, has to agree.
    #[arg(long)]
    pub all: bool,
    /// The reason.
    #[arg(long)]
    pub text: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("when").required(true)))]
pub(crate) struct Snooze {
    /// `int_…`
    pub interrupt: String,
    /// Duration of the snooze, such as `2h`.
    #[arg(long = "for", value_name = "TIME", value_parser = duration, group = "when")]
    pub lasts: Option<u64>,
    /// End of the snooze, such as `2026-02-07T09:00:00Z`.
    #[arg(long, value_name = "TIME", group = "when")]
    pub until: Option<String>,
    /// End the snooze now.
    #[arg(long, group = "when")]
    pub off: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Groups {
    /// List all groups, with the number of people and the working hours of each
    List,
    /// Set the working hours of a group: all other times are free
    Hours {
        /// Its name.
        group: String,
        /// Such as `Europe/Berlin`.
        #[arg(long, value_name = "ZONE")]
        time_zone: String,
        /// Such as `mon-fri=09:00-17:00`; may be repeated.
        #[arg(long, value_name = "DAYS=FROM-TO", required = true)]
        at: Vec<String>,
        /// A free day, such as `2026-12-25`; may be repeated.
        #[arg(long, value_name = "DATE")]
        holiday: Vec<String>,
    },
    /// Remove the working hours of a group
    Unset {
        /// Its name.
        group: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Create a key; its secret is printed on standard output, only this once
    Create {
        /// Name of its holder in events, on cards and in lists, such as `build-bot`.
        name: String,
        /// Role of the key. Agents ask and read their own requests, and never decide.
        #[arg(long, value_name = "ROLE", default_value = "agent",
              value_parser = ["agent", "operator", "reviewer", "auditor"])]
        role: String,
        /// How long it is valid, such as `12h` or `90d` [default: until it is revoked].
        #[arg(long, value_name = "TIME", value_parser = duration)]
        expires_in: Option<u64>,
    },
    /// List the keys, oldest first, without their secrets
    List,
    /// Replace the secret of a key; the new one is printed on standard output, only this once
    Rotate {
        /// `key_…`
        key: String,
        /// How long the current secret stays valid, such as `1h` [default: not at all].
        #[arg(long, value_name = "TIME", value_parser = duration)]
        overlap: Option<u64>,
    },
    /// Revoke a key, and close its open connections
    Revoke {
        /// `key_…`
        key: String,
    },
}
