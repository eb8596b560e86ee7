//! The patch format of Codex' tool `apply_patch`. Only a patch whose lines are found exactly, and at one place, is
//! applied. Codex itself also accepts lines that differ in white space.

/// Change of one file in a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    path: String,
    action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Add(String),
    Delete,
    Update { moved_to: Option<String>, hunks: Vec<Hunk> },
}

/// Lines that are replaced, including their context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// Line after which the hunk is searched.
    after: Option<String>,
    old: Vec<String>,
    new: Vec<String>,
    at_end: bool,
}

/// Reads the files of a patch. `None`: the text has a different form.
pub(super) fn parse(text: &str) -> Option<Vec<FilePatch>> {
    let mut lines = text.trim().lines().peekable();
    if lines.next()?.trim() != "*** Begin Patch" {
        return None;
    }
    let mut files = Vec::new();
    loop {
        let line = lines.next()?;
        if line.trim() == "*** End Patch" {
            return (lines.next().is_none() && !files.is_empty()).then_some(files);
        }
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            let mut content = String::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("*** ")) {
                content.push_str(line.strip_prefix('+')?);
                content.push('\n');
            }
            files.push(FilePatch { path: path.to_owned(), action: Action::Add(content) });
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            files.push(FilePatch { path: path.to_owned(), action: Action::Delete });
        } else {
            let path = line.strip_prefix("*** Update File: ")?.to_owned();
            let moved = lines.next_if(|line| line.starts_with("*** Move to: "));
            let moved_to = moved.and_then(|line| line.strip_prefix("*** Move to: ")).map(str::to_owned);
            let mut hunks: Vec<Hunk> = Vec::new();
            while let Some(line) =
                lines.next_if(|line| !line.starts_with("*** ") || line.trim() == "*** End of File")
            {
                if line.trim() == "*** End of File" {
                    hunks.last_mut()?.at_end = true;
                } else if let Some(after) = line.strip_prefix("@@") {
                    let after = Some(after.trim_start().to_owned()).filter(|after| !after.is_empty());
                    hunks.push(Hunk { after, ..Hunk::default() });
                } else {
                    if hunks.is_empty() {
                        hunks.push(Hunk::default());
                    }
                    hunks.last_mut()?.add(line)?;
                }
            }
            files.push(FilePatch { path, action: Action::Update { moved_to, hunks } });
        }
    }
}

impl Hunk {
    fn add(&mut self, line: &str) -> Option<()> {
        let rest = || line.get(1..).unwrap_or_default().to_owned();
        match line.chars().next() {
            None => {
                self.old.push(String::new());
                self.new.push(String::new());
            }
            Some(' ') => {
                self.old.push(rest());
                self.new.push(rest());
            }
            Some('-') => self.old.push(rest()),
            Some('+') => self.new.push(rest()),
            Some(_) => return None,
        }
        Some(())
    }
}

impl FilePatch {
    /// Returns the paths that the patch writes or deletes.
    pub(super) fn into_paths(self) -> Vec<String> {
        let moved = match self.action {
            Action::Update { moved_to, .. } => moved_to,
            Action::Add(_) | Action::Delete => None,
        };
        std::iter::once(self.path).chain(moved).collect()
    }

    pub(super) fn apply(&self, before: Option<&str>) -> Option<String> {
        match (&self.action, before) {
            (Action::Add(content), None) => Some(content.clone()),
            (Action::Update { moved_to: None, hunks }, Some(before)) => apply(hunks, before),
            (Action::Add(_) | Action::Delete | Action::Update { .. }, _) => None,
        }
    }
}

fn apply(hunks: &[Hunk], before: &str) -> Option<String> {
    let mut lines: Vec<String> =
        before.strip_suffix('\n').unwrap_or(before).split('\n').map(str::to_owned).collect();
    let mut from = 0;
    for hunk in hunks {
        if let Some(after) = &hunk.after {
            let mut places = (from..lines.len()).filter(|at| lines[*at] == *after);
            from = places.next()? + 1;
            if places.next().is_some() {
                return None;
            }
        }
        if hunk.old.is_empty() {
            return None;
        }
        let fits = |at: &usize| lines[*at..].starts_with(&hunk.old);
        let mut places = (from..lines.len()).filter(fits);
        let at = places.next()?;
        let is_at_end = at + hunk.old.len() == lines.len();
        if places.next().is_some() || (hunk.at_end && !is_at_end) {
            return None;
        }
        lines.splice(at..at + hunk.old.len(), hunk.new.iter().cloned());
        from = at + hunk.new.len();
    }
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    Some(text)
}
