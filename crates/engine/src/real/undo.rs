//! Computes an undo. An undo compares the workspace with the journal, which stores the content of each file before and
//! after each change. An undo reverts all changes of a run that no later change has overwritten.

use std::collections::BTreeMap;
use std::io;

use holdshort_core::changeset::Changeset;
use holdshort_core::digest::Digest;
use holdshort_core::run::undo::{Arguments, Undo};
use holdshort_core::tool::{TrialOutcome, TrialResult};
use holdshort_tools::Tools;
use holdshort_tools::limits::CARD_PATHS;
use holdshort_tools::undo::{Undoable, card};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::bodies::Bodies;

/// Reason code for a file that an undo skips, because another program changed the file between two commits of the run.
const MIXED: &str = "changed_in_between";
/// Reason code for a file that an undo skips, because the earlier content of the file is no longer in the journal.
const NOT_KEPT: &str = "not_kept";

/// Returns the changes that an undo would make to the workspace as it is now.
pub(super) async fn try_undo(tools: Tools, bodies: Bodies, arguments: &Value) -> TrialOutcome {
    let arguments = match Arguments::deserialize(arguments) {
        Ok(arguments) => arguments,
        Err(e) => {
            return TrialOutcome::Impossible { why: format!("the arguments of the undo are invalid: {e}") };
        }
    };
    let worked_out = tokio::task::spawn_blocking(move || {
        let runtime = Handle::current();
        let body = |digest: Digest| {
            let found = runtime.block_on(bodies.get(digest)).map_err(io::Error::other)?;
            found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        };
        let missing = |changeset: &Changeset| {
            runtime.block_on(super::trial::missing(&bodies, &[changeset])).map_err(io::Error::other)
        };
        work_out(&tools, &arguments, body, missing)
    });
    match worked_out.await {
        Ok(Ok(tried)) => tried,
        Ok(Err(e)) => TrialOutcome::Impossible { why: format!("the undo could not be computed: {e}") },
        Err(e) => TrialOutcome::Impossible { why: format!("the undo could not be computed: {e}") },
    }
}

fn work_out(
    tools: &Tools,
    arguments: &Arguments,
    body: impl Fn(Digest) -> io::Result<Vec<u8>>,
    missing: impl Fn(&Changeset) -> io::Result<Vec<String>>,
) -> io::Result<TrialOutcome> {
    let wanted: Undo = serde_json::from_slice(&body(arguments.changes)?)?;
    let mut left: BTreeMap<String, &str> = wanted.mixed.iter().map(|path| (path.clone(), MIXED)).collect();
    left.extend(missing(&wanted.changeset)?.into_iter().map(|path| (path, NOT_KEPT)));
    let Undoable { changeset, left } = tools.undoable(&wanted.changeset, left)?;
    let left: Vec<Value> = left.iter().map(|(path, why)| json!({ "path": path, "why": why })).collect();
    let told = describe_leftovers(&left, &wanted.unknown);
    let text = if changeset.is_empty() {
        format!("None of the changes of {} can be undone. {told}", arguments.run)
    } else {
        told
    };
    let mut card = card(&changeset, body);
    card["undo"] = json!({ "run": arguments.run, "to": arguments.to });
    card["left"] = json!(left.iter().take(CARD_PATHS).collect::<Vec<_>>());
    card["unknown"] = json!(wanted.unknown.iter().take(CARD_PATHS).collect::<Vec<_>>());
    card["not_undone"] = json!(left.len() + wanted.unknown.len());
    Ok(TrialOutcome::Yielded(TrialResult {
        data: json!({ "left": left, "unknown": wanted.unknown }),
        changeset,
        layer: None,
        ask_because: vec!["undo".to_owned()],
        text,
        card,
    }))
}

/// Returns sentences about the files that the undo cannot restore. Names only the first few paths.
fn describe_leftovers(left: &[Value], unknown: &[String]) -> String {
    const NAMED: usize = 20;
    let paths: Vec<&str> = left.iter().filter_map(|each| each["path"].as_str()).collect();
    let calls: Vec<&str> = unknown.iter().map(String::as_str).collect();
    let sentence = |(what, names): (&str, Vec<&str>)| {
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| format!("{what}: {}{more}.", names[..names.len().min(NAMED)].join(", ")))
    };
    let said = [
        ("Left unchanged", paths),
        ("Not undone, because the changes of these tool calls are unknown", calls),
    ];
    said.into_iter().filter_map(sentence).collect::<Vec<_>>().join(" ")
}
