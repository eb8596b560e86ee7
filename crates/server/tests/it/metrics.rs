//! `/metrics` as a scraper reads it.

use holdshort_core::actor::Role;
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::eventually;
use reqwest::Method;
use serde_json::json;

use crate::harness::{Served, created, fetch_page, ok, text};

fn value(told: &str, name: &str) -> f64 {
    let found = told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("no {name} in\n{told}"))
}

#[tokio::test]
async fn what_waits_and_what_was_decided_is_counted() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    operator.ask().await;
    ok(operator.decide(&asked, &json!({"option": "approve"})).await);
    let told = fetch_page(operator.request(Method::GET, "/metrics")).await;
    let kind = told.header("content-type").to_owned();
    assert_eq!((told.status, &*kind), (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"));
    let told = told.text;
    for (name, expected) in [
        ("holdshort_interrupts_open{kind=\"tool_approval\"}", 1.0),
        ("holdshort_interrupts_open_older_than{seconds=\"10\"}", 0.0),
        ("holdshort_interrupts_opened_total{kind=\"tool_approval\"}", 2.0),
        ("holdshort_interrupts_resolved_total{kind=\"tool_approval\",outcome=\"approved\"}", 1.0),
        ("holdshort_interrupt_waiting_seconds_count{kind=\"tool_approval\"}", 1.0),
        ("holdshort_decisions_total{kind=\"tool_approval\"}", 1.0),
        ("holdshort_deliveries_waiting", 0.0),
        ("holdshort_nodes", 1.0),
        ("holdshort_leases", 0.0),
    ] {
        assert!((value(&told, name) - expected).abs() < f64::EPSILON, "{name} in\n{told}");
    }
    // A write may be queued at any time, so any count is accepted.
    assert!(value(&told, "holdshort_writes_waiting") >= 0.0, "{told}");
    assert!(value(&told, "holdshort_appends_total") >= 3.0, "{told}");
    assert!(value(&told, "holdshort_runs_started_total") >= 1.0, "{told}");
    assert!(told.ends_with("# EOF\n"), "{told}");
}

/// Auditors may read the metrics, which contain no text of a person, but agents may not.
#[tokio::test]
async fn an_auditor_may_scrape_and_an_agent_may_not() {
    let served = Served::with_issuer().await;
    let status =
        async |api: crate::harness::Api| fetch_page(api.request(Method::GET, "/metrics")).await.status;
    assert_eq!(status(served.issued("audra", Role::Auditor)).await, 200);
    assert_eq!(status(served.agent()).await, 403);
    assert_eq!(status(served.api(None)).await, 401);
}

#[tokio::test]
async fn calls_of_models_and_their_tokens_are_counted() {
    let model = ScriptedModel::start().await;
    model.script("asker", [Scripted::text("done")]);
    let served = crate::agents::serve(&model).await;
    let operator = served.operator();
    let start = json!({"workflow": "ask", "input": {"task": "t"}});
    let run = created(operator.post("/v1/runs", &start).await);
    assert_eq!(served.ended(text(&run, "id")).await["status"], "completed");
    // The metric changes shortly after the event is written.
    let ended = "holdshort_runs_ended_total{outcome=\"completed\"} 1";
    let told = eventually("the run is counted", async || {
        let told = fetch_page(operator.request(Method::GET, "/metrics")).await.text;
        told.lines().any(|line| line == ended).then_some(told)
    })
    .await;
    assert!((value(&told, "holdshort_model_calls_total{outcome=\"replied\"}") - 1.0).abs() < f64::EPSILON);
    for direction in ["input", "output"] {
        let label = format!("direction=\"{direction}\"");
        let found = told
            .lines()
            .find(|line| line.starts_with("holdshort_model_tokens_total{") && line.contains(&label));
        let tokens = found.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        assert!(tokens.is_some_and(|tokens| tokens > 0), "{direction} in\n{told}");
    }
}
