//! Tests the programs in `examples/mars`, with a person at a terminal.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{PATIENCE, TestServer};
use serde_json::{Value, json};

use super::{plan, planned};
use crate::play::{count, done, one, write};
use crate::python::python;

struct Terminal {
    child: Child,
    keys: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Terminal {
    fn open(server: &TestServer, id: &str) -> Self {
        let config = json!({"mode": "step_by_step", "n_plan_reviews": 0, "tool_approval": "prompt"});
        Self::start_with_config(server, id, &config)
    }

    fn start_with_config(server: &TestServer, id: &str, config: &Value) -> Self {
        let config = config.to_string();
        Self::run(server, "client.py", &["--id", id, "--config", &config, "Build it."])
    }

    fn run(server: &TestServer, program: &str, arguments: &[&str]) -> Self {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mars");
        let mut child = python()
            .arg(format!("{examples}/{program}"))
            .arg("--work-dir")
            .arg(server.workspace())
            .args(arguments)
            // Python's cache files must not appear among the examples.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("HOLDSHORT_URL", server.base())
            .env("HOLDSHORT_TOKEN", server.token())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (tell, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self { keys: child.stdin.take(), child, lines, seen: Vec::new() }
    }

    /// Reads lines until one begins with this text. Returns that line.
    fn until(&mut self, start: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                panic!("`{start}` does not come after\n{}", self.seen.join("\n"));
            };
            self.seen.push(line.clone());
            if line.starts_with(start) {
                return line;
            }
        }
    }

    fn type_in(&mut self, text: &str) {
        writeln!(self.keys.as_mut().unwrap(), "{text}").unwrap();
    }

    fn exit_code(&mut self) -> Option<i32> {
        drop(self.keys.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A person at a terminal answers requests (contracts A31, E34). Free text must be confirmed, and the end of input ends
/// the client.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_at_the_terminal() {
    let drafts = [plan(&[("build", "engineer")]), plan(&[("build with tests", "engineer")])];
    let (model, server) = planned(&drafts).await;
    let (tool, arguments) = count("step");
    let call = (tool.to_owned(), arguments);
    let says = Scripted::Calls { text: "I count.\u{1b}[2J".to_owned(), calls: vec![call] };
    model.script("engineer", [says, done()]);
    let mut terminal = Terminal::open(&server, "t1");
    terminal.until("holds at after_planning");
    terminal.until("  - build (engineer)");
    let asked = terminal.until("? ");
    assert!(asked.ends_with("[y = approve, n = reject, or your own words]"), "{asked}");
    terminal.type_in("add tests");
    assert_eq!(terminal.until("? "), "? \"add tests\" means: revise. Send it? [y/n]");
    terminal.type_in("y");
    terminal.until("revise by operator: approved is False");
    terminal.until("  - build with tests (engineer)");
    terminal.until("? ");
    // At the end of the input the client exits, but the task still waits.
    assert_eq!(terminal.exit_code(), Some(4));
    assert_eq!(server.lines("count.txt"), 0);

    let mut terminal = Terminal::open(&server, "t1");
    // The client shows previous decisions, and does not ask for them again.
    terminal.until("holds at after_planning");
    terminal.until("revise by operator");
    assert!(!terminal.seen.iter().any(|line| line.starts_with('?')), "{:?}", terminal.seen);
    terminal.until("holds at after_planning");
    terminal.until("? ");
    terminal.type_in("");
    terminal.until("? ");
    terminal.type_in("y");
    terminal.until("approve by operator: approved is True");
    terminal.until("holds at before_step");
    terminal.until("? ");
    terminal.type_in("only the fast ones");
    terminal.until("? \"only the fast ones\" means: approve");
    terminal.type_in("y");
    // Text from an agent is marked as such, and its control characters are escaped.
    terminal.until("engineer: I count.\\u{1b}[2J");
    terminal.until("holds at tool_approval: run_command");
    terminal.until("  engineer says: I count.\\u{1b}[2J");
    terminal.until("? ");
    terminal.type_in("y");
    terminal.until("allow by operator: approved is True");
    terminal.until("completed: done");
    assert_eq!((terminal.exit_code(), server.lines("count.txt")), (Some(0), 1));
    assert!(model.requests_of("engineer")[0].texts().join("\n").contains("only the fast ones"));
    let runs = server.get("/v1/runs").await.ok();
    assert_eq!(runs["items"].as_array().map(Vec::len), Some(1));
}

/// A person at a terminal answers requests about steps (contract A31). Each letter is offered only where it is valid.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_answers_around_steps() {
    let (_model, server) = planned(&[plan(&[("build", "engineer"), ("ship", "engineer")])]).await;
    let config = json!({"mode": "hitl-interactive", "n_plan_reviews": 0});
    let mut terminal = Terminal::start_with_config(&server, "t1", &config);
    for (holds, keys, answer, then) in [
        ("after_planning", "[y = approve, n = reject, or your own words]", "y", "approve by"),
        ("before_step", "[y = approve, n = reject, s = skip, or your own words]", "y", "approve by"),
        ("after_step", "[c = continue, r = redo, a = abort, or your own words]", "c", "continue by"),
        ("before_step", "[y = approve, n = reject, s = skip, or your own words]", "s", "skip by"),
    ] {
        terminal.until(&format!("holds at {holds}"));
        let asked = terminal.until("? ");
        assert!(asked.ends_with(keys), "{asked}");
        terminal.type_in(answer);
        terminal.until(then);
    }
    terminal.until("completed: ");
    assert_eq!((terminal.exit_code(), server.lines("count.txt")), (Some(0), 1));
}

/// Flow 1 (contract A26) with `copilot.py`: a vague task is clarified, planned, approved, carried out and adapted. The
/// next message can refer to that task.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_with_a_copilot() {
    let model = ScriptedModel::start().await;
    let steps = json!({"subtasks": [{"id": "greet", "description": "Write hello.txt", "agent": "copilot"}]});
    model.script("planner", [Scripted::text(steps.to_string()).repeat()]);
    model.script("plan_reviewer", [Scripted::text("Fine.").repeat()]);
    for reply in [
        one(("invoke_planning_phase", json!({"task": "write a greeting into hello.txt"}))),
        one(write("hello.txt", "hello\n")),
        Scripted::text("hello.txt greets."),
        one(write("hello.txt", "ciao\n")),
        Scripted::text("It says ciao."),
        Scripted::text("It says ciao, as you wanted."),
    ] {
        model.push("copilot", reply);
    }
    let server = TestServer::setup().model(&model).start().await;
    // Rules route the task, so that the model receives only requests for the work. Each change needs an approval.
    let config = json!({"use_copilot_control": false, "tool_approval": "prompt"}).to_string();
    let mut terminal = Terminal::run(&server, "copilot.py", &["--config", &config]);
    terminal.until("> ");
    terminal.type_in("fix it");
    for (holds, keys, answer, then) in [
        ("clarification", "[s = skip, or your own words]", "write a greeting into hello.txt", "submit by"),
        ("after_planning", "[y = approve, n = reject, or your own words]", "y", "approve by"),
        ("tool_approval", "[y = allow, s = allow_session, n = deny, or your own words]", "y", "allow by"),
        (
            "satisfaction",
            "[y = satisfied, o = start_over, or your own words]",
            "in Italian",
            "needs_changes by",
        ),
        ("tool_approval", "[y = allow, s = allow_session, n = deny, or your own words]", "y", "allow by"),
        ("satisfaction", "[y = satisfied, o = start_over, or your own words]", "y", "satisfied by"),
    ] {
        terminal.until(&format!("holds at {holds}"));
        let mut asked = terminal.until("? ");
        // Several questions take a line each.
        while !asked.ends_with(keys) {
            asked = terminal.until("");
        }
        if answer == "in Italian" {
            assert_eq!(std::fs::read_to_string(server.workspace().join("hello.txt")).unwrap(), "hello\n");
        }
        terminal.type_in(answer);
        terminal.until(then);
    }
    terminal.until("completed: ");
    assert_eq!(std::fs::read_to_string(server.workspace().join("hello.txt")).unwrap(), "ciao\n");
    let told = |n: usize| model.requests_of("copilot")[n].texts().join("\n");
    assert!(told(0).contains("write a greeting into hello.txt"), "{}", told(0));
    assert!(told(1).contains("Write hello.txt") && told(3).contains("in Italian"), "{}", told(3));

    terminal.until("> ");
    terminal.type_in("say in one sentence which language it speaks now");
    terminal.until("copilot: It says ciao, as you wanted.");
    terminal.until("holds at satisfaction");
    terminal.until("? ");
    terminal.type_in("y");
    terminal.until("completed: ");
    assert!(told(5).contains("fix it") && told(5).contains("It says ciao."), "{}", told(5));
    terminal.until("> ");
    terminal.type_in("");
    terminal.until("ended; go on with --session ses_");
    assert_eq!(terminal.exit_code(), Some(0));
    let sessions = server.get("/v1/sessions").await.ok();
    assert_eq!(sessions["items"].as_array().map(Vec::len), Some(1));
}
