//! Runs tools of a pack in a temporary workspace. Each bench serves one test.

use std::fs;
use std::path::PathBuf;

use holdshort_core::tool::Outcome;
use holdshort_tools::{Call, Settings, Tools, Toolset, Workspace};
use serde_json::Value;
use tempfile::TempDir;

/// A temporary workspace, the tools of a pack, and the input of one run.
#[derive(Debug)]
pub struct Bench {
    folder: TempDir,
    tools: Tools,
}

impl Bench {
    /// Creates a temporary workspace. `input` is the input of the run in whose name the pack's tools are called.
    pub fn new(toolset: &'static dyn Toolset, input: Value) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (workspace, data) = (folder.path().join("workspace"), folder.path().join("data"));
        for path in [&workspace, &data] {
            fs::create_dir(path).expect("a folder");
        }
        // None of these tools starts a program, so the sandbox program is never used.
        let mut settings = Settings::new(PathBuf::from("/nonexistent"), data.clone());
        settings.toolsets = vec![toolset];
        settings.input = input;
        let workspace = Workspace::open(&workspace, &data).expect("a workspace");
        Self { tools: Tools::new(workspace, settings), folder }
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join("workspace").join(path)
    }

    /// Writes a file into the temporary workspace and creates its parent directories.
    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("it lies in the workspace")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// Inspects a tool call, then runs it in the temporary workspace.
    pub async fn run(&self, tool: &str, arguments: Value) -> Outcome {
        let call = Call { tool: tool.to_owned(), arguments };
        self.tools.inspect(&call).await;
        self.tools.run(&call, &[], None, |_| {}).await
    }
}
