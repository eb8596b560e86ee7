//! Calls of a run in the form that the gates examine. This module also computes the digest that binds an approval to a
//! call.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::state::Trial;
use super::{Authority, Call, CallState, InspectionFacts, Run, merge, undo};
use crate::actor::Actor;
use crate::definition::{KindGate, SameAction};
use crate::digest::Digest;
use crate::gate::{
    self, Changes, Checkpoints, Matcher, Reason, Source, Subject, Verdict, VoteInputs, WithheldPaths, stakes,
};
use crate::id::InterruptId;
use crate::interrupt::{Cause, Interrupt, Kind};
use crate::level::Level;
use crate::limits;
use crate::people::People;
use crate::policy::{Checkpoint, GrantCovers};
use crate::session::{Granters, Session};
use crate::system::System;
use crate::text::clip;
use crate::time::Timestamp;
use crate::tool::{Category, CommandEffect, Effect as ToolEffect, Inspection, Runs, SandboxLevel};
use crate::web::Target;

/// Returns the category of a tool call. A command has the category that results from its parsed command line.
pub(super) fn category(run: &Run, call: &Call) -> Category {
    match (run.spec(&call.tool).map(|spec| &spec.runs), call.argument("command")) {
        (Some(Runs::Here { .. }), Some(line)) => holdshort_command::parse(line).class().into(),
        // The client declares the category. The parsed shell line can only raise the category, because this process
        // cannot see which shell runs the line in the client.
        (Some(Runs::Client { category: Category::Bash, .. }), Some(line)) => {
            let category = Category::from(holdshort_command::parse(line).class());
            let graver = !matches!(category, Category::ReadOnly | Category::FileWrite);
            if graver { category } else { Category::Bash }
        }
        (Some(Runs::Client { category, .. }), _) | (Some(Runs::Here { category, .. }), None) => *category,
        (Some(Runs::Opens(_) | Runs::HandsOver(_) | Runs::Begins(_) | Runs::Records), _) => {
            Category::ReadOnly
        }
        (None, _) => Category::CodeExec,
    }
}

/// Maximum number of earlier tool calls on an approval card that offers a grant. These calls are examples of calls that
/// the grant would have allowed.
const PAST: usize = 3;

/// Returns the path that is used if a call of the tool `tool` names no path: `.` for tools that read the whole
/// workspace by default. `None` for other tools.
fn whole_workspace(tool: &str) -> Option<&'static str> {
    matches!(tool, "list_directory" | "search_codebase").then_some(".")
}

/// Returns a one-line description of the effect of a tool call.
pub(super) fn title(call: &Call) -> String {
    if let Some(task) =
        call.argument("task").filter(|_| [undo::TOOL, merge::TOOL].contains(&call.tool.as_str()))
    {
        let does = call.found().map(|found| format!(" ({})", found.describe())).unwrap_or_default();
        return format!("{task}{does}");
    }
    match (call.argument("command"), call.argument("path")) {
        (Some(command), _) if call.trial.found.is_some() => {
            let did = call.trial.found.as_ref().map(|found| found.describe()).unwrap_or_default();
            format!("{}: {} ({did})", call.tool, clip(command, limits::TITLE_BYTES / 2))
        }
        (Some(command), _) => match reach(&call.card) {
            // A long command line is clipped to leave room for the number of files, which a person must see.
            Some(files) => format!("{}: {} ({files})", call.tool, clip(command, limits::TITLE_BYTES / 2)),
            None => format!("{}: {command}", call.tool),
        },
        (None, Some(path)) => format!("{}: {path}", call.tool),
        (None, None) => match call.argument("url") {
            // The card shows the URL in the form in which Holdshort requests it. The agent may have spelled the URL
            // differently.
            Some(url) => match Target::parse(url) {
                Ok(target) => format!("{}: {target}", call.tool),
                Err(_) => format!("{}: {url}", call.tool),
            },
            None => call.tool.clone(),
        },
    }
}

/// Returns the number of files that a tool call would affect, as text. `None` if the files were not counted, if the
/// call affects at most one file, or if the count is too uncertain to show.
fn reach(card: &Value) -> Option<String> {
    let impact = card.get("impact")?;
    let files = impact.get("files").and_then(Value::as_u64).filter(|files| *files > 1)?;
    let says = |key: &str| impact.get(key).and_then(Value::as_bool) == Some(true);
    let about = match (says("at_least"), says("at_most")) {
        (true, false) => "at least ",
        (false, true) => "up to ",
        (false, false) => "",
        // The count may be both too low and too high, so the card shows no number of files.
        (true, true) => return None,
    };
    Some(format!("{about}{files} files"))
}

/// Returns the risk of a tool call. The risk is computed from facts about the call, and the agent's words have no
/// influence.
pub(super) fn risk(call: &Call, reasons: &[Reason]) -> Level {
    if reasons.iter().any(|reason| matches!(reason.source, Source::Inspection | Source::Smart)) {
        return Level::High;
    }
    match call.look.as_ref().map(|look| look.category) {
        Some(Category::ReadOnly) => Level::Low,
        Some(Category::FileWrite | Category::Bash | Category::CodeExec) => Level::Medium,
        Some(Category::Install | Category::Web) | None => Level::High,
    }
}

impl Run {
    /// Lets the approval gates vote on a tool call at the time `now`. If a person was asked about the call, grants that
    /// were given after the question do not apply to the call.
    pub(super) fn vote(&self, call: &Call, session: &Session, system: &System, now: Timestamp) -> Verdict {
        self.vote_asked(call, session, system, now, self.asked_at(call))
    }

    /// Lets the approval gates vote on a tool call about which a person was asked at `asked_at`. Grants that were given
    /// after `asked_at` do not apply to the call.
    pub(super) fn vote_asked(
        &self,
        call: &Call,
        session: &Session,
        system: &System,
        now: Timestamp,
        asked_at: Option<Timestamp>,
    ) -> Verdict {
        let run = self.config().map(|config| config.gates.rules.as_slice()).unwrap_or_default();
        let gates = &self.definition.gates;
        let mandatory = self.mandatory();
        let checkpoints = Checkpoints { at: &mandatory, deploy: &gates.deploy };
        let subject = self.subject(call);
        let said = self.steps.get(&call.step).and_then(|step| self.last_turn(step)).map(|(text, _)| text);
        let mut smart = self.smart_reasons(call, said.unwrap_or_default(), subject.category);
        smart.extend(self.confined_reason(call));
        let gate = self.gate_of(call);
        let offered = gate.options.is_empty() || gate.options.iter().any(|id| id == "approve_session");
        // A person is asked about every risky call. No grant covers a risky call, not even a grant for a less risky
        // form of the call. A single person can give a grant. If several people must release the call, no grant
        // therefore covers it.
        let assignment = gate.assigned();
        let lifts = offered && assignment.takes_one() && self.stakes_of(call).is_empty();
        let starter = self.begun_by().map(Actor::responsible_people);
        let granters = Granters { assignment: &assignment, people: &system.people, starter };
        let grants = lifts.then(|| session.grants_by(granters, asked_at, now));
        let covers = gates.grants.covers;
        let refused = session.refused_before(&subject, &call.arguments);
        let rules = VoteInputs {
            system: &system.rules,
            run,
            workflow: &gates.rules,
            checkpoints,
            smart: &smart,
            grants: grants.as_deref(),
            covers,
            refused: &refused,
        };
        match gate::vote(&subject, rules) {
            // If the sandbox cannot enforce the effect of a release, a person is asked instead.
            Verdict::Allow(release) => match self.released_effect(call, &release, session, system) {
                Ok(_) => Verdict::Allow(release),
                Err(reason) => Verdict::Ask { reasons: vec![reason], grantable: false },
            },
            other @ (Verdict::Ask { .. } | Verdict::Forbid(_)) => other,
        }
    }

    /// Returns the settings for interrupts about a tool call, merged from the workflow and the call's phase.
    fn gate_of(&self, call: &Call) -> KindGate {
        let phase = self.steps.get(&call.step).and_then(|step| self.phase(&step.phase));
        self.definition.gate(phase, Kind::ToolApproval)
    }

    /// Returns the risks of a tool call, which are reported even if the approval gates allow the call.
    pub(super) fn stakes_of(&self, call: &Call) -> Vec<Reason> {
        let runs_commands = self.spec(&call.tool).is_some_and(|spec| !matches!(spec.runs, Runs::Opens(_)));
        if let Some(found) = call.found() {
            return Self::stakes_of_changes(found);
        }
        call.argument("command").filter(|_| runs_commands).map(stakes::find_risks).unwrap_or_default()
    }

    /// Returns an earlier approval of an identical action that has been used for exactly one tool call. Such an
    /// approval is also valid for one further call if the workflow allows it (contract E21). `None` if the workflow
    /// does not allow it.
    pub(super) fn approved_before(
        &self,
        call: &Call,
        digest: Digest,
        people: &People,
    ) -> Option<InterruptId> {
        if self.definition.gates.same_action == SameAction::Ask {
            return None;
        }
        let (may_decide, starter) =
            (self.gate_of(call).assigned(), self.begun_by().map(Actor::responsible_people));
        let approves = |interrupt: &Interrupt| {
            let opened = &interrupt.opened;
            let by = interrupt.settled_by().filter(|made| made.option == "approve");
            opened.kind == Kind::ToolApproval
                && opened.action_digest == Some(digest)
                && interrupt.resolution.as_ref().is_some_and(|resolution| resolution.cause == Cause::Decision)
                && by.is_some_and(|made| {
                    may_decide.still_trusts(made.responsible_people(), made.at, people, starter)
                })
        };
        let released = |id: &InterruptId| {
            let by = Some(Authority::Interrupt(id.clone()));
            self.calls.values().filter(|call| call.authority == by).count()
        };
        let mut asked = self.interrupts.iter();
        asked.find(|(id, interrupt)| approves(interrupt) && released(id) == 1).map(|(id, _)| id.clone())
    }

    /// Returns the mandatory checkpoints that apply to the run: the checkpoints of the workflow, and further
    /// checkpoints of the run.
    pub(super) fn mandatory(&self) -> BTreeSet<Checkpoint> {
        let mut at = self.definition.gates.mandatory.clone();
        at.extend(self.config().into_iter().flat_map(|config| &config.gates.mandatory));
        at
    }

    /// Returns the categories of tool calls that grants of the session allow in the workspace of the call `call`.
    /// Includes only grants of people who are approvers of the call. Empty unless the workflow's grants cover
    /// categories.
    pub(super) fn granted_categories(
        &self,
        call: &Call,
        session: &Session,
        people: &People,
        now: Timestamp,
    ) -> BTreeSet<&'static str> {
        if self.definition.gates.grants.covers != GrantCovers::Category {
            return BTreeSet::new();
        }
        let workspace = call.look.as_ref().map(|look| look.workspace.as_str());
        let (may_decide, starter) =
            (self.gate_of(call).assigned(), self.begun_by().map(Actor::responsible_people));
        let grants = session.grants_by(Granters { assignment: &may_decide, people, starter }, None, now);
        let here = grants.into_iter().filter(|grant| workspace == Some(&grant.matcher.workspace));
        here.filter_map(|grant| Some(grant.matcher.category?.as_str())).collect()
    }

    /// Returns the grant that would result if a person allowed the tool call for the session. The approval card shows
    /// the grant before the decision. The decision adds the grant to the session.
    pub(super) fn grant_for(&self, call: &Call) -> Option<Matcher> {
        // This process does not know what a call in a client affects, so it cannot determine the scope of a grant for
        // the call.
        let here = call.look.as_ref().filter(|_| !self.is_client_call(call));
        here.and_then(|_| Matcher::for_coverage(&self.subject(call), self.definition.gates.grants.covers))
    }

    /// Returns the latest tool calls of the run that a grant would have allowed. Leaves out the call for which the
    /// grant would be given, and calls that match a refusal of the session. Shows commands by their command line, and
    /// all other calls by their title.
    pub(super) fn covered_before(&self, id: &str, grant: &Matcher, session: &Session) -> Vec<String> {
        let latest = (1..=self.proposed).rev().take(limits::PAST_COMPARED).map(|n| format!("call_{n}"));
        let latest = latest.filter_map(|other| self.calls.get_key_value(&other));
        let earlier = latest.filter(|(other, call)| *other != id && call.look.is_some());
        // For some reasons, a person is asked despite every grant. For some other reasons, a person is asked despite a
        // grant for a category. A call with such a reason is left out.
        let lifts = |reason: &Reason| match reason.source {
            Source::Checkpoint | Source::Smart | Source::Refusal => false,
            Source::System | Source::Run | Source::Workflow | Source::Inspection => grant.category.is_none(),
            Source::Words | Source::Default => true,
        };
        let asked = |call: &Call| call.interrupt.as_ref().and_then(|id| self.interrupts.get(id));
        let covered = earlier.filter(|(_, call)| {
            let reasons = asked(call).map_or(&[][..], |interrupt| &interrupt.opened.risk.reasons);
            let subject = self.subject(call);
            let is_refused = || {
                let refused = session.refused_before(&subject, &call.arguments);
                !refused.reasons.is_empty()
            };
            reasons.iter().all(lifts) && grant.covers(&subject) && !is_refused()
        });
        let named = |call: &Call| call.argument("command").map_or_else(|| title(call), str::to_owned);
        let mut lines: Vec<String> =
            covered.map(|(_, call)| clip(&named(call), limits::TITLE_BYTES)).collect();
        lines.dedup();
        lines.truncate(PAST);
        lines
    }

    pub(super) fn subject<'a>(&'a self, call: &'a Call) -> Subject<'a> {
        let look = call.look.as_ref();
        Subject {
            agent: &call.agent,
            tool: &call.tool,
            category: look.map_or_else(|| category(self, call), |look| look.category),
            path: call.argument("path").or_else(|| whole_workspace(&call.tool)),
            url: call.argument("url"),
            command: call.argument("command"),
            workspace: look.map(|look| look.workspace.as_str()).unwrap_or_default(),
            cwd: look.map(|look| look.cwd.as_str()).unwrap_or_default(),
            ask_because: look.map(|look| look.ask_because.as_slice()).unwrap_or_default(),
            places: look.map(|look| look.places.as_slice()).unwrap_or_default(),
            preconditions: look.map(|look| look.preconditions.as_slice()).unwrap_or_default(),
            changes: self.known_changes(call),
            untried: self.untried_reason(call),
            elsewhere: false,
        }
    }

    /// Returns the changes of a tool call that are known before the call starts: the changes of its trial, or the
    /// changes that its tool proposes.
    fn known_changes<'c>(&self, call: &'c Call) -> Changes<'c> {
        if let Some(found) = call.found() {
            return found.changeset.as_deref().map_or(Changes::Erased, |changes| Changes::Tried {
                changes,
                layer: found.in_layer(),
                ask_because: &found.ask_because,
            });
        }
        if let Some(proposal) = call.proposal.as_deref() {
            return proposal.changeset.as_deref().map_or(Changes::Erased, Changes::Proposed);
        }
        let category = call.look.as_ref().map_or_else(|| category(self, call), |look| look.category);
        let reads =
            category == Category::ReadOnly || (category == Category::Web && self.only_gets(&call.tool));
        if reads { Changes::Nothing } else { Changes::Untried }
    }

    /// Returns true if the tool runs in the server process, only fetches from the web, and changes nothing locally.
    fn only_gets(&self, tool: &str) -> bool {
        let runs = self.spec(tool).map(|spec| &spec.runs);
        matches!(runs, Some(Runs::Here { effect: ToolEffect::Read, category: Category::Web, .. }))
    }

    /// Returns true if a running tool call is allowed to follow a redirect to this URL. A redirect is allowed if the
    /// approval gates allow the new URL. If a person approved the call, a redirect is also allowed if the gates have no
    /// new reason to ask.
    pub fn may_follow(
        &self,
        id: &str,
        url: &str,
        session: &Session,
        system: &System,
        now: Timestamp,
    ) -> bool {
        let Some(call) = self.calls.get(id).filter(|call| matches!(call.state, CallState::Started { .. }))
        else {
            return false;
        };
        let hop = Call { arguments: json!({ "url": url }), ..(**call).clone() };
        match (&call.authority, self.vote(&hop, session, system, now)) {
            (Some(Authority::Interrupt(_) | Authority::Gate(_)), Verdict::Allow(_)) => true,
            // A person has seen the reasons to ask about the first URL, and the redirect adds no further reason.
            (Some(Authority::Interrupt(_)), Verdict::Ask { reasons, .. }) => {
                match self.vote(call, session, system, now) {
                    Verdict::Ask { reasons: seen, .. } => reasons.iter().all(|reason| seen.contains(reason)),
                    Verdict::Allow(_) | Verdict::Forbid(_) => false,
                }
            }
            (_, Verdict::Forbid(_)) | (Some(Authority::Gate(_)) | None, _) => false,
        }
    }

    /// Returns the paths that the current rules leave out of the result of a running search or directory listing, which
    /// is the tool call `id`.
    pub fn withheld_paths(&self, id: &str, system: &System) -> Option<WithheldPaths> {
        let call = self.calls.get(id)?;
        let run = self.config().map(|config| config.gates.rules.as_slice()).unwrap_or_default();
        let lists = [system.rules.as_slice(), run, self.definition.gates.rules.as_slice()];
        // A search returns lines of files, so the rules about reading files also apply to the search.
        let reads = (call.tool == "search_codebase").then_some("read_file");
        Some(WithheldPaths::for_call(&self.subject(call), lists, reads))
    }

    pub(super) fn approval_digest(&self, call: &Call, look: &InspectionFacts) -> Digest {
        if call.found().is_some() { self.action_digest(call, look, None) } else { look.digest }
    }

    /// Returns the approval card that an inspection of a tool call built, and the facts of the inspection that the
    /// approval gates and the digest of the action need.
    pub(super) fn look_of(&self, call: &Call, inspection: Inspection) -> (InspectionFacts, Value) {
        let category = category(self, call);
        let Inspection { workspace, cwd, mut preconditions, sandbox, ask_because, places, card, .. } =
            inspection;
        preconditions.sort();
        let digest = Digest::ZERO;
        let mut look =
            InspectionFacts { digest, category, workspace, cwd, preconditions, sandbox, ask_because, places };
        // The working directory determines which guarded paths the call reaches, so the effect is computed from the new
        // inspection.
        let looked_at = Call { look: Some(look.clone()), trial: Trial::default(), ..call.clone() };
        look.digest = self.action_digest(&looked_at, &look, self.approved_effect(&looked_at).as_ref());
        (look, card)
    }

    /// Returns the digest of the action of a tool call, including the state of the workspace on which the action
    /// depends (design, part 4). An approval is valid only while this digest is unchanged.
    pub(super) fn action_digest(
        &self,
        call: &Call,
        look: &InspectionFacts,
        effect: Option<&CommandEffect>,
    ) -> Digest {
        let mut bound = json!({
            "v": 2,
            "tool": call.tool,
            "schema": self.spec(&call.tool).map(|spec| Digest::of_json(&spec.parameters)),
            "arguments": call.arguments,
            "workspace": look.workspace,
            "cwd": look.cwd,
            "effect": effect,
            "sandbox": {
                "level": look.sandbox.unwrap_or(SandboxLevel::None),
                "network": self.definition.network,
            },
            "preconditions": look.preconditions,
        });
        if let Some(found) = call.found() {
            bound["changeset"] = json!(found.digest);
        }
        if self.only_gets(&call.tool) {
            bound["web"] = json!(self.definition.web);
        }
        Digest::of_json(&bound)
    }
}
