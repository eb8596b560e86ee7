//! Limits of hooks: input that an agent leaves out of the payload, tools without a hook, and hosts that
//! a sandbox hides.

use std::fs;
use std::net::TcpListener;

use holdshort_testkit::coding_agent::{AgentHome, CodingAgent, ScriptedCall, SecondLine};
use serde_json::{Value, json};

use super::{answer, outcome, print, rewrite};

const CODEX: CodingAgent = CodingAgent::Codex;

/// Returns the home directory of Codex with a hook that records each payload as a line of the file `seen`, and makes no
/// decision.
fn recording() -> AgentHome {
    let home = AgentHome::new(CODEX);
    let seen = home.folder().join("seen");
    let script = home.script("hook", &format!("#!/bin/sh\n(cat; echo) >> {}\n", seen.display()));
    home.gate(script.display().to_string())
}

fn seen(home: &AgentHome) -> Vec<Value> {
    let text = fs::read_to_string(home.folder().join("seen")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns a model reply with JavaScript, from which the newest models of Codex call tools.
fn javascript(text: &str) -> Vec<Vec<ScriptedCall>> {
    vec![vec![ScriptedCall::with_text("exec", text)]]
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_codex_hides_the_terminal_and_the_shell_of_a_command() {
    let home = recording();
    fs::create_dir(home.project().join("sub")).unwrap();
    let input = json!({"cmd": "pwd > here.txt", "workdir": "sub", "tty": true, "shell": "/bin/sh"});
    home.run(vec![vec![ScriptedCall::new("exec_command", input)]]);
    assert!(home.has("sub/here.txt"));
    let [payload] = &seen(&home)[..] else { panic!("one payload") };
    assert_eq!(payload["tool_input"], json!({"command": "pwd > here.txt"}));
    assert_eq!(payload["cwd"].as_str().unwrap(), home.project().join("sub").to_str().unwrap());
}

/// A rewrite changes only the command line. The rewritten command runs in the folder that the model named.
#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_codex_runs_a_rewritten_command_in_the_folder_of_the_original() {
    let home = AgentHome::new(CODEX);
    let script = home
        .script("hook", &format!("#!/bin/sh\n{}", print(&rewrite(CODEX, "allow", "touch rewritten.txt"))));
    let home = home.gate(script.display().to_string());
    fs::create_dir(home.project().join("sub")).unwrap();
    home.run(vec![vec![ScriptedCall::new("exec_command", json!({"cmd": "true", "workdir": "sub"}))]]);
    assert!(home.has("sub/rewritten.txt"));
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_codex_calls_the_hook_for_calls_from_javascript() {
    let home = recording().argument("--model").argument("gpt-6.2-sol");
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+fresh\n*** End Patch\n";
    let text = format!(
        "text(await tools.exec_command({{cmd: 'touch ran.txt'}})); text(await tools.apply_patch({}))",
        json!(patch)
    );
    home.run(javascript(&text));
    let calls: Vec<_> = seen(&home)
        .iter()
        .map(|payload| (payload["tool_name"].clone(), payload["tool_input"].clone()))
        .collect();
    let expected = [("Bash", "touch ran.txt"), ("apply_patch", patch)];
    assert_eq!(calls, expected.map(|(tool, command)| (json!(tool), json!({"command": command}))));
    assert!(home.has("ran.txt") && home.has("new.txt"));
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_codex_stops_a_refused_call_from_javascript() {
    let home = AgentHome::new(CODEX).argument("--model").argument("gpt-6.2-sol");
    let script = home.script("hook", "#!/bin/sh\ncat > /dev/null\necho stop >&2\nexit 2\n");
    let home = home.gate(script.display().to_string());
    let run = home.run(javascript("await tools.exec_command({cmd: 'touch ran.txt'})"));
    assert!(!home.has("ran.txt"));
    assert!(run.results.concat().contains("stop"), "{:?}", run.results);
}

/// After the command `sh` was allowed, the model can type any command into it, and no hook is asked.
#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_codex_types_into_a_running_program_without_a_hook() {
    let home = recording().argument("--model").argument("gpt-6.2-sol");
    let text = "const shell = await tools.exec_command({cmd: 'sh', tty: true, yield_time_ms: 300}); \
                text(await tools.write_stdin({session_id: shell.session_id, \
                chars: 'touch typed.txt\\nexit\\n', yield_time_ms: 2000}))";
    home.run(javascript(text));
    assert!(home.has("typed.txt"));
    let commands: Vec<_> =
        seen(&home).iter().map(|payload| payload["tool_input"]["command"].clone()).collect();
    assert_eq!(commands, ["sh"]);
}

/// In Codex' sandbox a rewritten command neither writes nor reaches a server on loopback.
#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_codex_runs_a_rewritten_command_in_its_sandbox() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let command = format!("touch rewritten.txt; exec 3<> /dev/tcp/127.0.0.1/{port} && echo reached");
    let home = AgentHome::new(CODEX).second_line(SecondLine::On);
    let script = home.script("hook", &format!("#!/bin/sh\n{}", print(&rewrite(CODEX, "allow", &command))));
    let home = home.gate(script.display().to_string());
    let run = home.run(vec![vec![CODEX.shell("true")]]);
    let result = run.results.concat();
    assert!(result.contains("Read-only file system") && !result.contains("reached"), "{result}");
    assert_eq!(outcome(&home), super::Outcome::Stopped);
}

/// The hook itself runs outside of the sandbox, so that it reaches the server.
#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_codex_runs_a_hook_outside_of_its_sandbox() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let home = AgentHome::new(CODEX).second_line(SecondLine::On);
    let reached = home.folder().join("reached");
    let script = home.script(
        "hook",
        &format!(
            "#!/bin/bash\ncat > /dev/null\nexec 3<> /dev/tcp/127.0.0.1/{port} && touch {}\n",
            reached.display()
        ),
    );
    let home = home.gate(script.display().to_string());
    home.run(vec![vec![CODEX.shell("true")]]);
    assert!(reached.exists());
}

/// Gemini CLI starts a hook with bash. Outside of any shell, bash reads `.bashrc`, and a line that is printed there
/// makes the answer of the hook invalid. A refusal by exit code still stops the command.
#[test]
#[ignore = "it starts the agent 3 times"]
fn campaign_of_a_start_file_that_prints() {
    let gemini = CodingAgent::Gemini;
    let refuses = "cat > /dev/null\necho stop >&2\nexit 2\n";
    let denies = print(&answer(gemini, "deny", Some("no")));
    let stops = |lines: &str, level: Option<&str>| {
        let mut home = AgentHome::new(gemini);
        if let Some(level) = level {
            home = home.variable("SHLVL", level);
        }
        fs::write(home.home().join(".bashrc"), "echo welcome\n").unwrap();
        let script = home.script("hook", &format!("#!/bin/sh\n{lines}"));
        let home = home.gate(script.display().to_string());
        home.run(vec![vec![gemini.shell("touch ran.txt")]]);
        !home.has("ran.txt")
    };
    assert_eq!([stops(&denies, None), stops(&denies, Some("1")), stops(refuses, None)], [false, true, true]);
}
