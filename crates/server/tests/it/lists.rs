//! Lists: filters and cursors.

use serde_json::{Value, json};

use crate::harness::{Api, Served, created, ok, text, without_card};

fn ids(list: &Value) -> Vec<String> {
    list["items"].as_array().unwrap().iter().map(|item| text(item, "id").to_owned()).collect()
}

/// Returns the ids on all pages of a list, in order.
async fn all(api: &Api, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = ok(api.get(&format!("{path}{cursor}")).await);
        found.extend(ids(&page));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

#[tokio::test]
async fn pages_follow_one_another_without_gap_or_repeat() {
    let served = Served::new().await;
    let operator = served.operator();
    let mut asked = Vec::new();
    for _ in 0..7 {
        asked.push(operator.ask().await);
    }
    let interrupts: Vec<String> = asked.iter().map(|each| text(each, "id").to_owned()).collect();
    let mut runs: Vec<String> = asked.iter().map(|each| text(each, "run").to_owned()).collect();
    runs.reverse();
    for limit in [1, 3, 7, 50] {
        assert_eq!(all(&operator, &format!("/v1/interrupts?limit={limit}")).await, interrupts);
        assert_eq!(all(&operator, &format!("/v1/runs?limit={limit}")).await, runs);
    }
    // A new question is asked between the two pages.
    let first = ok(operator.get("/v1/runs?limit=3").await);
    operator.ask().await;
    let rest = format!("/v1/runs?limit=50&cursor={}", text(&first, "next_cursor"));
    assert_eq!([ids(&first), ids(&ok(operator.get(&rest).await))].concat(), runs);
}

#[tokio::test]
async fn filters_narrow_a_list() {
    let served = Served::new().await;
    let operator = served.operator();
    let first = operator.ask().await;
    let question = json!({"kind": "question", "title": "t", "session": first["session"]});
    let second = created(operator.post("/v1/interrupts", &question).await);
    ok(operator.decide(&first, &json!({"option": "approve"})).await);
    let (one, two) = (text(&first, "id"), text(&second, "id"));
    let session = text(&first, "session");
    let table = [
        ("status=open".to_owned(), vec![two]),
        ("status=resolved".to_owned(), vec![one]),
        ("kind=question".to_owned(), vec![two]),
        ("kind=review".to_owned(), vec![]),
        (format!("run={}", text(&first, "run")), vec![one]),
        (format!("session={session}"), vec![two, one]),
        (format!("session={session}&status=open&kind=tool_approval"), vec![]),
    ];
    for (query, expected) in table {
        assert_eq!(ids(&ok(operator.get(&format!("/v1/interrupts?{query}")).await)), expected, "{query}");
    }
    let (one, two) = (text(&first, "run"), text(&second, "run"));
    let table = [
        ("status=completed".to_owned(), vec![one]),
        ("status=waiting".to_owned(), vec![two]),
        ("workflow=external".to_owned(), vec![two, one]),
        ("workflow=pair".to_owned(), vec![]),
        (format!("session={session}"), vec![two, one]),
    ];
    for (query, expected) in table {
        assert_eq!(ids(&ok(operator.get(&format!("/v1/runs?{query}")).await)), expected, "{query}");
    }
}

#[tokio::test]
async fn a_page_of_large_things_is_cut_and_goes_on() {
    let served = Served::new().await;
    let operator = served.operator();
    let mut expected = Vec::new();
    for _ in 0..24 {
        let question = json!({"kind": "question", "title": "t", "payload": "x".repeat(250 * 1024)});
        expected.push(text(&created(operator.post("/v1/interrupts", &question).await), "id").to_owned());
    }
    let first = ok(operator.get("/v1/interrupts?limit=200").await);
    assert!(first["items"].as_array().unwrap().len() < 20);
    assert_eq!(all(&operator, "/v1/interrupts?limit=200").await, expected);
}

#[tokio::test]
async fn a_list_shows_what_a_single_read_shows() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    ok(operator.decide(&asked, &json!({"option": "respond", "text": "no need"})).await);
    let waiting = operator.ask().await;
    let listed = ok(operator.get("/v1/interrupts").await);
    let runs = ok(operator.get("/v1/runs").await);
    for (place, interrupt) in [(0, &waiting), (1, &asked)] {
        let read = ok(operator.get(&format!("/v1/interrupts/{}", text(interrupt, "id"))).await);
        assert_eq!(listed["items"][place], without_card(read));
        let run = ok(operator.get(&format!("/v1/runs/{}", text(interrupt, "run"))).await);
        assert_eq!(runs["items"][place], run);
    }
}

#[tokio::test]
async fn every_row_names_the_task_and_the_folder_of_its_run() {
    let served = Served::playing("    - {text: done}\n").await;
    let operator = served.operator();
    let asked = operator.ask().await;
    assert_eq!((&asked["task"], asked.get("workspace")), (&json!("Archive 41 branches"), None));

    let task = format!("tidy up {}", "x".repeat(1_000));
    let config =
        json!({"workspace": served.workspace(), "model": "rehearsal", "gates": {"before_step": "ask"}});
    let start = json!({"workflow": "own", "input": {"task": task}, "config": config});
    let run = created(operator.post("/v1/runs", &start).await);
    served.next_of(text(&run, "id")).await;
    let cut = format!("{}…", &task[..299]);
    let named = json!([cut, served.workspace().canonicalize().unwrap()]);
    for list in ["interrupts", "runs"] {
        let listed = ok(operator.get(&format!("/v1/{list}")).await);
        let about = |item: &Value| json!([item["task"], item["workspace"]]);
        let found: Vec<Value> = listed["items"].as_array().unwrap().iter().map(about).collect();
        assert!(found.contains(&named), "{list}: {found:?}");
    }
    assert_eq!(
        ok(operator.get(&format!("/v1/runs/{}", text(&run, "id"))).await)["input"]["task"],
        json!(task)
    );
}
