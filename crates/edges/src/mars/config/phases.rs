//! Builds the phases of a run from the templates of the base workflow and from the config.

use std::collections::BTreeSet;

use holdshort_core::definition::{Definition, Phase, PhaseKind, PlanGate};
use holdshort_core::schema::Problem;

use super::mode::{APPROVALS, Approval, Asks, COPILOT_APPROVAL, Chosen, Kind};
use super::raw_config::{RawConfig, Reader};
use super::{copilot, gates, kinds};

/// Phase of a run that was built from the config, with its type in MARS.
pub(super) struct Made {
    pub(super) kind: Kind,
    pub(super) phase: Phase,
}

pub(super) fn make(
    chosen: &[Chosen],
    top: &RawConfig,
    base: &Definition,
    problems: &mut Vec<Problem>,
) -> Vec<Made> {
    let mut made: Vec<Made> = Vec::new();
    for each in chosen {
        let mut reader =
            Reader { own: &each.own, top: Some(top), keys: each.kind.keys(), problems: &mut *problems };
        let Some(mut phase) = filled(each, &mut reader, base) else {
            let why = format!("the workflow `{}` has no phase for `{}`", base.name, each.kind.as_str());
            problems.push(Problem::new(&each.pointer, why));
            continue;
        };
        kinds::set(&mut phase, base, &mut reader);
        let same = made.iter().filter(|other| other.phase.id.starts_with(&phase.id)).count();
        if same > 0 {
            phase.id = format!("{}_{}", phase.id, same + 1);
        }
        phase.needs = made.last().map(|before| before.phase.id.clone()).into_iter().collect();
        if let PhaseKind::Control(control) = &mut phase.kind {
            let planned = made.iter().rev().find(|before| before.phase.kind.planning().is_some());
            match planned {
                Some(planned) => control.plan.clone_from(&planned.phase.id),
                None => problems
                    .push(Problem::new(&each.pointer, "carries out a plan, but no earlier phase makes one")),
            }
        }
        made.push(Made { kind: each.kind, phase });
    }
    if made.is_empty() && problems.is_empty() {
        problems.push(Problem::new("/config/phases", "contains no phase"));
    }
    made
}

/// Reports wrong values of config keys that apply only to phases which the config does not choose. The problems are the
/// same as if these phases were chosen.
pub(super) fn check(chosen: &[Chosen], top: &RawConfig, base: &Definition, problems: &mut Vec<Problem>) {
    for kind in Kind::ALL.into_iter().filter(|kind| chosen.iter().all(|each| each.kind != *kind)) {
        let other = Chosen::quiet(kind);
        let mut reader =
            Reader { own: &other.own, top: Some(top), keys: kind.keys(), problems: &mut *problems };
        filled(&other, &mut reader, base);
        kinds::dropped(&mut reader);
    }
}

/// Returns the template of a phase, with the settings of the config.
fn filled(each: &Chosen, reader: &mut Reader<'_>, base: &Definition) -> Option<Phase> {
    let mut phase = template(each.kind, base)?.clone();
    let asks = match each.asks {
        // A conversational copilot needs no checkpoints at its steps, because the person has a turn after every round.
        Asks::Unless(_) if each.kind == Kind::Copilot && copilot::is_conversational(reader) => {
            Approval::Never
        }
        Asks::Unless(usual) => reader.one_of("approval_mode", &APPROVALS).unwrap_or(usual),
        Asks::Always(asks) => {
            reader.one_of("approval_mode", &[&APPROVALS[..], &[COPILOT_APPROVAL]].concat());
            asks
        }
    };
    phase.gates = gates::around(phase.gates, asks, reader.flag("auto_approve_successful_steps"));
    fill(&mut phase, each.kind, reader, base);
    Some(phase)
}

fn template(kind: Kind, base: &Definition) -> Option<&Phase> {
    base.phases.iter().find(|phase| match &phase.kind {
        PhaseKind::Planning(_) => matches!(kind, Kind::Planning | Kind::HitlPlanning),
        PhaseKind::Control(_) => matches!(kind, Kind::Control | Kind::HitlControl),
        PhaseKind::OneShot { .. } => kind == Kind::OneShot,
        PhaseKind::IdeaGeneration(_) => kind == Kind::IdeaGeneration,
        PhaseKind::Checkpoint(_) => kind == Kind::HitlCheckpoint,
        PhaseKind::Copilot(_) => kind == Kind::Copilot,
        PhaseKind::Call { .. } => false,
    })
}

fn fill(phase: &mut Phase, kind: Kind, reader: &mut Reader<'_>, base: &Definition) {
    kind.as_str().clone_into(&mut phase.id);
    let limits = &mut phase.limits;
    limits.rounds = reader.count("max_rounds", 1).unwrap_or(match kind {
        Kind::Control | Kind::HitlControl | Kind::Copilot => 100,
        _ => 50,
    });
    limits.attempts = reader.count("max_n_attempts", 1).unwrap_or(3);
    limits.redos = reader.count("max_redos", 0).unwrap_or(2);
    let most = match kind {
        Kind::HitlPlanning => 10,
        Kind::Copilot => 5,
        _ => 3,
    };
    limits.plan_steps = reader.count("max_plan_steps", 1).unwrap_or(most);
    // The source system executes the steps of a plan one at a time (contract A14).
    limits.parallel = 1;
    match &mut phase.kind {
        PhaseKind::Planning(planning) => {
            planning.reviews = reader.count("n_plan_reviews", 0).unwrap_or(1);
            if planning.reviews == 0 {
                planning.reviewer = None;
            }
            planning.iterations = reader.count("max_human_iterations", 1).unwrap_or(3);
            // A plan settles without an approval only if neither the config (contract A13) nor the base workflow
            // requires an approval.
            let most = reader.count("auto_approve_after_iterations", 1).unwrap_or(3);
            let may_settle = planning.settles || base.gates.plan == PlanGate::Show;
            planning.settles = reader.flag("require_explicit_approval") == Some(false) && may_settle;
            if planning.settles && most > planning.iterations {
                // The iterations end before this number of plans is shown. The run therefore fails if no plan is
                // approved.
                planning.settles = false;
                if let Some(item) = reader.item("auto_approve_after_iterations") {
                    reader.refuse(item, "exceeds `max_human_iterations`, the number of plans that are shown");
                }
            } else if planning.settles {
                planning.iterations = most;
            }
            reader.only("show_intermediate_plans", true, "people are always shown the plans they decide on");
        }
        PhaseKind::Control(control) => {
            control.only = reader.count("step_number", 1);
            match (reader.flag("execute_all_steps"), control.only) {
                (Some(false), None) => {
                    reader.refuse_key("execute_all_steps", "needs `step_number`");
                }
                (Some(true), Some(only)) => {
                    let why = format!("contradicts `step_number`, which is {only}: omit one of them");
                    reader.refuse_key("execute_all_steps", why);
                }
                (Some(true), None) | (Some(false), Some(_)) | (None, _) => {}
            }
            reader.flag("show_step_context");
        }
        PhaseKind::OneShot { agent } => {
            if let Some(named) = reader.text("agent") {
                if base.agents.contains_key(&named) {
                    *agent = named;
                } else {
                    let known: Vec<&str> = base.agents.keys().map(String::as_str).collect();
                    reader.refuse_key(
                        "agent",
                        format!("is not an agent; the agents are: {}", known.join(", ")),
                    );
                }
            }
            reader.flag("show_step_context");
        }
        PhaseKind::IdeaGeneration(ideas) => {
            ideas.ideas = reader.count("n_ideas", 1).unwrap_or(3);
            ideas.reviews = reader.count("n_reviews", 0).unwrap_or(1);
        }
        PhaseKind::Copilot(copilot) => {
            copilot::fill(copilot, limits, reader, base);
            reader.flag("show_step_context");
        }
        // A config cannot choose this kind of phase.
        PhaseKind::Call { .. } => {}
        PhaseKind::Checkpoint(look) => {
            let (position, words) = reader.one_of("checkpoint_type", &POSITIONS).unwrap_or(POSITIONS[0].1);
            phase.id = format!("{}_{position}", kind.as_str());
            look.position = Some(position.to_owned());
            look.message = reader.text("custom_message").unwrap_or_else(|| words.to_owned());
            reader.flag("show_plan");
            reader.flag("show_context");
            look.unasked = !reader.flag("require_approval").unwrap_or(true);
            look.edit = true;
        }
    }
}

/// Values of the config key `checkpoint_type`, each with the position and the default message of the checkpoint
/// (contract A12).
const POSITIONS: [(&str, (&str, &str)); 6] = [
    ("custom", ("custom", "Shall the work go on?")),
    ("after_planning", ("after_planning", "Shall the plan be carried out?")),
    ("before_step", ("before_step", "Shall the next step begin?")),
    ("after_step", ("after_step", "Is the result of the step correct?")),
    ("before_execution", ("before_execution", "Shall the execution begin?")),
    ("after_execution", ("after_execution", "Is the result of the execution correct?")),
];

/// Removes agents and tools that no phase of the run uses. An unused agent or tool could otherwise make the run require
/// a working directory or a model.
pub(super) fn keep_what_is_used(definition: &mut Definition) {
    let named = definition.phases.iter().flat_map(|phase| match &phase.kind {
        PhaseKind::Planning(planning) => {
            let by_role = [Some(&planning.planner), planning.improver.as_ref(), planning.reviewer.as_ref()];
            by_role.into_iter().flatten().chain(&planning.agents).collect()
        }
        PhaseKind::Control(control) => vec![&control.agent],
        PhaseKind::OneShot { agent } => vec![agent],
        PhaseKind::IdeaGeneration(ideas) => vec![&ideas.maker, &ideas.critic],
        PhaseKind::Copilot(copilot) => {
            std::iter::once(&copilot.agent).chain(&copilot.router).chain(&copilot.team).collect()
        }
        PhaseKind::Checkpoint(_) | PhaseKind::Call { .. } => Vec::new(),
    });
    let in_phases = copilot::roles_of_phases(definition);
    let used = definition.reached_by(named.map(String::as_str).chain(in_phases));
    let used: BTreeSet<String> = used.into_iter().map(str::to_owned).collect();
    definition.agents.retain(|name, _| used.contains(name));
    let tools: BTreeSet<&String> = definition.agents.values().flat_map(|agent| &agent.tools).collect();
    definition.tools.retain(|name, _| tools.contains(name));
}
