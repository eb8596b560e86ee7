//! Mandatory checkpoints, which always ask a person, and the calls that each of them covers.

use std::collections::BTreeSet;

use holdshort_core::gate::{self, Checkpoints, Subject, VoteInputs};
use holdshort_core::policy::Checkpoint;
use holdshort_core::tool::Category;

use super::{command, describe_verdict, file, lists, session, vote};
use crate::world::allow;

/// Each mandatory checkpoint covers its calls even if a rule and a grant allow everything.
#[test]
fn mandatory_checkpoints_cover_what_their_table_says() {
    let deploy = ["ship", "kubectl scale *", "go-live", "mcp_k8s_*", "release_page"].map(str::to_owned);
    let tool = |tool: &'static str, category| Subject { tool, category, ..file("a") };
    let run = |line: &'static str| command(line, &[]);
    // Call, then true for each checkpoint that covers the call: before file edit, before execution, before deploy
    // with the built-in words, before deploy with configured words.
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
        (run("npm publis"), [true, true, true, true]),
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
        // File patterns that may expand to a word that the checkpoint covers.
        (run("./tool pus*"), [true, true, true, true]),
        (run("./tool [p]ush"), [true, true, true, false]),
        (run("./tool sh*"), [true, true, true, true]),
        (run("sh d*.sh"), [true, true, true, true]),
        (run("python3 -m unittest tests/t?st.py"), [true, true, false, false]),
        (run("./run Deplo?.sh"), [true, true, true, false]),
        (run("./tool < deplo?"), [true, true, true, false]),
        (run("kubectl --v 3 scal? web"), [true, true, true, true]),
        (run("sed p f ???"), [true, true, true, true]),
        (run("sed -i s/a/b/ *"), [true, true, true, true]),
        (run("sed -i s/a/b/ src/*.py"), [true, true, true, true]),
        (run("git add src/*.rs"), [true, true, false, false]),
        (run("git add *.md"), [true, true, false, false]),
        (run("tar -I ./depl?y.sh -cf x.tar y"), [true, true, true, true]),
        (run("zip -T -TT ./depl?y.sh a.zip b"), [true, true, true, true]),
        (run("ls *"), [false, true, false, false]),
        (run("rm -f build/*.o"), [true, true, false, false]),
        // Filters whose script may run commands.
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
            let rules = VoteInputs { checkpoints: Checkpoints { at: &at, deploy }, ..lists(&[], &allowed) };
            let verdict = describe_verdict(&vote(&subject, rules, &session(Some(&subject))));
            let name = format!("Checkpoint {}", checkpoint.as_str());
            assert_eq!(verdict.contains(&name), covered, "{subject:?}: {verdict}");
            assert!(!covered || !verdict.contains("grantable"), "{subject:?}: {verdict}");
        }
    }
}

/// The checkpoint before a deployment lets a `sed` script pass only if the script does nothing but edit.
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
        ("'/x/{s/a/b/;p}'", false),
        ("'/x/{s/a/b/e}'", true),
        ("'y/ab/cd/'", false),
        ("'y/ab/cd/w out'", true),
        ("-ne p", false),
        ("-ne 'w out'", true),
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
        let rules = VoteInputs { checkpoints: Checkpoints { at: &at, deploy: &[] }, ..lists(&[], &allowed) };
        let verdict = describe_verdict(&gate::vote(&command(&line, &[]), rules));
        assert_eq!(verdict.starts_with("ask"), expected, "{line}: {verdict}");
    }
}
