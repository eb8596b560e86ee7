//! Command lines that only read: those of a recorded attack, every row of the tables, and everyday commands.

use std::collections::BTreeSet;

use holdshort_command::parse;
use holdshort_core::gate::{self, Changes, Checkpoints, RefusedBefore, Subject, Verdict, VoteInputs};
use holdshort_core::policy::{Checkpoint, GrantCovers, Rule, RuleAction};
use serde::Deserialize;

use crate::world::{WORKSPACE, allow, rule};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    command: String,
    does: Does,
    #[serde(default, rename = "note")]
    _note: String,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Does {
    Reads,
    Writes,
    Runs,
    Pushes,
}

fn attack() -> Vec<Line> {
    serde_json::from_str(include_str!("attack.json")).expect("a list of lines")
}

fn vote(line: &str, rules: &[Rule], at: &BTreeSet<Checkpoint>) -> Verdict {
    let subject = Subject {
        agent: "pair",
        tool: "run_command",
        category: parse(line).class().into(),
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
    };
    let checkpoints = Checkpoints { at, deploy: &[] };
    let rules = VoteInputs {
        system: &[],
        run: &[],
        workflow: rules,
        checkpoints,
        smart: &[],
        grants: Some(&[]),
        covers: GrantCovers::Call,
        refused: &RefusedBefore::default(),
    };
    gate::vote(&subject, rules)
}

/// A policy that allows only reading allows exactly the reading command lines of the recorded attack.
#[test]
fn of_an_attack_only_what_reads_is_let_through() {
    let reading =
        [Rule { categories: vec![holdshort_core::tool::Category::ReadOnly], ..allow(&["run_command"]) }];
    let none = BTreeSet::new();
    let wrong: Vec<String> = attack()
        .into_iter()
        .filter(|line| {
            let is_let_through = matches!(vote(&line.command, &reading, &none), Verdict::Allow(_));
            is_let_through != (line.does == Does::Reads)
                || parse(&line.command).is_read_only() != (line.does == Does::Reads)
        })
        .map(|line| line.command)
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

/// A rule that forbids pushes matches every visible push in the recorded attack. A line that may hide a push is asked
/// about, without offering a grant.
#[test]
fn of_an_attack_every_push_is_held_back() {
    let rules = [
        Rule {
            commands: vec!["git push *".to_owned(), "sudo *".to_owned()],
            ..rule(RuleAction::Forbid, &["run_command"], &[])
        },
        allow(&["run_command"]),
    ];
    let (none, deploy) = (BTreeSet::new(), BTreeSet::from([Checkpoint::BeforeDeploy]));
    let free = [allow(&["run_command"])];
    let wrong: Vec<String> = attack()
        .into_iter()
        .filter(|line| line.does == Does::Pushes)
        .filter(|line| {
            let held = |verdict: &Verdict| {
                matches!(verdict, Verdict::Forbid(_) | Verdict::Ask { grantable: false, .. })
            };
            !held(&vote(&line.command, &rules, &none)) || !held(&vote(&line.command, &free, &deploy))
        })
        .map(|line| line.command)
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

/// A rule that allows a command covers the command with harmless options and with the options that the rule names.
#[test]
fn a_rule_covers_harmless_options_and_those_that_it_names() {
    let rows = [
        ("git diff *", "git diff HEAD -- a", true),
        ("git diff *", "git --no-pager diff", true),
        ("git diff *", "git diff --ext-diff", false),
        ("git diff *", "git diff --output=f", false),
        ("git diff *", "git -C x diff", false),
        ("git diff *", "git --git-dir=x diff", false),
        ("git diff *", "git -c a=b diff", false),
        ("git diff --ext-diff *", "git diff --ext-diff", true),
        ("git commit *", "git commit -m x", true),
        ("git commit *", "git -C x commit -m x", false),
        ("git commit *", "git --work-tree=/ commit -m x", false),
        ("git branch *", "git branch topic", true),
        ("git branch *", "git branch -D topic", false),
        ("git branch -D *", "git branch -D topic", true),
        ("sort *", "sort -u f", true),
        ("sort *", "sort -o f f", false),
        ("sort *", "sort --compress-program=x f", false),
        ("sort -o *", "sort -o f f", true),
        ("find *", "find . -name x", true),
        ("find *", "find . -delete", false),
        ("find *", "find . -exec x {} +", false),
        ("tar *", "tar -xf x", false),
        ("tar -xf *", "tar -xf x", true),
        ("tar *", "tar -tf x", true),
        ("cargo test *", "cargo test -p core", true),
        ("cargo test *", "cargo +nightly test", true),
        ("npm test *", "npm --prefix x test", false),
        ("rg *", "rg --pre x y", false),
        ("ls *", "ls -la", true),
        ("ls *", "ls --unheard-of", false),
        ("make *", "make test", true),
    ];
    let none = BTreeSet::new();
    let told = rows.map(|(pattern, line, _)| {
        let rule = [Rule { commands: vec![pattern.to_owned()], ..allow(&["run_command"]) }];
        (pattern, line, matches!(vote(line, &rule, &none), Verdict::Allow(_)))
    });
    assert_eq!(told, rows);
}

/// A rule that forbids a command also matches its alternative names, and other orders, spellings and positions of
/// options.
#[test]
fn what_is_forbidden_is_so_in_other_words() {
    let rows = [
        ("git push *", "git send-pack . HEAD", true),
        ("git push *", "git -C x send-pack . HEAD", true),
        ("git push *", "git --no-pager push", true),
        ("git push --force *", "git push origin main --force", true),
        ("git push --force *", "git push -f", true),
        ("git push --force *", "git push -uf origin main", true),
        ("git push --force *", "git push --forc origin", true),
        ("git push --force *", "git push origin main", false),
        ("git push origin *", "git push -q origin main", true),
        ("git push origin *", "git push --push-option x origin main", true),
        ("git push origin *", "git push backup main", false),
        ("git branch -D *", "git branch -d x", false),
        ("git branch -D *", "git branch x -D", true),
        ("rm -rf *", "rm -fr x", true),
        ("rm -rf *", "rm -r -f x", true),
        ("rm -rf *", "rm x -Rf", true),
        ("rm -rf *", "rm --recursive --force x", true),
        ("rm -rf *", "rm -f x", false),
        ("rm -rf *", "rm -f -- -r", false),
        ("cargo run *", "cargo r --release", true),
        ("cargo run *", "cargo +nightly r", true),
        ("cargo publish *", "cargo test", false),
        ("npm install *", "npm i x", true),
        ("npm install *", "npm --loglevel x install y", true),
        ("npm install *", "npm run install-hooks", false),
        ("npm run deploy *", "npm run-script deploy", true),
        ("npm run test *", "npm t", true),
        ("yarn run deploy *", "yarn deploy", true),
        ("npm exec *", "npx x", true),
        ("pip install *", "pip3 install x", true),
        ("pip install *", "python3.12 -m pip install x", true),
        ("python *", "python3 a.py", true),
        ("pytest *", "python3 -m pytest -q", true),
        ("docker compose up *", "docker-compose up -d", true),
        ("docker run *", "docker compose run x", false),
        ("gh pr merge *", "gh pr --repo x merge 1", true),
        ("sudo *", "sudoedit x", true),
        ("node *", "nodejs a.js", true),
        ("make *", "gmake test", true),
    ];
    let none = BTreeSet::new();
    let told = rows.map(|(pattern, line, _)| {
        let forbids =
            Rule { commands: vec![pattern.to_owned()], ..rule(RuleAction::Forbid, &["run_command"], &[]) };
        (pattern, line, matches!(vote(line, &[forbids, allow(&["run_command"])], &none), Verdict::Forbid(_)))
    });
    assert_eq!(told, rows);
}

/// A rule that allows a git command does not cover, in any spelling, options with which git runs another program.
#[test]
fn a_rule_covers_no_option_that_runs_a_program() {
    let lines = [
        "git fetch --upload-pack=./x .",
        "git fetch --upload-pa=./x .",
        "git fetch --upl ./x .",
        "git push --receive-p=./x .",
        "git push --exe=./x .",
        "git rebase --ex ./x main",
        "git rebase -ix ./x main",
        "git rebase -i -x ./x main",
        "git send-email --sendmail-cmd=./x p",
        "git send-email --smtp-serv=/x p",
        "git grep -nO./x a",
        "git grep --open-files a",
    ];
    let none = BTreeSet::new();
    let allowed: Vec<&str> = lines
        .into_iter()
        .filter(|line| {
            let name: Vec<&str> = line.split(' ').take(2).collect();
            let rule = [Rule { commands: vec![format!("{} *", name.join(" "))], ..allow(&["run_command"]) }];
            matches!(vote(line, &rule, &none), Verdict::Allow(_))
        })
        .collect();
    assert_eq!(allowed, Vec::<&str>::new());
}

/// If a rule forbids some commands, a line that may be one of them is asked about, even if another rule allows it.
#[test]
fn where_commands_are_forbidden_what_is_unclear_asks() {
    let forbids =
        Rule { commands: vec!["git push *".to_owned()], ..rule(RuleAction::Forbid, &["run_command"], &[]) };
    let rules = [forbids, allow(&["run_command"])];
    let rows = [
        ("git publish", true),
        ("git lg", true),
        ("cargo xtask", true),
        ("npm pub", true),
        ("python3 -c x", true),
        ("node -e x", true),
        ("awk '{print > \"f\"}' f", true),
        ("awk '{print}' f", false),
        ("vim f", true),
        ("make -f M", true),
        ("make SHELL=./x", true),
        ("cp /usr/bin/git gt", true),
        ("sort --weird f", true),
        ("git diff --weird", true),
        ("git -C x status", false),
        ("git status", false),
        ("git commit -m x", false),
        ("cargo test", false),
        ("npm run build", false),
        ("python3 a.py", false),
        ("make test", false),
        ("sed -i s/a/b/ f", false),
        ("ls > f", false),
        ("rm -rf x", false),
    ];
    let none = BTreeSet::new();
    let told = rows.map(|(line, _)| {
        let asks = matches!(vote(line, &rules, &none), Verdict::Ask { grantable: false, .. });
        assert!(matches!(vote(line, &rules[1..], &none), Verdict::Allow(_)), "{line}");
        (line, asks)
    });
    assert_eq!(told, rows);
}

/// If a rule forbids some commands, options that may run a second program and unknown subcommands are asked about. A
/// rule that allows the program does not cover them.
#[test]
fn what_may_run_something_else_is_not_free_where_commands_are_forbidden() {
    let held = include_str!("may_run_others.txt").lines().filter(|line| !line.is_empty());
    let free = include_str!("runs_nothing_else.txt").lines().filter(|line| !line.is_empty());
    let forbids =
        Rule { commands: vec!["git push *".to_owned()], ..rule(RuleAction::Forbid, &["run_command"], &[]) };
    let rules = [forbids, allow(&["run_command"])];
    let none = BTreeSet::new();
    let is_free = |line: &str| matches!(vote(line, &rules, &none), Verdict::Allow(_));
    let wrong: Vec<&str> =
        held.filter(|line| is_free(line)).chain(free.filter(|line| !is_free(line))).collect();
    assert_eq!(wrong, Vec::<&str>::new());
}

/// If a rule forbids paths, a line with code is asked about, because code may open any file. Rules for other tools or
/// agents have no such effect.
#[test]
fn where_paths_are_forbidden_code_asks() {
    let forbids =
        |tool: &str| Rule { paths: vec!["secrets/**".to_owned()], ..rule(RuleAction::Forbid, &[tool], &[]) };
    let none = BTreeSet::new();
    let told = |line: &str, tool: &str| {
        matches!(vote(line, &[forbids(tool), allow(&["run_command"])], &none), Verdict::Allow(_))
    };
    let lines = [
        "python3 -c \"print(open('secr'+'ets/key').read())\"",
        "awk 'BEGIN{while((getline l < \"sec\" \"rets/key\")>0) print l}'",
        "perl -ne print",
        "node -e x",
        "ruby -e x",
        "php -r x",
        "sqlite3 x",
        "vim x",
        "echo x | python3",
        "git alias",
        "yarn node -e x",
    ];
    assert_eq!(lines.map(|line| (line, told(line, "run_command"))), lines.map(|line| (line, false)));
    assert_eq!(lines.map(|line| (line, told(line, "write_file"))), lines.map(|line| (line, true)));
}
