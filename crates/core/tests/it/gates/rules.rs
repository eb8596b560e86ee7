//! Rules: the calls that a rule matches, and the parts of a command or path that a rule checks.

use holdshort_core::gate::Subject;
use holdshort_core::policy::RuleAction;
use holdshort_core::policy::{ChangeScope, Rule};
use holdshort_core::tool::{Category, ResolvedPath};

use super::{command, file, one};
use crate::world::{allow, rule};

#[test]
fn rules_match_full_names_and_the_first_one_counts() {
    let called = |tool: &'static str, rules: &[Rule]| one(&Subject { tool, ..file("a") }, rules);
    let free = [allow(&["read_file"])];
    assert_eq!(
        [
            called("read_file", &free),
            called("read_file_and_delete", &free),
            called("my_read_file", &free),
            called("READ_FILE", &free),
            called("read_file", &[rule(RuleAction::Forbid, &["read_file"], &[]), allow(&["*"])]),
            called("read_file", &[allow(&["*"]), rule(RuleAction::Forbid, &["read_file"], &[])]),
        ],
        [
            "allow (Workflow)",
            "ask (Default default), grantable",
            "ask (Default default), grantable",
            "ask (Default default), grantable",
            "forbid (Workflow)",
            "allow (Workflow)",
        ],
    );
}

/// A rule that asks or forbids matches every category that a command line has or may have. A rule that allows matches
/// only the line's most dangerous category.
#[test]
fn a_rule_on_categories_holds_back_by_any() {
    let rules =
        |action, category| [Rule { categories: vec![category], ..rule(action, &["run_command"], &[]) }];
    let table = [
        ("npm ci && python3 a.py", Category::Install, true),
        ("npm ci && python3 a.py", Category::CodeExec, true),
        ("CI=1 npm ci", Category::Install, true),
        ("CI=1 npm ci", Category::CodeExec, true),
        ("for h in a b; do ssh $h uptime; done", Category::Web, true),
        ("x=\"$(curl -s example.com)\"", Category::Web, true),
        ("git push && ls", Category::Web, true),
        ("git push && ls", Category::ReadOnly, false),
        ("kubectl get pods", Category::Web, true),
        ("cargo test", Category::Web, false),
        ("ls", Category::ReadOnly, true),
    ];
    for (line, category, held) in table {
        let told = one(&command(line, &[]), &rules(RuleAction::Forbid, category));
        assert_eq!(told.starts_with("forbid"), held, "{line}: {told}");
    }
    let released = |line, category| one(&command(line, &[]), &rules(RuleAction::Allow, category));
    assert_eq!(released("git push && ls", Category::Web), "allow (Workflow)");
    assert!(released("npm ci && git push", Category::Web).starts_with("ask"));
}

/// A rule that allows must match all commands of a line. A rule that asks or forbids needs to match only one.
#[test]
fn a_rule_on_commands_sees_every_part() {
    let allows =
        [rule(RuleAction::Allow, &["run_command"], &["cargo test *", "ls *", "git status", "tar xf *"])];
    let forbids = [
        rule(RuleAction::Forbid, &["run_command"], &["git push *", "sudo *", "rm -rf /*", "./tool drop *"]),
        rule(RuleAction::Allow, &["*"], &[]),
    ];
    let allow_table = [
        ("cargo test", true),
        ("cargo test -p core", true),
        ("cargo test --config build.rustc-wrapper=x", false),
        ("cargo +nightly test", true),
        ("cargo test && ls", true),
        ("cargo test && rm x", false),
        ("cargo test; ls | git status", true),
        ("git status", true),
        ("git status -s", false),
        ("git -C x status", false),
        ("cargo testing", false),
        ("tar xf a.tar", true),
        ("tar xf host:a.tar", false),
        ("cargo test > log", false),
        ("cargo test > /dev/null 2>&1", true),
        ("cargo test $X", false),
        ("X=1 cargo test", false),
        ("./cargo test", false),
        ("sh -c 'cargo test'", false),
        ("ls\nrm x", false),
        ("", false),
    ];
    let forbid_table = [
        ("git push", true),
        ("git push origin main", true),
        ("ls && git push", true),
        ("git -C x push", true),
        ("sh -c 'git push'", true),
        ("bash -lc 'git push'", true),
        ("git push $X", true),
        ("(git push)", true),
        ("sudo ls", true),
        ("/usr/bin/sudo ls", true),
        ("./sudo ls", true),
        ("rm -rf /etc", true),
        // File patterns that may expand to a forbidden word.
        ("git pus*", true),
        ("git [p]ush origin", true),
        ("git -C x pu?h", true),
        ("./tool drop x", true),
        ("./tool dro* x", true),
        ("./tool dr??", true),
        ("./tool *", true),
        ("./tool [!a]rop x", true),
        ("./tool dro*", true),
        // Programs that run a second program, including unknown programs.
        ("npx git push", true),
        ("npx -y git push", true),
        ("npm exec -- git push", true),
        ("pnpm dlx git push", true),
        ("yarn exec git push", true),
        ("uv run git push", true),
        ("uv run -- git push", true),
        ("uvx git push", true),
        ("poetry run git push", true),
        ("rustup run stable git push", true),
        ("pyenv exec git push", true),
        ("mise -q exec -- sudo id", true),
        ("asdf env node sudo id", true),
        ("rbenv --debug exec git push", true),
        ("bun run git push", true),
        ("git [-]C . push origin main", true),
        ("prlimit git push", true),
        ("prlimit --nproc=1 git push", true),
        ("setarch x86_64 git push", true),
        ("linux64 git push", true),
        ("ssh-agent git push", true),
        ("/usr/lib/git-core/git-push", true),
        ("git-push origin", true),
        ("git pull", false),
        ("git pul*", false),
        ("echo git push", false),
        ("echo 'git push'", false),
        ("echo git pus*", false),
        ("./tool run dro*", false),
        ("./tool a* drop", false),
        ("./tool 'drop it'", false),
        // Character classes in file patterns.
        ("./tool [[:lower:]]rop x", true),
        ("./tool [!]x]rop x", true),
        ("./tool [d\"]\"]rop x", true),
        ("./tool [d", false),
        // File patterns that may expand to several words and so change the meaning of the words after them.
        ("git -C * origin", true),
        ("git * origin push", true),
        ("timeout * ls", false),
        ("find f ?exec git push ';'", true),
        ("rm * x", false),
        ("rm -r* /etc", true),
        ("rm * /etc", true),
        // Programs that start other programs and have options themselves.
        ("uv -q run git push", true),
        ("uv run --with x git push", true),
        ("npm -s exec git push", true),
        ("npm --prefix x exec git push", true),
        ("npm exec -c 'git push'", true),
        ("npm exec --call='git push'", true),
        ("poetry -C x run git push", true),
        ("conda run -n base git push", true),
        ("rustup run --install stable git push", true),
        ("nice nice nice nice nice nice git push", true),
        ("ssh host git push", true),
        ("docker run --rm image git push", true),
        ("docker exec -it x sudo id", true),
        ("kubectl exec pod -- git push", true),
        ("cross-env A=1 git push", true),
        ("concurrently 'git push'", true),
        ("sort --compress-prog='git push' f", true),
        ("unheard-of git push", true),
        ("unheard-of -x 5 /usr/bin/sudo id", true),
        ("caffeinate -i git push", true),
        ("nvm exec 20 git push", true),
        ("pixi run git push", true),
        ("unheard-of push", false),
        ("npx tsc push", false),
        ("npm run sudo", false),
        ("rm -rf build/*", false),
    ];
    let wrong: Vec<_> = allow_table
        .into_iter()
        .map(|(line, expected)| (line, one(&command(line, &[]), &allows).starts_with("allow"), expected))
        .chain(forbid_table.into_iter().map(|(line, expected)| {
            (line, one(&command(line, &[]), &forbids).starts_with("forbid"), expected)
        }))
        .filter(|(_, found, expected)| found != expected)
        .collect();
    assert_eq!(wrong, []);
}

/// A rule without `*` at its end matches other spellings of the same command, but not the command with other operands.
#[test]
fn a_rule_on_one_command_holds_it_back_in_any_form() {
    let table = [
        ("rm -rf node_modules", "rm -fr node_modules", true),
        ("rm -rf node_modules", "rm -r -f node_modules", true),
        ("rm -rf node_modules", "rm --recursive --force node_modules", true),
        ("rm -rf node_modules", "rm -rf -- node_modules", true),
        ("rm -rf node_modules", "rm -rf ./node_modules/", true),
        ("rm -rf node_modules", "rm node_modules -rf", true),
        ("rm -rf node_modules", "rm -rf build", false),
        ("rm -rf node_modules", "rm -r node_modules", false),
        ("rm -rf node_modules", "rm -rf node_modules build", false),
        ("git clean -fd", "git clean -df", true),
        ("git clean -fd", "git clean -d -f", true),
        ("git clean -fd", "git clean -n", false),
        ("git reset --hard", "git reset -q --hard", true),
        ("git reset --hard", "git reset --hard HEAD", true),
        ("git reset --hard", "git reset", false),
        ("terraform apply -auto-approve", "terraform apply --auto-approve", true),
        ("terraform apply -auto-approve", "terraform apply -auto-approve=true", true),
        ("git push", "git push origin", false),
        // Alternative names of the same command.
        ("docker exec *", "docker container exec c ls", true),
        ("docker push *", "docker image push x", true),
        ("docker rmi *", "podman image remove x", false),
        ("podman rmi *", "podman image remove x", true),
        ("docker rm *", "docker container remove x", true),
        ("docker build *", "docker buildx build .", true),
        ("docker push *", "docker image ls", false),
        ("terraform destroy *", "terraform apply -destroy", true),
        ("terraform destroy *", "terraform apply", false),
        ("git branch -D *", "git branch -d -f x", true),
        ("git branch -D *", "git branch -d x", false),
        ("git push --force *", "git push origin +main", true),
        ("git push --delete *", "git push origin :main", true),
        ("git push --force *", "git push origin main", false),
    ];
    let wrong: Vec<_> = table
        .into_iter()
        .filter(|(pattern, line, expected)| {
            let rules = [rule(RuleAction::Forbid, &["run_command"], &[*pattern]), allow(&["*"])];
            one(&command(line, &[]), &rules).starts_with("forbid") != *expected
        })
        .collect();
    assert_eq!(wrong, []);
}

/// Only a limited number of words is searched for the command that a launcher starts. A longer line needs an approval.
#[test]
fn a_launcher_with_many_words_is_opaque() {
    let rules = [
        rule(RuleAction::Forbid, &["run_command"], &["sudo *"]),
        rule(RuleAction::Allow, &["run_command"], &["uv run *"]),
    ];
    for options in ["-q ".repeat(20), "--with a ".repeat(8)] {
        let line = format!("uv run {options}sudo id");
        assert!(!one(&command(&line, &[]), &rules).starts_with("allow"), "{line}");
    }
}

/// A rule on paths does not forbid more calls because the path of the workspace is long.
#[test]
fn a_long_workspace_forbids_nothing_more() {
    let workspace = format!("/home/{}", "deep/".repeat(40));
    let rules = [
        Rule { paths: vec!["secrets/production/**".to_owned()], ..rule(RuleAction::Forbid, &[], &[]) },
        allow(&["*"]),
    ];
    for (line, expected) in [("ls *.md", "allow"), ("cat secrets/prod*/key", "forbid")] {
        let subject = Subject { workspace: &workspace, ..command(line, &[]) };
        assert!(one(&subject, &rules).starts_with(expected), "{line}");
    }
}

/// A rule on paths compares resolved paths, not their text.
#[test]
fn a_rule_on_paths_sees_where_they_lead() {
    let paths = |action, globs: &[&str]| Rule {
        paths: globs.iter().map(|glob| (*glob).to_owned()).collect(),
        ..rule(action, &[], &[])
    };
    let allows = [paths(RuleAction::Allow, &["src/**", "*.md"])];
    let forbids = [paths(RuleAction::Forbid, &["secrets/**", ".env"]), allow(&["*"])];
    let allow_table = [
        ("src/a.rs", true),
        ("./src/a.rs", true),
        ("src//b/./a.rs", true),
        ("/ws/src/a.rs", true),
        ("README.md", true),
        ("docs/README.md", false),
        ("src/../secrets/key", false),
        ("src/../src/a.rs", false),
        ("../src/a.rs", false),
        ("/etc/src/a.rs", false),
        ("/ws2/src/a.rs", false),
        ("srcs/a.rs", false),
    ];
    let forbid_table = [
        ("secrets/key", true),
        ("./secrets/key", true),
        ("secrets//key", true),
        ("src/../secrets/key", true),
        ("/ws/secrets/key", true),
        ("a/b/../../.env", true),
        // A rule on paths never allows a path outside the workspace.
        ("../secrets/key", true),
        ("/etc/passwd", true),
        ("src/a.rs", false),
        ("secret/key", false),
    ];
    let command_table = [
        ("cat secrets/key", true),
        ("cat < secrets/key", true),
        ("echo x > secrets/key", true),
        ("cat --file=secrets/key", true),
        ("cat ./a/../secrets/key", true),
        ("cat /ws/secrets/key", true),
        ("sh -c 'cat secrets/key'", true),
        ("cat sec*/key", true),
        ("cat s?crets/key", true),
        ("cat [s]ecrets/*", true),
        ("cat */key", true),
        ("cat .en[v]", true),
        ("cat --file=sec*/key", true),
        ("cat x < secrets/k*", true),
        ("cat [[:alpha:]]ecrets/key", true),
        ("cat [!]x]ecrets/key", true),
        ("cat /w?/secrets/key", true),
        ("cat a/../sec*/key", true),
        ("ls secrets", true),
        ("ls ./secrets/", true),
        ("cd secrets && cat key", true),
        ("cd a && cat ../secrets/key", true),
        ("cd a; cat secrets/key", true),
        ("cd secrets/deep && ls", true),
        ("cd - && cat key", true),
        ("tar -xfsecrets/key", true),
        ("cat ../ws/.env", true),
        ("cat //ws/.env", true),
        ("cat /./ws/.env", true),
        ("cat /a/../ws/.env", true),
        ("cat sub/../../ws/.env", true),
        ("cat < ../ws/.env", true),
        ("echo x > ../ws/.env", true),
        ("cat ../w?/.env", true),
        ("cat ../*/.env", true),
        ("cat /*/.env", true),
        ("cd .. && cat ws/.env", true),
        ("cd ../ws/secrets && cat key", true),
        ("grep -r KEY ../w*", true),
        ("grep -r KEY /*", true),
        ("cat /proc/self/cwd/.env", true),
        ("cat /proc/thread-self/cwd/.env", true),
        ("cat /proc/1/task/1/root/ws/.env", true),
        ("cat /proc/*/c?d/x", true),
        ("cat ../proc/self/fd/3", true),
        ("cat /dev/fd/../cwd/.env", true),
        ("cat /dev/stdin/.env", true),
        ("cd /proc/self/cwd && cat x", true),
        ("cat src/.?/.env", true),
        ("cat src/.[.]/.env", true),
        ("cat src/.*/secrets/key", true),
        ("cat .?/w*/.env", true),
        ("grep -r KEY src/.*", true),
        ("grep -r KEY src/.?", true),
        ("cd src && grep -r KEY .*", true),
        ("cat ../other/.env", false),
        ("cat ../*/src/a", false),
        ("grep -r KEY ../other*", false),
        ("cat /proc/cpuinfo", false),
        ("cat /dev/fd/3", false),
        ("cat proc/self/cwd/x", false),
        ("cat src/.*/a", false),
        ("cat src/a.*", false),
        ("cat src/a", false),
        ("cd a && cat secrets/key", true),
        ("cat src/*", false),
        ("cat *.md", false),
        ("ls *", false),
    ];
    let broken = [paths(RuleAction::Forbid, &["["]), allow(&["*"])];
    let broken_allow = [paths(RuleAction::Allow, &["["])];
    let wrong: Vec<_> = allow_table
        .into_iter()
        .map(|(path, expected)| (path, one(&file(path), &allows).starts_with("allow"), expected))
        .chain(
            forbid_table
                .into_iter()
                .map(|(path, expected)| (path, one(&file(path), &forbids).starts_with("forbid"), expected)),
        )
        .chain(command_table.into_iter().map(|(line, expected)| {
            (line, one(&command(line, &[]), &forbids).starts_with("forbid"), expected)
        }))
        .chain([
            ("a glob that cannot be read holds back", one(&file("a"), &broken).starts_with("forbid"), true),
            ("and releases nothing", one(&file("a"), &broken_allow).starts_with("allow"), false),
        ])
        .filter(|(_, found, expected)| found != expected)
        .collect();
    assert_eq!(wrong, []);
}

#[test]
fn every_criterion_of_a_rule_must_hold() {
    let rule = Rule {
        agents: vec!["pair".to_owned()],
        categories: vec![Category::FileWrite],
        ..allow(&["write_file"])
    };
    let rules = [rule];
    assert_eq!(
        [
            one(&file("a"), &rules),
            one(&Subject { agent: "other", ..file("a") }, &rules),
            one(&Subject { category: Category::Bash, ..file("a") }, &rules),
            one(&Subject { tool: "edit_file", ..file("a") }, &rules),
        ]
        .map(|verdict| verdict.starts_with("allow")),
        [true, false, false, false],
    );
}

/// A file pattern makes a command forbidden if the pattern may expand to a forbidden word, because the expansion is
/// known only when the command runs.
#[test]
fn a_pattern_counts_as_what_it_may_become() {
    let words = [
        ("pus*", "push", true),
        ("pu?h", "push", true),
        ("[p]ush", "push", true),
        ("[!a]ush", "push", true),
        ("*", "push", true),
        ("p*", "pu*", true),
        ("a[", "a[", true),
        ("pul*", "push", false),
        ("push?", "push", false),
        ("'pus*'", "push", false),
        ("\\*", "push", false),
        ("*", ".env", false),
        ("?env", ".env", false),
        (".*", ".env", true),
    ];
    let paths = [
        ("*/key", "secrets/**", true),
        ("sec*/k*", "secrets/*", true),
        ("a/b/*", "**/c", true),
        ("src/*.r?", "src/**/*.{rs,toml}", true),
        ("./sec*/key", "secrets/**", true),
        ("/ws/sec*/key", "secrets/**", true),
        ("sec*", "secrets/**", false),
        ("*.md", "secrets/**", false),
        ("a/b/*", "a/*", false),
        ("'*/key'", "secrets/**", false),
        ("*", "**/.env", false),
        ("src/*", "**/.env", false),
        ("src/.*", "**/.env", true),
        ("*/.env", "**/.env", true),
        (".en?", "**/.env", true),
        ("*/*/key", "**/secrets/**", true),
        ("*/b", "a/**/b", true),
    ];
    let of_word = words.map(|(word, pattern, expected)| {
        let pattern = format!("./t {pattern}");
        let rules = [rule(RuleAction::Forbid, &["run_command"], &[&pattern]), allow(&["*"])];
        (word, pattern, one(&command(&format!("./t {word}"), &[]), &rules).starts_with("forbid"), expected)
    });
    let of_path = paths.map(|(word, glob, expected)| {
        let rules =
            [Rule { paths: vec![glob.to_owned()], ..rule(RuleAction::Forbid, &[], &[]) }, allow(&["*"])];
        let verdict = one(&command(&format!("cat {word}"), &[]), &rules);
        (word, glob.to_owned(), verdict.starts_with("forbid"), expected)
    });
    let wrong: Vec<_> =
        of_word.into_iter().chain(of_path).filter(|(.., found, expected)| found != expected).collect();
    assert_eq!(wrong, []);
}

/// No rule and no grant allows writes to files that tools of the person run, such as git hooks.
#[test]
fn what_the_persons_own_tools_run_is_asked_about() {
    let rules = [allow(&["write_file", "run_command"])];
    let told = |subject: &Subject<'_>| one(subject, &rules);
    let asked = "ask (Inspection guarded_path)";
    assert_eq!(told(&file(".envrc")), asked);
    assert_eq!(told(&file("a/.husky/pre-push")), asked);
    assert_eq!(told(&command("cp x .vscode/tasks.json", &[])), asked);
    assert_eq!(told(&command("git config a b", &[])), asked);
    let places = [ResolvedPath { named: "a".to_owned(), resolved: Some("/ws/.envrc".to_owned()) }];
    assert_eq!(told(&Subject { places: &places, ..file("a") }), asked);
    assert_eq!(told(&Subject { places: &places, ..command("cp x a", &[]) }), asked);
    assert_eq!(told(&Subject { places: &places, ..command("cat a", &[]) }), "allow (Workflow)");
    assert_eq!(told(&command("cat .git/config", &[])), "allow (Workflow)");
    assert_eq!(told(&Subject { cwd: "/ws/.git", ..command("touch hooks/x", &[]) }), asked);
}

/// A rule on paths checks the name of a path and the target of its links, for every tool and every file of a command.
#[test]
fn a_rule_on_paths_sees_through_links() {
    let paths = |action, globs: &[&str]| Rule {
        paths: globs.iter().map(|glob| (*glob).to_owned()).collect(),
        ..rule(action, &[], &[])
    };
    let allows = [paths(RuleAction::Allow, &["src/**"])];
    let forbids = [paths(RuleAction::Forbid, &["secrets/**"]), allow(&["*"])];
    let place = |named: &str, resolved: Option<&str>| {
        vec![ResolvedPath { named: named.to_owned(), resolved: resolved.map(str::to_owned) }]
    };
    let leads = |to| place("src/link", to);
    let (secret, safe, out, unknown) =
        (leads(Some("/ws/secrets/key")), leads(Some("/ws/src/b")), leads(Some("/etc/passwd")), leads(None));
    let behind = place("src/l*", Some("/ws/secrets/key"));
    let anywhere = place("", None);
    let list = |path| Subject { tool: "list_directory", category: Category::ReadOnly, ..file(path) };
    let search = |path| Subject { tool: "search_codebase", category: Category::ReadOnly, ..file(path) };
    let rows = [
        ("a link within", Subject { places: &safe, ..file("src/link") }, true, false),
        ("a link to a secret", Subject { places: &secret, ..file("src/link") }, false, true),
        ("a link that leads out", Subject { places: &out, ..file("src/link") }, false, false),
        ("a link that nobody can follow", Subject { places: &unknown, ..file("src/link") }, false, true),
        ("list a folder", list("src/x"), true, false),
        ("list the secrets", list("secrets"), false, true),
        ("list through a link", Subject { places: &secret, ..list("src/link") }, false, true),
        ("search the secrets", search("secrets/deep"), false, true),
        ("search through a link", Subject { places: &secret, ..search("src/link") }, false, true),
        ("a command on a file", command("cat src/a", &[]), true, false),
        ("a command on two files", command("cat src/a b", &[]), false, false),
        ("a command on no file", command("make", &[]), false, false),
        ("a command in a folder", Subject { cwd: "/ws/src", ..command("make", &[]) }, true, false),
        ("a command in a folder on a file", Subject { cwd: "/ws/src", ..command("cat a", &[]) }, true, false),
        ("out of the folder", Subject { cwd: "/ws/src", ..command("cat ../a", &[]) }, false, false),
        ("a command that changes into it", command("cd src && cat a", &[]), true, false),
        ("a command that may have changed into it", command("cd src; cat a", &[]), false, false),
        ("in the secrets", Subject { cwd: "/ws/secrets", ..command("cat key", &[]) }, false, true),
        (
            "in a folder of the secrets",
            Subject { cwd: "/ws/secrets/deep", ..command("ls", &[]) },
            false,
            true,
        ),
        ("out of the secrets", Subject { cwd: "/ws/secrets", ..command("cat ../a", &[]) }, false, true),
        (
            "a command through a link",
            Subject { places: &secret, ..command("cat src/link", &[]) },
            false,
            true,
        ),
        (
            "a redirection through a link",
            Subject { places: &secret, ..command("ls > src/link", &[]) },
            false,
            true,
        ),
        ("a redirection", command("cat src/a > src/b", &[]), true, false),
        ("a redirection elsewhere", command("cat src/a > b", &[]), false, false),
        ("a pattern", command("cat src/*.rs", &[]), true, false),
        ("a pattern elsewhere", command("cat */a", &[]), false, true),
        ("a pattern of hidden files", command("cat src/.e*", &[]), true, false),
        ("a pattern that some shells find `..` with", command("ls src/.*", &[]), false, false),
        ("the same as a target", command("cp src/a src/.?", &[]), false, false),
        ("the same in the folder", command("cd src && find .? -type f", &[]), false, true),
        ("too many to look at", Subject { places: &anywhere, ..command("cat src/a", &[]) }, false, true),
        (
            "a pattern behind a folder",
            Subject { places: &behind, ..command("cd src && cat l*", &[]) },
            false,
            true,
        ),
        ("a pattern of the root", command("cat /*", &[]), false, false),
        ("a home folder", command("cat ~ann/ws/secrets/key", &[]), false, true),
        ("a home folder in a value", command("x --file=~/key src/a", &[]), false, true),
        ("a tilde in a name", command("cat src/a~", &[]), true, false),
        ("a quoted tilde", command("cat 'src'/'~a'", &[]), true, false),
        ("a value in one word with its option", command("file -f.env src/a", &[]), false, false),
        ("letters that are options", command("ls -la src/x", &[]), true, false),
        ("letters that nobody knows", command("x -la src/x", &[]), false, false),
        ("a value", command("x --file=src/a", &[]), true, false),
        ("a value elsewhere", command("x src/a --file=/etc/passwd", &[]), false, false),
        ("a program of the workspace", command("./x src/a", &[]), false, false),
    ];
    let told: Vec<_> = rows
        .iter()
        .map(|(name, subject, _, _)| {
            (*name, one(subject, &allows).starts_with("allow"), one(subject, &forbids).starts_with("forbid"))
        })
        .collect();
    assert_eq!(told, rows.map(|(name, _, allowed, forbidden)| (name, allowed, forbidden)));
}

/// A rule that forbids paths also matches commands that read these paths from a commit, copy them, or walk through
/// their parent directory.
#[test]
fn a_rule_that_forbids_paths_meets_what_lies_below() {
    let paths = |globs: &[&str]| Rule {
        paths: globs.iter().map(|glob| (*glob).to_owned()).collect(),
        ..rule(RuleAction::Forbid, &["run_command"], &[])
    };
    let rules = [paths(&["secrets/**", "a/deep/.env"]), allow(&["run_command"])];
    let told = |line: &str| {
        let verdict = one(&command(line, &[]), &rules);
        verdict.split(' ').next().unwrap_or_default().to_owned()
    };
    let lines = include_str!("below.txt").lines().filter(|line| !line.is_empty());
    let rows: Vec<(&str, &str)> =
        lines.map(|line| line.split_once(' ').expect("a verdict and a line")).collect();
    let wrong: Vec<_> = rows
        .iter()
        .filter(|(expected, line)| told(line) != *expected)
        .map(|(_, line)| (*line, told(line)))
        .collect();
    assert_eq!(wrong, []);
}

/// Forbidden paths are also found through a link to their parent directory, and if the working directory is below the
/// repository's root.
#[test]
fn what_lies_below_is_met_through_links_and_in_other_folders() {
    let forbids =
        Rule { paths: vec!["a/secrets/**".to_owned()], ..rule(RuleAction::Forbid, &["run_command"], &[]) };
    let rules = [forbids, allow(&["run_command"])];
    let link = [ResolvedPath { named: "b".to_owned(), resolved: Some("/ws/a".to_owned()) }];
    let rows = [
        (Subject { places: &link, ..command("grep -r x b", &[]) }, true),
        (Subject { places: &link, ..command("ls b", &[]) }, false),
        (Subject { cwd: "/ws/a", ..command("grep -r x .", &[]) }, true),
        (Subject { cwd: "/ws/a/other", ..command("grep -r x .", &[]) }, false),
        (Subject { cwd: "/ws/a/other", ..command("grep -r x ..", &[]) }, true),
        (Subject { cwd: "/ws/a/other", ..command("git show HEAD:secrets/key", &[]) }, true),
        (Subject { cwd: "/ws/a/other", ..command("git show HEAD:b/a/secrets/key", &[]) }, true),
        (Subject { cwd: "/ws/a", ..command("git show HEAD:./secrets/key", &[]) }, true),
        (Subject { cwd: "/ws/b", ..command("git show HEAD:docs/key", &[]) }, false),
        (command("cd a && tar c .", &[]), true),
        (command("cd b && tar c .", &[]), false),
        (command("grep -r x /", &[]), true),
        (command("grep -r x /ws", &[]), true),
        (command("grep -r x /etc", &[]), false),
    ];
    let wrong: Vec<_> = rows
        .iter()
        .filter(|(subject, forbidden)| one(subject, &rules).starts_with("forbid") != *forbidden)
        .map(|(subject, _)| subject.command)
        .collect();
    assert_eq!(wrong, []);
}

/// A rule covers every call if it has no criterion. `agents` is not a criterion, because it only selects who makes the
/// call.
#[test]
fn a_rule_without_criteria_covers_every_call() {
    let words = || vec!["a".to_owned()];
    for every in [allow(&[]), allow(&["*"]), Rule { agents: words(), ..allow(&["*"]) }] {
        assert!(every.covers_every_call(), "{every:?}");
    }
    for some in [
        allow(&["read_file"]),
        Rule { commands: words(), ..allow(&["*"]) },
        Rule { paths: words(), ..allow(&["*"]) },
        Rule { urls: words(), ..allow(&["*"]) },
        Rule { categories: vec![Category::Bash], ..allow(&["*"]) },
        Rule { changes: Some(ChangeScope::None), ..allow(&["*"]) },
        Rule { deletes: Some(2), ..allow(&["*"]) },
    ] {
        assert!(!some.covers_every_call(), "{some:?}");
    }
}
