//! Gates before and after steps, on plans and on calls (contracts A2, A3, A12 to A14, A24).
//!
//! A config can add gates to the gates of the base workflow, but can remove none of them.

use holdshort_core::definition::{Definition, PlanGate, Smart, StepGates};
use holdshort_core::policy::{Checkpoint, GrantCovers, Rule, RuleAction};
use holdshort_core::schema::Problem;
use holdshort_core::tool::Runs;
use serde_json::Value;

use super::kinds;
use super::mode::{Approval, Kind};
use super::phases::Made;
use super::raw_config::{RawConfig, Reader};
use crate::limits::MARS_WORDS;

pub(super) fn set(definition: &mut Definition, made: &[Made], top: &RawConfig, problems: &mut Vec<Problem>) {
    let asks_about_plans = made.iter().any(|each| each.kind == Kind::HitlPlanning);
    if asks_about_plans {
        definition.gates.plan = PlanGate::Ask;
    }
    kinds::usual(definition);
    kinds::instructions(definition);
    let mut reader = Reader { own: top, top: None, keys: &[], problems };
    tools(definition, &mut reader);
    agents(definition, made, &mut reader);
}

/// Returns the gates before and after the steps of a phase: the gates of the phase's template, and the gates that the
/// config adds.
pub(super) fn around(floor: StepGates, approval: Approval, lets_clean_pass: Option<bool>) -> StepGates {
    let after_step = matches!(approval, Approval::AfterStep | Approval::Both);
    let usual = !after_step && floor.unless_clean;
    StepGates {
        before_step: floor.before_step || matches!(approval, Approval::BeforeStep | Approval::Both),
        after_step: floor.after_step || after_step,
        on_error: floor.on_error || matches!(approval, Approval::OnError | Approval::Both),
        unless_clean: lets_clean_pass.unwrap_or(usual) && (floor.unless_clean || !floor.after_step),
    }
}

/// Applies the config key `tool_approval` (contracts A24, E32). The base workflow has a rule that allows every call.
/// The value `prompt` removes this rule, so a person is asked about each call that no other rule allows. A grant for
/// the session allows all calls of one category.
fn tools(definition: &mut Definition, reader: &mut Reader<'_>) {
    let words = [
        ("none", Some("tool_approval is none: no call needs approval")),
        ("auto_allow_all", Some("tool_approval is auto_allow_all")),
        ("prompt", None),
    ];
    definition.gates.grants.covers = GrantCovers::Category;
    let rules = &mut definition.gates.rules;
    let frees_every_call = |rule: &Rule| rule.action == RuleAction::Allow && rule.covers_every_call();
    match reader.one_of("tool_approval", &words).unwrap_or(words[0].1) {
        Some(reason) => {
            for rule in rules.iter_mut().filter(|rule| frees_every_call(rule)) {
                rule.reason.get_or_insert_with(|| reason.to_owned());
            }
        }
        None => rules.retain(|rule| !frees_every_call(rule)),
    }
}

/// Applies the second layer of gates, which ask a person about what agents do during their conversations. This layer is
/// off by default, and the config can switch it on (contracts A2, A3).
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
                    let why = format!("is not a checkpoint, expected one of: {known}");
                    reader.problems.push(Problem::new(format!("{}/{i}", item.pointer), why));
                }
            }
        }
    }
    let smart = smart(reader);
    if is_on {
        // A trial executes the command. A checkpoint before execution must therefore come before the trial.
        if mandatory.contains(&Checkpoint::BeforeExecution) {
            definition.gates.trial_before_execution = false;
        }
        definition.gates.mandatory.extend(mandatory);
        if let Some(smart) = smart {
            add(&mut definition.gates.smart, smart);
        }
        return;
    }
    // Without the second layer, agents have no tools for handing off to another agent or to a person.
    let tools = &definition.tools;
    let hands_over =
        |name: &String| tools.get(name).is_some_and(|tool| matches!(tool.runs, Runs::HandsOver(_)));
    for agent in definition.agents.values_mut() {
        agent.tools.retain(|name| !hands_over(name));
    }
}

/// Adds the config's keywords for smart approval to the keywords of the base workflow, whose model still judges. If the
/// base workflow has no smart approval, the config's smart approval is used.
fn add(floor: &mut Option<Smart>, smart: Smart) {
    match floor {
        Some(floor) => {
            let new = smart.keywords.into_iter().filter(|word| !floor.keywords.contains(word));
            let new: Vec<String> = new.collect();
            floor.keywords.extend(new);
        }
        None => *floor = Some(smart),
    }
}

/// Reads the config key `ag2_smart_approval` and its keywords (contract A4).
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
                // The source system accepts this key and does not use it.
                "risk_threshold" if value.is_number() => continue,
                "risk_threshold" => "is not a number",
                _ => "is not a known key: `keywords`, `risk_threshold`",
            };
            reader.problems.push(Problem::new(format!("{}/{key}", item.pointer), why));
        }
    }
    is_on.then_some(smart)
}
