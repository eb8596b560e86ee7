//! `groups`: the working hours of groups.

use std::collections::BTreeMap;

use holdshort_protocol::{Group, Hours, PersonSource, plain};
use serde_json::Value;

use super::Scene;
use crate::args::Groups;
use crate::client::segment;
use crate::exit::{Exit, usage};
use crate::output::{print_json, print_lines, print_message, print_text};
use crate::terminal::paint::Paint;

pub(super) async fn groups(scene: &Scene, verb: Option<Groups>) -> anyhow::Result<Exit> {
    match verb.unwrap_or(Groups::List) {
        Groups::List => list(scene).await,
        Groups::Hours { group, time_zone, at, holiday } => {
            let body = Hours { time_zone, week: week(&at)?, holidays: holiday };
            let set: Value = scene.client()?.put(&path(&group), &body).await?;
            if scene.json {
                print_json(&set)?;
            } else {
                print_lines(&lines(&serde_json::from_value(set)?));
            }
            Ok(Exit::Ok)
        }
        Groups::Unset { group } => {
            scene.client()?.delete(&path(&group)).await?;
            if !scene.json {
                print_text(&format!(
                    "Group `{}` has no working hours now: every hour of every day is working time.",
                    plain::line(&group)
                ));
            }
            Ok(Exit::Ok)
        }
    }
}

async fn list(scene: &Scene) -> anyhow::Result<Exit> {
    let items = scene.client()?.list("/v1/groups", &[]).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    if items.is_empty() {
        print_message("No group has members or working hours.");
    }
    for item in items {
        print_lines(&lines(&serde_json::from_value(item)?));
    }
    Ok(Exit::Ok)
}

fn lines(group: &Group) -> Vec<String> {
    let paint = Paint::stdout();
    let people = if group.people == 1 { "1 person".to_owned() } else { format!("{} people", group.people) };
    let from = match group.source {
        Some(PersonSource::File) => "  (people file)",
        Some(PersonSource::Api) => "  (set here)",
        Some(PersonSource::Provider | PersonSource::Local) | None => "",
    };
    let mut out = vec![format!("{}  {people}{}", paint.bold(&plain::line(&group.name)), paint.dim(from))];
    if let Some(hours) = &group.hours {
        const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let day = |day: &&str| Some(format!("{day} {}", hours.week.get(*day)?.join(" ")));
        let week: Vec<String> = DAYS.iter().filter_map(day).collect();
        out.push(format!("  {}  {}", plain::line(&hours.time_zone), plain::line(&week.join(", "))));
        if !hours.holidays.is_empty() {
            out.push(format!("  free: {}", plain::line(&hours.holidays.join(", "))));
        }
    }
    out
}

/// Parses the working hours of a group, each of the form `DAYS=FROM-TO`.
fn week(given: &[String]) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let mut week: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for text in given {
        let (days, span) = text
            .split_once('=')
            .ok_or_else(|| usage(format!("--at {text}: write DAYS=FROM-TO, such as mon-fri=09:00-17:00")))?;
        week.entry(days.to_owned()).or_default().push(span.to_owned());
    }
    Ok(week)
}

fn path(group: &str) -> String {
    format!("/v1/groups/{}/hours", segment(group))
}
