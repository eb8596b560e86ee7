//! Describes in words the changes that a changeset makes below `.git`: commits, branches, configuration and hooks. This
//! module reads only the bytes in the changeset, and never runs git.

use std::collections::BTreeMap;
use std::io::{self, Read};

use flate2::read::ZlibDecoder;
use holdshort_core::changeset::{Change, Changeset, Entry};
use holdshort_core::digest::Digest;
use similar::{ChangeTag, TextDiff};

use crate::limits;

/// Returns one line per change below a folder `.git`, grouped by repository. The list is empty if the changeset changes
/// nothing below a folder `.git`.
///
///
/// `body` returns the bytes of a file by its digest. If `body` fails for a file, the line about this file does not
/// describe its content.
pub fn git_words(changeset: &Changeset, body: impl Fn(Digest) -> io::Result<Vec<u8>>) -> Vec<String> {
    let mut repositories: BTreeMap<&str, RepositorySummary> = BTreeMap::new();
    for change in changeset.changes().iter().filter(|change| change.is_of_content()) {
        if let Some((repository, path)) = below_git(&change.path) {
            repositories.entry(repository).or_default().add(path, change, &body);
        }
    }
    let told = |(repository, words): (&str, RepositorySummary)| {
        let place = if repository.is_empty() {
            String::new()
        } else {
            format!(" in `{}`", repository.escape_debug())
        };
        words.into_lines().into_iter().map(move |line| format!("{line}{place}"))
    };
    repositories.into_iter().flat_map(told).collect()
}

/// Splits a path below a `.git` folder into the folder of the repository and the path within `.git`.
fn below_git(path: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for name in path.split('/') {
        let end = at + name.len();
        if name.eq_ignore_ascii_case(".git") {
            return Some((path[..at].trim_end_matches('/'), path.get(end + 1..).unwrap_or_default()));
        }
        at = end + 1;
    }
    None
}

/// Description of the changes below the `.git` folder of one repository.
#[derive(Default)]
struct RepositorySummary {
    lines: Vec<String>,
    objects_made: usize,
    objects_gone: usize,
}

impl RepositorySummary {
    fn add(&mut self, path: &str, change: &Change, body: &impl Fn(Digest) -> io::Result<Vec<u8>>) {
        let what = match (&change.before, &change.after) {
            (None, _) => "made",
            (_, None) => "deleted",
            (Some(_), Some(_)) => "changed",
        };
        let content = |entry: &Option<Entry>| match entry {
            Some(Entry::File { digest, .. }) => body(*digest).ok(),
            Some(Entry::Symlink { .. } | Entry::Folder { .. }) | None => None,
        };
        let shown = path.escape_debug();
        let line = match path.split('/').collect::<Vec<_>>()[..] {
            [""] => format!("`.git` {what}, so git in this directory uses another repository"),
            ["objects", ..] => {
                match what {
                    "deleted" => self.objects_gone += 1,
                    _ => self.objects_made += 1,
                }
                match content(&change.after).as_deref().and_then(subject) {
                    Some(subject) => format!("commit made: {subject}"),
                    None => return,
                }
            }
            // Skips changes to git's logs: the lines about branches and commits already describe what the logs record.
            ["logs", ..] => return,
            ["refs", "heads", ..] => {
                let moved = if what == "changed" { "moved" } else { what };
                format!("branch `{}` {moved}", path["refs/heads/".len()..].escape_debug())
            }
            ["refs", ..] => format!("reference `{shown}` {what}"),
            ["HEAD"] => match content(&change.after).as_deref().and_then(branch) {
                Some(branch) => format!("branch `{branch}` checked out"),
                None => "`HEAD` changed, so that no branch is checked out".to_owned(),
            },
            ["index"] => format!("index {what}"),
            ["config" | "config.worktree"] => {
                let text = |entry| content(entry).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                let (before, after) = (text(&change.before), text(&change.after));
                format!(
                    "configuration {what}{}",
                    difference(&before.unwrap_or_default(), &after.unwrap_or_default())
                )
            }
            ["hooks", ..] => format!("hook `{}` {what}", path["hooks/".len()..].escape_debug()),
            _ => format!("`.git/{shown}` {what}"),
        };
        self.lines.push(line);
    }

    fn into_lines(mut self) -> Vec<String> {
        for (count, what) in [(self.objects_made, "added"), (self.objects_gone, "deleted")] {
            if count > 0 {
                self.lines.push(format!("git objects {what}: {count}"));
            }
        }
        self.lines
    }
}

/// Returns the first line of a commit's message if the bytes are a loose Git object that contains a commit.
fn subject(object: &[u8]) -> Option<String> {
    let mut text = Vec::new();
    ZlibDecoder::new(object).take(limits::GIT_OBJECT_BYTES).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (_, commit) = text.strip_prefix("commit ")?.split_once('\0')?;
    let (_, message) = commit.split_once("\n\n")?;
    let line: String = message.lines().next()?.chars().take(limits::GIT_SUBJECT_CHARS).collect();
    Some(line.escape_debug().to_string())
}

fn branch(head: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(head).ok()?.trim_end().strip_prefix("ref: refs/heads/")?;
    Some(name.escape_debug().to_string())
}

/// Returns the lines in which two texts differ, joined into one line.
fn difference(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let lines = diff.iter_all_changes().filter_map(|change| {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => return None,
        };
        Some(format!("{sign} {}", change.value().trim().escape_debug()))
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { String::new() } else { format!(": `{}`", lines.join("`, `")) }
}
