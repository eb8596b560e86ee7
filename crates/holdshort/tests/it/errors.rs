//! Tests that errors are clear, and have the exit codes on which scripts rely.

use holdshort_testkit::home::Home;
use holdshort_testkit::server::real;

#[test]
fn what_is_not_there_is_said() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let address = serving.started["listening"].as_str().unwrap();
    let folder = home.path().to_str().unwrap();
    let work = home.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let work = work.to_str().unwrap();
    let table: &[(&[&str], i32, &str)] = &[
        (
            &["show", "int_00000000000000000000000000"],
            1,
            "holdshort: there is no such interrupt: int_00000000000000000000000000\n  `holdshort inbox --all` lists",
        ),
        (&["show", "int_x"], 1, "`holdshort inbox --all` lists the existing ones"),
        (&["revoke", "gra_00000000000000000000000000"], 1, "`holdshort grants` lists the existing ones"),
        (&["show", "run_00000000000000000000000000"], 1, "no such run"),
        (
            &["attach", "int_00000000000000000000000000"],
            2,
            "int_00000000000000000000000000 is an interrupt, not a run",
        ),
        (&["decide", "run_00000000000000000000000000", "approve"], 2, "is a run, not an interrupt"),
        (&["cancel", "run_00000000000000000000000000"], 1, "no such run: run_00000000000000000000000000"),
        (&["show", "grt_x"], 2, "neither an interrupt"),
        (&["show", "../system"], 2, "is not an id"),
        (&["decide", "int_00000000000000000000000000", "approve"], 1, "no such interrupt"),
        (&["attach", "run_00000000000000000000000000"], 1, "no such run"),
        (&["events", "run_00000000000000000000000000"], 1, "no such run"),
        (&["hold", "run_00000000000000000000000000"], 1, "no such run: run_00000000000000000000000000\n"),
        (&["hold", "run_00000000000000000000000000", "--lift"], 1, "no such run: run_0000"),
        (&["erase", "run_00000000000000000000000000"], 1, "no such run: run_00000000000000000000000000"),
        (&["freeze", "--run", "run_00000000000000000000000000", "--reason", "x"], 1, "no such run"),
        (&["revoke", "gra_00000000000000000000000000"], 1, "not_found"),
        (&["run", "pair", "--workspace", work, "do it"], 2, "holdshort demo"),
        (&["run", "pair", "--workspace", folder, "do it"], 2, "overlap; agents must not reach the journal"),
        (&["run", "pair", "--workspace", "/nowhere", "do it"], 2, "/nowhere"),
        (
            &["run", "pair", "--model", "rehearsal", "do it"],
            2,
            "The request is invalid: --workspace is missing",
        ),
        (&["run", "nothing", "--model", "rehearsal", "do it"], 2, "the known workflows are: autonomous"),
        (&["run", "nothing", "do it"], 2, "the known workflows are: autonomous"),
        (&["run", "pair", "do it"], 2, "--workspace is missing"),
        (&["decide", "int_00000000000000000000000000", "edit", "--edit", "/nowhere"], 1, "no such interrupt"),
        (&["frobnicate"], 2, "unrecognized subcommand"),
    ];
    for (arguments, code, text) in table {
        let ran = home.run(arguments);
        assert!(ran.code == *code && ran.err.contains(text) && ran.out.is_empty(), "{arguments:?}: {ran:?}");
    }
    // With `--json`, an error is one line of JSON.
    for (arguments, exit, code) in [
        (&["show", "run_00000000000000000000000000"][..], 1, "not_found"),
        (&["attach", "int_00000000000000000000000000"], 2, "usage"),
        (&["frobnicate"], 2, "usage"),
        (&["run", "nothing", "do it", "--server", "http://127.0.0.1:9"], 2, "no_server"),
    ] {
        let ran = home.run(&[arguments, &["--json"]].concat());
        let error: serde_json::Value = serde_json::from_str(&ran.err).expect(&ran.err);
        let error = &error["error"];
        assert!(ran.code == exit && ran.out.is_empty() && ran.err.lines().count() == 1, "{ran:?}");
        assert!(
            error["code"] == code && error["title"].is_string() && error["detail"].is_string(),
            "{error}"
        );
    }
    // This token is from another data folder.
    let other = Home::new();
    drop(other.serve(&[]));
    let ran = other.run(&["inbox", "--server", address]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("uses another data folder"), "{ran:?}");
    // This token is unknown, although the data folder is correct.
    let mut command = home.command(real());
    let ran = command.args(["inbox", "--data", home.data().to_str().unwrap()]).env("HOLDSHORT_TOKEN", "xx");
    let ran = holdshort_testkit::home::CommandOutput::from_output(ran.output().unwrap());
    let said = format!("the server at {address} rejects the token in HOLDSHORT_TOKEN; unset the variable");
    assert!(ran.code == 2 && ran.err.contains(&said), "{ran:?}");
    assert!(!ran.err.contains("Bearer") && !ran.err.contains("another data folder"), "{ran:?}");
}

#[test]
fn where_nothing_runs_it_is_said_how_to_start_it() {
    let home = Home::new();
    let folder = home.path().to_str().unwrap();
    let table: &[(&[&str], i32, &str)] = &[
        (&["inbox"], 2, "no server uses"),
        (
            &["run", "nope", "--workspace", folder, "do it"],
            2,
            "there is no workflow `nope`; the known ones are: auto",
        ),
        (
            &["run", "pair", "do it"],
            2,
            "--workspace PATH is missing: the tools of this workflow need a folder to work in",
        ),
        (&["attach", "run_00000000000000000000000000"], 2, "holds no journal"),
        (&["rebuild"], 2, "holds no journal"),
        (&["run", "pair", "--workspace", folder, "do it"], 2, "no model is configured"),
        (&["run", "pair", "--workspace", folder, "do it"], 2, "`holdshort run NAME --model rehearsal`"),
        (&["run", "pair", "--workspace", folder, "--detach", "do it"], 2, "start `holdshort serve`"),
        (
            &["run", "pair", "--workspace", folder, "--model", "rehearsal", "do it"],
            2,
            "`rehearsal` is a script",
        ),
        (&["serve", "--listen", "127.0.0.1:0", "--data", "/dev/null"], 2, "the data folder /dev/null: "),
        (&["inbox", "--server", "http://192.0.2.1:7349"], 2, "use https"),
        (&["inbox", "--server", "nonsense"], 2, "is not an address"),
        (&["inbox", "--server", "192.0.2.1:7349"], 2, "use https"),
        (
            &["serve", "--listen", "example.org:80"],
            2,
            "is not an address such as `127.0.0.1:7349` or `localhost:7349`",
        ),
        (&["serve", "--listen", "0.0.0.0:0"], 2, "loopback"),
        (&["serve", "--listen", "127.0.0.1:0", "--workflows", "/nowhere"], 2, "/nowhere"),
    ];
    for (arguments, code, text) in table {
        let ran = home.run(arguments);
        assert!(ran.code == *code && ran.err.contains(text) && ran.out.is_empty(), "{arguments:?}: {ran:?}");
    }
    let mut command = home.command(real());
    command.args(["inbox", "--server", "http://127.0.0.1:9"]).env("HOLDSHORT_TOKEN", "x");
    let ran = holdshort_testkit::home::CommandOutput::from_output(command.output().unwrap());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("no server answers at http://127.0.0.1:9"), "{ran:?}");
    assert!(!home.data().exists(), "looking changes nothing");
}

#[test]
fn a_journal_that_is_elsewhere_is_not_begun_anew_in_the_folder() {
    let home = Home::new();
    let folder = home.path().to_str().unwrap();
    let elsewhere = |arguments: &[&str]| {
        let mut command = home.command(real());
        command.args(arguments).env("HOLDSHORT_STORE", "postgres://me:secret@127.0.0.1:1/x");
        let ran = holdshort_testkit::home::CommandOutput::from_output(command.output().unwrap());
        assert!(!format!("{ran:?}").contains("secret"), "{ran:?}");
        ran
    };
    for arguments in [
        &[
            "run",
            "pair",
            "--workspace",
            folder,
            "--model",
            "some",
            "--base-url",
            "http://127.0.0.1:9",
            "do it",
        ][..],
        &["attach", "run_00000000000000000000000000"],
    ] {
        let ran = elsewhere(arguments);
        let said = "no server was found for the database of HOLDSHORT_STORE: start `holdshort serve`";
        assert!(ran.code == 2 && ran.err.contains(said), "{arguments:?}: {ran:?}");
    }
    assert!(!home.data().exists(), "nothing is begun");
    let ran = elsewhere(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(ran.code == 2 && ran.err.contains("the database 127.0.0.1:1/x: "), "{ran:?}");
    let ran = elsewhere(&["doctor"]);
    assert!(ran.out.contains("the database 127.0.0.1:1/x"), "{ran:?}");
    let file = home.path().join("plain");
    std::fs::write(&file, "").unwrap();
    for path in [file.clone(), file.join("below")] {
        let ran = home.run(&["doctor", "--data", path.to_str().unwrap()]);
        assert!(
            ran.code == 0
                && ran
                    .out
                    .lines()
                    .any(|line| line.starts_with("–  data") && line.ends_with("plain is not a directory")),
            "{ran:?}"
        );
    }
}

#[test]
fn help_names_the_exit_codes_and_the_environment() {
    let home = Home::new();
    let ran = home.run(&["--help"]);
    assert_eq!(ran.code, 0);
    for part in ["4  run not ended", "HOLDSHORT_LOG", "HOLDSHORT_TOKEN", "HOLDSHORT_STORE"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn a_log_filter_that_means_nothing_is_refused() {
    let home = Home::new();
    let table = [
        ("holdshort_engine=loud", "`holdshort_engine=loud` is neither"),
        ("inof", "`inof` is neither"),
        ("info,holdshort_engine", "`holdshort_engine` is neither"),
        ("holdshort_engine=", "`holdshort_engine=` is neither"),
        ("info, debgu", "`debgu` is neither"),
    ];
    for (filter, said) in table {
        let mut command = home.command(real());
        command.args(["serve", "--listen", "127.0.0.1:0"]).env("HOLDSHORT_LOG", filter);
        let ran = holdshort_testkit::home::CommandOutput::from_output(command.output().unwrap());
        let names = format!("HOLDSHORT_LOG is `{filter}`");
        assert!(ran.code == 2 && ran.err.contains(&names) && ran.err.contains(said), "{ran:?}");
    }
}

/// `--model` on the command line has no effect on a running server, because it configures only an embedded one.
#[test]
fn a_server_without_a_model_takes_none_from_the_command_line() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let work = tempfile::tempdir().unwrap();
    let folder = work.path().to_str().unwrap();
    let start = ["run", "pair", "--workspace", folder, "do it"];
    for (model, says) in [
        (&[][..], "has no model: stop that server and start it with --model NAME"),
        (
            &["--model", "gpt-x"],
            "has no model, and the option `--model` of this command has no effect on it: stop that server",
        ),
    ] {
        let ran = home.run(&[&start[..], model].concat());
        assert!(ran.code == 2 && ran.err.contains(says), "{model:?}: {ran:?}");
    }
    let ran = home.run(&["chat", "--workspace", folder, "--model", "gpt-x"]);
    assert!(ran.code == 2 && ran.err.contains("of this command has no effect on it"), "{ran:?}");
    serving.stop();
}

/// A command for a local folder rejects `--server`, because a person would expect it to use that server's journal.
#[test]
fn what_works_on_a_folder_takes_no_server() {
    let home = Home::new();
    for arguments in
        [&["backup", "copy"][..], &["export", "file"], &["import", "file"], &["rebuild"], &["init", "pair"]]
    {
        let named = home.run(&[arguments, &["--server", "https://hold.example.org"]].concat());
        assert!(named.code == 2 && named.err.contains("Do not use --server with"), "{named:?}");
        let mut command = home.command(real());
        command.args(arguments).env("HOLDSHORT_SERVER", "https://hold.example.org").current_dir(home.path());
        let ran = holdshort_testkit::home::CommandOutput::from_output(command.output().unwrap());
        let is_refused = ran.code == 2 && ran.err.contains("Do not use HOLDSHORT_SERVER with");
        assert_eq!(is_refused, arguments[0] != "init", "{ran:?}");
        // The flag is rejected, even if the environment names a server too.
        command.args(["--server", "https://hold.example.org"]);
        let ran = holdshort_testkit::home::CommandOutput::from_output(command.output().unwrap());
        assert!(ran.code == 2 && ran.err.contains("Do not use --server with"), "{ran:?}");
    }
}
