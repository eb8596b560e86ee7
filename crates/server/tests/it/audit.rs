//! A journal that the server wrote can be verified. A damaged run does not affect other runs.

use holdshort_core::digest::Digest;
use serde_json::json;

use crate::harness::{Served, ok, text};

#[tokio::test]
async fn events_are_found_the_newest_first_and_each_is_shown_as_it_is_stored() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    ok(operator.decide(&asked, &json!({"option": "approve"})).await);
    // Creates more events than fit into one batch.
    for _ in 0..70 {
        ok(operator.post("/v1/system/freeze", &json!({"reason": "a look"})).await);
        ok(operator.post("/v1/system/unfreeze", &json!({})).await);
    }
    let list = async |query: &str| {
        let (mut items, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = ok(operator.get(&format!("/v1/audit/events?limit=37{query}{cursor}")).await);
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            let Some(next) = page["next_cursor"].as_str() else { return items };
            cursor = format!("&cursor={next}");
        }
    };
    let all = list("").await;
    let forward = ok(operator.get_json("/v1/events?limit=200").await);
    let mut forward = forward["items"].as_array().unwrap().clone();
    forward.reverse();
    assert_eq!(all, forward);

    let run = text(&asked, "run");
    let of_run = list(&format!("&stream={run}")).await;
    assert_eq!(of_run.len(), all.iter().filter(|event| event["stream"] == run).count());
    assert!(of_run.iter().all(|event| event["stream"] == run));
    assert_eq!(list("&type=unfrozen").await.len(), 70);
    assert_eq!(list("&type=decision_made&actor=operator").await.len(), 1);
    assert_eq!(list("&type=decision_made&actor=engine").await.len(), 0);
    assert_eq!(list("&from=2999-01-01T00:00:00Z").await.len(), 0);
    assert_eq!(list("&to=2999-01-01T00:00:00Z").await.len(), all.len());
    for wrong in ["stream=x", "from=yesterday", "cursor=7", "limit=0", "kind=frozen", "type=nonsense"] {
        let refused = operator.get(&format!("/v1/audit/events?{wrong}")).await;
        assert_eq!((refused.0, text(&refused.1, "code")), (400, "invalid_query"), "{wrong}");
    }

    // A misspelt event type would silently match nothing.
    let (_, refused) = operator.get("/v1/audit/events?type=nonsense").await;
    let known = refused["known"].as_array().unwrap();
    for kind in ["run_started", "grant_added", "unfrozen"] {
        assert!(known.contains(&json!(kind)), "{kind}: {known:?}");
    }

    let record = async |seq: u64| ok(operator.get(&format!("/v1/audit/events/sys/{seq}")).await);
    let (first, second) = (record(1).await, record(2).await);
    assert_eq!(
        (text(&first, "previous"), text(&second, "previous")),
        (&*"0".repeat(64), text(&first, "hash"))
    );
    for each in [&first, &second] {
        let previous: Digest = serde_json::from_value(each["previous"].clone()).unwrap();
        let hash = Digest::of_parts(&[previous.as_bytes(), text(each, "head").as_bytes()]);
        assert_eq!(hash.to_string(), text(each, "hash"));
    }
    assert!(text(&first, "content").contains("a look") && second.get("content").is_none());
    for nothing in ["sys/0", "sys/999", "run_01k6f0000000000000000000cc/1", "x/1"] {
        assert_eq!(operator.get(&format!("/v1/audit/events/{nothing}")).await.0, 404, "{nothing}");
    }
}

#[tokio::test]
async fn an_untouched_journal_is_intact() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    ok(operator.decide(&asked, &json!({"option": "approve"})).await);
    operator.ask().await;
    ok(operator.post("/v1/system/freeze", &json!({"reason": "a look"})).await);
    let head = ok(operator.get("/v1/audit/head").await);
    let (short, hash) = (text(&head, "head"), text(&head, "hash"));
    assert_eq!((head["events"].as_u64(), short), (Some(8), &*format!("8:{}", &hash[..24])));
    let report = ok(operator.get("/v1/audit/verify").await);
    let intact =
        json!({"intact": true, "streams": 3, "events": 8, "head": short, "unsealed": 0, "damages": []});
    assert_eq!(report, intact);
    let noted = format!("/v1/audit/verify?against=8:{hash},{short}");
    let compared = ok(operator.get(&noted).await);
    let against = json!([{"head": format!("8:{hash}"), "holds": true}, {"head": short, "holds": true}]);
    assert_eq!((&compared["intact"], &compared["against"]), (&json!(true), &against));

    // Heads that do not match: the head of a foreign journal, and the head of a later state of this journal.
    let digits = &hash[..24];
    let compared = ok(operator.get(&format!("/v1/audit/verify?against=7:{digits},9:{digits}")).await);
    let against = json!([{"head": format!("7:{digits}"), "holds": false}, {"head": format!("9:{digits}"), "holds": false}]);
    assert_eq!((&compared["intact"], &compared["against"]), (&json!(false), &against));
    let told: Vec<_> =
        compared["damages"].as_array().unwrap().iter().map(|each| text(each, "message")).collect();
    assert_eq!(told.len(), 2);
    assert!(told[0].starts_with("the first 7 events do not match the noted head"), "{told:?}");
    assert!(told[1].starts_with("the journal has 8 events, but the noted head is 9:"), "{told:?}");

    for wrong in ["8", &format!("8:{}", &digits[1..]), &format!("{short},"), &[short; 101].join(",")] {
        let refused = operator.get(&format!("/v1/audit/verify?against={wrong}")).await;
        assert_eq!((refused.0, text(&refused.1, "code")), (400, "invalid_query"), "{wrong}");
    }
}
