//! What a command may do to the workspace once it is let through (design, part 4). The sandbox enforces what is decided
//! here; nothing here looks at the world.

use super::state::Found;
use super::{Call, Run};
use crate::gate::{self, Reason, Release, Source};
use crate::policy::Rule;
use crate::session::Session;
use crate::system::System;
use crate::tool::{CommandEffect, Runs};

impl Run {
    /// The line of a command that this process runs.
    pub(super) fn command<'c>(&self, call: &'c Call) -> Option<&'c str> {
        let here = matches!(self.spec(&call.tool).map(|spec| &spec.runs), Some(Runs::Here { .. }));
        call.argument("command").filter(|_| here)
    }

    /// What a person lets a command do who approves its card. `None`: it is no command.
    ///
    /// What only reads needs no more. What met the walls of its effect before gets the next wider one.
    pub(super) fn approved_effect(&self, call: &Call) -> Option<CommandEffect> {
        let line = self.command(call)?;
        // It has run already: what is released is what it did.
        if call.found().is_some() {
            return None;
        }
        let guarded = gate::reaches_guarded(&self.subject(call));
        let wider = match self.confined_before(call) {
            Some(CommandEffect::Workspace | CommandEffect::Guarded) => CommandEffect::Guarded,
            None if holdshort_command::parse(line).is_read_only() => CommandEffect::Reads,
            None | Some(CommandEffect::Reads | CommandEffect::Writes { .. }) => CommandEffect::Workspace,
        };
        Some(if guarded { CommandEffect::Guarded } else { wider })
    }

    /// What a command may do that a gate lets through, or why nobody can hold it to that.
    pub(super) fn released_effect(
        &self,
        call: &Call,
        release: &Release,
        session: &Session,
        system: &System,
    ) -> Result<Option<CommandEffect>, Reason> {
        let Some(line) = self.command(call) else { return Ok(None) };
        if let Some(found) = call.found() {
            return self.released_changes(found, release, session, system).map(|()| None);
        }
        if holdshort_command::parse(line).is_read_only() {
            return Ok(Some(CommandEffect::Reads));
        }
        let places = match release {
            Release::Grant { grant } => {
                session.grants.get(grant).map(|grant| grant.matcher.places()).ok_or_else(not_enforceable)?
            }
            Release::Rule { source, rule } => match self.rule(*source, *rule, system).map(|rule| &rule.paths)
            {
                Some(paths) if paths.is_empty() => return Ok(Some(CommandEffect::Workspace)),
                Some(paths) => {
                    let places: Option<Vec<String>> = paths.iter().map(|glob| place(glob)).collect();
                    places.ok_or_else(not_enforceable)?
                }
                None => return Err(not_enforceable()),
            },
            Release::OpensInterrupt => return Err(not_enforceable()),
        };
        Ok(Some(CommandEffect::Writes { places }))
    }

    /// Whether what a command did in its trial is all that it was let through with.
    fn released_changes(
        &self,
        found: &Found,
        release: &Release,
        session: &Session,
        system: &System,
    ) -> Result<(), Reason> {
        let changes = found.changeset.as_deref().ok_or_else(unknown_changes)?;
        let is_within = match release {
            Release::Grant { grant } => {
                let matcher = session.grants.get(grant).map(|grant| &grant.matcher);
                matcher.is_some_and(|matcher| matcher.covers_changes(changes))
            }
            Release::Rule { source, rule } => {
                let rule = self.rule(*source, *rule, system).ok_or_else(unknown_changes)?;
                rule.paths.is_empty() || gate::changes_within(&rule.paths, changes)
            }
            Release::OpensInterrupt => false,
        };
        if is_within { Ok(()) } else { Err(reason("changes_elsewhere", CHANGES_ELSEWHERE)) }
    }

    pub(super) fn rule<'a>(&'a self, source: Source, at: usize, system: &'a System) -> Option<&'a Rule> {
        let list = match source {
            Source::System => &system.rules,
            Source::Run => &self.config()?.gates.rules,
            Source::Workflow => &self.definition.gates.rules,
            Source::Checkpoint
            | Source::Smart
            | Source::Inspection
            | Source::Refusal
            | Source::Words
            | Source::Default => return None,
        };
        list.get(at)
    }

    /// The widest effect whose walls an equal call of this run has met.
    fn confined_before(&self, call: &Call) -> Option<&CommandEffect> {
        let equal = |other: &&Call| other.tool == call.tool && other.arguments == call.arguments;
        self.calls.values().filter(equal).filter_map(|other| other.confined.as_ref()).max()
    }

    /// Why a command that met the walls of its effect asks when it is tried again.
    pub(super) fn confined_reason(&self, call: &Call) -> Option<Reason> {
        // What a trial does is seen, whatever its line has done before.
        if self.is_tried(call) {
            return None;
        }
        let text = match self.confined_before(call)? {
            CommandEffect::Reads => "it was let through as reading, and tried to write or to run something",
            CommandEffect::Writes { .. } => "it tried to write elsewhere than it was let through for",
            CommandEffect::Workspace | CommandEffect::Guarded => {
                "it tried to write to what your own tools run by themselves"
            }
        };
        Some(reason("confined", text))
    }
}

const CHANGES_ELSEWHERE: &str = "it changes more than what would have let it through allows";

fn unknown_changes() -> Reason {
    reason("changes_unknown", "nobody can say any more what it changed")
}

fn not_enforceable() -> Reason {
    reason("not_enforceable", "the rule's paths are no folders or files that a command can be held to")
}

fn reason(code: &str, text: &str) -> Reason {
    Reason { source: Source::Inspection, code: code.to_owned(), rule: None, text: text.to_owned() }
}

/// The folder or file that a path of a rule stands for as a whole: `docs/**` is `docs`. `None` where it is no such thing.
fn place(glob: &str) -> Option<String> {
    let place = glob.strip_suffix("/**").unwrap_or(glob);
    if place == "**" {
        return Some(".".to_owned());
    }
    let wild = place.contains(['*', '?', '[', '{', '\\']);
    let strays = place.starts_with('/') || place.split('/').any(|name| matches!(name, "" | "." | ".."));
    (!wild && !strays).then(|| place.to_owned())
}
