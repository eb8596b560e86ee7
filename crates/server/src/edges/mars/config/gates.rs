//! Where people speak: around steps, on plans, on calls; and how long they have (contracts A2, A3, A12 to A14, A24).

use holdshort_core::definition::{Checkpoint, Definition, PlanGate, Rule, RuleAction, Smart, StepGates};
use holdshort_core::interrupt::{self, Kind as Interrupt};
use holdshort_core::schema::Problem;
use holdshort_core::tool::Runs;
use serde_json::Value;

use super::given::{Given, Reader};
use super::mode::{Approval, Kind};
use super::phases::Made;
use crate::limits::MARS_WORDS;

/// Half an hour for a step or a call, an hour for a plan or a checkpoint.
const HALF_AN_HOUR_MS: u64 = 30 * 60 * 1_000;
const AN_HOUR_MS: u64 = 2 * HALF_AN_HOUR_MS;

pub(super) fn set(definition: &mut Definition, made: &[Made], top: &Given, problems: &mut Vec<Problem>) {
    let asks_about_plans = made.iter().any(|each| each.kind == Kind::HitlPlanning);
    definition.gates.plan = if asks_about_plans { PlanGate::Ask } else { PlanGate::Show };
    times(definition, made);
    options(definition, made);
    let mut reader = Reader { own: top, top: None, keys: &[], problems };
    tools(definition, &mut reader);
    agents(definition, made, &mut reader);
}

/// The gates around the steps of a phase.
pub(super) fn around(approval: Approval) -> StepGates {
    StepGates {
        before_step: matches!(approval, Approval::BeforeStep | Approval::Both),
        after_step: matches!(approval, Approval::AfterStep | Approval::Both),
        on_error: matches!(approval, Approval::OnError | Approval::Both),
        unless_clean: false,
    }
}

/// How long each kind waits, and what then.
fn times(definition: &mut Definition, made: &[Made]) {
    let of = |kinds: &[Kind]| made.iter().find(|each| kinds.contains(&each.kind));
    let planning = of(&[Kind::HitlPlanning, Kind::Planning]);
    let steps = of(&[Kind::HitlControl, Kind::Control, Kind::OneShot]);
    let checkpoint = of(&[Kind::HitlCheckpoint]);
    let has_steps = steps.is_some_and(|steps| steps.approval != Approval::Never);
    let at_steps = steps.and_then(|steps| steps.timeout_ms).unwrap_or(HALF_AN_HOUR_MS);
    let at_checkpoints = checkpoint.and_then(|each| each.timeout_ms).unwrap_or(AN_HOUR_MS);
    let table = [
        (Interrupt::PlanApproval, planning.and_then(|each| each.timeout_ms).unwrap_or(AN_HOUR_MS)),
        // One time for all of a kind: the shorter one where there are both.
        (
            Interrupt::Checkpoint,
            match (has_steps, checkpoint.is_some()) {
                (true, true) => at_steps.min(at_checkpoints),
                (false, true) => at_checkpoints,
                (_, false) => at_steps,
            },
        ),
        (Interrupt::Error, at_steps),
        (Interrupt::ToolApproval, HALF_AN_HOUR_MS),
        (Interrupt::Escalation, HALF_AN_HOUR_MS),
        (Interrupt::Question, HALF_AN_HOUR_MS),
    ];
    let kinds = &mut definition.gates.kinds;
    for (kind, ms) in table {
        kinds.entry(kind).or_default().expires_in_ms = Some(ms);
    }
    if let Some(option) = checkpoint.and_then(|each| each.on_timeout) {
        kinds.entry(Interrupt::Checkpoint).or_default().on_expiry = Some(option.to_owned());
    }
}

/// Without those that the config switches off.
fn options(definition: &mut Definition, made: &[Made]) {
    let dropped: Vec<(Interrupt, &str)> = made.iter().flat_map(|each| each.dropped.iter().copied()).collect();
    for (kind, _) in &dropped {
        let left = interrupt::options(*kind).iter().map(|row| row.id);
        let left = left.filter(|id| !dropped.contains(&(*kind, id))).map(str::to_owned);
        definition.gates.kinds.entry(*kind).or_default().options = left.collect();
    }
}

/// `tool_approval` (contracts A24, E32): whether a call asks where no rule of the base speaks of it.
fn tools(definition: &mut Definition, reader: &mut Reader<'_>) {
    let words = [
        ("none", Some("tool_approval is none: no call asks")),
        ("auto_allow_all", Some("tool_approval is auto_allow_all")),
        ("prompt", None),
    ];
    let reason = reader.one_of("tool_approval", &words).unwrap_or(words[0].1);
    if let Some(reason) = reason {
        definition.gates.rules.push(Rule {
            tools: vec!["*".to_owned()],
            action: RuleAction::Allow,
            reason: Some(reason.to_owned()),
            ..Rule::default()
        });
    }
}

/// The second layer, which is off unless it is switched on (contracts A2, A3).
fn agents(definition: &mut Definition, made: &[Made], reader: &mut Reader<'_>) {
    let is_on = reader.flag("use_ag2_handoffs").unwrap_or(false);
    let mut mandatory = Vec::new();
    let plans = made.iter().any(|each| matches!(each.kind, Kind::Planning | Kind::HitlPlanning));
    match reader.item("ag2_mandatory_checkpoints") {
        None if plans => mandatory.push(Checkpoint::AfterPlanning),
        None => {}
        Some(item) => {
            let Value::Array(names) = &item.value else {
                reader.refuse(item, "is not a list of checkpoints");
                return;
            };
            for (i, name) in names.iter().enumerate() {
                let found = Checkpoint::ALL.into_iter().find(|each| Some(each.as_str()) == name.as_str());
                if let Some(checkpoint) = found {
                    mandatory.push(checkpoint);
                } else {
                    let known = Checkpoint::ALL.map(Checkpoint::as_str).join(", ");
                    let why = format!("is no checkpoint, expected one of: {known}");
                    reader.problems.push(Problem::new(format!("{}/{i}", item.pointer), why));
                }
            }
        }
    }
    let smart = smart(reader);
    if is_on {
        definition.gates.mandatory.extend(mandatory);
        definition.gates.smart = smart;
        return;
    }
    // No agent hands over, to another one or to a person.
    let tools = &definition.tools;
    let hands_over =
        |name: &String| tools.get(name).is_some_and(|tool| matches!(tool.runs, Runs::HandsOver(_)));
    for agent in definition.agents.values_mut() {
        agent.tools.retain(|name| !hands_over(name));
    }
}

/// `ag2_smart_approval`, and the words that it looks for (contract A4).
fn smart(reader: &mut Reader<'_>) -> Option<Smart> {
    const KEYWORDS: [&str; 3] = ["keywords", "escalate_keywords", "high_risk_keywords"];
    let is_on = reader.flag("ag2_smart_approval").unwrap_or(false);
    let mut smart = Smart::default();
    if let Some(item) = reader.item("ag2_smart_criteria") {
        let Value::Object(fields) = &item.value else {
            reader.refuse(item, "is not an object");
            return None;
        };
        for (key, value) in fields {
            let words = || {
                let words = value.as_array().filter(|words| words.len() <= MARS_WORDS)?.iter();
                words
                    .map(|word| word.as_str().filter(|word| !word.trim().is_empty()).map(str::to_owned))
                    .collect()
            };
            let why = match key.as_str() {
                key if KEYWORDS.contains(&key) => match words() {
                    Some(words) => {
                        smart.keywords = words;
                        continue;
                    }
                    None => "is not a list of words",
                },
                // The source system takes it, and nothing reads it there either.
                "risk_threshold" if value.is_number() => continue,
                "risk_threshold" => "is not a number",
                _ => "is not a known key: `keywords`, `risk_threshold`",
            };
            reader.problems.push(Problem::new(format!("{}/{key}", item.pointer), why));
        }
    }
    is_on.then_some(smart)
}
