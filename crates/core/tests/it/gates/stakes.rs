//! Commands that are always risky: the card shows a high risk with its reason, and no grant is offered.

use holdshort_core::interrupt::Kind;
use holdshort_core::level::Level;

use crate::world::{self, World, calls, command};

/// Returns the risk on a command's approval card, the codes of its reasons, and true if a grant is offered.
fn card(line: &'static str) -> (Level, String, bool) {
    let mut world = World::started(world::definition(), vec![calls(&[command(line)])]);
    world.work();
    let opened = &world.run.interrupts[&world.open(Kind::ToolApproval)].opened;
    let codes: Vec<&str> = opened.risk.reasons.iter().map(|reason| reason.code.as_str()).collect();
    let grants = opened.options.iter().any(|option| option.id == "approve_session");
    (opened.risk.level, codes.join(" "), grants)
}

#[test]
fn what_is_risky_in_itself_is_high_and_offers_no_grant() {
    let table = [
        (
            "rm -rf exports/old && ./deploy.sh --env=production --force",
            "deletes_folders forced production deploys",
        ),
        ("rm -rf build", "deletes_folders"),
        ("rm --recursive build", "deletes_folders"),
        ("rm -vR build", "deletes_folders"),
        ("find . -name '*.o' -delete", "deletes_folders"),
        ("git clean -fdx", "deletes_folders"),
        ("git clean -dx -e -n", "deletes_folders"),
        ("git clean -d -- -n", "deletes_folders"),
        ("rsync -a --delete a/ b/", "deletes_folders"),
        ("git push", "deploys"),
        ("git push -f origin main", "forced deploys"),
        ("git push --force-with-lease origin main", "forced deploys"),
        ("git reset --hard HEAD~1", "forced"),
        ("git commit --no-verify -m x", "forced"),
        ("git branch -D old", "forced"),
        ("./migrate --env=production", "production"),
        ("make build-prod", "production"),
        ("./scripts/deploy.sh", "deploys"),
        ("sh tools/release.sh", "deploys"),
        ("make deploy", "deploys"),
        ("cargo publish", "deploys"),
        ("kubectl apply -f x.yaml", "deploys"),
        ("git rm -r docs", "deletes_folders"),
        ("kubectl delete pod x", "loses"),
        ("terraform destroy", "loses"),
        ("helm uninstall shop", "loses"),
        ("aws s3 rm s3://backups --recursive", "loses"),
        ("aws s3 sync a s3://backups --delete", "loses"),
        ("aws ec2 terminate-instances --instance-ids i-1", "loses"),
        ("gsutil -m rm -r gs://backups", "loses"),
        ("gcloud compute instances delete web", "loses"),
        ("az group delete --name shop", "loses"),
        ("heroku apps:destroy shop", "loses"),
        ("gh repo delete acme/shop", "loses"),
        ("docker compose down -v", "loses"),
        ("docker-compose down --volumes", "loses"),
        ("docker system prune", "loses"),
        ("docker volume rm data", "loses"),
        ("git checkout -- .", "loses"),
        ("git checkout .", "loses"),
        ("git checkout HEAD a.txt", "loses"),
        ("git checkout -- a.txt", "loses"),
        ("git restore .", "loses"),
        ("git restore -SW a.txt", "loses"),
        ("git stash drop", "loses"),
        ("git stash clear", "loses"),
        ("git reflog expire --expire=now --all", "loses"),
        ("truncate -s0 x", "loses"),
        ("dd if=/dev/zero of=x", "loses"),
        ("mkfs.ext4 disk.img", "loses"),
        ("chmod -R 777 .", "rights"),
        ("chown -R nobody src", "rights"),
        ("cp -rf a b", "forced"),
        ("mv -f a b", "forced"),
        ("mv --force a b", "forced"),
        ("git switch --discard-changes main", "forced"),
        ("git add . && git stash drop", "loses"),
        ("sudo chown -R nobody src", "rights"),
    ];
    for (line, codes) in table {
        let (level, found, grants) = card(line);
        assert!(level >= Level::High && !grants, "{line}: {level:?} {grants}");
        let wanted: Vec<&str> = codes.split(' ').collect();
        let stakes: Vec<&str> = found
            .split(' ')
            .filter(|code| {
                ["deletes_folders", "loses", "rights", "forced", "production", "deploys"].contains(code)
            })
            .collect();
        assert_eq!(stakes, wanted, "{line}: {found}");
    }
}

#[test]
fn what_only_looks_like_it_is_as_it_was() {
    let table = [
        "rm -f build/a.o",
        "mkdir -p products",
        "cargo build --release",
        "mv target/release/app bin/app",
        "touch a.txt",
        "tar -cf a.tar b",
        "git commit -m x",
        "git add .",
        "git add clean",
        "git clean -nd",
        "git commit -m clear",
        "git checkout main",
        "git checkout -b topic origin/main",
        "git checkout -",
        "git restore --staged .",
        "git rm a.txt",
        "git rm -r --cached build",
        "git stash",
        "git stash pop",
        "cp a b",
        "cp -r a b",
        "mv a b",
        "chmod +x run.sh",
        "chown nobody a.txt",
        "dd if=a",
        "docker compose down",
    ];
    // Commands that reach other systems have a high risk for that reason. No further reason is listed, and a grant is
    // offered.
    let reaching =
        ["docker compose up -d", "kubectl scale --replicas=2 web", "aws s3 cp a s3://backups/delete/a"];
    let expected = table.iter().map(|line| (line, Level::Medium));
    for (line, expected) in expected.chain(reaching.iter().map(|line| (line, Level::High))) {
        let (level, codes, grants) = card(line);
        assert_eq!((level, codes.as_str(), grants), (expected, "default", true), "{line}");
    }
}

/// A grant for a harmless command covers no risky command.
#[test]
fn a_grant_given_for_less_does_not_cover_it() {
    let script = vec![calls(&[command("rm a.txt")]), calls(&[command("rm -r build")])];
    let mut world = World::started(world::definition(), script);
    world.work();
    world.decide(Kind::ToolApproval, world::choose("approve_session"));
    world.work();
    let opened = &world.run.interrupts[&world.open(Kind::ToolApproval)].opened;
    assert_eq!(opened.risk.level, Level::High);
}
