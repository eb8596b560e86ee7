//! `RESULTS.md`, with one section for each command of the bench. `--save` rewrites the command's own section and keeps
//! all others.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Section of `RESULTS.md`, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Cycles,
    Peers,
    Parked,
    Streams,
    Audit,
    Trials,
    Turns,
    Length,
}

const PARTS: [Part; 8] = [
    Part::Cycles,
    Part::Peers,
    Part::Parked,
    Part::Streams,
    Part::Audit,
    Part::Trials,
    Part::Turns,
    Part::Length,
];
const TITLE: &str =
    "# Results\n\nEach part names the command that writes it, and the machine of the measurement.\n";

impl Part {
    /// Returns the line in `RESULTS.md` that marks the start of the section.
    fn mark(self) -> &'static str {
        match self {
            Self::Cycles => "<!-- cycles -->",
            Self::Peers => "<!-- peers -->",
            Self::Parked => "<!-- parked -->",
            Self::Streams => "<!-- streams -->",
            Self::Audit => "<!-- audit -->",
            Self::Trials => "<!-- trials -->",
            Self::Turns => "<!-- turns -->",
            Self::Length => "<!-- length -->",
        }
    }
}

/// Returns the folder `bench/` of the repository, which holds results and plots.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

pub(crate) fn save(part: Part, text: &str) -> Result<()> {
    let path = folder().join("RESULTS.md");
    let page = fs::read_to_string(&path).unwrap_or_default();
    fs::write(&path, replaced(&page, part, text))
        .with_context(|| format!("{} cannot be written", path.display()))
}

fn replaced(page: &str, part: Part, text: &str) -> String {
    let mut made = TITLE.to_owned();
    for each in PARTS {
        let text = if each == part { Some(text) } else { found(page, each) };
        if let Some(text) = text {
            let _ = write!(made, "\n{}\n\n{}\n", each.mark(), text.trim());
        }
    }
    made
}

/// Returns the text of a section of `RESULTS.md`: from its mark to the next mark.
fn found(page: &str, part: Part) -> Option<&str> {
    let (_, after) = page.split_once(part.mark())?;
    let end = PARTS.iter().filter_map(|other| after.find(other.mark())).min();
    Some(&after[..end.unwrap_or(after.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_and_the_others_are_kept() {
        let first = replaced("", Part::Parked, "## Parked\n\n1");
        let second = replaced(&first, Part::Cycles, "## Cycles\n");
        let third = replaced(&second, Part::Parked, "## Parked\n\n2");
        let expected =
            format!("{TITLE}\n<!-- cycles -->\n\n## Cycles\n\n<!-- parked -->\n\n## Parked\n\n2\n");
        assert_eq!(third, expected);
    }
}
