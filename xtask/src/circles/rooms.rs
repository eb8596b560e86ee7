//! Rooms (layers) of the crate `core`: groups of modules, ordered from the journal, the lowest, to the notices, the
//! highest. Dependencies lead only to the same or a lower room.

use std::collections::BTreeMap;

use super::{folder_of, needs, read};

/// Name of a room (a layer of the crate `core`), and the modules in it.
type Room = (&'static str, &'static [&'static str]);

/// The rooms (layers) of the crate `core`, from the lowest to the highest. A module may depend on modules of its own
/// and of lower rooms.
const ROOMS: &[Room] = &[
    (
        "journal",
        &[
            "actor",
            "canonical",
            "digest",
            "envelope",
            "head",
            "id",
            "json",
            "limits",
            "name",
            "mentioned_paths",
            "schema",
            "shared",
            "strict",
            "text",
            "time",
            "trace_parent",
            "tree",
            "variant_name",
        ],
    ),
    (
        "policy",
        &[
            "asking",
            "changeset",
            "gate",
            "hours",
            "kept_changes",
            "level",
            "message",
            "people",
            "plan",
            "policy",
            "pricing",
            "reply",
            "rights",
            "routing",
            "tool",
            "web",
        ],
    ),
    ("interrupt", &["quiet_hours", "interrupt", "risk"]),
    (
        "run",
        &[
            "conversation",
            "definition",
            "event",
            "handoff",
            "history",
            "kind_gate",
            "projection",
            "run",
            "session",
            "system",
        ],
    ),
    ("notice", &["channel", "delivery", "notice"]),
];

/// Prints the dependencies that lead from a lower to a higher room (layer) of the crate `core`, which are not allowed.
pub(super) fn print() -> anyhow::Result<()> {
    for ((from, to), files) in upward()? {
        println!("  {from} -> {to}: {}", files.join(", "));
    }
    Ok(())
}

/// Returns each pair of modules in the crate `core` in which the first depends on a module of a higher room. Each has
/// the dependencies between the files of the two modules.
fn upward() -> anyhow::Result<BTreeMap<(String, String), Vec<String>>> {
    let source = read::Source::read_crate(&folder_of("core").join("src"))?;
    let mut found: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (from, to) in needs::between_files(&source) {
        let (from, to) = (&source.files[from], &source.files[to]);
        let (lower, upper) = (module(from), module(to));
        if room(lower).is_some() && room(lower) < room(upper) {
            found.entry((lower.to_owned(), upper.to_owned())).or_default().push(format!("{from} {to}"));
        }
    }
    Ok(found)
}

/// Returns the top-level module of the crate `core` that contains a file.
fn module(file: &str) -> &str {
    let first = file.split('/').next().unwrap_or(file);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// Returns the index of a module's room in [`ROOMS`]. Returns `None` for `lib.rs`.
fn room(module: &str) -> Option<usize> {
    ROOMS.iter().position(|(_, modules)| modules.contains(&module))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_arrow_of_the_core_goes_upward() {
        assert_eq!(
            upward().unwrap(),
            BTreeMap::new(),
            "a module needs modules of its own room and of lower ones"
        );
    }

    #[test]
    fn each_module_of_the_core_has_a_room() {
        let source = read::Source::read_crate(&folder_of("core").join("src")).unwrap();
        let modules: BTreeSet<&str> = source.files.iter().map(|file| module(file)).collect();
        let homeless: Vec<&str> =
            modules.into_iter().filter(|module| *module != "lib" && room(module).is_none()).collect();
        assert_eq!(homeless, [""; 0], "`ROOMS` lists it");
    }
}
