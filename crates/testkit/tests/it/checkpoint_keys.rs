//! The key that signs checkpoints, over the real binary: lost, replaced, restored and damaged. Old signatures stay
//! valid. Each new key is recorded in the journal before it signs. A key file that other users may have read is not
//! used.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use crate::notifications::ask;

fn file(server: &TestServer) -> PathBuf {
    server.data().join("checkpoint_key.json")
}

/// Appends at least one event and signs a checkpoint. Returns the checkpoint's note, the signing key, and the number of
/// events.
async fn sign(server: &TestServer) -> (String, String, u64) {
    ask(server, json!({})).await;
    let signed = server.post("/v1/audit/checkpoints", &json!({})).await.ok();
    let text = |name: &str| signed[name].as_str().unwrap().to_owned();
    (text("note"), text("key"), signed["size"].as_u64().unwrap())
}

/// Runs `audit verify` on the journal with these checkpoint notes and these keys.
fn verify(server: &TestServer, notes: &[&str], keys: &[&str]) -> Output {
    let kept = server.workspace().join("kept.txt");
    fs::write(&kept, notes.concat()).unwrap();
    let mut command = server.client_command();
    command.args(["audit", "verify", "--against"]).arg(&kept);
    command.args(keys.iter().flat_map(|key| ["--key", *key])).output().unwrap()
}

#[track_caller]
fn assert_holds(server: &TestServer, notes: &[&str], keys: &[&str]) {
    let ran = verify(server, notes, keys);
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("continues from"), "{ran:?}");
}

/// Returns the keys that sign checkpoints, in the order in which the journal records them.
async fn list_signing_keys(server: &TestServer) -> Vec<String> {
    let events = server.get("/v1/audit/events?type=checkpoint_key_set").await.ok();
    let mut set: Vec<&Value> = events["items"].as_array().unwrap().iter().collect();
    set.sort_by_key(|event| event["seq"].as_u64());
    set.into_iter().map(|event| event["data"]["public"].as_str().unwrap().to_owned()).collect()
}

/// A checkpoint stays valid when its key is lost and replaced, and when its key is restored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_key_signed_stays_good_when_it_is_lost_and_when_it_is_back() {
    let mut server = TestServer::setup().start().await;
    let (first, old, first_size) = sign(&server).await;
    let kept = fs::read(file(&server)).unwrap();
    server.kill();
    fs::remove_file(file(&server)).unwrap();
    server.start().await;
    let (second, new, second_size) = sign(&server).await;
    assert_ne!(old, new);
    assert_eq!(fs::metadata(file(&server)).unwrap().permissions().mode() & 0o777, 0o600);
    let public = list_signing_keys(&server).await;
    assert_eq!(public.len(), 2, "{public:?}");
    assert_ne!(public[0], public[1]);
    assert_holds(&server, &[&first], &[&old]);
    assert_holds(&server, &[&second], &[&new]);
    assert_holds(&server, &[&first, &second], &[&old, &new]);
    // If only the new key is given, a note that the old key signed is rejected.
    let ran = verify(&server, &[&first], &[&new]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(2) && said.contains("not signed with this key"), "{ran:?}");
    let proof = format!("/v1/audit/consistency?earlier={first_size}&size={second_size}");
    assert!(server.get(&proof).await.ok()["proof"].is_array(), "one tree, whoever signs");

    // Restore the old key file, as from a backup. The restored key was created before the newest events of the journal.
    server.kill();
    fs::write(file(&server), &kept).unwrap();
    server.start().await;
    let (third, again, third_size) = sign(&server).await;
    assert_eq!(again, old);
    assert!(third_size > second_size, "{third_size}");
    assert_eq!(list_signing_keys(&server).await, public, "the journal knows it");
    assert_holds(&server, &[&first, &second, &third], &[&old, &new]);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

/// The key of a different journal can sign here after this journal has recorded the key. Notes that the key signed for
/// the different journal prove nothing about this journal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_another_journal_signs_as_its_own_and_proves_nothing_of_the_other() {
    let other = TestServer::setup().start().await;
    let (strange, of_other, _) = sign(&other).await;
    let mut server = TestServer::setup().start().await;
    let (note, own, _) = sign(&server).await;
    server.kill();
    fs::copy(file(&other), file(&server)).unwrap();
    server.start().await;
    let (next, brought, _) = sign(&server).await;
    assert_ne!(brought, own);
    let public = list_signing_keys(&server).await;
    assert_eq!((public.len(), list_signing_keys(&other).await.first()), (2, public.last()));
    assert_holds(&server, &[&note, &next], &[&own, &brought]);
    for key in [&of_other, &brought] {
        let ran = verify(&server, &[&strange], &[key]);
        assert!(!ran.status.success(), "{ran:?}");
    }
}

/// A key file that is readable by other users, or that contains no key, stops the start. The file is not replaced.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_may_be_somebodys_stops_the_start() {
    let mut server = TestServer::setup().start().await;
    let (note, key, _) = sign(&server).await;
    let kept = fs::read(file(&server)).unwrap();
    server.kill();
    let table: [(&[u8], u32, &str); 4] = [
        (&kept, 0o644, "is readable by others"),
        (b"{}", 0o600, "has invalid content"),
        (br#"{"pkcs8": "AAAA"}"#, 0o600, "has invalid content"),
        (&kept[..kept.len() / 2], 0o600, "has invalid content"),
    ];
    for (bytes, mode, why) in table {
        fs::write(file(&server), bytes).unwrap();
        fs::set_permissions(file(&server), fs::Permissions::from_mode(mode)).unwrap();
        let ended = server.try_start().await.expect_err(why);
        assert!(!ended.success());
        let said = server.stderr();
        assert!(said.contains("checkpoint_key.json") && said.contains(why), "{why}: {said}");
        assert_eq!(fs::read(file(&server)).unwrap(), bytes, "{why}");
    }
    fs::write(file(&server), &kept).unwrap();
    fs::set_permissions(file(&server), fs::Permissions::from_mode(0o600)).unwrap();
    server.start().await;
    let (next, again, _) = sign(&server).await;
    assert_eq!(again, key);
    assert_holds(&server, &[&note, &next], &[&key]);
}
