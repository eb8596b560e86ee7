//! Tests that printed commands can be executed as they are, even if the program is not installed.

use holdshort_testkit::home::{CommandOutput, Home};
use holdshort_testkit::server::real;

#[test]
fn where_nothing_is_installed_commands_begin_with_the_path() {
    let home = Home::new();
    let program = real();
    let folder = program.parent().unwrap();
    let name = program.file_name().unwrap().to_str().unwrap();
    // The search path lacks the folder of the program, but contains Git.
    let bare = |argument: &str, arguments: &[&str]| {
        let mut command = home.command(real());
        std::os::unix::process::CommandExt::arg0(&mut command, argument);
        command.args(arguments).env("PATH", "/usr/bin:/bin").current_dir(folder);
        CommandOutput::from_output(command.output().unwrap())
    };
    let called = format!("./{name}");
    let demo = bare(&called, &["demo"]);
    assert_eq!(demo.code, 4, "{demo:?}");
    for command in
        ["login --data", "attach run_", "serve --data", "inbox --all --data", "audit verify --data"]
    {
        assert!(demo.out.contains(&format!("{called} {command}")), "{command}: {demo:?}");
        assert!(!demo.out.contains(&format!(" holdshort {command}")), "{command}: {demo:?}");
    }
    let attach = demo.err.lines().find(|line| line.contains(" attach ")).unwrap().trim();
    let words: Vec<&str> = attach.split_whitespace().collect();
    assert_eq!(words[0], called);
    let again = bare(words[0], &words[1..]);
    assert!(again.code == 4 && again.err.contains(&format!("{called} attach ")), "{again:?}");
    let inbox = bare(&called, &["inbox"]);
    assert!(inbox.err.contains(&format!("`{called} serve --data ")), "{inbox:?}");

    let help = bare(&called, &["--help"]);
    assert!(help.out.contains(&format!("`{called} demo`")), "{help:?}");

    let demo = home.run(&["demo"]);
    assert!(demo.out.contains("\n  holdshort attach run_"), "{demo:?}");
    let installed = home.run(&["inbox"]);
    assert!(installed.err.contains("`holdshort serve --data "), "{installed:?}");
}
