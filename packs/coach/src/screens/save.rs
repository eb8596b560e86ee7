//! The files that a coach run writes: two pages, one text per agent, and a summary (contract C7, C9, E38).

use std::path::{Path, PathBuf};

use holdshort_cli::kit::folder::{self, SUMMARY, put};
use holdshort_cli::kit::{Client, REHEARSAL};
use holdshort_protocol::{Run, Status, labelled_lines, plain};
use jiff::civil::Date;
use serde_json::{Value, json};

use super::story::{self, Story};
use super::{charts, numbers, training_values, unread};
use crate::report::{Assumption, Competition, KnownNumbers, Question, Report, Section, html};

/// Part of the report from one agent: the step, the name of the file, and the title. The flag is true if the text is a
/// plan.
struct Part(&'static str, &'static str, &'static str, bool);

const PARTS: [Part; 6] = [
    Part("metrics", "metrics_result.md", "Training load", false),
    Part("activity", "activity_result.md", "Sessions", false),
    Part("physiology", "physiology_result.md", "Recovery", false),
    Part("synthesis", "synthesis.md", "What matters", false),
    Part("season_plan", "season_plan.md", "Season plan", true),
    Part("weekly_plan", "weekly_plan.md", "Weekly plan", true),
];

/// Name in `summary.json` of an athlete without a name (contract C9).
const UNNAMED: &str = "Athlete";
const PAGES: [(&str, &str, bool); 2] =
    [("analysis.html", "Analysis", false), ("planning.html", "Plan", true)];

fn names() -> Vec<&'static str> {
    let parts = PARTS.iter().map(|part| part.1);
    parts.chain(PAGES.iter().map(|page| page.0)).chain([SUMMARY]).collect()
}

/// Returns an error if the output folder contains a file with the name of a result that no run has written. Such a file
/// is never overwritten.
pub(super) fn check(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    let own = folder::find_unmanaged_files(folder, &names()).map_err(|error| format!("{shown}: {error}"))?;
    if own.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{shown} contains {}, which no earlier run of the coach wrote: move it away, or choose another folder with \
         --output-dir DIR",
        own.join(", ")
    ))
}

pub(super) fn earlier_run_notice(folder: &Path) -> Option<String> {
    let earlier = folder::earlier(folder).ok()??;
    let shown = plain::line(&folder.display().to_string()).into_owned();
    let run = plain::line(&earlier.run).into_owned();
    let of = earlier.date.map(|date| format!(" of {}", plain::line(&date))).unwrap_or_default();
    Some(if earlier.is_completed {
        format!(
            "{shown} contains the report{of} of {run}. This run replaces that report when it completes. Use \
                --output-dir DIR to keep both reports"
        )
    } else {
        format!("{shown} contains partial results{of} of {run}. This run replaces them")
    })
}

/// Writes the results that the coach run has produced so far into files. Returns the folder and the names of the files.
pub(super) async fn save(
    client: &Client,
    run: &Run,
    folder: &Path,
) -> anyhow::Result<(PathBuf, Vec<String>)> {
    let shared = folder;
    let folder = folder::for_run(shared, &run.id, run.status == Status::Completed)?;
    let folder = folder.as_path();
    check(folder).map_err(anyhow::Error::msg)?;
    let story = story::read(client, run).await?;
    let mut files: Vec<(&str, String)> = Vec::new();
    for Part(step, name, _, _) in &PARTS {
        files.extend(story.texts.get(*step).map(|text| (*name, text.clone())));
    }
    for (name, title, plans) in PAGES {
        let page = page(run, &story, title, plans);
        if !page.sections.is_empty() {
            files.push((name, html(&page)));
        }
    }
    let mut written: Vec<String> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
    written.sort();
    written.push(SUMMARY.to_owned());
    folder::clear(folder, &names(), &written)?;
    // The summary is written first. It lists the files of this run, even if the write of a later file fails.
    let summary = summary(run, &story, &written);
    put(folder, SUMMARY, &format!("{}\n", serde_json::to_string_pretty(&summary)?))?;
    for (name, text) in &files {
        put(folder, name, text)?;
    }
    if folder == shared {
        folder::clear_own(shared, &run.id, &names())?;
    }
    Ok((folder.to_owned(), written))
}

fn page(run: &Run, story: &Story, title: &str, plans: bool) -> Report {
    let of_input = |pointer: &str| run.input.pointer(pointer).and_then(Value::as_str);
    let date = of_input("/current_date").and_then(|date| date.parse().ok()).unwrap_or(Date::ZERO);
    let athlete = of_input("/athlete/name").or(of_input("/athlete/email")).unwrap_or("the athlete");
    let mut report = Report::new(title, athlete, date);
    report.is_rehearsal = run.config.model.as_deref() == Some(REHEARSAL);
    report.partial = unfinished(run);
    let own = PARTS.iter().filter(|part| part.3 == plans);
    report.sections = own
        .filter_map(|Part(step, _, title, plans)| {
            Some(Section {
                id: (*step).to_owned(),
                title: (*title).to_owned(),
                agent: story.agents.get(*step).cloned().unwrap_or_else(|| (*step).to_owned()),
                text: story.texts.get(*step)?.clone(),
                plans: *plans,
            })
        })
        .collect();
    report.competitions = competitions(&run.input);
    report.known = collect_known_numbers(run, story);
    let mine = |agent: &Value| {
        let of_page = |Part(step, ..): &&Part| agent.as_str().is_some_and(|agent| belongs(agent, step));
        PARTS.iter().find(of_page).is_none_or(|part| part.3 == plans)
    };
    let schema = |it: &Value| it["interrupt"].as_str().and_then(|asked| story.schemas.get(asked));
    let questions = story.questions.iter().filter(|it| mine(&it["agent"]));
    report.questions = questions.map(|it| question(it, schema(it))).collect();
    report.assumptions = story.assumptions.iter().filter(|it| mine(&it["agent"])).map(assumption).collect();
    if plans {
        report.charts = charts::planned(story);
    } else {
        report.charts = charts::from_story(story);
        report.computed = numbers::from_story(story);
        report.given = training_values::from_story(story);
        report.caveats = numbers::caveats(story);
        report.not_computed = numbers::missing(story);
        report.unread = unread::from_story(story);
    }
    report
}

/// Returns true if the agent works on the step: the step `X_plan` belongs to the agent `X_planner`.
fn belongs(agent: &str, step: &str) -> bool {
    agent == step || step.strip_suffix("_plan").is_some_and(|part| agent == format!("{part}_planner"))
}

/// Returns the reason why the coach run is incomplete. Returns `None` for a completed run.
fn unfinished(run: &Run) -> Option<String> {
    let why = run.end_message.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
    match run.status {
        Status::Completed => None,
        Status::Failed => Some(format!("the run has failed{why}")),
        Status::Cancelled => Some(format!("the run was cancelled{why}")),
        Status::Queued | Status::Running => Some("the run is not finished".to_owned()),
        Status::Waiting => Some("the run waits for an answer, or for a person to continue it".to_owned()),
        Status::Paused => Some("the run is paused".to_owned()),
    }
}

/// Returns all numbers that an analysis in the report may quote: from tool results, the input of the run, and answers
/// to questions.
fn collect_known_numbers(run: &Run, story: &Story) -> KnownNumbers {
    let mut known = KnownNumbers::default();
    known.add_json(&run.input);
    story
        .given
        .iter()
        .chain(&story.parts)
        .chain(story.computed.iter().map(|(_, it)| it))
        .for_each(|it| known.add_json(it));
    for question in &story.questions {
        known.add_json(&question["answer"]);
        known.add_json(&question["text"]);
    }
    known
}

fn competitions(input: &Value) -> Vec<Competition> {
    let text = |race: &Value, key: &str| race[key].as_str().map(str::to_owned);
    let races = input["competitions"].as_array().into_iter().flatten();
    races
        .map(|race| Competition {
            name: text(race, "name").unwrap_or_default(),
            date: text(race, "date").unwrap_or_default(),
            priority: text(race, "priority"),
            target: text(race, "target_time"),
        })
        .collect()
}

/// Converts a question of an agent from its form in the journal. `schema` is the JSON Schema of a structured answer.
fn question(it: &Value, schema: Option<&Value>) -> Question {
    let text = |key: &str| it[key].as_str().map(str::to_owned);
    let outcome = match (text("outcome").as_deref(), text("option").as_deref()) {
        (None, _) => "open",
        (Some("answered"), Some("skip")) => "left to the agent",
        (Some("answered"), _) => "answered",
        (Some("expired"), _) => "no answer in time",
        (Some(_), _) if it["asked"] == false => "not asked",
        (Some(_), _) => "not answered",
    };
    let answer = match &it["answer"] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        data => {
            let words = text("text").filter(|words| !words.trim().is_empty());
            Some(labelled_lines(schema, data).into_iter().chain(words).collect::<Vec<_>>().join("\n"))
        }
    };
    Question {
        agent: text("agent").unwrap_or_default(),
        question: text("question").unwrap_or_default(),
        kind: text("kind"),
        context: text("context"),
        outcome: outcome.to_owned(),
        answer,
        by: text("by"),
        at: text("at"),
    }
}

fn assumption(it: &Value) -> Assumption {
    let text = |key: &str| it[key].as_str().map(str::to_owned);
    Assumption {
        agent: text("agent").unwrap_or_default(),
        assumption: text("assumption"),
        question: text("question"),
        why: text("why"),
    }
}

fn summary(run: &Run, story: &Story, files: &[String]) -> Value {
    let dollars = run.cost.as_ref().filter(|cost| cost.currency == "USD");
    let dollars = dollars.and_then(|cost| cost.amount.parse::<f64>().ok());
    let tokens = run.usage.as_ref().map(|usage| usage.input_tokens + usage.output_tokens);
    let athlete = run.input["athlete"]["name"].as_str().unwrap_or(UNNAMED);
    json!({
        "athlete": athlete,
        "analysis_date": run.input["current_date"],
        "competitions": run.input["competitions"],
        "total_cost_usd": dollars,
        "total_tokens": tokens,
        "execution_id": run.id,
        "trace_id": run.session,
        "root_run_id": run.id,
        "files_generated": files,
        "status": run.status,
        "unfinished": unfinished(run),
        "questions": story.questions,
        "assumptions": story.assumptions,
        "not_read": story.not_read,
        "refused": story.refused,
        "computed": story.computed.iter().map(|(_, computed)| computed).collect::<Vec<_>>(),
    })
}
