//! Payloads, arguments and endings that are no proper call: the tool does not run.

use std::process::Stdio;

use serde_json::json;
use tokio::process::Command;

use super::{Installed, ended, private, served};

#[tokio::test]
async fn what_is_not_a_payload_stops_the_tool() {
    let (server, _rules) = served().await;
    for cli in ["claude", "codex", "gemini", "cursor"] {
        let hook = Installed::new(&server, cli).await;
        let good = hook.line("ls", "t1").to_string();
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        let large = good.replace("\"ls\"", &format!("\"{}\"", "x".repeat(10 * 1024 * 1024)));
        let rows: Vec<(&str, Vec<u8>)> = vec![
            ("nothing", Vec::new()),
            ("a text", b"ls".to_vec()),
            ("half", good.as_bytes()[..good.len() / 2].to_vec()),
            ("two documents", format!("{good}{good}").into_bytes()),
            ("no UTF-8", [b"{\"a\": \"\xff\"}".to_vec(), good.clone().into_bytes()].concat()),
            ("a zero byte", good.replace("ls", "l\0s").into_bytes()),
            ("200 nested fields", good.replace("\"ls\"", &deep).into_bytes()),
            ("more than 10 MB", large.into_bytes()),
            (
                "another event",
                good.replace("ToolUse", "Compact")
                    .replace("BeforeTool", "PreCompress")
                    .replace("preToolUse", "stop")
                    .into_bytes(),
            ),
        ];
        for (what, payload) in rows {
            if what == "another event" && String::from_utf8_lossy(&payload) == good {
                continue;
            }
            let answered = ended(hook.start(&payload).await).await;
            assert!(answered.stops(), "{cli}, {what}: {answered:?}");
            assert_eq!(answered.code, 2, "{cli}, {what}: {answered:?}");
        }
        assert_eq!(hook.interrupts().await.len(), 0, "{cli}: nobody was asked");
    }
}

/// Control characters, long texts and strange names reach the person as text, or stop the call.
#[tokio::test]
async fn strange_texts_are_asked_about_or_stop_the_tool() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let asked = [
        ("Bash", json!({"command": "printf '\u{1b}[2J' > a"})),
        ("Bash", json!({"command": "touch \u{202e}a"})),
        ("Bash", json!({"command": format!("touch {}", "a ".repeat(60_000))})),
        ("Bash", json!({"command": "touch a", "description": "d".repeat(100_000)})),
        ("Bash", json!({"command": ["ls"]})),
        ("Bash", json!({})),
        ("Write", json!({"file_path": hook.root, "content": "x"})),
        ("Edit", json!({"file_path": "/dev/null", "old_string": "", "new_string": "x"})),
    ];
    for (at, (tool, input)) in asked.into_iter().enumerate() {
        let payload = hook.payload(tool, input, &format!("t{at}"));
        let (_, answered) = hook.decided(&payload, &json!({"option": "reject"})).await;
        assert!(answered.stops(), "{at}: {answered:?}");
    }
    let stopped =
        [("Bash\u{0}", json!({"command": "ls"})), (&"x".repeat(300), json!({})), ("a\u{1b}[31m", json!({}))];
    for (at, (tool, input)) in stopped.into_iter().enumerate() {
        let answered = hook.run(&hook.payload(tool, input, &format!("s{at}"))).await;
        assert!(answered.stops(), "{tool:?}: {answered:?}");
    }
}

#[tokio::test]
async fn wrong_arguments_and_files_stop_the_tool() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let config = hook.config_file();
    let rows: Vec<Vec<&str>> = vec![
        vec!["hook", "run"],
        vec!["hook", "run", "claude"],
        vec!["hook", "run", "copilot", "--config", config.to_str().unwrap()],
        vec!["hook", "run", "codex", "--config", config.to_str().unwrap()],
        vec!["hook", "run", "claude", "--config", "/does/not/exist"],
        vec!["hook", "run", "claude", "--config", "/"],
        vec!["hook", "ran"],
    ];
    for arguments in rows {
        let output = server.client_command().args(&arguments).stdin(Stdio::null()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
    for broken in ["", "{}", "null", "{\"cli\": \"claude\"}"] {
        private(&config, broken);
        let answered = hook.run(&hook.line("ls", "t1")).await;
        assert!(answered.stops() && answered.code == 2, "{broken:?}: {answered:?}");
    }
}

/// The state of a hook only serves to recognize repeated calls. A damaged state file stops each call until the file is
/// deleted, and the message names the file.
#[tokio::test]
async fn a_damaged_state_stops_the_tool() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    assert_eq!(hook.run(&hook.line("ls", "t1")).await.decision().0, "allow");
    let state = hook.config_file().with_file_name("state");
    let file = std::fs::read_dir(&state).unwrap().flatten().map(|file| file.path());
    let file = file.into_iter().find(|file| file.extension().is_some_and(|end| end == "json")).unwrap();
    private(&file, "{");
    let answered = hook.run(&hook.line("ls", "t2")).await;
    assert!(answered.stops() && answered.err.contains("delete it"), "{answered:?}");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(hook.run(&hook.line("ls", "t3")).await.decision().0, "allow");
}

#[tokio::test]
async fn a_hook_that_is_stopped_or_gets_no_end_of_its_payload_stops_the_tool() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "codex").await.with("timeout_ms", json!(2_000));
    // The coding agent never closes standard input.
    let mut command = Command::from(server.client_command());
    command.args(["hook", "run", "codex", "--config"]).arg(hook.config_file());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let input = child.stdin.take().unwrap();
    let answered = ended(child).await;
    assert!(answered.stops() && answered.code == 2, "{answered:?}");
    drop(input);

    let hook = hook.with("timeout_ms", json!(600_000));
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT, rustix::process::Signal::HUP]
    {
        let child = hook.start(hook.line(&format!("touch {signal:?}"), "t1").to_string()).await;
        let card = hook.open().await;
        let pid = rustix::process::Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
        let answered = ended(child).await;
        assert!(answered.stops() && answered.code == 2, "{signal:?}: {answered:?}");
        server.choose(&card, "reject").await;
    }
}
