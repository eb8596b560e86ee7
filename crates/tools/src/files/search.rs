//! `search_codebase`: returns the matching lines of all files, sorted by file name. The names are found by walking
//! through the folders, and each file is opened from the handle of the workspace. A link is never followed, and the
//! search never leaves the workspace.

use std::path::{Path, PathBuf};

use holdshort_core::gate::WithheldPaths;
use ignore::{DirEntry, WalkBuilder};
use regex::bytes::{Regex, RegexBuilder};

use super::listing::{Listed, left_out_words};
use super::read;
use super::workspace_path::{Kind, Last, WorkspacePath, not_found};
use crate::limits;
use crate::refusal::Refusal;
use crate::request::SearchCodebase;
use crate::workspace::Workspace;

/// Number of bytes at the beginning of a file that are examined to decide if the file is text or binary data.
const BINARY_PROBE_BYTES: usize = 8192;

/// A validated search of an agent: the pattern, and the file or folder where the search starts.
pub(crate) struct Checked {
    pattern: Regex,
    pub place: WorkspacePath,
}

pub(crate) fn check(workspace: &Workspace, request: &SearchCodebase) -> Result<Checked, Refusal> {
    let pattern = RegexBuilder::new(&request.pattern)
        .size_limit(limits::SEARCH_PATTERN_BYTES)
        .build()
        .map_err(|e| {
            Refusal::new(
                "bad_pattern",
                format!(
                    "the pattern is not a valid regular expression in RE2 syntax: {e}; escape special \
                    characters"
                ),
            )
        })?;
    let path = request.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
    let place = WorkspacePath::resolve(workspace, path, Last::Follow)?;
    match place.kind {
        Kind::Folder | Kind::File => Ok(Checked { pattern, place }),
        Kind::Absent => Err(not_found(path)),
        Kind::Other => Err(read::not_a_file(path)),
    }
}

/// Returns `path:line: text` for every match of the search, up to the limits. Files that rules withhold from agents are
/// not opened.
pub(crate) fn search(
    workspace: &Workspace,
    request: &SearchCodebase,
    withheld: &WithheldPaths,
) -> Result<Listed, Refusal> {
    let Checked { pattern, place } = check(workspace, request)?;
    let root = Path::new(workspace.path());
    let mut hits = Hits { lines: Vec::new(), full: false };
    let mut note = None;
    let mut bytes_left = limits::SEARCH_TOTAL_BYTES;
    let mut left_out = 0;
    for entry in walk(root, &place).flatten() {
        let Some(components) = components(&entry, root) else { continue };
        if withheld.withholds(&components.join("/")) {
            left_out += 1;
            continue;
        }
        // A file that has been deleted or is unreadable has no matches.
        let Ok(Some(bytes)) = read::for_search(workspace, &components, limits::SEARCH_FILE_BYTES) else {
            continue;
        };
        let Some(left) = bytes_left.checked_sub(bytes.len() as u64) else {
            note = Some("(search limit reached; name a directory to search the rest)");
            break;
        };
        bytes_left = left;
        if !bytes[..bytes.len().min(BINARY_PROBE_BYTES)].contains(&0) {
            hits.collect(&pattern, &components.join("/"), &bytes);
        }
        if hits.full {
            note = Some("(more lines match; narrow the pattern or the path)");
            break;
        }
    }
    let Hits { mut lines, .. } = hits;
    let count = lines.len();
    if count == 0 {
        lines.push("no line matches".to_owned());
    }
    lines.extend(note.map(ToOwned::to_owned));
    lines.extend(left_out_words(left_out));
    Ok(Listed { text: lines.join("\n") + "\n", shown: count, left_out })
}

struct Hits {
    lines: Vec<String>,
    full: bool,
}

impl Hits {
    fn collect(&mut self, pattern: &Regex, path: &str, bytes: &[u8]) {
        for (n, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if !pattern.is_match(line) {
                continue;
            }
            if self.lines.len() == limits::SEARCH_HITS {
                self.full = true;
                return;
            }
            let line = String::from_utf8_lossy(line);
            let mut shown: String = line.trim_end().chars().take(limits::SEARCH_LINE_CHARS).collect();
            if shown.len() < line.trim_end().len() {
                shown.push('…');
            }
            self.lines.push(format!("{path}:{}: {shown}", n + 1));
        }
    }
}

/// Walks the files below a file or folder of the workspace. The walk always starts at the workspace, so that
/// `.gitignore` files in folders above the workspace have no effect.
fn walk(root: &Path, place: &WorkspacePath) -> ignore::Walk {
    let wanted: PathBuf = std::iter::once(root).chain(place.components().iter().map(Path::new)).collect();
    WalkBuilder::new(root)
        .follow_links(false)
        .hidden(false)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(move |entry| {
            !entry.file_name().eq_ignore_ascii_case(".git")
                && (entry.path().starts_with(&wanted) || wanted.starts_with(entry.path()))
        })
        .build()
}

/// Returns the components of a regular file's path in the workspace. Returns `None` for a name that is not UTF-8,
/// because no tool call can contain such a name.
fn components(entry: &DirEntry, root: &Path) -> Option<Vec<String>> {
    if !entry.file_type()?.is_file() {
        return None;
    }
    let relative = entry.path().strip_prefix(root).ok()?;
    relative.components().map(|c| c.as_os_str().to_str().map(ToOwned::to_owned)).collect()
}
