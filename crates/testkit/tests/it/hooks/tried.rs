//! Commands that the server tries before anybody is asked. The hook replaces them with a line that carries out exactly
//! the released changes.

use std::fs;
use std::process::{Command, Stdio};

use holdshort_testkit::server::real;
use serde_json::{Value, json};

use super::{Answered, Installed, ended, served};

/// Time-out of a hook that gives up. A trial gets a quarter of it.
const SHORT_MS: u64 = 16_000;

/// Time-out after which a call that is asked about fails the test.
const ENOUGH_MS: u64 = 20_000;

/// Returns the command line that replaced the original one.
fn replacement(answered: &Answered) -> String {
    let output = answered.json()["hookSpecificOutput"].clone();
    assert_eq!(output["permissionDecision"], "allow", "{answered:?}");
    output["updatedInput"]["command"].as_str().expect("a command").to_owned()
}

/// Runs a line as the coding agent would, and returns its code and its output.
async fn shell(hook: &Installed<'_>, line: &str) -> (i32, String, String) {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(&hook.root).stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn permission(hook: &Installed<'_>, line: &str) -> Value {
    let mut payload = hook.line(line, "");
    payload["hook_event_name"] = "PermissionRequest".into();
    payload.as_object_mut().unwrap().remove("tool_use_id");
    payload
}

fn read(hook: &Installed<'_>, name: &str) -> Option<String> {
    fs::read_to_string(hook.root.join(name)).ok()
}

fn not_tried(card: &Value) -> &str {
    let payload = &card["payload"];
    payload["not_tried"].as_str().or_else(|| payload["untried"].as_str()).unwrap_or_default()
}

#[tokio::test]
async fn a_released_command_never_runs_and_its_changes_are_carried_out_once() {
    let (server, _rules) = served().await;
    let hook = Installed::tried(&server, "claude").await;
    fs::write(hook.root.join("a.txt"), "one\n").unwrap();
    let line = "echo two >> a.txt; date +%N > nanos; echo done; echo oops >&2; exit 3";
    let input = json!({"command": line, "description": "Appends", "timeout": 5_000});
    let (card, answered) =
        hook.decided(&hook.payload("Bash", input, "t1"), &json!({"option": "approve"})).await;
    assert_eq!((card["payload"]["trial"]["files"].as_u64(), not_tried(&card)), (Some(2), ""), "{card:#}");
    assert_eq!(read(&hook, "a.txt").as_deref(), Some("one\n"), "a trial changes nothing");
    let replaced = replacement(&answered);
    let (program, id) = (real().display().to_string(), card["id"].as_str().unwrap());
    let begins = format!("{program} exec --config {} {id}.", hook.config_file().display());
    assert!(replaced.starts_with(&begins), "{replaced}");
    let input = answered.json()["hookSpecificOutput"]["updatedInput"].clone();
    assert_eq!((&input["description"], &input["timeout"]), (&json!("Appends"), &json!(5_000)));

    // A hook that is asked again about the call prints the same bytes.
    let again = hook
        .run(&hook.payload(
            "Bash",
            json!({"command": line, "description": "Appends", "timeout": 5_000}),
            "t1",
        ))
        .await;
    assert_eq!(again.out, answered.out);

    let shown = &card["payload"]["trial"]["changes"];
    let ran = shell(&hook, &replaced).await;
    assert_eq!(ran, (3, "done\n".to_owned(), "oops\n".to_owned()));
    assert_eq!(read(&hook, "a.txt").as_deref(), Some("one\ntwo\n"));
    let nanos = read(&hook, "nanos").unwrap();
    assert!(shown.to_string().contains(nanos.trim()), "the shown content is written: {nanos} {shown}");
    let (code, out, err) = shell(&hook, &replaced).await;
    assert!(code == 1 && out.is_empty() && err.contains("[approval_used]"), "{code} {err}");
}

#[tokio::test]
async fn a_command_that_a_rule_allows_as_reading_is_replaced_too() {
    let (server, _rules) = served().await;
    let hook = Installed::tried(&server, "claude").await;
    fs::write(hook.root.join("a.txt"), "one\n").unwrap();
    let replaced = replacement(&hook.run(&hook.line("cat a.txt", "t1")).await);
    assert_eq!(shell(&hook, &replaced).await, (0, "one\n".to_owned(), String::new()));
    // Only the rule of Claude Code itself can ask about the replacement, and nobody has approved it.
    let replaced = replacement(&hook.run(&hook.line("cat a.txt", "t2")).await);
    assert!(hook.run(&permission(&hook, &replaced)).await.stops());
    assert!(hook.interrupts().await.iter().all(|each| each["resolution"]["cause"] == "rule"));
}

#[tokio::test]
async fn gemini_and_codex_without_a_sandbox_get_the_replacement() {
    let (server, _rules) = served().await;
    let gemini = Installed::tried(&server, "gemini").await;
    let (_, answered) = gemini.decided(&gemini.line("echo 1 > g", ""), &json!({"option": "approve"})).await;
    let input = answered.json()["hookSpecificOutput"]["tool_input"].clone();
    assert_eq!(shell(&gemini, input["command"].as_str().unwrap()).await.0, 0);
    assert_eq!(read(&gemini, "g").as_deref(), Some("1\n"));

    let codex = Installed::tried(&server, "codex").await;
    let settings = codex.home().join(".codex/config.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "sandbox_mode = \"danger-full-access\"\n").unwrap();
    let (_, answered) = codex.decided(&codex.line("echo 1 > c", "t1"), &json!({"option": "approve"})).await;
    assert_eq!(shell(&codex, &replacement(&answered)).await.0, 0);
    assert_eq!(read(&codex, "c").as_deref(), Some("1\n"));
}

#[tokio::test]
async fn a_command_that_is_not_tried_says_why_and_runs_as_it_is() {
    let (server, _rules) = served().await;
    let hook = Installed::tried(&server, "claude").await;
    let bash = |line: &str| ("Bash", json!({ "command": line }));
    let rows = [
        (bash("curl http://127.0.0.1:1/"), "it may use the network"),
        (
            bash("python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80))'"),
            "it may need the network",
        ),
        (bash("sleep 600 &"), "it left a process running"),
        (("Bash", json!({"command": "make", "run_in_background": true})), "it runs in the background"),
        (bash("cd src && touch a"), "it changes the shell"),
        (bash("export A=b"), "it changes the shell"),
        (bash(". venv/bin/activate"), "it changes the shell"),
        (bash("vim a.txt"), "it needs a terminal"),
        (bash("sudo touch a"), "it needs the rights of another user"),
        (bash("echo x > /tmp/holdshort-left-by-a-trial"), "it wrote outside the folder"),
        (bash("touch /usr/x"), "the sandbox may have denied it something"),
    ];
    for (at, ((tool, input), why)) in rows.into_iter().enumerate() {
        let payload = hook.payload(tool, input.clone(), &format!("t{at}"));
        let (card, answered) = hook.decided(&payload, &json!({"option": "approve"})).await;
        assert!(not_tried(&card).starts_with(why), "{input}: {:#}", card["payload"]);
        let output = answered.json()["hookSpecificOutput"].clone();
        assert_eq!(
            (&output["permissionDecision"], &output["updatedInput"]),
            (&json!("allow"), &Value::Null),
            "{input}"
        );
    }

    // The own rules and the sandbox of the coding agent.
    let settings = hook.root.join(".claude/settings.local.json");
    let rows = [
        (json!({"permissions": {"deny": ["Bash(touch:*)"]}}), true),
        (json!({"permissions": {"ask": ["Bash"]}}), true),
        (json!({"permissions": {"deny": ["Read(./own.txt)"]}}), true),
        (json!({"permissions": {"deny": ["Bash(*wn.txt)"]}}), true),
        (json!({"permissions": {"deny": [format!("Edit(/{})", hook.root.join("own.txt").display())]}}), true),
        (json!({"permissions": {"deny": ["Edit(//elsewhere/own.txt)"]}}), false),
        (json!({"sandbox": {"enabled": true}}), true),
        (json!({"permissions": {"deny": "touch"}}), true),
        (json!({"permissions": {"deny": ["Bash(rm:*)", "WebFetch", "mcp__a__b"], "allow": ["Bash"]}}), false),
    ];
    for (at, (own, holds_back)) in rows.into_iter().enumerate() {
        fs::write(&settings, own.to_string()).unwrap();
        let payload = hook.line("touch own.txt", &format!("o{at}"));
        let (card, _) = hook.decided(&payload, &json!({"option": "reject"})).await;
        let is_tried = card["payload"]["trial"].is_object();
        assert_eq!(
            (not_tried(&card).contains("settings.local.json"), is_tried),
            (holds_back, !holds_back),
            "{own}: {card:#}"
        );
    }
    fs::remove_file(&settings).unwrap();

    for (cli, why) in
        [("codex", "it would be carried out inside the sandbox"), ("cursor", "the own rules of Cursor")]
    {
        let hook = Installed::tried(&server, cli).await;
        let (card, answered) = hook.decided(&hook.line("touch b", "t1"), &json!({"option": "approve"})).await;
        assert!(not_tried(&card).starts_with(why), "{cli}: {:#}", card["payload"]);
        assert!(!answered.out.contains(" exec "), "{answered:?}");
    }
}

#[tokio::test]
async fn only_the_printed_line_passes_a_prompt_and_only_once() {
    let (server, _rules) = served().await;
    let hook = Installed::tried(&server, "claude").await.with("timeout_ms", json!(ENOUGH_MS));
    let (card, answered) = hook.decided(&hook.line("echo 1 > a", "t1"), &json!({"option": "approve"})).await;
    let line = replacement(&answered);
    let call = line.rsplit(' ').next().unwrap();
    let (id, secret) = call.split_once('.').unwrap();
    let (program, config) = (real().display().to_string(), hook.config_file().display().to_string());
    let renamed = hook.root.join("renamed");
    std::os::unix::fs::symlink(real(), &renamed).unwrap();
    let forged = [
        format!("{line}; ls"),
        format!("{line} "),
        format!("{line} && touch b"),
        format!(" {line}"),
        format!("sh -c '{line}'"),
        format!("bash -lc \"{line}\""),
        format!("env A=b {line}"),
        format!("nohup {line} &"),
        format!("({line})"),
        format!("x=$({line})"),
        format!("echo {call} | xargs {program} exec --config {config}"),
        format!("eval '{line}'"),
        format!("cat <<EOF | sh\n{line}\nEOF"),
        format!("python3 -c \"import os; os.system('{line}')\""),
        format!("{program} exec --config {config} '{call}'"),
        format!("'{program}' exec --config {config} {call}"),
        format!("{program} exec --config '{config}' {call}"),
        format!("{program} exec {call} --config {config}"),
        format!("{program} --json exec --config {config} {call}"),
        format!("holdshort exec --config {config} {call}"),
        format!("./renamed exec --config {config} {call}"),
        format!("{program} exec --config /tmp/claude.json {call}"),
        format!("{program} exec --config {config} {id}.{}", secret.replace('a', "b")),
        format!("{program} exec --config {config} {id}.{secret}0"),
        format!("{program} exec --config {config} {id}."),
        format!("{program} exec --config {config} {}.{secret}", id.replace("int_", "int_1")),
        format!("{program} decide {id} approve"),
    ];
    for (at, each) in forged.iter().enumerate() {
        for payload in [hook.line(each, &format!("f{at}")), permission(&hook, each)] {
            let answered = hook.run(&payload).await;
            let is_at_once = answered.stops() && !answered.out.contains("Nobody has decided yet");
            assert!(is_at_once, "{each}: {answered:?}");
        }
    }
    // The agent cannot send the line itself, and no other session can use it.
    assert!(hook.run(&hook.line(&line, "t2")).await.stops());
    let mut other = permission(&hook, &line);
    other["session_id"] = "s-2".into();
    assert!(hook.run(&other).await.stops());
    let other_tool = hook.payload("mcp__shell__run", json!({ "command": line }), "t3");
    assert!(hook.run(&other_tool).await.stops());

    let allowed = json!({"hookSpecificOutput":
        {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}});
    assert_eq!(hook.run(&permission(&hook, &line)).await.json(), allowed);
    assert!(hook.run(&permission(&hook, &line)).await.stops(), "once");
    assert_eq!(hook.interrupts().await.len(), 1, "nobody was asked");
    let unused = server.interrupt(card["id"].as_str().unwrap()).await;
    assert_eq!(unused["approval"]["used"], Value::Null);

    // The server does not accept a forged token either.
    let wrong = [
        format!("{id}.{}", "0".repeat(64)),
        format!("{id}.x"),
        format!("{}.{secret}", id.replace("int_", "int_1")),
    ];
    for call in wrong {
        let (code, _, err) = shell(&hook, &format!("{program} exec --config {config} {call}")).await;
        assert!(code != 0 && (err.contains("nothing was changed") || err.contains("CALL")), "{call}: {err}");
    }
    assert_eq!(read(&hook, "a"), None);
    assert_eq!(shell(&hook, &line).await.0, 0);
    assert_eq!(read(&hook, "a").as_deref(), Some("1\n"));
}

#[tokio::test]
async fn a_late_approval_counts_only_while_the_command_does_the_same() {
    let (server, _rules) = served().await;
    let hook = Installed::tried(&server, "claude").await.with("timeout_ms", json!(SHORT_MS));
    fs::write(hook.root.join("a.txt"), "one\n").unwrap();
    let line = "cat a.txt > b.txt";
    assert!(hook.run(&hook.line(line, "t1")).await.stops());
    let card = hook.open().await;
    server.choose(&card, "approve").await;
    let replaced = replacement(&hook.run(&hook.line(line, "t2")).await);
    assert!(replaced.contains(card["id"].as_str().unwrap()), "{replaced}");
    assert_eq!(shell(&hook, &replaced).await.0, 0);
    assert_eq!(read(&hook, "b.txt").as_deref(), Some("one\n"));
    let open = |items: &[Value]| items.iter().filter(|each| each["status"] == "open").count();
    assert_eq!(open(&hook.interrupts().await), 0, "the second request is withdrawn");

    // A file that the command reads has changed, so the approval is for another change.
    assert!(hook.run(&hook.line("cat a.txt > c.txt", "t3")).await.stops());
    let card = hook.open().await;
    server.choose(&card, "approve").await;
    fs::write(hook.root.join("a.txt"), "two\n").unwrap();
    let payload = hook.line("cat a.txt > c.txt", "t4");
    let (second, answered) = hook.decided(&payload, &json!({"option": "reject"})).await;
    assert_ne!(second["id"], card["id"]);
    assert!(answered.stops(), "{answered:?}");
    let unused = server.interrupt(card["id"].as_str().unwrap()).await;
    assert_eq!(unused["approval"]["used"], Value::Null);
}

#[tokio::test]
async fn a_changed_folder_and_a_protected_file_stop_the_replacement() {
    let (server, _rules) = served().await;
    let hook = Installed::tried(&server, "claude").await;
    fs::write(hook.root.join("a.txt"), "one\n").unwrap();
    let payload = hook.line("echo 1 >> a.txt; echo 1 > b.txt", "t1");
    let (_, answered) = hook.decided(&payload, &json!({"option": "approve"})).await;
    let replaced = replacement(&answered);
    fs::write(hook.root.join("a.txt"), "other\n").unwrap();
    let (code, _, err) = shell(&hook, &replaced).await;
    assert!(code == 1 && err.contains("[trial_void]"), "{err}");
    assert_eq!(read(&hook, "b.txt"), None);

    // The line does not name the settings, and the trial shows that the command changes them.
    let line = "python3 -c \"open('.cla' + 'ude/settings.json', 'w').write('no')\"";
    let answered = hook.run(&hook.line(line, "t2")).await;
    assert!(answered.stops() && answered.err.contains("is protected"), "{answered:?}");
    assert_eq!(read(&hook, ".claude/settings.json").as_deref(), Some("{}"));
    let open = hook.interrupts().await.into_iter().filter(|each| each["status"] == "open").count();
    assert_eq!(open, 0);
}

#[tokio::test]
async fn after_a_choice_of_changes_only_these_are_carried_out() {
    let (server, _rules) = served().await;
    let hook = Installed::tried(&server, "claude").await;
    let keep = json!({"option": "keep_some", "edit": ["a"]});
    let (_, answered) = hook.decided(&hook.line("echo 1 > a; echo 2 > b; echo done", "t1"), &keep).await;
    let (code, out, err) = shell(&hook, &replacement(&answered)).await;
    assert_eq!((code, out.as_str()), (0, "done\n"));
    assert!(err.contains("These were dropped: `b`"), "{err}");
    assert_eq!((read(&hook, "a").as_deref(), read(&hook, "b")), (Some("1\n"), None));
}

/// Several hooks of one session ask at the same time.
#[tokio::test]
async fn calls_at_the_same_time_have_their_own_lines() {
    let (server, _rules) = served().await;
    let hook = Installed::tried(&server, "claude").await;
    fs::write(hook.root.join("a.txt"), "one\n").unwrap();
    let (one, other) = (hook.line("cat a.txt", "t1"), hook.line("cat a.txt", "t2"));
    let (one, other) = (hook.start(one.to_string()).await, hook.start(other.to_string()).await);
    let (one, other) = tokio::join!(ended(one), ended(other));
    let (one, other) = (replacement(&one), replacement(&other));
    assert_ne!(one, other);
    for line in [one, other] {
        assert_eq!(shell(&hook, &line).await, (0, "one\n".to_owned(), String::new()));
    }
}
