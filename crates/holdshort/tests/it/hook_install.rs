//! Tests of `hook install`, `hook uninstall`, `hook status` and the hook lines of `doctor`, with a real server in a
//! temporary home. Programs named `claude` and so on only print a version.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use holdshort_testkit::home::{CommandOutput, Home};
use holdshort_testkit::server::real;
use holdshort_testkit::terminal::Terminal;
use serde_json::{Value, json};

const SETTINGS: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n  }\n}\n";

/// Home folder of a person with a project and coding agents.
struct Person {
    home: Home,
}

impl Person {
    fn new() -> Self {
        let person = Self { home: Home::new() };
        fs::create_dir(person.project()).unwrap();
        fs::create_dir(person.at("bin")).unwrap();
        person.has_version("claude", "2.1.332 (Claude Code)");
        person
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn project(&self) -> PathBuf {
        self.at("project")
    }

    /// Installs a coding agent that can only print its version.
    fn has_version(&self, name: &str, version: &str) {
        self.has_script(name, &format!("echo '{version}'"));
    }

    fn has_script(&self, name: &str, script: &str) {
        let path = self.at("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn path_variable(&self) -> String {
        format!("{}:{}", self.at("bin").display(), std::env::var("PATH").unwrap())
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = self.home.command(program);
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"] {
            command.env_remove(name);
        }
        command.env("PATH", self.path_variable()).args(arguments).current_dir(self.project());
        command
    }

    fn run(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::from_output(self.command(&real(), arguments).output().unwrap())
    }

    fn install(&self, cli: &str) -> CommandOutput {
        self.run(&["hook", "install", cli, "--yes"])
    }

    fn keys(&self) -> Vec<Value> {
        self.home.json(&["keys"]).as_array().unwrap().clone()
    }

    fn live_keys(&self) -> usize {
        self.keys().iter().filter(|key| key["status"] == "live").count()
    }

    fn hook_file(&self, name: &str) -> PathBuf {
        self.home.data().join("hooks").join(name)
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }
}

/// Returns the words of an output with single blanks, whatever the width of its lines.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn settings(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_hook_is_shown_installed_checked_and_removed_without_a_trace() {
    let person = Person::new();
    let _serving = person.home.serve(&[]);
    let file = person.write(".claude/settings.json", SETTINGS);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();

    let dry = person.run(&["hook", "install", "claude", "--dry-run"]);
    assert_eq!((dry.code, &*dry.err), (0, ""), "{dry:?}");
    assert!(
        dry.out.contains("+      \"PreToolUse\": [") || dry.out.contains("+     \"PreToolUse\": ["),
        "{dry:?}"
    );
    assert!(!dry.out.contains("-   \"model\"") && dry.out.ends_with("Nothing was changed.\n"), "{dry:?}");
    let asked = person.run(&["hook", "install", "claude"]);
    assert!(asked.code == 2 && asked.err.contains("no terminal can ask you"), "{asked:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), SETTINGS);
    assert!(person.keys().is_empty() && !person.hook_file("claude.json").exists());

    let installed = person.install("claude");
    assert_eq!((installed.code, &*installed.err), (0, ""), "{installed:?}");
    assert!(installed.out.contains("The hook of Claude Code is installed."), "{installed:?}");
    let owner = |path: &Path| (fs::metadata(path).unwrap().uid(), fs::metadata(path).unwrap().gid());
    assert_eq!((Person::mode(&file), owner(&file)), (0o640, owner(&person.project())));
    let config = person.hook_file("claude.json");
    let program = real().canonicalize().unwrap();
    let line = format!("{} hook run claude --config {}", program.display(), config.display());
    let written = settings(&file);
    assert_eq!((&written["model"], written["hooks"]["Stop"].as_array().unwrap().len()), (&json!("opus"), 1));
    for event in ["PreToolUse", "PermissionRequest", "Elicitation", "PostToolUse"] {
        let hook = &written["hooks"][event][0]["hooks"][0];
        let expected = json!({"type": "command", "command": line, "timeout": 600, "onFailure": "block"});
        assert_eq!(*hook, expected, "{event}");
    }
    let stored = settings(&config);
    let project = person.project().canonicalize().unwrap();
    let found = fs::metadata(&project).unwrap();
    assert_eq!(stored["root"], json!(project));
    assert_eq!(stored["root_identity"], json!({"device": found.dev(), "inode": found.ino()}));
    let protected = stored["protected"].as_array().unwrap();
    for place in [&person.home.data(), &config.parent().unwrap().to_owned(), &file, &program] {
        assert!(protected.contains(&json!(place.canonicalize().unwrap())), "{place:?}: {stored}");
    }
    // The project's own settings can turn off the hooks of the user.
    assert!(protected.contains(&json!(project.join(".claude/settings.local.json"))), "{stored}");
    for name in ["claude.json", "claude.key", "claude.installed.json"] {
        assert_eq!(Person::mode(&person.hook_file(name)), 0o600, "{name}");
    }
    assert_eq!(Person::mode(config.parent().unwrap()), 0o700);

    let secret = fs::read_to_string(person.hook_file("claude.key")).unwrap();
    assert!(
        !installed.out.contains(secret.trim()) && !fs::read_to_string(&file).unwrap().contains(secret.trim())
    );
    let mut as_agent = person.command(&real(), &["keys", "--json"]);
    let refused =
        CommandOutput::from_output(as_agent.env("HOLDSHORT_TOKEN", secret.trim()).output().unwrap());
    assert!(refused.err.contains("forbidden_role"), "the key can ask and never decide: {refused:?}");
    assert_eq!(
        (person.keys()[0]["name"].as_str(), person.keys()[0]["role"].as_str()),
        (Some("claude-code"), Some("agent"))
    );

    let status = person.run(&["hook", "status"]);
    assert!(status.code == 0 && flat(&status.out).starts_with("Claude Code: the hook holds "), "{status:?}");
    let doctor = person.run(&["doctor"]);
    assert!(doctor.code == 0 && flat(&doctor.out).contains("claude: holds in"), "{doctor:?}");

    let before = fs::metadata(&file).unwrap();
    let again = person.install("claude");
    assert!(again.code == 0 && again.out.contains("is installed already. Nothing was changed."), "{again:?}");
    assert_eq!((fs::metadata(&file).unwrap().ino(), person.keys().len()), (before.ino(), 1));

    let removed = person.run(&["hook", "uninstall", "claude", "--yes"]);
    assert_eq!((removed.code, &*removed.err), (0, ""), "{removed:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), SETTINGS);
    assert_eq!((Person::mode(&file), person.live_keys(), person.keys().len()), (0o640, 0, 1));
    for name in ["claude.json", "claude.key", "claude.installed.json"] {
        assert!(!person.hook_file(name).exists(), "{name}");
    }
    let gone = person.run(&["hook", "uninstall", "claude", "--yes"]);
    assert!(gone.code == 2 && gone.err.contains("is not installed"), "{gone:?}");
    let status = person.run(&["hook", "status", "claude"]);
    assert!(status.code == 1 && flat(&status.out).contains("is not installed"), "{status:?}");
}

#[test]
fn each_agent_gets_its_own_form_and_leaves_nothing_behind() {
    let person = Person::new();
    let _serving = person.home.serve(&[]);
    let table = [
        ("claude", "2.1.197 (Claude Code)", ".claude/settings.json", "\"timeout\": 600\n"),
        ("codex", "codex-cli 0.171.0", ".codex/config.toml", "timeout = 600\n"),
        ("gemini", "0.54.4", ".gemini/settings.json", "\"timeout\": 60000\n"),
        ("cursor", "2.6.11\n0c3f\nx64", ".cursor/hooks.json", "\"failClosed\": true\n"),
    ];
    for (cli, version, file, said) in table {
        person.has_version(cli, version);
        let installed = person.install(cli);
        assert_eq!(installed.code, 0, "{cli}: {installed:?}");
        let text = fs::read_to_string(person.at(file)).unwrap();
        assert!(text.contains(said) && !text.contains("onFailure"), "{cli}: {text}");
        assert_eq!(Person::mode(&person.at(file)), 0o600, "{cli}");
    }
    assert_eq!(person.live_keys(), 4);
    // Codex runs a hook only after the person trusted it.
    let status = person.run(&["hook", "status"]);
    assert!(status.code == 1 && flat(&status.out).contains("Codex: the hook does NOT hold"), "{status:?}");
    assert_eq!(flat(&status.out).matches("enter `/hooks`, and trust it").count(), 2, "{status:?}");
    for (cli, _, file, _) in table {
        let removed = person.run(&["hook", "uninstall", cli, "--yes"]);
        assert_eq!((removed.code, &*removed.err), (0, ""), "{cli}: {removed:?}");
        assert!(!person.at(file).exists() && !person.at(file).parent().unwrap().exists(), "{cli}");
    }
    assert_eq!(person.live_keys(), 0);
}

#[test]
fn a_person_at_a_terminal_is_asked_first() {
    let person = Person::new();
    let _serving = person.home.serve(&[]);
    let file = person.write(".claude/settings.json", SETTINGS);
    let (path, project) = (person.path_variable(), person.project().display().to_string());
    let arguments = ["hook", "install", "claude", "--project", &project];
    for (answer, is_installed) in [("n", false), ("y", true)] {
        let mut terminal = Terminal::open(&person.home, &arguments, &[("PATH", &path)]);
        terminal.expect("\"PreToolUse\": [");
        terminal.expect("y applies the change, anything else does not> ");
        assert_eq!(fs::read_to_string(&file).unwrap(), SETTINGS, "nothing is written before the answer");
        assert!(person.keys().is_empty());
        terminal.type_line(answer);
        if is_installed {
            terminal.expect("The hook of Claude Code is installed.");
        } else {
            terminal.expect("you did not agree");
        }
        terminal.end();
        assert_eq!(fs::read_to_string(&file).unwrap() != SETTINGS, is_installed);
    }
}

/// Expects that an installation is refused with this text, and changes nothing.
fn refused(person: &Person, what: &str, arguments: &[&str], said: &str) {
    let file = person.at(".claude/settings.json");
    let before = fs::read(&file).ok();
    let ran = person.run(&[&["hook", "install", "claude", "--yes"], arguments].concat());
    assert!(ran.code == 2 && ran.err.contains(said), "{what}: {ran:?}");
    assert_eq!(fs::read(&file).ok(), before, "{what}");
    assert!(person.keys().is_empty() && !person.hook_file("claude.json").exists(), "{what}");
}

#[test]
fn settings_that_are_unsafe_or_unreadable_are_refused_and_keep_their_bytes() {
    let person = Person::new();
    let _serving = person.home.serve(&[]);
    let file = person.write(".claude/settings.json", "{\"a\": 1");
    refused(&person, "no JSON", &[], "is not valid JSON");
    fs::write(&file, "{\n  // why\n  \"a\": 1\n}").unwrap();
    refused(&person, "comments, with which Claude Code ignores the file", &[], "is not valid JSON");
    fs::write(&file, [b'{', 0xff, b'}']).unwrap();
    refused(&person, "no text", &[], "is not UTF-8 text");
    fs::write(&file, format!("{{\"a\": \"{}\"}}", "x".repeat(1_100_000))).unwrap();
    refused(&person, "too large", &[], "has more than 1048576 bytes");

    fs::write(&file, SETTINGS).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    refused(&person, "read-only", &[], "is read-only");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    refused(&person, "file that others can write", &[], "can be changed by other users (mode 666)");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let folder = person.at(".claude");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o775)).unwrap();
    refused(&person, "folder that others can write", &[], "can be changed by other users (mode 775)");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();

    fs::hard_link(&file, person.at("second-name")).unwrap();
    refused(&person, "hard link", &[], "is one of 2 hard links");
    fs::remove_file(person.at("second-name")).unwrap();
    if fs::metadata(&file).unwrap().uid() == 0 {
        chown(&file, Some(1_234), None).unwrap();
        refused(&person, "another owner", &[], "belongs to the user with id 1234");
        chown(&file, Some(0), None).unwrap();
    }
    let elsewhere = person.at("elsewhere.json");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    refused(&person, "link", &[], "is a link to");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let ran = person.install("claude");
    assert!(
        ran.code == 2 && ran.err.contains("is not a file") || ran.err.contains("cannot be read"),
        "{ran:?}"
    );
}

#[test]
fn what_the_project_contains_can_not_hold_the_project() {
    let person = Person::new();
    let _serving = person.home.serve(&[]);
    let home = person.home.path().display().to_string();
    let programs = real().parent().unwrap().display().to_string();
    refused(&person, "settings", &["--project", &home], "is in the project");
    refused(&person, "program", &["--project", &programs], "is in the project");
    // The folder is a link into the project.
    fs::create_dir(person.project().join("inside")).unwrap();
    symlink(person.project().join("inside"), person.at(".claude")).unwrap();
    refused(&person, "settings over a link", &[], "is in the project");
    assert_eq!(fs::read_dir(person.project().join("inside")).unwrap().count(), 0);
    fs::remove_file(person.at(".claude")).unwrap();
    refused(&person, "no folder", &["--project", "/nowhere"], "/nowhere cannot be opened");
    refused(&person, "file", &["--project", &real().display().to_string()], "is not a folder");
    let both = person.run(&["hook", "install", "claude", "--user", "--project", &home]);
    assert!(both.code == 2 && both.err.contains("cannot be used with"), "{both:?}");
    // For all folders of the person, the hook itself keeps the agent from the settings.
    let ran = person.run(&["hook", "install", "claude", "--user", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        settings(&person.hook_file("claude.json"))["root"],
        json!(person.home.path().canonicalize().unwrap())
    );
    assert_eq!(person.run(&["hook", "status"]).code, 0);
    let other = person.install("claude");
    assert!(other.code == 2 && other.err.contains("a hook has one project"), "{other:?}");
}

#[test]
fn a_version_on_which_a_hook_can_not_hold_is_refused() {
    let person = Person::new();
    let _serving = person.home.serve(&[]);
    let table = [
        ("echo '2.1.109 (Claude Code)'", "Claude Code 2.1.109 is too old: an earlier version than 2.1.110"),
        ("echo '1.0.0'", "Claude Code 1.0.0 is too old"),
        ("echo 'Claude Code'", "prints no version such as"),
        ("echo '2.1.332'; exit 1", "failed (exit status: 1)"),
    ];
    for (script, said) in table {
        person.has_script("claude", script);
        refused(&person, script, &[], said);
    }
    fs::remove_file(person.at("bin/claude")).unwrap();
    // Only this folder, so that no real program is found.
    let mut command = person.command(&real(), &["hook", "install", "claude", "--yes"]);
    let ran = CommandOutput::from_output(command.env("PATH", person.at("bin")).output().unwrap());
    assert!(ran.code == 2 && ran.err.contains("`claude` is not in PATH"), "{ran:?}");
    for (cli, version) in [("codex", "codex-cli 0.130.0"), ("gemini", "0.26.0"), ("cursor", "2.4.0")] {
        person.has_version(cli, version);
        let ran = person.install(cli);
        assert!(ran.code == 2 && ran.err.contains("is too old"), "{cli}: {ran:?}");
    }
}

#[test]
fn switches_and_other_hooks_are_refused_wherever_they_are() {
    let person = Person::new();
    let _serving = person.home.serve(&[]);
    let off = "{\"disableAllHooks\": true}";
    let other = "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"rewrite.sh\"}]}]}}";
    for file in
        [".claude/settings.json", "project/.claude/settings.json", "project/.claude/settings.local.json"]
    {
        let path = person.write(file, off);
        refused(&person, file, &[], "sets `disableAllHooks`");
        refused(&person, file, &["--keep-other-hooks"], "sets `disableAllHooks`");
        fs::write(&path, other).unwrap();
        refused(&person, file, &[], "has another hook for PreToolUse: `rewrite.sh`");
        fs::remove_file(&path).unwrap();
    }
    let plugin = person.at("plugins/rewriter");
    let list = json!({"version": 2, "plugins": {"rewriter@x": [{"installPath": plugin}]}});
    person.write(".claude/plugins/installed_plugins.json", &list.to_string());
    person.write("plugins/rewriter/hooks/hooks.json", other);
    refused(&person, "plugin", &[], "has another hook for PreToolUse: `rewrite.sh`");

    let kept = person.run(&["hook", "install", "claude", "--yes", "--keep-other-hooks"]);
    assert!(kept.code == 0 && kept.err.contains("you accepted that it changes no call"), "{kept:?}");
    let status = person.run(&["hook", "status"]);
    assert!(
        status.code == 0 && flat(&status.out).contains("you accepted that it changes no call"),
        "{status:?}"
    );
    person.write("project/.claude/settings.json", &other.replace("rewrite.sh", "another.sh"));
    let status = person.run(&["hook", "status"]);
    assert!(
        status.code == 1 && flat(&status.out).contains("`another.sh`"),
        "only the accepted one: {status:?}"
    );
}

#[test]
fn installations_at_once_make_one_hook_and_one_key() {
    let person = Person::new();
    let _serving = person.home.serve(&[]);
    let file = person.write(".claude/settings.json", SETTINGS);
    let start = |_| -> Child {
        let mut command = person.command(&real(), &["hook", "install", "claude", "--yes"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<Child> = (0..4).map(start).collect();
    for child in started {
        let ended = CommandOutput::from_output(child.wait_with_output().unwrap());
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    assert_eq!(person.keys().len(), 1);
    let written = settings(&file);
    for event in ["PreToolUse", "PermissionRequest", "Elicitation", "PostToolUse"] {
        assert_eq!(written["hooks"][event].as_array().unwrap().len(), 1, "{event}");
    }
    assert_eq!(person.run(&["hook", "status"]).code, 0);
}

/// Expects that `hook status` and `doctor` report with this text that a hook does not hold.
fn broken(person: &Person, what: &str, said: &str) {
    let status = person.run(&["hook", "status"]);
    assert!(status.code == 1 && flat(&status.out).contains(said), "{what}: {status:?}");
    assert!(status.out.starts_with("Claude Code: the hook does NOT hold\n"), "{what}: {status:?}");
    let doctor = person.run(&["doctor"]);
    assert!(doctor.code == 2 && flat(&doctor.out).contains(said), "{what}: {doctor:?}");
    let report: Value = serde_json::from_str(&person.run(&["hook", "status", "--json"]).out).unwrap();
    assert_eq!(report[0]["holds"], false, "{what}: {report}");
}

#[test]
fn status_and_doctor_say_when_a_hook_no_longer_holds() {
    let person = Person::new();
    let serving = person.home.serve(&[]);
    let file = person.write(".claude/settings.json", SETTINGS);
    // A copy, because the test changes the program.
    let program = person.at("bin/holdshort");
    fs::copy(real(), &program).unwrap();
    let install = || {
        let mut command = person.command(&program, &["hook", "install", "claude", "--yes"]);
        CommandOutput::from_output(command.output().unwrap())
    };
    let installed = install();
    assert_eq!(installed.code, 0, "{installed:?}");
    let good = fs::read_to_string(&file).unwrap();
    let holds = |what: &str| {
        let status = person.run(&["hook", "status"]);
        assert_eq!(status.code, 0, "{what}: {status:?}");
        flat(&status.out)
    };
    holds("installed");

    fs::write(&file, SETTINGS).unwrap();
    broken(&person, "entry removed", "no longer contains the hook for PreToolUse");
    fs::write(&file, good.replace("\"timeout\": 600", "\"timeout\": 1")).unwrap();
    broken(&person, "entry changed", "in another form than it should");
    fs::write(&file, &good[..good.len() - 3]).unwrap();
    broken(&person, "no JSON", "is not valid JSON");
    fs::remove_file(&file).unwrap();
    broken(&person, "no settings", "does not exist");
    assert_eq!(install().code, 0, "a repeated installation repairs the settings");
    holds("settings again");
    let again = fs::read_to_string(&file).unwrap();

    let switch = person.write("project/.claude/settings.local.json", "{\"disableAllHooks\": true}");
    broken(&person, "switch in the project", "sets `disableAllHooks`");
    fs::remove_file(switch).unwrap();
    person.has_version("claude", "2.1.100 (Claude Code)");
    broken(&person, "older version", "2.1.100 is too old");
    person.has_version("claude", "2.1.400 (Claude Code)");
    assert!(holds("newer version").contains("was 2.1.332 when the hook was installed"));
    person.has_version("claude", "2.1.200 (Claude Code)");
    broken(&person, "a version with another form", "in another form than it should");
    person.has_version("claude", "2.1.332 (Claude Code)");

    fs::write(
        &file,
        again.replacen('{', "{\n  \"permissions\": {\"defaultMode\": \"bypassPermissions\"},", 1),
    )
    .unwrap();
    assert!(holds("no second line").contains("asks nothing where the hook does not run"));
    fs::write(&file, &again).unwrap();

    let key = person.hook_file("claude.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    broken(&person, "key that others can read", "is readable by others");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let config = person.hook_file("claude.json");
    fs::write(&config, "{}").unwrap();
    broken(&person, "configuration", "is not a hook configuration");
    assert_eq!(install().code, 0);
    // The state after an installation that ended before its last step.
    fs::remove_file(&config).unwrap();
    fs::write(&file, SETTINGS).unwrap();
    broken(&person, "no configuration", "cannot be read");
    assert_eq!((install().code, person.keys().len()), (0, 1), "the key is used again");
    holds("a configuration again");

    fs::rename(person.project(), person.at("moved")).unwrap();
    fs::create_dir(person.project()).unwrap();
    broken(&person, "another folder", "was replaced by another folder");
    fs::remove_dir(person.project()).unwrap();
    fs::rename(person.at("moved"), person.project()).unwrap();
    holds("the folder again");

    fs::write(&program, [fs::read(&program).unwrap(), b"more".to_vec()].concat()).unwrap();
    broken(&person, "another program", "changed after the hook was installed");
    assert_eq!(install().code, 0);
    holds("the new program");

    let id = person.keys()[0]["id"].as_str().unwrap().to_owned();
    person.run(&["keys", "revoke", &id]);
    broken(&person, "revoked key", "the agent key was revoked");
    assert_eq!(install().code, 0, "a repeated installation makes a new key");
    assert_eq!((person.live_keys(), person.keys().len()), (1, 2));
    holds("the new key");

    serving.stop();
    let status = person.run(&["hook", "status"]);
    let said = "so it denies every call";
    assert!(
        status.code == 0 && flat(&status.out).contains(said),
        "a hook that stops every call holds: {status:?}"
    );
    let removed = person.run(&["hook", "uninstall", "claude", "--yes"]);
    assert!(removed.code == 1 && removed.err.contains("was not revoked"), "{removed:?}");
    assert!(removed.err.contains("holdshort keys revoke key_"), "{removed:?}");
    assert!(!person.hook_file("claude.key").exists());
    assert_eq!(fs::read_to_string(&file).unwrap(), SETTINGS);
}

#[test]
fn a_removal_leaves_what_the_agent_wrote_since() {
    let person = Person::new();
    let _serving = person.home.serve(&[]);
    person.has_version("codex", "codex-cli 0.171.0");
    let file = person.write(".claude/settings.json", SETTINGS);
    let codex = person.write(".codex/config.toml", "model = \"o\"\n");
    assert_eq!((person.install("claude").code, person.install("codex").code), (0, 0));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"opus\"", "\"sonnet\"")).unwrap();
    let trust = "\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n";
    fs::write(&codex, fs::read_to_string(&codex).unwrap() + trust).unwrap();
    for cli in ["claude", "codex"] {
        let removed = person.run(&["hook", "uninstall", cli, "--yes"]);
        assert_eq!(removed.code, 0, "{removed:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), SETTINGS.replace("\"opus\"", "\"sonnet\""));
    assert_eq!(fs::read_to_string(&codex).unwrap(), format!("model = \"o\"\n{trust}"));
}

#[test]
fn without_a_server_or_with_a_used_name_nothing_is_changed() {
    let person = Person::new();
    let none = person.install("claude");
    assert!(none.code == 2 && none.err.contains("no server uses"), "{none:?}");
    assert!(!person.at(".claude").exists());
    let _serving = person.home.serve(&[]);
    person.home.run(&["keys", "create", "claude-code"]);
    let taken = person.install("claude");
    assert!(taken.code == 2 && taken.err.contains("choose another name with --name"), "{taken:?}");
    assert!(!person.at(".claude").exists() && !person.hook_file("claude.json").exists());
    let named = person.run(&["hook", "install", "claude", "--yes", "--name", "laptop", "--json"]);
    let report: Value = serde_json::from_str(&named.out).expect(&named.err);
    assert_eq!((&report["key"]["name"], &report["changed"]), (&json!("laptop"), &json!(true)));
    assert!(report["diff"].as_str().unwrap().contains("+    \"PreToolUse\": ["), "{report}");
}

#[test]
fn a_project_or_an_extension_that_weakens_a_hook_is_reported() {
    let person = Person::new();
    let _serving = person.home.serve(&[]);
    for (cli, version) in [("codex", "codex-cli 0.171.0"), ("gemini", "0.54.4"), ("cursor", "2.6.11")] {
        person.has_version(cli, version);
        assert_eq!(person.install(cli).code, 0, "{cli}");
    }
    let group =
        |event: &str| json!({"hooks": {event: [{"hooks": [{"type": "command", "command": "other.sh"}]}]}});
    let untrusted = json!({person.project().display().to_string(): "DO_NOT_TRUST"});
    let flat_hook = json!({"version": 1, "hooks": {"preToolUse": [{"command": "other.sh"}]}});
    let table = [
        (
            "codex",
            "project/.codex/config.toml",
            "[features]\nhooks = false".to_owned(),
            "`features.hooks` to false",
        ),
        (
            "codex",
            ".codex/hooks.json",
            group("PreToolUse").to_string(),
            "another hook for PreToolUse: `other.sh`",
        ),
        (
            "gemini",
            "project/.gemini/settings.json",
            json!({"hooksConfig": {"enabled": false}}).to_string(),
            "`hooksConfig.enabled`",
        ),
        ("gemini", ".gemini/trustedFolders.json", untrusted.to_string(), "says DO_NOT_TRUST"),
        (
            "gemini",
            ".gemini/extensions/x/hooks/hooks.json",
            group("BeforeTool").to_string(),
            "another hook for BeforeTool: `other.sh`",
        ),
        (
            "cursor",
            "project/.cursor/hooks.json",
            flat_hook.to_string(),
            "another hook for preToolUse: `other.sh`",
        ),
    ];
    for (cli, file, text, said) in table {
        let bad = || {
            let report: Value =
                serde_json::from_str(&person.run(&["hook", "status", cli, "--json"]).out).unwrap();
            let checks = report[0]["checks"].as_array().unwrap().clone();
            let bad = checks.into_iter().filter(|check| check["state"] == "bad");
            bad.map(|check| check["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let is_said = |texts: &[String]| texts.iter().any(|text| text.contains(said));
        assert!(!is_said(&bad()), "{file}");
        let path = person.write(file, &text);
        assert!(is_said(&bad()), "{file}: {:?}", bad());
        fs::remove_file(path).unwrap();
    }
}
