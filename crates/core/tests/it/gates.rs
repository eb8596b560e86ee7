//! The vote of the gates: forbid > mandatory ask > grant > rule > default (ask).

use std::collections::BTreeSet;

use holdshort_core::actor::Actor;
use holdshort_core::definition::RuleAction::{Allow, Ask, Forbid};
use holdshort_core::definition::{Checkpoint, Rule, RuleAction};
use holdshort_core::gate::{self, Checkpoints, Matcher, Release, Rules, Source, Subject, Verdict};
use holdshort_core::session::{self, Session};
use holdshort_core::system::{self, System};
use holdshort_core::time::Timestamp;
use holdshort_core::tool::Category;

use crate::snapshot;
use crate::world::{self, WORKSPACE, allow, rule};

fn command<'a>(line: &'a str, findings: &'a [String]) -> Subject<'a> {
    Subject {
        agent: "pair",
        tool: "run_command",
        category: gate::command::parse(line).category(),
        path: None,
        command: Some(line),
        workspace: WORKSPACE,
        ask_because: findings,
    }
}

fn file(path: &str) -> Subject<'_> {
    Subject {
        agent: "pair",
        tool: "write_file",
        category: Category::FileWrite,
        path: Some(path),
        command: None,
        workspace: WORKSPACE,
        ask_because: &[],
    }
}

fn session(granted: Option<&Subject<'_>>) -> Session {
    let mut session = Session::new(world::draw(2).id());
    if let Some(matcher) = granted.and_then(Matcher::of) {
        let fact = session::Fact::GrantAdded {
            grant: world::draw(3).id(),
            matcher,
            run: world::draw(1).id(),
            interrupt: world::draw(4).id(),
        };
        session.apply(&fact, Timestamp::from_millis(0), &Actor::operator("rest"));
    }
    session
}

fn system(rules: Vec<Rule>) -> System {
    let mut system = System::default();
    system.apply(&system::Fact::PolicySet { rules }, Timestamp::from_millis(0));
    system
}

fn told(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Forbid(reason) => format!("forbid ({:?})", reason.source),
        Verdict::Ask { reasons, grantable } => {
            let reasons: Vec<String> =
                reasons.iter().map(|reason| format!("{:?} {}", reason.source, reason.code)).collect();
            format!("ask ({}){}", reasons.join(", "), if *grantable { ", grantable" } else { "" })
        }
        Verdict::Allow(Release::Rule { source, .. }) => format!("allow ({source:?})"),
        Verdict::Allow(Release::Grant { .. }) => "allow (grant)".to_owned(),
        Verdict::Allow(Release::OpensInterrupt) => "allow (opens)".to_owned(),
    }
}

static NOWHERE: BTreeSet<Checkpoint> = BTreeSet::new();

fn lists<'a>(run: &'a [Rule], workflow: &'a [Rule]) -> Rules<'a> {
    Rules {
        run,
        workflow,
        checkpoints: Checkpoints { at: &NOWHERE, deploy: &[] },
        smart: &[],
        granters: Some(&[]),
    }
}

fn one(subject: &Subject<'_>, rules: &[Rule]) -> String {
    told(&gate::vote(subject, lists(&[], rules), &session(None), &System::default()))
}

/// All combinations of what the installation, the run and the workflow say, with and without a grant, a
/// finding of the inspection and a line that can not be understood.
#[test]
fn the_most_severe_vote_wins() {
    let says = [None, Some(RuleAction::Allow), Some(RuleAction::Ask), Some(RuleAction::Forbid)];
    let list = |action: Option<RuleAction>| {
        action.map(|action| rule(action, &["run_command"], &[])).into_iter().collect::<Vec<_>>()
    };
    let name = |action: Option<RuleAction>| {
        action.map_or("–".to_owned(), |action| format!("{action:?}").to_lowercase())
    };
    let findings = ["hard_link".to_owned()];
    let mut rows = vec![
        ["system", "run", "workflow", "grant", "finding", "opaque", "verdict"].map(str::to_owned).to_vec(),
    ];
    for by_system in says {
        for by_run in says {
            for by_workflow in says {
                for (granted, found, opaque) in
                    [(false, false, false), (true, false, false), (true, true, false), (true, false, true)]
                {
                    let (run, workflow) = (list(by_run), list(by_workflow));
                    let subject = command(
                        if opaque { "make $X" } else { "make x" },
                        if found { &findings } else { &[] },
                    );
                    let session = session(granted.then(|| command("make x", &[])).as_ref());
                    let rules = lists(&run, &workflow);
                    let verdict = gate::vote(&subject, rules, &session, &system(list(by_system)));
                    let flag = |flag: bool| if flag { "yes" } else { "–" }.to_owned();
                    rows.push(vec![
                        name(by_system),
                        name(by_run),
                        name(by_workflow),
                        flag(granted),
                        flag(found),
                        flag(opaque),
                        told(&verdict),
                    ]);

                    let says = [by_system, by_run, by_workflow];
                    let expected = if says.contains(&Some(RuleAction::Forbid)) {
                        "forbid"
                    } else if found || opaque {
                        "ask"
                    } else if granted {
                        "allow (grant)"
                    } else if says.contains(&Some(RuleAction::Ask)) || says == [None; 3] {
                        "ask"
                    } else {
                        "allow"
                    };
                    assert!(told(&verdict).starts_with(expected), "{rows:?}");
                }
            }
        }
    }
    snapshot::check("vote", &snapshot::table(&rows));
}

/// A run's own rules tighten; where the workflow asks or forbids, an `allow` of the run frees nothing.
#[test]
fn a_run_does_not_loosen_its_workflow() {
    let verdict = |run: RuleAction, workflow: RuleAction| {
        let (run, workflow) = ([rule(run, &["*"], &[])], [rule(workflow, &["write_file"], &[])]);
        let rules = lists(&run, &workflow);
        told(&gate::vote(&file("a"), rules, &session(None), &System::default()))
    };
    assert_eq!(
        [verdict(Allow, Ask), verdict(Allow, Forbid), verdict(Ask, Allow), verdict(Forbid, Allow)],
        ["ask (Workflow rule), grantable", "forbid (Workflow)", "ask (Run rule), grantable", "forbid (Run)"],
    );
}

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

/// To release, a rule must cover every part of a line; to hold back, any part is enough.
#[test]
fn a_rule_on_commands_sees_every_part() {
    let allows = [rule(RuleAction::Allow, &["run_command"], &["cargo test *", "ls *", "git status"])];
    let forbids = [
        rule(RuleAction::Forbid, &["run_command"], &["git push *", "sudo *", "rm -rf /*", "./tool drop *"]),
        rule(RuleAction::Allow, &["*"], &[]),
    ];
    let allow_table = [
        ("cargo test", true),
        ("cargo test -p core", true),
        ("cargo +nightly test", true),
        ("cargo test && ls", true),
        ("cargo test && rm x", false),
        ("cargo test; ls | git status", true),
        ("git status", true),
        ("git status -s", false),
        ("git -C x status", true),
        ("cargo testing", false),
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
        // What a file pattern may become.
        ("git pus*", true),
        ("git [p]ush origin", true),
        ("git -C x pu?h", true),
        ("./tool drop x", true),
        ("./tool dro* x", true),
        ("./tool dr??", true),
        ("./tool *", true),
        ("./tool [!a]rop x", true),
        ("./tool dro*", true),
        // Programs that run another one, known or not to be certain about it.
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
        ("npx tsc push", false),
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

/// Paths are compared as places, not as texts.
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
        // What leaves the workspace is never let through by a rule on paths.
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
        ("cat src/a", false),
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
            ("a glob that can not be read holds back", one(&file("a"), &broken).starts_with("forbid"), true),
            ("and releases nothing", one(&file("a"), &broken_allow).starts_with("allow"), false),
            ("no path, no release", one(&command("ls src/a", &[]), &allows).starts_with("allow"), false),
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

/// What asks names its rule, for the card and for the journal.
#[test]
fn a_reason_says_which_rule_asked() {
    let rules = [
        allow(&["read_file"]),
        Rule { reason: Some("ask the owner".to_owned()), ..rule(RuleAction::Ask, &["write_file"], &[]) },
    ];
    let rules = lists(&[], &rules);
    let Verdict::Ask { reasons, grantable } =
        gate::vote(&file("a"), rules, &session(None), &System::default())
    else {
        panic!("it asks")
    };
    assert_eq!(
        (reasons[0].source, reasons[0].rule, reasons[0].text.as_str(), grantable),
        (Source::Workflow, Some(1), "ask the owner", true),
    );
}

/// Which calls each mandatory checkpoint covers, although a rule allows everything and a grant is there.
#[test]
fn mandatory_checkpoints_cover_what_their_table_says() {
    let deploy = ["ship", "kubectl scale *", "go-live", "mcp_k8s_*", "release_page"].map(str::to_owned);
    let tool = |tool: &'static str, category| Subject { tool, category, ..file("a") };
    let run = |line: &'static str| command(line, &[]);
    // Subject, then the checkpoints that cover it: file edit, execution, deploy (usual words), deploy (own).
    let table = [
        (file("config.yaml"), [true, false, false, false]),
        (tool("read_file", Category::ReadOnly), [false, false, false, false]),
        (tool("publish_page", Category::Web), [false, false, true, false]),
        (tool("ship_it", Category::Web), [false, false, false, true]),
        (tool("republish", Category::Web), [false, false, false, false]),
        (tool("mcp_k8s_scale", Category::Web), [false, false, false, true]),
        (tool("release_page", Category::Web), [false, false, true, true]),
        (tool("Ship_it", Category::Web), [false, false, false, true]),
        (run("ls -l"), [false, true, false, false]),
        (run("cat a.txt"), [false, true, false, false]),
        (run("echo x > a.txt"), [true, true, false, false]),
        (run("sed -i s/a/b/ f"), [true, true, false, false]),
        (run("python3 -c 'open(1)'"), [true, true, true, true]),
        (run("python3 < page.py"), [true, true, true, true]),
        (run("awk 'BEGIN{system(\"git pu\" \"sh\")}'"), [true, true, true, true]),
        (run("python3 < deploy.py"), [true, true, true, true]),
        (run("python3 tools/deploy.py"), [true, true, true, false]),
        (run("./gradlew publishPlugins"), [true, true, true, false]),
        (run("npm run deployProd"), [true, true, true, false]),
        (tool("start_deployment", Category::Web), [false, false, true, false]),
        (run("./deployment.sh"), [true, true, true, false]),
        (run("make deployment"), [true, true, true, false]),
        (run("make deploys"), [true, true, true, false]),
        (run("make shipping"), [true, true, false, true]),
        (run("make employ"), [true, true, false, false]),
        (run("npm publis"), [true, true, true, false]),
        (run("git send-pack origin main"), [true, true, true, false]),
        (run("git -C x push"), [true, true, true, false]),
        (run("kubectl -n web --v 3 scale web"), [true, true, true, true]),
        (run("make go-live"), [true, true, false, true]),
        (run("test -v 'a[$(touch pwned)]'"), [true, true, true, true]),
        (run("printf 'x%n' PATH; ls"), [true, true, true, true]),
        (run("printf '%s %5d%%' a 3; [ -f a ]"), [false, true, false, false]),
        (run("git push origin main"), [true, true, true, false]),
        (run("make release"), [true, true, true, false]),
        (run("npm run ship:prod"), [true, true, false, true]),
        (run("cd x && terraform apply"), [true, true, true, false]),
        (run("kubectl scale web --replicas 3"), [true, true, false, true]),
        (run("eval $(cat x)"), [true, true, true, true]),
        // What a file pattern may become.
        (run("./tool pus*"), [true, true, true, true]),
        (run("./tool [p]ush"), [true, true, true, false]),
        (run("./tool sh*"), [true, true, true, true]),
        (run("sh d*.sh"), [true, true, true, true]),
        (run("python3 -m unittest tests/t?st.py"), [true, true, false, false]),
        (run("ls *"), [false, true, false, false]),
        (run("rm -f build/*.o"), [true, true, false, false]),
        // A filter that runs what it reads.
        (run("sed 's/x/y/' f > g"), [true, true, false, false]),
        (run("sed -i.bak -E 's|a b|c;d|g; 3d; /x/d' f"), [true, true, false, false]),
        (run("sed -i -e 's/a/b/' -e '2,5d' f"), [true, true, false, false]),
        (run("sed 's/x/pu/;s/pu/&sh/e' f"), [true, true, true, true]),
        (run("sed '1e ./go' f"), [true, true, true, true]),
        (run("sed -i 's/a/b/w out' f"), [true, true, true, true]),
        (run("sed -f script f"), [true, true, true, true]),
        (run("sed --expression=1e f"), [true, true, true, true]),
        (run("ed f"), [true, true, true, true]),
        (run("ex -sc '%s/a/b/|x' f"), [true, true, true, true]),
    ];
    let allowed = [allow(&["*"])];
    let checkpoints = [
        Checkpoint::BeforeFileEdit,
        Checkpoint::BeforeExecution,
        Checkpoint::BeforeDeploy,
        Checkpoint::BeforeDeploy,
    ];
    for (subject, covered) in table {
        for (n, (checkpoint, covered)) in checkpoints.into_iter().zip(covered).enumerate() {
            let at = BTreeSet::from([checkpoint]);
            let deploy: &[String] = if n == 3 { &deploy } else { &[] };
            let rules = Rules { checkpoints: Checkpoints { at: &at, deploy }, ..lists(&[], &allowed) };
            let verdict = told(&gate::vote(&subject, rules, &session(Some(&subject)), &System::default()));
            let name = format!("Checkpoint {}", checkpoint.as_str());
            assert_eq!(verdict.contains(&name), covered, "{subject:?}: {verdict}");
            assert!(!covered || !verdict.contains("grantable"), "{subject:?}: {verdict}");
        }
    }
}

/// What the shell puts in place of a file pattern is not known before it runs: one that may become what a rule forbids
/// is forbidden.
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

/// A checkpoint before a deployment lets a filter through whose script does nothing but edit.
#[test]
fn a_script_of_sed_that_runs_or_writes_is_code() {
    let table = [
        ("'s/a/b/'", false),
        ("'s|a b|c;d|gI'", false),
        ("'1,5d; /x/p;$!d'", false),
        ("'s/a\\/b/c/2'", false),
        ("10q", false),
        ("-i.bak -nE -e s/a/b/ -e 3d", false),
        ("'s/a/b/e'", true),
        ("'s/a/b/ge'", true),
        ("'s/a/b/w out'", true),
        ("'1e id'", true),
        ("e", true),
        ("'w out'", true),
        ("'r /etc/passwd'", true),
        ("'s/a/b/;e'", true),
        ("'s/a/b/}e'", true),
        ("'s/[/]/x/;1e id'", true),
        ("s/a/b", true),
        ("'/x/{s/a/b/}'", true),
        ("'se a/e b/e c/e'", true),
        ("-f script", true),
        ("'-e1e id'", true),
        ("--expression=1e", true),
        ("-i", true),
    ];
    let at = BTreeSet::from([Checkpoint::BeforeDeploy]);
    let allowed = [allow(&["*"])];
    for (script, expected) in table {
        let line = format!("sed {script} f");
        let rules = Rules { checkpoints: Checkpoints { at: &at, deploy: &[] }, ..lists(&[], &allowed) };
        let verdict = told(&gate::vote(&command(&line, &[]), rules, &session(None), &System::default()));
        assert_eq!(verdict.starts_with("ask"), expected, "{line}: {verdict}");
    }
}
