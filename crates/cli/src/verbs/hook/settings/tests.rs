//! Tests of the settings editors, byte by byte.

use super::*;
use crate::verbs::hook::versions::Version;

const CONFIG: &str = "--config /data/hooks/x.json";

fn entry(cli: CodingCli) -> HookEntry {
    let version = if cli == CodingCli::Claude { Version::new(2, 1, 332) } else { Version::new(9, 0, 0) };
    HookEntry { cli, command: format!("/opt/holdshort hook run {} {CONFIG}", cli.word()), version }
}

fn is_ours(command: &str) -> bool {
    command.ends_with(CONFIG)
}

/// Adds the hook, and checks what must be true for every file: a second time changes nothing, undo gives the same
/// bytes, and a removal after another change gives the same settings.
fn added(cli: CodingCli, before: &str) -> String {
    let entry = entry(cli);
    let added = ensure(before, &entry, &is_ours).unwrap();
    let again = ensure(&added.text, &entry, &is_ours).unwrap();
    assert_eq!((again.text.as_str(), again.steps), (added.text.as_str(), Vec::new()), "{before:?}");
    assert_eq!(undo(&added.text, &added.steps).as_deref(), Some(before));
    let removed = remove(cli, &added.text, &is_ours, &added.created).unwrap();
    let inspect = |text: &str| inspect(cli, Format::Settings, text, Some(&entry)).unwrap();
    assert_eq!(inspect(&removed), inspect(before), "{removed:?}");
    let hooks = inspect(&added.text).hooks;
    let ours: Vec<&str> = hooks.iter().filter(|hook| hook.is_exact).map(|hook| &*hook.event).collect();
    let mut wanted = events(cli).to_vec();
    wanted.sort_unstable();
    let mut found = ours.clone();
    found.sort_unstable();
    assert_eq!(found, wanted);
    added.text
}

/// Removes the hook from settings that changed since, and expects these bytes.
fn removed(cli: CodingCli, text: &str, created: &[&str]) -> String {
    let created: Vec<String> = created.iter().map(|each| (*each).to_owned()).collect();
    remove(cli, text, &is_ours, &created).unwrap()
}

#[test]
fn claude_settings_that_are_missing_or_empty_get_all_events() {
    let expected = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "/opt/holdshort hook run claude --config /data/hooks/x.json",
            "timeout": 600,
            "onFailure": "block"
          }
        ]
      }
    ],
    "PermissionRequest": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "/opt/holdshort hook run claude --config /data/hooks/x.json",
            "timeout": 600,
            "onFailure": "block"
          }
        ]
      }
    ],
    "Elicitation": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/holdshort hook run claude --config /data/hooks/x.json",
            "timeout": 600,
            "onFailure": "block"
          }
        ]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "Edit|MultiEdit|NotebookEdit|Write",
        "hooks": [
          {
            "type": "command",
            "command": "/opt/holdshort hook run claude --config /data/hooks/x.json",
            "timeout": 600,
            "onFailure": "block"
          }
        ]
      }
    ]
  }
}
"#;
    for before in ["", "{}\n"] {
        assert_eq!(added(CodingCli::Claude, before), expected, "{before:?}");
    }
}

#[test]
fn claude_before_the_version_that_blocks_on_failure_gets_no_such_key() {
    let entry = HookEntry { version: Version::new(2, 1, 197), ..entry(CodingCli::Claude) };
    let text = ensure("", &entry, &is_ours).unwrap().text;
    assert!(!text.contains("onFailure") && text.contains("\"timeout\": 600\n"), "{text}");
    // After an update of the agent, the key is added.
    let newer = HookEntry { version: Version::new(2, 1, 295), ..entry };
    let found = inspect(CodingCli::Claude, Format::Settings, &text, Some(&newer)).unwrap();
    assert!(found.hooks.iter().all(|hook| !hook.is_exact));
    let text = ensure(&text, &newer, &is_ours).unwrap().text;
    assert_eq!(text.matches("\"onFailure\": \"block\"").count(), 4, "{text}");
    assert_eq!(text.matches(CONFIG).count(), 4, "{text}");
}

#[test]
fn claude_settings_keep_their_order_their_line_ends_and_other_hooks() {
    let before = "{\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [ {\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]} ],\r\n\t\t\"PreToolUse\": []\r\n\t},\r\n\t\"env\": {\"A\":\"1\"}\r\n}";
    let text = added(CodingCli::Claude, before);
    let hook = |indent: &str| {
        let command = entry(CodingCli::Claude).command;
        let lines = [
            "{".to_owned(),
            "\t\"type\": \"command\",".to_owned(),
            format!("\t\"command\": \"{command}\","),
            "\t\"timeout\": 600,".to_owned(),
            "\t\"onFailure\": \"block\"".to_owned(),
            "}".to_owned(),
        ];
        lines.map(|line| format!("{indent}{line}\r\n")).concat()
    };
    let group = |matcher: &str| {
        format!(
            "\t\t\t{{\r\n{matcher}\t\t\t\t\"hooks\": [\r\n{}\t\t\t\t]\r\n\t\t\t}}\r\n",
            hook("\t\t\t\t\t")
        )
    };
    let matcher = |text: &str| format!("\t\t\t\t\"matcher\": \"{text}\",\r\n");
    let list = |event: &str, matcher: &str| format!(",\r\n\t\t\"{event}\": [\r\n{}\t\t]", group(matcher));
    let expected = [
        "{\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [ {\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]} ],\r\n\t\t\"PreToolUse\": [\r\n",
        &group(&matcher("*")),
        "\t\t]",
        &list("PermissionRequest", &matcher("*")),
        &list("Elicitation", ""),
        &list("PostToolUse", &matcher("Edit|MultiEdit|NotebookEdit|Write")),
        "\r\n\t},\r\n\t\"env\": {\"A\":\"1\"}\r\n}",
    ]
    .concat();
    assert_eq!(text, expected);
}

#[test]
fn gemini_settings_keep_comments_and_odd_formatting() {
    let hook = "{\"matcher\":\"*\",\"hooks\":[{\"name\":\"holdshort\",\"type\":\"command\",\"command\":\"/opt/holdshort hook run gemini --config /data/hooks/x.json\",\"timeout\":60000}]}";
    let pretty = |indent: &str| {
        let lines = [
            "{",
            "  \"matcher\": \"*\",",
            "  \"hooks\": [",
            "    {",
            "      \"name\": \"holdshort\",",
            "      \"type\": \"command\",",
            "      \"command\": \"/opt/holdshort hook run gemini --config /data/hooks/x.json\",",
            "      \"timeout\": 60000",
            "    }",
            "  ]",
            "}",
        ];
        lines.map(|line| format!("{indent}{line}\n")).concat()
    };
    let table = [
        // The whole file on one line.
        ("{\"a\":1}", format!("{{\"a\":1, \"hooks\": {{\"BeforeTool\":[{hook}]}}}}")),
        (
            "{\"hooks\":{\"AfterTool\":[]}}\n",
            format!("{{\"hooks\":{{\"AfterTool\":[], \"BeforeTool\": [{hook}]}}}}\n"),
        ),
        // A comment stays with the line that it explains.
        (
            "// mine\n{\n  \"a\": 1 // the first\n  // the last\n}\n",
            format!(
                "// mine\n{{\n  \"a\": 1, // the first\n  \"hooks\": {{\n    \"BeforeTool\": [\n{}    ]\n  }}\n  // the last\n}}\n",
                pretty("      ")
            ),
        ),
        // A comment alone, a byte order mark, an empty object with white space.
        (
            "// nothing yet",
            format!(
                "// nothing yet\n{{\n  \"hooks\": {{\n    \"BeforeTool\": [\n{}    ]\n  }}\n}}\n",
                pretty("      ")
            ),
        ),
        (
            "\u{feff}{ }",
            format!(
                "\u{feff}{{\n  \"hooks\": {{\n    \"BeforeTool\": [\n{}    ]\n  }}\n }}",
                pretty("      ")
            ),
        ),
        // A list that is not empty, with a comment that contains a comma and a bracket.
        (
            "{\n  \"hooks\": {\n    \"BeforeTool\": [ /* [1, */\n      {\"matcher\": \"x\", \"hooks\": []} // one, two ]\n    ]\n  }\n}",
            format!(
                "{{\n  \"hooks\": {{\n    \"BeforeTool\": [ /* [1, */\n      {{\"matcher\": \"x\", \"hooks\": []}}, // one, two ]\n{}    ]\n  }}\n}}",
                pretty("      ")
            ),
        ),
    ];
    for (before, expected) in table {
        assert_eq!(added(CodingCli::Gemini, before), expected, "{before}");
    }
}

#[test]
fn cursor_settings_get_a_version_and_hooks_that_fail_closed() {
    let hook = "{\"command\":\"/opt/holdshort hook run cursor --config /data/hooks/x.json\",\"timeout\":600,\"failClosed\":true}";
    assert_eq!(
        added(CodingCli::Cursor, "{\"version\":1,\"hooks\":{\"stop\":[{\"command\":\"./a\"}]}}"),
        format!(
            "{{\"version\":1,\"hooks\":{{\"stop\":[{{\"command\":\"./a\"}}], \"beforeShellExecution\": [{hook}], \"beforeMCPExecution\": [{hook}], \"preToolUse\": [{hook}]}}}}"
        )
    );
    let text = added(CodingCli::Cursor, "");
    assert!(
        text.starts_with("{\n  \"version\": 1,\n  \"hooks\": {\n    \"beforeShellExecution\": [\n"),
        "{text}"
    );
    assert_eq!(text.matches("\"failClosed\": true").count(), 3, "{text}");
}

#[test]
fn codex_settings_are_appended_to() {
    let block = |event: &str| {
        format!(
            "[[hooks.{event}]]\n\n[[hooks.{event}.hooks]]\ntype = \"command\"\ncommand = \"/opt/holdshort hook run codex --config /data/hooks/x.json\"\ntimeout = 600\n"
        )
    };
    let ours = format!("{}\n{}", block("PreToolUse"), block("PermissionRequest"));
    let other = "# mine\nmodel = \"o\" # why\n\n[features]\nx = true\n\n[[hooks.PreToolUse]]\nmatcher = \"^Bash$\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = 'a \"b\"'\n\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n";
    let windows = "model = \"o\"\r\n[tui]\r\ntheme = \"x\"";
    let table = [
        (String::new(), ours.clone()),
        ("model = \"o\"".to_owned(), format!("model = \"o\"\n\n{ours}")),
        (other.to_owned(), format!("{other}\n{ours}")),
        (windows.to_owned(), format!("{windows}\r\n\r\n{}", ours.replace('\n', "\r\n"))),
    ];
    for (before, expected) in table {
        let after = added(CodingCli::Codex, &before);
        assert_eq!(after, expected);
        // Codex writes its own settings behind the hook, such as the trust in the hook.
        let state =
            "\n[hooks.state.\"/home/a/.codex/config.toml:pre_tool_use:1:0\"]\ntrusted_hash = \"sha256:00\"\n";
        let later = format!("{after}{state}");
        let without = removed(CodingCli::Codex, &later, &[]);
        let newline = if before.is_empty() || before.ends_with('\n') {
            ""
        } else if before.contains('\r') {
            "\r\n"
        } else {
            "\n"
        };
        assert_eq!(without, format!("{before}{newline}{state}"));
    }
}

#[test]
fn a_removal_leaves_what_others_added_since() {
    let table = [
        // Before, behind and in the same group.
        (
            CodingCli::Gemini,
            "{\"hooks\": {\"BeforeTool\": [\n  {\"hooks\": [{\"command\": \"a\"}]},\n  // ours\n  {\"hooks\": [{\"command\": \"h --config /data/hooks/x.json\"}]},\n  {\"hooks\": [{\"command\": \"b\"}]}\n]}}",
            &["hooks", "hooks/BeforeTool"][..],
            "{\"hooks\": {\"BeforeTool\": [\n  {\"hooks\": [{\"command\": \"a\"}]},\n  // ours\n  {\"hooks\": [{\"command\": \"b\"}]}\n]}}",
        ),
        (
            CodingCli::Gemini,
            "{\"hooks\": {\"BeforeTool\": [{\"hooks\": [{\"command\": \"h --config /data/hooks/x.json\"}, {\"command\": \"b\"}]}]}}",
            &["hooks", "hooks/BeforeTool"],
            "{\"hooks\": {\"BeforeTool\": [{\"hooks\": [ {\"command\": \"b\"}]}]}}",
        ),
        // A comment before the hook must not swallow what follows the hook.
        (
            CodingCli::Gemini,
            "{\"hooks\": {\"BeforeTool\": [ // here\n  {\"hooks\": [{\"command\": \"h --config /data/hooks/x.json\"}]}, {\"hooks\": []} ]}}",
            &[],
            "{\"hooks\": {\"BeforeTool\": [ // here\n   {\"hooks\": []} ]}}",
        ),
        (
            CodingCli::Gemini,
            "{\"hooks\": {\"BeforeTool\": [{\"hooks\": []}, // here, and\n  {\"hooks\": [{\"command\": \"h --config /data/hooks/x.json\"}]} ]}}",
            &[],
            "{\"hooks\": {\"BeforeTool\": [{\"hooks\": []} // here, and\n   ]}}",
        ),
        // Empty lists and objects go only if the installation created them.
        (
            CodingCli::Cursor,
            "{\"version\": 1, \"hooks\": {\"preToolUse\": [{\"command\": \"h --config /data/hooks/x.json\"}], \"stop\": []}, \"x\": 1}",
            &["hooks", "hooks/preToolUse"],
            "{\"version\": 1, \"hooks\": { \"stop\": []}, \"x\": 1}",
        ),
        (
            CodingCli::Cursor,
            "{\"version\": 1, \"hooks\": {\"preToolUse\": [{\"command\": \"h --config /data/hooks/x.json\"}]}, \"x\": 1}",
            &["hooks", "hooks/preToolUse"],
            "{\"version\": 1, \"x\": 1}",
        ),
        (
            CodingCli::Cursor,
            "{\"version\": 1, \"hooks\": {\"preToolUse\": [{\"command\": \"h --config /data/hooks/x.json\"}]}}",
            &[],
            "{\"version\": 1, \"hooks\": {\"preToolUse\": []}}",
        ),
        (CodingCli::Claude, "{\"a\": 1}", &["hooks"], "{\"a\": 1}"),
        (CodingCli::Claude, "", &["hooks"], ""),
    ];
    for (cli, before, created, after) in table {
        assert_eq!(removed(cli, before, created), after);
    }
}

#[test]
fn codex_lines_that_somebody_changed_are_not_removed_by_guess() {
    let text = added(CodingCli::Codex, "").replace("timeout = 600", "timeout = 600 # longer");
    let refused = remove(CodingCli::Codex, &text, &is_ours, &[]).unwrap_err();
    assert!(refused.contains("remove the lines of the hook"), "{refused}");
}

#[test]
fn settings_that_the_agent_would_read_differently_are_refused() {
    use CodingCli::{Claude, Codex, Cursor, Gemini};
    let table = [
        (Claude, "{", "is not valid JSON"),
        (Claude, "[]", "does not contain an object"),
        (Claude, "nonsense", "is not valid JSON"),
        (Claude, "{\"a\": 1} {\"b\": 2}", "is not valid JSON"),
        // The agent ignores the whole file, and with it the hook.
        (Claude, "{\n  // why\n  \"a\": 1\n}", "is not valid JSON"),
        (Claude, "{\"a\": 1,}", "is not valid JSON"),
        (Claude, "{'a': 1}", "is not valid JSON"),
        (Claude, "{a: 1}", "is not valid JSON"),
        (Claude, "{\"a\": +1}", "is not valid JSON"),
        (Claude, "{\"a\": 0x1}", "is not valid JSON"),
        (Claude, "{\"a\": 01}", "JSON"),
        (Claude, "{\"a\": 1, \"a\": 2}", "contains `a` twice"),
        (Claude, "{\"hooks\": {\"Stop\": [], \"Stop\": []}}", "contains `hooks.Stop` twice"),
        (Claude, "{\"a\": [{\"b\": 1, \"b\": 1}]}", "contains `a[0].b` twice"),
        (Claude, "{\"hooks\": []}", "contains `hooks` that is not an object"),
        (Claude, "{\"hooks\": {\"Stop\": {}}}", "contains `hooks.Stop` that is not a list"),
        (Claude, "{\"hooks\": {\"Stop\": [{}]}}", "contains `hooks.Stop[0]` without a list `hooks`"),
        (Claude, "{\"hooks\": {\"Stop\": [7]}}", "contains `hooks.Stop[0]` without a list `hooks`"),
        (
            Claude,
            "{\"hooks\": {\"Stop\": [{\"matcher\": {}, \"hooks\": []}]}}",
            "`hooks.Stop[0].matcher` that is not a text",
        ),
        (
            Claude,
            "{\"hooks\": {\"Stop\": [{\"hooks\": [\"x\"]}]}}",
            "`hooks.Stop[0].hooks[0]` that is not an object",
        ),
        (Gemini, "{\"a\": 1,}", "is not valid JSON"),
        (Gemini, "/* open", "is not valid JSON"),
        (Cursor, "{\"version\": 2}", "has version 2, and only version 1 is known"),
        (Cursor, "{\"version\": \"1\"}", "has version \"1\""),
        (Cursor, "{\"hooks\": {\"stop\": [\"x\"]}}", "`hooks.stop[0]` that is not an object"),
        (Codex, "a = ", "is not valid TOML"),
        (Codex, "{}", "is not valid TOML"),
        (Codex, "a = 1\na = 2", "is not valid TOML"),
        (Codex, "hooks = 1", "contains `hooks` that is not a table"),
        (Codex, "hooks = {}", "in a form to which nothing can be added"),
        (Codex, "[hooks]\nPreToolUse = []", "in a form to which nothing can be added"),
        (Codex, "[[hooks.Stop]]\nmatcher = 'x'", "contains `hooks.Stop[0]` without a list `hooks`"),
    ];
    for (cli, text, said) in table {
        let refused = ensure(text, &entry(cli), &is_ours).expect_err(text);
        assert!(refused.contains(said), "{text}: {refused}");
    }
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(ensure(&deep, &entry(Claude), &is_ours).unwrap_err().contains("is not valid JSON"));
}

#[test]
fn switches_that_turn_hooks_off_and_settings_without_a_second_line_are_found() {
    use CodingCli::{Claude, Codex, Cursor, Gemini};
    let table = [
        (Claude, "{}", "", ""),
        (Claude, "{\"disableAllHooks\": false, \"permissions\": {\"defaultMode\": \"plan\"}}", "", ""),
        (Claude, "{\"disableAllHooks\": true}", "disableAllHooks", ""),
        (Claude, "{\"disableAllHooks\": \"yes\"}", "disableAllHooks", ""),
        (Claude, "{\"allowManagedHooksOnly\": true}", "allowManagedHooksOnly", ""),
        (Claude, "{\"env\": {\"CLAUDE_CODE_SIMPLE\": \"1\"}}", "CLAUDE_CODE_SIMPLE", ""),
        (Claude, "{\"env\": {\"CLAUDE_CODE_SIMPLE\": \"0\"}}", "", ""),
        (Claude, "{\"permissions\": {\"defaultMode\": \"bypassPermissions\"}}", "", "bypassPermissions"),
        (Gemini, "{\"hooksConfig\": {\"enabled\": true}}", "", ""),
        (Gemini, "{\"hooksConfig\": {\"enabled\": false}}", "hooksConfig.enabled", ""),
        (Gemini, "{\"hooksConfig\": {\"disabled\": [\"holdshort\"]}}", "/hooks enable holdshort", ""),
        (Gemini, "{\"hooksConfig\": {\"disabled\": [\"other\"]}}", "", ""),
        (
            Gemini,
            "{\"hooks\": {\"disabled\": [\"/opt/holdshort hook run gemini --config /data/hooks/x.json\"]}}",
            "hooks.disabled",
            "",
        ),
        (Gemini, "{\"hooks\": {\"enabled\": false}}", "hooks.enabled", ""),
        (Gemini, "{\"tools\": {\"enableHooks\": false}}", "tools.enableHooks", ""),
        (Gemini, "{\"general\": {\"defaultApprovalMode\": \"yolo\"}}", "", "yolo"),
        (Codex, "[features]\nhooks = true", "", ""),
        (Codex, "[features]\nhooks = false", "features.hooks", ""),
        (Codex, "[features]\ncodex_hooks = false", "features.codex_hooks", ""),
        (Codex, "allow_managed_hooks_only = true", "allow_managed_hooks_only", ""),
        (Codex, "approval_policy = \"on-request\"", "", ""),
        (Codex, "approval_policy = \"never\"", "", "approval_policy"),
        (Codex, "sandbox_mode = \"danger-full-access\"", "", "sandbox_mode"),
        (Codex, "profile = \"p\"\n[profiles.p]\napproval_policy = \"never\"", "", "approval_policy"),
        (
            Codex,
            "profile = \"p\"\napproval_policy = \"never\"\n[profiles.p]\napproval_policy = \"on-request\"",
            "",
            "",
        ),
        (Cursor, "{\"version\": 1, \"hooks\": {}}", "", ""),
        (Cursor, "{\"hooks\": {\"stop\": []}}", "has no `version`", ""),
    ];
    for (cli, text, off, weak) in table {
        let found = inspect(cli, Format::Settings, text, Some(&entry(cli))).expect(text);
        let holds = |lines: &[String], word: &str| match lines {
            [] => word.is_empty(),
            [line] => !word.is_empty() && line.contains(word),
            _ => false,
        };
        assert!(holds(&found.off, off) && holds(&found.no_second_line, weak), "{text}: {found:?}");
    }
}

#[test]
fn hooks_in_the_list_of_codex_are_found() {
    let list = |text: &str| inspect(CodingCli::Codex, Format::HookList, text, None);
    let text = r#"{"description": null, "hooks": {"PreToolUse": [{"matcher": null, "hooks": [{"type": "command", "command": "a"}]}]}}"#;
    let hook = FoundHook {
        event: "PreToolUse".to_owned(),
        shown: "a".to_owned(),
        is_exact: false,
        position: (0, 0),
    };
    assert_eq!(list(text).unwrap().hooks, [hook]);
    for (text, said) in [("{", "is not valid JSON"), ("[]", "does not contain an object")] {
        assert!(list(text).unwrap_err().contains(said), "{text}");
    }
}

#[test]
fn codex_trust_is_the_digest_of_the_hook_at_its_position() {
    let entry = entry(CodingCli::Codex);
    let text = added(CodingCli::Codex, "[[hooks.PreToolUse]]\nhooks = []\n");
    let digest = codex::trusted_digest("PreToolUse", &entry);
    // As `hooks/list` of Codex 0.171.0 returns them for this hook.
    assert_eq!(digest, "sha256:c24a19422987817eae9804d333b08dd91cf3eb7429f522a27f58d7b93367cf99");
    assert_eq!(
        codex::trusted_digest("PermissionRequest", &entry),
        "sha256:cd915851e73a50af8e85be2186fa55d5649c026bbe0f829071baab991a2618d8"
    );
    let state = |key: &str, lines: &str| format!("{text}\n[hooks.state.\"{key}\"]\n{lines}\n");
    let key = "/home/a/.codex/config.toml:pre_tool_use:1:0";
    let right = format!("trusted_hash = \"{digest}\"");
    let table = [
        (text.clone(), codex::Trust::Untrusted),
        (state(key, &right), codex::Trust::Trusted),
        (state(key, "trusted_hash = \"sha256:00\""), codex::Trust::Modified),
        (state(key, &format!("{right}\nenabled = false")), codex::Trust::Disabled),
        (state(key, "enabled = true"), codex::Trust::Untrusted),
        (state("/home/a/.codex/config.toml:pre_tool_use:0:0", &right), codex::Trust::Untrusted),
        (state("/home/a/.codex/config.toml:permission_request:1:0", &right), codex::Trust::Untrusted),
        (state("/home/b/.codex/config.toml:pre_tool_use:1:0", &right), codex::Trust::Untrusted),
    ];
    for (text, trust) in table {
        let is_settings = |path: &Path| path == Path::new("/home/a/.codex/config.toml");
        assert_eq!(codex::trust(&text, "PreToolUse", (1, 0), &entry, &is_settings).unwrap(), trust, "{text}");
    }
}

#[test]
fn settings_hold_back_a_replacement() {
    let (claude, codex, gemini) = (CodingCli::Claude, CodingCli::Codex, CodingCli::Gemini);
    let deny = |rule: &str| format!("{{\"permissions\": {{\"deny\": [\"{rule}\"]}}}}");
    let table = [
        (claude, deny("Bash(touch:*)"), "touch a", true),
        (claude, deny("Bash(rm:*)"), "touch a", false),
        (claude, deny("Bash(rm:*)"), "$tool a", true),
        (claude, deny("Bash(rm:*)"), "r\\m a", true),
        (claude, deny("Bash"), "touch a", true),
        (claude, deny("WebFetch"), "touch a", false),
        (claude, deny("mcp__a__b"), "touch a", false),
        (claude, deny("Edit(/home/me/site/own.txt)"), "touch own.txt", true),
        (claude, deny("Edit(//home/me/site/**)"), "touch own.txt", true),
        (claude, deny("Edit(//home/me/other/own.txt)"), "touch own.txt", false),
        (claude, deny("Edit(site)"), "touch own.txt", true),
        (claude, deny("Bash(me own.txt)"), "touch own.txt", false),
        (claude, "{\"sandbox\": {\"enabled\": true}}".to_owned(), "touch a", true),
        (claude, "{".to_owned(), "touch a", true),
        (claude, "{}".to_owned(), "touch a", false),
        (codex, "sandbox_mode = \"danger-full-access\"".to_owned(), "touch a", false),
        (codex, "sandbox_mode = \"read-only\"".to_owned(), "touch a", true),
        (codex, "profile = \"x\"".to_owned(), "touch a", true),
        (gemini, "{\"tools\": {\"sandbox\": true}}".to_owned(), "touch a", true),
        (gemini, "{\"tools\": {\"exclude\": []}}".to_owned(), "touch a", false),
    ];
    for (cli, text, line, expected) in table {
        let why = holds_back(cli, Format::Settings, &text, line, "/home/me/site");
        assert_eq!(why.is_some(), expected, "{cli} {text} {line}: {why:?}");
    }
}
