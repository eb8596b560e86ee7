//! Partial approval of a trial's changes: the paths among which a person chooses, and the changes that are committed.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::changeset::{self, Change, Changeset};
use crate::limits;
use crate::schema::Problem;

/// Returns the changes that are committed after a partial approval, and the paths whose changes are dropped. The edit
/// is a list of the approved paths, such as `["src/a.rs"]`.
pub(crate) fn selected<'c>(
    changes: &'c Changeset,
    edit: &Value,
) -> Result<(Changeset, Vec<&'c str>), Problem> {
    let names = Vec::<String>::deserialize(edit)
        .map_err(|_| Problem::new("/edit", "must be the list of the paths whose changes are kept"))?;
    let names = names.iter().map(String::as_str).collect();
    let kept = changes.only(&names).map_err(|it| Problem::new("/edit", it.to_string()))?;
    let mut dropped = in_order(changes);
    dropped.retain(|name| !names.contains(name));
    Ok((kept, dropped))
}

/// Returns the paths among which a person chooses, the most relevant first. Ignored files and git's internal files are
/// last.
fn in_order(changes: &Changeset) -> Vec<&str> {
    let mut parts: Vec<_> = changes.parts().into_iter().collect();
    let is_ignored = |part: &[&Change]| part.iter().all(|change| change.ignored);
    parts.sort_by_key(|(path, part)| (changeset::is_of_git(path), is_ignored(part), *path));
    parts.into_iter().map(|(path, _)| path).collect()
}

/// Returns the paths among which a person can choose, and the number of further paths that the card does not list.
/// `None` if there is only one path.
pub(crate) fn choice(changes: &Changeset) -> Option<Value> {
    let parts = in_order(changes);
    let shown = &parts[..parts.len().min(limits::CARD_PARTS)];
    (parts.len() > 1).then(|| json!({ "parts": shown, "not_shown": parts.len() - shown.len() }))
}
