//! Shared parts of the cases: a workflow with one agent and every tool, and short functions that build its calls.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

/// Workflow with one agent that allows reads and questions. All other calls need an approval.
pub(crate) const SOLO: &str = "
name: solo
agents:
  solo:
    instructions: Work.
    tools: [read_file, write_file, edit_file, run_command, ask_human, create_plan, request_review]
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  rules:
    - {tools: [read_file, ask_human], do: allow}
";

/// Starts a server with the workflow `SOLO`. The agent replies with these steps, by position.
pub(crate) async fn solo(steps: impl Into<Vec<Scripted>>) -> (ScriptedModel, TestServer) {
    play(SOLO, steps).await
}

/// Starts a server with a variant of `SOLO`. The agent replies with these steps, by position.
pub(crate) async fn play(workflow: &str, steps: impl Into<Vec<Scripted>>) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    model.script("solo", steps);
    let server = TestServer::setup().workflow("solo", workflow).model(&model).start().await;
    (model, server)
}

pub(crate) fn command(command: &str) -> (&'static str, Value) {
    ("run_command", json!({ "command": command }))
}

/// Returns a tool call of a command that appends a line to `count.txt`.
pub(crate) fn count(what: &str) -> (&'static str, Value) {
    command(&format!("echo {what} >> count.txt"))
}

pub(crate) fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": content }))
}

pub(crate) fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

pub(crate) fn ask(question: &str) -> (&'static str, Value) {
    ("ask_human", json!({ "question": question }))
}

pub(crate) fn one(call: (&'static str, Value)) -> Scripted {
    Scripted::calls([call])
}

pub(crate) fn done() -> Scripted {
    Scripted::text("Done.")
}

/// Returns the texts of the model's last request.
pub(crate) fn last_told(model: &ScriptedModel) -> String {
    model.requests().last().unwrap().texts().join("\n")
}
