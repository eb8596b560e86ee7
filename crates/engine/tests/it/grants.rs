//! Grants, revocations, rules of the installation and the freeze take effect from the next start of a call.

use holdshort_core::actor::Actor;
use holdshort_core::policy::{Rule, RuleAction};
use holdshort_core::projection::Status;
use holdshort_core::{session, system};
use holdshort_engine::Error;
use holdshort_store::Tables;

use crate::stage::{Stage, command, operator, option, write};
use crate::world::Say;

fn two_commands() -> Vec<Say> {
    vec![Say::Calls(vec![command("git add a")]), Say::Calls(vec![command("git add b")]), Say::Text("Done.")]
}

#[tokio::test]
async fn a_grant_covers_the_next_call_and_no_other_program() {
    let mut script = two_commands();
    script.insert(2, Say::Calls(vec![command("git push origin")]));
    let stage = Stage::solo(script);
    let run = stage.play().await;
    stage.decide_only(&run, option("approve_session")).await;
    assert_eq!(stage.world.effects(), ["run:git add a", "run:git add b"]);
    let asked = stage.only_open(&run).await;
    assert_eq!(asked.content_text("title"), "run_command: git push origin");
}

#[tokio::test]
async fn a_grant_releases_nothing_that_is_open_in_other_runs_of_the_session() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("git add a")]), Say::Text("Done.")]);
    let one = stage.play().await;
    let session = stage.run(&one).await.session().unwrap().clone();
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(stage.start_in(&session).await);
    }
    let stranger = stage.start().await;
    stage.world.settle().await;
    stage.decide_only(&one, option("approve_session")).await;
    assert_eq!(stage.status(&one).await, Status::Completed);
    for run in others.iter().chain([&stranger]) {
        assert_eq!(stage.status(run).await, Status::Waiting);
    }
    // The grant covers calls that are proposed later, including those in different runs of the session.
    let later = stage.start_in(&session).await;
    stage.world.settle().await;
    assert_eq!(stage.status(&later).await, Status::Completed);
    assert_eq!(stage.world.effects().len(), 2);
}

#[tokio::test]
async fn a_revoke_holds_from_the_next_start_on() {
    let stage = Stage::solo(two_commands());
    let run = stage.play().await;
    let session = stage.run(&run).await.session().unwrap().clone();
    let shown = stage.only_open(&run).await.opened.interrupt;
    stage.decide(&run, &shown, option("approve_session")).await.unwrap();
    let grant = stage.driver.session(&session).await.unwrap().grants.values().next().unwrap().id.clone();
    stage.driver.revoke(&session, &grant, operator()).await.unwrap();
    stage.world.settle().await;
    assert_eq!(stage.world.effects(), ["run:git add a"]);
    assert_eq!(stage.only_open(&run).await.content_text("title"), "run_command: git add b");

    // Revoking a grant again changes nothing, and revoking an unknown grant is rejected. The row names the event that
    // added the grant.
    stage.driver.revoke(&session, &grant, operator()).await.unwrap();
    let row = stage.driver.journal().grant(&grant).await.unwrap().unwrap();
    assert_eq!((row.added_seq, row.revoked), (1, true));
    let agent = holdshort_core::actor::Actor::agent("agent", "test");
    let refused = stage.driver.revoke(&session, &grant, agent).await;
    assert!(matches!(refused, Err(Error::Session(session::Rejection::Role))), "{refused:?}");
}

#[tokio::test]
async fn a_revoke_by_another_driver_is_seen_before_the_start() {
    let calls = Say::Calls(vec![command("git add b"), command("touch x")]);
    let stage = Stage::solo(vec![Say::Calls(vec![command("git add a")]), calls, Say::Text("Done.")]);
    let run = stage.play().await;
    let session = stage.run(&run).await.session().unwrap().clone();
    stage.decide_only(&run, option("approve_session")).await;
    // The grant releases `git add b` immediately, and `touch x` needs an approval.
    assert_eq!(stage.world.effects(), ["run:git add a", "run:git add b"]);

    let other = Stage::on(stage.driver.journal().clone(), stage.world.clone(), stage.clock.clone());
    let grant = other.driver.session(&session).await.unwrap().grants.values().next().unwrap().id.clone();
    other.driver.revoke(&session, &grant, operator()).await.unwrap();
    let next = stage.start_in(&session).await;
    stage.world.settle().await;
    assert_eq!(stage.only_open(&next).await.content_text("title"), "run_command: git add a");
}

#[tokio::test]
async fn nothing_starts_while_frozen_and_everything_goes_on_after() {
    let stage = Stage::solo(vec![Say::Calls(vec![write("a.txt", "x")]), Say::Text("Done.")]);
    let run = stage.play().await;
    stage.driver.change_system(system::Input::freeze("a look is needed"), operator()).await.unwrap();
    // During the freeze decisions are accepted, but take effect only after it.
    stage.decide_only(&run, option("approve")).await;
    let fresh = stage.start().await;
    assert_eq!((stage.world.effects().len(), stage.world.waiting().len()), (0, 0));
    assert_eq!(stage.status(&fresh).await, Status::Running);
    stage.driver.change_system(system::Input::unfreeze(), operator()).await.unwrap();
    stage.world.settle().await;
    assert_eq!(stage.world.effects(), ["write:a.txt=x"]);
    assert_eq!((stage.status(&run).await, stage.status(&fresh).await), (Status::Completed, Status::Waiting));
}

#[tokio::test]
async fn a_freeze_by_another_driver_is_seen_before_the_start() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    let run = stage.play().await;
    let other = Stage::on(stage.driver.journal().clone(), stage.world.clone(), stage.clock.clone());
    other.driver.change_system(system::Input::freeze("a look is needed"), operator()).await.unwrap();
    stage.decide_only(&run, option("approve")).await;
    assert_eq!(stage.world.effects().len(), 0);
}

#[tokio::test]
async fn a_rule_of_the_installation_holds_from_the_next_start_on() {
    let stage = Stage::solo(vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    let run = stage.play().await;
    let rule = Rule { tools: vec!["run_command".into()], action: RuleAction::Forbid, ..Rule::default() };
    let policy = system::Input::SetPolicy { rules: vec![rule] };
    stage.driver.change_system(policy, Actor::admin("ada", "rest")).await.unwrap();
    stage.decide_only(&run, option("approve")).await;
    assert_eq!(stage.world.effects().len(), 0);
    assert!(stage.last_request().contains("refused by policy"), "{}", stage.last_request());
}
