//! Tools of the CLIs under our names.

use holdshort_edges::hooks::CallKind::{self, Command, Other, Reading, Searching, Web, Writing};
use holdshort_edges::hooks::{Cli, EventKind, QuestionForm, read};
use serde_json::{Value, json};

use super::{call, claude, codex, cursor, event, gemini};

/// Payload, our name of the tool, its kind, its arguments, and true if the CLI uses edited arguments.
type Row = (Cli, Value, &'static str, CallKind, Value, bool);

#[test]
fn each_tool_has_the_name_and_the_arguments_that_rules_read() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n*** End Patch";
    let many = "*** Begin Patch\n*** Add File: b\n+x\n*** Delete File: c\n*** End Patch";
    let shell = json!({"command": "npm install express", "cwd": "/home/u/project/web"});
    let rows: Vec<Row> = vec![
        (
            Cli::Claude,
            claude("Bash", json!({"command": "ls -la", "description": "Lists files", "timeout": 5_000})),
            "run_command",
            Command,
            json!({"command": "ls -la", "timeout": 5_000}),
            true,
        ),
        (
            Cli::Claude,
            claude("Bash", json!({"command": "make", "run_in_background": false})),
            "run_command",
            Command,
            json!({"command": "make"}),
            true,
        ),
        (
            Cli::Claude,
            claude("Bash", json!({"command": "make", "run_in_background": true})),
            "run_command",
            Command,
            json!({"command": "make", "run_in_background": true}),
            true,
        ),
        (
            Cli::Claude,
            claude("Read", json!({"file_path": "/home/u/project/a.rs", "limit": 20})),
            "read_file",
            Reading,
            json!({"path": "/home/u/project/a.rs", "limit": 20}),
            false,
        ),
        (
            Cli::Claude,
            claude("Grep", json!({"pattern": "fn main", "-n": true})),
            "search_codebase",
            Searching,
            json!({"pattern": "fn main", "-n": true, "path": "/home/u/project"}),
            false,
        ),
        (
            Cli::Claude,
            claude("Glob", json!({"pattern": "/etc/**/*.conf", "path": "/home/u/project"})),
            "list_directory",
            Searching,
            json!({"pattern": "/etc/**/*.conf", "path": "/home/u/project", "pattern_folder": "/etc"}),
            false,
        ),
        (
            Cli::Claude,
            claude("Glob", json!({"pattern": "/etc/**/*.conf"})),
            "list_directory",
            Searching,
            json!({"pattern": "/etc/**/*.conf", "path": "/etc"}),
            false,
        ),
        // The pattern of a search is text, even if it looks like a path.
        (
            Cli::Claude,
            claude("Grep", json!({"pattern": "/home/u/project/x|[a-z]", "path": "/home/u/.local/share"})),
            "search_codebase",
            Searching,
            json!({"pattern": "/home/u/project/x|[a-z]", "path": "/home/u/.local/share"}),
            false,
        ),
        (
            Cli::Claude,
            claude(
                "Edit",
                json!({"file_path": "/p/a", "old_string": "a", "new_string": "b", "replace_all": false}),
            ),
            "edit_file",
            Writing,
            json!({"path": "/p/a", "old_string": "a", "new_string": "b"}),
            true,
        ),
        (
            Cli::Claude,
            claude("Write", json!({"file_path": "/p/a", "content": "text"})),
            "write_file",
            Writing,
            json!({"path": "/p/a", "content": "text"}),
            true,
        ),
        (
            Cli::Claude,
            claude("NotebookEdit", json!({"notebook_path": "/p/a.ipynb", "new_source": "1"})),
            "edit_file",
            Writing,
            json!({"path": "/p/a.ipynb", "new_source": "1"}),
            true,
        ),
        (
            Cli::Claude,
            claude("WebFetch", json!({"url": "https://docs.rs", "prompt": "What is it?"})),
            "web_fetch",
            Web,
            json!({"url": "https://docs.rs", "prompt": "What is it?"}),
            true,
        ),
        (
            Cli::Claude,
            claude("mcp__github__create_issue", json!({"title": "t"})),
            "github.create_issue",
            Other,
            json!({"title": "t"}),
            true,
        ),
        // A tool of a server `github__evil` must not get the name of a tool of the server `github`.
        (
            Cli::Claude,
            claude("mcp__github__evil__create_issue", json!({"title": "t"})),
            "mcp__github__evil__create_issue",
            Other,
            json!({"title": "t"}),
            true,
        ),
        (
            Cli::Claude,
            claude("mcp__github___create_issue", json!({"title": "t"})),
            "mcp__github___create_issue",
            Other,
            json!({"title": "t"}),
            true,
        ),
        (Cli::Claude, claude("Task", json!({"prompt": "p"})), "Task", Other, json!({"prompt": "p"}), true),
        // A tool must not get a name for which rules of another tool were written.
        (
            Cli::Claude,
            claude("read_file", json!({"path": "/p/a"})),
            "cli.read_file",
            Other,
            json!({"path": "/p/a"}),
            true,
        ),
        // Two members must not become one.
        (
            Cli::Claude,
            claude("Read", json!({"file_path": "/p/a", "path": "/p/b"})),
            "read_file",
            Reading,
            json!({"file_path": "/p/a", "path": "/p/b"}),
            false,
        ),
        (
            Cli::Codex,
            codex("Bash", json!({"command": "cargo test"})),
            "run_command",
            Command,
            json!({"command": "cargo test"}),
            true,
        ),
        (
            Cli::Codex,
            codex("apply_patch", json!({"command": patch})),
            "edit_file",
            Writing,
            json!({"patch": patch, "path": "src/a.rs"}),
            false,
        ),
        (
            Cli::Codex,
            codex("apply_patch", json!({"command": many})),
            "edit_file",
            Writing,
            json!({"patch": many}),
            false,
        ),
        (
            Cli::Codex,
            codex("mcp__files__read", json!({"path": "/etc"})),
            "files.read",
            Other,
            json!({"path": "/etc"}),
            false,
        ),
        (Cli::Codex, codex("update_plan", json!({})), "update_plan", Other, json!({}), false),
        (
            Cli::Gemini,
            gemini("run_shell_command", json!({"command": "ls", "description": "d", "dir_path": "web"})),
            "run_command",
            Command,
            json!({"command": "ls"}),
            true,
        ),
        (
            Cli::Gemini,
            gemini("read_file", json!({"absolute_path": "/home/u/project/a"})),
            "read_file",
            Reading,
            json!({"path": "/home/u/project/a"}),
            false,
        ),
        (
            Cli::Gemini,
            gemini(
                "replace",
                json!({"file_path": "/p/a", "old_string": "a", "new_string": "b", "instruction": "i"}),
            ),
            "edit_file",
            Writing,
            json!({"path": "/p/a", "old_string": "a", "new_string": "b", "instruction": "i"}),
            true,
        ),
        (
            Cli::Cursor,
            cursor("beforeShellExecution", shell),
            "run_command",
            Command,
            json!({"command": "npm install express"}),
            false,
        ),
        (
            Cli::Cursor,
            cursor(
                "preToolUse",
                json!({"tool_name": "Shell", "tool_input": {"command": "npm install express", "working_directory": "/home/u/project/web"}}),
            ),
            "run_command",
            Command,
            json!({"command": "npm install express"}),
            true,
        ),
        (
            Cli::Cursor,
            cursor(
                "beforeMCPExecution",
                json!({"tool_name": "query", "tool_input": "{\"sql\": \"select 1\"}", "command": "npx db"}),
            ),
            "mcp.query",
            Other,
            json!({"sql": "select 1"}),
            false,
        ),
        (
            Cli::Cursor,
            cursor(
                "preToolUse",
                json!({"tool_name": "MCP:query", "tool_input": {"sql": "select 1"}, "tool_use_id": "t1"}),
            ),
            "mcp.query",
            Other,
            json!({"sql": "select 1"}),
            true,
        ),
        (
            Cli::Cursor,
            cursor(
                "preToolUse",
                json!({"tool_name": "Write", "tool_input": {"file_path": "/p/a", "contents": "x"}}),
            ),
            "write_file",
            Writing,
            json!({"path": "/p/a", "content": "x"}),
            true,
        ),
    ];
    for (cli, payload, tool, kind, arguments, can_edit) in rows {
        let event = event(cli, &payload);
        let call = call(&event);
        let found = (call.tool.as_str(), call.kind, &call.arguments, call.can_edit);
        assert_eq!(found, (tool, kind, &arguments, can_edit), "{payload}");
    }
}

#[test]
fn the_members_that_cards_and_links_need_are_read() {
    let found = event(Cli::Claude, &claude("Bash", json!({"command": "ls"})));
    assert_eq!(found.call_id.as_deref(), Some("toolu_01ABCdefGHIjklMNOpqrSTU"));
    assert_eq!(found.cwd.as_deref(), Some("/home/u/project"));
    assert!(found.transcript.is_some() && found.permission_mode.as_deref() == Some("default"));
    let found = event(Cli::Codex, &codex("Bash", json!({"command": "ls"})));
    assert_eq!((found.transcript, found.turn.is_some()), (None, true));
    let found = event(Cli::Gemini, &gemini("run_shell_command", json!({"command": "ls", "dir_path": "web"})));
    assert_eq!((&found.call_id, call(&found).folder.as_deref()), (&None, Some("web")));
    let members = json!({"command": "ls", "cwd": "/home/u/project/web"});
    let found = event(Cli::Cursor, &cursor("beforeShellExecution", members));
    assert_eq!(call(&found).folder.as_deref(), Some("/home/u/project/web"));
    assert_eq!(found.session, "668320d2-2fd8-4888-b33c-2a466fec86e7");
}

/// Codex asks for network access with the command that needs it. A rule on commands must not release the network.
#[test]
fn a_request_for_the_network_is_no_command() {
    let mut payload = codex("NetworkAccess", json!({"command": "ls", "description": "github.com:443"}));
    payload["hook_event_name"] = "PermissionRequest".into();
    let event = event(Cli::Codex, &payload);
    let EventKind::Permission(call) = &event.kind else { panic!("{event:?}") };
    assert_eq!((call.tool.as_str(), call.command()), ("network_access", None));
    assert_eq!(call.arguments, json!({"for_command": "ls", "description": "github.com:443"}));
}

#[test]
fn the_server_of_a_gemini_tool_comes_from_its_context() {
    let mut payload = gemini("mcp_files_read", json!({"path": "a"}));
    payload["mcp_context"] = json!({"server_name": "files", "tool_name": "read"});
    assert_eq!(call(&event(Cli::Gemini, &payload)).tool, "files.read");
}

#[test]
fn questions_have_a_form_and_their_answers_go_back() {
    let color = json!({"question": "Which color?", "header": "Color", "multiSelect": false,
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": ""}]});
    let sizes = json!({"question": "Which sizes?", "header": "Size", "multiSelect": true,
        "options": [{"label": "S", "description": ""}, {"label": "L", "description": ""}]});
    let one = json!({"questions": [color]});
    let found = event(Cli::Claude, &claude("AskUserQuestion", one.clone()));
    let EventKind::Question(question) = &found.kind else { panic!("{found:?}") };
    assert_eq!((question.title.as_str(), &question.form), ("Which color?", &QuestionForm::Text));
    assert_eq!(question.schema, json!({"type": "string", "title": "Which color?", "enum": ["Red", "Blue"]}));
    assert_eq!(question.message, "Which color?\n- Red: warm\n- Blue");
    let answered = question.answered(Some("Blue"), &Value::Null);
    let mut input = one;
    input["answers"] = json!({"Which color?": "Blue"});
    let printed = holdshort_edges::hooks::answer(Cli::Claude, &found, &answered.unwrap());
    let output: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(output["hookSpecificOutput"]["updatedInput"], input);

    let two = claude("AskUserQuestion", json!({"questions": [color, sizes]}));
    let found = event(Cli::Claude, &two);
    let EventKind::Question(question) = &found.kind else { panic!("{found:?}") };
    assert_eq!((question.title.as_str(), &question.form), ("2 questions", &QuestionForm::Members));
    assert_eq!(question.schema["required"], json!(["q1", "q2"]));
    let answers = json!({"q1": "Red", "q2": ["S", "L"]});
    let answered = format!("{:?}", question.answered(None, &answers).unwrap());
    assert!(answered.contains("Which sizes?") && answered.contains("S, L"), "{answered}");
    assert_eq!(question.answered(None, &json!({"q1": "Red"})), None, "an answer is missing");

    // A question in another form is a tool like any other.
    let strange = claude("AskUserQuestion", json!({"questions": "What?"}));
    assert_eq!(call(&event(Cli::Claude, &strange)).tool, "AskUserQuestion");
}

#[test]
fn an_elicitation_is_a_form_and_a_page_is_for_the_person_at_the_terminal() {
    let schema = json!({"type": "object", "properties": {"env": {"type": "string"}}});
    let mut payload = claude("", json!({}));
    payload["hook_event_name"] = "Elicitation".into();
    payload["mcp_server_name"] = "deploy".into();
    payload["message"] = "Where to?".into();
    payload["requested_schema"] = schema.clone();
    let found = event(Cli::Claude, &payload);
    let EventKind::Question(question) = &found.kind else { panic!("{found:?}") };
    let shown = (question.title.as_str(), question.message.as_str(), &question.schema);
    assert_eq!(shown, ("deploy asks", "Where to?", &schema));
    let printed = |verdict| holdshort_edges::hooks::answer(Cli::Claude, &found, &verdict).stdout;
    let accepted = printed(question.answered(None, &json!({"env": "staging"})).unwrap());
    let output: Value = serde_json::from_str(&accepted).unwrap();
    let action = json!({"hookEventName": "Elicitation", "action": "accept", "content": {"env": "staging"}});
    assert_eq!(output["hookSpecificOutput"], action);

    payload["requested_schema"] = Value::Null;
    assert!(read(Cli::Claude, payload.to_string().as_bytes()).is_err());
    payload["mode"] = "url".into();
    assert_eq!(event(Cli::Claude, &payload).kind, EventKind::Elsewhere);
}
