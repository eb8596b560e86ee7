//! Agents of a run, as lines for a person: what each agent does or waits for, and for how long. Pure.

use holdshort_protocol::{Work, WorkState, plain};

use super::paint::Paint;
use super::time;

/// Maximum number of agents and phases that are listed as working. The last line states how many more there are.
const LISTED: usize = 8;

/// Returns one line for each working agent or phase. Returns no lines if there is only one agent or phase.
pub(super) fn lines(work: &[Work], paint: Paint) -> Vec<String> {
    if work.len() < 2 {
        return Vec::new();
    }
    let names = work.iter().map(name);
    let width = names.map(|name| console::measure_text_width(&name)).max().unwrap_or_default().min(24);
    let mut lines: Vec<String> = work
        .iter()
        .take(LISTED)
        .map(|each| {
            let line = format!("  {:width$}  {}", name(each), describe_work(each));
            console::truncate_str(&line, paint.width, "…").into_owned()
        })
        .collect();
    if let Some(more) = work.len().checked_sub(LISTED).filter(|more| *more > 0) {
        lines.push(format!("  … and {more} more"));
    }
    lines
}

pub(super) fn counted(work: &[Work]) -> String {
    let working = work.iter().filter(|each| is_at_work(each)).count();
    match work.len() - working {
        0 => format!("{working} working"),
        1 => format!("{working} working, 1 waiting"),
        waiting => format!("{working} working, {waiting} waiting"),
    }
}

/// Describes the agents that keep working while an interrupt is open. Returns `None` if there are none.
pub(super) fn meanwhile(work: &[Work], interrupt: &str) -> Option<String> {
    let others = work.iter().filter(|each| !each.interrupts.iter().any(|open| open == interrupt));
    let working: Vec<String> = others
        .filter(|each| is_at_work(each))
        .map(|each| format!("{} {}", name(each), describe_work(each)))
        .collect();
    (!working.is_empty()).then(|| format!("working now: {}", working.join(" · ")))
}

fn is_at_work(work: &Work) -> bool {
    match work.state {
        WorkState::Beginning | WorkState::Thinking | WorkState::Acting => true,
        WorkState::WaitingForPeople
        | WorkState::WaitingForAgents
        | WorkState::Held
        | WorkState::WaitingForPhases
        | WorkState::Resting => false,
    }
}

/// Returns the name of a working agent, after the name of the phase if the two differ. Without an agent, returns the
/// phase.
fn name(work: &Work) -> String {
    let phase = plain::line(&work.phase);
    match work.agent.as_deref().map(plain::line) {
        Some(agent) if agent == phase => agent.into_owned(),
        Some(agent) => format!("{phase} ({agent})"),
        None => phase.into_owned(),
    }
}

fn describe_work(work: &Work) -> String {
    let list = |names: &[String]| names.iter().map(|name| plain::line(name)).collect::<Vec<_>>().join(", ");
    let doing = match work.state {
        WorkState::Beginning => "goes on".to_owned(),
        WorkState::Thinking => "thinks".to_owned(),
        WorkState::Acting => format!("runs {}", list(&work.tools)),
        WorkState::WaitingForPeople => match work.interrupts.len() {
            0 | 1 => "waits for a person".to_owned(),
            open => format!("waits for a person: {open} open"),
        },
        WorkState::WaitingForAgents if work.waits_for.is_empty() => "waits to ask".to_owned(),
        WorkState::WaitingForAgents => {
            format!("has a question for a person, and waits for {}", list(&work.waits_for))
        }
        WorkState::Held => format!("waits for the answer to {}", list(&work.waits_for)),
        WorkState::WaitingForPhases => format!("starts after {}", list(&work.waits_for)),
        WorkState::Resting => "is paused".to_owned(),
    };
    match &work.since {
        Some(since) => format!("{doing}, {}", time::lasting(since)),
        None => doing,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn work(parts: &[Value]) -> Vec<Work> {
        parts.iter().map(|part| serde_json::from_value(part.clone()).unwrap()).collect()
    }

    #[test]
    fn who_works_and_who_waits_for_whom() {
        let team = work(&[
            json!({"phase": "metrics", "step": "metrics", "agent": "metrics", "state": "thinking"}),
            json!({"phase": "activity", "step": "activity", "agent": "runner\u{1b}[2J", "state": "acting",
                   "tools": ["compute_metric"]}),
            json!({"phase": "recovery", "step": "recovery", "agent": "recovery", "state": "waiting_for_people",
                   "interrupts": ["int_1", "int_2"]}),
            json!({"phase": "nights", "step": "nights", "agent": "nights", "state": "waiting_for_agents",
                   "waits_for": ["metrics"]}),
            json!({"phase": "synthesis", "agent": "synthesis", "state": "waiting_for_phases",
                   "waits_for": ["metrics", "activity"]}),
            json!({"phase": "look", "state": "held", "waits_for": ["recovery"]}),
        ]);
        assert_eq!(
            lines(&team, Paint::narrow(100)),
            [
                "  metrics                   thinks",
                "  activity (runner\\u{1b}[2J)  runs compute_metric",
                "  recovery                  waits for a person: 2 open",
                "  nights                    has a question for a person, and waits for metrics",
                "  synthesis                 starts after metrics, activity",
                "  look                      waits for the answer to recovery",
            ]
        );
        assert_eq!(counted(&team), "2 working, 4 waiting");
        assert_eq!(
            meanwhile(&team, "int_1").as_deref(),
            Some("working now: metrics thinks · activity (runner\\u{1b}[2J) runs compute_metric")
        );
        assert_eq!(meanwhile(&team[2..], "int_1"), None);
        assert!(lines(&team[..1], Paint::plain()).is_empty(), "one alone is told of already");
        assert!(lines(&team, Paint::narrow(20)).iter().all(|line| console::measure_text_width(line) <= 20));
    }
}
