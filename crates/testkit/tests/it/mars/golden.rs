//! Complete stories. The client must receive exactly the frames in `golden/`. `UPDATE_SNAPSHOTS=1` rewrites these
//! files.

use std::fmt::Write;
use std::path::Path;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Mars, around_steps as config, check_invariants, plan};
use crate::play::{ask, count, done, one, write};

/// Scenario whose frames are compared with a golden file.
struct Story<'s> {
    server: &'s TestServer,
    mars: Mars,
    /// Responses to `request_state`, in order.
    statuses: Vec<Value>,
}

impl<'s> Story<'s> {
    async fn start(server: &'s TestServer, config: Value) -> Self {
        Self { server, mars: Mars::start(server, "t1", "Build it.", config).await, statuses: Vec::new() }
    }

    async fn wait_for_request(&mut self) -> Value {
        self.mars.wait_for_request().await
    }

    async fn resolve(&mut self, asked: &Value, resolution: &str, feedback: &str) {
        let more = if feedback.is_empty() { json!({}) } else { json!({ "feedback": feedback }) };
        self.mars.resolve(asked, resolution, more).await;
    }

    async fn say(&mut self, kind: &str, until: &str) {
        self.mars.say(&json!({ "type": kind })).await;
        self.mars.wait(until).await;
    }

    async fn status(&mut self) {
        self.mars.say(&json!({ "type": "request_state" })).await;
        let status = self.mars.wait("status").await;
        self.statuses.push(status);
    }

    /// Ends the scenario, compares its frames with the golden file, and checks that a replay from the first event is
    /// equal.
    async fn is(mut self, name: &str) {
        self.status().await;
        check_invariants(self.server, &self.mars).await;
        let told = self.mars.journal_frames();
        let mut again = Mars::connect(self.server, "t1").await;
        again.say(&json!({ "type": "request_state", "since": 0 })).await;
        while again.journal_frames().len() < told.len() {
            again.next().await;
        }
        assert_eq!(again.journal_frames(), told, "{name}: told again");
        let mut text = String::new();
        for frame in told.iter().chain(&self.statuses) {
            writeln!(text, "{frame}").unwrap();
        }
        compare(name, &settle(&text, &self.server.workspace()));
    }
}

fn compare(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/mars/golden/{name}.jsonl"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    for (n, (golden, found)) in golden.lines().zip(found.lines()).enumerate() {
        assert_eq!(golden, found, "{name}, line {}", n + 1);
    }
    assert_eq!(golden.lines().count(), found.lines().count(), "{name}");
}

/// Replaces the parts of a text that differ from run to run. Ids become numbers. Timestamps, directories, digests and
/// durations become placeholders.
fn settle(text: &str, workspace: &Path) -> String {
    let text = text.replace(workspace.to_str().unwrap(), "WORK");
    let mut ids: Vec<String> = Vec::new();
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let taken = if let Some(id) = id(rest) {
            let known = ids.iter().position(|known| known == id);
            let n = known.unwrap_or_else(|| {
                ids.push(id.to_owned());
                ids.len() - 1
            });
            write!(out, "{}{}", &id[..4], n + 1).unwrap();
            id.len()
        } else if let Some(time) = time(rest) {
            out.push_str("TIME");
            time
        } else if is_digest(rest) {
            out.push_str("DIGEST");
            64
        } else if let Some(spent) = rest.strip_prefix("\"duration_ms\":") {
            out.push_str("\"duration_ms\":0");
            rest.len() - spent.trim_start_matches(|c: char| c.is_ascii_digit()).len()
        } else if let Some(length) = spent(rest) {
            out.push_str(" after DURATION");
            length
        } else if rest.starts_with("\"over\":\"copy\"") {
            // A machine that does not allow an overlay tries commands on a copy.
            out.push_str("\"over\":\"overlay\"");
            "\"over\":\"copy\"".len()
        } else if let Some(spent) = rest.strip_prefix("\"ms\":") {
            out.push_str("\"ms\":0");
            rest.len() - spent.trim_start_matches(|c: char| c.is_ascii_digit()).len()
        } else if let Some(after) = rest.strip_prefix(" tokens, ") {
            out.push_str(" tokens, DURATION");
            after.find('.').map_or(rest.len(), |end| rest.len() - after.len() + end)
        } else {
            out.push(c);
            c.len_utf8()
        };
        rest = &rest[taken..];
    }
    out
}

fn id(text: &str) -> Option<&str> {
    let known = ["run_", "int_", "ses_", "grt_"].iter().any(|prefix| text.starts_with(prefix));
    let id = text.get(..30).filter(|_| known)?;
    id[4..].bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(id)
}

/// Returns the length of the RFC 3339 timestamp at the beginning of the text.
fn time(text: &str) -> Option<usize> {
    let time = text.get(..24)?;
    let fits = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        19 => byte == b'.',
        23 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    time.bytes().enumerate().all(fits).then_some(24)
}

/// Returns the length of words such as ` after 2.1 s` at the beginning of the text.
fn spent(text: &str) -> Option<usize> {
    let seconds = text.strip_prefix(" after ")?;
    let after = seconds.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').strip_prefix(" s")?;
    Some(text.len() - after.len()).filter(|_| seconds.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_digest(text: &str) -> bool {
    text.get(..64).is_some_and(|digest| digest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

async fn planned(plans: &[Scripted]) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    model.script("task_improver", [Scripted::text("Build it well.").repeat()]);
    model.script("planner", plans);
    let server = TestServer::setup().model(&model).start().await;
    (model, server)
}

/// Sets the replies of an agent. The order of these replies does not depend on the requests.
fn says(model: &ScriptedModel, agent: &str, all: impl IntoIterator<Item = Scripted>) {
    for each in all {
        model.push(agent, each);
    }
}

fn calls(calls: Vec<(&str, Value)>) -> Scripted {
    let calls = calls.into_iter().map(|(tool, arguments)| (tool.to_owned(), arguments)).collect();
    Scripted::Calls { text: "I write.".to_owned(), calls }
}

/// A plan is paused, revised, approved, and replaced while it runs. One step fails, is retried, and is redone. A second
/// step is skipped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_with_every_turn() {
    let (model, server) = planned(&[plan(&[("build", "engineer")]), plan(&[("build", "engineer")])]).await;
    let fails = one(("run_command", json!({"command": "false"})));
    says(&model, "engineer", [fails, one(count("step")), done(), one(count("step")), done()]);
    let settings = json!({"mode": "hitl-interactive", "n_plan_reviews": 0, "max_human_iterations": 2});
    let mut story = Story::start(&server, settings).await;
    let asked = story.wait_for_request().await;
    story.say("pause", "workflow_paused").await;
    story.status().await;
    story.say("resume", "workflow_resumed").await;
    story.resolve(&asked, "revise", "add tests").await;
    let asked = story.wait_for_request().await;
    story.resolve(&asked, "approve", "").await;
    let before = story.wait_for_request().await;
    let run = story.mars.run();
    let plans = server.get(&format!("/v1/runs/{run}/plans")).await.ok();
    let phase = plans["items"][0]["phase"].as_str().unwrap();
    let more = json!({"subtasks": [
        {"id": "s1", "description": "build\n- carefully", "agent": "engineer"},
        {"id": "s2", "description": "skip me", "depends_on": ["s1"]},
    ]});
    let put = server.request(Method::PUT, &format!("/v1/runs/{run}/plans/{phase}"));
    server.send(put.json(&json!({"plan": more}))).await.ok();
    let newer = story.wait_for_request().await;
    story.status().await;
    story.resolve(&newer, "approve", "").await;
    story.mars.wait("dag_updated").await;
    story.resolve(&before, "approve", "only the fast ones").await;
    let failed = story.wait_for_request().await;
    story.resolve(&failed, "retry", "once more").await;
    let after = story.wait_for_request().await;
    story.resolve(&after, "redo", "use ISO").await;
    let after = story.wait_for_request().await;
    story.resolve(&after, "continue", "").await;
    let second = story.wait_for_request().await;
    story.resolve(&second, "skip", "").await;
    story.mars.wait("workflow_completed").await;
    story.is("plan").await;
}

/// Two open requests of one step are decided in both orders, with a pause before each decision.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_open_requests() {
    let steps = [("build", "engineer"), ("test", "engineer"), ("ship", "engineer")];
    let (model, server) = planned(&[plan(&steps)]).await;
    let two = |path: &str| calls(vec![ask("Which way?"), write(path, "x\n")]);
    says(&model, "engineer", [two("a.txt"), done(), two("b.txt"), done(), two("c/c.txt"), done()]);
    let mut settings = config("never");
    settings["tool_approval"] = json!("prompt");
    let mut story = Story::start(&server, settings).await;
    let question = story.wait_for_request().await;
    let write = story.wait_for_request().await;
    story.say("pause", "workflow_paused").await;
    story.status().await;
    story.resolve(&question, "submit", "left").await;
    story.resolve(&write, "deny", "not that one").await;
    story.say("resume", "workflow_resumed").await;
    let question = story.wait_for_request().await;
    let write = story.wait_for_request().await;
    story.resolve(&write, "deny", "").await;
    story.say("pause", "workflow_paused").await;
    story.resolve(&question, "submit", "right").await;
    story.status().await;
    story.say("resume", "workflow_resumed").await;
    let question = story.wait_for_request().await;
    let write = story.wait_for_request().await;
    story.resolve(&write, "allow_session", "").await;
    // The event of this write may arrive before or after the next frame.
    story.mars.wait("file_created").await;
    story.resolve(&question, "skip", "").await;
    story.mars.wait("workflow_completed").await;
    story.is("two_requests").await;
}

/// A person approves a tried command together with its changes. The frames about files are sent after the commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_was_tried() {
    let (_model, server) = super::changes::tried(&[crate::play::command(super::changes::LINE)]).await;
    let mut story = Story::start(&server, json!({ "tool_approval": "prompt" })).await;
    let asked = story.wait_for_request().await;
    story.resolve(&asked, "allow", "").await;
    story.mars.wait("workflow_completed").await;
    story.is("changes").await;
}

/// The provider fails once, and then permanently. The person retries, skips, or aborts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_fails() {
    let steps = [("build", "engineer"), ("test", "engineer"), ("ship", "engineer")];
    for (name, resolution, ends) in [
        ("retry", "retry", "workflow_completed"),
        ("skip", "skip", "workflow_completed"),
        ("abort", "abort", "workflow_failed"),
    ] {
        let (model, server) = planned(&[plan(&steps)]).await;
        says(
            &model,
            "engineer",
            [
                Scripted::status(500),
                calls(vec![write("notes/plan.md", "one\n")]),
                calls(vec![write("notes/plan.md", "two\n")]),
                done(),
                Scripted::status(400),
                Scripted::status(400),
                done(),
                done(),
            ],
        );
        let mut story = Story::start(&server, config("on_error")).await;
        let failed = story.wait_for_request().await;
        story.resolve(&failed, "retry", "").await;
        let failed = story.wait_for_request().await;
        story.status().await;
        story.resolve(&failed, resolution, "").await;
        story.mars.wait(ends).await;
        story.is(&format!("provider_{name}")).await;
    }
}

/// A subtask fails without a question, and the subtasks that depend on it are skipped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subtask_that_fails_alone() {
    let steps = json!([
        {"sub_task": "build", "sub_task_agent": "engineer"},
        {"sub_task": "test", "sub_task_agent": "engineer", "depends_on": ["s1"]},
    ]);
    let (model, server) = planned(&[Scripted::text(steps.to_string())]).await;
    says(&model, "engineer", [Scripted::status(400)]);
    let mut story = Story::start(&server, config("never")).await;
    story.mars.wait("workflow_completed").await;
    story.is("fails_alone").await;
}

/// An agent hands off to a second agent, which hands off to a person. A step is stopped at its limit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hand_offs_and_a_limit() {
    let (model, server) = planned(&[plan(&[("build", "engineer"), ("test", "engineer")])]).await;
    let over = |tool: &str, message: &str| Scripted::call(tool, json!({ "message": message }));
    says(
        &model,
        "engineer",
        [over("handoff_to_researcher", "Read it first."), one(count("a")), one(count("b"))],
    );
    says(&model, "researcher", [over("handoff_to_admin", "Two ways are open."), done()]);
    let mut settings = config("never");
    settings["use_ag2_handoffs"] = json!(true);
    settings["ag2_mandatory_checkpoints"] = json!([]);
    settings["max_rounds"] = json!(2);
    let mut story = Story::start(&server, settings).await;
    let asked = story.wait_for_request().await;
    story.resolve(&asked, "provide_instructions", "take the first").await;
    let limit = story.wait_for_request().await;
    story.resolve(&limit, "continue", "").await;
    let limit = story.wait_for_request().await;
    story.status().await;
    story.resolve(&limit, "finish", "").await;
    story.mars.wait("workflow_completed").await;
    story.is("hand_offs").await;
}

/// Checkpoints between phases (one of them needs no decision), a message, and a cancellation during the work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checkpoints_and_a_cancellation() {
    let (model, server) = planned(&[plan(&[("build", "engineer"), ("test", "engineer")])]).await;
    says(&model, "engineer", [one(("ask_human", json!({"question": "Which way?"}))), Scripted::hang()]);
    let settings = json!({"phases": [
        {"type": "hitl_checkpoint", "config": {"require_approval": false}},
        {"type": "planning", "config": {"n_plan_reviews": 0}},
        {"type": "hitl_checkpoint", "config": {"checkpoint_type": "after_planning"}},
        {"type": "control"},
    ]});
    let mut story = Story::start(&server, settings).await;
    let asked = story.wait_for_request().await;
    story.status().await;
    story.resolve(&asked, "approve", "mind the units").await;
    let question = story.wait_for_request().await;
    let run = story.mars.run();
    let said = server.request(Method::POST, &format!("/v1/runs/{run}/messages"));
    server.send(said.json(&json!({"text": "use ISO dates"}))).await.ok();
    story.mars.wait("agent_message").await;
    story.resolve(&question, "submit", "left").await;
    model.wait_for_requests(4).await;
    story.say("cancel", "workflow_cancelled").await;
    story.is("checkpoints").await;
}
