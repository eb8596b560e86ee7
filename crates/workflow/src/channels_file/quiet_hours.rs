//! Reads the quiet hours and digests of a channel: the keys `zone`, `quiet` and `digest`, and `personal` with settings
//! for individual people.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::channel::Via;
use holdshort_core::hours::Day;
use holdshort_core::hours::{is_zone, minute};
use holdshort_core::name::is_name;
use holdshort_core::quiet_hours::{Digest, Hold, Quiet};

use crate::bounds::{CHANNEL_DIGEST_LEAST_MS, CHANNEL_DIGEST_MS, CHANNEL_PERSONAL, CHANNEL_QUIET, NAME};
use crate::duration;
use crate::item::{Fields, Item, Keys};
use crate::problem::Problems;
use crate::yaml::Value;

const QUIET: Keys = Keys { known: &["from", "to", "zone", "days"], later: &[] };
const PERSONAL: Keys = Keys { known: &["zone", "quiet", "digest"], later: &[] };
const DAILY: &str = "daily ";
const OFF: &str = "off";

/// Reads the quiet hours and the digest of a channel. Also reads the channel's entries of `personal`, each of which
/// replaces these settings for one person.
pub(super) fn read(
    via: Via,
    has_people: bool,
    fields: &Fields<'_>,
    problems: &mut Problems,
) -> (Hold, BTreeMap<String, Hold>) {
    if !via.is_read_by_people() {
        for found in ["quiet", "digest", "personal", "zone"].iter().filter_map(|key| fields.find(key)) {
            problems.at(
                found,
                "a program receives every notification immediately, so this key has no effect: remove it",
            );
        }
    }
    let all = hold(fields, &Hold::default(), problems);
    let mut personal = BTreeMap::new();
    let Some(item) = fields.find("personal") else { return (all, personal) };
    if !has_people {
        problems.at(
            item,
            "this channel does not notify people individually, so this key has no effect: remove it",
        );
    }
    let entries = item.entries(problems).unwrap_or_default();
    if entries.len() > CHANNEL_PERSONAL {
        problems.at(
            item,
            format!("the list has {} people; at most {CHANNEL_PERSONAL} are allowed", entries.len()),
        );
    }
    for (id, key, value) in entries {
        if !is_name(id, holdshort_core::limits::NAME_BYTES) {
            problems.at(&key, "this name is empty, too long, or contains invisible characters");
        }
        if let Some(fields) = value.fields(&PERSONAL, problems) {
            personal.insert(id.to_owned(), hold(&fields, &all, problems));
        }
    }
    (all, personal)
}

/// Reads the quiet hours and the digest of a channel or a person in the channels file. If a key is missing, its value
/// is taken from `all`.
fn hold(fields: &Fields<'_>, all: &Hold, problems: &mut Problems) -> Hold {
    let zone = fields.find("zone").and_then(|item| zone(item, problems));
    let quiet = match fields.find("quiet") {
        None => all.quiet.clone(),
        Some(item) => quiet(item, zone.as_deref(), problems),
    };
    let digest = match fields.find("digest") {
        None => all.digest.clone(),
        Some(item) => digest(item, zone.as_deref(), problems),
    };
    let hold = Hold { quiet, digest };
    if hold.is_for_ever()
        && let Some(item) = fields.find("quiet")
    {
        problems.at(
            item,
            "the quiet hours cover the whole week, so the channel would never send: leave some time free",
        );
    }
    hold
}

fn zone(item: &Item<'_>, problems: &mut Problems) -> Option<String> {
    let zone = item.text(NAME, problems)?;
    if !is_zone(&zone) {
        problems.at(item, format!("unknown time zone `{zone}`: write one such as `Europe/Berlin`"));
        return None;
    }
    Some(zone)
}

fn is_off(item: &Item<'_>) -> bool {
    matches!(&item.node.value, Value::Text(text) if text == OFF)
        || matches!(item.node.value, Value::Bool(false))
}

/// Reads the quiet hours of a channel or a person: a period, a list of periods, or `off`.
fn quiet(item: &Item<'_>, own_zone: Option<&str>, problems: &mut Problems) -> Vec<Quiet> {
    if is_off(item) {
        return Vec::new();
    }
    let parts = match &item.node.value {
        Value::List(_) => item.list(CHANNEL_QUIET, problems).unwrap_or_default(),
        Value::Text(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
            vec![item.clone()]
        }
    };
    parts.iter().filter_map(|part| one(part, own_zone, problems)).collect()
}

fn one(item: &Item<'_>, own_zone: Option<&str>, problems: &mut Problems) -> Option<Quiet> {
    let fields = item.fields(&QUIET, problems)?;
    let mut at = |key: &str| {
        let item = fields.need(key, problems)?;
        time(item, problems).map(|minute| (item.clone(), minute))
    };
    let (from, to) = (at("from"), at("to"));
    let own = fields.find("zone").and_then(|item| zone(item, problems));
    let mut days = BTreeSet::new();
    match fields.find("days") {
        None => days.extend(Day::ALL),
        Some(item) => {
            for (text, item) in item.texts(Day::ALL.len(), NAME, problems).unwrap_or_default() {
                match Day::range(&text) {
                    Some(range) => days.extend(range),
                    None => problems.at(&item, format!("`{text}` is not a day: write `mon`, or `mon-fri`")),
                }
            }
            if days.is_empty() {
                problems.at(item, "the list is empty: name at least one day");
            }
        }
    }
    let ((_, from), (at, to)) = from.zip(to)?;
    if from == to {
        problems
            .at(&at, "the end is the same time as the beginning; for a whole day, write `00:00` to `24:00`");
    }
    Some(Quiet { from, to, days, zone: own.or_else(|| own_zone.map(str::to_owned)) })
}

fn time(item: &Item<'_>, problems: &mut Problems) -> Option<u16> {
    let text = item.text(NAME, problems)?;
    let read = minute(&text);
    if read.is_none() {
        problems.at(item, format!("`{text}` is not a time of day: write one such as `07:30`, in quotes"));
    }
    read
}

/// Reads the interval of digests for a channel or a person: `1h`, `daily 08:00`, or `off`.
fn digest(item: &Item<'_>, zone: Option<&str>, problems: &mut Problems) -> Option<Digest> {
    if is_off(item) {
        return None;
    }
    if let Value::Text(text) = &item.node.value
        && let Some(at) = text.strip_prefix(DAILY)
    {
        let read = minute(at.trim()).filter(|at| *at < 24 * 60);
        if read.is_none() {
            problems.at(item, format!("`{at}` is not a time of day: write one such as `daily 08:00`"));
        }
        return read.map(|minute| Digest::Daily { minute, zone: zone.map(str::to_owned) });
    }
    let ms = duration::read(item, problems)?;
    if !(CHANNEL_DIGEST_LEAST_MS..=CHANNEL_DIGEST_MS).contains(&ms) {
        problems.at(
            item,
            "the digest must be an interval from `1s` to `1d`, or a time of day such as `daily 08:00`",
        );
    }
    Some(Digest::Every(ms))
}
