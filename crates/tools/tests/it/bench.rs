//! Test bench: a separate workspace, data folder and home folder for each test, with tools over them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use holdshort_core::digest::Digest;
use holdshort_core::tool::{CommandEffect, Inspection, InspectionOutcome, Outcome, Precondition};
use holdshort_tools::{Call, Committed, InspectionResult, Settings, Tools, Workspace};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Path of the program with the hidden subcommand that starts the sandbox.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_holdshort-sandbox-exec");

pub(crate) struct Bench {
    pub root: Root,
    pub tools: Tools,
}

/// Folder of a test bench, which is removed with the bench that owns it.
pub(crate) struct Root {
    path: PathBuf,
    _own: Option<TempDir>,
}

impl Root {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// Returns a test bench whose tools have changed settings.
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), change)
    }

    /// Returns a test bench whose folder is created in `folder`, outside the temporary folder of the system.
    pub(crate) fn beneath(folder: &Path) -> Self {
        Self::in_folder(tempfile::tempdir_in(folder).unwrap(), |_| {})
    }

    fn in_folder(root: TempDir, change: impl FnOnce(&mut Settings)) -> Self {
        for folder in ["workspace", "data", "home"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let root = Root { path: root.path().to_owned(), _own: Some(root) };
        Self { tools: tools(&root.path, change), root }
    }

    /// Returns a bench over the folder of an existing bench, possibly in another process. The existing bench removes
    /// the folder.
    pub(crate) fn over(root: &Path) -> Self {
        Self { tools: tools(root, |_| {}), root: Root { path: root.to_owned(), _own: None } }
    }

    /// Returns a second set of tools over the workspace of the bench.
    pub(crate) fn tools_with(&self, change: impl FnOnce(&mut Settings)) -> Tools {
        tools(self.root.path(), change)
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.path().join("workspace").join(path)
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn content(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    pub(crate) async fn inspect(&self, tool: &str, arguments: Value) -> InspectionOutcome {
        self.tools.inspect(&call(tool, arguments)).await.inspected
    }

    pub(crate) async fn ready(&self, tool: &str, arguments: Value) -> Inspection {
        match self.inspect(tool, arguments).await {
            InspectionOutcome::Ready(inspection) => inspection,
            InspectionOutcome::Impossible { code, message } => panic!("{code}: {message}"),
        }
    }

    /// Inspects a tool call. Returns the code of its refusal, or `ready`.
    pub(crate) async fn code(&self, tool: &str, arguments: Value) -> &'static str {
        match self.inspect(tool, arguments).await {
            InspectionOutcome::Ready(_) => "ready",
            InspectionOutcome::Impossible { code, .. } => code,
        }
    }

    pub(crate) async fn run(&self, tool: &str, arguments: Value, preconditions: &[Precondition]) -> Outcome {
        self.run_as(tool, arguments, preconditions, &CommandEffect::Workspace).await
    }

    pub(crate) async fn run_as(
        &self,
        tool: &str,
        arguments: Value,
        preconditions: &[Precondition],
        effect: &CommandEffect,
    ) -> Outcome {
        let call = call(tool, arguments);
        match self.tools.inspect(&call).await {
            InspectionResult { inspected: InspectionOutcome::Ready(inspection), bodies }
                if inspection.proposed.is_some() =>
            {
                self.commit(inspection, &bodies, preconditions)
            }
            _ => self.tools.run(&call, preconditions, Some(effect), |_| {}).await,
        }
    }

    /// Commits the proposed changes of a tool call, as the engine does.
    fn commit(&self, look: Inspection, bodies: &[Vec<u8>], preconditions: &[Precondition]) -> Outcome {
        let Inspection { preconditions: relies_on, proposed, .. } = look;
        let proposed = proposed.expect("it changes a file");
        let stale = relies_on.into_iter().filter(|each| !preconditions.contains(each));
        let stale: Vec<String> = stale.map(|each| each.path).collect();
        if !stale.is_empty() {
            return Outcome::Changed { paths: stale };
        }
        let body = |digest| Ok(bodies.iter().find(|body| Digest::of_bytes(body) == digest).unwrap().clone());
        match self.tools.commit(&proposed.changeset, body, false) {
            Committed::Done => Outcome::Done { text: proposed.text, data: proposed.data },
            Committed::Conflict { paths, .. } => Outcome::Changed { paths },
            Committed::Failed { text, .. } => Outcome::Failed { text },
        }
    }

    pub(crate) async fn go(&self, tool: &str, arguments: Value) -> Outcome {
        let inspection = self.ready(tool, arguments.clone()).await;
        self.run(tool, arguments, &inspection.preconditions).await
    }

    /// Runs a command line. Returns the text for the model, and the data of the result.
    pub(crate) async fn command(&self, line: &str) -> (String, Value) {
        match self.run("run_command", json!({"command": line}), &[]).await {
            Outcome::Done { text, data } => (text, data),
            other => panic!("{line}: {other:?}"),
        }
    }

    /// Runs a command line that may write only what `effect` allows.
    pub(crate) async fn command_as(&self, line: &str, effect: &CommandEffect) -> Outcome {
        self.run_as("run_command", json!({"command": line}), &[], effect).await
    }

    /// Runs a command line. Returns its outcome and the pieces of its live output.
    pub(crate) async fn watched(&self, line: &str) -> (Outcome, Vec<String>) {
        let seen = Mutex::new(Vec::new());
        let call = call("run_command", json!({"command": line}));
        let show = |chunk: &str| seen.lock().unwrap().push(chunk.to_owned());
        let outcome = self.tools.run(&call, &[], Some(&CommandEffect::Workspace), show).await;
        (outcome, seen.into_inner().unwrap())
    }
}

fn tools(root: &Path, change: impl FnOnce(&mut Settings)) -> Tools {
    let mut settings = Settings::new(PROGRAM.into(), root.join("data"));
    settings.home = Some(root.join("home"));
    "/usr/local/bin:/usr/bin:/bin".clone_into(&mut settings.path);
    change(&mut settings);
    let workspace = Workspace::open(&root.join("workspace"), &root.join("data")).unwrap();
    Tools::new(workspace, settings)
}

pub(crate) fn call(tool: &str, arguments: Value) -> Call {
    Call { tool: tool.to_owned(), arguments }
}

pub(crate) fn text(outcome: Outcome) -> String {
    match outcome {
        Outcome::Done { text, .. } => text,
        other => panic!("{other:?}"),
    }
}

/// Returns the names of a folder's entries, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn is_running(marker: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().bytes().all(|b| b.is_ascii_digit())
            && fs::read(entry.path().join("cmdline")).is_ok_and(|line| {
                // A whole argument must match. Therefore the search finds the sleeping program, but not the shells and
                // stages that quote the marker.
                line.split(|b| *b == 0).any(|argument| argument == marker.as_bytes())
            })
    })
}

/// Waits until `happened` returns true. Fails after 20 seconds.
pub(crate) fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !happened() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::yield_now();
    }
}
