//! Effects that an approved command is allowed to have on the workspace (design, part 4). This module determines the
//! allowed effects from the state of the run. The sandbox enforces the effects.

use super::state::CallChanges;
use super::{Call, Run};
use crate::gate::{self, Reason, Release, Source};
use crate::policy::Rule;
use crate::session::Session;
use crate::system::System;
use crate::tool::{CommandEffect, Runs};

impl Run {
    /// Returns the command line of a tool call. `None` if the call is not a command that this process runs.
    pub(super) fn command<'c>(&self, call: &'c Call) -> Option<&'c str> {
        let here = matches!(self.spec(&call.tool).map(|spec| &spec.runs), Some(Runs::Here { .. }));
        call.argument("command").filter(|_| here)
    }

    /// Returns the effect that a command is allowed to have after a person approved the command. `None` if the tool call
    /// is not a command, or if the command already ran in a trial.
    ///
    /// A read-only command gets only [`CommandEffect::Reads`]. If the sandbox stopped an identical command earlier, the
    /// command gets the next wider effect.
    pub(super) fn approved_effect(&self, call: &Call) -> Option<CommandEffect> {
        let line = self.command(call)?;
        // The command has already run in a trial. The approval releases the changes of the trial, and the command does
        // not run again.
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

    /// Returns the effect that a command is allowed to have after the approval gates allowed it. Returns a reason to
    /// ask a person if the sandbox cannot enforce that effect.
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
                    let places: Option<Vec<String>> = paths.iter().map(|glob| covered_path(glob)).collect();
                    places.ok_or_else(not_enforceable)?
                }
                None => return Err(not_enforceable()),
            },
            Release::OpensInterrupt => return Err(not_enforceable()),
        };
        Ok(Some(CommandEffect::Writes { places }))
    }

    /// Checks that the rule or grant that allowed a command permits all changes that the command made in its trial.
    fn released_changes(
        &self,
        found: &CallChanges,
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

    /// Returns the widest permitted effect that an identical command has exceeded in the run.
    fn confined_before(&self, call: &Call) -> Option<&CommandEffect> {
        let equal = |other: &&Call| other.tool == call.tool && other.arguments == call.arguments;
        self.calls.values().filter(equal).filter_map(|other| other.confined.as_ref()).max()
    }

    /// Returns the reason to ask a person about a command that the sandbox stopped earlier in the run, because the
    /// command exceeded its permitted effect.
    pub(super) fn confined_reason(&self, call: &Call) -> Option<Reason> {
        // A trial shows the changes of this call, so it does not matter that the sandbox stopped an earlier call.
        if self.is_tried(call) {
            return None;
        }
        let text = match self.confined_before(call)? {
            CommandEffect::Reads => {
                "the command was allowed as read-only, but tried to write or to run a program"
            }
            CommandEffect::Writes { .. } => "the command tried to write outside its allowed paths",
            CommandEffect::Workspace | CommandEffect::Guarded => {
                "the command tried to write to a file that your own tools run automatically"
            }
        };
        Some(reason("confined", text))
    }
}

const CHANGES_ELSEWHERE: &str = "the command makes changes that the matching rule or grant does not permit";

fn unknown_changes() -> Reason {
    reason("changes_unknown", "it is no longer known what the command changed")
}

fn not_enforceable() -> Reason {
    reason(
        "not_enforceable",
        "the sandbox can confine a command only to files and whole directories, not to the rule's paths",
    )
}

fn reason(code: &str, text: &str) -> Reason {
    Reason { source: Source::Inspection, code: code.to_owned(), rule: None, text: text.to_owned() }
}

/// Returns the directory or file that a path pattern matches completely, such as `docs` for `docs/**`. `None` for all
/// other patterns.
fn covered_path(glob: &str) -> Option<String> {
    let place = glob.strip_suffix("/**").unwrap_or(glob);
    if place == "**" {
        return Some(".".to_owned());
    }
    let wild = place.contains(['*', '?', '[', '{', '\\']);
    let strays = place.starts_with('/') || place.split('/').any(|name| matches!(name, "" | "." | ".."));
    (!wild && !strays).then(|| place.to_owned())
}
