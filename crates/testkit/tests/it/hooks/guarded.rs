//! Calls that are denied at once: they touch a protected place, or run a deciding command.

use std::fs;
use std::os::unix::fs::symlink;

use holdshort_testkit::server::real;
use serde_json::{Value, json};

use super::{Installed, private, served};

/// Time-out after which a call that is asked about fails the test.
const ENOUGH_MS: u64 = 20_000;

#[tokio::test]
async fn no_tool_touches_a_protected_place() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await.with("timeout_ms", json!(ENOUGH_MS));
    let data = server.data().canonicalize().unwrap();
    let tokens = data.join("tokens.json");
    symlink(&data, hook.root.join("innocent")).unwrap();
    fs::hard_link(hook.root.join(".claude/settings.json"), hook.root.join("copy.json")).unwrap();
    let (root, data, tokens) = (hook.root.display(), data.display(), tokens.display());
    let (config, program) = (hook.config_file(), real());
    let above = server.data().parent().unwrap().to_owned();
    let bash = |line: String| ("Bash", json!({ "command": line }));
    let rows = [
        bash(format!("cat {tokens}")),
        bash(format!("cd {data} && cat tokens.json")),
        bash("cat innocent/tokens.json".to_owned()),
        bash("cat innocent/tok*".to_owned()),
        bash("cat .claude/settings.json".to_owned()),
        bash("cat .claude/../.claude/settings.json".to_owned()),
        bash("cat copy.json".to_owned()),
        bash("echo '{}' > .claude/settings.json".to_owned()),
        bash("tee .claude/settings.json < x".to_owned()),
        bash("rm -rf .claude".to_owned()),
        bash("mv .claude old".to_owned()),
        bash("rm -rf .cl*".to_owned()),
        bash("rm -rf .".to_owned()),
        bash("sed -i s/a/b/ .claude/settings.json".to_owned()),
        bash("cp evil.json .claude/".to_owned()),
        // The settings of a folder in which the coding agent may be started.
        bash("mkdir -p web/.claude".to_owned()),
        bash("echo '{}' > web/.claude/settings.json".to_owned()),
        bash("cd web && mv ../evil .claude".to_owned()),
        bash("cat web/*/.claude/settings.json".to_owned()),
        bash("rm -rf web/.cl*".to_owned()),
        bash("cp x web/.cl?ude/set*".to_owned()),
        bash("sh -c 'cat .claude/settings.json'".to_owned()),
        bash(format!("grep -r operator {}", above.display())),
        bash(format!("find {} -name tokens.json", above.display())),
        bash(format!("python3 -c \"print(open('{tokens}').read())\"")),
        bash(format!("echo $(cat {tokens})")),
        bash(format!("cat < {tokens}")),
        bash(format!("cat {}", config.display())),
        bash(format!("ls {}", config.with_file_name("state").display())),
        bash(format!("cat {}", config.with_extension("key").display())),
        bash(format!("cp {} x", program.display())),
        bash(format!("tar czf x.tgz {data}")),
        ("Read", json!({"file_path": tokens.to_string()})),
        ("Read", json!({"file_path": format!("{root}/innocent/tokens.json")})),
        ("Read", json!({"file_path": config})),
        ("LS", json!({"path": data.to_string()})),
        ("Grep", json!({"pattern": "operator", "path": above})),
        ("Grep", json!({"pattern": "operator", "path": "/"})),
        ("Grep", json!({"pattern": format!("{root}/x|[a-z]"), "path": data.to_string()})),
        ("Glob", json!({"pattern": format!("{data}/*"), "path": root.to_string()})),
        ("Glob", json!({"pattern": format!("{data}/*")})),
        ("Write", json!({"file_path": format!("{root}/.claude/settings.json"), "content": "{}"})),
        ("Edit", json!({"file_path": tokens.to_string(), "old_string": "a", "new_string": "b"})),
        ("Write", json!({"file_path": format!("{root}/web/.claude/settings.json"), "content": "{}"})),
        ("mcp__files__write", json!({"path": "web/.claude/settings.json", "content": "{}"})),
        ("mcp__files__read_file", json!({"path": tokens.to_string()})),
        ("mcp__files__search", json!({"root_path": above, "pattern": "*"})),
        ("mcp__files__read_many", json!({"requests": [{"uri": format!("file://{tokens}")}]})),
        ("mcp__python__run", json!({"code": format!("open('{tokens}')")})),
        ("SomethingNew", json!({"where": [tokens.to_string()]})),
    ];
    for (at, (tool, input)) in rows.into_iter().enumerate() {
        let answered = hook.run(&hook.payload(tool, input.clone(), &format!("t{at}"))).await;
        let (decision, reason) = answered.decision();
        assert_eq!(decision, "deny", "{tool} {input}");
        assert!(reason.contains("is protected"), "{tool} {input}: {reason}");
    }
    assert_eq!(hook.interrupts().await, Vec::<Value>::new(), "nobody was asked");

    // Calls near a protected place are not denied.
    let near = [
        bash("ls -la".to_owned()),
        bash("grep -rn fn .".to_owned()),
        bash("git add .".to_owned()),
        bash("ls *".to_owned()),
        bash("cat web/settings.json".to_owned()),
        bash("ls web/.claude/commands".to_owned()),
        bash("touch notes.txt".to_owned()),
        ("Grep", json!({"pattern": "fn"})),
        ("Write", json!({"file_path": format!("{root}/README"), "content": format!("see {tokens}")})),
    ];
    for (at, (tool, input)) in near.into_iter().enumerate() {
        let child = hook.start(hook.payload(tool, input.clone(), &format!("n{at}")).to_string()).await;
        let answered = super::ended(child);
        let reject = async {
            let open = hook.open().await;
            server.choose(&open, "reject").await;
            std::future::pending::<()>().await;
        };
        let answered = tokio::select! { answered = answered => answered, () = reject => unreachable!() };
        assert!(!answered.out.contains("is protected"), "{tool} {input}: {answered:?}");
    }
}

#[tokio::test]
async fn no_agent_runs_a_deciding_command() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await.with("timeout_ms", json!(ENOUGH_MS));
    let renamed = hook.root.join("renamed");
    symlink(real(), &renamed).unwrap();
    let program = real().display().to_string();
    let lines = [
        "holdshort decide int_1 approve",
        "holdshort --json decide int_1 approve",
        "holdshort exec hs_call_1",
        "holdshort exec hs_call_1; ls",
        "ls && holdshort login",
        "holdshort link int_1",
        "holdshort people set anna",
        "holdshort keys create x --role operator",
        "holdshort inbox",
        "holdshort serve",
        "holdshort hook uninstall claude",
        "sh -c 'holdshort decide int_1 approve'",
        "bash -lc \"holdshort decide int_1 approve\"",
        "env A=b holdshort decide int_1 approve",
        "nohup holdshort decide int_1 approve &",
        "timeout 5 holdshort decide int_1 approve",
        "echo int_1 | xargs holdshort decide",
        "strace holdshort decide int_1 approve",
        "(holdshort decide int_1 approve)",
        "for i in 1 2; do holdshort decide int_$i approve; done",
        "x=$(holdshort decide int_1 approve)",
        "eval 'holdshort decide int_1 approve'",
        "python3 -c \"import subprocess; subprocess.run(['holdshort', 'decide', 'int_1', 'approve'])\"",
        "./renamed decide int_1 approve",
        &format!("{program} decide int_1 approve"),
        "/usr/local/bin/holdshort decide int_1 approve",
        "\"holdshort\" decide int_1 approve",
        "hold\"short\" decide int_1 approve",
        "cat <<EOF | sh\nholdshort decide int_1 approve\nEOF",
    ];
    for (at, line) in lines.into_iter().enumerate() {
        let answered = hook.run(&hook.line(line, &format!("t{at}"))).await;
        let (decision, reason) = answered.decision();
        assert_eq!(decision, "deny", "{line}");
        assert!(reason.contains("must not run") || reason.contains("is protected"), "{line}: {reason}");
    }
    // Tools that may run a program.
    let tools = [
        ("mcp__shell__run", json!({"command": "holdshort decide int_1 approve"})),
        ("mcp__shell__run", json!({"argv": ["/usr/local/bin/holdshort", "decide", "int_1", "approve"]})),
        ("mcp__python__run", json!({"code": "import os\nos.system('holdshort exec hs_call_1')"})),
        ("SomethingNew", json!({"program": "holdshort", "more": {"arguments": ["--json", "inbox"]}})),
    ];
    for (at, (tool, input)) in tools.into_iter().enumerate() {
        let answered = hook.run(&hook.payload(tool, input.clone(), &format!("m{at}"))).await;
        let (decision, reason) = answered.decision();
        assert_eq!(decision, "deny", "{tool} {input}");
        assert!(reason.contains("must not run"), "{tool} {input}: {reason}");
    }
    assert_eq!(hook.interrupts().await, Vec::<Value>::new(), "nobody was asked");
}

#[tokio::test]
async fn a_replaced_root_and_an_exposed_configuration_stop_every_call() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let identity = hook.config["root_identity"].clone();
    let hook = hook.with("root_identity", json!({"device": identity["device"], "inode": 1}));
    let answered = hook.run(&hook.line("ls", "t1")).await;
    assert!(answered.stops() && answered.err.contains("install the hook again"), "{answered:?}");
    let hook = hook.with("root_identity", identity);
    assert_eq!(hook.run(&hook.line("ls", "t2")).await.decision().0, "allow");
    for file in [hook.config_file(), hook.config_file().with_extension("key")] {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let answered = hook.run(&hook.line("ls", "t3")).await;
        assert!(answered.stops() && answered.err.contains("readable by others"), "{answered:?}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    private(&hook.config_file(), &hook.config.to_string().replace("\"cli\"", "\"more\":1,\"cli\""));
    let answered = hook.run(&hook.line("ls", "t4")).await;
    assert!(answered.stops() && answered.err.contains("unknown field"), "{answered:?}");
}
