//! Describes a trial, from `payload.trial`. A trial runs a command without changing the workspace, and collects the
//! changes. The terminal and the pages show the same text.

use serde_json::Value;

use crate::diff::Diff;

/// Label of a changed file that the task does not mention. If the task mentions no paths, no file gets the label.
pub const OUTSIDE: &str = "outside what the task names";

/// Returns true if the task mentions paths, but not the path on the card.
pub fn is_outside(payload: &Value) -> bool {
    payload.get("outside").and_then(Value::as_bool).unwrap_or(false)
}

/// Trial of a command, as the card shows it. A person decides on the changes.
#[derive(Clone, Copy, Debug)]
pub struct TrialCard<'a>(&'a Value);

/// Change of one path that a trial found.
#[derive(Clone, Copy, Debug)]
pub struct TrialChange<'a>(&'a Value);

impl<'a> TrialCard<'a> {
    /// Returns the trial in the payload of a card, or `None` if the payload has none.
    pub fn from_payload(payload: &'a Value) -> Option<Self> {
        payload.get("trial").filter(|trial| trial.is_object()).map(Self)
    }

    /// Returns the reason why the server could not try the command. The member `not_tried`, with which a hook says why
    /// it requested no trial, is the agent's text: cards quote it.
    pub fn missing(payload: &Value) -> Option<&str> {
        payload.get("untried")?.as_str()
    }

    fn count(self, key: &str) -> u64 {
        self.0.get(key).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Summarizes the trial: `3 files changed, 1 deleted; exit code 0 after 2.1 s; tests, as the command reports: 41
    /// passed (cargo test)`.
    pub fn summary(self) -> String {
        let (changed, deleted) = (self.count("files"), self.count("deleted"));
        let files = |n: u64| if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
        let did = match (changed, deleted) {
            (0, 0) if self.count("not_shown") == 0 && self.changes().next().is_none() => {
                "it changed nothing".to_owned()
            }
            (0, 0) => "it changed folders".to_owned(),
            (changed, 0) => format!("{} changed", files(changed)),
            (0, deleted) => format!("{} deleted", files(deleted)),
            (changed, deleted) => format!("{} changed, {deleted} deleted", files(changed)),
        };
        let ignored = match self.count("ignored") {
            0 => String::new(),
            n => format!(" ({n} of them ignored by git)"),
        };
        let kept = match self.0.pointer("/layer/files").and_then(Value::as_u64) {
            None | Some(0) => String::new(),
            Some(n) => format!("; {} ignored by git, kept for this run only", files(n)),
        };
        let code = self.0.get("exit_code").and_then(Value::as_i64);
        let ended = code.map(|code| format!("; exit code {code}")).unwrap_or_default();
        let after = self.0.get("duration_ms").and_then(Value::as_u64);
        let after =
            after.map(|ms| format!(" after {}.{} s", ms / 1_000, ms % 1_000 / 100)).unwrap_or_default();
        let tests: Vec<&str> = self.tests().collect();
        let tests = if tests.is_empty() {
            String::new()
        } else {
            format!("; tests, as the command reports: {}", tests.join("; "))
        };
        let outside = match self.count("outside") {
            0 => String::new(),
            n => format!("; {n} {OUTSIDE}"),
        };
        format!("{did}{ignored}{kept}{outside}{ended}{after}{tests}")
    }

    /// Returns the test results that the command's output claims. They are not verified, because any command can print
    /// them.
    fn tests(self) -> impl Iterator<Item = &'a str> {
        self.0.get("tests").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns the part of the command's output that the card contains. The end of a long output is always included.
    pub fn output(self) -> &'a str {
        self.0.get("output").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns one description for each change to the Git repository.
    pub fn git(self) -> impl Iterator<Item = &'a str> {
        self.0.get("git").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns the heading on the card: `Tried`, `Undo` or `Merge`.
    pub fn head(self) -> &'static str {
        if self.is_undo() {
            "Undo"
        } else if self.0.get("merge").is_some() {
            "Merge"
        } else {
            "Tried"
        }
    }

    /// Returns true if the card shows an undo instead of a trial. An undo has no command.
    pub fn is_undo(self) -> bool {
        self.0.get("undo").is_some()
    }

    /// Returns one line for each path that an undo leaves unchanged, with the reason. The last line counts the paths
    /// that do not fit on the card.
    pub fn left(self) -> Vec<String> {
        let items = |key: &str| self.0.get(key).and_then(Value::as_array).into_iter().flatten();
        let of_path = |each: &Value| {
            let text = |key: &str| each.get(key).and_then(Value::as_str).unwrap_or_default();
            let why = match text("why") {
                "changed_since" => "it was changed since",
                "changed_in_between" => "another writer changed it in between",
                "as_before" => "it is already in its earlier state",
                "not_empty" => "the run did not create or change it",
                "holds_others" => "it contains content that the run did not create",
                _ => "its earlier state is not stored",
            };
            format!("left unchanged: {} ({why})", text("path"))
        };
        let unknown =
            |each: &Value| format!("its changes are unknown: {}", each.as_str().unwrap_or_default());
        let mut lines: Vec<String> =
            items("left").map(of_path).chain(items("unknown").map(unknown)).collect();
        let more = self.count("not_undone").saturating_sub(lines.len() as u64);
        if more > 0 {
            lines.push(format!("{more} more paths are not undone"));
        }
        lines
    }

    /// Returns the changes that the trial found, deletions first.
    pub fn changes(self) -> impl Iterator<Item = TrialChange<'a>> {
        self.0.get("changes").and_then(Value::as_array).into_iter().flatten().map(TrialChange)
    }

    /// Returns the paths whose changes a person can keep or drop one by one. Returns none if the person can only keep
    /// or drop all changes together.
    pub fn parts(self) -> impl Iterator<Item = &'a str> {
        let parts = self.0.pointer("/keep/parts").and_then(Value::as_array);
        parts.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns the number of changed paths that do not fit on the card. If a person keeps only some paths, these are
    /// dropped.
    pub fn parts_not_shown(self) -> u64 {
        self.0.pointer("/keep/not_shown").and_then(Value::as_u64).unwrap_or(0)
    }

    /// Describes the changes that the card does not show, or returns `None` if it shows all of them. The content of
    /// files that are not text or are below `.git` is not counted as missing.
    pub fn unseen(self) -> Option<String> {
        self.unseen_among(self.count("not_shown"), |_| true)
    }

    /// Describes the changes that a person would keep although the card does not show them. `kept` lists the paths to
    /// keep. All others are dropped.
    pub fn unseen_of(self, kept: &[String]) -> Option<String> {
        let parts = || self.parts().chain(kept.iter().map(String::as_str));
        let is_kept = |path: &str| {
            let part = parts().filter(|part| lies_in(path, part)).max_by_key(|part| part.len());
            part.is_some_and(|part| kept.iter().any(|kept| kept == part))
        };
        let at = |part: &str| self.changes().find(|change: &TrialChange<'_>| change.path() == part);
        // A part below `.git`, or a part that replaced a path, also contains all paths below it, even those that are
        // not listed.
        let holds_others = |part: &String| {
            is_of_git(part) || at(part).is_some_and(|change| change.text("does") == Some("replaced"))
        };
        let more = self.count("not_shown");
        let paths = if kept.iter().any(holds_others) {
            more
        } else {
            more.min(kept.iter().filter(|part| at(part).is_none()).count() as u64)
        };
        self.unseen_among(paths, is_kept)
    }

    fn unseen_among(self, paths: u64, is_meant: impl Fn(&str) -> bool) -> Option<String> {
        let meant = || self.changes().filter(|change: &TrialChange<'_>| is_meant(change.path()));
        let undrawn = meant().filter(|change| change.is_undrawn()).count();
        let lines: usize = meant()
            .filter_map(|change| change.diff().filter(|diff| diff.truncated))
            .map(|diff| {
                let (added, removed) = diff.undrawn();
                added + removed
            })
            .sum();
        let told = [
            (paths > 0)
                .then(|| if paths == 1 { "1 more path".to_owned() } else { format!("{paths} more paths") }),
            (undrawn > 0).then(|| format!("the changes in {undrawn} of the files above")),
            (lines > 0).then(|| match lines {
                1 => "1 more changed line".to_owned(),
                _ => format!("{lines} more changed lines"),
            }),
        ];
        let told: Vec<String> = told.into_iter().flatten().collect();
        (!told.is_empty()).then(|| format!("Not shown here: {}.", told.join(", ")))
    }
}

impl<'a> TrialChange<'a> {
    fn text(self, key: &str) -> Option<&'a str> {
        self.0.get(key)?.as_str()
    }

    pub fn path(self) -> &'a str {
        self.text("path").unwrap_or_default()
    }

    pub fn is_folder(self) -> bool {
        self.text("kind") == Some("folder")
    }

    pub fn is_deletion(self) -> bool {
        self.text("does") == Some("deleted")
    }

    pub fn is_ignored(self) -> bool {
        self.0.get("ignored").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns true if the task mentions paths, but not the path of this change.
    pub fn is_outside(self) -> bool {
        is_outside(self.0)
    }

    pub fn diff(self) -> Option<Diff> {
        Diff::from_payload(self.0)
    }

    /// Returns true for a changed text file without a diff on the card.
    fn is_undrawn(self) -> bool {
        let has_text = self.text("kind") == Some("file")
            && matches!(self.text("does"), Some("created" | "changed" | "replaced" | "deleted"))
            && !is_of_git(self.path());
        has_text && ["diff", "not_text"].iter().all(|key| self.0.get(key).is_none())
    }

    /// Returns the kind of change: `created`, `changed`, `deleted`, `replaced` or `mode`.
    pub fn does(self) -> &'a str {
        self.text("does").unwrap_or("changed")
    }

    /// Describes the change in a few words: `created, 120 bytes`, `deleted`, `mode 600`, `link to a.txt`.
    pub fn describe(self) -> String {
        let does = self.does();
        let mut words = if does == "mode" { Vec::new() } else { vec![does.to_owned()] };
        if self.is_folder() {
            words.push("a folder".to_owned());
        }
        if let Some(target) = self.text("target") {
            words.push(format!("link to {target}"));
        }
        if let Some(mode) = self.text("mode") {
            words.push(format!("mode {mode}"));
        }
        match self.0.get("bytes").and_then(Value::as_u64) {
            Some(1) => words.push("1 byte".to_owned()),
            Some(bytes) => words.push(format!("{bytes} bytes")),
            None => {}
        }
        if self.is_ignored() {
            words.push("ignored by git".to_owned());
        }
        if self.is_outside() {
            words.push(OUTSIDE.to_owned());
        }
        words.join(", ")
    }
}

fn is_of_git(path: &str) -> bool {
    path.split('/').any(|name| name.eq_ignore_ascii_case(".git"))
}

fn lies_in(path: &str, part: &str) -> bool {
    path.strip_prefix(part).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}
