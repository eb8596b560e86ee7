//! Arguments of the verbs about people, groups, keys and assignment.

use std::path::PathBuf;

use clap::Subcommand;
use holdshort_protocol::PersonRole;

use super::duration;

#[derive(Debug, Subcommand)]
pub(crate) enum People {
    /// List everyone who may sign in
    List,
    /// Create or replace a person: omitted options are cleared
    Set {
        /// Id of the person: the name with which the person signs in.
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
        /// Time zone, such as `Europe/Berlin`.
        #[arg(long, value_name = "ZONE")]
        time_zone: Option<String>,
        /// Language, such as `de`.
        #[arg(long, value_name = "TAG")]
        language: Option<String>,
    },
    /// Remove a person, who can then no longer decide
    Remove {
        /// Id of the person.
        person: String,
    },
    /// Mark a person as out of office
    Away {
        /// Id of the person.
        person: String,
        /// End of the absence: `2026-02-07T00:00:00Z`, or `2026-02-07` for the start of that day in the person's time
        /// zone, or in UTC if the person has no time zone [default: until `back`].
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Id of the delegate who decides for the person during the absence.
        #[arg(long, value_name = "PERSON")]
        delegate: Option<String>,
    },
    /// Mark a person as back
    Back {
        /// Id of the person.
        person: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Reassign {
    /// Id of the interrupt: `int_…`.
    pub interrupt: String,
    /// New approver; may be repeated.
    #[arg(long, value_name = "PERSON")]
    pub to: Vec<String>,
    /// Group whose members become approvers; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub group: Vec<String>,
    /// Number of approvers that have to agree [default: as before].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub required: Option<u32>,
    /// Require the agreement of each named person, and of one member of each group.
    #[arg(long)]
    pub all: bool,
    /// Reason for the change.
    #[arg(long)]
    pub text: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("when").required(true)))]
pub(crate) struct Snooze {
    /// Id of the interrupt: `int_…`.
    pub interrupt: String,
    /// Duration of the snooze, such as `2h`.
    #[arg(long = "for", value_name = "TIME", value_parser = duration, group = "when")]
    pub lasts: Option<u64>,
    /// End of the snooze as a timestamp, such as `2026-02-07T09:00:00Z`.
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
    /// Set the working hours of a group; all other times are non-working time
    Hours {
        /// Name of the group.
        group: String,
        /// Time zone, such as `Europe/Berlin`.
        #[arg(long, value_name = "ZONE")]
        time_zone: String,
        /// Working hours, such as `mon-fri=09:00-17:00`; may be repeated.
        #[arg(long, value_name = "DAYS=FROM-TO", required = true)]
        at: Vec<String>,
        /// A non-working day, such as `2026-12-25`; may be repeated.
        #[arg(long, value_name = "DATE")]
        holiday: Vec<String>,
    },
    /// Remove the working hours of a group
    Unset {
        /// Name of the group.
        group: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Create a key; its secret is printed on standard output, only this once
    Create {
        /// Name of the key in events, on cards and in lists, such as `build-bot`.
        name: String,
        /// Role of the key. A key with the role `agent` can send requests and read its own requests, but never decide.
        #[arg(long, value_name = "ROLE", default_value = "agent",
              value_parser = ["agent", "operator", "reviewer", "auditor"])]
        role: String,
        /// Lifetime of the key, such as `12h` or `90d` [default: until it is revoked].
        #[arg(long, value_name = "TIME", value_parser = duration)]
        expires_in: Option<u64>,
        /// Folder in which the server may run commands of this agent as a trial before a person decides.
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// List the keys, oldest first, without their secrets
    List,
    /// Replace the secret of a key; the new secret is printed on standard output, only this once
    Rotate {
        /// Id of the key: `key_…`.
        key: String,
        /// Time for which the current secret stays valid, such as `1h` [default: it becomes invalid at once].
        #[arg(long, value_name = "TIME", value_parser = duration)]
        overlap: Option<u64>,
    },
    /// Revoke a key, and close the open connections that use the key
    Revoke {
        /// Id of the key: `key_…`.
        key: String,
    },
}
