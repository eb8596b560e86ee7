//! The permission prompt of Claude Code, answered by `holdshort mcp` with a real server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use holdshort_testkit::coding_agent::{AgentHome, CodingAgent, SecondLine};
use holdshort_testkit::home::{Home, wait_for};
use holdshort_testkit::server::real;
use serde_json::json;

use super::Outcome::{Ran, Rewritten, Stopped};
use super::{REWRITE, play};

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_a_person_answers_the_permission_prompt_of_claude_code() {
    let edit = tempfile::NamedTempFile::new().unwrap();
    fs::write(&edit, json!({ "command": REWRITE }).to_string()).unwrap();
    let edited = edit.path().to_str().unwrap();
    for (decision, outcome, text) in [
        (&["approve"][..], Ran, ""),
        (&["edit", "--edit", edited], Rewritten, ""),
        (&["reject", "--text", "not on Fridays"], Stopped, "not on Fridays"),
    ] {
        let server = Home::new();
        let serving = server.serve(&[]);
        let address = serving.started["listening"].as_str().unwrap();
        let made = server.run(&["keys", "create", "claude"]);
        assert_eq!(made.code, 0, "{made:?}");
        let key = server.path().join("claude.key");
        fs::write(&key, made.out).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        let arguments = json!(["mcp", "--server", address, "--key-file", key]);
        let config = json!({"mcpServers": {"holdshort": {"command": real(), "args": arguments}}});
        let home = AgentHome::new(CodingAgent::Claude)
            .second_line(SecondLine::On)
            .argument("--mcp-config")
            .argument(config.to_string())
            .argument("--permission-prompt-tool")
            .argument("mcp__holdshort__permission");
        let (played, run) = thread::scope(|scope| {
            let playing = scope.spawn(|| play(CodingAgent::Claude, &home));
            let inbox = || server.json(&["inbox"]);
            wait_for("Claude Code asks", || inbox().as_array().is_some_and(|list| list.len() == 1));
            let id = inbox()[0]["id"].as_str().unwrap().to_owned();
            let decided = server.run(&[&["decide", &id], decision].concat());
            assert_eq!(decided.code, 0, "{decided:?}");
            playing.join().unwrap()
        });
        assert!(played == outcome && run.results.concat().contains(text), "{decision:?}: {played:?} {run:?}");
    }
}
