//! `people`: lists, sets and removes the people who may sign in and decide, and sets their absences.

use std::collections::BTreeMap;

use holdshort_protocol::{Away, Person, PersonSource, RemovedPerson, SetPerson, plain};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::Scene;
use crate::args::People;
use crate::client::{Client, segment};
use crate::exit::{Exit, usage};
use crate::output::{print_json, print_lines, print_text};
use crate::program_name::holdshort;
use crate::terminal::card;
use crate::terminal::paint::Paint;
use crate::terminal::time;

pub(super) async fn people(scene: &Scene, verb: Option<People>) -> anyhow::Result<Exit> {
    match verb.unwrap_or(People::List) {
        People::List => list(scene).await,
        People::Set { person, role, group, name, address, time_zone, language } => {
            let roles = role.iter().map(|role| serde_json::from_value(role.as_str().into()));
            let body = SetPerson {
                name,
                roles: roles.collect::<Result<_, _>>()?,
                groups: group,
                addresses: addresses(&address)?,
                time_zone,
                language,
            };
            let set: Value = scene.client()?.put(&path(&person, ""), &body).await?;
            print_person(scene, &set)
        }
        People::Remove { person } => {
            let client = scene.client()?;
            let left = client.delete(&path(&person, "")).await?;
            if scene.json {
                print_json(&left)?;
            } else {
                print_text(&format!(
                    "The person `{}` is removed and can no longer decide.",
                    plain::line(&person)
                ));
                print_lines(&left_lines(&serde_json::from_value(left)?, client.server_arguments()));
            }
            Ok(Exit::Ok)
        }
        People::Away { person, until, delegate } => {
            let client = scene.client()?;
            let until = match until {
                Some(until) => Some(moment(&client, &person, until).await?),
                None => None,
            };
            let set: Value = client.put(&path(&person, "/away"), &Away { until, delegate }).await?;
            print_person(scene, &set)
        }
        People::Back { person } => {
            let set = scene.client()?.delete(&path(&person, "/away")).await?;
            print_person(scene, &set)
        }
    }
}

async fn list(scene: &Scene) -> anyhow::Result<Exit> {
    let items = scene.client()?.list("/v1/people", &[]).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    for item in items {
        print_lines(&lines(&serde_json::from_value(item)?));
    }
    Ok(Exit::Ok)
}

fn print_person(scene: &Scene, set: &Value) -> anyhow::Result<Exit> {
    if scene.json {
        print_json(set)?;
    } else {
        print_lines(&lines(&serde_json::from_value(set.clone())?));
    }
    Ok(Exit::Ok)
}

fn lines(person: &Person) -> Vec<String> {
    let paint = Paint::stdout();
    let name = person.name.as_deref().map(|name| format!("  {}", plain::line(name))).unwrap_or_default();
    let roles: Vec<&str> = person.roles.iter().map(|role| role.as_str()).collect();
    let groups: Vec<String> = person.groups.iter().map(|group| plain::line(group).into_owned()).collect();
    let groups = if groups.is_empty() { String::new() } else { format!("  in {}", groups.join(", ")) };
    let from = match person.source {
        PersonSource::File => "people file",
        PersonSource::Provider => "identity provider",
        PersonSource::Api => "set here",
        PersonSource::Local => "this machine",
    };
    let mut out = vec![format!(
        "{}{name}  {}{groups}  {}",
        paint.bold(&plain::line(&person.id)),
        roles.join(", "),
        paint.dim(&format!("({from})"))
    )];
    if let Some(away) = &person.away {
        let until = away.until.as_deref().map(|at| format!(" until {}", time::at(at))).unwrap_or_default();
        let delegate = away.delegate.as_deref().map(|who| format!("; delegate `{}`", plain::line(who)));
        out.push(format!("  away{until}{}", delegate.unwrap_or_default()));
    }
    out
}

/// Lists the open interrupts that were assigned to a removed person.
fn left_lines(removed: &RemovedPerson, words: &str) -> Vec<String> {
    let paint = Paint::stdout();
    let mut out = Vec::new();
    if !removed.interrupts.is_empty() {
        out.push("Open interrupts that were assigned to them:".to_owned());
    }
    for left in &removed.interrupts {
        let who = if left.others_may_decide {
            "others may decide"
        } else {
            "no approver is left, so admins and operators decide now"
        };
        let id = paint.bold(&plain::line(&left.id));
        out.push(format!("  {id}  {}  {}", card::kind(left.kind), paint.dim(&format!("({who})"))));
        out.push(format!("    {}", plain::line(&left.title)));
    }
    if removed.more {
        out.push(format!("There may be more: `{} inbox{words}` lists all open interrupts.", holdshort()));
    }
    out
}

/// Converts a date to midnight in the person's time zone, or in UTC if the time zone is unknown. Returns any other text
/// unchanged, for the server to check.
async fn moment(client: &Client, person: &str, until: String) -> anyhow::Result<String> {
    let Ok(day) = Date::strptime("%Y-%m-%d", &until) else { return Ok(until) };
    let known: Person = client.get(&path(person, "")).await?;
    let zone = known.time_zone.and_then(|zone| TimeZone::get(&zone).ok()).unwrap_or(TimeZone::UTC);
    Ok(format!("{:.3}", day.to_zoned(zone)?.timestamp()))
}

/// Parses a person's addresses of the form `CHANNEL=ADDRESS`.
fn addresses(given: &[String]) -> anyhow::Result<BTreeMap<String, String>> {
    let pair = |text: &String| {
        let (channel, address) = text.split_once('=').ok_or_else(|| {
            usage(format!("--address {text}: write CHANNEL=ADDRESS, such as email=a@b.org"))
        })?;
        Ok((channel.to_owned(), address.to_owned()))
    };
    given.iter().map(pair).collect()
}

fn path(person: &str, rest: &str) -> String {
    format!("/v1/people/{}{rest}", segment(person))
}
