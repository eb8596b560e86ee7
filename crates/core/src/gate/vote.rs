//! Counts the votes on a call: rules, mandatory checkpoints, risks that the inspection found, refusals and grants.

use holdshort_command::Command;
use holdshort_command::guarded::{self, Guarded};

use super::{
    Changes, Checkpoints, Grant, Matcher, Reason, RefusedBefore, Release, Source, Subject, Verdict, changes,
    rule,
};
use crate::changeset::Changeset;
use crate::policy::{GrantCovers, Rule, RuleAction};
use crate::tool::Category;

/// Data for the vote of the gates on a call, in addition to the inspected call.
#[derive(Clone, Copy, Debug)]
pub struct VoteInputs<'a> {
    /// Rules of the system policy, which apply to all runs.
    pub system: &'a [Rule],
    pub run: &'a [Rule],
    pub workflow: &'a [Rule],
    pub checkpoints: Checkpoints<'a>,
    pub smart: &'a [Reason],
    /// Grants that could allow the call. `None` if no grant may allow the call, for example because several people must
    /// decide.
    pub grants: Option<&'a [&'a Grant]>,
    /// Calls that a new grant would allow: similar calls, or all calls of the same category.
    pub covers: GrantCovers,
    /// Refusals of the session that match the call.
    pub refused: &'a RefusedBefore,
}

/// Counts the votes of rules, mandatory checkpoints, found risks, refusals and grants on a call, and returns the
/// verdict.
pub fn vote(subject: &Subject<'_>, rules: VoteInputs<'_>) -> Verdict {
    let lists =
        [(Source::System, rules.system), (Source::Run, rules.run), (Source::Workflow, rules.workflow)];
    let command = subject.command.map(holdshort_command::parse);
    let command = command.as_ref();
    let votes: Vec<(Source, usize, &Rule)> = lists
        .into_iter()
        .filter_map(|(source, list)| {
            rule::first_match(list, subject, command).map(|(i, rule)| (source, i, rule))
        })
        .collect();
    let by = |action: RuleAction| votes.iter().filter(move |(_, _, rule)| rule.action == action);

    if let Some((source, i, rule)) = by(RuleAction::Forbid).next() {
        return Verdict::Forbid(reason_of(*source, *i, rule, "forbidden by a rule"));
    }
    let mut asks: Vec<Reason> =
        by(RuleAction::Ask).map(|(source, i, rule)| reason_of(*source, *i, rule, "a rule asks")).collect();

    let mut mandatory = mandatory(subject, command);
    let forbids = |by: fn(&Rule) -> bool| {
        let speaks = |rule: &&Rule| rule.action == RuleAction::Forbid && rule::may_concern(rule, subject);
        lists.iter().flat_map(|(_, list)| list.iter()).filter(speaks).any(by)
    };
    // Code within the command line may run any command, including a forbidden one. If a trial showed no changes to the
    // workspace, no forbidden command took effect.
    let by_words = !subject.changes.leave_nothing();
    let any_forbidden =
        forbids(|rule| !rule.paths.is_empty()) || (by_words && forbids(|rule| !rule.commands.is_empty()));
    if let Some(command) = command.filter(|_| any_forbidden) {
        if let Some(why) = command.unclear {
            let text = format!("it is unclear whether a rule forbids this command: {why}");
            mandatory.push(found("unclear_command", text));
        } else if command.unknown_option {
            let text = "it is unclear whether a rule forbids this command: one of its options is not known";
            asks.push(found("unclear_command", text.to_owned()));
        } else if forbids(|rule| !rule.paths.is_empty()) && command.reaches_unknown() {
            let text = "a rule forbids some paths, and it is unclear which files this command reaches";
            asks.push(found("unclear_command", text.to_owned()));
        }
    }
    let writes_and_runs = || command.is_some_and(Command::runs_what_it_writes);
    if subject.changes == Changes::Untried
        && asks_about_commands(&lists, subject, command)
        && writes_and_runs()
    {
        let text = "a rule asks about certain commands, and this line runs a script that it writes itself; \
            the script may contain such a command";
        asks.push(found("unclear_command", text.to_owned()));
    }
    let by_its_words = |rule: &Rule| !rule.commands.is_empty() || !rule.paths.is_empty();
    if let Some(why) = command.filter(|command| command.computes_and_reads).and_then(|command| command.opaque)
        && holds_back(&lists, subject, by_its_words)
    {
        let text = format!("it is unclear whether a rule restricts this command: {why}");
        mandatory.push(found("opaque_command", text));
    }
    if subject.changes == Changes::Untried && holds_back(&lists, subject, changes::speaks_of_changes) {
        let text = "a rule depends on the changes of this call, which are not known in advance".to_owned();
        mandatory.push(found("changes_unknown", text));
    }
    if let Some(why) = subject.untried {
        mandatory.push(found(
            "untried",
            format!("the command could not run on a copy of the workspace first: {why}"),
        ));
    }
    mandatory.extend(rules.checkpoints.reasons(subject, command));
    mandatory.extend_from_slice(rules.smart);
    if !mandatory.is_empty() {
        // No grant removes these reasons, so no approval for the session is offered.
        let refused = rules.refused.reasons.iter().cloned();
        let reasons = mandatory.into_iter().chain(refused).chain(asks).collect();
        return Verdict::Ask { reasons, grantable: false };
    }
    // The person who gave a grant for a category had not seen these findings and rules. Such a grant therefore removes
    // no finding and no rule that asks. A grant for a category applies only if the workflow still offers such grants.
    let may_lift = |matcher: &Matcher| {
        matcher.category.is_none() || (asks.is_empty() && rules.covers == GrantCovers::Category)
    };
    let would_cover = |matcher: Matcher| may_lift(&matcher);
    let grantable =
        rules.grants.is_some() && Matcher::for_coverage(subject, rules.covers).is_some_and(would_cover);
    if !rules.refused.reasons.is_empty() {
        // A grant does not cover a refused call. If a person gives a grant for exactly this call, the grant revokes the
        // refusal.
        let reasons = rules.refused.reasons.iter().cloned().chain(asks).collect();
        return Verdict::Ask { reasons, grantable: grantable && rules.refused.is_same };
    }
    let mut grants = rules.grants.into_iter().flatten().filter(|grant| may_lift(&grant.matcher));
    if let Some(grant) = grants.find(|grant| grant.matcher.covers_parsed(subject, command)) {
        return Verdict::Allow(Release::Grant { grant: grant.id.clone() });
    }
    if !asks.is_empty() {
        return Verdict::Ask { reasons: asks, grantable };
    }
    if let Some((source, i, _)) = by(RuleAction::Allow).next() {
        return Verdict::Allow(Release::Rule { source: *source, rule: *i });
    }
    let text = "no rule covers this call".to_owned();
    let default = Reason { source: Source::Default, code: "default".to_owned(), rule: None, text };
    Verdict::Ask { reasons: vec![default], grantable }
}

/// Returns true if the lists contain a rule that asks or forbids, that may match the call, and for which `is_such`
/// returns true.
fn holds_back(lists: &[(Source, &[Rule])], subject: &Subject<'_>, is_such: fn(&Rule) -> bool) -> bool {
    let speaks = |rule: &&Rule| rule.action != RuleAction::Allow && rule::may_concern(rule, subject);
    lists.iter().flat_map(|(_, list)| list.iter()).filter(speaks).any(is_such)
}

/// Returns true if a list has a rule that asks about certain commands, and no earlier rule of the list matches the
/// call. The call may run a script, and the script may run one of these commands.
fn asks_about_commands(
    lists: &[(Source, &[Rule])],
    subject: &Subject<'_>,
    command: Option<&Command>,
) -> bool {
    lists.iter().any(|(_, list)| {
        let before = rule::first_match(list, subject, command).map_or(list.len(), |(at, _)| at);
        let speaks = |rule: &&Rule| rule.action == RuleAction::Ask && rule::may_concern(rule, subject);
        list[..before].iter().filter(speaks).any(|rule| !rule.commands.is_empty())
    })
}

fn reason_of(source: Source, index: usize, rule: &Rule, fallback: &str) -> Reason {
    let text = rule.reason.clone().unwrap_or_else(|| fallback.to_owned());
    Reason { source, code: "rule".to_owned(), rule: Some(index), text }
}

fn found(code: &str, text: String) -> Reason {
    Reason { source: Source::Inspection, code: code.to_owned(), rule: None, text }
}

/// Returns reasons to ask a person that no grant and no rule overrides.
fn mandatory(subject: &Subject<'_>, command: Option<&Command>) -> Vec<Reason> {
    match subject.changes {
        // The changeset of the trial shows the effect of the command line, so the words of the line are not checked.
        Changes::Tried { changes, ask_because, layer: _ } => {
            mandatory_for_changes(subject, changes, ask_because)
        }
        Changes::Proposed(changes) => mandatory_for_changes(subject, changes, subject.ask_because),
        Changes::Erased => {
            vec![found("changes_unknown", "the changes of this call were erased from the journal".to_owned())]
        }
        Changes::Untried | Changes::Nothing => mandatory_for_words(subject, command),
    }
}

/// Returns reasons to ask a person because of the changeset of a trial or of a file tool. Each path is examined
/// together with the parent folders of the workspace, because the workspace itself may lie in a guarded folder.
fn mandatory_for_changes(subject: &Subject<'_>, changes: &Changeset, codes: &[String]) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = codes.iter().map(|code| found(code, explain(code).to_owned())).collect();
    let guarded = |path: &str| guarded::guards(format!("{}/{path}", subject.workspace).split('/'));
    let mut paths = changes.changes().iter().map(|change| change.path.as_str());
    if let Some((path, guarded)) = paths.find_map(|path| Some((path, guarded(path)?))) {
        let text = format!("the call changes `{path}`, a file that your own tools run: {}", guarded.why);
        reasons.push(found("guarded_path", text));
    }
    if changes.changes().iter().any(|change| changes::decides_what_is_ignored(&change.path)) {
        reasons.push(found("ignores_changed", explain("ignores_changed").to_owned()));
    }
    reasons
}

/// Returns reasons to ask a person because of the arguments of a call whose changes are unknown.
fn mandatory_for_words(subject: &Subject<'_>, command: Option<&Command>) -> Vec<Reason> {
    let asks = |code: &String| found(code, explain(code).to_owned());
    let mut reasons: Vec<Reason> = subject.ask_because.iter().map(asks).collect();
    // A command line that only reads is harmless, whatever its words expand to. `vote` compares such a line with the
    // rules for commands and paths.
    if let Some(why) = command.filter(|command| !command.is_read_only()).and_then(|command| command.opaque) {
        reasons.push(found("opaque_command", format!("the command cannot be fully analyzed: {why}")));
    }
    if let Some(guarded) = guarded(subject, command) {
        let text = format!(
            "the call may write to `{}`, a file that your own tools run: {}",
            guarded.name, guarded.why
        );
        reasons.push(found("guarded_path", text));
    }
    reasons
}

/// Returns true if a call may write a guarded file: a file that a person's own tools execute automatically.
pub(crate) fn reaches_guarded(subject: &Subject<'_>) -> bool {
    guarded(subject, subject.command.map(holdshort_command::parse).as_ref()).is_some()
}

/// Returns a guarded file that the call may write. `None` if the call may write no guarded file.
fn guarded(subject: &Subject<'_>, command: Option<&Command>) -> Option<Guarded> {
    let through_links = || {
        let mut resolved = subject.places.iter().filter_map(|place| place.resolved.as_deref());
        resolved.find_map(|path| guarded::guards(path.split('/'))).copied()
    };
    match (command, subject.path) {
        (Some(command), _) if command.is_read_only() => None,
        (Some(command), _) => {
            // The command does not choose the parent folders of the workspace, so the names of these folders are not
            // compared.
            let below = |folder: &str| {
                let below = folder.strip_prefix(subject.workspace).unwrap_or(folder);
                guarded::guards(below.split('/')).copied()
            };
            let here = || command.writes_from(subject.cwd).find_map(|folder| below(&folder));
            command.own_tools(subject.cwd).or_else(here).or_else(through_links)
        }
        (None, Some(path)) if subject.category != Category::ReadOnly => {
            let written = format!("{}/{path}", subject.workspace);
            guarded::guards(written.split('/')).copied().or_else(through_links)
        }
        (None, Some(_) | None) => None,
    }
}

fn explain(code: &str) -> &'static str {
    match code {
        "hard_link" => "the file has more than one hard link, so it can also be reached by another name",
        "bare_repository" => {
            "the call turns a directory into a git repository, or changes configuration or hooks of a git \
            repository"
        }
        "link_out" => {
            "the call creates a symbolic link that leads out of the workspace, or whose target is unknown"
        }
        "script_unbound" => {
            "the command runs a file of the workspace that could change unnoticed after the approval"
        }
        "unread_arguments" => {
            "rules cannot read the command, path or address of this call: they read only strings in the \
            arguments `command`, `path` and `url`"
        }
        "unguarded" => {
            "an earlier command created a file that your own tools run, and the file could not be moved \
             away: check the workspace"
        }
        "ignores_changed" => {
            "the call changes which files git ignores, and rules about changes depend on these \
        files"
        }
        "undo" => "the call undoes changes that were approved before",
        "merge" => {
            "the call copies ignored files, which only the run has seen so far, into the workspace, where your own \
             tools find them"
        }
        "layer_full" => {
            "the layer that stores the run's ignored files is full, so the ignored files that the command \
             writes are changes of the workspace"
        }
        "special_file" => {
            "the call creates something that is neither a file nor a directory nor a symbolic link, and that \
             cannot be stored"
        }
        "sandbox_none" => {
            "this host cannot confine commands: they can read and write everything that the server can"
        }
        "sandbox_partial" => {
            "this host confines commands only in part: no private view of the file system, no network isolation"
        }
        _ => "the inspection requires a decision by a person",
    }
}
