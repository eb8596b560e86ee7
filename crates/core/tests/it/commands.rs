//! The parser of command lines: the commands in a line, read-only commands, unparseable parts, and the scope of a
//! grant.

use std::fmt::Write as _;

use holdshort_command::{Part, parse};
use holdshort_core::digest::Digest;
use holdshort_core::gate::{Changes, Matcher, Subject};
use holdshort_core::tool::{Category, Precondition, ResolvedPath};

use crate::snapshot;
use crate::world::WORKSPACE;

fn subject(line: &str) -> Subject<'_> {
    Subject {
        agent: "pair",
        tool: "run_command",
        category: Category::Bash,
        path: None,
        url: None,
        command: Some(line),
        workspace: WORKSPACE,
        cwd: WORKSPACE,
        ask_because: &[],
        places: &[],
        preconditions: &[],
        changes: Changes::Untried,
        untried: None,
        elsewhere: false,
    }
}

fn show(part: &Part) -> String {
    let words: Vec<String> =
        std::iter::once(&part.program).chain(&part.arguments).map(|word| format!("{word:?}")).collect();
    let write = if part.redirected { " >" } else { "" };
    format!("{}{write}", words.join(" ").replace('"', "'"))
}

/// Each command line is parsed into category, commands, reason for being opaque, and grant, as in the snapshot.
#[test]
fn lines_are_read_as_the_shell_would() {
    let mut text = String::new();
    for line in include_str!("commands.txt").lines().filter(|line| !line.is_empty()) {
        if let Some(title) = line.strip_prefix("## ") {
            let _ = writeln!(text, "\n## {title}\n");
            continue;
        }
        // `␤`, `␍`, `␀` and `␉` stand for characters that a line of the file cannot hold.
        let command = line.replace('␤', "\n").replace('␍', "\r").replace('␀', "\0").replace('␉', "\t");
        let parsed = parse(&command);
        let reads = if parsed.is_read_only() { "reads" } else { "writes" };
        let _ = writeln!(text, "{line}");
        let _ = write!(text, "    {:?}, {reads}", Category::from(parsed.class()));
        match parsed.opaque {
            Some(why) => {
                let _ = writeln!(text, ", opaque: {why}");
            }
            None => {
                let _ = writeln!(text);
            }
        }
        for part in &parsed.parts {
            let _ = writeln!(text, "    $ {}", show(part));
        }
        if let Some(matcher) = Matcher::for_call(&subject(&command)) {
            let covers: Vec<String> = matcher
                .commands
                .iter()
                .map(|each| {
                    let sub = each.subcommand.as_deref().map(|sub| format!(" {sub}")).unwrap_or_default();
                    format!("{}{sub}{}", each.program, if each.writes { "" } else { " (reading)" })
                })
                .collect();
            let _ = writeln!(text, "    grant: {}", covers.join(", "));
        }
    }
    snapshot::check("commands", &text);
}

/// A grant covers lines with the program, subcommand, options and directory of the line for which it was given.
#[test]
fn what_a_grant_covers() {
    let given = [
        ("cargo test", "cargo test", true),
        ("cargo test", "cargo test some_name", true),
        ("cargo test", "cargo test -p core", false),
        ("cargo test -p core", "cargo test -p web", true),
        ("cargo test --features x", "cargo test --features y", false),
        ("cargo test", "cargo +nightly test", false),
        ("cargo test", "cargo publish", false),
        ("go run a.go", "go run a.go", true),
        ("go run a.go", "go run a.go x", false),
        ("go run a.go", "go run b.go", false),
        ("tsx a.ts", "tsx b.ts", false),
        ("bats a.bats", "bats b.bats", false),
        ("cargo test", "cargo test > log", false),
        ("cargo test", "cargo test | head", true),
        ("cargo test", "cargo test && rm x", false),
        ("cargo test", "cargo test && git status", true),
        ("cargo test", "cd sub && cargo test", false),
        ("cd sub && cargo test", "cd sub && cargo test", true),
        ("cd sub && cargo test", "cd ./sub && cargo test", true),
        ("cargo test", "cd /elsewhere && cargo test", false),
        ("cargo test", "PATH=. cargo test", false),
        ("cargo test", "cargo test $(x)", false),
        ("cargo test", "./cargo test", false),
        ("cargo test", "sudo cargo test", false),
        ("cargo test", "cargo --config x test", false),
        ("git log", "git log -5", true),
        ("git log", "git log > f", false),
        ("git log", "git log --output=f", false),
        ("git commit -m x", "git commit -m y", true),
        ("git commit -m x", "git commit -my", true),
        ("git commit -m x", "git commit --amend -m y", false),
        ("git commit -m x", "git commit -C y", false),
        ("git commit -m x", "git -C sub commit -m x", false),
        ("git commit -m x", "git -c core.editor=x commit", false),
        ("git commit -m x", "git push", false),
        ("git remote -v", "git remote add x y", false),
        ("git rebase main", "git rebase -x evil main", false),
        ("npm run build", "npm run build", true),
        ("npm run build", "npm run build again", false),
        ("npm run build", "npm run build -- --fast", false),
        ("npm run build", "npm run deploy", false),
        ("gh pr view 1", "gh pr view 1", true),
        ("gh pr view 1", "gh pr view 2", false),
        ("gh pr view 1", "gh pr merge 1", false),
        ("gh pr view 1", "gh pr --repo x merge 1", false),
        ("make -j2 test", "make -j4 test", true),
        ("make test", "make -j4 test", false),
        ("make test", "make deploy", false),
        ("make test", "make test deploy", false),
        ("make test", "make test SHELL=evil", false),
        ("python3 a.py", "python3 a.py x", false),
        ("python3 a.py x", "python3 a.py x", true),
        ("python3 a.py", "python3 a.py --delete", false),
        ("python3 a.py", "python3 b.py", false),
        ("python3 a.py", "cd sub && python3 a.py", false),
        ("python3 a.py", "python3 -c 'x'", false),
        ("python3 a.py", "echo x | python3", false),
        ("python3 -m pip list", "python3 -m pip install x", false),
        ("python3 -m pytest", "python3 -m pytest tests", true),
        ("bash a.sh", "bash a.sh", true),
        ("bash a.sh", "bash b.sh", false),
        ("bash a.sh", "cd sub && bash a.sh", false),
        ("bash a.sh", "echo x | bash /dev/stdin", false),
        ("./gradlew build", "./gradlew build", true),
        ("./gradlew build", "../gradlew build", false),
        ("docker compose up", "docker compose down", false),
        ("touch a", "touch b", true),
        ("rm -f x", "rm -f y", true),
        ("rm -f x", "rm --force y", false),
        ("rm -f x", "rm -rf y", false),
        ("rm -f x", "rm -f -r y", false),
        ("rm -rf x", "rm -r -f y", true),
        ("rm -f x", "rm x -r -f", false),
        ("rm -f x", "rm -f *", false),
        ("rm -f x", "rm -f src/*", true),
        ("foo -o x y", "foo -o x y", true),
        ("foo -o x y", "foo -o x z", false),
        ("foo -o x y", "foo -o z y", false),
        ("foo --o=x y", "foo --o=z y", false),
        ("ls", "touch b", false),
        ("ls > f", "ls > g", false),
        ("ls > f", "ls > ./f", true),
        ("ls > f", "ls > ../f", false),
        ("ls > f", "ls -l > f", false),
        ("ls > .git/x", "ls > .git/x", false),
        ("touch .envrc", "touch .envrc", false),
        ("cp a b", "cp a .git/hooks/x", false),
        ("git config a b", "git config a b", false),
        ("git init", "git init", false),
        ("git clone a", "git clone a", false),
        ("git worktree add a", "git worktree add a", false),
        ("git submodule update", "git submodule update", false),
        ("cd a; touch b", "cd a; touch b", false),
        // Operands that select the operation of the program must be equal.
        ("tar cf o.tar a", "tar cf o.tar a", true),
        ("tar cf o.tar a", "tar xf evil.tar", false),
        ("tar -cf o.tar a", "tar -xf o.tar a", false),
        ("ar rcs l.a a.o", "ar x l.a a.o", false),
        ("7z l a.7z", "7z x a.7z", false),
        ("svn add a", "svn delete a", false),
        ("brew list", "brew uninstall x", false),
        ("dotnet build", "dotnet run", false),
        ("bundle exec rake a", "bundle exec rake b", false),
        ("gcloud compute instances list", "gcloud compute instances delete x", false),
        ("chmod 600 a", "chmod 777 a", false),
        ("chmod 600 a", "chmod 600 b", true),
        ("chown ann a", "chown root a", false),
        ("openssl enc a", "openssl req a", false),
        ("ip addr add 10.0.0.1 dev x", "ip link set x up", false),
        ("aws s3 ls x", "aws s3 rm x", false),
        ("pm2 list", "pm2 kill", false),
        ("supervisorctl status", "supervisorctl stop", false),
        ("defaults read a", "defaults delete a", false),
        ("nmcli device", "nmcli networking", false),
        ("vagrant status", "vagrant destroy", false),
        ("redis-server a", "redis-server b", false),
        ("alembic current", "alembic downgrade", false),
        ("python3 manage.py migrate", "python3 manage.py flush", false),
        ("./manage migrate", "./manage flush", false),
        ("make build", "make clean", false),
        ("nohup ./a b", "nohup ./a c", false),
        ("git checkout topic", "git checkout .", false),
        ("git push origin main", "git push origin other", false),
        ("git add a", "git add b", true),
        ("cargo run --bin a", "cargo run --bin b", false),
        ("cargo run -- list", "cargo run -- delete", false),
        ("cargo test a", "cargo test b", true),
        ("pytest tests/a", "pytest tests/b", true),
        ("python3 -m pytest tests/a", "python3 -m pytest tests/b", true),
        ("python3 -m tool a", "python3 -m tool b", false),
        ("cp a b", "cp c d", true),
        ("mkdir -p a", "mkdir -p b", true),
        ("sort -o f f", "sort -o f g", true),
        ("grep x f > o", "grep y g > o", true),
        ("echo x > o", "echo x >> o", false),
        ("echo x >> o", "echo x > o", false),
        ("echo x >> o", "echo y >> o", true),
        // If the program is unknown, moving an option may change the meaning of the line.
        ("java -jar a.jar -XX:OnError=x", "java -XX:OnError=x -jar a.jar", false),
        ("kubectl exec pod -- ls --context=live", "kubectl exec pod --context=live -- ls", false),
        ("tool run img --volume=/:/host", "tool run --volume=/:/host img", false),
        ("tool x --no-dry-run --dry-run", "tool x --dry-run --no-dry-run", false),
        ("tool --env=a --env=b", "tool --env=b --env=a", false),
        ("foo a -x --", "foo a -- -x", false),
        ("tool x --fast y", "tool x --fast y", true),
        ("python3 -m unittest -v", "python3 -m unittest 2> victim.py", false),
        ("python3 -m unittest -v", "python3 -m unittest -v > /dev/null", true),
    ];
    let wrong: Vec<_> = given
        .into_iter()
        .filter(|(given, later, covers)| {
            let matcher = Matcher::for_call(&subject(given));
            matcher.is_some_and(|matcher| matcher.covers(&subject(later))) != *covers
        })
        .collect();
    assert_eq!(wrong, []);
}

/// A grant does not cover a file behind a changed link, or a call with another working directory.
#[test]
fn a_grant_is_for_the_folder_and_the_files_that_the_person_saw() {
    let place = |named: &str, resolved: &str| {
        vec![ResolvedPath { named: named.to_owned(), resolved: Some(resolved.to_owned()) }]
    };
    let given = Matcher::for_call(&subject("sh a.sh > log")).expect("it may be given");
    let elsewhere = place("log", "/ws/src/main.rs");
    let rows = [
        (subject("sh a.sh > log"), true),
        (Subject { cwd: "/ws/sub", ..subject("sh a.sh > log") }, false),
        (Subject { cwd: "/ws/sub", ..subject("sh a.sh > ../log") }, false),
        (Subject { places: &elsewhere, ..subject("sh a.sh > log") }, false),
    ];
    let told = rows.map(|(subject, _)| given.covers(&subject));
    assert_eq!(told, rows.map(|(_, covers)| covers));
    let hooks = place("log", "/ws/.git/hooks/x");
    assert_eq!(Matcher::for_call(&Subject { places: &hooks, ..subject("sh a.sh > log") }), None);
    let anywhere = [ResolvedPath { named: String::new(), resolved: None }];
    assert_eq!(Matcher::for_call(&Subject { places: &anywhere, ..subject("sh a.sh > log") }), None);
}

/// The description of what a grant covers, which people read before they give the grant.
#[test]
fn what_a_grant_will_cover_is_said_in_words() {
    let rows = [
        (
            "rm -f x",
            "`rm` only with the options `-f`, on any files or names, in `/ws`; also every command that only reads",
        ),
        (
            "tar cf o.tar a",
            "`tar` without options, with exactly the arguments `cf` `o.tar` `a`, in `/ws`; also every command that only reads",
        ),
        (
            "./a",
            "`./a` without options, without other arguments, in `/ws`; also every command that only reads",
        ),
        (
            "cd sub && cargo test | head > log",
            "`cargo test` without options, on any files or names, in `/ws/sub`; `head` without options, on any files or \
             names, in `/ws/sub`, redirected to or from `/ws/sub/log`; also every command that only reads",
        ),
    ];
    let told = rows.map(|(line, _)| (line, Matcher::for_call(&subject(line)).map(|grant| grant.describe())));
    assert_eq!(told, rows.map(|(line, words)| (line, Some(words.to_owned()))));
}

/// A test case: granted line and its preconditions, later line and its preconditions, and true if the grant covers the
/// later line.
type Granted = (&'static str, Vec<Precondition>, &'static str, Vec<Precondition>, bool);

/// A grant does not cover a script that has changed since, did not exist, or was not on the approval card.
#[test]
fn a_grant_is_for_the_scripts_as_they_were() {
    let file = |path: &str, text: Option<&str>| Precondition {
        path: path.to_owned(),
        sha256: text.map(|text| Digest::of_bytes(text.as_bytes())),
    };
    let rows: [Granted; 12] = [
        ("sh a.sh", vec![file("a.sh", Some("1"))], "sh a.sh", vec![file("a.sh", Some("1"))], true),
        ("sh a.sh", vec![file("a.sh", Some("1"))], "sh a.sh", vec![file("a.sh", Some("2"))], false),
        ("sh a.sh", vec![], "sh a.sh", vec![file("a.sh", Some("1"))], false),
        ("sh a.sh", vec![file("a.sh", None)], "sh a.sh", vec![file("a.sh", Some("1"))], false),
        ("make x", vec![file("Makefile", Some("1"))], "make x", vec![file("Makefile", Some("2"))], false),
        ("make x", vec![file("GNUmakefile", None)], "make x", vec![file("GNUmakefile", Some("1"))], false),
        ("make x", vec![], "cat GNUmakefile && make x", vec![file("GNUmakefile", Some("1"))], false),
        ("./a", vec![file("a", Some("1"))], "./a", vec![file("a", Some("2"))], false),
        (
            "pytest tests/a",
            vec![file("tests/a", Some("1"))],
            "pytest tests/b",
            vec![file("tests/b", Some("1"))],
            true,
        ),
        (
            "pytest tests/a",
            vec![file("tests/a", Some("1"))],
            "pytest tests/a",
            vec![file("tests/a", Some("2"))],
            false,
        ),
        (
            "pytest tests/a",
            vec![file("conftest.py", None)],
            "pytest tests/b",
            vec![file("conftest.py", Some("1"))],
            false,
        ),
        ("touch a", vec![], "touch b", vec![], true),
    ];
    let told = rows.iter().map(|(given, then, later, now, _)| {
        let given =
            Matcher::for_call(&Subject { preconditions: then, ..subject(given) }).expect("it may be given");
        (*later, given.covers(&Subject { preconditions: now, ..subject(later) }))
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told, rows.iter().map(|(_, _, later, _, covers)| (*later, *covers)).collect::<Vec<_>>());
    let seen = [file("a.sh", Some("1")), file("b.sh", None)];
    let words = Matcher::for_call(&Subject { preconditions: &seen, ..subject("sh a.sh") })
        .map(|grant| grant.describe());
    assert_eq!(
        words.as_deref(),
        Some(
            "`sh a.sh` without options, without other arguments, in `/ws`; only while the files that these \
            commands run are unchanged: `a.sh`; also every command that only reads"
        ),
    );
}

/// Grants from older journals, without options and directories, stay valid for commands that only read.
#[test]
fn an_old_grant_covers_only_what_reads() {
    let old: Matcher = serde_json::from_str(
        r#"{"tool": "run_command", "workspace": "/ws", "commands": [{"program": "touch", "writes": true}]}"#,
    )
    .expect("it is read");
    assert_eq!([old.covers(&subject("touch a")), old.covers(&subject("ls -la"))], [false, true]);
    // Grant from a version that did not store operands and scripts.
    let old: Matcher = serde_json::from_str(
        r#"{"tool": "run_command", "workspace": "/ws", "commands": [
            {"program": "touch", "writes": true, "options": [], "folder": "/ws"},
            {"program": "tar", "writes": true, "options": [], "folder": "/ws"}]}"#,
    )
    .expect("it is read");
    assert_eq!([old.covers(&subject("touch a")), old.covers(&subject("tar cf o.tar a"))], [true, false]);
}

#[test]
fn no_grant_is_offered_for_what_can_not_be_told_by_its_name() {
    let lines = [
        "python3 -c 'x'",
        "python3",
        "python3.12 -c x",
        "python3 -",
        "python3 /dev/stdin",
        "node -e x",
        "perl -ne x",
        "sh -c ls",
        "bash -x a.sh",
        "awk '{print > \"x\"}' f",
        "sed s/a/b/e f",
        "sudo ls",
        "su x",
        "doas ls",
        "pkexec ls",
        "> f",
        "git config core.pager x",
        "git -c a=b commit",
        "gh pr --repo x merge",
        "docker run -it x",
        "cd /x && make test",
        "make CC=evil",
        "make -f evil",
        "export A=1",
        "A=1 make",
        "eval x",
        "xargs rm",
        "find . -exec rm {} +",
        "x $y",
        "uv run --with x y",
        "npm run --silent deploy",
    ];
    let offered: Vec<&str> =
        lines.into_iter().filter(|line| Matcher::for_call(&subject(line)).is_some()).collect();
    assert_eq!(offered, Vec::<&str>::new());
}
