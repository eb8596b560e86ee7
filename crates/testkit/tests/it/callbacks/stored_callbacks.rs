//! Files of stored callbacks: unusable files, and the removal of files that are no longer needed.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::SystemTime;

use holdshort_testkit::by_hand;
use holdshort_testkit::server::eventually;
use holdshort_testkit::sink::WebhookSink;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::{answer, ask, callback, callback_file, local_callback_setup};
use crate::notifications::{SECRET, deliveries, wait_state};

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_can_not_be_used_keeps_nothing_from_the_others() {
    let sink = WebhookSink::start().await;
    let server = local_callback_setup().start().await;
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(ask(&server, json!({"callback": callback(&sink)})).await);
    }
    let [exposed, malformed, told] = &asked[..] else { panic!("three") };
    fs::set_permissions(callback_file(&server, exposed), Permissions::from_mode(0o644)).unwrap();
    fs::write(callback_file(&server, malformed), "{").unwrap();
    for id in &asked {
        answer(&server, id, "Yes.").await;
    }
    let received = sink.wait_for(1).await;
    assert_eq!(received[0].json()["data"]["interrupt"], json!(told));
    let dropped = wait_state(&server, "dropped", 2).await;
    for each in &dropped {
        assert!(each["error"].as_str().unwrap().contains("cannot be used"), "{each}");
    }
    for (wrong, id) in [("chmod 600", exposed), ("has invalid content", malformed)] {
        // The log does not advise to delete the file, because the callback is stored nowhere else.
        eventually("the log says what to do", async || {
            let said = server.stderr();
            let mut lines = said.lines().filter(|line| line.contains(wrong) && line.contains(id.as_str()));
            let line = lines.next()?;
            assert!(!line.contains("delete"), "{line}");
            line.contains("repair it, and then ask an operator to retry the delivery").then_some(())
        })
        .await;
    }
    let said = server.stderr();
    assert!(!said.contains("the result of a delivery cannot be stored"), "{said}");

    // After the file is repaired, a manual retry of the delivery succeeds.
    fs::set_permissions(callback_file(&server, exposed), Permissions::from_mode(0o600)).unwrap();
    let of_exposed = dropped.iter().find(|each| each["interrupt"] == json!(exposed)).unwrap();
    let retry = format!("/v1/deliveries/{}/retry", of_exposed["id"].as_str().unwrap());
    server.post(&retry, &json!({})).await.ok();
    wait_state(&server, "delivered", 2).await;
    assert_eq!(sink.count(), 2);

    // An erasure succeeds even if the callback file cannot be removed.
    fs::remove_file(callback_file(&server, malformed)).unwrap();
    fs::create_dir(callback_file(&server, malformed)).unwrap();
    let run = server.interrupt(malformed).await["run"].clone();
    let erased = server.post("/v1/erasures", &json!({"run": run})).await.ok();
    assert_eq!(erased["erased"], json!([run]));
}

/// If a damaged run makes its decision unreadable, the attempt fails and is retried after the usual delay. Other
/// callbacks are not affected.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_damaged_keeps_nothing_from_the_others() {
    let sink = WebhookSink::start().await;
    sink.hold();
    let mut server = local_callback_setup().start().await;
    let damaged = ask(&server, json!({"callback": callback(&sink)})).await;
    let run = server.interrupt(&damaged).await["run"].as_str().unwrap().to_owned();
    answer(&server, &damaged, "Yes.").await;
    sink.wait_for(1).await;
    server.kill();
    sink.release();
    let journal = Connection::open(server.data().join("holdshort.db")).unwrap();
    let edit = "DELETE FROM events WHERE seq = 2 AND instr(CAST(head AS TEXT), ?1) > 0";
    assert_eq!(by_hand::change_events(&journal, edit, params![format!("\"stream\":\"{run}\"")]), 1);
    drop(journal);
    server.start().await;
    let tried = eventually("it was tried", async || {
        let found = deliveries(&server, "").await.pop()?;
        (found["attempts"].as_u64() > Some(0)).then_some(found)
    })
    .await;
    assert!(tried["error"].as_str().unwrap().contains("could not be read"), "{tried}");
    let other = ask(&server, json!({"callback": callback(&sink)})).await;
    answer(&server, &other, "Yes.").await;
    wait_state(&server, "delivered", 1).await;
    assert_eq!(sink.count(), 2, "the damaged one before its damage, and the other");
    let said = server.stderr();
    assert!(!said.contains("the result of a delivery cannot be stored"), "{said}");
}

/// Files of callbacks that a crash left behind are removed one by one, when the server starts and at intervals.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_crash_left_behind_is_swept() {
    let sink = WebhookSink::start().await;
    let mut server = local_callback_setup().start().await;
    let open = ask(&server, json!({"callback": callback(&sink)})).await;
    let stored: Value = serde_json::from_slice(&fs::read(callback_file(&server, &open)).unwrap()).unwrap();
    let mut told = Vec::new();
    for n in 1..=2 {
        let id = ask(&server, json!({"callback": callback(&sink)})).await;
        answer(&server, &id, "Yes.").await;
        wait_state(&server, "delivered", n).await;
        eventually("it is forgotten", async || (!callback_file(&server, &id).exists()).then_some(())).await;
        told.push(id);
    }
    server.kill();
    let [stuck, told] = &told[..] else { panic!("two") };
    let (past, recent) = ("int_01k6f0000000000000000000aa", "int_01k6f0000000000000000000bb");
    let put = |id: &str, at: &Value| {
        let mut value = stored.clone();
        value["at"] = at.clone();
        fs::write(callback_file(&server, id), value.to_string()).unwrap();
        fs::set_permissions(callback_file(&server, id), Permissions::from_mode(0o600)).unwrap();
    };
    // These are the files of a callback that was sent, of an interrupt that never opened, and of an interrupt that is
    // being opened.
    put(told, &stored["at"]);
    put(past, &json!(stored["at"].as_i64().unwrap() - 2 * 3_600_000));
    put(recent, &stored["at"]);
    // A directory in place of the file, which the server cannot remove as a file.
    fs::create_dir(callback_file(&server, stuck)).unwrap();
    let (half, fresh) = (callback_file(&server, past), callback_file(&server, recent));
    let (half, fresh) = (half.with_extension("json.new"), fresh.with_extension("json.new"));
    for path in [&half, &fresh] {
        fs::write(path, SECRET).unwrap();
    }
    File::options().write(true).open(&half).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    // A file that cannot be removed does not prevent the removal of other files.
    let obstacle = half.with_file_name("a.json.new");
    fs::create_dir(&obstacle).unwrap();
    File::open(&obstacle).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    server.start().await;
    eventually("all is looked at", async || {
        let gone = [callback_file(&server, told), callback_file(&server, past), half.clone()];
        gone.iter().all(|path| !path.exists()).then_some(())
    })
    .await;
    for path in [callback_file(&server, &open), callback_file(&server, recent), fresh] {
        assert!(path.exists(), "{}", path.display());
    }
    eventually("the log names what is stuck", async || {
        let said = server.stderr();
        said.lines()
            .any(|line| line.contains("cannot be checked for deletion") && line.contains(stuck))
            .then_some(())
    })
    .await;
}
